"""Single pairs of primitives as the source has them, with its errata: contact-geometry A1 to A4 and A6 to A8.

The product treats whole profiles of revolution, and edges of petals by their ends too. These closed forms are what it
is compared with, and what the oracles of contact-geometry give numbers for. Each function returns the depth first: > 0
in contact.

A sphere (or a point: radius 0) meets the passive primitives on the axis x, which open toward -x; the normal is the unit
reaction on the passive unit, zero without contact, and the contact point is `centre + radius * normal`. A segment is a
start point and a vector.
"""

from __future__ import annotations

from math import copysign, cos, fabs, sin, sqrt, tan

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.profile import SMALL_DISTANCE, SMALL_RADIUS, revolve
from dockfmu.components.physics.contact.ring_pair.edges import closest_parameters
from dockfmu.components.physics.mechanics.vector import ZERO, axpy, cross, dot, norm, scale, subtract, unit

# relative size of a determinant below which lines count as parallel; distance below which there is no direction, m
PARALLEL = 1e-9
COINCIDENT = 1e-9


@kernel
def sphere_cone(centre, radius, x_large, r_large, r_small, half_angle):
    """Find the contact A1 of a sphere with a truncated cone with its larger base at `x_large`, 0 < half_angle < pi/2.

    The foot of the normal decides whether the face is met (the source's constant box loses contacts, erratum E8);
    distance along x from the centre (E2). On the axis the sphere bears all around, but only if it is larger than the
    hole.
    """
    s = sin(half_angle)
    c = cos(half_angle)
    d = sqrt(centre[1] * centre[1] + centre[2] * centre[2])
    apex = x_large + r_large / tan(half_angle)
    distance = (apex - d * c / s - centre[0]) * s
    foot = d + distance * c
    if distance > radius or foot < r_small or foot > r_large:
        return -1.0, ZERO
    if d < SMALL_RADIUS:
        return radius - distance, (1.0, 0.0, 0.0)
    return radius - distance, revolve(s, c, centre, d)


@kernel
def sphere_edge(centre, radius, x_edge, r_edge, outer_angle, inner_angle):
    """Find the contact A2 of a sphere with the convex edge of an outer and an inner face, outer_angle > inner_angle.

    The wedge of the two normals is exact (errata E4, E5, E8).
    """
    d = sqrt(centre[1] * centre[1] + centre[2] * centre[2])
    dx = x_edge - centre[0]
    dr = r_edge - d
    if dx * cos(inner_angle) - dr * sin(inner_angle) < 0.0 or dx * cos(outer_angle) - dr * sin(outer_angle) > 0.0:
        return -1.0, ZERO
    distance = sqrt(dx * dx + dr * dr)
    if distance > radius or distance < SMALL_DISTANCE or d < SMALL_RADIUS:
        return -1.0, ZERO
    return radius - distance, revolve(dx / distance, dr / distance, centre, d)


@kernel
def sphere_cylinder(centre, radius, x_rim, r_wall):
    """Find the contact A3 of a sphere with the wall of a socket that begins at `x_rim` (erratum E6)."""
    d = sqrt(centre[1] * centre[1] + centre[2] * centre[2])
    depth = d - (r_wall - radius)
    if centre[0] < x_rim or depth < 0.0 or d < SMALL_RADIUS:
        return -1.0, ZERO
    return depth, revolve(0.0, 1.0, centre, d)


@kernel
def sphere_plane(centre, radius, x_plane, r_inner, r_outer):
    """Find the contact A4 of a sphere with an annulus normal to x."""
    d = sqrt(centre[1] * centre[1] + centre[2] * centre[2])
    depth = centre[0] + radius - x_plane
    if d < r_inner or d > r_outer or depth < 0.0:
        return -1.0, ZERO
    return depth, (1.0, 0.0, 0.0)


@kernel
def segment_circle(start, along, centre, top, radius, sigma):
    """Find the contact A6 of a segment that should pass inside an edge circle; either of them may be the active one.

    `top` is another point of the circle's axis; `sigma` is +1 for a passive circle, -1 for an active one. Returns
    (depth, normal, point, t): the point of the segment in the plane of the circle and its parameter. Erratum E10: the
    radial direction is that of the point for any circle, and `sigma`, not the sign of n_x, orients the normal.
    """
    axis = subtract(top, centre)
    den = dot(axis, along)
    if fabs(den) <= PARALLEL * norm(axis) * norm(along):
        return -1.0, ZERO, ZERO, -1.0
    t = dot(axis, subtract(centre, start)) / den
    if t < 0.0 or t > 1.0:
        return -1.0, ZERO, ZERO, t
    point = axpy(t, along, start)
    radial = subtract(point, centre)
    d = norm(radial)
    if d <= radius:
        return d - radius, ZERO, point, t
    tangent = cross(radial, axis)
    normal = unit(cross(along, tangent))
    slope = dot(normal, radial) / d
    if sigma * slope < 0.0:
        normal = scale(-1.0, normal)
    return (d - radius) * fabs(slope), normal, point, t


@kernel
def segment_edge(start, along, x, radius):
    """Return (depth, normal, point, t) of the contact A6 for a passive circle on the axis x."""
    forward = along[0]
    if (x - start[0]) * (x - start[0] - forward) > 0.0 or fabs(forward) <= PARALLEL * norm(along):
        return -1.0, ZERO, ZERO, -1.0
    t = (x - start[0]) / forward
    point = axpy(t, along, start)
    d = sqrt(point[1] * point[1] + point[2] * point[2])
    if d <= radius:
        return d - radius, ZERO, point, t
    y = point[1] / d
    z = point[2] / d
    radial = along[1] * y + along[2] * z
    q = copysign(sqrt(forward * forward + radial * radial), forward)
    return (d - radius) * forward / q, (-radial / q, forward * y / q, forward * z / q), point, t


@kernel
def segment_segment(start_a, along_a, start_p, along_p):
    """Find the contact A7: an active and a passive edge. Returns (depth, normal, point of the passive, t_a, t_p).

    The active edge has passed through the passive one where it lies farther along x, so only opposing pairs may be
    tested.
    """
    t_a, t_p, crossing = closest_parameters(start_a, along_a, start_p, along_p)
    point = axpy(t_p, along_p, start_p)
    if not crossing or t_a < 0.0 or t_a > 1.0 or t_p < 0.0 or t_p > 1.0:
        return -1.0, ZERO, point, t_a, t_p
    d = subtract(axpy(t_a, along_a, start_a), point)
    depth = norm(d)
    if d[0] < 0.0 or depth < COINCIDENT:
        return -depth, ZERO, point, t_a, t_p
    return depth, scale(1.0 / depth, d), point, t_a, t_p


@kernel
def trapezoid_plane(root_1, root_2, top):
    """Return the normal of a trapezoid's plane through the roots of its two sides and the start of its top base."""
    return cross(subtract(root_2, root_1), subtract(top, root_1))


@kernel
def trapezoid_crossing(start_a, along_a, plane_normal, root_1, side, top, base):
    """Find where an active edge pierces a trapezoid, along its top base from side to side: the gate of A8.

    Returns (t_q, t_c): parameter on the edge, and the fraction of the top base (start `top`, vector `base`) up to the
    plane through the pierced point that is parallel to `side` and to the normal. The edge passes inside that side where
    0 <= t_q <= 1 and 0 < t_c < 1; (-1, -1) for an edge parallel to the plane. Erratum E11: only the normals are
    constants.
    """
    den = dot(plane_normal, along_a)
    if fabs(den) <= PARALLEL * norm(plane_normal) * norm(along_a):
        return -1.0, -1.0
    t_q = dot(plane_normal, subtract(root_1, start_a)) / den
    side_normal = cross(side, plane_normal)
    pierced = axpy(t_q, along_a, start_a)
    return t_q, dot(side_normal, subtract(pierced, top)) / dot(side_normal, base)


@kernel
def segment_trapezoid(start_a, along_a, plane_normal, root_1, root, side, top, base):
    """Find the contact A8 of an active edge with the side (`root`, `side`) of a passive trapezoid, with values of A7.

    Returns the same values as `segment_segment`; `root_1` is the root of the first side, whichever side is tested.
    """
    t_q, t_c = trapezoid_crossing(start_a, along_a, plane_normal, root_1, side, top, base)
    if not (0.0 <= t_q <= 1.0 and 0.0 < t_c < 1.0):
        return -1.0, ZERO, ZERO, 0.0, 0.0
    return segment_segment(start_a, along_a, root, side)
