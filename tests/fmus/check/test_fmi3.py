"""`validate` checks FMUs of FMI 3.0: a sound one has no errors, and each seeded fault is found."""

import re

import pytest

from dockfmu.fmus.check import examine, validate
from dockfmu.fmus.check.libraries import FUNCTIONS_FMI3
from dockfmu.fmus.toolchain.libraries import read_elf
from dockfmu.master.fmi.instance import Fmu
from tests.master.fmus import arrays3, third_party

pytestmark = pytest.mark.slow

SOURCE = third_party.HERE / "arrays3.c"


def sound_description():
    """Return the description of the arrays with the outputs that the standard wants in the model structure."""
    text = arrays3.description().replace(' maxOutputDerivativeOrder="1"', "")
    depends = {6: "5", 11: "10", 61: "60", 63: "62"} | {40 + k: str(20 + k) for k in range(len(arrays3.WHOLE))}
    of_inputs = {k: v for k, v in depends.items() if v not in ("5", "60", "62")}
    outputs = "".join(f'<Output valueReference="{k}" dependencies="{of_inputs.get(k, "")}"/>' for k in depends)
    unknowns = "".join(f'<InitialUnknown valueReference="{k}" dependencies="{v}"/>' for k, v in depends.items())
    text = text.replace("<InitialUnknown", outputs + "<InitialUnknown", 1)
    return text.replace("</ModelStructure>", unknowns + "</ModelStructure>")


@pytest.fixture(scope="module")
def arrays_library(tmp_path_factory):
    """The library as the tests of the master use it, without the functions of other kinds of FMUs."""
    return third_party.compiled(tmp_path_factory.mktemp("arrays"), "arrays3.c")


@pytest.fixture(scope="module")
def library(tmp_path_factory, arrays_library):
    """The library of the arrays with all functions of the standard."""
    folder = tmp_path_factory.mktemp("complete")
    missing = FUNCTIONS_FMI3 - read_elf(arrays_library).defined
    stubs = "".join(f"EXPORT Status {name}(void) {{ return ERROR; }}\n" for name in sorted(missing))
    (folder / "complete3.c").write_text(f'#include "{SOURCE}"\n{stubs}')
    return third_party.compiled(folder, str(folder / "complete3.c"))


@pytest.fixture
def fmu(tmp_path, library):
    """Write an FMU with edits (old, new) of the sound description."""

    def write(*edits, binary=library):
        text = sound_description()
        for old, new in edits:
            assert text.count(old) == 1, (old, text.count(old))
            text = text.replace(old, new)
        return arrays3.build(tmp_path, binary, xml=text)

    return write


def test_a_sound_fmu_of_fmi3_has_no_errors(fmu):
    file = fmu()
    found = examine(file)
    assert not [str(f) for findings in found.values() for f in findings if f.severity == "error"]
    # each check but that of the state machine of FMI 2.0 has run, in the library
    assert {"check_guid", "check_settable", "check_state", "check_dependencies", "check_threads"} <= set(found)
    assert "check_state_machine" not in found
    with Fmu(file) as opened:
        assert opened.description.fmi_version == "3.0"


@pytest.mark.parametrize(
    ("edits", "place", "text"),
    [
        ([('stepSize="0.01"', 'stepSize="-1"')], "DefaultExperiment", "stepSize -1 is not positive"),
        ([('declaredType="Length" start="0"', 'declaredType="Length" start="-101"')], "u", "lies outside [-100, inf]"),
        ([('causality="input" start="1" declaredType="Mode"', 'causality="input" start="3" declaredType="Mode"')],
         "Enumeration.in", "not an item"),
        ([('name="UInt8.in" valueReference="21" causality="input" start="0"',
           'name="UInt8.in" valueReference="21" causality="input" start="0" max="3" min="4"')],
         "UInt8.in", "min 4 is greater than max 3"),
        ([('name="UInt8.in" valueReference="21" causality="input" start="0"',
           'name="UInt8.in" valueReference="21" causality="input" start="256"')],
         "line", "unsignedByte"),
        ([('<InitialUnknown valueReference="11" dependencies="10"/>', "")],
         "ModelStructure/InitialUnknown", "it lacks single.out"),
        ([('start="7 8 9"', 'start="7 8"')], "bias", "2 start values for 3 elements"),
        ([('causality="structuralParameter" variability="fixed"', 'causality="parameter" variability="fixed"')],
         "u", "its dimension n may change in a run"),
        ([('<Output valueReference="4" dependencies="2"/>', '<Output valueReference="4" dependencies="99"/>')],
         "ModelStructure/Output", "value reference 99 is that of no variable"),
        ([('<Output valueReference="11" dependencies="10"/>', "")], "", "exactly one entry for each variable"),
        ([('<Float64 name="gain"', '<Float64 name="gain" unit="parsec"')], "", 'unit "parsec"'),
        ([('<Float64 name="gain"', '<Float64 name="gain" colour="red"')], "line", "'colour'"),
        ([('name="gain" valueReference="7"', 'name="gain" valueReference="6"')], "", "same value reference"),
        ([('modelIdentifier="Arrays"', 'modelIdentifier="1Arrays"')], "", "Arrays"),
    ],
)  # fmt: skip
def test_a_fault_of_the_description_is_found(fmu, edits, place, text):
    errors = [finding for finding in validate(fmu(*edits)) if finding.severity == "error"]
    assert any(finding.element.startswith(place) and text in finding.text for finding in errors), errors


def test_a_dependency_that_the_description_denies_is_found(fmu):
    file = fmu(('<Output valueReference="4" dependencies="2"/>', '<Output valueReference="4" dependencies=""/>'))
    errors = [str(finding) for finding in validate(file) if finding.severity == "error"]
    assert any("through" in line and "which the description denies" in line for line in errors), errors


def test_a_start_value_of_another_library_is_found(fmu):
    errors = [str(finding) for finding in validate(fmu(('start="7 8 9"', 'start="7 8 10"'))) if finding.element]
    assert any(re.search(r"bias\[3\].* 9\.0 in the library and 10\.0 in the model description", e) for e in errors)


def test_functions_that_the_library_lacks_are_named_once(fmu, arrays_library):
    found = examine(fmu(binary=arrays_library))["libraries"]
    (finding,) = [finding for finding in found if finding.severity == "error"]
    assert "fmi3InstantiateModelExchange" in finding.element
    assert "fmi3DoStep" not in finding.element


def test_a_crash_is_a_finding(fmu):
    edits = [('name="fault_time" valueReference="8" causality="parameter" start="1e300"',
              'name="fault_time" valueReference="8" causality="parameter" start="0"'),
             ('name="fault" valueReference="9" causality="parameter" start="0"',
              'name="fault" valueReference="9" causality="parameter" start="7"')]  # fmt: skip
    errors = [str(finding) for finding in validate(fmu(*edits)) if finding.severity == "error"]
    assert errors
