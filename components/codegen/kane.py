"""Kane's form A qdd = b of a tree (symbolic 3.2), from the partial twists of the bodies that have mass.

Twists and wrenches are vectors of six, [angular or torque, linear or force], about the joint of a body in body axes;
accelerations are derivatives of the twist. Written once for any scalar type. The form is cheap if few bodies have mass,
and if joints have damping or inertia of their own, which fill the rows that articulated bodies (`tree`) could drop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dockfmu.components.codegen.algebra import ZERO, Array, array, cross, skew, solve_with_pivots, symmetric_product
from dockfmu.components.codegen.chain import transferred
from dockfmu.components.codegen.mechanism import Body, Joint, Motion

Tree = Sequence[Joint]


def _outward(joint: Joint, twist: Any) -> Array:
    """Return a twist of the parent, or its acceleration, transferred to the body with the joint at rest."""
    return np.concatenate([joint.out(twist[:3]), joint.out(twist[3:] + cross(twist[:3], joint.arm))])


def carried(tree: Tree, twist: Any) -> list[Array]:
    """Return the twist of the base transferred to all bodies with the joints at rest."""
    twists: list[Array] = []
    for joint in tree:
        p = joint.body.parent
        twists.append(_outward(joint, array(twist) if p is None else twists[p]))
    return twists


def partials(tree: Tree) -> list[Array]:
    """Return the matrix (6, n) of each body: its twist relative to the base per unit rate of each joint."""
    matrices: list[Array] = []
    for j, joint in enumerate(tree):
        p = joint.body.parent
        columns = array(np.zeros((6, len(tree))))
        if p is not None:
            for k in range(j):
                columns[:, k] = _outward(joint, matrices[p][:, k])
        columns[:, j] = np.concatenate([ZERO, joint.unit] if joint.body.slides else [joint.unit, ZERO])
        matrices.append(columns)
    return matrices


def coasting(tree: Tree, twists: Sequence[Array], base: Any) -> list[Array]:
    """Return the accelerations of the bodies at constant rates of the joints.

    They follow from the absolute `twists` and the acceleration `base` of the base.
    """
    accelerations: list[Array] = []
    for joint, twist in zip(tree, twists, strict=True):
        p = joint.body.parent
        w, v = twist[:3], twist[3:]
        turned = np.concatenate([cross(w, joint.spin), cross(w, joint.slip) + cross(v, joint.spin)])
        accelerations.append(_outward(joint, array(base) if p is None else accelerations[p]) + turned)
    return accelerations


def inertia(body: Body) -> Array:
    """Return the inertia (6, 6) of a single body."""
    offset = skew(body.moment)
    return np.block([[array(body.inertia), offset], [-offset, array(np.eye(3)) * body.mass]])


def motion_wrench(body: Body, twist: Any) -> Array:
    """Return the wrench that a body needs to keep its absolute `twist` constant."""
    w, v = twist[:3], twist[3:]
    momentum = body.mass * v + cross(w, body.moment)
    spin = array(body.inertia) @ w + cross(body.moment, v)
    return np.concatenate([cross(w, spin) + cross(v, momentum), cross(w, momentum)])


@dataclass
class Share:
    """Share of a body, or of an attachment to one, in the equations of a tree.

    `inertia` (m, m) and `force` (m) are along the `partial` velocities (m, n). `force` is the residual at constant
    joint rates.
    """

    partial: Array
    inertia: Array
    force: Any


def body_share(body: Body, partial: Array, twist: Any, coasting: Any, load: Any = 0.0, damping: Any = 0.0) -> Share:
    """Return the share of a body from its absolute twist, its acceleration by `coasting` and a linearly implicit load.

    `damping` (6, 6) is -d load / d twist times the step.
    """
    resisting = inertia(body) + damping
    return Share(partial, resisting, load - motion_wrench(body, twist) - resisting @ coasting)


def solve(shares: Iterable[Share], joint_forces: Any, joint_inertia: Mapping[int, Any]) -> tuple[Array, list[Any]]:
    """Return the accelerations of the joints, and the inertia about each with all joints after it free.

    `joint_inertia`, by number, is added along joints (drives, linearly implicit damping).
    """
    b = array(joint_forces)
    A = array(np.zeros((len(b), len(b))))
    for share in shares:
        A = A + symmetric_product(share.partial, share.inertia @ share.partial)
        b = b + share.partial.T @ share.force
    for j, extra in joint_inertia.items():
        A[j, j] = A[j, j] + extra
    # from the last joint to the first, as for articulated bodies
    qdd, pivots = solve_with_pivots(A[::-1, ::-1], b[::-1])
    return qdd[::-1], pivots[::-1]


def accelerate(tree: Tree, base: Motion, joint_forces: Any) -> tuple[Array, list[Array]]:
    """Return the accelerations of the joints, and the absolute accelerations of the bodies, for joint forces only."""
    between = partials(tree)
    rates = array([joint.rate for joint in tree])
    moving = carried(tree, np.concatenate([base.angular_velocity, ZERO]))
    twists = [partial @ rates + twist for partial, twist in zip(between, moving, strict=True)]
    steady = coasting(tree, twists, np.concatenate([base.angular_acceleration, base.acceleration]))
    heavy = [j for j, joint in enumerate(tree) if joint.body.heavy]
    qdd, _ = solve((body_share(tree[j].body, between[j], twists[j], steady[j]) for j in heavy), joint_forces, {})
    return qdd, [acceleration + partial @ qdd for acceleration, partial in zip(steady, between, strict=True)]


def total(tree: Tree, wrenches: Mapping[int, Array]) -> Array:
    """Return the sum of wrenches on bodies, by number, about the origin of the base in its axes."""
    on_base = array(np.zeros(6))
    sums = [wrenches.get(j, on_base) for j in range(len(tree))]
    for j in range(len(tree) - 1, -1, -1):
        force, moment = transferred(tree[j], sums[j][3:], sums[j][:3])
        moved = np.concatenate([moment, force])
        p = tree[j].body.parent
        if p is None:
            on_base = on_base + moved
        else:
            sums[p] = sums[p] + moved
    return on_base


def static_moment(tree: Tree) -> tuple[Any, Array]:
    """Return (mass, static moment about the origin of the base, in the base) of all bodies."""
    # the last member is that of the base
    masses = [joint.body.mass for joint in tree] + [0.0]
    moments = [array(joint.body.moment) for joint in tree] + [array(ZERO)]
    for j in range(len(tree) - 1, -1, -1):
        parent = tree[j].body.parent
        p = len(tree) if parent is None else parent
        masses[p] = masses[p] + masses[j]
        moments[p] = moments[p] + tree[j].back(moments[j]) + tree[j].arm * masses[j]
    return masses[-1], moments[-1]
