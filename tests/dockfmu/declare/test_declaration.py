"""Systems in TOML: errors name the file and the place."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dockfmu.components.core.record import ParameterError
from dockfmu.declare import declaration
from dockfmu.declare.declaration import DeclarationError
from dockfmu.declare.packages import assembly
from dockfmu.declare.settings import Settings
from dockfmu.declare.toml.tables import Table
from dockfmu.fmus.catalogue import CatalogueError
from dockfmu.master.errors import StructureError
from tests.dockfmu.small_systems import TOML

CONDITIONS = declaration.read("central_impact_20t").initial_conditions


def write(folder, text):
    file = folder / "alone.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_every_system_is_read():
    for name in declaration.names():
        assert declaration.read(name).name == name


def test_a_set_in_another_unit_is_refused_with_its_file():
    component = assembly.make_component("ProbeMechanism", "here", {})
    chosen = component.parameter_sets[0]
    name = next(name for name, unit in chosen.units.items() if unit == "m")
    wrong = replace(chosen, units={**chosen.units, name: "mm"})
    component = replace(component, parameter_sets=(wrong,))
    with pytest.raises(ParameterError, match=f"{re.escape(chosen.file)}: {re.escape(name)} is given in 'mm'"):
        assembly.parameter_set(component, chosen.name, "here")


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
        ('name = "alone"', 'extends = "/alone"', "name it from the folder of this file"),
        ('name = "alone"\n', "", "lacks 'name'"),
        ('component = "oscillator"\n', "", "lacks 'component'"),
        ('name = "alone"', "name = ", "Invalid value"),
        ("[run]", "[runs]", "no entry 'runs' here; there are name, description"),
        ("stop = 1.0", "stp = 1.0", "there is no entry 'stp'"),
        ('sets = ["soft"]', 'set = ["soft"]', "element mass: there is no entry 'set' here; there are component"),
        (', source = "assumed"', "", "parameters.initial_position: lacks 'source'"),
        (
            "[run]",
            "[initial_conditions]\nmiss = {value = 1.0, unit = 'ft'}\n[run]",
            "miss is given in ft: unknown unit; the variable is in m; accepted: m, mm, cm, km",
        ),
        ("[run]", '[run]\norder = ["mas"]', "order: there is no element 'mas'; did you mean mass"),
        ("[run]", '[run]\norder = ["mass", "mass"]', "it must name each element once: mass"),
        ("[run]", '[run]\nalgorithm = "jakobi"', "algorithm = 'jakobi': must be one of "),
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
        ('sets = ["soft"]', "options = { modes = 3 }", ParameterError, "alone.toml, element mass: cannot be made with"),
        ('unit = "m"', 'unit = "ft"', ParameterError, "parameters.initial_position is given in ft: unknown unit"),
        ("initial_position =", "mass =", ParameterError,
         "parameters.mass is given in m: another quantity; the variable is in kg; accepted: kg, g, t"),
        ("initial_position =", "initial_positon =", ParameterError, "did you mean parameters.initial_position"),
        ("value = 0.5", "value = [1.0, 2.0]", ParameterError, "does not fit its shape ()"),
        ("[run]", '[[connections]]\nports = ["mass.x", "mas.y"]\n[run]', StructureError, "has no port 'x'"),
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


def changed(old, new):
    """Return the declaration with one text replaced."""
    assert old in TOML
    return TOML.replace(old, new)


CONDITION = "[initial_conditions]\nactive='a'\ntarget='b'\nmechanism='c'\n"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('component = "oscillator"', "component = 3", ", element mass: component = 3: must be a string"),
        ('sets = ["soft"]', 'sets = "soft"', ", element mass: sets = 'soft': must be a list of strings"),
        ('sets = ["soft"]', "sets = [3]", ", element mass: sets = [3]: must be a list of strings"),
        ('sets = ["soft"]', "options = 3", ", element mass, options: must be a table, not 3"),
        ("value = 0.5", "value = 'x'", "parameters.initial_position: value = 'x': must be finite numbers, or"),
        ("value = 0.5", "value = inf", "value = inf: must be finite numbers"),
        ("value = 0.5", f"value = {'9' * 400}", "value = an integer of 1329 bits: must be finite numbers"),
        ('unit = "m"', "unit = 3", "parameters.initial_position: unit = 3: must be a string"),
        ('source = "assumed"', "source = 3", "parameters.initial_position: source = 3: must be a string"),
        ('initial_position = { value = 0.5, unit = "m", source = "assumed" }', "mass = inf",
         ", element mass: parameters.mass = inf is not a table with value, unit and source"),
        ('description = "an oscillator of its own"', "description = 3", ": description = 3: must be a string"),
        ('name = "alone"', "extends = 3", ": extends = 3: must be a string"),
        ("step = 0.01", f"step = {'9' * 400}", ", run: step = an integer of 1329 bits: must be a positive number"),
        ("step = 0.01", f"step = {'9' * 5000}", "Exceeds the limit"),
        ("step = 0.01", f"step = 0x{'9' * 5000}", "step = an integer of 20000 bits: must be a positive number"),
        ("step = 0.01", "step = '1'", ", run: step = '1': must be a positive number"),
        ("step = 0.01", "step = true", ", run: step = True: must be a positive number"),
        ("step = 0.01", "order = 3", ", run: order = 3: must be a list of strings"),
        ("step = 0.01", f"record_every = {2**64}", ", run: record_every = 18446744073709551616: must be a positive"),
        ("step = 0.01", "record_every = 1.5", ", run: record_every = 1.5: must be a positive integer"),
        ("stop = 1.0", "stopp = 1.0", ", run: there is no entry 'stopp' here; there are algorithm, step, stop, order, "
         "stop_when, record_every; did you mean stop"),
        ("[run]", "[audit]\nelements = ['mas']\n[run]",
         ", audit: elements: there is no element 'mas'; did you mean mass?"),
        ("[run]", "[audit]\nlimits = 3\n[run]", ", audit, limits: must be a table, not 3"),
        ("[run]", "[audit.limits]\nenergy_residual = true\n[run]", "energy_residual = True: must be a finite number"),
        ("[run]", "[[connections]]\nports = ['a']\n[run]", ", connections 1: ports = ['a']: must be a list of 2"),
        ("[run]", "[connections]\nports = ['a', 'b']\n[run]", ": connections = {'ports': ['a', 'b']}: must be a list"),
        ("[run]", "[events]\na = 3\n[run]", ", event a: must be a table, not 3"),
        ("[run]", "[events.a]\nsignal = 'mass.x'\nwhen = 'x'\n[run]",
         ", event a: when = 'x': must be one of rise, fall, above, below, equals, change"),
        ("[run]", "[events.a]\nsignal = 'mass.x'\nonce = 1\n[run]", ", event a: once = 1: must be true or false"),
        ("[run]", "[[report]]\ntitle = 3\nsignals = []\n[run]", ", report 1: title = 3: must be a string"),
        ("[run]", "[[report]]\ntitle = 't'\n[run]", ", report 1: lacks 'signals'"),
        ("[run]", "[adaptive]\ntolerance = 0\n[run]", ", adaptive: tolerance = 0: must be a positive number"),
        ("[run]", "[adaptive]\ntolerance = 1\nshortest = 1\nlongest = 1\nevent_step = 1\nbonds = [['a']]\n[run]",
         ", adaptive, bonds: 1 = ['a']: must be a list of 2 strings"),
        ("[run]", "[outcome]\nsignal = 's'\nsuccess = ['a']\nnames = 3\n[run]", ", outcome, names: must be a table"),
        ("[run]", "[outcome]\nsignal = 's'\nsuccess = []\n[run]", ": outcome: success names no outcome"),
        ("[run]", "[audit.limits]\nenergy = 0.1\n[run]", ": audit: there is no line 'energy'"),
        ("[run]", f"{CONDITION}miss = 3\n[run]",
         ', initial_conditions, miss = 3: give the unit too, such as "1 m"'),
        (
            "[run]",
            f"{CONDITION}miss = {{ value = ['1m', '2m'], unit = 'm' }}\n[run]",
            "contains its unit; leave out unit",
        ),
        ("[run]", f"{CONDITION}yaw = '1m'\n[run]", "yaw = '1m': another quantity; the variable is in rad; accepted: "
         "rad, mrad, deg"),
        ("[run]", f"{CONDITION}yaw = 'a deg'\n[run]", "yaw: value = 'a deg': must be finite numbers"),
        ("[run]", f"{CONDITION}miss = {{ value = ['a', 1], unit = 'm' }}\n[run]", "must be finite numbers"),
        ("[run]", f"{CONDITION}miss = {{ value = [1], unit = 'm' }}\n[run]", ", miss: must have 2 numbers, not 1"),
        ("[run]", f"{CONDITION}mis = 3\n[run]", "there is no entry 'mis' here"),
        ("[run]", f"{CONDITION}moving = 'both'\n[run]", "moving = 'both': must be active or passive"),
        ("[run]", "[initial_conditions]\nactive='a'\ntarget='b'\n[run]", ", initial_conditions: lacks 'mechanism'"),
        ("[run]", f"[x{'.x' * 5000}]\n[run]", "a key has more than 64 parts"),
        ("[elements.mass.values.parameters]", f"[elements.mass.values{'.x' * 5000}]", "a key has more than 64 parts"),
    ],
)  # fmt: skip
def test_each_entry_of_another_kind_is_told_with_file_and_place(tmp_path, old, new, words):
    file = write(tmp_path, changed(old, new))
    with pytest.raises(DeclarationError) as caught:
        declaration.read(file)
    assert words in str(caught.value)
    assert file in str(caught.value)
    assert len(str(caught.value)) < len(file) + 400


ENTRIES = ("name", "description", "elements", "connections", "initial_conditions", "run", "adaptive", "events", "audit",
           "outcome", "report", "extends")  # fmt: skip
ANYTHING = st.recursive(
    st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(max_size=3) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=300)
def test_no_declaration_whatever_makes_an_error_of_python(data):
    """Any value in any place gives a declaration or a DeclarationError that names the file."""
    content = tomllib.loads(declaration.SYSTEMS.joinpath("atv_probe_cone.toml").read_text(encoding="utf-8"))
    content["name"] = "mine"
    place = content
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not (isinstance(place[key], dict | list) and place[key]) or data.draw(st.booleans()):
            place[key] = data.draw(ANYTHING)
            break
        place = place[key]
    file, told = Path("mine.toml"), None
    try:
        declaration._check_names(content, file)
        declaration._from_table(Table(content, str(file), ENTRIES))
    except DeclarationError as error:
        told = str(error)
    assert told is None or told.startswith("mine.toml")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"oscillator"', '"oscilator"', "element mass: no component is called 'oscilator'; did you mean Oscillator?"),
        ('"soft"', '"sofft"', "element mass: there is no 'sofft' among the parameter sets of Oscillator; did you mean"),
        ("value = 0.5", "value = true", "element mass: parameters.initial_position = True: must be numbers, the "
         "variable is Real"),
    ],
)  # fmt: skip
def test_what_a_component_does_not_know_is_told_with_the_file_before_anything_is_built(
    tmp_path, monkeypatch, old, new, words
):
    def never(*arguments, **options):
        raise AssertionError("built")

    monkeypatch.setattr(assembly, "build_in_parallel", never)
    monkeypatch.setattr(assembly, "build", never)
    file = write(tmp_path, changed(old, new))
    with pytest.raises((ParameterError, CatalogueError)) as caught:
        assembly.assemble(declaration.read(file), tmp_path, lambda _: None)
    assert f"{file}, {words}" in str(caught.value)


def test_what_this_process_has_built_is_not_looked_for_again(tmp_path, monkeypatch):
    """Unless another cache is to keep it: to find an FMU in the cache takes half of the time of loading."""
    asked = []
    monkeypatch.setattr(assembly, "_BUILT", set())
    monkeypatch.setattr(assembly, "build_in_parallel", lambda wanted, *_: asked.append([name for name, *_ in wanted]))
    declared = declaration.read(write(tmp_path, TOML))
    for number in range(3):
        if number == 2:
            monkeypatch.setattr(assembly, "cache_root", lambda: tmp_path)
        system, _ = assembly.assemble(declared, tmp_path / f"{number}", lambda _: None)
        assert all(element.file.is_file() for element in system.elements.values())
    assert asked == 2 * [["oscillator"]]


def test_extensions_in_a_circle_by_other_paths(tmp_path):
    (tmp_path / "sub").mkdir()
    write(tmp_path, 'extends = "sub/../alone"\n')
    with pytest.raises(DeclarationError, match="which extends it"):
        declaration.read(str(tmp_path / "alone.toml"))


def test_settings_go_before_the_values_of_the_declaration(tmp_path):
    declared = declaration.read(write(tmp_path, TOML))
    system, _ = assembly.assemble(declared, tmp_path, lambda _: None)
    assert system.elements["mass"].start["parameters.initial_position"] == 0.5
    settings = Settings({"mass.parameters.initial_position": 0.25})
    system, _ = assembly.assemble(declared, tmp_path, lambda _: None, settings)
    assert system.elements["mass"].start["parameters.initial_position"] == 0.25


@pytest.mark.slow
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
        ("angles", [0.1, 0.2, 0.3], "angles", (0.1, 0.2, 0.3)),
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
            "start, yaw, pitch, roll",
        ),
        ("moving", "both", "initial_conditions.moving = 'both': must be active or passive"),
        ("miss[²]", 1, "miss has 2 elements"),
        ("miss[1]", 10**400, "must be finite numbers"),
        ("moving", 1, "initial_conditions.moving = 1: must be active or passive"),
        ("velocity_point", "port", "must be cm_inertial or port_relative"),
        ("miss", 1, "miss takes 2 numbers, got 1"),
        ("miss", ["a", 1], "must be finite numbers"),
        ("miss", [float("nan"), 1], "must be finite numbers"),
        ("start_gap", [1, 2], "start_gap takes 1 numbers, got 2"),
        ("miss[3]", 1, "miss has 2 elements"),
        ("miss[x]", 1, "miss has 2 elements"),
        ("start_gap[1]", 1, "start_gap has 1 elements"),
        ("yaw", True, "must be finite numbers"),
    ],
)
def test_initial_conditions_that_cannot_be(name, value, words):
    with pytest.raises(DeclarationError) as caught:
        declaration.read("central_impact_20t").with_conditions({name: value})
    assert words in str(caught.value)


def test_a_system_without_initial_conditions(tmp_path):
    with pytest.raises(DeclarationError, match="alone has no initial_conditions"):
        declaration.read(write(tmp_path, TOML)).with_conditions({"miss": [0, 0]})


def test_an_element_with_the_name_of_the_initial_conditions_is_refused(tmp_path):
    """`--set initial_conditions.miss` could not tell them apart."""
    file = tmp_path / "bad.toml"
    file.write_text('name = "bad"\n[elements.initial_conditions]\ncomponent = "oscillator"\n[run]\nstop = 1\n')
    with pytest.raises(DeclarationError, match="an element initial_conditions would be taken for the table"):
        declaration.read(str(file))
