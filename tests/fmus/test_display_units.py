"""Units in model descriptions."""

import pytest
from lxml import etree

from dockfmu.base.units import DISPLAY_UNITS
from dockfmu.fmus import catalogue
from dockfmu.fmus.description import NATIVE_CAPABILITIES, describe

pytestmark = pytest.mark.quick


def test_a_quantity_has_one_display_unit_in_all_fmus():
    """Every angle in degrees, whatever the component and the place of the variable."""
    wrong = []
    for name in catalogue.names():
        root = etree.fromstring(describe(catalogue.component(name), "", NATIVE_CAPABILITIES))
        for unit in root.iterfind("UnitDefinitions/Unit"):
            shown = [d.get("name") for d in unit.iterfind("DisplayUnit")]
            if shown != [DISPLAY_UNITS[n] for n in (unit.get("name"),) if n in DISPLAY_UNITS]:
                wrong.append((name, unit.get("name"), shown))
        for real in root.iterfind("ModelVariables/ScalarVariable/Real"):
            if real.get("displayUnit") != DISPLAY_UNITS.get(real.get("unit")):
                wrong.append((name, real.getparent().get("name"), real.get("displayUnit")))
    assert wrong == []
