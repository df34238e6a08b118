"""Search in ordered sets of primitives by bisection: contact-geometry A9 and A11.

A fragment of a cone or a torus is a set of 2^N + 1 like primitives along an arc, of which the one farthest from a
partner's axis is sought. The distance has one maximum along the arc, so N steps find it; only the primitives visited
are transformed. Indices count from 0.
"""

from __future__ import annotations

from math import cos, inf, pi, sin, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import apply_transposed
from dockfmu.components.physics.mechanics.vector import add, axpy, dot


def farthest(distance):
    """Return the search of A9 for one kind of primitive.

    It is a kernel `search(items, r, A, partner, first, last) -> (index, distance)`.

    `distance(item, r, A, partner)` is the characteristic distance of one of the `items`, whose frame is at r in PU axes
    with the rotation A (PU -> frame), to the `partner`. Erratum E21: the half next to the farther end is kept (the "two
    largest" of the source do not shrink the interval when the middle is nearest).
    """

    @kernel
    def search(items, r, A, partner, first, last):
        begin = first
        end = last
        d_begin = distance(items[begin], r, A, partner)
        d_end = distance(items[end], r, A, partner)
        middle = (begin + end) // 2
        d_middle = distance(items[middle], r, A, partner)
        if d_begin == d_middle and d_middle == d_end:
            return middle, d_middle
        while True:
            if d_begin >= d_end:
                end = middle
                d_end = d_middle
            else:
                begin = middle
                d_begin = d_middle
            if end - begin <= 1:
                break
            middle = (begin + end) // 2
            d_middle = distance(items[middle], r, A, partner)
        if d_begin >= d_end:
            return begin, d_begin
        return end, d_end

    return search


def farthest_around(distance):
    """Return the kernel of A9 for a full turn, whose first and last primitive coincide: two half-turn sectors.

    The second is searched only if the best of the first is on its border.
    """
    search = farthest(distance)

    @kernel
    def search_around(items, r, A, partner):
        last = len(items) - 1
        middle = last // 2
        index, d = search(items, r, A, partner, 0, middle)
        if 0 < index < middle:
            return index, d
        other, d_other = search(items, r, A, partner, middle, last)
        if d_other > d:
            return other, d_other
        return index, d

    return search_around


@kernel
def line_circle_distance(item, r, A, circle):
    """Return the distance from a circle's centre to the point where the line of a generatrix meets the circle's plane.

    The generatrix is (start, vector), 6 numbers in its frame.

    `circle` is (centre, axis) in PU; inf for a generatrix parallel to the plane.
    """
    centre, axis = circle
    start = add(r, apply_transposed(A, (item[0], item[1], item[2])))
    along = apply_transposed(A, (item[3], item[4], item[5]))
    den = dot(axis, along)
    if den == 0.0:
        return inf
    to_centre = (centre[0] - start[0], centre[1] - start[1], centre[2] - start[2])
    t = dot(axis, to_centre) / den
    point = axpy(t, along, start)
    offset = (point[0] - centre[0], point[1] - centre[1], point[2] - centre[2])
    return sqrt(dot(offset, offset))


@kernel
def torus_centres(radius, centres):
    """Fill `centres`, shape (2^N + 1, 3), with the sphere centres of a torus about x: azimuth from +y toward +z."""
    last = len(centres) - 1
    for i in range(last + 1):
        azimuth = 2.0 * pi * i / last
        centres[i, 0] = 0.0
        centres[i, 1] = radius * cos(azimuth)
        centres[i, 2] = radius * sin(azimuth)
