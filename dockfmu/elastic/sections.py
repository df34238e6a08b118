"""Sections of a finite-element model: where it is cut, and the loads there by mode acceleration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from dockfmu.components.physics.elastic.body import ElasticBodyError
from dockfmu.components.physics.elastic.sections import PRODUCTS, ElasticSections, centrifugal, gyroscopic, rigid_motion
from dockfmu.elastic.model import FullModel, dense
from dockfmu.elastic.reduction import ReducedShapes, solve_held

MOST_SECTIONS = 50

Cuts = Mapping[str, Sequence[tuple[int, int]]]
"""Name of each section: the pairs of nodes between which it cuts, at the first of each pair."""


def section_loads(model: FullModel, shapes: ReducedShapes, interface: list[int], root: int | None, cuts: Cuts) -> Any:
    """Return the loads at sections of a model as an ElasticSections, or None without `cuts`.

    A pair (A, B) cuts the model at node A, on the shortest way to B. The load is that on the part of A by the part of
    B, about A. A section that does not part the model is possible in a frame model alone: it gets the loads of the
    members that are cut. Raises ElasticBodyError that names the section.
    """
    if not cuts:
        return None
    if len(cuts) > MOST_SECTIONS:
        raise ElasticBodyError(f"{model.source}: {len(cuts)} sections; up to {MOST_SECTIONS} are possible")
    if model.reduced:
        raise ElasticBodyError(f"{model.source}: a reduced matrix has no inside: give sections of the whole model")
    graph = _graph(model)
    rows = np.zeros((len(cuts), 6, len(model.freedom)))
    place = np.zeros((len(cuts), 3))
    for k, (name, pairs) in enumerate(cuts.items()):
        place[k], rows[k] = _rows(model, graph, name, pairs)
    held = interface[0] if root is None else root
    loads = rows.reshape(-1, len(model.freedom))
    response = solve_held(model, model.rows_of(held), loads.T)
    if root is None:
        # forces and inertia forces of a free body are in equilibrium: rigid motions take what is not
        carried = model.mass @ shapes.rigid
        gram = shapes.rigid.T @ carried
        response = response - shapes.rigid @ np.linalg.solve(gram, carried.T @ response)
    s = len(cuts)
    along = (model.mass @ response).T
    node = np.zeros((s, len(interface), 6, 6))
    for b, number in enumerate(interface):
        at = model.rows_of(number)
        node[:, b] = response[at].T.reshape(s, 6, 6)
    return ElasticSections(
        names=tuple(cuts),
        place=place - shapes.origin,
        node=node,
        inertia=(along @ shapes.rigid).reshape(s, 6, 6),
        spin=(response.T @ _spin(model, shapes.origin)).reshape(s, 6, 6),
        modal=(along @ shapes.shape).reshape(s, 6, -1),
        displaced=(loads @ shapes.shape).reshape(s, 6, -1),
    )


def _graph(model: FullModel) -> Any:
    """Return the sparse matrix of the distances between nodes that the stiffness couples."""
    index = {int(node): k for k, node in enumerate(model.nodes)}
    owner = np.array([index.get(int(node), -1) if component else -1 for node, component in model.freedom])
    entries = sparse.coo_array(model.stiffness)
    row, column = owner[entries.coords[0]], owner[entries.coords[1]]
    kept = (row != column) & (row >= 0) & (column >= 0) & (entries.data != 0.0)
    row, column = row[kept], column[kept]
    far = np.linalg.norm(model.position[row] - model.position[column], axis=1)
    size = (len(model.nodes), len(model.nodes))
    pairs = np.unique(np.column_stack([row, column]), axis=0)
    distance = dict(zip(zip(row.tolist(), column.tolist(), strict=True), far.tolist(), strict=True))
    # nodes at one place are joined by a way of almost no length
    values = [max(distance[int(a), int(b)], 1e-9) for a, b in pairs]
    return sparse.coo_array((values, (pairs[:, 0], pairs[:, 1])), shape=size).tocsr()


def _rows(model: FullModel, graph: Any, name: str, pairs: Sequence[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the place of a section, and the matrix (6, n) from displacements to its load."""
    index = {int(node): k for k, node in enumerate(model.nodes)}
    where = f"{model.source}: section {name}"
    links = []
    for one, other in pairs:
        for node in (one, other):
            if node not in index:
                raise ElasticBodyError(f"{where}: node {node} is no node of the model")
        if one == other:
            raise ElasticBodyError(f"{where}: cuts between node {one} and itself; give two nodes")
        _, ways = csgraph.dijkstra(graph, indices=np.array([index[other]]), return_predecessors=True)
        before = ways[0]
        if before[index[one]] < 0:
            raise ElasticBodyError(f"{where}: nodes {one} and {other} are not joined")
        links.append((index[one], int(before[index[one]])))
    cut = graph.tolil()
    for one, other in links:
        cut[one, other] = cut[other, one] = 0.0
    cut = cut.tocsr()
    cut.eliminate_zeros()
    _, part = csgraph.connected_components(cut, directed=False)
    beyond = part == part[links[0][1]]
    near = links[0][0]
    place = model.position[near]
    if all(not beyond[one] and beyond[other] for one, other in links):
        # what acts on the part beyond by its own stiffness is in equilibrium: the sum is what crosses the section
        kept = np.array([bool(component) and bool(beyond[index[int(node)]]) for node, component in model.freedom])
        lever = np.where(kept[:, None], model.rigid(place), 0.0)
        return place, np.asarray(dense(model.stiffness @ lever)).T
    if not model.members:
        ends = ", ".join(f"{model.nodes[one]}-{model.nodes[other]}" for one, other in links)
        raise ElasticBodyError(
            f"{where}: the model does not part when it is cut at {ends}: give all places that the section crosses, "
            "each as NODE-NODE with the first node on the same side"
        )
    return place, _members(model, links, place)


def _members(model: FullModel, links: list[tuple[int, int]], place: np.ndarray) -> np.ndarray:
    """Return the matrix (6, n) to the sum of the forces that members exert on their first nodes.

    A member with the stiffness K_ab between its nodes acts on a by -K_ab (q_b - R q_a), R the rigid motion from a to b.
    """
    found = np.zeros((6, len(model.freedom)))
    for one, other in links:
        a, b = (model.rows_of(int(model.nodes[k])) for k in (one, other))
        block = np.asarray(dense(model.stiffness[a][:, b]))
        rigid = rigid_motion(model.position[other] - model.position[one])
        lever = rigid_motion(model.position[one] - place).T
        found[:, b] -= lever @ block
        found[:, a] += lever @ block @ rigid
    return found


def _spin(model: FullModel, origin: np.ndarray) -> np.ndarray:
    """Return the inertia forces (n, 6) of unit products of the angular velocity."""
    found = np.zeros((len(model.freedom), len(PRODUCTS)))
    index = {int(node): k for k, node in enumerate(model.nodes)}
    at = model.position - origin
    if model.bodies is None:
        for row, (node, component) in enumerate(model.freedom):
            if 1 <= component <= 3:
                found[row] = centrifugal(at[index[int(node)]])[component - 1]
        return np.asarray(model.mass @ found)
    bodies = model.bodies
    for k, node in enumerate(model.nodes):
        force = bodies.mass[k] * centrifugal(at[k] + bodies.offset[k])
        moment = np.cross(bodies.offset[k], force, axisb=0).T + gyroscopic(bodies.inertia[k])
        rows = model.rows_of(int(node))
        found[rows] = np.vstack([force, moment])[model.freedom[rows, 1] - 1]
    return found
