"""Packages with several descriptions: selecting the one that is run, drawn and inspected."""

import json
from pathlib import Path

import pytest

from dockfmu import load
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.system import Structure
from dockfmu.ssp.archive import write_ssp
from dockfmu.ssp.from_system import from_system
from dockfmu.ssp.model import DEFINITION_TYPE, SsdComponent, SsdSystem, StructureDescription
from dockfmu.swap.interface import interface
from tests.dockfmu.command_line import status_of
from tests.dockfmu.small_systems import pair_system


@pytest.fixture
def package(oscillator, tmp_path):
    """Write a package of a pair of oscillators, a single oscillator, and a description that contains the pair."""
    alone = Structure("alone")
    alone.add("mass", oscillator, {"parameters.initial_position": 0.5})
    content = from_system(pair_system(oscillator), stop_time=0.1, step=0.01)
    single = from_system(alone, stop_time=0.2, step=0.01).description
    single.system.bindings.clear()
    both = SsdSystem("around", elements=[SsdComponent("both", "SystemStructure.ssd", type=DEFINITION_TYPE)])
    around, part = StructureDescription("around", both), StructureDescription("part", SsdSystem("part"))
    content.variants |= {"Alone.ssd": single, "Around.ssd": around, "parts/Part.ssd": part}
    return write_ssp(content, tmp_path / "pair.ssp")


def test_the_description_that_is_named_is_run(package, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, system, elements, stop in (
        ("pair.ssp", "pair", {"first", "second"}, 0.1),
        ("pair.ssp#SystemStructure.ssd", "pair", {"first", "second"}, 0.1),
        ("pair.ssp#Alone.ssd", "alone", {"mass"}, 0.2),
        ("pair.ssp#Around.ssd", "around", {"both.first", "both.second"}, 10.0),
    ):
        assert status_of("run", name, "-o", "out", "--no-report") == 0
        summary = json.loads(Path("out", "summary.json").read_text())
        assert (summary["system"], summary["t_end"]) == (system, stop)
        with read_results(Path("out", "results.h5")) as results:
            assert {f"{element}.position" for element in elements} <= set(results.variables)
    outcome = load(tmp_path / "pair.ssp#Alone.ssd").run()
    assert outcome["mass.position"][0] == 0.5


def test_one_that_is_not_there_is_refused_with_those_that_are(package, capsys):
    assert status_of("run", f"{package}#Alnoe.ssd") == 2
    said = (
        "pair.ssp: holds no 'Alnoe.ssd'; there are SystemStructure.ssd, Alone.ssd, Around.ssd; did you mean Alone.ssd"
    )
    assert said in capsys.readouterr().err
    assert status_of("run", f"{package.parent}/none.ssp#Alone.ssd") == 2
    assert "none.ssp: there is no such file" in capsys.readouterr().err


def test_it_is_drawn_and_its_elements_have_ports(package, tmp_path):
    assert status_of("diagram", f"{package}#Alone.ssd", "-o", tmp_path / "alone.svg") == 0
    assert "mass" in (tmp_path / "alone.svg").read_text()
    assert interface(f"{package}#Alone.ssd.mass").description.identifier == "Oscillator"
