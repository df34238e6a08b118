"""The same multibody models in Pinocchio, an independent engine."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pinocchio as pin

from dockfmu.components.multibody.model import BASE, Model, Mounting, MultibodyJoint
from dockfmu.components.physics.mechanics.rotation import from_quaternion

Engine = tuple[pin.Model, dict[str, int], np.ndarray, np.ndarray]


def placement(mounting: Mounting) -> pin.SE3:
    """Return the joint frame in the body frame; Pinocchio's rotations map child to parent components."""
    return pin.SE3(np.array(mounting.rotation).T, np.array(mounting.point))


def _kind(joint: MultibodyJoint) -> pin.JointModel:
    if joint.kind == "cylindrical":
        both = pin.JointModelComposite(pin.JointModelRZ())
        both.addJoint(pin.JointModelPZ())
        return both
    return {
        "revolute": pin.JointModelRZ,
        "prismatic": pin.JointModelPZ,
        "screw": lambda: pin.JointModelHZ(joint.pitch / (2.0 * pi)),
        "universal": lambda: pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1]),
        "planar": pin.JointModelPlanar,
        "spherical": pin.JointModelSpherical,
        "free": pin.JointModelFreeFlyer,
    }[joint.kind]()


def _state(joint: MultibodyJoint) -> tuple[list[float], list[float]]:
    q, v = map(list, joint.start)
    if joint.kind == "planar":
        c, s = cos(q[2]), sin(q[2])
        return [q[0], q[1], c, s], [c * v[0] + s * v[1], c * v[1] - s * v[0], v[2]]
    if joint.kind in ("spherical", "free"):
        w, x, y, z = q[-4:]
        if joint.kind == "free":
            v[:3] = (np.array(from_quaternion((w, x, y, z))) @ v[:3]).tolist()
        q = [*q[:-4], x, y, z, w]
    return q, v


def in_pinocchio(model: Model) -> Engine:
    """Return (model, joint of each body, q, v). The joints are all directed outward, in the order of their bodies."""
    engine = pin.Model()
    engine.gravity.linear = np.array(model.gravity)
    joints = {BASE: (0, pin.SE3.Identity())}
    q: list[float] = []
    v: list[float] = []
    masses = {body.name: body for body in model.bodies}
    for joint in model.tree:
        parent, body_in_parent = joints[joint.predecessor]
        where = body_in_parent * placement(joint.on_predecessor)
        body, before = masses[joint.successor], placement(joint.on_successor).inverse()
        if joint.kind == "fixed":
            number, body_in_joint = parent, where * before
        else:
            number, body_in_joint = engine.addJoint(parent, _kind(joint), where, joint.name), before
            q_joint, v_joint = _state(joint)
            q += q_joint
            v += v_joint
        inertia = pin.Inertia(body.mass, np.array(body.center), np.array(body.inertia))
        engine.appendBodyToJoint(number, inertia, body_in_joint)
        engine.addFrame(pin.Frame(body.name, number, body_in_joint, pin.FrameType.OP_FRAME))
        joints[joint.successor] = number, body_in_joint
    return engine, {name: number for name, (number, _) in joints.items()}, np.array(q), np.array(v)


def body_accelerations(model: Model) -> dict[str, np.ndarray]:
    """Return (acceleration of the origin, angular acceleration) of each body in axes of I, free of joint forces."""
    engine, _, q, v = in_pinocchio(model)
    data = engine.createData()
    pin.aba(engine, data, q, v, np.zeros(engine.nv))
    a = data.ddq.copy()
    pin.forwardKinematics(engine, data, q, v, a)
    pin.updateFramePlacements(engine, data)
    out = {}
    for body in model.bodies:
        frame = engine.getFrameId(body.name)
        found = pin.getFrameClassicalAcceleration(engine, data, frame, pin.LOCAL_WORLD_ALIGNED)
        out[body.name] = np.hstack([found.linear, found.angular])
    return out
