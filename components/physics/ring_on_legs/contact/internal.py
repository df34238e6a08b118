"""Contact inside the mechanism: the pair of rings in its record, evaluated at every micro-step.

`external_contact` has the same functions for the build whose contact comes through ports. `contact` chooses these for
a record with `ring_pair`.
"""

from dockfmu.components.core.component import pass_on
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import ring_pair
from dockfmu.components.physics.devices import motion
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix, store_matrix
from dockfmu.components.physics.mechanics.vector import add, cross, load, store
from dockfmu.components.physics.ring_on_legs import micro_step_control, platform
from dockfmu.components.physics.ring_on_legs.contact import external as external_contact

MESSAGES = ring_pair.messages(discard=False)


@kernel
def check_inputs(m):
    """Return 0: internal contact has no ports."""
    return 0


@kernel
def initialize(m):
    """Initialise the pair of rings and the energies. Returns 0, or the code of a failure."""
    unit = m.ring_pair
    code = pass_on(m.status, ring_pair.initialize(unit), unit.status)
    if code:
        return code
    m.balance.contact_work = 0.0
    m.flag.contact = 0.0
    return 0


@kernel
def start(m):
    """Record the stored energy of contact at the start, from which changes are counted."""
    m.balance.contact_energy = m.ring_pair.output.stored_energy


@kernel
def begin_step(m):
    """Clear the flag of contact, which is set for a whole step if the rings touch in it."""
    m.flag.contact = 0.0


@kernel
def _set_inputs(m, h):
    """Copy the placed frame 0 and ring plane to the inputs of the pair of rings; friction will be held over h."""
    inputs = m.ring_pair.input
    kinematics.copy_placement(m.relative, inputs.base)
    position, velocity = platform.point(m.hexapod, (m.parameters.ring.plane_offset, 0.0, 0.0))
    store(position, inputs.link.position)
    store(velocity, inputs.link.velocity)
    store_matrix(load_matrix(m.hexapod.ring.rotation), inputs.link.rotation)
    store(platform.turning(m.hexapod), inputs.link.angular_velocity)
    for k in range(ring_pair.LATCHES):
        inputs.release[k] = m.command.release[k]
    inputs.step = h
    # the velocities are those predicted for the middle of the micro-step
    inputs.lead = 0.5 * h
    inputs.mass[0] = m.parameters.ring.mass


@kernel
def detect(m, h):
    """Evaluate contact at the placed position as a trial for a micro-step h. Returns 0, or the code of a failure."""
    _set_inputs(m, h)
    unit = m.ring_pair
    return pass_on(m.status, ring_pair.attempt(unit), unit.status)


@kernel
def newly_closed(m):
    """Return whether the last trial closed a contact that was open in the last micro-step."""
    return int(m.ring_pair.tally.closed) & ~int(m.stepping.closed) != 0


@kernel
def closes_by(m, end, h):
    """Return whether an open contact closes in a micro-step of length h, which ends at `end` (s) in the step.

    The evaluation in the middle does not show contacts that close after it. The ring is moved on with its velocities
    and then restored to the pose kept in `stepping`.
    """
    x = m.hexapod
    s = m.ring_state
    platform.drift(x, s, h)
    motion.place_ports(m.base, m.target, m.motion, end)
    kinematics.relate(m.relative, m.motion.base, m.motion.target)
    platform.place_ring(x, s, 0.0)
    # a penetration that is too deep at the end is left to the evaluation in the middle; friction need not be held here
    _set_inputs(m, 0.0)
    closes = ring_pair.closes_new(m.ring_pair, m.stepping.closed)
    platform.restore_pose(x, s, m.stepping)
    return closes


@kernel
def remember_closed(m, h):
    """Remember the contacts of an accepted micro-step of length h, for `newly_closed` and the length of the next."""
    tally = m.ring_pair.tally
    micro_step_control.remember_contacts(m.stepping, tally.closed, tally.count, h)


@kernel
def accept(m, h):
    """Accept the last trial for a micro-step h. Returns 0, or the code of a failure."""
    unit = m.ring_pair
    code = pass_on(m.status, ring_pair.accept(unit, h), unit.status)
    if code:
        return code
    if h > 0.0:
        ring_pair.remember_friction(unit)
    m.flag.contact = max(m.flag.contact, unit.output.contact)
    return 0


@kernel
def on_ring(m):
    """Return the wrench on the ring about its centre of mass: (force in N, frame 0; torque in N m, ring axes)."""
    link = m.ring_pair.output.link
    force = load(link.force)
    torque = add(load(link.torque), cross((m.parameters.ring.plane_offset, 0.0, 0.0), force))
    return apply_transposed(load_matrix(m.hexapod.ring.rotation), force), torque


@kernel
def on_target(m):
    """Return the wrench on the passive unit: (force in N, torque in N m about the origin of PU), PU axes."""
    target = m.ring_pair.output.target
    return load(target.force), load(target.torque)


@kernel
def account(m, h):
    """Add the work of the contact on ring and passive unit over a micro-step h, before `kick`."""
    force, torque = on_ring(m)
    on_passive, torque_on_passive = on_target(m)
    m.balance.contact_work += external_contact.work(m, force, torque, on_passive, torque_on_passive, h)


@kernel
def finish_step(m):
    """Set forces, sensors and the list of contacts at the end of a step. Returns 0, or the code of a failure."""
    _set_inputs(m, 0.0)
    unit = m.ring_pair
    code = pass_on(m.status, ring_pair.evaluate(unit), unit.status)
    if code:
        return code
    output = unit.output
    for j in range(len(output.mated)):
        m.sensor.mated[j] = output.mated[j]
    for j in range(len(output.latched)):
        m.sensor.latched[j] = output.latched[j]
    m.sensor.capture = output.capture
    m.flag.capture_mechanical = output.capture_mechanical
    m.capture.margin = ring_pair.capture_margin(unit)
    ring_pair.copy_contacts(unit.tally, m.contact)
    m.validity.petal_tip = unit.state.validity.petal_tip
    m.validity.ring_border = unit.state.validity.ring_border
    return 0


@kernel
def audit(m):
    """Add the contact to the energies of the mechanism.

    Contacts and latches store or dissipate the energy that they take from ring and passive unit. The part that is
    neither stored in their springs nor lost in the latches is dissipated by damping and friction.
    """
    out = m.audit
    contact = m.ring_pair.output
    gained = contact.stored_energy - m.balance.contact_energy
    out.stored_energy += contact.stored_energy
    out.dissipated_latches = contact.dissipated_latches
    out.dissipated_contact = -m.balance.contact_work - gained - contact.dissipated_latches
    out.dissipated_energy += out.dissipated_contact + out.dissipated_latches
