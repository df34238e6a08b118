"""Steps of variable length, and instances with their own rates."""

import ctypes
from array import array

import numpy as np
import pytest
from scipy.linalg import expm

from benchmarks.coupling import two_masses
from benchmarks.coupling.two_masses import Masses
from dockfmu.components.oscillator import component as oscillator_component
from dockfmu.fmus import build
from dockfmu.master.algorithms import GaussSeidel, QuasiNewton
from dockfmu.master.bond import Bond
from dockfmu.master.errors import StructureError
from dockfmu.master.loop.tables import STEP
from dockfmu.master.observers.events import Event, Events
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import PowerBonds, Retry, StepControl, StepDoubling
from dockfmu.master.system import Structure

STATES = ("first.position", "first.velocity", "second.position", "second.velocity")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("controlled")
    return build(oscillator_component(), folder), build(two_masses.component(), folder)


def controlled(pair, folder, masses, control, algorithm=None, step=0.01, stop=4.0):
    file = folder / "r.h5"
    result = CoSimulation(
        masses.system(*pair),
        Schedule(step=step, stop=stop, control=control),
        algorithm=algorithm or GaussSeidel(),
        observers=[Recorder(file, STATES)],
    ).run()
    assert result.status == "completed", result.message
    with read_results(file) as results:
        return result, results.time, np.column_stack([results[name] for name in STATES])


def exact(masses, times):
    return np.array([expm(t * masses.matrix()) @ masses.start for t in times])


@pytest.mark.parametrize(
    ("algorithm", "order"), [(GaussSeidel(), 1), (GaussSeidel(linear=True), 2), (QuasiNewton(), 2)]
)
def test_the_error_follows_the_tolerance_of_step_doubling(pair, tmp_path, algorithm, order):
    masses, errors, counts = Masses(c1=0.1, c2=0.1, coupling=2.0), [], []
    for tolerance in (1e-4, 1e-5, 1e-6):
        control = StepControl(1e-6, 1.0, 1.0, StepDoubling(tolerance, order=3))
        result, times, states = controlled(pair, tmp_path, masses, control, algorithm)
        assert times[-1] == result.t_end == 4.0
        errors.append(np.abs(states - exact(masses, times)).max())
        counts.append(result.macro_steps)
    # positions that are integrated from a wrong force have an error of third order in a step, whatever the algorithm:
    # h goes with the third root of the tolerance, and the error of the run with h to the algorithm's order
    assert np.log10(counts[2] / counts[0]) / 2.0 == pytest.approx(1.0 / 3.0, abs=0.06)
    assert np.log10(errors[0] / errors[2]) / 2.0 == pytest.approx(order / 3.0, abs=0.15)


def test_steps_are_short_where_the_motion_is_fast(pair, tmp_path):
    # the second mass rings at 100 rad/s and is damped out after some tenths of a second
    masses = Masses(k1=1.0, k2=1e4, c2=30.0, coupling=10.0, start=(0.1, 0.0, 0.01, 0.0))
    control = StepControl(1e-6, 0.5, 0.5, StepDoubling(1e-4))
    result, times, _ = controlled(pair, tmp_path, masses, control, step=1e-3)
    lengths = np.diff(times)
    assert lengths[times[1:] < 0.05].mean() < 0.2 * lengths[times[1:] > 2.0].mean()
    assert result.shortest_step == pytest.approx(lengths.min(), rel=1e-9)
    assert result.longest_step == pytest.approx(lengths.max(), rel=1e-9)


def test_a_power_bond_that_is_open_is_refused(pair, tmp_path):
    masses = Masses(coupling=50.0)
    bond = Bond("spring", ("second.force",), ("first.velocity",))
    system = masses.system(*pair)
    # the bond is closed by the velocity, which nothing reads here
    control = StepControl(1e-4, 0.1, 0.1, PowerBonds((bond,), 1e-4))
    result = CoSimulation(system, Schedule(step=0.01, stop=1.0, control=control)).run()
    assert isinstance(result.error, StructureError)
    assert "first.velocity not to second" in result.message


def lags(lag, gain=1.0):
    system = Structure("lags")
    system.add("a", lag, {"gain": gain, "u[1]": 1.0})
    system.add("b", lag, {"gain": gain})
    system.connect("a", "y[1]", "b", "u[1]")
    system.connect("a", "high", "b", "enable")
    return system


def test_an_event_is_located_and_steps_grow_again(lag):
    control = StepControl(shortest=1e-4, longest=0.1, event_step=1e-3)
    events = Events({"high": Event("a.high")})
    result = CoSimulation(lags(lag, 0.01), Schedule(step=0.1, stop=100.0, control=control), observers=[events]).run()
    # y = 1 - (1 - gain h)^n comes to a half at log 2 / gain, less a step at the most
    (event,) = result.events
    assert event["t"] == pytest.approx(np.log(2.0) / 0.01, abs=0.1)
    assert result.rejected_steps > 0
    assert result.shortest_step <= 1e-3 * (1.0 + 1e-9)
    assert result.longest_step == pytest.approx(0.1)
    # by a pattern, of which the Real and the inputs are no part
    named = StepControl(1e-4, 0.1, 1e-3, locate=("a.h*",))
    assert (
        CoSimulation(lags(lag, 0.01), Schedule(step=0.1, stop=100.0, control=named)).run().macro_steps
        == result.macro_steps
    )
    # without location: steps of 0.1 alone
    control = StepControl(1e-4, 0.1, 1e-3, locate=())
    free = CoSimulation(
        lags(lag, 0.01), Schedule(step=0.1, stop=100.0, control=control), observers=[Events({"high": Event("a.high")})]
    ).run()
    assert free.rejected_steps == 0
    assert result.macro_steps - free.macro_steps < 40


def test_states_that_are_not_saved_are_gone_back_to_by_the_same_steps(lag, tmp_path, monkeypatch):
    """Runs are bitwise equal whether every state is saved or one in eight."""
    found, saved = {}, {}
    for trail in (0, 8):
        monkeypatch.setattr("dockfmu.master.tables.step_control.HISTORY", trail)
        control = StepControl(shortest=1e-4, longest=0.1, event_step=1e-3, levels={"b.y[1]": 0.1})
        recorder = Recorder(tmp_path / f"{trail}.h5")
        with CoSimulation(
            lags(lag, 0.01), Schedule(step=0.1, control=control), observers=[recorder]
        ).open() as simulation:
            instances, calls = simulation.session.tables.instances, array("q")
            original = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t)(int(instances.get_state[0]))

            @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t)
            def count(component, state, original=original, calls=calls):
                calls.append(1)
                return original(component, state)

            instances.get_state[0] = ctypes.cast(count, ctypes.c_void_p).value
            for until in (30.0, 70.0, 100.0):
                simulation.advance(until)
            saved[trail] = len(calls) / simulation.result.macro_steps
        assert simulation.result.rejected_steps > 4
        with read_results(tmp_path / f"{trail}.h5") as results:
            found[trail] = np.column_stack([results.time, results["a.y[1]"], results["b.y[1]"]])
    assert np.array_equal(found[0], found[8])
    assert saved[0] >= 1.0
    assert saved[8] < 0.3


def test_the_crossing_of_a_level_is_located(lag):
    level = 0.25
    control = StepControl(shortest=1e-4, longest=0.1, event_step=1e-3, locate=(), levels={"a.y[1]": level})
    events = Events({"above": Event("a.y[1]", "above", level)})
    result = CoSimulation(lags(lag, 0.01), Schedule(step=0.1, stop=100.0, control=control), observers=[events]).run()
    (event,) = result.events
    # the values of lags at the ends of steps of 0.1 s, and within one of these a line that is left by less than 1e-3 s
    steps = np.floor(np.log(1.0 - level) / np.log(1.0 - 0.01 * 0.1))
    before = 1.0 - (1.0 - 0.01 * 0.1) ** steps
    due = 0.1 * steps + (level - before) / (0.01 * (1.0 - before))
    assert due <= event["t"] <= due + 2e-3
    assert result.rejected_steps > 0
    assert result.shortest_step <= 1e-3 * (1.0 + 1e-9)


def test_values_that_are_not_finite_are_tried_with_shorter_steps_before_the_run_fails(lag):
    system = lags(lag)
    system.elements["a"].start["nan_time"] = 0.5
    result = CoSimulation(system, Schedule(step=0.1, stop=1.0, control=StepControl(1e-3, 0.1, 0.1, locate=()))).run()
    assert result.status == "failed"
    assert "a: " in result.message
    # all that could be had until then
    assert 0.5 - 2e-3 <= result.t_end < 0.5
    assert result.rejected_steps >= 5


def test_a_discarded_step_is_repeated_shorter(lag):
    system = lags(lag)
    # from 0.5 s on fmi2DoStep gives fmi2Discard, without having come anywhere
    system.elements["a"].start |= {"fail.function": 1, "fail.status": 2, "fail.time": 0.5}
    result = CoSimulation(system, Schedule(step=0.1, stop=1.0, control=StepControl(1e-3, 0.1, 0.1, locate=()))).run()
    assert result.status == "failed"
    assert "fmi2Discard" in result.message
    assert result.t_end == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (lambda: StepControl(0.0, 0.1, 0.1), "shortest"),
        (lambda: StepControl("a", 0.1, 0.1), "shortest, longest and event_step must be numbers, not 'a', 0.1, 0.1"),
        (lambda: StepControl(1e-3, 0.1, 0.5), "event_step"),
        (lambda: StepControl(1e-3, float("inf"), 0.5), "event_step"),
        (lambda: StepControl(1e-3, 0.1, 0.1, 3), "must be StepDoubling or PowerBonds, not 3"),
        (lambda: StepControl(1e-3, 0.1, 0.1, locate="a.y"), "locate must be a tuple of names"),
        (lambda: StepControl(1e-3, 0.1, 0.1, levels={"a.y": float("nan")}), "the level of a.y must be a finite number"),
        (lambda: StepControl(1e-3, 0.1, 0.1, levels=3), "levels must map outputs"),
        (lambda: StepDoubling(0.0), "tolerance must be positive"),
        (lambda: StepDoubling(1e-3, order=0), "order of the estimate must be positive"),
        (lambda: PowerBonds((), float("nan")), "tolerance must be positive"),
        (lambda: Retry(0.0), "shortest step must be positive"),
    ],
)
def test_values_of_step_control_that_are_refused(control, words):
    with pytest.raises(StructureError, match=words):
        control()


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (StepControl(1e-3, 0.1, 0.1, locate=("a.y[1]",)), "cannot locate a.y"),
        (StepControl(1e-3, 0.1, 0.1, levels={"a.high": 0.5}), "cannot locate a.high"),
    ],
)
def test_control_that_makes_no_sense_is_refused(lag, control, words):
    with pytest.raises(StructureError, match=words):
        CoSimulation(lags(lag), Schedule(step=0.1, stop=1.0, control=control)).run()


def test_substeps_are_those_of_a_smaller_step(lag, tmp_path):
    gains, values = {"a": 3.0, "b": 5.0}, {}
    for substeps in (1, 4):
        system = Structure("rates")
        system.add("a", lag, {"gain": gains["a"], "u[1]": 1.0}, substeps=substeps)
        system.add("b", lag, {"gain": gains["b"]})
        system.connect("a", "y[1]", "b", "u[1]")
        CoSimulation(
            system, Schedule(step=0.1 if substeps == 4 else 0.025, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]
        ).run()
        with read_results(tmp_path / "r.h5") as results:
            values[substeps] = results["a.y[1]"][:: 4 // substeps]
            assert results["a.count"][-1] == 40
    # times of the substeps are rounded otherwise, and lags do not look at them
    assert np.array_equal(values[1], values[4])


def test_a_slow_instance_gets_the_means_of_its_inputs(lag, tmp_path):
    system = Structure("rates")
    system.add("fast", lag, {"gain": 1.0, "u[1]": 1.0})
    system.add("slow", lag, {"gain": 0.5}, every=5)
    system.connect("fast", "y[1]", "slow", "u[1]")
    CoSimulation(system, Schedule(step=0.1, stop=2.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    with read_results(tmp_path / "r.h5") as results:
        fast, slow = results["fast.y[1]"][1:], results["slow.y[1]"]
        assert results["slow.count"][-1] == 4
    y, expected = 0.0, [0.0]
    for means in fast.reshape(4, 5).mean(axis=1):
        y += 0.5 * 0.5 * (means - y)
        expected += [expected[-1]] * 4 + [y]
    assert np.allclose(slow, expected, rtol=1e-13)


def test_a_slow_instance_steps_from_points_of_the_grid(lag):
    """Times and lengths accumulate no rounding: the last of a million macro steps is as exact as the first."""
    h, every, count = 1e-3, 7, 1_000_000
    system = Structure("rates")
    system.add("fast", lag)
    system.add("slow", lag, every=every)
    system.connect("fast", "y[1]", "slow", "u[1]")
    steps = array("d")

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_double, ctypes.c_double, ctypes.c_int)
    def note(component, time, length, no_rollback):
        steps.extend((time, length))
        return 0

    with CoSimulation(system, Schedule(step=h)).open() as simulation:
        slow = list(simulation.instances).index("slow")
        program = simulation.session.tables.instances.program
        rows = (program["kind"] == STEP) & (program["owner"] == slow)
        program["function"][rows] = ctypes.cast(note, ctypes.c_void_p).value
        simulation.advance(count * h)
    found = np.array(steps).reshape(-1, 2)
    assert np.array_equal(found[:, 0], h * (every * np.arange(count // every)))
    assert (found[:, 1] == every * h).all()


def test_rates_that_are_none_are_refused(lag):
    system = Structure("rates")
    system.add("a", lag, substeps=2, every=3)
    with pytest.raises(StructureError, match="is not a rate"):
        CoSimulation(system, Schedule(step=0.1, stop=1.0)).run()
