"""Files whose writer was killed in the middle of a write: a block of metadata on two pages is half new, half old."""

import h5py
import numpy as np
import pytest

from dockfmu.master.observers.recording import killed, salvage
from dockfmu.master.observers.recording.datasets import Columns
from dockfmu.master.observers.recording.results import read_results

ROWS = 64
COLUMNS = 40
RANKS = {b"EADB": 0, b"EASB": 0, b"EAIB": 1, b"EAHD": 2, b"OHDR": 3}
"""Order in which HDF5 writes the blocks when it adds a chunk: what leads to a block comes after it."""


def test_the_hash_is_that_of_its_author():
    """Vectors of lookup3.c, function driver5."""
    assert killed.lookup3(b"") == 0xDEADBEEF
    assert killed.lookup3(b"Four score and seven years ago") == 0x17770551


def expected(column, rows):
    """Return the first rows of a column; column 0 is time."""
    return np.sin(np.arange(rows) * float(column)) if column else np.arange(rows) * 0.25


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    """Return the bytes of a recording after each of 40 blocks of rows, closed only at the end."""
    file = tmp_path_factory.mktemp("killed") / "r.h5"
    found = []
    with h5py.File(file, "w", libver=salvage.LIBVER) as out:
        columns = Columns(out, ROWS, 1)
        made = [columns.create("/", "time", np.float64, {"unit": "s"})]
        made += [columns.create("lag", f"y[{k}]", np.float64, {"unit": "m", "type": "Real"}) for k in range(1, COLUMNS)]
        tables = [columns.table([column]) for column in made]
        out.swmr_mode = True
        for block in range(40):
            for k, (column, table) in enumerate(zip(made, tables, strict=True)):
                table.append(expected(k, (block + 1) * ROWS)[block * ROWS :, None])
                column.dataset.flush()
            found.append(file.read_bytes())
    return found


@pytest.fixture
def blocks(monkeypatch):
    """Return a function that lists the blocks of metadata (position, size) that HDF5 reads in some bytes."""

    def listed(data, folder):
        found = []
        monkeypatch.setattr(
            killed._KilledFile, "_complete", lambda self, first, block: found.append((first, len(block)))
        )
        file = folder / "blocks.h5"
        file.write_bytes(data)
        with killed.opened(file) as source:
            values_of(source)
        monkeypatch.undo()
        return sorted(set(found))

    return listed


def values_of(source):
    """Return the values of each column, as many as can be read."""
    return [source["time"][:], *(source[f"lag/y[{k}]"][:] for k in range(1, COLUMNS))]


def test_the_checksums_are_those_of_hdf5(snapshots, blocks, tmp_path):
    """In a file that is whole, each block that is read ends with the checksum that is computed for it."""
    kinds = set()
    data = snapshots[-1]
    for first, size in blocks(data, tmp_path):
        kinds.add(data[first : first + 4])
        assert checksum_of(data, first, size) == data[first + size - 4 : first + size]
    assert kinds >= {b"OHDR", b"EAHD", b"EAIB", b"EADB"}


def checksum_of(data, first, size):
    return killed.lookup3(data[first : first + size - 4]).to_bytes(4, "little")


def torn(old, new, first, size, cut, listed):
    """Return the bytes of the file when `cut` bytes of a block are written, and none of those that come later."""
    rank = RANKS[new[first : first + 4]]
    data = bytearray(new)
    for begin, length in listed:
        if RANKS.get(bytes(new[begin : begin + 4]), 0) > rank:
            data[begin : begin + length] = old[begin : begin + length]
    data[first + cut : first + size] = old[first + cut : first + size]
    return bytes(data)


@pytest.mark.parametrize("block", [1, 3, 6, 17, 37])
def test_a_block_written_in_part_costs_no_rows(snapshots, blocks, tmp_path, block):
    """Cut the write of each block at each page, and read what was there before, whatever of the new rows."""
    old, new = snapshots[block - 1 : block + 1]
    old = old.ljust(len(new), b"\0")
    listed = blocks(new, tmp_path)
    file = tmp_path / "torn.h5"
    tears = 0
    for first, size in listed:
        if new[first : first + 4] not in RANKS:
            continue
        for cut in range(killed.PAGE - first % killed.PAGE, size, killed.PAGE):
            data = torn(old, new, first, size, cut, listed)
            file.write_bytes(data)
            with killed.opened(file) as source:
                for k, values in enumerate(values_of(source)):
                    assert np.array_equal(values[: block * ROWS], expected(k, block * ROWS))
            if checksum_of(data, first, size) != data[first + size - 4 : first + size]:
                tears += 1
                last = data
    assert tears > 0
    file.write_bytes(last)
    with read_results(file) as results:
        assert results.damage == ""
        assert np.array_equal(results.time[: block * ROWS], expected(0, block * ROWS))
        assert np.array_equal(results["lag.y[7]"][: block * ROWS], expected(7, block * ROWS))
