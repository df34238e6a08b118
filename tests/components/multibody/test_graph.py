"""Graph of bodies and joints: multibody-formulations 3.1."""

import numpy as np
import pytest

from dockfmu.components.multibody.reference import graph
from dockfmu.components.multibody.reference.block_ldl import fill_in
from tests.components.multibody import random_systems

pytestmark = pytest.mark.quick

E1 = [1, 6, 4, 6, 4, 6, 7], [6, 2, 3, 4, 5, 7, 0]


def test_spec10_E01_graph_of_figure_1_3():
    S = graph.incidence(*E1, 7)
    assert S.tolist() == [
        [0, 0, 0, 0, 0, 0, -1],
        [1, 0, 0, 0, 0, 0, 0],
        [0, -1, 0, 0, 0, 0, 0],
        [0, 0, -1, 0, 0, 0, 0],
        [0, 0, 1, -1, 1, 0, 0],
        [0, 0, 0, 0, -1, 0, 0],
        [-1, 1, 0, 1, 0, 1, 0],
        [0, 0, 0, 0, 0, -1, 1],
    ]
    edges = {(0, 7), (6, 7), (1, 6), (2, 6), (4, 6), (3, 4), (4, 5)}
    assert {(i, j) for i, j in np.argwhere(graph.adjacency(*E1, 7)) if i < j} == edges
    T = graph.paths(*E1, 7)
    assert T.tolist() == [
        [1, 0, 0, 0, 0, 0, 0],
        [0, -1, 0, 0, 0, 0, 0],
        [0, 0, -1, 0, 0, 0, 0],
        [0, 0, -1, -1, -1, 0, 0],
        [0, 0, 0, 0, -1, 0, 0],
        [1, 1, 1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
    ]
    assert np.array_equal(T, np.round(np.linalg.inv(S[1:])))


def test_spec10_erratum_of_the_remark_on_column_7():
    """Column 7 of T gives the path to s7, which is u7 alone, not u1, u2, u3."""
    T = graph.paths(*E1, 7)
    assert np.flatnonzero(T[:, 6]).tolist() == [6]


def test_spec10_E02_regular_numbering():
    S = np.array(
        [
            [1, -1, 0, 0, 0, 0, 0],
            [0, 1, 1, -1, 0, 0, 1],
            [0, 0, -1, 0, 1, 1, 0],
            [0, 0, 0, 1, 0, 0, 0],
            [0, 0, 0, 0, -1, 0, 0],
            [0, 0, 0, 0, 0, -1, 0],
            [0, 0, 0, 0, 0, 0, -1],
        ]
    )
    ends = [[int(np.flatnonzero(column == sign)[0]) + 1 if sign in column else 0 for column in S.T] for sign in (1, -1)]
    assert graph.paths(*ends, 7).tolist() == [
        [1, 1, 1, 1, 1, 1, 1],
        [0, 1, 1, 1, 1, 1, 1],
        [0, 0, -1, 0, -1, -1, 0],
        [0, 0, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, -1, 0, 0],
        [0, 0, 0, 0, 0, -1, 0],
        [0, 0, 0, 0, 0, 0, -1],
    ]


def renumbered(leaves, enters, n):
    bodies, arcs = graph.regular_numbering(leaves, enters, n)
    new = [[0] * n, [0] * n]
    for old, number in enumerate(arcs):
        new[0][number], new[1][number] = bodies[leaves[old]], bodies[enters[old]]
    return new


def test_spec10_E02_numbering_of_E1_makes_S_upper_triangular():
    leaves, enters = renumbered(*E1, 7)
    S, T = graph.incidence(leaves, enters, 7), graph.paths(leaves, enters, 7)
    for matrix in (S[1:], T):
        assert np.array_equal(matrix, np.triu(matrix))
        assert np.all(np.diag(matrix) != 0)


@pytest.mark.parametrize("seed", range(20))
def test_spec10_oracle_1_of_trees_in_any_numbering(seed):
    """Also the confinement of T to its first n - n_0 rows, with n_0 the number of leaves; and paths."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    label = [0, *(1 + rng.permutation(n)).tolist()]
    order = rng.permutation(n)
    ends = [[label[k], label[int(rng.integers(0, k))]][:: rng.choice([-1, 1])] for k in range(1, n + 1)]
    leaves, enters = ([ends[k][side] for k in order] for side in (0, 1))
    S, T = graph.incidence(leaves, enters, n), graph.paths(leaves, enters, n)
    one = np.eye(n, dtype=int)
    assert np.array_equal(T @ S[1:], one)
    assert np.array_equal(S[1:] @ T, one)
    assert np.array_equal(T.T @ S[0], -np.ones(n))
    for body in range(1, n + 1):
        arcs = graph.path(body, S, T)
        assert sorted(arcs) == np.flatnonzero(T[:, body - 1]).tolist()
        assert body in (leaves[arcs[0]], enters[arcs[0]])
        assert 0 in (leaves[arcs[-1]], enters[arcs[-1]])
    S, T = (f(*renumbered(leaves, enters, n), n) for f in (graph.incidence, graph.paths))
    assert not np.tril(S[1:], -1).any()
    assert not np.tril(T, -1).any()


def test_spec10_erratum_number_of_leaves():
    """Check the number of figure 1.6, 4; outside the diagonal T is confined to the first 3 rows."""
    leaves, enters = [1, 2, 2, 4, 3, 3, 2], [0, 1, 3, 2, 5, 6, 7]
    S, T = graph.incidence(leaves, enters, 7), graph.paths(leaves, enters, 7)
    assert graph.leaf_count(S) == 4
    assert not np.triu(T, 1)[3:].any()


def test_arcs_towards_the_base_make_T_positive():
    T = graph.paths([1, 2, 3, 4], [0, 1, 1, 2], 4)
    assert T.min() == 0
    assert T.max() == 1


def test_spec10_E17_closed_structure_of_figure_3_22():
    leaves, enters = [5, 6, 0, 1, 1, 3, 0, 4, 0, 5], [0, 4, 2, 2, 7, 2, 4, 3, 7, 6]
    S = graph.incidence(leaves, enters, 7)
    assert S.tolist() == [
        [-1, 0, 1, 0, 0, 0, 1, 0, 1, 0],
        [0, 0, 0, 1, 1, 0, 0, 0, 0, 0],
        [0, 0, -1, -1, 0, -1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 0, -1, 0, 0],
        [0, -1, 0, 0, 0, 0, -1, 1, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        [0, 1, 0, 0, 0, 0, 0, 0, 0, -1],
        [0, 0, 0, 0, -1, 0, 0, 0, -1, 0],
    ]
    positive = np.maximum(S, 0)
    assert positive[0].tolist() == [0, 0, 1, 0, 0, 0, 1, 0, 1, 0]
    assert graph.spanning_tree(leaves, enters, 7) == ([0, 1, 2, 3, 4, 5, 6], [7, 8, 9])
    T = graph.paths(leaves[:7], enters[:7], 7)
    assert T.tolist() == [
        [0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 0],
        [-1, -1, -1, 0, 0, 0, -1],
        [1, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, -1],
        [0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, -1, 0, -1, 0],
    ]
    assert (T @ S[1:, 7:]).tolist() == [
        [0, 0, 1],
        [0, 0, -1],
        [1, 1, 0],
        [0, -1, 0],
        [0, 1, 0],
        [-1, 0, 0],
        [-1, 0, 1],
    ]
    assert np.array_equal(T.T @ S[0, :7], -np.ones(7))


def test_spec10_E03_a_joint_connects_two_bodies():
    """Three bodies on one pin are two joints; one joint with one body, or with a body that is not there, is refused."""
    with pytest.raises(graph.GraphError, match="joint 2 has body 1 on both sides"):
        graph.incidence([1, 1], [0, 1], 2)
    with pytest.raises(graph.GraphError, match="joint 1 is at body 3"):
        graph.incidence([3], [0], 2)


def test_a_graph_that_is_no_tree_is_refused():
    with pytest.raises(graph.GraphError, match="a tree of 2 bodies has 2 joints, not 3"):
        graph.paths([1, 2, 2], [0, 1, 0], 2)
    with pytest.raises(graph.GraphError, match="no path of joints leads from body 0 to bodies 2, 3"):
        graph.paths([1, 2, 2], [0, 3, 3], 3)
    with pytest.raises(graph.GraphError, match="bodies 2: give them a free joint"):
        graph.spanning_tree([1], [0], 2)


def test_spec10_E09_post_order_has_no_fill_in():
    """Edges 1-2, 2-3, 2-4, 4-5, 4-6, nodes 7 to 11 the joints: 10 blocks beside the diagonal."""
    pairs = [(1, 2), (2, 3), (2, 4), (4, 5), (4, 6)]
    edges = [(body, 7 + joint) for joint, pair in enumerate(pairs) for body in pair]
    assert len(edges) == 10
    assert fill_in(edges, range(1, 12)) == 6
    # depth first from body 6: every parent after its children
    assert fill_in(edges, [1, 7, 3, 8, 2, 9, 5, 10, 4, 11, 6]) == 0


@pytest.mark.parametrize("seed", range(5))
def test_post_order_of_the_cartesian_equations_has_no_fill_in(seed):
    """Order of `tree_factors`: bodies from the outside in, each followed by its joint."""
    system = random_systems.tree(np.random.default_rng(seed), 12)
    order = [node for body in reversed(system.outward) for node in (("body", body), ("joint", system.before[body][0]))]
    edges = [
        (("body", body), ("joint", a)) for a, joint in enumerate(system.joints) for body in (joint.leaves, joint.enters)
    ]
    assert fill_in([edge for edge in edges if edge[0][1] != 0], order) == 0


def operations(system):
    """Return the multiplications of factors and solution: blocks of each node and of its parent."""
    size = {("body", k): 6 for k in range(1, system.n + 1)}
    size |= {("joint", a): 6 - joint.motion.rates for a, joint in enumerate(system.joints)}
    total = 0
    for body in system.outward:
        a, inner = system.before[body]
        for node, parent in ((("body", body), ("joint", a)), (("joint", a), ("body", inner))):
            own, above = size[node], size.get(parent, 0)
            total += own**3 + own**2 * above + own * above**2
    return total


def test_spec10_oracle_8_cost_of_the_tree_factors_is_linear():
    """Each node is factorised once with its parent alone (no fill-in, above): the exponent of the count is 1."""
    rng = np.random.default_rng(0)
    sizes = np.array([20, 50, 100, 200, 500])
    counts = [operations(random_systems.tree(rng, int(n))) for n in sizes]
    exponent = np.polyfit(np.log(sizes), np.log(counts), 1)[0]
    assert 0.95 < exponent < 1.1
