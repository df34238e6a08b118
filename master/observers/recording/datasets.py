"""HDF5 datasets of a recording: a column of values for each variable, and the table of strings.

HDF5 would shuffle and compress while it holds the interpreter lock. Here zlib does it, which releases the lock, and
HDF5 gets the bytes that its own filters would have produced.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import h5py
import numpy as np

from master.fmi import strings

STRINGS = "strings"
"""Name of the dataset that has each string of a recording once."""
STRING_BYTES = 256
ELLIPSIS = "…"


class Column:
    """A dataset that grows at its end, with the filters shuffle and gzip of `level`, or without any where it is None.

    Its length, type and chunks are kept here: looking them up in HDF5 would take as long as all the rest.
    """

    def __init__(self, dataset: h5py.Dataset, level: int | None) -> None:
        self.dataset, self._level = dataset, level
        self._dtype, self._rows, self._length = dataset.dtype, dataset.chunks[0], len(dataset)

    def append(self, values: np.ndarray) -> None:
        """Append values, shape (n,), without HDF5's filters where whole chunks are added."""
        first, rows = self._length, self._rows
        self._length += len(values)
        self.dataset.id.set_extent((self._length,))
        values = values.astype(self._dtype)
        if self._level is None or first % rows or len(values) % rows:
            self.dataset[first:] = values
            return
        for start in range(0, len(values), rows):
            self.dataset.id.write_direct_chunk((first + start,), _filtered(values[start : start + rows], self._level))


def _filtered(values: np.ndarray, level: int) -> bytes:
    """Return the first bytes of all values, then the second ones, and so on, compressed."""
    shuffled = values.view(np.uint8).reshape(len(values), values.itemsize).T
    return zlib.compress(shuffled.tobytes(), level)


class StringTable:
    """The strings of a recording, each once; the column of a String variable has their indices.

    `reserve` is called with the number of bytes that are to be written, before they are.
    """

    def __init__(self, out: h5py.File, reserve: Callable[[int], None]) -> None:
        # not compressed: a chunk is written several times, and must be whole at any time
        self._dataset = out.create_dataset(STRINGS, (0,), f"S{STRING_BYTES}", maxshape=(None,), chunks=(64,))
        self._reserve = reserve
        self._indices: dict[int, int] = {}

    def indices(self, numbers: np.ndarray) -> np.ndarray:
        """Return the indices of strings that are given by their numbers in this process; new ones are added."""
        distinct, where = np.unique(numbers.astype(int), return_inverse=True)
        fresh = [number for number in distinct.tolist() if number not in self._indices]
        if fresh:
            self._reserve(STRING_BYTES * (len(fresh) + 64))
            first = len(self._dataset)
            self._dataset.resize(first + len(fresh), axis=0)
            self._dataset[first:] = [_shortened(strings.string(number)) for number in fresh]
            self._dataset.flush()
            self._indices |= {number: first + k for k, number in enumerate(fresh)}
        return np.array([self._indices[number] for number in distinct.tolist()], float)[where]


def _shortened(text: str) -> bytes:
    data = text.encode()
    if len(data) < STRING_BYTES:
        return data
    return data[: STRING_BYTES - 8].decode(errors="ignore").encode() + ELLIPSIS.encode()


def read_strings(recording: h5py.File) -> list[str]:
    """Return the strings of a recording by their indices."""
    return [data.decode() for data in recording[STRINGS][:]] if STRINGS in recording else []
