"""Small dense matrices as arrays of a record: in-place, allocation-free loops of fixed size.

`n` is the order of the leading block that is used, so that one work array serves several sizes.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel


@kernel
def multiply(A, B, C):
    """Set C to A B; C is neither A nor B."""
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * B[k, j]
            C[i, j] = total


@kernel
def factor_lu(A, pivot, n):
    """Factor the leading n x n block of A into L U in place, with partial pivoting.

    `pivot[i]` is the row swapped with row i.
    Returns True if the matrix is regular.
    """
    for j in range(n):
        p = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[p, j]):
                p = i
        pivot[j] = p
        if not abs(A[p, j]) > 0.0:
            return False
        if p != j:
            for k in range(n):
                swapped = A[j, k]
                A[j, k] = A[p, k]
                A[p, k] = swapped
        for i in range(j + 1, n):
            A[i, j] /= A[j, j]
            for k in range(j + 1, n):
                A[i, k] -= A[i, j] * A[j, k]
    return True


@kernel
def solve_lu(LU, pivot, b, n):
    """Set b to A^-1 b with the factors of `factor_lu`."""
    for i in range(n):
        p = int(pivot[i])
        if p != i:
            swapped = b[i]
            b[i] = b[p]
            b[p] = swapped
        for k in range(i):
            b[i] -= LU[i, k] * b[k]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= LU[i, k] * b[k]
        b[i] /= LU[i, i]
