"""The decorators of all that the loop compiles: kept between processes, under a digest of this package."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from base.compiler import jit

HERE = Path(__file__).parent


def sources(folder: Path) -> str:
    """Return a digest of the Python files of a folder."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(folder.glob("*.py")))).hexdigest()


_SOURCES = sources(HERE)


def compiled(function: Callable[..., Any], *, inline: bool = False) -> Any:
    """Compile `function` on its first call; the plain function stays in `.py_func`.

    Other threads of Python go on meanwhile: an FMU that speaks from a thread of its own, for which its step waits,
    would wait for ever otherwise.
    """
    return jit(function, _SOURCES, nogil=True, forceinline=inline)


def inlined(function: Callable[..., Any]) -> Any:
    """The same for what every macro step goes through: its calls would cost as much as its work."""
    return compiled(function, inline=True)
