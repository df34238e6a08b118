"""ABA in numpy: the method of separate bodies (Vereshchagin) for trees. multibody-formulations 3.5, (3.174) to (3.179).

w = [r''; w'] at the centre of mass in inertial axes, w_k = C_k w_p + S_k q''_k + w'_k for the body p before k. Errata
(3.178), (3.179): M and Q carry asterisks, and the correction in (3.179) has a minus.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dockfmu.components.multibody.reference.algebra import cross, skew
from dockfmu.components.multibody.reference.graph_method import Loads, equations
from dockfmu.components.multibody.reference.kinematics import TreeMotion, follow
from dockfmu.components.multibody.reference.loops import cut_rows

_STILL = {name: np.zeros(3) for name in ("v", "w", "a", "e")}


def partial_motion(motion: TreeMotion, body: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (C, S, w') of a body: transfer from the body before it, partials of its joint, the rest."""
    system = motion.system
    a, inner = system.before[body]
    joint, arc, w = system.joints[a], motion.arcs[a], motion.w
    C = np.eye(6)
    C[:3, 3:] = -skew(motion.r[body] - motion.r[inner])
    plus, minus = arc.c_plus + arc.z, arc.c_minus
    # acceleration of i- relative to i+ at q'' = 0 where i+ has none
    e = arc.sigma + cross(w[joint.leaves], arc.Omega)
    point = 2.0 * cross(w[joint.leaves], arc.zd) + arc.s + cross(w[joint.leaves], cross(w[joint.leaves], plus))
    spin = cross(w[joint.enters], cross(w[joint.enters], minus))
    if joint.leaves == inner:
        S = np.vstack((arc.k.T - cross(arc.p, minus).T, arc.p.T))
        return C, S, np.concatenate((point - spin - cross(e, minus), e))
    # against the direction of the arc: r_k = r_p + c- - z - c+, and the outer body turns by -Omega
    S = np.vstack((-arc.k.T + cross(arc.p, plus).T, -arc.p.T))
    return C, S, np.concatenate((spin - point + cross(e, plus), -e))


def articulated(motion: TreeMotion, given: Loads) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (u', r'', w') of a tree in time linear in the number of bodies."""
    system, J = motion.system, motion.inertia()
    M, Q = np.zeros((system.n + 1, 6, 6)), np.zeros((system.n + 1, 6))
    M[1:, :3, :3] = system.masses[:, None, None] * np.eye(3)
    M[1:, 3:, 3:] = J
    Q[1:, :3] = given.F
    Q[1:, 3:] = given.L - cross(motion.w[1:], np.einsum("kab,kb->ka", J, motion.w[1:]))
    parts = {body: partial_motion(motion, body) for body in system.outward}
    inverse = {}
    for body in reversed(system.outward):
        C, S, bias = parts[body]
        a, inner = system.before[body]
        tau = given.tau[system.rate_slices[a]]
        U = inverse[body] = np.linalg.inv(S.T @ M[body] @ S)
        if inner == 0:
            continue
        MS = M[body] @ S
        M[inner] += C.T @ (M[body] - MS @ U @ MS.T) @ C
        Q[inner] -= C.T @ (MS @ U @ (tau + S.T @ (Q[body] - M[body] @ bias)) + M[body] @ bias - Q[body])
    w = np.zeros((system.n + 1, 6))
    w[0] = np.concatenate((motion.base.a, motion.base.e))
    udot = np.zeros(system.rates)
    for body in system.outward:
        C, S, bias = parts[body]
        a, inner = system.before[body]
        rates = system.rate_slices[a]
        carried = C @ w[inner] + bias
        udot[rates] = inverse[body] @ (given.tau[rates] + S.T @ (Q[body] - M[body] @ carried))
        w[body] = carried + S @ udot[rates]
    return udot, w[1:, :3], w[1:, 3:]


def closed_by_recursion(motion: TreeMotion, given: Loads) -> tuple[np.ndarray, np.ndarray]:
    """Return (u', multipliers) of a closed system without redundant constraints, by recursions alone (3.192).

    One recursion gives the accelerations without constraints, one a row of the cut joints, of the tree at rest under
    this row as a joint force, the columns of A^-1 H^T. The cost is linear in the bodies for a given number of rows.
    """
    system = motion.system
    rows = cut_rows(motion, equations(motion, given))
    free, _, _ = articulated(motion, given)
    rest = follow(system, motion.q, np.zeros(system.rates), motion.t, replace(motion.base, **_STILL))
    nothing = np.zeros((system.n, 3))
    responses = np.array([articulated(rest, Loads(nothing, nothing, row))[0] for row in rows.H])
    values = np.linalg.solve(rows.H @ responses.T, -rows.gamma - rows.H @ free)
    return free + responses.T @ values, values
