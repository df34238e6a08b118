"""The head on its hinge: two angles between stops, linearly implicit Euler steps (berthing 4.3, E27, E28).

The head turns by psi about y of AU and then by theta about the turned z; both axes are free within `gap` and meet a
spring and damper beyond it. The stops, the damping of contacts and their friction are taken at the end of a micro-step,
the springs of contacts at its start.
"""

from __future__ import annotations

from math import copysign, cos, fabs, sin, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import airlock_pair
from dockfmu.components.physics.contact.force import normal_damping, point_velocity, spring_force
from dockfmu.components.physics.contact.pairs import kind_of
from dockfmu.components.physics.mechanics.rotation import (
    about_y,
    about_z,
    apply,
    apply_transposed,
    compose,
    load_matrix,
    store_matrix,
)
from dockfmu.components.physics.mechanics.vector import add, axpy, cross, dot, load, scale, store, subtract

# iterations by which friction settles at the speed of the end of a micro-step
PASSES = 6


@kernel
def stop_of(hinge, angle):
    """Return (stiffness, damping, angle at which it begins) of the stop at an angle; zeros within the gap."""
    if fabs(angle) < hinge.gap:
        return 0.0, 0.0, 0.0
    return hinge.stiffness, hinge.damping, copysign(hinge.gap, angle)


@kernel
def step_axis(hinge, angle, rate, moment, h):
    """Return (angle, rate) of one axis after a step under a moment, N.m: implicit Euler, berthing 4.3."""
    k, c, at = stop_of(hinge, angle)
    after = (hinge.inertia * rate + h * (moment - k * (angle - at))) / (hinge.inertia + h * (c + h * k))
    return angle + h * after, after


@kernel
def stop_energy(hinge, angle):
    """Return the energy in the stop of one axis, J."""
    k, _, at = stop_of(hinge, angle)
    return 0.5 * k * (angle - at) * (angle - at)


@kernel
def place_head(m):
    """Place the head in P from AU relative to PMU and the swing: `airlock_pair.work.link`, without the swing's rates.

    Sets `motion.hinge` too: the head's motion with the swing at rest.
    """
    p = m.parameters
    relative = m.motion.relative
    A = load_matrix(relative.rotation)
    to_hinge = apply_transposed(A, (-p.hinge.offset, 0.0, 0.0))
    r = add(add((-p.cone.offset, 0.0, 0.0), load(relative.position)), to_hinge)
    w = load(relative.angular_velocity)
    v = add(load(relative.velocity), cross(w, to_hinge))
    # PMU -> P: x reversed, y and z exchanged
    hinge = m.motion.hinge
    store((-r[0], r[2], r[1]), hinge.position)
    store((-v[0], v[2], v[1]), hinge.velocity)
    store((-w[0], w[2], w[1]), hinge.angular_velocity)
    # rows of P -> AU: those of PMU -> AU with their components exchanged
    for i in range(3):
        row = m.motion.to_AU[i]
        row[0] = -relative.rotation[i, 0]
        row[1] = relative.rotation[i, 2]
        row[2] = relative.rotation[i, 1]
    AU = load_matrix(m.motion.to_AU)
    psi = m.swing.angle[0]
    theta = m.swing.angle[1]
    store(apply_transposed(AU, (0.0, 1.0, 0.0)), m.motion.axis[0])
    store(apply_transposed(AU, (sin(psi), 0.0, cos(psi))), m.motion.axis[1])
    s = sin(p.hinge.roll)
    c = cos(p.hinge.roll)
    clocking = ((-1.0, 0.0, 0.0), (0.0, s, c), (0.0, c, -s))
    store_matrix(compose(clocking, compose(compose(about_z(theta), about_y(psi)), AU)), hinge.rotation)
    head = m.airlock_pair.work.link[0]
    store(load(hinge.position), head.position)
    store(load(hinge.velocity), head.velocity)
    store_matrix(load_matrix(hinge.rotation), head.rotation)


@kernel
def set_rates(m, first, second):
    """Set the angular velocity of the head with the rates of the swing."""
    w = load(m.motion.hinge.angular_velocity)
    w = axpy(first, load(m.motion.axis[0]), axpy(second, load(m.motion.axis[1]), w))
    store(w, m.airlock_pair.work.link[0].angular_velocity)


@kernel
def _rates_after(m, first, second, h):
    """Return the rates after a step of h, contacts linearised about the rates (first, second) at its end."""
    hinge = m.parameters.hinge
    unit = m.airlock_pair
    k0, c0, at0 = stop_of(hinge, m.swing.angle[0])
    k1, c1, at1 = stop_of(hinge, m.swing.angle[1])
    a00 = hinge.inertia + h * (c0 + h * k0)
    a11 = hinge.inertia + h * (c1 + h * k1)
    a01 = 0.0
    b0 = hinge.inertia * m.swing.rate[0] - h * k0 * (m.swing.angle[0] - at0)
    b1 = hinge.inertia * m.swing.rate[1] - h * k1 * (m.swing.angle[1] - at1)
    y = load(m.motion.axis[0])
    z = load(m.motion.axis[1])
    turning = axpy(first, y, scale(second, z))
    for i in range(int(unit.tally.count)):
        item = unit.tally.contact[i]
        point = load(item.position)
        n = load(item.normal)
        r = subtract(point, load(m.motion.hinge.position))
        arm0 = cross(y, r)
        arm1 = cross(z, r)
        if item.sprung > 0.0:
            b0 -= h * item.push * dot(n, arm0)
            b1 -= h * item.push * dot(n, arm1)
            continue
        law = kind_of(unit.kind, item.pair)
        held = point_velocity(m.motion.hinge, point)
        v = add(held, cross(turning, r))
        rate = dot(n, v)
        spring = spring_force(law, item.gain, item.penetration)
        c = normal_damping(law, item.gain)
        normal = spring + c * rate
        if normal <= 0.0:
            continue
        slip = axpy(-rate, n, v)
        d = law.friction * normal / sqrt(dot(slip, slip) + law.slip_velocity * law.slip_velocity)
        f = add(scale(spring + (c - d) * dot(n, held), n), scale(d, held))
        n0 = dot(n, arm0)
        n1 = dot(n, arm1)
        b0 -= h * dot(f, arm0)
        b1 -= h * dot(f, arm1)
        a00 += h * ((c - d) * n0 * n0 + d * dot(arm0, arm0))
        a01 += h * ((c - d) * n0 * n1 + d * dot(arm0, arm1))
        a11 += h * ((c - d) * n1 * n1 + d * dot(arm1, arm1))
    det = a00 * a11 - a01 * a01
    return (a11 * b0 - a01 * b1) / det, (a00 * b1 - a01 * b0) / det


@kernel
def swing(m, h):
    """Advance the swing by a micro-step of length h, s, under the listed contacts, and sum their forces.

    Leaves the torques of the stops on AU in `work.stop`, and adds the losses.
    """
    hinge = m.parameters.hinge
    state = m.swing
    first = state.rate[0]
    second = state.rate[1]
    if m.airlock_pair.tally.count == 0.0:
        _, first = step_axis(hinge, state.angle[0], first, 0.0, h)
        _, second = step_axis(hinge, state.angle[1], second, 0.0, h)
    else:
        for _ in range(PASSES):
            first, second = _rates_after(m, first, second, h)
    before = (state.rate[0], state.rate[1])
    exceeded = False
    for i in range(2):
        rate = first if i == 0 else second
        k, c, at = stop_of(hinge, state.angle[i])
        stored = stop_energy(hinge, state.angle[i])
        state.angle[i] += h * rate
        state.rate[i] = rate
        m.work.stop[i] = k * (state.angle[i] - at) + c * rate
        # with the mean of both rates this is the energy that the stop takes from the head, with the implicit step's
        # loss
        taken = 0.5 * h * (before[i] + rate) * m.work.stop[i]
        m.losses.stops += taken - (stop_energy(hinge, state.angle[i]) - stored)
        exceeded = exceeded or fabs(state.angle[i]) > hinge.limit
    if exceeded:
        state.exceeded += 1.0
    set_rates(m, first, second)
    airlock_pair.sum_forces(m.airlock_pair)
    # power of the forces at the end of the micro-step at the mean rate
    set_rates(m, 0.5 * (before[0] + first), 0.5 * (before[1] + second))
    m.losses.contact += h * airlock_pair.power_at(m.airlock_pair)


@kernel
def wrench_on_base(m):
    """Return the present (force, torque) of the hinge and its stops on AU, its axes, about its origin."""
    AU = load_matrix(m.motion.to_AU)
    active = m.airlock_pair.work.sums.part[0]
    force = apply(AU, load(active.force))
    # the hinge carries the torque about the head's axis, perpendicular to both axes of the swing; the stops give the
    # rest
    y = load(m.motion.axis[0])
    z = load(m.motion.axis[1])
    across = cross(y, z)
    torque = scale(dot(load(active.torque), across), across)
    torque = axpy(m.work.stop[0], y, axpy(m.work.stop[1], z, torque))
    return force, add(apply(AU, torque), cross((-m.parameters.hinge.offset, 0.0, 0.0), force))
