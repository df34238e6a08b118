"""NASTRAN files that pyyeti reads: their size is bounded, and what its readers raise names the file."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dockfmu.base.errors import DockfmuError

LARGEST_FILE = 1 << 30
"""Largest size of a NASTRAN file, bytes."""


def bounded_size(file: Path, kind: type[DockfmuError]) -> int:
    """Return the size of a file, bytes. Raises an error of the `kind` if there is none, or it is empty or too large."""
    if not file.is_file():
        raise kind(f"{file}: there is no such file")
    size = file.stat().st_size
    if not 0 < size <= LARGEST_FILE:
        raise kind(f"{file}: has {size} bytes; from 1 to {LARGEST_FILE} are read")
    return size


def guarded(file: Path, what: str, kind: type[DockfmuError], read: Callable[[], Any]) -> Any:
    """Return what a reader of pyyeti gives; each of its errors becomes one of the `kind` that names the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read()
    except DockfmuError:
        raise
    except Exception as error:  # the readers check little: what damaged files raise is of any kind
        raise kind(f"{file}: {what} cannot be read ({type(error).__name__}: {error})") from error
