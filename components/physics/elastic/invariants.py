"""Inertia invariants I1 to I6 of an elastic body (flexible 3.3, variant B): constant tensors of its mass matrix.

All vectors are in the axes of the frame E of the body, about its origin. H is the number of shapes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

KINDS = ("bodies", "matrix", "reduced")
"""Where invariants come from: displaced rigid bodies, a whole mass matrix, a mass matrix that is already reduced."""


@dataclass(frozen=True)
class ElasticInvariants:
    """The mass matrix of an elastic body as a polynomial of its modal coordinates w.

    mass : m, kg
    static_moment : (3,) S_0, kg m; with w the static moment is S_0 + J_rw w
    translation : (3, H) J_rw, momentum of a unit rate of each shape
    inertia : (3, 3) J_phiphi of the undeformed body, kg m2
    inertia_slope : (H, 3, 3) N2_a, change of the inertia with w_a
    inertia_curvature : (H, H, 3, 3) N3_ab, symmetric in a and b: change of the inertia with w_a w_b
    rotation : (3, H) J_phiw of the undeformed body, angular momentum of a unit rate of each shape
    gyration : (H, 3, H) N4_a, change of J_phiw with w_a
    modal_mass : (H, H) J_ww
    """

    mass: float
    static_moment: np.ndarray
    translation: np.ndarray
    inertia: np.ndarray
    inertia_slope: np.ndarray
    inertia_curvature: np.ndarray
    rotation: np.ndarray
    gyration: np.ndarray
    modal_mass: np.ndarray

    @staticmethod
    def of_bodies(
        mass: np.ndarray, place: np.ndarray, offset: np.ndarray, inertia: np.ndarray, shape: np.ndarray
    ) -> ElasticInvariants:
        """Return the invariants of rigid bodies that nodes carry with an offset: "displaced rigid bodies".

        Parameters
        ----------
        mass, inertia : (k,), (k, 3, 3)
            Masses, kg, and inertia about the centre of mass of each body, kg m2.
        place, offset : (k, 3)
            Nodes, and from each node to the centre of mass of its body, m.
        shape : (k, 6, H)
            Displacement and rotation of the nodes in each shape.
        """
        turned = shape[:, 3:]
        moved = shape[:, :3] + np.cross(turned, offset[:, :, None], axis=1)
        at = place + offset
        weighted = mass[:, None, None] * moved
        along = np.einsum("kia,ki->a", weighted, at)
        outer = np.einsum("kia,kj->aij", weighted, at)
        gram = np.einsum("kia,kib->ab", weighted, moved)
        both = np.einsum("kia,kjb->abij", weighted, moved)
        square = np.einsum("k,ki,ki->", mass, at, at) * np.eye(3) - np.einsum("k,ki,kj->ij", mass, at, at)
        return ElasticInvariants(
            mass=float(mass.sum()),
            static_moment=mass @ at,
            translation=weighted.sum(axis=0),
            inertia=square + inertia.sum(axis=0),
            inertia_slope=2.0 * along[:, None, None] * np.eye(3) - outer - outer.transpose(0, 2, 1),
            inertia_curvature=gram[:, :, None, None] * np.eye(3) - 0.5 * (both + both.transpose(0, 1, 3, 2)),
            rotation=np.cross(at[:, :, None], weighted, axis=1).sum(axis=0) + np.einsum("kij,kja->ia", inertia, turned),
            gyration=np.cross(weighted[:, :, :, None], moved[:, :, None, :], axis=1).sum(axis=0).transpose(1, 0, 2),
            modal_mass=gram + np.einsum("kia,kij,kjb->ab", turned, inertia, turned),
        )

    @staticmethod
    def of_matrix(mass: np.ndarray, rigid: np.ndarray, shape: np.ndarray, moved: np.ndarray) -> ElasticInvariants:
        """Return the invariants of a whole mass matrix.

        `mass` is a matrix of n degrees of freedom, dense or sparse; `rigid` (n, 6) the rigid motions about the origin
        of E; `shape` (n, H) the shapes; `moved` (H, n, 3) the velocity that a unit rotation about each axis gives to
        the displacement of each shape, zero where `mass` knows of no displacement of a node.
        """
        along = mass @ shape
        carried = mass @ rigid
        block = rigid.T @ carried
        turn = rigid[:, 3:]
        swept = np.stack([mass @ part for part in moved]) if len(moved) else np.zeros((0, *turn.shape))
        slope = np.einsum("ni,anj->aij", turn, swept)
        curvature = np.einsum("ani,bnj->abij", moved, swept)
        coupling = rigid.T @ along
        return ElasticInvariants(
            mass=float(np.trace(block[:3, :3])) / 3.0,
            static_moment=np.array([block[5, 1] - block[4, 2], block[3, 2] - block[5, 0], block[4, 0] - block[3, 1]])
            / 2.0,
            translation=coupling[:3],
            inertia=0.5 * (block[3:, 3:] + block[3:, 3:].T),
            inertia_slope=slope + slope.transpose(0, 2, 1),
            inertia_curvature=0.5 * (curvature + curvature.transpose(0, 1, 3, 2)),
            rotation=coupling[3:],
            gyration=np.einsum("ani,nb->aib", moved, along),
            modal_mass=shape.T @ along,
        )

    @property
    def count(self) -> int:
        """The number of shapes."""
        return self.translation.shape[1]

    def mass_matrix(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the mass matrix of the body, (6 + H, 6 + H), at modal coordinates (9): rows a, epsilon, zeta."""
        w = np.asarray(coordinates, float)
        x, y, z = self.static_moment + self.translation @ w
        tilde = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        inertia = self.inertia + np.tensordot(w, self.inertia_slope, 1)
        inertia = inertia + np.einsum("a,b,abij->ij", w, w, self.inertia_curvature)
        turning = self.rotation + np.tensordot(w, self.gyration, 1)
        return np.block(
            [
                [self.mass * np.eye(3), -tilde, self.translation],
                [tilde, inertia, turning],
                [self.translation.T, turning.T, self.modal_mass],
            ]
        )
