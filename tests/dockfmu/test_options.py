"""Options of runs: numbers of any kind are taken, and what cannot be run is refused when it is given."""

from fractions import Fraction

import numpy as np
import pytest

import dockfmu
from dockfmu import (
    CheckpointError,
    FixedPoint,
    GaussSeidel,
    Live,
    OptionError,
    Retry,
    RunOptions,
    StepControl,
    StructureError,
    System,
)
from dockfmu.base.files import WriteError


@pytest.fixture
def alone(oscillator):
    system = System("alone")
    system.add("mass", oscillator, {"parameters.initial_position": 0.5})
    return system


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"start": None}, "start must be a number, not None"),
        ({"step": True}, "step must be a number, not True"),
        ({"step": 10**400}, "the macro step must be finite"),
        ({"stop": -1}, "the stop time -1 s must lie after the start time 0.0 s"),
        ({"threads": None}, "threads must be an integer, not None"),
        ({"threads": 10**30}, "threads must be at most 2147483647"),
        ({"every": 10**30}, "every must be at most 2147483647 macro steps"),
        ({"algorithm": 3}, "algorithm must be the name of an algorithm"),
        ({"algorithm": GaussSeidel}, "algorithm must be the name of an algorithm"),
        ({"algorithm": FixedPoint}, "algorithm must be the name of an algorithm"),
        ({"control": 3}, "control must be a StepControl or a Retry, not 3"),
        ({"control": "x"}, "control must be a StepControl or a Retry, not 'x'"),
        ({"live": None}, "live must be a Live"),
        ({"live": 3}, "live must be a Live"),
        ({"resume": 3}, "resume must be the path of a checkpoint, not 3"),
        ({"resume": "a", "start": 1.0}, "resume and start = 1 s exclude each other"),
        ({"force": "no"}, "force must be True or False, not 'no'"),
        ({"record": [3]}, "record must be a list of names; 3 is not a name"),
        ({"record": 3}, "record must be a list of names, not 3"),
        ({"record": "mass.position"}, "record must be a list of names, not the text 'mass.position'"),
        ({"around": (1.0, 10**400)}, "around must be two spans of time"),
    ],
)
def test_options_that_are_refused(changes, words):
    with pytest.raises(OptionError) as refused:
        RunOptions(**changes)
    assert words in str(refused.value)


def test_an_algorithm_that_does_not_exist():
    with pytest.raises(StructureError, match="there is no algorithm 'euler'"):
        RunOptions(algorithm="euler")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"realtime": 0}, "realtime must be a multiple of real time from 1e-06 to 1e+06, not 0"),
        ({"realtime": -1}, "not -1"),
        ({"realtime": float("nan")}, "not nan"),
        ({"realtime": "x"}, "not 'x'"),
        ({"late": "x"}, "late must be one of slip, skip, stop, not 'x'"),
        ({"late": []}, "late must be one of slip, skip, stop"),
        ({"stream": 70000}, "stream must be a port from 0 to 65535, 0 for any free one, not 70000"),
        ({"stream": "x"}, "not 'x'"),
        ({"receive": -3}, "receive must be a port"),
        ({"view": 1.5}, "view must be a port"),
        ({"browser": 3}, "browser must be True or False"),
        ({"inputs": 3}, "inputs must be the path of a log of inputs, not 3"),
    ],
)
def test_live_runs_that_are_refused(changes, words):
    with pytest.raises(OptionError) as refused:
        Live(**changes)
    assert words in str(refused.value)


def test_numbers_of_numpy_are_numbers(alone):
    options = RunOptions(step=np.float32(0.125), stop=np.int64(1), every=np.int32(2), start=Fraction(1, 2))
    assert [type(value) for value in (options.step, options.stop, options.start)] == [float] * 3
    assert type(options.every) is int
    assert alone.run(options).time.tolist() == [0.5, 0.75, 1.0]
    assert type(Live(realtime=np.float64(2.0)).realtime) is float


def test_a_run_before_time_zero(alone, tmp_path):
    outcome = alone.run(start=-5.0, stop=-1.0, step=0.5)
    assert (outcome.time[0], outcome.time[-1]) == (-5.0, -1.0)
    recorded = alone.record(tmp_path / "run", start=-5.0, stop=-1.0, step=0.5, report=False)
    assert recorded.summary["t_end"] == -1.0


def test_a_branch_has_the_checks_of_a_run(alone):
    with alone.simulate(step=0.125) as simulation:
        simulation.advance(1.0)
        for changes, words in (
            ({"algorithm": "jacoby"}, "there is no algorithm 'jacoby'"),
            ({"algorithm": 3}, "algorithm must be the name"),
            ({"record": "mass.position"}, "record must be a list of names"),
            ({"every": "x"}, "every must be an integer, not 'x'"),
            ({"step": "x"}, "step must be a number, not 'x'"),
            ({"control": 3}, "control must be a StepControl or a Retry"),
            ({"stop": 0.5}, "the stop time 0.5 s must lie after the start time 1.0 s"),
        ):
            with pytest.raises(StructureError, match=words):
                simulation.branch(**changes)
        branch = simulation.branch(algorithm="jacobi", record=["mass.position"], every=2, stop=2)
    with branch:
        branch.advance()
    assert branch.outcome.result.algorithm == "jacobi"
    assert branch.outcome.variables == ("mass.position",)
    assert branch.outcome.time.tolist() == [1.0, 1.25, 1.5, 1.75, 2.0]


@pytest.mark.parametrize("option", ["folder", "build"])
def test_an_empty_path_is_not_the_present_folder(alone, tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=f"{option}: the path is empty"):
        alone.record(**{"folder": "out", option: ""})
    assert not list(tmp_path.iterdir())


def test_packages_are_written_to_new_folders_and_nowhere_else(alone, tmp_path):
    assert alone.write(tmp_path / "new" / "folder" / "alone.ssp").is_file()
    for name in ("alone", "alone.zip", "."):
        with pytest.raises(OptionError, match=r"must end in \.ssp"):
            alone.write(tmp_path / name)
    (tmp_path / "folder.ssp").mkdir()
    (tmp_path / "file").write_text("")
    for name in ("folder.ssp", "file/alone.ssp", f"{300 * 'x'}.ssp"):
        with pytest.raises(WriteError, match=r"\.ssp: cannot be written"):
            alone.write(tmp_path / name)
    assert list((tmp_path / "folder.ssp").iterdir()) == []


def test_a_checkpoint_is_not_written_to_a_folder(alone, tmp_path):
    with alone.simulate(step=0.1) as simulation:
        simulation.step()
        for folder in (".", tmp_path):
            with pytest.raises(CheckpointError, match="it is a folder; give the name of a file"):
                simulation.save(folder)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kind": "x"}, "kind must be one of native, python, not 'x'"),
        ({"component": 3}, "component must be the name of one"),
        ({"folder": ""}, "folder must be the path of a folder, not ''"),
        ({"options": 3}, "options must map names to values"),
    ],
)
def test_components_that_cannot_be_built(tmp_path, arguments, words):
    with pytest.raises(OptionError) as refused:
        dockfmu.build(**{"component": "Oscillator", "folder": tmp_path / "built", **arguments})
    assert words in str(refused.value)
    assert not (tmp_path / "built").exists()


def test_the_time_limit_of_a_process(alone):
    for timeout in (0, -1, float("nan"), "x"):
        with pytest.raises(OptionError, match="timeout of mass must be a positive"):
            alone.isolate("mass", timeout)
    assert not alone.structure.elements["mass"].process
    alone.isolate("mass", 3)
    assert alone.structure.elements["mass"].timeout == 3.0


@pytest.mark.parametrize("shortest", ["x", 0.0, -1.0, float("nan"), None])
def test_step_control_that_is_no_number(shortest):
    with pytest.raises(StructureError, match="retrying steps: the shortest step must be positive"):
        Retry(shortest)
    with pytest.raises(StructureError, match="step control"):
        StepControl(shortest, 1.0, 0.1)
