"""Rotations: 3x3 matrices as tuples of rows, unit quaternions as tuples (w, x, y, z).

A matrix A_XY maps components in the parent X to components in the child Y; its rows are the child axes in parent
components, A_XZ = A_YZ A_XY. A quaternion q_XY turns the axes of X into those of Y, q_XZ = q_XY (x) q_YZ.
Angular velocities are of the child relative to the parent, in child axes. conventions section 2.
"""

from __future__ import annotations

from math import asin, atan2, cos, fabs, sin, sqrt

from dockfmu.components.core.kernel import kernel

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@kernel
def load_quaternion(a):
    """Return the tuple of an array of shape (4,)."""
    return (a[0], a[1], a[2], a[3])


@kernel
def store_quaternion(q, a):
    """Store a quaternion q in an array."""
    for i in range(4):
        a[i] = q[i]


@kernel
def load_matrix(a):
    """Return the tuple of rows of an array of shape (3, 3)."""
    return ((a[0, 0], a[0, 1], a[0, 2]), (a[1, 0], a[1, 1], a[1, 2]), (a[2, 0], a[2, 1], a[2, 2]))


@kernel
def store_matrix(A, a):
    """Store a matrix A in an array of shape (3, 3)."""
    for i in range(3):
        for j in range(3):
            a[i, j] = A[i][j]


@kernel
def apply(A, v):
    """Return A v: parent components to child components."""
    return (
        A[0][0] * v[0] + A[0][1] * v[1] + A[0][2] * v[2],
        A[1][0] * v[0] + A[1][1] * v[1] + A[1][2] * v[2],
        A[2][0] * v[0] + A[2][1] * v[1] + A[2][2] * v[2],
    )


@kernel
def apply_transposed(A, v):
    """Return A^T v: child components to parent components."""
    return (
        A[0][0] * v[0] + A[1][0] * v[1] + A[2][0] * v[2],
        A[0][1] * v[0] + A[1][1] * v[1] + A[2][1] * v[2],
        A[0][2] * v[0] + A[1][2] * v[1] + A[2][2] * v[2],
    )


@kernel
def transpose(A):
    """Return the transpose of a matrix."""
    return ((A[0][0], A[1][0], A[2][0]), (A[0][1], A[1][1], A[2][1]), (A[0][2], A[1][2], A[2][2]))


@kernel
def compose(A_YZ, A_XY):
    """Return the product A_XZ = A_YZ A_XY of two rotations."""
    X, Y, Z = A_XY
    return (
        (
            A_YZ[0][0] * X[0] + A_YZ[0][1] * Y[0] + A_YZ[0][2] * Z[0],
            A_YZ[0][0] * X[1] + A_YZ[0][1] * Y[1] + A_YZ[0][2] * Z[1],
            A_YZ[0][0] * X[2] + A_YZ[0][1] * Y[2] + A_YZ[0][2] * Z[2],
        ),
        (
            A_YZ[1][0] * X[0] + A_YZ[1][1] * Y[0] + A_YZ[1][2] * Z[0],
            A_YZ[1][0] * X[1] + A_YZ[1][1] * Y[1] + A_YZ[1][2] * Z[1],
            A_YZ[1][0] * X[2] + A_YZ[1][1] * Y[2] + A_YZ[1][2] * Z[2],
        ),
        (
            A_YZ[2][0] * X[0] + A_YZ[2][1] * Y[0] + A_YZ[2][2] * Z[0],
            A_YZ[2][0] * X[1] + A_YZ[2][1] * Y[1] + A_YZ[2][2] * Z[1],
            A_YZ[2][0] * X[2] + A_YZ[2][1] * Y[2] + A_YZ[2][2] * Z[2],
        ),
    )


@kernel
def about_x(angle):
    """Return alpha^x: the child turned by `angle` about x."""
    c = cos(angle)
    s = sin(angle)
    return ((1.0, 0.0, 0.0), (0.0, c, s), (0.0, -s, c))


@kernel
def about_y(angle):
    """Return alpha^y: the child turned by `angle` about y."""
    c = cos(angle)
    s = sin(angle)
    return ((c, 0.0, -s), (0.0, 1.0, 0.0), (s, 0.0, c))


@kernel
def about_z(angle):
    """Return alpha^z: the child turned by `angle` about z."""
    c = cos(angle)
    s = sin(angle)
    return ((c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0))


@kernel
def from_angles(yaw, pitch, roll):
    """Return A = alpha^x(roll) alpha^z(pitch) alpha^y(yaw), angles in rad."""
    return compose(about_x(roll), compose(about_z(pitch), about_y(yaw)))


@kernel
def angles(A):
    """Return (yaw, pitch, roll) of A in rad; |pitch| < 90 deg."""
    return (atan2(-A[0][2], A[0][0]), asin(max(-1.0, min(1.0, A[0][1]))), atan2(-A[2][1], A[1][1]))


@kernel
def from_quaternion(q):
    """Return the rotation matrix A of a unit quaternion."""
    w, x, y, z = q
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
        (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
        (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@kernel
def quaternion(A):
    """Return the unit quaternion of any attitude A, with w >= 0: from the largest of its four components."""
    t = A[0][0] + A[1][1] + A[2][2]
    x = A[1][2] - A[2][1]
    y = A[2][0] - A[0][2]
    z = A[0][1] - A[1][0]
    if t >= A[0][0] and t >= A[1][1] and t >= A[2][2]:
        w = 0.5 * sqrt(1.0 + t)
        return (w, x / (4.0 * w), y / (4.0 * w), z / (4.0 * w))
    if A[0][0] >= A[1][1] and A[0][0] >= A[2][2]:
        s = 0.5 * sqrt(1.0 + A[0][0] - A[1][1] - A[2][2])
        q = (x / (4.0 * s), s, (A[0][1] + A[1][0]) / (4.0 * s), (A[0][2] + A[2][0]) / (4.0 * s))
    elif A[1][1] >= A[2][2]:
        s = 0.5 * sqrt(1.0 + A[1][1] - A[2][2] - A[0][0])
        q = (y / (4.0 * s), (A[0][1] + A[1][0]) / (4.0 * s), s, (A[1][2] + A[2][1]) / (4.0 * s))
    else:
        s = 0.5 * sqrt(1.0 + A[2][2] - A[0][0] - A[1][1])
        q = (z / (4.0 * s), (A[0][2] + A[2][0]) / (4.0 * s), (A[1][2] + A[2][1]) / (4.0 * s), s)
    if q[0] < 0.0:
        return (-q[0], -q[1], -q[2], -q[3])
    return q


@kernel
def product(p, q):
    """Return the Hamilton product: q_XZ = product(q_XY, q_YZ)."""
    a, b, c, d = p
    w, x, y, z = q
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


@kernel
def conjugate(q):
    """Return the conjugate, q_YX of q_XY."""
    return (q[0], -q[1], -q[2], -q[3])


@kernel
def normalized(q):
    """Return q / |q|."""
    n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (q[0] / n, q[1] / n, q[2] / n, q[3] / n)


@kernel
def load_attitude(a):
    """Return the unit quaternion of an array whose quaternion may have any norm but zero.

    One that is unit within rounding is returned unchanged, so that normalising twice gives bitwise equal results.
    """
    q = load_quaternion(a)
    if fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0) < 1e-14:
        return q
    return normalized(q)


@kernel
def from_rotation_vector(phi):
    """Return the unit quaternion of a turn by |phi| about phi; series below 1e-4 rad, where the next term is 1e-19."""
    square = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    if square < 1e-8:
        c = 1.0 - square / 8.0
        s = 0.5 - square / 48.0
    else:
        n = sqrt(square)
        c = cos(0.5 * n)
        s = sin(0.5 * n) / n
    return (c, s * phi[0], s * phi[1], s * phi[2])


@kernel
def rotation_vector(q):
    """Return phi with q = from_rotation_vector(phi), |phi| <= pi; order (roll, yaw, pitch) for small turns."""
    w = q[0]
    sign = 1.0
    if w < 0.0:
        sign = -1.0
    s = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if s < 1e-8:
        factor = sign * 2.0
    else:
        factor = sign * 2.0 * atan2(s, fabs(w)) / s
    return (factor * q[1], factor * q[2], factor * q[3])


@kernel
def rate_matrix(phi):
    """Return J of a rotation vector phi: J phi' is the angular velocity of the child in parent axes.

    J = 1 + (1 - cos) / |phi|^2 phi~ + (|phi| - sin) / |phi|^3 phi~^2, as series: exact to |phi|^4 / 720.
    """
    x, y, z = phi
    square = x * x + y * y + z * z
    a = 0.5 - square / 24.0
    b = 1.0 / 6.0 - square / 120.0
    return (
        (1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y),
        (b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x),
        (b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y)),
    )


@kernel
def advance(q, rotation):
    """Return the attitude q after a turn by the vector `rotation` in child axes.

    It is q (x) exp(rotation / 2), renormalised.
    """
    return normalized(product(q, from_rotation_vector(rotation)))


@kernel
def continued(q, before):
    """Return q or -q, whichever is nearer to the attitude `before`, to keep outputs continuous."""
    if q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3] < 0.0:
        return (-q[0], -q[1], -q[2], -q[3])
    return q
