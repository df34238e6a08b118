"""Components of a user: in a folder, in an installed package, or made in Python."""

import os
import shutil
import subprocess
import sys

import pytest

import dockfmu
from dockfmu.base.cache import ROOT
from dockfmu.components.core.sources import digest, named_sources
from dockfmu.declare.toml import files
from dockfmu.fmus import catalogue
from dockfmu.fmus.folders import FolderError, import_folder
from dockfmu.new import new_component

TWO = """name = "two"
[elements.mine]
component = "./hinge"
sets = ["soft"]
[elements.theirs]
component = "Oscillator"
[run]
step = 0.01
stop = 0.5
"""


@pytest.fixture
def hinge(tmp_path):
    """A component that nobody has, in a folder of this test; modules of that name are forgotten afterwards."""
    new_component("hinge", tmp_path)
    yield tmp_path / "hinge"
    for name in [name for name in sys.modules if name.startswith("dockfmu_component_hinge")]:
        del sys.modules[name]


def test_a_new_component_is_found_by_its_folder_and_named_by_it(hinge):
    component = dockfmu.load_component(hinge)
    assert component.name == "Hinge"
    assert [entry.name for entry in catalogue.parameter_sets(str(hinge))] == ["soft"]
    assert component.initialize.__module__ == "dockfmu_component_hinge.kernel"


@pytest.mark.quick
def test_its_sources_are_those_of_the_folder_and_name_no_place(hinge, tmp_path):
    """A copy elsewhere has the same digest; a change of any file that is imported, relatively too, changes it."""
    assert {"hinge/__init__.py", "hinge/kernel.py", "hinge/ports.py"} <= named_sources(hinge / "__init__.py").keys()
    other = tmp_path / "elsewhere" / "hinge"
    shutil.copytree(hinge, other)
    before = digest(hinge / "__init__.py")
    assert digest(other / "__init__.py") == before
    (other / "kernel.py").write_text((other / "kernel.py").read_text() + "\n# changed\n")
    digest.cache_clear()
    assert digest(other / "__init__.py") != before


def test_what_is_wrong_with_a_folder_is_said(hinge, tmp_path):
    with pytest.raises(FolderError, match="nothing does not exist"):
        import_folder(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FolderError, match=r"empty has no __init__.py"):
        import_folder(tmp_path / "empty")
    import_folder(hinge)
    shutil.copytree(hinge, tmp_path / "elsewhere" / "hinge")
    with pytest.raises(FolderError, match=r"elsewhere/hinge: .*hinge has the same name: rename one of them"):
        import_folder(tmp_path / "elsewhere" / "hinge")
    new_component("latch", tmp_path)
    kernel = tmp_path / "latch" / "kernel.py"
    kernel.write_text(kernel.read_text() + "\n1 / 0\n")
    with pytest.raises(FolderError, match=r"latch/kernel.py:\d+: ZeroDivisionError"):
        import_folder(tmp_path / "latch")
    kernel.write_text("def broken(:\n")
    with pytest.raises(FolderError, match=r"latch/kernel.py:1: SyntaxError"):
        import_folder(tmp_path / "latch")
    (tmp_path / "latch" / "__init__.py").write_text("")
    with pytest.raises(FolderError, match="lacks the function `component`"):
        import_folder(tmp_path / "latch")
    (tmp_path / "latch" / "__init__.py").write_text("def component():\n    return 1\n")
    for name in [name for name in sys.modules if name.startswith("dockfmu_component_latch")]:
        del sys.modules[name]
    with pytest.raises(dockfmu.ParameterError, match="returns int, not a Component"):
        dockfmu.load_component(tmp_path / "latch")


@pytest.mark.quick
@pytest.mark.parametrize("name", ["Hinge", "a b", "1st", "../x", "", "café"])
def test_a_name_that_is_none_of_python_is_refused(tmp_path, name):
    with pytest.raises(dockfmu.OptionError, match="must be a name of Python in lower case"):
        new_component(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_system_names_it_relative_to_its_file(hinge, tmp_path, monkeypatch):
    """From any working directory; the same FMU in process, by its folder, and as an object."""
    (tmp_path / "two.toml").write_text(TWO)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    outcome = dockfmu.load(tmp_path / "two.toml", folder=tmp_path / "build").run()
    assert outcome["mine.position"].shape == outcome["theirs.position"].shape
    assert abs(outcome["mine.position"][-1]) > 0.1
    built = (tmp_path / "build" / "fmus" / "two" / "Hinge.fmu").read_bytes()
    assert dockfmu.build(hinge, tmp_path / "a").read_bytes() == built
    assert dockfmu.build(dockfmu.load_component(hinge), tmp_path / "b").read_bytes() == built


def test_a_declared_mechanism_that_is_made_already_is_built(tmp_path):
    """Its class is one of its own, a Component nevertheless."""
    file = ROOT / "components" / "multibody" / "models" / "pendulum.toml"
    built = dockfmu.build(file, tmp_path / "a")
    assert dockfmu.build(dockfmu.load_component(file), tmp_path / "b").read_bytes() == built.read_bytes()


@pytest.mark.quick
def test_what_a_system_names_moves_with_it(hinge, tmp_path):
    """Ship a system as a campaign does: the file, the one that it extends, files that elements and options name."""
    craft = '[elements.craft]\ncomponent = "Spacecraft"\noptions = { modes = "modes.toml" }\n'
    (tmp_path / "two.toml").write_text(TWO.replace("[run]", craft + "[run]"))
    (tmp_path / "modes.toml").write_text("")
    (tmp_path / "more.toml").write_text('extends = "two"\nname = "more"\n')
    found = {file.relative_to(tmp_path).as_posix() for file in files.files_of(tmp_path / "more.toml")}
    assert {"more.toml", "two.toml", "modes.toml", "hinge/__init__.py", "hinge/parameters/soft.toml"} <= found
    assert not [name for name in found if "__pycache__" in name]
    read = files.read_tables(tmp_path / "more.toml")
    assert read["elements"]["craft"]["options"]["modes"] == str(tmp_path / "modes.toml")


@pytest.fixture
def package(tmp_path):
    """The environment of a process in which a package is installed that declares a component and a system."""
    home = tmp_path / "site" / "their_package"
    (home / "systems").mkdir(parents=True)
    (home / "__init__.py").write_text("")
    (home / "systems" / "__init__.py").write_text("")
    new_component("hinge", home)
    (home / "systems" / "two.toml").write_text(TWO.replace("./hinge", "Hinge"))
    about = tmp_path / "site" / "their_package-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(
        "[dockfmu.components]\nHinge = their_package.hinge\n\n[dockfmu.systems]\ntheirs = their_package.systems\n"
    )
    # nothing of this process's own path, to which FMUs of pythonfmu that it has loaded have added their folders
    return os.environ | {"PYTHONPATH": str(tmp_path / "site")}


def dockfmu_in(environment, folder, *arguments):
    command = [sys.executable, "-m", "dockfmu", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_components_and_systems_of_packages_are_treated_as_ours(package, tmp_path):
    listed = dockfmu_in(package, tmp_path, "list").stdout
    assert "  Hinge                    from their-package 1.2\n    soft" in listed
    assert "\n  two " in listed
    run = dockfmu_in(package, tmp_path, "run", "two", "--no-report", "--stop", "0.1")
    assert run.returncode == 0, run.stderr
    for arguments in (
        ("parameters", "two.mine.parameters.mass"),
        ("ports", "Hinge"),
        ("build", "hinge", "-o", "x"),
        ("build", "hinge", "-o", "x", "--kind", "python"),
        ("diagram", "two"),
    ):
        done = dockfmu_in(package, tmp_path, *arguments)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    code = "import fmpy; print(fmpy.simulate_fmu('x/Hinge-python.fmu', stop_time=0.1)[-1]['time'])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=package, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "0.1", done.stderr


def test_two_of_one_name_are_told(package, tmp_path):
    points = next((tmp_path / "site").glob("*.dist-info")) / "entry_points.txt"
    points.write_text(points.read_text().replace("Hinge =", "oscillator ="))
    done = dockfmu_in(package, tmp_path, "build", "Oscillator")
    assert done.returncode == 2
    both = "dockfmu.components.oscillator, their_package.hinge"
    assert f"several components are called 'Oscillator': {both}" in done.stderr


def test_an_element_may_be_a_file(oscillator, tmp_path):
    """With its values in any unit, by its path from the system; it gives what the component gives."""
    shutil.copy(oscillator, tmp_path / "any.fmu")
    values = """[elements.mine.values.parameters]
initial_position = { value = 40, unit = "cm", source = "chosen" }
stiffness = "4 N/m"
"""
    for name, first in (("file", 'fmu = "any.fmu"'), ("made", 'component = "Oscillator"')):
        text = f'name = "{name}"\n[elements.mine]\n{first}\n{values}[run]\nstep = 0.01\nstop = 0.5\n'
        (tmp_path / f"{name}.toml").write_text(text)
    runs = [dockfmu.load(tmp_path / f"{name}.toml", folder=tmp_path / "build").run() for name in ("file", "made")]
    assert (runs[0]["mine.position"] == runs[1]["mine.position"]).all()
    assert runs[0]["mine.position"][0] == 0.4
    assert tmp_path / "any.fmu" in files.files_of(tmp_path / "file.toml")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("first", "message"),
    [
        ('fmu = "any.fmu"\ncomponent = "Oscillator"', "component and fmu: an element is one of both"),
        ("sets = []", "lacks 'component'"),
        ('fmu = "any.fmu"\nsets = ["soft"]', "sets: an FMU from a file has none; give values"),
    ],
)
def test_what_is_wrong_with_an_element_is_said(tmp_path, first, message):
    (tmp_path / "bad.toml").write_text(f'name = "bad"\n[elements.mine]\n{first}\n[run]\nstop = 1\n')
    with pytest.raises(dockfmu.DeclarationError, match=message):
        dockfmu.load(tmp_path / "bad.toml")


def test_values_and_files_that_do_not_fit_name_the_element(oscillator, tmp_path):
    shutil.copy(oscillator, tmp_path / "any.fmu")
    values = '[elements.mine.values.parameters]\nmas = "1 kg"\n'
    text = f'name = "bad"\n[elements.mine]\nfmu = "any.fmu"\n{values}[run]\nstop = 1\n'
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(dockfmu.StructureError, match=r"bad.toml.*mine.*mas.*did you mean.*mass"):
        dockfmu.load(tmp_path / "bad.toml")
    (tmp_path / "bad.toml").write_text(text.replace("any.fmu", "none.fmu"))
    with pytest.raises(dockfmu.ArchiveError, match=r"none\.fmu"):
        dockfmu.load(tmp_path / "bad.toml")
