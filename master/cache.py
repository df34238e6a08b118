"""Where things are kept that can be made again: compiled code."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """`$DOCKFMU_CACHE`, `build/cache` of a checkout, or the user's cache folder."""
    checkout = Path(__file__).parents[1]
    if chosen := os.environ.get("DOCKFMU_CACHE"):
        return Path(chosen)
    if (checkout / "pyproject.toml").is_file():
        return checkout / "build" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dockfmu"
