"""Telemetry in files of strangers: they lead nowhere else, claim no size, and end no process."""

from decimal import Decimal

import h5py
import numpy as np
import pytest

from dockfmu.declare.toml.tables import DeclarationError
from tests.dockfmu.reconstruct.test_reading import FILE, STAMPS, VALUES, read


def hdf5(folder, **columns):
    """Write an HDF5 file of the frame, with sound columns where none are given."""
    with h5py.File(folder / "frame.h5", "w") as file:
        for name, column in {"time": STAMPS, "travel": VALUES, **columns}.items():
            if callable(column):
                column(file, name)
            else:
                file[name] = column


def elsewhere(folder):
    secret = folder / "secret.txt"
    secret.write_bytes(np.arange(100.0).tobytes())
    layout = h5py.VirtualLayout((3,), "f8")
    layout[:] = h5py.VirtualSource(str(secret), "x", (3,))
    return {
        "are in another file": lambda file, name: file.create_dataset(
            name, (3,), "f8", external=[(str(secret), 0, 24)]
        ),
        "is a virtual dataset": lambda file, name: file.create_virtual_dataset(name, layout),
        "a link to another file": lambda file, name: file.__setitem__(name, h5py.ExternalLink(str(secret), "x")),
        "a link, to": lambda file, name: file.__setitem__(name, h5py.SoftLink("/time")),
        "claim": lambda file, name: file.create_dataset(name, (10**12,), "f8", chunks=(1024,)),
        "a group in a group": lambda file, name: file.create_group("a/b/c/d/e/f/g/h/i/j"),
    }


@pytest.mark.parametrize(
    "says",
    [
        "are in another file",
        "is a virtual dataset",
        "a link to another file",
        "a link, to",
        "claim",
        "a group in a group",
    ],
)
def test_hdf5_of_strangers_leads_nowhere_and_claims_nothing(tmp_path, says):
    """The values of a dataset may stand in any file of this machine, and came out as readings of a sensor."""
    hdf5(tmp_path, travel=elsewhere(tmp_path)[says])
    with pytest.raises(DeclarationError, match=rf"frame\.h5: cannot be read \(.*{says}.*\)"):
        read(tmp_path)


def test_bytes_that_are_no_hdf5_end_no_process(tmp_path):
    hdf5(tmp_path)
    data = bytearray((tmp_path / "frame.h5").read_bytes())
    data[600:1400] = b"\xff" * 800
    (tmp_path / "frame.h5").write_bytes(data)
    with pytest.raises(DeclarationError, match=r"frame\.h5: cannot be read"):
        read(tmp_path)


def test_columns_of_other_lengths_are_told(tmp_path):
    hdf5(tmp_path, travel=VALUES[:30])
    with pytest.raises(DeclarationError, match=r"signal travel: .*frame\.h5 has 30 of them and 100 times"):
        read(tmp_path)


def test_what_is_false_or_zero_beside_empty_cells_is_a_reading(tmp_path):
    """Parquet brings columns with empty cells, and decimal numbers, as objects of Python."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for column in (pa.array([False, True, None, False] * 25), pa.array([Decimal(k) for k in range(100)])):
        parquet.write_table(pa.table({"time": STAMPS, "travel": column}), tmp_path / "frame.parquet")
        found = read(tmp_path, FILE.replace('range = ["-900 mm", "900 mm"]', ""))
        assert found.values[0] == 0.0
        assert found.mask[0]
        assert found.mask.sum() == (75 if column.null_count else 100)


def test_parquet_of_strangers(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    twice = pa.table({"time": STAMPS, "a": VALUES, "b": VALUES}).rename_columns(["time", "travel", "travel [mm]"])
    for table, says in (
        (twice, "several columns are called 'travel'"),
        (pa.table({name: pa.nulls(3 * 10**7) for name in ("time", "travel", "x", "y")}), "120000000 cells"),
    ):
        parquet.write_table(table, tmp_path / "frame.parquet")
        with pytest.raises(DeclarationError, match=says):
            read(tmp_path)
