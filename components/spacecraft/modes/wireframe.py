"""Wireframes for pictures: lines of a structure, and how far its modes displace them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dockfmu.base.scene import packed

COORDINATES = "elastic.coordinate"
"""The output with the modal coordinates."""


@dataclass(frozen=True)
class Wireframe:
    """Lines between points of an undeformed structure, from the centre of mass of the whole craft, axes S.

    points : (k, 3) m
    lines : (l, 2) indices of the two points of each line
    shape : (k, 3, n) displacement of each point in each mode, kg^(-1/2)
    """

    points: np.ndarray
    lines: np.ndarray
    shape: np.ndarray

    def select(self, kept: Sequence[int]) -> Wireframe:
        """Return the wireframe with the modes `kept`."""
        return Wireframe(self.points, self.lines, self.shape[:, :, kept])

    def placed(self, place: np.ndarray, R: np.ndarray) -> Wireframe:
        """Return the wireframe of a body whose frame has its origin at `place`, and axes that R maps to those of S."""
        return Wireframe(place + self.points @ R.T, self.lines, np.einsum("ij,kja->kia", R, self.shape))

    def scene_shape(self, frame: str) -> dict[str, Any]:
        """Return the shape of a scene in `frame`, which the outputs of modal coordinates deform."""
        ways = self.shape.transpose(2, 0, 1)
        return {
            "shape": "wireframe",
            "frame": frame,
            "label": "structure",
            "positions": packed(self.points, "<f4"),
            "edges": packed(self.lines, "<u4"),
            "deformations": packed(ways, "<f4"),
            "coordinates": [f"{COORDINATES}[{j}]" for j in range(1, len(ways) + 1)],
        }


def joined(parts: Sequence[Wireframe]) -> Wireframe:
    """Return the wireframe of several bodies, each with modes of its own, in their order."""
    points = np.vstack([part.points for part in parts])
    starts = np.cumsum([0, *(len(part.points) for part in parts)])
    shape = np.zeros((len(points), 3, sum(part.shape.shape[2] for part in parts)))
    first = 0
    for part, start in zip(parts, starts, strict=False):
        count = part.shape.shape[2]
        shape[start : start + len(part.points), :, first : first + count] = part.shape
        first += count
    return Wireframe(points, np.vstack([part.lines + start for part, start in zip(parts, starts, strict=False)]), shape)
