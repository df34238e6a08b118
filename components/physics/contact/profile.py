"""A sphere, point or segment against a whole profile of revolution about x: contact-geometry A5.

The profile is a convex chain of faces in the meridian half-plane (x, r), from the mouth (small x, large r) to the
bottom (large x, small r); the passive material lies at larger x and r. Because its section is convex, a sphere has at
most one contact with it, and the face from which the centre is farthest decides which. The material ends where the
chain does: there is none at a radius beyond the first vertex, nor, at the last face, beyond its end (ruling R57).
"""

from __future__ import annotations

from math import copysign, inf, nan, sqrt

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, dot, norm, scale

# distance to the axis, or to an edge, below which a direction is undefined
SMALL_RADIUS = 1e-9
SMALL_DISTANCE = 1e-12


def faces(count: int) -> Group:
    """Return the group `face[v]`, lines of the meridian with their normals.

    A face goes from the vertex (x, r) along (n_r, -n_x) over `length`; its normal (n_x, n_r) points into the material.
    """
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
def revolve(n_x, n_r, centre, radius):
    """Return the normal (n_x, n_r) in the meridian half-plane of `centre`, at `radius` > 0, as a vector."""
    return (n_x, n_r * centre[1] / radius, n_r * centre[2] / radius)


@kernel
def set_face(face, v, x, r, next_x, next_r):
    """Fill face v of a chain from its two vertices. Returns True if the chain is convex as far as this face."""
    dx = next_x - x
    dr = next_r - r
    length = sqrt(dx * dx + dr * dr)
    if not (length > 0.0 and dx >= 0.0 and dr <= 0.0 and next_r >= 0.0):
        return False
    f = face[v]
    f.x = x
    f.r = r
    f.n_x = -dr / length
    f.n_r = dx / length
    f.length = length
    return not (v > 0 and f.n_x * face[v - 1].n_r - f.n_r * face[v - 1].n_x > 0.0)


@kernel
def build(x, r, vertices, face):
    """Fill `face` from the `vertices` points (x, r). Returns True if they form a convex chain."""
    for v in range(vertices - 1):
        if not set_face(face, v, x[v], r[v], x[v + 1], r[v + 1]):
            return False
    return vertices >= 2


@kernel
def depth(face, count, x, r, reach):
    """Return the depth of the point (x, r) in the material, negative outside: minus its distance.

    Returns (depth, n_x, n_r, feature): the normal at the nearest point of the profile, and the face v or, as -v, the
    edge between faces v - 1 and v. Points farther than `reach` get only an upper bound of their depth, at most -reach.
    The two ends of the chain are not edges: beyond them there is no material, and the depth is -inf (ruling R57).
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
    along = (x - f.x) * n_r - (r - f.r) * n_x
    if nearest > 0.0:
        if r > face[0].r or (v == count - 1 and along > f.length):
            return -inf, 0.0, 0.0, v
        return nearest, n_x, n_r, v
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
    """Return (depth, normal, feature) of a sphere, or of a point with radius 0; see `depth`. No contact: depth <= 0."""
    d = sqrt(centre[1] * centre[1] + centre[2] * centre[2])
    below, n_x, n_r, feature = depth(face, count, centre[0], d, radius)
    if below + radius <= 0.0:
        return below + radius, ZERO, feature
    if d < SMALL_RADIUS:
        return below + radius, (1.0, 0.0, 0.0), feature
    return below + radius, revolve(n_x, n_r, centre, d), feature


@kernel
def inside(f, x, r):
    """Return the depth of the point (x, r) below the line of the face f, m; negative on the other side."""
    return (x - f.x) * f.n_x + (r - f.r) * f.n_r


@kernel
def _shallowest_face(face, count, x, r):
    """Return (depth, face) of the face below which the point (x, r) lies least deep."""
    least = inf
    v = 0
    for i in range(count):
        g = inside(face[i], x, r)
        if g < least:
            least = g
            v = i
    return least, v


@kernel
def _equally_deep(f, g, start, along):
    """Return (t_1, t_2), parameters of the points of a segment that lie equally deep below the faces f and g.

    They are nan where there is no such point. Such points have r = a + b t; r^2 = y^2 + z^2 makes it a quadratic
    equation.
    """
    n_x = f.n_x - g.n_x
    n_r = f.n_r - g.n_r
    if n_r == 0.0:
        return nan, nan
    b = -n_x / n_r
    a = (f.x * f.n_x + f.r * f.n_r - g.x * g.n_x - g.r * g.n_r) / n_r + b * start[0]
    b *= along[0]
    p = along[1] * along[1] + along[2] * along[2] - b * b
    q = start[1] * along[1] + start[2] * along[2] - a * b
    c = start[1] * start[1] + start[2] * start[2] - a * a
    root = q * q - p * c
    if root < 0.0:
        return nan, nan
    # avoids the difference of nearly equal numbers
    w = -(q + copysign(sqrt(root), q))
    if w == 0.0:
        return 0.0, nan
    return c / w, (w / p if p != 0.0 else nan)


@kernel
def _within(radius, start, along):
    """Return (begin, end), the part of a segment within a cylinder about x; begin > end if it lies outside."""
    p = along[1] * along[1] + along[2] * along[2]
    q = start[1] * along[1] + start[2] * along[2]
    c = start[1] * start[1] + start[2] * start[2] - radius * radius
    if c <= 0.0 and c + 2.0 * q + p <= 0.0:
        return 0.0, 1.0
    root = q * q - p * c
    if p == 0.0 or root < 0.0:
        return 1.0, 0.0
    half = sqrt(root)
    return max(0.0, (-q - half) / p), min(1.0, (half - q) / p)


@kernel
def _depth_of_segment(face, count, start, along):
    """Return (depth, t, v, w) of a segment: where it is deepest, and below which faces (ruling R36).

    The depth is the largest along the segment of the smallest depth below the faces: continuous, and positive exactly
    if some point of the segment is inside. Each face's depth is convex along the segment. The largest is therefore at
    an end (v == w), or where two faces v and w are equally deep, over the edge between them.
    """
    d, v = _shallowest_face(face, count, start[0], sqrt(start[1] * start[1] + start[2] * start[2]))
    end = add(start, along)
    d_end, v_end = _shallowest_face(face, count, end[0], sqrt(end[1] * end[1] + end[2] * end[2]))
    same = v == v_end
    t = 0.0
    if d_end > d:
        d = d_end
        v = v_end
        t = 1.0
    w = v
    if same:
        # one face is the nearest at both ends: no point between them lies deeper below it
        return d, t, v, w
    r_start = sqrt(start[1] * start[1] + start[2] * start[2])
    r_end = sqrt(end[1] * end[1] + end[2] * end[2])
    for i in range(1, count):
        if max(inside(face[i], start[0], r_start), inside(face[i], end[0], r_end)) <= d:
            continue
        for j in range(i):
            if max(inside(face[j], start[0], r_start), inside(face[j], end[0], r_end)) <= d:
                continue
            roots = _equally_deep(face[i], face[j], start, along)
            for k in range(2):
                if 0.0 < roots[k] < 1.0:
                    p = axpy(roots[k], along, start)
                    g, _ = _shallowest_face(face, count, p[0], sqrt(p[1] * p[1] + p[2] * p[2]))
                    if g > d:
                        d = g
                        t = roots[k]
                        v = j
                        w = i
    return d, t, v, w


@kernel
def segment_depth(face, count, start, along):
    """Return (depth, t, v, w) of a segment: where it is deepest, and below which faces.

    See `_depth_of_segment`. A part at a radius beyond the first vertex of the chain has no contact (ruling R57).
    """
    begin, end = _within(face[0].r, start, along)
    if begin == 0.0 and end == 1.0:
        return _depth_of_segment(face, count, start, along)
    if begin > end:
        return -inf, 0.0, 0, 0
    span = end - begin
    d, t, v, w = _depth_of_segment(face, count, axpy(begin, along, start), scale(span, along))
    return d, begin + span * t, v, w


@kernel
def segment_profile(face, count, start, along):
    """Return (depth, normal, gain, point) of a segment; see `segment_depth`. No contact: depth <= 0.

    `gain` times the unit `normal` is the gradient of the depth for displacements of the segment's `point`. At an end it
    is the normal of one face, gain 1. Over an edge the deepest point moves along the segment: the gradient is the mean
    of both normals, weighted so that it is perpendicular to the segment, and shorter than 1. Forces along it conserve
    energy.
    """
    d, t, v, w = segment_depth(face, count, start, along)
    point = axpy(t, along, start)
    r = sqrt(point[1] * point[1] + point[2] * point[2])
    if d <= 0.0 or r < SMALL_RADIUS:
        return d, ZERO, 1.0, point
    f = face[v]
    normal = revolve(f.n_x, f.n_r, point, r)
    if v == w:
        return d, normal, 1.0, point
    other = revolve(face[w].n_x, face[w].n_r, point, r)
    rise = dot(normal, along)
    rise_other = dot(other, along)
    share = 0.5
    if rise != rise_other:
        share = min(max(rise / (rise - rise_other), 0.0), 1.0)
    gradient = axpy(share, other, scale(1.0 - share, normal))
    gain = norm(gradient)
    return d, scale(1.0 / gain, gradient), gain, point
