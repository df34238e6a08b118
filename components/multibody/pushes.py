"""Pushes on the links and the response of the tree to them: one pass inward, one outward, without new inertias.

A unit multiplier of a row is a force along n at the successor's joint point, or a torque about n, on the successor, and
its opposite on the predecessor.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody.cut_rows import DISC, TRANSLATION
from dockfmu.components.physics.mechanics.rotation import apply, load_matrix
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    accumulate,
    add,
    axpy,
    cross,
    dot,
    load,
    scale,
    store,
    subtract,
)
from dockfmu.components.physics.tree import articulated, elastic_recursion, links
from dockfmu.components.physics.tree.links import FIXED, FRAME, FREE, MODE, NODE, PRISMATIC, REVOLUTE, SCREW, SPHERICAL


@kernel
def clear_pushes(link):
    """Set the pushes on all links to zero."""
    for k in range(len(link)):
        store(ZERO, link[k].push_force)
        store(ZERO, link[k].push_torque)


@kernel
def pushes(o):
    """Return whether the multiplier of a row is a force, not a torque."""
    return o.kind == TRANSLATION or o.kind >= DISC


@kernel
def push(link, cut, o, size):
    """Push with a row: its normal as force or torque on the successor, its opposite on the predecessor."""
    c = cut[int(o.joint)]
    inner = link[int(c.first_link)]
    outer = link[int(c.second_link)]
    n = scale(size, load(o.normal))
    back = scale(-size, load(o.normal))
    if pushes(o):
        accumulate(n, outer.push_force)
        accumulate(cross(add(load(c.second_reach), load(c.rolling)), n), outer.push_torque)
        accumulate(back, inner.push_force)
        accumulate(cross(add(load(c.first_reach), load(c.rolling)), back), inner.push_torque)
    else:
        accumulate(n, outer.push_torque)
        accumulate(back, inner.push_torque)


@kernel
def respond(link, flex):
    """Set the changes of all accelerations by the pushes, after `links.accelerate`: one pass inward, one outward."""
    for k in range(len(link) - 1, 0, -1):
        b = link[k]
        p = link[int(b.parent)]
        f = load(b.push_force)
        t = load(b.push_torque)
        kind = b.kind
        if kind == MODE or (kind == FREE and b.held == 0.0):
            continue
        if kind == NODE:
            elastic_recursion.push_node(b, p, link, flex)
            continue
        if kind == FRAME:
            elastic_recursion.push_frame(b, p, link, flex)
            continue
        if kind == SPHERICAL and b.held == 0.0:
            turn = articulated.times(b.inverse, t)
            store(turn, b.push_turn)
            f = subtract(f, articulated.row_times(b.tr, turn))
            t = ZERO
        elif FIXED < kind <= SCREW:
            u = load(b.along)
            if kind == REVOLUTE:
                felt = dot(u, t)
            elif kind == PRISMATIC:
                felt = dot(u, f)
            else:
                felt = b.lead * dot(u, f) + dot(u, t)
            b.push_felt = felt
            driven = b.mobility * felt
            b.push_driven = driven
            f = axpy(-driven, load(b.felt_force), f)
            t = axpy(-driven, load(b.felt_torque), t)
        accumulate(f, p.push_force)
        accumulate(add(t, cross(load(b.reach), f)), p.push_torque)
    store(ZERO, link[0].push_linear)
    store(ZERO, link[0].push_angular)
    for k in range(1, len(link)):
        b = link[k]
        p = link[int(b.parent)]
        e = load(p.push_angular)
        a = add(load(p.push_linear), cross(e, load(b.reach)))
        kind = b.kind
        if kind == MODE:
            continue
        if kind == NODE:
            a, e = elastic_recursion.respond_node(b, p, link, flex)
        elif kind == FRAME:
            a, e = elastic_recursion.respond_frame(b, p, link, flex)
        elif kind >= SPHERICAL and b.held != 0.0:
            store(ZERO, b.push_turn)
            store(ZERO, b.push_slide)
        elif kind == FREE:
            alone, turned = articulated.free_acceleration(b.tt, b.tr, b.rr, load(b.push_force), load(b.push_torque))
            store(subtract(alone, a), b.push_slide)
            store(subtract(turned, e), b.push_turn)
            a = alone
            e = turned
        elif kind == SPHERICAL:
            moved = add(articulated.column_times(b.tr, a), articulated.times(b.rr, e))
            turn = subtract(load(b.push_turn), articulated.times(b.inverse, moved))
            store(turn, b.push_turn)
            e = add(e, turn)
        elif kind > FIXED:
            carried = dot(load(b.felt_force), a) + dot(load(b.felt_torque), e)
            b.push_load = b.push_felt - carried
            change = b.push_driven - b.mobility * carried
            b.push_qdd = change
            u = load(b.along)
            if kind != PRISMATIC:
                e = axpy(change, u, e)
            if kind != REVOLUTE:
                a = axpy(change * (1.0 if kind == PRISMATIC else b.lead), u, a)
        store(a, b.push_linear)
        store(e, b.push_angular)


@kernel
def row_response(link, cut, o):
    """Return the acceleration of a row by the pushes."""
    c = cut[int(o.joint)]
    inner = link[int(c.first_link)]
    outer = link[int(c.second_link)]
    e1 = load(inner.push_angular)
    e2 = load(outer.push_angular)
    n = load(o.normal)
    if pushes(o):
        a1 = add(load(inner.push_linear), cross(e1, add(load(c.first_reach), load(c.rolling))))
        a2 = add(load(outer.push_linear), cross(e2, add(load(c.second_reach), load(c.rolling))))
        return dot(n, subtract(a2, a1))
    return dot(n, subtract(e2, e1))


@kernel
def add_response(link):
    """Add the response to the accelerations, and what holds held coordinates and the base to their loads."""
    for k in range(1, len(link)):
        b = link[k]
        accumulate(load(b.push_linear), b.acceleration)
        accumulate(load(b.push_angular), b.angular_acceleration)
        kind = b.kind
        if REVOLUTE <= kind <= SCREW:
            b.load += b.push_load
            if b.held == 0.0:
                b.qdd += b.push_qdd
        elif kind >= SPHERICAL:
            A = load_matrix(b.rotation)
            turn = load(b.push_turn)
            accumulate(apply(A, turn), b.spin_rate)
            if kind == FREE:
                frame = links.mounted(b, link[int(b.parent)])
                slide = load(b.push_slide)
                accumulate(apply(frame, slide), b.speed_rate)
    accumulate(load(link[0].push_force), link[0].force)
    accumulate(load(link[0].push_torque), link[0].torque)
