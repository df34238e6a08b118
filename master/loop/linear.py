"""Small linear algebra."""

from __future__ import annotations

from master.loop.compiled import compiled


@compiled
def invert(a, inverse):
    """The inverse of `a`, which is destroyed, by Gauss and Jordan with pivots of columns.

    A direction in which `a` is singular is left out.
    """
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            inverse[i, j] = 1.0 if i == j else 0.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[pivot, k]):
                pivot = i
        for j in range(n):
            a[k, j], a[pivot, j] = a[pivot, j], a[k, j]
            inverse[k, j], inverse[pivot, j] = inverse[pivot, j], inverse[k, j]
        factor = 1.0 / a[k, k] if a[k, k] != 0.0 else 0.0
        for j in range(n):
            a[k, j] *= factor
            inverse[k, j] *= factor
        for i in range(n):
            if i != k:
                factor = a[i, k]
                for j in range(n):
                    a[i, j] -= factor * a[k, j]
                    inverse[i, j] -= factor * inverse[k, j]
