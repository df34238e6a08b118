"""Random systems of rigid bodies: trees and loops of all kinds of joints, with random mountings and directions."""

import numpy as np

from dockfmu.components.multibody.reference import joints
from dockfmu.components.multibody.reference.algebra import rotation, unit
from dockfmu.components.multibody.reference.kinematics import follow
from dockfmu.components.multibody.reference.system import BaseMotion, JointArc, JointSide, ReferenceBody, RigidSystem

KINDS = (
    "fixed", "revolute", "prismatic", "cylindrical", "screw", "universal", "gimbal", "planar", "spherical", "free",
)  # fmt: skip


def direction(rng):
    return unit(rng.normal(size=3))


def attitude(rng):
    return rotation(direction(rng), rng.uniform(-np.pi, np.pi))


def motion_of(kind, rng):
    axis = direction(rng)
    if kind == "screw":
        return joints.screw(axis, rng.uniform(0.05, 0.5))
    if kind == "universal":
        # any angle between the axes but a small one
        return joints.universal(axis, direction(rng) + 2.0 * np.cross(axis, direction(rng)))
    if kind == "gimbal":
        return joints.gimbal(*np.linalg.qr(rng.normal(size=(3, 3)))[0])
    if kind in ("fixed", "spherical", "free"):
        return getattr(joints, kind)()
    return getattr(joints, kind)(axis)


def body(name, rng):
    """Return a body whose inertia belongs to some distribution of mass."""
    spread = attitude(rng)
    second = spread @ np.diag(rng.uniform(0.02, 0.3, size=3)) @ spread.T
    mass = rng.uniform(0.5, 3.0)
    return ReferenceBody(name, mass, mass * (np.trace(second) * np.eye(3) - second))


def side(rng):
    return JointSide(rng.uniform(-0.6, 0.6, size=3), attitude(rng))


def tree(rng, bodies=6, kinds=KINDS, turned=True):
    """Return a tree with bodies before at random, and arcs in random directions if `turned`."""
    arcs = []
    for k in range(1, bodies + 1):
        ends = [int(rng.integers(max(0, k - 4), k)), k]
        if turned and rng.random() < 0.5:
            ends.reverse()
        arcs.append(JointArc(f"joint{k}", *ends, motion_of(rng.choice(kinds), rng), side(rng), side(rng)))
    return RigidSystem(tuple(body(f"body{k}", rng) for k in range(1, bodies + 1)), tuple(arcs))


def state(system, rng, still=False):
    """Return random coordinates, away from the singular poses of gimbals, and rates."""
    q = []
    for joint in system.joints:
        part = rng.uniform(-1.0, 1.0, size=joint.motion.positions)
        if isinstance(joint.motion, joints.QuaternionMotion):
            part[-4:] = unit(rng.normal(size=4))
        q.append(part)
    return np.concatenate(q), rng.normal(size=system.rates) * (0.0 if still else 1.0)


def moving_base(rng):
    return BaseMotion(rng.normal(size=3), attitude(rng), *rng.normal(size=(4, 3)))


def closed(rng, kind, bodies=5, kinds=KINDS, turned=True):
    """Return (system, q) of a tree with a cut joint of a kind, closed in the pose q."""
    open_system = tree(rng, bodies, kinds, turned)
    q, u = state(open_system, rng, still=True)
    motion = follow(open_system, q, u)
    one, other = (int(k) for k in rng.choice(np.arange(bodies + 1), size=2, replace=False))
    motion_in_cut = motion_of(kind, rng)
    in_cut = rng.uniform(-1.0, 1.0, size=motion_in_cut.positions)
    if isinstance(motion_in_cut, joints.QuaternionMotion):
        in_cut[-4:] = unit(rng.normal(size=4))
    relative = motion_in_cut.evaluate(in_cut, np.zeros(motion_in_cut.rates), 0.0)
    plus = side(rng)
    F = motion.A[one] @ plus.R
    point = motion.r[one] + motion.A[one] @ plus.point + F @ relative.z
    minus = JointSide(motion.A[other].T @ (point - motion.r[other]), motion.A[other].T @ F @ relative.R)
    cut = JointArc("cut", one, other, motion_in_cut, plus, minus)
    return RigidSystem(open_system.bodies, open_system.joints, (cut,)), q
