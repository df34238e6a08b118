"""CART: Newton-Euler equations of each body with constraint equations, for any topology. multibody-formulations 3.2.

Unknowns are [r''; w'] of each body, r'' in inertial axes, w' in axes of the body, and one multiplier a row. Reactions
are on the right-hand side: M X'' = F + Q^T lambda, Q X'' = b. Errata (2.9), (2.45), (2.46): the gyroscopic term is
-w x J w, and a row is Q_i X''_i + Q_j X''_j = b.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dockfmu.components.multibody.reference.algebra import cross, skew
from dockfmu.components.multibody.reference.constraints import (
    ConstraintRows,
    RelativeMotion,
    drive_row,
    joint_constraints,
    rows_across,
    stacked,
)
from dockfmu.components.multibody.reference.graph_method import Loads
from dockfmu.components.multibody.reference.joints import AxisMotion, JointState, QuaternionMotion
from dockfmu.components.multibody.reference.kinematics import TreeMotion
from dockfmu.components.multibody.reference.system import AT_REST, BaseMotion, JointArc, RigidSystem


@dataclass(frozen=True)
class BodyStates:
    """Attitudes (components on the body to inertial ones), positions and velocities; w in axes of the body."""

    A: np.ndarray
    r: np.ndarray
    v: np.ndarray
    w: np.ndarray
    base: BaseMotion = AT_REST
    t: float = 0.0


@dataclass(frozen=True)
class ConstraintGroup:
    """The rows of a joint between the bodies i and j: Q_i X''_i + Q_j X''_j = b; 6 columns a body."""

    joint: JointArc
    i: int
    j: int
    Qi: np.ndarray
    Qj: np.ndarray
    b: np.ndarray
    g: np.ndarray
    gd: np.ndarray
    """Violation of the positions (0 for rows on velocities) and of the velocities."""


def body_states(motion: TreeMotion) -> BodyStates:
    """Return the states of the bodies of a tree."""
    w = np.einsum("iab,ia->ib", motion.A, motion.w)
    return BodyStates(motion.A, motion.r, motion.v, w, motion.base, motion.t)


def point_plane(
    n: np.ndarray, i: int, j: int, point: np.ndarray, states: BodyStates
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return (Q_i, Q_j, b) of a point of body j in a plane of body i with the normal n, in axes of i (2.22)."""
    A, B, wi, wj = states.A[i], states.A[j], states.w[i], states.w[j]
    rho = states.r[j] + B @ point - states.r[i]
    rate = states.v[j] - states.v[i] + B @ cross(wj, point)
    local = A.T @ rho
    Qi = np.concatenate((-n @ A.T, n @ skew(local)))
    Qj = np.concatenate((n @ A.T, -n @ A.T @ B @ skew(point)))
    # minus the acceleration of the point seen from i at X'' = 0
    centripetal = A.T @ (B @ cross(wj, cross(wj, point)))
    b = n @ (2.0 * cross(wi, A.T @ rate) - cross(wi, cross(wi, local)) - centripetal)
    return Qi, Qj, float(b)


def no_relative_rotation(n: np.ndarray, i: int, j: int, states: BodyStates) -> tuple[np.ndarray, np.ndarray, float]:
    """Return (Q_i, Q_j, b) of no rotation of j relative to i about n, in axes of i (2.27) to (2.31).

    Erratum: A_i A_j^-1 of the source is A_i^T A_j with A_i from body to inertial components.
    """
    C = states.A[i].T @ states.A[j]
    none = np.zeros(3)
    b = n @ cross(states.w[i], C @ states.w[j])
    return np.concatenate((none, -n)), np.concatenate((none, n @ C)), float(b)


def relative_motion(joint: JointArc, states: BodyStates) -> RelativeMotion:
    """Return the motion of the side on i- relative to that on i+, in the joint's frame on i+."""
    i, j = joint.leaves, joint.enters
    A, B = states.A[i], states.A[j]
    F = A @ joint.plus.R
    wi, wj = A @ states.w[i], B @ states.w[j]
    rho = states.r[j] + B @ joint.minus.point - states.r[i]
    rate = states.v[j] + cross(wj, B @ joint.minus.point) - states.v[i] - cross(wi, rho)
    return RelativeMotion(
        R=F.T @ B @ joint.minus.R, z=F.T @ (rho - A @ joint.plus.point), zd=F.T @ rate, Omega=F.T @ (wj - wi)
    )


def group_of(joint: JointArc, rows: ConstraintRows, relative: RelativeMotion, states: BodyStates) -> ConstraintGroup:
    """Return the rows of a joint as rows on the accelerations of its bodies, sums of (2.22) and (2.27)."""
    i, j = joint.leaves, joint.enters
    Qi, Qj, b = np.zeros((len(rows), 6)), np.zeros((len(rows), 6)), np.zeros(len(rows))
    for row in range(len(rows)):
        parts = (
            point_plane(joint.plus.R @ rows.nz[row], i, j, joint.minus.point, states),
            no_relative_rotation(joint.plus.R @ rows.nw[row], i, j, states),
        )
        Qi[row], Qj[row] = (sum(part[side] for part in parts) for side in (0, 1))
        b[row] = sum(part[2] for part in parts) + rows.rhs[row]
        b[row] -= rows.dnz[row] @ relative.zd + rows.dnw[row] @ relative.Omega
    if i == 0 or j == 0:
        # the base moves as prescribed
        known = np.concatenate((states.base.a, states.A[0].T @ states.base.e))
        b = b - (Qi if i == 0 else Qj) @ known
    return ConstraintGroup(joint, i, j, Qi, Qj, b, np.where(rows.holonomic, rows.g, 0.0), rows.rate(relative))


def constraint_groups(
    system: RigidSystem,
    states: BodyStates,
    joint_states: list[JointState] | None = None,
    prescribed: Mapping[int, float] | None = None,
) -> list[ConstraintGroup]:
    """Return the rows of all joints, those of the tree first.

    `joint_states` are those of the joints of the tree; they are needed where a joint is of a kind outside the library,
    and for prescribed rates.
    """
    groups = []
    driven = dict(prescribed or {})
    for a, joint in enumerate((*system.joints, *system.cuts)):
        relative = relative_motion(joint, states)
        if isinstance(joint.motion, AxisMotion | QuaternionMotion):
            parts = [joint_constraints(joint.motion, relative)]
        else:
            assert joint_states is not None, f"joint {joint.name} needs its coordinates"
            parts = [rows_across(joint_states[a])]
        if joint.rows is not None:
            parts.append(joint.rows(relative, states.t))
        if a < system.n:
            first = system.rate_slices[a].start
            for k in range(joint.motion.rates):
                if first + k in driven:
                    assert joint_states is not None, f"joint {joint.name} needs its coordinates"
                    parts.append(drive_row(joint_states[a], k, driven[first + k]))
        groups.append(group_of(joint, stacked(parts), relative, states))
    return groups


def joint_states(motion: TreeMotion) -> list[JointState]:
    """Return the states of the joints of a tree, in their own frames."""
    system = motion.system
    return [
        joint.motion.evaluate(motion.q[here], motion.u[rates], motion.t)
        for joint, here, rates in zip(system.joints, system.position_slices, system.rate_slices, strict=True)
    ]


def mass_blocks(system: RigidSystem) -> np.ndarray:
    """Return the mass matrices of the bodies, n x 6 x 6."""
    M = np.zeros((system.n, 6, 6))
    M[:, :3, :3] = system.masses[:, None, None] * np.eye(3)
    M[:, 3:, 3:] = system.inertias
    return M


def force_blocks(system: RigidSystem, states: BodyStates, given: Loads) -> np.ndarray:
    """Return forces, and moments with the gyroscopic term in axes of the body, n x 6."""
    w, J = states.w[1:], system.inertias
    moment = np.einsum("iab,ia->ib", states.A[1:], given.L) - cross(w, np.einsum("iab,ib->ia", J, w))
    return np.hstack((given.F, moment))


def with_joint_forces(motion: TreeMotion, given: Loads) -> Loads:
    """Return loads in which the forces along the rates of the joints are forces and moments on the bodies.

    A force along a rate becomes the force and the moment in the joint that have least norm and work on this rate alone.
    """
    F, L = given.F.copy(), given.L.copy()
    for joint, arc, rates in zip(motion.system.joints, motion.arcs, motion.system.rate_slices, strict=True):
        wrench = np.linalg.pinv(np.hstack((arc.p, arc.k))) @ given.tau[rates]
        moment, force = wrench[:3], wrench[3:]
        if joint.enters:
            F[joint.enters - 1] += force
            L[joint.enters - 1] += moment + cross(arc.c_minus, force)
        if joint.leaves:
            F[joint.leaves - 1] -= force
            L[joint.leaves - 1] -= moment + cross(arc.c_plus + arc.z, force)
    return Loads(F, L, np.zeros_like(given.tau))


def assembled(system: RigidSystem, groups: list[ConstraintGroup]) -> tuple[np.ndarray, np.ndarray]:
    """Return Q, n_c x 6 n, and b, both dense."""
    rows = sum(len(group.b) for group in groups)
    Q, b, first = np.zeros((rows, 6 * system.n)), np.zeros(rows), 0
    for group in groups:
        here = slice(first, first + len(group.b))
        for body, block in ((group.i, group.Qi), (group.j, group.Qj)):
            if body:
                Q[here, 6 * body - 6 : 6 * body] = block
        b[here], first = group.b, here.stop
    return Q, b


def joint_reactions(
    groups: list[ConstraintGroup], multipliers: list[np.ndarray], states: BodyStates
) -> tuple[np.ndarray, np.ndarray]:
    """Return the forces X on i+ and the moments Y about the joint point of i-, inertial axes, one row a joint."""
    X, Y = np.zeros((len(groups), 3)), np.zeros((len(groups), 3))
    for row, (group, value) in enumerate(zip(groups, multipliers, strict=True)):
        # [R; L_R] = Q^T lambda (2.23) to (2.26), taken from j, since its joint point is fixed in it
        force, moment = group.Qj[:, :3].T @ value, states.A[group.j] @ (group.Qj[:, 3:].T @ value)
        X[row] = -force
        Y[row] = -(moment - cross(states.A[group.j] @ group.joint.minus.point, force))
    return X, Y
