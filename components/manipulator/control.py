"""The controller of the arm: sensing, modes, and limits on commanded joint rates (manipulator 3.7).

It runs on the ticks of the outer servo loop, 8 ms of internal time. It senses only joint angles and assumes rigid
links. Whatever it could not do as commanded is flagged and counted (ruling R58).
"""

from __future__ import annotations

from math import fabs

from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator import resolved_rates, sensing, supervisor
from dockfmu.components.manipulator.ports import MODE

AUTO = MODE.codes["AUTO"]
SEMI = MODE.codes["SEMI"]
SUPV = MODE.codes["SUPV"]
LIMP = MODE.codes["LIMP"]
BRAKE = MODE.codes["BRAKE"]
SINGLE = MODE.codes["SINGLE"]


@kernel
def _follow_table(m):
    """Set the joint rates that follow the table of angles: its slope plus a gain times the error."""
    p = m.parameters.trajectory
    count = int(p.points)
    t = m.clock.in_mode
    gain = sensing.loop_gain(m, p.gain)
    largest = 0.0
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
        m.drive[k].command = slope + gain * (reference - m.sensed.angle[k])
        if m.parameters.joint.locked[k] == 0.0:
            here = m.drive[k].input_angle / m.parameters.gear.ratio[k]
            largest = max(largest, fabs(p.angle[count - 1, k] - here))
    late = t - p.time[count - 1] if count > 0 else -1.0
    m.flag.arrived = 1.0 if late >= 0.0 and largest <= p.tolerance else 0.0
    if m.flag.arrived == 0.0 and late > m.parameters.control.settle_time and m.clock.told == 0.0:
        m.clock.told = 1.0
        m.notice.not_reached += 1.0


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
    m.flag.rate_limited = 0.0
    if scale < 1.0:
        m.flag.rate_limited = 1.0
        m.notice.rate_limited += 1.0
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
    looped = mode in (AUTO, SUPV) and m.parameters.control.pose_feedback == sensing.MOTORS
    sensing.sense(m, 1.0 if looped else 0.0)
    if mode != m.clock.mode:
        m.clock.mode = float(mode)
        m.clock.in_mode = 0.0
        m.clock.told = 0.0
        m.flag.arrived = 0.0
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
    if m.flag.singular != 0.0:
        m.notice.singular += 1.0
    _limit(m)
    _power(m, mode)
    if not aborted:
        m.clock.in_mode += m.parameters.servo.outer_period
    return code
