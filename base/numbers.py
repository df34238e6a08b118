"""Numbers in JSON."""

from __future__ import annotations

import math
from typing import Any


def finite(content: Any) -> Any:
    """Return `content` with None in place of infinities and NaN, which JSON cannot express."""
    if isinstance(content, dict):
        return {key: finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
