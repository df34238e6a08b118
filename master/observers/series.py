"""Values of a run in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockfmu.base.fmi import NUMERIC_TYPES
from dockfmu.master.observers.observer import Observer
from dockfmu.master.requests import Sampling
from dockfmu.master.system import Structure


class Series(Observer):
    """Keeps `variables` (full names; by default all outputs except strings) at the start and after every `every` steps.

    `time` has the shape (rows,), `values` (rows, variables); both may be read during the run, too.
    """

    def __init__(self, variables: Sequence[str] | None = None, *, every: int = 1) -> None:
        self.variables = None if variables is None else tuple(variables)
        self.every = every
        self._time: list[np.ndarray] = [np.zeros(0)]
        self._values: list[np.ndarray] = []

    def reset(self) -> None:
        self._time = [np.zeros(0)]
        self._values = [np.zeros((0, len(self.variables or ())))]

    def detached(self) -> Series:
        """Return a copy of the values so far, independent of this observer, which goes on or begins again."""
        other = Series(self.variables, every=self.every)
        other._time, other._values = [self.time], [self.values]
        return other

    def sampling(self, system: Structure) -> Sampling:
        if self.variables is None:
            self.variables = tuple(system.select(types=NUMERIC_TYPES))
        self._values.append(np.zeros((0, len(self.variables))))
        return Sampling(self.variables, self.every)

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        self._time.append(time.copy())
        self._values.append(values.copy())

    @property
    def time(self) -> np.ndarray:
        self._time = [np.concatenate(self._time)]
        return self._time[0]

    @property
    def values(self) -> np.ndarray:
        self._values = [np.concatenate(self._values)]
        return self._values[0]
