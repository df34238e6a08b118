"""LOOP: closed systems as a tree with the multipliers of its cut joints.

Theory: multibody-formulations 3.6, (3.184) to (3.201).

A q'' = B + H^T lambda and H q'' = -gamma. The source stops before gamma; here it is the acceleration in the cut joints
at q'' = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.constraints import (
    ConstraintRows,
    RelativeMotion,
    joint_constraints,
    stacked,
)
from dockfmu.components.multibody.reference.graph import incidence
from dockfmu.components.multibody.reference.graph_method import GraphEquations, Loads, equations, joined
from dockfmu.components.multibody.reference.kinematics import TreeMotion
from dockfmu.components.multibody.reference.rank import first_independent, metric, null_rows, scaled
from dockfmu.components.multibody.reference.system import JointArc, RigidSystem


@dataclass(frozen=True)
class CutRows:
    """Rows of all cut joints on the rates of the tree: H u = v, H u' = -gamma, and how much they are violated."""

    H: np.ndarray
    gamma: np.ndarray
    g: np.ndarray
    gd: np.ndarray
    nz: np.ndarray
    nw: np.ndarray
    """Forces and moments on i- of unit multipliers, in inertial axes."""

    cut: np.ndarray
    """Index of the cut joint of each row."""


def cut_motion(motion: TreeMotion, joint: JointArc) -> RelativeMotion:
    """Return the motion in a cut joint, from those of its bodies, in its frame on i+."""
    i, j = joint.leaves, joint.enters
    A, B = motion.A[i], motion.A[j]
    F = A @ joint.plus.R
    z = motion.r[j] + B @ joint.minus.point - motion.r[i] - A @ joint.plus.point
    zd = motion.v[j] + cross(motion.w[j], B @ joint.minus.point) - motion.v[i]
    zd = zd - cross(motion.w[i], A @ joint.plus.point + z)
    return RelativeMotion(F.T @ B @ joint.minus.R, F.T @ z, F.T @ zd, F.T @ (motion.w[j] - motion.w[i]))


def cut_partials(motion: TreeMotion) -> tuple[np.ndarray, np.ndarray]:
    """Return W (3.197) and (pT S*) (3.199): partial velocities in the cut joints, N x n* vectors in inertial axes."""
    system = motion.system
    leaves, enters = [cut.leaves for cut in system.cuts], [cut.enters for cut in system.cuts]
    S = incidence(leaves, enters, system.n)[1:]
    arms = np.zeros((system.n, len(system.cuts), 3))
    for c, cut in enumerate(system.cuts):
        on_minus = motion.A[cut.enters] @ cut.minus.point
        if cut.leaves:
            # c + z on i+ is the arm of the joint point of i-
            arms[cut.leaves - 1, c] = motion.r[cut.enters] + on_minus - motion.r[cut.leaves]
        if cut.enters:
            arms[cut.enters - 1, c] = -on_minus
    d, _ = joined(motion)
    arms = arms - np.einsum("ijx,jc->icx", d, S)
    k = np.concatenate([arc.k for arc in motion.arcs])
    p = np.concatenate([arc.p for arc in motion.arcs])
    Ta = system.path_matrix[system.arc_of_rate]
    TS = Ta @ S
    pT = p[:, None] * Ta[:, :, None]
    W = cross(pT[:, :, None], arms[None]).sum(axis=1) + k[:, None] * TS[:, :, None]
    return system.gathered(W), system.gathered(p[:, None] * TS[:, :, None])


def cut_bias(motion: TreeMotion, tree: GraphEquations, joint: JointArc) -> tuple[np.ndarray, np.ndarray]:
    """Return z'' and Omega' of a cut joint at q'' = 0, seen from i+, in inertial axes."""
    i, j, base = joint.leaves, joint.enters, motion.base
    U, wb = np.vstack((base.a, tree.U)), np.vstack((base.e, tree.wb))
    w = motion.w
    on_minus, on_plus = motion.A[j] @ joint.minus.point, motion.r[j] - motion.r[i]
    on_plus = on_plus + on_minus
    zd = motion.A[i] @ joint.plus.R @ cut_motion(motion, joint).zd
    outer = U[j] + cross(wb[j], on_minus) + cross(w[j], cross(w[j], on_minus))
    inner = U[i] + cross(wb[i], on_plus) + cross(w[i], cross(w[i], on_plus))
    return outer - inner - 2.0 * cross(w[i], zd), wb[j] - wb[i] - cross(w[i], w[j] - w[i])


def rows_of(joint: JointArc, relative: RelativeMotion, t: float) -> ConstraintRows:
    """Return the rows of a cut joint."""
    parts = [joint_constraints(joint.motion, relative)]
    if joint.rows is not None:
        parts.append(joint.rows(relative, t))
    return stacked(parts)


def cut_rows(motion: TreeMotion, tree: GraphEquations) -> CutRows:
    """Return the constraints of all cut joints on the rates of the tree (3.192)."""
    system = motion.system
    W, turn = cut_partials(motion)
    parts: dict[str, list[np.ndarray]] = {name: [] for name in ("H", "gamma", "g", "gd", "nz", "nw", "cut")}
    for c, joint in enumerate(system.cuts):
        relative = cut_motion(motion, joint)
        rows = rows_of(joint, relative, motion.t)
        F = motion.A[joint.leaves] @ joint.plus.R
        nz, nw = rows.nz @ F.T, rows.nw @ F.T
        zdd, Omegad = cut_bias(motion, tree, joint)
        parts["H"].append(nz @ W[:, c].T + nw @ turn[:, c].T)
        turning = rows.dnz @ relative.zd + rows.dnw @ relative.Omega
        parts["gamma"].append(nz @ zdd + nw @ Omegad + turning - rows.rhs)
        parts["g"].append(np.where(rows.holonomic, rows.g, 0.0))
        parts["gd"].append(rows.rate(relative))
        parts["nz"].append(nz)
        parts["nw"].append(nw)
        parts["cut"].append(np.full(len(rows), c))
    if not system.cuts:
        none, vectors = np.zeros(0), np.zeros((0, 3))
        return CutRows(np.zeros((0, system.rates)), none, none, none, vectors, vectors, np.zeros(0, dtype=int))
    return CutRows(**{name: np.concatenate(blocks) for name, blocks in parts.items()})


@dataclass(frozen=True)
class LoopRank:
    """Degrees of freedom of a closed system, and where its cut joints constrain more than needed."""

    freedoms: int
    kept: np.ndarray
    redundant: int
    joints: tuple[str, ...]
    """Names of the joints on loops with redundant constraints: their reactions are not determined."""

    cuts: tuple[int, ...]
    """Indices of the cut joints among them."""

    dropped: tuple[int, ...] = ()
    """Number of redundant constraints of each cut joint: those that follow from the rows before them."""

    def __str__(self) -> str:
        text = f"{self.freedoms} degrees of freedom"
        if self.redundant:
            text += (
                f"; {self.redundant} constraints of loops are redundant: the reactions of "
                f"{', '.join(self.joints)} are not determined"
            )
        return text


def loop_joints(system: RigidSystem, cut: int) -> list[str]:
    """Return the names of the joints of the tree on the loop that a cut joint closes."""
    joint = system.cuts[cut]
    TS = sum(
        (sign * system.path_matrix[:, body - 1] for body, sign in ((joint.leaves, 1), (joint.enters, -1)) if body),
        np.zeros(system.n, dtype=int),
    )
    return [system.joints[a].name for a in np.flatnonzero(TS) if system.joints[a].flexible is None]


def natural_lengths(motion: TreeMotion, rows: CutRows) -> np.ndarray:
    """Return the lengths of the rows in the metric of the mass if the bodies of the cut joints were free."""
    inverse = np.zeros(motion.system.n + 1)
    turning = np.zeros(motion.system.n + 1)
    m, J = motion.system.masses, np.trace(motion.system.inertias, axis1=1, axis2=2)
    # bodies without mass between joints give no length of their own
    np.divide(1.0, m, out=inverse[1:], where=m > 0.0)
    np.divide(3.0, J, out=turning[1:], where=J > 0.0)
    ends = np.array([(cut.leaves, cut.enters) for cut in motion.system.cuts])[rows.cut]
    nz, nw = (rows.nz**2).sum(axis=1), (rows.nw**2).sum(axis=1)
    return np.sqrt(nz * inverse[ends].max(axis=1) + nw * turning[ends].max(axis=1))


def loop_rank(motion: TreeMotion, A: np.ndarray, rows: CutRows, held: Sequence[int] = ()) -> LoopRank:
    """Return the rank of the constraints of the cut joints, in the metric of the mass matrix.

    At the rates that are `held` bodies need no mass.
    """
    system = motion.system
    if not len(rows.g):
        return LoopRank(system.rates, np.arange(0), 0, (), ())
    factor = np.linalg.cholesky(metric(A, held))
    weighted = scaled(np.linalg.solve(factor, rows.H.T).T, natural_lengths(motion, rows))
    rank, null = null_rows(weighted)
    if rank == len(rows.g):
        return LoopRank(system.rates - rank, np.arange(rank), 0, (), ())
    kept = np.array(first_independent(weighted), dtype=int)
    cuts = sorted({int(rows.cut[k]) for k in np.flatnonzero(np.abs(null).max(axis=0) > 1e-6)})
    names: dict[str, None] = {}
    for cut in cuts:
        names |= dict.fromkeys([*loop_joints(system, cut), system.cuts[cut].name])
    left = np.bincount(rows.cut[kept], minlength=len(system.cuts))
    dropped = np.bincount(rows.cut, minlength=len(system.cuts)) - left
    return LoopRank(
        system.rates - rank, kept, len(rows.g) - rank, tuple(names), tuple(cuts), tuple(int(k) for k in dropped)
    )


@dataclass(frozen=True)
class LoopSolution:
    """Accelerations of the rates and of the bodies (inertial axes), multipliers, reactions of the cut joints on i+."""

    udot: np.ndarray
    a: np.ndarray
    e: np.ndarray
    multipliers: np.ndarray
    X: np.ndarray
    Y: np.ndarray
    rank: LoopRank
    drives: dict[int, float]


def closed(
    motion: TreeMotion,
    given: Loads,
    prescribed: Mapping[int, float] | None = None,
    stabilisation: tuple[float, float] = (0.0, 0.0),
) -> LoopSolution:
    """Return the accelerations of a closed system; of redundant rows an independent set is taken and said.

    Parameters
    ----------
    prescribed : dict, optional
        Accelerations of driven rates, by their indices.
    stabilisation : tuple, optional
        (2 pi / T_s)^2 and 4 pi xi_s / T_s: what `gamma` gets times position and velocity violation
        (multibody-formulations 3.7).
    """
    return closed_tree(motion, equations(motion, given), prescribed, stabilisation)


def closed_tree(
    motion: TreeMotion,
    tree: GraphEquations,
    prescribed: Mapping[int, float] | None = None,
    stabilisation: tuple[float, float] = (0.0, 0.0),
) -> LoopSolution:
    """Return what `closed` returns, from the equations of the tree with its loads."""
    rows = cut_rows(motion, tree)
    driven = dict(prescribed or {})
    rank = loop_rank(motion, tree.A, rows, sorted(driven))
    gamma = rows.gamma + stabilisation[0] * rows.g + stabilisation[1] * rows.gd
    H, kept = rows.H[rank.kept], rank.kept
    free = [k for k in range(len(tree.B)) if k not in driven]
    if driven and len(kept):
        kept = kept[first_independent(scaled(H[:, free], np.linalg.norm(H, axis=1)))]
        H = rows.H[kept]
    given_udot = np.zeros(len(tree.B))
    for k, value in driven.items():
        given_udot[k] = value
    A, B = tree.A[np.ix_(free, free)], (tree.B - tree.A @ given_udot)[free]
    inverse = np.linalg.solve(A, np.column_stack((B, H[:, free].T)))
    values = np.zeros(len(rows.g))
    right = -gamma[kept] - H @ given_udot - H[:, free] @ inverse[:, 0]
    values[kept] = np.linalg.solve(H[:, free] @ inverse[:, 1:], right)
    udot = given_udot
    udot[free] = inverse[:, 0] + inverse[:, 1:] @ values[kept]
    drives = {k: float((tree.B + H.T @ values[kept] - tree.A @ udot)[k]) for k in driven}
    X, Y = (np.zeros((len(motion.system.cuts), 3)) for _ in range(2))
    np.add.at(X, rows.cut, -rows.nz * values[:, None])
    np.add.at(Y, rows.cut, -rows.nw * values[:, None])
    for lost in rank.cuts:
        X[lost] = Y[lost] = np.nan
    a, e = tree.accelerations(udot)
    return LoopSolution(udot, a, e, values, X, Y, rank, drives)


def cut_loads(motion: TreeMotion, given: Loads, X: np.ndarray, Y: np.ndarray) -> Loads:
    """Return loads with forces X and moments Y of the cut joints, + on i+, added to the bodies.

    With those of force elements, B of the tree gets B* = -W.X - (pTS*).Y (3.201); with the reactions, the tree moves as
    the closed system does, and its reactions are those of the closed system.
    """
    F, L = given.F.copy(), given.L.copy()
    for c, cut in enumerate(motion.system.cuts):
        point = motion.r[cut.enters] + motion.A[cut.enters] @ cut.minus.point
        for body, sign in ((cut.leaves, 1.0), (cut.enters, -1.0)):
            if body:
                F[body - 1] += sign * X[c]
                L[body - 1] += sign * (Y[c] + cross(point - motion.r[body], X[c]))
    return replace(given, F=F, L=L)
