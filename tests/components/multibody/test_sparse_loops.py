"""Multipliers of cut joints by the sparse matrix of all joints, against the dense matrix of the cut ones."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import closure, elastic_bodies, links, sparse_order
from dockfmu.components.multibody.link_data import lay_out
from dockfmu.components.multibody.loop_order import loop_order
from dockfmu.components.multibody.model import BASE, JointLock, Model, Mounting, MultibodyJoint
from dockfmu.components.multibody.model.elastic import elastic_rigid_body
from tests.components.multibody.elastic_models import random_elastic
from tests.components.multibody.random_models import flex_of, free_model, made, random_model, solver_of
from tests.components.multibody.test_elimination import CUTS, TREE, with_loops


@pytest.fixture
def sparse(monkeypatch):
    """Let all models with loops have the sparse solution."""
    monkeypatch.setattr(sparse_order, "SHARE", float("inf"))


def compare(model: Model, seed: int) -> None:
    """Solve for random right-hand sides by both ways: equal to 1e-12 times the condition of the matrix."""
    m = Instance(made(model)).m
    solver, flex, rows = solver_of(m), flex_of(m), m.closure.row
    assert m.run.ties > 0
    for row, value in zip(rows, np.random.default_rng(seed).normal(size=len(rows)), strict=True):
        row.wanted = value
    links.place(m.link, flex)
    if m.run.elastic:
        elastic_bodies.bend(m.link, flex, m.run, 1e-3)
    closure.sparse_loops.keep_masses(m.link, solver, m.run)
    links.accelerate(m.link, False, flex)
    assert closure.sparse_loops.prepare(m.link, m.cut, rows, solver, m.run)
    for row in rows:
        row.rest, row.multiplier = row.wanted, 0.0
    closure.sparse_loops.add_multipliers(rows, solver)
    found = np.array([row.multiplier for row in rows])
    closure.set_matrix(m.link, m.cut, rows, solver, m.run)
    kept = [k for k, row in enumerate(rows) if row.independent]
    A = np.array(m.closure.matrix)[np.ix_(kept, kept)]
    expected = np.zeros(len(rows))
    expected[kept] = np.linalg.solve(A, [rows[k].wanted for k in kept])
    condition = np.linalg.cond(A)
    assert condition < 1e7
    bound = 1e-12 * max(1.0, 1e-2 * condition)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=bound * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(8))
def test_spec11_equation_28_the_sparse_solution_equals_the_dense_one_on_nested_loops(sparse, seed):
    """Trees of all joints, both ways round, on the base and free; coordinates with dampers, springs and rotors."""
    random = np.random.default_rng(seed)
    model = random_model(seed, 9, TREE, reverse=0.5) if seed % 2 else free_model(seed, 9, TREE)
    names = [BASE, *(body.name for body in model.bodies)]
    ends = []
    while len(ends) < 3:
        one, other = (str(name) for name in random.choice(names[seed % 2 == 0 :], size=2, replace=False))
        ends.append((one, other))
    kinds = [str(kind) for kind in random.choice(CUTS, size=3)]
    compare(with_loops(model, ends, kinds), seed)
