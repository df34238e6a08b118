"""The closed forms of `dockfmu.components.physics.linkage.closure` applied to the record of a chain of `loop_chain`.

A chain type is named by its joints from the base outward; the last one, on the node, is cut and written as constraint.
Each `close_*` takes the vector from the chain's base joint to its cut joint in frame 0 and sets cosines and sines of
the revolute joints and the stroke in `c.bodies`; `angle` gives the coordinate of a revolute joint to who wants it.
Roll, where there is one, needs the chain placed up to the body before it: `close_roll`. It keeps its coordinate.
"""

from __future__ import annotations

from math import atan2, fabs, floor, pi, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.linkage.closure import crank_joint, rod_joints, strut_joints
from dockfmu.components.physics.mechanics.rotation import apply, compose, load_matrix
from dockfmu.components.physics.mechanics.vector import load
from tests.components.physics.linkage.loop_bodies import PRISMATIC_X, REVOLUTE_X, REVOLUTE_Y, REVOLUTE_Z

UPS = (REVOLUTE_Y, REVOLUTE_Z, PRISMATIC_X)
UCU = (REVOLUTE_Y, REVOLUTE_Z, REVOLUTE_X, PRISMATIC_X)
SPU = UCU
RUS = (REVOLUTE_Z, REVOLUTE_Z, REVOLUTE_Y)
RSU = (REVOLUTE_Z, REVOLUTE_Z, REVOLUTE_Y, REVOLUTE_X)

SERIAL = (-1, 0, 1)
SERIAL_4 = (-1, 0, 1, 2)


@kernel
def angle(b, j):
    """Coordinate of the revolute joint j after a closure, -pi to pi."""
    return atan2(b.sine[j], b.cosine[j])


@kernel
def _revolute(b, j, cosine, sine):
    b.cosine[j] = cosine
    b.sine[j] = sine


@kernel
def close_strut(c, r):
    """Both joints and the stroke (last one) of a strut. Returns True if it is well-posed."""
    b = c.bodies
    closed, c1, s1, c2, s2, length = strut_joints(apply(load_matrix(b.mounting[0]), r))
    _revolute(b, 0, c1, s1)
    _revolute(b, 1, c2, s2)
    b.q[b.q.shape[0] - 1] = length - c.length
    return closed


@kernel
def close_crank(c, r):
    """The three joints of a crank `length` and a rod `rod_length`. Returns False if out of reach."""
    b = c.bodies
    closed, c1, s1, d = crank_joint(apply(load_matrix(b.mounting[0]), r), c.length, c.rod_length)
    c2, s2, c3, s3 = rod_joints(apply(load_matrix(b.mounting[1]), d))
    _revolute(b, 0, c1, s1)
    _revolute(b, 1, c2, s2)
    _revolute(b, 2, c3, s3)
    return closed


@kernel
def close_roll(c, j, node_rotation):
    """Roll about the rod of a chain that ends in a U joint, kinematics 9.3; body j turns about its x axis.

    Needs the chain placed up to body j - 1. Of the two solutions the nearer to the previous roll is taken, so that it
    runs on without a jump. Erratum K8: the source rolls about z.
    """
    b = c.bodies
    before = compose(load_matrix(b.mounting[j]), load_matrix(b.rotation[j - 1]))
    node = compose(load_matrix(c.node_axes), node_rotation)
    e = apply(before, node[2])
    g = load(c.end_axes[1])
    even = g[1] * e[1] + g[2] * e[2]
    odd = g[1] * e[2] - g[2] * e[1]
    rest = -g[0] * e[0]
    amplitude = sqrt(even * even + odd * odd)
    if not fabs(rest) < amplitude:
        return False
    side = sqrt(amplitude * amplitude - rest * rest)
    square = amplitude * amplitude
    c1, s1 = (even * rest - odd * side) / square, (odd * rest + even * side) / square
    c2, s2 = (even * rest + odd * side) / square, (odd * rest - even * side) / square
    if c2 * b.cosine[j] + s2 * b.sine[j] > c1 * b.cosine[j] + s1 * b.sine[j]:
        c1, s1 = c2, s2
    _revolute(b, j, c1, s1)
    roll = angle(b, j)
    b.q[j] = roll + 2.0 * pi * floor((b.q[j] - roll) / (2.0 * pi) + 0.5)
    return True
