"""Steppers, which call the compiled loop with steps of fixed or variable length."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from dockfmu.master import loop
from dockfmu.master.errors import MasterError
from dockfmu.master.loop.packing import Packed
from dockfmu.master.loop.tables import LONGEST, NEXT, NOW, SHORTEST, SWEEPS, LoopTables
from dockfmu.master.result import Result

TOLERANCE = 1e-6
"""Share of a step by which times on the grid may differ: by rounding."""


class Stepper(Protocol):
    """Calls the compiled loop."""

    @property
    def time(self) -> float:
        """The time that all instances have reached, s."""
        ...

    @property
    def step(self) -> float:
        """The length of the next step, s."""
        ...

    def __init__(self, packed: Packed, start: float, step: float, stop: float) -> None: ...

    def advance(self, until: float, first: int, count: int) -> int:
        """Take up to `count` steps, not beyond `until`, after `first` steps of the run; return how many were taken."""
        ...

    def report(self, result: Result) -> None:
        """Add the statistics of the steps to the result."""
        ...

    @property
    def grid(self) -> np.ndarray:
        """The state of the stepper that is not in the tables, for a checkpoint."""
        ...

    def set_grid(self, grid: np.ndarray) -> None:
        """Continue from a `grid`, after the tables were restored."""
        ...


class FixedSteps:
    """Step k of the grid begins at origin + k * step; a shorter step moves the origin to its end.

    With the tables of a Retry, steps that fail because of their length are retried with shorter ones.
    """

    def __init__(self, packed: Packed, start: float, step: float, stop: float = math.inf) -> None:
        self.packed, self.tables = packed, packed.content
        self.step, self.stop = step, stop
        self.time = self.origin = start
        self.done = 0
        self._loop = loop.advance_retrying if self.tables.control.rollback else loop.advance
        self._loop(packed, start, step, 0, 0, 0)

    def advance(self, until: float, first: int, count: int) -> int:
        left = math.floor((until - self.origin) / self.step + TOLERANCE) - self.done
        if left <= 0:
            if until - self.time > TOLERANCE * self.step:
                if not self._loop(self.packed, self.time, until - self.time, first, 0, 1):
                    return 0
                self.origin, self.done, self.time = until, 0, until
                self._end_within()
                return 1
            self.time = until
            return 0
        taken: int = self._loop(self.packed, self.origin, self.step, first, self.done, min(count, left))
        self.done += taken
        self.time = self.origin + self.done * self.step
        if taken == left and until == self.stop and abs(until - self.time) <= 1e-6 * self.step:
            self._end_at(until)
        self._end_within()
        return taken

    def _end_at(self, stop: float) -> None:
        """Take the stop time for the end of the grid, which may differ in the last bit: 3 * 0.1 > 0.3."""
        recording, triggers = self.tables.recording, self.tables.triggers
        for g, filled in enumerate(recording.filled):
            if filled and recording.time[g, filled - 1] == self.time:
                recording.time[g, filled - 1] = stop
        logged = triggers.event[: self.tables.report[0]["events"], 0]
        logged[logged == self.time] = stop
        self.time = stop

    def _end_within(self) -> None:
        """Take the time within a step at which an FMU asked to end the simulation."""
        if self.tables.control.rollback and self.tables.instances.asked[0]:
            self.origin = self.time = float(self.tables.control.clock[NOW])
            self.done = 0

    @property
    def grid(self) -> np.ndarray:
        return np.array([self.origin, self.done])

    def set_grid(self, grid: np.ndarray) -> None:
        self.origin, self.done = float(grid[0]), int(grid[1])
        self.time = self.origin + self.done * self.step

    def report(self, result: Result) -> None:
        _report(self.tables, result)


def origin_of(grid: np.ndarray | None) -> float:
    """Return the origin of a grid of fixed steps. Raises MasterError for an array of a checkpoint that is none."""
    if grid is None or grid.shape != (2,) or grid.dtype != np.float64 or not np.isfinite(grid).all():
        raise MasterError("the checkpoint is damaged: its 'grid' is not that of fixed steps")
    return float(grid[0])


class ControlledSteps:
    """Steps of variable length; the first is `step` long, within the bounds of the control."""

    def __init__(self, packed: Packed, start: float, step: float, stop: float = math.inf) -> None:
        self.packed, self.tables = packed, packed.content
        control = self.tables.control
        self.clock = control.clock
        self.clock[NOW] = start
        self.clock[NEXT] = min(max(step, control.shortest), control.longest)
        loop.advance_controlled(packed, start, 0, 0)

    @property
    def time(self) -> float:
        return float(self.clock[NOW])

    @property
    def step(self) -> float:
        return float(self.clock[NEXT])

    def advance(self, until: float, first: int, count: int) -> int:
        taken: int = loop.advance_controlled(self.packed, until, first, count)
        return taken

    @property
    def grid(self) -> np.ndarray:
        return np.zeros(0)  # the clock is in the tables

    def set_grid(self, grid: np.ndarray) -> None:
        pass

    def report(self, result: Result) -> None:
        _report(self.tables, result)
        if result.macro_steps:
            result.shortest_step, result.longest_step = float(self.clock[SHORTEST]), float(self.clock[LONGEST])


def _report(tables: LoopTables, result: Result) -> None:
    result.sweeps = int(tables.iteration.counters[SWEEPS])
    result.rejected_steps = int(tables.control.rejected[0])
