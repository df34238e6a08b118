"""Factorisation L D L^T of a symmetric matrix of blocks whose graph is a tree, without fill-in.

Theory: multibody-formulations 3.2.

One node a body and one a joint; every parent has a larger number than its children. After Baraff. Erratum (2.60): the
printed form is that in place, with its transposes exchanged; (2.61) is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NO_PARENT = -1


@dataclass(frozen=True)
class BlockTree:
    """Factors: D of each node and L_{k, parent(k)}, stored by the child. Nodes are in post-order."""

    parent: tuple[int, ...]
    D: tuple[np.ndarray, ...]
    L: tuple[np.ndarray, ...]

    def solve(self, rhs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the solution for one block of right-hand sides a node."""
        x = [np.array(block, dtype=float) for block in rhs]
        for i, above in enumerate(self.parent):
            if above != NO_PARENT:
                x[above] -= self.L[i].T @ x[i]
        x = [np.linalg.solve(D, block) if len(D) else block for D, block in zip(self.D, x, strict=True)]
        for i in reversed(range(len(x))):
            if self.parent[i] != NO_PARENT:
                x[i] -= self.L[i] @ x[self.parent[i]]
        return x


def factorise(parent: Sequence[int], diagonal: Sequence[np.ndarray], above: Sequence[np.ndarray]) -> BlockTree:
    """Return the factors of the matrix H: `diagonal` has H_ii, `above` has H_{i, parent(i)}, of size 0 for a root.

    A node without diagonal, a constraint, needs a child; it has one if each joint has its outer body as a child.
    """
    D = [np.array(block, dtype=float) for block in diagonal]
    L: list[np.ndarray] = []
    for i, up in enumerate(parent):
        if up == NO_PARENT:
            L.append(np.zeros((len(D[i]), 0)))
            continue
        if up <= i:
            raise ValueError(f"node {i} comes after its parent {up}")
        L.append(np.linalg.solve(D[i], above[i]) if len(D[i]) else np.zeros((0, len(D[up]))))
        D[up] -= L[i].T @ above[i]
    return BlockTree(tuple(parent), tuple(D), tuple(L))


def fill_in(edges: Sequence[tuple[int, int]], order: Sequence[int]) -> int:
    """Return how many blocks of L below the diagonal are filled that H does not have, if nodes are taken in `order`.

    The factorisation of the graph: each eliminated node connects all its neighbours that are left.
    """
    beside: dict[int, set[int]] = {node: set() for node in order}
    for one, other in edges:
        beside[one].add(other)
        beside[other].add(one)
    count, left = 0, set(order)
    for node in order:
        left.discard(node)
        near = sorted(beside[node] & left)
        for k, one in enumerate(near):
            for other in near[k + 1 :]:
                if other not in beside[one]:
                    count += 1
                    beside[one].add(other)
                    beside[other].add(one)
    return count
