"""Skeletons pass the linters of this repository and stricter ones."""

import subprocess
import sys

import pytest

from dockfmu.base.cache import ROOT
from dockfmu.fmus import catalogue
from dockfmu.swap.interface import interface
from dockfmu.swap.skeletons import skeleton

# what the repository asks of public code, whatever its configuration says at the time
RULES = "E,F,W,I,UP,B,SIM,RUF,PT,PTH,NPY,C4,D,N,ANN"
NUMPY = "lint.pydocstyle.convention = 'numpy'"


@pytest.fixture(scope="module")
def skeletons(tmp_path_factory):
    """Write a Python skeleton of every component and of elements of a system; return the folder."""
    folder = tmp_path_factory.mktemp("skeletons")
    for place in (*catalogue.names(), "atv_probe_cone.station", "atv_probe_cone.cyclogram"):
        name = "My" + place.title().replace(".", "").replace("_", "")
        for file, text in skeleton(interface(place), "python", name).items():
            (folder / file).write_text(text)
    assert len(list(folder.iterdir())) == len(catalogue.names()) + 2
    return folder


def complaints(*arguments):
    done = subprocess.run([sys.executable, "-m", *map(str, arguments)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.slow
def test_skeletons_pass_ruff(skeletons):
    own = ("ruff", "check", "--no-cache", "--config", ROOT / "pyproject.toml")
    assert not complaints(*own, skeletons)
    assert not complaints(*own, "--config", NUMPY, "--extend-select", RULES, skeletons)


def test_skeletons_are_formatted(skeletons):
    assert not complaints("ruff", "format", "--no-cache", "--check", "--config", ROOT / "pyproject.toml", skeletons)


@pytest.mark.slow
def test_skeletons_pass_mypy(skeletons):
    own = ("mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", skeletons.parent / "mypy")
    for strict in ((), ("--strict",)):
        assert not complaints(*own, *strict, *sorted(skeletons.glob("*.py")))


def test_the_linters_find_faults(skeletons, tmp_path):
    """The linters refuse a spoilt skeleton."""
    text = next(skeletons.glob("*.py")).read_text()
    file = tmp_path / "spoilt.py"
    file.write_text(text.replace(" -> bool:", ":").replace("return True", "return stp_size"))
    assert "ANN201" in complaints("ruff", "check", "--no-cache", "--isolated", "--select", RULES, file)
    assert "stp_size" in complaints("mypy", "--config-file", ROOT / "pyproject.toml", file)
