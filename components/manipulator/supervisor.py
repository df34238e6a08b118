"""Step and Insert: motion of PI along or about one of its axes, the other five held (manipulator 3.7, source 8.4).

The executor closes a loop on the pose that the motors have given rigid links (ruling R56). Only its end, an abort, a
load guard or a change of mode stops a command: a payload that is stopped by contact is still pushed. A command ends
when the encoders on the output shafts see its pose, or else, told as not reached, `settle_time` after its planned end
(ruling R58).
"""

from __future__ import annotations

from math import copysign, fabs

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator import resolved_rates, sensing
from dockfmu.components.manipulator.ports import STEP_STATE, STEP_TYPE
from dockfmu.components.physics.mechanics.rotation import (
    about_x,
    about_y,
    about_z,
    apply_transposed,
    compose,
    load_matrix,
    quaternion,
    rotation_vector,
    store_matrix,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import add, load, norm, scale, store, subtract

IDLE = STEP_STATE.codes["IDLE"]
RUN = STEP_STATE.codes["RUN"]
HOLD = STEP_STATE.codes["HOLD"]
ABORTED = STEP_STATE.codes["ABORTED"]
NOT_REACHED = STEP_STATE.codes["NOT_REACHED"]
INSERT = STEP_TYPE.codes["INSERT"]

UNREACHABLE = 331
MESSAGES = {
    UNREACHABLE: Message(
        "command.step.amplitude = {command.step.amplitude:.4g} along command.step.axis = {command.step.axis:.0f} "
        "is out of reach: E would be {status.value:.4g} m from joint 1, more than parameters.segment.length allows"
    ),
}


@kernel
def _take_pose(m):
    """Take the sensed pose as the reference."""
    store(load(m.sensed.position), m.supervisor.position)
    store_matrix(load_matrix(m.sensed.interface), m.supervisor.rotation)


@kernel
def enter(m):
    """Take the sensed pose as the reference, and set the state to IDLE."""
    s = m.supervisor
    s.state = IDLE
    s.trigger_before = m.command.step.trigger
    _take_pose(m)
    m.command.state = IDLE


@kernel
def travel(t, duration, ramp, amplitude):
    """Return (travel, its rate) at time t of a motion with constant speed between two ramps of the same sign."""
    size = fabs(amplitude)
    t = max(0.0, min(duration, t))
    if duration <= ramp or t >= duration:
        return amplitude, 0.0
    speed = size / (duration - ramp)
    sign = copysign(1.0, amplitude)
    if t < ramp:
        return sign * 0.5 * speed * t * t / ramp, sign * speed * t / ramp
    left = duration - t
    if left < ramp:
        return sign * (size - 0.5 * speed * left * left / ramp), sign * speed * left / ramp
    return sign * speed * (t - 0.5 * ramp), sign * speed


@kernel
def _longest(m):
    """Return an upper bound of the distance from the first joint to E: the sum of the lengths of the links."""
    total = 0.0
    for k in range(1, len(m.arm)):
        total += norm(load(m.arm[k].reach))
    return total


@kernel
def _start(m):
    """Begin the command given by the inputs. Returns 0, or the code of a command that is out of reach."""
    p = m.parameters.control
    s = m.supervisor
    given = m.command.step
    axis = int(given.axis) - 1
    speed = given.speed
    if speed == 0.0:
        if given.type == INSERT:
            speed = p.insert_speed
        elif axis < 3:
            speed = p.linear_speed
        else:
            speed = p.angular_speed
    s.axis = float(axis)
    s.amplitude = given.amplitude
    cruise = fabs(given.amplitude) / speed
    s.ramp = min(p.ramp, cruise)
    s.duration = cruise + s.ramp
    s.elapsed = 0.0
    store(load(s.position), s.start_position)
    store_matrix(load_matrix(s.rotation), s.start_rotation)
    s.state = RUN
    m.flag.guard = 0.0
    m.flag.arrived = 0.0
    if axis < 3:
        along = load_matrix(s.rotation)[axis]
        last = len(m.arm) - 1
        tip = add(load(m.sensed.point[last]), scale(given.amplitude, along))
        distance = norm(subtract(tip, load(m.sensed.point[0])))
        if distance > _longest(m):
            s.state = ABORTED
            m.command.state = ABORTED
            return fail(m.status, UNREACHABLE, distance, 0)
    return 0


@kernel
def _is_reached(m):
    """Return whether the encoders on the output shafts see the reference pose, within the tolerances."""
    p = m.parameters.control
    s = m.supervisor
    sensing.sense(m, 0.0)
    off = norm(subtract(load(s.position), load(m.sensed.position)))
    error = compose(load_matrix(s.rotation), transpose(load_matrix(m.sensed.interface)))
    turn = norm(rotation_vector(quaternion(error)))
    if p.pose_feedback == sensing.MOTORS:
        sensing.sense(m, 1.0)
    return off <= p.position_tolerance and turn <= p.angle_tolerance


@kernel
def tick(m):
    """Advance the executor by a tick. Returns 0, or the code of a command that cannot be executed."""
    p = m.parameters.control
    s = m.supervisor
    code = 0
    trigger = m.command.step.trigger
    if s.state == RUN:
        s.elapsed += m.parameters.servo.outer_period
        w = m.free_body.wrench
        force = norm((w[0], w[1], w[2]))
        torque = norm((w[3], w[4], w[5]))
        if p.guarded != 0.0 and (force > p.force_limit or torque > p.torque_limit):
            s.state = ABORTED
            m.flag.guard = 1.0
        elif s.elapsed >= s.duration:
            _refer(m, s.duration)
            if _is_reached(m):
                s.state = HOLD
                m.flag.arrived = 1.0
            elif s.elapsed >= s.duration + p.settle_time:
                s.state = NOT_REACHED
                m.notice.not_reached += 1.0
                _take_pose(m)
    if m.command.abort != 0.0:
        if s.state == RUN:
            s.state = ABORTED
    elif trigger != 0.0 and s.trigger_before == 0.0 and s.state != RUN:
        code = _start(m)
    elif (s.state == HOLD or s.state == NOT_REACHED) and trigger == 0.0:
        s.state = IDLE
    s.trigger_before = trigger
    m.command.state = s.state
    return code


@kernel
def _refer(m, t):
    """Set the reference pose of PI at time t of the command, and return the rate of the travel."""
    s = m.supervisor
    done, rate = travel(t, s.duration, s.ramp, s.amplitude)
    start = load_matrix(s.start_rotation)
    axis = int(s.axis)
    if axis < 3:
        store(add(load(s.start_position), scale(done, start[axis])), s.position)
        store_matrix(start, s.rotation)
    else:
        turn = about_x(done)
        if axis == 4:
            turn = about_y(done)
        elif axis == 5:
            turn = about_z(done)
        store(load(s.start_position), s.position)
        store_matrix(compose(turn, start), s.rotation)
    return rate


@kernel
def set_twist(m):
    """Set the demanded twist of E: that of the reference plus a gain times the error of the sensed pose."""
    s = m.supervisor
    rate = _refer(m, s.elapsed)
    gain = sensing.loop_gain(m, m.parameters.control.pose_gain)
    axis = int(s.axis)
    along = load_matrix(s.start_rotation)[axis % 3]
    facing = load_matrix(m.sensed.interface)
    velocity = scale(gain, subtract(load(s.position), load(m.sensed.position)))
    error = compose(load_matrix(s.rotation), transpose(facing))
    turn = rotation_vector(quaternion(error))
    spin = scale(gain, apply_transposed(facing, turn))
    if axis < 3:
        velocity = add(velocity, scale(rate, along))
    else:
        spin = add(spin, scale(rate, along))
    resolved_rates.want(m, velocity, spin, load(m.sensed.position))
