"""Coordinates of a state: numbers of the memory, and small rotations in place of quaternions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the products of quaternions (..., 4), scalar first."""
    a0, a1, a2, a3 = np.moveaxis(a, -1, 0)
    b0, b1, b2, b3 = np.moveaxis(b, -1, 0)
    parts = (
        a0 * b0 - (a1 * b1 + a2 * b2 + a3 * b3),
        a0 * b1 + b0 * a1 + (a2 * b3 - a3 * b2),
        a0 * b2 + b0 * a2 + (a3 * b1 - a1 * b3),
        a0 * b3 + b0 * a3 + (a1 * b2 - a2 * b1),
    )
    return np.stack(parts, -1)


def differences(chosen: Sequence[Coordinate]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a function of two memories: by how much each of the chosen coordinates differs, to first order."""
    first = np.array([coordinate.indices[0] for coordinate in chosen], int)
    turned = np.array([k for k, coordinate in enumerate(chosen) if len(coordinate.indices) == 4], int)
    places = np.array([chosen[k].indices for k in turned.tolist()], int).reshape(-1, 4)
    about = np.array([1 + chosen[k].axis for k in turned.tolist()], int)
    number = np.arange(len(turned))

    def difference(memory: np.ndarray, other: np.ndarray) -> np.ndarray:
        found = memory[first] - other[first]
        back = other[places] * np.array([1.0, -1.0, -1.0, -1.0])
        found[turned] = 2.0 * product(back, memory[places] - other[places])[number, about]
        return np.asarray(found)

    return difference


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
