"""Largest and smallest values of rows, with their times."""

from __future__ import annotations

import numpy as np

from master.loop.compiled import compiled

BLOCK = 32
"""Rows of which the extremes are found before these are compared with what is known."""


@compiled
def _of_block(values, first, last, high, low, odd):
    """Extremes of the columns in the rows `first` to `last`, and which have NaN: free of branches, for vectors."""
    for column in range(values.shape[1]):
        high[column] = low[column] = values[first, column]
        odd[column] = 0
    for row in range(first, last):
        for column in range(values.shape[1]):
            value = values[row, column]
            high[column] = value if value > high[column] else high[column]
            low[column] = value if value < low[column] else low[column]
            odd[column] |= value != value


@compiled
def _when(time, values, first, column, value):
    """The time of the first row, from `first` on, that has the value."""
    row = first
    while values[row, column] != value:
        row += 1
    return time[row]


@compiled
def extremes(time, values, highest, highest_time, lowest, lowest_time):
    """Take rows in: time, shape (n,), values, shape (n, m); what is known of the columns, shape (m,) each, is updated.

    Of equal values the first counts. A column that was ever NaN stays NaN.
    """
    rows, columns = values.shape
    high, low, odd = np.empty(columns), np.empty(columns), np.empty(columns, np.int64)
    for first in range(0, rows, BLOCK):
        _of_block(values, first, min(first + BLOCK, rows), high, low, odd)
        for column in range(columns):
            if odd[column]:
                highest[column] = lowest[column] = np.nan
            if high[column] > highest[column]:
                highest[column] = high[column]
                highest_time[column] = _when(time, values, first, column, high[column])
            if low[column] < lowest[column]:
                lowest[column] = low[column]
                lowest_time[column] = _when(time, values, first, column, low[column])
