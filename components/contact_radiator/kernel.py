"""One evaluation of the radiator's pair for a whole step; see `dockfmu.components.physics.contact.evaluation`."""

from __future__ import annotations

from dockfmu.components.core import check
from dockfmu.components.core.component import combined, pass_on
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import losses, radiator_pair
from dockfmu.components.physics.contact.evaluation import ahead, place_ports
from dockfmu.components.physics.devices import interface_load
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.mechanics.rotation import angles, apply, load_matrix
from dockfmu.components.physics.mechanics.vector import axpy, load, store

MESSAGES = combined(check.messages("1 base, 2 target"), radiator_pair.MESSAGES)


@kernel
def _place(m, tau):
    """Place the active unit in USP, tau after the ports were received."""
    place_ports(m, tau, m.motion.relative)
    kinematics.copy_placement(m.motion.relative, m.radiator_pair.work.link[0])


@kernel
def _evaluate(m):
    unit = m.radiator_pair
    return pass_on(m.status, radiator_pair.evaluate(unit), unit.status)


@kernel
def _wrenches(m):
    """Return (force, torque) on USP, and on the active unit in its axes."""
    unit = m.radiator_pair
    A = load_matrix(unit.work.link[0].rotation)
    passive = unit.work.sums.passive
    active = unit.work.sums.part[0]
    return (
        load(passive.force), load(passive.torque), apply(A, load(active.force)), apply(A, load(active.torque))
    )  # fmt: skip


@kernel
def _publish_step(m):
    """Set wrenches and loads of the step to those of the evaluation, and the flags of its contacts."""
    unit = m.radiator_pair
    force, torque, on_base, torque_on_base = _wrenches(m)
    store(force, m.target.force)
    store(torque, m.target.torque)
    interface_load.hold(m.load, force, torque)
    store(on_base, m.base.force)
    store(torque_on_base, m.base.torque)
    m.sensor.first_contact = 1.0 if unit.tally.count > 0.0 else 0.0
    m.flag.plane_contact = 0.0
    m.flag.plug_contact = 0.0
    m.flag.guide_contact[0] = 0.0
    m.flag.guide_contact[1] = 0.0
    for k in range(int(unit.tally.count)):
        item = unit.tally.contact[k]
        if item.pair == radiator_pair.PLANES:
            m.flag.plane_contact = 1.0
        elif item.pair == radiator_pair.PLUG:
            m.flag.plug_contact = 1.0
        elif item.pair == radiator_pair.PIN:
            m.flag.guide_contact[int(item.index) - 1] = 1.0


@kernel
def _finish(m, h):
    """Set instantaneous wrenches, energies and contacts at the poses to which the twists lead at the step's end."""
    _place(m, h)
    unit = m.radiator_pair
    # too deep a penetration is not a failure yet: the next step reports it if it is still there
    radiator_pair.evaluate(unit)
    force, torque, on_base, torque_on_base = _wrenches(m)
    store(force, m.target.force_now)
    store(torque, m.target.torque_now)
    store(on_base, m.base.force_now)
    store(torque_on_base, m.base.torque_now)
    radiator_pair.copy_contacts(unit.tally, m.contact)
    m.sensor.capture = unit.state.captured
    relative = m.motion.relative
    m.docking.plane_gap = -relative.position[0]
    store(load(relative.position), m.docking.position)
    store(angles(load_matrix(relative.rotation)), m.docking.angles)
    plug = axpy(unit.parameters.plug.x, load(relative.rotation[0]), load(relative.position))
    m.flag.in_socket = 1.0 if radiator_pair.in_bore(unit, plug) else 0.0
    out = m.audit
    out.stored_energy = unit.work.sums.stored_energy
    out.dissipated_contact = losses.dissipated(m.losses)
    out.dissipated_ball = unit.state.dissipated_ball
    out.dissipated_energy = out.dissipated_contact + out.dissipated_ball


@kernel
def initialize(m):
    """Release the ball and evaluate the contact at the start. Returns 0, or the code of a failure."""
    code = check.check_ports(m.base, m.target, m.status)
    if code:
        return code
    unit = m.radiator_pair
    code = pass_on(m.status, radiator_pair.initialize(unit), unit.status)
    if code:
        return code
    losses.reset(m.losses)
    _place(m, 0.0)
    code = _evaluate(m)
    if code:
        return code
    radiator_pair.accept(unit)
    _publish_step(m)
    _finish(m, 0.0)
    return 0


@kernel
def step(m, t, h):
    """Evaluate contact for a step of length h > 0, s. Returns 0, or the code of a failure."""
    code = check.check_ports(m.base, m.target, m.status)
    if code:
        return code
    _place(m, ahead(m.parameters.evaluation, h))
    code = _evaluate(m)
    if code:
        return code
    unit = m.radiator_pair
    losses.begin_step(unit.tally, unit.work.link, unit.work.sums, m.losses, h)
    radiator_pair.accept(unit)
    _publish_step(m)
    _finish(m, h)
    m.status.code = 0.0
    return 0
