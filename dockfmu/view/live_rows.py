"""The rows of a live run as they arrive; a viewer that connects late gets them first."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

MOST_ROWS = 100_000
"""Largest number of rows: 1000 s of a run at 100 rows a second. Beyond that, every other older row is dropped."""

FIRST_ROWS = 4096


class LiveRows:
    """A recording that grows. Columns are float32, those that move frames float64.

    Attributes
    ----------
    generation : int
        Number of times that older rows were thinned; row numbers of one generation mean nothing in another.
    """

    def __init__(self, about: Mapping[str, Any], file: Path, most: int = MOST_ROWS) -> None:
        """Begin with the first message of a `Feed`, and with the recording that the run writes."""
        self.file = file
        self.most = most
        self.generation = 0
        self.attributes: dict[str, Any] = {**about["attributes"], "system": about["system"], "status": "running"}
        self._variables: dict[str, dict[str, Any]] = about["variables"]
        self._parameters: dict[str, dict[str, float]] = about["parameters"]
        self.variables = list(self._variables)
        self._place = {name: k for k, name in enumerate(self.variables)}
        self._rows = 0
        self._time = np.zeros(FIRST_ROWS)
        self._values = np.zeros((len(self.variables), FIRST_ROWS), np.float32)
        self._exact: dict[str, np.ndarray] = {}

    def keep_exact(self, names: Collection[str]) -> None:
        """Keep these columns as float64 from now on; call it before the first row."""
        self._exact = {name: np.zeros(len(self._time)) for name in names if name in self._place}

    @property
    def time(self) -> np.ndarray:
        """Times of the rows, s."""
        return self._time[: self._rows]

    def attribute(self, name: str) -> dict[str, Any]:
        """Return unit, type, ... of a variable."""
        return self._variables[name]

    def parameters(self, element: str) -> dict[str, float]:
        """Return the values of the parameters of an element. Raises KeyError."""
        return self._parameters[element]

    def __contains__(self, name: str) -> bool:
        return name in self._place

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, name: str) -> np.ndarray:
        column = self._exact[name] if name in self._exact else self._values[self._place[name]]
        found: np.ndarray = column[: self._rows]
        return found

    def append(self, time: np.ndarray, values: np.ndarray) -> None:
        """Add rows: times, shape (n,), and values, shape (n, variables)."""
        while self._rows + len(time) > self.most:
            self._thin()
        first, self._rows = self._rows, self._rows + len(time)
        if self._rows > len(self._time):
            self._grow(min(max(2 * len(self._time), self._rows), self.most))
        self._time[first : self._rows] = time
        with np.errstate(over="ignore"):
            self._values[:, first : self._rows] = values.T
        for name, column in self._exact.items():
            column[first : self._rows] = values[:, self._place[name]]

    def _grow(self, room: int) -> None:
        def grown(column: np.ndarray) -> np.ndarray:
            made = np.zeros((*column.shape[:-1], room), column.dtype)
            made[..., : column.shape[-1]] = column
            return made

        self._time, self._values = grown(self._time), grown(self._values)
        self._exact = {name: grown(column) for name, column in self._exact.items()}

    def _thin(self) -> None:
        """Drop every other row of the older three quarters."""
        recent = self._rows - self._rows // 4
        kept = np.concatenate([np.arange(0, recent, 2), np.arange(recent, self._rows)])
        columns: list[np.ndarray] = [self._time, self._values, *self._exact.values()]
        for column in columns:
            column[..., : len(kept)] = column[..., kept]
        self._rows = len(kept)
        self.generation += 1
