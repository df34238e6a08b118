"""Packages made by an enemy, or by chance: only our own errors, and soon."""

import contextlib
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from dockfmu.master.errors import MasterError
from dockfmu.master.system import Structure
from dockfmu.ssp.archive import read_ssp, write_ssp
from dockfmu.ssp.from_system import from_system
from dockfmu.ssp.to_system import to_system
from dockfmu.ssp.validate import validate

NASTY = st.sampled_from(
    [
        "",
        "a",
        "b",
        "u[1]",
        "y[1]",
        "gain",
        "../../x.ssv",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://[",
        "%2e%2e/x",
        "resources/pair.ssv",
        "resources/Lag.fmu",
        "#a",
        "input",
        "inout",
        "parameter",
        "Real",
        "calculatedParameter",
        "application/x-ssp-package",
        "application/x-ssp-definition",
        "ModelExchange",
        "component",
        "true",
        "1e999",
        "NaN",
        "-1",
        "99999999999999999999",
        "a.b.c",
    ]
)


@pytest.fixture(scope="module")
def members(lag, tmp_path_factory):
    """A package of two lags with everything that decides about a run."""
    system = Structure("pair")
    system.add("a", lag, {"gain": 2.0, "u[1]": 1.0, "label": "first"})
    system.add("b", lag, {"enable": True, "count_in": 3})
    system.connect("a", "y[1]", "b", "u[1]", factor=2.0, offset=0.25)
    system.connect("a", "count", "b", "count_in")
    file = write_ssp(
        from_system(system, start_time=0.0, stop_time=1.0, step=0.1), tmp_path_factory.mktemp("p") / "a.ssp"
    )
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(text, data):
    """A document with some elements taken out, doubled, moved, and attributes changed."""
    root = etree.fromstring(text)
    for _ in range(data.draw(st.integers(1, 4))):
        elements = list(root.iter())
        element = elements[data.draw(st.integers(0, len(elements) - 1))]
        key = data.draw(st.sampled_from([*element.attrib, "source", "id", "type", "sourceBase", "prefix"]))
        match data.draw(st.integers(0, 4)):
            case 0 | 1:
                element.set(key, data.draw(NASTY))
            case 2:
                element.attrib.pop(key, None)
            case 3 if element is not root:
                element.getparent().remove(element)
            case 4 if element is not root:
                element.addnext(etree.fromstring(etree.tostring(element)))
    return etree.tostring(root)


@given(data=st.data())
@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
def test_no_changed_package_whatever_gets_past(members, tmp_path_factory, data):
    """Read what `validate` finds nothing in; what can be coupled may be checked."""
    content = dict(members)
    for name in ("SystemStructure.ssd", "resources/pair.ssv"):
        if data.draw(st.booleans()):
            content[name] = changed(content[name], data)
    folder = tmp_path_factory.mktemp("hostile")
    with zipfile.ZipFile(folder / "a.ssp", "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    found = validate(folder / "a.ssp")
    try:
        package = read_ssp(folder / "a.ssp", folder / "out")
    except MasterError:
        assert found
        return
    with contextlib.suppress(MasterError):
        system, _ = to_system(package)
        assert found == []
        system.check()
    assert {path.name for path in folder.iterdir()} == {"a.ssp", "out"}


def test_the_package_as_it_is_can_be_run(members, tmp_path):
    """Else the test above would not reach far."""
    with zipfile.ZipFile(tmp_path / "a.ssp", "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    assert validate(tmp_path / "a.ssp") == []
    to_system(read_ssp(tmp_path / "a.ssp", tmp_path / "out"))[0].check()
