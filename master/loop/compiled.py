"""The decorator of all that the loop compiles: kept between processes, under a digest of this package.

numba's own cache looks only at the file of the function that it compiles, and would serve stale code after a change in
another file of the loop.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config

HERE = Path(__file__).parent


def _folder() -> Path:
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(HERE.glob("*.py")))).hexdigest()[:12]
    root = HERE / "__pycache__"
    if not os.access(HERE, os.W_OK):
        root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dockfmu" / "loop"
    return root / digest


FOLDER = str(_folder())


def compiled(function: Callable[..., Any]) -> Any:
    """Compile `function` on its first call; the plain function stays in `.py_func`."""
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = FOLDER  # type: ignore[attr-defined]
    try:
        return numba.njit(function, cache=True, error_model="numpy")
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]
