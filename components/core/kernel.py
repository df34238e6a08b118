"""The decorator of every kernel: nopython, numpy's division, no fast math, compiled code kept between processes.

numba's own cache looks only at the file of the function that it compiles, and would serve stale code after a change in
a module that this file imports. Here each module caches in a folder named by a digest of all it depends on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config

from components.core.sources import cache_root, digest


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on its first call for each type of record; the plain function stays in `.py_func`."""
    file = Path(function.__code__.co_filename)
    folder = cache_root() / "numba" / f"{function.__module__}-{digest(file)[:12]}"
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    try:
        return numba.njit(function, cache=True, error_model="numpy")
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]
