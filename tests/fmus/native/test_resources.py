"""Tables that are read at instantiation."""

import shutil
import struct

import pytest

from tests.fmus.library import Instance


@pytest.fixture
def folder(gadget_library, tmp_path):
    """A copy of the resources, in a folder that needs percent-encoding."""
    place = tmp_path / "100% ü #1"
    shutil.copytree(gadget_library.folder / "resources", place)
    return place


def test_percent_encoded_uri_plain_path_and_trailing_slash(gadget_library, folder):
    for location in (
        folder.as_uri(),
        folder.as_uri() + "/",
        "file:" + folder.as_uri()[7:],
        str(folder),
        folder.as_uri().replace("file://", "file://localhost"),
    ):
        instance = Instance(gadget_library, resources=location.encode())
        assert instance.component is not None, instance.messages


@pytest.mark.parametrize("location", [b"", b"http://host/resources", b"file:///nowhere", b"file://"])
def test_missing_resource_is_named(gadget_library, location):
    instance = Instance(gadget_library, resources=location)
    assert instance.component is None
    assert "table.f64" in instance.last


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (struct.pack("<2d", 1.0, 2.0), "holds less than the 3 values"),
        (struct.pack("<3d", 1.0, 2.0, 3.0) + b"x", "holds more than the 3 values"),
        (b"", "holds less"),
        (struct.pack("<3d", 1.0, float("nan"), 3.0), "value 2 in the resource"),
    ],
)
def test_damaged_resource_is_named(gadget_library, folder, content, text):
    (folder / "table.f64").write_bytes(content)
    instance = Instance(gadget_library, resources=folder.as_uri().encode())
    assert instance.component is None
    assert text in instance.last
    assert "table.f64" in instance.last
