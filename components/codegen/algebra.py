"""Small matrix algebra over any scalars: numpy arrays of floats, of graph scalars or of SymPy expressions.

Vectors and matrices are numpy arrays, and `@` multiplies them. This module has the formulas that save operations over
plain products: the optimising formulas (П.1)-(П.3) of the source's Appendix with the errata of symbolic 3.4, symmetric
products of which one half is computed, inverses as adjugates times one reciprocal, and LDL^T with one reciprocal per
pivot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray

ZERO = np.zeros(3)
UNIT = np.eye(3)
SNAP = 1e-12


def snapped(matrix: Any) -> Array:
    """Return an array with numbers within 1e-12 of 0 or +-1 rounded to these values.

    The computed cosine of 90 deg, 6e-17, would destroy the sparsity (symbolic 4.4).
    """
    a = np.array(matrix, float)
    near = np.round(a)
    return np.where((np.abs(a - near) < SNAP) & (np.abs(near) <= 1.0), near, a)


def array(values: Any) -> Array:
    """Return an array of scalars of any kind."""
    return np.array(values, object)


def cross(a: Any, b: Any) -> Array:
    """Return the vector product a x b."""
    return array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def skew(a: Any) -> Array:
    """Return the matrix skew(a) with skew(a) b = a x b."""
    return array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def rotation(axis: int, c: Any, s: Any) -> Array:
    """Return alpha^x, alpha^y or alpha^z (axis 0, 1, 2) for a cosine and sine.

    It maps components before the rotation to components after it.
    """
    m, n = (axis + 1) % 3, (axis + 2) % 3
    a = array(UNIT)
    a[m, m] = a[n, n] = c
    a[m, n], a[n, m] = s, -s
    return a


def congruence(axis: int, c: Any, s: Any, a: Array, symmetric: bool = True) -> Array:
    """Return alpha^T A alpha for an elementary rotation, (П.2) and (П.3)."""
    k, m, n = axis, (axis + 1) % 3, (axis + 2) % 3
    cc, ss, sc = c * c, s * s, s * c
    turned = sc * (a[m, n] + a[n, m])
    spread = sc * (a[m, m] - a[n, n])
    r = array(np.zeros((3, 3)))
    r[k, k] = a[k, k]
    r[k, m], r[k, n] = c * a[k, m] - s * a[k, n], c * a[k, n] + s * a[k, m]
    if _same(a[m, m], a[n, n]):
        r[m, m], r[n, n] = a[m, m] - turned, a[n, n] + turned
    else:
        r[m, m] = cc * a[m, m] + ss * a[n, n] - turned
        r[n, n] = cc * a[n, n] + ss * a[m, m] + turned
    r[m, n] = (cc - ss) * a[m, n] + spread if symmetric else cc * a[m, n] - ss * a[n, m] + spread
    if symmetric:
        r[m, k], r[n, k], r[n, m] = r[k, m], r[k, n], r[m, n]
    else:
        r[m, k], r[n, k] = c * a[m, k] - s * a[n, k], c * a[n, k] + s * a[m, k]
        r[n, m] = cc * a[n, m] - ss * a[m, n] + spread
    return r


def _same(a: Any, b: Any) -> bool:
    """Return whether two scalars are the same symbol; values are not compared."""
    return a is b or (hasattr(a, "number") and hasattr(b, "number") and (a.sign, a.number) == (b.sign, b.number))


def squared(w: Any) -> Array:
    """Return Omega = skew(w) skew(w), (П.1)."""
    v1, v2, v3 = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    v4, v5, v6 = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return array([[-v3 - v2, v4, v5], [v4, -v3 - v1, v6], [v5, v6, -v2 - v1]])


def gyroscopic(inertia: Array, w: Any) -> Array:
    """Return w x (I w), by (П.1) where this saves operations: for a diagonal tensor (symbolic 3.4)."""
    off_diagonal = [inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    if any(not isinstance(x, float) or x != 0.0 for x in off_diagonal):
        return cross(w, inertia @ w)
    x, y, z = inertia[0, 0], inertia[1, 1], inertia[2, 2]
    return array([w[1] * w[2] * (z - y), w[0] * w[2] * (x - z), w[0] * w[1] * (y - x)])


def symmetric_product(a: Array, b: Array) -> Array:
    """Return a^T b for a result known to be symmetric: its lower half is copied."""
    n = a.shape[1]
    r = array(np.zeros((n, n)))
    for i in range(n):
        for j in range(i, n):
            r[i, j] = r[j, i] = a[:, i] @ b[:, j]
    return r


def outer_square(a: Any, factor: Any) -> Array:
    """Return a a^T factor, symmetric."""
    scaled = factor * array(a)
    return symmetric_product(array(a).reshape(1, -1), scaled.reshape(1, -1))


def determinant_and_adjugate(a: Array) -> tuple[Any, Array]:
    """Return (determinant, adjugate), 2 x 2 to 4 x 4; the inverse is the adjugate over the determinant."""
    n = len(a)
    adjugate = array(np.zeros((n, n)))
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(a, j, 0), i, 1)
            adjugate[i, j] = _determinant(minor) if (i + j) % 2 == 0 else -_determinant(minor)
    return a[0] @ adjugate[:, 0], adjugate


def _determinant(a: Array) -> Any:
    """Return a determinant, expanded along its last row so that all cofactors share the minors of the first rows."""
    n = len(a)
    if n == 1:
        return a[0, 0]
    total: Any = 0.0
    for j in range(n):
        minor = _determinant(np.delete(a[:-1], j, 1))
        total = total + a[n - 1, j] * (minor if (n - 1 + j) % 2 == 0 else -minor)
    return total


def inverse(a: Array) -> tuple[Array, Any]:
    """Return (inverse, determinant), 2 x 2 to 4 x 4, with one division."""
    determinant, adjugate = determinant_and_adjugate(a)
    return adjugate * (1.0 / determinant), determinant


def solve_symmetric(a: Array, b: Any) -> Array:
    """Return x of a x = b for a positive definite matrix by L D L^T, one division per pivot."""
    return solve_with_pivots(a, b)[0]


def solve_with_pivots(a: Array, b: Any) -> tuple[Array, list[Any]]:
    """Return (solution of `solve_symmetric`, pivots D)."""
    n = len(b)
    lower = array(np.eye(n))
    pivots: list[Any] = []
    reciprocal: list[Any] = []
    scaled = array(np.zeros((n, n)))  # L D
    for j in range(n):
        for i in range(j, n):
            value = a[i, j]
            for k in range(j):
                value = value - scaled[i, k] * lower[j, k]
            scaled[i, j] = value
        pivots.append(scaled[j, j])
        reciprocal.append(1.0 / scaled[j, j])
        for i in range(j + 1, n):
            lower[i, j] = scaled[i, j] * reciprocal[j]
    x = array(b)
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - lower[i, k] * x[k]
    for i in range(n):
        x[i] = x[i] * reciprocal[i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] = x[i] - lower[k, i] * x[k]
    return x, pivots
