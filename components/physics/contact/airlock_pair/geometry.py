"""Constants of the head and its cone that follow from their dimensions."""

from __future__ import annotations

from math import cos, pi, sin, sqrt, tan

from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.airlock_pair.pairs import GEOMETRY

# 90 deg, exclusive bound of the angles
RIGHT = 0.5 * pi


@kernel
def _set_face(face, x, r, x_end, r_end):
    """Fill one line of the meridian from (x, r) to (x_end, r_end), its normal on the side of larger x and r."""
    dx = x_end - x
    dr = r_end - r
    length = sqrt(dx * dx + dr * dr)
    face.x = x
    face.r = r
    face.n_x = -dr / length
    face.n_r = dx / length
    face.length = length


@kernel
def _set_generatrices(rows, x_front, r_front, x_rear, r_rear):
    """Fill the generatrices of a frustum about x: start at its front end, vector to its rear end."""
    last = len(rows) - 1
    for i in range(last + 1):
        azimuth = 2.0 * pi * i / last
        c = cos(azimuth)
        s = sin(azimuth)
        if i == last:
            c = 1.0
            s = 0.0
        rows[i, 0] = x_front
        rows[i, 1] = r_front * c
        rows[i, 2] = r_front * s
        rows[i, 3] = x_rear - x_front
        rows[i, 4] = (r_rear - r_front) * c
        rows[i, 5] = (r_rear - r_front) * s


@kernel
def _check(p):
    """Return 0, or the number of the first check in the message of GEOMETRY that fails."""
    cone, head, latch = p.cone, p.head, p.latch
    if not (cone.plane_radius > cone.mouth_radius > cone.strike_radius > 0.0 and cone.depth > 0.0):
        return 1
    if not (0.0 < cone.strike_angle < RIGHT and cone.wall_radius > cone.strike_radius and cone.bottom > cone.depth):
        return 2
    apart = head.sphere_x[0] - head.sphere_x[1]
    if not apart > abs(head.sphere_radius[1] - head.sphere_radius[0]):
        return 3
    if not (0.0 < head.shank_angle < RIGHT and head.shank_x < head.sphere_x[1]):
        return 4
    falls = latch.x[0] > latch.x[1] and latch.x[1] >= latch.x[2] and latch.x[2] >= latch.x[3]
    if not (falls and latch.r[1] > cone.strike_radius and latch.r[2] > cone.strike_radius):
        return 5
    return 0


@kernel
def set_geometry(unit):
    """Compute the group `geometry`. Returns 0, or GEOMETRY."""
    p = unit.parameters
    g = unit.geometry
    failed = _check(p)
    if failed:
        return fail(unit.status, GEOMETRY, 0.0, failed)
    cone, head = p.cone, p.head
    _set_face(g.face[0], 0.0, cone.plane_radius, 0.0, cone.mouth_radius)
    _set_face(g.face[1], 0.0, cone.mouth_radius, cone.depth, cone.strike_radius)
    rise = cone.wall_radius - cone.strike_radius
    rear = cone.depth + rise / tan(cone.strike_angle)
    _set_face(g.face[2], cone.depth, cone.strike_radius, rear, cone.wall_radius)
    # the common tangent of the spheres
    s = (head.sphere_radius[1] - head.sphere_radius[0]) / (head.sphere_x[0] - head.sphere_x[1])
    g.sine[0] = s
    g.cosine[0] = sqrt(1.0 - s * s)
    front = (head.sphere_x[0] + s * head.sphere_radius[0], g.cosine[0] * head.sphere_radius[0])
    back = (head.sphere_x[1] + s * head.sphere_radius[1], g.cosine[0] * head.sphere_radius[1])
    _set_generatrices(g.nose_cone, front[0], front[1], back[0], back[1])
    # the shank, tangent to the rear sphere, tapers backward
    s = sin(head.shank_angle)
    c = cos(head.shank_angle)
    g.sine[1] = -s
    g.cosine[1] = c
    front = (head.sphere_x[1] - s * head.sphere_radius[1], c * head.sphere_radius[1])
    end = max(0.0, front[1] - (front[0] - head.shank_x) * s / c)
    _set_generatrices(g.shank, front[0], front[1], head.shank_x, end)
    return 0
