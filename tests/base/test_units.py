"""Quantities as people write them, and the units that a message offers."""

import math

import pytest

from dockfmu.base.units import Unit, UnitError, conversion, parse_quantity, parse_unit, units_like

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("text", "number", "unit", "si"),
    [
        ("20t", 20.0, "t", 20e3),
        ("-1.5 deg/s", -1.5, "deg/s", -0.026179938779914945),
        ("1e3mm", 1e3, "mm", 1.0),
        ("  .5 kN.m ", 0.5, "kN.m", 500.0),
        ("3kg*m^2", 3.0, "kg.m2", 3.0),
        ("3 kg·m²", 3.0, "kg.m2", 3.0),
        ("90°", 90.0, "deg", math.pi / 2),
        ("5/s", 5.0, "1/s", 5.0),
        ("5 1/s", 5.0, "1/s", 5.0),
        ("1.5h", 1.5, "h", 5400.0),
    ],
)
def test_a_quantity_is_a_number_with_a_unit(text, number, unit, si):
    found = parse_quantity(text)
    assert found is not None
    assert found[0] == number
    assert found[1] == parse_unit(unit)
    assert found[0] * found[1].factor == pytest.approx(si, rel=1e-15)


def test_a_quantity_may_have_no_unit():
    assert parse_quantity("+2.5e-3") == (2.5e-3, None)


@pytest.mark.parametrize("text", ["", "deg", "LAGGED", "2026-11-22", "1,2", "--1", "1.2.3", "\uff11m"])
def test_other_texts_are_no_quantities(text):
    assert parse_quantity(text) is None


@pytest.mark.parametrize("text", ["5 ft", "5q", "5 m/", "1e", "5 m//s"])
def test_an_unknown_unit_is_refused(text):
    with pytest.raises(UnitError):
        parse_quantity(text)


@pytest.mark.parametrize("name", ["m", "rad/s", "kg.m2", "N.m.s/rad", "J/(kg.K)", "1"])
def test_offered_units_are_of_the_same_quantity(name):
    offered = units_like(name)
    assert offered[0] == name
    assert len(offered) == len(set(offered))
    for other in offered:
        factor, offset = conversion(parse_unit(other), parse_unit(name))
        assert factor > 0.0
        assert offset == 0.0


def test_degrees_are_offered_for_radians():
    assert "deg" in units_like("rad")
    assert "deg/s" in units_like("rad/s")


@pytest.mark.parametrize("text", ["1km999", "2 km99.km99.km99.km99", "5 N/(m", "5 N/m)", "5 N/()"])
def test_a_unit_that_cannot_be_is_refused(text):
    with pytest.raises(UnitError):
        parse_quantity(text)


@pytest.mark.parametrize(("factor", "offset"), [(0.0, 0.0), (math.nan, 0.0), (math.inf, 0.0), (1.0, math.nan)])
def test_a_unit_with_which_nothing_can_be_converted_is_refused(factor, offset):
    with pytest.raises(UnitError, match="unit 'x': factor"):
        Unit("x", (0,) * 8, factor, offset)


@pytest.mark.parametrize("text", ["MN99", "m13", "1/s-13", "MN12.MN12.MN12.GHz12.GHz12.GHz12.MN12.MN12.GHz12.GHz12"])
def test_a_unit_beyond_all_numbers_is_refused(text):
    with pytest.raises(UnitError, match=r"exponent of|too large or too small|not known"):
        parse_unit(text)
