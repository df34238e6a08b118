"""A simulation that is reset runs bitwise like a new one, whatever happened before."""

import dataclasses

import numpy as np
import pytest

from dockfmu.master import algorithms
from dockfmu.master.bond import Bond
from dockfmu.master.errors import FmuError, MasterError, StructureError
from dockfmu.master.observers.audit import Audit
from dockfmu.master.observers.events import Event, Events
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.peaks import Peaks
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.series import Series
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import PowerBonds, Retry, StepControl, StepDoubling

NAMES = ("a.y[1]", "b.y[1]", "a.count")
DO_STEP, GET_REAL, SET_REAL, EXIT_INITIALIZATION, GET_STATE, ABORT = 1, 2, 3, 4, 14, 11

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
    """Return all results of a run except wall-clock times."""
    simulation.advance(until)
    result = simulation.finish()
    series = next(o for o in simulation.specification.participants.observers if isinstance(o, Series))
    found = dataclasses.asdict(dataclasses.replace(result, wall_s=0.0, initialise_s=0.0, error=None))
    return found, series.time.tobytes(), series.values.tobytes()


def alone(system, schedule, **options):
    with CoSimulation(system, schedule, observers=observers(), **options).open() as simulation:
        return ran(simulation)


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("algorithm", algorithms.ALGORITHMS)
def test_reset_runs_are_bitwise_fresh_ones(swing, algorithm, control):
    schedule, options = Schedule(step=0.01, control=CONTROLS[control]), {"algorithm": algorithms.by_name(algorithm)}
    with CoSimulation(swing, schedule, observers=observers(), **options).open() as simulation:
        first = ran(simulation)
        simulation.reset(with_gain(swing, 1.7))
        other = ran(simulation)
        simulation.reset(swing)
        simulation.advance(0.37)  # a run that is given up
        simulation.reset(swing)
        again = ran(simulation)
    assert first == again == alone(swing, schedule, **options)
    assert other == alone(with_gain(swing, 1.7), schedule, **options) != first


def test_with_rates_and_threads(swing):
    swing.elements["b"].substeps = 3
    schedule, options = Schedule(step=0.01), {"threads": 2, "algorithm": algorithms.by_name("jacobi")}
    with CoSimulation(swing, schedule, observers=observers(), **options).open() as simulation:
        first = ran(simulation)
        simulation.reset()
        assert ran(simulation) == first == alone(swing, schedule, **options)


def test_in_a_process_of_its_own(swing):
    swing.elements["b"].process = True
    with CoSimulation(swing, Schedule(step=0.01), observers=observers()).open() as simulation:
        first = ran(simulation, 0.2)
        simulation.reset(with_gain(swing, 2.0))
        ran(simulation, 0.2)
        simulation.reset(swing)
        assert ran(simulation, 0.2) == first


class Saboteur(Observer):
    """Observer that raises `fault` in the first chunk of steps; with None the run continues."""

    fault = None

    def progress(self, time, wall):
        if self.fault is not None:
            raise self.fault


DISCARD, ERROR, FATAL = 2, 3, 4
FAILURES = {
    "discard": {"fail.function": DO_STEP, "fail.status": DISCARD, "fail.time": 0.3},
    "error": {"fail.function": DO_STEP, "fail.status": ERROR, "fail.time": 0.3},
    "error of an output": {"fail.function": GET_REAL, "fail.status": ERROR, "fail.time": 0.3},
    "error of an input": {"fail.function": SET_REAL, "fail.status": ERROR, "fail.time": 0.3},
    "error of a saved state": {"fail.function": GET_STATE, "fail.status": ERROR, "fail.time": 0.3},
    "error at the start": {"fail.function": EXIT_INITIALIZATION, "fail.status": ERROR},
    "not finite": {"nan_time": 0.3},
    "master": ZeroDivisionError("a fault of an observer"),
    "interrupted": KeyboardInterrupt(),
    "fatal": {"fail.function": DO_STEP, "fail.status": FATAL, "fail.time": 0.3},
    "fatal at the start": {"fail.function": EXIT_INITIALIZATION, "fail.status": FATAL},
}


def fails(simulation, swing, failure, trace):
    """Reset to a run that fails; return its result and the calls from the failure on."""
    broken, (saboteur,) = (
        swing.copy(),
        [o for o in simulation.specification.participants.observers if isinstance(o, Saboteur)],
    )
    saboteur.fault = failure if isinstance(failure, BaseException) else None
    broken.elements["b"].start |= {} if saboteur.fault else failure
    trace.write_text("")
    with pytest.raises(type(saboteur.fault) if saboteur.fault else FmuError):
        started(simulation, broken).advance(1.0)
    saboteur.fault = None
    return simulation.finish()


@pytest.fixture(scope="module")
def alone_once():
    """A function that returns what runs of `swing` alone give, without and with the gain 1.7: run once a control."""
    known = {}

    def runs(swing, control):
        if control not in known:
            schedule = Schedule(step=0.01, control=CONTROLS[control])
            known[control] = alone(swing, schedule), alone(with_gain(swing, 1.7), schedule)
        return known[control]

    return runs


def started(simulation, system):
    simulation.reset(system)
    return simulation


@pytest.mark.slow
@pytest.mark.parametrize("control", ["fixed", "doubling"])
@pytest.mark.parametrize("failure", FAILURES)
def test_after_a_run_that_failed(swing, alone_once, tmp_path, monkeypatch, failure, control):
    """After fmi2Fatal nothing of the library is called; after an error the instances are only freed."""
    if failure == "error of a saved state" and control == "fixed":
        pytest.skip("fixed steps save no state")
    trace = tmp_path / "trace"
    monkeypatch.setenv("LAG_TRACE", str(trace))
    schedule = Schedule(step=0.01, control=CONTROLS[control])
    fresh, other = alone_once(swing, control)
    with CoSimulation(swing, schedule, observers=[*observers(), Saboteur()]).open() as simulation:
        assert ran(simulation) == fresh
        loaded = simulation.instances["a"].fmu
        result = fails(simulation, swing, FAILURES[failure], trace)
        assert result.status == ("stopped" if failure == "interrupted" else "failed")
        assert result.t_end < 0.4
        calls = trace.read_text().splitlines()
        simulation.reset(swing)
        assert (simulation.instances["a"].fmu is loaded) == ("fatal" not in failure)
        called = trace.read_text().splitlines()
        again = called.index("b fmi2Instantiate", len(calls))
        if "fatal" in failure:
            assert called[len(calls)] == "a fmi2Instantiate"
            assert not [call for call in called[len(calls) : again] if call[0] == "b"]
        elif "error" in failure:
            since = called[last_fault(calls, FAILURES[failure]) : again]
            assert [call for call in since if call[0] == "b" and call != "b fmi2FreeFMUstate"] == ["b fmi2FreeInstance"]
        assert ran(simulation) == fresh
        # and once more, of another kind
        fails(simulation, swing, FAILURES["not finite"], trace)
        simulation.reset(with_gain(swing, 1.7))
        assert ran(simulation) == other


def last_fault(calls, failure):
    """Return the number of the call after the last one of the function that failed."""
    name = {
        DO_STEP: "fmi2DoStep",
        GET_REAL: "fmi2GetReal",
        SET_REAL: "fmi2SetReal",
        GET_STATE: "fmi2GetFMUstate",
        EXIT_INITIALIZATION: "fmi2ExitInitializationMode",
    }[failure["fail.function"]]
    return max(k for k, call in enumerate(calls) if call == f"b {name}") + 1


@pytest.mark.parametrize("failure", ["discard", "error", "not finite", "fatal"])
@pytest.mark.parametrize("algorithm", algorithms.ALGORITHMS)
def test_after_a_failure_with_every_algorithm(swing, algorithm, failure):
    schedule, options = Schedule(step=0.01, control=CONTROLS["bonds"]), {"algorithm": algorithms.by_name(algorithm)}
    broken = swing.copy()
    broken.elements["b"].start |= FAILURES[failure]
    fresh = alone(swing, schedule, **options)
    with CoSimulation(swing, schedule, observers=observers(), **options).open() as simulation:
        simulation.reset(broken)
        with pytest.raises(FmuError):
            simulation.advance(1.0)
        assert simulation.finish().status == "failed"
        simulation.reset(swing)
        assert ran(simulation) == fresh


@pytest.mark.parametrize("failure", ["error", "crash"])
def test_after_a_failure_in_a_process_of_its_own(swing, failure):
    """A process that has ended is restarted; one that is alive is kept."""
    swing.elements["b"].process = True
    broken = swing.copy()
    broken.elements["b"].start |= FAILURES["error"] | ({"fail.status": ABORT} if failure == "crash" else {})
    with CoSimulation(swing, Schedule(step=0.01), observers=observers()).open() as simulation:
        fresh, process = ran(simulation), simulation.instances["b"].process.pid
        simulation.reset(broken)
        with pytest.raises(FmuError):
            simulation.advance(1.0)
        simulation.reset(swing)
        assert (simulation.instances["b"].process.pid == process) == (failure == "error")
        assert ran(simulation) == fresh


def test_after_a_failure_on_threads(swing):
    schedule, options = Schedule(step=0.01), {"threads": 2, "algorithm": algorithms.by_name("jacobi")}
    broken = swing.copy()
    broken.elements["b"].start |= FAILURES["error"]
    with CoSimulation(swing, schedule, observers=observers(), **options).open() as simulation:
        simulation.reset(broken)
        with pytest.raises(FmuError):
            simulation.advance(1.0)
        simulation.reset(swing)
        assert ran(simulation) == alone(swing, schedule, **options)


def test_after_an_initialisation_that_failed(swing):
    broken = swing.copy()
    broken.elements["b"].start |= {"fail.function": EXIT_INITIALIZATION, "fail.status": 3}
    fresh = alone(swing, Schedule(step=0.01))
    with CoSimulation(swing, Schedule(step=0.01), observers=observers()).open() as simulation:
        with pytest.raises(FmuError, match="fmi2ExitInitializationMode"):
            simulation.reset(broken)
        assert simulation.finish().status == "failed"
        simulation.reset(swing)
        assert ran(simulation) == fresh


def test_from_a_checkpoint_it_begins_there_again(swing):
    with CoSimulation(swing, Schedule(step=0.01)).open() as simulation:
        simulation.advance(0.5)
        checkpoint = simulation.save()
    with CoSimulation(
        swing, Schedule(step=0.01), observers=observers(), resume=Resumption(checkpoint)
    ).open() as simulation:
        first = ran(simulation)
        simulation.reset()
        assert simulation.time == 0.5
        assert ran(simulation) == first


def test_a_checkpoint_of_a_reset_run_is_of_its_values(swing):
    with CoSimulation(swing, Schedule(step=0.01)).open() as simulation:
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
    with CoSimulation(swing, Schedule(step=0.01), observers=[Recorder(tmp_path / "r.h5", NAMES)]).open() as simulation:
        with pytest.raises(StructureError, match="other start values only"):
            simulation.reset(rewired)
        with pytest.raises(StructureError, match=r"a\.gain = 'much'"):
            simulation.reset(wrong)
        with pytest.raises(MasterError, match="one run"):
            simulation.reset(swing)
    with pytest.raises(MasterError, match="is over"):
        simulation.reset()
    with pytest.raises(MasterError, match="has not begun"):
        CoSimulation(swing, Schedule(step=0.01)).open().reset()


def test_memory_stays_level(swing):
    with CoSimulation(swing, Schedule(step=0.01), observers=observers()).open() as simulation:
        for _ in range(3):
            simulation.advance(1.0)
            simulation.finish()
            simulation.reset()
        series = simulation.specification.participants.observers[0]
        assert len(series.time) == 1
        simulation.advance(1.0)
        assert np.isfinite(series.values).all()
        assert len(series.time) == 101
