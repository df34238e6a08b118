"""The scenes of a system: those that its FMUs carry, with full names; for FMUs without one, poses and outputs."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dockfmu.base.names import vector
from dockfmu.base.scene import FILE, SceneError, check_scene, map_quantities, read_scene, variables_of
from dockfmu.master.errors import ArchiveError
from dockfmu.master.fmi import archive
from dockfmu.master.fmi.variables import Description
from dockfmu.master.system import Structure
from dockfmu.report.shown_units import shown_unit

LISTED = 12
"""Number of outputs shown of an FMU without a scene."""

FIRST_CURVES = 3
"""Number of curves of an FMU without a scene."""

MOTIONS = ("force", "torque", "position", "velocity", "angle", "stroke", "speed")
"""Words in the names of forces and motions, which are shown before other outputs."""

SOLIDS = ("mesh", "box", "cylinder", "sphere", "revolution")
"""Shapes that replace the box of a craft that stands for its inertia."""


@dataclass(frozen=True)
class Scenes:
    """Scenes of a system, by element, as they are written beside a recording.

    Names are replaced by `{"v": full name}` of an output or local variable, or `{"p": full name}` of a parameter, and
    inputs by what sets them.

    Attributes
    ----------
    elements : dict
        Scene of each element.
    locals : tuple of str
        Full names of local variables, and of driven inputs, that the scenes show: they are recorded beside the outputs.
    notes : tuple of str
        Sentences on scenes that cannot be used; poses and outputs are shown instead.
    """

    elements: dict[str, Any]
    locals: tuple[str, ...]
    notes: tuple[str, ...]


def scenes_of(structure: Structure, driven: Collection[str] = (), craft: Mapping[str, str] | None = None) -> Scenes:
    """Return the scenes of a system; inputs in `driven` are set from outside, and change.

    `craft` has further shapes of elements as JSON, `Plan.scene`. Raises DescriptionError or ArchiveError for FMUs that
    cannot be read, SceneError for shapes that do not fit an element.
    """
    elements: dict[str, Any] = {}
    notes: list[str] = []
    seen: dict[str, None] = {}
    operated = set(operated_inputs(structure))
    for name in structure.elements:
        description = structure.description(name)
        scene, note = _scene(structure, name, description)
        notes += [f"{name}: {note}"] if note else []
        if craft and name in craft:
            scene = _with_craft(scene, craft[name], name, description)
        full = _FullNames(structure, name, description, driven)
        elements[name] = map_quantities(scene, full)
        _keep_units(scene.get("devices", []), elements[name]["devices"], description)
        elements[name]["controls"] = [
            {**control, "variable": f"{name}.{control['variable']}"}
            for control in elements[name]["controls"]
            if f"{name}.{control['variable']}" in operated
        ]
        elements[name]["devices"] += _hand_controllers(elements[name]["controls"], driven)
        full.locals |= dict.fromkeys(c["variable"] for c in elements[name]["controls"] if c["variable"] in driven)
        seen |= full.locals
    return Scenes(elements, tuple(seen), tuple(notes))


def operated_inputs(structure: Structure) -> list[str]:
    """Return the inputs that no connection sets, which an operator can command."""
    connected = {f"{c.target}.{c.input}" for c in structure.connections}
    numeric = ("Real", "Integer", "Boolean", "Enumeration")
    return [name for name in structure.select(causality=("input",), types=numeric) if name not in connected]


def _keep_units(
    groups: Sequence[Mapping[str, Any]], mapped: Sequence[Mapping[str, Any]], description: Description
) -> None:
    """Add `unit` and `factor` to the items whose input became a number or a sum, which has no unit."""
    for group, mapped_group in zip(groups, mapped, strict=True):
        for item, mapped_item in zip(group["items"], mapped_group["items"], strict=True):
            variable = description.variables.get(str(item["variable"]))
            quantity = mapped_item["variable"]
            if variable is not None and not (isinstance(quantity, dict) and "v" in quantity):
                mapped_item["unit"], mapped_item["factor"] = shown_unit(
                    variable.unit or "1", variable.display_unit or ""
                )


def _hand_controllers(controls: Sequence[Mapping[str, Any]], driven: Collection[str]) -> list[dict[str, Any]]:
    """Return the group of devices that shows the deflections of an operator's sticks."""
    items = [
        {
            "device": "bar",
            "label": control["label"],
            "variable": {"v": control["variable"]},
            "limits": [{"product": [-1, control["full"]]}, control["full"]],
        }
        for control in controls
        if control["control"] == "stick" and control["variable"] in driven
    ]
    return [{"title": "Hand controllers", "items": items}] if items else []


def _scene(structure: Structure, element: str, description: Description) -> tuple[dict[str, Any], str]:
    """Return the scene of an element, and a note if the scene in its FMU cannot be used."""
    file = structure.elements[element].file
    outputs = connected_outputs(structure, element, description)
    try:
        if not file.is_dir() and FILE in archive.members(file):
            names = [variable.name for variable in description.variables.values()]
            return read_scene(archive.read_member(file, FILE), variables_of(names), f"{file.name}, {FILE}"), ""
    except (SceneError, ArchiveError) as error:
        return ports_scene(description, outputs), f"its scene is not used: {error}"
    return ports_scene(description, outputs), ""


def _with_craft(scene: Mapping[str, Any], shapes: str, element: str, description: Description) -> dict[str, Any]:
    """Return a scene with the shapes that a user has given; solids replace the box that stands for the inertia."""
    try:
        given = json.loads(shapes)
    except ValueError as error:
        raise SceneError(f"scene of {element}: not JSON ({error})") from error
    names = variables_of(variable.name for variable in description.variables.values())
    check_scene({"scene": 1, "frames": scene.get("frames", {}), "shapes": given}, names, f"scene of {element}")
    solid = any(shape["shape"] in SOLIDS for shape in given)
    kept = [shape for shape in scene.get("shapes", []) if not (solid and shape["shape"] == "inertia_box")]
    return {**scene, "shapes": [*kept, *given]}


def connected_outputs(structure: Structure, element: str, description: Description) -> list[str]:
    """Return the numeric outputs of an element: those that others read first, forces and motions before the rest."""
    read = {c.output for c in structure.connections if c.source == element}
    outputs = [v.name for v in description.variables.values() if v.causality == "output" and v.type != "String"]

    def order(name: str) -> tuple[bool, int]:
        lower = name.lower()
        kind = next((k for k, word in enumerate(MOTIONS) if word in lower), len(MOTIONS))
        return name not in read, kind

    return sorted(outputs, key=order)


def ports_scene(description: Description, outputs: Sequence[str] = ()) -> dict[str, Any]:
    """Return a scene for an FMU that has none: axes at each pose among its ports, and its first outputs as numbers.

    The first of `outputs` are its curves, by default those of the description.
    """
    shown = [v for v in description.variables.values() if v.causality in ("input", "output", "local")]
    poses = poses_among([variable.name for variable in shown])
    outputs = list(outputs or (v.name for v in shown if v.causality == "output" and v.type != "String"))
    moving = [name for name in outputs if any(word in name.lower() for word in MOTIONS)]
    curves, outputs = (moving or outputs)[:FIRST_CURVES], outputs[:LISTED]
    items = [{"device": "number", "label": name, "variable": name} for name in outputs]
    scene = {
        "scene": 1,
        "frames": {name: _pose(name) for name in poses},
        "shapes": [{"shape": "triad", "frame": name, "length": 0.3, "label": name} for name in poses],
        "devices": [{"title": description.model_name, "items": items}] if items else [],
        "curves": curves,
    }
    check_scene(scene, variables_of(v.name for v in shown), description.model_name)
    # curves of scenes come before those of ports
    return {**scene, "by_ports": True}


def poses_among(names: Sequence[str]) -> list[str]:
    """Return the ports of type pose: those with a position of 3 and a quaternion of 4 numbers."""
    known = set(names)
    ports = (name.removesuffix(".position[1]") for name in names if name.endswith(".position[1]"))
    return [port for port in ports if {*vector(f"{port}.position"), *vector(f"{port}.quaternion", 4)} <= known]


def _pose(port: str) -> dict[str, str]:
    return {"position": f"{port}.position", "quaternion": f"{port}.quaternion", "label": port}


class _FullNames:
    """Mapping of the names of one element's scene to full names."""

    def __init__(self, structure: Structure, element: str, description: Description, driven: Collection[str]) -> None:
        self.structure, self.element, self.description = structure, element, description
        self.driven = driven
        self.arrays = variables_of(variable.name for variable in description.variables.values())
        self.incoming = {c.input: c for c in structure.connections if c.target == element}
        self.locals: dict[str, None] = {}

    def __call__(self, quantity: float | str) -> Any:
        if not isinstance(quantity, str):
            return quantity
        scalars = [self.scalar(name) for name in self.arrays[quantity]]
        return scalars[0] if quantity == self.arrays[quantity][0] else scalars

    def scalar(self, name: str) -> Any:
        variable = self.description.variables[name]
        full = f"{self.element}.{name}"
        if variable.causality in ("parameter", "structuralParameter"):
            return {"p": full}
        if variable.causality == "input":
            return self.input(name, variable.start)
        if variable.causality != "output":
            self.locals[full] = None
        return {"v": full}

    def input(self, name: str, start: Any) -> Any:
        """Return what sets an input: an output, converted, or its start value."""
        connection = self.incoming.get(name)
        if connection is None and f"{self.element}.{name}" in self.driven:
            self.locals[f"{self.element}.{name}"] = None
            return {"v": f"{self.element}.{name}"}
        if connection is None:
            value = self.structure.elements[self.element].start.get(name, start)
            return float(value) if isinstance(value, (int, float)) else 0.0
        source = {"v": f"{connection.source}.{connection.output}"}
        factor, offset = self.structure.transformation(connection)
        return source if (factor, offset) == (1.0, 0.0) else {"sum": [offset, {"product": [factor, source]}]}
