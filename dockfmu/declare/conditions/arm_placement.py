"""Start pose of an arm: its payload in front of a berth, misaligned as asked, by inverse kinematics.

The declared joint angles are the nominal pose: there, with the declared attitude of the payload, the gripper holds the
grapple fixture. This grip is kept; joints turn from the nominal pose by the least change (Newton steps of least norm).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dockfmu.components.core.component import Component
from dockfmu.components.physics.mechanics.rotation import angles as angles_of
from dockfmu.components.physics.mechanics.rotation import from_angles, quaternion, rotation_vector
from dockfmu.declare.conditions.initial_conditions import CONDITIONS, InitialConditions
from dockfmu.declare.toml.tables import DeclarationError

STEPS = 100
LARGEST_STEP = 0.2
"""rad, of any joint in a step."""
ACCURACY = 1e-10
"""m and rad."""
NONE = 1.0
"""Kind of a segment that is not there."""


class Chain:
    """The joints, lengths and grip of an arm with its payload, from the parameters of its component."""

    def __init__(self, parameters: Any) -> None:
        p = self.parameters = parameters
        used = np.asarray(p.segment.kind)[:, :, None] != NONE
        self.reach = (np.asarray(p.segment.length) * used).sum(axis=1)
        self.axis = np.asarray(p.link.axis).astype(int)
        self.free = np.asarray(p.joint.locked) == 0.0
        self.limit = np.asarray(p.joint.angle_limit)
        self.nominal = np.array(p.initial.angle)
        self.to_root = _turn(p.base.angles)
        # PL -> E, fixed by the grip in the nominal pose
        _, own, _, _ = self.forward(self.nominal)
        self.grip = own @ self.to_root @ _turn(p.initial.payload_angles).T

    def forward(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return (E from R, R -> E, joints from R, axes of the joints), axes R."""
        turn, place = np.eye(3), self.reach[0].copy()
        points, axes = [], []
        for k, angle in enumerate(q):
            points.append(place)
            axes.append(turn[self.axis[k] - 1])
            turn = _about(self.axis[k], angle) @ turn
            place = place + turn.T @ self.reach[k + 1]
        return place, turn, np.array(points), np.array(axes)

    def error(self, q: np.ndarray, goal: np.ndarray, facing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (what E lacks to `goal` and R -> E to `facing`, m and rad, axes R; Jacobian of E)."""
        place, turn, points, axes = self.forward(q)
        rows = tuple(tuple(map(float, row)) for row in facing @ turn.T)
        lacking = turn.T @ np.array(rotation_vector(quaternion(rows)))
        jacobian = np.vstack([np.cross(axes, place - points).T, axes.T])
        jacobian[:, ~self.free] = 0.0
        return np.concatenate([goal - place, lacking]), jacobian

    def solve(self, goal: np.ndarray, facing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (joint angles nearest to the nominal ones, remaining error: m, then rad)."""
        q = self.nominal.copy()
        for _ in range(STEPS):
            error, jacobian = self.error(q, goal, facing)
            if np.abs(error).max() < ACCURACY:
                break
            change = np.where(self.free, np.linalg.pinv(jacobian, rcond=1e-6) @ error, 0.0)
            q = q + change * min(1.0, LARGEST_STEP / max(np.abs(change).max(), 1e-30))
        return q, self.error(q, goal, facing)[0]


def _turn(angles: Any) -> np.ndarray:
    return np.array(from_angles(*map(float, angles)))


def _about(axis: int, angle: float) -> np.ndarray:
    """Return alpha of conventions 2: components before a turn about x, y or z (1, 2, 3) to those after it."""
    i, j = axis % 3, (axis + 1) % 3
    turn = np.eye(3)
    turn[i, i] = turn[j, j] = np.cos(angle)
    turn[i, j], turn[j, i] = np.sin(angle), -np.sin(angle)
    return turn


def place_arm(
    conditions: InitialConditions, components: Mapping[str, Component], values: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, float]]:
    """Return the start values of the arm that put its payload before the berth as `conditions` ask.

    Raises DeclarationError if the element is no arm, or if the arm cannot reach that pose within its joints' limits.
    """
    name = conditions.arm
    if name not in components:
        raise DeclarationError(f"{CONDITIONS}.arm: the system has no element {name!r}")
    component = components[name]
    view = component.record.view(component.start(**values[name]))
    if not hasattr(view.parameters, "grapple"):
        raise DeclarationError(f"{CONDITIONS}.arm: {name} ({component.name}) is not an arm with a payload")
    p, chain = view.parameters, Chain(view.parameters)
    berth = _turn(p.target.angles)
    payload = _turn(p.interface.angles).T @ _turn(conditions.angles) @ berth
    interface = np.array(p.target.position) + berth.T @ np.array([-conditions.gap, *conditions.miss])
    fixture = interface + payload.T @ (np.array(p.grapple.position) - np.array(p.interface.position))
    goal = chain.to_root @ (fixture - np.array(p.base.position))
    q, error = chain.solve(goal, chain.grip @ payload @ chain.to_root.T)
    _check(name, conditions, chain, q, error)
    rows = tuple(tuple(map(float, row)) for row in payload)
    found = {f"parameters.initial.angle[{k}]": float(angle) for k, angle in enumerate(q, 1)}
    attitude = enumerate(angles_of(rows), 1)
    return {name: found | {f"parameters.initial.payload_angles[{k}]": float(angle) for k, angle in attitude}}


def _check(name: str, conditions: InitialConditions, chain: Chain, q: np.ndarray, error: np.ndarray) -> None:
    """Raise DeclarationError for a pose that is out of reach or beyond the limit of a joint."""
    asked = (
        f"{CONDITIONS}: gap = {conditions.gap:g} m, miss = {', '.join(f'{x:g}' for x in conditions.miss)} m, yaw, "
        f"pitch, roll = {', '.join(f'{x:.4g}' for x in conditions.angles)} rad"
    )
    off, turned = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
    if max(off, turned) > 1e-6:
        raise DeclarationError(
            f"{asked}: {name} cannot bring its payload there from its declared {name}.parameters.initial.angle; the "
            f"nearest pose is {off:.3g} m and {turned:.3g} rad away: move the berth ({name}.parameters.target), or "
            "choose other angles"
        )
    for k in np.flatnonzero(chain.free & (np.abs(q) > chain.limit)):
        raise DeclarationError(
            f"{asked}: joint {k + 1} of {name} would have to turn to {q[k]:.4g} rad, beyond its "
            f"parameters.joint.angle_limit of {chain.limit[k]:.4g} rad"
        )
