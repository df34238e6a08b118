"""Malicious or random archives and model descriptions are refused by name and write nothing outside the target."""

import contextlib
import math
import stat
import warnings
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from dockfmu.master.errors import ArchiveError, MasterError
from dockfmu.master.fmi import archive
from dockfmu.master.fmi.description import read_description

QUICK = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def member(name, mode=stat.S_IFREG, method=zipfile.ZIP_DEFLATED):
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (mode | 0o644) << 16
    info.compress_type = method
    return info


def pack(file, *entries):
    with zipfile.ZipFile(file, "w") as out, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of two members of one name
        for info, data in entries:
            out.writestr(info, data)
    return file


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([(member("a"), "1"), (member("a"), "2")], "two members are called 'a'"),
        ([(member("a/b"), "1"), (member("a\\b"), "2")], "two members are called 'a/b'"),
        ([(member("pipe", stat.S_IFIFO), "")], "not a regular file"),
        ([(member("device", stat.S_IFCHR), "")], "not a regular file"),
        ([(member("packed", method=zipfile.ZIP_LZMA), "1")], "only deflation is allowed"),
        ([(member("packed", method=zipfile.ZIP_BZIP2), "1")], "only deflation is allowed"),
        ([(member("a"), "1"), (member("a/b"), "2")], "cannot be unpacked"),
        ([(member(""), "1")], "a member has no name"),
        ([(member("."), "1")], "a member has no name"),
    ],
)
def test_what_no_fmu_holds_is_refused(tmp_path, entries, reason):
    with pytest.raises(ArchiveError, match=reason):
        archive.extract(pack(tmp_path / "a.zip", *entries), tmp_path / "out")


def test_a_bomb_of_deflated_zeros_is_refused(tmp_path):
    file = pack(tmp_path / "a.zip", (member("zeros"), bytes(101_000_000)))
    with pytest.raises(ArchiveError, match="would unpack to 101000000 bytes"):
        archive.extract(file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_bomb_of_many_members_over_the_same_bytes_is_refused(tmp_path):
    """The central directory lists one compressed member many times: a small file with a large total size."""
    file = pack(tmp_path / "a.zip", (member("0"), bytes(1_000_000)))
    data = file.read_bytes()
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry, count = data[start:end], 200
    entries = b"".join(entry[:-1] + bytes([33 + k % 90]) for k in range(count))
    trailer = bytearray(data[end:])
    trailer[8:12] = count.to_bytes(2, "little") * 2
    trailer[12:16] = len(entries).to_bytes(4, "little")
    file.write_bytes(data[:start] + entries + trailer)
    with pytest.raises(ArchiveError, match=r"would unpack to 200000000 bytes|two members are called"):
        archive.extract(file, tmp_path / "out")


def test_a_document_of_any_size_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_DOCUMENT", 1000)
    file = pack(tmp_path / "a.fmu", (member("modelDescription.xml"), "<a>" + " " * 2000 + "</a>"))
    with pytest.raises(ArchiveError, match=r"modelDescription\.xml has 2007 bytes"):
        read_description(file)


LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))


@pytest.mark.parametrize(
    "text",
    [
        f'<!DOCTYPE a [<!ENTITY l0 "ha">{LAUGHS}]><a b="&l9;">&l9;</a>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>',
        '<!DOCTYPE a [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><a/>',
        '<!DOCTYPE a [<!ATTLIST a b CDATA "default">]><a/>',
    ],
    ids=["laughs", "file", "network", "parameter entity", "default attribute"],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_document_types_are_refused(text, encoding):
    with pytest.raises(ArchiveError, match=r"refused|not well-formed"):
        archive.parse_xml(text.encode(encoding), "test")


def test_elements_inside_each_other_without_end_are_refused():
    with pytest.raises(ArchiveError, match="not well-formed"):
        archive.parse_xml(b"<a>" * 100_000 + b"</a>" * 100_000, "test")


NAMES = st.one_of(
    st.sampled_from(
        ["modelDescription.xml", "../a", "/a", "a/../../b", "..", ".", "", "C:a", "\\\\host\\a", "a\0b", "a/", "./a"]
    ),
    st.text(max_size=8),
    st.lists(st.sampled_from(["..", ".", "a", "b", ""]), max_size=5).map("/".join),
)
KINDS = st.sampled_from([0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK, stat.S_IFIFO])


def tree(folder):
    return {path: path.is_dir() or path.read_bytes() for path in folder.rglob("*")}


@given(entries=st.lists(st.tuples(NAMES, KINDS, st.binary(max_size=20)), max_size=5), data=st.data())
@QUICK
def test_nothing_is_written_outside_the_target(tmp_path_factory, entries, data):
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "bystander").write_text("untouched")
    file = folder / "a.zip"
    with contextlib.suppress(ValueError, UnicodeEncodeError):
        pack(file, *((member(name, kind), content) for name, kind, content in entries))
    if not file.is_file():
        return
    if data.draw(st.booleans()):
        damaged = bytearray(file.read_bytes())
        for _ in range(data.draw(st.integers(0, 5))):
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
        file.write_bytes(damaged)
    before = tree(folder)
    target = folder / "in" / "out"
    with contextlib.suppress(MasterError):
        archive.extract(file, target)
        read_description(file)
    after = {path: content for path, content in tree(folder).items() if not path.is_relative_to(folder / "in")}
    assert after == before
    assert set((folder / "in").glob("*")) <= {target}
    assert not any(path.is_symlink() for path in folder.rglob("*"))


VALUES = st.one_of(
    st.sampled_from(
        ["", "-1", "0", "1e999", "nan", "inf", "true", "4294967296", "99999999999999999999", "../..", "a b", "1.5", "x"]
    ),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cn")), max_size=5),
)


@pytest.fixture(params=["FMI 2.0", "FMI 3.0"])
def description(request):
    """Return a valid model description."""
    fmu = request.getfixturevalue({"FMI 2.0": "lag", "FMI 3.0": "arrays"}[request.param])
    with zipfile.ZipFile(fmu) as source:
        return source.read("modelDescription.xml")


@given(data=st.data())
@QUICK
def test_no_model_description_whatever_gets_past(description, tmp_path_factory, data):
    """Elements are removed, duplicated, moved and renamed; attributes are removed, changed and added."""
    root = etree.fromstring(description)
    for _ in range(data.draw(st.integers(1, 4))):
        elements = list(root.iter())
        element = elements[data.draw(st.integers(0, len(elements) - 1))]
        keys = [*element.attrib, "min", "derivative", "declaredType", "dependencies", "dimensions", "clocks"]
        key = data.draw(st.sampled_from(keys))
        match data.draw(st.integers(0, 5)):
            case 0:
                element.set(key, data.draw(VALUES))
            case 1:
                element.attrib.pop(key, None)
            case 2 if element is not root:
                element.getparent().remove(element)
            case 3:
                elements[data.draw(st.integers(0, len(elements) - 1))].append(etree.fromstring(etree.tostring(element)))
            case 4:
                element.tag = data.draw(
                    st.sampled_from(["Real", "Float64", "Dimension", "Unknown", "BaseUnit", "Unit", "nonsense"])
                )
            case 5:
                element.text = data.draw(VALUES)
    file = tmp_path_factory.mktemp("description") / "modelDescription.xml"
    file.write_bytes(etree.tostring(root))
    found, told = None, ""
    try:
        found = read_description(file)
    except MasterError as error:
        told = str(error)
    assert sound(found) if found else told.startswith(str(file))


CAUSALITIES = ("parameter", "calculatedParameter", "structuralParameter", "input", "output", "local", "independent")
TYPES = {"Real": float, "Integer": int, "Enumeration": int, "Boolean": bool, "String": str}


def sound(found):
    """Check what a run relies on: names and numbers of variables, types of start values, references between them."""
    assert found.model_name
    assert found.identifier
    for name, variable in found.variables.items():
        assert variable.name == name
        assert 0 <= variable.reference < 2**32
        assert variable.causality in CAUSALITIES
        assert variable.start is None or isinstance(variable.start, TYPES[variable.type]), variable
        for bound in (variable.minimum, variable.maximum, variable.nominal):
            assert bound is None or not math.isnan(bound), variable
        assert variable.derivative is None or variable.derivative in found.variables
    for lists in (found.outputs, found.derivatives, found.initial_unknowns):
        for name, dependencies in lists.items():
            assert {name, *(dependencies or ())} <= set(found.variables)
    for array in found.arrays:
        assert array.size >= 1
        assert len(array.start) in (0, array.size)
    return True


def test_a_description_without_changes_is_read(description, tmp_path):
    (tmp_path / "modelDescription.xml").write_bytes(description)
    assert len(read_description(tmp_path / "modelDescription.xml").variables) > 10
