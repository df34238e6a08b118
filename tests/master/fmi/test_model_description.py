"""Model descriptions are read completely, or refused with the place and the reason."""

import math
import zipfile

import pytest

from dockfmu.base.units import Unit, conversion
from dockfmu.master.errors import ArchiveError, DescriptionError
from dockfmu.master.fmi.description import read_description
from dockfmu.master.system import Structure

pytestmark = pytest.mark.quick

XML = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Test" guid="{1}" generationTool="hand">
<ModelExchange modelIdentifier="TestME"/>
<CoSimulation modelIdentifier="Test" canGetAndSetFMUstate="true" maxOutputDerivativeOrder="1"/>
<UnitDefinitions>
<Unit name="kN"><BaseUnit kg="1" m="1" s="-2" factor="1000"/><DisplayUnit name="N" factor="1000"/></Unit>
</UnitDefinitions>
<TypeDefinitions>
<SimpleType name="Force"><Real unit="kN" min="-10" max="10" nominal="5"/></SimpleType>
<SimpleType name="Mode"><Enumeration><Item name="off" value="1"/><Item name="on" value="5"/></Enumeration></SimpleType>
</TypeDefinitions>
<DefaultExperiment stopTime="3" stepSize="0.5"/>
<ModelVariables>
<ScalarVariable name="f" valueReference="7" causality="input" description="push"><Real declaredType="Force" max="8" start="2.5"/></ScalarVariable>
<ScalarVariable name="mode" valueReference="7" causality="output" variability="discrete"><Enumeration declaredType="Mode"/></ScalarVariable>
<ScalarVariable name="n" valueReference="0" causality="parameter" variability="fixed"><Integer start="-3" min="-5"/></ScalarVariable>
<ScalarVariable name="on" valueReference="0"><Boolean/></ScalarVariable>
<ScalarVariable name="s" valueReference="4294967295" causality="parameter" variability="tunable"><String start="&lt;x&gt;"/></ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs><Unknown index="2" dependencies="1"/></Outputs>
<InitialUnknowns><Unknown index="2"/></InitialUnknowns></ModelStructure>
</fmiModelDescription>
"""  # noqa: E501


def read(tmp_path, text=XML):
    file = tmp_path / "modelDescription.xml"
    file.write_text(text)
    return read_description(file)


def test_everything_that_is_said_is_read(tmp_path):
    description = read(tmp_path)
    assert (description.model_name, description.guid, description.identifier) == ("Test", "{1}", "Test")
    assert (description.can_get_and_set_state, description.can_vary_step) == (True, False)
    assert description.max_output_derivative_order == 1
    assert (description.experiment.start, description.experiment.stop, description.experiment.step) == (None, 3.0, 0.5)
    f = description.variables["f"]
    assert (f.reference, f.type, f.causality, f.variability) == (7, "Real", "input", "continuous")
    # what the variable says goes before what its type says
    assert (f.start, f.minimum, f.maximum, f.nominal, f.unit) == (2.5, -10.0, 8.0, 5.0, "kN")
    assert description.unit(f) == Unit("kN", (1, 1, -2, 0, 0, 0, 0, 0), 1000.0, display=(("N", 1000.0, 0.0),))
    mode = description.variables["mode"]
    assert mode.items == (("off", 1), ("on", 5))
    assert (mode.storage, mode.declared_type) == ("Integer", "Mode")
    assert description.variables["n"].start == -3
    assert description.variables["s"].start == "<x>"
    assert description.outputs == {"mode": ("f",)}
    assert description.initial_unknowns == {"mode": None}
    assert [v.name for v in description.select("parameter")] == ["n", "s"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('fmiVersion="2.0"', 'fmiVersion="1.0"', r"FMI 1\.0; this master runs co-simulation FMUs of FMI 2\.0 and 3\.0"),
        ('fmiVersion="2.0"', "", "has no attribute fmiVersion"),
        ("<CoSimulation", "<CoSimulations", "but one for model exchange; export it for co-simulation"),
        ('modelIdentifier="Test" ', "", "line 4, CoSimulation: has no attribute modelIdentifier"),
        ('modelIdentifier="Test" ', 'modelIdentifier="../x" ', "is not a C identifier"),
        ('name="on" valueR', 'name="n" valueR', "line 17, ScalarVariable 'n': two variables have this name"),
        (
            "</UnitDefinitions>",
            '<Unit name="kN"><BaseUnit kg="1"/></Unit></UnitDefinitions>',
            "'kN': two units that differ",
        ),
        (
            "</TypeDefinitions>",
            '<SimpleType name="Force"><Real/></SimpleType></TypeDefinitions>',
            "two types that differ",
        ),
        ('name="n" valueReference="0"', 'name="n"', "ScalarVariable 'n': has no attribute valueReference"),
        ('valueReference="4294967295"', 'valueReference="4294967296"', "valueReference = '4294967296' is not a valid"),
        ('start="2.5"', 'start="two"', "Real.*start = 'two' is not a valid value"),
        ('declaredType="Force"', 'declaredType="Fource"', "declaredType 'Fource' is not among the Real types"),
        ('declaredType="Force"', 'declaredType="Mode"', "declaredType 'Mode' is not among the Real types"),
        ('causality="input"', 'causality="inputs"', "causality 'inputs' is not one of"),
        ("<Boolean/>", "", "ScalarVariable 'on': needs exactly one element of"),
        ('dependencies="1"', 'dependencies="6"', "Unknown: index 6 is outside 1 to 5"),
        ('factor="1000"/><D', 'factor="0"/><D', "Unit 'kN': unit 'kN': factor 0 and offset 0 convert nothing"),
    ],
)
def test_faults_are_told_with_their_place(tmp_path, old, new, words):
    assert old in XML
    with pytest.raises(DescriptionError, match=words):
        read(tmp_path, XML.replace(old, new, 1))


def test_what_is_no_model_description(tmp_path):
    with pytest.raises(DescriptionError, match="root element"):
        read(tmp_path, "<html/>")
    with pytest.raises(ArchiveError, match="not well-formed"):
        read(tmp_path, XML[:-30])
    with pytest.raises(DescriptionError, match="holds no modelDescription"):
        read_description(tmp_path / "..")


def test_units_of_one_quantity_are_converted():
    celsius = Unit("degC", (0, 0, 0, 0, 1, 0, 0, 0), 1.0, 273.15)
    fahrenheit = Unit("degF", (0, 0, 0, 0, 1, 0, 0, 0), 5.0 / 9.0, 273.15 - 32.0 * 5.0 / 9.0)
    factor, offset = conversion(celsius, fahrenheit)
    assert factor * 100.0 + offset == pytest.approx(212.0, rel=1e-13)
    assert conversion(celsius, celsius) == (1.0, 0.0)
    assert conversion(Unit("?"), Unit("?")) == (1.0, 0.0)


def test_units_of_different_quantities_are_not():
    with pytest.raises(ValueError, match="different quantities"):
        conversion(Unit("m", (0, 1, 0, 0, 0, 0, 0, 0)), Unit("s", (0, 0, 1, 0, 0, 0, 0, 0)))
    with pytest.raises(ValueError, match="'x' is not defined"):
        conversion(Unit("m", (0, 1, 0, 0, 0, 0, 0, 0)), Unit("x"))


TEMPERATURES = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="T" guid="t"><CoSimulation modelIdentifier="T"/>
<UnitDefinitions><Unit name="K"><BaseUnit K="1"/></Unit><Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit>
</UnitDefinitions>
<TypeDefinitions>
<SimpleType name="Difference"><Real unit="degC" relativeQuantity="true"/></SimpleType></TypeDefinitions>
<ModelVariables>
<ScalarVariable name="t" valueReference="0" causality="output"><Real unit="degC"/></ScalarVariable>
<ScalarVariable name="dt" valueReference="1" causality="output"><Real declaredType="Difference"/></ScalarVariable>
<ScalarVariable name="in" valueReference="2" causality="input"><Real unit="K" start="0"/></ScalarVariable>
<ScalarVariable name="din" valueReference="3" causality="input"><Real unit="K" relativeQuantity="true" start="0"/>
</ScalarVariable></ModelVariables><ModelStructure/></fmiModelDescription>"""


def test_the_offset_of_a_unit_does_not_apply_to_differences(tmp_path):
    """10 degC are 283.15 K, but a difference of 10 degC is one of 10 K (FMI 2.0, relativeQuantity)."""
    file = tmp_path / "modelDescription.xml"
    file.write_text(TEMPERATURES)
    with zipfile.ZipFile(tmp_path / "T.fmu", "w") as archive:
        archive.write(file, "modelDescription.xml")
    system = Structure("temperatures")
    for name in ("a", "b"):
        system.add(name, tmp_path / "T.fmu")
    for output, target in (("t", "in"), ("dt", "din"), ("dt", "in"), ("t", "din")):
        system.connect("a", output, "b", target)
    absolute, difference, *mixed = system.connections
    assert system.transformation(absolute) == (1.0, 273.15)
    assert system.transformation(difference) == (1.0, 0.0)
    for connection in mixed:
        with pytest.raises(ValueError, match="is a difference"):
            system.transformation(connection)


@pytest.mark.parametrize("number", ["1_0", "inf", "Infinity", "nan", "0x10", "\u0661", "\u00a01"])
@pytest.mark.parametrize("old", ['start="2.5"', 'nominal="5"', 'stopTime="3"', 'start="-3"', 'valueReference="7"'])
def test_only_numbers_of_xml_schema_are_numbers(tmp_path, old, number):
    """Python's `float` and `int` take more: digits of other scripts, underscores, and other words for infinities."""
    with pytest.raises(DescriptionError, match="is not a valid value"):
        read(tmp_path, XML.replace(old, f'{old.split("=")[0]}="{number}"', 1))


def test_infinities_and_blanks_of_xml_schema_are_read(tmp_path):
    text = XML.replace('start="2.5"', 'start=" INF "').replace('min="-10"', 'min="-INF"').replace('="-3"', '="+3 "')
    found = read(tmp_path, text).variables
    assert (found["f"].start, found["f"].minimum, found["n"].start) == (math.inf, -math.inf, 3)


TEMPERATURES_OF_FMI_3 = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="T" instantiationToken="t"><CoSimulation modelIdentifier="T"/>
<UnitDefinitions><Unit name="K"><BaseUnit K="1"/></Unit>
<Unit name="degC"><BaseUnit K="1" offset="273.15"/><DisplayUnit name="degF" factor="1.8" offset="32"/></Unit>
<Unit name="s"><BaseUnit s="1"/><DisplayUnit name="Hz" inverse="true"/><DisplayUnit name="ms" factor="1000"/>
<DisplayUnit name="never" factor="0"/><DisplayUnit name="INF" factor="INF"/></Unit></UnitDefinitions>
<TypeDefinitions><Float64Type name="Difference" unit="degC" relativeQuantity="true"/></TypeDefinitions>
<ModelVariables>
<Float64 name="t" valueReference="0" causality="output" unit="degC"/>
<Float64 name="dt" valueReference="1" causality="output" declaredType="Difference"/>
<Float32 name="in" valueReference="2" causality="input" unit="K" start="0"/>
<Float64 name="din" valueReference="3" causality="input" unit="K" relativeQuantity="true" start="0"/>
<Float64 name="period" valueReference="4" causality="input" unit="s" displayUnit="Hz" start="4"/>
</ModelVariables><ModelStructure/></fmiModelDescription>"""


def test_units_of_fmi_3_are_those_of_fmi_2(tmp_path):
    """Conversions, offsets of differences, and units of other quantities, between variables of any float type."""
    file = tmp_path / "modelDescription.xml"
    file.write_text(TEMPERATURES_OF_FMI_3)
    with zipfile.ZipFile(tmp_path / "T.fmu", "w") as archive:
        archive.write(file, "modelDescription.xml")
    system = Structure("temperatures")
    for name in ("a", "b"):
        system.add(name, tmp_path / "T.fmu")
    for output, target in (("t", "in"), ("dt", "din"), ("dt", "in"), ("t", "din"), ("t", "period")):
        system.connect("a", output, "b", target)
    absolute, difference, *mixed, other = system.connections
    assert system.transformation(absolute) == (1.0, 273.15)
    assert system.transformation(difference) == (1.0, 0.0)
    for connection in mixed:
        with pytest.raises(ValueError, match="is a difference"):
            system.transformation(connection)
    with pytest.raises(ValueError, match="different quantities"):
        system.transformation(other)


def test_display_units_that_no_factor_converts_to_are_left_out(tmp_path):
    """A display unit of FMI 3.0 may be inverse: 4 s are shown as 0.25 Hz, which a factor of 1 would show as 4 Hz."""
    units = read(tmp_path, TEMPERATURES_OF_FMI_3).units
    assert units["s"].display == (("ms", 1000.0, 0.0),)
    assert units["degC"].display == (("degF", 1.8, 32.0),)
