"""What a joint forbids: rows on the relative motion of its two sides. multibody-formulations 3.2, joint library.

A row says n_z . z' + n_w . Omega = v of the motion of i- relative to i+, with components in the joint's frame on i+. In
that of a point in a plane (2.22) n_z is the normal, in that of no rotation about an axis (2.27) n_w is the axis; a
screw has both. Rows may turn relative to i+: `dn_z`, `dn_w` are their rates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dockfmu.components.multibody.reference.algebra import cross, unskew
from dockfmu.components.multibody.reference.joints import (
    AxisMotion,
    JointMotion,
    JointState,
    QuaternionMotion,
    tangent_basis,
)


@dataclass(frozen=True)
class RelativeMotion:
    """Position and motion of the side on i- relative to that on i+, in the joint's frame on i+."""

    R: np.ndarray
    z: np.ndarray
    zd: np.ndarray
    Omega: np.ndarray


@dataclass(frozen=True)
class ConstraintRows:
    """Rows of one joint; `rhs` = n_z . z'' + n_w . Omega' + dn_z . z' + dn_w . Omega, `g` is 0 when assembled."""

    nz: np.ndarray
    nw: np.ndarray
    dnz: np.ndarray
    dnw: np.ndarray
    v: np.ndarray
    rhs: np.ndarray
    g: np.ndarray
    holonomic: np.ndarray

    def __len__(self) -> int:
        return len(self.rhs)

    def rate(self, relative: RelativeMotion) -> np.ndarray:
        """Return how much the velocities violate the rows."""
        return self.nz @ relative.zd + self.nw @ relative.Omega - self.v


def constraint_rows(
    nz: np.ndarray,
    nw: np.ndarray,
    *,
    g: np.ndarray | float = 0.0,
    dnz: np.ndarray | float = 0.0,
    dnw: np.ndarray | float = 0.0,
    v: np.ndarray | float = 0.0,
    rhs: np.ndarray | float = 0.0,
    holonomic: bool = True,
) -> ConstraintRows:
    """Return rows with zeros where nothing is given."""
    rows, line = np.zeros((len(nz), 3)), np.zeros(len(nz))
    return ConstraintRows(
        rows + nz, rows + nw, rows + dnz, rows + dnw, line + v, line + rhs, line + g, np.full(len(nz), holonomic)
    )


def stacked(parts: Sequence[ConstraintRows]) -> ConstraintRows:
    """Return the rows one below another."""
    names = ("nz", "nw", "dnz", "dnw", "v", "rhs", "g", "holonomic")
    return ConstraintRows(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def point_in_planes(normals: np.ndarray, relative: RelativeMotion) -> ConstraintRows:
    """Return the rows of a point of i- that stays in planes of i+ through its joint point."""
    return constraint_rows(normals, np.zeros_like(normals), g=normals @ relative.z)


def no_rotation(axes: np.ndarray, angles: np.ndarray) -> ConstraintRows:
    """Return the rows of no relative rotation about axes of i+, where `angles` are those already there."""
    return constraint_rows(np.zeros_like(axes), axes, g=angles)


def _rotations(motion: AxisMotion, relative: RelativeMotion) -> ConstraintRows:
    axes = [np.array(axis) for axis in motion.rotations]
    if not axes:
        # of a rotation by an angle about an axis, the sine times the axis
        return no_rotation(np.eye(3), unskew(relative.R))
    if len(axes) == 1:
        across = tangent_basis(axes)
        return no_rotation(across, across @ cross(axes[0], relative.R @ axes[0]))
    if len(axes) == 2:
        # the angle between the first axis, of i+, and the second, of i-, stays: d/dt u1.u2 = -(u1 x u2).Omega
        first, second = axes[0], relative.R @ axes[1]
        g = first @ axes[1] - first @ second
        n, dn = cross(first, second), cross(first, cross(relative.Omega, second))
        return constraint_rows(np.zeros((1, 3)), n[None], dnw=dn[None], g=g)
    return constraint_rows(np.zeros((0, 3)), np.zeros((0, 3)))


def joint_constraints(motion: JointMotion, relative: RelativeMotion) -> ConstraintRows:
    """Return the rows of a joint of the library, without use of its coordinates."""
    if isinstance(motion, QuaternionMotion):
        return point_in_planes(tangent_basis(motion.displacements), relative)
    if not isinstance(motion, AxisMotion):
        raise TypeError(f"{type(motion).__name__} has no rows of its own: use those across its coordinates")
    along = motion.displacements
    if motion.lead == 0.0:
        return stacked([point_in_planes(tangent_basis(along), relative), _rotations(motion, relative)])
    axis = np.array(motion.rotations[0])
    across = tangent_basis([axis])
    # the angle within a turn: the displacement tells how many turns there were
    one = across[0]
    angle = np.arctan2(axis @ cross(one, relative.R @ one), one @ relative.R @ one)
    slip = axis @ relative.z - motion.lead * angle
    turn = 2.0 * np.pi * motion.lead
    coupled = constraint_rows(axis[None], -motion.lead * axis[None], g=slip - turn * np.round(slip / turn))
    return stacked([point_in_planes(across, relative), _rotations(motion, relative), coupled])


def rows_across(state: JointState) -> ConstraintRows:
    """Return rows across the partial velocities of any joint: for kinds that the library does not have."""
    partial = np.hstack((state.p, state.k))
    _, values, basis = np.linalg.svd(partial) if len(partial) else (None, np.zeros(0), np.eye(6))
    N = basis[int(np.sum(values > 1e-12)) :]
    nw, nz = N[:, :3], N[:, 3:]
    # the rows are orthogonal to k and p now, not later: their rate is in the accelerations s and sigma of the joint
    return constraint_rows(nz, nw, v=nz @ state.k0 + nw @ state.p0, rhs=nz @ state.s + nw @ state.sigma)


def drive_row(state: JointState, k: int, acceleration: float) -> ConstraintRows:
    """Return the row that gives the rate k of a joint an acceleration; its multiplier is the drive force on i-."""
    partial = np.hstack((state.p, state.k))
    n = np.linalg.pinv(partial)[:, k]
    nw, nz = n[None, :3], n[None, 3:]
    return constraint_rows(nz, nw, rhs=acceleration + nz @ state.s + nw @ state.sigma)


NonHolonomic = Callable[[RelativeMotion, float], ConstraintRows]
"""Rows on the velocities in a cut joint, at its relative motion and a time."""
