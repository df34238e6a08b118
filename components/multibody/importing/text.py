"""The text of a declaration from a model: what `dockfmu.components.multibody.declaration` reads again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import atan2, hypot, inf

import numpy as np

from dockfmu.components.multibody.declaration.joint_frames import about
from dockfmu.components.multibody.model import (
    COORDINATES,
    CoordinateLaw,
    JointLock,
    Model,
    MultibodyJoint,
    PointSpring,
    Port,
    PrescribedMotion,
    RigidBody,
)
from dockfmu.components.multibody.model.vectors import Matrix
from dockfmu.components.physics.mechanics.rotation import from_angles

DIGITS = 12
"""Significant digits of the numbers: more than a description has, fewer than hide what a number is."""

UNITS = {"angle": "rad", "angle_x": "rad", "angle_y": "rad", "displacement": "m", "x": "m", "y": "m"}


def _printable(comment: str) -> str:
    """Return a comment without control characters, which TOML does not allow: names of files may have them."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in comment)


def declaration_text(model: Model, *, comments: Iterable[str] = (), assumed: Mapping[str, str] | None = None) -> str:
    """Return the declaration of a model in TOML.

    Parameters
    ----------
    model : Model
        Without surfaces, contacts and sensors, which are not written.
    comments : iterable of str
        Lines at the top.
    assumed : mapping of str to str, optional
        Reasons beside values, by "joint.key" of a law.
    """
    reasons = assumed or {}
    lines = [*(f"# {line}".rstrip() for comment in comments for line in _printable(comment).splitlines() or [""])]
    lines += [f'name = "{model.name}"', f"gravity = {_list(model.gravity)}     # m/s2"]
    if model.base != "fixed":
        lines.append(f'base = "{model.base}"')
    for body in model.bodies:
        lines += ["", *_body(body)]
    for joint in model.joints:
        lines += ["", *_joint(joint, [law for law in model.laws if law.joint == joint.name], reasons)]
    for spring in model.springs:
        lines += ["", *_spring(spring)]
    for lock in model.locks:
        lines += ["", *_lock(lock, next(joint for joint in model.joints if joint.name == lock.joint))]
    for port in model.ports:
        lines += ["", *_port(port)]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    text = f"{value:.{DIGITS}g}"
    return text if any(mark in text for mark in ".en") else f"{text}.0"


def _list(values: Iterable[float]) -> str:
    """Return a list; numbers below the rounding of the largest are 0."""
    numbers = list(values)
    least = 1e-15 * max(map(abs, numbers))
    return f"[{', '.join(_number(value if abs(value) > least else 0.0) for value in numbers)}]"


def _body(body: RigidBody) -> list[str]:
    lines = [f"[bodies.{body.name}]", f"mass = {_number(body.mass)}     # kg"]
    if any(body.center):
        lines.append(f"center = {_list(body.center)}     # m")
    J = np.array(body.inertia)
    if J.any():
        size = np.abs(J).max()
        off = [J[0, 1], J[0, 2], J[1, 2]]
        six = [J[0, 0], J[1, 1], J[2, 2], *(off if np.abs(off).max() > 10.0**-DIGITS * size else [])]
        lines.append(f"inertia = {_list(six)}     # kg.m2, about the centre of mass")
    return lines


def yaw_pitch_roll(A: np.ndarray) -> tuple[float, float, float]:
    """Return angles of a rotation, exact to rounding at a pitch of 90 degrees too."""
    level = hypot(A[0, 0], A[0, 2])
    yaw = atan2(-A[0, 2], A[0, 0]) if level > 1e-12 else 0.0
    pitch = atan2(A[0, 1], level)
    # what is left is a rotation about x
    rest = A @ np.array(from_angles(yaw, pitch, 0.0)).T
    return yaw, pitch, atan2(-rest[2, 1], rest[1, 1])


def in_declared_frame(joint: MultibodyJoint, laws: Sequence[CoordinateLaw] = ()) -> MultibodyJoint:
    """Return the joint with the frames that a declaration gives it, in the same state.

    Spherical, free and fixed joints have the axes of the predecessor as their frame; x and y of a planar joint follow
    from its axis. Coordinates and rates with direction turn with the frame.

    Raises
    ------
    ValueError
        If laws act on displacements that would turn.
    """
    inside = np.array(joint.on_predecessor.rotation)
    if joint.kind == "planar":
        frame = about(inside[2])
    elif joint.kind in ("spherical", "free", "fixed"):
        frame = np.eye(3)
    else:
        return joint
    turn = frame @ inside.T
    if np.allclose(turn, np.eye(3), rtol=0.0, atol=1e-15):
        return joint
    if any(law.coordinate < 2 for law in laws):
        raise ValueError(f"laws of the planar joint {joint.name} act along axes that a declaration does not have")
    q, v = joint.start
    outside = turn @ np.array(joint.on_successor.rotation)
    if joint.kind == "planar":
        q, v = ((*(turn @ (*values[:2], 0.0))[:2], values[2]) for values in (q, v))
    elif joint.kind != "fixed":
        place, speed = ([*(turn @ values[:3])] if joint.kind == "free" else [] for values in (q, v))
        q = (*place, q[-4], *(turn @ q[-3:]))
        v = (*speed, *(turn @ v[-3:]))
    return replace(
        joint,
        on_predecessor=replace(joint.on_predecessor, rotation=_rows(frame)),
        on_successor=replace(joint.on_successor, rotation=_rows(outside)),
        coordinates=tuple(map(float, q)),
        rates=tuple(map(float, v)),
    )


def _rows(matrix: np.ndarray) -> Matrix:
    x, y, z = ((float(a), float(b), float(c)) for a, b, c in matrix)
    return x, y, z


def _joint(joint: MultibodyJoint, laws: Sequence[CoordinateLaw], reasons: Mapping[str, str]) -> list[str]:
    joint = in_declared_frame(joint, laws)
    inside, outside = np.array(joint.on_predecessor.rotation), np.array(joint.on_successor.rotation)
    lines = [
        f"[joints.{joint.name}]",
        f'kind = "{joint.kind}"',
        f'bodies = ["{joint.predecessor}", "{joint.successor}"]',
    ]
    points = (joint.on_predecessor.point, joint.on_successor.point)
    if any(map(any, points)):
        lines.append(f"points = [{_list(points[0])}, {_list(points[1])}]     # m")
    if joint.kind in ("revolute", "prismatic", "screw", "cylindrical", "planar"):
        lines.append(f"axis = {_list(inside[2])}")
    elif joint.kind == "universal":
        lines.append(f"axes = [{_list(inside[0])}, {_list(inside[1])}]")
    angles = yaw_pitch_roll(outside.T @ inside)
    if max(map(abs, angles)) > 1e-15:
        lines.append(f"attitude = {_list(angles)}     # rad: yaw, pitch, roll of the successor")
    if joint.kind == "screw":
        lines.append(f"pitch = {_number(joint.pitch)}     # m in a turn")
    if joint.cut:
        lines.append("cut = true")
    q, v = joint.start
    if joint.kind in ("spherical", "free"):
        lines += _start(joint, q, v)
    else:
        for k, name in enumerate(COORDINATES[joint.kind]):
            if k in joint.motions:
                lines.append(f"{name}.motion = {_motion(joint.motions[k])}")
                q, v = ((*values[:k], 0.0, *values[k + 1 :]) for values in (q, v))
            lines += _coordinate(joint, name, q[k], v[k], [law for law in laws if law.coordinate == k], reasons)
    return lines


def _motion(motion: PrescribedMotion) -> str:
    values = [f"{key} = {_number(value)}" for key, value in vars(motion).items() if value]
    return f"{{ {', '.join(values)} }}"


def _spring(spring: PointSpring) -> list[str]:
    lines = [
        f"[springs.{spring.name}]",
        f'bodies = ["{spring.first}", "{spring.second}"]',
        f"points = [{_list(spring.first_point)}, {_list(spring.second_point)}]     # m",
    ]
    lines += [f"{key} = {_number(getattr(spring, key))}" for key in ("stiffness", "length", "damping")]
    return lines + [f"{key} = true" for key in ("tether", "pusher") if getattr(spring, key)]


def _lock(lock: JointLock, joint: MultibodyJoint) -> list[str]:
    lines = [f"[locks.{lock.name}]", f'joint = "{lock.joint}"']
    if joint.kind not in ("spherical", "free"):
        lines.append(f'coordinate = "{COORDINATES[joint.kind][lock.coordinate]}"')
    if lock.at is not None:
        direction = {1: "up", -1: "down", 0: "both"}[lock.direction]
        lines += [f"at = {_number(lock.at)}", f'direction = "{direction}"']
    return lines + (["closed = true"] if lock.closed else [])


def _port(port: Port) -> list[str]:
    lines = [f"[ports.{port.name}]", f'body = "{port.body}"', f"point = {_list(port.point)}     # m"]
    angles = yaw_pitch_roll(np.array(port.rotation))
    return lines + ([f"angles = {_list(angles)}     # rad: yaw, pitch, roll"] if any(angles) else [])


def _start(joint: MultibodyJoint, q: Sequence[float], v: Sequence[float]) -> list[str]:
    parts = [("quaternion", q[-4:]), ("angular_velocity", v[-3:])]
    if joint.kind == "free":
        parts += [("position", q[:3]), ("velocity", v[:3])]
    still = ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return [f"start.{key} = {_list(values)}" for key, values in parts if tuple(values) not in still]


def _coordinate(
    joint: MultibodyJoint, name: str, q: float, v: float, laws: Sequence[CoordinateLaw], reasons: Mapping[str, str]
) -> list[str]:
    given = {key: value for key, value in (("start", q), ("rate", v)) if value}
    for law in laws:
        for key in (
            "stiffness",
            "rest",
            "preload",
            "damping",
            "lower",
            "upper",
            "stop_stiffness",
            "stop_damping",
            "stop_limit",
            "friction",
            "friction_stiffness",
        ):
            value = getattr(law, key)
            if value and abs(value) != inf:
                given[key] = value
    lines = []
    for key, value in given.items():
        reason = reasons.get(f"{joint.name}.{key}")
        lines.append(f"{name}.{key} = {_number(value)}" + (f"     # {reason}" if reason else ""))
    return lines
