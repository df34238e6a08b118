"""Progress of a run as messages for a caller."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.result import Result

PERIOD_S = 1.0


class ProgressMessages(Observer):
    """Calls `say` about once a second with the time reached, its share of the run, and the speed, and at the end."""

    def __init__(self, say: Callable[[str], None], period: float = PERIOD_S) -> None:
        self.say = say
        self.period = period

    def begin(self, run: RunContext) -> None:
        """Note when the run begins."""
        self._run = run
        self._next = time.monotonic() + self.period

    def progress(self, reached: float, wall: float) -> None:
        """Say how far the run is."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self.period
        run = self._run
        known = math.isfinite(run.stop)
        share = f" of {run.stop:g} s ({(reached - run.start) / (run.stop - run.start):.0%})" if known else " s"
        speed = f", {(reached - run.start) / wall:.3g} times real time" if wall > 0.0 else ""
        self.say(f"{run.system.name}: t = {reached:.3f}{share}{speed}")

    def end(self, result: Result) -> None:
        """Say how the run ended."""
        self.say(f"{result.system}: {result.outcome.replace('_', ' ')} at {result.t_end:.3f} s")
