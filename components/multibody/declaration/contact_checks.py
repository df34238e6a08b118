"""What surfaces, contacts, sensors and the conditions on them must satisfy together."""

from __future__ import annotations

from collections.abc import Iterator

from dockfmu.components.multibody.contacts.ports import ordered
from dockfmu.components.multibody.declaration.surfaces import unknown
from dockfmu.components.multibody.model.parts import BASE, Model
from dockfmu.components.multibody.model.surfaces import TARGET, DeclaredSurface

Problem = tuple[str, str]


def check_contacts(model: Model) -> Iterator[Problem]:
    """Yield (place, what is wrong and what to do) of each mistake."""
    bodies = [body.name for body in model.bodies]
    if TARGET in bodies and any(surface.body == TARGET for surface in model.surfaces):
        yield f"bodies.{TARGET}", "this name means the unit that the system meets; choose another"
    for surface in model.surfaces:
        if surface.body not in (*bodies, BASE, TARGET):
            yield f"surfaces.{surface.name}.body", unknown("body", surface.body, (*bodies, BASE, TARGET))
    yield from _check_pairs(model)
    yield from _check_sensors(model)
    sensors = [sensor.name for sensor in model.sensors]
    for lock in model.locks:
        for key, names in (("close_when", lock.close_when), ("open_when", lock.open_when)):
            for name in names:
                if name not in sensors:
                    yield f"locks.{lock.name}.{key}", unknown("sensor", name, sensors)


def _check_pairs(model: Model) -> Iterator[Problem]:
    surfaces = {surface.name: surface for surface in model.surfaces}
    for contact in model.contacts:
        where = f"contacts.{contact.name}"
        for pair in contact.pairs:
            missing = [name for name in pair if name not in surfaces]
            for name in missing:
                yield where, unknown("surface", name, surfaces)
            if not missing:
                problem = _problem_of(surfaces[pair[0]], surfaces[pair[1]])
                if problem:
                    yield where, f"{pair[0]} and {pair[1]}: {problem}"


def _problem_of(first: DeclaredSurface, second: DeclaredSurface) -> str:
    """Return why two surfaces make no pair, or ""."""
    if first.body == second.body:
        return f"both are on {first.body}; a pair needs surfaces on two bodies"
    if ordered(first, second) is None:
        return (
            f"there is no pair of {first.kind} and {second.kind}; spheres meet everything, segments meet spheres, "
            "segments and all open outlines: give one of the two as spheres or segments"
        )
    if {first.form, second.form} <= {"ball", "segment"} and first.radius + second.radius == 0.0:
        return "points and segments without radius never touch each other; give one a radius"
    return ""


def _check_sensors(model: Model) -> Iterator[Problem]:
    joints = {joint.name: joint for joint in model.joints}
    surfaces = [surface.name for surface in model.surfaces]
    contacts = {contact.name: contact for contact in model.contacts}
    for sensor in model.sensors:
        where = f"sensors.{sensor.name}.{sensor.kind}"
        if sensor.kind == "contact":
            if sensor.part not in contacts:
                yield where, unknown("contact", sensor.part, contacts)
            elif sensor.level > len(contacts[sensor.part].pairs):
                yield f"sensors.{sensor.name}.pairs", f"{sensor.part} has only {len(contacts[sensor.part].pairs)} pairs"
        elif sensor.kind == "gap":
            for name in (sensor.part, sensor.other):
                if name not in surfaces:
                    yield where, unknown("surface", name, surfaces)
        elif sensor.part not in joints:
            yield where, unknown("joint", sensor.part, joints)
        elif joints[sensor.part].cut or joints[sensor.part].kind in ("spherical", "free", "fixed"):
            yield where, f"{sensor.part} has no coordinate that is a number; look at a gap instead"
