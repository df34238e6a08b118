"""Motion in a joint: position and rotation of the second side relative to the first, with all derivatives.

Theory: multibody-formulations 3.4.

All vectors have components in the joint's frame on i+. Rates are those of the coordinates, except that rotations by a
quaternion have the angular velocity in axes of the second side as rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from dockfmu.components.multibody.reference.algebra import (
    complement,
    cross,
    quaternion_rate,
    rotation,
    rotation_of,
    turned,
    unit,
)

NONE = np.zeros((0, 3))


@dataclass(frozen=True)
class JointState:
    """Position and motion in a joint (3.98) to (3.108), with one row of `k` and `p` a rate.

    Ring derivatives are those seen from i+: z' = k^T u + k0, z'' = k^T u' + s, Omega = p^T u + p0, Omega' = p^T u' +
    sigma.
    """

    R: np.ndarray
    """G^T: components on i- to components on i+."""

    z: np.ndarray
    k: np.ndarray
    s: np.ndarray
    p: np.ndarray
    sigma: np.ndarray
    k0: np.ndarray
    p0: np.ndarray

    def velocity(self, u: np.ndarray) -> np.ndarray:
        """Return z' for the rates u."""
        return u @ self.k + self.k0

    def angular_velocity(self, u: np.ndarray) -> np.ndarray:
        """Return Omega for the rates u."""
        return u @ self.p + self.p0


class JointMotion(Protocol):
    """A kind of joint. A kind of one's own needs these four members, and is used by all formulations."""

    @property
    def positions(self) -> int:
        """Return the number of coordinates."""

    @property
    def rates(self) -> int:
        """Return the number of rates, which is that of the degrees of freedom."""

    def evaluate(self, q: np.ndarray, u: np.ndarray, t: float) -> JointState:
        """Return the motion at coordinates q, rates u and time t."""

    def moved(self, q: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Return the coordinates after a finite step along the rates."""

    def coordinate_rates(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return dq/dt."""


@dataclass(frozen=True)
class AxisMotion:
    """Rotations about axes one after another, displacements along fixed axes, or both at once as a screw.

    Coordinates are first the rotations, then the displacements, or the other way round. The first axis is fixed in i+,
    the last in i-; displacements are along axes of i+.
    """

    rotations: tuple[tuple[float, float, float], ...] = ()
    displacements: tuple[tuple[float, float, float], ...] = ()
    lead: float = 0.0
    """Displacement along the single axis of rotation, m a radian: h / 2 pi."""

    displacements_first: bool = False

    @property
    def positions(self) -> int:
        """Return the number of coordinates."""
        return len(self.rotations) + len(self.displacements)

    rates = positions

    def evaluate(self, q: np.ndarray, u: np.ndarray, t: float) -> JointState:
        """Return the motion: p_1 = u_1, p_2 = R_1 u_2, p_3 = R_1 R_2 u_3, sigma the sum of p_j x p_i u_j u_i, j < i."""
        along = range(len(self.displacements))
        about = range(len(self.rotations))
        if self.displacements_first:
            about = range(len(along), len(q))
        else:
            along = range(len(about), len(q))
        R, p, k, sigma, omega = np.eye(3), np.zeros((len(q), 3)), np.zeros((len(q), 3)), np.zeros(3), np.zeros(3)
        for i, axis in zip(about, self.rotations, strict=True):
            direction = np.array(axis)
            p[i] = R @ direction
            sigma = sigma + cross(omega, p[i]) * u[i]
            omega = omega + p[i] * u[i]
            R = R @ rotation(direction, float(q[i]))
            k[i] = self.lead * direction
        for i, axis in zip(along, self.displacements, strict=True):
            k[i] = axis
        return JointState(R, q @ k, k, np.zeros(3), p, sigma, np.zeros(3), np.zeros(3))

    def moved(self, q: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Return the sum."""
        return q + change

    def coordinate_rates(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the rates."""
        return np.array(u)


@dataclass(frozen=True)
class QuaternionMotion:
    """Free rotation by a quaternion, and displacements along fixed axes of i+.

    Coordinates are the displacements and the quaternion; rates are those of the displacements and Omega in axes of i-.
    Then p has the axes of i- as rows and sigma = 0 (multibody-formulations 8).
    """

    displacements: tuple[tuple[float, float, float], ...] = ()

    @property
    def positions(self) -> int:
        """Return the number of coordinates."""
        return 4 + len(self.displacements)

    @property
    def rates(self) -> int:
        """Return the number of rates."""
        return 3 + len(self.displacements)

    def evaluate(self, q: np.ndarray, u: np.ndarray, t: float) -> JointState:
        """Return the motion."""
        R = rotation_of(q[-4:])
        k = np.concatenate((np.array(self.displacements).reshape(-1, 3), np.zeros((3, 3))))
        p = np.concatenate((np.zeros((len(self.displacements), 3)), R.T))
        none = np.zeros(3)
        return JointState(R, q[:-4] @ k[:-3], k, none, p, none, none, none)

    def moved(self, q: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Return the coordinates after displacements and a rotation vector in axes of i-."""
        return np.concatenate((q[:-4] + change[:-3], turned(q[-4:], change[-3:])))

    def coordinate_rates(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return dq/dt."""
        return np.concatenate((u[:-3], quaternion_rate(q[-4:], u[-3:])))


def _axis(a: ArrayLike) -> tuple[float, float, float]:
    x, y, z = unit(a)
    return float(x), float(y), float(z)


def _triad(rows: np.ndarray) -> tuple[tuple[float, float, float], ...]:
    return tuple(_axis(row) for row in rows)


def fixed() -> AxisMotion:
    """Return the joint without freedom."""
    return AxisMotion()


def revolute(axis: ArrayLike) -> AxisMotion:
    """Return one rotation (the source's "cylindrical" joint)."""
    return AxisMotion((_axis(axis),))


def prismatic(axis: ArrayLike) -> AxisMotion:
    """Return one displacement."""
    return AxisMotion((), (_axis(axis),))


def cylindrical(axis: ArrayLike) -> AxisMotion:
    """Return a rotation and a displacement along the same axis."""
    return AxisMotion((_axis(axis),), (_axis(axis),))


def screw(axis: ArrayLike, pitch: float) -> AxisMotion:
    """Return a rotation that moves by `pitch` metres a turn."""
    return AxisMotion((_axis(axis),), (), pitch / (2.0 * np.pi))


def universal(first: ArrayLike, second: ArrayLike) -> AxisMotion:
    """Return a rotation about an axis of i+, then about an axis of i-."""
    return AxisMotion((_axis(first), _axis(second)))


def gimbal(first: ArrayLike, second: ArrayLike, third: ArrayLike) -> AxisMotion:
    """Return three rotations one after another, singular where the first axis meets the third."""
    return AxisMotion((_axis(first), _axis(second), _axis(third)))


def planar(normal: ArrayLike) -> AxisMotion:
    """Return displacements along two axes across the normal, then a rotation about it."""
    return AxisMotion((_axis(normal),), _triad(complement(unit(normal)[None])), displacements_first=True)


def spherical() -> QuaternionMotion:
    """Return free rotation about a point."""
    return QuaternionMotion()


def free() -> QuaternionMotion:
    """Return six degrees of freedom: of the base, the fictitious joint of a free system."""
    return QuaternionMotion(_triad(np.eye(3)))


def tangent_basis(axes: Sequence[ArrayLike]) -> np.ndarray:
    """Return orthonormal rows normal to the axes."""
    return complement(np.array(axes, dtype=float).reshape(-1, 3))
