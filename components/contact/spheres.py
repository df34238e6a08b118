"""A sphere (or a point: radius 0) against the passive primitives on the axis x: spec/05 A1 to A4.

Each returns (depth, normal): depth > 0 in contact, normal the unit reaction on the passive unit, zero without contact.
The contact point is the deepest point of the sphere, `centre + radius * normal`. The passive surfaces open toward -x.
`components.contact.profile` treats a whole profile of them at once.
"""

from __future__ import annotations

from math import cos, sin, sqrt, tan

from components.core.kernel import kernel
from components.core.vector import ZERO

# distance to the axis, or to an edge, below which a direction is undefined
SMALL_RADIUS = 1e-9
SMALL_DISTANCE = 1e-12


@kernel
def revolve(n_x, n_r, centre, radius):
    """Return the normal (n_x, n_r) in the meridian half-plane of `centre`, at `radius` > 0, as a vector."""
    return (n_x, n_r * centre[1] / radius, n_r * centre[2] / radius)


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
