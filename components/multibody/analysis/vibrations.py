"""Small motions of a system about a pose, by differences of its accelerations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dockfmu.components.multibody.analysis.results import Vibration
from dockfmu.components.multibody.reference.graph_method import GraphEquations
from dockfmu.components.multibody.reference.impulse import closed_positions, tangent
from dockfmu.components.multibody.reference.kinematics import follow
from dockfmu.components.multibody.reference.loops import cut_rows, natural_lengths
from dockfmu.components.multibody.reference.rank import metric
from dockfmu.components.multibody.reference.system import RigidSystem

STEP = 2e-4
"""Of the differences, in coordinates with unit modal mass: errors of order STEP^4, and of rounding 1e-12 / STEP."""
LARGEST_MOVE = 1e-4
"""Of a coordinate, rad or m: that of a light part would else be moved far, through its stops and the play of gears."""


def vibrations(
    system: RigidSystem,
    pose: np.ndarray,
    held: Sequence[int],
    accelerations: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    tree: GraphEquations,
    rotors: np.ndarray,
    weights: np.ndarray,
) -> Vibration:
    """Return the modes of a system about a pose, from its accelerations at (q, u) with held rates at rest.

    `tree` has the equations of the pose; `rotors` are the angles of rotors that turn by themselves, `weights` their
    inertias.
    """
    still = np.zeros(system.rates)
    motion = follow(system, pose, still)
    rows = cut_rows(motion, tree)
    fixed = np.eye(system.rates)[list(held)]
    lengths = np.concatenate((natural_lengths(motion, rows), np.linalg.norm(fixed, axis=1))) if len(rows.g) else 0.0
    E = tangent(metric(tree.A, held), np.vstack((rows.H, fixed)), lengths)
    into = E.T @ tree.A
    size, root = E.shape[1], np.sqrt(weights)
    none = np.zeros(len(rotors))

    def unit(found: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        return np.concatenate((into @ found[0], root * found[1]))

    def displaced(x: np.ndarray) -> np.ndarray:
        q = system.moved(pose, E @ x[:size])
        if system.cuts:
            q = closed_positions(system, q, held, tolerance=1e-13)
        return unit(accelerations(q, still, rotors + x[size:] / root, none))

    def moving(v: np.ndarray) -> np.ndarray:
        return unit(accelerations(pose, E @ v[:size], rotors, v[size:] / root))

    size_of_all = size + len(rotors)
    moves = np.concatenate((np.abs(E).max(axis=0, initial=0.0), 1.0 / root))
    steps = np.minimum(STEP, LARGEST_MOVE / np.maximum(moves, 1e-300))
    stiffness, damping = -_jacobian(displaced, steps), -_jacobian(moving, np.full(size_of_all, STEP))
    squares, shapes = np.linalg.eigh(0.5 * (stiffness + stiffness.T))
    state = np.block([[np.zeros_like(stiffness), np.eye(size_of_all)], [-stiffness, -damping]])
    eigenvalues = np.linalg.eigvals(state)
    return Vibration(
        frequencies=np.sign(squares) * np.sqrt(np.abs(squares)),
        shapes=np.vstack((E @ shapes[:size], shapes[size:] / root[:, None])),
        eigenvalues=eigenvalues[np.argsort(np.abs(eigenvalues))],
        unbalanced=float(np.abs(moving(np.zeros(size_of_all))).max(initial=0.0)),
    )


def _jacobian(function: Callable[[np.ndarray], np.ndarray], steps: np.ndarray) -> np.ndarray:
    """Return the derivatives of a function at 0 by central differences of fourth order."""
    columns = []
    for h in np.diag(steps):
        change = 8.0 * (function(h) - function(-h)) - (function(2.0 * h) - function(-2.0 * h))
        columns.append(change / (12.0 * h.sum()))
    return np.array(columns).T.reshape(len(steps), len(steps))
