"""One micro-step: half a drift, forces and accelerations in the middle, a kick, half a drift.

The rates at mid-step, on which velocity terms depend, are predicted with the accelerations of the last micro-step: the
error is of third order in a step, so that the method is of second order for any forces.
"""

from __future__ import annotations

from math import cos, fabs, isfinite, sin

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import closure, failures, forces, point_forces, port_response, sparse_loops
from dockfmu.components.multibody.contacts import accounts, detection, friction
from dockfmu.components.multibody.contacts import forces as contact_forces
from dockfmu.components.physics.devices import micro_steps
from dockfmu.components.physics.mechanics.rotation import (
    IDENTITY,
    advance,
    apply_transposed,
    from_quaternion,
    load_attitude,
    load_quaternion,
    store_matrix,
    store_quaternion,
)
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, load, negate, scale, store, subtract
from dockfmu.components.physics.tree import elastic_bodies, links, momentum
from dockfmu.components.physics.tree.articulated import passed_wrench
from dockfmu.components.physics.tree.links import FREE, MODE, REVOLUTE, SCREW, SPHERICAL

# share of a micro-step during which the largest jerk fades
MEMORY = 10.0


@kernel
def place_base(g, tau):
    """Place the base `tau` seconds into the step; its acceleration contains the negative of gravity."""
    base, run, b = g.base, g.run, g.link[0]
    field = load(g.gravity)
    # poses and velocities of the links are those relative to a carried base
    store(ZERO, b.position)
    store(ZERO, b.velocity)
    if run.carried == 0.0:
        store_matrix(IDENTITY, b.rotation)
        store(ZERO, b.angular_velocity)
        store(ZERO, b.angular_acceleration)
        store(negate(field), b.acceleration)
        store(ZERO, run.base_acceleration)
        return
    q = load_attitude(base.quaternion)
    A = from_quaternion(q)
    a = apply_transposed(A, load(base.acceleration))
    v = apply_transposed(A, load(base.velocity))
    w = load(base.angular_velocity)
    epsilon = load(base.angular_acceleration)
    now = from_quaternion(advance(q, axpy(0.5 * tau * tau, epsilon, scale(tau, w))))
    store_matrix(now, b.rotation)
    store(apply_transposed(now, axpy(tau, epsilon, w)), b.angular_velocity)
    store(apply_transposed(now, epsilon), b.angular_acceleration)
    store(subtract(a, field), b.acceleration)
    store(a, run.base_acceleration)
    store(axpy(tau, a, v), run.base_velocity)
    store(add(load(base.position), axpy(0.5 * tau * tau, a, scale(tau, v))), run.base_position)


@kernel
def follow_motions(link, coordinate, law, run, t):
    """Set prescribed coordinates, their rates and accelerations at the time t, s."""
    for k in range(int(run.coordinates)):
        p = law[k]
        if p.prescribed == 0.0:
            continue
        b = link[int(coordinate[k].link)]
        angle = p.frequency * t + p.phase
        wave = p.amplitude * sin(angle)
        b.held = 1.0
        b.q = p.position + t * (p.velocity + 0.5 * p.acceleration * t) + wave
        b.rate = p.velocity + p.acceleration * t + p.amplitude * p.frequency * cos(angle)
        b.forced = p.acceleration - p.frequency * p.frequency * wave


@kernel
def _drift(link, h):
    """Move all free coordinates with their rates."""
    for k in range(1, len(link)):
        b = link[k]
        kind = b.kind
        if REVOLUTE <= kind <= SCREW:
            if b.held == 0.0:
                b.q += h * b.rate
        elif kind >= SPHERICAL:
            turned = advance(load_quaternion(b.quaternion), scale(h, load(b.spin)))
            store_quaternion(turned, b.quaternion)
            if kind == FREE:
                store(axpy(h, load(b.speed), load(b.place)), b.place)


@kernel
def predict(link, h):
    """Keep the rates at the start, and predict those in the middle of a micro-step h."""
    for k in range(1, len(link)):
        b = link[k]
        kind = b.kind
        b.last_rate = b.rate
        b.predicted = b.qdd
        if REVOLUTE <= kind <= SCREW:
            if b.held == 0.0:
                b.rate += 0.5 * h * b.qdd
        elif kind >= SPHERICAL:
            store(load(b.spin), b.last_spin)
            store(load(b.spin_rate), b.predicted_spin)
            store(axpy(0.5 * h, load(b.spin_rate), load(b.spin)), b.spin)
            if kind == FREE:
                store(load(b.speed), b.last_speed)
                store(load(b.speed_rate), b.predicted_speed)
                store(axpy(0.5 * h, load(b.speed_rate), load(b.speed)), b.speed)


@kernel
def _kick(link, h):
    """Set the rates at the end of a micro-step h."""
    for k in range(1, len(link)):
        b = link[k]
        kind = b.kind
        if REVOLUTE <= kind <= SCREW:
            if b.held == 0.0:
                b.rate = b.last_rate + h * b.qdd
        elif kind >= SPHERICAL:
            store(axpy(h, load(b.spin_rate), load(b.last_spin)), b.spin)
            if kind == FREE:
                store(axpy(h, load(b.speed_rate), load(b.last_speed)), b.speed)


@kernel
def place(g, tau):
    """Place all links with their velocities, `tau` seconds into the step."""
    place_base(g, tau)
    links.place(g.link, g.solver.flex)
    links.move(g.link)


@kernel
def evaluate(g, h):
    """Set all accelerations for the present configuration: forces, then the recursion; h as in `forces`."""
    link, flex, run = g.link, g.solver.flex, g.run
    if run.elastic > 0.0:
        links.place(link, flex)
    else:
        links.place_rigid(link)
    if run.springs > 0.0 or run.ports > 0.0 or run.rows > 0.0 or run.surfaces > 0.0:
        links.move(link)
        point_forces.pull_springs(link, g.spring, g.strength, run, h)
        point_forces.push_ports(link, g.port, run, h)
        if run.affine_ports > 0.0:
            port_response.load_links(link, g.port, g.gravity, run)
    contact_forces.press(link, g.touch, run, h)
    forces.drive_coordinates(g, h)
    to_base = h == 0.0 or run.free_root != 0.0
    if run.elastic > 0.0:
        elastic_bodies.bend(link, flex, run, h)
        closure.accelerate(link, to_base, g.solver, run)
    else:
        sparse_loops.keep_masses(link, g.solver, run)
        links.accelerate_rigid(link, to_base)
    closure.constrain(link, g.cut, g.row, g.solver, run, h)
    if h > 0.0 and run.pairs > 0.0:
        friction.rub(link, g.touch, g.cut, g.row, g.solver, run, h)
        accounts.account(link, g.touch, flex, run, h)
    if h > 0.0 and run.affine_ports > 0.0:
        port_response.respond(link, g.port, g.gravity, run, h)


@kernel
def _change(link):
    """Return the largest change of an acceleration since the last micro-step, rad/s2 or m/s2, and whether all is sound.

    It is not if an acceleration is not finite, or a coordinate feels no inertia.
    """
    largest = 0.0
    total = 0.0
    sound = True
    for k in range(1, len(link)):
        b = link[k]
        kind = b.kind
        if REVOLUTE <= kind <= SCREW:
            if b.held == 0.0:
                change = fabs(b.qdd - b.predicted)
                if kind != MODE:
                    largest = max(largest, change)
                total += change
                if not 0.0 < b.mobility < failures.MOST_MOBILE:
                    sound = False
        elif kind >= SPHERICAL:
            for i in range(3):
                change = fabs(b.spin_rate[i] - b.predicted_spin[i])
                largest = max(largest, change)
                total += change
                if kind == FREE:
                    change = fabs(b.speed_rate[i] - b.predicted_speed[i])
                    largest = max(largest, change)
                    total += change
    return largest, sound and isfinite(total)


@kernel
def micro_step(g, tau, t, h):
    """Advance the system by h from `tau` seconds into the step, t the time then."""
    link, coordinate, law, run = g.link, g.coordinate, g.law, g.run
    run.now = t + 0.5 * h
    forces.select_segments(link, coordinate, law, g.loop, run)
    _drift(link, 0.5 * h)
    follow_motions(link, coordinate, law, run, t + 0.5 * h)
    predict(link, h)
    if run.free_root != 0.0:
        momentum.begin(link, run, h)
    place_base(g, tau + 0.5 * h)
    detection.place_target(g.target, run, tau + 0.5 * h)
    evaluate(g, h)
    run.change, sound = _change(link)
    if not sound:
        failures.blame(link, run)
    if run.failure != 0.0:
        # nothing moves by what is not finite
        return
    _kick(link, h)
    if run.free_root != 0.0:
        momentum.add_field(link, run, g.gravity)
        force, torque = passed_wrench(link[0])
        momentum.add_outer(run, negate(force), negate(torque), ZERO)
    forces.account_coordinates(g, h)
    if run.elastic > 0.0:
        elastic_bodies.account(link, g.solver.flex, run, h)
    _drift(link, 0.5 * h)
    if run.free_root != 0.0 or run.locks > 0.0:
        follow_motions(link, coordinate, law, run, t + h)
    if run.free_root != 0.0:
        links.place(link, g.solver.flex)
        links.move(link)
        if link[1].held == 0.0:
            momentum.restore(link, run, h)
        momentum.keep(link, run)


@kernel
def choose_next(p, stepping, link, coordinate, law, run, until, h):
    """Set the length of the next micro-step after one of length h: by the jerk, and short where a stop is met.

    `until` is the time until the first lock closes, s.
    """
    if p.micro_tolerance == 0.0:
        stepping.micro_step = p.micro_step
        return
    micro_steps.remember(stepping, run.change, MEMORY * p.micro_step, h)
    micro_steps.set_next(p, stepping, micro_steps.allowed(p, stepping), h)
    if run.restart != 0.0:
        run.restart = 0.0
        micro_steps.restart(p, stepping)
    # a stop is met within a short micro-step
    reach = min(until, forces.time_to_stop(link, coordinate, law, run))
    stepping.micro_step = max(min(stepping.micro_step, reach), min(p.micro_step, stepping.micro_step))
