"""Forces at points of bodies: springs, tethers and pushers between them, wrenches on ports."""

from __future__ import annotations

from math import sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import (
    advance,
    apply_transposed,
    compose,
    from_quaternion,
    load_attitude,
    load_matrix,
)
from dockfmu.components.physics.mechanics.vector import accumulate, add, axpy, cross, dot, load, scale, store, subtract
from dockfmu.components.physics.tree import momentum


@kernel
def point_twist(b, arm):
    """Return (point from the reference point, its velocity relative to the base's origin), both in I."""
    r = apply_transposed(load_matrix(b.rotation), load(arm))
    return r, add(load(b.velocity), cross(load(b.angular_velocity), r))


@kernel
def _stretch(link, spring, k):
    """Return (arm on the first, arm on the second, unit vector between them, distance, its rate) of a spring."""
    s = spring[k]
    first = link[int(s.first_link)]
    second = link[int(s.second_link)]
    r1, v1 = point_twist(first, s.first_arm)
    r2, v2 = point_twist(second, s.second_arm)
    gap = subtract(add(load(second.position), r2), add(load(first.position), r1))
    distance = sqrt(dot(gap, gap))
    if distance > 0.0:
        along = scale(1.0 / distance, gap)
    else:
        along = (0.0, 0.0, 0.0)
    return r1, r2, along, distance, dot(along, subtract(v2, v1))


@kernel
def _tension(p, distance, rate):
    """Return (tension, elastic part of it) of a spring; a slack tether has none, nor a pusher that is free."""
    elastic = p.stiffness * (distance - p.length)
    tension = elastic + p.damping * rate
    if p.tether > 0.0:
        elastic = max(elastic, 0.0)
        tension = max(tension, 0.0) if elastic > 0.0 else 0.0
    elif p.tether < 0.0:
        elastic = min(elastic, 0.0)
        tension = min(tension, 0.0) if elastic < 0.0 else 0.0
    return tension, elastic


@kernel
def pull_springs(link, spring, strength, run, h):
    """Add the forces of springs between points to the links, and their losses over a micro-step h."""
    for k in range(int(run.springs)):
        s = spring[k]
        p = strength[k]
        r1, r2, along, distance, rate = _stretch(link, spring, k)
        tension, elastic = _tension(p, distance, rate)
        run.springs_lost += h * (tension - elastic) * rate
        if h > 0.0:
            taut = 1.0 if elastic * p.tether > 0.0 else 0.0
            if taut != s.taut:
                s.taut = taut
                run.restart = 1.0
        s.length = distance
        s.rate = rate
        s.tension = tension
        force = scale(tension, along)
        first = link[int(s.first_link)]
        second = link[int(s.second_link)]
        accumulate(force, first.force)
        accumulate(cross(r1, force), first.torque)
        for i in range(3):
            second.force[i] -= force[i]
        moment = cross(r2, force)
        for i in range(3):
            second.torque[i] -= moment[i]


@kernel
def show_springs(link, spring, strength, run):
    """Set length, rate and tension of all springs, for links that are placed with their velocities."""
    for k in range(int(run.springs)):
        s = spring[k]
        _, _, _, s.length, s.rate = _stretch(link, spring, k)
        s.tension, _ = _tension(strength[k], s.length, s.rate)


@kernel
def energy_of_springs(spring, strength, run):
    """Return the energy of all springs at the lengths that they show, J."""
    energy = 0.0
    for k in range(int(run.springs)):
        p = strength[k]
        stretch = spring[k].length - p.length
        if p.tether == 0.0 or stretch * p.tether > 0.0:
            energy += 0.5 * p.stiffness * stretch * stretch
    return energy


@kernel
def time_to_pull(spring, strength, run, h):
    """Return the time until the first slack tether pulls, or free pusher pushes, s; 1e9 if none does.

    Lengths and rates are those in the middle of the last micro-step h.
    """
    least = 1e9
    for k in range(int(run.springs)):
        s = spring[k]
        p = strength[k]
        if p.tether == 0.0 or p.stiffness == 0.0 or s.taut != 0.0 or s.rate * p.tether <= 0.0:
            continue
        least = min(least, max((p.length - s.length) / s.rate - 0.5 * h, 0.0))
    return least


@kernel
def hold_ports(port, run, h):
    """Set the wrenches on the ports for a step h: means, which act by the attitude of its middle (ruling R4)."""
    for k in range(int(run.ports)):
        p = port[k]
        turn = axpy(0.125 * h * h, load(p.angular_acceleration), scale(0.5 * h, load(p.angular_velocity)))
        A = from_quaternion(advance(load_attitude(p.quaternion), turn))
        store(apply_transposed(A, load(p.force)), p.held_force)
        store(apply_transposed(A, load(p.torque)), p.held_torque)
        store(middle_of_step(p, h), p.middle)


@kernel
def middle_of_step(p, h):
    """Return where a port is in the middle of a step h, predicted from its motion at the start, m, I."""
    A = from_quaternion(load_attitude(p.quaternion))
    shift = axpy(0.125 * h * h, load(p.acceleration), scale(0.5 * h, load(p.velocity)))
    return add(load(p.position), apply_transposed(A, shift))


@kernel
def push_ports(link, port, run, h):
    """Add the wrenches on the ports to the links, and their work over a micro-step h; for h = 0 by the attitude now."""
    for k in range(int(run.ports)):
        p = port[k]
        b = link[int(p.link)]
        if h > 0.0:
            force = load(p.held_force)
            torque = load(p.held_torque)
        else:
            A = compose(load_matrix(p.turn), load_matrix(b.rotation))
            force = apply_transposed(A, load(p.force))
            torque = apply_transposed(A, load(p.torque))
        r, v = point_twist(b, p.arm)
        v = add(v, load(run.base_velocity))
        run.ports_work += h * (dot(force, v) + dot(torque, load(b.angular_velocity)))
        accumulate(force, b.force)
        accumulate(add(torque, cross(r, force)), b.torque)
        place = add(load(b.position), r)
        if run.carried != 0.0:
            accumulate(scale(h, force), run.port_impulse)
            accumulate(scale(h, add(torque, cross(place, force))), run.port_angular_impulse)
        if run.free_root != 0.0:
            momentum.add_outer(run, force, torque, place)
        if h > 0.0:
            now = add(load(run.base_position), place)
            accumulate(scale(h, add(torque, cross(now, force))), run.port_turn)
            accumulate(scale(h, cross(subtract(now, load(p.middle)), force)), run.apart)
