"""The wheel: what it holds, and that it works where nothing of the checkout is."""

import email
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import dockfmu
from dockfmu.base.cache import cache_root

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


def made(source, target, folder):
    """Make one distribution of a folder with sources, without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (file,) = folder.iterdir()
    return file


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel as `make dist` makes it: from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    with tarfile.open(made(ROOT, "sdist", folder / "sdist")) as archive:
        archive.extractall(folder, filter="data")
    return made(folder / f"dockfmu-{dockfmu.__version__}", "wheel", folder / "wheel")


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """A folder like site-packages that has nothing but the wheel."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def tracked(*folders):
    """The files of folders that git has or would have."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return {name for name in names if name and (ROOT / name).is_file()}


def test_everything_that_is_installed_lies_below_dockfmu(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    about = f"dockfmu-{dockfmu.__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"dockfmu", about}
    inside = {f"dockfmu/{name}" for name in tracked("base", "components", "fmus", "master", "ssp")}
    assert {name for name in names if not name.startswith(about)} == inside | tracked("dockfmu") | {"dockfmu/LICENSE"}


def test_metadata_names_authors_licence_and_types(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        about = email.message_from_bytes(archive.read(name))
        assert "dockfmu/py.typed" in archive.namelist()
    assert about["Author"] == "the dockfmu authors"
    assert about["License-Expression"] == "MIT"
    assert "Typing :: Typed" in about.get_all("Classifier")
    assert about["Description-Content-Type"] == "text/markdown"


def test_a_wheel_runs_beside_modules_of_the_same_names(site, tmp_path):
    """It builds an FMU and a system of two, runs it, and gives the bits that the checkout gives."""
    for name in ("base", "components", "fmus", "master", "ssp"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('the user's own module')\n")
    (tmp_path / "script.py").write_text(
        "import sys, dockfmu\n"
        "assert dockfmu.__file__.startswith(sys.argv[1]), dockfmu.__file__\n"
        "print(dockfmu.build('Oscillator', 'fmus_of_mine'))\n"
        "outcome = dockfmu.load('central_impact_20t', {}).run(stop=0.2)\n"
        "print(outcome['chaser.body.position'][-1].tobytes().hex())\n"
    )
    done = subprocess.run(
        [sys.executable, "script.py", str(site)],
        cwd=tmp_path,
        # machine code is named by its content: what the checkout has compiled serves the wheel too
        env=os.environ | {"PYTHONPATH": str(site), "DOCKFMU_CACHE": str(cache_root())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    here = dockfmu.load("central_impact_20t", {}, tmp_path / "here").run(stop=0.2)
    assert done.stdout.splitlines()[-1] == here["chaser.body.position"][-1].tobytes().hex()
