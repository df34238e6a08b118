"""Eigenvalues and Cholesky factors of small symmetric matrices, in place and without allocation."""

from __future__ import annotations

from math import copysign, fabs, sqrt

from dockfmu.components.core.kernel import kernel

# sweeps of Jacobi's method: more than enough, as it converges quadratically
SWEEPS = 12
# size relative to the diagonal below which an element counts as zero
NEGLIGIBLE = 1e-18


@kernel
def _rotate(A, i, j):
    """Annihilate the element (i, j) by one Jacobi rotation; return its (cosine, sine)."""
    theta = 0.5 * (A[j, j] - A[i, i]) / A[i, j]
    t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0))
    c = 1.0 / sqrt(t * t + 1.0)
    s = t * c
    A[i, i] -= t * A[i, j]
    A[j, j] += t * A[i, j]
    A[i, j] = 0.0
    A[j, i] = 0.0
    for k in range(A.shape[0]):
        if k != i and k != j:
            x = A[i, k]
            y = A[j, k]
            A[i, k] = c * x - s * y
            A[k, i] = A[i, k]
            A[j, k] = s * x + c * y
            A[k, j] = A[j, k]
    return c, s


@kernel
def _is_negligible(A, i, j):
    """Return whether the element (i, j) counts as zero."""
    return fabs(A[i, j]) <= NEGLIGIBLE * (fabs(A[i, i]) + fabs(A[j, j]))


@kernel
def diagonalize(A):
    """Replace a symmetric matrix by the diagonal matrix of its eigenvalues, exact to rounding of the largest one."""
    n = A.shape[0]
    for _ in range(SWEEPS):
        turned = False
        for i in range(n - 1):
            for j in range(i + 1, n):
                if not _is_negligible(A, i, j):
                    _rotate(A, i, j)
                    turned = True
        if not turned:
            return


@kernel
def diagonalize_with_vectors(A, V):
    """Diagonalize a symmetric matrix as `diagonalize` does, and set V to its eigenvectors, as columns."""
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            V[i, j] = 0.0
        V[i, i] = 1.0
    for _ in range(SWEEPS):
        turned = False
        for i in range(n - 1):
            for j in range(i + 1, n):
                if not _is_negligible(A, i, j):
                    c, s = _rotate(A, i, j)
                    for k in range(n):
                        x = V[k, i]
                        y = V[k, j]
                        V[k, i] = c * x - s * y
                        V[k, j] = s * x + c * y
                    turned = True
        if not turned:
            return


@kernel
def sort(A, V):
    """Sort the eigenvalues from `diagonalize_with_vectors` into ascending order, together with their vectors."""
    n = A.shape[0]
    for i in range(n - 1):
        least = i
        for j in range(i + 1, n):
            if A[j, j] < A[least, least]:
                least = j
        if least != i:
            value = A[i, i]
            A[i, i] = A[least, least]
            A[least, least] = value
            for k in range(n):
                value = V[k, i]
                V[k, i] = V[k, least]
                V[k, least] = value


@kernel
def factor_cholesky(A):
    """Replace a symmetric matrix by its Cholesky factor L, A = L L^T; return False if it is not positive definite."""
    n = A.shape[0]
    for j in range(n):
        for k in range(j):
            A[j, j] -= A[j, k] * A[j, k]
        if not A[j, j] > 0.0:
            return False
        A[j, j] = sqrt(A[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
            A[j, i] = 0.0
    return True
