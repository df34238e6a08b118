"""The probe mechanism, variant V1: initialisation and the loop of micro-steps, spec/06 section 3, spec/00 section 6.

A micro-step of length h is drift - kick - drift: coordinates and ports move to its middle, where contact, devices and
tree are evaluated once; rates are kicked over h; coordinates move to its end. Second order for smooth forces.
"""

from math import ceil, fabs, floor, isfinite

from components.contact import probe_cone
from components.core.component import Message, fail
from components.core.kernel import kernel
from components.core.rotation import load_matrix, store_matrix
from components.core.vector import ZERO, accumulate, add, load, store
from components.probe_mechanism import axial, books, cover, drive, implicit, lateral, levers, motion, pushers, tree

NOT_FINITE = 1
QUATERNION = 2
STEP_TOO_LONG = 3
TRAVEL = 4

MESSAGES = {
    NOT_FINITE: Message("an input of port {status.index:.0f} (1 base, 2 target, 3 motor voltages) is not finite"),
    QUATERNION: Message("the quaternion of port {status.index:.0f} (1 base, 2 target) has norm {status.value:.6g}"),
    STEP_TOO_LONG: Message(
        "step {status.value:g} s is longer than parameters.step_limit = {parameters.step_limit:g} s", discard=True
    ),
    TRAVEL: Message(
        "probe length {status.value:.4g} m is shorter than parameters.probe.shortest_length = "
        "{parameters.probe.shortest_length:.4g} m by more than parameters.travel_margin"
    ),
    **tree.MESSAGES,
    **lateral.MESSAGES,
    **probe_cone.MESSAGES,
}

# a micro-step may be halved this often when a penetration exceeds its limit (R30); ticks count its parts
HALVINGS = 4
TICKS = 2**HALVINGS
# returned by a trial that must be repeated with shorter micro-steps because a contact has closed
CLOSED = -1


@kernel
def _check_port(port, index, status):
    q = port.quaternion
    square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    total = square
    for i in range(3):
        total += port.position[i] + port.velocity[i] + port.angular_velocity[i]
    if not isfinite(total):
        return fail(status, NOT_FINITE, total, index)
    if fabs(square - 1.0) > 1e-3:
        return fail(status, QUATERNION, square, index)
    return 0


@kernel
def _check_inputs(m):
    code = _check_port(m.base, 1, m.status)
    if code == 0:
        code = _check_port(m.target, 2, m.status)
    if code:
        return code
    total = m.command.motor_voltage[0] + m.command.motor_voltage[1]
    if not isfinite(total):
        return fail(m.status, NOT_FINITE, total, 3)
    for i in range(3):
        total += m.base.acceleration[i] + m.base.angular_acceleration[i]
    if not isfinite(total):
        return fail(m.status, NOT_FINITE, total, 1)
    return 0


@kernel
def _copy_inputs(unit, links, rollers):
    """Hand links and rollers to the contact unit."""
    for j in range(2):
        link = links[j]
        copy = unit.link[j]
        store(load(link.position), copy.position)
        store_matrix(load_matrix(link.rotation), copy.rotation)
        store(load(link.velocity), copy.velocity)
        store(load(link.angular_velocity), copy.angular_velocity)
    for k in range(levers.COUNT):
        store(load(rollers[k].position), unit.roller[k].position)
        store(load(rollers[k].velocity), unit.roller[k].velocity)


@kernel
def _set_base(unit, base, target):
    probe_cone.set_base(
        unit,
        load(base.position),
        load_matrix(base.rotation),
        load(base.velocity),
        load(base.angular_velocity),
        load(target.position),
        load_matrix(target.rotation),
        load(target.velocity),
        load(target.angular_velocity),
    )


@kernel
def _place(m, tau, travel):
    """Ports `tau` into the step, tree, chains, rollers at the present angles and at `travel`; contact inputs."""
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
    levers.place(p.levers, m.levers, m.roller, travel, m.axial.rate)
    unit = m.probe_cone
    _copy_inputs(unit.input, m.tree.link, m.roller)
    for i in range(2):
        unit.input.tip_slope[i] = m.tree.tip_slope[i]
    unit.input.latches_armed = m.command.latches_armed
    _set_base(unit, m.motion.base, m.motion.target)
    return 0


@kernel
def _touch(m):
    """Contact at the placed position, as a trial. Returns 0, or the code of a failure."""
    unit = m.probe_cone
    code = probe_cone.attempt(unit)
    if code:
        return fail(m.status, code, unit.status.value, unit.status.index)
    return 0


@kernel
def _note(sensor, flag, contact):
    """Sensors and flags of contact hold over the step in which they closed."""
    sensor.first_contact = max(sensor.first_contact, contact.first_contact)
    sensor.socket_bottom = max(sensor.socket_bottom, contact.socket_bottom)
    flag.limiter_contact = max(flag.limiter_contact, contact.limiter_contact)
    for k in range(levers.COUNT):
        flag.roller_contact[k] = max(flag.roller_contact[k], contact.roller_contact[k])


@kernel
def _clear(sensor, flag):
    sensor.first_contact = 0.0
    sensor.socket_bottom = 0.0
    flag.limiter_contact = 0.0
    for k in range(levers.COUNT):
        flag.roller_contact[k] = 0.0


@kernel
def _push(m):
    """Force and torque of the pushers on the target, frame PU; their energy goes to the books."""
    relative = m.probe_cone.input.base
    force, torque, m.books.pusher_energy = pushers.wrench(
        m.parameters.pushers, m.parameters.docking_plane_x, load(relative.position), load_matrix(relative.rotation)
    )
    return force, torque


@kernel
def _load(m, h):
    """Accept the contact; loads on the tree, wrench on the target, force of the rollers on the nut.

    `h` is the time since contact was last accepted.
    """
    unit = m.probe_cone
    probe_cone.accept(unit, h)
    _note(m.sensor, m.flag, unit.output)
    for j in range(2):
        store(load(unit.output.link[j].force), m.tree.load[j].force)
        store(load(unit.output.link[j].torque), m.tree.load[j].torque)
    force, torque = _push(m)
    store(add(force, load(unit.output.target.force)), m.target.force_now)
    store(add(torque, load(unit.output.target.torque)), m.target.torque_now)
    cam = 0.0
    for k in range(levers.COUNT):
        cam += levers.cam_force(m.levers, k, load(unit.output.roller[k].force))
    return cam, force, torque


@kernel
def _evaluate(m, h):
    """Accelerations of the tree and the base wrench for a micro-step h."""
    p = m.parameters
    code = tree.select(m.tree, m.damper, m.status)
    if code:
        return code
    t = m.tree
    implicit.linearise(m.probe_cone, m.touch, t.mechanics, load(t.link[0].rotation[0]), _pair(t.tip_slope), h)
    return tree.evaluate(
        p.probe,
        m.tree,
        p.lateral,
        m.damper,
        m.command.lateral_brakes,
        h,
        load(m.motion.base.angular_velocity),
        load(m.base.angular_acceleration),
        load(m.base.acceleration),
        m.status,
    )


@kernel
def _pair(a):
    return (a[0], a[1])


@kernel
def _kick(m, cam, h):
    """Axial damper and drive over h; the contact forces that were really applied."""
    p = m.parameters
    a = m.axial
    d = m.drive
    angle = d.angle + 0.5 * h * d.rate
    before = a.travel
    extra = 0.0
    if p.levers.backdrive != 0.0:
        extra = cam
    head = m.tree.link[0]
    force = implicit.head_force(m.tree.mechanics, load(head.rotation[0]))
    applied = axial.advance(
        p.axial,
        a,
        force,
        m.touch.axial_damping,
        extra,
        books.drive_travel(p.axial, p.drive, angle),
        books.drive_travel(p.axial, p.drive, d.rate),
        h,
    )
    drive.advance(p.drive, d, m.command.motor_voltage, a.train_force / books.nut_per_travel(p.axial), h)
    moved = levers.work(p.levers, m.levers, m.probe_cone.output.roller, before, a.travel)
    m.books.work_levers -= moved - extra * (a.travel - before)
    m.touch.dissipated -= levers.work(p.levers, m.levers, m.touch.roller, before, a.travel)
    force, torque = implicit.settle(
        m.probe_cone,
        m.touch,
        m.tree.mechanics,
        head,
        load(m.base.angular_acceleration),
        load(m.base.acceleration),
        applied - force,
        (a.travel - before) / h,
        h,
    )
    accumulate(force, m.target.force_now)
    accumulate(torque, m.target.torque_now)


@kernel
def _micro_step(m, start, h, trial):
    """One micro-step of length h from `start` in the step.

    Returns 0; CLOSED, having changed nothing, if `trial` and a contact is closed; or the code of a failure, of which a
    penetration has changed nothing either.
    """
    t = m.tree
    for j in range(5):
        m.motion.joint_angle[j] = t.q[j]
    tree.drift(t, 0.5 * h)
    code = _place(m, start + 0.5 * h, m.axial.travel + 0.5 * h * m.axial.rate)
    if code == 0:
        code = _touch(m)
    if code == 0 and trial and m.probe_cone.tally.class_1 > 0.0:
        code = CLOSED
    if code:
        for j in range(5):
            t.q[j] = m.motion.joint_angle[j]
        return code
    cam, push, push_torque = _load(m, m.motion.pending + 0.5 * h)
    code = _evaluate(m, h)
    if code:
        return code
    relative = m.probe_cone.input.base
    force, torque = pushers.reaction(push, push_torque, load(relative.position), load_matrix(relative.rotation))
    accumulate(force, t.base_force)
    accumulate(torque, t.base_torque)
    if m.parameters.cover.present != 0.0:
        cover.advance(m.parameters.cover, m.cover, t.base_force[0], h)
    tree.kick(t, m.damper, h)
    tree.drift(t, 0.5 * h)
    _kick(m, cam, h)
    force, torque = motion.turn_to_inertial(m.motion.target, load(m.target.force_now), load(m.target.torque_now))
    for i in range(3):
        m.books.impulse[i] += h * force[i]
        m.books.angular_impulse[i] += h * torque[i]
    m.motion.pending = 0.5 * h
    m.motion.quiet = 1.0 if m.probe_cone.tally.class_1 == 0.0 else 0.0
    return 0


@kernel
def _finish(m, h):
    """Outputs and books at the end of a step of length h."""
    code = _place(m, h, m.axial.travel)
    if code:
        return code
    # energies of the end of the step; what the trial refuses there, the next micro-step refuses by name
    probe_cone.evaluate(m.probe_cone)
    _push(m)
    tree.report(m.tree, m.parameters.lateral, m.damper, m.joint, m.lateral)
    books.outputs(m)
    books.audit(m)
    books.wrench_now(m)
    probe_cone.list_contacts(m.probe_cone, m.contact)
    return 0


@kernel
def initialize(m):
    p = m.parameters
    code = _check_inputs(m)
    if code:
        return code
    a = m.axial
    a.travel = p.initial_travel
    a.rate = 0.0
    a.slip = 0.0
    a.spring = 0.0
    a.train_force = 0.0
    a.dissipated_train = 0.0
    a.dissipated_magnetic = 0.0
    a.dissipated_screw = 0.0
    drive.initialize(p.drive, m.drive)
    m.drive.angle = p.initial_travel * p.drive.nut_ratio * books.nut_per_travel(p.axial)
    cover.initialize(m.cover)
    levers.initialize(p.levers, m.levers)
    m.motion.pending = 0.0
    m.motion.quiet = 0.0
    m.books.work_levers = 0.0
    m.touch.dissipated = 0.0
    m.touch.work_tip = 0.0
    store(ZERO, m.touch.tip_torque)
    m.touch.tip_slope[0] = 0.0
    m.touch.tip_slope[1] = 0.0
    m.audit.work_base = 0.0
    m.audit.work_target = 0.0
    _clear(m.sensor, m.flag)
    code = tree.initialize(p.probe, m.tree, p.lateral, m.damper, m.status)
    if code:
        return code
    code = probe_cone.initialize(m.probe_cone)
    if code:
        return fail(m.status, code, m.probe_cone.status.value, m.probe_cone.status.index)
    code = _place(m, 0.0, a.travel)
    if code == 0:
        code = _touch(m)
    if code:
        return code
    _load(m, 0.0)
    code = _evaluate(m, p.micro_step)
    if code == 0:
        code = _finish(m, 0.0)
    if code:
        return code
    store(load(m.audit.momentum), m.books.momentum)
    store(load(m.audit.angular_momentum), m.books.angular_momentum)
    store(load(m.base.force_now), m.base.force)
    store(load(m.base.torque_now), m.base.torque)
    store(load(m.target.force_now), m.target.force)
    store(load(m.target.torque_now), m.target.torque)
    return 0


@kernel
def _advance(m, h):
    """All micro-steps of a step: short ones in contact, long ones without, halved where a penetration is too deep."""
    count = max(1, ceil(h / m.parameters.micro_step - 1e-9))
    tick = h / (count * TICKS)
    long = max(1, floor(m.parameters.free_micro_step / (TICKS * tick) + 1e-9)) * TICKS
    done = 0
    size = TICKS
    while done < count * TICKS:
        if size >= TICKS:
            size = long if m.motion.quiet > 0.0 else TICKS
        size = min(size, count * TICKS - done)
        code = _micro_step(m, done * tick, size * tick, size > TICKS)
        if code == CLOSED:
            m.motion.quiet = 0.0
        elif probe_cone.PENETRATION < code < tree.NO_INERTIA and size > 1:
            size = (size + 1) // 2 if size <= TICKS else TICKS
            m.motion.quiet = 0.0
        elif code:
            return code
        else:
            done += size
            size = TICKS
    return 0


@kernel
def step(m, t, h):
    code = _check_inputs(m)
    if code:
        return code
    if h > m.parameters.step_limit:
        return fail(m.status, STEP_TOO_LONG, h, 0)
    store(ZERO, m.books.impulse)
    store(ZERO, m.books.angular_impulse)
    _clear(m.sensor, m.flag)
    code = _advance(m, h)
    if code == 0:
        code = _finish(m, h)
    if code:
        return code
    # a micro-step that was repeated may have left the code of its first trial
    m.status.code = 0.0
    motion.place_ports(m.base, m.target, m.motion, 0.5 * h)
    books.exchange(m, h)
    return 0
