"""A declared model as a system of the reference formulations, with the same coordinates and rates."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np

from dockfmu.components.multibody.declaration.problems import ModelError
from dockfmu.components.multibody.model import BASE, CONSTRAINTS, Kind, Model, Mounting, MultibodyJoint
from dockfmu.components.multibody.model.elastic import elastic_parts, expanded
from dockfmu.components.multibody.reference.constraints import NonHolonomic
from dockfmu.components.multibody.reference.flexible import FlexibleBody, NodeDeflection
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

    Raises ModelError for elastic bodies, of which WITT and LOOP alone know, by `flexible_system`.
    """
    elastic = [body.name for body in model.bodies if body.elastic is not None]
    if elastic:
        raise ModelError([f"bodies.{name}: is elastic; this formulation takes rigid bodies" for name in elastic])
    return flexible_system(model)


def massless_frames(model: Model) -> Model:
    """Return a model with the nodes of its elastic bodies as bodies, whose frames have no mass.

    What an elastic body weighs is with its modes. The origin of the frame is where its centre of mass would be.
    """
    model = expanded(model)
    bodies = tuple(
        body
        if body.elastic is None
        else replace(body, mass=0.0, center=(0.0, 0.0, 0.0), inertia=((0.0,) * 3, (0.0,) * 3, (0.0,) * 3))
        for body in model.bodies
    )
    return replace(model, bodies=bodies)


def flexible_system(model: Model) -> RigidSystem:
    """Return the bodies and joints of a model with elastic bodies, as `massless_frames` gives it."""
    flexible = [part.body for part in elastic_parts(model)]
    number = {BASE: 0, **{body.name: k for k, body in enumerate(model.bodies, 1)}}
    centers = {BASE: np.zeros(3), **{body.name: np.array(body.center) for body in model.bodies}}

    def side(mounting: Mounting, body: str) -> JointSide:
        # a mounting maps body to joint components, a side joint to body components
        return JointSide(np.array(mounting.point) - centers[body], np.array(mounting.rotation).T)

    def arc(joint: MultibodyJoint) -> JointArc:
        if joint.deforms:
            return deflection(joint)
        return JointArc(
            joint.name,
            number[joint.predecessor],
            number[joint.successor],
            motion_of(joint.kind, joint.pitch),
            side(joint.on_predecessor, joint.predecessor),
            side(joint.on_successor, joint.successor),
            rows_of_kind(joint),
        )

    def deflection(joint: MultibodyJoint) -> JointArc:
        # always from the frame to the node, whichever is nearer to the base
        ends = [body for body in model.bodies if body.name in (joint.predecessor, joint.successor)]
        frame, node = sorted(ends, key=lambda body: body.node is not None)
        assert frame.elastic is not None
        assert node.node is not None
        at = JointSide(np.array(frame.elastic.place[node.node]))
        motion = NodeDeflection(frame.elastic.shape[node.node])
        index = [one.name for one in flexible].index(frame.name)
        return JointArc(joint.name, number[frame.name], number[node.name], motion, at, flexible=index)

    bodies = tuple(ReferenceBody(body.name, body.mass, np.array(body.inertia)) for body in model.bodies)
    parts = tuple(
        FlexibleBody(number[body.name], body.elastic.invariants, body.elastic.frequency, body.elastic.damping)
        for body in flexible
        if body.elastic is not None
    )
    return RigidSystem(bodies, tuple(map(arc, model.tree)), tuple(map(arc, model.cuts)), parts)
