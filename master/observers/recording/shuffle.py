"""Compiled layout of columns as HDF5's filter "shuffle" leaves them, and the search for bytes that are noise."""

from __future__ import annotations

from functools import partial

import numpy as np

from dockfmu.base.compiler import jit

_compiled = partial(jit, _nrt=False)
"""Functions behind entry points must not allocate memory."""

SAMPLES = 256
"""Number of bytes that are looked at, of one byte in all values of a chunk. Fewer values are never taken for noise."""
_MOST_PAIRS = 192
"""Most pairs of equal bytes among SAMPLES bytes of noise; 127 are expected, with a deviation of 11."""
_MOST_NEIGHBOURS = 8
"""Most of SAMPLES bytes of noise that equal the next one; 1 is expected."""


@_compiled
def _word(value: float, word: np.uint64, size: int) -> np.uint64:
    """Return the bytes of a value in the file, as a number: those of float64, int32 or a Boolean."""
    if size == 8:
        return word
    if size == 4:
        return np.uint64(np.int64(value))
    return np.uint64(value != 0.0)


@_compiled
def _lay_out(words: np.ndarray, rows: int, size: int, planes: np.ndarray) -> None:
    """Write the first bytes of all words, then the second ones, up to the number `size`."""
    for k in range(size):
        shift, first = np.uint64(8 * k), k * rows
        for row in range(rows):
            planes[first + row] = np.uint8((words[row] >> shift) & np.uint64(0xFF))


@_compiled
def _is_noise(plane: np.ndarray, seen: np.ndarray) -> bool:
    """Return whether bytes look as if each were drawn by chance. `seen`, shape (256,), is overwritten."""
    stride, pairs, neighbours = plane.size // SAMPLES, 0, 0
    if stride == 0:
        return False
    for k in range(seen.size):
        seen[k] = 0
    for k in range(SAMPLES):
        place = k * stride
        pairs += seen[plane[place]]
        seen[plane[place]] += 1
        if place + 1 < plane.size:
            neighbours += plane[place] == plane[place + 1]
    return pairs <= _MOST_PAIRS and neighbours <= _MOST_NEIGHBOURS


@_compiled
def shuffle(
    values: np.ndarray,
    words: np.ndarray,
    sizes: np.ndarray,
    work: np.ndarray,
    seen: np.ndarray,
    planes: np.ndarray,
    noise: np.ndarray,
) -> None:
    """Shuffle the columns of `values`, shape (n, m), whose bits are `words`, into the rows of `planes`, shape (m, 8 n).

    `sizes`, shape (m,), are the bytes of a value in the file. `noise`, shape (m,), becomes the number of first bytes
    that are noise in all values, or -1 where all values are the same. `work`, whose rows take a column each, and
    `seen`, shape (256,), are overwritten.
    """
    rows, columns = values.shape
    tile = work.shape[0]
    for first in range(0, columns, tile):
        count = min(tile, columns - first)
        for row in range(rows):
            for c in range(count):
                work[c, row] = _word(values[row, first + c], words[row, first + c], sizes[first + c])
        for c in range(count):
            column = first + c
            differing = np.uint64(0)
            for row in range(rows):
                differing |= work[c, row] ^ work[c, 0]
            size = sizes[column]
            _lay_out(work[c], rows, size, planes[column])
            if differing == 0:
                noise[column] = -1
                continue
            k = 0
            while k < size and _is_noise(planes[column, k * rows : (k + 1) * rows], seen):
                k += 1
            noise[column] = k
