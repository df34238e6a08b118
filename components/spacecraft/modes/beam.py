"""Synthetic modes of a uniform free-free beam along x of S, by finite elements with consistent masses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dockfmu.components.spacecraft.modes.eigen import symmetric_modes
from dockfmu.components.spacecraft.modes.inertia import InertialCoupling
from dockfmu.components.spacecraft.modes.model import ModalModel
from dockfmu.components.spacecraft.modes.wireframe import Wireframe

_UNCOUPLED = ((0,), (3,), (1, 5), (2, 4))
"""Coupled degrees of freedom of a node: axial, torsion, bending about z, about y; a group has as many rigid modes."""

FIRST_BENDING = 22.373285448  # (beta L)^2 of the first bending mode of a free-free beam


@dataclass(frozen=True)
class Beam:
    """Uniform beam along x, free at both ends, with its centre at the origin of S.

    The fields are length, m; mass per length, kg/m; bending stiffness about y and z, N.m2; axial stiffness, N;
    torsional stiffness, N.m2; polar moment of inertia per length, kg.m; number of elements.
    """

    length: float
    density: float
    bending_y: float
    bending_z: float
    axial: float
    torsion: float
    polar: float
    elements: int = 20

    @staticmethod
    def of_frequencies(
        length: float,
        mass: float,
        polar_inertia: float,
        *,
        bending_y: float,
        bending_z: float,
        axial: float,
        torsion: float,
        elements: int = 40,
    ) -> Beam:
        """Return the beam with the given lowest frequencies, Hz (bending about y, about z, axial, torsion)."""
        density = mass / length
        stiffness = density * length**4 * (2.0 * np.pi / FIRST_BENDING) ** 2
        return Beam(
            length=length,
            density=density,
            bending_y=stiffness * bending_y**2,
            bending_z=stiffness * bending_z**2,
            axial=4.0 * density * length**2 * axial**2,
            torsion=4.0 * (polar_inertia / length) * length**2 * torsion**2,
            polar=polar_inertia / length,
            elements=elements,
        )

    @property
    def nodes(self) -> np.ndarray:
        """Abscissae of the nodes, m."""
        return np.linspace(-0.5, 0.5, self.elements + 1) * self.length

    def _element(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the stiffness and consistent mass of one element, 12 x 12: (x, y, z, rx, ry, rz) of both nodes."""
        h = self.length / self.elements
        K, M = np.zeros((12, 12)), np.zeros((12, 12))
        rod_K, rod_M = np.array([[1.0, -1.0], [-1.0, 1.0]]) / h, np.array([[2.0, 1.0], [1.0, 2.0]]) * h / 6.0
        for dof, stiffness, inertia in ((0, self.axial, self.density), (3, self.torsion, self.polar)):
            at = np.ix_([dof, dof + 6], [dof, dof + 6])
            K[at] += stiffness * rod_K
            M[at] += inertia * rod_M
        bend_K = (
            np.array(
                [
                    [12, 6 * h, -12, 6 * h],
                    [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                    [-12, -6 * h, 12, -6 * h],
                    [6 * h, 2 * h * h, -6 * h, 4 * h * h],
                ]
            )
            / h**3
        )
        bend_M = (
            np.array(
                [
                    [156, 22 * h, 54, -13 * h],
                    [22 * h, 4 * h * h, 13 * h, -3 * h * h],
                    [54, 13 * h, 156, -22 * h],
                    [-13 * h, -3 * h * h, -22 * h, 4 * h * h],
                ]
            )
            * self.density
            * h
            / 420.0
        )
        # the slope dy/dx is +rz, dz/dx is -ry
        for move, turn, sign, stiffness in ((1, 5, 1.0, self.bending_z), (2, 4, -1.0, self.bending_y)):
            at = np.ix_([move, turn, move + 6, turn + 6], [move, turn, move + 6, turn + 6])
            signs = np.array([1.0, sign, 1.0, sign])
            K[at] += stiffness * bend_K * np.outer(signs, signs)
            M[at] += bend_M * np.outer(signs, signs)
        return K, M

    def matrices(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the stiffness and mass matrix, six degrees of freedom per node."""
        size = 6 * (self.elements + 1)
        K, M = np.zeros((size, size)), np.zeros((size, size))
        k, m = self._element()
        for first, _ in pairwise(range(self.elements + 1)):
            at = slice(6 * first, 6 * first + 12)
            K[at, at] += k
            M[at, at] += m
        return K, M

    def bodies(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the beam as a rigid body at each node: mass, offset of the centre of mass from the node, inertia.

        The shapes are (k,), (k, 3), (k, 3, 3). Total mass, centre of mass and inertia of the beam are exact.
        """
        h = self.length / self.elements
        length = np.full(self.elements + 1, h)
        length[[0, -1]] = 0.5 * h
        offset = np.zeros((self.elements + 1, 3))
        offset[0, 0], offset[-1, 0] = 0.25 * h, -0.25 * h
        across = self.density * length**3 / 12.0
        inertia = np.zeros((self.elements + 1, 3, 3))
        inertia[:, 0, 0] = self.polar * length
        inertia[:, 1, 1] = inertia[:, 2, 2] = across
        return self.density * length, offset, inertia

    def modes(self) -> ModalModel:
        """Return all elastic modes at all nodes, which are numbered from 1 at the end of smallest x."""
        K, M = self.matrices()
        found, shapes = [], []
        for dofs in _UNCOUPLED:
            at = np.array([6 * point + dof for point in range(self.elements + 1) for dof in dofs])
            values, vectors = symmetric_modes(K[np.ix_(at, at)], M[np.ix_(at, at)])
            shape = np.zeros((self.elements + 1, 6, len(at)))
            shape[:, dofs] = vectors.reshape(self.elements + 1, len(dofs), -1)
            rigid = len(dofs)
            found.append(values[rigid:])
            shapes.append(shape[:, :, rigid:])
        order = np.argsort(np.concatenate(found), kind="stable")
        values, shape = np.concatenate(found)[order], np.concatenate(shapes, axis=2)[:, :, order]
        position = np.column_stack([self.nodes, np.zeros(self.elements + 1), np.zeros(self.elements + 1)])
        mass, offset, inertia = self.bodies()
        centre = shape.copy()
        centre[:, :3] += np.cross(shape[:, 3:], offset[:, :, None], axis=1)
        coupling = InertialCoupling.of_bodies(mass, position + offset, inertia, centre)
        # modes of a free body are orthogonal to its rigid motion; the lumped bodies would give discretisation errors
        none = np.zeros((3, len(order)))
        coupling = replace(coupling, translation=none, rotation=none)
        numbers = np.arange(self.elements + 1)
        lines = Wireframe(position, np.column_stack([numbers[:-1], numbers[1:]]), shape[:, :3])
        return ModalModel(np.sqrt(values), numbers + 1, shape, position, coupling, wireframe=lines)
