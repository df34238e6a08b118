"""A simulation that is reset runs again bitwise as one of its own, whatever happened before."""

import dataclasses

import numpy as np
import pytest

from master import algorithms
from master.bond import Bond
from master.errors import FmuError, MasterError, StructureError
from master.observers.audit import Audit
from master.observers.events import Event, Events
from master.observers.peaks import Peaks
from master.observers.recording.recorder import Recorder
from master.observers.series import Series
from master.run.simulation import CoSimulation
from master.step_control import PowerBonds, Retry, StepControl, StepDoubling

NAMES = ("a.y[1]", "b.y[1]", "a.count")
DO_STEP, EXIT_INITIALIZATION = 1, 4

CONTROLS = {
    "fixed": None,
    "doubling": StepControl(1e-4, 0.1, 1e-3, StepDoubling(1e-4, 1)),
    "bonds": StepControl(1e-4, 0.1, 1e-3, PowerBonds((Bond("ab", ("a.y[1]",), ("b.y[1]",)),), 1e-3)),
    "retry": Retry(1e-4),
}


def observers():
    return [Series(NAMES), Peaks(NAMES), Events({"high": Event("a.high", "rise")}), Audit(stored=["a.y[1]"])]


def with_gain(swing, gain):
    other = swing.copy()
    other.elements["a"].start["gain"] = gain
    return other


def ran(simulation, until=1.0):
    """All that a run has found, but for wall-clock times."""
    simulation.advance(until)
    result = simulation.finish()
    series = next(o for o in simulation.requests.observers if isinstance(o, Series))
    found = dataclasses.asdict(dataclasses.replace(result, wall_s=0.0, initialise_s=0.0, error=None))
    return found, series.time.tobytes(), series.values.tobytes()


def alone(system, **options):
    with CoSimulation(system, observers=observers(), **options) as simulation:
        return ran(simulation)


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("algorithm", algorithms.ALGORITHMS)
def test_reset_runs_are_bitwise_fresh_ones(swing, algorithm, control):
    options = {"step": 0.01, "algorithm": algorithms.by_name(algorithm), "control": CONTROLS[control]}
    with CoSimulation(swing, observers=observers(), **options) as simulation:
        first = ran(simulation)
        simulation.reset(with_gain(swing, 1.7))
        other = ran(simulation)
        simulation.reset(swing)
        simulation.advance(0.37)  # a run that is given up
        simulation.reset(swing)
        again = ran(simulation)
    assert first == again == alone(swing, **options)
    assert other == alone(with_gain(swing, 1.7), **options) != first


def test_with_rates_and_threads(swing):
    swing.elements["b"].substeps = 3
    options = {"step": 0.01, "threads": 2, "algorithm": algorithms.by_name("jacobi")}
    with CoSimulation(swing, observers=observers(), **options) as simulation:
        first = ran(simulation)
        simulation.reset()
        assert ran(simulation) == first == alone(swing, **options)


def test_in_a_process_of_its_own(swing):
    swing.elements["b"].process = True
    with CoSimulation(swing, observers=observers(), step=0.01) as simulation:
        first = ran(simulation, 0.2)
        simulation.reset(with_gain(swing, 2.0))
        ran(simulation, 0.2)
        simulation.reset(swing)
        assert ran(simulation, 0.2) == first


@pytest.mark.parametrize("status", [3, 4], ids=["error", "fatal"])
def test_after_a_run_that_failed(swing, status):
    broken = swing.copy()
    broken.elements["b"].start |= {"fail.function": DO_STEP, "fail.status": status, "fail.time": 0.3}
    fresh = alone(swing, step=0.01)
    with CoSimulation(swing, observers=observers(), step=0.01) as simulation:
        assert ran(simulation) == fresh
        simulation.reset(broken)
        with pytest.raises(FmuError, match="b"):
            simulation.advance(1.0)
        failed = simulation.finish()
        assert failed.status == "failed"
        assert failed.t_end == pytest.approx(0.3, abs=0.011)
        simulation.reset(swing)
        assert ran(simulation) == fresh


def test_after_an_initialisation_that_failed(swing):
    broken = swing.copy()
    broken.elements["b"].start |= {"fail.function": EXIT_INITIALIZATION, "fail.status": 3}
    fresh = alone(swing, step=0.01)
    with CoSimulation(swing, observers=observers(), step=0.01) as simulation:
        with pytest.raises(FmuError, match="fmi2ExitInitializationMode"):
            simulation.reset(broken)
        assert simulation.finish().status == "failed"
        simulation.reset(swing)
        assert ran(simulation) == fresh


def test_from_a_checkpoint_it_begins_there_again(swing):
    with CoSimulation(swing, step=0.01) as simulation:
        simulation.advance(0.5)
        checkpoint = simulation.save()
    with CoSimulation(swing, step=0.01, resume=checkpoint, observers=observers()) as simulation:
        first = ran(simulation)
        simulation.reset()
        assert simulation.time == 0.5
        assert ran(simulation) == first


def test_a_checkpoint_of_a_reset_run_is_of_its_values(swing):
    with CoSimulation(swing, step=0.01) as simulation:
        simulation.reset(with_gain(swing, 3.0))
        simulation.advance(0.1)
        checkpoint = simulation.save()
    assert [str(difference) for difference in checkpoint.differences(swing)] == [
        "a.gain: 3.0 at the checkpoint, 1.0 now"
    ]
    assert not checkpoint.differences(with_gain(swing, 3.0))


def test_refusals(swing, tmp_path):
    rewired = swing.copy()
    del rewired.connections[0]
    wrong = with_gain(swing, "much")
    with CoSimulation(swing, step=0.01, observers=[Recorder(tmp_path / "r.h5", NAMES)]) as simulation:
        with pytest.raises(StructureError, match="other start values only"):
            simulation.reset(rewired)
        with pytest.raises(StructureError, match=r"a\.gain = 'much'"):
            simulation.reset(wrong)
        with pytest.raises(MasterError, match="one run"):
            simulation.reset(swing)
    with pytest.raises(MasterError, match="is over"):
        simulation.reset()
    with pytest.raises(MasterError, match="has not begun"):
        CoSimulation(swing, step=0.01).reset()


def test_memory_stays_level(swing):
    with CoSimulation(swing, step=0.01, observers=observers()) as simulation:
        for _ in range(3):
            simulation.advance(1.0)
            simulation.finish()
            simulation.reset()
        series = simulation.requests.observers[0]
        assert len(series.time) == 1
        simulation.advance(1.0)
        assert np.isfinite(series.values).all()
        assert len(series.time) == 101
