"""The decorator of all that the loop compiles: kept between processes, under a digest of this package.

numba's own cache looks only at the file of the function that it compiles, and would serve stale code after a change in
another file of the loop.

numba fixes the processor for which it compiles at the first compilation of a process. The loop takes the baseline that
`components.core.kernel` takes too: FMUs that are built after a run are the same bytes as those built before it.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config

from master.cache import cache_root

HERE = Path(__file__).parent
BASELINE = {"x86_64": "x86-64-v2", "AMD64": "x86-64-v2"}.get(platform.machine(), "generic")

if config.CPU_NAME is None:  # type: ignore[attr-defined]
    config.CPU_NAME, config.CPU_FEATURES = BASELINE, ""  # type: ignore[attr-defined]


def _folder() -> Path:
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(HERE.glob("*.py")))).hexdigest()[:12]
    return cache_root() / "numba" / f"{__package__}-{digest}"


FOLDER = str(_folder())


def compiled(function: Callable[..., Any], *, inline: bool = False) -> Any:
    """Compile `function` on its first call; the plain function stays in `.py_func`.

    Other threads of Python go on meanwhile: an FMU that speaks from a thread of its own, for which its step waits,
    would wait for ever otherwise.
    """
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = FOLDER  # type: ignore[attr-defined]
    try:
        return numba.njit(function, cache=True, nogil=True, forceinline=inline, error_model="numpy")
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


def inlined(function: Callable[..., Any]) -> Any:
    """The same for what every macro step goes through: its calls would cost as much as its work."""
    return compiled(function, inline=True)
