"""Contact inside the mechanism: the probe-cone unit in its record, evaluated at every micro-step.

`external_contact` has the same functions for the build whose contact comes through ports. `contact` chooses between
them by the record: one with `probe_cone` gets these.
"""

from dockfmu.components.core.component import pass_on
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import probe_cone
from dockfmu.components.physics.contact.pairs import slot_of
from dockfmu.components.physics.contact.probe_cone import tip_slope
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.mechanics.vector import dot, load, store
from dockfmu.components.probe_mechanism.alignment import levers
from dockfmu.components.probe_mechanism.alignment.ports import AS_IN_SOURCE
from dockfmu.components.probe_mechanism.contact import implicit
from dockfmu.components.probe_mechanism.tree import reach

# cosine of 25 deg: a micro-step in which a normal turns by more is too long
TURNED = 0.906

MESSAGES = probe_cone.messages(discard=False)


@kernel
def check_inputs(m):
    """Return 0: internal contact has no ports."""
    return 0


@kernel
def _clear(sensor, flag):
    sensor.first_contact = 0.0
    sensor.socket_bottom = 0.0
    flag.limiter_contact = 0.0
    for k in range(levers.COUNT):
        flag.roller_contact[k] = 0.0


@kernel
def initialize(m):
    """Reset the unit and the energies. Returns 0, or the code of a failure."""
    m.implicit_contact.dissipated = 0.0
    m.implicit_contact.closed = 0.0
    tip_slope.reset(m.implicit_contact.tip)
    _clear(m.sensor, m.flag)
    unit = m.probe_cone
    return pass_on(m.status, probe_cone.initialize(unit), unit.status)


@kernel
def begin_step(m):
    """Clear the sensors and flags of contact, which hold over the step in which they closed."""
    _clear(m.sensor, m.flag)


@kernel
def set_inputs(m, ahead):
    """Copy the placed frame 0, links and rollers to the inputs of the unit; for `ahead`, s, see there."""
    inputs = m.probe_cone.input
    inputs.ahead = ahead
    kinematics.copy_placement(m.relative, inputs.base)
    for j in range(2):
        kinematics.copy_placement(m.tree.link[j], inputs.link[j])
        inputs.tip_slope[j] = m.tree.tip_slope[j]
    for k in range(levers.COUNT):
        store(load(m.roller[k].position), inputs.roller[k].position)
        store(load(m.roller[k].velocity), inputs.roller[k].velocity)
    inputs.latches_armed = m.command.latches_armed


@kernel
def detect(m):
    """Evaluate contact at the placed position, as a trial. Returns 0, or the code of a failure."""
    unit = m.probe_cone
    return pass_on(m.status, probe_cone.attempt(unit), unit.status)


@kernel
def newly_closed(m):
    """Return whether the last trial closed a contact that was open in the last micro-step, whatever opened meanwhile.

    A contact that the trial found near enough to close in the time ahead counts, too. Sets are compared, not counts. A
    contact whose normal has turned by more than `TURNED` counts as a new one: a head that has left one wall for the
    opposite one, a latch that has slipped from the face of its slot's edge to its side.
    """
    before = int(m.implicit_contact.closed)
    if int(m.probe_cone.tally.closing) & ~before != 0:
        return True
    for k in range(int(m.probe_cone.tally.class_1)):
        item = m.probe_cone.tally.contact[k]
        slot = int(slot_of(m.probe_cone.kind, item.pair, item.index))
        if (before >> slot) & 1 == 0:
            return True
        if dot(load(item.normal), load(m.implicit_contact.last[slot].normal)) < TURNED:
            return True
    return False


@kernel
def remember_closed(m):
    """Remember the contacts of an accepted micro-step for `newly_closed`."""
    tally = m.probe_cone.tally
    m.implicit_contact.closed = tally.closed
    for k in range(int(tally.class_1)):
        item = tally.contact[k]
        slot = int(slot_of(m.probe_cone.kind, item.pair, item.index))
        store(load(item.normal), m.implicit_contact.last[slot].normal)


@kernel
def _set_sensors(sensor, flag, contact):
    sensor.first_contact = max(sensor.first_contact, contact.first_contact)
    sensor.socket_bottom = max(sensor.socket_bottom, contact.socket_bottom)
    flag.limiter_contact = max(flag.limiter_contact, contact.limiter_contact)
    for k in range(levers.COUNT):
        flag.roller_contact[k] = max(flag.roller_contact[k], contact.roller_contact[k])


@kernel
def accept(m):
    """Accept the last trial, and set the sensors and flags of what touches."""
    probe_cone.accept(m.probe_cone)
    _set_sensors(m.sensor, m.flag, m.probe_cone.output)


@kernel
def on_link(m, j):
    """Return the wrench on link j: force in N and torque in N m about its origin, link axes."""
    return m.probe_cone.output.link[j]


@kernel
def on_roller(m, k):
    """Return the force on roller k, N, M axes."""
    return load(m.probe_cone.output.roller[k].force)


@kernel
def on_target(m):
    """Return (force in N, torque in N m about the origin of PU) on the passive unit, PU axes."""
    target = m.probe_cone.output.target
    return load(target.force), load(target.torque)


@kernel
def linearise(m, h):
    """Add the dampers of the contacts to the tree for a micro-step h."""
    t = m.tree
    implicit.begin_micro_step(m.probe_cone, m.implicit_contact, (t.tip_slope[0], t.tip_slope[1]))
    implicit.linearise(m.probe_cone, m.implicit_contact, t, m.levers, h)


@kernel
def can_revise(m):
    """Return whether contacts or capture sensors have forces that `revise` may hold."""
    return m.probe_cone.tally.class_1 > 0.0 or m.probe_cone.state.captured > 0.0


@kernel
def revise(m, change, h):
    """Hold contacts within their laws after the tree was evaluated, see `implicit.revise`.

    Returns the number of newly held contacts; if there is any, loads and dampers of the tree are set again.
    """
    t = m.tree
    count = implicit.revise(m.probe_cone, m.implicit_contact, t, m.levers, change, h)
    if count > 0:
        implicit.linearise(m.probe_cone, m.implicit_contact, t, m.levers, h)
        for j in range(2):
            wrench = on_link(m, j)
            store(load(wrench.force), t.load[j].force)
            store(load(wrench.torque), t.load[j].torque)
            implicit.add_correction(m.implicit_contact, j, reach(t, j), t.load[j])
    return count


@kernel
def axial_damping(m):
    """Return the damping of contacts along the probe times the micro-step, kg."""
    return m.implicit_contact.axial_damping


@kernel
def cam_response(m):
    """Return (force in N, damping in kg) on the probe's travel through the rollers.

    The force is the part that the computed accelerations add; the damping is that of the rollers' contacts per rate of
    travel, times the micro-step.
    """
    return implicit.cam_force(m.implicit_contact, m.tree), m.implicit_contact.cam_damping


@kernel
def cam_correction(m):
    """Return the force in N that held contacts of rollers add to that of the rollers on the probe's travel."""
    return m.implicit_contact.cam_correction


@kernel
def account_cam_loss(m, force, travel):
    """Add the energy that the applied `force` (N) of `cam_response` takes from the probe over `travel` (m)."""
    m.implicit_contact.dissipated -= force * travel


@kernel
def tip_torque(m):
    """Return the torque of the springs of latches and head sensors about the head's centre, N m, H axes."""
    return load(m.implicit_contact.tip.torque)


@kernel
def account_losses(m, axial_force, travel, displacement, h):
    """Add the losses of a micro-step h, with `travel` of the probe and `displacement` of the rollers by `levers.shift`.

    For `axial_force` (N) see `implicit.account_losses`. Returns the part of the wrench on the passive unit from the
    implicit forces of contact: (force in N, torque in N m), PU axes.
    """
    for k in range(levers.COUNT):
        m.implicit_contact.dissipated -= levers.work(
            m.levers, k, load(m.implicit_contact.roller[k].force), displacement
        )
    return implicit.account_losses(m.probe_cone, m.implicit_contact, m.tree, m.base, axial_force, travel / h, h)


@kernel
def finish_step(m):
    """Set energies and list of contacts at the end of a step, sensors and flags of the latches."""
    # a failure here is reported by the next micro-step
    probe_cone.evaluate(m.probe_cone)
    contact = m.probe_cone.output
    m.sensor.capture = contact.capture
    for k in range(len(contact.latch_fired)):
        m.flag.latch[k] = contact.latch_fired[k]
    m.capture.margin = probe_cone.capture_margin(m.probe_cone)
    probe_cone.copy_contacts(m.probe_cone.tally, m.contact)
    probe_cone.publish_validity(m.probe_cone, m.validity)


@kernel
def audit(m):
    """Add the contact to the energies of the mechanism."""
    out = m.audit
    contact = m.probe_cone.output
    out.stored_energy += contact.stored_energy
    out.dissipated_contact = m.implicit_contact.dissipated
    out.dissipated_latches = contact.dissipated_latches
    out.dissipated_energy += out.dissipated_contact + out.dissipated_latches
    out.work_tip = m.implicit_contact.tip.work if m.parameters.simplifications == AS_IN_SOURCE else 0.0
