"""Articulated inertia of a link: T, S, J with force = T a + S e, torque = S^T a + J e (multibody-formulations 3.5).

T and J are symmetric, the upper triangle by rows in six numbers; S has nine by rows. a is the acceleration of the
reference point of the link, e its angular acceleration.
"""

from __future__ import annotations

from dockfmu.components.core.inlining import inlined
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.vector import add, cross, load, subtract


@kernel
def times(t, v):
    """Return the product of a symmetric matrix, its upper triangle by rows, with a vector."""
    return (
        t[0] * v[0] + t[1] * v[1] + t[2] * v[2],
        t[1] * v[0] + t[3] * v[1] + t[4] * v[2],
        t[2] * v[0] + t[4] * v[1] + t[5] * v[2],
    )


@kernel
def row_times(s, v):
    """Return S v, S of nine numbers by rows."""
    return (
        s[0] * v[0] + s[1] * v[1] + s[2] * v[2],
        s[3] * v[0] + s[4] * v[1] + s[5] * v[2],
        s[6] * v[0] + s[7] * v[1] + s[8] * v[2],
    )


@kernel
def column_times(s, v):
    """Return S^T v."""
    return (
        s[0] * v[0] + s[3] * v[1] + s[6] * v[2],
        s[1] * v[0] + s[4] * v[1] + s[7] * v[2],
        s[2] * v[0] + s[5] * v[1] + s[8] * v[2],
    )


@kernel
def inverse_of(t):
    """Return the inverse of a symmetric matrix of six numbers, by its cofactors."""
    a = t[3] * t[5] - t[4] * t[4]
    b = t[2] * t[4] - t[1] * t[5]
    c = t[1] * t[4] - t[2] * t[3]
    d = 1.0 / (t[0] * a + t[1] * b + t[2] * c)
    return (
        d * a,
        d * b,
        d * c,
        d * (t[0] * t[5] - t[2] * t[2]),
        d * (t[1] * t[2] - t[0] * t[4]),
        d * (t[0] * t[3] - t[1] * t[1]),
    )


@kernel
def six(a):
    """Return an array of six numbers as a tuple."""
    return (a[0], a[1], a[2], a[3], a[4], a[5])


@kernel
def nine(a):
    """Return an array of nine numbers as a tuple."""
    return (a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8])


@inlined
def pass_on(T, S, J, f, t, r, p):
    """Add an articulated inertia and a wrench about a point at r from the reference point of link p to those of p."""
    # S' = S - T r~, row by row; J' = J - S^T r~ + r~ S'
    n0 = subtract((S[0], S[1], S[2]), cross((T[0], T[1], T[2]), r))
    n1 = subtract((S[3], S[4], S[5]), cross((T[1], T[3], T[4]), r))
    n2 = subtract((S[6], S[7], S[8]), cross((T[2], T[4], T[5]), r))
    for i in range(6):
        p.tt[i] += T[i]
    p.tr[0] += n0[0]
    p.tr[1] += n0[1]
    p.tr[2] += n0[2]
    p.tr[3] += n1[0]
    p.tr[4] += n1[1]
    p.tr[5] += n1[2]
    p.tr[6] += n2[0]
    p.tr[7] += n2[1]
    p.tr[8] += n2[2]
    # rows of S^T r~ are (column of S) x r
    x, y, z = r
    p.rr[0] += J[0] - (S[3] * z - S[6] * y) + (y * n2[0] - z * n1[0])
    p.rr[1] += J[1] - (S[6] * x - S[0] * z) + (y * n2[1] - z * n1[1])
    p.rr[2] += J[2] - (S[0] * y - S[3] * x) + (y * n2[2] - z * n1[2])
    p.rr[3] += J[3] - (S[7] * x - S[1] * z) + (z * n0[1] - x * n2[1])
    p.rr[4] += J[4] - (S[1] * y - S[4] * x) + (z * n0[2] - x * n2[2])
    p.rr[5] += J[5] - (S[2] * y - S[5] * x) + (x * n1[2] - y * n0[2])
    for i in range(3):
        p.force[i] += f[i]
    p.torque[0] += t[0] + y * f[2] - z * f[1]
    p.torque[1] += t[1] + z * f[0] - x * f[2]
    p.torque[2] += t[2] + x * f[1] - y * f[0]


@kernel
def resisted(T, S, J, a, e):
    """Return (force, torque) of an articulated inertia that moves with the accelerations a, e."""
    return add(times(T, a), row_times(S, e)), add(column_times(S, a), times(J, e))


@kernel
def passed_wrench(b):
    """Return the wrench (force, torque), axes I, that a link and all beyond it exert on what carries it.

    It is about the reference point of the link, after `links.accelerate`; for the base, link 0, that of the system.
    """
    force, torque = resisted(six(b.tt), nine(b.tr), six(b.rr), load(b.acceleration), load(b.angular_acceleration))
    return subtract(load(b.force), force), subtract(load(b.torque), torque)


@kernel
def with_free_rotation(T, S, inverse):
    """Return T - S J^-1 S^T, what resists an acceleration where the rotation is free; `inverse` is J^-1."""
    k0 = times(inverse, (S[0], S[1], S[2]))
    k1 = times(inverse, (S[3], S[4], S[5]))
    k2 = times(inverse, (S[6], S[7], S[8]))
    return (
        T[0] - (S[0] * k0[0] + S[1] * k0[1] + S[2] * k0[2]),
        T[1] - (S[0] * k1[0] + S[1] * k1[1] + S[2] * k1[2]),
        T[2] - (S[0] * k2[0] + S[1] * k2[1] + S[2] * k2[2]),
        T[3] - (S[3] * k1[0] + S[4] * k1[1] + S[5] * k1[2]),
        T[4] - (S[3] * k2[0] + S[4] * k2[1] + S[5] * k2[2]),
        T[5] - (S[6] * k2[0] + S[7] * k2[1] + S[8] * k2[2]),
    )


@kernel
def free_acceleration(T, S, J, f, t):
    """Return (acceleration, angular acceleration) of an articulated inertia under a wrench."""
    inverse = inverse_of(J)
    a = times(inverse_of(with_free_rotation(T, S, inverse)), subtract(f, row_times(S, times(inverse, t))))
    return a, times(inverse, subtract(t, column_times(S, a)))
