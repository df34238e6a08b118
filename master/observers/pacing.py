"""Pacing: a run held to the wall clock."""

from __future__ import annotations

import time
from typing import Literal, get_args

from dockfmu.base.messages import shown
from dockfmu.base.numbers import is_integer, is_positive
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.durations import Durations
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Pace
from dockfmu.master.result import Result

Late = Literal["slip", "skip", "stop"]
"""What to do after a late step."""
SPIN_S = 2e-4
"""The last part of a wait, which polls the clock because sleep is not exact, s."""


class Pacing(Observer):
    """Hold a run to the wall clock, and count the macro steps that are late.

    Parameters
    ----------
    factor : float
        Simulated time per wall time; a macro step ends no earlier than this allows.
    policy : {"slip", "skip", "stop"}
        After a late step, "slip" moves all later deadlines by the lost time: the run stays behind. "skip" keeps the
        deadlines, and takes steps without waiting until the run has caught up. "stop" ends the run.
    chunk : int
        Macro steps between two looks at the clock.
    pace : Pace, optional
        Speed that changes during the run, instead of `factor`. `chunk` is then for real time: in a run that is n times
        as fast, n times as many macro steps lie between two looks, and fewer in a slower run.

    Raises
    ------
    MasterError
        For a factor or chunk that is not positive, or an unknown policy.

    Notes
    -----
    Fills result.realtime: `steps`, the number of looks; `overruns`, those after their deadlines; `slipped_s`, by which
    the deadlines were moved; `late_max_s`. For waits until a deadline, `jitter_mean_s`, `jitter_99_s` and
    `jitter_max_s` are the times by which they ended after it. For the work between two waits, `step_mean_s`,
    `step_99_s` and `step_max_s` are its durations, and `t_step_max` is the model time of the longest. The values at
    99 % come from counts in classes, and are up to 1 % too large.
    """

    def __init__(
        self,
        factor: float = 1.0,
        policy: Late = "slip",
        *,
        chunk: int = 1,
        pace: Pace | None = None,
    ) -> None:
        if not is_positive(factor):
            raise MasterError(f"factor must be a positive, finite multiple of real time, not {shown(factor)}")
        if policy not in get_args(Late):
            raise MasterError(f"policy must be one of {', '.join(get_args(Late))}, not {shown(policy)}")
        if not is_integer(chunk) or chunk < 1:
            raise MasterError(f"chunk must be a positive number of macro steps, not {shown(chunk)}")
        self.pace = Pace(factor) if pace is None else pace
        self.policy, self.chunk = policy, chunk
        self._real_time_chunk = chunk if pace is not None else None
        self._changes = 0
        self._overruns = 0
        self._slipped = self._late = 0.0
        self._jitter, self._work = Durations(), Durations()
        self._worst = self._worst_time = 0.0
        self._before = 0.0
        self._origin: float | None = None

    @property
    def factor(self) -> float:
        """Simulated time per wall time."""
        return self.pace.factor

    def reset(self) -> None:
        raise MasterError("Pacing observes one run only: create another simulation")

    def begin(self, run: RunContext) -> None:
        self._start = run.start

    def progress(self, time_: float, wall: float) -> str | None:
        now = time.perf_counter()
        if self.pace.end:
            return self.pace.end
        if self._origin is None or self._changes != self.pace.changes:
            self._changes = self.pace.changes
            # the first step sets the clock: it counts as taken in time
            self._origin = now - (time_ - self._start) / self.factor
            self._release(now, time_)
            return None
        work = now - self._released
        if work > self._worst:
            self._worst, self._worst_time = work, time_
        self._work.add(work)
        deadline = self._origin + (time_ - self._start) / self.factor
        late = now - deadline
        released = now if late > 0.0 else _wait(deadline)
        self.pace.reached = min(self.factor, (time_ - self._before) / max(released - self._released, 1e-9))
        self._release(released, time_)
        if late > 0.0:
            return self._overrun(time_, late)
        self._jitter.add(released - deadline)
        return None

    def _release(self, released: float, time_: float) -> None:
        """Let the run go on from `time_`, and choose the steps until the next look."""
        self._released, self._before = released, time_
        if self._real_time_chunk is not None:
            self.chunk = max(1, round(self._real_time_chunk * self.pace.stride * min(1.0, self.factor)))

    def _overrun(self, time_: float, late: float) -> str | None:
        self._overruns += 1
        self._late = max(self._late, late)
        if self.policy == "stop":
            return f"the step to t = {time_:.9g} s ended {1e3 * late:.3g} ms late, at {self.factor:g} times real time"
        if self.policy == "slip":
            assert self._origin is not None
            self._origin += late
            self._slipped += late
        return None

    def end(self, result: Result) -> None:
        result.realtime = {
            "factor": self.factor,
            "policy": self.policy,
            "steps": len(self._work),
            "overruns": self._overruns,
            "late_max_s": self._late,
            "slipped_s": self._slipped,
            **self._jitter.summary("jitter"),
            **self._work.summary("step"),
            "t_step_max": self._worst_time,
        }


def _wait(deadline: float) -> float:
    """Wait until `deadline`, asleep for as long as that is exact enough; return the time."""
    left = deadline - time.perf_counter()
    if left > SPIN_S:
        time.sleep(left - SPIN_S)
    while (now := time.perf_counter()) < deadline:
        pass
    return now
