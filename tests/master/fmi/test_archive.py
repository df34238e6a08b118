"""Archives and XML documents from untrusted sources are opened safely."""

import io
import stat
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dockfmu.base.platforms import this_platform
from dockfmu.master.errors import ArchiveError, DescriptionError, FmuError, MasterError
from dockfmu.master.fmi import archive
from dockfmu.master.fmi.description import read_description
from dockfmu.master.fmi.instance import Fmu


def write(file, *entries):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in entries:
            out.writestr(name, data)
    return file


@pytest.mark.parametrize("name", ["../evil.txt", "a/../../evil.txt", "..\\evil.txt"])
def test_a_path_out_of_the_archive_is_refused(tmp_path, name):
    file = write(tmp_path / "a.zip", ("good.txt", "good"), (name, "evil"))
    with pytest.raises(ArchiveError, match="points out of the archive"):
        archive.extract(file, tmp_path / "out")
    assert not (tmp_path / "evil.txt").exists()


@pytest.mark.parametrize("name", ["/tmp/evil.txt", "C:/evil.txt", "C:\\evil.txt"])
def test_an_absolute_path_is_refused(tmp_path, name):
    with pytest.raises(ArchiveError, match="absolute path"):
        archive.extract(write(tmp_path / "a.zip", (name, "evil")), tmp_path / "out")


def test_a_symbolic_link_is_refused(tmp_path):
    link = zipfile.ZipInfo("link")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(ArchiveError, match="symbolic link"):
        archive.extract(write(tmp_path / "a.zip", (link, "/etc/passwd")), tmp_path / "out")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_RATIO", 100)
    file = write(tmp_path / "a.zip", ("zeros", bytes(101_000_000)))
    with pytest.raises(ArchiveError, match="would unpack to 101000000 bytes"):
        archive.extract(file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_damaged_member_is_named(tmp_path):
    file = write(tmp_path / "a.zip", ("data.bin", bytes(range(256)) * 64))
    data = bytearray(file.read_bytes())
    data[60:90] = bytes(30)
    file.write_bytes(data)
    with pytest.raises(ArchiveError, match=r"data\.bin"):
        archive.extract(file, tmp_path / "out")


@pytest.fixture(scope="module")
def packed(lag):
    """{name: content} of the members of a small FMU, and its bytes: more than half of them are the archive's own."""
    with zipfile.ZipFile(lag) as source:
        members = {"modelDescription.xml": source.read("modelDescription.xml"), "resources/a.txt": b"a" * 100}
    members |= {f"resources/{k}.txt": f"{k}".encode() for k in range(20)}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in members.items():
            target.writestr(name, content)
    return members, out.getvalue()


@given(data=st.data())
@settings(max_examples=300)
def test_damage_is_told_or_did_no_harm(packed, tmp_path_factory, data):
    """What can be read has the members of the archive that was written, each as it was: a damaged one is refused."""
    members, whole = packed
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    folder = tmp_path_factory.mktemp("damaged")
    file = folder / "damaged.fmu"
    file.write_bytes(content[: data.draw(st.sampled_from([len(content)] * 3 + [len(content) - 1, len(content) // 2]))])
    out, told = folder / "out", ""
    try:
        archive.extract(file, out)
        read_description(file)
    except MasterError as error:
        told = str(error)
    if told:
        assert told.startswith(str(file))
        return
    found = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert found == members


def test_an_archive_without_damage_is_read(packed, tmp_path):
    """Else the test above would pass if everything were refused."""
    members, whole = packed
    (tmp_path / "whole.fmu").write_bytes(whole)
    archive.extract(tmp_path / "whole.fmu", tmp_path / "out")
    assert read_description(tmp_path / "whole.fmu").model_name == "Lag"
    assert (tmp_path / "out" / "resources" / "a.txt").read_bytes() == members["resources/a.txt"]


def test_no_archive_at_all(tmp_path):
    (tmp_path / "a.zip").write_text("no zip")
    with pytest.raises(ArchiveError, match="not a readable zip"):
        archive.members(tmp_path / "a.zip")
    with pytest.raises(ArchiveError, match="no such file"):
        archive.members(tmp_path / "b.zip")


def test_backslashes_of_some_windows_tools_are_folders(tmp_path):
    file = write(tmp_path / "a.zip", ("binaries\\win64\\a.dll", "dll"))
    archive.extract(file, tmp_path / "out")
    assert (tmp_path / "out" / "binaries" / "win64" / "a.dll").read_text() == "dll"


def test_xml_with_a_document_type_is_refused_and_entities_are_not_expanded(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    data = f'<!DOCTYPE a [<!ENTITY e SYSTEM "{secret.as_uri()}">]><a>&e;</a>'.encode()
    with pytest.raises(ArchiveError, match="document type declaration"):
        archive.parse_xml(data, "test")


def test_xml_that_is_cut_off_is_refused():
    with pytest.raises(ArchiveError, match="test: not well-formed"):
        archive.parse_xml(b"<a><b></a>", "test")


@pytest.mark.parametrize(
    ("place", "hint"),
    [
        ("Z/modelDescription.xml", "; modelDescription.xml is in the folder 'Z': pack the content of the folder"),
        ("ModelDescription.xml", "; it holds ModelDescription.xml: FMI wants the name modelDescription.xml"),
        ("readme.txt", ", so it is not an FMU"),
    ],
)
def test_a_description_in_another_place_is_found_for_the_message(tmp_path, place, hint):
    file = tmp_path / "odd.fmu"
    write(file, (place, "<fmiModelDescription/>"))
    with pytest.raises(DescriptionError) as told:
        read_description(file)
    assert hint in str(told.value)


def test_a_library_under_the_name_of_the_other_version_is_told(third_party, tmp_path):
    file = third_party.build(tmp_path, platform=this_platform("3.0"))
    with pytest.raises(FmuError, match=rf"{this_platform('3.0')} is the name of this platform in FMI 3\.0"):
        Fmu(file)


def test_the_method_of_compression_is_named(tmp_path):
    file = tmp_path / "packed.fmu"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as out:
        out.writestr("modelDescription.xml", "x")
    with pytest.raises(ArchiveError, match=r"method 14 \(LZMA\); only deflation is allowed: pack it again as zip"):
        read_description(file)
