"""The graph machinery against the worked examples of the source."""

import numpy as np
import pytest

from dockfmu.components.multibody.model.topology import BodyGraph

pytestmark = pytest.mark.quick

FIGURE_1_3 = BodyGraph(7, tuple(zip((1, 6, 4, 6, 4, 6, 7), (6, 2, 3, 4, 5, 7, 0), strict=True)))
FIGURE_3_22 = ((5, 6, 0, 1, 1, 3, 0), (0, 4, 2, 2, 7, 2, 4)), ((4, 0, 5), (3, 7, 6))


def test_spec10_example_E1_incidence_and_paths() -> None:
    S_0, S = FIGURE_1_3.incidence()
    T = FIGURE_1_3.paths()
    assert np.vstack([S_0, S]).tolist() == [
        [0, 0, 0, 0, 0, 0, -1],
        [1, 0, 0, 0, 0, 0, 0],
        [0, -1, 0, 0, 0, 0, 0],
        [0, 0, -1, 0, 0, 0, 0],
        [0, 0, 1, -1, 1, 0, 0],
        [0, 0, 0, 0, -1, 0, 0],
        [-1, 1, 0, 1, 0, 1, 0],
        [0, 0, 0, 0, 0, -1, 1],
    ]
    assert T.tolist() == [
        [1, 0, 0, 0, 0, 0, 0],
        [0, -1, 0, 0, 0, 0, 0],
        [0, 0, -1, 0, 0, 0, 0],
        [0, 0, -1, -1, -1, 0, 0],
        [0, 0, 0, 0, -1, 0, 0],
        [1, 1, 1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
    ]


def test_spec10_example_E2_regular_numbering_makes_both_matrices_triangular() -> None:
    bodies, arcs = FIGURE_1_3.regular_numbering()
    new = {0: 0, **{old: k for k, old in enumerate(bodies, start=1)}}
    numbered = BodyGraph(7, tuple((new[FIGURE_1_3.arcs[a][0]], new[FIGURE_1_3.arcs[a][1]]) for a in arcs))
    S, T = numbered.incidence()[1], numbered.paths()
    assert np.array_equal(S, np.triu(S))
    assert np.array_equal(T, np.triu(T))
    leaves = 4
    above = np.argwhere(np.triu(T, 1))
    assert above[:, 0].max() < 7 - leaves
    assert all(k in arc for k, arc in enumerate(numbered.arcs, start=1))


def test_spec10_example_E17_closed_structure() -> None:
    tree = BodyGraph(7, tuple(zip(*FIGURE_3_22[0], strict=True)))
    cuts = BodyGraph(7, tuple(zip(*FIGURE_3_22[1], strict=True)))
    (S_0, S), (S_0_cut, S_cut) = tree.incidence(), cuts.incidence()
    T = tree.paths()
    assert np.vstack([np.append(S_0, S_0_cut), np.hstack([S, S_cut])]).tolist() == [
        [-1, 0, 1, 0, 0, 0, 1, 0, 1, 0],
        [0, 0, 0, 1, 1, 0, 0, 0, 0, 0],
        [0, 0, -1, -1, 0, -1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 0, -1, 0, 0],
        [0, -1, 0, 0, 0, 0, -1, 1, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        [0, 1, 0, 0, 0, 0, 0, 0, 0, -1],
        [0, 0, 0, 0, -1, 0, 0, 0, -1, 0],
    ]
    assert T.tolist() == [
        [0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 0],
        [-1, -1, -1, 0, 0, 0, -1],
        [1, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, -1],
        [0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, -1, 0, -1, 0],
    ]
    assert (T @ S_cut).tolist() == [[0, 0, 1], [0, 0, -1], [1, 1, 0], [0, -1, 0], [0, 1, 0], [-1, 0, 0], [-1, 0, 1]]
    subtrees = {1: {5}, 3: {2, 1, 3, 7}, 7: {4, 6}}
    for arc, members in subtrees.items():
        assert set(np.flatnonzero(T[arc - 1]) + 1) == members


@pytest.mark.parametrize("seed", range(5))
def test_spec10_oracle_1_graph_identities_on_random_trees(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 12
    arcs = tuple(
        (k, int(random.integers(0, k))) if random.random() < 0.5 else (int(random.integers(0, k)), k)
        for k in range(1, n + 1)
    )
    tree = BodyGraph(n, arcs)
    S_0, S = tree.incidence()
    T = tree.paths()
    assert np.array_equal(T @ S, np.eye(n))
    assert np.array_equal(S @ T, np.eye(n))
    assert np.array_equal(T.T @ S_0, -np.ones(n))


def test_a_graph_with_a_loop_is_not_a_tree() -> None:
    loop = BodyGraph(2, ((0, 1), (1, 2), (2, 0)))
    with pytest.raises(ValueError, match="not a tree"):
        loop.paths()
    with pytest.raises(ValueError, match="loop"):
        loop.regular_numbering()
