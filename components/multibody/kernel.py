"""`initialize` and `step` of a multibody system.

Only these two kernels know the record as a whole, whose type depends on the numbers of bodies, joints and springs. All
others take arrays of groups and groups of fixed size: they are compiled once for all models. The type of an array as a
field of a record has its length, that of a slice of it, `m.link[:]`, has not: the two kernels hand on slices.
"""

from __future__ import annotations

from math import fabs, isfinite

from dockfmu.components.core import check, timing
from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import AFFINE, SOURCE
from dockfmu.components.multibody import (
    assembly,
    closure,
    drives,
    elastic_bodies,
    elastic_sections,
    exchange,
    failures,
    forces,
    impulse_response,
    locks,
    momentum,
    outcomes,
    outputs,
    point_forces,
    stepping,
)
from dockfmu.components.multibody.articulated import passed_wrench
from dockfmu.components.multibody.contacts import accounts, detection, sensors
from dockfmu.components.multibody.contacts import forces as contact_forces
from dockfmu.components.multibody.links import FREE, SPHERICAL
from dockfmu.components.physics.devices import micro_steps
from dockfmu.components.physics.mechanics.inertia import asymmetry, possible
from dockfmu.components.physics.mechanics.rotation import (
    apply,
    apply_transposed,
    compose,
    conjugate,
    from_quaternion,
    load_attitude,
    load_matrix,
    store_quaternion,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import ZERO, cross, dot, load, scale, store, subtract

# rad, rad/s and their like: the smallest inertia of a coordinate that is not taken for zero
LEAST_INERTIA = 1e-12
# largest over least inertia that a spherical joint feels, of which the least is not taken for zero
MOST_UNEQUAL = 1e12
# distance of the ends of a spring over its length, below which rounding would give the direction
NOWHERE = 1e-9


@kernel
def _check_masses(mass, status):
    """Return 0 if all bodies are possible, else a code."""
    for k in range(len(mass)):
        inertia = load_matrix(mass[k].inertia)
        if asymmetry(mass[k].inertia)[0] != 0.0 or not possible(mass[k].mass, ZERO, inertia):
            return fail(status, failures.INERTIA, 0.0, k + 1)
    return 0


@kernel
def _place_joints(link, body, place, port, spring, cut, mount, strength, surface, outline, run):
    """Set the arms of links, springs, ports and surfaces, and the reference points of bodies, from their points."""
    for k in range(len(place)):
        p = place[k]
        outer = load(p.successor_point) if p.outward != 0.0 else load(p.predecessor_point)
        store(outer, body[int(p.outer)].reference)
    for k in range(len(place)):
        p = place[k]
        point = load(p.predecessor_point) if p.outward != 0.0 else load(p.successor_point)
        store(_arm(body, p.inner, point), link[int(p.link)].arm)
    for k in range(int(run.springs)):
        s = spring[k]
        store(_arm(body, s.first, load(strength[k].first_point)), s.first_arm)
        store(_arm(body, s.second, load(strength[k].second_point)), s.second_arm)
    for k in range(int(run.cuts)):
        c = cut[k]
        store(_arm(body, c.first, load(c.first_point)), c.first_arm)
        store(_arm(body, c.second, load(c.second_point)), c.second_arm)
    for k in range(int(run.ports)):
        store(_arm(body, port[k].body, load(mount[k].point)), port[k].arm)
    for k in range(int(run.surfaces)):
        s = surface[k]
        p = outline[k]
        store(_arm(body, s.body, load(p.point)), s.arm)
        s.radius = p.radius
        # a segment has the axes of its body
        store(apply(load_matrix(p.rotation), load(p.along)), s.along)


@kernel
def _arm(body, index, point):
    """Return a point of a body, from the reference point of its link, in axes of the link; index -1 is the base."""
    if index < 0.0:
        return point
    o = body[int(index)]
    return apply(load_matrix(o.axes), subtract(point, load(o.reference)))


@kernel
def _set_masses(link, body, mass):
    """Set the mass data of the links from those of the bodies."""
    for k in range(1, len(link)):
        link[k].mass = 0.0
    for k in range(len(body)):
        o = body[k]
        b = link[int(o.link)]
        axes = load_matrix(o.axes)
        c = apply(axes, subtract(load(mass[k].center), load(o.reference)))
        J = compose(compose(axes, load_matrix(mass[k].inertia)), transpose(axes))
        m = mass[k].mass
        square = dot(c, c)
        b.mass = m
        store(scale(m, c), b.moment)
        place = 0
        for i in range(3):
            for j in range(i, 3):
                b.inertia[place] = J[i][j] - m * c[i] * c[j] + (m * square if i == j else 0.0)
                place += 1


@kernel
def _set_state(link, coordinate, law, turning, start, run, status):
    """Set the start values of all coordinates and rates. Returns 0, or the code of a failure."""
    for k in range(len(link)):
        b = link[k]
        b.qdd = 0.0
        b.held = 0.0
        b.forced = 0.0
        store(ZERO, b.spin_rate)
        store(ZERO, b.speed_rate)
        store(ZERO, b.velocity)
    for k in range(int(run.coordinates)):
        p = law[k]
        c = coordinate[k]
        b = link[int(c.link)]
        b.q = p.start
        b.rate = p.start_rate
        c.deflection = 0.0
        c.stopped = 0.0
    for k in range(int(run.rotations)):
        p = start[k]
        r = turning[k]
        norm = check.norm_of_quaternion(p.quaternion)
        if not fabs(norm - 1.0) < 1e-6:
            return fail(status, failures.ATTITUDE, norm, k + 1)
        b = link[int(r.link)]
        q = load_attitude(p.quaternion)
        spin = load(p.angular_velocity)
        place = load(p.position)
        speed = load(p.velocity)
        if r.reversed != 0.0:
            A = from_quaternion(q)
            # the predecessor in the frame of the successor, which carries it
            moved = apply(A, place)
            speed = subtract(cross(spin, moved), apply(A, speed))
            place = scale(-1.0, moved)
            spin = scale(-1.0, apply_transposed(A, spin))
            q = conjugate(q)
        store_quaternion(q, b.quaternion)
        store(spin, b.spin)
        if b.kind == FREE:
            store(place, b.place)
            store(speed, b.speed)
    return 0


@kernel
def _check_laws(law, run, status):
    """Return 0 if the laws of all coordinates are possible, else a code."""
    for k in range(int(run.coordinates)):
        p = law[k]
        if not p.lower < p.upper:
            return fail(status, failures.STOPS, p.lower, k + 1)
        if p.friction > 0.0 and not p.friction_stiffness > 0.0:
            return fail(status, failures.NO_STIFFNESS, p.friction, k + 1)
        if (p.lower > -forces.FAR or p.upper < forces.FAR) and not p.stop_stiffness > 0.0:
            return fail(status, failures.NO_STIFFNESS, p.upper, k + 1)
    return 0


@kernel
def _check_springs(spring, strength, run, status):
    """Return 0 if the forces of all springs have a direction at the start, else a code."""
    for k in range(int(run.springs)):
        p = strength[k]
        if p.tether <= 0.0 and p.stiffness > 0.0 and spring[k].length < NOWHERE * p.length:
            return fail(status, failures.NO_DIRECTION, p.length, k + 1)
    return 0


@kernel
def _clear(run, t):
    run.failure = 0.0
    run.now = t
    run.rank_again = 0.0
    run.rank = 0.0
    run.dampers = 0.0
    run.stops = 0.0
    run.friction = 0.0
    run.springs_lost = 0.0
    run.drives = 0.0
    run.motions = 0.0
    run.ports_work = 0.0
    run.base_work = 0.0
    run.tuned = 0.0
    run.restart = 0.0
    store(ZERO, run.base_position)
    store(ZERO, run.base_velocity)
    store(ZERO, run.impulse)
    store(ZERO, run.angular_impulse)
    store(ZERO, run.apart)


@kernel
def _check_joints(link, coordinate, turning, run, status):
    """Return 0 if every free coordinate feels an inertia, else a code, after `links.accelerate`."""
    for k in range(int(run.coordinates)):
        b = link[int(coordinate[k].link)]
        if b.held == 0.0:
            inertia = 1.0 / b.mobility
            if not (inertia > LEAST_INERTIA and isfinite(inertia)):
                return fail(status, failures.SINGULAR, inertia, k + 1)
    # what is not finite goes from the outer links to the inner ones: the outermost is the cause
    for k in range(int(run.rotations) - 1, -1, -1):
        b = link[int(turning[k].link)]
        if b.kind == SPHERICAL and b.held == 0.0:
            felt = max(b.rr[0], b.rr[3], b.rr[5])
            mobility = max(b.inverse[0], b.inverse[3], b.inverse[5])
            if not felt * mobility < MOST_UNEQUAL:
                return fail(status, failures.NO_INERTIA, 0.0, k + 1)
    for k in range(int(run.rotations)):
        b = link[int(turning[k].link)]
        if not isfinite(b.spin_rate[0] + b.spin_rate[1] + b.spin_rate[2]):
            return fail(status, failures.NO_INERTIA, 0.0, k + 1)
    return 0


@kernel
def _check_motion(link, run, status):
    """Return 0 if no part has failed and all links move with finite accelerations, else a code."""
    if run.failure == 0.0:
        failures.check(link, run)
    if run.failure != 0.0:
        return fail(status, int(run.failure), run.amount, run.culprit)
    return 0


@kernel
def _check_inputs(base, target, coordinate, drive, port, run, base_motion, status):
    """Return 0 if the inputs are valid, else a code."""
    for k in range(int(run.coordinates)):
        if not isfinite(coordinate[k].drive):
            return fail(status, failures.INPUT, coordinate[k].drive, k + 1)
    for k in range(int(run.drive_count)):
        if not isfinite(drive[k].command):
            return fail(status, failures.COMMAND, drive[k].command, k + 1)
    for k in range(int(run.ports)):
        p = port[k]
        total = p.force[0] + p.force[1] + p.force[2] + p.torque[0] + p.torque[1] + p.torque[2]
        if not isfinite(total):
            return fail(status, failures.PORT_INPUT, total, k + 1)
    if run.has_target != 0.0:
        code = check.check_port(target, 2, status)
        if code == 0:
            code = check.check_acceleration(target, 2, status)
        if code:
            return code
    if run.carried != 0.0:
        if base_motion == SOURCE:
            return fail(status, failures.SOURCE_BASE, 0.0, 0)
        code = check.check_port(base, 1, status)
        if code:
            return code
        return check.check_acceleration(base, 1, status)
    return 0


@kernel
def _finish(
    base,
    target,
    gravity,
    link,
    coordinate,
    law,
    elements,
    turning,
    body,
    spring,
    strength,
    port,
    touch,
    cut,
    row,
    solver,
    run,
    audit,
    tau,
    t,
    h,
):
    """Evaluate the state at the end of a step h, `tau` after its start, and set all outputs; h = 0 at the start."""
    run.now = t
    stepping.follow_motions(link, coordinate, law, run, t)
    stepping.predict(link, 0.0)
    stepping.place_base(base, run, gravity, link, tau)
    detection.place_target(target, run, tau)
    stepping.evaluate(link, coordinate, law, elements, spring, strength, port, touch, cut, row, solver, run, 0.0)
    stepping.move(link)
    force, torque = passed_wrench(link[0])
    store(force, run.force)
    store(torque, run.torque)
    if run.carried != 0.0:
        if h > 0.0:
            exchange.finish(link, run, h)
        exchange.remember(link, run)
    if run.carried != 0.0 or run.has_target != 0.0:
        exchange.account_angular_momentum(base, target, link, run, h)
    closure.publish(link, cut, row, run)
    outputs.publish_joints(link, coordinate, turning, run)
    outputs.publish_bodies(link, body, run)
    outputs.publish_ports(link, port, gravity, run, h)
    _, _, pair, contact, kind, tally, sums, _ = touch
    accounts.publish(pair, contact, kind, tally, run)
    accounts.publish_target(target, run, h)
    loop, drive, data = elements
    point_forces.show_springs(link, spring, strength, run)
    springs = forces.stored_energy(link, coordinate, law, loop, (drive, data), spring, strength, run)
    stored = springs + sums.stored_energy
    if run.elastic > 0.0:
        stored += elastic_bodies.strain_energy(link, solver[4], run)
    moving = drives.kinetic_energy(drive, data, run)
    outputs.publish_audit(audit, gravity, link, moving, springs, stored, forces.lost_in_loops(loop, run), run)


@kernel
def _advance(
    base,
    target,
    gravity,
    link,
    coordinate,
    law,
    elements,
    spring,
    strength,
    port,
    touch,
    sensing,
    lock,
    cut,
    row,
    solver,
    run,
    p,
    clock,
    t,
    h,
):
    """Make all micro-steps of a step h, until one fails."""
    run.failure = 0.0
    run.now = t
    run.short = p.micro_step
    sensor, levels, condition = sensing
    surface, _, pair, contact, _, tally, _, loads = touch
    loop, drive, data = elements
    forces.account_parameters(gravity, link, coordinate, law, loop, (drive, data), spring, strength, run)
    stepping.place_base(base, run, gravity, link, 0.0)
    if run.affine != 0.0:
        motions = impulse_response.jolt(base, gravity, link, cut, row, solver, run)
        exchange.count_jolt(base, target, link, run, motions)
    exchange.begin(run)
    point_forces.hold_ports(port, run, h)
    accounts.begin_step(contact, loads, run)
    if run.locks > 0.0:
        locks.command(base, gravity, link, lock, cut, row, solver, run)
    # inputs may have jumped: predict with the accelerations that they cause
    stepping.predict(link, 0.0)
    stepping.place_base(base, run, gravity, link, 0.0)
    detection.place_target(target, run, 0.0)
    stepping.evaluate(link, coordinate, law, elements, spring, strength, port, touch, cut, row, solver, run, 0.0)
    if run.free_root != 0.0:
        # a state that was restored has no velocities of links
        stepping.move(link)
        momentum.keep(link, run)
    done = 0.0
    left = 1
    while left > 0:
        left = timing.micro_steps(h - done, clock.micro_step)
        size = (h - done) / left
        locks.keep_coordinates(link, lock, run)
        stepping.micro_step(
            base,
            target,
            gravity,
            link,
            coordinate,
            law,
            elements,
            spring,
            strength,
            port,
            touch,
            cut,
            row,
            solver,
            run,
            done,
            t + done,
            size,
        )
        done += size
        if run.conditions > 0.0:
            sensors.read(link, coordinate, surface, tally, sensor, levels, run)
            sensors.command(sensor, condition, lock, run)
        if run.locks > 0.0:
            locks.catch(base, gravity, link, lock, cut, row, solver, run, done)
        until = min(locks.time_to_catch(link, lock, run), point_forces.time_to_pull(spring, strength, run, size))
        if run.pairs > 0.0:
            # half a micro-step has passed since the pairs were detected
            until = min(until, max(detection.time_to_contact(surface, pair, run) - 0.5 * size, 0.0))
        stepping.choose_next(p, clock, link, coordinate, law, run, until, size)
        left = 0 if run.failure != 0.0 else left - 1


@kernel
def _respond(base, gravity, link, cut, row, solver, run, tau):
    """Set how the wrench on the base depends on its acceleration, for AFFINE."""
    if run.affine != 0.0:
        impulse_response.set_affine_mass(base, gravity, link, cut, row, solver, run, tau)


@kernel
def initialize(m):
    """Set the system to its initial state. Returns 0, or the code of a failure."""
    p = m.parameters
    # arrays of any length: an array as a field has its length in its type
    link, body, coordinate, law, turning = m.link[:], m.body[:], m.coordinate[:], p.coordinate[:], m.rotation[:]
    spring, strength, port, cut, row = m.spring[:], p.spring[:], m.port[:], m.cut[:], m.closure.row[:]
    surface, pair, contact, kind = m.surface[:], m.pair[:], m.contact[:], m.kind[:]
    sensor, drive, lock = m.sensor[:], m.drive[:], m.lock[:]
    elements = (m.loop[:], drive, p.drive[:])
    touch = (surface, m.face[:], pair, contact, kind, m.tally, m.sums, m.load)
    flex = (m.flex.body[:], m.flex.mode[:], m.flex.pair[:], m.flex.shape[:], m.flex.factor[:])
    solver = (m.closure.matrix[:], m.closure.entry[:], m.closure.front[:], m.closure.carrier[:], flex)
    code = _check_inputs(m.base, m.target, coordinate, drive, port, m.run, p.base_motion, m.status)
    if code == 0:
        code = _check_masses(p.body[:], m.status)
    if code == 0:
        code = _check_laws(law, m.run, m.status)
    if code == 0:
        _place_joints(link, body, p.joint[:], port, spring, cut, p.port[:], strength, surface, p.surface[:], m.run)
        outline = detection.set_faces(surface, p.vertex[:], m.face[:], pair, m.run)
        if outline:
            return fail(m.status, failures.OUTLINE, 0.0, outline)
        _set_masses(link, body, p.body[:])
        code = _set_state(link, coordinate, law, turning, p.rotation[:], m.run, m.status)
    if code:
        return code
    _clear(m.run, m.start_time)
    m.run.affine = 1.0 if m.run.carried != 0.0 and p.base_motion == AFFINE else 0.0
    accounts.clear(pair, contact, m.run)
    contact_forces.set_laws(kind, p.contact[:], pair, m.run)
    locks.start(link, lock, m.run)
    m.stepping.jerk = 0.0
    micro_steps.restart(p.stepping, m.stepping)
    stepping.follow_motions(link, coordinate, law, m.run, m.start_time)
    code = assembly.assemble(m.base, p.gravity, link, cut, row, solver, m.run, m.status)
    if code:
        return code
    if m.run.elastic > 0.0:
        code = assembly.settle(m.base, p.gravity, link, cut, row, solver, m.run, m.status)
        if code:
            return code
    drives.start(link, drive, p.drive[:], m.run)
    code, place = forces.start_loops(link, coordinate, law, m.loop[:], m.run)
    if code:
        return fail(m.status, failures.HYSTERESIS + code, 0.0, place)
    _finish(
        m.base,
        m.target,
        p.gravity,
        link,
        coordinate,
        law,
        elements,
        turning,
        body,
        spring,
        strength,
        port,
        touch,
        cut,
        row,
        solver,
        m.run,
        m.audit,
        0.0,
        m.start_time,
        0.0,
    )
    if m.run.elastic > 0.0:
        elastic_bodies.publish(link, m.elastic[:], flex, m.deflection[:], m.modal[:], m.run)
        sections = (m.section[:], m.flex.section[:], m.flex.section_node[:], m.flex.section_mode[:])
        elastic_sections.publish(link, sections, flex, m.run)
    m.closure.rank = m.run.rank
    m.closure.freedoms = m.run.freedoms
    outputs.publish_base(m.base, link, m.run, 0.0)
    _respond(m.base, p.gravity, link, cut, row, solver, m.run, 0.0)
    sensors.read(link, coordinate, surface, m.tally, sensor, p.sensor[:], m.run)
    outcomes.decide(m.outcome, m.result[:], m.requirement[:], sensor, lock, m.run)
    code = _check_joints(link, coordinate, turning, m.run, m.status)
    if code == 0:
        code = _check_springs(spring, strength, m.run, m.status)
    if code == 0:
        code = _check_motion(link, m.run, m.status)
    if code == 0:
        m.status.code = 0.0
    return code


@kernel
def step(m, t, h):
    """Advance the system from t by h > 0, s. Returns 0, or the code of a failure."""
    p = m.parameters
    # arrays of any length: an array as a field has its length in its type
    link, body, coordinate, law, turning = m.link[:], m.body[:], m.coordinate[:], p.coordinate[:], m.rotation[:]
    spring, strength, port, cut, row = m.spring[:], p.spring[:], m.port[:], m.cut[:], m.closure.row[:]
    surface, pair, contact, kind = m.surface[:], m.pair[:], m.contact[:], m.kind[:]
    sensor, drive, lock = m.sensor[:], m.drive[:], m.lock[:]
    elements = (m.loop[:], drive, p.drive[:])
    touch = (surface, m.face[:], pair, contact, kind, m.tally, m.sums, m.load)
    flex = (m.flex.body[:], m.flex.mode[:], m.flex.pair[:], m.flex.shape[:], m.flex.factor[:])
    solver = (m.closure.matrix[:], m.closure.entry[:], m.closure.front[:], m.closure.carrier[:], flex)
    code = _check_inputs(m.base, m.target, coordinate, drive, port, m.run, p.base_motion, m.status)
    if code == 0:
        code = _check_laws(law, m.run, m.status)
    if code:
        return code
    _advance(
        m.base,
        m.target,
        p.gravity,
        link,
        coordinate,
        law,
        elements,
        spring,
        strength,
        port,
        touch,
        (sensor, p.sensor[:], m.condition[:]),
        lock,
        cut,
        row,
        solver,
        m.run,
        p.stepping,
        m.stepping,
        t,
        h,
    )
    _finish(
        m.base,
        m.target,
        p.gravity,
        link,
        coordinate,
        law,
        elements,
        turning,
        body,
        spring,
        strength,
        port,
        touch,
        cut,
        row,
        solver,
        m.run,
        m.audit,
        h,
        t + h,
        h,
    )
    if m.run.elastic > 0.0:
        elastic_bodies.publish(link, m.elastic[:], flex, m.deflection[:], m.modal[:], m.run)
        sections = (m.section[:], m.flex.section[:], m.flex.section_node[:], m.flex.section_mode[:])
        elastic_sections.publish(link, sections, flex, m.run)
    m.closure.rank = m.run.rank
    m.closure.freedoms = m.run.freedoms
    outputs.publish_base(m.base, link, m.run, h)
    _respond(m.base, p.gravity, link, cut, row, solver, m.run, h)
    sensors.read(link, coordinate, surface, m.tally, sensor, p.sensor[:], m.run)
    outcomes.decide(m.outcome, m.result[:], m.requirement[:], sensor, lock, m.run)
    code = _check_motion(link, m.run, m.status)
    if code == 0:
        m.status.code = 0.0
    return code
