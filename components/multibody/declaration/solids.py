"""Uniform solids: their inertia, for bodies that give their size instead, and their shape in the view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dockfmu.components.multibody.declaration.problems import Entries

SIZES = {"box": 3, "cylinder": 2, "rod": 1, "sphere": 1, "plate": 2}
"""Numbers that each solid takes, m: box (x, y, z), cylinder (radius, length along x), thin rod (length along x), sphere
(radius), thin plate (x, y)."""


@dataclass(frozen=True)
class Solid:
    """A uniform solid about its centre, its axes those of the body."""

    shape: str
    sizes: tuple[float, ...]

    def inertia(self, mass: float) -> np.ndarray:
        """Return the inertia about the centre, kg m2."""
        if self.shape == "sphere":
            return np.eye(3) * (0.4 * mass * self.sizes[0] ** 2)
        if self.shape == "cylinder":
            radius, length = self.sizes
            across = mass * (3.0 * radius**2 + length**2) / 12.0
            return np.diag((0.5 * mass * radius**2, across, across))
        x, y, z = (*self.sizes, 0.0, 0.0)[:3]
        return np.diag((y * y + z * z, x * x + z * z, x * x + y * y)) * (mass / 12.0)


def read_solid(entries: Entries, key: str) -> Solid | None:
    """Return the solid in a table such as `{ box = [1.6, 1.0, 0.02] }`; None if it is missing or wrong."""
    if key not in entries:
        return None
    table = entries.table(key, SIZES)
    if len(table.content) != 1:
        entries.problem(key, f"must name one solid: {', '.join(SIZES)}")
        return None
    shape = next(iter(table.content))
    if shape not in SIZES:
        return None
    count = SIZES[shape]
    before = len(table.problems.found)
    sizes = np.atleast_1d(table.array(shape, "m", () if count == 1 else (count,), 1.0))
    if len(table.problems.found) == before and not (sizes > 0.0).all():
        table.problem(shape, "sizes must be positive")
    return Solid(shape, tuple(float(size) for size in sizes))
