"""Differences (relativeQuantity) on their way through a package: the offsets of units do not apply to them."""

import zipfile

import pytest

from dockfmu.base.units import Unit
from dockfmu.ssp.model import (
    BoundMapping,
    Connector,
    LinearTransformation,
    MappingEntry,
    ParameterBinding,
    ParameterMapping,
    SsdComponent,
    SsdConnection,
    SsdSystem,
    Ssp,
    SspError,
    SsvParameter,
    SsvParameterSet,
    StructureDescription,
    UnitDefinition,
)
from dockfmu.ssp.to_system import apply_parameters, to_system

KELVIN = (0, 0, 0, 0, 1, 0, 0, 0)
UNITS = [UnitDefinition(Unit("K", KELVIN)), UnitDefinition(Unit("degC", KELVIN, 1.0, 273.15))]
DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="T" guid="t"><CoSimulation modelIdentifier="T"/>
<UnitDefinitions><Unit name="K"><BaseUnit K="1"/></Unit><Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit>
</UnitDefinitions><ModelVariables>
<ScalarVariable name="t" valueReference="0" causality="output"><Real unit="K"/></ScalarVariable>
<ScalarVariable name="dt" valueReference="1" causality="output"><Real unit="K" relativeQuantity="true"/>
</ScalarVariable>
<ScalarVariable name="din" valueReference="2" causality="input"><Real unit="K" relativeQuantity="true" start="0"/>
</ScalarVariable>
<ScalarVariable name="d" valueReference="3" causality="parameter" variability="fixed">
<Real unit="degC" relativeQuantity="true" start="0"/></ScalarVariable>
<ScalarVariable name="dk" valueReference="4" causality="parameter" variability="fixed">
<Real unit="K" relativeQuantity="true" start="0"/></ScalarVariable>
<ScalarVariable name="absolute" valueReference="5" causality="parameter" variability="fixed">
<Real unit="K" start="0"/></ScalarVariable>
</ModelVariables><ModelStructure/></fmiModelDescription>"""


@pytest.fixture
def file(tmp_path):
    with zipfile.ZipFile(tmp_path / "T.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION)
    return tmp_path / "T.fmu"


def system_of(file, root):
    description = StructureDescription("test", root, units=UNITS)
    return to_system(Ssp(description, resources={"resources/T.fmu": file}))


def component(name, *connectors, **rest):
    return SsdComponent(name, "resources/T.fmu", connectors=list(connectors), **rest)


def values(**given):
    parameters = [SsvParameter(name, "Real", value, unit="degC") for name, value in given.items()]
    return SsvParameterSet("set", parameters, units=UNITS)


def test_values_of_parameter_sets_are_differences_where_their_variable_is_one(file):
    binding = ParameterBinding(values=values(d=10.0, dk=10.0, absolute=10.0))
    system, notes = system_of(file, SsdSystem("root", elements=[component("a", bindings=[binding])]))
    assert (notes, system.elements["a"].start) == ([], {"d": 10.0, "dk": 10.0, "absolute": 283.15})


def test_a_set_on_the_command_line_and_a_mapping_do_the_same(file):
    system, _ = system_of(file, SsdSystem("root", elements=[component("a")]))
    given = values()
    given.parameters = [SsvParameter(f"a.{name}", "Real", 10.0, unit="degC") for name in ("d", "dk", "absolute")]
    assert apply_parameters(system, given) == []
    assert system.elements["a"].start == {"d": 10.0, "dk": 10.0, "absolute": 283.15}
    entries = [MappingEntry("x", name, LinearTransformation(2.0, 1.0)) for name in ("d", "dk", "absolute")]
    binding = ParameterBinding(values=values(x=10.0), mapping=BoundMapping(mapping=ParameterMapping(entries)))
    system, _ = system_of(file, SsdSystem("root", elements=[component("a", bindings=[binding])]))
    assert system.elements["a"].start == {"d": 21.0, "dk": 21.0, "absolute": 2.0 * 283.15 + 1.0}


def through_a_system(source, unit):
    """Return a system that connects an output of `a` to the difference `din` of `in.b` through a connector."""
    inner = SsdSystem(
        "in",
        elements=[component("b", Connector("din", "input", "Real"))],
        connectors=[Connector("x", "input", "Real", unit)],
        connections=[SsdConnection(None, "x", "b", "din")],
    )
    return SsdSystem(
        "root",
        elements=[component("a", Connector(source, "output", "Real")), inner],
        connections=[SsdConnection("a", source, "in", "x", LinearTransformation(2.0))],
    )


def test_a_difference_passes_a_connector_in_a_unit_with_an_offset(file):
    """Twice a difference of 10 K, through a connector in degC, is one of 20 K, and not of -253.15 K."""
    system, _ = system_of(file, through_a_system("dt", "degC"))
    assert system.transformation(system.connections[0]) == (2.0, 0.0)
    with pytest.raises(SspError, match=r"one end is a difference.*'degC'"):
        system_of(file, through_a_system("t", "degC"))


def test_a_connector_in_the_unit_of_a_difference_is_no_contradiction(file):
    root = SsdSystem("root", elements=[component("a", Connector("d", "parameter", "Real", "degC"))])
    assert system_of(file, root)[1] == []
