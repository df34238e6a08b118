"""A step of the contact: micro-steps of the swinging head between ports that move with their twists.

The ports are received once per step and extrapolated to the middle of each micro-step, so that the mean wrenches belong
to the middle of the step (ruling R2): the component steps first, and the bodies move over the same interval under its
means.
"""

from __future__ import annotations

from dockfmu.components.contact_airlock.swing import place_head, set_rates, stop_energy, swing, wrench_on_base
from dockfmu.components.core import check
from dockfmu.components.core.component import combined, pass_on
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.timing import micro_steps
from dockfmu.components.physics.contact import airlock_pair
from dockfmu.components.physics.contact.evaluation import place_ports
from dockfmu.components.physics.contact.force import clear
from dockfmu.components.physics.devices import interface_load
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import accumulate, add, cross, load, norm, scale, store

MESSAGES = combined(check.messages("1 base, 2 target"), airlock_pair.MESSAGES)


@kernel
def _place(m, tau):
    """Place the head in its cone, tau after the ports were received."""
    place_ports(m, tau, m.motion.relative)
    place_head(m)


@kernel
def _evaluate(m):
    unit = m.airlock_pair
    return pass_on(m.status, airlock_pair.evaluate(unit), unit.status)


@kernel
def _to_passive(v):
    """Return a vector of frame P in PMU axes."""
    return (-v[0], v[2], v[1])


@kernel
def _wrench_on_target(m):
    """Return (force, torque) on PMU, its axes, about its origin, now."""
    passive = m.airlock_pair.work.sums.passive
    force = _to_passive(load(passive.force))
    torque = _to_passive(load(passive.torque))
    return force, add(torque, cross((m.parameters.cone.offset, 0.0, 0.0), force))


@kernel
def _take_load(m, force, torque):
    """Take a wrench on PMU into the extremes of the step; x of PMU points toward the active unit."""
    interface_load.take(m.load, (-force[0], force[1], force[2]), torque)


@kernel
def _micro_step(m, tau, h):
    """Advance the head by h, from tau after the start of the step. Returns 0, or the code of a failure."""
    _place(m, tau + 0.5 * h)
    code = _evaluate(m)
    if code:
        return code
    unit = m.airlock_pair
    if unit.tally.count > 0.0:
        m.work.touched = 1.0
    swing(m, h)
    airlock_pair.accept(unit)
    force, torque = _wrench_on_target(m)
    _take_load(m, force, torque)
    accumulate(scale(h, force), m.work.target.force)
    accumulate(scale(h, torque), m.work.target.torque)
    force, torque = wrench_on_base(m)
    accumulate(scale(h, force), m.work.base.force)
    accumulate(scale(h, torque), m.work.base.torque)
    return 0


@kernel
def _count_micro_steps(m, h):
    """Return the number of micro-steps of a step of length h: one if the head cannot reach the cone in it."""
    _place(m, h)
    margin = 2.0 * h * norm(load(m.motion.hinge.velocity))
    resting = m.swing.rate[0] == 0.0 and m.swing.rate[1] == 0.0
    if resting and not airlock_pair.is_near(m.airlock_pair, margin):
        return 1
    return micro_steps(h, m.parameters.micro_step)


@kernel
def _publish_now(m):
    """Set contacts, energies and instantaneous wrenches at the present poses of head and ports."""
    unit = m.airlock_pair
    # too deep a penetration is not a failure yet: the next step reports it if it is still there
    airlock_pair.evaluate(unit)
    set_rates(m, m.swing.rate[0], m.swing.rate[1])
    airlock_pair.sum_forces(unit)
    force, torque = _wrench_on_target(m)
    store(force, m.target.force_now)
    store(torque, m.target.torque_now)
    force, torque = wrench_on_base(m)
    store(force, m.base.force_now)
    store(torque, m.base.torque_now)
    airlock_pair.copy_contacts(unit.tally, m.contact)
    for k in range(len(m.contact)):
        if m.contact[k].active != 0.0:
            position = _to_passive(load(m.contact[k].position))
            store(add((m.parameters.cone.offset, 0.0, 0.0), position), m.contact[k].position)
            store(_to_passive(load(m.contact[k].normal)), m.contact[k].normal)
    hinge = m.parameters.hinge
    fired = 0.0
    for k in range(len(m.latch)):
        m.latch[k].fired = unit.state.latch[k].fired
        m.latch[k].travel = unit.state.latch[k].travel
        fired += unit.state.latch[k].fired
    m.sensor.first_contact = 1.0 if m.work.touched != 0.0 or unit.tally.count > 0.0 else 0.0
    m.sensor.capture = 1.0 if fired >= m.parameters.latches_for_capture else 0.0
    out = m.audit
    out.kinetic_energy = 0.0
    out.stored_energy = unit.work.sums.stored_energy
    for i in range(2):
        m.head.angle[i] = m.swing.angle[i]
        m.head.rate[i] = m.swing.rate[i]
        out.kinetic_energy += 0.5 * hinge.inertia * m.swing.rate[i] * m.swing.rate[i]
        out.stored_energy += stop_energy(hinge, m.swing.angle[i])
    # the head turns about axes of AU, balanced about its hinge; that it turns with AU is neglected, as in its equations
    spin = scale(hinge.inertia, (0.0, m.swing.rate[0], m.swing.rate[1]))
    store(apply_transposed(load_matrix(m.motion.base.rotation), spin), out.angular_momentum)
    out.dissipated_contact = m.losses.contact
    out.dissipated_stops = m.losses.stops
    out.dissipated_latches = unit.state.dissipated_latches
    out.dissipated_energy = out.dissipated_contact + out.dissipated_stops + out.dissipated_latches
    m.validity.swing = m.swing.exceeded


@kernel
def initialize(m):
    """Set the head to rest in the middle of its swing and evaluate the contact. Returns 0, or a code."""
    code = check.check_ports(m.base, m.target, m.status)
    if code:
        return code
    unit = m.airlock_pair
    code = pass_on(m.status, airlock_pair.initialize(unit), unit.status)
    if code:
        return code
    for i in range(2):
        m.swing.angle[i] = 0.0
        m.swing.rate[i] = 0.0
        m.work.stop[i] = 0.0
    m.swing.exceeded = 0.0
    m.losses.contact = 0.0
    m.losses.stops = 0.0
    m.work.touched = 0.0
    _place(m, 0.0)
    code = _evaluate(m)
    if code:
        return code
    airlock_pair.accept(unit)
    _publish_now(m)
    store(load(m.target.force_now), m.target.force)
    store(load(m.target.torque_now), m.target.torque)
    store(load(m.base.force_now), m.base.force)
    store(load(m.base.torque_now), m.base.torque)
    interface_load.clear(m.load)
    _take_load(m, load(m.target.force_now), load(m.target.torque_now))
    return 0


@kernel
def step(m, t, h):
    """Advance the head over a step of length h > 0, s, and set the mean wrenches. Returns 0, or a code."""
    code = check.check_ports(m.base, m.target, m.status)
    if code:
        return code
    clear(m.work.base)
    clear(m.work.target)
    interface_load.clear(m.load)
    m.work.touched = 0.0
    count = _count_micro_steps(m, h)
    size = h / count
    for k in range(count):
        code = _micro_step(m, k * size, size)
        if code:
            return code
    store(scale(1.0 / h, load(m.work.target.force)), m.target.force)
    store(scale(1.0 / h, load(m.work.target.torque)), m.target.torque)
    store(scale(1.0 / h, load(m.work.base.force)), m.base.force)
    store(scale(1.0 / h, load(m.work.base.torque)), m.base.torque)
    _place(m, h)
    _publish_now(m)
    m.status.code = 0.0
    return 0
