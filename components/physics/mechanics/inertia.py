"""Mass data of a rigid body."""

from __future__ import annotations

from math import fabs

from dockfmu.components.core.kernel import kernel

# tolerance of the second moments over their sum: data of rods and plates are rounded, and lie on the limit
ROUNDING = 1e-7
# tolerance of two elements that should be equal, over the sum of the moments
SYMMETRY = 1e-9


@kernel
def asymmetry(inertia):
    """Return (difference, i, j) of the first elements (i, j) and (j, i), i > j, that differ, or (0.0, 0, 0).

    `inertia` is a 3x3 array of data, which may be rounded.
    """
    size = fabs(inertia[0, 0]) + fabs(inertia[1, 1]) + fabs(inertia[2, 2])
    for i in range(3):
        for j in range(i):
            difference = inertia[i, j] - inertia[j, i]
            if not fabs(difference) <= SYMMETRY * size:
                return difference, i, j
    return 0.0, 0, 0


@kernel
def possible(mass, centre, inertia):
    """Return whether some distribution of mass has this mass, centre and inertia.

    Parameters
    ----------
    mass : float
        kg.
    centre : tuple
        Centre of mass from the origin, m.
    inertia : tuple of rows
        Symmetric 3x3 inertia about the origin, kg m2.

    Returns
    -------
    bool
        Whether the second moments of mass about the centre, the integral of x x^T dm = tr(J) / 2 - J - m c c^T, are
        positive semidefinite: no principal moment of inertia exceeds the sum of the other two.
    """
    half = 0.5 * (inertia[0][0] + inertia[1][1] + inertia[2][2])
    margin = ROUNDING * half
    a = half - inertia[0][0] - mass * centre[0] * centre[0] + margin
    d = half - inertia[1][1] - mass * centre[1] * centre[1] + margin
    f = half - inertia[2][2] - mass * centre[2] * centre[2] + margin
    b = -inertia[0][1] - mass * centre[0] * centre[1]
    c = -inertia[0][2] - mass * centre[0] * centre[2]
    e = -inertia[1][2] - mass * centre[1] * centre[2]
    determinant = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d)
    return a >= 0.0 and a * d - b * b >= 0.0 and determinant >= 0.0


@kernel
def invert(A):
    """Return (inverse, True) for a symmetric positive definite 3x3 matrix A, (A, False) for any other."""
    a, b, c = A[0]
    d = A[1][1]
    e = A[1][2]
    f = A[2][2]
    minor = d * f - e * e
    det = a * minor - b * (b * f - c * e) + c * (b * e - c * d)
    good = a > 0.0 and a * d - b * b > 0.0 and det > 0.0
    if not good:
        return A, False
    g = (c * e - b * f) / det
    h = (b * e - c * d) / det
    k = (b * c - a * e) / det
    return ((minor / det, g, h), (g, (a * f - c * c) / det, k), (h, k, (a * d - b * b) / det)), True
