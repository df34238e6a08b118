"""Rank of the constraints: degrees of freedom, redundant rows and the joints that hold them.

Theory: multibody-formulations 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from dockfmu.components.multibody.reference.cartesian import ConstraintGroup

TOLERANCE = 1e-9
"""Singular values below this part of the largest one are zero; rows have length 1 in the metric of the mass."""


@dataclass(frozen=True)
class RankReport:
    """Tell what the rows of all joints determine."""

    rank: int
    rows: int
    kept: np.ndarray
    """Indices of an independent set of rows; rows given first are kept."""

    undetermined: tuple[int, ...]
    """Indices of the joints whose reactions another distribution of forces could have."""

    names: tuple[str, ...]

    @property
    def redundant(self) -> int:
        """Return the number of rows that follow from the others."""
        return self.rows - self.rank

    @staticmethod
    def full(groups: Sequence[ConstraintGroup]) -> RankReport:
        """Return the report of independent rows."""
        rows = sum(len(group.b) for group in groups)
        return RankReport(rows, rows, np.arange(rows), (), ())

    def __str__(self) -> str:
        if not self.redundant:
            return f"{self.rows} independent constraints"
        return (
            f"{self.redundant} of {self.rows} constraints are redundant (rank {self.rank}): the reactions of "
            f"joints {', '.join(self.names)} are not determined"
        )


def null_rows(rows: np.ndarray, tolerance: float = TOLERANCE) -> tuple[int, np.ndarray]:
    """Return the rank of scaled rows, and the combinations of rows that vanish, one a line."""
    if not len(rows):
        return 0, np.zeros((0, 0))
    left, values, _ = np.linalg.svd(rows, full_matrices=True)
    rank = int(np.sum(values > tolerance * max(values[0], 1e-300)))
    return rank, left[:, rank:].T


def scaled(rows: np.ndarray, natural: np.ndarray | float = 0.0, tolerance: float = TOLERANCE) -> np.ndarray:
    """Return rows of length 1; rows of zeros, to `tolerance` of their `natural` length, become zeros."""
    size = np.linalg.norm(rows, axis=1)
    zero = size <= tolerance * natural
    return np.where(zero[:, None], 0.0, rows / np.where(zero, 1.0, size)[:, None])


def metric(A: np.ndarray, held: Sequence[int] = ()) -> np.ndarray:
    """Return a mass matrix with another unit inertia at rates that are held, where a body without mass may move.

    It weighs rows; what is dependent stays so in any metric.
    """
    weights = np.zeros(len(A))
    weights[list(held)] = 1.0
    return A + np.diag(weights)


def first_independent(rows: np.ndarray, tolerance: float = TOLERANCE) -> list[int]:
    """Return the indices of the rows that do not follow from rows before them."""
    basis = np.zeros((0, rows.shape[1]))
    kept = []
    for k, row in enumerate(rows):
        rest = row - basis.T @ (basis @ row)
        rest = rest - basis.T @ (basis @ rest)
        if np.linalg.norm(rest) > tolerance:
            basis = np.vstack((basis, rest / np.linalg.norm(rest)))
            kept.append(k)
    return kept


def independent(Q: np.ndarray, inverse_masses: np.ndarray, groups: Sequence[ConstraintGroup]) -> RankReport:
    """Return the rank of the rows Q in the metric of the mass, and the joints with redundant ones.

    `inverse_masses` are those of the bodies, n x 6 x 6.
    """
    root = np.linalg.cholesky(inverse_masses)
    n = len(inverse_masses)
    weighted = scaled(np.einsum("rib,ibc->ric", Q.reshape(len(Q), n, 6), root).reshape(len(Q), 6 * n))
    rank, null = null_rows(weighted)
    if rank == len(Q):
        return RankReport.full(groups)
    kept = first_independent(weighted)
    if len(kept) != rank:
        # a badly conditioned set: take the rows that span most
        kept = sorted(qr(weighted.T, pivoting=True)[2][:rank])
    joint_of = np.repeat(np.arange(len(groups)), [len(group.b) for group in groups])
    involved = sorted({int(joint_of[k]) for k in np.flatnonzero(np.abs(null).max(axis=0) > 1e-6)})
    names = tuple(groups[k].joint.name for k in involved)
    return RankReport(rank, len(Q), np.array(kept, dtype=int), tuple(involved), names)
