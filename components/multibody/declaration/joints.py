"""Read joints: their kind, bodies, frames and start values."""

from __future__ import annotations

from typing import cast

import numpy as np

from dockfmu.components.multibody.declaration.checks import check_ends
from dockfmu.components.multibody.declaration.joint_frames import UNIT, about, joint_frames, unit_vector
from dockfmu.components.multibody.declaration.laws import LAW_KEYS
from dockfmu.components.multibody.declaration.problems import Entries
from dockfmu.components.multibody.declaration.values import matrix, pair, vector
from dockfmu.components.multibody.model.parts import (
    CLOSURE_LIMIT,
    CONSTRAINTS,
    COORDINATES,
    Kind,
    Mounting,
    MultibodyJoint,
    PrescribedMotion,
)
from dockfmu.components.physics.mechanics.rotation import from_angles, quaternion

CONSTRAINT_KEYS = ("kind", "bodies", "points", "normal", "axis", "radius", "cut", "closure_limit", "description")
JOINT_KEYS = ("kind", "bodies", "points", "axis", "axes", "attitude", "pitch", "cut", "closure_limit", "start",
              "description")  # fmt: skip
START_KEYS = ("position", "quaternion", "angles", "velocity", "angular_velocity")
COORDINATE_KEYS = ("start", "rate", "motion", "hysteresis", *LAW_KEYS)
MOTION_KEYS = ("position", "rate", "acceleration", "amplitude", "frequency", "phase")


def read_joint(name: str, entries: Entries, known: set[str]) -> MultibodyJoint | None:
    """Return a joint, None if it has no kind or no two bodies; `known` are the names of bodies."""
    kind = cast(Kind, entries.text("kind", "", (*COORDINATES, *CONSTRAINTS), needed=True))
    if not kind:
        _tell_shared(entries, known)
        return None
    if kind in CONSTRAINTS:
        return _constraint(name, kind, entries)
    special = kind in ("spherical", "free")
    keys = JOINT_KEYS if special else (*(key for key in JOINT_KEYS if key != "start"), *COORDINATES[kind])
    entries = Entries(entries.content, entries.where, entries.problems, keys)
    bodies = pair(entries)
    points = entries.array("points", "m", (2, 3))
    frames = joint_frames(entries, kind)
    if kind == "screw":
        pitch = entries.quantity("pitch", "m", needed=True)
    else:
        pitch = 0.0
        if "pitch" in entries:
            entries.problem("pitch", f"a {kind} joint has no pitch; kind = 'screw' has one")
    motions: dict[int, PrescribedMotion] = {}
    if special:
        q, v = _start(entries, kind)
    else:
        q, v, motions = _coordinates(entries, kind)
    if bodies is None:
        return None
    return MultibodyJoint(
        name,
        kind,
        *bodies,
        Mounting(vector(points[0]), matrix(frames[0])),
        Mounting(vector(points[1]), matrix(frames[1])),
        pitch,
        q,
        v,
        motions,
        entries.flag("cut"),
        closure_limit=_closure_limit(entries),
    )


def _tell_shared(entries: Entries, known: set[str]) -> None:
    """Note the mistakes in what all kinds have, for a joint whose own kind there is not."""
    bodies = pair(entries)
    if bodies is not None:
        for where, what in check_ends(entries.where, bodies, known):
            entries.problems.add(where, what)
    entries.array("points", "m", (2, 3))
    if "axis" in entries:
        unit_vector(entries, "axis", entries.array("axis", "1", (3,), (0.0, 0.0, 1.0)))
    entries.array("attitude", "rad", (3,))
    entries.flag("cut")
    _closure_limit(entries)


def _constraint(name: str, kind: Kind, entries: Entries) -> MultibodyJoint | None:
    """Return a joint that is a non-holonomic constraint alone."""
    entries = Entries(entries.content, entries.where, entries.problems, CONSTRAINT_KEYS)
    bodies = pair(entries)
    points = entries.array("points", "m", (2, 3))
    if not entries.flag("cut"):
        entries.problem("cut", f"a {kind} constrains velocities and is no joint of a tree: add cut = true")
    frames = [np.eye(3), np.eye(3)]
    rolls = kind != "knife_edge"
    if rolls:
        normal = entries.array("normal", "1", (3,), (0.0, 0.0, 1.0))
        frames[0] = about(unit_vector(entries, "normal", normal))
    elif "normal" in entries:
        entries.problem("normal", "a knife_edge has no plane: give axis, the direction in which it does not slip")
    if kind == "rolling_ball":
        if "axis" in entries:
            entries.problem("axis", "a ball has no axis; kind = 'rolling_disc' has one")
    else:
        axis = entries.array("axis", "1", (3,), (0.0, 0.0, 1.0))
        frames[1] = about(unit_vector(entries, "axis", axis))
    radius = entries.quantity("radius", "m", 1.0, needed=True) if rolls else 0.0
    if rolls and not radius > 0.0:
        entries.problem("radius", "must be positive")
    if not rolls and "radius" in entries:
        entries.problem("radius", "a knife_edge has no radius; leave this out")
    if bodies is None:
        return None
    inner, outer = map(vector, points)
    mountings = (Mounting(inner, matrix(frames[0])), Mounting(outer, matrix(frames[1])))
    limit = _closure_limit(entries)
    return MultibodyJoint(name, kind, *bodies, *mountings, cut=True, radius=radius, closure_limit=limit)


def _closure_limit(entries: Entries) -> float:
    """Return the error of the closure of a cut joint with which a run ends."""
    limit = entries.quantity("closure_limit", "m", CLOSURE_LIMIT)
    if not limit > 0.0:
        entries.problem("closure_limit", "must be positive")
    elif "closure_limit" in entries and not entries.content.get("cut", False):
        entries.problem("closure_limit", "this joint closes no loop: leave this out, or add cut = true")
    return limit


def _start(entries: Entries, kind: Kind) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the start values of a spherical or free joint."""
    keys = START_KEYS if kind == "free" else ("quaternion", "angles", "angular_velocity")
    start = entries.table("start", keys)
    attitude = np.array((1.0, 0.0, 0.0, 0.0))
    if "quaternion" in start and "angles" in start:
        start.problem("angles", "give either quaternion or angles (yaw, pitch, roll)")
    elif "angles" in start:
        yaw, pitch, roll = start.array("angles", "rad", (3,))
        attitude = np.array(quaternion(from_angles(float(yaw), float(pitch), float(roll))))
    elif "quaternion" in start:
        attitude = np.array(start.array("quaternion", "1", (4,), attitude))
        norm = float(np.linalg.norm(attitude))
        if not abs(norm - 1.0) < 1e-6:
            start.problem("quaternion", f"has norm {norm:.6g}, not 1")
        else:
            attitude = attitude / norm
    spin = start.array("angular_velocity", "rad/s", (3,))
    if kind == "spherical":
        return tuple(map(float, attitude)), tuple(map(float, spin))
    place, speed = start.array("position", "m", (3,)), start.array("velocity", "m/s", (3,))
    return tuple(map(float, (*place, *attitude))), tuple(map(float, (*speed, *spin)))


def _coordinates(
    entries: Entries, kind: Kind
) -> tuple[tuple[float, ...], tuple[float, ...], dict[int, PrescribedMotion]]:
    q: list[float] = []
    v: list[float] = []
    motions: dict[int, PrescribedMotion] = {}
    for k, name in enumerate(COORDINATES[kind]):
        unit = UNIT[name]
        table = entries.table(name, COORDINATE_KEYS)
        q.append(table.quantity("start", unit))
        v.append(table.quantity("rate", f"{unit}/s"))
        if "motion" in table:
            given = table.table("motion", MOTION_KEYS)
            for key in ("start", "rate"):
                if key in table:
                    table.problem(key, "a prescribed coordinate starts with its motion: leave this out")
            motions[k] = PrescribedMotion(
                given.quantity("position", unit),
                given.quantity("rate", f"{unit}/s"),
                given.quantity("acceleration", f"{unit}/s2"),
                given.quantity("amplitude", unit),
                given.quantity("frequency", "rad/s"),
                given.quantity("phase", "rad"),
            )
    return tuple(q), tuple(v), motions
