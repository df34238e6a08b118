"""Fewer points for a plot, none of them missed by the eye."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from base.compiler import jit


@jit
def _kept(t: np.ndarray, y: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the indices of a polyline that no sample leaves by more than `tolerance` (swinging door)."""
    kept = np.empty(len(t), np.int64)
    kept[0] = count = 0
    low, high = -np.inf, np.inf
    start = 0
    for i in range(1, len(t)):
        span = t[i] - t[start]
        upper = (y[i] + tolerance - y[start]) / span
        lower = (y[i] - tolerance - y[start]) / span
        slope = (y[i] - y[start]) / span
        if slope > high or slope < low:
            start = i - 1
            count += 1
            kept[count] = start
            span = t[i] - t[start]
            upper = (y[i] + tolerance - y[start]) / span
            lower = (y[i] - tolerance - y[start]) / span
            low, high = lower, upper
        else:
            low, high = max(low, lower), min(high, upper)
    count += 1
    kept[count] = len(t) - 1
    return kept[: count + 1]


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
    kept = [_kept(t[a : b + 1], y[a : b + 1], bound) + a for a, b in pairwise(ends)]
    chosen = np.unique(np.concatenate(kept))
    return t[chosen], y[chosen]
