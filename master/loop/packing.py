"""Tables that are passed to the compiled loop by their address.

Tuples of many arrays are slow to pass to a compiled function. `pack` therefore lays out a named tuple in memory: an
array as its address and shape, a number as its value, a nested tuple as all of its fields. Compiled functions get only
the address.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dockfmu.master.loop.records import RECORDS

Kind = Any
"""For an array (name of its dtype, dimensions), for a tuple ((field, kind), ...), for a number the name of its type."""


class Packed:
    """A named tuple laid out in memory, with the arrays that it refers to."""

    def __init__(self, content: Any) -> None:
        self.content = content
        self.layout = _kind(content)
        self.kind = str(self.layout)
        """Name of the layout; each layout has its own compiled code."""
        self.words = np.array(_words(content), np.int64)
        self.address = self.words.ctypes.data


def pack(content: Any) -> Packed:
    """Pack a named tuple of C-contiguous arrays, numbers and named tuples for compiled functions."""
    return Packed(content)


def _kind(value: Any) -> Kind:
    """Return the kind of a value."""
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return _NAMES.get(value.dtype, value.dtype.name), value.ndim
    if isinstance(value, tuple):
        return tuple((name, _kind(part)) for name, part in zip(value._fields, value, strict=True))  # type: ignore[attr-defined]
    return "float" if isinstance(value, float) else "int"


def _words(value: Any) -> list[int]:
    """Return the 64-bit words of a value in the layout."""
    if isinstance(value, np.ndarray):
        return [value.ctypes.data, *value.shape]
    if isinstance(value, tuple):
        return [word for part in value for word in _words(part)]
    return np.array([value]).view(np.int64).tolist() if isinstance(value, float) else [int(value)]


_NAMES = {record: name for name, record in RECORDS.items()}


def dtype_of(name: str) -> np.dtype:
    """Return the dtype of this name: a record, or a type of NumPy."""
    return RECORDS.get(name) or np.dtype(name)


def size(kind: Kind) -> int:
    """Return the number of words of a kind."""
    if isinstance(kind, str):
        return 1
    if isinstance(kind[0], str):
        return 1 + int(kind[1])
    return sum(size(part) for _, part in kind)
