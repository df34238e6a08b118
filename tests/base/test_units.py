"""Units in terms of SI base units."""

import pytest

from base.units import DISPLAY_UNITS, UnitError, parse_unit


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
    unit = parse_unit(text)
    assert unit.base_units == base
    assert unit.factor == pytest.approx(factor, rel=1e-15)


@pytest.mark.parametrize("text", ["", "furlong", "N m", "N/", "/s", "N*m", "m^2", "N..m"])
def test_unknown_units_are_named(text):
    with pytest.raises(UnitError, match="unit "):
        parse_unit(text)


def test_display_units_measure_the_same():
    for name, shown in DISPLAY_UNITS.items():
        assert parse_unit(name).exponents == parse_unit(shown).exponents
