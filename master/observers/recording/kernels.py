"""Compiled functions of a recording: extremes between its rows, and the lines of its journal."""

from __future__ import annotations

from functools import partial

import numpy as np

from dockfmu.base.compiler import jit

_compiled = partial(jit, _nrt=False)
"""Functions behind entry points must not allocate memory."""


@_compiled
def _widen(row: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Widen the extremes by the values of a row, without branches, so that it vectorizes."""
    for k in range(row.size):
        value = row[k]
        low[k] = value if value < low[k] else low[k]
        high[k] = value if value > high[k] else high[k]


@_compiled
def fold(
    values: np.ndarray,
    keep: np.ndarray,
    row: int,
    last: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    entries: np.ndarray,
) -> int:
    """Fold rows, shape (n, m), into the extremes since the last kept row, number `row`; return the number of entries.

    `keep`, shape (n,), marks the rows to keep. An entry is made where the extremes exceed the values of two kept rows.
    """
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


@_compiled
def lay_out(first: int, time: np.ndarray, values: np.ndarray, entries: np.ndarray, room: int, table: np.ndarray) -> int:
    """Write rows to `table`, each preceded by lines of up to `room` of its entries; return the number of lines.

    The checksums are not filled in.
    """
    line = taken = 0
    for i in range(time.size):
        number = first + i
        used = room
        while taken < entries.size and entries[taken].row < number:
            entry = entries[taken]
            taken += 1
            if entry.row + 1 < number:
                continue
            if used == room:
                used = 0
                table[line, 0] = -number
                line += 1
            place = 2 + 3 * used
            table[line - 1, place], table[line - 1, place + 1] = entry.variable, entry.low
            table[line - 1, place + 2] = entry.high
            used += 1
            table[line - 1, 1] = used
        table[line, 0], table[line, 1] = number, time[i]
        for k in range(values.shape[1]):
            table[line, 2 + k] = values[i, k]
        line += 1
    return line
