"""A step that an FMU discards is rolled back, repeated up to the time that the FMU reached, and continued.

A ramp turns at each multiple of 0.27 s, which no step may pass; a second FMU integrates it.
"""

import numpy as np
import pytest

from dockfmu.master.algorithms import GaussSeidel, Jacobi, QuasiNewton
from dockfmu.master.bond import Bond
from dockfmu.master.errors import FmuError, StructureError
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import PowerBonds, Retry, StepControl, StepDoubling
from dockfmu.master.system import Structure

PERIOD, STOP, STEP = 0.27, 2.0, 0.1
TURNS = PERIOD * np.arange(1, 8)
BOND = Bond("ramp", ("ramp.y[1]",), ("sum.y[1]",))
CONTROLS = {
    "retry": Retry(1e-6),
    "doubling": StepControl(1e-6, STEP, STEP, StepDoubling(1e-3)),
    "bonds": StepControl(1e-6, STEP, STEP, PowerBonds((BOND,), 1e-2)),
    "plain": StepControl(1e-6, STEP, STEP),
}


@pytest.fixture(scope="module")
def make(tmp_path_factory, linear, linear_library):
    """Return the system; keywords are capabilities and parameters of the FMU that discards."""
    folder = tmp_path_factory.mktemp("discard")
    files = {back: linear.build(folder, linear_library, f"Linear{back}", goes_back=back) for back in (True, False)}

    def system(*, goes_back=True, order=("ramp", "sum"), process=False, **parameters):
        found = Structure("turns")
        found.add("ramp", files[goes_back], linear.ramp(period=PERIOD) | parameters, process=process)
        found.add("sum", files[True], linear.integral())
        found.connect("ramp", "y[1]", "sum", "u")
        found.connect("sum", "y[1]", "ramp", "u")
        found.order = order
        return found

    return system


def turned(time):
    """Return the ramp: a zigzag between 0 and PERIOD."""
    phase = np.mod(time, 2.0 * PERIOD)
    return np.minimum(phase, 2.0 * PERIOD - phase)


def area(time):
    """Return the integral of the ramp from 0."""
    whole, phase = np.divmod(time, 2.0 * PERIOD)
    rising = 0.5 * np.minimum(phase, PERIOD) ** 2
    falling = np.maximum(phase - PERIOD, 0.0)
    return whole * PERIOD**2 + rising + falling * (PERIOD - 0.5 * falling)


def rows(system, folder, control, algorithm):
    names = ["ramp.y[1]", "sum.y[1]", "ramp.steps", "ramp.discarded", "sum.steps"]
    recorder = Recorder(folder / "r.h5", names)
    result = CoSimulation(
        system, Schedule(step=STEP, stop=STOP, control=control), algorithm=algorithm, observers=[recorder]
    ).run()
    assert result.status == "completed", result.message
    with read_results(folder / "r.h5") as results:
        return result, results.time, {name: results[name] for name in names}


# both give the line of the ramp: one between the ends of a step, the other from the derivative at its start
@pytest.mark.parametrize("algorithm", [GaussSeidel(linear=True), Jacobi(linear=True)])
@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("order", [("ramp", "sum"), ("sum", "ramp")])
def test_lines_between_the_turns_are_integrated_exactly(make, tmp_path, control, algorithm, order):
    _, time, values = rows(make(order=order), tmp_path, CONTROLS[control], algorithm)
    if control != "retry":
        # each turn is the end of a step: of the very step that was discarded
        assert np.abs(time[:, None] - TURNS).min(axis=0).max() < 1e-12
    assert np.abs(values["ramp.y[1]"] - turned(time)).max() < 1e-12
    assert np.abs(values["sum.y[1]"] - area(time)).max() < 1e-12


def test_a_retry_keeps_the_grid(make, tmp_path):
    result, time, values = rows(make(), tmp_path, Retry(1e-6), GaussSeidel())
    assert np.array_equal(time, STEP * np.arange(21))
    assert result.macro_steps == 20
    # each turn costs one step that is repeated and one more that is taken
    assert result.rejected_steps == values["ramp.discarded"][-1] == len(TURNS)
    assert values["ramp.steps"][-1] == values["sum.steps"][-1] == 20 + len(TURNS)


def test_an_fmu_in_a_process_of_its_own_is_the_same(make, tmp_path):
    """States, the last successful time and output derivatives pass through the shared memory."""
    found = [rows(make(process=process), tmp_path, Retry(1e-6), Jacobi(linear=True)) for process in (False, True)]
    assert found[0][0].rejected_steps == found[1][0].rejected_steps == len(TURNS)
    assert all(np.array_equal(found[0][2][name], found[1][2][name]) for name in found[0][2])


@pytest.mark.parametrize("order", [("ramp", "sum"), ("sum", "ramp")])
@pytest.mark.parametrize("algorithm", [GaussSeidel(), Jacobi()])
def test_held_inputs_are_those_of_the_parts(make, tmp_path, algorithm, order):
    """All instances are rolled back, including one that stepped before the FMU that discards."""
    _, time, values = rows(make(order=order), tmp_path, Retry(1e-6), algorithm)
    ends = np.unique(np.concatenate([time, TURNS]))
    newest = algorithm.name == "gauss_seidel" and order[0] == "ramp"
    held = turned(ends[1:] if newest else ends[:-1])
    expected = np.interp(time, ends, np.concatenate([[0.0], np.cumsum(held * np.diff(ends))]))
    assert np.abs(values["sum.y[1]"] - expected).max() < 1e-12


@pytest.mark.parametrize("control", ["retry", "plain", "doubling"])
def test_without_a_last_successful_time_steps_are_halved(make, tmp_path, control):
    result, time, values = rows(make(tells=False, window=1e-4), tmp_path, CONTROLS[control], GaussSeidel(linear=True))
    # from less than the window before a turn the FMU passes it, so that the ramp turns by that much early
    assert np.abs(values["ramp.y[1]"] - turned(time)).max() < 2.0 * 1e-4 * len(TURNS)
    assert np.abs(values["sum.y[1]"] - area(time)).max() < 2.0 * 1e-4 * len(TURNS) * STOP
    # ten halves of 0.1 s come within 1e-4 s of a turn; after each that is taken all of the rest is tried again
    assert 7 * len(TURNS) < result.rejected_steps < 10 * 11 / 2 * len(TURNS)


def test_implicit_coupling_goes_back_to_the_start_of_the_step_and_not_of_the_sweep(make, tmp_path):
    result, time, values = rows(make(), tmp_path, Retry(1e-6), QuasiNewton())
    assert result.rejected_steps == len(TURNS)
    assert np.abs(values["ramp.y[1]"] - turned(time)).max() < 1e-12
    assert np.abs(values["sum.y[1]"] - area(time)).max() < 1e-9


def failed(system, control=None):
    result = CoSimulation(system, Schedule(step=STEP, stop=STOP, control=control)).run()
    assert result.status == "failed"
    assert isinstance(result.error, FmuError)
    assert (result.error.instance, result.error.function, result.error.status) == ("ramp", "fmi2DoStep", "fmi2Discard")
    assert result.t_end == pytest.approx(0.2)
    assert "it reached t = 0.27 s" in result.message
    return result.message


def test_without_control_the_failure_says_what_to_do(make):
    assert "a smaller macro step may help; retries take one (control=Retry(...), --retry) at t = 0.2 s" in failed(
        make()
    )


@pytest.mark.parametrize("control", [None, CONTROLS["plain"], CONTROLS["bonds"]])
def test_fmus_that_cannot_go_back_are_named_by_the_failure(make, control):
    message = failed(make(goes_back=False), control)
    assert "but the master cannot try it: ramp cannot roll back (canGetAndSetFMUstate)" in message


@pytest.mark.parametrize("control", [Retry(1e-6), CONTROLS["doubling"]])
def test_control_that_must_go_back_refuses_fmus_that_cannot(make, control):
    with pytest.raises(StructureError, match=r"ramp cannot roll back \(canGetAndSetFMUstate\)"):
        CoSimulation(make(goes_back=False), Schedule(step=STEP, stop=STOP, control=control)).run()


def test_a_shortest_step_that_does_not_help_is_told(make):
    assert "but one of 0.08 s fails too" in failed(make(), Retry(0.08))


def test_a_retry_without_a_shortest_step_is_refused(make):
    with pytest.raises(StructureError, match=r"must be positive, not 0\.0"):
        CoSimulation(make(), Schedule(step=STEP, stop=STOP, control=Retry(0.0))).run()
