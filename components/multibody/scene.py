"""The look of a declared system in the browser: bodies as boxes of their mass and inertia, joints, springs, ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dockfmu.base.scene import packed
from dockfmu.components.multibody.contacts.ports import has_target
from dockfmu.components.multibody.declaration.solids import Solid
from dockfmu.components.multibody.model.elastic import elastic_parts
from dockfmu.components.multibody.model.parts import BASE, COORDINATES, Model, MultibodyJoint, RigidBody
from dockfmu.components.multibody.model.surfaces import TARGET
from dockfmu.components.physics.mechanics.rotation import quaternion

BASE_FRAME, TARGET_FRAME, WORLD = "base of the system", "target of the system", "inertial frame"
"""Names of the frames of body 0, of the target and of I; no body can have them."""
MOST_DEVICES = 24
"""Coordinates of which the page shows the number."""
MARGIN = 1.1
"""Size of a view over that of what it shows."""
MOST_CURVES = 6
"""Contacts, and coordinates, whose curves are shown first: the page has as many colours."""


def scene_of(model: Model, solids: Mapping[str, Solid]) -> dict[str, Any]:
    """Return the frames, shapes, devices and first curves of a system, for `resources/scene.json`."""
    carried = model.base == "carried"
    based = _shows_base(model)
    frames: dict[str, Any] = {}
    if based:
        frames[BASE_FRAME] = {
            "position": "base.position" if carried else [0.0, 0.0, 0.0],
            "quaternion": "base.quaternion" if carried else [1.0, 0.0, 0.0, 0.0],
            "label": "base",
        }
    shapes: list[dict[str, Any]] = []
    for body in model.bodies:
        frames[body.name] = {
            "position": f"body.{body.name}.position",
            "quaternion": f"body.{body.name}.quaternion",
            "label": body.name,
        }
        shapes.append(_body(model, body.name, solids.get(body.name)))
    wired = [
        body for part in elastic_parts(model) if (body := part.body).elastic is not None and len(body.elastic.lines)
    ]
    shapes.extend(_wireframe(body) for body in wired)
    in_wires = {body.name for body in wired}
    for joint in model.joints:
        if joint.deforms:
            if not in_wires & {joint.predecessor, joint.successor}:
                shapes.append(_between_nodes(joint))
            continue
        for end, side in ((joint.predecessor, "predecessor"), (joint.successor, "successor")):
            if end == BASE and not based:
                continue
            point = _point(joint.name, side, joint.cut, getattr(joint, f"on_{side}").point)
            shapes.append({"shape": "point", "frame": _frame(end), "centre": point, "label": joint.name})
            if end != BASE:
                shapes.append(
                    {
                        "shape": "polyline",
                        "frame": end,
                        "style": "thin",
                        "points": [_center(model, end), point],
                    }
                )
    for spring in model.springs:
        shapes.append(
            {
                "shape": "rod",
                "frame": _frame(spring.first),
                "origin": f"parameters.spring.{spring.name}.first_point",
                "to_frame": _frame(spring.second),
                "to": f"parameters.spring.{spring.name}.second_point",
                "style": "thin",
                "label": spring.name,
            }
        )
    for port in model.ports:
        frames[f"port {port.name}"] = {
            "position": f"{port.name}.position",
            "quaternion": f"{port.name}.quaternion",
            "label": f"port {port.name}",
        }
        shapes.append({"shape": "triad", "frame": f"port {port.name}", "length": 0.3})
    if model.surfaces:
        _add_surfaces(model, frames, shapes)
    names = [
        f"{joint.name}.{name}"
        for joint in model.tree
        if joint.kind not in ("spherical", "free")
        for name in COORDINATES[joint.kind]
    ]
    items = [{"device": "number", "label": name, "variable": f"joint.{name}.position"} for name in names[:MOST_DEVICES]]
    devices = [{"title": "Joints", "items": items}] if items else []
    if model.drives:
        devices.append({"title": "Drives", "items": _drive_devices(model)})
    for title, kind, parts in (("Sensors", "sensor", model.sensors), ("Locks", "lock", model.locks)):
        lamps = [{"device": "lamp", "label": one.name, "variable": f"{kind}.{one.name}.closed"} for one in parts]
        if lamps:
            devices.append({"title": title, "items": lamps})
    curves = [f"contact.{contact.name}.normal_force" for contact in model.contacts[:MOST_CURVES]]
    curves += [f"joint.{name}.position" for name in names[:MOST_CURVES]]
    view = {"view": {"frame": TARGET_FRAME, "size": _extent(model)}} if has_target(model) else {}
    return {**view, "frames": frames, "shapes": shapes, "devices": devices, "curves": curves}


def _shows_base(model: Model) -> bool:
    """Return whether there is anything at the base: a system that flies freely may be kilometres from it."""
    attached = {end for spring in model.springs for end in (spring.first, spring.second)}
    attached |= {surface.body for surface in model.surfaces} | {port.body for port in model.ports}
    attached |= {end for one in model.joints if one.kind != "free" for end in (one.predecessor, one.successor)}
    return model.base == "carried" or BASE in attached


def _extent(model: Model) -> float:
    """Return half the height of a view with the surfaces of a mechanism and those of the unit that it meets, m."""
    reach = [
        np.linalg.norm(surface.point)
        + max([surface.radius + np.linalg.norm(surface.along), *(np.hypot(*vertex) for vertex in surface.vertices)])
        for surface in model.surfaces
    ]
    return float(MARGIN * max(reach))


def _wireframe(body: RigidBody) -> dict[str, Any]:
    """Return the lines of an elastic body, deformed by its modal coordinates."""
    assert body.elastic is not None
    points = body.elastic.point_shape.transpose(2, 0, 1)
    return {
        "shape": "wireframe",
        "frame": body.name,
        "positions": packed(body.elastic.points, "<f4"),
        "edges": packed(body.elastic.lines, "<u4"),
        "deformations": packed(points, "<f4"),
        "coordinates": [f"mode.{body.name}.mode{k}.coordinate" for k in range(1, len(points) + 1)],
    }


def _between_nodes(joint: MultibodyJoint) -> dict[str, Any]:
    """Return a line between two interface nodes of an elastic body."""
    origin = [0.0, 0.0, 0.0]
    return {"shape": "rod", "frame": joint.predecessor, "origin": origin, "to_frame": joint.successor, "to": origin}


def _drive_devices(model: Model) -> list[dict[str, Any]]:
    """Return the torque of each drive, and a lamp for its brake that holds."""
    items: list[dict[str, Any]] = []
    for drive in model.drives[:MOST_DEVICES]:
        at = f"drive.{drive.name}"
        items.append({"device": "number", "label": f"{drive.name} torque", "variable": f"{at}.torque"})
        if drive.brake_torque > 0.0:
            items.append({"device": "lamp", "label": f"{drive.name} held", "variable": f"{at}.held"})
    return items


def _frame(body: str) -> str:
    return {BASE: BASE_FRAME, TARGET: TARGET_FRAME}.get(body, body)


def _add_surfaces(model: Model, frames: dict[str, Any], shapes: list[dict[str, Any]]) -> None:
    """Add the surfaces in frames of their own, red while a contact with them is closed, and the points of contact."""
    if has_target(model):
        frames[TARGET_FRAME] = {"position": "target.position", "quaternion": "target.quaternion", "label": "target"}
    for surface in model.surfaces:
        name = f"surface {surface.name}"
        point = f"parameters.surface.{surface.name}.point"
        lit = [
            f"contact.{contact.name}.closed"
            for contact in model.contacts
            if any(surface.name in pair for pair in contact.pairs)
        ]
        look = {"label": surface.name, **({"lit": lit} if lit else {})}
        style = "passive" if surface.body == TARGET else "line"
        if surface.form == "ball":
            shapes.append(
                {
                    "shape": "sphere",
                    "frame": _frame(surface.body),
                    "centre": point,
                    "radius": f"parameters.surface.{surface.name}.radius",
                    **look,
                }
            )
        elif surface.form == "segment":
            along = f"parameters.surface.{surface.name}.along"
            end = [{"sum": [f"{point}[{k}]", f"{along}[{k}]"]} for k in (1, 2, 3)]
            shapes.append({"shape": "polyline", "frame": _frame(surface.body), "points": [point, end], **look})
        else:
            turned = list(quaternion(surface.rotation))
            frames[name] = {"parent": _frame(surface.body), "position": point, "quaternion": turned}
            around = [*range(1, len(surface.vertices) + 1), *([1] if surface.form == "section" else [])]
            outline = {
                key: [f"parameters.surface.{surface.name}.vertex_{k}.{key}" for k in around] for key in ("x", "r")
            }
            shapes.append({"shape": "revolution", "frame": name, **outline, "style": style, **look})
    if model.contacts:
        frames[WORLD] = {"position": [0.0, 0.0, 0.0], "quaternion": [1.0, 0.0, 0.0, 0.0], "label": ""}
    for contact in model.contacts:
        at = f"contact.{contact.name}"
        shapes.append(
            {
                "shape": "contact",
                "frame": WORLD,
                "active": f"{at}.closed",
                "position": f"{at}.position",
                "force": f"{at}.normal_force",
                "label": contact.name,
            }
        )


def _point(joint: str, side: str, cut: bool, place: tuple[float, float, float]) -> Any:
    return list(place) if cut else f"parameters.joint.{joint}.{side}_point"


def _center(model: Model, name: str) -> Any:
    """Return the centre of mass of a body: a parameter, or the origin of an interface node."""
    elastic = next(body for body in model.bodies if body.name == name).elastic
    return f"parameters.body.{name}.center" if elastic is None else [0.0, 0.0, 0.0]


def _body(model: Model, name: str, solid: Solid | None) -> dict[str, Any]:
    center: Any = f"parameters.body.{name}.center"
    body = next(one for one in model.bodies if one.name == name)
    if body.elastic is not None:
        # the mass data of an elastic body are no parameters
        return {"shape": "point", "frame": name, "centre": list(body.center), "label": name}
    if solid is not None and solid.shape == "sphere":
        return {"shape": "sphere", "frame": name, "centre": center, "radius": solid.sizes[0], "label": name}
    if not any(any(row) for row in body.inertia):
        return {"shape": "point", "frame": name, "centre": center, "label": name}
    return {
        "shape": "inertia_box", "frame": name, "centre": center, "mass": f"parameters.body.{name}.mass",
        "inertia": f"parameters.body.{name}.inertia", "label": name,
    }  # fmt: skip
