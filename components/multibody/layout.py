"""The start values of a record that connect its parts: which link belongs to which body, joint and spring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dockfmu.components.multibody.contacts.ports import lay_out_contacts
from dockfmu.components.multibody.elastic_ports import lay_out_elastic
from dockfmu.components.multibody.joint_ports import coordinate_labels
from dockfmu.components.multibody.link_data import Links, Placing
from dockfmu.components.multibody.model.parts import BASE, COORDINATES, Model
from dockfmu.components.multibody.outcomes import requirements
from dockfmu.components.multibody.sparse_order import SparseOrder, loop_plan


def layout(model: Model, made: Links) -> Mapping[str, float]:
    """Return the start values of hidden fields by the names of their slots in the record."""
    values: dict[str, float] = {}

    def put(name: str, value: Any) -> None:
        array = np.asarray(value, float)
        for place in np.ndindex(array.shape):
            subscript = f"[{','.join(str(i + 1) for i in place)}]" if place else ""
            values[f"{name}{subscript}"] = float(array[place])

    index = {BASE: -1, **{body.name: k for k, body in enumerate(model.bodies)}}
    for k in range(len(made.kind)):
        link = f"link[{k + 1}]"
        put(f"{link}.parent", made.parent[k])
        put(f"{link}.kind", made.kind[k])
        put(f"{link}.lead", made.lead[k])
        put(f"{link}.mount", made.mount[k])
    for body in model.bodies:
        put(f"body.{body.name}.link", made.bodies[body.name].link)
        put(f"body.{body.name}.axes", made.bodies[body.name].rotation)
    for joint in model.tree:
        where = f"parameters.joint.{joint.name}"
        outer = _outer(made, joint.predecessor, joint.successor)
        inner = joint.predecessor if outer == joint.successor else joint.successor
        put(f"{where}.link", _first_link(made, inner, outer))
        put(f"{where}.outward", float(outer == joint.successor))
        put(f"{where}.inner", index[inner])
        put(f"{where}.outer", index[outer])
        for number, name in enumerate(COORDINATES[joint.kind]):
            if (joint.name, number) in made.coordinates:
                put(f"joint.{joint.name}.{name}.link", made.coordinates[joint.name, number])
        if joint.name in made.special:
            link_number, reverse = made.special[joint.name]
            put(f"joint.{joint.name}.link", link_number)
            put(f"joint.{joint.name}.reversed", float(reverse))
    for spring in model.springs:
        put(f"spring.{spring.name}.first", index[spring.first])
        put(f"spring.{spring.name}.second", index[spring.second])
        put(f"spring.{spring.name}.first_link", made.bodies[spring.first].link)
        put(f"spring.{spring.name}.second_link", made.bodies[spring.second].link)
    for joint in model.cuts:
        where = f"joint.{joint.name}"
        for end, side in ((joint.predecessor, "first"), (joint.successor, "second")):
            mounting = joint.on_predecessor if side == "first" else joint.on_successor
            put(f"{where}.{side}", index[end])
            put(f"{where}.{side}_link", made.bodies[end].link)
            put(f"{where}.{side}_axes", np.array(mounting.rotation) @ made.bodies[end].rotation.T)
    _plan(model, made, put)
    lay_out_elastic(model, made, put)
    labels = coordinate_labels(model)
    for lock in model.locks:
        special = made.special.get(lock.joint)
        place = made.coordinates[lock.joint, lock.coordinate] if special is None else special[0]
        put(f"lock.{lock.name}.link", place)
    for k, requirement in enumerate(requirements(model), start=1):
        for field, value in zip(("outcome", "kind", "part"), requirement, strict=True):
            put(f"requirement[{k}].{field}", value)
    for drive in model.drives:
        put(f"drive.{drive.name}.link", made.coordinates[drive.joint, drive.coordinate])
    for k, loop in enumerate(model.loops, start=1):
        joint = next(one for one in model.tree if one.name == loop.joint)
        put(f"loop[{k}].coordinate", labels.index(f"{loop.joint}.{COORDINATES[joint.kind][loop.coordinate]}"))
    lay_out_contacts(model, made.bodies, index, labels, put)
    for port in model.ports:
        put(f"{port.name}.body", index[port.body])
        put(f"{port.name}.link", made.bodies[port.body].link)
        put(f"{port.name}.turn", np.array(port.rotation) @ made.bodies[port.body].rotation.T)
    return values


def _plan(model: Model, made: Links, put: Callable[[str, Any], None]) -> None:
    """Put the rows of the cut joints and the plan of their elimination."""
    order, sparse = loop_plan(model, made)
    for k, parts in enumerate(order.rows, start=1):
        for name, value in zip(("joint", "kind", "axis"), parts, strict=True):
            put(f"closure.row[{k}].{name}", value)
    for k, front in enumerate(order.fronts, start=1):
        for name, value in zip(("link", "first", "count"), front, strict=True):
            put(f"closure.front[{k}].{name}", value)
    for k, entry in enumerate(order.entries, start=1):
        for name, value in zip(("row", "second"), entry, strict=True):
            put(f"closure.entry[{k}].{name}", value)
    for k in range(len(made.kind)):
        put(f"link[{k + 1}].first_entry", order.first[k])
        put(f"link[{k + 1}].entries", order.first[k + 1] - order.first[k])
    for k, link in enumerate(order.carriers):
        put(f"link[{link + 1}].carrier", k)
    _plan_sparse(sparse, put)


def _plan_sparse(order: SparseOrder, put: Callable[[str, Any], None]) -> None:
    """Put the plan of the sparse solution of the loops."""
    where = "closure.sparse"

    def put_all(name: str, number: int, **values: float) -> None:
        for part, value in values.items():
            put(f"{where}.{name}[{number}].{part}", value)

    bonds = belows = 0
    panels = order.panels
    for k, (tie, below) in enumerate(zip(order.ties, order.below, strict=True)):
        width = len(tie.bonds)
        put_all("tie", k + 1, first=tie.first, second=tie.second, pivot=tie.pivot, first_bond=bonds, bonds=width,
                first_below=belows, belows=len(below), panel=panels[k],
                height=(panels[k + 1] - panels[k]) // width)  # fmt: skip
        for bond in tie.bonds:
            bonds += 1
            put_all("bond", bonds, **bond._asdict())
        for later in below:
            belows += 1
            put_all("below", belows, tie=later)
    ends = 0
    for k, island in enumerate(order.islands):
        put_all("island", k + 1, link=island.link, modes=island.modes, mass=order.masses[k], first_end=ends,
                ends=len(island.ends))  # fmt: skip
        for number, link, side in island.ends:
            put_all("end", ends + 1, tie=number, link=link, second=side, share=order.shares[ends])
            ends += 1


def _outer(made: Links, one: str, other: str) -> str:
    """Return which of two joined bodies is farther from the base."""
    return other if made.bodies[other].link > made.bodies[one].link else one


def _first_link(made: Links, inner: str, outer: str) -> int:
    """Return the first link of the chain between two joined bodies."""
    at, end = made.bodies[outer].link, made.bodies[inner].link
    while made.parent[at] != end:
        at = made.parent[at]
    return at


__all__ = ["Placing", "coordinate_labels", "layout"]
