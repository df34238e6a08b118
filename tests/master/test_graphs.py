"""Execution order and loops of directed graphs, against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dockfmu.master.order import execution_order, loops

pytestmark = pytest.mark.quick

EDGES = st.integers(1, 9).flatmap(
    lambda n: st.tuples(st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=3 * n))
)


def strong_components(n, edges):
    pairs = np.array(sorted(edges), np.intp).reshape(-1, 2)
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    labels = connected_components(graph, directed=True, connection="strong")[1]
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in labels}


@given(EDGES)
def test_loops_are_the_strong_components_of_scipy(case):
    n, edges = case
    wanted = {group for group in strong_components(n, edges) if len(group) > 1 or (min(group),) * 2 in edges}
    assert {frozenset(loop) for loop in loops(range(n), edges)} == wanted


@given(EDGES)
def test_sources_come_before_targets_and_loops_stay_together(case):
    n, edges = case
    order = execution_order(tuple(range(n)), edges)
    assert sorted(order) == list(range(n))
    place = {node: k for k, node in enumerate(order)}
    groups = strong_components(n, edges)
    of = {node: group for group in groups for node in group}
    for a, b in edges:
        assert of[a] == of[b] or place[a] < place[b]
    for group in groups:
        inside = [node for node in order if node in group]
        assert inside == sorted(inside)
        assert place[inside[-1]] - place[inside[0]] == len(group) - 1


def test_a_chain_of_many_nodes_needs_no_deep_stack():
    nodes = tuple(range(50_000))
    assert execution_order(nodes, [(a, a + 1) for a in nodes[:-1]]) == nodes
    assert loops(nodes, [(a, (a + 1) % len(nodes)) for a in nodes]) == [nodes]
