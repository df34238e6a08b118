"""One evaluation of the probe-cone unit for a whole step; see `dockfmu.components.physics.contact.evaluation`."""

from math import isfinite

from dockfmu.components.contact_probe_cone import roller_losses
from dockfmu.components.core import check
from dockfmu.components.core.component import Message, combined, fail, pass_on
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import losses, probe_cone
from dockfmu.components.physics.contact.evaluation import DELAYED_MIDPOINT, ahead, place_link, place_ports
from dockfmu.components.physics.contact.probe_cone import tip_slope
from dockfmu.components.physics.devices import interface_load
from dockfmu.components.physics.mechanics.vector import axpy, load, store

SLOPE = 3
MESSAGES = combined(
    check.messages("1 base, 2 target, 3 head, 4 limiter"),
    {SLOPE: Message("tip slope of the probe, or a roller, is not finite")},
    probe_cone.MESSAGES,
)


@kernel
def _check_inputs(m):
    code = check.check_ports(m.base, m.target, m.status)
    total = m.link[0].tip_slope[0] + m.link[0].tip_slope[1]
    for j in range(2):
        if code == 0:
            code = check.check_port(m.link[j], 3 + j, m.status)
    for k in range(len(m.roller)):
        for i in range(3):
            total += m.roller[k].position[i] + m.roller[k].velocity[i]
    if code == 0 and not isfinite(total):
        code = fail(m.status, SLOPE, total, 0)
    return code


@kernel
def _place(m, tau):
    """Set the inputs of the unit, tau after those of the component were received."""
    inputs = m.probe_cone.input
    place_ports(m, tau, inputs.base)
    for j in range(2):
        place_link(m.link[j], tau, inputs.link[j])
        inputs.tip_slope[j] = m.link[0].tip_slope[j]
    for k in range(len(m.roller)):
        roller = m.roller[k]
        store(axpy(tau, load(roller.velocity), load(roller.position)), inputs.roller[k].position)
        store(load(roller.velocity), inputs.roller[k].velocity)
    inputs.latches_armed = m.command.latches_armed


@kernel
def _detect(m, h):
    """Evaluate and accept contact at the placed poses, for a step of length h. Returns 0, or the code of a failure."""
    unit = m.probe_cone
    code = pass_on(m.status, probe_cone.attempt(unit), unit.status)
    if code:
        return code
    roller_losses.begin_step(unit, m.losses, h)
    probe_cone.accept(unit)
    if h > 0.0 and m.parameters.evaluation != DELAYED_MIDPOINT:
        probe_cone.remember_friction(unit)
    slope = (unit.input.tip_slope[0], unit.input.tip_slope[1])
    tip_slope.add_work(m.tip, tip_slope.spring_torque(unit), slope)
    store(load(m.tip.torque), m.link[0].tip_torque)
    return 0


@kernel
def _publish(output, target, links, roller, interface):
    """Set the wrenches of the step, and the loads of the interface, to those of the evaluation."""
    store(load(output.target.force), target.force)
    store(load(output.target.torque), target.torque)
    interface_load.hold(interface, load(target.force), load(target.torque))
    for j in range(2):
        store(load(output.link[j].force), links[j].force)
        store(load(output.link[j].torque), links[j].torque)
    for k in range(len(roller)):
        store(load(output.roller[k].force), roller[k].force)


@kernel
def _publish_now(output, target, links):
    store(load(output.target.force), target.force_now)
    store(load(output.target.torque), target.torque_now)
    for j in range(2):
        store(load(output.link[j].force), links[j].force_now)
        store(load(output.link[j].torque), links[j].torque_now)


@kernel
def _set_sensors(output, sensor, flag):
    sensor.first_contact = output.first_contact
    sensor.socket_bottom = output.socket_bottom
    sensor.capture = output.capture
    flag.limiter_contact = output.limiter_contact
    for k in range(len(flag.roller_contact)):
        flag.roller_contact[k] = output.roller_contact[k]
    for k in range(len(flag.latch)):
        flag.latch[k] = output.latch_fired[k]


@kernel
def _finish(m, h):
    """Set wrenches and energies at the poses to which the twists lead at the end of the step."""
    _place(m, h)
    # too deep a penetration is not a failure yet: the next step reports it if it is still there
    probe_cone.evaluate(m.probe_cone)
    output = m.probe_cone.output
    _publish_now(output, m.target, m.link)
    m.capture.margin = probe_cone.capture_margin(m.probe_cone)
    probe_cone.copy_contacts(m.probe_cone.tally, m.contact)
    probe_cone.publish_validity(m.probe_cone, m.validity)
    out = m.audit
    out.stored_energy = output.stored_energy
    out.dissipated_contact = losses.dissipated(m.losses)
    out.dissipated_latches = output.dissipated_latches
    out.dissipated_energy = out.dissipated_contact + out.dissipated_latches
    out.work_tip = m.tip.work


@kernel
def initialize(m):
    """Reset the contact and evaluate it at the start. Returns 0, or the code of a failure."""
    code = _check_inputs(m)
    if code:
        return code
    unit = m.probe_cone
    code = pass_on(m.status, probe_cone.initialize(unit), unit.status)
    if code:
        return code
    tip_slope.reset(m.tip)
    roller_losses.reset(m.losses)
    unit.input.step = 0.0
    unit.input.lead = 0.0
    _place(m, 0.0)
    code = _detect(m, 0.0)
    if code:
        return code
    _publish(unit.output, m.target, m.link, m.roller, m.load)
    _set_sensors(unit.output, m.sensor, m.flag)
    _finish(m, 0.0)
    return 0


@kernel
def step(m, t, h):
    """Evaluate contact for a step of length h > 0, s. Returns 0, or the code of a failure."""
    code = _check_inputs(m)
    if code:
        return code
    tau = ahead(m.parameters.evaluation, h)
    unit = m.probe_cone
    unit.input.step = h
    unit.input.lead = 0.0
    unit.input.mass[0] = m.parameters.head_mass
    unit.input.mass[1] = m.parameters.limiter_mass
    _place(m, tau)
    code = _detect(m, h)
    if code:
        return code
    _publish(unit.output, m.target, m.link, m.roller, m.load)
    _set_sensors(unit.output, m.sensor, m.flag)
    _finish(m, h)
    m.status.code = 0.0
    return 0
