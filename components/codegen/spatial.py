"""Articulated bodies in the axes of the base about its origin: bodies add there without rotation or shift.

The recursions of spec/02 section 9 in six rows [angular or torque, linear or force], written once over any scalars.
They suit a tree of few heavy bodies whose loads come in the base; `tree` has the recursions of the source in body axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from components.codegen.algebra import ZERO, Array, array, cross, outer_square, skew, symmetric_product
from components.codegen.mechanism import Joint, Motion


@dataclass
class Placed:
    """One body in the base: `rotation` base -> body, `point` of its joint, `screw` of the joint per unit rate.

    Twists at the origin of the base: `velocity` relative to the base.
    """

    joint: Joint
    rotation: Array
    point: Array
    screw: Array
    velocity: Array

    @property
    def parent(self) -> int | None:
        return self.joint.body.parent


def spatial_cross(v: Any, a: Any) -> Array:
    """Rate of the twist a that is fixed in a body with the twist v."""
    w, u = v[:3], v[3:]
    return np.concatenate([cross(w, a[:3]), cross(w, a[3:]) + cross(u, a[:3])])


def dual_cross(v: Any, f: Any) -> Array:
    """Rate of the momentum or wrench f that is fixed in a body with the twist v."""
    w, u = v[:3], v[3:]
    return np.concatenate([cross(w, f[:3]) + cross(u, f[3:]), cross(w, f[3:])])


def place(tree: Sequence[Joint]) -> list[Placed]:
    """Rotations, joint points, screws and twists from coordinates and rates (source 1.2, spec/01 section 5)."""
    found: list[Placed] = []
    for joint in tree:
        body = joint.body
        parent = None if body.parent is None else found[body.parent]
        frame = array(body.mounting)
        point = joint.arm
        if parent is not None:
            frame = frame @ parent.rotation
            point = parent.point + parent.rotation.T @ point
        rotation = joint.turn @ frame
        axis = frame[body.axis]
        screw = np.concatenate([ZERO, axis]) if body.slides else np.concatenate([axis, cross(point, axis)])
        velocity = screw * joint.rate
        if parent is not None:
            velocity = parent.velocity + velocity
        found.append(Placed(joint, rotation, point, screw, velocity))
    return found


def inertia(placed: Placed) -> Array:
    """Spatial inertia (6, 6) of one body about the origin of the base."""
    body = placed.joint.body
    m, x = body.mass, placed.point
    c = placed.rotation.T @ array(body.moment)
    own = symmetric_product(placed.rotation, array(body.inertia) @ placed.rotation)
    moment = m * x + c
    # J - c x^T - x c^T - m x x^T, and the trace of what was taken off
    both = -np.outer(c, x)
    shift = both + both.T - outer_square(x, m)
    shift = own + shift - array(np.eye(3)) * (shift[0, 0] + shift[1, 1] + shift[2, 2])
    offset = skew(moment)
    return np.block([[shift, offset], [-offset, array(np.eye(3)) * m]])


def absolute(velocity: Any, base: Motion) -> Array:
    """A twist relative to the base as one in an inertial frame in which the base's origin is momentarily at rest."""
    return velocity + np.concatenate([base.angular_velocity, ZERO])


@dataclass
class Solution:
    """Accelerations of the joints and of the twists of the bodies (absolute), inertias along the joints."""

    qdd: list[Any]
    acceleration: list[Array]
    pivot: list[Any]


def accelerate(
    tree: Sequence[Placed],
    inertias: Sequence[Array],
    resistances: Sequence[Array],
    joint_forces: Sequence[Any],
    joint_damping: Sequence[Any],
    base: Motion,
) -> Solution:
    """Articulated-body algorithm (2.5.2)-(2.5.9) with errata D8 to D10.

    `inertias` and `resistances` of the single bodies: their inertia, and the wrench that they need at zero
    acceleration, less the loads. Linearly implicit dampings, coefficient times step, add to either.
    """
    M = [array(m) for m in inertias]
    p = [array(r) for r in resistances]
    twists = [absolute(body.velocity, base) for body in tree]
    coriolis = [spatial_cross(v, body.screw * body.joint.rate) for v, body in zip(twists, tree, strict=True)]
    columns: list[Array] = [array([])] * len(tree)
    pivots: list[Any] = [0.0] * len(tree)
    drives: list[Any] = [0.0] * len(tree)
    for j in range(len(tree) - 1, -1, -1):
        body = tree[j]
        U = columns[j] = M[j] @ body.screw
        pivots[j] = body.screw @ U + joint_damping[j]
        drives[j] = joint_forces[j] - body.screw @ p[j]
        if body.parent is not None:
            flexibility = 1.0 / pivots[j]
            M[body.parent] = M[body.parent] + M[j] - outer_square(U, flexibility)
            share = (drives[j] - U @ coriolis[j]) * flexibility
            p[body.parent] = p[body.parent] + p[j] + M[j] @ coriolis[j] + U * share
    start = np.concatenate([base.angular_acceleration, base.acceleration])
    accelerations: list[Array] = []
    qdd = []
    for j, body in enumerate(tree):
        a = (start if body.parent is None else accelerations[body.parent]) + coriolis[j]
        qdd.append((drives[j] - columns[j] @ a) * (1.0 / pivots[j]))
        accelerations.append(a + body.screw * qdd[-1])
    return Solution(qdd, accelerations, pivots)


def motion_wrench(inertia: Array, twist: Any, acceleration: Any = None) -> Array:
    """Wrench [torque, force] that a body needs for its absolute twist and the acceleration of it."""
    wrench = dual_cross(twist, inertia @ twist)
    return wrench if acceleration is None else wrench + inertia @ acceleration
