"""Friction of the declared contacts: that of the end of a micro-step, after the recursion (ruling R39).

As in the backward Euler method, friction never exceeds its limit with the normal force of the same micro-step, and
holds at rest what it can hold. For each contact the recursion gives the sliding at the end without friction, and the
response of the system to a unit force along it; contacts on the same link share its mobility. Base and target are not
moved by what is within a micro-step.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import closure, pushes
from dockfmu.components.multibody.contacts.forces import clear_touched, load_target, wrench_about
from dockfmu.components.physics.contact.force import clear, tangential
from dockfmu.components.physics.contact.held_friction import hold
from dockfmu.components.physics.contact.pairs import kind_of, slot_of
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
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
from dockfmu.components.physics.tree import elastic_recursion, links
from dockfmu.components.physics.tree.links import FIXED, FREE, MODE, PRISMATIC, REVOLUTE, SCREW, SPHERICAL


@kernel
def spread(link, h, share, flex):
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
        if kind < FIXED:
            change_a, change_e = elastic_recursion.spread_modes(b, link, flex, h, share)
            a = add(a, change_a)
            e = add(e, change_e)
        elif REVOLUTE <= kind <= SCREW and kind != MODE:
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
    """Return what `spread` or a response gives at a point of the body of a surface; the target moves on by `tau`."""
    if surface.link < 0.0:
        a = subtract(load(run.target_acceleration), load(run.base_acceleration))
        arm = subtract(point, load(run.target_position))
        return scale(tau, add(a, cross(load(run.target_turning), arm)))
    b = link[int(surface.link)]
    return add(load(b.push_linear), cross(load(b.push_angular), subtract(point, load(b.position))))


@kernel
def change_of(item, link, surface, run, tau):
    """Return the change of the velocity of a listed contact that `spread` or a response gives, m/s."""
    point = load(item.position)
    first = _change_at(link, surface[int(item.link)], point, run, tau)
    return subtract(first, _change_at(link, surface[int(item.other)], point, run, tau))


@kernel
def _push(link, surface, force, point):
    """Push the body of a surface with a force at a point; nothing pushes the target."""
    if surface.link < 0.0:
        return
    b = link[int(surface.link)]
    accumulate(force, b.push_force)
    accumulate(cross(subtract(point, load(b.position)), force), b.push_torque)


@kernel
def _mobility(item, link, surface, direction, run, flex):
    """Return the acceleration of a listed contact by a unit force between its bodies, 1/kg."""
    point = load(item.position)
    pushes.clear_pushes(link)
    _push(link, surface[int(item.link)], direction, point)
    _push(link, surface[int(item.other)], negate(direction), point)
    pushes.respond(link, flex)
    return dot(direction, change_of(item, link, surface, run, 0.0))


@kernel
def _across(n):
    """Return a unit vector across the unit vector n."""
    if n[0] * n[0] > 0.5:
        v = (-n[1], n[0], 0.0)
    else:
        v = (0.0, -n[2], n[1])
    return scale(1.0 / norm(v), v)


@kernel
def _sharing(item, surface, tally):
    """Return how many contacts that press are on a body of a listed contact, itself included."""
    first = surface[int(item.link)].link
    second = surface[int(item.other)].link
    count = 0.0
    for k in range(int(tally.count)):
        other = tally.contact[k]
        if other.normal_force > 0.0:
            f = surface[int(other.link)].link
            s = surface[int(other.other)].link
            if (first > 0.0 and first in (f, s)) or (second > 0.0 and second in (f, s)):
                count += 1.0
    return max(count, 1.0)


@kernel
def _rubs(item, kind):
    """Return whether a listed contact has friction."""
    return item.normal_force > 0.0 and kind_of(kind, item.pair).friction > 0.0


@kernel
def _push_link(link, surface, part, run):
    """Hand the sum over a surface to the push on its link, or to the wrench on the target: it is zero then."""
    if surface.link < 0.0:
        load_target(surface, part, run)
    else:
        b = link[int(surface.link)]
        force, torque = wrench_about(part, load(b.position), load(surface.position))
        accumulate(force, b.push_force)
        accumulate(torque, b.push_torque)
    clear(part)


@kernel
def rub(link, touch, cut, row, solver, run, h):
    """Add the friction of all listed contacts to the accelerations of a micro-step h, after the recursion."""
    surface, pair, kind, tally, sums = touch.surface, touch.pair, touch.kind, touch.tally, touch.sums
    sliding = False
    for k in range(int(tally.count)):
        item = tally.contact[k]
        if _rubs(item, kind):
            sliding = True
        else:
            store(ZERO, pair[int(slot_of(kind, item.pair, item.index))].friction)
    if not sliding:
        return
    spread(link, h, 1.0, solver.flex)
    for k in range(int(tally.count)):
        item = tally.contact[k]
        v = add(load(item.velocity), change_of(item, link, surface, run, 0.5 * h))
        store(tangential(v, load(item.normal)), item.slip)
    clear_touched(tally, sums)
    for k in range(int(tally.count)):
        item = tally.contact[k]
        if not _rubs(item, kind):
            continue
        slip = load(item.slip)
        speed = norm(slip)
        direction = scale(1.0 / speed, slip) if speed > 0.0 else _across(load(item.normal))
        mobility = _mobility(item, link, surface, direction, run, solver.flex)
        mobility *= h * _sharing(item, surface, tally)
        hold(item, kind_of(kind, item.pair), slip, mobility, surface, sums)
        store(load(item.friction), pair[int(slot_of(kind, item.pair, item.index))].friction)
    pushes.clear_pushes(link)
    for k in range(int(tally.count)):
        item = tally.contact[k]
        first = int(item.link)
        second = int(item.other)
        _push_link(link, surface[first], sums.part[first], run)
        _push_link(link, surface[second], sums.part[second], run)
    pushes.respond(link, solver.flex)
    pushes.add_response(link)
    closure.constrain_again(link, cut, row, solver, run, h)
