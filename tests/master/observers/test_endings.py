"""Runs that end a given time after an event, at the same step on every machine."""

import numpy as np
import pytest

from dockfmu.master.errors import StructureError
from dockfmu.master.observers.endings import EndAfterEvents
from dockfmu.master.observers.events import Event, Events
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.series import Series
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import Retry, StepControl, StepDoubling

HIGH = Event("b.y[1]", "above", 0.9)
STEP = 1e-3


def until(swing, after, events=None, **options):
    """Return the result and the recorded times of a run that ends after events."""
    events, series = events or {"high": HIGH}, Series(["b.y[1]"])
    observers = [Events(events), EndAfterEvents(events, after), series]
    result = CoSimulation(swing, Schedule(**{"step": STEP, "stop": 3.0} | options), observers=observers).run()
    return result, np.array(series.time)


@pytest.mark.parametrize("after", [0.0, 0.4 * STEP, STEP, 0.25, 0.7])
@pytest.mark.parametrize("control", [None, Retry(1e-5), StepControl(1e-5, 0.02, 1e-4, StepDoubling(1e-5))])
def test_a_run_ends_the_given_time_after_the_event(swing, after, control):
    whole, _ = until(swing, {}, control=control)
    result, time = until(swing, {"high": after}, control=control)
    assert whole.t_end == 3.0
    first = next(event["t"] for event in whole.events if event["name"] == "high")
    expected = first + round(after / STEP) * STEP
    assert result.t_end == pytest.approx(expected, abs=1e-9)
    assert time[-1] == result.t_end
    assert result.status == "completed"
    assert result.message == f"ended {after:g} s after high at t = {result.t_end:.9g} s"


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_the_end_does_not_depend_on_the_chunks_of_the_loop(swing, chunk):
    class Chunks(Observer):
        """Observer that limits the length of chunks."""

    reference, _ = until(swing, {"high": 0.1})
    short = Chunks()
    short.chunk = chunk
    events = {"high": HIGH}
    result = CoSimulation(
        swing, Schedule(step=STEP, stop=3.0), observers=[short, EndAfterEvents(events, {"high": 0.1})]
    ).run()
    assert (result.t_end, result.macro_steps) == (reference.t_end, reference.macro_steps)


def test_the_earliest_of_several_ends_counts(swing):
    events = {"high": HIGH, "low": Event("b.y[1]", "below", 0.5), "count": Event("a.count", "equals", 1000)}
    whole, _ = until(swing, {}, events)
    first = {event["name"]: event["t"] for event in reversed(whole.events)}
    for after in ({"high": 0.5, "count": 0.1}, {"high": 2.0, "count": 0.001}, {"count": 0.0, "high": 0.3}):
        result, _ = until(swing, after, events)
        name = min(after, key=lambda name: first[name] + after[name])
        assert result.t_end == pytest.approx(first[name] + after[name], abs=1e-9)
        assert f"after {name} at" in result.message


def test_an_event_that_holds_at_the_start_counts_there(swing):
    events = {"low": Event("b.y[1]", "below", 0.9)}
    result, _ = until(swing, {"low": 0.05}, events)
    assert result.events[0]["t"] == 0.0
    assert result.t_end == pytest.approx(0.05)
    at_once, time = until(swing, {"low": 0.0}, events)
    assert (at_once.macro_steps, at_once.t_end, time.tolist()) == (0, 0.0, [0.0])


def test_an_end_beyond_the_stop_time_changes_nothing(swing):
    whole, time = until(swing, {})
    late, same = until(swing, {"high": 10.0})
    assert (late.t_end, late.message, late.macro_steps) == (whole.t_end, "", whole.macro_steps)
    assert np.array_equal(time, same)


def test_another_run_of_a_simulation_begins_without_an_end(swing):
    ending = EndAfterEvents({"high": HIGH}, {"high": 0.1})
    simulation = CoSimulation(swing, Schedule(step=STEP, stop=3.0), observers=[ending]).open()
    with simulation:
        simulation.advance(3.0)
        assert simulation.finished
        first = simulation.finish()
        simulation.reset()
        assert simulation.advance(0.01) == 0.01
        assert not simulation.finished
        simulation.advance(3.0)
        assert simulation.finish().t_end == first.t_end < 1.0
        # nothing moves: the event does not come
        still = swing.copy()
        still.elements["a"].start["gain"] = 0.0
        still.elements["b"].start["gain"] = 0.0
        simulation.reset(still)
        simulation.advance(3.0)
        assert simulation.finish().t_end == 3.0


def test_an_event_of_an_unknown_signal_is_refused(swing):
    with pytest.raises(StructureError, match="event odd: b has no variable 'z'"):
        until(swing, {"odd": 0.0}, {"odd": Event("b.z", "above", 1.0)})


def test_an_observer_reads_values_at_the_start_and_at_the_end(swing):
    class Reader(Observer):
        def begin(self, run):
            self.run = run
            self.first = run.read(["b.y[1]", "a.count", "a.high"])

        def last(self):
            self.final = self.run.read(["a.count"])

    reader = Reader()
    CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[reader]).run()
    assert reader.first == [0.0, 0, False]
    assert reader.final == [10]
