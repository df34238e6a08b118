"""Eigenvectors of a pair of symmetric matrices, bitwise equal on every machine.

Those of LAPACK depend in their last bits on the number of threads and on the processor; over a docking such a
difference grows until events differ. Cyclic Jacobi rotations use only elementwise products and sums, in a fixed order.
They are at least as accurate (Demmel and Veselic 1992).
"""

from __future__ import annotations

import math

import numpy as np

from dockfmu.base.compiler import jit

SWEEPS = 30
"""Largest number of sweeps over all pairs; ten are enough for matrices of a hundred rows."""


def symmetric_modes(stiffness: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve K x = lambda M x for symmetric K and positive definite M.

    Parameters
    ----------
    stiffness, mass : ndarray, shape (n, n)

    Returns
    -------
    values : ndarray, shape (n,)
        Eigenvalues, ascending.
    vectors : ndarray, shape (n, n)
        Eigenvectors as columns, mass-normalised, the first large entry of each positive.

    Raises
    ------
    ValueError
        If M is not positive definite.
    """
    factor = _cholesky(mass)
    values, rotated = _jacobi(_divided(factor, _divided(factor, stiffness).T.copy()))
    vectors = _solved_transposed(factor, rotated.T)
    order = np.argsort(values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    for j in range(len(values)):
        large = np.abs(vectors[:, j]) > 0.5 * np.max(np.abs(vectors[:, j]))
        if vectors[np.argmax(large), j] < 0.0:
            vectors[:, j] = -vectors[:, j]
    return values, vectors


def _cholesky(matrix: np.ndarray) -> np.ndarray:
    """Return the lower triangular L with M = L L^T."""
    rest, factor = matrix.copy(), np.zeros_like(matrix)
    for j in range(len(matrix)):
        if not rest[j, j] > 0.0:
            raise ValueError("the mass matrix is not positive definite")
        factor[j:, j] = rest[j:, j] / math.sqrt(rest[j, j])
        rest[j:, j:] -= np.multiply.outer(factor[j:, j], factor[j:, j])
    return factor


def _divided(factor: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return L^-1 A."""
    result = matrix.copy()
    for j in range(len(factor)):
        result[j] /= factor[j, j]
        result[j + 1 :] -= np.multiply.outer(factor[j + 1 :, j], result[j])
    return result


def _solved_transposed(factor: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return L^-T A."""
    result = matrix.copy()
    for j in reversed(range(len(factor))):
        result[j] /= factor[j, j]
        result[:j] -= np.multiply.outer(factor[j, :j], result[j])
    return result


@jit
def _jacobi(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues and orthonormal eigenvectors, as rows, of a symmetric matrix.

    An entry is left alone if it would change no digit of the two diagonal entries of its row and column.
    """
    n = len(matrix)
    a, v = 0.5 * (matrix + matrix.T), np.eye(n)
    for _ in range(SWEEPS):
        rotated = False
        for p in range(n - 1):
            for q in range(p + 1, n):
                app, aqq, apq = a[p, p], a[q, q], a[p, q]
                if abs(apq) <= 2.0**-54 * math.sqrt(abs(app * aqq)) or abs(apq) < 2.0**-1000:
                    continue
                rotated = True
                theta = 0.5 * (aqq - app) / apq
                t = math.copysign(1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0)), theta)
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                row_p, row_q = c * a[p] - s * a[q], s * a[p] + c * a[q]
                a[p], a[q] = row_p, row_q
                a[:, p], a[:, q] = row_p, row_q
                a[p, p], a[q, q] = app - t * apq, aqq + t * apq
                a[p, q] = a[q, p] = 0.0
                row_p, row_q = c * v[p] - s * v[q], s * v[p] + c * v[q]
                v[p], v[q] = row_p, row_q
        if not rotated:
            break
    return np.diag(a), v
