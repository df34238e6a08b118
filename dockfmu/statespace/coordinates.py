"""Coordinates of a state: numbers of the memory, and small rotations in place of quaternions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

QUATERNION = "quaternion["


@dataclass(frozen=True)
class Coordinate:
    """A number of the memory, or a rotation about `axis` (0, 1, 2) of the frame that a quaternion describes.

    `indices` are its numbers in the memory: one, or the four of the quaternion, scalar first.
    """

    name: str
    unit: str
    indices: tuple[int, ...]
    axis: int = 0

    def move(self, memory: np.ndarray, distance: float) -> None:
        """Move the coordinate in a memory by a distance, in its unit."""
        if len(self.indices) == 1:
            memory[self.indices[0]] += distance
            return
        place = list(self.indices)
        half = np.zeros(4)
        half[0], half[1 + self.axis] = np.cos(0.5 * distance), np.sin(0.5 * distance)
        memory[place] = product(memory[place], half)

    def difference(self, memory: np.ndarray, other: np.ndarray) -> float:
        """Return by how much the coordinate differs, to first order."""
        place = list(self.indices)
        if len(place) == 1:
            return float(memory[place[0]] - other[place[0]])
        back = other[place] * np.array([1.0, -1.0, -1.0, -1.0])
        return float(2.0 * product(back, memory[place] - other[place])[1 + self.axis])


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product of two quaternions, scalar first."""
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *vector])


def coordinates(names: Sequence[str], units: Sequence[str], chosen: Sequence[int]) -> list[Coordinate]:
    """Return coordinates for the chosen numbers of a memory; a quaternion of which one is chosen gives three."""
    found, done = [], set()
    for index in chosen:
        stem, bracket, rest = names[index].rpartition(QUATERNION)
        first = index - (int(rest[:-1]) - 1) if bracket and rest[:-1].isdecimal() else -1
        if first < 0 or [names[k] for k in range(first, first + 4)] != [f"{stem}{bracket}{k}]" for k in (1, 2, 3, 4)]:
            found.append(Coordinate(names[index], units[index], (index,)))
        elif first not in done:
            done.add(first)
            group = tuple(range(first, first + 4))
            found += [Coordinate(f"{stem}quaternion.rotation[{axis + 1}]", "rad", group, axis) for axis in range(3)]
    return found
