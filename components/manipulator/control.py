"""The controller of the arm: sensing, modes, and limits on commanded joint rates (spec/08 3.7).

It runs on the ticks of the outer servo loop, 8 ms of internal time. It senses only joint angles and assumes rigid
links.
"""

from __future__ import annotations

from math import fabs

from components.core.kernel import kernel
from components.manipulator import resolved_rates, supervisor
from components.manipulator.compliance import joint_turn
from components.manipulator.ports import MODE
from components.manipulator.servo import quantized
from components.mechanics import rotation
from components.mechanics.vector import add, load, store, subtract

AUTO = MODE.codes["AUTO"]
SEMI = MODE.codes["SEMI"]
SUPV = MODE.codes["SUPV"]
LIMP = MODE.codes["LIMP"]
BRAKE = MODE.codes["BRAKE"]
SINGLE = MODE.codes["SINGLE"]


@kernel
def sense(m):
    """Set the sensed pose of the arm and of PI from encoders on output shafts, for rigid links and PI as grappled."""
    p = m.parameters
    s = m.sensed
    turn = rotation.IDENTITY
    place = (0.0, 0.0, 0.0)
    for k in range(len(m.arm)):
        if k > 0:
            angle = quantized(m.drive[k - 1].input_angle / p.gear.ratio[k - 1], p.servo.angle_quantum)
            s.angle[k - 1] = angle
            axis = int(p.link.axis[k - 1]) - 1
            store(turn[axis], s.axis[k - 1])
            turn = rotation.compose(joint_turn(p.link.axis[k - 1], angle), turn)
        place = add(place, rotation.apply_transposed(turn, load(m.arm[k].reach)))
        store(place, s.point[k])
    rotation.store_matrix(turn, s.gripper)
    fixture = rotation.load_matrix(m.free_body.fixture)
    own = rotation.compose(rotation.transpose(fixture), turn)
    offset = subtract(load(p.interface.position), load(p.grapple.position))
    store(add(place, rotation.apply_transposed(own, offset)), s.position)
    rotation.store_matrix(rotation.compose(rotation.load_matrix(m.free_body.to_interface), own), s.interface)


@kernel
def _follow_table(m):
    """Set the joint rates that follow the table of angles: its slope plus a gain times the error."""
    p = m.parameters.trajectory
    count = int(p.points)
    t = m.clock.in_mode
    for k in range(len(m.drive)):
        m.drive[k].command = 0.0
        if count == 0:
            continue
        reference = p.angle[0, k]
        slope = 0.0
        if t >= p.time[count - 1]:
            reference = p.angle[count - 1, k]
        elif t > p.time[0]:
            i = 0
            while t >= p.time[i + 1]:
                i += 1
            slope = (p.angle[i + 1, k] - p.angle[i, k]) / (p.time[i + 1] - p.time[i])
            reference = p.angle[i, k] + slope * (t - p.time[i])
        m.drive[k].command = slope + p.gain * (reference - m.sensed.angle[k])


@kernel
def _limit(m):
    """Scale all commanded rates by one factor, so that each stays within its limit and slows down before its stop."""
    p = m.parameters
    scale = 1.0
    for k in range(len(m.drive)):
        d = m.drive[k]
        if p.joint.locked[k] != 0.0:
            d.command = 0.0
        if d.command == 0.0:
            continue
        scale = min(scale, p.joint.rate_limit[k] / fabs(d.command))
        if d.command * m.sensed.angle[k] > 0.0:
            room = (p.joint.angle_limit[k] - fabs(m.sensed.angle[k])) / p.control.braking_zone
            scale = min(scale, max(0.0, room))
    for k in range(len(m.drive)):
        m.drive[k].command *= scale


@kernel
def _power(m, mode):
    """Set which motors have current and which brakes are on."""
    for k in range(len(m.drive)):
        d = m.drive[k]
        d.braked = 1.0 if mode == BRAKE or m.command.brake[k] != 0.0 else 0.0
        d.powered = 0.0 if mode == LIMP or d.braked != 0.0 else 1.0


@kernel
def tick(m):
    """Set the commanded rates of all joints. Returns 0, or the code of a command that cannot be followed."""
    mode = int(m.command.mode)
    sense(m)
    if mode != m.clock.mode:
        m.clock.mode = float(mode)
        m.clock.in_mode = 0.0
        supervisor.enter(m)
    for k in range(len(m.drive)):
        m.drive[k].command = 0.0
    m.flag.singular = 0.0
    code = 0
    aborted = m.command.abort != 0.0
    if mode == SUPV:
        code = supervisor.tick(m)
        if m.supervisor.state == supervisor.RUN:
            supervisor.set_twist(m)
            code = max(code, resolved_rates.resolve(m))
    elif aborted:
        pass
    elif mode == AUTO:
        _follow_table(m)
    elif mode == SEMI:
        resolved_rates.set_twist(m)
        code = resolved_rates.resolve(m)
    elif mode == SINGLE:
        m.drive[int(m.command.joint) - 1].command = m.command.rate
    _limit(m)
    _power(m, mode)
    m.clock.in_mode += m.parameters.servo.outer_period
    return code
