"""The frames of a joint on its two bodies, from the axes and the attitude that a declaration gives."""

from __future__ import annotations

import numpy as np

from dockfmu.components.multibody.declaration.problems import Entries
from dockfmu.components.multibody.model.parts import Kind
from dockfmu.components.physics.mechanics.rotation import from_angles

UNIT = {"angle": "rad", "angle_x": "rad", "angle_y": "rad", "displacement": "m", "x": "m", "y": "m"}
"""Unit of each coordinate that is a number of its own."""

WITH_AXIS = ("revolute", "prismatic", "screw", "cylindrical", "planar")
NEAR_ONE = 1e-6
"""Accepted error of the length of an axis: data of six digits pass, and are normalised."""


def joint_frames(entries: Entries, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotations (body -> joint components) of the joint's frames on predecessor and successor.

    `axis` is z of the joint frame, for a universal joint `axes` are its x and y, in components of the predecessor.
    `attitude` is yaw, pitch, roll of the successor relative to the predecessor at zero coordinates, where the two
    frames coincide.
    """
    frame = np.eye(3)
    if kind in WITH_AXIS:
        frame = about(unit_vector(entries, "axis", entries.array("axis", "1", (3,), (0.0, 0.0, 1.0))))
        if "axes" in entries:
            entries.problem("axes", f"a {kind} joint has one axis: give axis")
    elif "axis" in entries:
        entries.problem("axis", f"a {kind} joint has no single axis" + ("; give axes" if kind == "universal" else ""))
    if kind == "universal":
        both = entries.array("axes", "1", (2, 3), ((1.0, 0, 0), (0, 1.0, 0)))
        x, y = (unit_vector(entries, "axes", axis) for axis in both)
        if abs(x @ y) > NEAR_ONE:
            entries.problem("axes", f"must be perpendicular; their scalar product is {x @ y:.6g}")
        else:
            y = y - (x @ y) * x
            frame = np.array((x, y / np.linalg.norm(y), np.cross(x, y / np.linalg.norm(y))))
    elif "axes" in entries and kind not in WITH_AXIS:
        entries.problem("axes", f"a {kind} joint has no axes")
    yaw, pitch, roll = map(float, entries.array("attitude", "rad", (3,)))
    return frame, frame @ np.array(from_angles(yaw, pitch, roll)).T


def about(axis: np.ndarray) -> np.ndarray:
    """Return a rotation whose last row is the unit vector `axis`; the identity for z."""
    z = np.asarray(axis, float)
    if abs(z[2]) > 1.0 - 1e-12:
        return np.eye(3) if z[2] > 0.0 else np.diag((1.0, -1.0, -1.0))
    x = np.cross((0.0, 0.0, 1.0), z)
    x /= np.linalg.norm(x)
    return np.array((x, np.cross(z, x), z))


def unit_vector(entries: Entries, key: str, axis: np.ndarray) -> np.ndarray:
    """Return an axis with length 1; one that is none is noted, and z is returned."""
    length = float(np.linalg.norm(axis))
    if not abs(length - 1.0) < NEAR_ONE:
        entries.problem(key, f"must be a unit vector; its length is {length:.6g}")
        return np.eye(3)[2]
    return np.asarray(axis, float) / length
