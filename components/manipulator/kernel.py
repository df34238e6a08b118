"""A step of the manipulator: micro-steps of links, drives and payload, ticks of servo and controller on internal time.

Order of a micro-step (manipulator 3.12): links at t; deflection and spring; controller and servo loops on their ticks;
motors, with prediction of the gear torques; accelerations of the links; joints; payload.
"""

from __future__ import annotations

from math import ceil, fabs, isfinite, sqrt

from dockfmu.components.core import check
from dockfmu.components.core.component import Message, combined, fail
from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.core.ports import AFFINE, SOURCE
from dockfmu.components.core.timing import ROUNDING
from dockfmu.components.manipulator import (
    compliance,
    control,
    drive,
    links,
    outputs,
    payload,
    resolved_rates,
    sensing,
    servo,
    supervisor,
)
from dockfmu.components.manipulator.arm_data import VARIANT
from dockfmu.components.manipulator.flexible import chain, damping, motion
from dockfmu.components.manipulator.ports import MODE
from dockfmu.components.physics.mechanics.inertia import ROUNDING as SPREAD
from dockfmu.components.physics.mechanics.inertia import asymmetry, invert, possible
from dockfmu.components.physics.mechanics.kinematics import extrapolate
from dockfmu.components.physics.mechanics.rotation import (
    apply,
    apply_transposed,
    from_angles,
    load_matrix,
    store_matrix,
)
from dockfmu.components.physics.mechanics.vector import ZERO, load, norm, store, subtract

AFFINE_INTERFACE = 301
PAYLOAD_INERTIA = 302
LINK_INERTIA = 303
PERIODS = 304
TABLE = 305
DEFLECTION = 306
BROKEN = 307
NO_MODE = 308
NO_JOINT = 309
NO_AXIS = 310
SOURCE_BASE = 341
INITIAL_ANGLE = 342
COMMAND = 343
LINK_CENTER = 344
LINK_SPREAD = 345

MESSAGES = combined(
    check.messages("1 base, 2 interface, 3 payload"),
    {
        AFFINE_INTERFACE: Message("parameters.interface.base_motion must be SOURCE or LAGGED, not AFFINE"),
        PAYLOAD_INERTIA: Message(
            "parameters.payload.inertia is not symmetric or physically impossible: a principal moment is not positive, "
            "or above the sum of the others"
        ),
        LINK_INERTIA: Message(
            "parameters.link.inertia of link {status.index:.0f} is not symmetric or physically impossible: a "
            "principal moment is negative, or above the sum of the others"
        ),
        LINK_CENTER: Message(
            "parameters.link.center_of_mass of link {status.index:.0f} lies {status.value:.4g} m outside the link: its "
            "segments and parameters.link.half_width give its extent"
        ),
        LINK_SPREAD: Message(
            "parameters.link.inertia of link {status.index:.0f} does not fit its mass, centre of mass and length: the "
            "mass would have to lie {status.value:.4g} m from its centre in the mean, more than its segments and "
            "parameters.link.half_width allow; is it given about the joint?"
        ),
        PERIODS: Message(
            "parameters.servo.outer_period = {parameters.servo.outer_period:g} s must be a multiple of "
            "parameters.servo.inner_period = {parameters.servo.inner_period:g} s"
        ),
        TABLE: Message("parameters.trajectory.time[{status.index:.0f}] = {status.value:g} s: times must be ascending"),
        DEFLECTION: Message(
            "the payload has rotated by {status.value:.3g} rad against the gripper: the load is too large for the arm, "
            "or parameters.micro_step = {parameters.micro_step:g} s is too long for its stiffness, or, with "
            "parameters.base_fixed = 0 and parameters.base_motion = LAGGED, the station is too light: use AFFINE"
        ),
        BROKEN: Message("the motion of joint {status.index:.0f} is not finite: use a shorter parameters.micro_step"),
        NO_MODE: Message("command.mode = {command.mode:.0f} is not a mode of the arm"),
        NO_JOINT: Message("command.joint = {command.joint:.0f}: there is no such joint"),
        NO_AXIS: Message("command.step.axis = {command.step.axis:.0f} is not 1 to 6"),
        COMMAND: Message(
            "input {status.index:.0f} of command (1 velocity, 2 angular_velocity, 3 rate, 4 step.amplitude, "
            "5 step.speed) is not finite"
        ),
        SOURCE_BASE: Message("parameters.base_motion must be LAGGED or AFFINE, not SOURCE"),
        INITIAL_ANGLE: Message(
            "parameters.initial.angle[{status.index:.0f}] = {status.value:.4g} rad is beyond "
            "parameters.joint.angle_limit of this joint"
        ),
    },
    chain.MESSAGES,
    compliance.MESSAGES,
    resolved_rates.MESSAGES,
    supervisor.MESSAGES,
)

SINGLE = MODE.codes["SINGLE"]
KINEMATIC = VARIANT.codes["KINEMATIC"]
LAST_MODE = max(MODE.codes.values())
# rad, rotation of the fixture against the gripper above which the linear spring is not valid
LARGEST_TURN = 0.5


@kernel
def _check_link(m, k):
    """Return 0 if mass, centre and inertia of link k + 1 can belong to a body of its extent, else a code.

    Mass between a and b with its mean at c has a variance of at most (b - c) (c - a), along each axis (ruling R59).
    """
    p = m.parameters
    inertia = load_matrix(p.link.inertia[k])
    if asymmetry(p.link.inertia[k])[0] != 0.0 or not possible(p.link.mass[k], ZERO, inertia):
        return fail(m.status, LINK_INERTIA, 0.0, k + 1)
    half = 0.5 * (inertia[0][0] + inertia[1][1] + inertia[2][2])
    for i in range(3):
        end = 0.0
        low = 0.0
        high = 0.0
        for s in range(p.segment.kind.shape[1]):
            if p.segment.kind[k + 1, s] != compliance.NONE:
                end += p.segment.length[k + 1, s, i]
                low = min(low, end)
                high = max(high, end)
        before = p.link.center_of_mass[k, i] - low + p.link.half_width[k]
        after = high + p.link.half_width[k] - p.link.center_of_mass[k, i]
        if not min(before, after) >= 0.0:
            return fail(m.status, LINK_CENTER, -min(before, after), k + 1)
        second = half - inertia[i][i]
        if second > p.link.mass[k] * before * after + SPREAD * half:
            return fail(m.status, LINK_SPREAD, sqrt(second / max(p.link.mass[k], 1e-9)), k + 1)
    return 0


@kernel
def _check_parameters(m):
    """Return 0 if the parameters are consistent, else the code of the first failure."""
    p = m.parameters
    if p.interface.base_motion == AFFINE:
        return fail(m.status, AFFINE_INTERFACE, 0.0, 0)
    if p.base_motion == SOURCE:
        return fail(m.status, SOURCE_BASE, 0.0, 0)
    if asymmetry(p.payload.inertia)[0] != 0.0:
        return fail(m.status, PAYLOAD_INERTIA, 0.0, 0)
    inertia = load_matrix(p.payload.inertia)
    inverse, good = invert(inertia)
    if not (good and possible(p.payload.mass, ZERO, inertia)):
        return fail(m.status, PAYLOAD_INERTIA, 0.0, 0)
    store_matrix(inverse, m.free_body.inverse)
    for k in range(len(m.drive)):
        angle = p.initial.angle[k]
        if p.joint.locked[k] == 0.0 and fabs(angle) > p.joint.angle_limit[k]:
            return fail(m.status, INITIAL_ANGLE, angle, k + 1)
    ratio = p.servo.outer_period / p.servo.inner_period
    if ratio < 0.5 or fabs(ratio - float(round(ratio))) > 1e-6 * ratio:
        return fail(m.status, PERIODS, ratio, 0)
    for i in range(1, int(p.trajectory.points)):
        if not p.trajectory.time[i] > p.trajectory.time[i - 1]:
            return fail(m.status, TABLE, p.trajectory.time[i], i + 1)
    code = compliance.check_segments(m)
    for k in range(len(m.drive)):
        if code == 0:
            code = _check_link(m, k)
    return code


@kernel
def _check_command(m):
    """Return 0 if the commanded rates and the Step command are finite, else a code."""
    c = m.command
    total = norm(c.velocity)
    if not isfinite(total):
        return fail(m.status, COMMAND, total, 1)
    total = norm(c.angular_velocity)
    if not isfinite(total):
        return fail(m.status, COMMAND, total, 2)
    if not isfinite(c.rate):
        return fail(m.status, COMMAND, c.rate, 3)
    if not isfinite(c.step.amplitude):
        return fail(m.status, COMMAND, c.step.amplitude, 4)
    if not isfinite(c.step.speed):
        return fail(m.status, COMMAND, c.step.speed, 5)
    return 0


@kernel
def _check_wrench(port, index, status):
    """Return 0 if the wrench on a port is finite, else a code."""
    total = norm(port.force) + norm(port.torque)
    if not isfinite(total):
        return fail(status, check.NOT_FINITE, total, index)
    return 0


@kernel
def _check_inputs(m):
    """Return 0 if the inputs are valid, else the code of the first failure."""
    c = m.command
    if c.mode < 1.0 or c.mode > LAST_MODE:
        return fail(m.status, NO_MODE, c.mode, 0)
    if c.mode == SINGLE and not 1.0 <= c.joint <= float(len(m.drive)):
        return fail(m.status, NO_JOINT, c.joint, 0)
    if not 1.0 <= c.step.axis <= 6.0:
        return fail(m.status, NO_AXIS, c.step.axis, 0)
    code = _check_command(m)
    if code == 0:
        code = check.check_port(m.base, 1, m.status)
    if code == 0:
        code = check.check_acceleration(m.base, 1, m.status)
    if code == 0:
        code = _check_wrench(m.interface, 2, m.status)
    if code == 0:
        code = _check_wrench(m.payload, 3, m.status)
    return code


@kernel
def _place_root(m, tau):
    """Place R at `tau` seconds into the step: fixed in I, or moving with the port base."""
    p = m.parameters
    if p.base_fixed != 0.0:
        store(load(p.base.position), m.root.position)
        angles = p.base.angles
        store_matrix(from_angles(angles[0], angles[1], angles[2]), m.root.rotation)
        store(ZERO, m.root.velocity)
        store(ZERO, m.root.angular_velocity)
        store(ZERO, m.root.acceleration)
        store(ZERO, m.root.angular_acceleration)
    else:
        extrapolate(m.base, load(m.base.acceleration), load(m.base.angular_acceleration), tau, m.root)
        store(load(m.base.acceleration), m.root.acceleration)
        store(load(m.base.angular_acceleration), m.root.angular_acceleration)


@kernel
def _keep_middle(m):
    """Store the present pose and twist of R as those at mid-step."""
    store(load(m.root.position), m.middle.position)
    store_matrix(load_matrix(m.root.rotation), m.middle.rotation)
    store(load(m.root.velocity), m.middle.velocity)
    store(load(m.root.angular_velocity), m.middle.angular_velocity)


@kernel
def _place_sprung(m):
    """Place the links, and set deflection and wrench of the condensed spring."""
    links.place(m)
    payload.deflect(m)


_place_arm = variant("chain", motion.place, _place_sprung)
_stiffen = variant("chain", damping.update, compliance.update)


@kernel
def _nothing_to_lay_out(m):
    """Return 0: rigid links have no chain of their own."""
    return 0


_lay_out = variant("chain", chain.lay_out, _nothing_to_lay_out)


@kernel
def _place(m, tau):
    """Place root, links and payload at `tau` seconds into the step for the present state. Returns 0 or a code."""
    _place_root(m, tau)
    _place_arm(m)
    turned = m.free_body.deflection
    size = fabs(turned[3]) + fabs(turned[4]) + fabs(turned[5])
    if not size < LARGEST_TURN:
        return fail(m.status, DEFLECTION, size, 0)
    return 0


@kernel
def _tick(m):
    """Run the servo loops that are due. Returns 0, or the code of a command that cannot be followed."""
    p = m.parameters.servo
    code = 0
    if m.clock.inner_left <= 0.0:
        code = control.tick(m)
        servo.tick_outer(m)
        m.clock.inner_left = float(round(p.outer_period / p.inner_period))
    servo.tick_inner(m)
    m.clock.inner_left -= 1.0
    m.clock.until_inner += p.inner_period
    return code


@kernel
def _micro_step_sprung(m, h):
    """Advance links, drives and the payload on its spring over h from the state set by `_place`."""
    payload.load_arm(m)
    if m.parameters.variant == KINEMATIC:
        drive.follow_commands(m, h)
        payload.advance(m, h)
        return
    drive.predict(m, h)
    links.accelerate(m)
    force, torque = links.root_wrench(m)
    store(force, m.base.force_now)
    store(torque, m.base.torque_now)
    drive.advance(m, h)
    payload.advance(m, h)


_micro_step = variant("chain", motion.micro_step, _micro_step_sprung)


@kernel
def _finite(m):
    """Return 0 if all joints move at finite rates, else a code."""
    for k in range(len(m.drive)):
        if not isfinite(m.drive[k].input_rate + m.drive[k].motor_rate):
            return fail(m.status, BROKEN, m.drive[k].input_rate, k + 1)
    return 0


@kernel
def _clear_accounts(m):
    """Set all work and losses to zero."""
    a = m.accounting
    a.motors = 0.0
    a.friction = 0.0
    a.gears = 0.0
    a.stops = 0.0
    a.spring = 0.0
    a.interface = 0.0
    a.thrust = 0.0
    a.base = 0.0
    a.restiffened = 0.0


@kernel
def initialize(m):
    """Set arm and payload at rest in their initial pose, and the stiffness for it. Returns 0, or a code."""
    code = _check_inputs(m)
    if code == 0:
        code = _check_parameters(m)
    if code != 0:
        return code
    links.prepare(m)
    drive.prepare(m)
    _place_root(m, 0.0)
    _keep_middle(m)
    links.place(m)
    payload.prepare(m)
    code = _lay_out(m)
    if code == 0:
        _place_arm(m)
        code = _stiffen(m)
    if code == 0:
        code = _place(m, 0.0)
    if code != 0:
        return code
    _clear_accounts(m)
    m.clock.until_inner = 0.0
    m.clock.inner_left = 0.0
    m.clock.in_mode = 0.0
    m.clock.mode = 0.0
    m.clock.update_before = m.command.stiffness_update
    m.clock.told = 0.0
    m.flag.singular = 0.0
    m.flag.guard = 0.0
    m.flag.rate_limited = 0.0
    m.flag.arrived = 0.0
    m.notice.not_reached = 0.0
    m.notice.rate_limited = 0.0
    m.notice.singular = 0.0
    m.notice.joint_limit = 0.0
    m.validity.stiffness_outdated = 0.0
    m.validity.pose_gain = 0.0
    m.compliance.updates = 0.0
    sensing.set_gain_limits(m)
    supervisor.enter(m)
    store(ZERO, m.base.force_now)
    store(ZERO, m.base.torque_now)
    outputs.publish(m, 0.0)
    m.status.code = 0.0
    return 0


@kernel
def _update_stiffness(m):
    """Recompute the stiffness on a rising edge of the request, or when it is outdated and `automatic` is set.

    The energy gained by the deflected spring is work.
    """
    requested = m.command.stiffness_update
    outdated = m.flag.stiffness_outdated != 0.0 and m.parameters.compliance.automatic != 0.0
    code = 0
    if outdated or (requested != 0.0 and m.clock.update_before == 0.0):
        _place_root(m, 0.0)
        _place_arm(m)
        before = outputs.strain_energy(m)
        code = _stiffen(m)
        m.accounting.restiffened += outputs.strain_energy(m) - before
        m.compliance.updates += 1.0
        sensing.set_gain_limits(m)
    m.clock.update_before = requested
    return code


@kernel
def _answer_base(m):
    """Change the joint rates by the response to the station's twist minus the extrapolated one (AFFINE).

    The twists are compared in the axes of now: those of R at the end of the last step were extrapolated too, and their
    error would count times a velocity that everything has in common (ruling R48).
    """
    before = load_matrix(m.root.rotation)
    velocity = apply_transposed(before, load(m.root.velocity))
    angular_velocity = apply_transposed(before, load(m.root.angular_velocity))
    _place_root(m, 0.0)
    links.place(m)
    now = load_matrix(m.root.rotation)
    outputs.answer_base(
        m,
        subtract(load(m.root.velocity), apply(now, velocity)),
        subtract(load(m.root.angular_velocity), apply(now, angular_velocity)),
    )


@kernel
def step(m, t, h):
    """Advance the manipulator from t by h > 0, s. Returns 0, or the code of a failure."""
    p = m.parameters
    code = _check_inputs(m)
    if code == 0 and outputs.is_affine(m):
        _answer_base(m)
    if code == 0:
        code = _update_stiffness(m)
    if code != 0:
        return code
    payload.clear_impulses(m)
    done = 0.0
    while h - done > ROUNDING:
        code = _place(m, done)
        if code == 0 and m.clock.until_inner <= ROUNDING:
            code = _tick(m)
        if code != 0:
            return code
        # to the next tick, or to the end of the step
        span = min(m.clock.until_inner, h - done)
        size = span / max(1, ceil(span / p.micro_step - 1e-6))
        _micro_step(m, size)
        m.clock.until_inner -= size
        done += size
    _place_root(m, 0.5 * h)
    _keep_middle(m)
    code = _place(m, h)
    if code == 0:
        code = _finite(m)
    if code != 0:
        return code
    outputs.publish(m, h)
    m.status.code = 0.0
    return 0
