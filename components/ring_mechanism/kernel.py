"""A ring on six legs with its contact: initialisation and the loop of micro-steps, as in the peripheral mechanism.

A micro-step of length h is drift - kick - drift. The ring drifts to the middle, where contact and legs are evaluated
once, with velocities predicted by the last acceleration. Then velocities are kicked over h, and the ring drifts to the
end.
"""

from components.contact import kinematics, ring_pair
from components.core import check
from components.core.component import combined
from components.core.kernel import kernel
from components.core.ports import AFFINE
from components.core.vector import load, store
from components.devices import exchange, macro_step, motion
from components.linkage import hexapod
from components.peripheral_mechanism import internal_contact as contact
from components.peripheral_mechanism import micro_step_control, momentum_balance, platform
from components.ring_mechanism import outputs
from components.ring_mechanism.legs import chosen as legs

MESSAGES = combined(
    check.messages("1 base, 2 target, 3 motor voltages"), macro_step.MESSAGES, platform.RING_MESSAGES, contact.MESSAGES
)


@kernel
def _check_inputs(m):
    """Return 0, or the code of the first input that is not valid."""
    code = check.check_ports(m.base, m.target, m.status)
    if code == 0:
        code = check.check_accelerations(m.base, m.target, m.status)
    if code == 0:
        code = legs.check_command(m)
    return code


@kernel
def _place(m, tau, ahead):
    """Place ports and ring at `tau` (s) into the step, with the velocities of the ring extrapolated by `ahead` (s).

    Returns 0, or the code of a failure.
    """
    motion.place_ports(m.base, m.target, m.motion, tau)
    kinematics.relate(m.relative, m.motion.base, m.motion.target)
    return platform.place(m.parameters, m.hexapod, m.ring_state, ahead, m.status)


@kernel
def _load(m):
    """Set the loads on the ring and the wrench on the target at the placed position."""
    force, torque = contact.on_ring(m)
    store(force, m.hexapod.ring.force)
    store(torque, m.hexapod.ring.torque)
    legs.load_ring(m)
    force, torque = contact.on_target(m)
    store(force, m.target.force_now)
    store(torque, m.target.torque_now)


@kernel
def _accelerate(m):
    """Find the acceleration of the ring with all forces set."""
    hexapod.accelerate(
        m.hexapod, load(m.motion.base.angular_velocity), load(m.base.angular_acceleration), load(m.base.acceleration)
    )


@kernel
def _micro_step(m, start, h, long):
    """Advance by one micro-step of length h from `start` in the step.

    Returns 0, CLOSED or the code of a failure. CLOSED means that the micro-step is `long` and that a contact closes in
    it or by its end. CLOSED and a penetration leave the state unchanged.
    """
    x = m.hexapod
    s = m.ring_state
    platform.keep_pose(x, s, m.stepping)
    if long and contact.closes_by(m, start + h, h):
        return macro_step.CLOSED
    platform.drift(x, s, 0.5 * h)
    code = _place(m, start + 0.5 * h, 0.5 * h)
    if code == 0:
        code = contact.detect(m, h)
    if code == 0 and long and contact.newly_closed(m):
        code = macro_step.CLOSED
    if code:
        platform.restore_pose(x, s, m.stepping)
        return code
    code = contact.accept(m, h)
    if code:
        return code
    legs.drive(m, h, h)
    _load(m)
    _accelerate(m)
    contact.account(m, h)
    legs.lose(m, h)
    micro_step_control.set_next(m.parameters, m.stepping, s.acceleration, x.ring.acceleration, h)
    code = platform.kick(x, s, h, m.status)
    if code:
        return code
    platform.drift(x, s, 0.5 * h)
    legs.retract(m, h)
    force, torque = motion.turn_to_inertial(m.motion.target, load(m.target.force_now), load(m.target.torque_now))
    for i in range(3):
        m.balance.impulse[i] += h * force[i]
        m.balance.angular_impulse[i] += h * torque[i]
    contact.remember_closed(m, h)
    return 0


@kernel
def _audit(m):
    """Set momentum and energies, with everything placed at the end of a step."""
    momentum_balance.audit(m)
    m.audit.stored_energy = 0.0
    m.audit.dissipated_energy = 0.0
    legs.audit(m)
    contact.audit(m)


@kernel
def _finish(m, h):
    """Set outputs and audit at the end of a step of length h, with the wrenches of the last evaluation.

    Returns 0, or the code of a failure.
    """
    hexapod.react(m.hexapod)
    store(load(m.hexapod.base_force), m.base.force_now)
    store(load(m.hexapod.base_torque), m.base.torque_now)
    legs.load_base(m)
    code = _place(m, h, 0.0)
    if code == 0:
        code = contact.finish_step(m)
    if code:
        return code
    legs.drive(m, 0.0, 0.0)
    outputs.set_motion(m)
    _audit(m)
    if m.parameters.base_motion == AFFINE:
        momentum_balance.respond(m)
    return 0


@kernel
def initialize(m):
    """Set the mechanism to its initial position and evaluate it there. Returns 0, or the code of a failure."""
    p = m.parameters
    code = _check_inputs(m)
    if code == 0:
        code = legs.check_geometry(m)
    if code == 0:
        code = legs.check(m)
    if code:
        return code
    legs.build(m)
    micro_step_control.initialize(p, m.stepping)
    code = contact.initialize(m)
    if code == 0:
        code = _place(m, 0.0, 0.0)
    if code == 0:
        code = contact.detect(m, p.micro_step)
    if code:
        return code
    legs.initialize(m)
    code = contact.accept(m, 0.0)
    if code == 0:
        contact.start(m)
        legs.drive(m, 0.0, 0.0)
        _load(m)
        _accelerate(m)
        code = _finish(m, 0.0)
    if code:
        return code
    for i in range(6):
        m.ring_state.acceleration[i] = m.hexapod.ring.acceleration[i]
    exchange.initialize(m)
    return 0


@kernel
def _begin(m):
    """Begin a step: reset contact, and set the momenta with the true motion of the base. Returns 0 or a code."""
    contact.begin_step(m)
    return momentum_balance.begin(m)


_advance = macro_step.make_advance(_micro_step, ring_pair.PENETRATION, platform.DEGENERATE)
step = macro_step.make_step(_check_inputs, _begin, _advance, _finish)
