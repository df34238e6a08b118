"""Two capsules: segments with radii; a ball is one without length.

The depth is a signed distance, continuous everywhere, so that spring forces along the normal keep energy (conventions
R36). It is positive in contact, and the normal is the reaction on the second body.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, dot, norm, scale, subtract

SMALL = 1e-12
"""Distance below which a direction is undefined, m."""


@kernel
def _share(value):
    return min(max(value, 0.0), 1.0)


@kernel
def nearest_of_segments(start, along, other_start, other):
    """Return (s, t): the nearest points start + s along and other_start + t other of two segments, or points."""
    w = subtract(start, other_start)
    a = dot(along, along)
    c = dot(other, other)
    f = dot(other, w)
    if a <= SMALL * SMALL:
        return 0.0, (_share(f / c) if c > SMALL * SMALL else 0.0)
    b = dot(along, w)
    if c <= SMALL * SMALL:
        return _share(-b / a), 0.0
    e = dot(along, other)
    size = a * c - e * e
    # parallel segments: any point of the part that they share
    s = _share((e * f - b * c) / size) if size > 1e-12 * a * c else 0.0
    t = (e * s + f) / c
    if t < 0.0:
        return _share(-b / a), 0.0
    if t > 1.0:
        return _share((e - b) / a), 1.0
    return s, t


@kernel
def capsules(start, along, radius, other_start, other, other_radius):
    """Return (depth, normal, point) of two capsules: segments with radii; balls are segments without length."""
    s, t = nearest_of_segments(start, along, other_start, other)
    first = axpy(s, along, start)
    gap = subtract(axpy(t, other, other_start), first)
    distance = norm(gap)
    depth = radius + other_radius - distance
    if depth <= 0.0 or distance < SMALL:
        return depth, ZERO, first
    normal = scale(1.0 / distance, gap)
    return depth, normal, add(first, scale(radius, normal))
