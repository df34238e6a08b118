"""Largest and smallest values of rows, with their times."""

from __future__ import annotations

from master.loop.compiled import compiled


@compiled
def extremes(time, values, highest, highest_time, lowest, lowest_time):
    """Take rows in: time, shape (n,), values, shape (n, m); what is known of the columns, shape (m,) each, is updated.

    Of equal values the first counts. A column that was ever NaN stays NaN.
    """
    for row in range(values.shape[0]):
        now = time[row]
        for column in range(values.shape[1]):
            value, high, low = values[row, column], highest[column], lowest[column]
            higher = (value > high) | (value != value)
            highest[column] = value if higher else high
            highest_time[column] = now if higher else highest_time[column]
            lower = (value < low) | (value != value)
            lowest[column] = value if lower else low
            lowest_time[column] = now if lower else lowest_time[column]
