"""Inverses of 3 x 3 and 4 x 4 matrices as arrays of a record."""

from dockfmu.components.core.kernel import kernel


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
