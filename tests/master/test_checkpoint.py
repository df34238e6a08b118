"""Checkpoints: resumed runs are bitwise equal, in this process or another; branches from a common prefix."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dockfmu.master.algorithms import FixedPoint, GaussSeidel, Jacobi, QuasiNewton
from dockfmu.master.checkpoint import CheckpointError, read_checkpoint
from dockfmu.master.errors import MasterError, StructureError
from dockfmu.master.observers.checkpoints import Checkpoints
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation, branch
from dockfmu.master.step_control import StepControl, StepDoubling
from dockfmu.master.system import Structure

ROOT = Path(__file__).parents[2]


@pytest.fixture
def swings(oscillator):
    """Return two coupled oscillators."""
    system = Structure("swings")
    system.add("one", oscillator, {"parameters.stiffness": 40.0, "parameters.initial_position": 0.1})
    system.add("other", oscillator, {"parameters.stiffness": 9.0})
    for source, target in (("one", "other"), ("other", "one")):
        system.connect(source, "position", target, "force", factor=0.5, convert_units=False)
    return system


@pytest.fixture
def lags(lag):
    """Return two lags that exchange values of every type; `a.u[1]` is free."""
    system = Structure("lags")
    system.add("a", lag, {"u[1]": 1.0, "label": "Größe"})
    system.add("b", lag, {"gain": 3.0})
    for output, target in (("y[1]", "u[1]"), ("count", "count_in"), ("high", "enable"), ("text", "text_in")):
        system.connect("a", output, "b", target)
    return system


NAMES = ["one.position", "one.velocity", "other.position", "other.velocity"]


def recorded(system, file, names, stop):
    result = CoSimulation(system, Schedule(step=1e-3, stop=stop), observers=[Recorder(file, names)]).run()
    assert result.status == "completed", result.message
    with read_results(file) as results:
        return results.time, np.column_stack([results[name] for name in names])


@pytest.mark.parametrize("algorithm", [GaussSeidel(), Jacobi(linear=True), FixedPoint()])
def test_a_simulation_rewinds_to_its_checkpoints(swings, algorithm):
    """Steps after a return are equal to the bit, also after others; a new run starts at its own start."""
    with CoSimulation(swings, Schedule(step=1e-3), algorithm=algorithm).open() as simulation:
        simulation.advance(0.3)
        early = simulation.save()
        simulation.advance(0.5)
        late, first = simulation.save(), simulation.get(NAMES)
        for checkpoint in (early, late, early):
            simulation.rewind(checkpoint)
            assert (simulation.time, simulation.result.macro_steps) == (checkpoint.time, checkpoint.macro_steps)
            simulation.advance(0.5)
            assert simulation.get(NAMES) == first
        simulation.reset()
        assert simulation.time == 0.0
        simulation.advance(0.5)
        assert simulation.get(NAMES) == first
        with pytest.raises(MasterError, match="another step or algorithm"):
            simulation.rewind(replace(early, step=2e-3))


@pytest.mark.parametrize("every", [1, 7])
def test_a_run_from_a_file_is_equal_to_the_bit(swings, tmp_path, every):
    time, whole = recorded(swings, tmp_path / "whole.h5", NAMES, stop=2.0)
    with CoSimulation(swings, Schedule(step=1e-3)).open() as simulation:
        simulation.advance(0.731)
        simulation.save().write(tmp_path / "grid.checkpoint")
    checkpoint = read_checkpoint(tmp_path / "grid.checkpoint")
    assert (checkpoint.time, checkpoint.macro_steps, checkpoint.system) == (0.731, 731, "swings")
    recorder = Recorder(tmp_path / "rest.h5", NAMES, every=every)
    result = CoSimulation(
        swings, Schedule(step=1e-3, stop=2.0), observers=[recorder], resume=Resumption(checkpoint)
    ).run()
    assert (result.status, result.t_start, result.macro_steps) == ("completed", 0.731, 2000)
    with read_results(tmp_path / "rest.h5") as rest:
        # the first row is that of the checkpoint itself, the last that of the end; the others are on the grid
        at = np.searchsorted(time, rest.time)
        assert np.array_equal(time[at], rest.time)
        assert np.array_equal(whole[at], np.column_stack([rest[name] for name in NAMES]))
        assert (at[1:-1] % every == 0).all()


@pytest.mark.parametrize("how", [
    {"algorithm": GaussSeidel(linear=True)}, {"algorithm": Jacobi(linear=True)}, {"algorithm": FixedPoint()},
    {"algorithm": QuasiNewton()}, {"control": StepControl(1e-5, 0.02, 1e-4, StepDoubling(1e-6))},
], ids=["gauss_seidel", "jacobi", "fixed_point", "quasi_newton", "step_control"])  # fmt: skip
def test_every_algorithm_goes_on_to_the_bit(swings, tmp_path, how):
    how = dict(how)
    schedule = Schedule(step=1e-3, control=how.pop("control", None))
    with CoSimulation(swings, schedule, **how).open() as simulation:
        simulation.advance(0.5)
        simulation.save().write(tmp_path / "c")
        simulation.advance(1.0)
        expected, steps = simulation.get(NAMES), simulation.result.macro_steps
    resume = Resumption(read_checkpoint(tmp_path / "c"))
    with CoSimulation(swings, schedule, resume=resume, **how).open() as simulation:
        simulation.advance(1.0)
        assert simulation.get(NAMES) == expected
        assert simulation.result.macro_steps == steps


def test_instances_at_their_own_pace_go_on_to_the_bit(swings, tmp_path):
    swings.elements["one"].every = 3
    swings.elements["other"].substeps = 2
    with CoSimulation(swings, Schedule(step=1e-3)).open() as simulation:
        simulation.advance(0.5)
        simulation.save().write(tmp_path / "c")
        simulation.advance(0.9)
        expected = simulation.get(NAMES)
    with CoSimulation(
        swings, Schedule(step=1e-3), resume=Resumption(read_checkpoint(tmp_path / "c"))
    ).open() as simulation:
        simulation.advance(0.9)
        assert simulation.get(NAMES) == expected


def test_a_checkpoint_off_the_grid_goes_on_from_there(swings, tmp_path):
    CoSimulation(swings, Schedule(step=1e-3, stop=0.7311), observers=[Checkpoints(tmp_path / "run.checkpoint")]).run()
    with CoSimulation(swings, Schedule(step=1e-3)).open() as simulation:
        simulation.advance(0.7311)
        simulation.advance(1.0)
        expected = simulation.get(NAMES)
    with CoSimulation(
        swings, Schedule(step=1e-3), resume=Resumption(read_checkpoint(tmp_path / "run.checkpoint"))
    ).open() as simulation:
        assert simulation.time == 0.7311
        simulation.advance(1.0)
        assert simulation.get(NAMES) == expected


@pytest.mark.parametrize("process", [False, True])
def test_values_of_all_types_are_kept(lags, tmp_path, process):
    lags.elements["b"].process = process
    names = ["b.y[1]", "b.count", "b.high", "b.text"]
    with CoSimulation(lags, Schedule(step=0.1)).open() as simulation:
        simulation.advance(0.5)
        simulation.save().write(tmp_path / "c")
        simulation.advance(1.0)
        expected = simulation.get(names)
    with CoSimulation(
        lags, Schedule(step=0.1), resume=Resumption(read_checkpoint(tmp_path / "c"))
    ).open() as simulation:
        simulation.advance(1.0)
        assert simulation.get(names) == expected


def test_variants_branch_from_one_prefix(lags):
    ends = {}
    with CoSimulation(lags, Schedule(step=0.01)).open() as prefix:
        prefix.advance(0.5)
        for push in (1.0, 2.0, 3.0):
            with branch(prefix, {"a.u[1]": push}).open() as variant:
                assert variant.time == 0.5
                variant.advance(1.0)
                ends[push] = variant.get(["a.y[1]", "b.y[1]"])
        assert prefix.time == 0.5
        prefix.advance(1.0)
        assert prefix.get(["a.y[1]", "b.y[1]"]) == ends[1.0]
    # y' = u - y from y(0.5) under explicit Euler
    at = 1.0 - 0.99**50
    for push, (y, _) in ends.items():
        assert y == pytest.approx(push + (at - push) * 0.99**50, rel=1e-12)


def test_a_branch_may_take_other_steps_and_observers(lags, tmp_path):
    with CoSimulation(lags, Schedule(step=0.01, stop=2.0)).open() as prefix:
        prefix.advance(0.5)
        recorder = Recorder(tmp_path / "b.h5", ["a.y[1]"])
        with branch(prefix, schedule=Schedule(step=0.005, stop=1.0), observers=[recorder]).open() as variant:
            variant.advance(2.0)
            assert variant.finished
    with read_results(tmp_path / "b.h5") as results:
        assert results.time[0] == 0.5
        assert len(results.time) == 101


def test_a_branch_may_take_another_algorithm_and_vary_its_steps(swings):
    with CoSimulation(swings, Schedule(step=1e-4), algorithm=GaussSeidel(linear=True)).open() as prefix:
        prefix.advance(0.5)
        control = StepControl(1e-5, 0.05, 1e-3, StepDoubling(1e-8, order=3))
        schedule = Schedule(step=1e-3, control=control)
        with branch(prefix, schedule=schedule, algorithm=Jacobi(linear=True)).open() as variant:
            variant.advance(1.0)
            ends = variant.get(NAMES)
        assert variant.result.algorithm == "jacobi_linear"
        assert variant.result.longest_step > variant.result.shortest_step
        prefix.advance(1.0)
        # 1e-8 of the largest value in each of at most 500 steps, and less for the second order of the prefix
        assert ends == pytest.approx(prefix.get(NAMES), abs=1e-5)


def test_what_an_fmu_calculates_cannot_branch(lags):
    with CoSimulation(lags, Schedule(step=0.01)).open() as prefix:
        prefix.advance(0.1)
        with pytest.raises(StructureError, match=r"a.gain cannot be set during a run: it is a fixed parameter"):
            branch(prefix, {"a.gain": 2.0})


def test_fmus_that_cannot_give_their_state_are_named(third_party, lag, tmp_path):
    xml = third_party.description().replace('canSerializeFMUstate="true"', 'canSerializeFMUstate="false"')
    system = Structure("mute")
    system.add("a", lag)
    system.add("b", third_party.build(tmp_path, xml=xml))
    system.add("c", third_party.build(tmp_path, "Other", xml=xml))
    words = "no checkpoint can be taken: the FMUs of b, c cannot serialise a state"
    with CoSimulation(system, Schedule(step=0.1)).open() as simulation, pytest.raises(CheckpointError, match=words):
        simulation.save()
    with pytest.raises(CheckpointError, match=words):
        CoSimulation(system, Schedule(step=0.1, stop=1.0), observers=[Checkpoints(tmp_path / "c")]).run()


def test_other_fmus_are_refused(lags, third_party, tmp_path):
    with CoSimulation(lags, Schedule(step=0.1)).open() as simulation:
        simulation.advance(0.1)
        checkpoint = simulation.save()
    lags.elements["b"].file = third_party.build(tmp_path, unit=None)
    with pytest.raises(CheckpointError, match="taken from another system:\n  the FMU of b: SHA-256 "):
        CoSimulation(lags, Schedule(step=0.1, stop=1.0), resume=Resumption(checkpoint)).run()
    lags.add("c", lags.elements["a"].file)
    with pytest.raises(CheckpointError, match="the elements: a, b at the checkpoint, a, b, c now"):
        CoSimulation(lags, Schedule(step=0.1, stop=1.0), resume=Resumption(checkpoint)).run()


def test_every_difference_of_the_system_is_refused_by_name(swings, oscillator):
    """Start values given, changed and left out, connections, rates, order and the name."""
    with CoSimulation(swings, Schedule(step=1e-3)).open() as simulation:
        simulation.advance(0.1)
        checkpoint = simulation.save()
    assert checkpoint.differences(swings) == []
    swings.name = "others"
    swings.elements["one"].start = {"parameters.stiffness": 41.0, "parameters.mass": 2}
    swings.elements["other"].start["force"] = 0.5
    swings.elements["other"].substeps = 2
    swings.order = ("other", "one")
    swings.connections[0] = replace(swings.connections[0], factor=0.25)
    with pytest.raises(CheckpointError) as caught:
        CoSimulation(swings, Schedule(step=1e-3), resume=Resumption(checkpoint)).open()
    lines = [line.strip() for line in str(caught.value).splitlines()]
    link = "connection one.position -> other.force, times {} plus 0.0, units not converted"
    assert lines[:-1] == [
        "the checkpoint at t = 0.1 s was taken from another system:",
        "the name of the system: swings at the checkpoint, others now",
        "one.parameters.initial_position: 0.1 at the checkpoint, 0.0 now",
        "one.parameters.mass: 1.0 at the checkpoint, 2.0 now",
        "one.parameters.stiffness: 40.0 at the checkpoint, 41.0 now",
        "other.force: 0.0 at the checkpoint, 0.5 now",
        "the steps of other in macro steps: 1 in 1 at the checkpoint, 2 in 1 now",
        f"{link.format(0.5)}: there at the checkpoint, none now",
        f"{link.format(0.25)}: none at the checkpoint, there now",
        "the order of the elements: one, other at the checkpoint, other, one now",
    ]
    assert "--force (force=True)" in lines[-1]


def test_equal_values_of_other_types_are_no_difference(swings, tmp_path):
    """Values may come from a file, or name the FMU's own start value."""
    with CoSimulation(swings, Schedule(step=1e-3)).open() as simulation:
        simulation.save().write(tmp_path / "c")
    swings.elements["one"].start |= {"parameters.stiffness": np.float32(40), "parameters.mass": True}
    assert read_checkpoint(tmp_path / "c").differences(swings) == []


def test_a_forced_run_takes_the_values_of_the_checkpoint_and_new_inputs(swings, tmp_path):
    """Fixed parameters keep the values of the state, and recording and warnings say so."""
    swings.connections.pop()
    names = ["one.position", "other.position"]
    with CoSimulation(swings, Schedule(step=1e-3)).open() as simulation:
        simulation.advance(0.5)
        checkpoint = simulation.save()
        with branch(simulation, {"one.force": 3.0}).open() as other:
            other.advance(1.0)
            expected = other.get(names)
    swings.elements["one"].start |= {"parameters.stiffness": 41.0, "force": 3.0}
    recorder = Recorder(tmp_path / "forced.h5", names)
    result = CoSimulation(
        swings, Schedule(step=1e-3, stop=1.0), observers=[recorder], resume=Resumption(checkpoint, force=True)
    ).run()
    with read_results(tmp_path / "forced.h5") as results:
        assert [results[name][-1] for name in names] == expected
        assert results.parameters("one")["parameters.stiffness"] == 40.0
    told = (
        "one.force: 0.0 at the checkpoint, 3.0 now",
        "one.parameters.stiffness: 40.0 at the checkpoint, 41.0 now",
    )
    assert result.resumed["differences"] == list(told)
    assert f"resumed despite a difference: {told[0]}; the new value applies from here on" in result.warnings
    assert f"resumed despite a difference: {told[1]}; the value of the checkpoint applies" in result.warnings
    assert result.summary()["resumed"]["t"] == 0.5


def test_what_a_checkpoint_was_taken_of_is_what_was_loaded(swings):
    """A change of the system during the run has no effect and is not in the checkpoint."""
    with CoSimulation(swings, Schedule(step=1e-3)).open() as simulation:
        swings.elements["one"].start["parameters.mass"] = 7.0
        checkpoint = simulation.save()
    assert [str(difference) for difference in checkpoint.differences(swings)] == [
        "one.parameters.mass: 1.0 at the checkpoint, 7.0 now"
    ]


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x05\x06" + bytes(18)])
def test_files_that_are_none_are_refused(tmp_path, content):
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(CheckpointError, match="not a readable checkpoint"):
        read_checkpoint(tmp_path / "c")


def test_damaged_files_are_refused_or_as_they_were(lags, tmp_path):
    file = tmp_path / "c"
    with CoSimulation(lags, Schedule(step=0.1)).open() as simulation:
        simulation.save().write(file)
    sound, damaged = file.read_bytes(), tmp_path / "damaged"
    refused = 0
    for place in range(0, len(sound), 7):
        damaged.write_bytes(sound[:place] + bytes([sound[place] ^ 0x15]) + sound[place + 1 :])
        try:
            read_checkpoint(damaged)
        except CheckpointError:
            refused += 1
    assert refused > 50


def test_a_file_that_cannot_be_written_leaves_the_old_one(lags, tmp_path, monkeypatch):
    file = tmp_path / "c"
    with CoSimulation(lags, Schedule(step=0.1)).open() as simulation:
        simulation.save().write(file)
        simulation.advance(0.1)

        def full(descriptor):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(CheckpointError, match=r"c: cannot be written \(No space left on device\)"):
            simulation.save().write(file)
    assert read_checkpoint(file).time == 0.0
    assert list(tmp_path.iterdir()) == [file]


def test_after_a_failure_the_last_sound_state_is_there(lags, tmp_path, monkeypatch):
    monkeypatch.setattr("dockfmu.master.observers.checkpoints.KEEP_S", 0.0)
    monkeypatch.setattr("dockfmu.master.run.session.CHUNK_S", 0.0)
    lags.elements["b"].start |= {"fail.function": 1, "fail.status": 3, "fail.time": 0.5}
    result = CoSimulation(
        lags, Schedule(step=0.001, stop=1.0), observers=[Checkpoints(tmp_path / "c", every=1e9)]
    ).run()
    assert result.status == "failed"
    assert 0.4 < read_checkpoint(tmp_path / "c").time <= result.t_end
    assert result.t_end == pytest.approx(0.5, abs=1e-3)


ENDED = """
import os, sys
from pathlib import Path
from dockfmu.master.observers.checkpoints import Checkpoints
from dockfmu.master.observers.observer import Observer
from dockfmu.master.run.simulation import branch
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

class Signal(Observer):
    def progress(self, time, wall):
        if time > 5.0 and Path(sys.argv[2]).exists() == (sys.argv[3] == "9"):
            os.kill(os.getpid(), int(sys.argv[3]))

system = Structure("ended")
system.add("lag", Path(sys.argv[1]), {"u[1]": 1.0, "gain": 1e-6})
every = 0.2 if sys.argv[3] == "9" else 1e9
observers = [Checkpoints(Path(sys.argv[2]), every=every), Signal()]
result = CoSimulation(system, Schedule(step=1e-3, stop=1e6), observers=observers).run()
print(result.t_end)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_was_ended_from_outside_goes_on(lag, tmp_path, number):
    file = tmp_path / "c"
    done = subprocess.run(
        [sys.executable, "-c", ENDED, str(lag), str(file), str(int(number))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    checkpoint = read_checkpoint(file)
    if number == signal.SIGKILL:
        assert done.returncode == -signal.SIGKILL
    else:
        assert checkpoint.time == float(done.stdout), done.stderr
    system = Structure("ended")
    system.add("lag", lag, {"u[1]": 1.0, "gain": 1e-6})
    with CoSimulation(system, Schedule(step=1e-3), resume=Resumption(checkpoint)).open() as simulation:
        simulation.advance(checkpoint.time + 1.0)
        (y,) = simulation.get(["lag.y[1]"])
    # every step multiplies the distance from 1 by 1 - gain h; its rounding is 1e-7 of the change or less
    assert y == pytest.approx(-np.expm1((checkpoint.macro_steps + 1000) * np.log1p(-1e-9)), rel=1e-6)


@given(st.data())
@settings(max_examples=60)
def test_a_damaged_checkpoint_is_refused_by_name(checkpoint_bytes, tmp_path_factory, data):
    """A change or truncation anywhere is refused: states and the loop's memory are restored all or not at all."""
    whole = bytearray(checkpoint_bytes)
    if data.draw(st.booleans()):
        del whole[data.draw(st.integers(0, len(whole) - 1)) :]
    else:
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    file = tmp_path_factory.mktemp("damaged") / "c"
    file.write_bytes(whole)
    with pytest.raises(CheckpointError, match=f"{file}: not a readable checkpoint"):
        read_checkpoint(file)


@pytest.fixture(scope="module")
def checkpoint_bytes(oscillator, tmp_path_factory):
    """Return a checkpoint of one oscillator."""
    system = Structure("one")
    system.add("one", oscillator)
    with CoSimulation(system, Schedule(step=1e-3)).open() as simulation:
        simulation.advance(0.1)
        return simulation.save().write(tmp_path_factory.mktemp("whole") / "c").read_bytes()
