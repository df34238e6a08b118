"""Links against Pinocchio: forward dynamics with armatures, inverse dynamics on a root that moves, momenta."""

import numpy as np
import pytest

from dockfmu.components.manipulator import links
from tests.components.manipulator.arms import ARMS, instance, load_links, pinocchio_model, place

pinocchio = pytest.importorskip("pinocchio")


@pytest.fixture(scope="module")
def arms():
    return {name: instance(name).m for name in ARMS}


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("seed", range(5))
def test_spec08_oracle_O6_forward_dynamics_is_that_of_pinocchio(arms, name, seed):
    """With rates, armatures, a wrench on the last link, and with the first joint locked."""
    m = arms[name]
    rng = np.random.default_rng(seed)
    q, v, tau, wrench = (rng.normal(size=n) * s for n, s in ((7, 1.0), (7, 0.3), (7, 300.0), (6, 200.0)))
    armature = rng.uniform(1.0, 50.0, 7)
    model = pinocchio_model(m)
    model.armature = armature
    data = model.createData()
    # axes of joints and of links are equal here: ours map to components of the link, theirs from them
    forces = [pinocchio.Force.Zero() for _ in range(8)]
    forces[7] = pinocchio.Force(wrench)
    M = pinocchio.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    bias = pinocchio.rnea(model, data, q, v, np.zeros(7), forces)
    for locked in (0, 1):
        m.parameters.joint.locked[0] = locked
        place(m, q, v if not locked else [0.0, *v[1:]])
        load_links(m, wrench, tau, armature)
        links.accelerate(m)
        if locked:
            bias = pinocchio.rnea(model, data, q, np.array([0.0, *v[1:]]), np.zeros(7), forces)
        free = slice(locked, 7)
        expected = np.zeros(7)
        expected[free] = np.linalg.solve(M[free, free], (tau - bias)[free])
        found = np.array([m.arm[k].qdd for k in range(1, 8)])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    m.parameters.joint.locked[0] = 0


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("seed", range(5))
def test_inverse_dynamics_on_a_moving_root_is_that_of_pinocchio(arms, name, seed):
    """The joint torques and the wrench on the root that our accelerations need, root in any motion."""
    m = arms[name]
    rng = np.random.default_rng(10 + seed)
    q, v, tau = rng.normal(size=7), 0.3 * rng.normal(size=7), 300.0 * rng.normal(size=7)
    velocity, spin, acceleration, turning = 0.5 * rng.normal(size=(4, 3))
    for group, values in (
        ("velocity", velocity),
        ("angular_velocity", spin),
        ("acceleration", acceleration),
        ("angular_acceleration", turning),
    ):
        for i in range(3):
            getattr(m.root, group)[i] = values[i]
    place(m, q, v)
    load_links(m, np.zeros(6), tau, np.zeros(7))
    links.accelerate(m)
    qdd = np.array([m.arm[k].qdd for k in range(1, 8)])
    force, torque = links.root_wrench(m)
    model = pinocchio_model(m, floating=True)
    spatial = acceleration - np.cross(spin, velocity)
    needed = pinocchio.rnea(
        model,
        model.createData(),
        np.concatenate([np.zeros(6), [1.0], q]),
        np.concatenate([velocity, spin, v]),
        np.concatenate([spatial, turning, qdd]),
    )
    size = np.abs(needed).max()
    np.testing.assert_allclose(needed[6:], tau, atol=1e-10 * size)
    np.testing.assert_allclose(needed[:6], -np.concatenate([force, torque]), atol=1e-10 * size)
    kinetic, momentum, angular = links.momenta(m, (0.0, 0.0, 0.0))
    data = model.createData()
    full = np.concatenate([np.zeros(6), [1.0], q]), np.concatenate([velocity, spin, v])
    assert kinetic == pytest.approx(pinocchio.computeKineticEnergy(model, data, *full), rel=1e-12)
    pinocchio.computeCentroidalMomentum(model, data, *full)
    np.testing.assert_allclose(momentum, data.hg.linear, rtol=1e-10)
    about_root = data.hg.angular + np.cross(data.com[0], data.hg.linear)
    np.testing.assert_allclose(angular, about_root, rtol=1e-9)
    for i in range(3):
        m.root.velocity[i] = m.root.angular_velocity[i] = m.root.acceleration[i] = m.root.angular_acceleration[i] = 0.0


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("locked", [(2,), tuple(range(7))])
def test_affine_mass_of_the_root_is_that_of_pinocchio(arms, name, locked):
    """M_A = M_00 - M_0q (M_qq + armature)^-1 M_q0 of a floating root, q the joints that are not locked (AFFINE).

    With all joints locked, and so with those of KINEMATIC, it is the inertia of the arm as one body.
    """
    m = arms[name]
    rng = np.random.default_rng(20)
    q, armature = rng.normal(size=7), rng.uniform(1.0, 50.0, 7)
    m.parameters.joint.locked[list(locked)] = 1.0
    place(m, q)
    load_links(m, np.zeros(6), np.zeros(7), armature)
    links.set_affine_mass(m)
    m.parameters.joint.locked[:] = 0.0
    model = pinocchio_model(m, floating=True)
    M = pinocchio.crba(model, model.createData(), np.concatenate([np.zeros(6), [1.0], q]))
    M = np.triu(M) + np.triu(M, 1).T
    free = [6 + k for k in range(7) if k not in locked]
    joints = M[np.ix_(free, free)] + np.diag(np.delete(armature, locked))
    expected = M[:6, :6] - M[:6, free] @ np.linalg.solve(joints, M[free, :6])
    found = np.zeros((6, 6))
    found[np.triu_indices(6)] = m.base.affine_mass
    np.testing.assert_allclose(np.triu(found), np.triu(expected), rtol=0, atol=1e-10 * np.abs(expected).max())
