"""Progress of a run, as one line on the terminal."""

from __future__ import annotations

import math
import sys
import time
from typing import TextIO

from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.result import Result

PERIOD_S = 0.2


class Progress(Observer):
    """Writes to `stream` a few times a second; silent if it is not a terminal, unless `always`."""

    def __init__(self, stream: TextIO | None = None, *, always: bool = False) -> None:
        self.stream = stream or sys.stderr
        self.active = always or self.stream.isatty()
        self._next = 0.0
        self._width = 0

    def begin(self, run: RunContext) -> None:
        self.run = run

    def progress(self, time_: float, wall: float) -> None:
        if not self.active or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + PERIOD_S
        run = self.run
        rate = (time_ - run.start) / wall if wall > 0.0 else 0.0
        known = math.isfinite(run.stop)
        left = f", {(run.stop - time_) / rate:.0f} s left" if known and rate > 0.0 else ""
        share = f" of {run.stop:g} s ({(time_ - run.start) / (run.stop - run.start):4.0%})" if known else ""
        self._write(f"{run.system.name}: t = {time_:.2f}{share}, {rate:.3g} x real time{left}")

    def end(self, result: Result) -> None:
        if self.active:
            self._write(
                f"{result.system}: {result.status} at t = {result.t_end:.3f} s after {result.wall_s:.2f} s, "
                f"{result.macro_steps} macro steps, {result.real_time_factor:.3g} x real time"
            )
            self._put("\n")

    def _write(self, line: str) -> None:
        self._put("\r" + line.ljust(self._width))
        self._width = len(line)

    def _put(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            # the terminal was closed, which does not end the run
            self.active = False
