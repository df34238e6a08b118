"""Cranks with rotary dampers and springs: the Hunt platform, as in SXDS (ring-mechanisms 10.4).

Six cranks stand on the base and swing in planes through the axis, with their elbows outward. A rod connects each to the
ring. Each crank is loaded by a rotary damper, dry friction, stops, and a spring stretched in its plane between a point
of the base and a point of the crank (a massless R P R chain). At the start the outer stops carry the load of the
springs.

To draw the ring in, a drive turns all outer stops inward. They take the cranks that are farthest out first, and the
springs keep all cranks on their stops. Names: p = parameters.legs or parameters.dampers, c = crank, angle = angle of
the crank from the inward direction, which grows as the ring goes in.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.field import Group, output, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.rotation import store_matrix
from dockfmu.components.physics.mechanics.vector import cross, dot, scale, store, subtract
from dockfmu.components.physics.ring_on_legs import platform, train
from dockfmu.components.physics.ring_on_legs.platform import LEGS, azimuth
from dockfmu.components.ring_mechanism.legs import retractor
from dockfmu.components.ring_mechanism.legs.law import LegLaw

REACH = 431
ANGLE = 432
CRANK_STOP = 433

_RING, _ = platform.parameters(screws=False)

GEOMETRY = (
    parameter("initial_angle", "rad", "angle of all cranks at the start", 120.0 * pi / 180.0),
    parameter("retracted_angle", "rad", "angle of all cranks from which on the ring is retracted", 161.8 * pi / 180.0),
    _RING,
    Group(
        "legs",
        parameter("base_radius", "m", "radius of the joints of the cranks on the base", 0.5, minimum=1e-3),
        parameter("base_angle", "rad", "half the azimuth between the cranks of a pair", 14.0 * pi / 180.0),
        parameter("ring_radius", "m", "radius of the joints on the ring", 0.6, minimum=1e-3),
        parameter("ring_angle", "rad", "half the azimuth between the joints of a pair on the ring", pi / 4.0),
        parameter("crank_length", "m", "length of a crank between its joints", 0.25, minimum=1e-3),
        parameter("rod_length", "m", "length of a rod between its joints", 0.45, minimum=1e-3),
        parameter("crank_mass", "kg", "mass of one crank", 5.0, minimum=0.0),
        parameter("crank_centre", "m", "centre of mass of a crank from its joint on the base", 0.1),
        parameter("crank_inertia", "kg.m2", "inertia of a crank about its centre of mass: axial, transverse",
                  (0.004, 0.03), shape=2, minimum=0.0),
        parameter("rod_mass", "kg", "mass of one rod", 4.0, minimum=0.0),
        parameter("rod_centre", "m", "centre of mass of a rod from its joint on the crank", 0.2),
        parameter("rod_inertia", "kg.m2", "inertia of a rod about its centre of mass: axial, transverse",
                  (0.001, 0.055), shape=2, minimum=0.0),
        description="cranks and rods, R U S; pairs at the azimuths 0, 120 and 240 deg",
    ),
)  # fmt: skip

PARAMETERS = Group(
    "dampers",
    parameter("damping", "N.m.s/rad", "damping of the rotary damper of a crank", 150.0, minimum=0.0),
    parameter("friction", "N.m", "dry friction in the joint of a crank", 3.0, minimum=0.0),
    parameter("friction_speed", "rad/s", "rate at which friction reaches 0.7 of its value", 0.02, minimum=1e-6),
    parameter(
        "spring_anchor",
        "m",
        "anchor of the spring on the base, inward and along the axis from the crank joint",
        (0.12, 0.1),
        shape=2,
    ),
    parameter(
        "spring_arm", "m", "distance from the joint of the crank to the attachment of the spring", 0.12, minimum=1e-3
    ),
    parameter("spring_preload", "N", "tension of the spring at the start", 120.0, minimum=0.0),
    parameter("spring_stiffness", "N/m", "stiffness of the spring", 400.0, minimum=0.0),
    parameter("largest_angle", "rad", "angle of a crank at its inner stop", 165.0 * pi / 180.0),
    parameter("retracted_stop", "rad", "angle of a crank at its outer stop with the ring drawn in", 162.0 * pi / 180.0),
    parameter("stop_stiffness", "N.m/rad", "stiffness of the stops", 2e4, minimum=1e-6),
    parameter("stop_damping", "N.m.s/rad", "damping of the stops", 20.0, minimum=0.0),
    parameter("stop_limit", "rad", "depth of a crank in a stop beyond which the model does not hold", 0.1, minimum=0.0),
    description="rotary dampers, springs and stops of the cranks",
)

LAW = LegLaw(
    name="HuntRingMechanism",
    description="ring on six cranks with rods and rotary dampers (Hunt platform)",
    geometry=GEOMETRY,
    parameters=(PARAMETERS, retractor.parameters(200.0, "that of the outer stops")),
    state=Group(
        "damper",
        private("length", "m", "length of the springs at the start"),
        private("lean", "rad", "depth of the cranks in their outer stops at the start"),
        private("dampers", "J", "energy dissipated by rotary dampers"),
        private("friction", "J", "energy dissipated by friction"),
        private("stops", "J", "energy dissipated by the stops"),
        private("load", "N.m", "load of the cranks on their outer stops at the last evaluation"),
    ),
    leg=(
        output("angle", "rad", "angle of the crank from inward, grows as the ring goes in"),
        output("rate", "rad/s", "rate of the angle"),
        output("torque", "N.m", "torque on the crank, positive draws the ring in"),
    ),
    devices=("dampers", "friction", "stops", "drive"),
    works=("drive",),
    command=retractor.COMMAND,
    drive=retractor.STATE,
    public=(retractor.OUTPUTS,),
    hexapod=hexapod.hexapod(cranked=True),
    starts={"docking_plane_x": 0.316},
    messages={
        REACH: Message(
            "parameters.legs.rod_length = {parameters.legs.rod_length:g} m is shorter than the distance "
            "{status.value:.4g} m across the axis that a rod has to bridge at parameters.initial_angle"
        ),
        CRANK_STOP: Message(
            "crank {status.index:.0f} is {status.value:.4g} rad deep in a stop, more than "
            "parameters.dampers.stop_limit = {parameters.dampers.stop_limit:g} rad",
            outcome=LIMIT_EXCEEDED,
        ),
        ANGLE: Message(
            "parameters.initial_angle = {parameters.initial_angle:g} rad, parameters.retracted_angle = "
            "{parameters.retracted_angle:g} rad, parameters.dampers.retracted_stop = "
            "{parameters.dampers.retracted_stop:g} rad and parameters.dampers.largest_angle = "
            "{parameters.dampers.largest_angle:g} rad must be ascending between 0 and pi"
        ),
    },
)


@kernel
def _across(p, angle):
    """Return the transverse distance that a rod spans for this angle of its crank and an aligned ring, m."""
    radius = p.base_radius - p.crank_length * cos(angle)
    between = p.ring_angle - p.base_angle
    square = radius * radius + p.ring_radius * p.ring_radius - 2.0 * radius * p.ring_radius * cos(between)
    return sqrt(max(0.0, square))


@kernel
def height(p, angle):
    """Return the height of an aligned ring above the joints on the base, m, all cranks at this angle; NaN if none."""
    across = _across(p, angle)
    return p.crank_length * sin(angle) + sqrt(p.rod_length * p.rod_length - across * across)


@kernel
def check_geometry(m):
    """Check that the parameters are consistent. Returns 0, or the code of the first failure."""
    p = m.parameters
    across = _across(p.legs, p.initial_angle)
    if not p.legs.rod_length > across:
        return fail(m.status, REACH, across, 0)
    if not 0.0 < p.initial_angle < p.retracted_angle < p.dampers.retracted_stop < p.dampers.largest_angle < pi:
        return fail(m.status, ANGLE, p.initial_angle, 0)
    return 0


@kernel
def _set_crank(p, c, k):
    """Set the constants of crank k; x of its joint points inward, y along the axis of the mechanism."""
    a = azimuth(k, p.base_angle)
    b = azimuth(k, p.ring_angle)
    inward = (0.0, -cos(a), -sin(a))
    along = (1.0, 0.0, 0.0)
    store_matrix((inward, along, cross(inward, along)), c.base_axes)
    store(scale(-p.base_radius, inward), c.base_point)
    store((0.0, p.ring_radius * cos(b), p.ring_radius * sin(b)), c.node_point)
    c.length = p.crank_length
    c.rod_length = p.rod_length
    c.mass[0] = p.crank_mass
    c.centre[0] = p.crank_centre
    c.axial[0] = p.crank_inertia[0]
    c.transverse[0] = p.crank_inertia[1] + p.crank_mass * p.crank_centre * p.crank_centre
    c.mass[1] = p.rod_mass
    c.centre[1] = p.rod_centre
    c.axial[1] = p.rod_inertia[0]
    c.transverse[1] = p.rod_inertia[1] + p.rod_mass * p.rod_centre * p.rod_centre
    for i in range(3):
        c.force[i] = 0.0


@kernel
def build(m):
    """Set masses and geometry, with all cranks at their initial angle."""
    p = m.parameters
    for k in range(LEGS):
        _set_crank(p.legs, m.hexapod.crank[k], k)
    platform.start_ring(p, m.hexapod, m.ring_state, height(p.legs, p.initial_angle))


@kernel
def set_strokes(m):
    """Set angles and rates of the cranks, and whether all are retracted."""
    m.sensor.retracted = 1.0
    for k in range(LEGS):
        c = m.hexapod.crank[k]
        m.leg[k].angle = crank_angle(c)
        m.leg[k].rate = c.rate[0]
        if m.leg[k].angle < m.parameters.retracted_angle:
            m.sensor.retracted = 0.0


@kernel
def crank_angle(c):
    """Return the angle of a crank, rad."""
    return atan2(c.sine[0], c.cosine[0])


@kernel
def spring(p, cosine, sine, start):
    """Return (length in m, tension in N, lever dL/d(angle) in m) of the spring at an angle of the crank.

    `start` is the length at which the tension is the preload.
    """
    along = subtract((p.spring_arm * cosine, p.spring_arm * sine, 0.0), (p.spring_anchor[0], p.spring_anchor[1], 0.0))
    length = sqrt(dot(along, along))
    lever = p.spring_arm * (p.spring_anchor[0] * sine - p.spring_anchor[1] * cosine) / length
    return length, p.spring_preload + p.spring_stiffness * (length - start), lever


@kernel
def initialize(m):
    """Set springs and stops for the initial angle, the drive at rest, and all losses to zero."""
    p = m.parameters.dampers
    angle = m.parameters.initial_angle
    length, _, _ = spring(p, cos(angle), sin(angle), 0.0)
    m.damper.length = length
    _, tension, lever = spring(p, cos(angle), sin(angle), length)
    m.damper.lean = max(0.0, tension * lever / p.stop_stiffness)
    m.damper.dampers = 0.0
    m.damper.friction = 0.0
    m.damper.stops = 0.0
    m.damper.load = 0.0
    retractor.initialize(m)


@kernel
def _stop_depths(m, angle, ahead):
    """Return the depths of a crank in its (outer, inner) stops, rad, 0 outside; the outer stop `ahead` (s) in time."""
    outer = m.parameters.initial_angle + m.damper.lean + retractor.way(m, ahead) - angle
    return max(0.0, outer), max(0.0, angle - m.parameters.dampers.largest_angle)


@kernel
def check_stops(m):
    """Return 0, or the code of a crank too deep in one of its stops (ruling R50)."""
    for k in range(LEGS):
        outer, inner = _stop_depths(m, crank_angle(m.hexapod.crank[k]), 0.0)
        if max(outer, inner) > m.parameters.dampers.stop_limit:
            return fail(m.status, CRANK_STOP, max(outer, inner), k + 1)
    return 0


@kernel
def retract(m, h):
    """Advance the drive over h against the cranks on their outer stops."""
    longest = m.parameters.dampers.retracted_stop - m.parameters.initial_angle
    retractor.advance(m, m.damper.load, longest, h)


@kernel
def drive(m, h, share):
    """Set the torques on all cranks as placed, and add their losses over `share`."""
    p = m.parameters.dampers
    loss = m.damper
    loss.load = 0.0
    inward = retractor.rate(m)
    for k in range(LEGS):
        c = m.hexapod.crank[k]
        rate = c.rate[0]
        _, tension, lever = spring(p, c.cosine[0], c.sine[0], loss.length)
        outer, inner = _stop_depths(m, crank_angle(c), 0.5 * h)
        out_stop = train.stop(p.stop_stiffness, p.stop_damping, outer, inward - rate)
        in_stop = train.stop(p.stop_stiffness, p.stop_damping, inner, rate)
        dry = train.friction(p.friction, p.friction_speed, rate)
        c.force[0] = -tension * lever - p.damping * rate + dry + out_stop - in_stop
        loss.dampers += share * p.damping * rate * rate
        loss.friction -= share * dry * rate
        loss.load += out_stop
        loss.stops += share * train.stop_loss(p.stop_stiffness, outer, out_stop, inward - rate)
        loss.stops += share * train.stop_loss(p.stop_stiffness, inner, in_stop, rate)


@kernel
def set_outputs(m):
    """Set the torques on the cranks, and the outputs of the drive."""
    retractor.set_outputs(m)
    for k in range(LEGS):
        m.leg[k].torque = m.hexapod.crank[k].force[0]


@kernel
def audit(m):
    """Add springs, stops, the drive and losses to the energies of the mechanism."""
    p = m.parameters.dampers
    out = m.audit
    for k in range(LEGS):
        c = m.hexapod.crank[k]
        length, _, _ = spring(p, c.cosine[0], c.sine[0], m.damper.length)
        stretch = length - m.damper.length
        outer, inner = _stop_depths(m, crank_angle(c), 0.0)
        out.stored_energy += (p.spring_preload + 0.5 * p.spring_stiffness * stretch) * stretch
        out.stored_energy += train.stored(p.stop_stiffness, outer) + train.stored(p.stop_stiffness, inner)
    out.dissipated_dampers = m.damper.dampers
    out.dissipated_friction = m.damper.friction
    out.dissipated_stops = m.damper.stops
    out.dissipated_energy += out.dissipated_dampers + out.dissipated_friction + out.dissipated_stops
    retractor.audit(m)
