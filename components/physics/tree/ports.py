"""The record of a tree of links, and of the elastic bodies in it (`links`, `elastic_bodies`)."""

from __future__ import annotations

from collections.abc import Sequence

from dockfmu.components.core.field import BOOLEAN, Field, Group, changed, constants, private, temporary

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


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


def elastic_group(sizes: Sequence[int], shapes: int, more: tuple[Group, ...] = ()) -> Group:
    """Return the group of elastic bodies with these numbers of modes, and of the shapes at all their nodes."""
    body = constants(
        Group(
            "body",
            private("frame", "1", "index of the link that is its frame"),
            private("modes", "1", "index of the link of its first mode"),
            private("count", "1", "number of its modes"),
            private("first_mode", "1", "index of its first mode"),
            private("first_pair", "1", "index of its first pair of modes"),
            private("factor", "1", "index of the first element of its factor"),
            private("settled", "1", "1: it starts in static equilibrium"),
            private("place", "m", "of its inner node, undeformed", shape=3),
            private("moment", "kg.m", "S_0", shape=3),
            private("inertia", "kg.m2", "J_phiphi undeformed, upper triangle by rows", shape=6),
            count=max(1, len(sizes)),
        )
    )
    mode = constants(
        Group(
            "mode",
            private("frequency", "rad/s", "undamped"),
            private("damping", "1/s", "factor of the rate"),
            private("translation", "1", "column of J_rw", shape=3),
            private("rotation", "1", "column of J_phiw undeformed", shape=3),
            private("slope", "1", "N2, upper triangle by rows", shape=6),
        )
    )
    pair = constants(
        Group(
            "pair",
            private("gyration", "1", "column b of N4_a", shape=3),
            private("curvature", "1", "N3_ab, upper triangle by rows", shape=6),
            count=max(1, sum(size * size for size in sizes)),
        )
    )
    shape = constants(Group("shape", private("value", "1", "displacement and rotation of the node, axes E", shape=6)))
    return Group(
        "flex",
        body,
        Group(
            "mode",
            *mode.members,
            temporary("bulge", "1", "derivative of the inertia, axes E", shape=6),
            temporary("lever", "1", "column of J_phiw, axes E", shape=3),
            temporary("gyro", "1", "its load by a unit angular velocity, axes E", shape=3),
            temporary("coupled_force", "1", "momentum of a unit rate with the nodes, I", shape=3),
            temporary("coupled_torque", "1", "likewise, angular momentum about the origin of E", shape=3),
            temporary("felt_force", "1", "likewise, with the motion of E: column of U", shape=3),
            temporary("felt_torque", "1", "likewise", shape=3),
            temporary("gain", "1", "row of D^-1 U^T, and scratch", shape=7),
            temporary("driven", "1", "acceleration with the inner node at rest"),
            count=max(1, sum(sizes)),
        ),
        pair,
        Group(
            "shape",
            *shape.members,
            temporary("moved", "1", "displacement by a unit of the mode, I", shape=3),
            temporary("turned", "1", "rotation by a unit of the mode, I", shape=3),
            count=max(1, shapes),
        ),
        *more,
        temporary("factor", "1", "D of all bodies", shape=max(1, sum(size * size for size in sizes))),
        description="elastic bodies",
    )
