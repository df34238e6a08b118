"""Multipliers of cut joints by elimination along the tree, against the dense matrix of all their rows."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import closure, pushes
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.link_data import lay_out
from dockfmu.components.multibody.loop_order import loop_order
from dockfmu.components.multibody.model import BASE, JointLock, Model, Mounting, MultibodyJoint
from dockfmu.components.physics.mechanics.rotation import from_quaternion
from dockfmu.components.physics.tree import links
from tests.components.multibody.random_models import (
    flex_of,
    free_model,
    made,
    matrix,
    mounting,
    random_model,
    solver_of,
)

CUTS = ("spherical", "revolute", "planar", "universal", "cylindrical", "prismatic")
TREE = ("revolute", "prismatic", "screw", "universal", "cylindrical", "planar", "spherical", "fixed")


def with_loops(model: Model, ends: list[tuple[str, str]], kinds: list[str]) -> Model:
    """Return a model with cut joints between pairs of bodies, closed at its start values."""
    shown = Instance(made(model)).m.body
    names = [body.name for body in model.bodies]
    places = {BASE: (np.eye(3), np.zeros(3))}
    # nodes of elastic bodies follow
    for name, one in zip(names, shown[: len(names)], strict=True):
        # body -> I, place
        places[name] = (np.array(from_quaternion(tuple(one.quaternion))).T, np.array(one.position))
    random = np.random.default_rng(len(ends))
    cuts = []
    for k, ((first, second), kind) in enumerate(zip(ends, kinds, strict=True)):
        outer = mounting(random)
        (A1, r1), (A2, r2) = places[first], places[second]
        point = A1.T @ (r2 + A2 @ outer.point - r1)
        inner = Mounting(tuple(point), matrix(np.array(outer.rotation) @ A2.T @ A1))
        cuts.append(MultibodyJoint(f"c{k}", kind, first, second, inner, outer, cut=True))
    return replace(model, joints=(*model.joints, *cuts))


def dense(instance: Instance) -> np.ndarray:
    """Return the multipliers of what the rows want, by the matrix of all rows, after the recursion without loops."""
    m = instance.m
    links.place(m.link, flex_of(m))
    links.accelerate(m.link, False, flex_of(m))
    closure.set_matrix(m.link, m.cut, m.closure.row, solver_of(m), m.run)
    kept = [k for k, row in enumerate(m.closure.row) if row.independent]
    A, wanted = np.array(m.closure.matrix)[np.ix_(kept, kept)], np.array([m.closure.row[k].wanted for k in kept])
    found = np.zeros(len(m.closure.row))
    found[kept] = np.linalg.solve(A, wanted)
    return found


def compare(model: Model, seed: int, **values: object) -> None:
    """Solve for random right-hand sides by both ways: equal to 1e-12 times the condition of the matrix."""
    instance = Instance(made(model), **values)
    m = instance.m
    solver = solver_of(m)
    random = np.random.default_rng(seed)
    wanted = random.normal(size=len(m.closure.row))
    for row, value in zip(m.closure.row, wanted, strict=True):
        row.wanted = value
    expected = dense(instance)
    kept = [k for k, row in enumerate(m.closure.row) if row.independent]
    condition = np.linalg.cond(np.array(m.closure.matrix)[np.ix_(kept, kept)])
    links.place(m.link, flex_of(m))
    links.accelerate(m.link, False, flex_of(m))
    assert closure.elimination.solve(m.link, m.cut, m.closure.row, solver, m.run) == 0
    found = np.array([row.multiplier for row in m.closure.row])
    assert condition < 1e7
    bound = 1e-12 * max(1.0, 1e-3 * condition)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=bound * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(8))
def test_spec10_oracle_2_elimination_equals_the_dense_solution_on_nested_loops(seed):
    """Loops side by side, within each other, with common links, at the base and beyond it; trees of all joints."""
    random = np.random.default_rng(seed)
    model = random_model(seed, 9, TREE, reverse=0.5) if seed % 2 else free_model(seed, 9, TREE)
    names = [BASE, *(body.name for body in model.bodies)]
    ends = []
    while len(ends) < 3:
        one, other = (str(name) for name in random.choice(names[seed % 2 == 0 :], size=2, replace=False))
        ends.append((one, other))
    kinds = [str(kind) for kind in random.choice(CUTS, size=3)]
    compare(with_loops(model, ends, kinds), seed)


@pytest.mark.parametrize("free", [False, True])
def test_spec10_oracle_2_elimination_of_a_ladder(free):
    """Five loops one on another, the last locked: each closes at a link of the one before, none at the base alone."""
    kinds = ("revolute", "universal", "cylindrical")
    model = free_model(3, 10, kinds) if free else random_model(3, 10, kinds)
    joints = [
        replace(joint, predecessor=BASE if k == 0 else f"b{k}", successor=f"b{k + 1}")
        for k, joint in enumerate(model.joints)
    ]
    model = replace(model, joints=tuple(joints), locks=(JointLock("hold", "j9", closed=True),))
    rungs = [f"b{k}" for k in (1, 3, 5, 7, 10)]
    ladder = with_loops(model, list(pairwise(rungs)), ["spherical"] * 4)
    compare(ladder, 5)


def test_loops_that_share_no_branch_are_never_combined():
    """Chains on a fixed base: fronts of their own, so that the work is the sum of those of the loops."""
    joints, cuts = [], []
    model = random_model(1, 6, ("revolute",))
    for k, joint in enumerate(model.joints):
        joints.append(replace(joint, predecessor=BASE if k % 2 == 0 else f"b{k}", successor=f"b{k + 1}"))
    cuts = [MultibodyJoint(f"c{k}", "spherical", f"b{2 * k}", BASE, cut=True) for k in (1, 2, 3)]
    model = replace(model, joints=(*joints, *cuts))
    order = loop_order(model, lay_out(model))
    assert [count for _, _, count in order.fronts] == [3, 3, 3]
    assert {link for link, _, _ in order.fronts} == {0}
    assert order.carriers == ()
    assert len(order.entries) == 3 * 6


def test_the_response_has_the_acceleration_that_the_rows_want():
    """Push with the multipliers: the response of the tree, by its passes inward and outward, is the right-hand side."""
    model = with_loops(random_model(4, 7, TREE), [("b7", BASE), ("b6", "b2")], ["revolute", "spherical"])
    m = Instance(made(model)).m
    accelerations = np.array([coordinate.acceleration for coordinate in m.coordinate])
    state = Multibody(model)
    assert len(accelerations)
    assert state.freedoms().number == m.closure.freedoms
    assert state.freedoms().rank == m.closure.rank
    rows = m.closure.row
    wanted = np.random.default_rng(4).normal(size=len(rows))
    for row, value in zip(rows, wanted, strict=True):
        row.wanted = value
    links.place(m.link, flex_of(m))
    links.accelerate(m.link, False, flex_of(m))
    solver = solver_of(m)
    assert closure.elimination.solve(m.link, m.cut, rows, solver, m.run) == 0
    pushes.clear_pushes(m.link)
    for row in rows:
        pushes.push(m.link, m.cut, row, row.multiplier)
    pushes.respond(m.link, flex_of(m))
    kept = [k for k, row in enumerate(rows) if row.independent]
    assert len(kept) == m.closure.rank
    response = [pushes.row_response(m.link, m.cut, rows[k]) for k in kept]
    assert response == pytest.approx(wanted[kept], rel=1e-9, abs=1e-9)
