"""`dockfmu parameters` lists every value with its unit, range, source and origin."""

import json
import math
import re
import tomllib

import numpy as np
import pytest

from dockfmu.base.cache import ROOT
from dockfmu.commands import terminal
from dockfmu.declare.conditions.initial_conditions import SIZES
from dockfmu.declare.parameters import parameters
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.fmus.catalogue import CatalogueError
from dockfmu.library import list_systems
from dockfmu.master.errors import ArchiveError, StructureError
from dockfmu.master.fmi.description import read_description
from dockfmu.swap.interface import interface
from tests.dockfmu.command_line import status_of

SYSTEM = "atv_probe_cone"


@pytest.fixture(scope="module")
def listed():
    return {parameter.full_name: parameter for parameter in parameters(SYSTEM)}


def leaves(node, path=""):
    """Yield (name, leaf) of a parameter file, read without the code under test."""
    for key, item in node.items():
        for k, inner in enumerate(item if isinstance(item, list) else [item], 1):
            name = f"{path}{key}" + (f"[{k}]" if isinstance(item, list) else "")
            if isinstance(inner, dict):
                yield from [(name, inner)] if "value" in inner else leaves(inner, f"{name}.")


def sets_of(component):
    """Return the parameter sets of a component by name, from the files."""
    folders = [ROOT / "components" / name / "parameters" for name in (component, "physics/contact/probe_cone")]
    contents = [tomllib.loads(file.read_text()) for folder in folders for file in sorted(folder.glob("*.toml"))]
    return {content["name"]: dict(leaves(content)) for content in contents}


def test_values_and_sources_are_those_of_the_sets(listed):
    content = tomllib.loads((ROOT / "ssp" / "systems" / f"{SYSTEM}.toml").read_text())
    seen = 0
    for name, element in content["elements"].items():
        known = sets_of(element["component"])
        expected = {}
        for one in element.get("sets", ()):
            expected |= {variable: (one, leaf) for variable, leaf in known[one].items()}
        for variable, (one, leaf) in expected.items():
            found = listed[f"{name}.{variable}"]
            assert found.value == np.broadcast_to(leaf["value"], found.shape).tolist()
            assert (found.unit, found.set_by, found.source) == (leaf["unit"], one, leaf["source"])
            seen += 1
    assert seen > 30


def test_a_default_has_the_source_of_the_set_with_the_same_value(listed):
    found = listed["mechanism.parameters.lateral.spring.second_preload"]
    leaf = sets_of("probe_mechanism")["LD-1"]["parameters.lateral.spring.second_preload"]
    assert found.value == [leaf["value"]] * 2
    assert (found.set_by, found.changed) == ("", False)
    assert found.source == f"LD-1: {leaf['source']}"


def test_what_the_system_and_its_conditions_change(listed):
    control = listed["cyclogram.parameters.attitude_control"]
    assert control.set_by == "system"
    assert "R17" in control.source
    placed = listed["chaser.parameters.initial.position"]
    assert placed.set_by == "initial_conditions"
    assert placed.value == [None] * 3
    yaw = listed["initial_conditions.yaw"]
    assert (yaw.value, yaw.display) == (math.radians(1.0), ("deg", math.degrees(1.0)))
    assert (yaw.set_by, yaw.source) == ("system", "assumed, conventions 8.1")


def test_ranges_items_and_descriptions_are_those_of_the_fmu(listed):
    mass = listed["chaser.parameters.mass"]
    assert mass.minimum == 1e-3
    assert mass.default == 7000.0
    assert listed["chaser.parameters.port[1].base_motion"].items == ("SOURCE", "LAGGED", "AFFINE")
    assert all(parameter.description for parameter in listed.values())


def test_nothing_is_built(monkeypatch):
    monkeypatch.setattr("dockfmu.declare.packages.assembly.build", None)
    monkeypatch.setattr("dockfmu.declare.packages.assembly.build_in_parallel", None)
    assert parameters(f"{SYSTEM}.cyclogram")


def test_set_goes_over_sets_and_conditions():
    given = {
        "chaser.parameters.mass": "18t",
        "chaser.parameters.port[1].position[2]": "1cm",
        "chaser.parameters.initial.velocity": [1, 0, 0],
        "initial_conditions.yaw": "2deg",
    }
    found = {p.full_name: p for p in parameters(SYSTEM, given)}
    assert found["chaser.parameters.mass"].value == 18e3
    assert found["chaser.parameters.mass"].set_by == "--set"
    assert found["chaser.parameters.port[1].position"].value == [5.011064, 0.01, 0.0]
    assert found["chaser.parameters.port[1].position"].set_by == "ATV-20t; --set"
    assert found["chaser.parameters.initial.velocity"].value == [1.0, 0.0, 0.0]
    assert found["initial_conditions.yaw"].value == math.radians(2.0)
    assert found["initial_conditions.yaw"].set_by == "--set"
    with pytest.raises(StructureError, match="less than its minimum"):
        parameters(SYSTEM, {"chaser.parameters.mass": "-1t"})


def test_a_package_tells_what_it_sets(pair):
    found = {p.full_name: p for p in parameters(str(pair))}
    assert found["first.parameters.initial_position"].value == 1.0
    assert found["first.parameters.initial_position"].set_by == "package"
    assert found["second.parameters.initial_position"].set_by == ""
    (one,) = parameters(f"{pair}.first.parameters.mass")
    assert one.full_name == "first.parameters.mass"


def test_a_file_of_values_goes_over_a_package(pair, tmp_path):
    file = tmp_path / "values.ssv"
    file.write_text(
        '<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" '
        'name="mine"><ssv:Parameters><ssv:Parameter name="first.parameters.mass"><ssv:Real value="3"/></ssv:Parameter>'
        "</ssv:Parameters></ssv:ParameterSet>"
    )
    (one,) = parameters(f"{pair}.first.parameters.mass", files=[file])
    assert (one.value, one.set_by) == (3.0, "--parameters")


def test_an_fmu_and_a_component_have_no_elements(oscillator):
    of_file = parameters(str(oscillator))
    assert [p.name for p in of_file] == [v.name for v in read_description(oscillator).select("parameter")]
    (mass,) = parameters(f"{oscillator}.parameters.mass")
    assert (mass.element, mass.value, mass.minimum) == ("Oscillator", 1.0, 1e-9)
    (of_component,) = parameters("Oscillator.parameters.mass")
    assert of_component == mass


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        (f"{SYSTEM}.chasr", StructureError, "did you mean chaser?"),
        (f"{SYSTEM}.chaser.mass", StructureError, "has no parameter 'mass'; did you mean parameters.mass?"),
        (f"{SYSTEM}.chaser.parameters.mas", StructureError, "did you mean parameters.mass or"),
        (f"{SYSTEM}.*.nosuch", StructureError, "has no parameter '*.nosuch'"),
        ("atv_probe_con", DeclarationError, "did you mean atv_probe_cone"),
        ("nosuch.fmu", ArchiveError, "nosuch.fmu"),
    ],
)
def test_wrong_names(name, error, words):
    with pytest.raises(error, match=re.escape(words)):
        parameters(name)


def test_patterns(listed):
    masses = [p.full_name for p in parameters(f"{SYSTEM}.*.parameters.mass")]
    assert masses == ["chaser.parameters.mass", "station.parameters.mass"]
    inside = [p.full_name for p in parameters(f"{SYSTEM}.mechanism.parameters.lateral")]
    assert inside == [name for name in listed if name.startswith("mechanism.parameters.lateral.")]


def test_json_has_all_in_si(capsys):
    assert (
        status_of("parameters", f"{SYSTEM}.initial_conditions.yaw", "--set", "initial_conditions.yaw=3deg", "--json")
        == 0
    )
    (yaw,) = json.loads(capsys.readouterr().out)
    assert yaw["value"] == math.radians(3.0)
    assert (yaw["unit"], yaw["display_unit"], yaw["set_by"], yaw["changed"]) == ("rad", "deg", "--set", True)
    assert {"minimum", "maximum", "default", "description", "source", "items"} <= yaw.keys()


def test_infinite_values_are_texts_in_json(third_party, tmp_path, capsys):
    xml = third_party.description().replace('<Real start="1" min="0" max="1000"/>', '<Real start="INF" max="INF"/>')
    file = third_party.build(tmp_path, xml=xml)
    assert status_of("parameters", f"{file}.gain", "--json") == 0

    def refuse(word):
        raise ValueError(word)

    (gain,) = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert (gain["value"], gain["default"], gain["maximum"]) == ("inf", "inf", None)


def test_a_start_value_that_is_no_number_is_not_changed(third_party, tmp_path, capsys):
    xml = third_party.description().replace('<Real start="1" min="0" max="1000"/>', '<Real start="NaN"/>')
    file = third_party.build(tmp_path, xml=xml)
    assert status_of("parameters", f"{file}.gain", "--json") == 0
    (gain,) = json.loads(capsys.readouterr().out)
    assert gain["value"] == gain["default"] == "nan"
    assert status_of("parameters", f"{file}.gain", "--changed") == 0
    assert "gain" not in capsys.readouterr().out


def test_a_pipe_gets_whole_lines(capsys, listed):
    assert status_of("parameters", f"{SYSTEM}.chaser") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == sum(p.element == "chaser" for p in listed.values())
    (mass,) = (line for line in lines if line.startswith("chaser.parameters.mass "))
    columns = re.split(r"  +", mass)
    source = listed["chaser.parameters.mass"].source
    assert columns == [
        "chaser.parameters.mass",
        "19957",
        "kg",
        "ATV-20t",
        "mass without the mechanism, or with it for base motion SOURCE",
        "was 7000",
        "from 0.001 kg",
        source,
    ]
    assert not any("\x1b" in line or "…" in line for line in lines)


@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_gets_whole_descriptions_within_its_width(capsys, monkeypatch, listed, columns):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert status_of("parameters", f"{SYSTEM}.mechanism") == 0
    told = capsys.readouterr()
    plain = re.sub(r"\x1b\[\d*m", "", told.out)
    assert 0.9 * columns < max(map(len, plain.splitlines())) <= columns
    words = " ".join(plain.split())
    assert not [p.full_name for p in listed.values() if p.element == "mechanism" and p.description not in words]
    assert "mechanism.parameters.drive.motor_ratio = 10 (default)" in words
    assert "\x1b[1m" in told.out
    assert "--long" in told.err


def test_a_bandwidth_is_no_rate_of_turn(listed):
    """0.05 rad/s of the attitude hold is a circular frequency: 2.86 deg/s would mean nothing."""
    assert listed["chaser.parameters.hold_frequency"].display == ("rad/s", 1.0)
    assert listed["initial_conditions.angular_velocity"].display[0] == "deg/s"


def test_changed_alone(capsys, listed):
    assert status_of("parameters", f"{SYSTEM}.chaser", "--changed") == 0
    names = [line.split("[")[0].split(" ")[0] for line in capsys.readouterr().out.splitlines()]
    changed = [p for p in listed.values() if p.element == "chaser" and p.value != p.default]
    assert len(names) == len(changed) < 22


def test_every_condition_is_described():
    found = [p.name for p in parameters(f"{SYSTEM}.initial_conditions")]
    assert sorted(found) == sorted(SIZES)


class Stream:
    def __init__(self, terminal):
        self.isatty = lambda: terminal


@pytest.mark.parametrize(
    ("variables", "isatty", "colours"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colours_are_for_terminals(variables, isatty, colours, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert terminal.coloured(Stream(isatty)) is colours
    assert (terminal.styled("x", "red", Stream(isatty)) == "x") is not colours


@pytest.mark.slow
@pytest.mark.parametrize("name", list_systems())
def test_the_parameters_of_every_system_are_listed(name):
    found = parameters(name)
    assert found
    assert all(parameter.description for parameter in found)
    # every value is given, specified or assumed
    assert [parameter.full_name for parameter in found if not parameter.source] == []


@pytest.mark.parametrize(
    "name", ["atv_probe_cone", "expert_peripheral_5t", "airlock_era", "small_probe", "Manipulator"]
)
def test_every_parameter_has_a_source(name):
    assert [parameter.full_name for parameter in parameters(name) if not parameter.source] == []


def test_the_source_of_a_default_says_where_it_stands():
    (stroke,) = parameters("Manipulator.parameters.variant")
    assert (stroke.set_by, stroke.source) == ("", "assumed: default of Manipulator")
    (mass,) = parameters("small_probe.mechanism.parameters.body.rod.mass")
    assert mass.source == "small_probe.toml, bodies.rod.mass"


def test_a_file_that_extends_a_system_is_one(tmp_path):
    """Not a declaration of bodies, which ends in .toml too."""
    (tmp_path / "mine.toml").write_text('extends = "central_impact_20t"\nname = "mine"\n')
    names = [entry.full_name for entry in parameters(f"{tmp_path / 'mine.toml'}.chaser.parameters.mass")]
    assert names == ["chaser.parameters.mass"]
    with pytest.raises(CatalogueError, match=r"mine.toml declares a system, no component; name an element of it"):
        interface(str(tmp_path / "mine.toml"))
