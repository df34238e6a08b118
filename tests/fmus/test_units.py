"""Units in terms of SI base units."""

import pytest
from lxml import etree

from fmus import catalogue
from fmus.description import NATIVE_CAPABILITIES, describe
from fmus.units import DISPLAY, UnitError, parse


@pytest.mark.parametrize(
    ("text", "base", "factor"),
    [
        ("1", {}, 1.0),
        ("N.m", {"kg": 1, "m": 2, "s": -2}, 1.0),
        ("m/s2", {"m": 1, "s": -2}, 1.0),
        ("kg.m2", {"kg": 1, "m": 2}, 1.0),
        ("N.m.s/rad", {"kg": 1, "m": 2, "s": -1, "rad": -1}, 1.0),
        ("1/s", {"s": -1}, 1.0),
        ("V.s/rad", {"kg": 1, "m": 2, "s": -2, "A": -1, "rad": -1}, 1.0),
        ("J/(kg.K)", {"m": 2, "s": -2, "K": -1}, 1.0),
        ("m-1", {"m": -1}, 1.0),
        ("mm", {"m": 1}, 1e-3),
        ("kN/mm", {"kg": 1, "s": -2}, 1e6),
        ("rad/rad", {}, 1.0),
    ],
)
def test_exponents_and_factor(text, base, factor):
    unit = parse(text)
    assert unit.base == base
    assert unit.factor == pytest.approx(factor, rel=1e-15)


@pytest.mark.parametrize("text", ["", "furlong", "N m", "N/", "/s", "N*m", "m^2", "N..m"])
def test_unknown_units_are_named(text):
    with pytest.raises(UnitError, match="unit "):
        parse(text)


@pytest.mark.parametrize("name", catalogue.names())
def test_a_quantity_has_one_display_unit_in_all_fmus(name):
    """Every angle in degrees, whatever the component and the place of the variable."""
    root = etree.fromstring(describe(catalogue.component(name), "", NATIVE_CAPABILITIES))
    for unit in root.iterfind("UnitDefinitions/Unit"):
        assert [d.get("name") for d in unit.iterfind("DisplayUnit")] == [
            DISPLAY[n] for n in (unit.get("name"),) if n in DISPLAY
        ]
    for real in root.iterfind("ModelVariables/ScalarVariable/Real"):
        assert real.get("displayUnit") == DISPLAY.get(real.get("unit")), real.getparent().get("name")


def test_display_units_measure_the_same():
    for name, shown in DISPLAY.items():
        assert parse(name).exponents == parse(shown).exponents


def test_what_components_declare_is_shown():
    """`display_unit` of a field says no other unit than the table of units."""
    for name in catalogue.names():
        for slot in catalogue.component(name).record.variables:
            assert slot.field.display_unit in (None, DISPLAY.get(slot.field.unit)), slot.name
