"""Minimum-variance unbiased estimation of states and inputs that nothing is assumed about.

With direct feedthrough: Gillijns and De Moor, Automatica 43 (2007) 934-937; without it: the same, 111-116. The input is
held over a step. It needs as many independent readings as inputs at each step, and takes no prior in exchange.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dockfmu.base.errors import FAILED, DockfmuError


class UnobservableError(DockfmuError, ValueError):
    """A layout of sensors cannot tell what is asked of it."""

    exit_status = FAILED


@dataclass(frozen=True)
class Unbiased:
    """States given the readings up to their time, (N, n), inputs, (inputs, m), and the covariances of both.

    With feedthrough the input k acts from time k on and is known at k; without, it acted from k to k + 1 and is known
    at k + 1, so that there is one fewer.
    """

    states: np.ndarray
    covariance: np.ndarray
    inputs: np.ndarray
    input_covariance: np.ndarray


def estimate_unbiased(
    A: np.ndarray,
    G: np.ndarray,
    C: np.ndarray,
    D: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    readings: Sequence[np.ndarray] | np.ndarray,
    mean: np.ndarray,
    covariance: np.ndarray,
) -> Unbiased:
    """Return states and inputs of x[k+1] = A x + G d + w, y = C x + D d + v from readings, shape (N, p).

    `Q` and `R` are the covariances of w and v, `mean` and `covariance` those of x[0]. D of full column rank is taken as
    direct feedthrough; a D of zeros, with C G of full column rank, tells each input one step later. Raises
    UnobservableError for other systems.
    """
    values, m = np.asarray(readings, float), G.shape[1]
    if np.linalg.matrix_rank(D) == m:
        return _with_feedthrough(A, G, C, D, Q, R, values, mean, covariance)
    if not np.any(D) and np.linalg.matrix_rank(C @ G) == m:
        return _without(A, G, C, Q, R, values, mean, covariance)
    raise UnobservableError(
        f"{len(C)} readings tell {np.linalg.matrix_rank(D)} of {m} inputs at once, and "
        f"{np.linalg.matrix_rank(C @ G)} a step later: without a prior all are needed"
    )


def _with_feedthrough(
    A: np.ndarray, G: np.ndarray, C: np.ndarray, D: np.ndarray, Q: np.ndarray, R: np.ndarray, values: np.ndarray,
    x: np.ndarray, P: np.ndarray,
) -> Unbiased:  # fmt: skip
    n, m, count = len(A), G.shape[1], len(values)
    states, inputs = np.empty((count, n)), np.empty((count, m))
    covariances, input_covariances = np.empty((count, n, n)), np.empty((count, m, m))
    step = np.hstack([A, G])
    for k, y in enumerate(values):
        S = C @ P @ C.T + R
        inverse = np.linalg.inv(S)
        Pd = np.linalg.inv(D.T @ inverse @ D)
        d = Pd @ D.T @ inverse @ (y - C @ x)
        K = P @ C.T @ inverse
        x = x + K @ (y - C @ x - D @ d)
        P = P - K @ (S - D @ Pd @ D.T) @ K.T
        cross = -K @ D @ Pd
        states[k], covariances[k], inputs[k], input_covariances[k] = x, P, d, Pd
        x = A @ x + G @ d
        P = step @ np.block([[P, cross], [cross.T, Pd]]) @ step.T + Q
    return Unbiased(states, covariances, inputs, input_covariances)


def _without(
    A: np.ndarray, G: np.ndarray, C: np.ndarray, Q: np.ndarray, R: np.ndarray, values: np.ndarray, x: np.ndarray,
    P: np.ndarray,
) -> Unbiased:  # fmt: skip
    n, m, count = len(A), G.shape[1], len(values)
    states, inputs = np.empty((count, n)), np.empty((count - 1, m))
    covariances, input_covariances = np.empty((count, n, n)), np.empty((count - 1, m, m))
    K = P @ C.T @ np.linalg.inv(C @ P @ C.T + R)
    x, P = x + K @ (values[0] - C @ x), P - K @ C @ P
    states[0], covariances[0] = x, P
    F = C @ G
    for k, y in enumerate(values[1:]):
        P = A @ P @ A.T + Q
        x = A @ x
        S = C @ P @ C.T + R
        inverse = np.linalg.inv(S)
        Pd = np.linalg.inv(F.T @ inverse @ F)
        M = Pd @ F.T @ inverse
        d = M @ (y - C @ x)
        # one gain for state and input: L = K + (G - K F) M, of which both noises are seen once
        K = P @ C.T @ inverse
        L = K + (G - K @ F) @ M
        x = x + L @ (y - C @ x)
        kept = np.eye(n) - L @ C
        P = kept @ P @ kept.T + L @ R @ L.T
        states[k + 1], covariances[k + 1], inputs[k], input_covariances[k] = x, P, d, Pd
    return Unbiased(states, covariances, inputs, input_covariances)
