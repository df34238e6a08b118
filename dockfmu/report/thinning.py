"""Thin the points of a plot without visible loss."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from dockfmu.base.entry_points import EntryPoint

_VAST = np.errstate(over="ignore", invalid="ignore")
"""The range of a signal may be infinite, whether its samples are or not."""
_HERE = Path(__file__).parent
keep_corners = EntryPoint("dockfmu.report.swinging_door", "keep_corners", [_HERE / "swinging_door.py"])


@_VAST
def thin(t: np.ndarray, y: np.ndarray, tolerance: float = 1e-3) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices (t, y) of a polyline that passes every sample within `tolerance` times the range of y.

    `t` increases strictly. Samples that are not finite are left out. Quiet stretches reduce to their ends; the largest
    and the smallest sample are kept exactly, and so is every point that shapes an impact.
    """
    finite = np.isfinite(y)
    t, y = t[finite], y[finite].astype(np.float64)
    if len(t) < 3:
        return t, y
    bound = tolerance * max(float(np.ptp(y)), 1e-300)
    # each stretch between the extremes separately, so that both are ends of a polyline
    ends = sorted({0, int(y.argmin()), int(y.argmax()), len(t) - 1})
    kept = np.zeros(len(t), np.bool_)
    for a, b in pairwise(ends):
        keep_corners(t[a : b + 1], y[a : b + 1], bound, kept[a : b + 1])
    chosen = np.flatnonzero(kept)
    return t[chosen], y[chosen]


@_VAST
def beyond(
    t: np.ndarray, y: np.ndarray, low: np.ndarray, high: np.ndarray, tolerance: float = 1e-3, most: int = 2000
) -> np.ndarray:
    """Return intervals in which a signal leaves the line of its samples (t, y): start, end, min, max, shape (n, 4).

    `low` and `high` are its extremes since the previous sample. An interval is kept if they exceed both samples by more
    than `tolerance` times the whole range, or if it contains the largest or smallest value. Neighbouring intervals are
    joined if there are more than `most`.
    """
    if len(t) < 2 or not np.isfinite(high - low).all():
        return np.empty((0, 4))
    # the extremes of the first sample belong to a time that is not shown
    t0, t1, low, high = t[:-1], t[1:], low[1:], high[1:]
    least, greatest = np.minimum(y[:-1], y[1:]), np.maximum(y[:-1], y[1:])
    excess = np.maximum(high - greatest, least - low)
    chosen = excess > tolerance * (max(high.max(), y.max()) - min(low.min(), y.min()))
    for k in (int(low.argmin()), int(high.argmax())):
        chosen[k] |= excess[k] > 0.0
    table = np.column_stack([t0, t1, low, high])[chosen]
    group = -(-len(table) // most)
    if group > 1:
        starts = np.arange(0, len(table), group)
        ends = np.append(starts[1:], len(table)) - 1
        joined = np.minimum.reduceat(table[:, 2], starts), np.maximum.reduceat(table[:, 3], starts)
        table = np.column_stack([table[starts, 0], table[ends, 1], *joined])
    intervals: np.ndarray = table
    return intervals
