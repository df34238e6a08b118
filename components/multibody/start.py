"""The start of a system: arms of joints, springs, ports and surfaces, masses of links, coordinates and rates."""

from __future__ import annotations

from math import fabs

from dockfmu.components.core import check
from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import failures
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
from dockfmu.components.physics.tree.links import FREE


@kernel
def _arm(body, index, point):
    """Return a point of a body, from the reference point of its link, in axes of the link; index -1 is the base."""
    if index < 0.0:
        return point
    o = body[int(index)]
    return apply(load_matrix(o.axes), subtract(point, load(o.reference)))


@kernel
def place_points(g, joint, mount, outline):
    """Set the reference points of bodies, and the arms of links, springs, cut joints, ports and surfaces.

    `joint`, `mount` and `outline` are the parameters of joints, ports and surfaces.
    """
    link, body, run = g.link, g.body, g.run
    for k in range(len(joint)):
        p = joint[k]
        outer = load(p.successor_point) if p.outward != 0.0 else load(p.predecessor_point)
        store(outer, body[int(p.outer)].reference)
    for k in range(len(joint)):
        p = joint[k]
        point = load(p.predecessor_point) if p.outward != 0.0 else load(p.successor_point)
        store(_arm(body, p.inner, point), link[int(p.link)].arm)
    for k in range(int(run.springs)):
        s = g.spring[k]
        store(_arm(body, s.first, load(g.strength[k].first_point)), s.first_arm)
        store(_arm(body, s.second, load(g.strength[k].second_point)), s.second_arm)
    for k in range(int(run.cuts)):
        c = g.cut[k]
        store(_arm(body, c.first, load(c.first_point)), c.first_arm)
        store(_arm(body, c.second, load(c.second_point)), c.second_arm)
    for k in range(int(run.ports)):
        store(_arm(body, g.port[k].body, load(mount[k].point)), g.port[k].arm)
    for k in range(int(run.surfaces)):
        s = g.touch.surface[k]
        p = outline[k]
        store(_arm(body, s.body, load(p.point)), s.arm)
        s.radius = p.radius
        # a segment has the axes of its body
        store(apply(load_matrix(p.rotation), load(p.along)), s.along)


@kernel
def set_masses(link, body, mass):
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
def set_state(g, start, status):
    """Set the start values of all coordinates and rates, those of rotations from `start`. Returns 0, or a code."""
    link, run = g.link, g.run
    for k in range(len(link)):
        b = link[k]
        b.qdd = 0.0
        b.held = 0.0
        b.forced = 0.0
        store(ZERO, b.spin_rate)
        store(ZERO, b.speed_rate)
        store(ZERO, b.velocity)
    for k in range(int(run.coordinates)):
        p = g.law[k]
        c = g.coordinate[k]
        b = link[int(c.link)]
        b.q = p.start
        b.rate = p.start_rate
        c.deflection = 0.0
        c.stopped = 0.0
    for k in range(int(run.rotations)):
        p = start[k]
        r = g.rotation[k]
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
def clear(run, t):
    """Set what has been added up and all means to zero, for a system that starts at the time t."""
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
    run.response_work = 0.0
    run.response_loss = 0.0
    store(ZERO, run.response_momentum)
    run.tuned = 0.0
    run.restart = 0.0
    store(ZERO, run.base_position)
    store(ZERO, run.base_velocity)
    store(ZERO, run.impulse)
    store(ZERO, run.angular_impulse)
    store(ZERO, run.apart)
    run.last_step = 0.0
    store(ZERO, run.last_force)
    store(ZERO, run.last_torque)
