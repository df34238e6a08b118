"""Linear Gaussian state-space models over time: filter, smoother, likelihood and samples of the posterior.

The wrench that acts is part of the state (augmented Kalman filter: Lourens et al., Mech. Syst. Signal Process. 27,
2012), with a Matern prior in time (Hartikainen and Sarkka, 2010; Rogers, Worden and Cross, Vibration 3, 2020). The
smoother is that of Rauch, Tung and Striebel in the form of Bryson and Frazier, which inverts no covariance of a state:
those of smooth inputs are nearly singular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
from scipy.linalg import expm

Matrices = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class GaussMarkov:
    """x[k+1] = A x[k] + c[k] + w, w ~ N(0, Q), and y[k] = H x[k] + v, v ~ N(0, R), for k = 0 .. N-1.

    Attributes
    ----------
    mean, covariance : ndarray, shape (n,), (n, n)
        Those of x[0] before y[0] is known.
    steps : sequence of (A, Q)
        The different matrices of a step; `step[k]` is the number of those from k to k + 1, shape (N - 1,).
    drift : ndarray, shape (N - 1, n)
        c[k].
    layouts : sequence of (H, R)
        The different matrices of readings, R diagonal, shape (m,); `layout[k]` is the number of those of k, shape (N,).
    readings : sequence of ndarray
        y[k], of the size of its layout; empty where nothing is read.
    """

    mean: np.ndarray
    covariance: np.ndarray
    steps: Sequence[Matrices]
    step: np.ndarray
    drift: np.ndarray
    layouts: Sequence[Matrices]
    layout: np.ndarray
    readings: Sequence[np.ndarray]

    def __len__(self) -> int:
        return len(self.readings)


@dataclass(frozen=True)
class Filtered:
    """Hold what a filter found: means, covariances given the readings so far, innovations, their precisions, gains."""

    model: GaussMarkov
    mean: np.ndarray
    covariance: np.ndarray
    innovations: list[np.ndarray]
    precisions: list[np.ndarray]
    gains: list[np.ndarray]
    log_likelihood: float


def discrete(A: np.ndarray, Q: np.ndarray, h: float) -> Matrices:
    """Return transition and noise covariance over h of dx = A x dt + dw, E dw dw' = Q dt (Van Loan, 1978)."""
    n = len(A)
    block = np.zeros((2 * n, 2 * n))
    block[:n, :n], block[:n, n:], block[n:, n:] = -A, Q, A.T
    grown = expm(block * h)
    F = grown[n:, n:].T
    noise = F @ grown[:n, n:]
    return F, 0.5 * (noise + noise.T)


def filtered(model: GaussMarkov) -> Filtered:
    """Return the Kalman filter's result over all readings."""
    n, count = len(model.mean), len(model)
    means, covariances = np.empty((count, n)), np.empty((count, n, n))
    innovations, precisions, gains = [], [], []
    x, P, likelihood, unit = model.mean, model.covariance, 0.0, np.eye(n)
    for k in range(count):
        if k:
            A, Q = model.steps[model.step[k - 1]]
            x = A @ x + model.drift[k - 1]
            P = A @ P @ A.T + Q
        H, R = model.layouts[model.layout[k]]
        if not len(R):
            means[k], covariances[k] = x, P
            innovations.append(np.empty(0))
            precisions.append(np.empty((0, 0)))
            gains.append(np.empty((n, 0)))
            continue
        v = model.readings[k] - H @ x
        PH = P @ H.T
        S = H @ PH
        S.flat[:: len(R) + 1] += R
        factor = np.linalg.cholesky(S)
        root = np.linalg.inv(factor)
        inverse = root.T @ root
        K = PH @ inverse
        white = root @ v
        likelihood -= 0.5 * (white @ white + len(v) * log(2.0 * pi)) + float(np.log(np.diagonal(factor)).sum())
        x = x + K @ v
        # Joseph's form, which stays positive where the readings are far better than what is known before them
        kept = unit - K @ H
        P = kept @ P @ kept.T + (K * R) @ K.T
        P = 0.5 * (P + P.T)
        means[k], covariances[k] = x, P
        innovations.append(v)
        precisions.append(inverse)
        gains.append(K)
    return Filtered(model, means, covariances, innovations, precisions, gains, likelihood)


def smoothed(found: Filtered, rows: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return means and covariances of the states, or of `rows` @ state, given all readings: (N, k), (N, k, k)."""
    model = found.model
    n, count = len(model.mean), len(model)
    kept = np.eye(n) if rows is None else rows
    means, covariances = np.empty((count, len(kept))), np.empty((count, len(kept), len(kept)))
    adjoint, information = np.zeros(n), np.zeros((n, n))
    for k in range(count - 1, -1, -1):
        shown = kept @ found.covariance[k]
        means[k] = kept @ found.mean[k] - shown @ adjoint
        covariances[k] = shown @ kept.T - shown @ information @ shown.T
        adjoint, information = _back(found, k, adjoint, information)
        if k:
            A, _ = model.steps[model.step[k - 1]]
            adjoint, information = A.T @ adjoint, A.T @ information @ A
    return means, covariances


def _back(found: Filtered, k: int, adjoint: np.ndarray, information: np.ndarray) -> Matrices:
    H, R = found.model.layouts[found.model.layout[k]]
    if not len(R):
        return adjoint, information
    weighted = H.T @ found.precisions[k]
    kept = np.eye(len(adjoint)) - found.gains[k] @ H
    information = weighted @ H + kept.T @ information @ kept
    return kept.T @ adjoint - weighted @ found.innovations[k], 0.5 * (information + information.T)


def variance_slopes(found: Filtered) -> np.ndarray:
    """Return the derivatives of the log likelihood by the covariances of x[0] and of the noise of each step, (N, n, n).

    They come from the adjoint of the smoother (Koopman and Shephard, Biometrika 79, 1992): half of r r' - N.
    """
    model = found.model
    n, count = len(model.mean), len(model)
    slopes = np.empty((count, n, n))
    adjoint, information = np.zeros(n), np.zeros((n, n))
    for k in range(count - 1, -1, -1):
        adjoint, information = _back(found, k, adjoint, information)
        slopes[k] = 0.5 * (np.outer(adjoint, adjoint) - information)
        if k:
            A, _ = model.steps[model.step[k - 1]]
            adjoint, information = A.T @ adjoint, A.T @ information @ A
    return slopes


def samples(found: Filtered, rows: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Return samples of `rows` @ state over time given all readings, shape (count, N, k) (Durbin and Koopman, 2002).

    A draw of states and readings without data is corrected by the smoothed mean of what its readings lack.
    """
    model = found.model
    size, n = len(model), len(model.mean)
    roots = [_root(Q) for _, Q in model.steps]
    drawn = np.empty((size, n, count))
    x = _root(model.covariance) @ random.standard_normal((n, count))
    lacking: list[np.ndarray] = []
    for k in range(size):
        if k:
            s = model.step[k - 1]
            x = model.steps[s][0] @ x + roots[s] @ random.standard_normal((n, count))
        drawn[k] = x
        H, R = model.layouts[model.layout[k]]
        noise = np.sqrt(R)[:, None] * random.standard_normal((len(R), count))
        lacking.append(model.readings[k][:, None] - H @ x - noise)
    return np.asarray(np.moveaxis(rows @ drawn, 2, 0) + _mean_of(found, rows, lacking))


def _mean_of(found: Filtered, rows: np.ndarray, readings: Sequence[np.ndarray]) -> np.ndarray:
    """Return the smoothed means of `rows` @ state for columns of other readings, shape (columns, N, k)."""
    model = found.model
    count = readings[0].shape[1]
    innovations: list[np.ndarray] = []
    x = np.repeat(model.mean[:, None], count, axis=1)
    updated = np.empty((len(model), len(model.mean), count))
    for k in range(len(model)):
        if k:
            x = model.steps[model.step[k - 1]][0] @ x + model.drift[k - 1][:, None]
        H, _ = model.layouts[model.layout[k]]
        innovations.append(readings[k] - H @ x)
        x = x + found.gains[k] @ innovations[k]
        updated[k] = x
    means = np.empty((count, len(model), len(rows)))
    adjoint = np.zeros_like(x)
    for k in range(len(model) - 1, -1, -1):
        means[:, k] = (rows @ (updated[k] - found.covariance[k] @ adjoint)).T
        H, R = model.layouts[model.layout[k]]
        if len(R):
            adjoint = adjoint - H.T @ (found.gains[k].T @ adjoint + found.precisions[k] @ innovations[k])
        if k:
            adjoint = model.steps[model.step[k - 1]][0].T @ adjoint
    return means


def _root(Q: np.ndarray) -> np.ndarray:
    """Return a factor of a covariance that may be singular."""
    scale = np.sqrt(np.maximum(np.diagonal(Q), 1e-300))
    values, vectors = np.linalg.eigh(Q / np.outer(scale, scale))
    return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def matern(order: int, sigma: float, length: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return A, Q and the stationary covariance of a Matern process whose value is its first state.

    Parameters
    ----------
    order : int
        Number of states: 1 for a rough input (smoothness 1/2), 2 for one with a rate (3/2).
    sigma, length : float
        Standard deviation, and length scale, s.
    """
    if order == 1:
        rate = 1.0 / length
        return np.array([[-rate]]), np.array([[2.0 * rate * sigma**2]]), np.array([[sigma**2]])
    rate = np.sqrt(3.0) / length
    A = np.array([[0.0, 1.0], [-(rate**2), -2.0 * rate]])
    Q = np.diag([0.0, 4.0 * rate**3 * sigma**2])
    return A, Q, np.diag([sigma**2, (rate * sigma) ** 2])
