"""Vectors and rotations in numpy for the reference formulations.

Rotation matrices here map components of the rotated frame to components of the frame that it is rotated in, the
transposes of `dockfmu.components.physics.mechanics.rotation` (multibody-formulations 2). Quaternions (w, x, y, z) equal
those of the product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the vector products of arrays of vectors; the last axis holds the components."""
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    return np.stack(np.broadcast_arrays(a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0), axis=-1)


def skew(a: np.ndarray) -> np.ndarray:
    """Return the matrix of a x."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def unskew(A: np.ndarray) -> np.ndarray:
    """Return the vector of the skew part of a matrix."""
    return 0.5 * np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])


def unit(a: ArrayLike) -> np.ndarray:
    """Return a vector of length 1 in the direction of a."""
    vector = np.asarray(a, dtype=float)
    return vector / np.linalg.norm(vector)


def rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """Return the matrix of the rotation about a unit vector."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def rotation_of(q: np.ndarray) -> np.ndarray:
    """Return the matrix of a quaternion of any norm but zero."""
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def quaternion_of(A: np.ndarray) -> np.ndarray:
    """Return the unit quaternion of a rotation matrix, with w >= 0."""
    # the column of 4 q q^T with the largest diagonal element
    square = np.array([np.trace(A), *(2.0 * np.diag(A) - np.trace(A))]) + 1.0
    k = int(np.argmax(square))
    x, y, z = A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]
    outer = np.array(
        [
            [square[0], x, y, z],
            [x, square[1], A[0, 1] + A[1, 0], A[0, 2] + A[2, 0]],
            [y, A[0, 1] + A[1, 0], square[2], A[1, 2] + A[2, 1]],
            [z, A[0, 2] + A[2, 0], A[1, 2] + A[2, 1], square[3]],
        ]
    )
    q = outer[k] / (2.0 * np.sqrt(square[k]))
    return q if q[0] >= 0.0 else -q


def quaternion_rate(q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the rate of a quaternion; w is the angular velocity in axes of the rotated frame."""
    return 0.5 * np.array(
        [
            -q[1] * w[0] - q[2] * w[1] - q[3] * w[2],
            q[0] * w[0] + q[2] * w[2] - q[3] * w[1],
            q[0] * w[1] + q[3] * w[0] - q[1] * w[2],
            q[0] * w[2] + q[1] * w[1] - q[2] * w[0],
        ]
    )


def turned(q: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Return the unit quaternion after a further rotation by a rotation vector in axes of the rotated frame."""
    size = float(np.linalg.norm(angle))
    w, v = np.cos(0.5 * size), 0.5 * np.sinc(0.5 * size / np.pi) * angle
    product = np.array([q[0] * w - q[1:] @ v, *(q[0] * v + w * q[1:] + cross(q[1:], v))])
    return product / np.linalg.norm(product)


def complement(axes: np.ndarray) -> np.ndarray:
    """Return orthonormal rows that complete the rows of `axes` (k x m, linearly independent) to a basis."""
    if len(axes) == 0:
        return np.eye(axes.shape[1])
    _, _, rows = np.linalg.svd(axes)
    return rows[len(axes) :]
