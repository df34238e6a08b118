"""Read surfaces, contacts and sensors of a declaration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import hypot
from typing import Any

import numpy as np

from dockfmu.base.names import did_you_mean
from dockfmu.components.multibody.declaration.joint_frames import UNIT, about, unit_vector
from dockfmu.components.multibody.declaration.problems import Entries
from dockfmu.components.multibody.model.parts import COORDINATES, MultibodyJoint
from dockfmu.components.multibody.model.surfaces import DeclaredContact, DeclaredSensor, DeclaredSurface, Form, Vertex
from dockfmu.components.multibody.model.vectors import Matrix, Vector
from dockfmu.components.physics.mechanics.rotation import from_angles

FORMS = ("sphere", "segment", "cone", "circle", "cylinder", "plane", "profile", "section")
SURFACE_KEYS = ("body", "point", "axis", "angles", "radius", *FORMS, "description")
CONTACT_KEYS = ("surfaces", "pairs", "stiffness", "damping", "friction", "slip_velocity", "depth_limit", "description")
SENSOR_KEYS = ("contact", "joint", "coordinate", "gap", "above", "below", "pairs", "description")
SLIP_VELOCITY, DEPTH_LIMIT = 1e-3, 1e-2
"""Defaults: m/s, m."""


def read_surface(name: str, entries: Entries) -> DeclaredSurface | None:
    """Return a surface, or None if it has no form."""
    entries = Entries(entries.content, entries.where, entries.problems, SURFACE_KEYS)
    body = entries.text("body", needed=True)
    point = _vector(entries.array("point", "m", (3,)))
    rotation = _rotation(entries)
    given = [form for form in FORMS if form in entries]
    if len(given) != 1:
        entries.problem(given[1] if given else "body", f"the surface needs exactly one form: {', '.join(FORMS)}")
        return None
    kind = given[0]
    if "radius" in entries and kind != "segment":
        entries.problem("radius", "belongs to a segment; the other forms contain their radii")
    if kind == "sphere":
        return DeclaredSurface(name, body, "ball", kind, point, rotation, radius=_length(entries, "sphere"))
    if kind == "segment":
        return _segment(name, body, entries, rotation)
    vertices = _vertices(entries, kind)
    form: Form = "section" if kind == "section" else "profile"
    if form == "section":
        vertices = _check_section(entries, vertices)
    else:
        _check_profile(entries, kind, vertices)
    return DeclaredSurface(name, body, form, kind, point, rotation, vertices=vertices)


def _vector(numbers: Any) -> Vector:
    x, y, z = map(float, numbers)
    return x, y, z


def _rotation(entries: Entries) -> Matrix:
    """Return the rotation body -> surface, from the direction of its x or from angles."""
    A = np.eye(3)
    if "axis" in entries:
        if "angles" in entries:
            entries.problem("angles", "give either axis, the direction of x, or angles (yaw, pitch, roll)")
        frame = about(unit_vector(entries, "axis", entries.array("axis", "1", (3,), (1.0, 0.0, 0.0))))
        A = frame[[2, 0, 1]]
    else:
        A = np.array(from_angles(*map(float, entries.array("angles", "rad", (3,)))))
    x, y, z = (_vector(row) for row in A)
    return x, y, z


def _length(entries: Entries, key: str, default: float = 0.0) -> float:
    value = entries.quantity(key, "m", default)
    if value < 0.0:
        entries.problem(key, "must not be negative")
    return max(value, 0.0)


def _segment(name: str, body: str, entries: Entries, rotation: Matrix) -> DeclaredSurface:
    for key in ("point", "axis", "angles"):
        if key in entries:
            entries.problem(key, "a segment is given by its two ends, in the frame of its body")
    ends = np.array(entries.array("segment", "m", (2, 3)))
    along = ends[1] - ends[0]
    if not along.any():
        entries.problem("segment", "needs two different ends; a point is sphere = 0")
    return DeclaredSurface(
        name, body, "segment", "segment", _vector(ends[0]), radius=_length(entries, "radius"), along=_vector(along)
    )


def _listed(entries: Entries, kind: str) -> Any:
    """Return what a key gives, without the unit and source that it may give beside it."""
    given = entries.content[kind]
    return given.get("value") if isinstance(given, dict) else given


def _vertices(entries: Entries, kind: str) -> tuple[Vertex, ...]:
    """Return the vertices (x, r) of a surface of revolution."""
    if kind in ("profile", "section"):
        given = _listed(entries, kind)
        least = 2 if kind == "profile" else 3
        if not isinstance(given, list) or len(given) < least:
            entries.problem(kind, f"must be a list of at least {least} vertices [x, r], in m")
            return ()
        return tuple((float(x), float(r)) for x, r in entries.array(kind, "m", (len(given), 2)))
    if kind == "plane":
        given = _listed(entries, kind)
        outer, inner = (
            entries.array("plane", "m", (2,)) if isinstance(given, list) else (entries.quantity("plane", "m"), 0.0)
        )
        return ((0.0, float(outer)), (0.0, float(inner)))
    sizes = [float(size) for size in entries.array(kind, "m", (3,) if kind == "cone" else (2,))]
    if kind == "cone":
        return ((0.0, sizes[0]), (sizes[2], sizes[1]))
    radius, second = sizes
    if kind == "circle":
        return ((0.0, radius + second), (0.0, radius), (second, radius))
    return ((0.0, radius), (second, radius))


MEANING = {
    "cone": "cone = [large radius, small radius, length]",
    "circle": "circle = [radius, width]",
    "cylinder": "cylinder = [radius, length]",
    "plane": "plane = outer radius, or [outer radius, inner radius]",
    "profile": "profile = [[x, r], ...] from the mouth to the bottom",
}


def _check_profile(entries: Entries, kind: str, vertices: Sequence[Vertex]) -> None:
    for (x0, r0), (x1, r1) in pairwise(vertices):
        if not (x1 >= x0 and r1 <= r0 and r1 >= 0.0 and hypot(x1 - x0, r1 - r0) > 0.0):
            entries.problem(
                kind,
                f"from ({x0:g}, {r0:g}) m to ({x1:g}, {r1:g}) m: x must not fall, r neither rise nor be negative, and "
                f"the points must differ: {MEANING[kind]}",
            )
            return


def _check_section(entries: Entries, vertices: tuple[Vertex, ...]) -> tuple[Vertex, ...]:
    """Return the vertices of a section in the sense from x to r; a mistake if it is not convex."""
    if not vertices:
        return ()
    around = [*vertices, vertices[0], vertices[1]]
    turns = [
        (x1 - x0) * (r2 - r1) - (r1 - r0) * (x2 - x1)
        for (x0, r0), (x1, r1), (x2, r2) in zip(around, around[1:], around[2:], strict=False)
    ]
    if any(r < 0.0 for _, r in vertices):
        entries.problem("section", "the radii r must not be negative")
    elif not (all(turn > 0.0 for turn in turns) or all(turn < 0.0 for turn in turns)):
        entries.problem("section", "must be a convex polygon of vertices [x, r] without points on its edges; split it")
    return vertices if turns[0] > 0.0 else vertices[::-1]


def read_contact(name: str, entries: Entries) -> DeclaredContact:
    """Return a contact: pairs of surfaces, and the law of their force."""
    entries = Entries(entries.content, entries.where, entries.problems, CONTACT_KEYS)
    key = "pairs" if "pairs" in entries else "surfaces"
    if "pairs" in entries and "surfaces" in entries:
        entries.problem("pairs", "give either surfaces, two names, or pairs, a list of two names each")
    given = entries.items("pairs") if key == "pairs" else [entries.content.get("surfaces")]
    pairs = []
    for pair in given:
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, str) for one in pair):
            pairs.append((pair[0], pair[1]))
        else:
            entries.problem(
                key,
                "is missing; give the names of two surfaces"
                if pair is None
                else "must name two surfaces" + (" in each pair" if key == "pairs" else ""),
            )
    law = {
        "stiffness": entries.quantity("stiffness", "N/m", 1.0, needed=True),
        "damping": entries.quantity("damping", "N.s/m"),
        "friction": entries.quantity("friction", "1"),
        "slip_velocity": entries.quantity("slip_velocity", "m/s", SLIP_VELOCITY),
        "depth_limit": entries.quantity("depth_limit", "m", DEPTH_LIMIT),
    }
    for name_of, value in law.items():
        positive = name_of in ("stiffness", "slip_velocity", "depth_limit")
        if value < 0.0 or (positive and value == 0.0):
            entries.problem(name_of, "must be positive" if positive else "must not be negative")
    return DeclaredContact(name, tuple(pairs), **law)


def read_sensor(name: str, entries: Entries, joints: Iterable[MultibodyJoint]) -> DeclaredSensor | None:
    """Return a sensor, or None if it looks at nothing."""
    entries = Entries(entries.content, entries.where, entries.problems, SENSOR_KEYS)
    given = [key for key in ("contact", "joint", "gap") if key in entries]
    if len(given) != 1:
        entries.problem(given[1] if given else "contact", "a sensor needs exactly one of contact, joint, gap")
        return None
    kind = given[0]
    for key, belongs in (("pairs", "contact"), ("coordinate", "joint")):
        if key in entries and kind != belongs:
            entries.problem(key, f"belongs to a sensor on a {belongs}")
    if kind == "contact":
        for key in ("above", "below"):
            if key in entries:
                entries.problem(key, "a sensor on a contact is closed while `pairs` of its pairs touch; give pairs")
        pairs = entries.quantity("pairs", "1", 1.0)
        if pairs < 1.0 or pairs != round(pairs):
            entries.problem("pairs", "must be a whole number of at least 1")
        return DeclaredSensor(name, "contact", entries.text("contact"), level=pairs - 0.5)
    if kind == "gap":
        pair = entries.items("gap")
        if len(pair) != 2 or not all(isinstance(one, str) for one in pair):
            entries.problem(
                "gap", "must name two surfaces: the gap is that of the first's origin before the second's plane"
            )
            return None
        level, above = _level(entries, "m")
        return DeclaredSensor(name, "gap", pair[0], other=pair[1], level=level, above=above)
    joint = entries.text("joint")
    found = next((one for one in joints if one.name == joint), None)
    names = COORDINATES.get(found.kind, ()) if found is not None and found.kind not in ("spherical", "free") else ()
    named = entries.text("coordinate", names[0] if names else "", names if names else None)
    level, above = _level(entries, UNIT.get(named, "rad"))
    return DeclaredSensor(name, "joint", joint, names.index(named) if named in names else 0, level=level, above=above)


def _level(entries: Entries, unit: str) -> tuple[float, bool]:
    given = [key for key in ("above", "below") if key in entries]
    if len(given) != 1:
        entries.problem(given[1] if given else "above", "give either above or below")
        return 0.0, True
    return entries.quantity(given[0], unit), given[0] == "above"


def names_of(entries: Entries, key: str) -> tuple[str, ...]:
    """Return a list of names, or one name."""
    given = entries.content.get(key, [])
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        entries.problem(key, "must be the name of a sensor, or a list of names")
        return ()
    return tuple(listed)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence that there is no such thing."""
    names = tuple(known)
    hint = did_you_mean(name, names) or (f"; there are {', '.join(names)}" if names else "; none is declared")
    return f"there is no {what} {name!r}{hint}"
