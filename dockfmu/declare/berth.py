"""The pose of a berth, `parameters.target` of the arm that goes there, is that of the station's unit.

On a fixed station the unit is no element. The contact or mechanism between both units has its pose as a constant input,
and the arm has it as a parameter, from which its relative motion is reckoned. The first follows the second; where both
are given and differ, the system is refused by name.

A moving station is an element. Arm and unit stand on two ports of it, whose places are its data: the berth of the arm
must be the pose of the second port against the first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dockfmu.master.errors import StructureError
from dockfmu.master.system import Structure

TARGET = "parameters.target"
FIXED = "parameters.base_fixed"
INTERFACE, BASE = "interface", "base"
POSITION, QUATERNION = ".position[1]", ".quaternion[1]"
SLOTS = tuple(f"{name}[{k}]" for name, size in (("position", 3), ("quaternion", 4)) for k in range(1, size + 1))
NEAR = 1e-6
"""m and rad by which two statements of one pose may differ."""


def follow_berths(system: Structure, before: Structure | None = None) -> None:
    """Give the units of berths the pose that their arm states, unless they have been given one.

    `before` is the system before the last changes: units that stood at the berth there, and were not moved by those
    changes, still follow.
    """
    for arm, unit, port in _berths(system):
        if before is None:
            follows = not any(f"{port}.{name}" in system.elements[unit].start for name in SLOTS)
        else:
            here, there = (_pose(one, unit, port) for one in (system, before))
            follows = np.array_equal(np.hstack(here), np.hstack(there)) and _apart(before, arm, unit, port) is None
        if follows:
            # a run, which only checks berths, spares itself the second in which kernels are imported
            from dockfmu.components.physics.mechanics.rotation import from_angles, quaternion

            position, angles = _stated(system, arm)
            for name, value in zip(SLOTS, (*position, *quaternion(from_angles(*map(float, angles)))), strict=True):
                system.elements[unit].start[f"{port}.{name}"] = float(value)


def check_berths(system: Structure) -> None:
    """Raise StructureError for units of a station that do not stand where their arm states its berth."""
    problems = []
    for arm, station, root, unit in _moving_berths(system):
        stated, found = _berth(system, arm), _between(system, station, root, unit)
        apart = _distance(*stated, *found)
        if apart is not None:
            problems.append(
                f"{arm}.{TARGET} is {apart[0]:.3g} m and {apart[1]:.3g} rad off {station}.{unit}, on which the unit of "
                f"the berth stands: set {arm}.{TARGET}.position to {_written(found[0])} m, with angles to match, or "
                f"move {station}.parameters.{unit}"
            )
    for arm, unit, port in _berths(system):
        apart = _apart(system, arm, unit, port)
        if apart is not None:
            place, turn = apart
            problems.append(
                f"{unit}.{port} stands {place:.3g} m and {turn:.3g} rad off {arm}.{TARGET}, which states the same unit "
                f"of the station: set {arm}.{TARGET}.position and .angles alone, and {unit}.{port} follows"
            )
    if problems:
        raise StructureError(problems)


def _berths(system: Structure) -> Iterator[tuple[str, str, str]]:
    """Yield (arm, unit, port) of each port with a constant pose beside the interface of a payload.

    Arms are elements with a target and an interface, on a fixed base. Ports are those with a pose as input, of an
    element that takes the pose of the interface at another port.
    """
    fed = {(c.target, c.input) for c in system.connections}
    for connection in system.connections:
        arm, unit = connection.source, connection.target
        if connection.output != INTERFACE + POSITION or not connection.input.endswith(POSITION):
            continue
        if system.start_value(arm, f"{TARGET}{POSITION}") is None or not system.start_value(arm, FIXED):
            continue
        for variable in system.description(unit).select("input"):
            port = variable.name.removesuffix(POSITION)
            poses = variable.name.endswith(POSITION) and f"{port}{QUATERNION}" in system.description(unit).variables
            if poses and (unit, variable.name) not in fed:
                yield arm, unit, port


def _moving_berths(system: Structure) -> Iterator[tuple[str, str, str, str]]:
    """Yield (arm, station, port of the arm, port of the berth) of each arm on a craft that carries its berth, too.

    The port of the berth is one whose pose goes to an element that takes the pose of the payload's interface.
    """
    poses = [c for c in system.connections if c.output.endswith(POSITION) and c.input.endswith(POSITION)]
    for base in poses:
        arm, station = base.target, base.source
        if base.input != BASE + POSITION or system.start_value(arm, f"{TARGET}{POSITION}") is None:
            continue
        meeting = {c.target for c in poses if c.source == arm and c.output == INTERFACE + POSITION}
        for unit in poses:
            if unit.source == station and unit.target in meeting:
                root, port = (c.output.removesuffix(POSITION) for c in (base, unit))
                if all(system.start_value(station, f"parameters.{p}{POSITION}") is not None for p in (root, port)):
                    yield arm, station, root, port


def _between(system: Structure, station: str, root: str, port: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (position, axes) of a port of a craft against another one, in axes of that one."""
    (origin, own), (place, its) = (
        (
            _vector(system, station, f"parameters.{p}.position"),
            _axes(_vector(system, station, f"parameters.{p}.angles")),
        )
        for p in (root, port)
    )
    return own @ (place - origin), its @ own.T


def _vector(system: Structure, element: str, name: str) -> np.ndarray:
    values = [system.start_value(element, f"{name}[{k}]") for k in (1, 2, 3)]
    return np.array([0.0 if value is None else float(value) for value in values])


def _written(vector: np.ndarray) -> str:
    return f"[{', '.join(f'{x:.9g}' for x in vector)}]"


def _pose(system: Structure, unit: str, port: str) -> tuple[np.ndarray, np.ndarray]:
    values = np.array([float(system.start_value(unit, f"{port}.{name}")) for name in SLOTS])
    return values[:3], values[3:]


def _stated(system: Structure, arm: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (position, angles) of the berth of an arm, in B = I."""
    position, angles = (_vector(system, arm, f"{TARGET}.{name}") for name in ("position", "angles"))
    return position, angles


def _berth(system: Structure, arm: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (position, axes) of the berth of an arm, in B = I."""
    position, angles = _stated(system, arm)
    return position, _axes(angles)


def _apart(system: Structure, arm: str, unit: str, port: str) -> tuple[float, float] | None:
    """Return (distance, angle) between a unit and the berth of its arm, or None if they are the same pose."""
    position, turned = _pose(system, unit, port)
    size = float(np.linalg.norm(turned))
    # a unit without an attitude is refused elsewhere
    return _distance(position, _axes_of(turned / size), *_berth(system, arm)) if size > 0.0 else None


def _distance(here: np.ndarray, own: np.ndarray, there: np.ndarray, stated: np.ndarray) -> tuple[float, float] | None:
    """Return (distance, angle) between two poses (position, axes), or None if they are the same pose."""
    place, turn = float(np.linalg.norm(here - there)), float(np.linalg.norm(own - stated) / np.sqrt(2.0))
    return (place, turn) if place > NEAR or turn > NEAR else None


def _axes(angles: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of yaw, pitch, roll as `rotation.from_angles` does."""
    (cy, cp, cr), (sy, sp, sr) = np.cos(angles), np.sin(angles)
    about_y = np.array([[cy, 0.0, -sy], [0.0, 1.0, 0.0], [sy, 0.0, cy]])
    about_z = np.array([[cp, sp, 0.0], [-sp, cp, 0.0], [0.0, 0.0, 1.0]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cr, sr], [0.0, -sr, cr]])
    axes: np.ndarray = about_x @ about_z @ about_y
    return axes


def _axes_of(q: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a unit quaternion as `rotation.from_quaternion` does."""
    w, v = q[0], q[1:]
    axes: np.ndarray = (w * w - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * w * np.cross(v, np.eye(3))
    return axes
