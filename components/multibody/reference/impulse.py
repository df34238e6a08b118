"""Impulses and corrections: latching, closure of positions and velocities, stabilisation.

Theory: multibody-formulations 4.1, multibody-formulations 3.7.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dockfmu.base.errors import DockfmuError
from dockfmu.components.multibody.reference.graph_method import equations, loads
from dockfmu.components.multibody.reference.kinematics import TreeMotion, follow
from dockfmu.components.multibody.reference.loops import CutRows, cut_rows, natural_lengths
from dockfmu.components.multibody.reference.rank import TOLERANCE as RANK_TOLERANCE
from dockfmu.components.multibody.reference.rank import null_rows, scaled
from dockfmu.components.multibody.reference.system import AT_REST, BaseMotion, RigidSystem

TOLERANCE = 1e-10
"""Of closed positions, m and rad (multibody-formulations 3.7)."""

ITERATIONS = 50


class ClosureError(DockfmuError, ValueError):
    """Loops cannot be closed from the coordinates given."""


@dataclass(frozen=True)
class Impulse:
    """Rates after a plastic impact, the impulses of the rows, and the energy lost, J."""

    u: np.ndarray
    multipliers: np.ndarray
    lost: float


def plastic_impact(A: np.ndarray, H: np.ndarray, u: np.ndarray, v: ArrayLike = 0.0) -> Impulse:
    """Return what happens when rows H u = v begin to hold: A du = H^T Lambda, H (u + du) = v.

    Theory: multibody-formulations 4.1.

    Rows may be redundant: impulses then are those of least norm, and the change of the rates is unique. The
    energy lost is that of the change du, (1/2) du A du, where v = 0; rows that move (v not 0) also do work.
    """
    inverse = np.linalg.solve(A, H.T)
    multipliers = np.linalg.pinv(H @ inverse, rcond=1e-12, hermitian=True) @ (v - H @ u)
    change = inverse @ multipliers
    after = u + change
    return Impulse(after, multipliers, 0.5 * float(u @ A @ u - after @ A @ after))


def stabilisation(period: float, damping: float = 1.0) -> tuple[float, float]:
    """Return the factors of g and g' that gamma gets, (2 pi / T_s)^2 and 4 pi xi_s / T_s (multibody-formulations 3.7).

    With the signs of (33), which adds k_0 dg + k_1 dg', this is dg = -g, dg' = -g': required less actual. With
    dg = +g the printed signs diverge.
    """
    return (2.0 * np.pi / period) ** 2, 4.0 * np.pi * damping / period


def state_rows(
    system: RigidSystem, q: ArrayLike, u: ArrayLike, t: float = 0.0, base: BaseMotion = AT_REST
) -> tuple[TreeMotion, np.ndarray, CutRows]:
    """Return the motion, the mass matrix and the rows of the cut joints at a state."""
    motion = follow(system, q, u, t, base)
    tree = equations(motion, loads(system))
    return motion, tree.A, cut_rows(motion, tree)


def _correction(
    motion: TreeMotion, A: np.ndarray, rows: CutRows, free: np.ndarray, lacks: np.ndarray, equal: bool
) -> np.ndarray:
    """Return the least change of the free rates, in the metric of the mass, that gives the rows -lacks.

    Rows that free rates cannot change, as between bodies that the tree or the fixed rates hold together, are zero to
    rounding and left out. With `equal`, the others have length 1 in that metric: loops of grams stand beside tons.
    """
    if not len(free):
        return np.zeros(0)
    A, H = A[np.ix_(free, free)], rows.H[:, free]
    size = np.sqrt(np.maximum(np.einsum("ri,ir->r", H, np.linalg.solve(A, H.T)), 0.0))
    moving = size > RANK_TOLERANCE * natural_lengths(motion, rows)
    H, lacks = H[moving], lacks[moving]
    if equal:
        H, lacks = H / size[moving, None], lacks / size[moving]
    inverse = np.linalg.solve(A, H.T)
    return -inverse @ (np.linalg.pinv(H @ inverse, rcond=1e-10, hermitian=True) @ lacks)


def closed_positions(
    system: RigidSystem,
    q: ArrayLike,
    fixed: ArrayLike = (),
    t: float = 0.0,
    base: BaseMotion = AT_REST,
    tolerance: float = TOLERANCE,
) -> np.ndarray:
    """Return the coordinates nearest to q, in the metric of the mass, that close all loops, by Newton's method.

    Parameters
    ----------
    fixed : array of int, optional
        Indices of rates whose coordinates stay as they are.

    Raises
    ------
    ClosureError
        With the joint that is open most, and by how much, if the iteration does not close the loops.
    """
    q = np.asarray(q, dtype=float)
    free = np.setdiff1d(np.arange(system.rates), np.asarray(fixed, dtype=int))
    # as they are, rows of heavy bodies are lost beside those of light ones; made equal, far starts close less often
    found, rows = _closed(system, q, free, t, base, tolerance, equal=False)
    if not np.abs(rows.g).max(initial=0.0) <= tolerance:
        found, rows = _closed(system, q, free, t, base, tolerance, equal=True)
    worst = int(np.argmax(np.abs(rows.g))) if len(rows.g) else 0
    if not len(rows.g) or abs(rows.g[worst]) <= tolerance:
        return found
    name = system.cuts[int(rows.cut[worst])].name
    unit = "rad" if not rows.nz[worst].any() else "m"
    raise ClosureError(
        f"the loops cannot be closed: joint {name} stays open by {abs(rows.g[worst]):.3g} {unit} after {ITERATIONS} "
        f"iterations; start from a pose nearer to closure, leave more coordinates free, or check lengths and axes"
    )


def _closed(
    system: RigidSystem, q: np.ndarray, free: np.ndarray, t: float, base: BaseMotion, tolerance: float, equal: bool
) -> tuple[np.ndarray, CutRows]:
    """Return the coordinates to which Newton's method comes, and the rows there; `equal` as in `_correction`."""
    still = np.zeros(system.rates)
    motion, A, rows = state_rows(system, q, still, t, base)
    for _ in range(ITERATIONS):
        if float(np.abs(rows.g).max(initial=0.0)) <= tolerance:
            break
        change = np.zeros(system.rates)
        change[free] = _correction(motion, A, rows, free, rows.g, equal)
        # half a step as long as a whole one does not bring the joints closer together
        length = 1.0
        while True:
            nearer = system.moved(q, length * change)
            motion, A, attempt = state_rows(system, nearer, still, t, base)
            if np.linalg.norm(attempt.g) < np.linalg.norm(rows.g) or length < 1e-3:
                break
            length *= 0.5
        q, rows = nearer, attempt
    return q, rows


def closed_rates(
    system: RigidSystem,
    q: ArrayLike,
    u: ArrayLike,
    fixed: ArrayLike = (),
    t: float = 0.0,
    base: BaseMotion = AT_REST,
) -> np.ndarray:
    """Return the rates nearest to u, in the metric of the mass, that keep all loops closed.

    Raises
    ------
    ClosureError
        If the fixed rates cannot all have their values.
    """
    u = np.array(u, dtype=float)
    free = np.setdiff1d(np.arange(system.rates), np.asarray(fixed, dtype=int))
    motion, A, rows = state_rows(system, q, u, t, base)
    u[free] += _correction(motion, A, rows, free, rows.gd, equal=True)
    _, _, rows = state_rows(system, q, u, t, base)
    left = np.abs(rows.gd).max(initial=0.0)
    if left > 1e-8 * max(1.0, float(np.abs(u).max(initial=0.0))):
        name = system.cuts[int(rows.cut[int(np.argmax(np.abs(rows.gd)))])].name
        raise ClosureError(
            f"the fixed rates contradict the loops: joint {name} opens at {left:.3g} (m/s or rad/s); fix fewer rates"
        )
    return u


def tangent(A: np.ndarray, H: np.ndarray, natural: np.ndarray | float = 0.0) -> np.ndarray:
    """Return rates that the rows H allow, as columns that are orthonormal in the metric A: one a degree of freedom."""
    factor = np.linalg.cholesky(A)
    weighted = scaled(np.linalg.solve(factor, H.T).T, natural)
    rank, _ = null_rows(weighted) if len(H) else (0, None)
    rows = np.linalg.svd(weighted)[2][rank:] if len(H) else np.eye(len(A))
    return np.linalg.solve(factor.T, rows.T)
