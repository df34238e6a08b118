"""Rolling bodies and knife edges: rows on the velocities in a cut joint (multibody-formulations 3.6, `a` rows of H).

The material point of i- in contact, at c from its joint point, does not move relative to i+ along n:
n . (z' + Omega x c) = 0. Written with n_z = n, n_w = c x n.
"""

from __future__ import annotations

import numpy as np

from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.constraints import (
    ConstraintRows,
    NonHolonomic,
    RelativeMotion,
    constraint_rows,
    stacked,
)

AXES = np.eye(3)


def knife_edge(relative: RelativeMotion, t: float) -> ConstraintRows:
    """Return the row of a point of i- that does not move along z of its own joint frame."""
    n = relative.R @ AXES[2]
    return constraint_rows(n[None], np.zeros((1, 3)), dnz=cross(relative.Omega, n)[None], holonomic=False)


def _rolling(relative: RelativeMotion, c: np.ndarray, dc: np.ndarray, height: float) -> ConstraintRows:
    """Return two rows of no slip and that of the height of the joint point above the plane z = 0."""
    nw = np.array([cross(c, n) for n in AXES])
    dnw = np.array([cross(dc, n) for n in AXES])
    g = np.array([0.0, 0.0, relative.z[2] - height])
    slip = constraint_rows(AXES[:2], nw[:2], dnw=dnw[:2], holonomic=False)
    return stacked([slip, constraint_rows(AXES[2:], nw[2:], g=g[2:], dnw=dnw[2:])])


def rolling_ball(radius: float) -> NonHolonomic:
    """Return the rows of a ball on the plane z = 0 of i+."""
    return lambda relative, t: _rolling(relative, -radius * AXES[2], np.zeros(3), radius)


def rolling_disc(radius: float) -> NonHolonomic:
    """Return the rows of a disc with the axis z of i- on the plane z = 0 of i+.

    Its lowest point is opposite to the direction of steepest ascent in the plane of the disc.
    """

    def rows(relative: RelativeMotion, t: float) -> ConstraintRows:
        e = relative.R @ AXES[2]
        turning = cross(relative.Omega, e)
        steepest = AXES[2] - e[2] * e
        sine = float(np.linalg.norm(steepest))
        change = -turning[2] * e - e[2] * turning
        up = steepest / sine
        return _rolling(relative, -radius * up, -radius * (change - up * (up @ change)) / sine, radius * sine)

    return rows
