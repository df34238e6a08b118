"""Small motions of a system about a pose, by differences of its accelerations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dockfmu.components.multibody.analysis.results import Vibration
from dockfmu.components.multibody.reference.graph_method import equations, loads
from dockfmu.components.multibody.reference.impulse import closed_positions, tangent
from dockfmu.components.multibody.reference.kinematics import follow
from dockfmu.components.multibody.reference.loops import cut_rows, natural_lengths
from dockfmu.components.multibody.reference.system import RigidSystem

STEP = 2e-4
"""Of the differences, in coordinates with unit modal mass: errors of order STEP^4, and of rounding 1e-12 / STEP."""


def vibrations(
    system: RigidSystem,
    pose: np.ndarray,
    held: Sequence[int],
    accelerations: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Vibration:
    """Return the modes of a system about a pose, from its accelerations at (q, u) with held rates at rest."""
    still = np.zeros(system.rates)
    motion = follow(system, pose, still)
    tree = equations(motion, loads(system))
    rows = cut_rows(motion, tree)
    fixed = np.eye(system.rates)[list(held)]
    lengths = np.concatenate((natural_lengths(motion, rows), np.linalg.norm(fixed, axis=1))) if len(rows.g) else 0.0
    E = tangent(tree.A, np.vstack((rows.H, fixed)), lengths)
    into = E.T @ tree.A

    def displaced(x: np.ndarray) -> np.ndarray:
        q = system.moved(pose, E @ x)
        if system.cuts:
            q = closed_positions(system, q, held, tolerance=1e-13)
        return into @ accelerations(q, still)

    def moving(v: np.ndarray) -> np.ndarray:
        return into @ accelerations(pose, E @ v)

    stiffness, damping = -_jacobian(displaced, E.shape[1]), -_jacobian(moving, E.shape[1])
    squares, shapes = np.linalg.eigh(0.5 * (stiffness + stiffness.T))
    size = E.shape[1]
    state = np.block([[np.zeros((size, size)), np.eye(size)], [-stiffness, -damping]])
    eigenvalues = np.linalg.eigvals(state)
    return Vibration(
        frequencies=np.sign(squares) * np.sqrt(np.abs(squares)),
        shapes=E @ shapes,
        eigenvalues=eigenvalues[np.argsort(np.abs(eigenvalues))],
        unbalanced=float(np.abs(moving(np.zeros(size))).max(initial=0.0)),
    )


def _jacobian(function: Callable[[np.ndarray], np.ndarray], size: int) -> np.ndarray:
    """Return the derivatives of a function at 0 by central differences of fourth order."""
    columns = []
    for h in STEP * np.eye(size):
        columns.append((8.0 * (function(h) - function(-h)) - (function(2.0 * h) - function(-2.0 * h))) / (12.0 * STEP))
    return np.array(columns).T.reshape(size, size)
