"""Chunks and extremes that observers compute themselves, against HDF5 and numpy."""

import zlib

import h5py
import numpy as np
import pytest

from dockfmu.master import loop
from dockfmu.master.observers.recording.datasets import Columns

pytestmark = pytest.mark.quick

ROWS = 64


@pytest.mark.parametrize("kind", [np.float64, np.int32, np.bool_])
def test_chunks_hold_what_the_filters_of_hdf5_make(tmp_path, kind):
    """The shuffled bytes are the same after decompression by zlib; zlib-ng compresses them differently."""
    table = (100.0 * np.sin(np.arange(4 * ROWS * 3.0))).reshape(-1, 3)
    column = table[:, 1]  # not contiguous, as columns of rows are
    options = {"shape": (0,), "maxshape": (None,), "chunks": (ROWS,), "dtype": kind}
    with h5py.File(tmp_path / "c.h5", "w") as file:
        reference = file.create_dataset("hdf5", compression=1, shuffle=True, **options)
        growing = (
            Columns(file, ROWS, 1).create("/", "ours", kind, {"unit": "µm"}),
            Columns(file, ROWS, None).create("/", "plain", kind),
        )
        # whole chunks, one that is cut short by the end, and what follows it
        for first, last in ((0, 2 * ROWS), (2 * ROWS, 3 * ROWS), (3 * ROWS, 3 * ROWS + 5), (3 * ROWS + 5, 4 * ROWS)):
            for dataset in growing:
                dataset.append(column[first:last])
        reference.resize(len(column), axis=0)
        reference[:] = column.astype(kind)
    with h5py.File(tmp_path / "c.h5") as file:
        for name in ("ours", "hdf5", "plain"):
            assert np.array_equal(file[name], column.astype(kind))
            assert (file[name].dtype, file[name].chunks) == (file["hdf5"].dtype, (ROWS,))
        assert (file["ours"].compression, file["ours"].shuffle) == ("gzip", True)
        assert dict(file["ours"].attrs) == {"unit": "µm"}
        for first in range(0, 4 * ROWS, ROWS):
            (skipped, ours), (_, theirs) = (file[name].id.read_direct_chunk((first,)) for name in ("ours", "hdf5"))
            assert skipped == 0
            assert zlib.decompress(ours) == zlib.decompress(theirs)


def test_extremes_are_those_of_numpy_and_the_first_of_equals():
    values = np.random.default_rng(1).integers(-5, 5, (300, 7)).astype(float)
    values[17, 3] = np.nan
    values[200, 5] = np.inf
    time = np.arange(300) * 0.1
    highest, lowest = np.full(7, -np.inf), np.full(7, np.inf)
    highest_time, lowest_time = np.zeros(7), np.zeros(7)
    for rows in (slice(0, 1), slice(1, 120), slice(120, 300)):
        loop.extremes(time[rows], values[rows], highest, highest_time, lowest, lowest_time, np.empty((3, 7)))
    assert np.array_equal(highest, values.max(axis=0), equal_nan=True)
    assert np.array_equal(lowest, values.min(axis=0), equal_nan=True)
    sound = [0, 1, 2, 4, 5, 6]
    assert np.array_equal(highest_time[sound], time[values.argmax(axis=0)][sound])
    assert np.array_equal(lowest_time[sound], time[values.argmin(axis=0)][sound])
