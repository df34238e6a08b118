"""Forces of the declared contacts within a micro-step.

Normal forces follow from the depths in the middle of the micro-step, before the recursion. Friction comes after it: it
is the friction at the end of the micro-step, as in the backward Euler method (ruling R39), so that it never exceeds
its limit with the normal force of the same step, and holds at rest what it can hold. For each closed pair the recursion
gives the sliding at the end without friction, and the response of the system to a unit force along it; pairs on the
same link share its mobility. Base and target are not moved by what is within a micro-step.

Losses are those at the mean of the velocities before and after the kick, so that kinetic energy, springs, and losses
balance to rounding in each kick.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import closure, links, momentum
from dockfmu.components.multibody.contacts.detection import detect, place_surfaces, relative_velocity
from dockfmu.components.multibody.links import FREE, PRISMATIC, REVOLUTE, SCREW, SPHERICAL
from dockfmu.components.physics.contact.force import (
    friction_force,
    normal_force,
    spring_force,
    stored_energy,
    tangential,
)
from dockfmu.components.physics.devices import interface_load
from dockfmu.components.physics.mechanics import rotation
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, load_attitude, load_matrix
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    accumulate,
    add,
    axpy,
    cross,
    dot,
    load,
    negate,
    norm,
    scale,
    store,
    subtract,
)


@kernel
def clear(pair, contact, run):
    """Set contacts to their state at the start: all open, without friction."""
    run.contacts_lost = 0.0
    run.work_target = 0.0
    run.excess = 0.0
    store(ZERO, run.target_force)
    store(ZERO, run.target_torque)
    store(ZERO, run.target_impulse)
    store(ZERO, run.target_angular_impulse)
    for k in range(int(run.pairs)):
        o = pair[k]
        o.closed = 0.0
        o.normal_force = 0.0
        store(ZERO, o.friction)
    for k in range(int(run.contacts)):
        contact[k].peak_force = 0.0


@kernel
def _exert(link, surface, force, point, run):
    """Add a force at a point from the base to the body of a surface; on the target to its wrench."""
    if surface.link < 0.0:
        accumulate(force, run.target_force)
        accumulate(cross(subtract(point, load(run.target_position)), force), run.target_torque)
        return
    b = link[int(surface.link)]
    accumulate(force, b.force)
    accumulate(cross(subtract(point, load(b.position)), force), b.torque)


@kernel
def press(link, surface, face, pair, law, run, h):
    """Detect all pairs and add their normal forces to the links; with h = 0 the friction of the last micro-step too."""
    store(ZERO, run.target_force)
    store(ZERO, run.target_torque)
    if run.surfaces == 0.0:
        return
    place_surfaces(link, surface, run)
    detect(surface, face, pair, run)
    for k in range(int(run.pairs)):
        o = pair[k]
        o.normal_force = 0.0
        if not o.depth > 0.0:
            store(ZERO, o.friction)
            continue
        first = surface[int(o.first)]
        second = surface[int(o.second)]
        p = law[int(o.contact)]
        n = load(o.normal)
        point = load(o.point)
        rate = dot(n, relative_velocity(first, second, point))
        o.normal_force = normal_force(p, rate, o.gain, o.depth)
        force = scale(o.normal_force, n)
        if h == 0.0:
            held = tangential(load(o.friction), n)
            limit = p.friction * o.normal_force
            size = norm(held)
            force = axpy(1.0 if size <= limit else limit / size, held, force)
        _exert(link, second, force, point, run)
        _exert(link, first, negate(force), point, run)


@kernel
def _spread(link, h, share):
    """Set the pushes of all links to the changes of their twists from now to the `share` of the kick of h.

    Rates are those predicted for the middle of the micro-step. The base moves on with its acceleration.
    """
    base = link[0]
    store(ZERO, base.push_linear)
    store(scale((share - 0.5) * h, load(base.angular_acceleration)), base.push_angular)
    for k in range(1, len(link)):
        b = link[k]
        p = link[int(b.parent)]
        e = load(p.push_angular)
        a = add(load(p.push_linear), cross(e, load(b.reach)))
        kind = b.kind
        if REVOLUTE <= kind <= SCREW:
            if b.held == 0.0:
                change = b.last_rate + share * h * b.qdd - b.rate
                u = load(b.along)
                if kind != PRISMATIC:
                    e = axpy(change, u, e)
                if kind != REVOLUTE:
                    a = axpy(change * (1.0 if kind == PRISMATIC else b.lead), u, a)
        elif kind >= SPHERICAL:
            change3 = subtract(axpy(share * h, load(b.spin_rate), load(b.last_spin)), load(b.spin))
            e = add(e, apply_transposed(load_matrix(b.rotation), change3))
            if kind == FREE:
                change3 = subtract(axpy(share * h, load(b.speed_rate), load(b.last_speed)), load(b.speed))
                a = add(a, apply_transposed(links.mounted(b, p), change3))
        store(a, b.push_linear)
        store(e, b.push_angular)


@kernel
def _change_at(link, surface, point, run, tau):
    """Return what `_spread` or a response gives at a point of the body of a surface; the target moves on by `tau`."""
    if surface.link < 0.0:
        a = subtract(load(run.target_acceleration), load(run.base_acceleration))
        arm = subtract(point, load(run.target_position))
        return scale(tau, add(a, cross(load(run.target_turning), arm)))
    b = link[int(surface.link)]
    return add(load(b.push_linear), cross(load(b.push_angular), subtract(point, load(b.position))))


@kernel
def _push(link, surface, force, point):
    """Push the body of a surface with a force at a point; nothing pushes the target."""
    if surface.link < 0.0:
        return
    b = link[int(surface.link)]
    accumulate(force, b.push_force)
    accumulate(cross(subtract(point, load(b.position)), force), b.push_torque)


@kernel
def _mobility(link, first, second, point, direction, run):
    """Return the acceleration of the first body relative to the second's by a unit force between them, 1/kg."""
    closure.clear_pushes(link)
    _push(link, first, direction, point)
    _push(link, second, negate(direction), point)
    closure.respond(link)
    a = subtract(_change_at(link, first, point, run, 0.0), _change_at(link, second, point, run, 0.0))
    return dot(direction, a)


@kernel
def _across(n):
    """Return a unit vector across the unit vector n."""
    if n[0] * n[0] > 0.5:
        v = (-n[1], n[0], 0.0)
    else:
        v = (0.0, -n[2], n[1])
    return scale(1.0 / norm(v), v)


@kernel
def _sharing(surface, pair, k, run):
    """Return how many closed pairs with friction are on a body of pair k, itself included."""
    first = surface[int(pair[k].first)].link
    second = surface[int(pair[k].second)].link
    count = 0.0
    for j in range(int(run.pairs)):
        o = pair[j]
        if o.normal_force > 0.0:
            f = surface[int(o.first)].link
            s = surface[int(o.second)].link
            if (first > 0.0 and first in (f, s)) or (second > 0.0 and second in (f, s)):
                count += 1.0
    return max(count, 1.0)


@kernel
def rub(link, surface, pair, law, cut, row, matrix, run, h):
    """Add the friction of all closed pairs to the accelerations of a micro-step h, after the recursion."""
    sliding = False
    for k in range(int(run.pairs)):
        o = pair[k]
        if o.normal_force > 0.0 and law[int(o.contact)].friction > 0.0:
            sliding = True
        else:
            store(ZERO, o.friction)
    if not sliding:
        return
    _spread(link, h, 1.0)
    for k in range(int(run.pairs)):
        o = pair[k]
        if o.normal_force > 0.0:
            first = surface[int(o.first)]
            second = surface[int(o.second)]
            point = load(o.point)
            v = relative_velocity(first, second, point)
            v = add(v, _change_at(link, first, point, run, 0.5 * h))
            v = subtract(v, _change_at(link, second, point, run, 0.5 * h))
            store(tangential(v, load(o.normal)), o.slip)
    for k in range(int(run.pairs)):
        o = pair[k]
        p = law[int(o.contact)]
        if o.normal_force > 0.0 and p.friction > 0.0:
            slip = load(o.slip)
            speed = norm(slip)
            direction = scale(1.0 / speed, slip) if speed > 0.0 else _across(load(o.normal))
            first = surface[int(o.first)]
            second = surface[int(o.second)]
            mobility = _mobility(link, first, second, load(o.point), direction, run)
            mobility *= h * _sharing(surface, pair, k, run)
            store(friction_force(p, o.normal_force, slip, mobility), o.friction)
    closure.clear_pushes(link)
    for k in range(int(run.pairs)):
        o = pair[k]
        if o.normal_force > 0.0:
            force = load(o.friction)
            point = load(o.point)
            second = surface[int(o.second)]
            _push(link, second, force, point)
            _push(link, surface[int(o.first)], negate(force), point)
            if second.link < 0.0:
                _exert(link, second, force, point, run)
            elif surface[int(o.first)].link < 0.0:
                _exert(link, surface[int(o.first)], negate(force), point, run)
    closure.respond(link)
    closure.add_response(link)
    closure.constrain_again(link, cut, row, matrix, run, h)


@kernel
def account(link, surface, pair, contact, law, loads, run, h):
    """Add losses, works, impulses and peaks of a micro-step h, after all accelerations are known."""
    if run.pairs == 0.0:
        return
    closed = False
    for k in range(int(run.contacts)):
        contact[k].step_force = 0.0
    for k in range(int(run.pairs)):
        o = pair[k]
        touches = 1.0 if o.depth > 0.0 else 0.0
        if touches != o.closed:
            o.closed = touches
            run.restart = 1.0
        closed = closed or o.depth > 0.0
    if closed:
        _spread(link, h, 0.5)
        for k in range(int(run.pairs)):
            if pair[k].depth > 0.0:
                _account_pair(link, surface, pair[k], contact[int(pair[k].contact)], law, run, h)
    for k in range(int(run.contacts)):
        contact[k].peak_force = max(contact[k].peak_force, contact[k].step_force)
    if run.has_target == 0.0:
        return
    force = load(run.target_force)
    torque = load(run.target_torque)
    accumulate(scale(h, force), run.target_impulse)
    accumulate(scale(h, torque), run.target_angular_impulse)
    run.work_target -= h * (dot(force, load(run.target_motion)) + dot(torque, load(run.target_spin)))
    A = load_matrix(run.target_rotation)
    interface_load.take(loads, apply(A, force), apply(A, torque))
    on_system = negate(force)
    position = load(run.target_position)
    if run.carried != 0.0:
        accumulate(scale(h, on_system), run.port_impulse)
        moment = subtract(cross(position, on_system), torque)
        accumulate(scale(h, moment), run.port_angular_impulse)
    if run.free_root != 0.0:
        momentum.add_outer(run, on_system, negate(torque), position)


@kernel
def _account_pair(link, surface, o, c, law, run, h):
    """Add the losses of a closed pair at the mean velocity of the kick, and note a depth beyond its limit."""
    first = surface[int(o.first)]
    second = surface[int(o.second)]
    p = law[int(o.contact)]
    n = load(o.normal)
    point = load(o.point)
    v = relative_velocity(first, second, point)
    v = add(v, _change_at(link, first, point, run, 0.0))
    v = subtract(v, _change_at(link, second, point, run, 0.0))
    force = axpy(o.normal_force, n, load(o.friction))
    run.contacts_lost += h * (dot(force, v) - spring_force(p, o.gain, o.depth) * dot(n, v))
    c.step_force += norm(force)
    if o.depth > p.depth_limit and run.excess == 0.0:
        run.excess = o.depth
        run.exceeded = o.contact + 1.0


@kernel
def energy(pair, law, run):
    """Return the energy in the springs of all closed pairs, J."""
    total = 0.0
    for k in range(int(run.pairs)):
        if pair[k].depth > 0.0:
            total += stored_energy(law[int(pair[k].contact)], pair[k].depth)
    return total


@kernel
def begin_step(contact, loads, run):
    """Begin a step: no impulses on the target, no peaks yet."""
    store(ZERO, run.target_impulse)
    store(ZERO, run.target_angular_impulse)
    for k in range(int(run.contacts)):
        contact[k].peak_force = 0.0
    interface_load.clear(loads)


@kernel
def publish(pair, contact, run):
    """Set the outputs of all contacts from those of their pairs; the place is that of the deepest pair."""
    for k in range(int(run.contacts)):
        c = contact[k]
        c.closed = 0.0
        c.pairs = 0.0
        c.depth = 0.0
        c.normal_force = 0.0
        c.friction_force = 0.0
    for k in range(int(run.pairs)):
        o = pair[k]
        if not o.depth > 0.0:
            continue
        c = contact[int(o.contact)]
        c.closed = 1.0
        c.pairs += 1.0
        c.normal_force += o.normal_force
        c.friction_force += norm(load(o.friction))
        if o.depth > c.depth:
            c.depth = o.depth
            store(add(load(run.base_position), load(o.point)), c.position)


@kernel
def publish_target(target, run, h):
    """Set the wrenches on the target: means over a step h, from the impulses, and those at its end."""
    if run.has_target == 0.0:
        return
    A = load_matrix(run.target_rotation)
    store(apply(A, load(run.target_force)), target.force_now)
    store(apply(A, load(run.target_torque)), target.torque_now)
    if h == 0.0:
        store(load(target.force_now), target.force)
        store(load(target.torque_now), target.torque)
        return
    # the craft applies the mean in its axes in the middle of the step
    q = load_attitude(target.quaternion)
    turn = scale(0.5 * h, axpy(0.25 * h, load(target.angular_acceleration), load(target.angular_velocity)))
    middle = rotation.from_quaternion(rotation.advance(q, turn))
    store(apply(middle, scale(1.0 / h, load(run.target_impulse))), target.force)
    store(apply(middle, scale(1.0 / h, load(run.target_angular_impulse))), target.torque)
