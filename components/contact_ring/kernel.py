"""One evaluation of the pair of rings for a whole step; see `dockfmu.components.physics.contact.evaluation`."""

from dockfmu.components.core import check
from dockfmu.components.core.component import combined, pass_on
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import losses, ring_pair
from dockfmu.components.physics.contact.evaluation import DELAYED_MIDPOINT, ahead, place_link, place_ports
from dockfmu.components.physics.devices import interface_load
from dockfmu.components.physics.mechanics.vector import load, store

MESSAGES = combined(check.messages("1 base, 2 target, 3 ring"), ring_pair.MESSAGES)


@kernel
def _check_inputs(m):
    code = check.check_ports(m.base, m.target, m.status)
    return code if code else check.check_port(m.link[0], 3, m.status)


@kernel
def _place(m, tau):
    """Set the inputs of the unit, tau after those of the component were received."""
    place_ports(m, tau, m.ring_pair.input.base)
    place_link(m.link[0], tau, m.ring_pair.input.link)


@kernel
def _prepare(m, h):
    """Set the inputs for friction held over h; the velocities are those at its start."""
    m.ring_pair.input.step = h
    m.ring_pair.input.lead = 0.0
    m.ring_pair.input.mass[0] = m.parameters.ring_mass
    for k in range(ring_pair.LATCHES):
        m.ring_pair.input.release[k] = m.command.release[k]


@kernel
def _detect(m, h):
    """Evaluate and accept contact at the placed poses, for a step of length h. Returns 0, or the code of a failure."""
    unit = m.ring_pair
    code = pass_on(m.status, ring_pair.attempt(unit), unit.status)
    if code:
        return code
    losses.begin_step(unit.tally, unit.work.link, unit.work.sums, m.losses, h)
    code = pass_on(m.status, ring_pair.accept(unit, h), unit.status)
    if code:
        return code
    if h > 0.0 and m.parameters.evaluation != DELAYED_MIDPOINT:
        ring_pair.remember_friction(unit)
    return 0


@kernel
def _publish(m):
    """Set wrenches, loads, sensors and flags of the step to those of the evaluation."""
    output = m.ring_pair.output
    store(load(output.target.force), m.target.force)
    store(load(output.target.torque), m.target.torque)
    interface_load.hold(m.load, load(m.target.force), load(m.target.torque))
    store(load(output.link.force), m.link[0].force)
    store(load(output.link.torque), m.link[0].torque)
    for k in range(len(m.sensor.mated)):
        m.sensor.mated[k] = output.mated[k]
    for k in range(len(m.sensor.latched)):
        m.sensor.latched[k] = output.latched[k]
    m.sensor.capture = output.capture
    m.flag.contact = output.contact
    m.flag.capture_mechanical = output.capture_mechanical
    m.capture.margin = ring_pair.capture_margin(m.ring_pair)


@kernel
def _finish(m, h):
    """Set wrenches and energies at the poses to which the twists lead at the end of the step."""
    _place(m, h)
    # too deep a penetration is not a failure yet: the next step reports it if it is still there
    ring_pair.evaluate(m.ring_pair)
    output = m.ring_pair.output
    store(load(output.target.force), m.target.force_now)
    store(load(output.target.torque), m.target.torque_now)
    store(load(output.link.force), m.link[0].force_now)
    store(load(output.link.torque), m.link[0].torque_now)
    ring_pair.copy_contacts(m.ring_pair.tally, m.contact)
    ring_pair.publish_validity(m.ring_pair, m.validity)
    out = m.audit
    out.stored_energy = output.stored_energy
    out.dissipated_contact = losses.dissipated(m.losses)
    out.dissipated_latches = output.dissipated_latches
    out.dissipated_energy = out.dissipated_contact + out.dissipated_latches


@kernel
def initialize(m):
    """Reset the contact and evaluate it at the start. Returns 0, or the code of a failure."""
    code = _check_inputs(m)
    if code:
        return code
    code = pass_on(m.status, ring_pair.initialize(m.ring_pair), m.ring_pair.status)
    if code:
        return code
    losses.reset(m.losses)
    _prepare(m, 0.0)
    _place(m, 0.0)
    code = _detect(m, 0.0)
    if code:
        return code
    _publish(m)
    _finish(m, 0.0)
    return 0


@kernel
def step(m, t, h):
    """Evaluate contact for a step of length h > 0, s. Returns 0, or the code of a failure."""
    code = _check_inputs(m)
    if code:
        return code
    _prepare(m, h)
    _place(m, ahead(m.parameters.evaluation, h))
    code = _detect(m, h)
    if code:
        return code
    _publish(m)
    _finish(m, h)
    m.status.code = 0.0
    return 0
