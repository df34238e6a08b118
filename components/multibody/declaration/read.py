"""From a TOML file to a `Model`: every key with its unit and default.

A quantity is a number in SI, a string with a unit ("20 kg", "80 deg"), or a table of value, unit and source, as in the
systems of dockfmu. Components of points and axes are those of the body's frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from dockfmu.base import given_files
from dockfmu.base.given_files import parse_toml
from dockfmu.components.multibody.declaration.bodies import read_body
from dockfmu.components.multibody.declaration.checks import check_model
from dockfmu.components.multibody.declaration.drives import read_drive, read_loops
from dockfmu.components.multibody.declaration.elastic import embedded
from dockfmu.components.multibody.declaration.joint_frames import UNIT
from dockfmu.components.multibody.declaration.joints import read_joint
from dockfmu.components.multibody.declaration.laws import read_laws
from dockfmu.components.multibody.declaration.problems import Entries, ModelError, Problems
from dockfmu.components.multibody.declaration.solids import Solid
from dockfmu.components.multibody.declaration.surfaces import names_of, read_contact, read_sensor, read_surface
from dockfmu.components.multibody.declaration.values import matrix, pair, vector
from dockfmu.components.multibody.model.parts import (
    BASE,
    COORDINATES,
    CoordinateLaw,
    DeclaredOutcome,
    HystereticSpring,
    JointLock,
    Model,
    MultibodyJoint,
    PointSpring,
    Port,
)
from dockfmu.components.physics.elastic.body import LARGEST_FILE
from dockfmu.components.physics.mechanics.rotation import from_angles

MODEL_KEYS = ("name", "description", "gravity", "base", "bodies", "joints", "drives", "springs", "locks", "ports",
              "surfaces", "contacts", "sensors", "outcomes")  # fmt: skip
SPRING_KEYS = ("bodies", "points", "stiffness", "length", "damping", "tether", "pusher", "description")
LOCK_KEYS = ("joint", "coordinate", "at", "direction", "closed", "close_when", "open_when", "description")
PORT_KEYS = ("body", "point", "angles", "description")
DIRECTIONS = {"up": 1, "down": -1, "both": 0}


@dataclass(frozen=True)
class Declared:
    """Hold what a file declares: the model, the text itself and its tables, and the solids of its bodies."""

    model: Model
    file: str
    text: str = ""
    solids: Mapping[str, Solid] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)


def read_model(file: Path) -> Declared:
    """Read a declaration. Raises ModelError with all mistakes in it."""
    try:
        text = given_files.read_text(file, LARGEST_FILE)
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError([f"{file}: {given_files.unreadable(error)}"]) from error
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
    bodies = tuple(read_body(key, entries, solids, folder) for key, entries in top.tables("bodies").items())
    known = {BASE, *(body.name for body in bodies)}
    joints: list[MultibodyJoint] = []
    laws: list[CoordinateLaw] = []
    loops: list[HystereticSpring] = []
    for key, entries in top.tables("joints").items():
        joint = read_joint(key, entries, known)
        if joint is not None:
            joints.append(joint)
            loops.extend(read_loops(joint, entries))
        laws.extend(read_laws(key, entries))
    model = Model(
        name=top.text("name", name),
        description=top.text("description"),
        gravity=vector(top.array("gravity", "m/s2", (3,))),
        base=cast(Any, top.text("base", "fixed", ("fixed", "carried"))),
        bodies=bodies,
        joints=tuple(joints),
        laws=tuple(laws),
        loops=tuple(loops),
        drives=tuple(read_drive(key, entries, joints) for key, entries in top.tables("drives").items()),
        springs=tuple(filter(None, (_spring(key, entries) for key, entries in top.tables("springs").items()))),
        locks=tuple(_lock(key, entries, joints) for key, entries in top.tables("locks").items()),
        ports=tuple(_port(key, entries) for key, entries in top.tables("ports", numbered=True).items()),
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
        return Declared(model, file, embedded(text, folder), solids, content)
    except (OSError, ValueError) as error:
        raise ModelError([f"{file}: {error}"]) from error


def _spring(name: str, entries: Entries) -> PointSpring | None:
    entries = Entries(entries.content, entries.where, entries.problems, SPRING_KEYS)
    bodies = pair(entries)
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
    first, second = map(vector, points)
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
    return Port(name, body, vector(entries.array("point", "m", (3,))), matrix(from_angles(yaw, pitch, roll)))
