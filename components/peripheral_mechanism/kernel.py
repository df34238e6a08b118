"""The peripheral mechanism: its devices in the micro-step of a ring on legs.

Theory: peripheral-docking section 3, conventions section 6.
"""

from dockfmu.components.core import check
from dockfmu.components.core.component import combined
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import AFFINE
from dockfmu.components.peripheral_mechanism import accounting, accumulator, outputs, validity
from dockfmu.components.physics.contact import ring_pair
from dockfmu.components.physics.devices import drive, guide_pins, macro_step
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.vector import load, store
from dockfmu.components.physics.ring_on_legs import (
    contact,
    forward_stop,
    momentum_balance,
    platform,
    retraction,
    ring_step,
    separation,
)

MESSAGES = combined(
    check.messages("1 base, 2 target, 3 motor voltages, 4 contact"),
    macro_step.MESSAGES,
    platform.MESSAGES,
    guide_pins.MESSAGES,
    validity.MESSAGES,
)


@kernel
def _check_inputs(m):
    """Return 0, or the code of the first input that is not valid."""
    code = check.check_ports(m.base, m.target, m.status)
    if code == 0:
        code = drive.check_voltage(m.command.motor_voltage, m.status)
    if code == 0:
        code = check.check_accelerations(m.base, m.target, m.status)
    if code:
        return code
    return contact.check_inputs(m)


@kernel
def _place_cables(m, ahead):
    """Place the cables on the placed ring, the gears extrapolated by `ahead` (s). Returns the rate of the gears."""
    rate = -m.motor.rate / m.parameters.drive.nut_ratio
    retraction.place(m.parameters.cables, m.hexapod, m.cable, outputs.gear_angle(m) + ahead * rate, rate)
    return rate


@kernel
def _load(m, h):
    """Set the loads on the ring and the wrench on the target at the placed position, for a micro-step h."""
    ring = m.hexapod.ring
    force, torque = contact.on_ring(m)
    store(force, ring.force)
    store(torque, ring.torque)
    retraction.load_ring(m.hexapod, m.cable)
    force, torque = contact.on_target(m)
    store(force, m.target.force_now)
    store(torque, m.target.torque_now)
    separation.load_target(m, h)


@kernel
def _react(m):
    """Set the wrench of legs, drums, pushers and guide pins on the base at the last evaluation."""
    hexapod.react(m.hexapod)
    store(load(m.hexapod.base_force), m.base.force_now)
    store(load(m.hexapod.base_torque), m.base.torque_now)
    retraction.load_base(m.cable, m.base.force_now, m.base.torque_now)
    separation.load_base(m)


@kernel
def _drive(m, h):
    """Set the forces of legs and cables over a micro-step h, and all loads at the placed position."""
    p = m.parameters
    accumulator.drive_legs(p, m.hexapod, m.ring_state, m.accumulator, m.command.recoil_lock, h, h)
    forward_stop.hold(p, m.hexapod, m.end_stop, h)
    rate = _place_cables(m, 0.5 * h)
    retraction.dissipate(p.cables, m.cable, rate, h)
    _load(m, h)


@kernel
def _nothing(m, h):
    """Do nothing: all losses are counted in `_drive`."""


@kernel
def _retract(m, h):
    """Advance the drive over h against the cables."""
    p = m.parameters
    torque = p.cables.drum_radius * retraction.total_tension(m.cable)
    m.balance.gear_loss += drive.advance_self_locking(p.drive, m.motor, m.command.motor_voltage, torque, h)


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
    accumulator.drive_legs(m.parameters, m.hexapod, m.ring_state, m.accumulator, m.command.recoil_lock, 0.0, 0.0)
    _place_cables(m, 0.0)
    code = separation.finish(m)
    if code:
        return code
    outputs.set_motion(m)
    accounting.audit(m, h)
    contact.audit(m)
    validity.count(m)
    if m.parameters.base_motion == AFFINE:
        momentum_balance.respond(m)
    return 0


@kernel
def _place_devices(m):
    """Do nothing: `initialize` has set accumulators and cables before the legs are placed."""


_start = ring_step.make_start(_place_devices, _drive, _react, _finish)


@kernel
def initialize(m):
    """Set the mechanism to its initial position and evaluate it there. Returns 0, or the code of a failure."""
    p = m.parameters
    code = _check_inputs(m)
    if code == 0:
        code = validity.check_parameters(p, m.status)
    if code == 0:
        code = separation.start(m)
    if code:
        return code
    drive.initialize(p.drive, m.motor)
    platform.initialize(p, m.hexapod, m.ring_state, p.initial_stroke)
    m.balance.gear_loss = 0.0
    m.end_stop.dissipated = 0.0
    m.balance.spring_energy = 0.0
    for k in range(platform.LEGS):
        e = m.accumulator[k]
        accumulator.initialize(p.accumulators, e, p.legs.stroke - p.initial_stroke)
        m.balance.spring_energy += accumulator.stored_energy(p.accumulators, e)
    retraction.initialize(p.cables, m.cable)
    m.validity.cable_stop = 0.0
    return _start(m)


_micro_step = ring_step.make_micro_step(_drive, _react, _nothing, _retract)
_advance = macro_step.make_advance(_micro_step, ring_pair.PENETRATION, platform.DEGENERATE)
step = macro_step.make_step(_check_inputs, ring_step.begin, _advance, _finish)
