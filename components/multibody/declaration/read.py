"""From a TOML file to a `Model`: every key with its unit and default.

A quantity is a number in SI, a string with a unit ("20 kg", "80 deg"), or a table of value, unit and source, as in the
systems of dockfmu. Components of points and axes are those of the body's frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, cast

import numpy as np

from dockfmu.base import given_files
from dockfmu.base.given_files import parse_toml
from dockfmu.components.multibody.declaration.checks import check_model
from dockfmu.components.multibody.declaration.drives import read_drive, read_loops
from dockfmu.components.multibody.declaration.elastic import embedded, read_elastic
from dockfmu.components.multibody.declaration.joint_frames import UNIT, about, joint_frames, unit_vector
from dockfmu.components.multibody.declaration.problems import Entries, ModelError, Problems
from dockfmu.components.multibody.declaration.solids import Solid, read_solid
from dockfmu.components.multibody.declaration.surfaces import names_of, read_contact, read_sensor, read_surface
from dockfmu.components.multibody.model.parts import (
    CLOSURE_LIMIT,
    CONSTRAINTS,
    COORDINATES,
    CoordinateLaw,
    DeclaredOutcome,
    HystereticSpring,
    JointLock,
    Kind,
    Model,
    Mounting,
    MultibodyJoint,
    PointSpring,
    Port,
    PrescribedMotion,
    RigidBody,
)
from dockfmu.components.multibody.model.vectors import Matrix, Vector
from dockfmu.components.physics.elastic.body import LARGEST_FILE
from dockfmu.components.physics.mechanics.rotation import from_angles, quaternion

MODEL_KEYS = ("name", "description", "gravity", "base", "bodies", "joints", "drives", "springs", "locks", "ports",
              "surfaces", "contacts", "sensors", "outcomes")  # fmt: skip
BODY_KEYS = ("mass", "center", "inertia", "solid", "description")
CONSTRAINT_KEYS = ("kind", "bodies", "points", "normal", "axis", "radius", "cut", "closure_limit", "description")
JOINT_KEYS = ("kind", "bodies", "points", "axis", "axes", "attitude", "pitch", "cut", "closure_limit", "start",
              "description")  # fmt: skip
START_KEYS = ("position", "quaternion", "angles", "velocity", "angular_velocity")
LAW_KEYS = ("stiffness", "rest", "preload", "damping", "lower", "upper", "stop_stiffness", "stop_damping", "stop_limit",
            "friction", "friction_stiffness")  # fmt: skip
COORDINATE_KEYS = ("start", "rate", "motion", "hysteresis", *LAW_KEYS)
MOTION_KEYS = ("position", "rate", "acceleration", "amplitude", "frequency", "phase")
SPRING_KEYS = ("bodies", "points", "stiffness", "length", "damping", "tether", "pusher", "description")
LOCK_KEYS = ("joint", "coordinate", "at", "direction", "closed", "close_when", "open_when", "description")
PORT_KEYS = ("body", "point", "angles", "description")
DIRECTIONS = {"up": 1, "down": -1, "both": 0}


@dataclass(frozen=True)
class Declared:
    """Hold what a file declares: the model, the text itself, and the solids of its bodies for the view."""

    model: Model
    file: str
    text: str = ""
    solids: Mapping[str, Solid] = field(default_factory=dict)


def read_model(file: Path) -> Declared:
    """Read a declaration. Raises ModelError with all mistakes in it."""
    try:
        text = given_files.read_text(file, LARGEST_FILE)
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError([f"{file}: {error}"]) from error
    return read_text(text, str(file), file.stem, file.parent)


def read_text(text: str, file: str = "the declaration", name: str = "multibody", folder: Path = Path()) -> Declared:
    """Read the text of a declaration; `name` is that of a model that gives none, `folder` has its other files.

    Raises ModelError.
    """
    try:
        content = parse_toml(text)
    except ValueError as error:
        raise ModelError([f"{file}: {error}"]) from error
    problems = Problems(file)
    top = Entries(content, "", problems, MODEL_KEYS)
    solids: dict[str, Solid] = {}
    bodies = tuple(_body(key, entries, solids, folder) for key, entries in top.tables("bodies").items())
    joints: list[MultibodyJoint] = []
    laws: list[CoordinateLaw] = []
    loops: list[HystereticSpring] = []
    for key, entries in top.tables("joints").items():
        joint = _joint(key, entries)
        if joint is not None:
            joints.append(joint)
            loops.extend(read_loops(joint, entries))
        laws.extend(_laws(key, entries))
    model = Model(
        name=top.text("name", name),
        description=top.text("description"),
        gravity=_vector(top.array("gravity", "m/s2", (3,))),
        base=cast(Any, top.text("base", "fixed", ("fixed", "carried"))),
        bodies=bodies,
        joints=tuple(joints),
        laws=tuple(laws),
        loops=tuple(loops),
        drives=tuple(read_drive(key, entries, joints) for key, entries in top.tables("drives").items()),
        springs=tuple(filter(None, (_spring(key, entries) for key, entries in top.tables("springs").items()))),
        locks=tuple(_lock(key, entries, joints) for key, entries in top.tables("locks").items()),
        ports=tuple(_port(key, entries) for key, entries in top.tables("ports").items()),
        surfaces=tuple(filter(None, (read_surface(key, entries) for key, entries in top.tables("surfaces").items()))),
        contacts=tuple(read_contact(key, entries) for key, entries in top.tables("contacts").items()),
        sensors=tuple(
            filter(None, (read_sensor(key, entries, joints) for key, entries in top.tables("sensors").items()))
        ),
        outcomes=tuple(_outcome(key, entries) for key, entries in top.tables("outcomes").items()),
    )
    for where, what in check_model(model, complete=len(joints) == len(top.table("joints").content)):
        problems.add(where, what)
    problems.raise_if_any()
    try:
        return Declared(model, file, embedded(text, folder), solids)
    except (OSError, ValueError) as error:
        raise ModelError([f"{file}: {error}"]) from error


def _vector(numbers: Any) -> Vector:
    x, y, z = map(float, numbers)
    return x, y, z


def _matrix(rows: Any) -> Matrix:
    x, y, z = map(_vector, rows)
    return x, y, z


def _body(name: str, entries: Entries, solids: dict[str, Solid], folder: Path) -> RigidBody:
    if "elastic" in entries:
        return read_elastic(name, entries, folder)
    entries = Entries(entries.content, entries.where, entries.problems, BODY_KEYS)
    mass = entries.quantity("mass", "kg", 1.0, needed=True)
    solid = read_solid(entries, "solid")
    inertia = np.zeros((3, 3)) if solid is None else solid.inertia(mass)
    if solid is not None:
        solids[name] = solid
    if "inertia" in entries:
        inertia = _inertia(entries, inertia)
    return RigidBody(name, mass, _vector(entries.array("center", "m", (3,))), _matrix(inertia))


def _inertia(entries: Entries, default: np.ndarray) -> np.ndarray:
    """Return an inertia from three principal moments, from xx, yy, zz, xy, xz, yz, or from a matrix."""
    given = entries.content["inertia"]
    given = given.get("value") if isinstance(given, Mapping) else given
    rows = len(given) if isinstance(given, list) else 0
    nested = rows == 3 and isinstance(given, list) and all(isinstance(row, list) for row in given)
    if rows not in (3, 6):
        entries.problem("inertia", "must be three moments, six elements (xx, yy, zz, xy, xz, yz) or 3 x 3, in kg.m2")
        return default
    if nested:
        return np.array(entries.array("inertia", "kg.m2", (3, 3), default))
    if rows == 3:
        return np.diag(entries.array("inertia", "kg.m2", (3,)))
    xx, yy, zz, xy, xz, yz = entries.array("inertia", "kg.m2", (6,))
    return np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def _pair(entries: Entries) -> tuple[str, str] | None:
    """Return the two bodies that a joint or a spring joins."""
    given = entries.items("bodies")
    if "bodies" not in entries:
        entries.problem("bodies", "is missing; give the two bodies, such as ['base', 'panel']")
        return None
    if len(given) > 2:
        entries.problem(
            "bodies",
            "joins exactly two bodies; enter the meeting of more in one hinge as several joints "
            "at one point (multibody-formulations E3)",
        )
        return None
    if len(given) != 2 or not all(isinstance(body, str) for body in given):
        entries.problem("bodies", "must be the names of two bodies")
        return None
    first, second = given
    return first, second


def _joint(name: str, entries: Entries) -> MultibodyJoint | None:
    kind = cast(Kind, entries.text("kind", "", (*COORDINATES, *CONSTRAINTS), needed=True))
    if not kind:
        return None
    if kind in CONSTRAINTS:
        return _constraint(name, kind, entries)
    special = kind in ("spherical", "free")
    keys = JOINT_KEYS if special else (*(key for key in JOINT_KEYS if key != "start"), *COORDINATES[kind])
    entries = Entries(entries.content, entries.where, entries.problems, keys)
    bodies = _pair(entries)
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
        Mounting(_vector(points[0]), _matrix(frames[0])),
        Mounting(_vector(points[1]), _matrix(frames[1])),
        pitch,
        q,
        v,
        motions,
        entries.flag("cut"),
        closure_limit=_closure_limit(entries),
    )


def _constraint(name: str, kind: Kind, entries: Entries) -> MultibodyJoint | None:
    """Return a joint that is a non-holonomic constraint alone."""
    entries = Entries(entries.content, entries.where, entries.problems, CONSTRAINT_KEYS)
    bodies = _pair(entries)
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
    inner, outer = map(_vector, points)
    mountings = (Mounting(inner, _matrix(frames[0])), Mounting(outer, _matrix(frames[1])))
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


def _laws(joint: str, entries: Entries) -> list[CoordinateLaw]:
    """Return the laws of the coordinates of a joint, also of one whose bodies could not be read."""
    kind = entries.content.get("kind")
    if kind not in [*COORDINATES] or kind in ("spherical", "free", "fixed", *CONSTRAINTS):
        return []
    found = []
    silent = Problems(entries.problems.file)
    for k, name in enumerate(COORDINATES[kind]):
        # unknown keys have been noted when the coordinate was read
        content = entries.content.get(name, {})
        table = Entries(content if isinstance(content, Mapping) else {}, f"{entries.where}.{name}", entries.problems)
        if not any(key in table for key in LAW_KEYS):
            continue
        unit = UNIT[name]
        force = "N.m" if unit == "rad" else "N"
        per = f"{force}/{unit}"
        for key in LAW_KEYS:
            if (
                key not in ("rest", "preload", "lower", "upper")
                and table.quantity(key, _law_unit(key, force, unit)) < 0
            ):
                table.problem(key, "must not be negative")
        quiet = Entries(table.content, table.where, silent)
        law = CoordinateLaw(
            joint,
            k,
            quiet.quantity("stiffness", per),
            table.quantity("rest", unit),
            table.quantity("preload", force),
            quiet.quantity("damping", f"{force}.s/{unit}"),
            table.quantity("lower", unit, -inf),
            table.quantity("upper", unit, inf),
            quiet.quantity("stop_stiffness", per),
            quiet.quantity("stop_damping", f"{force}.s/{unit}"),
            quiet.quantity("friction", force),
            quiet.quantity("friction_stiffness", per),
            quiet.quantity("stop_limit", unit, inf),
        )
        _check_law(table, law, per)
        found.append(law)
    return found


def _law_unit(key: str, force: str, unit: str) -> str:
    if key == "stop_limit":
        return unit
    if key in ("stiffness", "stop_stiffness", "friction_stiffness"):
        return f"{force}/{unit}"
    return f"{force}.s/{unit}" if key in ("damping", "stop_damping") else force


def _check_law(table: Entries, law: CoordinateLaw, per: str) -> None:
    if not law.lower < law.upper:
        table.problem("lower", f"must be less than upper = {law.upper:g}")
    stops = law.lower > -inf or law.upper < inf
    if stops and law.stop_stiffness == 0.0:
        table.problem("stop_stiffness", f"is missing: a stop needs a stiffness, in {per}")
    given = [key for key in ("stop_stiffness", "stop_damping", "stop_limit") if key in table]
    if not stops and given and (law.stop_stiffness or law.stop_damping or law.stop_limit < inf):
        table.problem(given[0], "there is no stop: give lower, upper or both")
    if "stop_limit" in table and law.stop_limit == 0.0:
        table.problem("stop_limit", "must be positive: a stop yields by its stiffness")
    if law.friction and not law.friction_stiffness:
        table.problem("friction_stiffness", f"is missing: friction sticks on a presliding stiffness, in {per}")


def _spring(name: str, entries: Entries) -> PointSpring | None:
    entries = Entries(entries.content, entries.where, entries.problems, SPRING_KEYS)
    bodies = _pair(entries)
    points = entries.array("points", "m", (2, 3))
    stiffness = entries.quantity("stiffness", "N/m", needed=True)
    length, damping = entries.quantity("length", "m"), entries.quantity("damping", "N.s/m")
    for key, value in (("stiffness", stiffness), ("length", length), ("damping", damping)):
        if value < 0.0:
            entries.problem(key, "must not be negative")
    tether, pusher = entries.flag("tether"), entries.flag("pusher")
    if tether and pusher:
        entries.problem("pusher", "a tether only pulls, a pusher only pushes: give one of them")
    if bodies is None:
        return None
    first, second = map(_vector, points)
    return PointSpring(name, *bodies, first, second, stiffness, length, damping, tether, pusher)


def _lock(name: str, entries: Entries, joints: list[MultibodyJoint]) -> JointLock:
    entries = Entries(entries.content, entries.where, entries.problems, LOCK_KEYS)
    joint = entries.text("joint", needed=True)
    found = next((one for one in joints if one.name == joint), None)
    whole = found is not None and found.kind in ("spherical", "free")
    kinds = COORDINATES.get(found.kind, ()) if found is not None and not whole else ()
    if whole and "coordinate" in entries:
        entries.problem("coordinate", "a spherical or free joint is locked as a whole: leave this out")
    named = entries.text("coordinate", kinds[0] if kinds else "", kinds if kinds else None)
    number = kinds.index(named) if named in kinds else 0
    at = entries.quantity("at", UNIT.get(named, "1")) if "at" in entries and (whole or named in UNIT) else None
    direction = DIRECTIONS[entries.text("direction", "both", DIRECTIONS)]
    return JointLock(
        name,
        joint,
        number,
        at,
        direction,
        entries.flag("closed"),
        names_of(entries, "close_when"),
        names_of(entries, "open_when"),
    )


def _outcome(name: str, entries: Entries) -> DeclaredOutcome:
    entries = Entries(entries.content, entries.where, entries.problems, ("when", "description"))
    when = names_of(entries, "when")
    if not when:
        entries.problem("when", "is missing; give the names of the sensors and locks that are closed then")
    return DeclaredOutcome(name, when)


def _port(name: str, entries: Entries) -> Port:
    entries = Entries(entries.content, entries.where, entries.problems, PORT_KEYS)
    yaw, pitch, roll = map(float, entries.array("angles", "rad", (3,)))
    body = entries.text("body", needed=True)
    return Port(name, body, _vector(entries.array("point", "m", (3,))), _matrix(from_angles(yaw, pitch, roll)))
