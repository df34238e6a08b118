"""The links of the recursion: their record, and their constants from a model.

A body of the model is the last link of the chain that its joint becomes. The frame of a link has its origin at the
reference point and its z along the axis of its degree of freedom; `Placing` relates it to the frame of the body.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi

import numpy as np

from dockfmu.components.multibody.model.parts import (
    BASE,
    COORDINATES,
    Kind,
    Model,
    Mounting,
    MultibodyJoint,
)
from dockfmu.components.multibody.model.topology import limbs
from dockfmu.components.physics.tree import links

Z = np.eye(3)
X = np.array(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
Y = np.array(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
"""Rotations that make x, y, z of a joint frame the z of a link."""
FLIP = np.diag((1.0, -1.0, -1.0))
"""Half a turn about x: turns the axis of a joint that is passed against its direction."""

STAGES: dict[Kind, tuple[tuple[float, np.ndarray], ...]] = {
    "fixed": ((links.FIXED, Z),),
    "revolute": ((links.REVOLUTE, Z),),
    "prismatic": ((links.PRISMATIC, Z),),
    "screw": ((links.SCREW, Z),),
    "cylindrical": ((links.REVOLUTE, Z), (links.PRISMATIC, Z)),
    "universal": ((links.REVOLUTE, X), (links.REVOLUTE, Y)),
    "planar": ((links.PRISMATIC, X), (links.PRISMATIC, Y), (links.REVOLUTE, Z)),
    "spherical": ((links.SPHERICAL, Z),),
    "free": ((links.FREE, Z),),
}
"""Kind and axis of the links of each kind of joint, from the predecessor to the successor, one for each coordinate."""


@dataclass(frozen=True)
class Placing:
    """The frame of a link in that of its body: origin (m, body frame) and rotation (body -> link components)."""

    link: int
    point: np.ndarray
    rotation: np.ndarray


@dataclass
class Links:
    """The constants of all links of a model, the base first, and what became of its bodies and coordinates.

    Attributes
    ----------
    bodies : placing of each body of the model, by name, the base included
    coordinates : link of each coordinate of the joints with one link a coordinate, by (joint, number)
    special : link of each spherical and free joint, by name, and whether it is passed against its direction
    labels : joint, or joint and coordinate, of each link
    """

    parent: list[int] = field(default_factory=lambda: [0])
    kind: list[float] = field(default_factory=lambda: [links.FIXED])
    lead: list[float] = field(default_factory=lambda: [0.0])
    mount: list[np.ndarray] = field(default_factory=lambda: [Z])
    arm: list[np.ndarray] = field(default_factory=lambda: [np.zeros(3)])
    bodies: dict[str, Placing] = field(default_factory=lambda: {BASE: Placing(0, np.zeros(3), Z)})
    coordinates: dict[tuple[str, int], int] = field(default_factory=dict)
    special: dict[str, tuple[int, bool]] = field(default_factory=dict)
    labels: list[str] = field(default_factory=lambda: [BASE])


def lay_out(model: Model) -> Links:
    """Return the links of the spanning tree of a model. Raises ValueError if its joints do not form a tree."""
    made = Links()
    for limb in limbs(model):
        joint = model.joints[limb.joint]
        inner = BASE if limb.parent < 0 else model.bodies[limb.parent].name
        body = model.bodies[limb.body]
        _add_joint(made, joint, made.bodies[inner], body.name, limb.outward)
        if joint.deforms:
            made.kind[-1] = links.NODE
            if body.node is None and body.elastic is not None:
                _add_modes(made, body.name, len(body.elastic.frequency))
    return made


def _add_modes(made: Links, body: str, count: int) -> None:
    """Make the last link the frame of an elastic body, and add a link for each of its modes."""
    frame = len(made.kind) - 1
    made.kind[frame] = links.FRAME
    for number in range(1, count + 1):
        made.parent.append(frame)
        made.kind.append(links.MODE)
        made.lead.append(0.0)
        made.mount.append(Z)
        made.arm.append(np.zeros(3))
        made.labels.append(f"mode {number} of {body}")


def _add_joint(made: Links, joint: MultibodyJoint, carrier: Placing, body: str, outward: bool) -> None:
    inside, outside = joint.on_predecessor, joint.on_successor
    stages = list(enumerate(STAGES[joint.kind]))
    if not outward:
        inside, outside = outside, inside
        stages.reverse()
    to_joint = np.array(inside.rotation) @ carrier.rotation.T
    before = carrier.link
    arm = carrier.rotation @ (np.array(inside.point) - carrier.point)
    for number, (kind, axes) in stages:
        turned = kind in (links.REVOLUTE, links.PRISMATIC, links.SCREW) and not outward
        frame = FLIP @ axes if turned else axes
        made.parent.append(before)
        made.kind.append(kind)
        made.lead.append(joint.pitch / (2.0 * pi) if kind == links.SCREW else 0.0)
        made.mount.append(frame @ to_joint)
        made.arm.append(arm)
        before, to_joint, arm = len(made.kind) - 1, frame.T, np.zeros(3)
        alone = kind in (links.SPHERICAL, links.FREE, links.FIXED)
        made.labels.append(joint.name if alone else f"{joint.name}.{COORDINATES[joint.kind][number]}")
        if kind in (links.SPHERICAL, links.FREE):
            made.special[joint.name] = (before, not outward)
        elif kind != links.FIXED:
            made.coordinates[joint.name, number] = before
    made.bodies[body] = Placing(before, np.array(outside.point), to_joint.T @ np.array(outside.rotation))


def mass_data(placing: Placing, mass: float, center: np.ndarray, inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (first moment, inertia about the reference point) of a body in axes of its link."""
    c = placing.rotation @ (np.asarray(center) - placing.point)
    J = placing.rotation @ np.asarray(inertia) @ placing.rotation.T
    return mass * c, J + mass * (c @ c * np.eye(3) - np.outer(c, c))


def frame_of(mounting: Mounting) -> tuple[np.ndarray, np.ndarray]:
    """Return (point, rotation) of a mounting as arrays."""
    return np.array(mounting.point), np.array(mounting.rotation)
