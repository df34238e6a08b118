"""Lateral damper: characteristics of its devices and their reduction to the housing (central-docking section 5.7)."""

from math import pi, radians
from pathlib import Path

import numpy as np
import pytest

from dockfmu.components.core.parameters import read_parameter_set
from dockfmu.components.physics import hysteresis
from dockfmu.components.probe_mechanism import tree
from dockfmu.components.probe_mechanism.lateral import lateral_damper
from tests.components.probe_mechanism.test_probe_tree import RECORD, evaluate, gain, mechanism, place, run, tilt

PARAMETERS = Path(lateral_damper.__file__).parents[1] / "parameters"


def characteristic(p):
    """Force of a spring mechanism of LD-1 at |p|, without the ramps: the formula of central-docking section 5.7."""
    p = abs(p)
    if p <= 7.9e-3:
        return 600.0 + 9e5 * p
    if p <= 9.9e-3:
        return max(8e3, 600.0 + 9e5 * 7.9e-3) + 4e6 * (p - 7.9e-3)
    return 16e3 + 1e7 * (p - 9.9e-3)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_spec06_section_5_7_two_stages_and_a_stop(side):
    """Loading follows the ideal characteristic outside the ramps of 0.1 mm; unloading falls to 0.9 of it."""
    m = mechanism()
    element = m.damper.element[0]
    path = np.concatenate([np.arange(0, 10.5, 0.01), np.arange(10.5, 0, -0.01)]) * 1e-3
    for x, rate in zip(path, np.gradient(path), strict=True):
        assert hysteresis.update(element.law, element.memory, side * x, side * rate, 1.0) == 0
        force = side * element.memory.reaction
        if rate > 0.0:
            if x > 1e-4 and not 7.9e-3 < x < 8.0e-3:
                assert force == pytest.approx(characteristic(x), rel=1e-9)
        elif 1e-4 < x < 9.7e-3 and not 7.9e-3 < x < 8.0e-3:
            assert 0.899 < force / characteristic(x) < 1.0
            assert x < 2e-3 or force / characteristic(x) < 0.93
    assert element.memory.dissipated_energy > 0.0


def test_spec06_section_5_7_brake_table_is_the_eddy_current_curve():
    """Table of 12 points against 2 m_max x / (1 + x^2): exact at the points, 3 % of m_max in between up to 1 rad/s."""
    m = mechanism()
    speed, torque = m.parameters.lateral.brake.speed[0], m.parameters.lateral.brake.torque[0]
    for w in np.linspace(0.0, 1.0, 101):
        x = w / 0.2
        assert w * lateral_damper.secant(w, speed, torque) == pytest.approx(250.0 * x / (1 + x * x), abs=0.04 * 125.0)
    assert lateral_damper.secant(20.0, speed, torque) == pytest.approx(torque[-1] / 20.0)
    gain = 4.0 * lateral_damper.secant(0.0, speed, torque)
    assert gain == pytest.approx(5e3, rel=0.06)  # "about 5 kN m s/rad at the hinge for small rates"


def test_spec06_oracle_11_reduction_of_massless_chains_to_closed_forms():
    """Springs: l_N x n f; brakes: rate v_P.e_23 / ((n_F x r_12).e_23), moment H^T m."""
    m = mechanism()
    t, d = m.tree, m.damper
    t.q[:2], t.qd[:2] = [0.05, -0.03], [0.4, 0.7]
    assert place(m) == 0
    assert tree.select(t, d, m.status) == 0
    assert evaluate(m) == 0
    A, w = t.link[1].rotation, t.link[1].angular_velocity
    total = np.zeros(3)
    for k in range(2):
        lever = A.T @ m.parameters.lateral.spring.node_point[k]
        strut = lever - m.parameters.lateral.spring.base_point[k]
        n = strut / np.linalg.norm(strut)
        assert d.spring[k].stroke == pytest.approx(np.linalg.norm(strut) - 0.15, abs=1e-15)
        assert d.spring[k].rate == pytest.approx(n @ np.cross(w, lever), abs=1e-14)
        total += np.cross(lever, d.spring[k].force * n)
        lever = A.T @ m.parameters.lateral.brake.node_point[k]
        c = d.brake[k]
        elbow = c.base_point + c.length * (c.cosine[0] * c.base_axes[0] + c.sine[0] * c.base_axes[1])
        e = (lever - elbow) / np.linalg.norm(lever - elbow)
        moved = np.cross(c.base_axes[2], elbow - c.base_point) @ e
        assert np.linalg.norm(lever - elbow) == pytest.approx(0.15, abs=1e-14)
        assert c.rate == pytest.approx(np.cross(w, lever) @ e / moved, abs=1e-13)
        total += np.cross(lever, e) / moved * c.force
    np.testing.assert_allclose(t.node_torque, total, atol=1e-9)
    np.testing.assert_array_equal(t.node_inertia, 0.0)
    masses = {
        f"lateral.{device}.{what}": 1e-9 for device in ("spring", "brake") for what in ("link_mass", "link_inertia")
    }
    light = mechanism(**masses)
    light.tree.q[:2], light.tree.qd[:2] = [0.05, -0.03], [0.4, 0.7]
    place(light)
    tree.select(light.tree, light.damper, light.status)
    evaluate(light)
    np.testing.assert_allclose(light.tree.node_torque, total, rtol=1e-6)


def test_spec06_oracle_10_moment_along_a_spring_line_has_three_stages():
    """Slowly tilted toward +y: the moment about z rises as F(p) times the lever, soft, stiff, stop."""
    moments = {}
    m = mechanism()
    for angle in np.radians(np.arange(0.0, 6.001, 0.01)):
        tilt(m, angle, 0.0)
        m.damper.spring[0].rate = -1e-6
        assert tree.select(m.tree, m.damper, m.status) == 0
        assert evaluate(m) == 0
        moments[round(np.degrees(angle), 2)] = m.tree.node_torque[2]
    for degrees in (1.0, 3.0, 4.4, 4.7, 5.5):
        tilt(m, radians(degrees), 0.0)
        force = characteristic(m.damper.spring[0].stroke)
        lever = abs(gain(m, m.damper.spring[0])[2])
        assert moments[degrees] == pytest.approx(-force * lever, rel=1e-3)
    slope = [np.degrees((moments[a] - moments[a + 0.2]) / 0.2) for a in (3.0, 5.0, 5.7)]
    np.testing.assert_allclose(slope, [0.01 * 9e5, 0.01 * 4e6, 0.01 * 1e7], rtol=0.06)


def test_stops_of_the_brakes_push_back_and_do_not_pull():
    m = mechanism()
    tilt(m, radians(5.9), pi / 4)
    spin = np.array([0.0, -np.sin(pi / 4), np.cos(pi / 4)])
    inward = np.sign(m.damper.brake[0].angle - pi / 2)
    assert abs(m.damper.brake[0].angle - pi / 2) > radians(11.3)
    assert evaluate(m) == 0
    assert m.damper.brake[0].force * inward < -100.0
    sense = np.sign(gain(m, m.damper.brake[0]) @ spin) * inward
    for rate in (-30.0, 30.0):  # leaving the stop so fast that its damper would pull, and running into it
        m.tree.qd[:2] = rate * sense * np.array([spin[1], spin[2]])
        place(m)
        leaving = m.damper.brake[0].rate * inward < 0.0
        assert leaving == (rate < 0.0)
        assert evaluate(m) == 0
        speed = m.damper.brake[0].rate
        stop = m.damper.brake[0].force + m.damper.brake_coefficient[0] * speed
        if leaving:
            assert stop == pytest.approx(0.0, abs=1e-9)
        else:
            assert stop * inward < -1e2


def test_switched_brakes_add_a_torque_by_a_table_of_their_own():
    """Each brake has two tables, all four different here; at a speed w between points they give what `interp` does."""
    speed = np.linspace(0.0, 11.0, 12) * np.array([[0.2], [0.3]])
    torque = np.vstack([40.0 * np.sqrt(speed[0]), 25.0 * speed[1]])
    added = np.vstack([15.0 * speed[0] ** 2, 60.0 * np.tanh(speed[1])])
    m = mechanism(**{"lateral.brake.speed": speed, "lateral.brake.torque": torque, "lateral.brake.added_torque": added})
    m.tree.qd[:2] = 1.1, 0.3
    assert place(m) == 0
    for switched in (0.0, 1.0):
        lateral_damper.forces(m.parameters.lateral, m.damper, switched, 1e-9)
        for k in range(2):
            rate = m.damper.brake[k].rate
            assert abs(rate) > speed[k, 1]
            law = np.interp(abs(rate), speed[k], torque[k] + switched * added[k])
            assert m.damper.brake[k].force == pytest.approx(-np.sign(rate) * law, rel=1e-6)


def turned(h):
    """Yaw and pitch 0.1 s after a push at 0.4 and 0.3 rad/s, against brakes of falling torque and light springs."""
    speed, torque = np.linspace(0.0, 11.0, 12), np.concatenate([[0.0], np.linspace(125.0, 25.0, 11)])
    brakes = {
        "speed": np.tile(speed * 0.2, (2, 1)),
        "torque": np.tile(torque, (2, 1)),
        "stop_low": 0.2,
        "stop_high": 2.9,
    }
    springs = {"first_preload": 0.0, "first_stiffness": 1e3, "unloading": 0.9999}
    values = {f"lateral.brake.{name}": value for name, value in brakes.items()}
    m = mechanism(**values, **{f"lateral.spring.{name}": value for name, value in springs.items()})
    m.tree.qd[:2] = 0.4, 0.3
    assert run(m, round(0.1 / h), h, 0.0) == 0
    return m.tree.q[:2].copy()


def test_brakes_whose_torque_falls_with_the_speed_are_of_second_order():
    """With torque over speed of the start of a micro-step they are of first order, at 0.1 ms 35 times as wrong."""
    exact = turned(5e-6)
    errors = [np.abs(turned(h) - exact).max() for h in (4e-4, 2e-4, 1e-4)]
    assert errors[-1] < 5e-4 * np.abs(exact).max()
    assert errors[0] > 3.0 * errors[1] > 9.0 * errors[2]


def test_limits_hold_under_a_large_contact_load():
    """3 kN across the head for 0.3 s toward each of 8 directions: the housing stays within 6.6 deg."""
    for azimuth in np.arange(8) * pi / 4:
        m = mechanism()
        m.tree.load[1].torque[1:] = 1200.0 * np.array([-np.sin(azimuth), np.cos(azimuth)])
        assert run(m, 3000, 1e-4, 0.0) == 0
        lean = np.degrees(np.arccos(m.tree.link[1].rotation[0, 0]))
        assert 2.0 < lean < 6.6


@pytest.mark.parametrize("name", ["LD-1", "PR-1"])
def test_parameter_sets_fit_the_record_and_are_its_start_values(name):
    chosen = read_parameter_set(PARAMETERS / f"{name}.toml")
    assert chosen.name == name
    chosen.check(RECORD)
    group = {"LD-1": "parameters.lateral.", "PR-1": "parameters.probe."}[name]
    values = {slot: number for key, value in chosen.values.items() for slot, number in RECORD.expand(key, value, "")}
    for slot in RECORD.slots:
        if slot.name.startswith(group):
            assert values[slot.name] == pytest.approx(slot.start, abs=1e-6), slot.name


def test_an_impossible_spring_is_refused():
    """Unloading from the stop that would not meet the backward branch within the stiff stage."""
    m = mechanism()
    m.parameters.lateral.spring.unloading[1] = 0.5
    m.parameters.lateral.spring.second_travel[1] = 5e-4
    code = lateral_damper.initialize(m.parameters.lateral, m.damper, m.tree.link[1], m.status)
    assert code in lateral_damper.MESSAGES
    assert code > lateral_damper.SPRING_LAW
    assert m.status.index == 2


@pytest.mark.parametrize(
    ("field", "place", "value", "code"),
    [("speed", (1, 3), 0.01, lateral_damper.BRAKE_TABLE), ("torque", (1, 0), 1.0, lateral_damper.BRAKE_TABLE),
     ("base_axes", (1, 0, 1), 0.1, lateral_damper.AXES)],
)  # fmt: skip
def test_bad_tables_and_axes_are_refused(field, place, value, code):
    m = mechanism()
    getattr(m.parameters.lateral.brake, field)[place] = value
    assert lateral_damper.initialize(m.parameters.lateral, m.damper, m.tree.link[1], m.status) == code
    assert m.status.index == 2
