"""Values with units, and angles, mean the same on the command line, in Python and in files."""

import argparse
import math

import pytest

from dockfmu.base.units import Unit, UnitError, parse_unit
from dockfmu.commands.arguments import seconds, span
from dockfmu.declare import declaration
from dockfmu.declare.packages.assembly import make_component, start_values
from dockfmu.declare.settings import parse_value, set_value
from dockfmu.declare.toml.quantities import AngleWarning, in_unit, scaled
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.fmus import build, catalogue
from dockfmu.master.errors import StructureError
from dockfmu.master.system import Structure
from tests.dockfmu.small_systems import TOML

RAD, METRE = parse_unit("rad"), parse_unit("m")


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1deg", "rad", math.radians(1.0)),
        ("20t", "kg", 20e3),
        ("5mm", "m", 5e-3),
        ("30deg/s", "rad/s", math.radians(30.0)),
        ("0.1m,0", "m", [0.1, 0]),
        ("[[1t.m2,0],[0,2 kg.m2]]", "kg.m2", [[1e3, 0], [0, 2.0]]),
        ("(1cm, -2cm)", "m", [0.01, -0.02]),
        ("3", "kg", 3),
        ("LAGGED", "1", "LAGGED"),
    ],
)
def test_values_of_the_command_line(text, unit, value):
    found = in_unit(parse_value(text), parse_unit(unit), "a.b")
    assert found == pytest.approx(value, rel=1e-15) if not isinstance(value, str | list) else found == value


def test_the_name_of_the_own_unit_means_the_own_unit():
    """An FMU may call units as it likes: degC, which is not known here, or t for a short ton."""
    celsius = Unit("degC", parse_unit("K").exponents, 1.0, 273.15)
    short_ton = Unit("t", parse_unit("kg").exponents, 907.18474)
    assert in_unit("1degC", celsius, "a.b") == 1.0
    assert in_unit("300K", celsius, "a.b") == pytest.approx(26.85, rel=1e-12)
    assert in_unit(["20 t", "20kg"], short_ton, "a.b") == [20.0, pytest.approx(20.0 / 907.18474, rel=1e-15)]
    assert scaled([1.0], "t", short_ton, "a.b") == [1.0]
    assert in_unit("5 furlong", Unit("furlong"), "a.b") == 5.0


@pytest.mark.parametrize(
    ("text", "unit", "words"),
    [
        ("5kN", METRE, "a.b = '5kN': another quantity; the variable is in m; accepted: m, mm, cm, km"),
        ("5 parsec", METRE, "a.b = '5 parsec': unknown unit; the variable is in m; accepted: m, mm, cm, km"),
        ("5deg", None, "a.b = '5deg': another quantity; the variable has no unit"),
        ("5deg", parse_unit("1"), "a.b = '5deg': another quantity; the variable has no unit"),
    ],
)
def test_a_wrong_dimension_names_variable_unit_and_what_is_accepted(text, unit, words):
    with pytest.raises(UnitError) as caught:
        in_unit(text, unit, "a.b")
    assert str(caught.value) == words


def test_a_plain_angle_beyond_pi_is_warned_of():
    with pytest.warns(AngleWarning, match=r"a\.b: 3\.2 rad = 183\.3 deg; did you mean 3\.2deg\?"):
        assert in_unit([0.0, 3.2], RAD, "a.b") == [0.0, 3.2]


@pytest.mark.parametrize(
    ("value", "unit"), [(math.pi, "rad"), ("200deg", "rad"), ("3.2rad", "rad"), (10.0, "rad/s"), (10.0, "m")]
)
def test_other_values_are_not_warned_of(value, unit, recwarn):
    in_unit(value, parse_unit(unit), "a.b")
    assert not recwarn.list


@pytest.fixture(scope="module")
def craft(tmp_path_factory):
    system = Structure("craft")
    system.add("craft", build(catalogue.component("Spacecraft"), tmp_path_factory.mktemp("craft")))
    return system


def test_start_values_of_a_system_take_units(craft):
    set_value(craft, "craft.parameters.mass", "20t")
    set_value(craft, "craft.parameters.port[1].angles", ["90deg", 0, "-1 deg"])
    start = craft.elements["craft"].start
    assert start["parameters.mass"] == 20e3
    assert start["parameters.port[1].angles[1]"] == pytest.approx(math.pi / 2, rel=1e-15)
    assert start["parameters.port[1].angles[3]"] == pytest.approx(-math.pi / 180, rel=1e-15)


def test_a_wrong_start_value_is_a_fault_of_structure(craft):
    with pytest.raises(StructureError, match=r"mass = '20m': another quantity; .* accepted: kg, g, t"):
        set_value(craft, "craft.parameters.mass", "20m")
    with pytest.warns(AngleWarning, match="did you mean 90deg"):
        set_value(craft, "craft.parameters.port[1].angles[2]", 90)
    with pytest.raises(StructureError, match=r"did you mean parameters\.mass\?"):
        set_value(craft, "craft.mass", 3.0)


def values_of(tmp_path, line):
    """Return start values of the oscillator of the small system with an additional line in its values."""
    old = 'initial_position = { value = 0.5, unit = "m", source = "assumed" }'
    assert old in TOML
    file = tmp_path / "alone.toml"
    file.write_text(TOML.replace(old, line))
    element = declaration.read(str(file)).elements["mass"]
    return start_values(make_component(element.component, "test", {}), element), element.values


@pytest.mark.parametrize(
    "line",
    [
        'initial_position = { value = 50, unit = "cm", source = "assumed" }',
        'initial_position = { value = "50 cm", source = "assumed" }',
        'initial_position = { value = "0.5m" }',
        'initial_position = "50cm"',
    ],
)
def test_values_of_a_file_in_any_unit(tmp_path, line):
    start, given = values_of(tmp_path, line)
    assert start["parameters.initial_position"] == 0.5
    assert given.sources["parameters.initial_position"] == ("assumed" if "assumed" in line else "")


def conditions(line, settings=None):
    """Return initial conditions of the reference docking with values overridden as by --set."""
    found = declaration.read("atv_probe_cone").with_conditions({line: settings}).initial_conditions
    assert found is not None
    return found


def test_a_file_and_the_command_line_mean_the_same_angle(tmp_path):
    file = tmp_path / "mine.toml"
    text = 'extends = "atv_probe_cone"\nname = "mine"\n[initial_conditions]\nyaw = "2deg"\nmiss = ["5cm", 0]\n'
    file.write_text(text)
    from_file = declaration.read(str(file)).initial_conditions
    assert from_file is not None
    from_command = conditions("yaw", parse_value("2deg"))
    assert from_file.angles == from_command.angles == conditions("angles[1]", "2 deg").angles
    assert from_file.angles[0] == conditions("yaw", math.radians(2.0)).angles[0] == math.radians(2.0)
    assert from_file.miss == conditions("miss", parse_value("5cm,0")).miss == (0.05, 0.0)


def test_conditions_in_another_dimension_and_angles_beyond_pi():
    with pytest.raises(DeclarationError, match=r"initial_conditions\.velocity = '7cm': another quantity; .* in m/s"):
        conditions("velocity", ["7cm", 0, 0])
    with pytest.warns(AngleWarning, match=r"initial_conditions\.roll: 10 rad = 573 deg; did you mean 10deg"):
        conditions("roll", 10)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.01", 0.01), ("1e-3", 1e-3), ("10ms", 0.01), ("9 ms", 0.009), ("2min", 120.0), ("1us", 1e-6), ("0.1 h", 360.0)],
)
def test_times_of_the_command_line_have_units(text, value):
    """Times are bitwise equal to the number in seconds: 9ms is 0.009."""
    assert seconds(text) == value
    assert span(f"0,{text}") == (0.0, value)


@pytest.mark.parametrize("text", ["", "fast", "0", "-1", "-1ms", "0 ms", "inf", "nan", "1e999", "10m", "10 parsec"])
def test_what_is_not_a_positive_time_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="is not a positive time, such as"):
        seconds(text)
