"""Every structure of the catalogue: folded expressions have the values of the algorithms with numbers (O5)."""

import numpy as np
import pytest

from dockfmu.components.codegen import counts
from dockfmu.components.codegen.catalogue import CHAINS, TREES
from dockfmu.components.codegen.graph import Graph


class Values:
    """A number for every name, always the same; cosines and sines belong together."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.found = {}

    def __call__(self, name):
        if name.startswith("sin"):
            return float(np.sqrt(1.0 - self(name.replace("sin", "cos")) ** 2))
        if name not in self.found:
            low, high = (1.0, 2.0) if name[0] == "m" else (0.1, 0.9)
            self.found[name] = float(self.rng.uniform(low, high))
            if name[0] == "I" and name[-5] == name[-2]:
                self.found[name] += 3.0  # a tensor of inertia is positive
        return self.found[name]


def compare(build, seed):
    values, graph = Values(seed), Graph()
    symbolic = build(counts.Symbols(graph.input, full=False))
    numeric = build(counts.Symbols(values, full=False))
    for name, outputs in symbolic.items():
        expected = np.array([float(x) for x in numeric[name]])
        found = graph.evaluate(outputs, values)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CHAINS)
def test_spec09_oracle_O5_chains(name, seed):
    """The order of sums differs: rounding of some 1000 operations, and the condition of Cd."""
    compare(lambda s: counts.chain_stages(CHAINS[name], s), seed)


@pytest.mark.parametrize(("name", "algorithm"), counts.tree_runs())
def test_spec09_oracle_O5_trees(name, algorithm):
    compare(lambda s: counts.tree_stages(algorithm, TREES[name], s), 0)
