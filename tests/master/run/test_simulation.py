"""A simulation stepped by hand: equal to a run, read and set between steps, and closed after any failure."""

import math
import re
from functools import partial

import numpy as np
import pytest

from dockfmu.master.algorithms import FixedPoint
from dockfmu.master.algorithms.algorithm import Scheme
from dockfmu.master.drivers.driver import Driver, Function
from dockfmu.master.errors import FmuError, MasterError, StructureError
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation, branch
from dockfmu.master.system import Structure


@pytest.fixture
def swing(lag):
    """Return two lags that feed each other with opposite signs: a damped swing."""
    system = Structure("swing")
    system.add("a", lag, {"gain": 1.0})
    system.add("b", lag, {"gain": 1.0})
    system.connect("a", "y[1]", "b", "u[1]", factor=4.0)
    system.connect("b", "y[1]", "a", "u[1]", factor=-4.0, offset=4.0)
    return system


NAMES = ["a.y[1]", "b.y[1]", "a.count"]


def test_steps_by_hand_are_those_of_a_run(swing, tmp_path):
    result = CoSimulation(swing, Schedule(step=0.01, stop=1.0), observers=[Recorder(tmp_path / "run.h5", NAMES)]).run()
    with CoSimulation(
        swing, Schedule(step=0.01), observers=[Recorder(tmp_path / "hand.h5", NAMES)]
    ).open() as simulation:
        for k in range(1, 101):
            simulation.advance(k * 0.01)
        last = simulation.get(NAMES)
    assert simulation.result.macro_steps == result.macro_steps == 100
    with read_results(tmp_path / "run.h5") as one, read_results(tmp_path / "hand.h5") as other:
        assert np.array_equal(one.time, other.time)
        for name, value in zip(NAMES, last, strict=True):
            assert np.array_equal(one[name], other[name])
            assert one[name][-1] == value


def test_a_step_off_the_grid_is_shorter_and_moves_the_grid(swing):
    with CoSimulation(swing, Schedule(step=0.1)).open() as simulation:
        assert simulation.advance(0.25) == 0.25
        assert simulation.get(["a.count"]) == [3]
        assert simulation.advance(0.45) == pytest.approx(0.45, rel=1e-15)
        assert simulation.get(["a.count"]) == [5]
        assert simulation.advance(0.4) == simulation.time  # the past: nothing happens


def test_it_ends_at_the_stop_time_and_at_the_stop_signal(swing):
    with CoSimulation(swing, Schedule(step=0.1, stop=0.5)).open() as simulation:
        assert not simulation.finished
        assert simulation.advance(9.0) == 0.5
        assert simulation.finished
    assert simulation.result.status == "completed"
    with CoSimulation(swing, Schedule(step=0.1, stop_when="a.high")).open() as simulation:
        simulation.advance(9.0)
        assert simulation.finished
        assert simulation.time < 9.0


def test_an_input_that_nothing_sets_is_set_between_steps(alone):
    with CoSimulation(alone, Schedule(step=0.1)).open() as simulation:
        simulation.advance(0.1)
        assert simulation.get(["a.y[1]"]) == [0.0]
        simulation.set({"a.u[1]": 2.0})
        simulation.advance(0.2)
        # explicit Euler of y' = u - y
        assert simulation.get(["a.y[1]"]) == [pytest.approx(0.2, rel=1e-15)]


def test_what_cannot_be_set_is_refused_with_the_reason(swing):
    with CoSimulation(swing, Schedule(step=0.1)).open() as simulation:
        with pytest.raises(StructureError, match=r"a\.u\[1\] cannot be set from outside: it is connected to b\.y\[1\]"):
            simulation.set({"a.u[1]": 2.0})
        with pytest.raises(StructureError, match=r"a\.y\[1\] cannot be set during a run: it is a continuous output"):
            simulation.set({"a.y[1]": 2.0})


def test_a_driver_is_a_function_of_the_time_at_the_begin_of_each_step(alone):
    class Ramp(Driver):
        inputs = ("a.u[1]",)

        def values(self, time):
            return {"a.u[1]": time}

    y = 0.0
    for k in range(20):
        y += 0.1 * (k * 0.1 - y)
    with CoSimulation(alone, Schedule(step=0.1), drivers=[Ramp()]).open() as simulation:
        simulation.advance(2.0)
        assert simulation.get(["a.y[1]"]) == [pytest.approx(y, rel=1e-13)]


def test_an_observer_that_returns_a_reason_ends_the_run(swing):
    class Enough(Observer):
        chunk = 1

        def progress(self, time, wall):
            return "enough is enough" if time > 0.25 else None

    result = CoSimulation(swing, Schedule(step=0.1, stop=2.0), observers=[Enough()]).run()
    assert (result.status, result.message) == ("stopped", "enough is enough")
    assert result.t_end == pytest.approx(0.3)


def test_a_failure_inside_the_block_completes_the_result(swing, tmp_path):
    def use(simulation):
        with simulation:
            simulation.advance(0.5)
            raise ZeroDivisionError("mine")

    simulation = CoSimulation(swing, Schedule(step=0.1), observers=[Recorder(tmp_path / "r.h5", NAMES)]).open()
    with pytest.raises(ZeroDivisionError):
        use(simulation)
    assert (simulation.result.status, simulation.result.message) == ("failed", "mine")
    with read_results(tmp_path / "r.h5") as results:
        assert results.attributes["status"] == "failed"
        assert len(results.time) == 6


def test_it_must_be_entered(swing):
    with pytest.raises(MasterError, match="has not begun"):
        CoSimulation(swing, Schedule(step=0.1)).open().advance(1.0)


def test_an_fmu_that_fails_raises_from_advance(lag):
    system = Structure("bad")
    system.add("a", lag, {"fail.function": 1, "fail.status": 3, "fail.time": 0.45})
    simulation = CoSimulation(system, Schedule(step=0.1)).open()
    with pytest.raises(FmuError, match="fmi2DoStep"), simulation:
        simulation.advance(1.0)
    assert simulation.result.status == "failed"
    assert simulation.time == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("u[1]", None, "must be a finite number"),
        ("u[1]", "2.5", "must be a finite number"),
        ("u[1]", math.nan, "must be a finite number"),
        ("count_in", 2.7, "an Integer takes integers"),
        ("count_in", 2.0**31, "outside the range of 32-bit integers"),
        ("enable", 2, "must be a Boolean"),
        ("text_in", 1, "must be a String"),
    ],
)
def test_a_value_that_a_variable_does_not_take_is_refused_during_a_run(alone, variable, value, problem):
    name = f"a.{variable}"
    said = re.escape(f"{name} = {value!r}") + f".*{problem}"
    with CoSimulation(alone, Schedule(step=0.1)).open() as simulation:
        simulation.advance(0.1)
        for use in (simulation.set, partial(branch, simulation)):
            with pytest.raises(StructureError, match=said):
                use({name: value})
    result = CoSimulation(
        alone, Schedule(step=0.1, stop=1.0), drivers=[Function([name], lambda t: {name: value} if t > 0.45 else {})]
    ).run()
    assert (result.status, result.t_end) == ("failed", pytest.approx(0.5))
    assert re.search(said.replace(".*", ".*at t = 0.5 s.*"), result.message)


@pytest.mark.parametrize(("value", "expected"), [(np.float64(2.0), 2.0), (np.int32(2), 2.0), (True, 1.0)])
def test_numbers_of_numpy_are_values(alone, value, expected):
    with CoSimulation(alone, Schedule(step=0.1)).open() as simulation:
        simulation.advance(0.1)
        simulation.set({"a.u[1]": value})
        assert simulation.get(["a.u[1]"]) == [expected]


@pytest.mark.parametrize("stages", [(("a",),), (("a",), ("b",), ("a",)), (("a", "a", "b"),)])
def test_an_algorithm_that_does_not_step_each_element_once_is_refused(swing, stages):
    class Wrong:
        name = "wrong"

        def scheme(self, order):
            return Scheme(stages)

    with pytest.raises(StructureError, match="instead of each element once"):
        CoSimulation(swing, Schedule(step=0.1, stop=1.0), algorithm=Wrong()).run()


def test_a_checkpoint_tells_algorithms_of_other_settings_apart(swing):
    """Another relaxation begins a new grid of steps, as another algorithm does."""
    with CoSimulation(swing, Schedule(step=0.1), algorithm=FixedPoint()).open() as simulation:
        simulation.advance(0.3)
        checkpoint = simulation.save()
    assert checkpoint.stepping == "fixed_point"
    other = CoSimulation(
        swing, Schedule(step=0.1, stop=1.0), algorithm=FixedPoint(tolerance=1e-3), resume=Resumption(checkpoint)
    )
    assert not other.continues(checkpoint)
    assert "tolerance=0.001" in other.stepping


def test_what_goes_wrong_at_the_end_of_a_failed_run_is_a_warning(lag):
    class Last(Observer):
        def end(self, result):
            raise MasterError("last.json: cannot be written")

    system = Structure("failing")
    system.add("a", lag, {"fail.function": 1, "fail.status": 3, "fail.time": 0.5})
    result = CoSimulation(system, Schedule(step=0.1, stop=1.0), observers=[Last()]).run()
    assert result.status == "failed"
    assert "doStep" in result.message.replace("DoStep", "doStep")
    assert "last.json: cannot be written" in result.warnings
