"""Selection of thrusters that turn the craft about an axis: least-squares on-times, none of them negative.

A pulse cannot be negative, so each sense of each axis has its own thrusters. The on-times t minimise sum(t_e^2) under
sum(t_e m_e) = d for the torques m_e and a unit angular impulse d. With multipliers y the solution is
t_e = max(0, m_e . y); y is found by Newton's method on the convex function sum(max(0, m_e . y)^2) / 2 - d . y.
Thrusters with the same effect share the work, so a symmetric set fires in pairs, without a resultant force.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics import matrix
from dockfmu.components.physics.mechanics.vector import axpy, cross, dot, load, norm, scale, store

ITERATIONS = 60
TOLERANCE = 1e-9
# regularises the matrix where the thrusters in use turn the craft about one axis only
REGULAR = 1e-10


@kernel
def _potential(torque, demand, multipliers):
    """Return the value of the function that the multipliers minimise."""
    total = -dot(demand, multipliers)
    for e in range(len(torque)):
        open_for = dot(load(torque[e]), multipliers)
        if open_for > 0.0:
            total += 0.5 * open_for * open_for
    return total


@kernel
def _newton_step(s, demand, multipliers, regular):
    """Set `s.correction`, and return the residual: `demand` minus the impulse of the on-times of `multipliers`."""
    residual = demand
    for i in range(3):
        for j in range(3):
            s.matrix[i, j] = regular if i == j else 0.0
    for e in range(len(s.torque)):
        m = load(s.torque[e])
        open_for = dot(m, multipliers)
        if open_for > 0.0:
            residual = axpy(-open_for, m, residual)
            for i in range(3):
                for j in range(3):
                    s.matrix[i, j] += m[i] * m[j]
    store(residual, s.correction)
    matrix.factor_lu(s.matrix, s.pivot, 3)
    matrix.solve_lu(s.matrix, s.pivot, s.correction, 3)
    return residual


@kernel
def _select(s, demand, size, on_time):
    """Set the on-times for the unit angular impulse `demand`. Returns False if the thrusters cannot produce it."""
    multipliers = scale(1.0 / size, demand)
    for _ in range(ITERATIONS):
        residual = _newton_step(s, demand, multipliers, REGULAR * size)
        if norm(residual) <= TOLERANCE:
            for e in range(len(on_time)):
                on_time[e] = max(0.0, dot(load(s.torque[e]), multipliers))
            return True
        step = load(s.correction)
        slope = dot(residual, step)
        before = _potential(s.torque, demand, multipliers)
        length = 1.0
        while length > 1e-6:
            if _potential(s.torque, demand, axpy(length, step, multipliers)) <= before - 1e-4 * length * slope:
                break
            length *= 0.5
        multipliers = axpy(length, step, multipliers)
    return False


@kernel
def prepare(p, s):
    """Set forces, torques and on-times of the thrusters.

    Returns 0, or 1 to 6 for the first of the senses +x, -x, +y, -y, +z, -z in which they cannot turn the craft.
    """
    size = 0.0
    for e in range(len(p.thruster.thrust)):
        force = scale(p.thruster.thrust[e], load(p.thruster.direction[e]))
        torque = cross(load(p.thruster.position[e]), force)
        store(force, s.force[e])
        store(torque, s.torque[e])
        size += dot(torque, torque)
    for sense in range(6):
        sign = 1.0 if sense % 2 == 0 else -1.0
        axis = sense // 2
        demand = (sign if axis == 0 else 0.0, sign if axis == 1 else 0.0, sign if axis == 2 else 0.0)
        if not (size > 0.0 and _select(s, demand, size, s.on_time[sense])):
            return sense + 1
        longest = 0.0
        for e in range(len(p.thruster.thrust)):
            longest = max(longest, s.on_time[sense, e])
        s.least_impulse[sense] = p.least_pulse / longest
    return 0
