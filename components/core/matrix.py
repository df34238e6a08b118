"""Small dense matrices as arrays of a record: in-place, allocation-free loops of fixed size.

`n` is the order of the leading block that is used, so that one work array serves several sizes.
"""

from __future__ import annotations

from components.core.kernel import kernel


@kernel
def zero(A):
    """A <- 0, for a matrix."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = 0.0


@kernel
def multiply(A, B, C):
    """C <- A B; C is neither A nor B."""
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * B[k, j]
            C[i, j] = total


@kernel
def multiply_transposed(A, B, C):
    """C <- A^T B; C is neither A nor B."""
    for i in range(A.shape[1]):
        for j in range(B.shape[1]):
            total = 0.0
            for k in range(A.shape[0]):
                total += A[k, i] * B[k, j]
            C[i, j] = total


@kernel
def multiply_vector(A, v, w):
    """w <- A v; w is not v."""
    for i in range(A.shape[0]):
        total = 0.0
        for k in range(A.shape[1]):
            total += A[i, k] * v[k]
        w[i] = total


@kernel
def factor_ldl(A, n):
    """A <- L D L^T of its symmetric leading n x n block, L below the diagonal, D on it.

    Returns True if every pivot is positive; reads and writes the lower triangle only.
    """
    for j in range(n):
        d = A[j, j]
        for k in range(j):
            d -= A[j, k] * A[j, k] * A[k, k]
        if not d > 0.0:
            return False
        A[j, j] = d
        for i in range(j + 1, n):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k] * A[k, k]
            A[i, j] = s / d
    return True


@kernel
def solve_ldl(LD, b, n):
    """b <- A^-1 b with the factors of `factor_ldl`."""
    for i in range(n):
        for k in range(i):
            b[i] -= LD[i, k] * b[k]
    for i in range(n):
        b[i] /= LD[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= LD[k, i] * b[k]


@kernel
def factor_lu(A, pivot, n):
    """A <- L U of its leading n x n block with partial pivoting; `pivot[i]` is the row swapped with row i.

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
    """b <- A^-1 b with the factors of `factor_lu`."""
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


@kernel
def invert_3(A, B):
    """B <- A^-1 of 3 x 3 by cofactors, if A is regular; returns the determinant of A. B is not A."""
    c0 = A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]
    c1 = A[1, 2] * A[2, 0] - A[1, 0] * A[2, 2]
    c2 = A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0]
    determinant = A[0, 0] * c0 + A[0, 1] * c1 + A[0, 2] * c2
    if determinant == 0.0:
        return determinant
    f = 1.0 / determinant
    B[0, 0] = f * c0
    B[1, 0] = f * c1
    B[2, 0] = f * c2
    B[0, 1] = f * (A[0, 2] * A[2, 1] - A[0, 1] * A[2, 2])
    B[1, 1] = f * (A[0, 0] * A[2, 2] - A[0, 2] * A[2, 0])
    B[2, 1] = f * (A[0, 1] * A[2, 0] - A[0, 0] * A[2, 1])
    B[0, 2] = f * (A[0, 1] * A[1, 2] - A[0, 2] * A[1, 1])
    B[1, 2] = f * (A[0, 2] * A[1, 0] - A[0, 0] * A[1, 2])
    B[2, 2] = f * (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
    return determinant


@kernel
def invert_4(A, B):
    """B <- A^-1 of 4 x 4 by the minors of its upper and lower rows, if A is regular; returns the determinant of A."""
    u01 = A[0, 0] * A[1, 1] - A[1, 0] * A[0, 1]
    u02 = A[0, 0] * A[1, 2] - A[1, 0] * A[0, 2]
    u03 = A[0, 0] * A[1, 3] - A[1, 0] * A[0, 3]
    u12 = A[0, 1] * A[1, 2] - A[1, 1] * A[0, 2]
    u13 = A[0, 1] * A[1, 3] - A[1, 1] * A[0, 3]
    u23 = A[0, 2] * A[1, 3] - A[1, 2] * A[0, 3]
    l01 = A[2, 0] * A[3, 1] - A[3, 0] * A[2, 1]
    l02 = A[2, 0] * A[3, 2] - A[3, 0] * A[2, 2]
    l03 = A[2, 0] * A[3, 3] - A[3, 0] * A[2, 3]
    l12 = A[2, 1] * A[3, 2] - A[3, 1] * A[2, 2]
    l13 = A[2, 1] * A[3, 3] - A[3, 1] * A[2, 3]
    l23 = A[2, 2] * A[3, 3] - A[3, 2] * A[2, 3]
    determinant = u01 * l23 - u02 * l13 + u03 * l12 + u12 * l03 - u13 * l02 + u23 * l01
    if determinant == 0.0:
        return determinant
    f = 1.0 / determinant
    B[0, 0] = f * (A[1, 1] * l23 - A[1, 2] * l13 + A[1, 3] * l12)
    B[0, 1] = f * (A[0, 2] * l13 - A[0, 1] * l23 - A[0, 3] * l12)
    B[0, 2] = f * (A[3, 1] * u23 - A[3, 2] * u13 + A[3, 3] * u12)
    B[0, 3] = f * (A[2, 2] * u13 - A[2, 1] * u23 - A[2, 3] * u12)
    B[1, 0] = f * (A[1, 2] * l03 - A[1, 0] * l23 - A[1, 3] * l02)
    B[1, 1] = f * (A[0, 0] * l23 - A[0, 2] * l03 + A[0, 3] * l02)
    B[1, 2] = f * (A[3, 2] * u03 - A[3, 0] * u23 - A[3, 3] * u02)
    B[1, 3] = f * (A[2, 0] * u23 - A[2, 2] * u03 + A[2, 3] * u02)
    B[2, 0] = f * (A[1, 0] * l13 - A[1, 1] * l03 + A[1, 3] * l01)
    B[2, 1] = f * (A[0, 1] * l03 - A[0, 0] * l13 - A[0, 3] * l01)
    B[2, 2] = f * (A[3, 0] * u13 - A[3, 1] * u03 + A[3, 3] * u01)
    B[2, 3] = f * (A[2, 1] * u03 - A[2, 0] * u13 - A[2, 3] * u01)
    B[3, 0] = f * (A[1, 1] * l02 - A[1, 0] * l12 - A[1, 2] * l01)
    B[3, 1] = f * (A[0, 0] * l12 - A[0, 1] * l02 + A[0, 2] * l01)
    B[3, 2] = f * (A[3, 1] * u02 - A[3, 0] * u12 - A[3, 2] * u01)
    B[3, 3] = f * (A[2, 0] * u12 - A[2, 1] * u02 + A[2, 2] * u01)
    return determinant
