"""Legs geared together by differentials into six shafts, each with damper, brake, spring and stops; as in APAS.

The tree of differentials adds and subtracts the angles of the nuts and so separates the motions of the ring: one shaft
turns with the mean stroke, two with tilts, one with roll, two with lateral motion, to first order (ring-mechanisms
10.5). So each motion has its own resistance and its own stops. Nuts of left-hand screws enter the tree through an
idler, so that all angles grow with the strokes. Angles of the shafts count from the start.

The spring, the damper, the brake and the stops of the first shaft are mounted on a carrier. To draw the ring in, a
drive turns the carrier back. It takes the first shaft and all nuts with it, until the rods sit on their seats.
Meanwhile the other shafts are centred by their springs, and at the end by the seats.

A brake may be turned through a stiff spring (docking-formulas 1.5). It then has an angle of its own, and dry friction
with its full level at any rate; without a spring it is one with its shaft. Names: p = parameters.shafts,
g = hexapod.gear.
"""

from __future__ import annotations

from math import copysign, cos, fabs, pi, sin

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.field import Group, output, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.linkage import gear_tree, hexapod
from dockfmu.components.physics.linkage.gear_tree import SHAFTS
from dockfmu.components.physics.ring_on_legs import forward_stop, platform, train
from dockfmu.components.physics.ring_on_legs.platform import LEGS
from dockfmu.components.ring_mechanism.legs import retractor, struts
from dockfmu.components.ring_mechanism.legs.law import LegLaw

RANGE = 421
HAND = 422
RETRACTION = 423
SHAFT_STOP = 424

PARAMETERS = Group(
    "shafts",
    parameter(
        "inertia",
        "kg.m2",
        "inertia of a shaft with its train",
        (6e-4, 4e-4, 4e-4, 4e-4, 4e-4, 4e-4),
        shape=SHAFTS,
        minimum=0.0,
    ),
    parameter(
        "preload",
        "N.m",
        "preload of the spring at the start, toward the upper stop",
        (1.15, 0.0, 0.0, 0.0, 0.0, 0.0),
        shape=SHAFTS,
        minimum=0.0,
    ),
    parameter(
        "stiffness",
        "N.m/rad",
        "stiffness of the spring",
        (0.009, 0.007, 0.007, 0.008, 0.012, 0.012),
        shape=SHAFTS,
        minimum=0.0,
    ),
    parameter(
        "damping", "N.m.s/rad", "damping of the damper", (0.3, 0.01, 0.01, 0.01, 0.02, 0.02), shape=SHAFTS, minimum=0.0
    ),
    parameter(
        "friction",
        "N.m",
        "dry friction of the brake and the train",
        (0.3, 0.03, 0.03, 0.04, 0.06, 0.06),
        shape=SHAFTS,
        minimum=0.0,
    ),
    parameter(
        "friction_speed",
        "rad/s",
        "rate at which the friction of a brake without a spring reaches 0.7 of its value",
        1.0,
        minimum=1e-6,
    ),
    parameter(
        "brake_stiffness",
        "N.m/rad",
        "stiffness of the spring between a shaft and its brake; 0: none, they are one",
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        shape=SHAFTS,
        minimum=0.0,
    ),
    parameter(
        "brake_inertia",
        "kg.m2",
        "inertia of a brake with its train",
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        shape=SHAFTS,
        minimum=0.0,
    ),
    parameter("lower_stop", "rad", "angle of the lower stop", (-40.0, -18.0, -18.0, -13.0, -16.0, -16.0), shape=SHAFTS),
    parameter("upper_stop", "rad", "angle of the upper stop", (0.0, 18.0, 18.0, 13.0, 16.0, 16.0), shape=SHAFTS),
    parameter("stop_stiffness", "N.m/rad", "stiffness of the stops", 4.0, minimum=1e-6),
    parameter("stop_damping", "N.m.s/rad", "damping of the stops", 0.02, minimum=0.0),
    parameter("stop_limit", "rad", "depth of a shaft in a stop beyond which the model does not hold", 8.0, minimum=0.0),
    parameter(
        "retraction", "rad", "angle by which the drive turns the first shaft back from the start", 60.3, minimum=0.0
    ),
    parameter("seat_stiffness", "N/m", "stiffness of the seat of a rod at its retracted position", 5e5, minimum=0.0),
    parameter("seat_damping", "N.s/m", "damping of the seat of a rod", 500.0, minimum=0.0),
    description="shafts of the gear tree: mean stroke, two tilts, roll, two lateral motions",
)

LAW = LegLaw(
    name="GearedRingMechanism",
    description="ring on six legs geared together by differentials",
    geometry=struts.geometry(screws=True),
    parameters=(PARAMETERS, forward_stop.parameters(), retractor.parameters(4.0, "that of the first shaft")),
    state=Group(
        "gearbox",
        private("start", "rad", "angles of the nuts at the start", shape=LEGS),
        private("brake_angle", "rad", "of the brakes with springs, from the start", shape=SHAFTS),
        private("brake_rate", "rad/s", "of this angle", shape=SHAFTS),
        private("brake_inertial", "N.m", "torque that accelerates the brake of the first shaft"),
        private("dampers", "J", "energy dissipated by dampers"),
        private("brakes", "J", "energy dissipated by brakes and trains"),
        private("stops", "J", "energy dissipated by the stops"),
        private("seats", "J", "energy dissipated by the seats of the rods"),
        private("dissipated", "J", "energy dissipated by the forward stops of the rods"),
    ),
    leg=(
        *struts.OUTPUTS,
        output("nut_angle", "rad", "angle of the nut, growing with the stroke"),
    ),
    devices=("dampers", "brakes", "stops", "seats", "drive"),
    works=("drive",),
    command=retractor.COMMAND,
    drive=retractor.STATE,
    hexapod=hexapod.hexapod("hexapod", gear_tree.shafts()),
    public=(
        Group(
            "shaft",
            output("angle", "rad", "angle of the shaft from the start"),
            output("rate", "rad/s", "rate of the angle"),
            output(
                "torque", "N.m", "torque of spring, damper, brake and stops; that of its spring, if the brake has one"
            ),
            count=SHAFTS,
        ),
        retractor.OUTPUTS,
    ),
    starts={"initial_stroke": 0.19, "margin": (0.02, 0.03), "longest_micro_step": 1e-3},
    messages={
        **struts.MESSAGES,
        RANGE: Message(
            "parameters.shafts.lower_stop[{status.index:.0f}] = {status.value:g} rad must not be above 0, the start, "
            "and parameters.shafts.upper_stop must not be below 0"
        ),
        SHAFT_STOP: Message(
            "shaft {status.index:.0f} is {status.value:.4g} rad deep in a stop, more than "
            "parameters.shafts.stop_limit = {parameters.shafts.stop_limit:g} rad",
            outcome=LIMIT_EXCEEDED,
        ),
        HAND: Message("parameters.legs.hand[{status.index:.0f}] = {status.value:g} must be 1 (right) or -1 (left)"),
        RETRACTION: Message(
            "parameters.shafts.retraction = {parameters.shafts.retraction:g} rad is less than the rotation "
            "{status.value:.4g} rad of the first shaft over "
            "parameters.initial_stroke = {parameters.initial_stroke:g} m"
        ),
    },
)


@kernel
def check(m):
    """Return 0, or the code of a range without the start, of an invalid screw hand, or of too short a retraction."""
    p = m.parameters.shafts
    for i in range(SHAFTS):
        if p.lower_stop[i] > 0.0 or p.upper_stop[i] < 0.0:
            return fail(m.status, RANGE, p.lower_stop[i], i + 1)
    hand = m.parameters.legs.hand
    for k in range(LEGS):
        if abs(hand[k]) != 1.0:
            return fail(m.status, HAND, hand[k], k + 1)
    inward = 2.0 * pi * m.parameters.initial_stroke / m.parameters.legs.lead
    if p.retraction < inward:
        return fail(m.status, RETRACTION, inward, 0)
    return 0


@kernel
def _differential(i, k):
    """Return the angle of shaft i per angle of nut k, growing with its stroke (ring-mechanisms 10.5).

    The pairs are (1, 2), (3, 4), (5, 6). The shafts are the mean and first harmonics over the pairs of the half sums
    and half differences of each pair.
    """
    half = -0.5 if i >= 3 and k % 2 == 1 else 0.5
    azimuth = (k // 2) * (2.0 * pi / 3.0)
    if i % 3 == 0:
        return half / 3.0
    return half * 2.0 / 3.0 * (cos(azimuth) if i % 3 == 1 else sin(azimuth))


@kernel
def _nut_angle(p, c, k):
    """Return the angle of the nut of leg k, rad, growing with its stroke."""
    return p.legs.hand[k] * (c.nut_ratio * c.stroke + platform.roll(c))


@kernel
def initialize(m):
    """Set the gear tree, its shafts and the drive at rest for the placed legs, and all losses to zero."""
    g = m.hexapod.gear
    for i in range(SHAFTS):
        g.inertia[i] = m.parameters.shafts.inertia[i]
        if m.parameters.shafts.brake_stiffness[i] == 0.0:
            g.inertia[i] += m.parameters.shafts.brake_inertia[i]
        m.gearbox.brake_angle[i] = 0.0
        m.gearbox.brake_rate[i] = 0.0
        g.torque[i] = 0.0
        for k in range(LEGS):
            g.ratio[i, k] = _differential(i, k) * m.parameters.legs.hand[k]
    m.gearbox.brake_inertial = 0.0
    for k in range(LEGS):
        m.gearbox.start[k] = _nut_angle(m.parameters, m.hexapod.strut[k], k)
    m.gearbox.dampers = 0.0
    m.gearbox.brakes = 0.0
    m.gearbox.stops = 0.0
    m.gearbox.seats = 0.0
    m.gearbox.dissipated = 0.0
    retractor.initialize(m)


@kernel
def _angle(m, i):
    """Return the angle of shaft i from the start, rad."""
    angle = 0.0
    for k in range(LEGS):
        angle += _differential(i, k) * (_nut_angle(m.parameters, m.hexapod.strut[k], k) - m.gearbox.start[k])
    return angle


@kernel
def _stop_depths(p, i, angle):
    """Return the depths of a shaft in its (lower, upper) stops, rad, 0 outside.

    A shaft that starts at its upper stop is pressed against it by its preload.
    """
    lean = p.preload[i] / p.stop_stiffness if p.upper_stop[i] == 0.0 else 0.0
    return max(0.0, p.lower_stop[i] - angle), max(0.0, angle - p.upper_stop[i] + lean)


@kernel
def _carried(m, i, ahead):
    """Return the angle from the start of the mount of the spring, damper, brake and stops of shaft i, rad."""
    return -retractor.way(m, ahead) if i == 0 else 0.0


@kernel
def retract(m, h):
    """Advance the drive over h against the torque of the first shaft and of what its brake takes to accelerate."""
    load = -m.hexapod.gear.torque[0] - m.gearbox.brake_inertial
    retractor.advance(m, load, m.parameters.shafts.retraction, h)


@kernel
def _seat(m, share):
    """Set the torques of the seats on the nuts of the placed legs, and add their losses over `share`."""
    p = m.parameters.shafts
    for k in range(LEGS):
        c = m.hexapod.strut[k]
        depth = max(0.0, -platform.effective_stroke(c))
        v = platform.effective_rate(c)
        force = train.stop(p.seat_stiffness, p.seat_damping, depth, -v)
        c.nut_torque = force / c.nut_ratio
        m.gearbox.seats += share * train.stop_loss(p.seat_stiffness, depth, force, -v)


@kernel
def _spring_mounted_brake(m, i, angle, mount_rate, h):
    """Advance the brake of shaft i over h behind its spring, and return the torque of the spring on the shaft, N m.

    `angle` (rad) of the shaft from the start is that of the middle of h; the brake rubs on a mount that turns at
    `mount_rate` (rad/s). The brake has the inertia J and the mean rate w over h, by the midpoint rule
    2 J (w - rate) / h = k (angle - brake angle - h w / 2) - friction. Friction holds w at the rate of the mount as far
    as its level allows.
    """
    p = m.parameters.shafts
    b = m.gearbox
    k, inertia, rate = p.brake_stiffness[i], p.brake_inertia[i], b.brake_rate[i]
    if h == 0.0:
        return k * (b.brake_angle[i] - angle)
    # without inertia the midpoint rule would ring: the spring then has the level of friction at the end of h
    balanced = 0.5 * h if inertia > 0.0 else h
    wound = angle + (balanced - 0.5 * h) * m.hexapod.gear.rate[i] - b.brake_angle[i] - balanced * mount_rate
    urge = k * wound + 2.0 * inertia / h * (rate - mount_rate)
    if fabs(urge) <= p.friction[i]:
        slip, after = 0.0, mount_rate
        b.brakes += 0.5 * inertia * (rate - mount_rate) ** 2
    else:
        slip = (urge - copysign(p.friction[i], urge)) / (2.0 * inertia / h + balanced * k)
        after = 2.0 * (mount_rate + slip) - rate
        b.brakes += h * p.friction[i] * fabs(slip)
    mean = b.brake_angle[i] + 0.5 * h * (mount_rate + slip)
    b.brake_angle[i] += h * (mount_rate + slip)
    b.brake_rate[i] = after
    if i == 0:
        b.brake_inertial = inertia * (after - rate) / h
    return k * (mean - angle)


@kernel
def drive(m, h, share):
    """Set the torques of all shafts and seats for the placed legs, and add their losses over `share`."""
    p = m.parameters.shafts
    g = m.hexapod.gear
    loss = m.gearbox
    _seat(m, share)
    forward_stop.hold(m.parameters, m.hexapod, m.gearbox, share)
    for i in range(SHAFTS):
        shaft_angle = _angle(m, i)
        angle = shaft_angle - _carried(m, i, 0.5 * h)
        mount_rate = -retractor.rate(m) if i == 0 else 0.0
        rate = g.rate[i] - mount_rate
        low, high = _stop_depths(p, i, angle)
        lower = train.stop(p.stop_stiffness, p.stop_damping, low, -rate)
        upper = train.stop(p.stop_stiffness, p.stop_damping, high, rate)
        if p.brake_stiffness[i] > 0.0:
            brake = _spring_mounted_brake(m, i, shaft_angle, mount_rate, h)
        else:
            brake = train.friction(p.friction[i], p.friction_speed, rate)
            loss.brakes -= share * brake * rate
        g.torque[i] = p.preload[i] - p.stiffness[i] * angle - p.damping[i] * rate + brake + lower - upper
        loss.dampers += share * p.damping[i] * rate * rate
        loss.stops += share * train.stop_loss(p.stop_stiffness, low, lower, -rate)
        loss.stops += share * train.stop_loss(p.stop_stiffness, high, upper, rate)


@kernel
def check_stops(m):
    """Return 0, or the code of a shaft too deep in one of its stops (ruling R50)."""
    p = m.parameters.shafts
    for i in range(SHAFTS):
        low, high = _stop_depths(p, i, _angle(m, i) - _carried(m, i, 0.0))
        if max(low, high) > p.stop_limit:
            return fail(m.status, SHAFT_STOP, max(low, high), i + 1)
    return 0


@kernel
def set_outputs(m):
    """Set the outputs of nuts, shafts and drive."""
    retractor.set_outputs(m)
    for k in range(LEGS):
        m.leg[k].nut_angle = _nut_angle(m.parameters, m.hexapod.strut[k], k)
    for i in range(SHAFTS):
        shaft = m.shaft[i]
        shaft.angle = _angle(m, i)
        shaft.rate = m.hexapod.gear.rate[i]
        shaft.torque = m.hexapod.gear.torque[i]


@kernel
def audit(m):
    """Add springs, stops, the drive and losses to the energies of the mechanism."""
    p = m.parameters.shafts
    out = m.audit
    for k in range(LEGS):
        depth = max(0.0, -platform.effective_stroke(m.hexapod.strut[k]))
        out.stored_energy += train.stored(p.seat_stiffness, depth)
    for i in range(SHAFTS):
        angle = _angle(m, i) - _carried(m, i, 0.0)
        low, high = _stop_depths(p, i, angle)
        out.stored_energy += (0.5 * p.stiffness[i] * angle - p.preload[i]) * angle
        out.stored_energy += train.stored(p.stop_stiffness, low) + train.stored(p.stop_stiffness, high)
        if p.brake_stiffness[i] > 0.0:
            out.stored_energy += train.stored(p.brake_stiffness[i], _angle(m, i) - m.gearbox.brake_angle[i])
            out.kinetic_energy += 0.5 * p.brake_inertia[i] * m.gearbox.brake_rate[i] ** 2
    out.dissipated_dampers = m.gearbox.dampers
    out.dissipated_brakes = m.gearbox.brakes
    out.stored_energy += forward_stop.stored_energy(m.parameters, m.hexapod)
    out.dissipated_stops = m.gearbox.stops + m.gearbox.dissipated
    out.dissipated_seats = m.gearbox.seats
    out.dissipated_energy += out.dissipated_dampers + out.dissipated_brakes + out.dissipated_stops
    out.dissipated_energy += out.dissipated_seats
    retractor.audit(m)
