"""Levers that give way: search, latch of RefCone in closed form, work balance."""

from __future__ import annotations

from math import acos, atan2, cos, degrees, hypot, radians, sin, sqrt, tan

import numpy as np
import pytest

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import probe_cone, sprung_lever
from dockfmu.components.physics.contact.probe_cone import latches

CONE_ANGLE = radians(40.0)
# RefCone moved so that the socket entry is at x = 0, with the last frustum at exactly 40 deg
X_JUNCTION = -(0.220 - 0.047) / tan(CONE_ANGLE)
CONE = {
    "cone.x": [X_JUNCTION - 0.14 / tan(radians(60.0))] * 2 + [X_JUNCTION, 0.0, 0.090, 0.090, 0.0, 0.0],
    "cone.r": [0.50, 0.360, 0.220, 0.047, 0.047, 0.0, 0.0, 0.0],
    # no stops within reach, no sensors
    "slot.x": 1.0,
    "sensor.count": 0,
}


@pytest.fixture
def unit(make_unit):
    return make_unit(**CONE)


def latch_angle(unit, x):
    unit.head((x, 0.0, 0.0))
    unit.accept()
    return unit.u.state.latch[0]


@pytest.mark.parametrize(
    ("x", "angle"),
    # the table of the specification has 20.982953 on the wall; in closed form it is 20.98295402
    [(0.002, 1.878940), (0.006, 5.753407), (0.012, 11.487337), (0.016, 15.284177), (0.020, 19.237639),
     (0.022, 20.982954), (0.030, 20.982954)],
)  # fmt: skip
def test_spec05_oracle_T15_latch_angle(unit, x, angle):
    lever = latch_angle(unit, x)
    assert degrees(lever.angle) == pytest.approx(angle, abs=1e-6)
    if x <= 0.016:
        a, b = unit.u.parameters.latch.tip
        t = tan(CONE_ANGLE)
        A, B = b + a * t, a - b * t
        K = t * (0.047 / t - x - 0.010) - 0.025
        assert lever.angle == pytest.approx(atan2(B, A) + acos(K / hypot(A, B)), abs=1e-8)
        assert lever.normal[:2] == pytest.approx((sin(CONE_ANGLE), cos(CONE_ANGLE)), abs=1e-12)
    elif x == 0.020:
        assert lever.normal[:2] == pytest.approx((0.591364, 0.806405), abs=5e-7)
    else:
        assert tuple(lever.normal) == pytest.approx((0.0, 1.0, 0.0), abs=1e-12)
    turn = cos(lever.angle), sin(lever.angle)
    d, _, _, _ = latches.latch_front(unit.u.work.latch[0], unit.u.parameters.latch, unit.u.geometry, *turn)
    assert 0.0 < d < 1e-9


def onset():
    """Head abscissa at which the extended tip touches the frustum."""
    return 0.012 + (0.047 - 0.057) / tan(CONE_ANGLE) + 1e-9


def test_spec05_oracle_T15b_work_of_the_latch(unit):
    """Quasi-static insertion: the work of the axial force is the energy of the spring; peak 68.794 N at 16.22 mm."""
    # from the onset, where the force jumps to that of the preload
    xs = np.linspace(onset(), 0.0225, 2351)
    forces = []
    for x in xs:
        lever = latch_angle(unit, float(x))
        forces.append(lever.force * lever.normal[0])
    end = lever.angle
    energy = 1.5 * end + 0.5 * 8.0 * end**2
    assert energy == pytest.approx(1.085806, abs=5e-7)
    assert np.trapezoid(forces, xs) == pytest.approx(energy, rel=2e-4)
    assert max(forces) == pytest.approx(68.794, rel=2e-4)
    assert xs[int(np.argmax(forces))] == pytest.approx(0.01622, abs=2e-5)
    # all four latches, by the outputs of the unit
    assert unit.output.stored_energy == pytest.approx(4.0 * energy, rel=1e-9)


def test_spec05_oracle_T15c_coaxial_latches_balance(unit):
    lever = latch_angle(unit, 0.012)
    target = unit.output.target
    assert target.force[0] == pytest.approx(4.0 * lever.force * lever.normal[0], rel=1e-12)
    assert np.abs(target.force[1:]).max() < 1e-9
    assert np.abs(target.torque).max() < 1e-9
    assert np.abs(unit.output.link[0].torque).max() < 1e-9


def test_latch_returns_when_the_partner_withdraws(unit):
    """Erratum E22: the source's incremental search could not."""
    there = [latch_angle(unit, x).angle for x in (0.002, 0.010, 0.020)]
    back = [latch_angle(unit, x).angle for x in (0.020, 0.010, 0.002)]
    assert back == there[::-1]
    assert latch_angle(unit, -0.05).angle == 0.0


@kernel
def _wall_depth(length, figure, wall, c, s):
    """A straight lever along eta against a wall at the height `wall` over the pivot."""
    return length * c - wall


search_wall = sprung_lever.resting_angle(_wall_depth)


def test_spec04_oracle_S12_straight_latch_at_a_wall(make_unit):
    """0.030 m long, wall at 0.028 m: arccos(28/30), arm 0.01077033 m; a plain bisection agrees."""
    figure = make_unit().u.parameters.latch
    end = cos(figure.angle_max), sin(figure.angle_max)
    mode, angle = search_wall(0.030, figure, 0.028, end)
    assert mode == sprung_lever.PUSHED
    assert angle == pytest.approx(0.36720802, abs=5e-9)
    low, high = 0.0, figure.angle_max
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (
            (middle, high) if _wall_depth(0.030, figure, 0.028, cos(middle), sin(middle)) > 0.0 else (low, middle)
        )
    assert angle == pytest.approx(low, abs=2e-9)
    lever = make_unit().u.state.latch[0]
    frame = make_unit().u.work.latch[0]
    frame.pivot[:] = 0.0
    frame.xi[:] = (1.0, 0.0, 0.0)
    frame.eta[:] = (0.0, 1.0, 0.0)
    lever.angle = angle
    sprung_lever.hold(lever, figure, frame, (0.0, 1.0, 0.0), (-0.030 * sin(angle), 0.028, 0.0))
    arm = (figure.preload + figure.stiffness * angle) / lever.force
    assert arm == pytest.approx(0.01077033, abs=5e-9)
    assert search_wall(0.030, figure, 0.031, end) == (sprung_lever.FREE, 0.0)
    assert search_wall(0.030, figure, 0.001, end) == (sprung_lever.BOTTOMED, figure.angle_max)


@kernel
def _jump_depth(frame, figure, where, c, s):
    return 1e-3 if s < sin(where) else -1e-3


search_jump = sprung_lever.resting_angle(_jump_depth)


def test_search_finds_a_jump_of_the_depth(make_unit):
    figure = make_unit().u.parameters.latch
    for where in np.linspace(0.001, 0.85, 40):
        mode, angle = search_jump(0.0, figure, float(where), (cos(figure.angle_max), sin(figure.angle_max)))
        assert mode == sprung_lever.PUSHED
        assert where - 2e-9 < angle <= where


def test_oblique_insertion_finds_vanishing_depth_or_a_corner(unit):
    """Misaligned heads: each latch and the pair of forces."""
    rng = np.random.default_rng(15)
    pushed = 0
    for _ in range(300):
        yaw, pitch, roll = rng.uniform(-radians(4.0), radians(4.0), 3)
        x = rng.uniform(-0.04, 0.02)
        y, z = rng.uniform(-0.002, 0.002, 2) if x > -0.03 else rng.uniform(-0.02, 0.02, 2)
        if unit.head((x, y, z), (yaw, pitch, roll)) != 0:
            continue
        unit.accept()
        for k in range(4):
            lever = unit.u.state.latch[k]
            figure, geometry, frame = unit.u.parameters.latch, unit.u.geometry, unit.u.work.latch[k]
            d, n, _, _ = latches.latch_front(frame, figure, geometry, cos(lever.angle), sin(lever.angle))
            if lever.mode != sprung_lever.PUSHED:
                assert lever.mode == sprung_lever.FREE
                assert d <= 0.0
                continue
            pushed += 1
            past = lever.angle + 2e-9
            beyond = latches.latch_depth(frame, figure, geometry, cos(past), sin(past))
            assert d > 0.0
            assert d < 1e-9 or beyond <= 0.0
            assert n[0] >= 0.0
            assert lever.force > 0.0
    assert pushed > 200


def test_bottomed_lever_is_a_class_1_contact(make_unit):
    """Latches that can hardly give way: at the end of their travel they are part of the head."""
    unit = make_unit(**CONE, **{"latch.angle_max": radians(3.0)})
    x = 0.0050
    unit.head((x, 0.0, 0.0), velocity=(0.0, 0.0, 0.0))
    unit.accept()
    assert all(lever.mode == sprung_lever.BOTTOMED for lever in unit.u.state.latch)
    assert probe_cone.evaluate(unit.u) == 0
    d = unit.contacts()[0].penetration
    assert d > 0.0
    assert unit.output.target.force[0] == pytest.approx(4.0 * 1e7 * d * sin(CONE_ANGLE), rel=1e-9)
    assert unit.output.stored_energy == pytest.approx(
        4.0 * (0.5e7 * d * d + 1.5 * radians(3.0) + 4.0 * radians(3.0) ** 2), rel=1e-9
    )


def test_sensor_gives_way_and_lets_go(make_unit):
    unit = make_unit()
    unit.head((0.25, 0.0, 0.0))
    unit.accept()
    assert all(lever.mode == sprung_lever.FREE for lever in unit.u.state.sensor)
    unit.head((0.295, 0.0, 0.0))
    unit.accept()
    sensor = unit.u.state.sensor[0]
    assert sensor.mode == sprung_lever.PUSHED
    # its roller bears on the socket wall: radius of the wall less that of the roller
    reached = sqrt(2.0) * (sensor.position[1])
    assert reached == pytest.approx(0.047, abs=1e-9)
    assert sensor.normal == pytest.approx((0.0, sqrt(0.5), sqrt(0.5)), abs=1e-12)
    assert 1.0 < sensor.force < 50.0


def test_figure_of_a_latch_turns_the_right_way(make_unit):
    """Retraction turns xi into eta: the tip, ahead of the pivot toward -x and outside, moves inward."""
    unit = make_unit()
    unit.head((0.26, 0.0, 0.0))
    frame, tip = unit.u.work.latch[1], unit.u.parameters.latch.tip
    out = np.array(sprung_lever.turned(frame, tip, 1.0, 0.0))
    inward = np.array(sprung_lever.turned(frame, tip, cos(0.1), sin(0.1)))
    assert out == pytest.approx((0.26 + 0.010 - 0.022, 0.0, 0.025 + 0.032))
    assert inward[2] < out[2]
    assert np.linalg.norm(inward - frame.pivot) == pytest.approx(np.linalg.norm(out - frame.pivot))
