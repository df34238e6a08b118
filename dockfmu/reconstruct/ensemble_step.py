"""A step of an ensemble smoother: how much of the data it takes, and where it moves the members."""

from __future__ import annotations

import math

import numpy as np

from dockfmu.base.errors import DockfmuError

FEWEST = 3
"""Fewest members that an update can use."""
SPARE = 5
"""Members beyond the unknowns that a regression needs."""
DIAGONAL = 0.5
"""Share of the diagonal in the covariance of the part of the outputs that is not linear."""
RANK = 1e-10
"""Singular values below this share of the largest are zero."""


class EnsembleError(DockfmuError):
    """An ensemble cannot be updated."""


def regression(unknowns: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return slopes of outputs by regression, shape (data, n), and the variance of noise and of what is left.

    `outputs` have noise of the variance 1.
    """
    anomalies, spread = unknowns - unknowns.mean(axis=0), outputs - outputs.mean(axis=0)
    slope, *_ = np.linalg.lstsq(anomalies, spread, rcond=RANK)
    rest = spread - anomalies @ slope
    freedom = len(unknowns) - 1 - unknowns.shape[1]
    return slope.T, 1.0 + np.sum(rest**2, axis=0) / freedom


def share_of(misfits: np.ndarray, count: int, left: float = 1.0) -> float:
    """Return the share of the data that a step can assimilate, by the misfits of the members, at most what is `left`.

    It is the larger of n / (2 mean) and sqrt(n / (2 variance)) of half the sums of squares of n normalised residuals:
    the change of the law of the members then stays of the order of what n data in their own noise say.
    """
    mean, variance = float(misfits.mean()), float(misfits.var(ddof=1)) if len(misfits) > 1 else 0.0
    by_mean = count / (2.0 * mean) if mean > 0.0 else math.inf
    by_variance = math.sqrt(count / (2.0 * variance)) if variance > 0.0 else math.inf
    return min(max(by_mean, by_variance), left)


def update(
    unknowns: np.ndarray,
    outputs: np.ndarray,
    data: np.ndarray,
    deviation: np.ndarray,
    share: float,
    random: np.random.Generator,
    *,
    localise: bool | None = None,
    excess: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Return members after a step that assimilates a share of the data, shape (members, n).

    `excess` is added to the variance of the noise, in units of it.

    With anomalies A of the unknowns and Y of the outputs, in the deviations of the data over sqrt(share) and divided by
    sqrt(members - 1), a member moves by A Y' (Y Y' + E + 1)^-1 (d + e - y): the inverse in the subspace of the columns
    of Y and E (Evensen 2004, doi:10.1007/s10236-004-0099-2).
    """
    count = len(unknowns)
    if count < FEWEST:
        raise EnsembleError(f"{count} members: an update needs at least {FEWEST}")
    inflated = deviation / math.sqrt(share)
    anomalies = (unknowns - unknowns.mean(axis=0)).T / math.sqrt(count - 1)
    spread = (outputs - outputs.mean(axis=0)).T / inflated[:, None] / math.sqrt(count - 1)
    innovation = ((data - outputs) / inflated + perturbations(count, len(data), random)).T
    linear, rest = _split(anomalies, spread)
    alone = rest is None
    # as the errors of the data, what is not linear is taken for as much larger as the share is smaller
    rest = np.zeros((len(data), 0)) if rest is None else rest / math.sqrt(share)
    scale = 1.0 / np.sqrt(1.0 + excess + DIAGONAL * np.sum(rest**2, axis=1))[:, None]
    linear, innovation = linear * scale, innovation * scale
    columns = np.hstack([linear, math.sqrt(1.0 - DIAGONAL) * rest * scale])
    left, singular, _ = np.linalg.svd(columns, full_matrices=False)
    kept = singular > RANK * max(singular[0], 1e-300)
    left, singular = left[:, kept], singular[kept]
    gain = anomalies @ (linear.T @ left)
    if alone if localise is None else localise:
        gain = gain * _significance(anomalies, linear.T @ left, count)
    moved = gain / (1.0 + singular**2) @ (left.T @ innovation)
    return np.asarray(unknowns + moved.T)


def perturbations(members: int, count: int, random: np.random.Generator) -> np.ndarray:
    """Return standard normal numbers without a mean of their own, and with the spread that this takes from them."""
    noise = random.standard_normal((members, count))
    return np.asarray((noise - noise.mean(axis=0)) * math.sqrt(members / (members - 1)))


def _split(anomalies: np.ndarray, spread: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the part of outputs linear in the unknowns and the rest, None with too few members to tell them apart."""
    _, singular, right = np.linalg.svd(anomalies, full_matrices=False)
    basis = right[singular > RANK * max(singular[0], 1e-300)]
    freedom = anomalies.shape[1] - 1 - len(basis)
    if freedom < SPARE:
        return spread, None
    linear = (spread @ basis.T) @ basis
    return linear, (spread - linear) * math.sqrt((anomalies.shape[1] - 1) / freedom)


def _significance(anomalies: np.ndarray, directions: np.ndarray, count: int) -> np.ndarray:
    """Return by how much of each gain its correlation exceeds that of chance, from 0 to 1, shape (n, directions)."""
    sizes = np.linalg.norm(anomalies, axis=1)[:, None] * np.linalg.norm(directions, axis=0)[None, :]
    squared = (anomalies @ directions / np.maximum(sizes, 1e-300)) ** 2
    excess = (count - 1) * squared - 1.0
    return np.asarray(np.clip(excess / np.maximum((count - 2) * squared, 1e-300), 0.0, 1.0))


def drawn_anew(members: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Return members drawn from the mean and the covariance of others."""
    anomalies = (members - members.mean(axis=0)) / math.sqrt(len(members) - 1)
    return np.asarray(members.mean(axis=0) + random.standard_normal((count, len(members))) @ anomalies)
