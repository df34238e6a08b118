"""Planar systems: parallel revolute joints by graph matrices, and Cartesian equations of bars.

Theory: multibody-formulations 3.2, 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PlanarEquations:
    """A phi'' + B phi'^2 = R, with the absolute angles phi (3.41) to (3.43)."""

    A: np.ndarray
    B: np.ndarray
    R: np.ndarray


def polar(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return lengths and angles of planar vectors, angles from 0 to 2 pi as in table 3.1."""
    return np.hypot(vectors[..., 0], vectors[..., 1]), np.arctan2(vectors[..., 1], vectors[..., 0]) % (2.0 * np.pi)


def planar_equations(
    d: np.ndarray,
    b0: np.ndarray,
    before: np.ndarray,
    m: np.ndarray,
    J: np.ndarray,
    phi: np.ndarray,
    M: np.ndarray,
    a0: np.ndarray,
    F: np.ndarray,
) -> PlanarEquations:
    """Return the equations of bodies on parallel axes from `d_ij` and `b_i0` in axes of the bodies.

    Errata (3.41) to (3.43): B_ij has a sine, not a cosine, and B is skew-symmetric, not symmetric; "phi - beta" in R is
    phi + beta.
    """
    n, total = len(m), m.sum()
    size, a = polar(d)
    arm, beta = polar(b0)
    A, B, R = np.zeros((n, n)), np.zeros((n, n)), np.array(M, dtype=float)
    for i in range(n):
        A[i, i] = J[i] + m @ size[i] ** 2
        R[i] -= total * arm[i] * (a0[0] * np.sin(phi[i] + beta[i]) - a0[1] * np.cos(phi[i] + beta[i]))
        for j in range(n):
            if before[i, j] or i == j:
                angle = phi[i] + a[i, j]
                R[i] += size[i, j] * (F[j, 0] * np.sin(angle) - F[j, 1] * np.cos(angle))
            if before[i, j]:
                angle = phi[i] - phi[j] + a[i, j] - beta[j]
                A[i, j], B[i, j] = total * size[i, j] * arm[j] * np.array([np.cos(angle), np.sin(angle)])
            elif before[j, i]:
                angle = phi[i] - phi[j] - a[j, i] + beta[i]
                A[i, j], B[i, j] = total * size[j, i] * arm[i] * np.array([np.cos(angle), np.sin(angle)])
    return PlanarEquations(A, B, R)


OMEGA = np.array([[0.0, -1.0], [1.0, 0.0]])
"""The quarter turn: A' = phi' A OMEGA."""


def turn(phi: float) -> np.ndarray:
    """Return the matrix from components on a body to inertial ones."""
    return np.array([[np.cos(phi), -np.sin(phi)], [np.sin(phi), np.cos(phi)]])


@dataclass(frozen=True)
class PlanarRow:
    """A row Q_i X''_i + Q_j X''_j = b of planar bodies, X = (x, y, phi)."""

    i: int
    j: int
    Qi: np.ndarray
    Qj: np.ndarray
    b: float


def point_line(n: np.ndarray, i: int, j: int, point: np.ndarray, x: np.ndarray, xd: np.ndarray) -> PlanarRow:
    """Return the row of a point of body j on a line of body i with the normal n in axes of i (2.43).

    `x` and `xd` have one row (x, y, phi) a body, body 0 first.
    """
    A, B = turn(x[i, 2]), turn(x[j, 2])
    rho = x[j, :2] + B @ point - x[i, :2]
    rate = xd[j, :2] + xd[j, 2] * B @ OMEGA @ point - xd[i, :2]
    Qi = np.array([*(-n @ A.T), n @ A.T @ OMEGA.T @ rho])
    Qj = np.array([*(n @ A.T), n @ A.T @ OMEGA @ B @ point])
    b = xd[i, 2] ** 2 * A.T @ rho - 2.0 * xd[i, 2] * A.T @ OMEGA.T @ rate + xd[j, 2] ** 2 * A.T @ B @ point
    return PlanarRow(i, j, Qi, Qj, float(n @ b))


def planar_hinge(i: int, j: int, point: np.ndarray, x: np.ndarray, xd: np.ndarray) -> list[PlanarRow]:
    """Return the two rows of a revolute joint at a point of body j."""
    return [point_line(n, i, j, point, x, xd) for n in np.eye(2)]


def planar_no_rotation(i: int, j: int) -> PlanarRow:
    """Return the row phi''_j - phi''_i = 0 (2.32). Erratum: its right-hand side in (2.47) is b_8, printed b_7."""
    return PlanarRow(i, j, np.array([0.0, 0.0, -1.0]), np.array([0.0, 0.0, 1.0]), 0.0)


@dataclass(frozen=True)
class PlanarSolution:
    """Accelerations, one row a body without body 0, and multipliers, one a row."""

    X: np.ndarray
    multipliers: np.ndarray
    Q: np.ndarray


def planar_cartesian(M: np.ndarray, F: np.ndarray, rows: list[PlanarRow]) -> PlanarSolution:
    """Return the solution of M X'' = F + Q^T lambda, Q X'' = b (2.49) to (2.54), body 0 at rest.

    Parameters
    ----------
    M : array (n, 3)
        Masses and moments of inertia: m, m, J.
    F : array (n, 3)
        Forces and moments.
    """
    n = len(M)
    Q = np.zeros((len(rows), 3 * n))
    for k, row in enumerate(rows):
        for body, block in ((row.i, row.Qi), (row.j, row.Qj)):
            if body:
                Q[k, 3 * body - 3 : 3 * body] = block
    H = np.block([[np.diag(M.ravel()), -Q.T], [Q, np.zeros((len(rows), len(rows)))]])
    x = np.linalg.solve(H, np.concatenate((F.ravel(), [row.b for row in rows])))
    return PlanarSolution(x[: 3 * n].reshape(n, 3), x[3 * n :], Q)
