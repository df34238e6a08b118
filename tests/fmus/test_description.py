"""modelDescription.xml, read back by fmpy and by hand."""

import fmpy
import pytest
from fmpy.validation import validate_fmu
from lxml import etree

from dockfmu import fmus
from dockfmu.base.units import UnitError
from dockfmu.components.core.component import Component
from dockfmu.components.core.field import enumeration, input, output
from dockfmu.components.core.record import Record
from dockfmu.components.oscillator import component as oscillator
from dockfmu.fmus.description import NATIVE_CAPABILITIES, describe
from dockfmu.master.fmi.description import read_description
from tests.fmus import gadget


@pytest.fixture(scope="module")
def description(gadget_fmu):
    return fmpy.read_model_description(str(gadget_fmu))


def test_fmpy_finds_nothing_wrong(gadget_fmu, oscillator_fmu):
    assert validate_fmu(str(gadget_fmu)) == []
    assert validate_fmu(str(oscillator_fmu)) == []


def test_every_public_variable_is_listed_with_its_slot_as_reference(description):
    record = gadget.RECORD
    assert {v.name: v.valueReference for v in description.modelVariables} == {
        slot.name: slot.index for slot in record.variables
    }
    names = {v.name for v in description.modelVariables}
    assert "parameters.matrix[2,1]" in names
    assert not any(name.startswith(("hidden", "tables")) for name in names)


def test_attributes_of_variables(description):
    found = {v.name: v for v in description.modelVariables}

    def attributes(name, *which):
        return tuple(getattr(found[name], attribute) for attribute in which)

    assert attributes("signal", "type", "causality", "variability", "unit", "start") == (
        "Real",
        "input",
        "continuous",
        "N",
        "0.0",
    )
    assert attributes("command", "variability", "min", "max") == ("discrete", "-1.0", "1.0")
    assert attributes("switch", "type", "variability", "start") == ("Boolean", "discrete", "false")
    assert attributes("count", "type", "min", "max", "start") == ("Integer", "1", "3", "1")
    assert attributes("mode", "type", "start") == ("Enumeration", "2")
    assert [item.name for item in found["mode"].declaredType.items] == ["OFF", "ADD", "FAIL"]
    assert attributes("parameters.gain", "variability", "initial") == ("tunable", "exact")
    assert attributes("parameters.offset", "variability", "initial") == ("fixed", "exact")
    assert attributes("total", "initial", "start") == ("calculated", None)
    assert attributes("angle", "unit", "displayUnit") == ("rad", "deg")
    (degrees,) = next(u for u in description.unitDefinitions if u.name == "rad").displayUnits
    assert float(degrees.factor) == pytest.approx(57.29577951308232, rel=1e-15)


def test_outputs_depend_on_no_input_between_steps_and_on_anything_at_the_start(description, gadget_fmu):
    """Absent dependencies mean all (FMI 2.0, section 2.2.8): fmpy gives None for them."""
    assert all(unknown.dependencies == [] for unknown in description.outputs)
    assert {u.variable.name for u in description.initialUnknowns} == {u.variable.name for u in description.outputs}
    assert read_description(gadget_fmu).initial_unknowns == dict.fromkeys(read_description(gadget_fmu).outputs)


def test_unknown_unit_is_named():
    record = Record(output("x", "furlong", ""))
    made = Component("Test", "", record, None, None, {}, gadget.component().module)
    with pytest.raises(UnitError, match="furlong"):
        describe(made, "", NATIVE_CAPABILITIES)


def test_unknown_platform_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no such platform: beos; there are linux64"):
        fmus.build(oscillator(), tmp_path, platforms=("beos",))


def test_large_records_cost_little(tmp_path):
    """1000 public scalars: less than 250 bytes of XML each, and enumerations are written once."""
    kind = enumeration("K", A="", B="")
    record = Record(
        input("u", "m", "an input", shape=500),
        output("y", "m", "an output", shape=499),
        output("e", "1", "", 1, type=kind),
    )
    made = Component("Large", "large", record, None, None, {}, gadget.component().module)
    document = describe(made, "{}", NATIVE_CAPABILITIES)
    assert len(document) < 250 * 1000
    assert len(etree.fromstring(document).findall("TypeDefinitions/SimpleType")) == 1
