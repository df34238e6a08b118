"""The part of the record that flexible links add: the links of their recursion, and their elastic coordinates."""

from __future__ import annotations

from dockfmu.components.core.field import Group, constants, private, temporary
from dockfmu.components.manipulator.arm_data import MOST_BEAMS, SEGMENTS
from dockfmu.components.physics.tree.ports import elastic_group, link_group

SPRINGS = 4
"""Largest number of lumped segments in an arm."""
SHAPES = 8
"""Of a beam: six static ones of its end, and one between the ends in each plane of bending."""


def flexible_groups(joints: int) -> tuple[Group, ...]:
    """Return the groups of the flexible links of an arm with this number of joints."""
    coordinates = MOST_BEAMS * SHAPES + 3 * SPRINGS
    # the root, joints, frame and modes and end of beams, springs, rigid segments, gripper, payload
    links = 1 + joints + MOST_BEAMS * (SHAPES + 2) + 3 * SPRINGS + (joints + 1) * SEGMENTS + 2
    laid_out = constants(
        Group(
            "chain",
            private("links", "1", "number of links that are used"),
            private("joint", "1", "index of the link of each joint", shape=joints),
            private("gripper", "1", "index of the link E"),
            private("payload", "1", "index of the link of the payload"),
            private("beams", "1", "number of beams"),
            private("coordinates", "1", "number of elastic coordinates"),
            private("coordinate", "1", "index of the link of each elastic coordinate", shape=coordinates),
            private("stiffness", "1", "of each elastic coordinate: N.m/rad, or 1/s2 of a mode", shape=coordinates),
        )
    )
    return (
        Group(
            "chain",
            *laid_out.members,
            private("damping", "1", "of the elastic coordinates: force by minus their rates", shape=(coordinates,) * 2),
            private("bound", "1", "diagonal matrix that is not below it", shape=coordinates),
            temporary("carrier", "1", "index of the link at the end of what is laid out"),
            temporary("turn", "1", "axes of the carrier -> of the arm's link", shape=(3, 3)),
            temporary("offset", "m", "end of what is laid out from the carrier, axes of the arm's link", shape=3),
            temporary("rate", "1", "of the elastic coordinates", shape=coordinates),
            temporary("damped", "1", "force of the damping against them", shape=coordinates),
            temporary("mobility", "1", "accelerations by unit forces times roots of stiffness, then its eigenvalues",
                      shape=(coordinates,) * 2),
            temporary("vectors", "1", "its eigenvectors, ascending", shape=(coordinates,) * 2),
        ),
        Group(
            "beam",
            temporary("moved", "m", "displacement of a place in each shape, link axes", shape=(3, SHAPES)),
            temporary("turned", "rad", "its rotation in each shape, link axes", shape=(3, SHAPES)),
            temporary("mass", "1", "of the shapes, then its Cholesky factor", shape=(SHAPES, SHAPES)),
            temporary("stiffness", "1", "of the shapes, then squares of the frequencies", shape=(SHAPES, SHAPES)),
            temporary("product", "1", "of the inverse factor and the stiffness", shape=(SHAPES, SHAPES)),
            temporary("modes", "1", "eigenvectors, then mass-normalised modes by shapes", shape=(SHAPES, SHAPES)),
            description="work space of one beam",
        ),
        elastic_group([SHAPES] * MOST_BEAMS, SHAPES * (MOST_BEAMS + 1)),
        link_group(links, deforms=True),
    )  # fmt: skip
