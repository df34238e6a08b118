"""Rotations in numpy, written for the tests: nothing here is shared with the kernels.

A quaternion (w, x, y, z) turns the axes of a parent into those of its child; `matrix` maps components in the child to
components in the parent, the transpose of the A of conventions section 2.
"""

import numpy as np


def product(p, q):
    """Hamilton product of quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(np.asarray(p), -1, 0)
    rows = [[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]
    return np.einsum("ij...,...j->...i", np.array(rows), q)


def conjugate(q):
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def matrix(q):
    """Components in the child -> components in the parent: v' = q v q*; one matrix (..., 3, 3) a quaternion."""
    columns = [product(product(q, np.array([0.0, *axis])), conjugate(q))[..., 1:] for axis in np.eye(3)]
    return np.stack(columns, -1)


def quaternion(r):
    """Quaternion of a rotation matrix: the eigenvector of its symmetric 4x4 form for the largest eigenvalue."""
    (a, b, c), (d, e, f), (g, h, i) = r
    form = np.array(
        [
            [a + e + i, h - f, c - g, d - b],
            [h - f, a - e - i, b + d, c + g],
            [c - g, b + d, e - a - i, f + h],
            [d - b, c + g, f + h, i - a - e],
        ]
    )
    vector = np.linalg.eigh(form / 3.0)[1][:, -1]
    return vector if vector[0] >= 0.0 else -vector


def about(axis, angle):
    """Quaternion of a turn about a coordinate axis, 0 to 2."""
    q = np.zeros(4)
    q[0], q[1 + axis] = np.cos(angle / 2), np.sin(angle / 2)
    return q


def from_angles(yaw, pitch, roll):
    """Quaternion of the angles of conventions section 2: yaw about y, then pitch about z, then roll about x."""
    return product(product(about(1, yaw), about(2, pitch)), about(0, roll))


def to_angles(q):
    """Yaw, pitch, roll of a quaternion: the x axis of the child gives yaw and pitch, its y axis the roll."""
    r = matrix(q)
    x = r[:, 0]
    pitch = np.arcsin(np.clip(x[1], -1.0, 1.0))
    yaw = np.arctan2(-x[2], x[0])
    rest = matrix(product(conjugate(product(about(1, yaw), about(2, pitch))), q))
    return np.array([yaw, pitch, np.arctan2(rest[2, 1], rest[1, 1])])


def random_rotation(random):
    q = random.normal(size=4)
    return q / np.linalg.norm(q)
