"""Articulated bodies in body axes: the recursions (2.5.2) to (2.5.9) of the source, dynamics D9, with errata D8 to D10.

Written once for any scalar type. Rows of an articulated inertia that a joint removes are zero from then on, and only
one half of a symmetric block is computed (symbolic 3.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dockfmu.components.codegen.algebra import (
    ZERO,
    Array,
    array,
    congruence,
    cross,
    gyroscopic,
    skew,
    squared,
    symmetric_product,
)
from dockfmu.components.codegen.mechanism import Joint, Motion

Tree = Sequence[Joint]


@dataclass
class Inertia:
    """Articulated inertia about the joint, body axes: symmetric `tt` and `rr`; `tr`, force per angular acceleration."""

    tt: Array
    tr: Array
    rr: Array

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.tt + other.tt, self.tr + other.tr, self.rr + other.rr)

    def without(self, joint: Joint, pivot: Any, vanishes: bool) -> Inertia:
        """Return N of (2.5.3), (2.5.4), the inertia left by a free joint; `pivot` is the inertia along the joint.

        If `vanishes`, nothing was added along the joint, and its row and column are zero and are not computed.
        """
        return self.less(joint, 1.0 / pivot, vanishes)

    def less(self, joint: Joint, mobility: Any, vanishes: bool = False) -> Inertia:
        """Return N as `without` does, for a joint with this `mobility`, 1 / pivot; 0 for a locked joint."""
        a = joint.body.axis
        slides = joint.body.slides
        t, r = self.column(joint)
        ts, rs = t * mobility, r * mobility
        gone_t, gone_r = (a, -1) if slides else (-1, a)
        if not vanishes:
            gone_t = gone_r = -1
        tt, tr, rr = (array(np.zeros((3, 3))) for _ in range(3))
        for i in range(3):
            for k in range(3):
                if k >= i and gone_t not in (i, k):
                    tt[i, k] = tt[k, i] = self.tt[i, k] - ts[i] * t[k]
                if k >= i and gone_r not in (i, k):
                    rr[i, k] = rr[k, i] = self.rr[i, k] - rs[i] * r[k]
                if i != gone_t and k != gone_r:
                    tr[i, k] = self.tr[i, k] - ts[i] * r[k]
        return Inertia(tt, tr, rr)

    def back(self, joint: Joint) -> Inertia:
        """Return the inertia transferred to the parent: rotated (2.5.5), moved by the arm (2.5.7) with erratum D8."""
        tt, tr, rr = self.tt, self.tr, self.rr
        if not joint.body.slides:
            c, s, axis = joint.cosine, joint.sine, joint.body.axis
            tt, rr = congruence(axis, c, s, tt), congruence(axis, c, s, rr)
            tr = congruence(axis, c, s, tr, symmetric=False)
        g = array(joint.body.mounting)
        if not _is_unit(g):
            tt, rr = symmetric_product(g, tt @ g), symmetric_product(g, rr @ g)
            tr = g.T @ tr @ g
        r = joint.arm
        moved = tt @ skew(r).T
        both = array(np.zeros((3, 3)))
        near = skew(r) @ moved
        crossed = tr.T @ skew(r).T
        for i in range(3):
            for k in range(i, 3):
                both[i, k] = both[k, i] = near[i, k] + crossed[i, k] + crossed[k, i] + rr[i, k]
        return Inertia(tt, moved + tr, both)

    def effort(self, linear: Any, angular: Any) -> tuple[Array, Array]:
        """Return (force, moment) for an acceleration."""
        return self.tt @ linear + self.tr @ angular, self.tr.T @ linear + self.rr @ angular

    def column(self, joint: Joint) -> tuple[Array, Array]:
        """Return (force, moment) for a unit acceleration of the joint."""
        a = joint.body.axis
        return (self.tt[:, a], self.tr[a, :]) if joint.body.slides else (self.tr[:, a], self.rr[:, a])

    def along(self, joint: Joint) -> Any:
        """Return the inertia along the joint."""
        return (self.tt if joint.body.slides else self.rr)[joint.body.axis, joint.body.axis]


def _is_unit(a: Array) -> bool:
    return all(isinstance(x, float) for x in a.ravel()) and bool(np.all(a == np.eye(3)))


def own_inertia(joint: Joint) -> Inertia:
    """Return the inertia of the single body."""
    body = joint.body
    return Inertia(array(np.eye(3)) * body.mass, skew(body.moment).T, array(body.inertia))


@dataclass
class Load:
    """Wrench on a body about its joint, body axes, and its added inertia, from dependent chains or implicit damping."""

    force: Any
    moment: Any
    inertia: Inertia | None = None


@dataclass
class Solution:
    """Joint accelerations, absolute accelerations (linear, angular) of the bodies, and the wrench on the base.

    `root` is the articulated inertia felt by the base: M_A of the affine response, dynamics section 11.
    """

    qdd: list[Any]
    acceleration: list[tuple[Array, Array]]
    pivot: list[Any]
    force: Array
    moment: Array
    root: Inertia


def accelerate(
    tree: Tree,
    base: Motion,
    joint_forces: Any,
    loads: dict[int, Load] | None = None,
    joint_inertia: dict[int, Any] | None = None,
) -> Solution:
    """Return the accelerations of a tree on a moving base.

    `joint_forces` act along the joints. `loads` act on bodies and `joint_inertia` is added along joints (drives,
    implicit damping), both by number. The wrench on the base is that of (2.5.7) with the missing term of erratum D10.
    """
    n = len(tree)
    loads = loads or {}
    extra = joint_inertia or {}
    spins: list[Array] = []
    linear: list[Array] = []
    angular: list[Array] = []
    M: list[Inertia] = []
    force: list[Array] = []
    moment: list[Array] = []
    for j, joint in enumerate(tree):
        p = joint.body.parent
        motion = Motion(base.angular_velocity if p is None else spins[p]).after(joint)
        spins.append(motion.angular_velocity)
        linear.append(motion.acceleration)
        angular.append(motion.angular_acceleration)
        w = motion.angular_velocity
        load = loads.get(j, Load(array(ZERO), array(ZERO)))
        M.append(own_inertia(joint) if load.inertia is None else own_inertia(joint) + load.inertia)
        force.append(load.force - squared(w) @ array(joint.body.moment))
        moment.append(load.moment - gyroscopic(array(joint.body.inertia), w))
    pivot: list[Any] = [0.0] * n
    drive: list[Any] = [0.0] * n
    root = Inertia(*(array(np.zeros((3, 3))) for _ in range(3)))
    root_force, root_moment = array(ZERO), array(ZERO)
    for j in range(n - 1, -1, -1):
        joint = tree[j]
        a = joint.body.axis
        pivot[j] = M[j].along(joint) + extra.get(j, 0.0)
        drive[j] = (joint_forces[j] + (force[j] if joint.body.slides else moment[j])[a]) * (1.0 / pivot[j])
        N = M[j].without(joint, pivot[j], j not in extra)
        passed_force, passed_moment = N.effort(linear[j], angular[j])
        along_force, along_moment = M[j].column(joint)
        passed_force = passed_force + along_force * drive[j] - force[j]
        passed_moment = passed_moment + along_moment * drive[j] - moment[j]
        moved_force = -joint.back(passed_force)
        moved_moment = -joint.back(passed_moment) + cross(joint.arm, moved_force)
        moved = N.back(joint)
        p = joint.body.parent
        if p is None:
            root, root_force, root_moment = root + moved, root_force + moved_force, root_moment + moved_moment
        else:
            M[p], force[p], moment[p] = M[p] + moved, force[p] + moved_force, moment[p] + moved_moment
    accelerations: list[tuple[Array, Array]] = []
    qdd = []
    for j, joint in enumerate(tree):
        p = joint.body.parent
        v, e = (base.acceleration, base.angular_acceleration) if p is None else accelerations[p]
        v = joint.out(array(v) + cross(e, joint.arm)) + linear[j]
        e = joint.out(e) + angular[j]
        along_force, along_moment = M[j].column(joint)
        qdd.append(drive[j] - (along_force @ v + along_moment @ e) * (1.0 / pivot[j]))
        along = joint.unit * qdd[-1]
        accelerations.append((v + along, e) if joint.body.slides else (v, e + along))
    lost_force, lost_moment = root.effort(array(base.acceleration), array(base.angular_acceleration))
    return Solution(qdd, accelerations, pivot, root_force - lost_force, root_moment - lost_moment, root)
