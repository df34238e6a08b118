"""Columns of rows to the chunks of HDF5 datasets.

HDF5 would shuffle and compress with the interpreter locked. Here zlib does it, which lets other threads go on, and HDF5
gets the bytes that its own filters would have made.
"""

from __future__ import annotations

import zlib

import h5py
import numpy as np


class Column:
    """A dataset that grows at its end, with the filters shuffle and gzip of `level`, or without any where it is None.

    Looking a dataset's length, type and chunks up would take as long as all the rest: they are known here.
    """

    def __init__(self, dataset: h5py.Dataset, level: int | None) -> None:
        self._dataset, self._level = dataset, level
        self._dtype, self._rows, self._length = dataset.dtype, dataset.chunks[0], len(dataset)

    def append(self, values: np.ndarray) -> None:
        first, rows = self._length, self._rows
        self._length += len(values)
        self._dataset.id.set_extent((self._length,))
        values = values.astype(self._dtype)
        if self._level is None or first % rows or len(values) % rows:
            self._dataset[first:] = values
            return
        for start in range(0, len(values), rows):
            self._dataset.id.write_direct_chunk((first + start,), _filtered(values[start : start + rows], self._level))


def _filtered(values: np.ndarray, level: int) -> bytes:
    """The first bytes of all values, the second ones, and so on, compressed."""
    shuffled = values.view(np.uint8).reshape(len(values), values.itemsize).T
    return zlib.compress(shuffled.tobytes(), level)
