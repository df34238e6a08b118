"""The compliance of a chain by unit loads and finite rotations: the source's algorithm B with its errata mended.

Independent of the product: forces go from the gripper to the root, deformed frames from the root to the gripper.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from tests.components.manipulator.arms import axis_turn

BEAM, LUMPED = 3.0, 4.0


def segments(m):
    """(link, kind, length, data) of all segments from the root to the gripper."""
    s = m.parameters.segment
    for j in range(len(s.kind)):
        for k in range(s.kind.shape[1]):
            if s.kind[j, k] != 1.0:
                yield (
                    j,
                    s.kind[j, k],
                    np.array(s.length[j, k]),
                    {
                        name: float(getattr(s, name)[j, k])
                        for name in ("bending", "torsion", "extension", "twist_stiffness", "tilt_stiffness")
                    },
                )


def yields(kind, length, data, force, torque):
    """(displacement, rotation vector) at the end of a segment under a wrench there: textbook formulas along x."""
    if kind == BEAM:
        l, EJ = np.linalg.norm(length), data["bending"]  # noqa: E741
        assert np.allclose(length, [l, 0.0, 0.0])
        x = force[0] * l / data["extension"]
        y = force[1] * l**3 / (3 * EJ) + torque[2] * l**2 / (2 * EJ)
        z = force[2] * l**3 / (3 * EJ) - torque[1] * l**2 / (2 * EJ)
        about_y = torque[1] * l / EJ - force[2] * l**2 / (2 * EJ)
        about_z = torque[2] * l / EJ + force[1] * l**2 / (2 * EJ)
        return np.array([x, y, z]), np.array([torque[0] * l / data["torsion"], about_y, about_z])
    if kind == LUMPED:
        at_start = torque + np.cross(length, force)
        stiffness = np.array([data["twist_stiffness"], data["tilt_stiffness"], data["tilt_stiffness"]])
        turn = at_start / stiffness
        return np.cross(turn, length), turn
    return np.zeros(3), np.zeros(3)


def compliance(m, q, size=1.0):
    """6 x 6: deflection of E in its axes per load; `size` of the loads, N and N m."""
    axes = np.asarray(m.parameters.link.axis)
    parts = list(segments(m))
    columns = []
    for load in size * np.eye(6):
        # inward: the wrench at the end of each segment, in its axes
        force, torque = load[:3], load[3:]
        wrenches = []
        link = len(axes)
        for j, _, length, _ in reversed(parts):
            while link > j:
                back = axis_turn(axes[link - 1], q[link - 1]).T
                force, torque, link = back @ force, back @ torque, link - 1
            wrenches.append((force, torque))
            torque = torque + np.cross(length, force)
        # outward: pose of the deformed and of the rigid chain, frames as rotations of vectors
        place, turn, rigid_place, rigid_turn = np.zeros(3), np.eye(3), np.zeros(3), np.eye(3)
        link = 0
        for (j, kind, length, data), (force, torque) in zip(parts, reversed(wrenches), strict=True):
            while link < j:
                joint = axis_turn(axes[link], q[link]).T
                turn, rigid_turn, link = turn @ joint, rigid_turn @ joint, link + 1
            shift, rotation = yields(kind, length, data, force, torque)
            place = place + turn @ (length + shift)
            turn = turn @ Rotation.from_rotvec(rotation).as_matrix()
            rigid_place = rigid_place + rigid_turn @ length
        moved = rigid_turn.T @ (place - rigid_place)
        turned = Rotation.from_matrix(rigid_turn.T @ turn).as_rotvec()
        columns.append(np.concatenate([moved, turned]) / size)
    return np.array(columns).T
