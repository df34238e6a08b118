"""Files of arrays are read without trust: what they claim must be there."""

import hashlib
import io
import zipfile

import numpy as np
import pytest
from numpy.lib import format as npy

from dockfmu.master.sealed_arrays import read_arrays, write_arrays

LINE = b"a kind of file\n"
CONTENT = {"a": np.arange(6.0).reshape(2, 3), "b/c": np.array(["x", "yz"]), "empty": np.zeros((0, 2), np.int32)}


def sealed(file, data):
    file.write_bytes(LINE + hashlib.sha256(data).digest() + data)
    return file


def packed(header, data=b"", compression=zipfile.ZIP_STORED):
    member, archive = io.BytesIO(), io.BytesIO()
    npy.write_array_header_1_0(member, header)
    with zipfile.ZipFile(archive, "w", compression) as out:
        out.writestr("a.npy", member.getvalue() + data)
    return archive.getvalue()


def test_arrays_come_back(tmp_path):
    found = read_arrays(write_arrays(tmp_path / "f", LINE, CONTENT), LINE)
    assert list(found) == list(CONTENT)
    for name, array in CONTENT.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(found[name], array)


def test_another_kind_of_file_and_any_changed_byte_are_refused(tmp_path):
    file = write_arrays(tmp_path / "f", LINE, CONTENT)
    with pytest.raises(ValueError, match="another kind"):
        read_arrays(file, b"another line\n")
    data = file.read_bytes()
    for place in range(len(LINE), len(data), 37):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(ValueError, match="damaged"):
            read_arrays(file, LINE)


FLOATS = {"descr": "<f8", "fortran_order": False}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (packed({**FLOATS, "shape": (10**15,)}), "claims 8000000000000000 bytes and has 0"),
        (packed({**FLOATS, "shape": (2**62, 2**62)}), "claims"),
        (packed({**FLOATS, "shape": (1,)}, bytes(16)), "claims 8 bytes and has 16"),
        (packed({**FLOATS, "descr": "|O", "shape": (1,)}, bytes(8)), "an array of object"),
        (packed({**FLOATS, "descr": [("x", "|O")], "shape": (1,)}, bytes(8)), "an array of"),
        (packed({**FLOATS, "shape": (10**6,)}, bytes(8 * 10**6), zipfile.ZIP_DEFLATED), "is compressed"),
        (b"PK not a zip", "not readable"),
        (b"", "not readable"),
    ],
)
def test_a_file_that_claims_what_it_has_not_is_refused(tmp_path, data, reason):
    with pytest.raises(ValueError, match=reason):
        read_arrays(sealed(tmp_path / "f", data), LINE)
