"""Verdicts on loads: pulses of known height and length against a static and a short-time limit."""

import numpy as np
import pytest

from dockfmu.master.errors import StructureError
from dockfmu.master.observers.loads import LoadLimit, LoadLimits, LoadRule
from dockfmu.master.observers.observer import RunContext
from dockfmu.master.result import Result

pytestmark = pytest.mark.quick

H = 1e-3
# peripheral-docking 11.3: compression of an interface, static and below 0.1 s
IDSS = LoadLimit(3500.0, 6500.0, 0.1, "peripheral-docking 11.3")


class Stub:
    """Stand-in for a structure whose outputs are all Real, in N."""

    class Variable:
        causality, type, unit = "output", "Real", "N"

    def resolve(self, name):
        if "missing" in name:
            raise StructureError([f"there is no {name}"])
        return None, self.Variable


def judged(values, limit=IDSS, chunks=1, time=None, decides=False):
    """Return the result of a run whose macro steps have these largest loads; the first value is that at the start."""
    values = np.asarray(values, float)
    time = H * np.arange(len(values)) if time is None else time
    observer = LoadLimits(LoadRule("mechanism", {"compression": limit}, decides))
    observer.sampling(Stub())
    observer.begin(RunContext(Stub(), {}, float(time[0]), float(time[-1]), H, "test", list, list))
    for piece in np.array_split(np.arange(len(time)), chunks):
        observer.sample(time[piece], values[piece, None])
    result = Result("test", "test", H)
    observer.end(result)
    return result


def pulse(height, steps, start=50, total=400, floor=100.0):
    """Return loads of `total` steps after the start: `steps` of them have this height, from step `start` + 1 on."""
    values = np.full(total + 1, floor)
    values[start + 1 : start + 1 + steps] = height
    return values


def entry(*arguments, **options):
    return judged(*arguments, **options).loads["limits"]["compression"]


@pytest.mark.parametrize("chunks", [1, 7, 401])
@pytest.mark.parametrize(
    ("height", "steps", "exceeds"),
    [
        (3500.0, 300, None),  # at the static limit, as long as it likes
        (3500.1, 99, None),  # above it for 99 ms
        (3500.1, 100, "static"),  # for 100 ms: no longer below 0.1 s
        (3500.1, 101, "static"),
        (6500.0, 99, None),  # at the short-time limit
        (6500.1, 1, "short"),
        (6500.1, 200, "short"),
    ],
)
def test_pulses_at_the_edges_of_the_limits(height, steps, exceeds, chunks):
    found = entry(pulse(height, steps), chunks=chunks)
    assert found["exceeds"] == exceeds
    assert found["ok"] == (exceeds is None)
    assert (found["max"], found["t_max"]) == (height, pytest.approx(51 * H))
    if height > 3500.0:
        assert found["longest"] == pytest.approx(steps * H, abs=1e-12)
        assert found["t_longest"] == pytest.approx(50 * H)
    if exceeds == "short":
        assert found["t_exceeded"] == pytest.approx(51 * H)
    if exceeds == "static":
        assert found["t_exceeded"] == pytest.approx(150 * H)


def test_a_gap_of_one_step_ends_the_time_above_the_limit():
    two = pulse(5000.0, 60) + pulse(4900.0, 60, start=111)
    assert entry(two)["ok"]
    assert entry(two)["longest"] == pytest.approx(0.06)
    whole = pulse(5000.0, 60) + pulse(4900.0, 60, start=110)
    assert entry(whole)["exceeds"] == "static"
    assert entry(whole)["longest"] == pytest.approx(0.12)


def test_times_are_those_of_steps_of_any_length():
    """Three steps of 30, 40 and 30 ms above the limit: 0.1 s."""
    time = np.array([0.0, 0.01, 0.04, 0.08, 0.11, 0.12])
    assert entry([0.0, 0.0, 4e3, 4e3, 4e3, 0.0], time=time)["longest"] == pytest.approx(0.1)
    assert entry([0.0, 0.0, 4e3, 4e3, 4e3, 0.0], time=time)["exceeds"] == "static"
    assert entry([0.0, 0.0, 4e3, 4e3, 0.0, 0.0], time=time)["ok"]


def test_a_load_at_the_start_lasts_no_time_yet():
    assert entry([4000.0, 0.0, 0.0])["ok"]
    assert entry([4000.0, 0.0, 0.0])["longest"] == 0.0
    assert entry([7000.0, 0.0, 0.0])["exceeds"] == "short"


def test_without_a_limit_for_short_times_the_static_one_is_never_exceeded():
    alone = LoadLimit(3900.0, source="peripheral-docking 11.3")
    assert entry(pulse(3900.0, 300), alone)["ok"]
    found = entry(pulse(3900.1, 1), alone)
    assert (found["exceeds"], found["t_exceeded"]) == ("static", pytest.approx(51 * H))


def test_a_load_that_is_not_a_number_is_not_within_its_limits():
    assert not entry([0.0, np.nan, 0.0])["ok"]


@pytest.mark.parametrize("decides", [False, True])
def test_loads_deny_a_success_only_if_they_decide(decides):
    good, bad = judged(pulse(100.0, 5), decides=decides), judged(pulse(7e3, 5), decides=decides)
    assert (good.loads["verdict"], good.loads["exceeded"], good.success) == ("within", [], True)
    assert (bad.loads["verdict"], bad.loads["exceeded"], bad.success) == ("exceeded", ["compression"], not decides)
    assert bad.summary()["loads"] is bad.loads


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        ({"static": 0.0}, "static = 0 must be positive"),
        ({"static": -1.0}, "static = -1.0 must be a finite number"),
        ({"static": 3.0, "short": 2.0, "short_time": 0.1}, "short = 2 is below static = 3"),
        ({"static": 3.0, "short": 4.0}, "short without short_time"),
        ({"static": 3.0, "short_time": 0.1}, "short_time = 0.1 s without short"),
        ({"static": float("inf")}, "static = inf must be a finite number"),
    ],
)
def test_limits_that_contradict_each_other_are_refused(limits, problem):
    with pytest.raises(ValueError, match=problem):
        LoadLimit(**limits)


def test_a_load_that_the_system_does_not_have_is_refused():
    observer = LoadLimits(LoadRule("missing", {"compression": IDSS}))
    unknown = LoadRule("mechanism", {"squeeze": IDSS}).problems(Stub())
    assert unknown == ["'squeeze' is none of the loads compression, tension, shear, torsion, bending"]
    assert LoadRule("mechanism", {"bending": IDSS}).problems(Stub()) == [
        "mechanism.load.bending is in N: a load in N.m is needed"
    ]
    with pytest.raises(StructureError, match=r"loads: there is no missing\.load\.compression"):
        observer.sampling(Stub())
