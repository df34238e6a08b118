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
from dockfmu.components.physics.mechanics import rotation, vector
from dockfmu.components.physics.mechanics.kinematics import extrapolate, relate
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
    extrapolate(
        m.active, vector.load(m.active.acceleration), vector.load(m.active.angular_acceleration), tau, m.at_active
    )
    extrapolate(
        m.passive, vector.load(m.passive.acceleration), vector.load(m.passive.angular_acceleration), tau, m.at_passive
    )
    relate(m.relative, m.at_active, m.at_passive)
    A = rotation.load_matrix(m.relative.rotation)
    vector.store(vector.load(m.relative.position), command.position)
    vector.store(vector.load(m.relative.velocity), command.velocity)
    rotation.store_quaternion(rotation.quaternion(A), command.quaternion)
    vector.store(rotation.apply(A, vector.load(m.relative.angular_velocity)), command.angular_velocity)


@kernel
def _copy(command, reference):
    """Copy pose and twist of a command."""
    vector.store(vector.load(command.position), reference.position)
    vector.store(vector.load(command.velocity), reference.velocity)
    rotation.store_quaternion(rotation.load_quaternion(command.quaternion), reference.quaternion)
    vector.store(vector.load(command.angular_velocity), reference.angular_velocity)


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
    vector.store(vector.load(port.position), out.position)
    rotation.store_quaternion(rotation.load_quaternion(port.quaternion), out.quaternion)
    vector.store(vector.load(port.velocity), out.velocity)
    vector.store(vector.load(port.angular_velocity), out.angular_velocity)
    vector.store(vector.load(port.acceleration), out.acceleration)
    vector.store(vector.load(port.angular_acceleration), out.angular_acceleration)


@kernel
def _publish(m):
    """Set the outputs of motion to the present state, and the errors against the simulated craft at this instant."""
    s = m.servo
    q = rotation.load_quaternion(s.quaternion)
    A = rotation.from_quaternion(q)
    x = vector.load(s.position)
    v = vector.load(s.velocity)
    w = vector.load(s.angular_velocity)
    vector.store(x, m.base.position)
    pose = rotation.continued(q, rotation.load_quaternion(m.base.quaternion))
    rotation.store_quaternion(pose, m.base.quaternion)
    vector.store(rotation.apply(A, v), m.base.velocity)
    vector.store(w, m.base.angular_velocity)
    for k in range(6):
        joint = vector.load(m.parameters.rod.platform[k])
        along = vector.add(x, rotation.apply_transposed(A, joint))
        along = vector.subtract(along, vector.load(m.parameters.rod.floor[k]))
        rate = vector.add(v, rotation.apply_transposed(A, vector.cross(w, joint)))
        m.rod[k].length = vector.norm(along)
        m.rod[k].rate = vector.dot(along, rate) / m.rod[k].length
    _command(m, 0.0, m.commanded)
    vector.store(vector.subtract(x, vector.load(m.commanded.position)), m.error.position)
    between = rotation.product(rotation.conjugate(rotation.load_quaternion(m.commanded.quaternion)), q)
    vector.store(rotation.rotation_vector(between), m.error.rotation)


@kernel
def _stand_still(m):
    """Set the motion of the passive unit, which stands still, and zero accelerations of the base."""
    vector.store(vector.ZERO, m.target.position)
    rotation.store_quaternion((1.0, 0.0, 0.0, 0.0), m.target.quaternion)
    vector.store(vector.ZERO, m.target.velocity)
    vector.store(vector.ZERO, m.target.angular_velocity)
    vector.store(vector.ZERO, m.target.acceleration)
    vector.store(vector.ZERO, m.target.angular_acceleration)
    vector.store(vector.ZERO, m.base.acceleration)
    vector.store(vector.ZERO, m.base.angular_acceleration)


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
    rotation.store_quaternion((1.0, 0.0, 0.0, 0.0), m.base.quaternion)
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
    before = vector.load(m.servo.velocity)
    spin = vector.load(m.servo.angular_velocity)
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
    A = rotation.from_quaternion(rotation.load_quaternion(m.base.quaternion))
    change = vector.subtract(vector.load(m.servo.velocity), before)
    vector.store(rotation.apply(A, vector.scale(1.0 / h, change)), m.base.acceleration)
    change = vector.subtract(vector.load(m.servo.angular_velocity), spin)
    vector.store(vector.scale(1.0 / h, change), m.base.angular_acceleration)
    return 0
