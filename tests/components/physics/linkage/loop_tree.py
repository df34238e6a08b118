"""Articulated-body algorithm for a tree on a moving base that carries a node body (source 2.5, dynamics section 9).

In frame 0 about O_0 the articulated inertias of the successors add to the parent's without rotation or shift, so that
each body costs one rank-one update; the results are those of (2.5.3)-(2.5.9) with errata D8 to D10.
"""

from __future__ import annotations

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.spatial import lower, upper
from dockfmu.components.physics.mechanics.vector import add, axpy, cross, load, subtract
from tests.components.physics.linkage.loop_bodies import absolute_velocity, bodies, inertia_wrench, momentum, put, times

LEAST_INERTIA = 1e-12


def tree(name: str, count: int) -> Group:
    """A tree of `count` bodies; spatial rows are [angular or torque, linear or force]."""
    n = count
    return Group(
        name,
        bodies(n),
        private("force", "1", "of the joints on their bodies along the axes, N or N.m", shape=n),
        private("damping", "1", "-d force / d qd times the step: linearly implicit damping", shape=n),
        private("load", "1", "external wrench on each body about O_0, frame 0", shape=(n, 6)),
        private("load_damping", "1", "-d load / d twist times the step: linearly implicit loads", shape=(n, 6, 6)),
        private("node_inertia", "kg.m2", "dI_N of the dependent chains, frame 0", shape=(3, 3)),
        private("node_torque", "N.m", "dm_N of the dependent chains, relative to the base, frame 0", shape=3),
        private("articulated", "1", "articulated inertia about O_0", shape=(n, 6, 6)),
        private("resistance", "1", "articulated bias wrench", shape=(n, 6)),
        private("column", "1", "articulated inertia times the joint screw", shape=(n, 6)),
        private("pivot", "1", "articulated inertia along the joint", shape=n),
        private("drive", "1", "force along the joint less the bias", shape=n),
        private("acceleration", "1", "absolute acceleration of each body's twist", shape=(n, 6)),
    )


@kernel
def apply_wrench(t, j, torque, force):
    """Add a wrench (torque about O_0, force), frame 0, to the load of body j."""
    for i in range(3):
        t.load[j, i] += torque[i]
        t.load[j, 3 + i] += force[i]


@kernel
def node_torque(t, node, omega0, epsilon0):
    """dm_N as it enters the absolute equations: erratum D9."""
    w = upper(t.bodies.velocity[node])
    extra = times(t.node_inertia, add(epsilon0, cross(omega0, w)))
    return add(load(t.node_torque), extra)


@kernel
def _start(t, node, omega0, epsilon0):
    """Articulated inertias and bias wrenches of the single bodies, and of the node with its chains."""
    b = t.bodies
    for j in range(b.mass.shape[0]):
        M = t.articulated[j]
        for i in range(6):
            t.resistance[j, i] = -t.load[j, i]
            for k in range(6):
                M[i, k] = t.load_damping[j, i, k]
        m = b.mass[j]
        if m > 0.0:
            w, v = absolute_velocity(b, j, omega0)
            torque, force = inertia_wrench(b, j, w, v, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
            for i in range(3):
                t.resistance[j, i] += torque[i]
                t.resistance[j, 3 + i] += force[i]
                M[3 + i, 3 + i] += m
                for k in range(3):
                    M[i, k] += b.moment_of_inertia[j, i, k]
                h = b.first_moment[j, i]
                after = (i + 1) % 3
                last = (i + 2) % 3
                M[last, 3 + after] += h
                M[3 + after, last] += h
                M[after, 3 + last] -= h
                M[3 + last, after] -= h
    if node >= 0:
        extra = node_torque(t, node, omega0, epsilon0)
        for i in range(3):
            t.resistance[node, i] -= extra[i]
            for k in range(3):
                t.articulated[node, i, k] += t.node_inertia[i, k]


@kernel
def accelerate(t, parents, node, omega0, epsilon0, acceleration0):
    """`bodies.qdd` and `acceleration` from loads, joint forces and base motion.

    `node` is the body that carries the chains, or -1. Needs `place`, `move` and `weigh` of `bodies`. Returns 0, or
    1 + j if joint j has no inertia along its axis.
    """
    b = t.bodies
    n = b.mass.shape[0]
    _start(t, node, omega0, epsilon0)
    for j in range(n - 1, -1, -1):
        p = parents[j]
        M = t.articulated[j]
        U = t.column[j]
        S = b.screw[j]
        pivot = t.damping[j]
        drive = t.force[j]
        for i in range(6):
            total = 0.0
            for k in range(6):
                total += M[i, k] * S[k]
            U[i] = total
            pivot += S[i] * total
            drive -= S[i] * t.resistance[j, i]
        if not pivot > LEAST_INERTIA:
            return 1 + j
        t.pivot[j] = pivot
        t.drive[j] = drive
        if p < 0:
            continue
        w, v = absolute_velocity(b, j, omega0)
        axis = upper(S)
        c_upper = cross(w, axis)
        c_lower = add(cross(w, lower(S)), cross(v, axis))
        along = 0.0
        for i in range(3):
            along += (U[i] * c_upper[i] + U[3 + i] * c_lower[i]) * b.qd[j]
        flexibility = 1.0 / pivot
        share = (drive - along) * flexibility
        for i in range(6):
            total = t.resistance[j, i] + U[i] * share
            for k in range(3):
                total += (M[i, k] * c_upper[k] + M[i, 3 + k] * c_lower[k]) * b.qd[j]
            t.resistance[p, i] += total
            for k in range(6):
                t.articulated[p, i, k] += M[i, k] - U[i] * U[k] * flexibility
    for j in range(n):
        p = parents[j]
        S = b.screw[j]
        e, a = epsilon0, acceleration0
        if p >= 0:
            e, a = upper(t.acceleration[p]), lower(t.acceleration[p])
        w, v = absolute_velocity(b, j, omega0)
        axis = upper(S)
        e = axpy(b.qd[j], cross(w, axis), e)
        a = axpy(b.qd[j], add(cross(w, lower(S)), cross(v, axis)), a)
        drive = t.drive[j]
        for i in range(3):
            drive -= t.column[j, i] * e[i] + t.column[j, 3 + i] * a[i]
        qdd = drive / t.pivot[j]
        b.qdd[j] = qdd
        put(axpy(qdd, axis, e), axpy(qdd, lower(S), a), t.acceleration[j])
    return 0


@kernel
def node_acceleration(t, node, omega0, epsilon0):
    """Angular acceleration of the node as seen from the base, frame 0: what the dependent chains follow."""
    w = upper(t.bodies.velocity[node])
    return subtract(subtract(upper(t.acceleration[node]), epsilon0), cross(omega0, w))


@kernel
def applied_load(t, j):
    """(torque about O_0, force), frame 0, on body j with the accelerations found, its implicit part included."""
    torque = upper(t.load[j])
    force = lower(t.load[j])
    for k in range(6):
        a = t.acceleration[j, k]
        D = t.load_damping[j, k]
        torque = axpy(-a, upper(D), torque)
        force = axpy(-a, lower(D), force)
    return torque, force


@kernel
def base_wrench(t, omega0):
    """(torque about O_0, force), frame 0, of the tree on its base: the loads passed on, less what its bodies need.

    Add minus `chain.inertia_of_motion` of every chain and it is D11 of dynamics, the wrench of the whole mechanism:
    what chains and joints exert inside cancels, whatever their laws.
    """
    b = t.bodies
    torque = (0.0, 0.0, 0.0)
    force = (0.0, 0.0, 0.0)
    for j in range(b.mass.shape[0]):
        load_torque, load_force = applied_load(t, j)
        torque = add(torque, load_torque)
        force = add(force, load_force)
        if b.mass[j] > 0.0:
            w, v = absolute_velocity(b, j, omega0)
            m, f = inertia_wrench(b, j, w, v, upper(t.acceleration[j]), lower(t.acceleration[j]))
            torque = subtract(torque, m)
            force = subtract(force, f)
    return torque, force


@kernel
def energy_and_momentum(b, omega0, velocity0):
    """(kinetic energy, angular momentum about O_0, momentum) of `bodies`, absolute, frame 0 axes."""
    energy = 0.0
    L = (0.0, 0.0, 0.0)
    P = (0.0, 0.0, 0.0)
    for j in range(b.mass.shape[0]):
        if b.mass[j] > 0.0:
            w = add(upper(b.velocity[j]), omega0)
            v = add(lower(b.velocity[j]), velocity0)
            angular, linear = momentum(b, j, w, v)
            L = add(L, angular)
            P = add(P, linear)
            for i in range(3):
                energy += 0.5 * (w[i] * angular[i] + v[i] * linear[i])
    return energy, L, P
