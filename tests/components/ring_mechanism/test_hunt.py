"""The Hunt platform: closed forms against constraints, dynamics against multipliers in maximal coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.components.physics.mechanics.vector import ZERO
from dockfmu.components.ring_mechanism import component
from dockfmu.components.ring_mechanism.legs import cranked
from tests.components.codegen.test_hexapod import reduced_energy
from tests.components.ring_mechanism.hunt import CRANK, ROD, platform

pytestmark = pytest.mark.slow

NO_DEVICES = {
    "parameters.dampers.damping": 0.0, "parameters.dampers.friction": 0.0, "parameters.dampers.spring_preload": 0.0,
    "parameters.dampers.spring_stiffness": 0.0, "parameters.dampers.stop_stiffness": 1e-6,
    "parameters.dampers.stop_damping": 0.0,
}  # fmt: skip


def random_state(rng):
    return {
        "position": np.array([0.40, 0, 0]) + rng.uniform(-0.04, 0.04, 3), "angles": tuple(rng.uniform(-0.06, 0.06, 3)),
        "velocity": rng.uniform(-0.5, 0.5, 3), "spin": rng.uniform(-0.5, 0.5, 3),
        "force": rng.uniform(-500, 500, 3), "torque": rng.uniform(-50, 50, 3), "cranks": rng.uniform(-60, 60, 6),
    }  # fmt: skip


def placed(m, state):
    """The ring of the mechanism in a state, loads and torques set. Returns its matrix."""
    n = m.hexapod.ring
    n.position, n.velocity, n.angular_velocity = state["position"], state["velocity"], state["spin"]
    n.rotation = np.array(from_angles(*state["angles"]))
    n.force, n.torque = state["force"], state["torque"]
    assert hexapod.follow(m.hexapod) == 0
    for c, torque in zip(m.hexapod.crank, state["cranks"], strict=True):
        c.force[0] = torque
    return np.array(n.rotation)


@pytest.fixture(scope="module")
def m():
    return Instance(component("cranked"), **NO_DEVICES).m


def test_closure_of_cranks_and_rods(m):
    """Elbows by the closed form are a crank from the base and a rod from the ring; angles are the reference's."""
    rng = np.random.default_rng(4)
    reference = platform()
    for _ in range(50):
        state = random_state(rng)
        A = placed(m, state)
        _, angles = reference.bodies(state["position"], A.T)
        for c, leg, angle in zip(m.hexapod.crank, reference.legs, angles, strict=True):
            axes = np.array(c.base_axes)
            elbow = np.array(c.base_point) + c.length * (c.cosine[0] * axes[0] + c.sine[0] * axes[1])
            end = state["position"] + A.T @ leg.upper
            assert np.linalg.norm(end - elbow) == pytest.approx(ROD, abs=1e-12)
            assert np.linalg.norm(elbow - leg.lower) == pytest.approx(CRANK, abs=1e-12)
            assert cranked.crank_angle(c) == pytest.approx(angle, abs=1e-12)


def test_accelerations_and_wrench_on_a_moving_base(m):
    """50 random states against 13 bodies with 72 constraints."""
    rng = np.random.default_rng(10)
    reference = platform()
    for _ in range(50):
        state = random_state(rng)
        A = placed(m, state)
        base = [rng.uniform(-0.3, 0.3, 3) for _ in range(3)]
        hexapod.accelerate(m.hexapod, *map(tuple, base))
        hexapod.react(m.hexapod)
        found = np.array(m.hexapod.ring.acceleration)
        a, force, moment = reference.accelerate(
            state["position"],
            A.T,
            state["velocity"],
            A.T @ state["spin"],
            state["force"],
            A.T @ state["torque"],
            state["cranks"],
            base,
        )
        np.testing.assert_allclose([found[:3], found[3:]], [a[:3], A @ a[3:]], rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(m.hexapod.base_force, force, rtol=1e-7, atol=1e-6)
        np.testing.assert_allclose(m.hexapod.base_torque, moment, rtol=1e-7, atol=1e-6)


def test_rates_and_kinetic_energy(m):
    """Rates of cranks from twists that the constraints alone allow; energy from bodies and from reduced inertia."""
    state = random_state(np.random.default_rng(11))
    A = placed(m, state)
    reference = platform()
    poses, _ = reference.bodies(state["position"], A.T)
    v = reference.twists(poses, state["velocity"], A.T @ state["spin"])
    np.testing.assert_allclose([c.rate[0] for c in m.hexapod.crank], reference.nuts(poses) @ v, atol=1e-10)
    hexapod.momentum(m.hexapod, ZERO, ZERO)
    hexapod.accelerate(m.hexapod, ZERO, ZERO, ZERO)
    energy = 0.5 * v @ reference.mass(poses) @ v
    assert m.hexapod.kinetic_energy == pytest.approx(energy, rel=1e-10)
    assert reduced_energy(m.hexapod) == pytest.approx(energy, rel=1e-10)


def test_free_motion_against_an_independent_integrator():
    """Ring, cranks and rods without devices, on a base that turns: multipliers by DOP853, second order."""
    start = np.array([0.40, 0, 0, 1, 0, 0, 0, 0.1, -0.15, 0.2, 0.3, -0.2, 0.25])
    turning = np.array([0.2, -0.1, 0.15])
    reference = platform()

    def slope(_, y):
        w, v = y[3], y[4:7]
        A = Rotation.from_quat([*v, w]).as_matrix()
        zero, spin = np.zeros(3), y[10:]
        a, _, _ = reference.accelerate(y[:3], A, y[7:10], A @ spin, zero, zero, np.zeros(6), (turning, zero, zero))
        return np.concatenate(
            [y[7:10], 0.5 * np.array([-v @ spin, *(w * spin + np.cross(v, spin))]), a[:3], A.T @ a[3:]]
        )

    found = solve_ivp(slope, (0.0, 0.2), start, method="DOP853", rtol=1e-8, atol=1e-10).y[:, -1]

    def error(micro):
        sizes = {"parameters.micro_step": micro, "parameters.longest_micro_step": micro}
        i = Instance(component("cranked"), **NO_DEVICES, **sizes)
        m, s = i.m, i.m.ring_state
        m.base.angular_velocity[:] = turning
        m.hexapod.ring.position[:] = start[:3]
        s.velocity[:], s.angular_velocity[:] = start[7:10], start[10:]
        for k in range(200):
            m.base.quaternion[:] = np.roll(Rotation.from_rotvec(turning * k * 1e-3).as_quat(), 1)
            i.step(k * 1e-3, 1e-3)
        ring = np.concatenate([m.hexapod.ring.position, s.quaternion, s.velocity, s.angular_velocity])
        return np.abs(ring - found).max()

    errors = [error(1e-3), error(2.5e-4)]
    assert errors[1] < 5e-7
    assert 8.0 < errors[0] / errors[1] < 24.0


def test_spring_is_the_gradient_of_its_length(m):
    p = m.parameters.dampers
    for angle in np.linspace(1.7, 2.8, 7):
        around = [cranked.spring(p, np.cos(x), np.sin(x), 0.1)[0] for x in (angle - 1e-6, angle + 1e-6)]
        _, _, lever = cranked.spring(p, np.cos(angle), np.sin(angle), 0.1)
        assert lever == pytest.approx((around[1] - around[0]) / 2e-6, abs=1e-8)
        assert lever > 0.0, "it pushes the ring out"


def test_the_ring_stays_where_its_springs_hold_it():
    i = Instance(component("cranked"))
    for k in range(200):
        i.step(k * 1e-3, 1e-3)
    assert np.degrees(i.m.leg[0].angle) == pytest.approx(120.0, abs=1e-5)
    assert i.m.audit.dissipated_energy == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"parameters.legs.rod_length": 0.3}, "parameters.legs.rod_length"),
        ({"parameters.initial_angle": 3.0}, "parameters.initial_angle"),
        ({"parameters.initial_angle": 2.5, "parameters.retracted_angle": 2.4}, "parameters.retracted_angle = 2.4 rad"),
        ({"parameters.retracted_angle": 2.828}, "parameters.retracted_angle = 2.828 rad"),
        ({"parameters.dampers.largest_angle": 3.2}, "parameters.dampers.largest_angle"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_by_name(values, words):
    with pytest.raises(ComponentError, match=words):
        Instance(component("cranked"), **values)
