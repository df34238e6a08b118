"""Extremes of Real variables between two recorded rows, which a recording of one row in many would miss."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dockfmu.base.entry_points import EntryPoint

EXTREMES, NAMES = "extremes", "names"
"""Group of a recording that holds the extremes, one dataset for each field of ENTRY, and the dataset in it with the
names of the variables, to which entries refer by number."""

ENTRY = np.dtype([("row", np.uint32), ("variable", np.uint32), ("low", np.float64), ("high", np.float64)])
"""Smallest and largest value of a variable since the row before; for the last row, also until the end of the run. An
entry exists only where these are not the values of the two rows."""
FIELDS: tuple[str, ...] = ENTRY.names or ()
"""The fields of ENTRY."""


_KERNELS = Path(__file__).with_name("kernels.py")
_fold = EntryPoint("dockfmu.master.observers.recording.kernels", "fold", [_KERNELS])


class Envelope:
    """Extremes of `count` variables since the last kept row of a recording, folded in step by step."""

    def __init__(self, count: int) -> None:
        self._row = -1
        """Number of the last kept row, from 0."""
        self._last = np.zeros(count)
        self._low, self._high = np.full(count, np.inf), np.full(count, -np.inf)
        self._room = np.empty(0, ENTRY)
        """Room for as many entries as a call may make."""

    def fold(self, values: np.ndarray, keep: np.ndarray) -> np.ndarray:
        """Fold in the values of all steps, shape (n, count), of which those marked in `keep`, shape (n,), are recorded.

        Returns the entries of the recorded rows, in their order. NaN is ignored.
        """
        kept = int(np.count_nonzero(keep))
        if kept * len(self._last) > len(self._room):
            self._room = np.empty(kept * len(self._last), ENTRY)
        extremes = self._last, self._low, self._high
        count = _fold(np.ascontiguousarray(values), keep, self._row, *extremes, self._room)
        self._row += kept
        return self._room[:count].copy()

    def rest(self) -> np.ndarray:
        """Return the entries for the steps after the last kept row, as part of that row."""
        if self._row < 0:
            return np.empty(0, ENTRY)
        beyond = np.flatnonzero((self._low < self._last) | (self._high > self._last))
        entries = np.empty(len(beyond), ENTRY)
        entries["row"], entries["variable"] = self._row, beyond
        entries["low"] = np.minimum(self._low, self._last)[beyond]
        entries["high"] = np.maximum(self._high, self._last)[beyond]
        return entries


def envelope(values: np.ndarray, entries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest value of a variable since the row before, both rows included, shape (rows,).

    `values` are those of the rows, `entries` those of the variable; duplicate entries count once.
    """
    low, high = values.astype(float), values.astype(float)
    low[1:], high[1:] = np.minimum(values[:-1], values[1:]), np.maximum(values[:-1], values[1:])
    np.minimum.at(low, entries["row"], entries["low"])
    np.maximum.at(high, entries["row"], entries["high"])
    return low, high
