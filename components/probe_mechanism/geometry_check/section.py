"""Meridian section of the receiving cone: clearances of many points at once.

The passive material is convex in the meridian half-plane (x, r): flange, frusta, wall of the socket. The bottom, which
only the head reaches, is not a part of it. All functions take arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dockfmu.components.core.record import Memory

FLANGE = 0
"""Number of the face around the mouth."""


@dataclass(frozen=True)
class Section:
    """Faces of a receiving cone, from the flange to the wall of the socket.

    Attributes
    ----------
    corners : ndarray, shape (faces + 1, 2)
        Points (x, r) between which the faces lie, m, in axes of the passive unit.
    normals : ndarray, shape (faces, 2)
        Unit normals of the faces, into the material.
    bottom : float
        Abscissa of the bottom of the socket, m.
    """

    corners: np.ndarray
    normals: np.ndarray
    bottom: float

    @property
    def mouth(self) -> tuple[float, float]:
        """Return (x, r) of the entry edge: the inner edge of the flange."""
        return float(self.corners[1, 0]), float(self.corners[1, 1])

    def heights(self, x: np.ndarray, r: np.ndarray) -> np.ndarray:
        """Return the heights of points above the line of each face, m, shape (..., faces); negative below it."""
        points = np.stack(np.broadcast_arrays(x, r), axis=-1)
        return np.asarray(np.einsum("fi,fi->f", self.corners[:-1], self.normals) - points @ self.normals.T)

    def clearance(self, x: np.ndarray, r: np.ndarray) -> np.ndarray:
        """Return the clearances of points, m; negative, the depth below the nearest face, inside the material."""
        return np.asarray(self.heights(x, r).max(axis=-1))

    def distance(self, x: np.ndarray, r: np.ndarray) -> np.ndarray:
        """Return the distances of points from the material, m: as `clearance`, but exact beside edges, for spheres."""
        heights = self.heights(x, r)
        nearest = heights.max(axis=-1)
        points = np.stack(np.broadcast_arrays(x, r), axis=-1)[..., None, :] - self.corners[:-1]
        along = np.diff(self.corners, axis=0)
        share = np.clip(np.einsum("...fi,fi->...f", points, along) / (along * along).sum(axis=-1), 0.0, 1.0)
        apart = np.linalg.norm(points - share[..., None] * along, axis=-1).min(axis=-1)
        return np.asarray(np.where(nearest > 0.0, apart, nearest))


def section(m: Memory) -> Section:
    """Return the section of the passive unit of a mechanism."""
    cone = m.probe_cone.parameters.cone
    last = int(cone.vertices) - 1
    corners = np.column_stack([cone.x[:last], cone.r[:last]]).astype(float)
    along = np.diff(corners, axis=0)
    normals = np.column_stack([-along[:, 1], along[:, 0]]) / np.hypot(*along.T)[:, None]
    return Section(corners, normals, float(cone.x[last]))
