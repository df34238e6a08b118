"""Tables: piecewise linear functions given by points."""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel


@kernel
def segment(x, knots):
    """Return the index i of the segment [knots[i], knots[i+1]) that holds x; the first or last one outside the knots.

    `knots` rise strictly; there are at least two.
    """
    low = 0
    high = len(knots) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if x < knots[middle]:
            high = middle
        else:
            low = middle
    return low


@kernel
def interpolate(x, knots, values):
    """Return the piecewise linear value at x; the end values outside the knots."""
    last = len(knots) - 1
    if x <= knots[0]:
        return values[0]
    if x >= knots[last]:
        return values[last]
    i = segment(x, knots)
    return values[i] + (values[i + 1] - values[i]) * (x - knots[i]) / (knots[i + 1] - knots[i])


@kernel
def slope(x, knots, values):
    """Return the derivative of `interpolate` at x (from the right at a knot); 0 outside the knots."""
    if x < knots[0] or x >= knots[len(knots) - 1]:
        return 0.0
    i = segment(x, knots)
    return (values[i + 1] - values[i]) / (knots[i + 1] - knots[i])
