"""Numbers for JSON."""

from __future__ import annotations

import math
from typing import Any


def finite(content: Any) -> Any:
    """Return `content` with None for what is infinite or no number, which JSON has no words for."""
    if isinstance(content, dict):
        return {key: finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
