"""The groups of the record for surfaces, contacts and sensors, and the values that connect them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dockfmu.components.core import ports
from dockfmu.components.core.field import (
    BOOLEAN,
    INPUT,
    INTEGER,
    Field,
    Group,
    constants,
    local,
    output,
    parameter,
    private,
    temporaries,
    temporary,
)
from dockfmu.components.multibody.contacts import detection, sensors
from dockfmu.components.multibody.model.parts import COORDINATES, Model
from dockfmu.components.multibody.model.surfaces import TARGET, DeclaredContact, DeclaredSensor, DeclaredSurface, Form
from dockfmu.components.physics.contact import contact_list, pairs, sums

KINDS: Mapping[tuple[Form, Form], float] = {
    ("ball", "profile"): detection.BALL_PROFILE,
    ("segment", "profile"): detection.SEGMENT_PROFILE,
    ("ball", "section"): detection.BALL_SECTION,
    ("ball", "ball"): detection.CAPSULES,
    ("ball", "segment"): detection.CAPSULES,
    ("segment", "ball"): detection.CAPSULES,
    ("segment", "segment"): detection.CAPSULES,
}
"""The kinds of pairs that there are, the moving surface first."""


@dataclass(frozen=True)
class PairRow:
    """A convex pair: its contact, the names of its two surfaces, its kind, and the vertices that it takes."""

    contact: int
    first: DeclaredSurface
    second: DeclaredSurface
    kind: float
    first_vertex: int
    vertices: int


def ordered(first: DeclaredSurface, second: DeclaredSurface) -> tuple[DeclaredSurface, DeclaredSurface] | None:
    """Return two surfaces with the moving one first, or None if there is no such pair."""
    for pair in ((first, second), (second, first)):
        if (pair[0].form, pair[1].form) in KINDS:
            return pair
    return None


def has_target(model: Model) -> bool:
    """Return whether a model meets a unit at the port `target`."""
    return any(surface.body == TARGET for surface in model.surfaces)


def vertex_labels(model: Model) -> list[str]:
    """Return SURFACE.vertex_K of all vertices, in the order of the surfaces."""
    return [f"{one.name}.vertex_{k}" for one in model.surfaces for k in range(1, len(one.vertices) + 1)]


def pair_rows(model: Model) -> list[PairRow]:
    """Return the convex pairs of all contacts: a profile with concave corners makes several."""
    surfaces = {surface.name: surface for surface in model.surfaces}
    begin, start = {}, 0
    for surface in model.surfaces:
        begin[surface.name] = start
        start += len(surface.vertices)
    rows = []
    for k, contact in enumerate(model.contacts):
        for names in contact.pairs:
            pair = ordered(surfaces[names[0]], surfaces[names[1]])
            if pair is None:
                raise ValueError(f"contact {contact.name}: no pair of {' and '.join(names)}")
            first, second = pair
            kind = KINDS[first.form, second.form]
            for vertex, vertices in second.chains() if kind != detection.CAPSULES else [(0, 0)]:
                rows.append(PairRow(k, first, second, kind, begin[second.name] + vertex, vertices))
    return rows


def room(count: int) -> int:
    """Return the size of an array for `count` items: 16, 64, 256 ..., as kernels are compiled for each."""
    size = 16
    while size < count:
        size *= 4
    return size


def conditions(model: Model) -> list[tuple[int, int, bool]]:
    """Return (lock, sensor, opens) of all conditions of locks on sensors."""
    index = {sensor.name: k for k, sensor in enumerate(model.sensors)}
    return [
        (k, index[name], opens)
        for k, lock in enumerate(model.locks)
        for names, opens in ((lock.close_when, False), (lock.open_when, True))
        for name in names
    ]


def target_group() -> Group:
    """Return the port `target`: pose, twist and acceleration of the unit that is met come in, a wrench goes out."""
    return Group(
        "target",
        *ports.apart(2.0),
        *ports.twist(INPUT),
        *ports.acceleration(INPUT),
        *ports.wrench_output(),
        description="port of the unit that the system meets",
    )


def surface_fields() -> tuple[Field, ...]:
    """Return the fields of a surface: constants and its motion, positions from the origin of the base."""
    return (
        private("body", "1", "index of its body, -1 for the base and the target"),
        private("link", "1", "index of the link of its body, -1 for the target"),
        private("turn", "1", "link -> surface", shape=(3, 3)),
        private("arm", "m", "origin from the reference point, axes of the link", shape=3),
        private("radius", "m", "of a ball, or around a segment"),
        private("along", "m", "of a segment, axes of the surface", shape=3),
        temporary("rotation", "1", "I -> surface", shape=(3, 3)),
        temporary("position", "m", "of its origin, from that of the base, I", shape=3),
        temporary("reach", "m", "from the start of a segment to its end, I", shape=3),
        temporary("velocity", "m/s", "of the body at its origin, relative to the base's origin, I", shape=3),
        temporary("angular_velocity", "rad/s", "of the body, I", shape=3),
    )


def outline_fields(surface: DeclaredSurface | None) -> tuple[Field, ...]:
    """Return the parameters of a surface."""
    one = surface or DeclaredSurface("", "", "ball")
    round_off = one.form in ("ball", "segment")
    fields = (
        parameter("point", "m", f"origin of the surface on {one.body}, body frame", one.point, shape=3),
        parameter("radius", "m", "of the ball, or around the segment", one.radius, minimum=0.0)
        if round_off
        else private("radius", "m", "none"),
        parameter("along", "m", "from the start of the segment to its end, body frame", one.along, shape=3)
        if one.form == "segment"
        else private("along", "m", "none", shape=3),
        private("rotation", "1", "body -> surface", one.rotation, shape=(3, 3)),
    )
    return fields


def vertex_fields(label: str, surfaces: Mapping[str, DeclaredSurface]) -> tuple[Field, ...]:
    """Return the parameters of one vertex of an outline."""
    name, _, number = label.rpartition(".vertex_")
    x, r = surfaces[name].vertices[int(number) - 1] if name in surfaces else (0.0, 0.0)
    return (
        parameter("x", "m", f"of a vertex of the outline of {name}, along its axis", x),
        parameter("r", "m", f"radius of a vertex of the outline of {name}", r, minimum=0.0),
    )


def contact_fields() -> tuple[Field, ...]:
    """Return the outputs of a contact."""
    return (
        output("closed", "1", "any of its pairs touches", type=BOOLEAN),
        output("pairs", "1", "number of its pairs that touch", type=INTEGER),
        output("depth", "m", "largest depth"),
        output("normal_force", "N", "sum of the normal forces"),
        output("friction_force", "N", "sum of the magnitudes of friction"),
        output("peak_force", "N", "sum of the magnitudes of the forces, largest in the step"),
        local("position", "m", "of the deepest pair, I", shape=3),
        private("step_force", "N", "sum of the magnitudes of the forces in the micro-step"),
    )


def law_fields(contact: DeclaredContact | None) -> tuple[Field, ...]:
    """Return the parameters of a contact's law."""
    one = contact or DeclaredContact("", (), 0.0)
    return (
        parameter("stiffness", "N/m", "of the contact", one.stiffness, minimum=0.0),
        parameter("damping", "N.s/m", "along the normal", one.damping, minimum=0.0),
        parameter("friction", "1", "coefficient of friction", one.friction, minimum=0.0),
        parameter("slip_velocity", "m/s", "sliding speed below which friction fades", one.slip_velocity, minimum=1e-9),
        parameter("depth_limit", "m", "depth beyond which the model does not hold", one.depth_limit, minimum=0.0),
    )


def sensor_fields(sensor: DeclaredSensor | None, unit: str) -> tuple[Field, ...]:
    """Return the outputs of a sensor, and what it looks at."""
    one = sensor or DeclaredSensor("", "joint", "")
    number = {"contact": sensors.ON_CONTACT, "joint": sensors.ON_JOINT, "gap": sensors.ON_GAP}[one.kind]
    about = f"{one.part} and {one.other}" if one.other else one.part
    return (
        output("closed", "1", f"the {one.kind} {about} is {'above' if one.above else 'below'} its level", type=BOOLEAN),
        output("value", unit, f"what is looked at: the {one.kind} {about}"),
        private("kind", "1", "one of those of `sensors`", number),
        private("part", "1", "index of the contact, the coordinate or the surface"),
        private("other", "1", "index of the surface whose plane counts"),
        private("above", "1", "1: closed above the level", float(one.above)),
    )


def level_fields(sensor: DeclaredSensor | None, unit: str) -> tuple[Field, ...]:
    """Return the level of a sensor."""
    level = sensor.level if sensor is not None else 0.0
    return (parameter("level", unit, "above or below which the sensor is closed", level, tunable=True),)


def lock_conditions() -> tuple[Field, ...]:
    """Return the fields of a lock for its conditions on sensors."""
    return (
        private("close_ready", "1", "1: all sensors that close it were closed in the last micro-step", type=BOOLEAN),
        private("open_ready", "1", "likewise of those that open it"),
        private("to_close", "1", "1: it is to close", type=BOOLEAN),
        private("to_open", "1", "1: it is to open", type=BOOLEAN),
    )


def hidden_groups(model: Model) -> tuple[Group, ...]:
    """Return the faces, pairs, laws, list and conditions of a model."""
    rows = pair_rows(model)
    return (
        Group(
            "face",
            private("x", "m", "abscissa of the vertex where it begins"),
            private("r", "m", "radius of that vertex"),
            private("n_x", "1", "normal into the material, along x"),
            private("n_r", "1", "normal into the material, along r"),
            private("length", "m", "of the meridian; 0: on the axis"),
            count=max(1, sum(row.vertices for row in rows)),
        ),
        Group(
            "pair",
            private("contact", "1", "index of its contact"),
            private("first", "1", "index of the moving surface"),
            private("second", "1", "index of the other surface"),
            private("kind", "1", "one of those of `detection`"),
            private("first_vertex", "1", "index of the first vertex of its chain"),
            private("vertices", "1", "number of vertices of its chain"),
            private("first_face", "1", "index of its first face"),
            private("closed", "1", "1: it touched in the last micro-step", type=BOOLEAN),
            private("friction", "N", "on the second surface's body in the last micro-step, I", shape=3),
            temporary("depth", "m", "positive in contact; else minus a distance"),
            count=max(1, len(rows)),
        ),
        constants(pairs.kinds(room(len(model.contacts)))),
        temporaries(contact_list.tally(room(len(rows)))),
        temporaries(sums.sums("sums", room(len(model.surfaces)), "forces of what is listed, on the surfaces")),
        Group(
            "condition",
            private("lock", "1", "index of the lock"),
            private("sensor", "1", "index of the sensor"),
            private("opens", "1", "1: it opens the lock, else closes it"),
            count=max(1, len(conditions(model))),
        ),
    )


def run_fields(model: Model) -> tuple[Field, ...]:
    """Return the sizes, accounts and work space of contacts in the group `run`."""
    return (
        private("surfaces", "1", "number of surfaces", float(len(model.surfaces))),
        private("contacts", "1", "number of contacts", float(len(model.contacts))),
        private("pairs", "1", "number of convex pairs", float(len(pair_rows(model)))),
        private("sensors", "1", "number of sensors", float(len(model.sensors))),
        private("conditions", "1", "number of conditions of locks", float(len(conditions(model)))),
        private("has_target", "1", "1: the system meets the port target", float(has_target(model))),
        private("contacts_lost", "J", "lost so far in contacts"),
        private("work_target", "J", "work so far of the target on the system"),
        private("base_acceleration", "m/s2", "of the base, I", shape=3),
        private("target_position", "m", "from the origin of the base, I", shape=3),
        private("target_rotation", "1", "I -> target", shape=(3, 3)),
        private("target_velocity", "m/s", "relative to the base's origin, I", shape=3),
        private("target_motion", "m/s", "absolute velocity, I", shape=3),
        private("target_spin", "rad/s", "I", shape=3),
        private("target_acceleration", "m/s2", "I", shape=3),
        private("target_turning", "rad/s2", "angular acceleration, I", shape=3),
        private("target_force", "N", "on the target in the micro-step, I", shape=3),
        private("target_torque", "N.m", "likewise, about its origin", shape=3),
        private("target_impulse", "N.s", "on the target in this step, I", shape=3),
        private("target_angular_impulse", "N.m.s", "likewise, about its moving origin", shape=3),
    )


def lay_out_contacts(
    model: Model, bodies: Mapping[str, Any], index: Mapping[str, int], labels: Sequence[str], put: Callable[..., None]
) -> None:
    """Put the values that connect surfaces, pairs, sensors and locks; `bodies` are the placings of the links."""
    place = {surface.name: k for k, surface in enumerate(model.surfaces)}
    for surface in model.surfaces:
        where = f"surface.{surface.name}"
        met = surface.body == TARGET
        put(f"{where}.body", -1 if met else index[surface.body])
        put(f"{where}.link", -1 if met else bodies[surface.body].link)
        axes = np.eye(3) if met else bodies[surface.body].rotation
        put(f"{where}.turn", np.array(surface.rotation) @ axes.T)
    face = 0
    for number, row in enumerate(pair_rows(model), start=1):
        where = f"pair[{number}]"
        put(f"{where}.contact", row.contact)
        put(f"{where}.first", place[row.first.name])
        put(f"{where}.second", place[row.second.name])
        put(f"{where}.kind", row.kind)
        put(f"{where}.first_vertex", row.first_vertex)
        put(f"{where}.vertices", row.vertices)
        put(f"{where}.first_face", face)
        face += row.vertices
    contacts = {contact.name: k for k, contact in enumerate(model.contacts)}
    for sensor in model.sensors:
        where = f"sensor.{sensor.name}"
        if sensor.kind == "joint":
            put(f"{where}.part", labels.index(_label(model, sensor.part, sensor.coordinate)))
        elif sensor.kind == "contact":
            put(f"{where}.part", contacts[sensor.part])
        else:
            put(f"{where}.part", place[sensor.part])
            put(f"{where}.other", place[sensor.other])
    for number, (lock, sensor_index, opens) in enumerate(conditions(model), start=1):
        put(f"condition[{number}].lock", lock)
        put(f"condition[{number}].sensor", sensor_index)
        put(f"condition[{number}].opens", float(opens))


def _label(model: Model, joint: str, coordinate: int) -> str:
    kind = next(one.kind for one in model.joints if one.name == joint)
    return f"{joint}.{COORDINATES[kind][coordinate]}"
