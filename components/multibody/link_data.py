"""The links of the recursion: their record, and their constants from a model.

A body of the model is the last link of the chain that its joint becomes. The frame of a link has its origin at the
reference point and its z along the axis of its degree of freedom; `Placing` relates it to the frame of the body.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi

import numpy as np

from dockfmu.components.core.field import BOOLEAN, Field, Group, changed, constants, private, temporary
from dockfmu.components.multibody import links
from dockfmu.components.multibody.model.parts import (
    BASE,
    COORDINATES,
    Kind,
    Model,
    Mounting,
    MultibodyJoint,
)
from dockfmu.components.multibody.model.topology import limbs
from dockfmu.components.multibody.model.vectors import IDENTITY

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


def link_state() -> tuple[Field, ...]:
    """Return the state of a link."""
    return (
        private("q", "1", "coordinate of one degree of freedom, rad or m"),
        private("rate", "1", "its rate"),
        private("quaternion", "1", "of a spherical or free joint, carrier -> link", (1.0, 0.0, 0.0, 0.0), shape=4),
        private("spin", "rad/s", "relative angular velocity of a spherical or free joint, axes of the link", shape=3),
        private("place", "m", "of a free joint, axes of its frame on the carrier", shape=3),
        private("speed", "m/s", "of a free joint, likewise", shape=3),
        private("qdd", "1", "acceleration of the coordinate in the last micro-step, the prediction of the next"),
        private("spin_rate", "rad/s2", "likewise of `spin`", shape=3),
        private("speed_rate", "m/s2", "likewise of `speed`", shape=3),
        private("last_rate", "1", "rate at the start of the micro-step"),
        private("last_spin", "rad/s", "spin at the start of the micro-step", shape=3),
        private("last_speed", "m/s", "speed at the start of the micro-step", shape=3),
        private("predicted", "1", "acceleration that predicted the middle of the last micro-step"),
        private("predicted_spin", "1", "likewise of `spin`", shape=3),
        private("predicted_speed", "m/s2", "likewise of `speed`", shape=3),
        private("held", "1", "1: the coordinate is locked or prescribed", type=BOOLEAN),
        private("forced", "1", "its acceleration while it is held"),
    )


def link_group(count: int, deforms: bool = False) -> Group:
    """Return the links, the base first; those of bodies that deform change their mass data."""
    fixed = constants(
        Group(
            "link",
            private("parent", "1", "index of the link that carries it"),
            private("kind", "1", "one of those of `links`"),
            private("lead", "m/rad", "of a screw: displacement in a radian"),
            private("mount", "1", "axes of the carrier -> axes of the joint at zero", IDENTITY, shape=(3, 3)),
            private("arm", "m", "from the carrier's reference point to the joint, its axes", shape=3),
            private("mass", "kg", "of the body; 0 inside a joint"),
            private(
                "moment", "kg.m", "mass times the centre of mass from the reference point, axes of the link", shape=3
            ),
            private("inertia", "kg.m2", "about the reference point, upper triangle by rows", shape=6),
            private("first_entry", "1", "index of the first row of a loop that is open at the link"),
            private("entries", "1", "number of these rows"),
            private("carrier", "1", "index of what loops closed beyond add to it, -1 for none", -1.0),
            private("flex", "1", "of a link of an elastic body: index of the body", -1.0),
            private("first_shape", "1", "of a frame or node: index of its first shape", -1.0),
            private("rotor", "1", "inertia of rotors geared to the coordinate without elasticity, kg m2 or kg"),
        )
    )
    if deforms:
        fixed = changed(fixed, {name: {"causality": "private"} for name in ("moment", "inertia")})
    return Group(
        "link",
        *fixed.members,
        *link_state(),
        temporary("rotation", "1", "I -> link", IDENTITY, shape=(3, 3)),
        temporary("along", "1", "axis of the joint, I", shape=3),
        temporary("reach", "m", "from the carrier's reference point, I", shape=3),
        temporary("position", "m", "of the reference point from that of the base, I", shape=3),
        temporary("velocity", "m/s", "of the reference point relative to that of the base, I", shape=3),
        temporary("angular_velocity", "rad/s", "I", shape=3),
        temporary("flow", "m/s", "of a frame or node: of the deformation, relative to the carrier, I", shape=3),
        temporary("sway", "N.s", "of a frame: momentum of the modal rates, its axes", shape=3),
        temporary("swing", "N.m.s", "likewise: angular momentum about its origin", shape=3),
        temporary("jiggle", "J", "likewise: energy"),
        temporary("linear", "m/s2", "acceleration without that of the joint: velocity terms, I", shape=3),
        temporary("angular", "rad/s2", "likewise", shape=3),
        temporary("tt", "kg", "articulated inertia", shape=6),
        temporary("tr", "kg.m", "articulated inertia, force by angular acceleration", shape=9),
        temporary("rr", "kg.m2", "articulated inertia", shape=6),
        temporary("force", "N", "on the link and those beyond, I", shape=3),
        temporary("torque", "N.m", "likewise, about the reference point", shape=3),
        temporary("drive", "1", "generalised force on the coordinate, N or N.m"),
        temporary("armature", "1", "inertia added to the coordinate by implicit springs and dampers"),
        temporary("felt_force", "1", "articulated inertia times the axis", shape=3),
        temporary("felt_torque", "1", "likewise", shape=3),
        temporary("inverse", "1", "of the inertia felt by a spherical joint", shape=6),
        temporary("effort", "1", "drive and load at zero acceleration of the carrier"),
        temporary("mobility", "1", "inverse of the inertia felt by the coordinate; 0 if it is held"),
        temporary("load", "1", "generalised force that is not balanced; what holds a held coordinate is its negative"),
        temporary("push_force", "N", "of cut joints on the link and those beyond, I", shape=3),
        temporary("push_torque", "N.m", "likewise, about the reference point", shape=3),
        temporary("push_felt", "1", "generalised force of the pushes on the coordinate"),
        temporary("push_driven", "1", "response of the coordinate with the carrier at rest"),
        temporary("push_load", "1", "change of `load` by the pushes"),
        temporary("push_qdd", "1", "change of `qdd` by the pushes"),
        temporary("push_turn", "rad/s2", "change of the relative angular acceleration, I", shape=3),
        temporary("push_slide", "m/s2", "change of the relative acceleration of a free joint, I", shape=3),
        temporary("push_linear", "m/s2", "change of `acceleration` by the pushes", shape=3),
        temporary("push_angular", "rad/s2", "change of `angular_acceleration` by the pushes", shape=3),
        temporary("acceleration", "m/s2", "absolute, of the reference point, less gravity, I", shape=3),
        temporary("angular_acceleration", "rad/s2", "absolute, I", shape=3),
        count=count,
    )


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
