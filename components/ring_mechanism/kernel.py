"""A ring on six legs with its contact: the legs in the micro-step of the peripheral mechanism."""

from dockfmu.components.core import check
from dockfmu.components.core.component import combined
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import AFFINE
from dockfmu.components.physics.contact import ring_pair
from dockfmu.components.physics.devices import guide_pins, macro_step
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.vector import load, store
from dockfmu.components.physics.ring_on_legs import momentum_balance, platform, ring_step, separation
from dockfmu.components.physics.ring_on_legs.contact import internal as contact
from dockfmu.components.ring_mechanism import outputs
from dockfmu.components.ring_mechanism.legs import chosen as legs

MESSAGES = combined(
    check.messages("1 base, 2 target, 3 motor voltages"),
    macro_step.MESSAGES,
    platform.RING_MESSAGES,
    guide_pins.MESSAGES,
    contact.MESSAGES,
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
def _drive(m, h):
    """Set the forces of the legs over a micro-step h, and all loads at the placed position."""
    legs.drive(m, h, h)
    force, torque = contact.on_ring(m)
    store(force, m.hexapod.ring.force)
    store(torque, m.hexapod.ring.torque)
    legs.load_ring(m)
    force, torque = contact.on_target(m)
    store(force, m.target.force_now)
    store(torque, m.target.torque_now)
    separation.load_target(m, h)


@kernel
def _react(m):
    """Set the wrench of legs, cables, pushers and guide pins on the base at the last evaluation."""
    hexapod.react(m.hexapod)
    store(load(m.hexapod.base_force), m.base.force_now)
    store(load(m.hexapod.base_torque), m.base.torque_now)
    legs.load_base(m)
    separation.load_base(m)


@kernel
def _audit(m, h):
    """Set momentum and energies, with everything placed at the end of a step of length h."""
    momentum_balance.audit(m, h)
    m.audit.stored_energy = m.balance.pusher_energy + m.guiding.sums.stored_energy
    m.audit.dissipated_guide_pins = m.guiding.dissipated
    m.audit.dissipated_energy = m.guiding.dissipated
    legs.audit(m)
    contact.audit(m)


@kernel
def _finish(m, h):
    """Set outputs and audit at the end of a step of length h, with the wrenches of the last evaluation.

    Returns 0, or the code of a failure.
    """
    code = ring_step.place(m, h, 0.0)
    if code == 0:
        code = contact.finish_step(m)
    if code:
        return code
    code = separation.finish(m)
    if code == 0:
        code = legs.check_stops(m)
    if code:
        return code
    legs.drive(m, 0.0, 0.0)
    outputs.set_motion(m)
    _audit(m, h)
    if m.parameters.base_motion == AFFINE:
        momentum_balance.respond(m)
    return 0


_start = ring_step.make_start(legs.initialize, _drive, _react, _finish)


@kernel
def initialize(m):
    """Set the mechanism to its initial position and evaluate it there. Returns 0, or the code of a failure."""
    code = _check_inputs(m)
    if code == 0:
        code = legs.check_geometry(m)
    if code == 0:
        code = legs.check(m)
    if code == 0:
        code = separation.start(m)
    if code:
        return code
    legs.build(m)
    return _start(m)


_micro_step = ring_step.make_micro_step(_drive, _react, legs.lose, legs.retract)
_advance = macro_step.make_advance(_micro_step, ring_pair.PENETRATION, platform.DEGENERATE)
step = macro_step.make_step(_check_inputs, ring_step.begin, _advance, _finish)
