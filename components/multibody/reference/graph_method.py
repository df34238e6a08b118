"""WITT: equations of motion A q'' = B of a tree by graph matrices (Wittenburg).

Theory: multibody-formulations 3.4, (3.98) to (3.167).

All vectors have inertial components. The arrays are dense: an independent check, not a way to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.graph import incidence
from dockfmu.components.multibody.reference.kinematics import TreeMotion
from dockfmu.components.multibody.reference.system import RigidSystem

NOTHING = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Loads:
    """Forces at the centres of mass and moments about them, inertial axes, one row a body; forces along the rates.

    `inertia` is that of rotors which turn with the rates.
    """

    F: np.ndarray
    L: np.ndarray
    tau: np.ndarray
    inertia: np.ndarray | float = 0.0


def loads(
    system: RigidSystem,
    gravity: ArrayLike = NOTHING,
    F: ArrayLike = 0.0,
    L: ArrayLike = 0.0,
    tau: ArrayLike = 0.0,
) -> Loads:
    """Return forces and moments on the bodies, with weights, and joint forces, zero where they are not given."""
    weight = system.masses[:, None] * np.asarray(gravity, dtype=float)
    force = np.broadcast_to(np.asarray(F, dtype=float), (system.n, 3)) + weight
    moment = np.broadcast_to(np.asarray(L, dtype=float), (system.n, 3)).copy()
    return Loads(force, moment, np.broadcast_to(np.asarray(tau, dtype=float), (system.rates,)).copy())


def force_elements(motion: TreeMotion, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the joint forces along the rates of forces X and moments Y in the joints, + on i+: -k.X - p.Y."""
    parts = [-(arc.k @ X[a] + arc.p @ Y[a]) for a, arc in enumerate(motion.arcs)]
    return np.concatenate(parts) if parts else np.zeros(0)


@dataclass(frozen=True)
class GraphEquations:
    """A q'' = B and what the accelerations of the bodies need: r'' = D^T q'' + U, w' = wb - P^T q''."""

    A: np.ndarray
    B: np.ndarray
    D: np.ndarray
    P: np.ndarray
    U: np.ndarray
    wb: np.ndarray
    loads: Loads = field(repr=False)

    def accelerations(self, udot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return r'' and w' of the bodies for accelerations of the joints."""
        return np.einsum("nka,n->ka", self.D, udot) + self.U, self.wb - np.einsum("nka,n->ka", self.P, udot)


def joined(motion: TreeMotion) -> tuple[np.ndarray, np.ndarray]:
    """Return d* = (C + Z) T, n x n vectors, and c*_0 of the joint on body 0 that leads to each body (3.153)."""
    system = motion.system
    S = incidence(system.leaves, system.enters, system.n)
    CZ = np.zeros((system.n + 1, len(system.joints), 3))
    for a, (joint, arc) in enumerate(zip(system.joints, motion.arcs, strict=True)):
        CZ[joint.leaves, a] = arc.c_plus + arc.z
        CZ[joint.enters, a] = -arc.c_minus
    T = system.path_matrix
    d = np.einsum("iax,aj->ijx", CZ[1:], T)
    # S_0a T_aj = -1 for the joint of body 0 on the path to j, and CZ holds S_0a c*_0a
    c0 = -np.einsum("ax,aj->jx", CZ[0], T * (S[0] != 0)[:, None])
    return d, c0


def equations(motion: TreeMotion, given: Loads) -> GraphEquations:
    """Return the equations of motion of the tree; steps 2 to 9 of multibody-formulations 3.4.

    Errata (3.144) to (3.167): the operator is (pT) x ((C+Z)T) - kT; (3.131) to (3.143): w0 x (w0 x Z); (3.153): c*_0.
    """
    system, base, arcs = motion.system, motion.base, motion.arcs
    T, m, J = system.path_matrix, system.masses, motion.inertia()
    Omega = np.array([arc.Omega for arc in arcs]).reshape(-1, 3)
    zd = np.array([arc.zd for arc in arcs]).reshape(-1, 3)
    w = base.w - T.T @ Omega
    everywhere = np.vstack((base.w, w))
    f = np.array([arc.sigma for arc in arcs]).reshape(-1, 3) + cross(everywhere[system.enters], Omega)
    d, c0 = joined(motion)
    wb = base.e - T.T @ f
    carried = base.a + cross(base.e, c0) + cross(base.w, cross(base.w, c0))
    turning = cross(wb[:, None], d) + cross(w[:, None], cross(w[:, None], d))
    s = np.array([arc.s for arc in arcs]).reshape(-1, 3)
    U = carried - turning.sum(axis=0) - T.T @ (s + 2.0 * cross(everywhere[system.leaves], zd))
    p = np.concatenate([arc.p for arc in arcs]) if arcs else np.zeros((0, 3))
    k = np.concatenate([arc.k for arc in arcs]) if arcs else np.zeros((0, 3))
    Ta = T[system.arc_of_rate]
    P = p[:, None] * Ta[:, :, None]
    D = system.gathered(cross(P[:, :, None], d[None]).sum(axis=1) - Ta[:, :, None] * k[:, None])
    P = system.gathered(P)
    JP = np.einsum("kab,nkb->nka", J, P)
    A = np.einsum("nka,k,mka->nm", D, m, D) + np.einsum("nka,mka->nm", P, JP)
    A = A + np.diag(np.broadcast_to(given.inertia, len(A)))
    V = cross(w, np.einsum("kab,kb->ka", J, w))
    force = given.F - m[:, None] * U
    moment = given.L - np.einsum("kab,kb->ka", J, wb) - V
    B = np.einsum("nka,ka->n", D, force) - np.einsum("nka,ka->n", P, moment) + given.tau
    for index, part in enumerate(system.flexible):
        b = part.body - 1
        modes = np.eye(len(A))[system.mode_rates[index]]
        partials, bias = np.vstack((D[:, b].T, -P[:, b].T, modes)), np.concatenate((U[b], wb[b], np.zeros(part.count)))
        more, right = part.equations(motion.A[b + 1], motion.w[b + 1], partials, bias, *motion.modes(index))
        A, B = A + more, B + right
    return GraphEquations(A, B, D, P, U, wb, given)


def about_center(motion: TreeMotion, found: GraphEquations) -> GraphEquations:
    """Return the equations of a free system without the motion of its centre of mass (3.168) to (3.170).

    D mu and mu^T U take the place of D and U, mu = E - m 1^T / M; the centre of mass has the acceleration of the sum of
    all forces. The displacements of the free joint have zero rows and columns then.
    """
    m, given = motion.system.masses, found.loads
    share = m / m.sum()
    D = found.D - np.einsum("nka,k->na", found.D, share)[:, None]
    U = found.U - share @ found.U
    J, w = motion.inertia(), motion.w[1:]
    JP = np.einsum("kab,nkb->nka", J, found.P)
    A = np.einsum("nka,k,mka->nm", D, m, D) + np.einsum("nka,mka->nm", found.P, JP)
    force = given.F - m[:, None] * U
    moment = given.L - np.einsum("kab,kb->ka", J, found.wb) - cross(w, np.einsum("kab,kb->ka", J, w))
    B = np.einsum("nka,ka->n", D, force) - np.einsum("nka,ka->n", found.P, moment) + given.tau
    return GraphEquations(A, B, D, found.P, U, found.wb, given)


def solve(
    A: np.ndarray, B: np.ndarray, prescribed: Mapping[int, float] | None = None
) -> tuple[np.ndarray, dict[int, float]]:
    """Return the accelerations of the rates, and the drive forces of the rates whose accelerations are prescribed.

    Rows and columns of prescribed rates are deleted (3.92) to (3.94). The drive force M = B_k - A_k q'' acts with + on
    i+: the force on the outer side is -M.
    """
    given = dict(prescribed or {})
    kept = [k for k in range(len(B)) if k not in given]
    udot = np.zeros(len(B))
    for k, value in given.items():
        udot[k] = value
    udot[kept] = np.linalg.solve(A[np.ix_(kept, kept)], (B - A @ udot)[kept])
    return udot, {k: float(B[k] - A[k] @ udot) for k in given}


def reactions(motion: TreeMotion, equations: GraphEquations, udot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the forces X and moments Y in the joints, + on i+ at the joint point of i-, that move the bodies so.

    X = T (m r'' - F) (3.6); Y the same of moments: L' = M + (C+Z) x X + S Y. Erratum (3.6): x'' is r''. They contain
    the joint forces, and hold in a closed system only with the loads of the cut joints among F and L.
    """
    system, given = motion.system, equations.loads
    a, e = equations.accelerations(udot)
    J, w = motion.inertia(), motion.w[1:]
    force = system.masses[:, None] * a - given.F
    spin = np.einsum("kab,kb->ka", J, e) + cross(w, np.einsum("kab,kb->ka", J, w)) - given.L
    for k, part in enumerate(system.flexible):
        b = part.body - 1
        zeta = udot[system.mode_rates[k]]
        more = part.inertial_forces(motion.A[b + 1], w[b], a[b], e[b], zeta, *motion.modes(k))
        force[b], spin[b] = force[b] + more[0], spin[b] + more[1]
    X = system.path_matrix @ force
    for a_index, (joint, arc) in enumerate(zip(system.joints, motion.arcs, strict=True)):
        if joint.leaves:
            spin[joint.leaves - 1] -= cross(arc.c_plus + arc.z, X[a_index])
        if joint.enters:
            spin[joint.enters - 1] += cross(arc.c_minus, X[a_index])
    return X, system.path_matrix @ spin
