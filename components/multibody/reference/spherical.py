"""WITT for spherical joints by augmented bodies: K w' = M' + M + S Y. multibody-formulations 3.3, (3.12) to (3.69).

Joints have no displacement; bodies and joints are numbered regularly in `barycentres` and `b_vectors`, in any way
elsewhere. Vectors have inertial components, or those of the bodies where all are fixed in bodies.
"""

from __future__ import annotations

import numpy as np

from dockfmu.components.multibody.reference.algebra import cross


def path_vectors(S: np.ndarray, T: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return d = C T, n x n vectors, C_ia = S_ia c_ia (3.12) to (3.14). `S` is without the row of body 0."""
    return np.einsum("iax,aj->ijx", S[:, :, None] * c, T)


def barycentres(S: np.ndarray, T: np.ndarray, c: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Return the barycentres of the augmented bodies from their centres of mass (program GetBaricenterVectors).

    Its comment says that they are -b_i0; they are -b_ii. It takes the plain vectors c_ia.
    """
    n, total = len(m), m.sum()
    outboard = np.abs(T @ m)
    centres = np.zeros((n, 3))
    for i in range(n):
        later = range(i + 1, n)
        attached = sum((c[i, a] * outboard[a] * abs(S[i, a]) for a in later), np.zeros(3))
        centres[i] = (attached + c[i, i] * (total - outboard[i])) / total
    return centres


def b_vectors(S: np.ndarray, T: np.ndarray, centres: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return b_ij, n x n vectors: from the barycentre of body i to its centre of mass or the joint that leads to j.

    Program Get_b, for a regular numbering.
    """
    n = len(centres)
    b = np.zeros((n, n, 3))
    for i in range(n):
        for j in range(n):
            leading = [a for a in range(i + 1, n) if S[i, a] * T[a, j] != 0]
            # towards the base, and to bodies that are not outboard of i
            arm = c[i, leading[0]] if leading else c[i, i]
            b[i, j] = -centres[i] if i == j else arm - centres[i]
    return b


def b_by_matrices(S: np.ndarray, T: np.ndarray, c: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Return b = -C T mu with mu = E - m 1^T / M (3.48), for any numbering.

    The columns hold the vectors of a system whose first joint is fictitious; elsewhere c_11 is added by b_i0.
    """
    mu = np.eye(len(m)) - np.outer(m, np.ones(len(m))) / m.sum()
    return -np.einsum("ijx,jk->ikx", path_vectors(S, T, c), mu)


def precedes(T: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Return n x n truths: body i lies on the path from the base to body j, i not j."""
    before = np.zeros((len(T), len(T)), dtype=bool)
    for i in range(len(T)):
        (preceding,) = np.flatnonzero((S[i] != 0) & (T[:, i] != 0))
        before[i] = T[preceding] != 0
        before[i, i] = False
    return before


def suspended(
    d: np.ndarray,
    b0: np.ndarray,
    before: np.ndarray,
    m: np.ndarray,
    J: np.ndarray,
    w: np.ndarray,
    a0: np.ndarray,
    F: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return K, n x n x 3 x 3, and M' of a system that hangs from a base with acceleration a0 (3.31) to (3.34).

    `b0` has b_i0 = d_ij + b_ij, J the central inertias in inertial axes. Erratum (3.25): the first K w is K w'.
    """
    n, total, E = len(m), m.sum(), np.eye(3)
    K = np.zeros((n, n, 3, 3))
    moment = np.zeros((n, 3))
    for i in range(n):
        K[i, i] = J[i] + sum(m[k] * (d[i, k] @ d[i, k] * E - np.outer(d[i, k], d[i, k])) for k in range(n))
        outer = np.zeros(3)
        inner = -a0
        for j in range(n):
            if before[i, j]:
                K[i, j] = total * (b0[j] @ d[i, j] * E - np.outer(b0[j], d[i, j]))
                outer = outer + cross(d[i, j], cross(w[j], cross(w[j], b0[j])))
            elif before[j, i]:
                K[i, j] = total * (d[j, i] @ b0[i] * E - np.outer(d[j, i], b0[i]))
                inner = inner + cross(w[j], cross(w[j], d[j, i]))
        load = sum((cross(d[i, j], F[j]) for j in range(n) if before[i, j] or i == j), np.zeros(3))
        moment[i] = -cross(w[i], K[i, i] @ w[i]) - total * (outer + cross(b0[i], inner)) - load
    return K, moment


def floating(
    b: np.ndarray, m: np.ndarray, J: np.ndarray, w: np.ndarray, F: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return K and M' of a free system, without the motion of its centre of mass (3.66) to (3.69)."""
    n, total, E = len(m), m.sum(), np.eye(3)
    K = np.zeros((n, n, 3, 3))
    moment = np.zeros((n, 3))
    for i in range(n):
        K[i, i] = J[i] + sum(m[k] * (b[i, k] @ b[i, k] * E - np.outer(b[i, k], b[i, k])) for k in range(n))
        moment[i] = -cross(w[i], K[i, i] @ w[i]) + sum(cross(b[i, j], F[j]) for j in range(n))
        for j in range(n):
            if j != i:
                K[i, j] = total * (np.outer(b[j, i], b[i, j]) - b[j, i] @ b[i, j] * E)
                moment[i] += total * cross(b[i, j], cross(w[j], cross(w[j], b[j, i])))
    return K, moment


def angular_accelerations(K: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Return w' of the bodies of K w' = moment."""
    n = len(moment)
    return np.linalg.solve(K.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n), moment.ravel()).reshape(n, 3)
