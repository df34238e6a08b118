"""The scenes of a recording over time, as arrays; page/source.js and page/frames.js compute the same for one time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

Read = Callable[[str], np.ndarray]
"""Function from the name of a variable to its values, shape (rows,)."""

FUNCTIONS = {"sin": np.sin, "cos": np.cos, "tan": np.tan}


def evaluate(quantity: Any, read: Read) -> np.ndarray:
    """Return the values of a quantity of a scene with full names, shape (rows, places); (1, places) if constant."""
    if quantity is None:
        return np.full((1, 1), np.nan)
    if isinstance(quantity, (int, float)):
        return np.full((1, 1), float(quantity))
    if isinstance(quantity, list):
        return np.hstack(_alike([evaluate(part, read) for part in quantity]))
    if "v" in quantity:
        return read(quantity["v"])[:, None]
    for word, function in FUNCTIONS.items():
        if word in quantity:
            return np.asarray(function(evaluate(quantity[word], read)))
    combine = np.add if "sum" in quantity else np.multiply
    parts = [evaluate(part, read) for part in quantity.get("sum", quantity.get("product"))]
    return np.asarray(reduce(combine, parts))


def _alike(parts: list[np.ndarray]) -> list[np.ndarray]:
    """Return the arrays broadcast to as many rows as the longest of them has."""
    rows = max(len(part) for part in parts)
    return [np.broadcast_to(part, (rows, part.shape[1])) for part in parts]


def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the products of quaternions, scalar first, shape (rows, 4)."""
    a, b, c, d = p.T
    w, x, y, z = q.T
    return np.stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ],
        axis=1,
    )


def outward(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the components in the parent of vectors given in the child, shape (rows, 3)."""
    w, u = q[:, :1], q[:, 1:]
    t = 2.0 * np.cross(u, v)
    return np.asarray(v + w * t + np.cross(u, t))


def conjugate(q: np.ndarray) -> np.ndarray:
    """Return the conjugate quaternions, which are the opposite rotations."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def poses(scene: Mapping[str, Any], read: Read) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the position, shape (rows, 3), and the quaternion in I of each frame of a scene, by name."""
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name, frame in scene["frames"].items():
        position = evaluate(frame.get("position", [0.0, 0.0, 0.0]), read)
        turn = evaluate(frame.get("quaternion", [1.0, 0.0, 0.0, 0.0]), read)
        if "angles" in frame:
            turn = _from_angles(evaluate(frame["angles"], read))
        turn = normalised(turn)
        position, turn = _alike([position, turn])
        if frame.get("inverse"):
            turn = conjugate(turn)
            position = -outward(turn, position)
        if "parent" in frame:
            at, parent = found[frame["parent"]]
            at, parent, position, turn = _alike([at, parent, position, turn])
            position, turn = at + outward(parent, position), product(parent, turn)
        found[name] = position, turn
    return found


def normalised(q: np.ndarray) -> np.ndarray:
    """Return unit quaternions; the identity for those that are zero."""
    size = np.linalg.norm(q, axis=1, keepdims=True)
    return np.where(size > 0.0, q / np.where(size > 0.0, size, 1.0), np.array([1.0, 0.0, 0.0, 0.0]))


def _from_angles(angles: np.ndarray) -> np.ndarray:
    """Return quaternions of yaw about y, then pitch about z, then roll about x."""
    yaw, pitch, roll = angles.T / 2.0
    zero = np.zeros(len(angles))
    first = np.stack([np.cos(yaw), zero, np.sin(yaw), zero], axis=1)
    second = np.stack([np.cos(pitch), zero, zero, np.sin(pitch)], axis=1)
    third = np.stack([np.cos(roll), np.sin(roll), zero, zero], axis=1)
    return product(product(first, second), third)
