"""Multipliers of cut joints by the sparse matrix of all joints, against the dense matrix of the cut ones."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.kernels.elastic_bodies import grid, spine
from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import closure, cut_rows, port_response, sparse_order
from dockfmu.components.multibody.link_data import lay_out
from dockfmu.components.multibody.loop_order import loop_order
from dockfmu.components.multibody.model import BASE, JointLock, Model, Mounting, MultibodyJoint
from dockfmu.components.physics.tree import elastic_bodies, links
from tests.components.multibody.elastic_models import elastic_model
from tests.components.multibody.random_models import flex_of, free_model, made, matrix, random_model, solver_of
from tests.components.multibody.test_elimination import CUTS, TREE, with_loops


@pytest.fixture
def sparse(monkeypatch):
    """Let all models with loops have the sparse solution."""
    monkeypatch.setattr(sparse_order, "SHARE", float("inf"))


def compare(model: Model, seed: int) -> None:
    """Solve for random right-hand sides by both ways: equal to 1e-12 times the condition of the matrix.

    Modes are deflected, coordinates have armatures, and the first port has the inertia of a mechanism (AFFINE).
    """
    random = np.random.default_rng(seed)
    m = Instance(made(model)).m
    solver, flex, rows = solver_of(m), flex_of(m), m.closure.row
    assert m.run.ties > 0
    for mode in m.modal[: int(m.run.modes)]:
        m.link[int(mode.link)].q = 0.05 * random.normal()
    links.place(m.link, flex)
    links.move(m.link)
    cut_rows.set_rows(m.link, m.cut, rows, m.run)
    elastic_bodies.bend(m.link, flex, m.run, 1e-3)
    for link in m.link:
        if links.FIXED < link.kind <= links.SCREW and link.kind != links.MODE and random.random() < 0.3:
            link.armature = random.uniform(0.1, 10.0)
    if m.run.ports:
        port = m.port[0]
        m.run.affine_ports = port.affine = 1.0
        port.tt[:], port.rr[:] = (3.0, 0.1, 0.2, 4.0, 0.3, 5.0), (0.3, 0.01, 0.02, 0.4, 0.03, 0.5)
        port_response.add_inertia(m.link, m.port, m.run)
    closure.sparse_loops.keep_masses(m.link, solver, m.run)
    links.accelerate(m.link, False, flex)
    assert closure.sparse_loops.prepare(m.link, m.cut, rows, solver, m.run)
    for row in rows:
        row.rest, row.multiplier = random.normal(), 0.0
    closure.sparse_loops.add_multipliers(rows, solver)
    found = np.array([row.multiplier for row in rows])
    closure.set_matrix(m.link, m.cut, rows, solver, m.run)
    kept = [k for k, row in enumerate(rows) if row.independent]
    A = np.array(m.closure.matrix)[np.ix_(kept, kept)]
    expected = np.zeros(len(rows))
    expected[kept] = np.linalg.solve(A, [rows[k].rest for k in kept])
    condition = np.linalg.cond(A)
    assert condition < 1e7
    bound = 1e-12 * max(1.0, 1e-2 * condition)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=bound * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(8))
def test_spec11_equation_28_the_sparse_solution_equals_the_dense_one_on_nested_loops(sparse, seed):
    """Trees of all joints, both ways round, on the base and free; coordinates with armatures."""
    random = np.random.default_rng(seed)
    model = random_model(seed, 9, TREE, reverse=0.5) if seed % 2 else free_model(seed, 9, TREE)
    names = [BASE, *(body.name for body in model.bodies)]
    ends = []
    while len(ends) < 3:
        one, other = (str(name) for name in random.choice(names[seed % 2 == 0 :], size=2, replace=False))
        ends.append((one, other))
    kinds = [str(kind) for kind in random.choice(CUTS, size=3)]
    compare(with_loops(model, ends, kinds), seed)


@pytest.mark.parametrize("seed", range(6))
def test_spec11_equation_28_the_sparse_solution_equals_the_dense_one_with_elastic_bodies(sparse, seed):
    """Loops through nodes of elastic bodies, the inner ones and others, with a mechanism on one."""
    model = elastic_model(seed, 6, TREE[3:] if seed % 2 else TREE)
    ends = [("b6", BASE), ("b5", "b3"), ("b4", "b1")]
    compare(with_loops(model, ends, ["spherical", "universal", "spherical"]), seed)


def test_a_joint_between_two_nodes_of_one_elastic_body(sparse):
    """Both its ends are at one body: a plane through both nodes."""
    model = elastic_model(3, 3, ("spherical",))
    place = model.bodies[0].elastic.place
    across = place[1] - place[0]
    z = np.cross(across, (0.3, 0.5, 0.8))
    x = np.cross(across, z)
    R = np.array([x / np.linalg.norm(x), across / np.linalg.norm(across), z / np.linalg.norm(z)])
    R *= np.linalg.det(R)
    sides = (Mounting(tuple(map(float, place[k])), matrix(R)) for k in range(2))
    cut = MultibodyJoint("own", "planar", model.bodies[0].name, model.bodies[0].name, *sides, cut=True)
    compare(replace(model, joints=(*model.joints, cut)), 3)


def test_locked_joints_hold_in_the_sparse_solution(sparse):
    """A locked hinge, a locked ball joint and one that is free: `held` makes bonds of what the joint leaves free."""
    model = random_model(5, 8, ("revolute", "spherical"))
    locks = tuple(JointLock(f"hold{k}", joint.name, closed=k % 2 == 0) for k, joint in enumerate(model.joints[:6]))
    compare(with_loops(replace(model, locks=locks), [("b8", BASE), ("b7", "b2")], ["spherical", "spherical"]), 5)


def uneven_grid() -> Model:
    """Return a grid of 12 rods that differ: equal columns swing side by side without a force between them."""
    model = grid(12)
    bodies = (replace(one, mass=1.0 + 0.3 * k, center=(0.5, 0.3, 0.1 * (k % 3))) for k, one in enumerate(model.bodies))
    return replace(model, bodies=tuple(bodies))


@pytest.mark.parametrize("falls_back", [False, True])
def test_a_grid_moves_the_same_by_both_solutions(monkeypatch, falls_back):
    """Redundant constraints with it: 0.1 s of columns from the base, to 1e-10 of their rates.

    A body that is a point after the plan was made has no mass matrix with an inverse: the solution falls back.
    """
    found = []
    point = {f"parameters.body.b0.inertia[{k},{k}]": 0.0 for k in (1, 2, 3)} if falls_back else {}
    for share in (0.0, float("inf")):
        monkeypatch.setattr(sparse_order, "SHARE", share)
        instance = Instance(made(uneven_grid()), **point)
        closed = instance.m.closure
        assert (instance.m.run.ties > 0.0) == (share > 0.0)
        assert closed.rank < closed.equations
        instance.step(0.0, 0.1)
        assert max(abs(row.multiplier) for row in closed.row) > 1.0
        assert not share or all(island.sound for island in closed.sparse.island) != falls_back
        found.append(np.array([[*link.quaternion, *link.spin] for link in instance.m.link]))
    np.testing.assert_allclose(found[1], found[0], rtol=0.0, atol=1e-10 * np.abs(found[0]).max())


def test_a_row_that_depends_on_others_has_no_pivot(sparse):
    """Redundant rows that are marked as independent are not solved for."""
    m = Instance(made(grid(12))).m
    for row in m.closure.row:
        row.independent = 1.0
    closure.sparse_loops.keep_masses(m.link, solver_of(m), m.run)
    assert not closure.sparse_loops.prepare(m.link, m.cut, m.closure.row, solver_of(m), m.run)


def test_the_sparse_solution_is_chosen_where_loops_meet_far_away():
    """Columns from the base, not rows on a spine, which the tree suits; and not with a body without inertia."""

    def ties(model: Model) -> int:
        return len(sparse_order.loop_plan(model, lay_out(model))[1].ties)

    assert ties(grid(100)) == 175
    assert ties(grid(12)) == ties(spine(100)) == 0
    model = grid(100)
    point = replace(model.bodies[0], inertia=((0.0,) * 3,) * 3)
    assert ties(replace(model, bodies=(point, *model.bodies[1:]))) == 0


def test_the_factors_of_a_grid_grow_with_its_rows():
    """Symbolic analysis: fill of a grid of four columns is that of a band, linear in the number of its rows."""
    sizes = []
    for count in (100, 200):
        model = grid(count)
        made_links = lay_out(model)
        sizes.append(sparse_order.sparse_order(model, made_links, loop_order(model, made_links)).panels[-1])
    assert sizes[1] < 2.1 * sizes[0]
