"""Largest and smallest values of variables, with their times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockfmu.master import loop
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Sampling
from dockfmu.master.result import Result
from dockfmu.master.system import Structure


class Peaks(Observer):
    """Fills result.peaks with {name: {"max", "t_max", "min", "t_min", "unit"}}, from one in `every` macro steps."""

    def __init__(self, variables: Sequence[str], every: int = 1) -> None:
        self.variables = tuple(variables)
        self.every = every
        self.reset()

    def reset(self) -> None:
        self._started = False
        self._latest: tuple[float, np.ndarray] | None = None

    def sampling(self, system: Structure) -> Sampling:
        self.units = [system.resolve(name)[1].unit or "1" for name in self.variables]
        return Sampling(self.variables, self.every)

    def begin(self, run: RunContext) -> None:
        count = len(self.variables)
        self.highest, self.lowest = np.full(count, -np.inf), np.full(count, np.inf)
        self.highest_time, self.lowest_time = np.full(count, run.start), np.full(count, run.start)
        self._work = np.empty((3, count))
        self._started = True

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        self._latest = float(time[-1]), values[-1].copy()
        found = self.highest, self.highest_time, self.lowest, self.lowest_time
        loop.extremes(time, values, *found, self._work)

    @property
    def latest(self) -> tuple[float, dict[str, float]] | None:
        """Return the time of the last row and its values by name, None before the first."""
        if self._latest is None:
            return None
        time, values = self._latest
        return time, dict(zip(self.variables, values.tolist(), strict=True))

    def end(self, result: Result) -> None:
        if self._started:
            for k, name in enumerate(self.variables):
                if not np.isfinite(self.highest[k]):
                    continue
                result.peaks[name] = {
                    "max": float(self.highest[k]),
                    "t_max": float(self.highest_time[k]),
                    "min": float(self.lowest[k]),
                    "t_min": float(self.lowest_time[k]),
                    "unit": self.units[k],
                }
