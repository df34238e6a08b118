"""Electric legs under force control: a motor on each screw, soft capture, then damping; as NDS and IBDM.

Theory: ring-mechanisms 1.2.

Each controller demands a force: during capture that of a soft spring and damper about a commanded stroke, and that of a
strong damper when `command.attenuate` is set. A loop around a force sensor on the rod reduces the apparent friction and
inertia of the train by the factor 1 + gain. When a leg is first pushed, the commanded strokes of all legs advance at
`lunge_speed` by `lunge_stroke`: the ring lunges toward the passive one. Motor speed is limited by voltage, motor force
by current. Forces are those along effective strokes; v is the rate of the effective stroke.

With `command.retract` each leg holds its stroke until a common reference reaches it. The reference starts at the
longest leg and moves inward at `retraction_speed`. So the longest leg moves first, as does the longest cable of the
elastic-adaptive mechanism. The strokes become equal, which aligns the ring, and all legs move in together onto their
stops. When the ring moves out again, its commanded strokes are those of the start, and it can lunge again.
"""

from __future__ import annotations

from math import exp, fabs

from dockfmu.components.core.field import BOOLEAN, Group, input, output, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.ring_on_legs import train
from dockfmu.components.physics.ring_on_legs.platform import LEGS, effective_rate, effective_stroke
from dockfmu.components.ring_mechanism.legs import struts
from dockfmu.components.ring_mechanism.legs.law import LegLaw

PARAMETERS = (
    Group(
        "control",
        parameter("capture_stiffness", "N/m", "stiffness of a leg about its commanded stroke before capture", 2000.0,
                  minimum=0.0),
        parameter("capture_damping", "N.s/m", "damping of a leg before capture", 200.0, minimum=0.0),
        parameter("capture_force", "N", "largest demanded force of a leg before capture", 150.0, minimum=0.0),
        parameter("contact_force", "N", "sensed inward force on a leg that starts the lunge", 15.0, minimum=0.0),
        parameter("lunge_speed", "m/s", "speed of the commanded stroke after first contact", 0.15, minimum=0.0),
        parameter("lunge_stroke", "m", "advance of the commanded stroke in the lunge", 0.08, minimum=0.0),
        parameter("damping", "N.s/m", "damping of a leg after capture", 5e3, minimum=0.0),
        parameter("stiffness", "N/m", "stiffness of a leg about its initial stroke after capture", 500.0, minimum=0.0),
        parameter("force", "N", "largest demanded force of a leg after capture", 600.0, minimum=0.0),
        parameter("retraction_stiffness", "N/m", "stiffness of a leg about its commanded stroke during retraction", 2e4,
                  minimum=0.0),
        parameter("retraction_speed", "m/s", "speed of the commanded strokes during retraction", 4e-3, minimum=0.0),
        parameter("retraction_overrun", "m", "distance of the final commanded strokes beyond the stops", 2e-3,
                  minimum=0.0),
        parameter("gain", "1", "gain of the loop around the force sensor", 3.0, minimum=0.0),
        parameter("sensor_time", "s", "time constant of the filter of the force sensor", 5e-3, minimum=1e-6),
        description="controllers of the legs",
    ),
    Group(
        "motors",
        parameter("stall_force", "N", "stall force of a motor at the rod", 1500.0, minimum=0.0),
        parameter("free_speed", "m/s", "speed of the rod at which the force of a motor is zero", 0.4, minimum=1e-6),
        parameter("friction", "N", "dry friction of the train, at the rod", 40.0, minimum=0.0),
        parameter("friction_speed", "m/s", "speed at which friction reaches 0.7 of its value", 5e-3, minimum=1e-6),
        parameter("stop_stiffness", "N/m", "stiffness of the stops at both ends of the stroke", 5e5, minimum=1.0),
        parameter("stop_damping", "N.s/m", "damping of the stops", 500.0, minimum=0.0),
        description="motors of the legs with their trains and stops",
    ),
)  # fmt: skip

LAW = LegLaw(
    name="ElectricRingMechanism",
    description="ring on six force-controlled electric legs",
    geometry=struts.geometry(screws=True),
    parameters=PARAMETERS,
    state=Group(
        "servo",
        Group(
            "leg",
            private("motor", "N", "force of the motor at the rod"),
            private("sensed", "N", "force of the train on the rod, filtered"),
            private("rate", "m/s", "rate of the effective stroke at the last evaluation"),
            private("total", "N", "force of motor, friction and stops at the last evaluation"),
            private("held", "m", "effective stroke at the start of the retraction"),
            count=LEGS,
        ),
        private("advance", "m", "advance of the commanded stroke"),
        private("touched", "1", "a leg has been pushed"),
        private("retracting", "1", "a retraction is under way, or its end is held"),
        private("reference", "m", "largest commanded stroke during retraction"),
        private("work", "J", "work done by the motors"),
        private("friction", "J", "energy dissipated in the trains"),
        private("stops", "J", "energy dissipated by the stops"),
    ),
    leg=(
        *struts.OUTPUTS,
        output("force", "N", "force of motor, friction and stops on the rod, positive pushes it out"),
        output("motor_force", "N", "force of the motor at the rod, positive pushes it out"),
        output("sensed_force", "N", "reading of the force sensor, filtered, positive pushes the rod out"),
        output("commanded_stroke", "m", "commanded stroke of the leg"),
    ),
    devices=("friction", "stops"),
    works=("drive",),
    command=(
        input("attenuate", "1", "damp the motion: the ring is captured", 0.0, type=BOOLEAN),
        input("retract", "1", "draw the ring in and hold it there", 0.0, type=BOOLEAN),
    ),
    messages=struts.MESSAGES,
    starts={"initial_stroke": 0.14, "nut_inertia": 2e-4, "margin": (0.02, 0.03)},
)


@kernel
def initialize(m):
    """Initialise sensors, commanded strokes and energies."""
    s = m.servo
    for k in range(LEGS):
        s.leg[k].motor = 0.0
        s.leg[k].sensed = 0.0
        s.leg[k].rate = 0.0
        s.leg[k].total = 0.0
        s.leg[k].held = 0.0
    s.advance = 0.0
    s.touched = 0.0
    s.retracting = 0.0
    s.reference = 0.0
    s.work = 0.0
    s.friction = 0.0
    s.stops = 0.0


@kernel
def _limited(x, limit):
    return max(-limit, min(x, limit))


@kernel
def wanted(p, attenuate, beyond, v):
    """Return the demanded force of a leg, N, at `beyond` (m) past its commanded stroke and the rate v (m/s)."""
    if attenuate != 0.0:
        return _limited(-p.stiffness * beyond - p.damping * v, p.force)
    return _limited(-p.capture_stiffness * beyond - p.capture_damping * v, p.capture_force)


@kernel
def drawn(p, beyond, v):
    """Return the demanded force of a leg during retraction, N; arguments as for `wanted`."""
    return _limited(-p.retraction_stiffness * beyond - p.damping * v, p.force)


@kernel
def motor(p, force, v):
    """Return the force of a motor, N, for the demand `force`.

    The limit falls with the speed v in the direction of the force; it is the stall force against the motion.
    """
    available = p.stall_force
    if force * v > 0.0:
        available *= max(0.0, 1.0 - fabs(v) / p.free_speed)
    return _limited(force, available)


@kernel
def _sense(m, h):
    """Advance the force sensors by h: the forces of the trains minus those that accelerate the nuts, filtered."""
    s = m.servo
    p = m.parameters.control
    passed = 1.0 - exp(-h / p.sensor_time)
    for k in range(LEGS):
        c = m.hexapod.strut[k]
        e = s.leg[k]
        rate = effective_rate(c)
        spinning = c.nut_inertia * c.nut_ratio * c.nut_ratio * (rate - e.rate) / h
        e.sensed += passed * (e.total - spinning - e.sensed)
        e.rate = rate
        if s.retracting == 0.0 and e.sensed > p.contact_force and rate < 0.0:
            s.touched = 1.0
    if s.touched != 0.0 and m.command.attenuate == 0.0:
        s.advance = min(s.advance + h * p.lunge_speed, p.lunge_stroke)


@kernel
def _refer(m, h):
    """Advance the reference of a retraction by h; a retraction begins at the longest leg and cancels the lunge.

    When `command.retract` is reset, the reference stops; when `command.attenuate` is reset too, the ring moves out.
    """
    s = m.servo
    p = m.parameters.control
    if m.command.retract != 0.0:
        if s.retracting == 0.0:
            s.retracting = 1.0
            s.touched = 0.0
            s.advance = 0.0
            s.reference = -p.retraction_overrun
            for k in range(LEGS):
                s.leg[k].held = effective_stroke(m.hexapod.strut[k])
                s.reference = max(s.reference, s.leg[k].held)
        s.reference = max(s.reference - h * p.retraction_speed, -p.retraction_overrun)
    elif m.command.attenuate == 0.0:
        s.retracting = 0.0


@kernel
def _aim(m, k):
    """Return the commanded stroke of leg k, m."""
    s = m.servo
    if s.retracting != 0.0:
        return min(s.leg[k].held, s.reference)
    return m.parameters.initial_stroke + (0.0 if m.command.attenuate != 0.0 else s.advance)


@kernel
def drive(m, h, share):
    """Sample the sensors over h, set the torques of the nuts, and add work and losses over `share`."""
    s = m.servo
    p = m.parameters.motors
    stroke = m.parameters.legs.stroke
    if h > 0.0:
        _sense(m, h)
        _refer(m, h)
    for k in range(LEGS):
        c = m.hexapod.strut[k]
        e = s.leg[k]
        v = effective_rate(c)
        place = effective_stroke(c)
        beyond = place - _aim(m, k)
        if s.retracting != 0.0:
            demand = drawn(m.parameters.control, beyond, v)
        else:
            demand = wanted(m.parameters.control, m.command.attenuate, beyond, v)
        e.motor = motor(p, demand + m.parameters.control.gain * (demand - e.sensed), v)
        friction = train.friction(p.friction, p.friction_speed, v)
        low = max(0.0, -place)
        high = max(0.0, place - stroke)
        in_stop = train.stop(p.stop_stiffness, p.stop_damping, low, -v)
        out_stop = train.stop(p.stop_stiffness, p.stop_damping, high, v)
        e.total = e.motor + friction + in_stop - out_stop
        c.nut_torque = e.total / c.nut_ratio
        s.work += share * e.motor * v
        s.friction -= share * friction * v
        s.stops += share * train.stop_loss(p.stop_stiffness, low, in_stop, -v)
        s.stops += share * train.stop_loss(p.stop_stiffness, high, out_stop, v)


@kernel
def set_outputs(m):
    """Set forces and commanded strokes of the legs."""
    s = m.servo
    for k in range(LEGS):
        leg = m.leg[k]
        leg.force = s.leg[k].total
        leg.motor_force = s.leg[k].motor
        leg.sensed_force = s.leg[k].sensed
        leg.commanded_stroke = _aim(m, k)


@kernel
def audit(m):
    """Add stops, losses and the work of the motors to the energies of the mechanism."""
    p = m.parameters.motors
    out = m.audit
    for k in range(LEGS):
        place = effective_stroke(m.hexapod.strut[k])
        low = max(0.0, -place)
        high = max(0.0, place - m.parameters.legs.stroke)
        out.stored_energy += train.stored(p.stop_stiffness, low) + train.stored(p.stop_stiffness, high)
    out.dissipated_friction = m.servo.friction
    out.dissipated_stops = m.servo.stops
    out.dissipated_energy += out.dissipated_friction + out.dissipated_stops
    out.work_drive = m.servo.work
