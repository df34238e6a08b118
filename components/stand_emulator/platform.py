"""The platform of the stand: from the relative motion of the simulated craft to that of the units on the stand.

A step over [t, t + h] starts from the motion of the simulated craft at t, so the platform steps before the mechanism.
The outputs base and target are also those at t, with their mean accelerations over [t, t + h], by which the mechanism
extrapolates them. The passive unit stands still in the hall, which is I for the mechanism. Commands are computed every
`frame_time` by extrapolation of the motion at the start of the step. Each takes effect after the delay and then moves
on with its twist.
"""

from __future__ import annotations

from dockfmu.components.core import check
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.timing import ROUNDING, micro_steps
from dockfmu.components.physics.mechanics.kinematics import extrapolate, relate
from dockfmu.components.physics.mechanics.rotation import (
    apply,
    apply_transposed,
    conjugate,
    continued,
    from_quaternion,
    load_matrix,
    load_quaternion,
    product,
    quaternion,
    rotation_vector,
    store_quaternion,
)
from dockfmu.components.physics.mechanics.vector import ZERO, add, cross, dot, load, norm, scale, store, subtract
from dockfmu.components.stand_emulator import servo
from dockfmu.components.stand_emulator.ports import LINE

LINE_TOO_SHORT = 21

MESSAGES = check.messages("1 active, 2 passive") | {
    LINE_TOO_SHORT: Message(
        "parameters.delay = {parameters.delay:g} s must not exceed {status.value:g} s, 62 times "
        "parameters.frame_time = {parameters.frame_time:g} s"
    ),
}


@kernel
def _check_inputs(m):
    """Return 0, or the code of a port whose motion is not finite or whose quaternion is not an attitude."""
    code = check.check_ports(m.active, m.passive, m.status)
    return code if code else check.check_accelerations(m.active, m.passive, m.status)


@kernel
def _command(m, tau, command):
    """Set a command to the relative motion of the simulated craft `tau` seconds into the step."""
    extrapolate(m.active, load(m.active.acceleration), load(m.active.angular_acceleration), tau, m.at_active)
    extrapolate(m.passive, load(m.passive.acceleration), load(m.passive.angular_acceleration), tau, m.at_passive)
    relate(m.relative, m.at_active, m.at_passive)
    A = load_matrix(m.relative.rotation)
    store(load(m.relative.position), command.position)
    store(load(m.relative.velocity), command.velocity)
    store_quaternion(quaternion(A), command.quaternion)
    store(apply(A, load(m.relative.angular_velocity)), command.angular_velocity)


@kernel
def _copy(command, reference):
    """Copy pose and twist of a command."""
    store(load(command.position), reference.position)
    store(load(command.velocity), reference.velocity)
    store_quaternion(load_quaternion(command.quaternion), reference.quaternion)
    store(load(command.angular_velocity), reference.angular_velocity)


@kernel
def _send(m):
    """Put the command of the present frame into the delay line."""
    clock = m.clock
    place = int(clock.first + clock.count) % LINE
    _command(m, clock.until_frame, m.line[place])
    m.line[place].due = clock.until_frame + m.parameters.delay
    clock.count += 1.0
    clock.until_frame += m.parameters.frame_time


@kernel
def _take(m):
    """Move the oldest command in the delay line to the reference."""
    _copy(m.line[int(m.clock.first)], m.reference)
    m.clock.first = (m.clock.first + 1.0) % LINE
    m.clock.count -= 1.0


@kernel
def _move(m, h):
    """Move the platform over h in steps of at most `micro_step`. Returns whether a rate was at its limit."""
    limited = False
    steps = micro_steps(h, m.parameters.micro_step)
    for _ in range(steps):
        if m.servo.stopped != 0.0:
            servo.brake(m.parameters, m.servo, h / steps)
            servo.move(m.reference, h / steps)
        else:
            limited = servo.advance(m.parameters, m.servo, m.reference, h / steps) or limited
    return limited


@kernel
def _pass_on(port, out):
    """Copy the motion of a port, bitwise unchanged."""
    store(load(port.position), out.position)
    store_quaternion(load_quaternion(port.quaternion), out.quaternion)
    store(load(port.velocity), out.velocity)
    store(load(port.angular_velocity), out.angular_velocity)
    store(load(port.acceleration), out.acceleration)
    store(load(port.angular_acceleration), out.angular_acceleration)


@kernel
def _publish(m):
    """Set the outputs of motion to the present state, and the errors against the simulated craft at this instant."""
    s = m.servo
    q = load_quaternion(s.quaternion)
    A = from_quaternion(q)
    x = load(s.position)
    v = load(s.velocity)
    w = load(s.angular_velocity)
    store(x, m.base.position)
    pose = continued(q, load_quaternion(m.base.quaternion))
    store_quaternion(pose, m.base.quaternion)
    store(apply(A, v), m.base.velocity)
    store(w, m.base.angular_velocity)
    for k in range(6):
        joint = load(m.parameters.rod.platform[k])
        along = add(x, apply_transposed(A, joint))
        along = subtract(along, load(m.parameters.rod.floor[k]))
        rate = add(v, apply_transposed(A, cross(w, joint)))
        m.rod[k].length = norm(along)
        m.rod[k].rate = dot(along, rate) / m.rod[k].length
    _command(m, 0.0, m.commanded)
    store(subtract(x, load(m.commanded.position)), m.error.position)
    between = product(conjugate(load_quaternion(m.commanded.quaternion)), q)
    store(rotation_vector(between), m.error.rotation)


@kernel
def _stand_still(m):
    """Set the motion of the passive unit, which stands still, and zero accelerations of the base."""
    store(ZERO, m.target.position)
    store_quaternion((1.0, 0.0, 0.0, 0.0), m.target.quaternion)
    store(ZERO, m.target.velocity)
    store(ZERO, m.target.angular_velocity)
    store(ZERO, m.target.acceleration)
    store(ZERO, m.target.angular_acceleration)
    store(ZERO, m.base.acceleration)
    store(ZERO, m.base.angular_acceleration)


@kernel
def initialize(m):
    """Begin with the platform in programme mode, as if it had followed the present relative motion for a long time.

    So it lags behind by the delay and the lag of the servo. Returns 0, or the code of a failure.
    """
    p = m.parameters
    code = _check_inputs(m)
    if code:
        return code
    # a command enters before the oldest one leaves, and rounding may keep the oldest one frame longer
    longest = (LINE - 2) * p.frame_time
    if p.delay > longest:
        return fail(m.status, LINE_TOO_SHORT, longest, 0)
    m.limited = 0.0
    m.servo.stopped = 0.0
    m.clock.until_frame = 0.0
    m.clock.first = 0.0
    m.clock.count = 0.0
    _command(m, 0.0, m.reference)
    servo.move(m.reference, -p.delay)
    _copy(m.reference, m.servo)
    servo.move(m.servo, -servo.ramp_lag(p))
    store_quaternion((1.0, 0.0, 0.0, 0.0), m.base.quaternion)
    _stand_still(m)
    _publish(m)
    if p.bypass != 0.0:
        _pass_on(m.active, m.base)
        _pass_on(m.passive, m.target)
    return 0


@kernel
def step(m, t, h):
    """Move the platform over [t, t + h], h > 0, s; outputs are those at t. Returns 0, or the code of a failure."""
    code = _check_inputs(m)
    if code:
        return code
    if m.parameters.bypass != 0.0:
        _pass_on(m.active, m.base)
        _pass_on(m.passive, m.target)
        return 0
    _publish(m)
    if m.emergency_stop != 0.0:
        m.servo.stopped = 1.0
    before = load(m.servo.velocity)
    spin = load(m.servo.angular_velocity)
    limited = False
    done = 0.0
    clock = m.clock
    while h - done > ROUNDING:
        while clock.until_frame <= done + ROUNDING:
            _send(m)
        while clock.count > 0.0 and m.line[int(clock.first)].due <= done + ROUNDING:
            _take(m)
        until = min(h, clock.until_frame)
        if clock.count > 0.0:
            until = min(until, m.line[int(clock.first)].due)
        limited = _move(m, until - done) or limited
        done = until
    clock.until_frame -= h
    for k in range(int(clock.count)):
        m.line[(int(clock.first) + k) % LINE].due -= h
    m.limited = 1.0 if limited else 0.0
    # mean accelerations over the step, axes 0 at its start
    A = from_quaternion(load_quaternion(m.base.quaternion))
    change = subtract(load(m.servo.velocity), before)
    store(apply(A, scale(1.0 / h, change)), m.base.acceleration)
    change = subtract(load(m.servo.angular_velocity), spin)
    store(scale(1.0 / h, change), m.base.angular_acceleration)
    return 0
