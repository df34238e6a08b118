"""Commands and Python in the pages are as the product takes them."""

import ast
import importlib
import re
import shlex
from pathlib import Path

import pytest

import dockfmu
from dockfmu.cli import argument_parser
from dockfmu.components.multibody.declaration import read_model
from dockfmu.declare.declaration import read
from dockfmu.life.sections import read_sections
from dockfmu.reconstruct.model_problem import read_problem
from dockfmu.reconstruct.reading import read_telemetry
from dockfmu.telemetry.sensors import read_sensors
from tests.docs.test_pages_run import WHOLE

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language):
    return [
        pytest.param(match[2], id=f"{page.relative_to(ROOT)}:{page.read_text().count(chr(10), 0, match.start()) + 1}")
        for page in PAGES
        for match in BLOCK.finditer(page.read_text(encoding="utf-8"))
        if match[1] == language
    ]


def command_lines():
    """Every `dockfmu ...` of the shell blocks, without comments."""
    found = {}
    for parameter in blocks("sh"):
        for line in parameter.values[0].replace("\\\n", " ").splitlines():
            words = shlex.split(line.partition(" #")[0].partition(" > ")[0])
            while words and (words[0] == "chrt" or words[0].startswith("-") or words[0].isdecimal()):
                words.pop(0)
            if words and Path(words[0]).name == "dockfmu":
                found[shlex.join(words)] = pytest.param(words[1:], id=f"{parameter.id} {shlex.join(words)}")
    assert len(found) > 10
    return list(found.values())


@pytest.mark.parametrize("words", command_lines())
def test_the_command_line_takes_what_the_pages_show(words):
    argument_parser().parse_args(words)


@pytest.mark.parametrize("source", blocks("python"))
def test_python_of_the_pages_imports_what_there_is(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            assert not [alias.name for alias in node.names if not hasattr(module, alias.name)]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dockfmu":
            assert node.attr in dockfmu.__all__


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "../README.md",
        "getting-started.md",
        "guide/python-api.md",
        "guide/multibody-analysis.md",
        "develop/component.md",
    ],
)  # fmt: skip
def test_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    sources = [match[2] for match in BLOCK.finditer((ROOT / "docs" / page).read_text()) if match[1] == "python"]
    assert sources
    for source in sources:
        exec(compile(source, page, "exec"), names)


def declared():
    """Return the declarations of the pages, but for those of guides that are worked through whole."""
    worked_through = tuple(f"docs/guide/{page}.md" for page in WHOLE)
    return [
        found for found in blocks("toml") if "name = " in found.values[0] and not found.id.startswith(worked_through)
    ]


def write_readings(folder):
    """Write sensors and readings for a declaration of a reconstruction: yaw rates, and the first contact."""
    (folder / "sensors.toml").write_text(
        '[[frame]]\nname = "gyros"\nrate = "10 Hz"\nevent = [{ name = "first_contact" }]\n[[frame.signal]]\n'
        'column = "yaw_rate"\nvariable = "chaser.body.angular_velocity[2]"\nunit = "deg/s"\nnoise = "0.01 deg/s"\n'
    )
    (folder / "telemetry").mkdir()
    (folder / "telemetry" / "gyros.csv").write_text(
        "time [s],yaw_rate [deg/s]\n" + "".join(f"{0.1 * k},0.0\n" for k in range(60))
    )
    (folder / "telemetry" / "events.csv").write_text("name,after [s],by [s]\nfirst_contact,1.4,1.5\n")


@pytest.mark.parametrize("source", declared())
def test_declarations_of_the_pages_are_read(source, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(source, encoding="utf-8")
    if "\n[bodies." in source:
        if '"panel.npz"' in source:
            panel = ROOT / "components" / "multibody" / "models" / "elastic_panel.toml"
            dockfmu.reduce(panel, interface=[3, 4, 5, 6], modes=4, frame=3).write(tmp_path / "panel.npz")
        assert read_model(file).model.bodies
    elif "[[section]]" in source:
        assert read_sections(file)
    elif "[[frame]]" in source:
        assert read_sensors(file).frames
    elif "\n[ensemble]" in source:
        write_readings(tmp_path)
        assert read_problem(read_telemetry(file), tmp_path / "runs").unknowns.names
    else:
        assert read(str(file)).elements


def test_pages_link_to_files_that_exist():
    reference = ROOT / "docs" / "reference"  # whose pages of components and systems the build of the site writes
    written = {reference / "fmus" / f"{name}.md" for name in dockfmu.list_components()}
    written |= {reference / "systems" / f"{name}.md" for name in dockfmu.list_systems()}
    lost = []
    for page in [*PAGES, *ROOT.glob("*/README.md"), *ROOT.glob("components/**/README.md")]:
        for address in re.findall(r"\]\(([^)\s#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            file = (page.parent / address).resolve()
            if not address.startswith(("http", "mailto")) and not (file.exists() or file in written):
                lost.append(f"{page.relative_to(ROOT)}: {address}")
    assert not lost
