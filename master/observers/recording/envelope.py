"""Extremes of Real variables between two recorded rows: what a recording of one row in many would miss."""

from __future__ import annotations

import numpy as np

from base.compiler import jit

EXTREMES, NAMES = "extremes", "names"
"""Group of a recording that has the extremes: one dataset for each field of ENTRY, and the names of the variables, of
which entries have the numbers."""

ENTRY = np.dtype([("row", np.uint32), ("variable", np.uint32), ("low", np.float64), ("high", np.float64)])
"""Smallest and largest value of a variable since the row before; of the last row also until the end of the run. There
is an entry only where these are not the values of the two rows."""


@jit
def _widen(row, low, high):
    """Widen the extremes by the values of a row, without branches, so that it vectorizes."""
    for k in range(row.size):
        value = row[k]
        low[k] = value if value < low[k] else low[k]
        high[k] = value if value > high[k] else high[k]


@jit
def _fold(values, keep, row, last, low, high, entries):
    """Fold rows, shape (n, m), into the extremes since the last kept row; return the number of entries."""
    count = 0
    for i in range(values.shape[0]):
        if not keep[i]:
            _widen(values[i], low, high)
            continue
        row += 1
        for k in range(values.shape[1]):
            value = values[i, k]
            least = min(value, last[k])
            most = max(value, last[k])
            if low[k] < least or high[k] > most:
                entry = entries[count]
                entry.row, entry.variable = row, k
                entry.low, entry.high = min(low[k], least), max(high[k], most)
                count += 1
            last[k], low[k], high[k] = value, np.inf, -np.inf
    return count


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
        """Take the values of all steps, shape (n, count), of which those at `keep`, shape (n,), are recorded.

        Return the entries of the recorded rows, in their order. Values that are not a number are left out.
        """
        kept = int(np.count_nonzero(keep))
        if kept * len(self._last) > len(self._room):
            self._room = np.empty(kept * len(self._last), ENTRY)
        count = _fold(np.ascontiguousarray(values), keep, self._row, self._last, self._low, self._high, self._room)
        self._row += kept
        return self._room[:count].copy()

    def rest(self) -> np.ndarray:
        """Return the entries of what came after the last kept row, as part of that row."""
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

    `values` are those of the rows, `entries` those of the variable; an entry that is there twice counts once.
    """
    low, high = values.astype(float), values.astype(float)
    low[1:], high[1:] = np.minimum(values[:-1], values[1:]), np.maximum(values[:-1], values[1:])
    np.minimum.at(low, entries["row"], entries["low"])
    np.maximum.at(high, entries["row"], entries["high"])
    return low, high
