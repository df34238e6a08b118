"""Graph of a system of bodies: incidence, paths to the base, numbering, spanning tree. multibody-formulations 3.1.

Bodies are 1 .. n, body 0 is the base; an arc is a joint. `leaves[a]` is i+(a), the body where arc a leaves, and
`enters[a]` is i-(a), the body where it enters: the motion in the joint is that of i-(a) relative to i+(a). Arcs are
counted from 0 in the code; the source counts them from 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockfmu.base.errors import DockfmuError


class GraphError(DockfmuError, ValueError):
    """The joints do not make the graph that is asked for."""


def incidence(leaves: Sequence[int], enters: Sequence[int], bodies: int) -> np.ndarray:
    """Return the matrix [S_0; S] of integers, one row a body from 0 on, one column an arc (1.1).

    Erratum (1.1): the source prints i+ in both lines; the entry is -1 where i = i-(a).
    """
    matrix = np.zeros((bodies + 1, len(leaves)), dtype=int)
    for arc, (leaving, entering) in enumerate(zip(leaves, enters, strict=True)):
        for body in (leaving, entering):
            if not 0 <= body <= bodies:
                raise GraphError(f"joint {arc + 1} is at body {body}; bodies are 0 (the base) to {bodies}")
        if leaving == entering:
            raise GraphError(f"joint {arc + 1} has body {leaving} on both sides; a joint connects two bodies")
        matrix[leaving, arc] = 1
        matrix[entering, arc] = -1
    return matrix


def adjacency(leaves: Sequence[int], enters: Sequence[int], bodies: int) -> np.ndarray:
    """Return the symmetric matrix whose element (i, j) is 1 where a joint connects the bodies i and j."""
    S = incidence(leaves, enters, bodies)
    matrix = (np.abs(S) @ np.abs(S).T > 0).astype(int)
    np.fill_diagonal(matrix, 0)
    return matrix


def predecessors(leaves: Sequence[int], enters: Sequence[int], bodies: int) -> list[tuple[int, int]]:
    """Return (arc, body towards the base) for each body 1 .. n of a tree, after (-1, 0) for body 0.

    Raises
    ------
    GraphError
        If the arcs are not a tree that holds every body: there are more or fewer arcs than bodies, or some bodies are
        not connected with the base.
    """
    incidence(leaves, enters, bodies)
    if len(leaves) != bodies:
        raise GraphError(
            f"a tree of {bodies} bodies has {bodies} joints, not {len(leaves)}: declare the joints that close loops as "
            f"cut joints, and a free body with a free joint"
        )
    found: list[tuple[int, int] | None] = [None] * (bodies + 1)
    found[0] = (-1, 0)
    reached = [0]
    for body in reached:
        for arc, (leaving, entering) in enumerate(zip(leaves, enters, strict=True)):
            for here, there in ((leaving, entering), (entering, leaving)):
                if here == body and found[there] is None:
                    found[there] = (arc, body)
                    reached.append(there)
    lost = [str(body) for body, entry in enumerate(found) if entry is None]
    if lost:
        raise GraphError(f"no path of joints leads from body 0 to bodies {', '.join(lost)}; some joints close a loop")
    return [entry for entry in found if entry is not None]


def paths(leaves: Sequence[int], enters: Sequence[int], bodies: int) -> np.ndarray:
    """Return the matrix T of a tree, n x n integers: T = S^-1 (1.5), found by following the paths to the base.

    T[a, i] is +1 if arc a lies on the path from body 0 to body i + 1 and points towards body 0, -1 if it points away.
    """
    before = predecessors(leaves, enters, bodies)
    T = np.zeros((bodies, bodies), dtype=int)
    for body in range(1, bodies + 1):
        here = body
        while here != 0:
            arc, inner = before[here]
            T[arc, body - 1] = 1 if leaves[arc] == here else -1
            here = inner
    return T


def path(body: int, S: np.ndarray, T: np.ndarray) -> list[int]:
    """Return the arcs from `body` back to the base, in this order, for any numbering (section 1.1.2).

    `S` has the row of body 0.
    """
    arcs = []
    here = body
    while here != 0:
        (arc,) = np.flatnonzero((S[here] != 0) & (T[:, body - 1] != 0) & [a not in arcs for a in range(S.shape[1])])
        arcs.append(int(arc))
        (here,) = (int(other) for other in np.flatnonzero(S[:, arc]) if other != here)
    return arcs


def leaf_count(S: np.ndarray) -> int:
    """Return n_0, the number of bodies with one joint. `S` has the row of body 0, which does not count.

    Erratum: the source calls n_0 the index of a boundary vertex, and prints 3 for figure 1.6, where it is 4.
    """
    return int(np.sum(np.abs(S[1:]).sum(axis=1) == 1))


def regular_numbering(leaves: Sequence[int], enters: Sequence[int], bodies: int) -> tuple[list[int], list[int]]:
    """Return (new numbers of the bodies 0 .. n, new indices of the arcs) of a tree, numbered regularly.

    In a regular numbering arc k precedes body k + 1, and numbers grow along every path from the base: S and T are upper
    triangular. Leaves are cut off one after another and numbered from n down (section 1.1.2).
    """
    before = predecessors(leaves, enters, bodies)
    outer = [0] * (bodies + 1)
    for _, inner in before[1:]:
        outer[inner] += 1
    new_bodies, new_arcs = [0] * (bodies + 1), [0] * bodies
    free = [body for body in range(1, bodies + 1) if outer[body] == 0]
    for number in range(bodies, 0, -1):
        body = free.pop()
        arc, inner = before[body]
        new_bodies[body], new_arcs[arc] = number, number - 1
        outer[inner] -= 1
        if inner != 0 and outer[inner] == 0:
            free.append(inner)
    return new_bodies, new_arcs


def spanning_tree(leaves: Sequence[int], enters: Sequence[int], bodies: int) -> tuple[list[int], list[int]]:
    """Return (arcs of a tree that reaches every body, arcs to cut), each in the order of their indices.

    The first arc that reaches a body stays, so that arcs given first are cut last.
    """
    incidence(leaves, enters, bodies)
    group = list(range(bodies + 1))

    def root(body: int) -> int:
        while group[body] != body:
            body = group[body]
        return body

    kept: list[int] = []
    cut: list[int] = []
    for arc, (leaving, entering) in enumerate(zip(leaves, enters, strict=True)):
        one, other = root(leaving), root(entering)
        (cut if one == other else kept).append(arc)
        group[max(one, other)] = min(one, other)
    lost = [str(body) for body in range(bodies + 1) if root(body) != 0]
    if lost:
        raise GraphError(f"no path of joints leads from body 0 to bodies {', '.join(lost)}: give them a free joint")
    return kept, cut
