"""Read bodies: mass, centre and inertia, given or from a solid or an elastic model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from dockfmu.components.multibody.declaration.elastic import read_elastic
from dockfmu.components.multibody.declaration.problems import Entries
from dockfmu.components.multibody.declaration.solids import Solid, read_solid
from dockfmu.components.multibody.declaration.values import matrix, vector
from dockfmu.components.multibody.model.parts import RigidBody

BODY_KEYS = ("mass", "center", "inertia", "solid", "description")


def read_body(name: str, entries: Entries, solids: dict[str, Solid], folder: Path) -> RigidBody:
    """Return a body; the solid that it is given as is noted in `solids`, its files lie in `folder`."""
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
    return RigidBody(name, mass, vector(entries.array("center", "m", (3,))), matrix(inertia))


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
