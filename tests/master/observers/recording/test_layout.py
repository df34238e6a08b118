"""A recording of somebody else is refused by name if it leads to other files, or is not laid out as a recording."""

import stat

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

from dockfmu.base import private_key
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.recording import checksum
from dockfmu.master.observers.recording.results import read_results


def write(file):
    """Write the smallest recording, with numpy alone."""
    with h5py.File(file, "w", libver=("v110", "v110")) as out:
        out.create_dataset("time", data=np.arange(5.0), maxshape=(None,), chunks=(4,))
        out.create_dataset("a/x", data=np.arange(5.0), maxshape=(None,), chunks=(4,))
        out["a/x"].attrs.update({"unit": "m", "description": "", "causality": "output", "variability": "continuous"})
        out["a/x"].attrs["type"] = "Real"
    return file


def external_storage(out):
    del out["a/x"]
    creation = h5p.create(h5p.DATASET_CREATE)
    creation.set_external(b"/etc/passwd", 0, 40)
    h5d.create(out.id, b"a/x", h5t.NATIVE_DOUBLE, h5s.create_simple((5,)), creation)


def virtual(out):
    del out["a/x"]
    layout = h5py.VirtualLayout((5,), "f8")
    layout[:] = h5py.VirtualSource("/other.h5", "time", (5,))
    out.create_virtual_dataset("a/x", layout)


def link(found):
    def change(out):
        del out["a/x"]
        out["a/x"] = found

    return change


def replaced(path, *arguments, **options):
    def change(out):
        del out[path]
        out.create_dataset(path, *arguments, **options)

    return change


CRAFTED = {
    "a/x is a link to another file, 'other.h5'": link(h5py.ExternalLink("other.h5", "time")),
    "a/x is a link, to '/time'": link(h5py.SoftLink("/time")),
    "a/x is a link, to '/nowhere'": link(h5py.SoftLink("/nowhere")),
    "the values of a/x are in another file, b'/etc/passwd'": external_storage,
    "a/x is a virtual dataset": virtual,
    "claim 80000000000[0-9]+ bytes": replaced("a/x", (10**12,), "f8", chunks=(1024,)),
    "number 32000": replaced("a/x", data=np.arange(5.0), chunks=(4,), compression="lzf"),
    "has chunks of 4000000000 bytes": replaced("time", (5,), "f8", maxshape=(None,), chunks=(10**8 * 5,)),
    r"time has the shape \(\)": replaced("time", data=1.0),
    r"time has the shape \(2, 3\)": replaced("time", data=np.zeros((2, 3))),
    "time has values of type [|]S1": replaced("time", data=np.array([b"a", b"b"])),
    "a/x has values of type object": replaced("a/x", (5,), h5py.ref_dtype),
    "its times are not finite numbers in order": lambda out: out["time"].write_direct(np.array([0, 1, 0.5, 2, 3])),
    "times are not finite": lambda out: out["time"].write_direct(np.array([0, 1, np.nan, 2, 3])),
    "it has no time": lambda out: out.pop("time"),
    "b is not a group": lambda out: out.create_dataset("b", data=np.zeros(5)),
    "a/x is of type 'Complex'": lambda out: out["a/x"].attrs.update({"type": "Complex"}),
    "a/x is a String, and the file holds no strings": lambda out: out["a/x"].attrs.update({"type": "String"}),
    "the attribute unit of a/x is of type ndarray": lambda out: out["a/x"].attrs.update({"unit": np.zeros(3)}),
    "the attribute status of the file": lambda out: out.attrs.update({"status": 1.0}),
    "the attribute step of the file": lambda out: out.attrs.update({"step": "small"}),
    "parameters/a is not a table": lambda out: out.create_dataset("parameters/a", data=np.zeros(3)),
    "extremes/": lambda out: out.create_group("extremes"),
    "a/b/c/d is a group in a group in a group|a/b/c is a group in a group": lambda out: out.create_group("a/b/c/d"),
}


@pytest.mark.parametrize("sealed", [False, True], ids=["unsealed", "with a forged seal"])
@pytest.mark.parametrize("reason", CRAFTED)
def test_a_crafted_recording_is_refused_by_name(tmp_path, monkeypatch, reason, sealed):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "other.h5")
    file = write(tmp_path / "r.h5")
    with h5py.File(file, "r+") as out:
        CRAFTED[reason](out)
    if sealed:
        with monkeypatch.context() as other_user:
            other_user.setattr(checksum, "private_key", lambda: bytes(32))
            checksum.append(file)
    with pytest.raises(MasterError, match=reason) as refusal:
        read_results(file)
    assert str(file) in str(refusal.value)


def test_a_sound_recording_of_somebody_else_is_read(tmp_path):
    with read_results(write(tmp_path / "r.h5")) as results:
        assert results["a.x"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_a_column_that_is_too_short_is_named(tmp_path):
    file = write(tmp_path / "r.h5")
    with h5py.File(file, "r+") as out:
        out["a/x"].resize((3,))
    with read_results(file) as results, pytest.raises(MasterError, match=r"a\.x has 3 rows of 5"):
        results["a.x"]


def test_the_key_is_kept_from_others(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path / "new"))
    key = private_key.private_key()
    assert key is not None
    assert key == private_key.private_key()
    file = tmp_path / "new" / "key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [found.name for found in file.parent.iterdir()] == ["key"]
    file.chmod(0o644)
    assert private_key.private_key() is None
    file.chmod(0o600)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert private_key.private_key() is None


def test_only_the_own_seal_spares_the_check(tmp_path, monkeypatch):
    file = write(tmp_path / "r.h5")
    checksum.append(file)
    found = checksum.find(file)
    assert checksum.verify(file, found) == (True, True)
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path / "of another user"))
    assert checksum.verify(file, found) == (True, False)
