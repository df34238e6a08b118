"""Legs geared together against explicit differentials with Lagrange multipliers, and what the tree is to separate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from dockfmu.components.core.component import Instance
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.components.physics.mechanics.vector import ZERO
from dockfmu.components.ring_mechanism import component
from dockfmu.components.ring_mechanism.legs import geared
from tests.components.codegen.test_hexapod import reduced_energy
from tests.components.peripheral_mechanism.platforms import Platform, machine, random_state
from tests.components.ring_mechanism.differentials import accelerate, constraints

pytestmark = pytest.mark.slow

INERTIA = np.array([6e-4, 4e-4, 5e-4, 3e-4, 7e-4, 2e-4])
AT_IP = {"parameters.initial_stroke": 0.14, "parameters.legs.initial_stroke": 0.14}
FREE = {
    **AT_IP,
    "parameters.shafts.inertia": INERTIA,
    **{f"parameters.shafts.{name}": np.zeros(6) for name in ("preload", "stiffness", "damping", "friction")},
    "parameters.shafts.lower_stop": np.full(6, -200.0),
    "parameters.shafts.upper_stop": np.full(6, 200.0),
}


def placed(m, state):
    """The ring of a mechanism in a state of `random_state`, its loads set."""
    n = m.hexapod.ring
    n.position, n.velocity, n.angular_velocity = state["position"], state["velocity"], state["spin"]
    n.rotation = np.array(from_angles(*state["angles"]))
    n.force, n.torque = state["force"], state["torque"]
    assert hexapod.follow(m.hexapod) == 0
    return np.array(n.rotation)


def test_spec02_D6b_gear_tree_against_explicit_differentials():
    """Accelerations of ring and shafts, wrench on a moving base: 30 random states, nuts and shafts as coordinates."""
    rng = np.random.default_rng(62)
    m = Instance(component("geared"), **FREE).m
    reference = machine(Platform().p)
    hands = np.array(m.parameters.legs.hand)
    for _ in range(30):
        state = random_state(rng)
        A = placed(m, state)
        torque = rng.uniform(-1.0, 1.0, 6)
        m.hexapod.gear.torque[:] = torque
        base = [rng.uniform(-0.3, 0.3, 3) for _ in range(3)]
        hexapod.accelerate(m.hexapod, *map(tuple, base))
        hexapod.react(m.hexapod)
        found = np.array(m.hexapod.ring.acceleration)
        row = np.array(m.hexapod.gear.gain)
        motion = (state["position"], A.T, state["velocity"], A.T @ state["spin"], state["force"], A.T @ state["torque"])
        a, shafts, force, moment = accelerate(reference, hands, INERTIA, torque, motion, base)
        np.testing.assert_allclose([found[:3], found[3:]], [a[:3], A @ a[3:]], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(row[:, :6] @ found + row[:, 6], shafts, rtol=1e-6, atol=1e-4)
        np.testing.assert_allclose(m.hexapod.base_force, force, rtol=1e-6, atol=1e-5)
        np.testing.assert_allclose(m.hexapod.base_torque, moment, rtol=1e-6, atol=1e-5)


def test_shafts_turn_with_the_motions_that_they_are_named_after():
    """Mean stroke, tilts, roll and lateral motion of an aligned ring each turn their own shafts.

    Theory: ring-mechanisms 10.5.
    """
    m = Instance(component("geared"), **FREE).m
    # axial; lateral y, z; roll; yaw, pitch: a lateral motion leans the legs too, and turns the shaft of a tilt
    for j, turned in enumerate(([0], [1, 5], [2, 4], [3], [2, 4], [1, 5])):
        unit = np.zeros(6)
        unit[j] = 1.0
        m.hexapod.ring.velocity, m.hexapod.ring.angular_velocity = unit[:3], unit[3:]
        assert hexapod.follow(m.hexapod) == 0
        rates = np.array(m.hexapod.gear.rate)
        assert np.abs(np.delete(rates, turned)).max() < 1e-9
        assert np.abs(rates[turned]).min() > 1.0, j


def test_differentials_are_those_of_the_kernel():
    """The constraints, solved for the shafts, are the matrix that the kernel has."""
    hands = np.array([1.0, -1.0] * 3)
    C = constraints(hands)
    explicit = -np.linalg.solve(C[:, 6:], C[:, :6])[-6:]
    found = [[geared._differential(i, k) * hands[k] for k in range(6)] for i in range(6)]
    np.testing.assert_allclose(found, explicit, atol=1e-14)


def test_angles_of_shafts_grow_at_their_rates():
    """The springs, brakes and stops of shafts are placed by angles, the equations of motion have rates: rods that roll
    about their axes turn the nuts too."""
    rng = np.random.default_rng(7)
    m = Instance(component("geared"), **FREE).m
    h = 1e-6
    for _ in range(5):
        state = random_state(rng)
        A = placed(m, state)
        rates = np.array(m.hexapod.gear.rate)
        angles = []
        for s in (-h, h):
            m.hexapod.ring.position = state["position"] + s * np.array(state["velocity"])
            m.hexapod.ring.rotation = Rotation.from_rotvec(-s * np.array(state["spin"])).as_matrix() @ A
            assert hexapod.follow(m.hexapod) == 0
            angles.append([geared._angle(m, i) for i in range(6)])
        grown = (np.array(angles[1]) - np.array(angles[0])) / (2.0 * h)
        np.testing.assert_allclose(grown, rates, atol=1e-6 * np.abs(rates).max())


def test_momentum_energy_of_shafts():
    """Their kinetic energy is in that of the mechanism, and in the reduced inertia."""
    m = Instance(component("geared"), **FREE).m
    placed(m, random_state(np.random.default_rng(3)))
    hexapod.momentum(m.hexapod, ZERO, ZERO)
    hexapod.accelerate(m.hexapod, ZERO, ZERO, ZERO)
    assert m.hexapod.kinetic_energy == pytest.approx(reduced_energy(m.hexapod), rel=1e-12)
    assert 0.5 * INERTIA @ np.array(m.hexapod.gear.rate) ** 2 > 0.01 * m.hexapod.kinetic_energy


def test_free_motion_against_an_independent_integrator():
    """Ring, legs, nuts and gear tree without devices on a base that turns: multipliers by DOP853, second order."""
    start = np.array([0.4344657138, 0, 0, 1, 0, 0, 0, 0.1, -0.15, 0.2, 0.3, -0.2, 0.25])
    turning = np.array([0.2, -0.1, 0.15])
    reference, hands = machine(Platform().p), np.array([1.0, -1.0] * 3)

    def slope(_, y):
        w, v = y[3], y[4:7]
        A = Rotation.from_quat([*v, w]).as_matrix()
        zero, spin = np.zeros(3), y[10:]
        motion = (y[:3], A, y[7:10], A @ spin, zero, zero)
        a, _, _, _ = accelerate(reference, hands, INERTIA, np.zeros(6), motion, (turning, zero, zero))
        return np.concatenate(
            [y[7:10], 0.5 * np.array([-v @ spin, *(w * spin + np.cross(v, spin))]), a[:3], A.T @ a[3:]]
        )

    found = solve_ivp(slope, (0.0, 0.2), start, method="DOP853", rtol=1e-8, atol=1e-10).y[:, -1]

    def error(micro):
        sizes = {"parameters.micro_step": micro, "parameters.longest_micro_step": micro}
        i = Instance(component("geared"), **FREE, **sizes)
        m, s = i.m, i.m.ring_state
        m.base.angular_velocity[:] = turning
        s.velocity[:], s.angular_velocity[:] = start[7:10], start[10:]
        for k in range(200):
            m.base.quaternion[:] = np.roll(Rotation.from_rotvec(turning * k * 1e-3).as_quat(), 1)
            i.step(k * 1e-3, 1e-3)
        ring = np.concatenate([m.hexapod.ring.position, s.quaternion, s.velocity, s.angular_velocity])
        return np.abs(ring - found).max()

    errors = [error(1e-3), error(2.5e-4)]
    assert errors[1] < 2e-7
    assert 10.0 < errors[0] / errors[1] < 22.0
