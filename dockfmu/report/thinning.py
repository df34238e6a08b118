"""Fewer points for a plot, none of them missed by the eye."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from base.entry_points import EntryPoint

_HERE = Path(__file__).parent
keep_corners = EntryPoint("dockfmu.report.swinging_door", "keep_corners", [_HERE / "swinging_door.py"])


def thin(t: np.ndarray, y: np.ndarray, tolerance: float = 1e-3) -> tuple[np.ndarray, np.ndarray]:
    """Return samples (t, y) of a polyline that stays within `tolerance` of the range of y from every sample.

    `t` rises strictly. Samples that are not finite are left out. Quiet stretches shrink to their ends; the largest and
    the smallest sample stay as they are, and an impact keeps every point that shapes it.
    """
    finite = np.isfinite(y)
    t, y = t[finite], y[finite].astype(np.float64)
    if len(t) < 3:
        return t, y
    bound = tolerance * max(float(np.ptp(y)), 1e-300)
    # between the extremes each by itself, so that both are ends of a polyline
    ends = sorted({0, int(y.argmin()), int(y.argmax()), len(t) - 1})
    kept = np.zeros(len(t), np.bool_)
    for a, b in pairwise(ends):
        keep_corners(t[a : b + 1], y[a : b + 1], bound, kept[a : b + 1])
    chosen = np.flatnonzero(kept)
    return t[chosen], y[chosen]


def beyond(
    t: np.ndarray, y: np.ndarray, low: np.ndarray, high: np.ndarray, tolerance: float = 1e-3, most: int = 2000
) -> np.ndarray:
    """Return where a signal leaves the line of its samples (t, y): start, end, smallest, largest value, shape (n, 4).

    `low` and `high` are its extremes since the sample before. Intervals in which they go beyond both samples by more
    than `tolerance` of the whole range are kept, those of the largest and the smallest value in any case. Neighbours
    are joined where there are more than `most`.
    """
    if len(t) < 2 or not np.isfinite(high - low).all():
        return np.empty((0, 4))
    # the extremes of the first sample are of a time that is not shown
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
    found: np.ndarray = table
    return found
