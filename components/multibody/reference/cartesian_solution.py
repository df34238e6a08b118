"""Solution of the Cartesian equations: dense, or linear in the bodies by the tree.

multibody-formulations 3.2, (2.49) to (2.61).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dockfmu.components.multibody.reference.block_ldl import NO_PARENT, BlockTree, factorise
from dockfmu.components.multibody.reference.cartesian import (
    BodyStates,
    ConstraintGroup,
    assembled,
    body_states,
    constraint_groups,
    force_blocks,
    joint_reactions,
    joint_states,
    mass_blocks,
    with_joint_forces,
)
from dockfmu.components.multibody.reference.graph_method import Loads
from dockfmu.components.multibody.reference.kinematics import TreeMotion
from dockfmu.components.multibody.reference.rank import RankReport, independent
from dockfmu.components.multibody.reference.system import RigidSystem


@dataclass(frozen=True)
class CartesianSolution:
    """Accelerations in inertial axes, multipliers of each joint (tree, then cut joints), reactions on i+."""

    a: np.ndarray
    e: np.ndarray
    multipliers: list[np.ndarray]
    X: np.ndarray
    Y: np.ndarray
    rank: RankReport
    """Joints whose reactions are not determined, where constraints are redundant."""


def _split(groups: list[ConstraintGroup], values: np.ndarray) -> list[np.ndarray]:
    ends = np.cumsum([len(group.b) for group in groups])
    return [np.asarray(part) for part in np.split(values, ends[:-1])] if groups else []


def _finished(
    states: BodyStates, groups: list[ConstraintGroup], X: np.ndarray, multipliers: list[np.ndarray], rank: RankReport
) -> CartesianSolution:
    e = np.einsum("iab,ib->ia", states.A[1:], X[:, 3:])
    force, moment = joint_reactions(groups, multipliers, states)
    for lost in rank.undetermined:
        force[lost] = moment[lost] = np.nan
    return CartesianSolution(X[:, :3], e, multipliers, force, moment, rank)


def solve_dense(
    system: RigidSystem, states: BodyStates, groups: list[ConstraintGroup], given: Loads
) -> CartesianSolution:
    """Solve by Q M^-1 Q^T (2.52) with dense matrices; of redundant rows an independent set is taken and said."""
    M, F = mass_blocks(system), force_blocks(system, states, given)
    Q, b = assembled(system, groups)
    inverse = np.linalg.inv(M)
    QW = np.einsum("rib,ibc->ric", Q.reshape(len(Q), system.n, 6), inverse).reshape(len(Q), 6 * system.n)
    rank = independent(Q, inverse, groups)
    kept = rank.kept
    values = np.zeros(len(b))
    values[kept] = np.linalg.solve((QW @ Q.T)[np.ix_(kept, kept)], (b - QW @ F.ravel())[kept])
    X = np.einsum("ibc,ic->ib", inverse, F + (Q.T @ values).reshape(-1, 6))
    return _finished(states, groups, X, _split(groups, values), rank)


def tree_factors(system: RigidSystem, groups: list[ConstraintGroup]) -> tuple[BlockTree, list[tuple[str, int]]]:
    """Return the factors of [[M, -Q^T], [-Q, 0]] for the tree, and ("body" or "joint", index) of each node.

    Each joint has its outer body as a child and its inner body as its parent, so that body 0, which is not in the
    matrix, is the root; a free joint has no rows, and its body is a root.
    """
    M = mass_blocks(system)
    nodes: list[tuple[str, int]] = []
    for body in reversed(system.outward):
        nodes += [("body", body), ("joint", system.before[body][0])]
    number = {node: k for k, node in enumerate(nodes)}
    parent, diagonal, above = [], [], []
    for kind, index in nodes:
        if kind == "body":
            a = system.before[index][0]
            group = groups[a]
            parent.append(number["joint", a])
            diagonal.append(M[index - 1])
            above.append(-(group.Qj if group.j == index else group.Qi).T)
        else:
            group = groups[index]
            inner = group.i if system.before[group.j][0] == index and group.j else group.j
            parent.append(number["body", inner] if inner else NO_PARENT)
            diagonal.append(np.zeros((len(group.b), len(group.b))))
            above.append(-(group.Qi if group.i == inner else group.Qj))
    return factorise(parent, diagonal, above), nodes


def solve_tree(
    system: RigidSystem, states: BodyStates, groups: list[ConstraintGroup], given: Loads
) -> CartesianSolution:
    """Solve by L D L^T in post-order without fill-in; rows of cut joints by their Schur complement in it."""
    F = force_blocks(system, states, given)
    factors, nodes = tree_factors(system, groups)

    def solve(forces: np.ndarray, right: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
        x = factors.solve([forces[index - 1] if kind == "body" else -right[index] for kind, index in nodes])
        X, values = np.zeros(forces.shape), [np.zeros(0)] * system.n
        for (kind, index), block in zip(nodes, x, strict=True):
            if kind == "body":
                X[index - 1] = block
            else:
                values[index] = block
        return X, values

    tree, cuts = groups[: system.n], groups[system.n :]
    X, values = solve(F, [group.b for group in tree])
    Q, b = assembled(system, cuts)
    none = [np.zeros_like(group.b) for group in tree]
    columns = [solve(row.reshape(-1, 6), none) for row in Q]
    if not columns:
        return _finished(states, groups, X, [*values, *_split(cuts, b)], RankReport.full(groups))
    responses = np.array([column[0].ravel() for column in columns])
    rank = independent(assembled(system, groups)[0], np.linalg.inv(mass_blocks(system)), groups)
    # rows of the tree are independent, so that those to leave out are of cut joints
    first = sum(len(group.b) for group in tree)
    kept = np.array([k - first for k in rank.kept if k >= first], dtype=int)
    cut = np.zeros(len(b))
    cut[kept] = np.linalg.solve((Q @ responses.T)[np.ix_(kept, kept)], (b - Q @ X.ravel())[kept])
    X = X + (cut @ responses).reshape(-1, 6)
    for value, column in zip(cut, columns, strict=True):
        values = [one + value * other for one, other in zip(values, column[1], strict=True)]
    return _finished(states, groups, X, [*values, *_split(cuts, cut)], rank)


def cartesian(
    motion: TreeMotion, given: Loads, prescribed: Mapping[int, float] | None = None, dense: bool = False
) -> CartesianSolution:
    """Return accelerations and reactions at a state of the tree; reactions contain drive forces, not joint forces."""
    states = body_states(motion)
    groups = constraint_groups(motion.system, states, joint_states(motion), prescribed)
    solve = solve_dense if dense else solve_tree
    return solve(motion.system, states, groups, with_joint_forces(motion, given))
