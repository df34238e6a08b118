"""Which thrusters turn the craft about an axis, and how long: least squares of on-times, none of them negative.

A pulse cannot be negative, so each sense of each axis has its own thrusters. The on-times t minimise sum(t_e^2) under
sum(t_e m_e) = d for the torques m_e and a unit angular impulse d. With multipliers y the solution is
t_e = max(0, m_e . y); y is found by Newton's method on the convex function sum(max(0, m_e . y)^2) / 2 - d . y.
Thrusters that do the same share the work, so a symmetric set fires in pairs that push with no resultant force.
"""

from __future__ import annotations

from components.core import matrix, vector
from components.core.kernel import kernel

ITERATIONS = 60
TOLERANCE = 1e-9
# keeps the matrix regular where the thrusters in use turn the craft about one axis only
REGULAR = 1e-10


@kernel
def _potential(torque, wanted, multipliers):
    """Return the function that the multipliers minimise."""
    total = -vector.dot(wanted, multipliers)
    for e in range(len(torque)):
        open_for = vector.dot(vector.load(torque[e]), multipliers)
        if open_for > 0.0:
            total += 0.5 * open_for * open_for
    return total


@kernel
def _newton_step(s, wanted, multipliers, regular):
    """Set `s.correction`, and return what the on-times of `multipliers` leave of the wanted impulse."""
    missing = wanted
    for i in range(3):
        for j in range(3):
            s.matrix[i, j] = regular if i == j else 0.0
    for e in range(len(s.torque)):
        m = vector.load(s.torque[e])
        open_for = vector.dot(m, multipliers)
        if open_for > 0.0:
            missing = vector.axpy(-open_for, m, missing)
            for i in range(3):
                for j in range(3):
                    s.matrix[i, j] += m[i] * m[j]
    vector.store(missing, s.correction)
    matrix.factor_lu(s.matrix, s.pivot, 3)
    matrix.solve_lu(s.matrix, s.pivot, s.correction, 3)
    return missing


@kernel
def _select(s, wanted, size, on_time):
    """Set the on-times for a unit angular impulse `wanted`. Returns False if the thrusters cannot give it."""
    multipliers = vector.scale(1.0 / size, wanted)
    for _ in range(ITERATIONS):
        missing = _newton_step(s, wanted, multipliers, REGULAR * size)
        if vector.norm(missing) <= TOLERANCE:
            for e in range(len(on_time)):
                on_time[e] = max(0.0, vector.dot(vector.load(s.torque[e]), multipliers))
            return True
        step = vector.load(s.correction)
        slope = vector.dot(missing, step)
        before = _potential(s.torque, wanted, multipliers)
        length = 1.0
        while length > 1e-6:
            if _potential(s.torque, wanted, vector.axpy(length, step, multipliers)) <= before - 1e-4 * length * slope:
                break
            length *= 0.5
        multipliers = vector.axpy(length, step, multipliers)
    return False


@kernel
def prepare(p, s):
    """Set forces, torques and on-times of the thrusters.

    Returns 0, or 1 to 6 for the sense, +x, -x, +y, -y, +z, -z, in which they cannot turn the craft.
    """
    size = 0.0
    for e in range(len(p.thruster.thrust)):
        force = vector.scale(p.thruster.thrust[e], vector.load(p.thruster.direction[e]))
        torque = vector.cross(vector.load(p.thruster.position[e]), force)
        vector.store(force, s.force[e])
        vector.store(torque, s.torque[e])
        size += vector.dot(torque, torque)
    for sense in range(6):
        sign = 1.0 if sense % 2 == 0 else -1.0
        axis = sense // 2
        wanted = (sign if axis == 0 else 0.0, sign if axis == 1 else 0.0, sign if axis == 2 else 0.0)
        if not (size > 0.0 and _select(s, wanted, size, s.on_time[sense])):
            return sense + 1
        longest = 0.0
        for e in range(len(p.thruster.thrust)):
            longest = max(longest, s.on_time[sense, e])
        s.least_impulse[sense] = p.least_pulse / longest
    return 0
