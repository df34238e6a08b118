"""Chunks and extremes that observers compute themselves, against HDF5 and numpy."""

import zlib

import h5py
import numpy as np
import pytest
from zlib_ng import zlib_ng

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
        growing = []
        for level, name in ((1, "ours"), (None, "plain")):
            columns = Columns(file, ROWS, level)
            growing.append(columns.table([columns.create("/", name, kind, {"unit": "µm"})]))
        # whole chunks, one that is cut short by the end, and what follows it
        for first, last in ((0, 2 * ROWS), (2 * ROWS, 3 * ROWS), (3 * ROWS, 3 * ROWS + 5), (3 * ROWS + 5, 4 * ROWS)):
            for dataset in growing:
                dataset.append(column[first:last, None])
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


def test_noise_is_stored_and_what_repeats_is_compressed(tmp_path):
    """Chunks of five kinds of columns are those of HDF5 after decompression, and none is longer than zlib-ng's."""
    rows, generator = 512, np.random.default_rng(5)
    walk = np.cumsum(generator.normal(size=3 * rows))
    table = np.stack(
        [walk, np.repeat(walk[::8], 8), np.full(3 * rows, -0.1), np.arange(3 * rows) // 7 - 50.0, walk > 0.0], axis=1
    )
    kinds = (np.float64, np.float64, np.float64, np.int32, np.bool_)
    with h5py.File(tmp_path / "c.h5", "w") as file:
        columns = Columns(file, rows, 1)
        ours = columns.table([columns.create("ours", str(k), kind) for k, kind in enumerate(kinds)])
        ours.append(table[: 2 * rows])
        # a chunk that the end cuts short is written whole
        ours.append(table[2 * rows : 3 * rows - 100])
        for k, kind in enumerate(kinds):
            values = table[: 3 * rows - 100, k].astype(kind)
            file.create_dataset(f"hdf5/{k}", data=values, compression=1, shuffle=True, chunks=(rows,), maxshape=(None,))
    with h5py.File(tmp_path / "c.h5") as file:
        sizes = {}
        for k, kind in enumerate(kinds):
            assert np.array_equal(file[f"ours/{k}"], file[f"hdf5/{k}"])
            for first in (0, rows, 2 * rows):
                chunk, theirs = (file[f"{name}/{k}"].id.read_direct_chunk((first,))[1] for name in ("ours", "hdf5"))
                assert zlib.decompress(chunk) == zlib.decompress(theirs)
                assert len(chunk) <= len(zlib_ng.compress(zlib.decompress(chunk), 1))
                sizes[k, first] = len(chunk) / (rows * np.dtype(kind).itemsize)
    # five or six of eight bytes of the walk are noise, which deflate makes longer; a value held for eight rows is none
    assert 0.6 < sizes[0, 0] < 0.95
    assert sizes[1, 0] < 0.35
    assert sizes[2, 0] == sizes[2, rows] < 0.02


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
