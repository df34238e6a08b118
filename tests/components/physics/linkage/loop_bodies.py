"""Rigid bodies joined one after another by one-axis joints: placement, velocities and inertia in frame 0.

Joint j leads to body j. Its frame stands on the parent body: origin at `offset`, axes turned by `mounting`
(gamma of kinematics section 5). Bodies without mass are fictitious and make joints of several axes out of simple ones.
"""

from __future__ import annotations

from math import cos, sin

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import (
    IDENTITY,
    apply_transposed,
    compose,
    load_matrix,
    store_matrix,
    transpose,
)
from dockfmu.components.physics.mechanics.spatial import lower, upper
from dockfmu.components.physics.mechanics.vector import add, axpy, cross, dot, load, scale, store

REVOLUTE_X, REVOLUTE_Y, REVOLUTE_Z, PRISMATIC_X = 0, 1, 2, 3


def bodies(count: int) -> Group:
    """`bodies`: constants, coordinates and kinematics of `count` bodies; body axes and frame 0 as said at each."""
    n = count
    return Group(
        "bodies",
        private("offset", "m", "origin of the parent -> joint, axes of the parent", shape=(n, 3)),
        private("mounting", "1", "axes of the parent -> axes of the joint", [IDENTITY] * n, shape=(n, 3, 3)),
        private("mass", "kg", "0 for a fictitious body, which then has no inertia either", shape=n),
        private("centre", "m", "centre of mass from the joint, body axes", shape=(n, 3)),
        private("inertia", "kg.m2", "about the joint, body axes", shape=(n, 3, 3)),
        private("q", "1", "joint coordinate, rad or m", shape=n),
        private("cosine", "1", "of the angle of a revolute joint", 1.0, shape=n),
        private("sine", "1", "of the angle of a revolute joint", shape=n),
        private("qd", "1/s", "rate of the joint coordinate", shape=n),
        private("qdd", "1/s2", "second derivative of the joint coordinate", shape=n),
        private("rotation", "1", "frame 0 -> body", [IDENTITY] * n, shape=(n, 3, 3)),
        private("point", "m", "joint in frame 0", shape=(n, 3)),
        private("screw", "1", "joint axis as a twist per unit rate", shape=(n, 6)),
        private("velocity", "1", "twist relative to frame 0, rad/s and m/s", shape=(n, 6)),
        private("bias", "1", "acceleration relative to frame 0 without the qdd, rad/s2 and m/s2", shape=(n, 6)),
        private("first_moment", "kg.m", "mass times centre of mass, about O_0, frame 0", shape=(n, 3)),
        private("moment_of_inertia", "kg.m2", "about O_0, frame 0", shape=(n, 3, 3)),
    )


@kernel
def put(u, v, a):
    """a <- [u, v]"""
    for i in range(3):
        a[i] = u[i]
        a[3 + i] = v[i]


@kernel
def angles(b, joints):
    """Cosines and sines of the revolute joints from their coordinates."""
    for j in range(len(joints)):
        if joints[j] < PRISMATIC_X:
            b.cosine[j] = cos(b.q[j])
            b.sine[j] = sin(b.q[j])


@kernel
def turned(axis, c, s, A):
    """Elementary rotation about `axis` (0, 1, 2) with cosine c and sine s, times A."""
    x, y, z = A
    if axis == 0:
        return (x, axpy(s, z, scale(c, y)), axpy(-s, y, scale(c, z)))
    if axis == 1:
        return (axpy(-s, z, scale(c, x)), y, axpy(s, x, scale(c, z)))
    return (axpy(s, y, scale(c, x)), axpy(-s, x, scale(c, y)), z)


@kernel
def place(b, parents, joints):
    """Rotations, joint points and screws from coordinates, cosines and sines (source 1.2, kinematics section 5)."""
    for j in range(len(joints)):
        p = parents[j]
        joint = joints[j]
        A = load_matrix(b.mounting[j])
        x = load(b.offset[j])
        if p >= 0:
            parent = load_matrix(b.rotation[p])
            x = add(load(b.point[p]), apply_transposed(parent, x))
            A = compose(A, parent)
        if joint < PRISMATIC_X:
            A = turned(joint, b.cosine[j], b.sine[j], A)
            axis = A[joint]
            put(axis, cross(x, axis), b.screw[j])
        else:
            axis = A[0]
            x = axpy(b.q[j], axis, x)
            put((0.0, 0.0, 0.0), axis, b.screw[j])
        store_matrix(A, b.rotation[j])
        store(x, b.point[j])


@kernel
def move(b, parents):
    """Twists and accelerations without the qdd, relative to frame 0, from the rates."""
    for j in range(len(parents)):
        p = parents[j]
        rate = b.qd[j]
        w = scale(rate, upper(b.screw[j]))
        v = scale(rate, lower(b.screw[j]))
        angular = w
        linear = v
        e = (0.0, 0.0, 0.0)
        a = (0.0, 0.0, 0.0)
        if p >= 0:
            angular = add(upper(b.velocity[p]), w)
            linear = add(lower(b.velocity[p]), v)
            e = add(upper(b.bias[p]), cross(angular, w))
            a = add(lower(b.bias[p]), add(cross(angular, v), cross(linear, w)))
        put(angular, linear, b.velocity[j])
        put(e, a, b.bias[j])


@kernel
def weigh(b):
    """First moments and moments of inertia about O_0 in frame 0, of bodies that have mass."""
    for j in range(b.mass.shape[0]):
        m = b.mass[j]
        if m > 0.0:
            A = load_matrix(b.rotation[j])
            x = load(b.point[j])
            c = scale(m, apply_transposed(A, load(b.centre[j])))
            J = compose(transpose(A), compose(load_matrix(b.inertia[j]), A))
            diagonal = 2.0 * dot(x, c) + m * dot(x, x)
            for i in range(3):
                b.first_moment[j, i] = m * x[i] + c[i]
                for k in range(3):
                    b.moment_of_inertia[j, i, k] = J[i][k] - c[i] * x[k] - x[i] * c[k] - m * x[i] * x[k]
                b.moment_of_inertia[j, i, i] += diagonal


@kernel
def times(J, w):
    """J w, for an array J of shape (3, 3)."""
    return (
        J[0, 0] * w[0] + J[0, 1] * w[1] + J[0, 2] * w[2],
        J[1, 0] * w[0] + J[1, 1] * w[1] + J[1, 2] * w[2],
        J[2, 0] * w[0] + J[2, 1] * w[1] + J[2, 2] * w[2],
    )


@kernel
def momentum(b, j, w, v):
    """(angular momentum about O_0, momentum) of body j with the twist (w, v)."""
    h = load(b.first_moment[j])
    return add(times(b.moment_of_inertia[j], w), cross(h, v)), axpy(b.mass[j], v, cross(w, h))


@kernel
def inertia_wrench(b, j, w, v, e, a):
    """(torque about O_0, force) that body j needs for the twist (w, v) and the acceleration (e, a) of that twist."""
    L, P = momentum(b, j, w, v)
    h = load(b.first_moment[j])
    torque = add(add(times(b.moment_of_inertia[j], e), cross(h, a)), add(cross(w, L), cross(v, P)))
    force = add(axpy(b.mass[j], a, cross(e, h)), cross(w, P))
    return torque, force


@kernel
def absolute_velocity(b, j, omega0):
    """Twist of body j in an inertial frame in which O_0 is momentarily at rest."""
    return add(upper(b.velocity[j]), omega0), lower(b.velocity[j])


@kernel
def absolute_bias(b, j, omega0, epsilon0, acceleration0):
    """Acceleration of body j's absolute twist with all qdd = 0: that of the base, and what its rotation adds."""
    e = add(add(upper(b.bias[j]), epsilon0), cross(omega0, upper(b.velocity[j])))
    a = add(add(lower(b.bias[j]), acceleration0), cross(omega0, lower(b.velocity[j])))
    return e, a
