"""The ports of an element as a table and as skeletons, which agree, fit and run."""

import csv
import importlib.util
import io
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from pythonfmu.builder import FmuBuilder

from dockfmu.base.cache import ROOT, cache_root
from dockfmu.base.platforms import library_name, this_platform
from dockfmu.base.units import parse_unit
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import read_text
from dockfmu.declare import declaration
from dockfmu.declare.packages.unbuilt import described, on_paper
from dockfmu.fmus.catalogue import CatalogueError
from dockfmu.fmus.check import validate
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.description import read_description
from dockfmu.master.fmi.variables import Description, Variable
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Connection, Structure
from dockfmu.swap.fit import misfits
from dockfmu.swap.interface import check_swap, interface
from dockfmu.swap.skeletons import skeleton, table
from tests.dockfmu.command_line import dockfmu, status_of

THREE = """<fmiModelDescription fmiVersion="3.0" modelName="three" instantiationToken="t">
<CoSimulation modelIdentifier="three"/><ModelVariables/><ModelStructure/></fmiModelDescription>"""

PLACES = ("atv_probe_cone.chaser", "atv_probe_cone.cyclogram")


@pytest.fixture(scope="module", params=PLACES)
def place(request):
    return request.param


@pytest.fixture(scope="module")
def found(place):
    return interface(place)


def names(found):
    """Return the scalar variables of a skeleton: connected ones, and those that the run uses."""
    signals = [*found.needed, *(signal for signal in found.optional if signal.partners or signal.uses)]
    return {variable.name for signal in signals for variable in signal.variables}


def test_a_declared_craft_with_a_numbered_port_fits_in_the_place_of_a_spacecraft(tmp_path):
    """Regression: a declared port could not have the name of one of `Spacecraft`."""
    wing = 'name = "wing"\nbase = "carried"\n[bodies.panel]\nmass = 2\ninertia = [0.3, 0.4, 0.5]\n'
    (tmp_path / "wing.toml").write_text(
        wing + '[joints.hinge]\nkind = "revolute"\nbodies = ["base", "panel"]\n', encoding="utf-8"
    )
    (tmp_path / "flight.toml").write_text(
        'name = "flight"\n[elements.craft]\ncomponent = "spacecraft"\n[elements.wing]\ncomponent = "multibody"\n'
        'model = "wing.toml"\n[[connections]]\nports = ["craft.port[1]", "wing.base"]\n[run]\nstop = 1.0\nstep = 0.1\n',
        encoding="utf-8",
    )
    own = 'name = "own"\n[bodies.hull]\nmass = 2\ninertia = [0.3, 0.4, 0.5]\n[joints.flight]\nkind = "free"\n'
    own += 'bodies = ["base", "hull"]\n[ports."port[1]"]\nbody = "hull"\n'
    structure, _ = on_paper(declaration.read(str(tmp_path / "flight.toml")), tmp_path)
    for text, expected in ((own, 0), (own.replace("port[1]", "port[2]"), 8)):
        description = described(component_of(read_text(text)), "own", tmp_path)
        assert len(misfits(structure, "craft", description)) == expected


def test_an_interface_is_what_the_system_connects():
    found = interface("atv_probe_cone.cyclogram")
    needed = {signal.name: signal for signal in found.needed}
    assert needed["sensor.capture"].partners == ("mechanism.sensor.capture",)
    assert needed["command.attitude_hold"].partners == ("chaser.command.attitude_hold", "station.command.attitude_hold")
    assert needed["command.motor_voltage"].shape == (2,)
    optional = {signal.name: signal.uses for signal in found.optional}
    assert "end of the run" in optional["finished"]
    assert optional["operator.abort"] == ()


def test_a_connected_input_that_says_it_is_optional_is_not_needed():
    found = interface("atv_probe_cone.cyclogram")
    assert "docking.angles" not in {signal.name for signal in found.needed}
    optional = {signal.name: signal.partners for signal in found.optional}
    assert optional["docking.angles"] == ("mechanism.docking.angles",)
    told = table(found).partition("optional: connected, may be missing\n")[2].partition("\n\n")[0]
    names = ("position", "angles", "velocity", "angular_velocity")
    for line, name in zip(told.splitlines(), names, strict=True):
        assert line.split()[:2] == ["input", f"docking.{name}[3]"]
        assert line.endswith(f"<- mechanism.docking.{name}")


def test_a_difference_does_not_fit_in_the_place_of_a_temperature():
    """In units with an offset `relativeQuantity` changes the number; in kelvin it does not."""

    def described(unit, relative):
        variable = Variable("t", 1, "Real", "output", "continuous", unit=unit.name, relative=relative)
        about = {"guid": "", "model_name": "a", "identifier": "a", "file": Path("a.fmu")}
        return Description(**about, variables={"t": variable}, units={unit.name: unit})

    kelvin = parse_unit("K")
    celsius = replace(kelvin, name="degC", offset=273.15)
    told = "t: needs output Real in degC, has output Real in degC that is a difference"
    system = SimpleNamespace(connections=[Connection("a", "t", "b", "u")])
    for own, other, expected in (
        (described(celsius, False), described(celsius, True), [told]),
        (described(celsius, True), described(celsius, True), []),
        (described(kelvin, False), described(kelvin, True), []),
    ):
        system.description = lambda element, own=own: own
        assert [str(misfit) for misfit in misfits(system, "a", other)] == expected


def test_an_interface_of_a_package_is_that_of_its_fmus(pair):
    found = interface(f"{pair}.first")
    assert [(signal.name, signal.partners) for signal in found.needed] == [
        ("force", ("second.position",)),
        ("position", ("second.force",)),
    ]


def test_a_component_alone_needs_all_its_ports():
    found = interface("probe_cyclogram")
    assert found.optional == ()
    # five sensors, five of docking (gap; position for the frame; angles for MISALIGNED; rates for SEPARATED), four of
    # the operator
    assert len([s for s in found.needed if s.first.causality == "input"]) == 5 + 5 + 4


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("probe_cyclogramm", CatalogueError, "probe_cyclogramm"),
        (
            "atv_probe_cone.chasr",
            StructureError,
            "has no element 'chasr'; there are chaser, station, mechanism, cyclogram",
        ),
    ],
)
def test_names_that_do_not_exist(name, error, words):
    with pytest.raises(error, match=words):
        interface(name)


def test_the_table_tells_type_unit_and_partner():
    lines = table(interface("atv_probe_cone.chaser")).splitlines()
    (line,) = [line for line in lines if "port[1].force[3]" in line]
    assert line.split()[:4] == ["input", "port[1].force[3]", "Real", "N"]
    assert line.endswith("<- mechanism.base.force")
    assert lines.index("needed: connected in the system") < lines.index("optional: not connected")


def model(found):
    """Return a unique name: in a process, pythonfmu runs the first script of a name for all others of that name."""
    return "Mine" + found.name.rpartition(".")[2].title()


def test_the_table_in_the_docs_is_that_of_the_declaration():
    told = table(interface("atv_probe_cone.cyclogram")).partition("\n\noptional: not connected")[0]
    assert f"```\n{told}\n```" in (ROOT / "docs" / "guide" / "swap.md").read_text()


def built_in_python(found, folder):
    ((name, text),) = skeleton(found, "python", model(found)).items()
    (folder / name).write_text(text)
    return FmuBuilder.build_FMU(folder / name, dest=folder)


def built_in_c(found, folder):
    name = model(found)
    files = skeleton(found, "c", name)
    for file, text in files.items():
        (folder / file).write_text(text)
    library = folder / library_name(name)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-rtlib=none", "-fno-sanitize=undefined"]
    zig = str(cache_root() / "zig")
    subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", *flags, "-o", library, folder / f"{name}.c"],
        check=True, env={"ZIG_GLOBAL_CACHE_DIR": zig, "ZIG_LOCAL_CACHE_DIR": zig, "HOME": str(folder)},
    )  # fmt: skip
    with zipfile.ZipFile(folder / f"{name}.fmu", "w") as archive:
        archive.write(folder / "modelDescription.xml", "modelDescription.xml")
        archive.write(library, f"binaries/{this_platform()}/{library.name}")
    return folder / f"{name}.fmu"


@pytest.mark.parametrize("build", [built_in_python, built_in_c])
def test_a_skeleton_fits_and_runs(place, found, build, tmp_path):
    fmu = build(found, tmp_path)
    problems, notes = check_swap(place, fmu)
    assert problems == []
    assert not [note for note in notes if "start values" not in note]
    description = read_description(fmu)
    assert {v.name for v in description.select("input", "output")} == names(found)
    system = Structure("alone")
    system.add("mine", fmu)
    with CoSimulation(system, Schedule(step=0.1, stop=1.0)).open() as simulation:
        for name in ("event.start", "event.end"):
            if name in description.variables:
                # "-1 before", as its description says
                assert simulation.get([f"mine.{name}"]) == [-1.0]
        simulation.advance(1.0)
    assert simulation.result.status == "completed"


@pytest.mark.slow
def test_the_skeleton_in_c_is_a_sound_fmu(found, tmp_path):
    findings = [str(finding) for finding in validate(built_in_c(found, tmp_path)) if finding.severity == "error"]
    assert findings == []


def modelica_variables(text):
    """Return the names that a tool gives to the scalar variables of nested connectors with arrays."""
    types, current, found = {}, [], []
    for line in text.splitlines():
        line = line.strip().replace("'", "")
        if opened := re.fullmatch(r"connector (\w+)", line):
            current.append(opened[1])
            types[opened[1]] = []
        elif line.startswith("end ") and current:
            current.pop()
        elif port := re.match(
            r"(?:(?:input|output) (?:Real|Integer|Boolean)|(\w+)) (\w+)(?:\[([\d, ]+)\])?[( ;]", line
        ):
            kind, name, shape = port.groups()
            if kind is None or kind in types:
                target = types[current[-1]] if current else found
                indices = [""] if shape is None else [f"[{k + 1}]" for k in range(int(shape))]
                inner = [""] if kind is None else [f".{rest}" for rest in types[kind]]
                target += [name + index + rest for index in indices for rest in inner]
    return found


def test_the_ports_in_modelica_have_the_names_that_are_connected(found):
    (text,) = skeleton(found, "modelica").values()
    assert set(modelica_variables(text)) == names(found)


def test_the_ports_for_simulink_are_those_of_the_element(found):
    (text,) = skeleton(found, "simulink").values()
    rows = list(csv.DictReader(io.StringIO(text)))
    widths = {row["name"]: row["dimensions"] for row in rows}
    assert {s.name: "x".join(map(str, s.shape)) or "1" for s in found.needed}.items() <= widths.items()
    for block in ("Inport", "Outport"):
        ports = [int(row["port"]) for row in rows if row["block"] == block]
        assert ports == list(range(1, len(ports) + 1))


def test_the_python_skeleton_is_plain_to_read(found, tmp_path):
    """The skeleton can be imported without dockfmu."""
    ((name, text),) = skeleton(found, "python").items()
    (tmp_path / name).write_text(text)
    assert "dockfmu" not in re.sub(r'""".*?"""', "", text, count=1, flags=re.DOTALL)
    spec = importlib.util.spec_from_file_location("skeleton_of_a_port", tmp_path / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert {*module.INPUTS, *module.OUTPUTS} == names(found)


def test_the_commands(oscillator, pair, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert status_of("ports", f"{pair}.first") == 0
    assert "needed: connected in the system" in capsys.readouterr().out
    assert status_of("ports", f"{pair}.first", "--format", "c", "--name", "Own", "-o", "own") == 0
    assert sorted(file.name for file in (tmp_path / "own").iterdir()) == ["Own.c", "modelDescription.xml"]
    assert status_of("check-swap", f"{pair}.first", oscillator) == 0
    assert "Oscillator.fmu fits in place of" in capsys.readouterr().out
    assert status_of("diagram", pair, "-o", "pair.png") == 0
    assert (tmp_path / "pair.png").read_bytes().startswith(b"\x89PNG")
    for wrong in (
        ("ports", f"{pair}.first", "--format", "fortran"),
        ("ports", f"{pair}.first", "--format", "c", "--name", "2 b"),
        ("check-swap", "first", oscillator),
        ("diagram", pair, "-o", "pair.docx"),
    ):
        assert status_of(*wrong) == 2, wrong


@pytest.mark.slow
def test_a_misfit_is_told_and_counts_as_failed(pair, python_fmu, tmp_path):
    fmu = python_fmu("plain_cyclogram")
    done = dockfmu("check-swap", f"{pair}.first", fmu, cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot take the place of first: force: needs input Real in N, has no such variable" in done.stdout
    assert "does not fit in place of" in done.stdout


def test_the_platform_is_called_as_the_version_of_the_fmu_has_it(pair, tmp_path):
    """The platform is linux64 in FMI 2.0 and x86_64-linux in FMI 3.0."""
    fmu = tmp_path / "three.fmu"
    with zipfile.ZipFile(fmu, "w") as archive:
        archive.writestr("modelDescription.xml", THREE)
        archive.writestr(f"binaries/{this_platform('3.0')}/{library_name('three')}", b"")
    problems, _ = check_swap(f"{pair}.first", fmu)
    assert not [problem for problem in problems if "library" in problem]


def test_what_a_run_goes_without_is_told(pair, python_fmu):
    problems, notes = check_swap(f"{pair}.second", python_fmu("plain_oscillator"))
    assert problems == []
    assert any("not audited: there is no second.audit" in note for note in notes)
