"""What every model must satisfy: bodies that exist and are possible, joints that make a tree with declared cuts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dockfmu.base.names import did_you_mean
from dockfmu.components.multibody.declaration.contact_checks import check_contacts
from dockfmu.components.multibody.declaration.elastic import check_elastic
from dockfmu.components.multibody.loop_order import ROWS
from dockfmu.components.multibody.model.parts import BASE, COORDINATES, Model, MultibodyJoint

Problem = tuple[str, str]


def check_model(model: Model, *, complete: bool = True) -> Iterator[Problem]:
    """Yield (place, what is wrong and what to do) of each mistake.

    Without `complete`, some joints could not be read, and the graph is not judged.
    """
    if not model.name.isidentifier():
        yield "name", f"{model.name!r} becomes the name of an FMU: use letters, digits and underscores"
    if not model.bodies:
        yield "bodies", "there are none; declare at least one, [bodies.NAME]"
    if any(body.name == BASE for body in model.bodies):
        yield f"bodies.{BASE}", "this name means body 0, on which the system is mounted; choose another"
    yield from _check_masses(model)
    known = {BASE, *(body.name for body in model.bodies)}
    sound = complete
    for joint in model.joints:
        problems = list(check_ends(f"joints.{joint.name}", (joint.predecessor, joint.successor), known))
        sound = sound and not problems
        yield from problems
        if joint.cut and joint.kind not in ROWS:
            yield f"joints.{joint.name}.kind", f"a {joint.kind} joint has no cut form; cut another one of the loop"
    for spring in model.springs:
        yield from check_ends(f"springs.{spring.name}", (spring.first, spring.second), known)
        if spring.first == spring.second:
            yield f"springs.{spring.name}.bodies", "joins a body with itself"
    for port in model.ports:
        if port.body not in known:
            yield f"ports.{port.name}.body", f"there is no body {port.body!r}{did_you_mean(port.body, known)}"
        if port.name in (
            BASE,
            "target",
            "audit",
            "status",
            "joint",
            "body",
            "spring",
            "lock",
            "outcome",
            "drive",
            "surface",
            "contact",
            "sensor",
            "load",
            "parameters",
            "happened",
            "elastic",
            "node",
            "mode",
        ):
            yield f"ports.{port.name}", "this is the name of a group of variables; choose another"
    yield from _check_locks(model)
    yield from _check_drives(model)
    yield from _check_outcomes(model)
    yield from check_contacts(model)
    yield from check_elastic(model)
    if sound:
        yield from _check_graph(model)


def check_ends(where: str, ends: tuple[str, str], known: set[str]) -> Iterator[Problem]:
    """Yield what is wrong with the names of the two bodies that a part joins."""
    for body in ends:
        if body not in known:
            yield f"{where}.bodies", f"there is no body {body!r}{did_you_mean(body, known)}"


def _check_masses(model: Model) -> Iterator[Problem]:
    for body in model.bodies:
        where = f"bodies.{body.name}"
        J = np.array(body.inertia)
        size = float(np.trace(J))
        if not body.mass >= 0.0:
            yield f"{where}.mass", f"{body.mass:g} kg is negative"
        if not np.allclose(J, J.T, rtol=0.0, atol=1e-9 * abs(size)):
            yield f"{where}.inertia", "is not symmetric"
            continue
        moments = np.linalg.eigvalsh(J)
        slack = 1e-7 * abs(size)
        if moments[0] < -slack:
            yield f"{where}.inertia", f"has the negative principal moment {moments[0]:.6g} kg m2"
        elif moments[2] > moments[0] + moments[1] + slack:
            yield (
                f"{where}.inertia",
                f"no body has it: the principal moment {moments[2]:.6g} kg m2 exceeds the sum of the others, "
                f"{moments[0] + moments[1]:.6g} (triangle inequality); is it about the centre of mass?",
            )
        elif body.mass == 0.0 and size > 0.0:
            yield f"{where}.inertia", "a body without mass has no inertia; give its mass"


def _check_locks(model: Model) -> Iterator[Problem]:
    joints = {joint.name: joint for joint in model.joints}
    for lock in model.locks:
        where = f"locks.{lock.name}"
        if lock.joint not in joints:
            yield f"{where}.joint", f"there is no joint {lock.joint!r}{did_you_mean(lock.joint, joints)}"
        elif joints[lock.joint].kind == "fixed":
            yield f"{where}.joint", f"a {joints[lock.joint].kind} joint has no coordinate that can be locked"
        elif joints[lock.joint].kind in ("spherical", "free") and lock.at is not None:
            yield f"{where}.at", f"a {joints[lock.joint].kind} joint has no coordinate that passes a value; use sensors"
        elif joints[lock.joint].cut:
            yield f"{where}.joint", f"{lock.joint} is a cut joint; lock a joint of the tree"
        elif lock.coordinate in joints[lock.joint].motions:
            name = COORDINATES[joints[lock.joint].kind][lock.coordinate]
            yield f"{where}.coordinate", f"{lock.joint}.{name} is prescribed and cannot be locked"


def _check_drives(model: Model) -> Iterator[Problem]:
    joints = {joint.name: joint for joint in model.joints}
    for drive in model.drives:
        where = f"drives.{drive.name}"
        if drive.joint not in joints:
            yield f"{where}.joint", f"there is no joint {drive.joint!r}{did_you_mean(drive.joint, joints)}"
            continue
        joint = joints[drive.joint]
        if joint.cut:
            yield f"{where}.joint", f"{drive.joint} is a cut joint; drive a joint of the tree"
        elif joint.kind in ("spherical", "free", "fixed"):
            yield f"{where}.joint", f"a {joint.kind} joint has no coordinate that a motor turns or moves"
        elif drive.coordinate in joint.motions:
            name = COORDINATES[joint.kind][drive.coordinate]
            yield f"{where}.coordinate", f"{drive.joint}.{name} is prescribed: a drive changes nothing there"


def _check_outcomes(model: Model) -> Iterator[Problem]:
    sensors, locks = ({one.name for one in parts} for parts in (model.sensors, model.locks))
    names: dict[str, str] = {}
    for one in model.outcomes:
        where = f"outcomes.{one.name}"
        if one.name.upper() in ("NONE", "DECIDED"):
            yield where, "this name has a meaning of its own; choose another"
        other = names.setdefault(one.name.upper(), one.name)
        if other != one.name:
            yield where, f"and outcomes.{other} differ in their case only"
        for name in one.when:
            if name in sensors and name in locks:
                yield f"{where}.when", f"{name!r} is a sensor and a lock; give one of them another name"
            elif name not in sensors | locks:
                yield f"{where}.when", f"there is no sensor or lock {name!r}{did_you_mean(name, sensors | locks)}"


def _check_graph(model: Model) -> Iterator[Problem]:
    around: dict[str, list[tuple[str, str]]] = {}
    for joint in model.tree:
        if joint.predecessor == joint.successor:
            yield f"joints.{joint.name}.bodies", f"joins {joint.predecessor} with itself"
            return
    for joint in model.tree:
        path = _path(around, joint.predecessor, joint.successor)
        if path is not None:
            yield (
                f"joints.{joint.name}",
                f"closes the loop {' - '.join([*path, path[0]])}: add cut = true to one joint of this loop",
            )
            continue
        around.setdefault(joint.predecessor, []).append((joint.successor, joint.name))
        around.setdefault(joint.successor, []).append((joint.predecessor, joint.name))
    apart = [body.name for body in model.bodies if _path(around, BASE, body.name) is None]
    if apart:
        yield (
            f"bodies.{apart[0]}",
            f"{', '.join(apart)}: not connected with the base, a second root; a body that flies freely hangs on the "
            f"base by a joint with kind = 'free'",
        )
    for body in model.bodies:
        if body.mass == 0.0 and len(around.get(body.name, [])) == 1:
            inner = _inner(model.tree, body.name)
            yield (
                f"bodies.{body.name}.mass",
                f"a body without mass at the end of a chain has no acceleration; give its mass, or remove it with its "
                f"joint {inner}",
            )


def _inner(joints: tuple[MultibodyJoint, ...], body: str) -> str:
    return next(joint.name for joint in joints if body in (joint.predecessor, joint.successor))


def _path(around: dict[str, list[tuple[str, str]]], start: str, end: str) -> list[str] | None:
    """Return the bodies on a path between two bodies, both included, or None."""
    before: dict[str, str] = {start: ""}
    waiting = [start]
    while waiting:
        at = waiting.pop()
        if at == end:
            path = [at]
            while before[path[-1]]:
                path.append(before[path[-1]])
            return path[::-1]
        for other, _ in around.get(at, []):
            if other not in before:
                before[other] = at
                waiting.append(other)
    return None
