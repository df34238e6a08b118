"""A sphere, point or segment against a whole profile of revolution about x: spec/05 A5.

The profile is a convex chain of faces in the meridian half-plane (x, r), from the mouth (small x, large r) to the
bottom (large x, small r); the passive material lies at larger x and r. Because its section is convex, a sphere has at
most one contact with it, and the face from which the centre is farthest decides which.
"""

from __future__ import annotations

from math import inf, sqrt

from components.contact.segments import segment_edge
from components.contact.spheres import SMALL_DISTANCE, SMALL_RADIUS, revolve
from components.core.field import Group, private
from components.core.kernel import kernel
from components.core.vector import ZERO, add


def faces(count: int) -> Group:
    """`face[v]`: from the vertex (x, r) along (n_r, -n_x) over `length`; normal (n_x, n_r) into the material."""
    return Group(
        "face",
        private("x", "m", "abscissa of the outer vertex"),
        private("r", "m", "radius of the outer vertex"),
        private("n_x", "1", "normal into the material, along x"),
        private("n_r", "1", "normal into the material, along r"),
        private("length", "m", "of the meridian"),
        count=count,
    )


@kernel
def build(x, r, vertices, face):
    """Fill `face` from the `vertices` points (x, r); True if they make a convex chain."""
    for v in range(vertices - 1):
        dx = x[v + 1] - x[v]
        dr = r[v + 1] - r[v]
        length = sqrt(dx * dx + dr * dr)
        if not (length > 0.0 and dx >= 0.0 and dr <= 0.0 and r[v + 1] >= 0.0):
            return False
        f = face[v]
        f.x = x[v]
        f.r = r[v]
        f.n_x = -dr / length
        f.n_r = dx / length
        f.length = length
        if v > 0 and f.n_x * face[v - 1].n_r - f.n_r * face[v - 1].n_x > 0.0:
            return False
    return vertices >= 2


@kernel
def depth(face, count, x, r, reach):
    """Depth of the point (x, r) in the material, negative outside: minus its distance.

    Returns (depth, n_x, n_r, feature): the normal at the nearest point of the profile, and the face v or, as -v, the
    edge between faces v - 1 and v. Points farther than `reach` get no more than an upper bound below -reach, and the
    two ends of the chain are no edges: beyond them the depth is -inf.
    """
    nearest = inf
    v = 0
    for i in range(count):
        f = face[i]
        g = (x - f.x) * f.n_x + (r - f.r) * f.n_r
        if g <= -reach:
            return g, 0.0, 0.0, i
        if g < nearest:
            nearest = g
            v = i
    f = face[v]
    n_x = f.n_x
    n_r = f.n_r
    if nearest > 0.0:
        return nearest, n_x, n_r, v
    along = (x - f.x) * n_r - (r - f.r) * n_x
    if along > f.length:
        v += 1
    elif along >= 0.0:
        return nearest, n_x, n_r, v
    if v == 0 or v == count:
        return -inf, 0.0, 0.0, v
    dx = face[v].x - x
    dr = face[v].r - r
    distance = sqrt(dx * dx + dr * dr)
    if distance < SMALL_DISTANCE:
        return 0.0, n_x, n_r, -v
    return -distance, dx / distance, dr / distance, -v


@kernel
def sphere_profile(face, count, centre, radius):
    """(depth, normal, feature) of a sphere, or of a point with radius 0; see `depth`. No contact: depth <= 0."""
    d = sqrt(centre[1] * centre[1] + centre[2] * centre[2])
    below, n_x, n_r, feature = depth(face, count, centre[0], d, radius)
    if below + radius <= 0.0:
        return below + radius, ZERO, feature
    if d < SMALL_RADIUS:
        return below + radius, (1.0, 0.0, 0.0), feature
    return below + radius, revolve(n_x, n_r, centre, d), feature


@kernel
def segment_profile(face, count, start, along):
    """(depth, normal, point) of a segment: the deepest of its ends in the faces (A1) and of its points over the edges
    (A6). It is positive exactly if some point of the segment is inside; no contact: depth <= 0.
    """
    d, normal, _ = sphere_profile(face, count, start, 0.0)
    point = start
    end = add(start, along)
    d_end, normal_end, _ = sphere_profile(face, count, end, 0.0)
    if d_end > d:
        d, normal, point = d_end, normal_end, end
    for v in range(1, count):
        edge = face[v]
        d_edge, normal_edge, crossing, _ = segment_edge(start, along, edge.x, edge.r)
        if d_edge > d:
            d, normal, point = d_edge, normal_edge, crossing
    return d, normal, point
