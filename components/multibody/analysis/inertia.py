"""Rates that feel no inertia: poses in which accelerations, reactions and frequencies are not determined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dockfmu.base.errors import DockfmuError

LEAST = 1e-13
"""Of the smallest eigenvalue of the mass matrix, scaled to ones on its diagonal."""
PART = 0.1
"""Of the largest component of a motion without inertia, from which on a joint is named."""


class SingularPoseError(DockfmuError, ValueError):
    """Some joints of a multibody system can move without moving a mass."""


def check_inertia(A: np.ndarray, held: Iterable[int], rates: Sequence[str]) -> None:
    """Raise SingularPoseError, with the joints, if a mass matrix A gives some motion of the rates not held no inertia.

    `rates` are the names of the rates, "joint.rate".
    """
    free = np.setdiff1d(np.arange(len(A)), np.array(sorted(held), dtype=int))
    if not len(free):
        return
    A = A[np.ix_(free, free)]
    size = np.sqrt(np.maximum(np.diag(A), 0.0))
    size[size == 0.0] = 1.0
    values, vectors = np.linalg.eigh(A / np.outer(size, size))
    if values[0] > LEAST:
        return
    motion = np.abs(vectors[:, 0])
    joints = dict.fromkeys(rates[free[k]].rpartition(".")[0] for k in np.flatnonzero(motion > PART * motion.max()))
    raise SingularPoseError(
        f"{', '.join(joints)}: {'these joints move' if len(joints) > 1 else 'this joint moves'} something without "
        f"inertia in this pose; give the bodies there a mass and an inertia, lock or prescribe a coordinate, or take "
        f"another pose"
    )
