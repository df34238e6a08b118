"""The swinging-door algorithm: choose vertices of a polyline such that no sample is far from it."""

from __future__ import annotations

import numpy as np

from dockfmu.base.compiler import jit


@jit
def keep_corners(t: np.ndarray, y: np.ndarray, tolerance: float, kept: np.ndarray) -> None:
    """Mark the vertices of a polyline that passes each sample (t, y) within `tolerance`; the ends are always marked.

    The door is the range of slopes from the last kept sample that pass all samples since then within the tolerance.
    When it closes, the previous sample is kept. `kept`, of bool, has the shape of `t` and `y`.
    """
    low, high = -np.inf, np.inf
    start = 0
    kept[0] = kept[len(t) - 1] = True
    for i in range(1, len(t)):
        span = t[i] - t[start]
        upper = (y[i] + tolerance - y[start]) / span
        lower = (y[i] - tolerance - y[start]) / span
        slope = (y[i] - y[start]) / span
        if slope > high or slope < low:
            start = i - 1
            kept[start] = True
            span = t[i] - t[start]
            upper = (y[i] + tolerance - y[start]) / span
            lower = (y[i] - tolerance - y[start]) / span
            low, high = lower, upper
        else:
            low, high = max(low, lower), min(high, upper)
