"""Systems as TOML: what is wrong with one is said with the file and the place."""

import pytest
from small_systems import TOML

from components.core.parameters import ParameterError
from dockfmu import assembly, declaration
from dockfmu.declaration import DeclarationError
from dockfmu.settings import Settings
from fmus.catalogue import CatalogueError
from master.errors import StructureError

CONDITIONS = declaration.read("central_impact_20t").initial_conditions


def write(folder, text):
    file = folder / "alone.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_every_system_is_read():
    for name in declaration.names():
        assert declaration.read(name).name == name


def test_a_chain_of_extensions(tmp_path):
    write(tmp_path, TOML)
    (tmp_path / "longer.toml").write_text('extends = "alone"\nname = "longer"\n[run]\nstop = 2.0\n')
    (tmp_path / "longest.toml").write_text('extends = "longer"\nname = "longest"\n[run]\nstop = 3.0\n')
    declared = declaration.read(str(tmp_path / "longest.toml"))
    assert (declared.name, declared.plan.stop, declared.plan.step) == ("longest", 3.0, 0.01)
    assert declaration.read("soyuz_probe_cone").plan == declaration.read("atv_probe_cone").plan


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "alone"', 'extends = "nosuch"', "extends nosuch.toml, which does not exist"),
        ('name = "alone"', 'extends = "alone"', "extends alone.toml, which extends it"),
        ('name = "alone"\n', "", "lacks 'name'"),
        ('component = "oscillator"\n', "", "lacks 'component'"),
        ('name = "alone"', "name = ", "Invalid value"),
        ("[run]", "[runs]", "no entry 'runs' here; there are name, description"),
        ("stop = 1.0", "stp = 1.0", "there is no entry 'stp'"),
        ('sets = ["soft"]', 'set = ["soft"]', "element mass: there is no entry 'set' here; there are component"),
        (', source = "assumed"', "", "parameters.initial_position lacks source"),
        (
            "[run]",
            "[initial_conditions]\nmiss = {value = 1.0, unit = 'ft'}\n[run]",
            "is given in 'ft', not in one of m",
        ),
    ],
)
def test_faults_of_the_file(tmp_path, old, new, words):
    assert old in TOML
    file = write(tmp_path, TOML.replace(old, new))
    with pytest.raises(DeclarationError) as caught:
        declaration.read(file)
    assert words in str(caught.value)
    assert file in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "error", "words"),
    [
        ('"oscillator"', '"oscilator"', CatalogueError, "did you mean Oscillator?"),
        ('"soft"', '"sofd"', ParameterError, "did you mean soft?"),
        ('sets = ["soft"]', "options = { modes = 3 }", ParameterError, "alone, element mass: cannot be made with"),
        ('unit = "m"', 'unit = "mm"', ParameterError, "is given in 'mm', it is declared in 'm'"),
        ("initial_position =", "mass =", ParameterError, "is given in 'm', it is declared in 'kg'"),
        ("initial_position =", "initial_positon =", ParameterError, "did you mean parameters.initial_position"),
        ("value = 0.5", "value = [1.0, 2.0]", ParameterError, "does not fit its shape ()"),
        ("[run]", '[[connections]]\nports = ["mass.x", "mas.y"]\n[run]', StructureError, "has no port 'x'"),
        ("[run]", '[run]\norder = ["mas"]', StructureError, "the order (mas) does not name each element once (mass)"),
        ("[run]", "[initial_conditions]\nactive='a.port[1]'\ntarget='mass.b'\nmechanism='c'\n[run]", DeclarationError,
         "no element 'c'"),
    ],
)  # fmt: skip
def test_faults_that_the_components_know_of(tmp_path, old, new, error, words):
    assert old in TOML
    declared = declaration.read(write(tmp_path, TOML.replace(old, new)))
    with pytest.raises(error) as caught:
        assembly.assemble(declared, tmp_path, lambda _: None)
    assert words in str(caught.value)


def test_settings_go_before_the_values_of_the_declaration(tmp_path):
    declared = declaration.read(write(tmp_path, TOML))
    system, _ = assembly.assemble(declared, tmp_path, lambda _: None)
    assert system.elements["mass"].start["parameters.initial_position"] == 0.5
    settings = Settings({"mass.parameters.initial_position": 0.25})
    system, _ = assembly.assemble(declared, tmp_path, lambda _: None, settings)
    assert system.elements["mass"].start["parameters.initial_position"] == 0.25


def test_elements_of_one_component_with_other_options_are_two_fmus(tmp_path):
    text = """
    name = "two"
    [elements.rigid]
    component = "spacecraft"
    options = { ports = 1 }
    [elements.same]
    component = "spacecraft"
    options = { ports = 1 }
    [elements.other]
    component = "spacecraft"
    options = { ports = 2 }
    """
    system, _ = assembly.assemble(declaration.read(write(tmp_path, text)), tmp_path, lambda _: None)
    files = {name: element.file for name, element in system.elements.items()}
    assert files["rigid"] == files["same"] != files["other"]
    assert "port[2].position[1]" not in system.description("rigid").variables
    assert "port[2].position[1]" in system.description("other").variables


def test_progress_names_the_fmu(tmp_path, monkeypatch):
    def build(component, folder, progress):
        progress("compiling")
        return tmp_path / "x.fmu"

    monkeypatch.setattr(assembly, "build", build)
    said = []
    assembly.build_fmu(assembly.make_component("oscillator", "", {}), tmp_path, said.append)
    assert said == ["Oscillator: compiling"]


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("miss", [0.1, -0.2], "miss", (0.1, -0.2)),
        ("miss[2]", 0.3, "miss", (0.0, 0.3)),
        ("yaw", 0.1, "angles", (0.1, 0.0, 0.0)),
        ("roll", 0.1, "angles", (0.0, 0.0, 0.1)),
        ("angles", [1, 2, 3], "angles", (1.0, 2.0, 3.0)),
        ("velocity[1]", 0.2, "velocity", (0.2, 0.0, 0.0)),
        ("start_gap", 0.05, "start_gap", 0.05),
        ("orbital_rate[2]", 1.1e-3, "orbital_rate", (0.0, 1.1e-3, 0.0)),
        ("moving", "passive", "moving", "passive"),
        ("velocity_point", "port_relative", "velocity_point", "port_relative"),
    ],
)
def test_initial_conditions_are_set(name, value, field, expected):
    declared = declaration.read("central_impact_20t").with_conditions({name: value})
    assert getattr(declared.initial_conditions, field) == expected
    names = "miss angles velocity angular_velocity start_gap moving velocity_point orbital_rate limits"
    others = set(names.split()) - {field}
    assert all(getattr(declared.initial_conditions, key) == getattr(CONDITIONS, key) for key in others)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("mis", 1, "initial_conditions.mis = 1: there is no such condition; did you mean miss?"),
        (
            "colour",
            1,
            "there are miss, angles, velocity, angular_velocity, start_gap, orbital_rate, moving, velocity_point, "
            "yaw, pitch, roll",
        ),
        ("moving", "both", "initial_conditions.moving = 'both': it is active or passive"),
        ("moving", 1, "initial_conditions.moving = 1: it is active or passive"),
        ("velocity_point", "port", "it is cm_inertial or port_relative"),
        ("miss", 1, "miss takes 2 numbers, got 1"),
        ("miss", ["a", 1], "finite numbers are wanted"),
        ("miss", [float("nan"), 1], "finite numbers are wanted"),
        ("start_gap", [1, 2], "start_gap takes 1 numbers, got 2"),
        ("miss[3]", 1, "miss has 2 elements"),
        ("miss[x]", 1, "miss has 2 elements"),
        ("start_gap[1]", 1, "start_gap has 1 elements"),
        ("yaw", True, "finite numbers are wanted"),
    ],
)
def test_initial_conditions_that_cannot_be(name, value, words):
    with pytest.raises(DeclarationError) as caught:
        declaration.read("central_impact_20t").with_conditions({name: value})
    assert words in str(caught.value)


def test_a_system_without_initial_conditions(tmp_path):
    with pytest.raises(DeclarationError, match="alone has no initial_conditions"):
        declaration.read(write(tmp_path, TOML)).with_conditions({"miss": [0, 0]})
