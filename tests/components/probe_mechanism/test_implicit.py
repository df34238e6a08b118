"""Linearly implicit contact: the damper of a point, and its place in the tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dockfmu.components.core.component import Instance
from dockfmu.components.probe_mechanism import component, tree
from dockfmu.components.probe_mechanism.contact import implicit

NUMBER = st.floats(-2.0, 2.0)
VECTOR = st.tuples(NUMBER, NUMBER, NUMBER)

HOUSING = 1
"""place of the housing in the tree, after the probe"""


def symmetric(D):
    """The matrix of which D is the upper triangle."""
    return np.triu(D) + np.triu(D, 1).T


@given(VECTOR, VECTOR, VECTOR, VECTOR, st.floats(0.0, 5.0), st.floats(0.0, 5.0))
def test_damper_of_a_point_resists_its_velocity(r, axis, w, v, along, across):
    """Wrench [r x f, f] with f = (along n n^T + across (1 - n n^T)) velocity of the point; symmetric."""
    n = np.add(axis, (0.0, 0.0, 3.0))
    n /= np.linalg.norm(n)
    D = np.zeros((6, 6))
    implicit.add_damper(D, r, tuple(n), along, across)
    velocity = np.array(v) + np.cross(w, r)
    f = along * n * (n @ velocity) + across * (velocity - n * (n @ velocity))
    assert (np.tril(D, -1) == 0.0).all()
    assert symmetric(D) @ [*w, *v] == pytest.approx([*np.cross(r, f), *f], abs=1e-12 * 5.0 * 100.0)


def test_tree_with_load_damping_is_the_tree_under_the_applied_load():
    """Two ways to one motion: damping in the articulated inertia, and the load that it leaves, given explicitly."""
    m = Instance(component()).m
    t, d, p = m.tree, m.damper, m.parameters
    generator = np.random.default_rng(5)
    t.q[:] = generator.uniform(-0.05, 0.05, 5)
    t.qd[:] = generator.uniform(-0.2, 0.2, 5)
    assert tree.place(p.probe, t, d, 0.4, -0.1, m.status) == 0
    base = tuple(generator.uniform(-0.1, 0.1, (3, 3)).tolist())
    omega, epsilon, acceleration = (tuple(row) for row in base)
    for k in (tree.PROBE, HOUSING):
        t.load[k].force, t.load[k].torque = generator.uniform(-500.0, 500.0, (2, 3))
        implicit.add_damper(t.load_damping[k], (0.8, 0.1, -0.05), (0.6, 0.8, 0.0), 3.0, 40.0)
    assert tree.dynamics(p.probe, t, d, omega, epsilon, acceleration) == 0
    tree.react(p.probe, t, d)
    accelerations = t.qdd.copy()
    wrench = np.concatenate([t.base_force, t.base_torque])
    for k in (tree.PROBE, HOUSING):
        torque, force = np.split(t.implicit[k], 2)
        change = symmetric(t.load_damping[k]) @ t.acceleration[k]
        assert t.implicit[k] == pytest.approx(-change, rel=1e-12)
        t.load[k].force += force
        t.load[k].torque += torque - np.cross([0.4 if k == tree.PROBE else 0.0, 0.0, 0.0], force)
        t.load_damping[k] = 0.0
    assert tree.dynamics(p.probe, t, d, omega, epsilon, acceleration) == 0
    tree.react(p.probe, t, d)
    assert t.qdd == pytest.approx(accelerations, rel=1e-9)
    assert np.concatenate([t.base_force, t.base_torque]) == pytest.approx(wrench, rel=1e-9, abs=1e-9)
