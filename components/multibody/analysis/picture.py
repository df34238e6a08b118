"""A picture of a multibody system in a pose: bodies as lines between their joints, axes of joints, springs, ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.components.multibody.analysis.elements import ends
from dockfmu.components.multibody.model import BASE, Model
from dockfmu.components.multibody.reference.kinematics import TreeMotion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXIS = {"revolute", "prismatic", "screw", "cylindrical", "planar"}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


def draw(model: Model, motion: TreeMotion) -> Figure:
    """Return the picture; cut joints are hollow, springs dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    axes: Any = figure.add_subplot(projection="3d")
    points = _points(model, motion)
    everything = np.array([point for own in points.values() for point, _ in own] + list(motion.r[1:]))
    size = max(float(np.ptp(everything, axis=0).max()), 1e-3)
    for k, body in enumerate(model.bodies):
        center, colour = motion.r[k + 1], COLOURS[k % len(COLOURS)]
        for point, _ in points[body.name]:
            axes.plot(*np.array([center, point]).T, color=colour, linewidth=2.0)
        axes.plot(*center, marker="o", color=colour, markersize=4.0)
        if body.mass > 0.0 or (body.elastic is not None and body.node is None):
            axes.text(*center, f" {body.name}", color=colour, fontsize=8)
    for joint in model.joints:
        point, axis = next(entry for entry in points[joint.predecessor] if entry[1][0] == joint.name)
        fill = "none" if joint.cut else "black"
        axes.plot(*point, marker="o", color="black", markerfacecolor=fill, markersize=5.0)
        if joint.kind in AXIS:
            reach = 0.06 * size * axis[1]
            axes.plot(*np.array([point - reach, point + reach]).T, color="black", linewidth=1.0)
    for spring in model.springs:
        axes.plot(*ends(motion, model, spring)[1].T, color="gray", linestyle="--", linewidth=1.0)
    for port in model.ports:
        place = _place(model, motion, port.body, np.array(port.point))
        axes.plot(*place, marker="s", color="gray", markersize=5.0)
        axes.text(*place, f" {port.name}", color="gray", fontsize=8)
    axes.set(xlabel="x, m", ylabel="y, m", zlabel="z, m")
    middle = 0.5 * (everything.min(axis=0) + everything.max(axis=0))
    for name, value in zip("xyz", middle, strict=True):
        axes.set(**{f"{name}lim": (value - 0.6 * size, value + 0.6 * size)})
    axes.set_box_aspect((1.0, 1.0, 1.0))
    return figure


def _place(model: Model, motion: TreeMotion, body: str, point: np.ndarray) -> np.ndarray:
    number = {BASE: 0, **{one.name: k for k, one in enumerate(model.bodies, 1)}}[body]
    center = np.array(model.bodies[number - 1].center) if number else np.zeros(3)
    return np.asarray(motion.r[number] + motion.A[number] @ (point - center))


def _points(model: Model, motion: TreeMotion) -> dict[str, list[tuple[np.ndarray, tuple[str, np.ndarray]]]]:
    """Return the joint points of each body, with the name of the joint and its z axis, in axes of the base."""
    found: dict[str, list[tuple[np.ndarray, tuple[str, np.ndarray]]]] = {BASE: []}
    found |= {body.name: [] for body in model.bodies}
    number = {BASE: 0, **{body.name: k for k, body in enumerate(model.bodies, 1)}}
    for joint in model.joints:
        sides = ((joint.predecessor, joint.on_predecessor), (joint.successor, joint.on_successor))
        for body, side in sides:
            axis = motion.A[number[body]] @ np.array(side.rotation)[2]
            found[body].append((_place(model, motion, body, np.array(side.point)), (joint.name, axis)))
    return found
