"""The ring on its six legs: geometry, motion of the ring, and leg forces, with the generated kernels of a hexapod.

x.ring.velocity and .angular_velocity are those in the middle of a micro-step, for which accelerations are evaluated;
the group `ring_state` has those at its ends. Names: p = parameters, x = hexapod, s = ring_state.
"""

from __future__ import annotations

from math import atan2, cos, fabs, pi, sin, sqrt

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.field import Field, Group, parameter, private
from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.rotation import (
    IDENTITY,
    advance,
    angles,
    apply,
    apply_transposed,
    continued,
    from_quaternion,
    load_matrix,
    load_quaternion,
    store_matrix,
    store_quaternion,
)
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    add,
    axpy,
    cross,
    dot,
    load,
    norm,
    scale,
    store,
    subtract,
    unit,
)

LEGS = 6

DEGENERATE = 301
STROKE = 302
ROLL = 303
NOT_FINITE = 304

RING_MESSAGES = {
    DEGENERATE: Message(
        "leg {status.index:.0f} is degenerate: its ends coincide, its upper joint is folded, or it is out of reach of "
        "its crank"
    ),
    NOT_FINITE: Message("component {status.index:.0f} of the acceleration of the ring is not finite"),
}
STRUT_MESSAGES = {
    STROKE: Message(
        "leg[{status.index:.0f}].stroke = {status.value:.4g} m is outside 0 .. parameters.legs.stroke = "
        "{parameters.legs.stroke:.4g} m by more than parameters.legs.margin",
        outcome=LIMIT_EXCEEDED,
    ),
    ROLL: Message(
        "leg[{status.index:.0f}].roll = {status.value:.4g} rad exceeds parameters.legs.roll_limit = "
        "{parameters.legs.roll_limit:.4g} rad",
        outcome=LIMIT_EXCEEDED,
    ),
}
MESSAGES = {**RING_MESSAGES, **STRUT_MESSAGES}


def _screws() -> tuple[Field, ...]:
    return (
        parameter("lead", "m", "lead of the ball screws", 0.02, minimum=1e-6),
        parameter("hand", "1", "hand of the screws: +1 right, -1 left", (1.0, -1.0, 1.0, -1.0, 1.0, -1.0), shape=LEGS),
        parameter("nut_inertia", "kg.m2", "inertia of a nut and everything that it turns, reduced to the nut", 1e-4,
                  minimum=0.0),
    )  # fmt: skip


def parameters(screws: bool = True) -> tuple[Group, Group]:
    """Return the groups `ring` and `legs`; the start values are set PM-1 (peripheral-docking section 11.4).

    Without `screws`, rods slide and turn freely in their housings, and the legs have no nuts.
    """
    ring = Group(
        "ring",
        parameter("mass", "kg", "mass of the ring with petals and latches", 40.0, minimum=1e-3),
        parameter(
            "inertia",
            "kg.m2",
            "inertia of the ring about its centre of mass, ring axes",
            ((14.4, 0.0, 0.0), (0.0, 7.3, 0.0), (0.0, 0.0, 7.3)),
            shape=(3, 3),
        ),
        parameter("plane_offset", "m", "offset of the ring plane from the centre of mass, along x of the ring", 0.0),
    )
    legs = Group(
        "legs",
        parameter("base_radius", "m", "radius of the lower joints", 0.6, minimum=1e-3),
        parameter("base_angle", "rad", "half the azimuth between the lower joints of a pair", 14.0 * pi / 180.0),
        parameter("ring_radius", "m", "radius of the upper joints", 0.6, minimum=1e-3),
        parameter("ring_angle", "rad", "half the azimuth between the upper joints of a pair", pi / 4.0),
        parameter("retracted_length", "m", "length of a leg between its joints at zero stroke", 0.4, minimum=1e-3),
        parameter("stroke", "m", "stroke at the forward position", 0.24, minimum=1e-3),
        parameter("initial_stroke", "m", "stroke at the initial position IP", 0.14, minimum=0.0),
        parameter("housing_mass", "kg", "mass of one leg housing", 6.0, minimum=0.0),
        parameter("housing_centre", "m", "centre of mass of a housing from the lower joint", 0.15),
        parameter(
            "housing_inertia",
            "kg.m2",
            "inertia of a housing about its centre of mass: axial, transverse",
            (0.006, 0.08),
            shape=2,
            minimum=0.0,
        ),
        parameter("screw_mass", "kg", "mass of one screw rod", 3.0, minimum=0.0),
        parameter("screw_centre", "m", "centre of mass of a rod from the upper joint, along the leg outward", -0.2),
        parameter(
            "screw_inertia",
            "kg.m2",
            "inertia of a rod about its centre of mass: axial, transverse",
            (0.0008, 0.06),
            shape=2,
            minimum=0.0,
        ),
        *(_screws() if screws else ()),
        parameter(
            "margin",
            "m",
            "overtravel beyond the retracted and forward positions for which the model is valid",
            (0.005, 0.03),
            shape=2,
            minimum=0.0,
        ),
        parameter("roll_limit", "rad", "largest rotation of a rod for which the model is valid", pi / 3.0, minimum=0.0),
        description=f"legs U C U{' with differential ball screws' if screws else ''}; pairs at the azimuths 0, 120 and "
        "240 deg",
    )
    return ring, legs


def state() -> Group:
    """Return the group `ring_state`: motion of the ring relative to frame 0 at the ends of micro-steps."""
    return Group(
        "ring_state",
        private("quaternion", "1", "frame 0 -> ring", (1.0, 0.0, 0.0, 0.0), shape=4),
        private("velocity", "m/s", "velocity of the centre of mass, frame 0", shape=3),
        private("angular_velocity", "rad/s", "angular velocity, ring axes", shape=3),
        private("acceleration", "1", "derivatives of velocity and angular velocity in the last micro-step", shape=6),
        private("viscous", "J", "energy dissipated by the damping of the legs"),
    )


@kernel
def azimuth(k, half):
    """Return the azimuth of a joint of leg k, counted from 0; the first leg of a pair has the smaller azimuth."""
    return (k // 2) * (2.0 * pi / 3.0) + (half if k % 2 == 1 else -half)


@kernel
def _joints(p, k):
    """Return (lower joint in frame 0, upper joint in ring axes) of leg k, m."""
    a = azimuth(k, p.base_angle)
    b = azimuth(k, p.ring_angle)
    lower = (0.0, p.base_radius * cos(a), p.base_radius * sin(a))
    return lower, (0.0, p.ring_radius * cos(b), p.ring_radius * sin(b))


@kernel
def across(p):
    """Return the distance between the joints of a leg transverse to the axis, for an aligned ring, m."""
    lower, upper = _joints(p, 0)
    return norm(subtract(upper, lower))


@kernel
def height(p, stroke):
    """Return the height of an aligned ring above the lower joints, m, for this `stroke` of all legs; NaN if none."""
    wide = across(p)
    length = p.retracted_length + stroke
    return sqrt(length * length - wide * wide)


@kernel
def _with_nut(p, c, k):
    c.nut_ratio = p.hand[k] * 2.0 * pi / p.lead
    c.nut_inertia = p.nut_inertia


@kernel
def _without_nut(p, c, k):
    c.nut_ratio = 0.0
    c.nut_inertia = 0.0


_set_nut = variant("lead", _with_nut, _without_nut)


@kernel
def _set_leg(p, c, k):
    """Set the constants of leg k. The axes of its joints coincide with the ring aligned at IP.

    Theory: peripheral-docking 4.1.
    """
    lower, upper = _joints(p, k)
    u = unit(add((height(p, p.initial_stroke), 0.0, 0.0), subtract(upper, lower)))
    y = unit((0.0, -u[2], u[1]))
    axes = (u, y, cross(u, y))
    store_matrix(axes, c.base_axes)
    store(lower, c.base_point)
    store(upper, c.node_point)
    store(axes[2], c.node_axis)
    c.length = p.retracted_length
    c.mass[0] = p.housing_mass
    c.centre[0] = p.housing_centre
    c.axial[0] = p.housing_inertia[0]
    c.transverse[0] = p.housing_inertia[1] + p.housing_mass * p.housing_centre * p.housing_centre
    c.mass[1] = p.screw_mass
    c.centre[1] = p.screw_centre
    c.axial[1] = p.screw_inertia[0]
    c.transverse[1] = p.screw_inertia[1] + p.screw_mass * p.screw_centre * p.screw_centre
    _set_nut(p, c, k)
    c.nut_torque = 0.0
    for i in range(4):
        c.force[i] = 0.0


@kernel
def initialize(p, x, s, stroke):
    """Set masses and geometry, with the ring aligned and at rest and all legs at this `stroke`."""
    for k in range(LEGS):
        _set_leg(p.legs, x.strut[k], k)
    start_ring(p, x, s, height(p.legs, stroke))


@kernel
def start_ring(p, x, s, above):
    """Set the mass of the ring, with the ring aligned and at rest at `above` (m) above the lower joints."""
    x.ring.mass = p.ring.mass
    for i in range(3):
        for k in range(3):
            x.ring.principal[i, k] = p.ring.inertia[i, k]
    store((above, 0.0, 0.0), x.ring.position)
    store_matrix(IDENTITY, x.ring.rotation)
    store_quaternion((1.0, 0.0, 0.0, 0.0), s.quaternion)
    store(ZERO, s.velocity)
    store(ZERO, s.angular_velocity)
    for i in range(6):
        s.acceleration[i] = 0.0
    s.viscous = 0.0


@kernel
def drift(x, s, h):
    """Advance the pose of the ring over h with its velocities."""
    store(axpy(h, load(s.velocity), load(x.ring.position)), x.ring.position)
    store_quaternion(advance(load_quaternion(s.quaternion), scale(h, load(s.angular_velocity))), s.quaternion)


@kernel
def keep_pose(x, s, kept):
    """Save the pose of the ring in the group `kept`, for `restore_pose`."""
    store(load(x.ring.position), kept.position)
    store_quaternion(load_quaternion(s.quaternion), kept.quaternion)


@kernel
def restore_pose(x, s, kept):
    """Restore the pose of the ring saved by `keep_pose`."""
    store(load(kept.position), x.ring.position)
    store_quaternion(load_quaternion(kept.quaternion), s.quaternion)


@kernel
def _check_struts(x, p, status):
    least = cos(p.legs.roll_limit)
    for k in range(LEGS):
        c = x.strut[k]
        if not -p.legs.margin[0] <= c.stroke <= p.legs.stroke + p.legs.margin[1]:
            return fail(status, STROKE, c.stroke, k + 1)
        if not c.cosine[2] >= least:
            return fail(status, ROLL, roll(c), k + 1)
    return 0


@kernel
def _unchecked(x, p, status):
    """Return 0: there is nothing to check beyond the degenerate legs that `place` has found."""
    return 0


_check_legs = variant("crank", _unchecked, _check_struts)


@kernel
def place_ring(x, s, ahead):
    """Place the ring, without its legs, with velocities extrapolated by `ahead` (s) with its last acceleration."""
    a = s.acceleration
    store(axpy(ahead, (a[0], a[1], a[2]), load(s.velocity)), x.ring.velocity)
    store(axpy(ahead, (a[3], a[4], a[5]), load(s.angular_velocity)), x.ring.angular_velocity)
    store_matrix(from_quaternion(load_quaternion(s.quaternion)), x.ring.rotation)


@kernel
def place(p, x, s, ahead, status):
    """Place ring and legs as `place_ring` does. Returns 0, or the code of a failure."""
    place_ring(x, s, ahead)
    degenerate = hexapod.follow(x)
    if degenerate:
        return fail(status, DEGENERATE, 0.0, degenerate)
    return _check_legs(x, p, status)


@kernel
def roll(c):
    """Return the rotation of the rod of leg `c` about its axis, rad."""
    return atan2(c.sine[2], c.cosine[2])


@kernel
def effective_stroke(c):
    """Return the effective stroke of leg `c`, equivalent to the rotation of its nut, m.

    Theory: peripheral-docking 5, erratum E-P7.
    """
    return c.stroke + roll(c) / c.nut_ratio


@kernel
def effective_rate(c):
    """Return the rate of `effective_stroke`, m/s."""
    return c.rate[3] + c.rate[2] / c.nut_ratio


@kernel
def kick(x, s, h, status):
    """Advance the velocities over h with the acceleration of the last evaluation. Returns 0, or a code."""
    for i in range(3):
        s.velocity[i] += h * x.ring.acceleration[i]
        s.angular_velocity[i] += h * x.ring.acceleration[3 + i]
    for i in range(6):
        a = x.ring.acceleration[i]
        if not fabs(a) < 1e300:
            return fail(status, NOT_FINITE, a, i + 1)
        s.acceleration[i] = a
    return 0


@kernel
def point(x, place):
    """Return (position from O_0, velocity relative to frame 0) of the point of the ring at `place` (ring axes)."""
    alpha = load_matrix(x.ring.rotation)
    carried = apply_transposed(alpha, cross(load(x.ring.angular_velocity), place))
    return add(load(x.ring.position), apply_transposed(alpha, place)), add(load(x.ring.velocity), carried)


@kernel
def mean_twist(x, s, h):
    """Return the mean (velocity in frame 0, angular velocity in ring axes) over h, relative to frame 0.

    Call it after `accelerate`, before `kick`.
    """
    a = x.ring.acceleration
    velocity = axpy(0.5 * h, (a[0], a[1], a[2]), load(s.velocity))
    return velocity, axpy(0.5 * h, (a[3], a[4], a[5]), load(s.angular_velocity))


@kernel
def mean_gain(x, s, h):
    """Return `mean_twist` minus the twist of `place` with `ahead` = h / 2: (velocity, angular velocity).

    Velocity is in frame 0, angular velocity in ring axes. Call it after `accelerate`, before `kick`.
    """
    now, last = x.ring.acceleration, s.acceleration
    velocity = (now[0] - last[0], now[1] - last[1], now[2] - last[2])
    return scale(0.5 * h, velocity), scale(0.5 * h, (now[3] - last[3], now[4] - last[4], now[5] - last[5]))


@kernel
def stroke_gain(x, c, gain):
    """Return the change of the stroke rate of leg `c` due to a change `gain` of the ring's twist, m/s."""
    velocity, turn = gain
    axis = (c.cosine[0] * c.cosine[1], c.sine[1], -c.sine[0] * c.cosine[1])
    carried = apply_transposed(load_matrix(x.ring.rotation), cross(turn, load(c.node_point)))
    return dot(axis, apply(load_matrix(c.base_axes), add(velocity, carried)))


@kernel
def turning(x):
    """Return the angular velocity of the ring relative to frame 0, frame 0 axes."""
    return apply_transposed(load_matrix(x.ring.rotation), load(x.ring.angular_velocity))


@kernel
def set_ring(m):
    """Set pose and twist of the ring plane AR, `link[1]`, and the angles of the ring."""
    x = m.hexapod
    link = m.link[0]
    position, velocity = point(x, (m.parameters.ring.plane_offset, 0.0, 0.0))
    store(position, link.position)
    q = load_quaternion(m.ring_state.quaternion)
    store_quaternion(continued(q, load_quaternion(link.quaternion)), link.quaternion)
    store(velocity, link.velocity)
    store(turning(x), link.angular_velocity)
    store(angles(load_matrix(x.ring.rotation)), m.ring.angles)
