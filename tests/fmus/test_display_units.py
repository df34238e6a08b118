"""Units in model descriptions."""

import pytest
from lxml import etree

from dockfmu.base.units import DISPLAY_UNITS
from dockfmu.fmus import catalogue
from dockfmu.fmus.description import NATIVE_CAPABILITIES, describe

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("name", catalogue.names())
def test_a_quantity_has_one_display_unit_in_all_fmus(name):
    """Every angle in degrees, whatever the component and the place of the variable."""
    root = etree.fromstring(describe(catalogue.component(name), "", NATIVE_CAPABILITIES))
    for unit in root.iterfind("UnitDefinitions/Unit"):
        assert [d.get("name") for d in unit.iterfind("DisplayUnit")] == [
            DISPLAY_UNITS[n] for n in (unit.get("name"),) if n in DISPLAY_UNITS
        ]
    for real in root.iterfind("ModelVariables/ScalarVariable/Real"):
        assert real.get("displayUnit") == DISPLAY_UNITS.get(real.get("unit")), real.getparent().get("name")
