"""Loads of all joints, and which of their components redundant constraints leave undetermined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dockfmu.components.multibody.analysis.results import JointLoad
from dockfmu.components.multibody.reference.graph_method import Loads, equations, reactions
from dockfmu.components.multibody.reference.kinematics import TreeMotion
from dockfmu.components.multibody.reference.loops import CutRows, closed, cut_loads, cut_rows, natural_lengths
from dockfmu.components.multibody.reference.rank import metric, null_rows, scaled

UNDETERMINED = 1e-8
"""Part of the largest component of a self-stress below which a component is free of it."""


def self_stresses(motion: TreeMotion, A: np.ndarray, rows: CutRows, held: list[int]) -> np.ndarray:
    """Return combinations of the multipliers of cut joints, one a line, that do not move the system.

    Drives of held rates may be part of them.
    """
    if not len(rows.g):
        return np.zeros((0, 0))
    every = np.vstack((rows.H, np.eye(motion.system.rates)[held]))
    weighted = np.linalg.solve(np.linalg.cholesky(metric(A, held)), every.T).T
    natural = np.concatenate((natural_lengths(motion, rows), np.zeros(len(held))))
    _, null = null_rows(scaled(weighted, natural))
    length = np.maximum(np.linalg.norm(weighted, axis=1), natural)
    return (null / length)[:, : len(rows.g)]


def joint_loads(motion: TreeMotion, given: Loads, held: Mapping[int, float]) -> dict[str, JointLoad]:
    """Return what the predecessor of each joint exerts on its successor, in its frame on the predecessor.

    Forces in the tree follow from the accelerations, X = T (m r'' - F) (3.6), with the loads of the cut joints among F.
    """
    system = motion.system
    tree = equations(motion, given)
    rows = cut_rows(motion, tree)
    found = closed(motion, given, held)

    def spread(values: np.ndarray, on_bodies: Loads, moved: bool) -> np.ndarray:
        """Return [X, Y] of all joints, the cut ones last, for multipliers of the cut joints."""
        X, Y = (np.zeros((len(system.cuts), 3)) for _ in range(2))
        np.add.at(X, rows.cut, -rows.nz * values[:, None])
        np.add.at(Y, rows.cut, -rows.nw * values[:, None])
        loaded = replace(tree, loads=cut_loads(motion, on_bodies, X, Y))
        if not moved:
            # without inertia and other forces: what the self-stress alone does
            loaded = replace(loaded, U=np.zeros_like(tree.U), wb=np.zeros_like(tree.wb))
            still = replace(motion, w=np.zeros_like(motion.w), u=np.zeros_like(motion.u))
            inner = reactions(still, loaded, np.zeros(system.rates))
        else:
            inner = reactions(motion, loaded, found.udot)
        return np.hstack((np.vstack((inner[0], X)), np.vstack((inner[1], Y))))

    load = spread(found.multipliers, given, moved=True)
    nothing = Loads(np.zeros((system.n, 3)), np.zeros((system.n, 3)), np.zeros(system.rates))
    stresses = [spread(values, nothing, moved=False) for values in self_stresses(motion, tree.A, rows, sorted(held))]
    result = {}
    for a, joint in enumerate((*system.joints, *system.cuts)):
        if joint.flexible is not None:
            continue
        F = motion.A[joint.leaves] @ joint.plus.R
        force, torque = (-F.T @ load[a, part] for part in (slice(3), slice(3, 6)))
        for stress in stresses:
            size = max(float(np.abs(stress).max()), 1e-300)
            for values, part in ((force, slice(3)), (torque, slice(3, 6))):
                values[np.abs(F.T @ stress[a, part]) > UNDETERMINED * size] = np.nan
        result[joint.name] = JointLoad(force, torque)
    return result
