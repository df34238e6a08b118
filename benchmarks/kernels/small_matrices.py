"""The platform of six struts in straightforward numba code with small matrices: the reference for generated kernels.

Vectors and matrices are arrays, helpers return new ones, NumPy multiplies and solves. Recursions, frames and records
are those of `dockfmu.components.codegen` and `dockfmu.components.physics.linkage.hexapod`; results agree to rounding.

python -m benchmarks small_matrices
"""

from __future__ import annotations

from math import atan2, cos, hypot, sin
from time import process_time

import numpy as np
from numba import njit

from benchmarks.kernels.codegen import platform as example
from benchmarks.kernels.codegen import repeat_platform
from benchmarks.timing import microseconds
from dockfmu.components.physics.linkage import hexapod

AXES = (1, 2, 0, 0)
STROKE = 3
LINKS = ((1, 0), (3, 1))
"""Joints y, z, roll, stroke; (body, place in the record) of housing and screw."""


@njit
def unit(i):
    e = np.zeros(3)
    e[i] = 1.0
    return e


@njit
def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


@njit
def turn(axis, angle):
    c, s = cos(angle), sin(angle)
    if axis == 0:
        return np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])
    if axis == 1:
        return np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


@njit
def close(c, n):
    """Joint coordinates."""
    r = c.base_axes @ (n.position + n.rotation.T @ c.node_point - c.base_point)
    p = np.array([atan2(-r[2], r[0]), atan2(r[1], hypot(r[0], r[2])), 0.0, np.linalg.norm(r) - c.length])
    e = turn(2, p[1]) @ (turn(1, p[0]) @ (c.base_axes @ (n.rotation.T @ c.node_axis)))
    p[2] = atan2(-e[1], e[2])
    return p


@njit
def frames(c, p):
    """Parent -> body and frame 0 -> body of each body, its joint from the parent's (parent axes) and in frame 0."""
    beta, A = np.empty((4, 3, 3)), np.empty((4, 3, 3))
    arm, x = np.zeros((4, 3)), np.empty((4, 3))
    arm[0], arm[STROKE, 0] = c.base_point, c.length + p[STROKE]
    beta[0], beta[1], beta[2], beta[3] = turn(1, p[0]) @ c.base_axes, turn(2, p[1]), turn(0, p[2]), np.eye(3)
    A[0], x[0] = beta[0], arm[0]
    for j in range(1, 4):
        A[j] = beta[j] @ A[j - 1]
        x[j] = x[j - 1] + A[j - 1].T @ arm[j]
    return beta, A, arm, x


@njit
def link(c, k):
    """Mass, first moment and inertia about the joint."""
    return (
        c.mass[k],
        c.mass[k] * c.centre[k] * unit(0),
        np.diag(np.array([c.axial[k], c.transverse[k], c.transverse[k]])),
    )


@njit
def jacobian(A, x, i):
    """[velocity of the joint of body i; its angular velocity] per joint rate, frame 0."""
    J = np.zeros((6, 4))
    for j in range(i + 1):
        d = A[j].T @ unit(AXES[j])
        if j == STROKE:
            J[:3, j] = d
        else:
            J[:3, j] = np.cross(d, x[i] - x[j])
            J[3:, j] = d
    return J


@njit
def move(beta, arm, qd, qdd, omega, epsilon, acceleration):
    """Angular velocities, angular accelerations and accelerations of the bodies, body axes."""
    w, e, a = np.empty((4, 3)), np.empty((4, 3)), np.empty((4, 3))
    for j in range(4):
        turning = skew(epsilon) + skew(omega) @ skew(omega)
        acceleration = beta[j] @ (acceleration + turning @ arm[j])
        omega, epsilon = beta[j] @ omega, beta[j] @ epsilon
        along = unit(AXES[j])
        if j == STROKE:
            acceleration = acceleration + 2.0 * np.cross(omega, along * qd[j]) + along * qdd[j]
        else:
            epsilon = epsilon + np.cross(omega, along * qd[j]) + along * qdd[j]
            omega = omega + along * qd[j]
        w[j], e[j], a[j] = omega, epsilon, acceleration
    return w, e, a


@njit
def needed(c, beta, arm, w, e, a):
    """Joint forces, and force and moment about O_0 from the base, for a motion of the links."""
    g, force, moment = np.zeros(4), np.zeros(3), np.zeros(3)
    for j in range(3, -1, -1):
        for i, k in LINKS:
            if i == j:
                m, s, tensor = link(c, k)
                force = force + m * a[j] + np.cross(e[j], s) + np.cross(w[j], np.cross(w[j], s))
                moment = moment + tensor @ e[j] + np.cross(s, a[j]) + np.cross(w[j], tensor @ w[j])
        g[j] = force[AXES[j]] if j == STROKE else moment[AXES[j]]
        force, moment = beta[j].T @ force, beta[j].T @ moment
        moment = moment + np.cross(arm[j], force)
    return g, force, moment


@njit
def constraints(c, n, beta, A, arm, x, u):
    """Joint rates H u, H and h."""
    e1, e2 = A[3].T @ unit(1), n.rotation.T @ c.node_axis
    axis, lever, spin = np.cross(e1, e2), n.rotation.T @ c.node_point, n.rotation.T @ u[3:]
    J = jacobian(A, x, 3)
    Cd, Ci, missing = np.empty((4, 4)), np.zeros((4, 6)), np.empty(4)
    Cd[:3], Cd[3] = J[:3], J[3:].T @ axis
    Ci[:3, :3], Ci[:3, 3:], Ci[3, 3:] = np.eye(3), -skew(lever) @ n.rotation.T, n.rotation @ axis
    H = np.linalg.solve(Cd, Ci)
    rates = H @ u
    w, e, a = move(beta, arm, rates, np.zeros(4), np.zeros(3), np.zeros(3), np.zeros(3))
    last = A[3].T @ w[3]
    turning = np.cross(np.cross(last, e1), e2) + np.cross(e1, np.cross(spin, e2))
    missing[:3] = np.cross(spin, np.cross(spin, lever)) - A[3].T @ a[3]
    missing[3] = -axis @ (A[3].T @ e[3]) - turning @ (last - spin)
    return rates, H, np.linalg.solve(Cd, missing)


@njit
def inertia(c, A, x, ratio):
    """Generalised inertia of the strut with its nut."""
    total = c.nut_inertia * np.outer(ratio, ratio)
    for i, k in LINKS:
        m, s, tensor = link(c, k)
        J = jacobian(A, x, i)
        v, w = J[:3], A[i] @ J[3:]
        shared = v.T @ A[i].T @ skew(s).T @ w
        total = total + m * v.T @ v + shared + shared.T + w.T @ tensor @ w
    return total


@njit
def platform(m, omega0, epsilon0, acceleration0):
    """(du/dt of the ring, force and torque on the base about O_0, frame 0) in a record of `linkage.hexapod`."""
    n = m.ring
    u = np.concatenate((n.velocity, n.angular_velocity))
    w0 = n.rotation @ omega0
    spin = u[3:] + w0
    turning = skew(epsilon0) + skew(omega0) @ skew(omega0)
    linear = acceleration0 + turning @ n.position + 2.0 * np.cross(omega0, n.velocity)
    angular = n.rotation @ epsilon0 - np.cross(u[3:], w0)
    M, b = np.zeros((6, 6)), np.empty(6)
    M[:3, :3], M[3:, 3:] = n.mass * np.eye(3), n.principal
    b[:3] = n.force - n.mass * linear
    b[3:] = n.torque - n.principal @ angular - np.cross(spin, n.principal @ spin)
    alone, force_alone = M.copy(), b.copy()
    beta, A, H = np.empty((6, 4, 3, 3)), np.empty((6, 4, 3, 3)), np.empty((6, 4, 6))
    arm, x, rates, h = np.empty((6, 4, 3)), np.empty((6, 4, 3)), np.empty((6, 4)), np.empty((6, 4))
    for k in range(6):
        c = m.strut[k]
        beta[k], A[k], arm[k], x[k] = frames(c, close(c, n))
        rates[k], H[k], h[k] = constraints(c, n, beta[k], A[k], arm[k], x[k], u)
        w, e, a = move(beta[k], arm[k], rates[k], h[k], omega0, epsilon0, acceleration0)
        ratio = np.array([0.0, 0.0, 1.0, c.nut_ratio])
        g = c.force + ratio * (c.nut_torque - c.nut_inertia * (ratio @ h[k])) - needed(c, beta[k], arm[k], w, e, a)[0]
        M += H[k].T @ inertia(c, A[k], x[k], ratio) @ H[k]
        b += H[k].T @ g
    acceleration = np.linalg.solve(M, b)
    left = force_alone - alone @ acceleration
    force = left[:3].copy()
    torque = n.rotation.T @ left[3:] + np.cross(n.position, force)
    for k in range(6):
        c = m.strut[k]
        qdd = H[k] @ acceleration + h[k]
        w, e, a = move(beta[k], arm[k], rates[k], qdd, omega0, epsilon0, acceleration0)
        _, f, t = needed(c, beta[k], arm[k], w, e, a)
        force = force - f
        torque = torque - t - A[k, 1].T @ unit(0) * (c.nut_inertia * (qdd[2] + c.nut_ratio * qdd[3]))
    return acceleration, force, torque


@njit
def repeat(m, times):
    zero = np.zeros(3)
    for _ in range(times):
        platform(m, zero, zero, zero)


def main() -> None:
    m, base = example(), np.random.default_rng(0).normal(size=(3, 3))
    m.ring.velocity, m.ring.angular_velocity, m.ring.force = 0.1, -0.2, 30.0
    hexapod.follow(m)
    hexapod.accelerate(m, *map(tuple, base))
    start = process_time()
    found = platform(m, *base)
    print(f"small matrices: {process_time() - start:.0f} s (CPU) to compile")
    for one, other in zip(found, (m.ring.acceleration, m.base_force, m.base_torque), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())
    slow = microseconds(repeat, m, count=2_000)
    fast = microseconds(repeat_platform, m, count=20_000)
    print(f"platform of six struts: small matrices {slow:.1f} us, generated {fast:.2f} us, ratio {slow / fast:.0f}")


if __name__ == "__main__":
    main()
