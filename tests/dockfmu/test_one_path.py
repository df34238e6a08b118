"""The command and the Python API share one path to a run, with the same options, which are checked once."""

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import dockfmu
from dockfmu.declare.packages import bundle
from dockfmu.declare.plan import Plan
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.errors import OptionError
from dockfmu.master.checkpoint import CheckpointError
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.observers.series import Series
from dockfmu.master.step_control import Retry
from dockfmu.options import RunChanges, RunOptions
from dockfmu.prepare import apply_options
from tests.dockfmu.command_line import run_system, status_of
from tests.dockfmu.small_systems import TOML

SSV = """<?xml version="1.0" encoding="UTF-8"?>
<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"
    xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" version="1.0" name="stiffer">
  <ssv:Parameters>
    <ssv:Parameter name="second.parameters.initial_position"><ssv:Real value="0.25"/></ssv:Parameter>
  </ssv:Parameters>
</ssv:ParameterSet>
"""


def assert_same(one: Path, other: Path) -> None:
    with read_results(one / "results.h5") as a, read_results(other / "results.h5") as b:
        assert a.variables == b.variables
        assert np.array_equal(a.time, b.time)
        for name in a.variables:
            assert np.array_equal(a[name], b[name]), name


def test_changes_by_keyword_are_the_fields_of_the_options():
    assert {field.name for field in fields(RunOptions)} == RunChanges.__annotations__.keys()


def test_python_records_what_the_command_records(pair, oscillator, tmp_path):
    values = tmp_path / "values.ssv"
    values.write_text(SSV)
    command = run_system(
        tmp_path / "command",
        pair,
        "--set",
        "first.parameters.initial_position=0.5",
        "--parameters",
        values,
        "--swap",
        f"second={oscillator}",
        "--algorithm",
        "jacobi",
        "--step",
        0.02,
        "--every",
        2,
        "--no-report",
    )
    system = dockfmu.load(pair, {"first.parameters.initial_position": 0.5}, tmp_path, parameters=[values])
    assert system.swap("second", oscillator) == []
    told = []
    done = system.record(
        tmp_path / "python", algorithm="jacobi", step=0.02, every=2, report=False, progress=told.append
    )
    assert_same(command.folder, done.folder)
    assert done.summary["events"] == command.summary["events"]
    assert json.loads((done.folder / "summary.json").read_text()) == done.summary
    with read_results(done.folder / "results.h5") as results:
        assert results["second.position"][0] == 0.25
        assert len(results.time) == 51
    assert any("running to 2 s in steps of 0.02 s, jacobi" in line for line in told)


def test_memory_and_folder_hold_the_same_run(pair, tmp_path):
    system = dockfmu.load(pair, folder=tmp_path)
    done, outcome = system.record(tmp_path / "out", report=False), system.run()
    with read_results(done.folder / "results.h5") as results:
        assert np.array_equal(results["second.position"], outcome["second.position"])


def test_a_resumed_recording_from_python_is_checked_and_can_be_forced(pair, tmp_path):
    system = dockfmu.load(pair, folder=tmp_path)
    whole = system.record(tmp_path / "whole", report=False)
    part = system.record(tmp_path / "part", stop=0.7, report=False)
    rest = system.record(tmp_path / "rest", resume=part.folder / "run.checkpoint", report=False)
    with read_results(whole.folder / "results.h5") as a, read_results(rest.folder / "results.h5") as b:
        assert b["second.position"][-1] == a["second.position"][-1]
    system.set({"first.parameters.initial_position": 0.3})
    with pytest.raises(CheckpointError, match=r"initial_position"):
        system.record(tmp_path / "no", resume=part.folder / "run.checkpoint")
    assert not (tmp_path / "no").exists()
    forced = system.record(tmp_path / "yes", resume=part.folder / "run.checkpoint", force=True, report=False)
    assert "resumed despite a difference" in " ".join(forced.summary["warnings"])
    with pytest.raises(OptionError, match=r": is at 0\.7 s already; the run ends at 0\.5 s"):
        system.record(tmp_path / "no", resume=part.folder / "run.checkpoint", stop=0.5)


def test_a_swap_from_python_says_what_is_lost(pair, lag, tmp_path):
    system = dockfmu.load(pair, folder=tmp_path)
    with pytest.raises(StructureError, match=r"cannot take the place of second: position: needs output"):
        system.swap("second", lag)
    with pytest.raises(StructureError, match="no element 'third'"):
        system.isolate("third")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"step": -1.0}, "the macro step must be positive, not -1.0 s"),
        ({"step": float("nan")}, "the macro step must be positive"),
        ({"threads": 0}, "threads must be at least 1, not 0"),
        ({"every": 0}, "every must be at least 1 macro step, not 0"),
        ({"around": (-1.0, 0.0)}, "around must be two spans"),
        ({"around": (0.1,)}, "around must be two spans"),
        ({"around": 0.1}, "around must be two spans"),
        ({"step": "10ms"}, "step must be a number, not '10ms'"),
        ({"start": float("nan")}, "the start time must be finite"),
        ({"threads": 1.5}, "threads must be an integer, not 1.5"),
        ({"every": True}, "every must be an integer, not True"),
        ({"record": "left.position"}, "record must be a list of names"),
        ({"adaptive": -1.0}, "the tolerance must not be negative"),
        ({"adaptive": 0.0, "control": Retry(1e-6)}, "exclude each other"),
        ({"force": True}, "force needs resume"),
    ],
)
def test_options_that_cannot_be(changes, words):
    with pytest.raises(OptionError, match=words):
        RunOptions(**changes)


def test_all_faults_of_options_are_named_at_once():
    with pytest.raises(OptionError) as caught:
        RunOptions(step=0.0, threads=-1, every=0)
    assert len(caught.value.problems) == 3


def test_the_plan_in_a_recording_names_an_algorithm_given_as_a_value():
    assert apply_options(Plan(), RunOptions(algorithm=dockfmu.Jacobi())).algorithm == "jacobi"
    assert apply_options(Plan(), RunOptions()).algorithm == "gauss_seidel"


def test_a_folder_of_results_holds_all_outputs(pair, tmp_path):
    with pytest.raises(OptionError, match="record chooses what is kept in memory"):
        dockfmu.load(pair, folder=tmp_path).record(tmp_path / "results", stop=0.1, record=["first.position"])
    assert not (tmp_path / "results").exists()


def test_drivers_and_observers_of_the_user_work_in_a_recorded_run(oscillator, tmp_path):
    """The recorded run equals the run in memory with the same driver, for the observer and in results.h5."""
    position, force = "mass.position", "mass.force"
    system = dockfmu.System("alone")
    system.add("mass", oscillator)
    series = Series([position])
    options = RunOptions(step=0.01, stop=1.0)
    pushed = {"drivers": [dockfmu.Function([force], lambda t: {force: 3.0 * t})]}
    outcome = system.run(options, **pushed)
    system.record(tmp_path, options, observers=[series], **pushed)
    assert np.ptp(outcome[position]) > 1e-3
    assert np.array_equal(series.values[:, 0], outcome[position])
    with read_results(tmp_path / "results.h5") as results:
        assert np.array_equal(results[position], outcome[position])
        assert results[force][-1] == pytest.approx(3.0, abs=0.04)


def test_an_unknown_algorithm_is_refused_with_the_known_ones():
    with pytest.raises(StructureError, match=r"no algorithm 'jakobi'.*jacobi"):
        RunOptions(algorithm="jakobi")


@pytest.mark.parametrize("line", ['algorithm = "jakobi"', 'order = ["mas"]', 'order = ["mass", "mass"]'])
def test_plans_are_checked_before_anything_is_built(tmp_path, monkeypatch, line):
    file = tmp_path / "alone.toml"
    file.write_text(TOML.replace("[run]", f"[run]\n{line}"))
    monkeypatch.setattr(bundle, "make", lambda *_: pytest.fail("built"))
    with pytest.raises(DeclarationError, match=line.partition(" ")[0]):
        dockfmu.load(file, folder=tmp_path / "build")


def test_two_files_that_declare_one_name_keep_their_products_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder, position in (("one", "0.5"), ("two", "0.25")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.toml").write_text(TOML.replace("value = 0.5", f"value = {position}"))
        assert status_of("run", f"{folder}/mine.toml", "--no-report") == 0
    first, second = sorted((tmp_path / "build" / "results").iterdir())
    assert (first.name, second.name[:6]) == ("alone", "alone-")
    for folder, position in ((first, 0.5), (second, 0.25)):
        with read_results(folder / "results.h5") as results:
            assert results["mass.position"][0] == position
        assert (tmp_path / "build" / "ssp" / f"{folder.name}.ssp").is_file()
        assert list((tmp_path / "build" / "fmus" / folder.name).glob("*.fmu"))
    assert status_of("run", "one/mine.toml", "--no-report") == 0
    assert len(list((tmp_path / "build" / "results").iterdir())) == 2
