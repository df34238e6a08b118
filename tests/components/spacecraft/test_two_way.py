"""The elastic craft whose modes act back on its motion, against bodies in absolute coordinates (flexible)."""

from math import pi

import numpy as np
import pytest

from benchmarks.coupling.hub_and_beam import Reference, hub_and_beam
from dockfmu.components import spacecraft
from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.spacecraft.modes import InertialCoupling, Modes
from tests.components.spacecraft.crafts import ATV, craft, random_modes, rotation

BODIES = hub_and_beam()
DECREMENT = 2.0 * pi * 0.005 / np.sqrt(1.0 - 0.005**2)
"""Of flexible O6, where 0.005 is the fraction of the critical damping."""


def root(one):
    """Position and velocity of the beam's root in I, from frame C."""
    A = rotation(one.m.body.quaternion)
    center = BODIES.center
    x = one.m.body.position - A.T @ center
    return x, A.T @ (one.m.body.velocity - np.cross(one.m.body.angular_velocity, center))


def test_spec11_oracle_O6_invariants():
    c = BODIES.coupling()
    np.testing.assert_allclose(BODIES.frequency, [4.97284051, 7.03265849, 31.11833455, 44.00797076], rtol=1e-8)
    np.testing.assert_allclose(c.translation[2, [0, 2]], [3.50071838, -1.93869698], rtol=1e-8)
    np.testing.assert_allclose(c.translation[1, [1, 3]], [3.50071838, -1.93869698], rtol=1e-8)
    about_root = c.rotation + np.cross(BODIES.center[:, None], c.translation, axis=0)
    np.testing.assert_allclose(about_root[1, [0, 2]], [-25.43751801, 4.06198965], rtol=1e-8)
    np.testing.assert_allclose(about_root[2, [1, 3]], [25.43751801, -4.06198965], rtol=1e-8)
    mass, center, inertia = BODIES.whole()
    np.testing.assert_allclose(mass * center, (-900.0, 0.0, 0.0), atol=1e-9)
    steiner = mass * (center @ center * np.eye(3) - np.outer(center, center))
    np.testing.assert_allclose(np.diag(inertia + steiner), (800.2, 2266.6667, 2266.6667), rtol=1e-7)


def test_spec11_oracle_O6_accelerations_from_rest():
    """Force (0, 100, 50) N at the hub's centre; of the root, angular, of the modes."""
    one = BODIES.craft()
    h = 1e-5
    one.m.port[0].force[:] = (0.0, 100.0, 50.0)
    one.step(0.0, h)
    np.testing.assert_allclose(root(one)[1] / h, (0.0, 0.09846392, 0.04923196), atol=2e-8)
    np.testing.assert_allclose(one.m.body.angular_velocity / h, (0.0, 0.00057355, -0.00114709), atol=2e-8)
    expected = (-0.15775761, -0.31551523, 0.09311611, 0.18623221)
    np.testing.assert_allclose(one.m.elastic.rate / h, expected, atol=2e-7)


def pulse(coupling, h):
    """flexible O6: (0, 1000, 500) N at the hub for 0.1 s; angular velocity at 0.1 s and 5 s, motion of the tip."""
    one = BODIES.craft(coupling, DECREMENT)
    tip, early = [], None
    for k in range(round(5.0 / h)):
        one.m.port[0].force[:] = (0.0, 1000.0, 500.0) if (k + 0.5) * h < 0.1 else 0.0
        one.step(k * h, h)
        tip.append(BODIES.tip[:3] @ one.m.elastic.coordinate)
        if round((k + 1) * h / h) == round(0.1 / h):
            early = one.m.body.angular_velocity.copy()
    return one, early, np.array(tip)


def test_spec11_oracle_O6_pulse():
    h = 1e-3
    one, early, tip = pulse("two_way", h)
    np.testing.assert_allclose(early, (0.0, 0.00173231, -0.00424955), atol=5e-7)
    np.testing.assert_allclose(one.m.body.angular_velocity, (0.0, 0.00236040, -0.01045431), atol=5e-7)
    np.testing.assert_allclose(one.m.audit.momentum, (0.005, 100.0, 50.0), atol=2e-2)
    for axis, size, time in ((1, 0.010558, 0.4953), (2, 0.007876, 0.6812)):
        k = np.argmax(np.abs(tip[:1000, axis]))
        assert np.abs(tip[k, axis]) == pytest.approx(size, abs=2e-6)
        assert (k + 1) * h == pytest.approx(time, abs=1e-3)


def tumble(h, seconds=2.0, size=1.0):
    """Free motion with spin and vibration, and a force on the tip for 0.3 s: state at the end, and energies."""
    w = size * np.array([0.3, -0.2, 0.05, 0.02])
    modes = BODIES.modes()
    modes = Modes(
        modes.frequency, modes.decrement, modes.port, modes.thruster, initial_coordinate=w, coupling=modes.coupling
    )
    mass, center, inertia = BODIES.whole()
    spin = np.array([0.1, 0.05, -0.08])
    one = Instance(
        spacecraft.component(modes, coupling="two_way"),
        **{
            "parameters.mass": mass,
            "parameters.center_of_mass": center,
            "parameters.inertia": inertia,
            "parameters.port[2].position": (10.0, 0.0, 0.0),
            "parameters.rotation_limit": 10.0,
            "parameters.initial.position": center,
            "parameters.initial.velocity": np.cross(spin, center),
            "parameters.initial.angular_velocity": spin,
        },
    )
    for k in range(round(seconds / h)):
        one.step(k * h, h)
    return one, w, spin


@pytest.mark.slow
def test_free_tumble_is_that_of_the_bodies():
    """Spin of 0.14 rad/s, tip amplitude of 0.1 m; of second order in the step."""
    one, w, spin = tumble(1e-3)
    reference = Reference(BODIES)
    state = reference.run(reference.start((0, 0, 0), spin, w), 2.0, lambda t, y: (np.zeros(3), np.zeros(3), 0.0))
    found = np.concatenate([one.m.body.angular_velocity, one.m.elastic.coordinate])
    expected = np.concatenate([reference.velocities(state)[3:6], state[-4:]])
    coarse, _, _ = tumble(4e-3)
    halved, _, _ = tumble(2e-3)
    far, near = (np.concatenate([x.m.body.angular_velocity, x.m.elastic.coordinate]) - found for x in (coarse, halved))
    assert np.abs(found - expected).max() < 1e-5
    assert np.abs(far).max() > 3.5 * np.abs(near).max()
    np.testing.assert_allclose(root(one)[0], state[10:13], atol=2e-5)


def test_free_craft_keeps_momentum_and_energy():
    one, _, _ = tumble(1e-3, 0.001)
    start = [one.m.audit.momentum.copy(), one.m.audit.angular_momentum.copy(),
             one.m.audit.kinetic_energy + one.m.audit.stored_energy]  # fmt: skip
    drift = []
    for h in (2e-3, 1e-3):
        one, _, _ = tumble(h, 5.0)
        np.testing.assert_allclose(one.m.audit.momentum, start[0], atol=1e-10)
        np.testing.assert_allclose(one.m.audit.angular_momentum, start[1], atol=1e-10)
        drift.append(abs(one.m.audit.kinetic_energy + one.m.audit.stored_energy - start[2]))
        assert one.m.audit.dissipated_energy == pytest.approx(0.0, abs=1e-9)
    assert drift[1] < drift[0] / 3.0 < 1e-4


def test_rows_of_energy_under_loads_close():
    """Works of ports and control are what the energies gain, with damping."""
    residual = []
    for h in (2e-3, 1e-3):
        one = BODIES.craft("two_way", 0.05, **{"parameters.initial.angular_velocity": (0.02, 0.05, -0.03)})
        first = one.m.audit.kinetic_energy + one.m.audit.stored_energy
        for k in range(round(3.0 / h)):
            t = (k + 0.5) * h
            one.m.port[1].force[:] = 20.0 * np.sin(3.0 * t + np.arange(3))
            one.m.port[1].torque[:] = 15.0 * np.cos(2.0 * t + np.arange(3))
            one.m.port[0].force[:] = (50.0, -30.0 * np.sin(t), 10.0)
            one.m.control.torque[:] = (5.0, 0.0, -3.0)
            one.step(k * h, h)
        a = one.m.audit
        gained = a.kinetic_energy + a.stored_energy + a.dissipated_energy - first
        work = sum(a.work_port) + a.work_control
        assert abs(work) > 1.0
        residual.append(abs(gained - work))
    assert residual[1] < residual[0] / 3.0 < 1e-2


def test_spec11_oracle_O10_without_coupling_it_is_the_one_way_craft():
    """Invariants of zero: to rounding; and to 1e-12 the rigid craft where no mode is used."""
    modes = random_modes()
    n = len(modes.frequency)
    none = InertialCoupling(*(np.zeros(shape) for shape in ((3, n), (3, n), (n, 3, 3), (n, n, 3, 3), (n, n, 3))))
    uncoupled = Modes(
        modes.frequency, modes.decrement, modes.port, modes.thruster, control=modes.control, coupling=none
    )
    spin = {"parameters.initial.angular_velocity": (0.05, -0.02, 0.03), "parameters.axes": (0.1, 0.2, -0.3)}
    for used in (n, 0):
        values = {**ATV, **spin, "parameters.modes_used": used}
        one = Instance(spacecraft.component(uncoupled, coupling="two_way"), **values)
        other = craft(modes, **spin, **{"parameters.modes_used": used})
        for k in range(200):
            for m in (one.m, other.m):
                m.port[0].force[:] = (-100.0 * np.sin(0.1 * k), 30.0, 5.0)
                m.control.torque[:] = (3.0, -2.0, 1.0)
            one.step(k * 0.01, 0.01)
            other.step(k * 0.01, 0.01)
        for port in (0, 1):
            np.testing.assert_allclose(one.m.port[port].position, other.m.port[port].position, atol=1e-11)
            np.testing.assert_allclose(one.m.port[port].quaternion, other.m.port[port].quaternion, atol=1e-12)
        np.testing.assert_allclose(one.m.audit.kinetic_energy, other.m.audit.kinetic_energy, rtol=1e-11)


def test_spec11_oracle_O10_one_way_and_two_way_agree_as_the_beam_gets_light():
    """Difference of the hub's angular velocity after the pulse, in proportion to the mass of the beam."""
    apart = []
    for scale in (1e-2, 1e-3):
        bodies = hub_and_beam(scale=scale)
        ends = []
        for coupling in ("one_way", "two_way"):
            one = bodies.craft(coupling)
            for k in range(1000):
                one.m.port[0].force[:] = (0.0, 1000.0, 500.0) if k < 100 else 0.0
                one.step(k * 1e-3, 1e-3)
            ends.append(one.m.body.angular_velocity.copy())
        apart.append(np.abs(ends[0] - ends[1]).max())
    assert apart[1] == pytest.approx(apart[0] / 10.0, rel=0.2)


def test_one_way_with_the_modes_of_the_free_craft_differs_by_the_rates_squared():
    """Same shapes, same linear model, 0.01 rad/s: hub and tip after the pulse. Held modes leave the hub rigid."""
    ends = []
    for coupling, modes in (("one_way", BODIES.free_modes()), ("two_way", None), ("one_way", None)):
        one = BODIES.craft(coupling, modes=modes)
        for k in range(2000):
            one.m.port[0].force[:] = (0.0, 1000.0, 500.0) if k < 100 else 0.0
            one.step(k * 1e-3, 1e-3)
        ends.append(np.append(one.m.port[0].angular_velocity, one.m.port[1].position))
    assert np.abs(ends[0] - ends[1]).max() < 5e-6
    assert np.abs(ends[2] - ends[1]).max() > 1e-3


def test_modes_that_are_heavier_than_the_craft_are_refused():
    with pytest.raises(ComponentError, match="less than those carried by the modes"):
        BODIES.craft(**{"parameters.mass": 10.0})
    with pytest.raises(ValueError, match="needs modes with the masses"):
        spacecraft.component(random_modes(), coupling="two_way")
    with pytest.raises(ValueError, match="coupling must be 'one_way' or 'two_way', not 'both'"):
        spacecraft.component(random_modes(), coupling="both")


def test_station_beam_hardly_differs():
    """Free-free modes: two-way adds the inertia's change and the rates squared, some 1e-6 of the motion at 1 deg/s."""
    ends = []
    for coupling in ("one_way", "two_way"):
        one = Instance(
            spacecraft.component("station_beam", coupling=coupling),
            **{
                "parameters.mass": 4e5,
                "parameters.inertia": np.diag([1.2e8, 1.0e8, 2.0e8]),
                "parameters.initial.angular_velocity": (0.01, 0.0, 0.01),
            },
        )
        for k in range(500):
            one.m.port[0].force[:] = (-2000.0 * np.sin(pi * k / 100), 3000.0, 500.0)
            one.step(k * 1e-2, 1e-2)
        ends.append(np.append(one.m.port[0].velocity, one.m.body.angular_velocity))
    assert 0.0 < np.abs(ends[0] - ends[1]).max() < 1e-5
