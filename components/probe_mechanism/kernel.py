"""The probe mechanism: initialisation and the loop of micro-steps, central-docking section 3, conventions section 6.

A micro-step of length h is drift - kick - drift: coordinates and ports move to its middle, where contact, devices and
tree are evaluated once; rates are kicked over h; coordinates move to its end. Second order for smooth forces.
"""

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core import check
from dockfmu.components.core.component import Message, combined, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import AFFINE
from dockfmu.components.physics.contact import probe_cone
from dockfmu.components.physics.devices import docking_planes, drive, exchange, macro_step, motion, pushers
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import accumulate, add, cross, load, store
from dockfmu.components.probe_mechanism import accounting, contact, cover, micro_step_control, outputs, tree, validity
from dockfmu.components.probe_mechanism.alignment import levers, limiter
from dockfmu.components.probe_mechanism.alignment.ports import AS_IN_SOURCE
from dockfmu.components.probe_mechanism.axial import axial_train, end_stops, gears
from dockfmu.components.probe_mechanism.contact import implicit
from dockfmu.components.probe_mechanism.lateral import lateral_damper

TRAVEL = 4
COVER_AFFINE = 6

_OWN = {
    TRAVEL: Message(
        "probe length {status.value:.4g} m is shorter than parameters.probe.shortest_length = "
        "{parameters.probe.shortest_length:.4g} m by more than parameters.travel_margin",
        outcome=LIMIT_EXCEEDED,
    ),
    COVER_AFFINE: Message(
        "parameters.base_motion = AFFINE cannot be combined with parameters.cover.present: the cover moves by itself"
    ),
}
MESSAGES = combined(
    check.messages("1 base, 2 target, 3 motor voltages"),
    macro_step.MESSAGES,
    _OWN,
    tree.MESSAGES,
    lateral_damper.MESSAGES,
    cover.MESSAGES,
    validity.MESSAGES,
    levers.MESSAGES,
    gears.MESSAGES,
    end_stops.MESSAGES,
    docking_planes.MESSAGES,
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
def _place(m, tau, travel, ahead):
    """Place everything `tau` (s) into the step, at the present angles and `travel` (m), and set the inputs of contact.

    `ahead` (s) is the time within which open contacts count as about to close. Returns 0, or the code of a failure.
    """
    p = m.parameters
    motion.place_ports(m.base, m.target, m.motion, tau)
    if p.cover.present != 0.0:
        motion.shift_base(m.motion.base, m.cover.travel, m.cover.rate)
    length = p.probe.free_length - travel
    if length < p.probe.shortest_length - p.travel_margin:
        return fail(m.status, TRAVEL, length, 0)
    code = tree.place(p.probe, m.tree, m.damper, length, -m.axial.rate, m.status)
    if code:
        return code
    levers.place(p, m.levers, m.roller, travel, m.axial.rate)
    kinematics.relate(m.relative, m.motion.base, m.motion.target)
    docking_planes.place(m.relative, m.cover.travel, m.cover.rate, m.plane_contact.ring)
    docking_planes.measure(p.planes, p.pushers, p.pusher_stop, p.docking_plane_x, m.plane_contact)
    end_stops.measure(p.end_stops, p.probe, m.end_stop, travel)
    contact.set_inputs(m, ahead)
    return 0


@kernel
def _push(m):
    """Return force and torque of pushers and docking planes on the target, frame PU, and set their stored energy."""
    p = m.parameters
    ring = m.plane_contact.ring
    force, torque, energy = pushers.wrench(
        p.pushers, p.docking_plane_x, load(ring.position), load_matrix(ring.rotation)
    )
    planes = m.plane_contact
    docking_planes.exert(p.planes, p.pusher_stop, planes)
    on_target = planes.sums.passive
    m.balance.pusher_energy = energy + planes.sums.stored_energy
    return add(force, load(on_target.force)), add(torque, load(on_target.torque))


@kernel
def _check_stops(m):
    """Return 0, or the code of a stop, or of docking planes, whose depth at the placed position exceeds its limit."""
    p = m.parameters
    code = docking_planes.check(p.planes, p.pusher_stop, m.plane_contact, m.status)
    if code == 0:
        code = end_stops.check(p.end_stops, m.end_stop, m.status)
    if code == 0:
        code = limiter.check_stops(m)
    if code == 0:
        code = lateral_damper.check_stops(p.lateral, m.damper, m.status)
    return code


@kernel
def _newly_touching(m, ahead):
    """Return whether anything but the passive unit's cone newly touches at the placed position.

    A touch within the time `ahead`, s, counts, too.
    """
    return (
        limiter.newly_touching(m, ahead)
        or docking_planes.newly_touching(m.plane_contact, ahead)
        or end_stops.newly_touching(m.end_stop, m.axial.rate, ahead)
    )


@kernel
def _load(m):
    """Accept the contact, set the loads on the tree and the wrench on the target.

    Returns the force of the rollers on the nut through their cam, N.
    """
    contact.accept(m)
    for j in range(2):
        wrench = contact.on_link(m, j)
        store(load(wrench.force), m.tree.load[j].force)
        store(load(wrench.torque), m.tree.load[j].torque)
    force, torque = _push(m)
    store(force, m.balance.push_force)
    store(torque, m.balance.push_torque)
    contact_force, contact_torque = contact.on_target(m)
    store(add(force, contact_force), m.target.force_now)
    store(add(torque, contact_torque), m.target.torque_now)
    cam = 0.0
    for k in range(levers.COUNT):
        cam += levers.cam_force(m.levers, k, contact.on_roller(m, k))
    return cam


@kernel
def _on_travel(m, cam):
    """Return the forces on the probe's travel beside that on the head; `cam` (N) is that of the rollers on their cam.

    By ruling R42: (all of them, N; the part that the accelerations add through the rollers, N; damping of the rollers'
    contacts times the micro-step, kg). They are 0 in the source's simplified mechanism.
    """
    p = m.parameters
    if p.simplifications == AS_IN_SOURCE:
        return 0.0, 0.0, 0.0
    pull, damping = contact.cam_response(m)
    return cam + contact.cam_correction(m) + pull + tree.axial_force(p.probe, m.tree), pull, damping


@kernel
def _set_axial_load(m, cam, h):
    """Set the loads on the nut in a micro-step h, with the loads on the tree as evaluated.

    Returns the force on the travel that the accelerations add through the rollers, N.
    """
    p = m.parameters
    d = m.drive
    load = m.axial_load
    load.extra_force, pull, load.extra_damping = _on_travel(m, cam)
    load.head_force = implicit.head_force(m.tree)
    limiter.load_head(m)
    load.head_damping = contact.axial_damping(m)
    end_stops.load_nut(p.end_stops, m.end_stop, m.axial.rate, load)
    load.drive_travel = axial_train.drive_travel(p.axial, p.drive, d.angle + 0.5 * h * d.rate)
    load.drive_rate = axial_train.drive_travel(p.axial, p.drive, d.rate)
    return pull


@kernel
def _predicted_change(m, cam, h):
    """Return the change of the rate of compression over a micro-step h with the loads as evaluated, m/s."""
    _set_axial_load(m, cam, h)
    return axial_train.predicted_rate(m.parameters.axial, m.axial, m.axial_load, h) - m.axial.rate


@kernel
def _evaluate(m, cam, h):
    """Find the accelerations of the tree for a micro-step h, with contacts held within their laws.

    `cam` (N) is the force that `_load` returned. Returns 0, or the code of a failure.
    """
    p = m.parameters
    code = tree.select(m.tree, m.damper, m.status)
    if code:
        return code
    contact.linearise(m, h)
    if p.simplifications != AS_IN_SOURCE:
        tree.turn_tip(m.tree, contact.tip_torque(m))
    tree.set_forces(p.probe, m.tree, p.lateral, m.damper, m.command.lateral_brakes, h)
    limiter.set_force(m, h)
    omega0 = load(m.motion.base.angular_velocity)
    epsilon0 = load(m.base.angular_acceleration)
    acceleration0 = load(m.base.acceleration)
    # each repetition holds at least one more contact; more than one repetition is rare
    while True:
        code = tree.evaluate(p.probe, m.tree, m.damper, omega0, epsilon0, acceleration0, m.status)
        if code or not contact.can_revise(m) or contact.revise(m, _predicted_change(m, cam, h), h) == 0:
            return code


@kernel
def _react(m, axial, travel):
    """Set the instantaneous wrench on the base at the last evaluation, with that of pushers and docking planes.

    `axial` is the part of the force on the head along the probe that the tree does not know, N, `travel` that of the
    hatch cover at the evaluation, m. Call it after `tree.react`.
    """
    t = m.tree
    head = t.link[tree.PROBE]
    force = apply_transposed(load_matrix(head.rotation), (axial, 0.0, 0.0))
    torque = add(load(t.base_torque), cross(load(head.position), force))
    force = add(load(t.base_force), force)
    ring = m.plane_contact.ring
    push, push_torque = pushers.reaction(
        load(m.balance.push_force), load(m.balance.push_torque), load(ring.position), load_matrix(ring.rotation)
    )
    if m.parameters.cover.present != 0.0:
        force = (cover.transmitted(m.parameters.cover, m.cover), force[1], force[2])
        torque = add(torque, cross((travel, 0.0, 0.0), force))
    store(add(force, push), m.base.force_now)
    store(add(torque, push_torque), m.base.torque_now)


@kernel
def _kick(m, cam, h):
    """Advance axial damper and drive over h, and account for the contact forces that were actually applied.

    Returns the part of the force on the head along the probe that the tree does not know, N.
    """
    p = m.parameters
    a = m.axial
    before = a.travel
    rate = a.rate
    pull = _set_axial_load(m, cam, h)
    applied = axial_train.advance(p.axial, a, m.axial_load, h)
    drive.advance(p.drive, m.drive, m.command.motor_voltage, a.train_force / axial_train.nut_per_travel(p.axial), h)
    displacement = levers.shift(p, before, a.travel)
    if p.simplifications == AS_IN_SOURCE:
        for k in range(levers.COUNT):
            m.balance.work_levers -= levers.work(m.levers, k, contact.on_roller(m, k), displacement)
    else:
        contact.account_cam_loss(m, pull - m.axial_load.extra_damping * (a.rate - rate) / h, a.travel - before)
    axial = applied - m.axial_load.head_force
    force, torque = contact.account_losses(m, axial, a.travel - before, displacement, h)
    accumulate(force, m.target.force_now)
    accumulate(torque, m.target.torque_now)
    limiter.account(m, a.travel - before, h)
    end_stops.account(m.end_stop, m.axial_load, a.travel - before, h)
    _account_planes(m, h)
    return axial


@kernel
def _account_planes(m, h):
    """Add the losses of the docking planes in a micro-step h, and set flag and count of their contact."""
    planes = m.plane_contact
    planes.dissipated += h * planes.lost_power
    if max(planes.depth[0], planes.depth[1]) > 0.0:
        m.flag.plane_contact = 1.0
        p = m.parameters
        if axial_train.drive_travel(p.axial, p.drive, m.drive.angle) <= p.sensor_margin:
            planes.early += 1.0


@kernel
def _micro_step(m, start, h, long):
    """Advance by one micro-step of length h from `start` in the step.

    Returns 0; CLOSED, having changed nothing, if it is `long` and a contact closes in it, or would after its middle,
    where contact is evaluated; or the code of a failure. A penetration has changed nothing either.
    """
    t = m.tree
    for j in range(len(t.q)):
        m.motion.joint_position[j] = t.q[j]
    tree.drift(t, 0.5 * h)
    ahead = 0.5 * h if long else 0.0
    code = _place(m, start + 0.5 * h, m.axial.travel + 0.5 * h * m.axial.rate, ahead)
    if code == 0:
        code = contact.detect(m)
    if code == 0:
        code = _check_stops(m)
    if code == 0 and long and (contact.newly_closed(m) or _newly_touching(m, ahead)):
        code = macro_step.CLOSED
    if code:
        for j in range(len(t.q)):
            t.q[j] = m.motion.joint_position[j]
        return code
    cam = _load(m)
    code = _evaluate(m, cam, h)
    if code:
        return code
    p = m.parameters
    tree.react(p.probe, t, m.damper)
    cover_travel = m.cover.travel
    if p.cover.present != 0.0:
        code = cover.advance(
            p.cover, m.cover, tree.mass(p.probe, p.lateral) + limiter.mass(m), t.base_force[0], h, m.status
        )
        if code:
            return code
    tree.kick(t, m.damper, h)
    tree.drift(t, 0.5 * h)
    rate = m.axial.rate
    _react(m, _kick(m, cam, h), cover_travel)
    exchange.add_impulse(m, start + 0.5 * h, h)
    limiter.remember(m)
    docking_planes.remember(m.plane_contact)
    end_stops.remember(m.end_stop)
    contact.remember_closed(m)
    micro_step_control.set_next(p, m.stepping, t, (m.axial.rate - rate) / h, h)
    return 0


@kernel
def _finish(m, h):
    """Set outputs and audit at the end of a step of length h, with the wrenches of the last evaluation."""
    code = _place(m, h, m.axial.travel, 0.0)
    if code:
        return code
    contact.finish_step(m)
    m.validity.early_plane_contact = m.plane_contact.early
    _push(m)
    tree.report(m.tree, m.parameters.lateral, m.damper, m.joint, m.lateral)
    outputs.set_motion(m)
    accounting.audit(m, h)
    contact.audit(m)
    limiter.report(m)
    if m.parameters.base_motion == AFFINE:
        return accounting.respond(m)
    return 0


@kernel
def initialize(m):
    """Set the mechanism to its initial position and evaluate it there. Returns 0, or the code of a failure."""
    p = m.parameters
    if p.base_motion == AFFINE and p.cover.present != 0.0:
        return fail(m.status, COVER_AFFINE, 0.0, 0)
    code = _check_inputs(m)
    if code == 0:
        code = validity.check_parameters(p, m.status)
    if code:
        return code
    code = axial_train.initialize(p.axial, m.axial, p.initial_travel)
    if code:
        return fail(m.status, code, 0.0, 0)
    docking_planes.reset(m.plane_contact)
    end_stops.reset(m.end_stop)
    m.flag.plane_contact = 0.0
    drive.initialize(p.drive, m.drive)
    m.drive.angle = p.initial_travel * p.drive.nut_ratio * axial_train.nut_per_travel(p.axial)
    code = cover.initialize(p.cover, m.cover, m.status)
    if code:
        return code
    levers.initialize(p, m.levers)
    m.balance.work_levers = 0.0
    limiter.initialize(m)
    code = tree.initialize(p.probe, m.tree, p.lateral, m.damper, m.status)
    if code:
        return code
    code = contact.initialize(m)
    if code:
        return code
    code = _place(m, 0.0, m.axial.travel, 0.0)
    if code == 0:
        code = contact.detect(m)
    if code == 0:
        code = _check_stops(m)
    if code:
        return code
    cam = _load(m)
    code = _evaluate(m, cam, p.micro_step)
    tree.react(p.probe, m.tree, m.damper)
    _react(m, 0.0, m.cover.travel)
    limiter.remember(m)
    micro_step_control.initialize(p, m.stepping, m.tree)
    if code == 0:
        code = _finish(m, 0.0)
    if code:
        return code
    exchange.initialize(m)
    return 0


@kernel
def _begin(m):
    """Begin a step: contact, and the momenta with the true motion of the base. Returns 0, or the code of a failure."""
    contact.begin_step(m)
    m.flag.plane_contact = 0.0
    accounting.begin(m)
    return 0


_advance = macro_step.make_advance(_micro_step, probe_cone.PENETRATION, tree.NO_INERTIA)
step = macro_step.make_step(_check_inputs, _begin, _advance, _finish)
