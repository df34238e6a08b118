"""3-vectors as tuples (x, y, z): values without memory, so that kernels need no scratch for intermediate results.

`load` and `store` convert between tuples and the arrays of a record.
"""

from __future__ import annotations

from math import sqrt

from dockfmu.components.core.kernel import kernel

ZERO = (0.0, 0.0, 0.0)


@kernel
def load(a):
    """Return the tuple of an array's first three elements."""
    return (a[0], a[1], a[2])


@kernel
def store(v, a):
    """Store a vector v in an array."""
    a[0] = v[0]
    a[1] = v[1]
    a[2] = v[2]


@kernel
def accumulate(v, a):
    """Add a vector v to an array."""
    a[0] += v[0]
    a[1] += v[1]
    a[2] += v[2]


@kernel
def add(a, b):
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def subtract(a, b):
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale(s, a):
    """Return s a."""
    return (s * a[0], s * a[1], s * a[2])


@kernel
def axpy(s, a, b):
    """Return s a + b."""
    return (s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2])


@kernel
def negate(a):
    """Return -a."""
    return (-a[0], -a[1], -a[2])


@kernel
def dot(a, b):
    """Return the scalar product a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    """Return the vector product a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def norm(a):
    """Return |a|."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel
def unit(a):
    """Return a / |a|; NaN for the zero vector."""
    n = norm(a)
    return (a[0] / n, a[1] / n, a[2] / n)
