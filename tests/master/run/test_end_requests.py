"""FMUs that ask to end the simulation: fmi2Discard with fmi2Terminated, and terminateSimulation of FMI 3.0."""

import numpy as np
import pytest

from dockfmu.master import algorithms
from dockfmu.master.observers.series import Series
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import Retry, StepControl, StepDoubling
from dockfmu.master.system import Structure
from tests.master.fmus.habits import ENDS, STATES


def with_others(file, lag, *, process=False):
    """The FMU that asks for the end at 0.5 s between two lags, one before and one after it."""
    system = Structure("ground")
    system.add("before", lag, {"gain": 1.0, "u[1]": 1.0})
    system.add("a", file, {"habit": ENDS}, process=process)
    system.add("after", lag, {"gain": 1.0})
    system.connect("a", "y", "after", "u[1]", convert_units=False)
    system.order = ("before", "a", "after")
    return system


NAMES = ["a.y", "before.y[1]", "after.y[1]"]


def ended(system, step, control=None, **options):
    series = Series(NAMES)
    result = CoSimulation(system, Schedule(step=step, stop=1.0, control=control), observers=[series], **options).run()
    assert result.status == "completed", result.message
    assert result.message.startswith("a asked to end the simulation at t = 0.5 s")
    return result, series


@pytest.mark.parametrize("process", [False, True], ids=["here", "apart"])
@pytest.mark.parametrize("algorithm", ["gauss_seidel", "jacobi", "jacobi_linear", "midpoint"])
def test_the_run_ends_with_the_macro_step_and_its_row(habits, lag, algorithm, process):
    """All elements have done the step: their last row is that of a run that ends at this time by itself."""
    file = habits(STATES)
    algorithm = algorithms.by_name(algorithm)
    result, series = ended(with_others(file, lag, process=process), 0.1, algorithm=algorithm)
    assert result.t_end == 0.5
    assert result.macro_steps == 5
    assert result.message == 'a asked to end the simulation at t = 0.5 s; the FMU says: "the ground is reached"'
    other, plain = with_others(file, lag), Series(NAMES)
    other.elements["a"].start["habit"] = 0
    assert (
        CoSimulation(other, Schedule(step=0.1, stop=0.5), observers=[plain], algorithm=algorithm).run().status
        == "completed"
    )
    assert np.array_equal(series.time, plain.time)
    assert np.array_equal(series.values, plain.values)


@pytest.mark.parametrize("algorithm", ["fixed_point", "quasi_newton"])
def test_an_implicit_algorithm_repeats_the_step_and_then_ends(habits, lag, algorithm):
    system = with_others(habits(STATES), lag)
    system.connect("after", "y[1]", "before", "u[1]")
    result, series = ended(system, step=0.1, algorithm=algorithms.by_name(algorithm))
    assert (result.t_end, series.values[-1, 0]) == (0.5, 0.5)


def test_threads(habits, lag):
    result, series = ended(with_others(habits(), lag), step=0.1, algorithm=algorithms.by_name("jacobi"), threads=2)
    assert (result.t_end, series.values[-1, 0]) == (0.5, 0.5)


def test_a_request_within_a_step_without_rollback(habits, lag):
    """The other elements go on to the end of the macro step, and the message says so."""
    result, series = ended(with_others(habits(), lag), step=0.2)
    assert result.t_end == pytest.approx(0.6, abs=1e-12)
    assert "within the macro step that ended at t = 0.6 s" in result.message
    assert series.values[-1, 0] == 0.5
    assert series.values[-1, 1] == pytest.approx(1.0 - np.exp(-0.6), abs=0.05)


@pytest.mark.parametrize(
    "control", [Retry(1e-4), StepControl(1e-4, 0.2, 1e-3, StepDoubling(1e-3, 1))], ids=["retry", "control"]
)
def test_a_request_within_a_step_is_met_exactly_where_steps_can_be_repeated(habits, lag, control):
    result, series = ended(with_others(habits(STATES), lag), step=0.2, control=control)
    assert result.t_end == pytest.approx(0.5, abs=1e-12)
    assert series.time[-1] == result.t_end
    assert series.values[-1, 0] == 0.5
    assert "within" not in result.message


@pytest.mark.parametrize("rate", ["substeps", "every"])
def test_at_its_own_rate(habits, lag, rate):
    system = with_others(habits(), lag)
    setattr(system.elements["a"], rate, 3)
    result, series = ended(system, step=0.1)
    assert result.t_end == pytest.approx({"substeps": 0.5, "every": 0.6}[rate], abs=1e-12)
    assert series.values[-1, 0] == 0.5


def test_the_next_run_of_a_simulation_is_not_affected(habits, lag):
    system = with_others(habits(), lag)
    with CoSimulation(system, Schedule(step=0.1, stop=1.0), observers=[Series(NAMES)]).open() as simulation:
        simulation.advance(1.0)
        assert simulation.finished
        assert simulation.finish().t_end == 0.5
        other = system.copy()
        other.elements["a"].start["habit"] = 0
        simulation.reset(other)
        simulation.advance(1.0)
        assert simulation.finish().t_end == 1.0
        simulation.reset(system)
        simulation.advance(1.0)
        assert simulation.finish().t_end == 0.5


@pytest.mark.parametrize("process", [False, True], ids=["here", "apart"])
def test_fmi_3(arrays, process):
    """Fault 2 of arrays3.c: the step that begins at 0.5 s gives fmi3OK with terminateSimulation."""
    system = Structure("three")
    system.add("a", arrays, {"fault": 2, "fault_time": 0.499, "gain": 2.0, "u[1]": 1.0}, process=process)
    series = Series(["a.y[1]"])
    result = CoSimulation(system, Schedule(step=0.01, stop=1.0), observers=[series]).run()
    assert (result.status, result.macro_steps) == ("completed", 51)
    assert result.t_end == pytest.approx(0.51, abs=1e-12)
    assert result.message == "a asked to end the simulation at t = 0.51 s"
    # y' = 2 (1 - y) by Euler's method: the last step is in the recording
    assert series.values[-1, 0] == pytest.approx(1.0 - 0.98**51, abs=1e-12)
