"""Runs in real time: pacing by the clock, catching up when late, and the statistics of it."""

import math
import time
import tracemalloc
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from dockfmu.master.drivers.driver import Function
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.durations import Durations
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.pacing import Pacing
from dockfmu.master.requests import Pace
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from tests.master.observers.clock import Clock


def test_steps_wait_for_the_clock(alone, monkeypatch):
    clock = Clock(monkeypatch)
    result = CoSimulation(alone, Schedule(step=0.01, stop=2.0), observers=[Pacing(factor=4.0)]).run()
    # the first step sets the clock
    assert clock.now - 100.0 == pytest.approx(0.5 - 0.0025, abs=1e-4)
    assert result.realtime["overruns"] == 0
    assert result.realtime["steps"] == 199
    assert result.realtime["jitter_max_s"] < 1e-5
    assert result.summary()["realtime"]["factor"] == 4.0


class Changes(Observer):
    """Observer that notes the times of the looks, needs wall time, and changes the speed of the run once."""

    def __init__(self, clock, pace, *, wall=0.0, at=math.inf, factor=1.0):
        self.clock, self.pace, self.wall, self.at, self.factor = clock, pace, wall, at, factor
        self.looks = [0.0]

    def progress(self, time, wall):
        self.clock.now += self.wall * (time - self.looks[-1])
        self.looks.append(time)
        if time >= self.at:
            self.pace.factor, self.at = self.factor, math.inf
            self.pace.change()


def test_a_fast_run_looks_at_the_clock_as_often_as_one_at_real_time(alone, monkeypatch):
    clock, pace = Clock(monkeypatch), Pace(50.0)
    result = CoSimulation(alone, Schedule(step=0.001, stop=50.0), observers=[Pacing(chunk=10, pace=pace)]).run()
    # every 10 ms; chunks double until they last as long
    assert clock.now - 100.0 == pytest.approx(1.0, abs=1e-3)
    assert result.realtime["steps"] == pytest.approx(100, abs=8)
    assert result.realtime["overruns"] == 0


def test_a_run_that_does_not_reach_its_speed_looks_at_the_clock_as_often(alone, monkeypatch):
    clock, pace = Clock(monkeypatch), Pace(50.0)
    changes = Changes(clock, pace, wall=0.2)
    result = CoSimulation(
        alone, Schedule(step=0.001, stop=50.0), observers=[changes, Pacing(chunk=10, pace=pace)]
    ).run()
    assert clock.now - 100.0 == pytest.approx(10.0, abs=1e-2)
    assert pace.reached == pytest.approx(5.0, rel=1e-2)
    assert result.realtime["steps"] == pytest.approx(1000, rel=0.3)


def test_a_run_that_becomes_slow_looks_at_the_clock_at_each_chunk_again(alone, monkeypatch):
    clock, pace = Clock(monkeypatch), Pace(50.0)
    changes = Changes(clock, pace, at=25.0)
    CoSimulation(alone, Schedule(step=0.001, stop=26.0), observers=[changes, Pacing(chunk=10, pace=pace)]).run()
    after = [time for time in changes.looks if time >= 25.0]
    assert max(b - a for a, b in pairwise(after)) == pytest.approx(0.01)
    assert clock.now - 100.0 == pytest.approx(0.5 + (26.0 - after[0]), abs=0.02)


def test_a_run_slower_than_real_time_looks_at_the_clock_as_often(alone, monkeypatch):
    clock, pace = Clock(monkeypatch), Pace(0.2)
    changes = Changes(clock, pace)
    CoSimulation(alone, Schedule(step=0.001, stop=1.0), observers=[changes, Pacing(chunk=10, pace=pace)]).run()
    # 2 ms of the model take 10 ms
    assert max(b - a for a, b in pairwise(changes.looks[2:])) == pytest.approx(0.002)


def test_slip_loses_the_time_once(alone, monkeypatch):
    clock = Clock(monkeypatch)
    result = CoSimulation(
        alone, Schedule(step=0.01, stop=1.0), observers=[Pacing()], drivers=[clock.busy({0.5: 0.105})]
    ).run()
    real = result.realtime
    assert real["overruns"] == 1
    assert real["slipped_s"] == pytest.approx(0.095, abs=1e-4)
    assert real["late_max_s"] == real["slipped_s"]
    assert clock.now - 100.0 == pytest.approx(0.99 + 0.095, abs=1e-3)
    assert (real["t_step_max"], real["step_max_s"]) == (pytest.approx(0.51), pytest.approx(0.105, abs=1e-4))


def test_skip_catches_up(alone, monkeypatch):
    clock = Clock(monkeypatch)
    result = CoSimulation(
        alone, Schedule(step=0.01, stop=1.0), observers=[Pacing(policy="skip")], drivers=[clock.busy({0.5: 0.105})]
    ).run()
    # the late step and the nine deadlines that it missed
    assert result.realtime["overruns"] == 10
    assert result.realtime["slipped_s"] == 0.0
    assert clock.now - 100.0 == pytest.approx(0.99, abs=1e-3)


def test_stop_ends_the_run_and_says_why(alone, monkeypatch):
    clock = Clock(monkeypatch)
    result = CoSimulation(
        alone, Schedule(step=0.01, stop=1.0), observers=[Pacing(policy="stop")], drivers=[clock.busy({0.5: 0.105})]
    ).run()
    assert result.status == "stopped"
    assert result.t_end == pytest.approx(0.51)
    assert "the step to t = 0.51 s ended 95 ms late" in result.message


def test_on_the_real_clock(alone):
    """The run never takes less than its time; there is no upper bound, because the machine may be busy."""
    began = time.perf_counter()
    result = CoSimulation(alone, Schedule(step=0.005, stop=0.5), observers=[Pacing()]).run()
    assert time.perf_counter() - began >= 0.495
    assert result.realtime["steps"] == 99
    assert result.realtime["jitter_99_s"] >= 0.0


def test_values_are_those_of_a_run_that_nothing_holds(alone):
    last = []
    for observers in ([], [Pacing(factor=100.0)]):
        drivers = [Function(["a.u[1]"], lambda t: {"a.u[1]": t})]
        result = CoSimulation(
            alone, Schedule(step=0.01, stop=1.0), observers=[*observers, Last(last)], drivers=drivers
        ).run()
        assert result.status == "completed"
    assert last[0] == last[1]


class Last(Observer):
    """Observer that keeps the values after the last step."""

    chunk = 1

    def __init__(self, found):
        self.found = found

    def begin(self, run):
        self.read = run.read

    def progress(self, time, wall):
        if time > 0.995:
            self.found.append(self.read(["a.y[1]", "a.count"]))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        *(({"factor": value}, "factor") for value in (0.0, -1.0, math.nan, math.inf, "1")),
        ({"policy": "wait"}, "policy"),
        *(({"chunk": value}, "chunk") for value in (0, 1.5)),
    ],
)
def test_arguments_without_meaning_are_refused(arguments, named):
    with pytest.raises(MasterError, match=f"^{named} must be"):
        Pacing(**arguments)


def test_quantiles_from_classes_are_one_percent_too_large_at_most():
    values = np.exp(np.random.default_rng(1).normal(-7.0, 2.0, 20_000))
    durations = Durations()
    for value in values:
        durations.add(value)
    for share in (0.01, 0.5, 0.99, 1.0):
        exact = np.quantile(values, share, method="inverted_cdf")
        # classes end at powers of 1.01, in whose computation lie some last bits
        assert exact * (1.0 - 1e-9) <= durations.quantile(share) <= 1.01 * exact * (1.0 + 1e-9)
    assert durations.summary("x") == {
        "x_mean_s": pytest.approx(values.mean()),
        "x_99_s": durations.quantile(0.99),
        "x_max_s": values.max(),
    }


@pytest.mark.parametrize("value", [0.0, 1e-12, 1e9])
def test_durations_of_any_size_are_counted(value):
    durations = Durations()
    durations.add(value)
    assert durations.summary("x")["x_99_s"] == value


def test_memory_of_a_paced_run_does_not_grow():
    """Regression: 16 bytes for each look at the clock, 1.4 GB a day with steps of 1 ms."""
    pacing = Pacing(1e6)
    pacing.begin(SimpleNamespace(start=0.0))
    tracemalloc.start()
    for k in range(20_000):
        pacing.progress(1e-3 * k, 0.0)
        if k == 1000:
            before = tracemalloc.get_traced_memory()[0]
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 2000
