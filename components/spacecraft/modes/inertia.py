"""Inertial coupling of modes to the motion of their reference frame (flexible 3.3, variant B)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class InertialCoupling:
    """Invariants of mass-normalised modes, about the undeformed centre of mass, axes S.

    translation : (3, n) J_rw, momentum of a unit rate of each mode, kg^(1/2); zero for free-free modes
    rotation : (3, n) J_phiw, its angular momentum, kg^(1/2) m; zero for free-free modes
    inertia : (n, 3, 3) N2, change of the inertia tensor with each mode, kg^(1/2) m
    curvature : (n, n, 3, 3) N3, change of the inertia tensor with the product of two modes, symmetric in them
    gyration : (n, n, 3) N4, angular momentum of a unit rate of mode b per unit of mode a, column b of N4_a
    """

    translation: np.ndarray
    rotation: np.ndarray
    inertia: np.ndarray
    curvature: np.ndarray
    gyration: np.ndarray

    @staticmethod
    def of_bodies(mass: np.ndarray, place: np.ndarray, inertia: np.ndarray, shape: np.ndarray) -> InertialCoupling:
        """Return the invariants of rigid bodies that the modes displace and rotate.

        Parameters
        ----------
        mass : (k,)
            kg.
        place : (k, 3)
            Positions of the undeformed centres of mass relative to that of the whole craft, axes S, m.
        inertia : (k, 3, 3)
            Inertia tensors about these centres, axes S, kg m2.
        shape : (k, 6, n)
            Displacement of these centres (kg^(-1/2)) and rotation (rad/m kg^(-1/2)) in each mode, mass-normalised.
        """
        moved, turned = shape[:, :3], shape[:, 3:]
        weighted = mass[:, None, None] * moved
        along = np.einsum("kia,ki->a", weighted, place)
        outer = np.einsum("kia,kj->aij", weighted, place)
        gram = np.einsum("kia,kib->ab", weighted, moved)
        both = np.einsum("kia,kjb->abij", weighted, moved)
        return InertialCoupling(
            translation=weighted.sum(axis=0),
            rotation=np.cross(place[:, :, None], weighted, axis=1).sum(axis=0)
            + np.einsum("kij,kja->ia", inertia, turned),
            inertia=2.0 * along[:, None, None] * np.eye(3) - outer - outer.transpose(0, 2, 1),
            curvature=gram[:, :, None, None] * np.eye(3) - 0.5 * (both + both.transpose(0, 1, 3, 2)),
            gyration=np.cross(weighted[:, :, :, None], moved[:, :, None, :], axis=1).sum(axis=0).transpose(1, 2, 0),
        )

    def select(self, kept: Sequence[int]) -> InertialCoupling:
        """Return the invariants of the modes `kept`."""
        return InertialCoupling(
            translation=self.translation[:, kept],
            rotation=self.rotation[:, kept],
            inertia=self.inertia[kept],
            curvature=self.curvature[np.ix_(kept, kept)],
            gyration=self.gyration[np.ix_(kept, kept)],
        )

    def check(self, n: int) -> None:
        """Raise ValueError unless there are `n` modes and all values are finite."""
        shapes = {
            "translation": (3, n), "rotation": (3, n), "inertia": (n, 3, 3), "curvature": (n, n, 3, 3),
            "gyration": (n, n, 3),
        }  # fmt: skip
        for name, shape in shapes.items():
            if np.shape(getattr(self, name)) != shape:
                raise ValueError(f"modes: coupling.{name} has shape {np.shape(getattr(self, name))}, expected {shape}")
            if not np.all(np.isfinite(getattr(self, name))):
                raise ValueError(f"modes: coupling.{name} has values that are not finite")

    def table(self) -> np.ndarray:
        """Return all numbers in the order of the record's tables."""
        parts = (self.translation.T, self.rotation.T, self.inertia, self.curvature, self.gyration)
        return np.concatenate([np.ravel(part) for part in parts])
