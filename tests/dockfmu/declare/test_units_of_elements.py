"""Elements of one array may have units of their own in an FMU of another tool."""

import zipfile

import pytest

from dockfmu.declare.parameters import parameters
from dockfmu.declare.settings import Written, set_value
from dockfmu.master.errors import StructureError
from dockfmu.master.system import Structure

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="T" guid="t"><CoSimulation modelIdentifier="T"/>
<UnitDefinitions><Unit name="m"><BaseUnit m="1"/></Unit><Unit name="mm"><BaseUnit m="1" factor="0.001"/></Unit>
<Unit name="s"><BaseUnit s="1"/></Unit></UnitDefinitions><ModelVariables>
<ScalarVariable name="p[1]" valueReference="0" causality="parameter" variability="fixed"><Real unit="m" start="0"/>
</ScalarVariable>
<ScalarVariable name="p[2]" valueReference="1" causality="parameter" variability="fixed"><Real unit="mm" start="0"/>
</ScalarVariable>
<ScalarVariable name="q[1]" valueReference="2" causality="parameter" variability="fixed"><Real unit="m" start="0"/>
</ScalarVariable>
<ScalarVariable name="q[2]" valueReference="3" causality="parameter" variability="fixed"><Real unit="s" start="0"/>
</ScalarVariable>
</ModelVariables><ModelStructure/></fmiModelDescription>"""


@pytest.fixture
def system(tmp_path):
    with zipfile.ZipFile(tmp_path / "T.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION)
    system = Structure("units")
    system.add("e", tmp_path / "T.fmu")
    return system


@pytest.mark.quick
@pytest.mark.parametrize("value", [Written("1m"), Written("[1m, 1000mm]"), ["1m", "1m"], "1 m"])
def test_a_value_with_a_unit_is_converted_for_each_element(system, value):
    """One metre is 1000 in an element that is in mm; it was 1, that is 1 mm."""
    set_value(system, "e.p", value)
    assert system.elements["e"].start == {"p[1]": 1.0, "p[2]": pytest.approx(1000.0, rel=1e-15)}


@pytest.mark.quick
def test_numbers_are_in_the_unit_of_their_element_and_other_quantities_refused(system):
    set_value(system, "e.q", Written("[1m, 2s]"))
    set_value(system, "e.p", [1.0, 2.0])
    assert system.elements["e"].start == {"q[1]": 1.0, "q[2]": 2.0, "p[1]": 1.0, "p[2]": 2.0}
    with pytest.raises(StructureError, match=r"e\.q\[2\] = '1m': another quantity"):
        set_value(system, "e.q", Written("1m"))


@pytest.mark.quick
def test_the_list_of_parameters_gives_each_its_unit(system):
    listed = parameters(str(system.elements["e"].file))
    assert [(p.name, p.unit) for p in listed] == [("p[1]", "m"), ("p[2]", "mm"), ("q[1]", "m"), ("q[2]", "s")]
