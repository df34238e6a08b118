"""Columns of rows to the chunks of HDF5 datasets.

HDF5 would shuffle and compress with the interpreter locked. Here zlib does it, which lets other threads go on, and HDF5
gets the bytes that its own filters would have made.
"""

from __future__ import annotations

import zlib

import h5py
import numpy as np


def append(dataset: h5py.Dataset, values: np.ndarray, level: int | None) -> None:
    """Values to the end of a dataset with the filters shuffle and gzip of `level`, or without any where it is None."""
    first = len(dataset)
    dataset.resize(first + len(values), axis=0)
    rows = dataset.chunks[0]
    values = values.astype(dataset.dtype)
    if level is None or first % rows or len(values) % rows:
        dataset[first:] = values
        return
    for start in range(0, len(values), rows):
        dataset.id.write_direct_chunk((first + start,), _filtered(values[start : start + rows], level))


def _filtered(values: np.ndarray, level: int) -> bytes:
    """The first bytes of all values, the second ones, and so on, compressed."""
    shuffled = values.view(np.uint8).reshape(len(values), values.itemsize).T
    return zlib.compress(shuffled.tobytes(), level)
