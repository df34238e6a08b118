"""Contact of the docking planes, and the solid length of the pushers between them (ruling R47).

The plane of the active unit is an annulus. Its pressure is summed at points on its inner and on its outer circle, of
equal weights: the sum has area and second moments of the annulus, so that it carries bending, and it is symmetric about
the planes y = 0 and z = 0. A point that lies beyond the plane x = 0 of PU, within the rim of the passive unit, bears
with the force law of all contacts. A pusher that is compressed to its solid length is a point of its own, at its tip.

Everything is in axes of PU and relative to it. The points act between the craft, like the pushers, and not through the
mechanism.
"""

from __future__ import annotations

from math import cos, fabs, pi, sin

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.field import Group, parameter, private, temporaries
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import contact_list, pairs
from dockfmu.components.physics.contact import sums as contact_sums
from dockfmu.components.physics.contact.contact_list import clear_list, list_contact
from dockfmu.components.physics.contact.force import penetration
from dockfmu.components.physics.contact.list_forces import make_forces, set_velocities
from dockfmu.components.physics.contact.losses import lost_power
from dockfmu.components.physics.contact.pairs import kind_of, set_spread_kind
from dockfmu.components.physics.contact.sums import add_forces, clear_sums
from dockfmu.components.physics.devices.pushers import COUNT
from dockfmu.components.physics.mechanics.kinematics import placement
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, axpy, cross, load, scale, store

AZIMUTHS = 16
POINTS = 2 * AZIMUTHS
# kinds of pairs, and the body that touches PU
PLANE_POINT, SOLID_PUSHER, RING = 1.0, 2.0, 0.0
NORMAL = (1.0, 0.0, 0.0)

# within the range of codes after which a mechanism halves its micro-step (R30)
PLANES = 131
PUSHER = 132

MESSAGES: dict[int, Message] = {
    PLANES: penetration("the docking planes (parameters.planes)", "parameters.planes.penetration_limit", discard=False),
    PUSHER: penetration(
        "pusher {status.index:.0f} beyond its solid length (parameters.pusher_stop)",
        "parameters.pusher_stop.penetration_limit",
        discard=False,
    ),
}


def parameters() -> tuple[Group, ...]:
    """Return the groups `planes` and `pusher_stop` of parameters; the start values are set DP-1."""
    return (
        Group(
            "planes",
            parameter("inner_radius", "m", "of the annulus that bears on the active docking plane", 0.42, minimum=0.0),
            parameter("outer_radius", "m", "of the annulus that bears on the active docking plane", 0.50, minimum=1e-3),
            parameter("rim", "m", "radius of the passive docking plane; beyond it there is no contact", 0.60,
                      minimum=1e-3),
            parameter("stiffness", "N/m", "of the whole contact", 5e7, minimum=1.0),
            parameter("damping", "N.s/m", "of the whole contact, along its normal", 1.2e5, minimum=0.0),
            parameter("friction", "1", "coefficient of friction", 0.1, minimum=0.0),
            parameter("slip_velocity", "m/s", "sliding speed below which friction fades", 5e-3, minimum=1e-9),
            parameter("penetration_limit", "m", "depth beyond which the model does not hold", 5e-3, minimum=0.0),
            description="contact of the docking planes",
        ),
        Group(
            "pusher_stop",
            parameter("travel", "m", "compression at which a pusher is solid", 0.0255, minimum=0.0),
            parameter("stiffness", "N/m", "of a solid pusher", 1e7, minimum=1.0),
            parameter("damping", "N.s/m", "of a solid pusher", 5e4, minimum=0.0),
            parameter("friction", "1", "coefficient of friction of a solid pusher", 0.1, minimum=0.0),
            parameter("slip_velocity", "m/s", "sliding speed below which friction fades", 5e-3, minimum=1e-9),
            parameter("penetration_limit", "m", "depth beyond which the model does not hold", 5e-3, minimum=0.0),
            description="pushers compressed to their solid length",
        ),
    )  # fmt: skip


def state() -> Group:
    """Return the group `plane_contact`: what touches, the sums of its forces, and its energies."""
    return Group(
        "plane_contact",
        placement("ring", "frame 0 as it would be on a stiff hatch cover, relative to PU"),
        private("depth", "m", "largest: planes, solid pushers; negative: a clearance", shape=2),
        private("number", "1", "of the solid pusher that is deepest, from 1"),
        private("touching", "1", "set of the two kinds that touched in the last micro-step"),
        temporaries(contact_list.tally(POINTS + COUNT)),
        temporaries(pairs.kinds(2)),
        temporaries(contact_sums.sums("sums", 1, "forces of planes and solid pushers")),
        private("lost_power", "W", "that damping and friction take"),
        private("dissipated", "J", "by planes and solid pushers so far"),
        private("early", "1", "micro-steps in which they touched before the drive has retracted the probe"),
    )


@kernel
def reset(c):
    """Forget all contacts and losses."""
    c.depth[0] = -1.0
    c.depth[1] = -1.0
    c.touching = 0.0
    c.dissipated = 0.0
    c.early = 0.0


@kernel
def _plane_point(p, plane_x, ring, k):
    """Return point k of the annulus, m, in PU."""
    azimuth = 2.0 * pi * (k // 2) / AZIMUTHS
    radius = p.outer_radius if k % 2 == 0 else p.inner_radius
    point = (plane_x, radius * cos(azimuth), radius * sin(azimuth))
    return add(load(ring.position), apply_transposed(load_matrix(ring.rotation), point))


@kernel
def _pusher_point(pushers, plane_x, ring, k):
    """Return the middle of pusher k in the active docking plane, m, in PU."""
    azimuth = pushers.azimuth + 2.0 * pi * k / COUNT
    point = (plane_x, pushers.radius * cos(azimuth), pushers.radius * sin(azimuth))
    return add(load(ring.position), apply_transposed(load_matrix(ring.rotation), point))


@kernel
def _within(rim, point):
    return point[1] * point[1] + point[2] * point[2] <= rim * rim


@kernel
def measure(p, pushers, stop, plane_x, c):
    """List what touches at the placed `ring`, and set both depths: a bound, as long as that is a clearance."""
    clear_list(c.tally)
    ring = c.ring
    A = load_matrix(ring.rotation)
    spread = fabs(A[1][0]) + fabs(A[2][0])
    centre = ring.position[0] + A[0][0] * plane_x
    reach = pushers.protrusion - stop.travel
    c.depth[0] = centre + p.outer_radius * spread
    c.depth[1] = centre + reach + pushers.radius * spread
    if c.depth[0] > 0.0:
        c.depth[0] = -spread * p.outer_radius
        for k in range(POINTS):
            point = _plane_point(p, plane_x, ring, k)
            if _within(p.rim, point):
                c.depth[0] = max(c.depth[0], point[0])
                if point[0] > 0.0:
                    list_contact(c.tally, PLANE_POINT, 0.0, RING, point[0], NORMAL, 1.0, point)
    if c.depth[1] > 0.0:
        c.depth[1] = -spread * pushers.radius
        for k in range(COUNT):
            point = _pusher_point(pushers, plane_x, ring, k)
            depth = point[0] + reach
            if _within(p.rim, point):
                if depth > c.depth[1]:
                    c.depth[1] = depth
                    c.number = k + 1.0
                if depth > 0.0:
                    list_contact(c.tally, SOLID_PUSHER, k + 1.0, RING, depth, NORMAL, 1.0, point)


@kernel
def check(p, stop, c, status):
    """Return 0, or the code of a depth beyond its limit, as measured."""
    if c.depth[0] > p.penetration_limit:
        return fail(status, PLANES, c.depth[0], 0)
    if c.depth[1] > stop.penetration_limit:
        return fail(status, PUSHER, c.depth[1], c.number)
    return 0


@kernel
def _touching(c, ahead):
    """Return the set of kinds that touch, as measured or within the time `ahead`, s."""
    closing = 0.0
    if ahead > 0.0:
        closing = ahead * (
            fabs(c.ring.velocity[0]) + fabs(c.ring.angular_velocity[1]) + fabs(c.ring.angular_velocity[2])
        )
    found = 0.0
    if c.depth[0] + closing > 0.0:
        found += 1.0
    if c.depth[1] + closing > 0.0:
        found += 2.0
    return found


@kernel
def newly_touching(c, ahead):
    """Return whether planes or solid pushers newly touch since the last micro-step, or would within `ahead`, s."""
    return int(_touching(c, ahead)) & ~int(c.touching) != 0


@kernel
def remember(c):
    """Remember what touched in an accepted micro-step, for `newly_touching`."""
    c.touching = _touching(c, 0.0)


@kernel
def exert(p, stop, c):
    """Set the sums of forces, stored energy and lost power of what `measure` has listed."""
    clear_sums(c.sums)
    c.lost_power = 0.0
    if c.tally.count == 0.0:
        return
    # each point of the annulus bears the same part of the whole
    set_spread_kind(kind_of(c.kind, PLANE_POINT), p, 1.0 / POINTS, p.penetration_limit, 0.0)
    set_spread_kind(kind_of(c.kind, SOLID_PUSHER), stop, 1.0, stop.penetration_limit, POINTS)
    set_velocities(c.tally, 0.0, (c.ring,))
    make_forces(c.tally, 0.0, c.kind, True)
    add_forces(c.tally, 0.0, (c.ring,), c.sums)
    c.lost_power = lost_power(c.tally)


@kernel
def place(relative, travel, rate, ring):
    """Set `ring` to frame 0 as it would be with a stiff hatch cover (ruling R44).

    `relative` is the placement of frame 0 on the cover, which is off by its `travel` (m) and `rate` (m/s).
    """
    A = load_matrix(relative.rotation)
    axis = A[0]
    shift = scale(travel, axis)
    store(axpy(-travel, axis, load(relative.position)), ring.position)
    for i in range(3):
        for j in range(3):
            ring.rotation[i, j] = relative.rotation[i, j]
    moved = axpy(-rate, axis, load(relative.velocity))
    store(add(moved, cross(shift, load(relative.angular_velocity))), ring.velocity)
    store(load(relative.angular_velocity), ring.angular_velocity)
