"""A declared model as a system of the reference formulations, with the same coordinates and rates."""

from __future__ import annotations

from math import pi

import numpy as np

from dockfmu.components.multibody.declaration.problems import ModelError
from dockfmu.components.multibody.model import BASE, CONSTRAINTS, Kind, Model, Mounting, MultibodyJoint
from dockfmu.components.multibody.reference.constraints import NonHolonomic
from dockfmu.components.multibody.reference.joints import AxisMotion, JointMotion, QuaternionMotion
from dockfmu.components.multibody.reference.rolling import knife_edge, rolling_ball, rolling_disc
from dockfmu.components.multibody.reference.system import JointArc, JointSide, ReferenceBody, RigidSystem

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def motion_of(kind: Kind, pitch: float = 0.0) -> JointMotion:
    """Return the motion of a kind of joint, with the axes that the model gives it."""
    motions: dict[Kind, JointMotion] = {
        "fixed": AxisMotion(),
        "revolute": AxisMotion((Z,)),
        "prismatic": AxisMotion((), (Z,)),
        "screw": AxisMotion((Z,), (), pitch / (2.0 * pi)),
        "cylindrical": AxisMotion((Z,), (Z,)),
        "universal": AxisMotion((X, Y)),
        "planar": AxisMotion((Z,), (X, Y), displacements_first=True),
        "spherical": QuaternionMotion(),
        "free": QuaternionMotion((X, Y, Z)),
    }
    return motions["free" if kind in CONSTRAINTS else kind]


def rows_of_kind(joint: MultibodyJoint) -> NonHolonomic | None:
    """Return the rows on velocities of a kind that is a constraint alone."""
    if joint.kind == "knife_edge":
        return knife_edge
    if joint.kind == "rolling_disc":
        return rolling_disc(joint.radius)
    return rolling_ball(joint.radius) if joint.kind == "rolling_ball" else None


def rigid_system(model: Model) -> RigidSystem:
    """Return the bodies and joints of a model; joints of the tree and cut joints are in the order of the model.

    Raises ModelError for elastic bodies, of which these formulations know nothing.
    """
    elastic = [body.name for body in model.bodies if body.elastic is not None]
    if elastic:
        raise ModelError(
            [f"bodies.{name}: is elastic; the analysis of a declaration takes rigid bodies" for name in elastic]
        )
    number = {BASE: 0, **{body.name: k for k, body in enumerate(model.bodies, 1)}}
    centers = {BASE: np.zeros(3), **{body.name: np.array(body.center) for body in model.bodies}}

    def side(mounting: Mounting, body: str) -> JointSide:
        # a mounting maps body to joint components, a side joint to body components
        return JointSide(np.array(mounting.point) - centers[body], np.array(mounting.rotation).T)

    def arc(joint: MultibodyJoint) -> JointArc:
        return JointArc(
            joint.name,
            number[joint.predecessor],
            number[joint.successor],
            motion_of(joint.kind, joint.pitch),
            side(joint.on_predecessor, joint.predecessor),
            side(joint.on_successor, joint.successor),
            rows_of_kind(joint),
        )

    bodies = tuple(ReferenceBody(body.name, body.mass, np.array(body.inertia)) for body in model.bodies)
    return RigidSystem(bodies, tuple(map(arc, model.tree)), tuple(map(arc, model.cuts)))
