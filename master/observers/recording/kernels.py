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
def _widen_by_three(values: np.ndarray, first: int, low: np.ndarray, high: np.ndarray) -> None:
    """Widen the extremes by the values of three rows at once: each access to them costs as much as a row."""
    for k in range(values.shape[1]):
        a, b, c = values[first, k], values[first + 1, k], values[first + 2, k]
        least, most = low[k], high[k]
        least = a if a < least else least
        least = b if b < least else least
        least = c if c < least else least
        most = a if a > most else most
        most = b if b > most else most
        most = c if c > most else most
        low[k], high[k] = least, most


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
    count = i = 0
    while i < values.shape[0]:
        if not keep[i]:
            if i + 2 < values.shape[0] and not keep[i + 1] and not keep[i + 2]:
                _widen_by_three(values, i, low, high)
                i += 3
            else:
                _widen(values[i], low, high)
                i += 1
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
        i += 1
    return count


@_compiled
def lay_out(first: int, time: np.ndarray, values: np.ndarray, entries: np.ndarray, room: int, table: np.ndarray) -> int:
    """Write rows to `table`, each preceded by lines of up to `room` of its entries; return the number of lines.

    The checksums are not filled in.
    """
    line = taken = 0
    columns, width = values.shape[1], table.shape[1]
    for i in range(time.size):
        number = first + i
        while taken < entries.size and entries[taken].row + 1 < number:
            taken += 1
        while taken < entries.size and entries[taken].row < number:
            used = 0
            while used < room and taken < entries.size and entries[taken].row < number:
                entry, place = entries[taken], 2 + 3 * used
                table[line, place], table[line, place + 1] = entry.variable, entry.low
                table[line, place + 2] = entry.high
                used += 1
                taken += 1
            table[line, 0], table[line, 1] = -number, used
            for k in range(2 + 3 * used, width):
                table[line, k] = 0.0
            line += 1
        table[line, 0], table[line, 1] = number, time[i]
        for k in range(columns):
            table[line, 2 + k] = values[i, k]
        for k in range(2 + columns, width):
            table[line, k] = 0.0
        line += 1
    return line
