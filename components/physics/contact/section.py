"""A ball against a closed convex section, revolved about x.

The depth is a signed distance, continuous everywhere, so that spring forces along the normal keep energy (conventions
R36). As in `profile`, the depth is positive in contact, and the normal is the reaction on the section's body.
"""

from __future__ import annotations

from math import inf, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.profile import revolve
from dockfmu.components.physics.mechanics.vector import ZERO

SMALL = 1e-12
"""Distance below which a direction is undefined, m."""


@kernel
def build_section(face, count):
    """Set normals and lengths of the faces of a section, whose vertices x, r are set. Returns True if it is convex.

    An edge on the axis is no face: its length is set to 0.
    """
    for v in range(count):
        f = face[v]
        g = face[(v + 1) % count]
        dx = g.x - f.x
        dr = g.r - f.r
        length = sqrt(dx * dx + dr * dr)
        if not (length > 0.0 and f.r >= 0.0):
            return False
        f.n_x = -dr / length
        f.n_r = dx / length
        f.length = 0.0 if f.r == 0.0 and g.r == 0.0 else length
    for v in range(count):
        f = face[v]
        g = face[(v + 1) % count]
        if f.n_x * g.n_r - f.n_r * g.n_x < 0.0:
            return False
    return count >= 3


@kernel
def section_depth(face, count, x, r):
    """Return (depth, n_x, n_r) of the point (x, r) in a section: minus its distance outside, the least depth inside."""
    least = inf
    n_x = 1.0
    n_r = 0.0
    for v in range(count):
        f = face[v]
        if f.length == 0.0:
            continue
        g = (x - f.x) * f.n_x + (r - f.r) * f.n_r
        if g < least:
            least = g
            n_x = f.n_x
            n_r = f.n_r
    if least >= 0.0:
        return least, n_x, n_r
    square = inf
    near_x = 0.0
    near_r = 0.0
    for v in range(count):
        f = face[v]
        if f.length == 0.0:
            continue
        along = (x - f.x) * f.n_r - (r - f.r) * f.n_x
        along = min(max(along, 0.0), f.length)
        dx = f.x + along * f.n_r - x
        dr = f.r - along * f.n_x - r
        if dx * dx + dr * dr < square:
            square = dx * dx + dr * dr
            near_x = dx
            near_r = dr
    distance = sqrt(square)
    if distance < SMALL:
        return 0.0, n_x, n_r
    return -distance, near_x / distance, near_r / distance


@kernel
def ball_section(face, count, centre, radius):
    """Return (depth, normal) of a ball in a section of revolution; its normal is zero without contact."""
    d = sqrt(centre[1] * centre[1] + centre[2] * centre[2])
    below, n_x, n_r = section_depth(face, count, centre[0], d)
    if below + radius <= 0.0:
        return below + radius, ZERO
    if d < SMALL:
        # on the axis the reactions across it cancel
        return below + radius, (1.0 if n_x >= 0.0 else -1.0, 0.0, 0.0)
    return below + radius, revolve(n_x, n_r, centre, d)
