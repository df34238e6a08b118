"""Alignment levers, pushers and hatch cover, central-docking sections 5.5, 5.9, 5.11, 9.1, 9.2."""

from itertools import pairwise
from math import cos, pi, radians, sin, tan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.ports import status
from dockfmu.components.core.record import Record
from dockfmu.components.physics.devices import pushers
from dockfmu.components.physics.mechanics import rotation
from dockfmu.components.probe_mechanism import cover
from dockfmu.components.probe_mechanism.alignment import levers, ports

pytestmark = pytest.mark.quick

RECORD = Record(
    ports.LEVERS,
    Group("roller", private("position", "m", "", shape=3), private("velocity", "m/s", "", shape=3), count=3),
    cover.state(),
    Group("parameters", ports.LEVER_PARAMETERS, pushers.parameters(), cover.parameters()),
    status(),
)
SMALL = st.floats(-0.05, 0.05)


def place(travel, rate=0.0):
    m = RECORD.memory()
    levers.initialize(m.parameters, m.levers)
    levers.place(m.parameters, m.levers, m.roller, travel, rate)
    return m


@given(st.floats(0.0, 0.37))
def test_spec06_oracle_13_levers_are_equal_at_120_degrees(travel):
    m = place(travel, 1.0)
    turn = np.array(rotation.transpose(rotation.about_x(2.0 * pi / 3.0)))
    for k in range(2):
        assert m.roller[k + 1].position == pytest.approx(turn @ m.roller[k].position, abs=1e-15)
        assert m.roller[k + 1].velocity == pytest.approx(turn @ m.roller[k].velocity, abs=1e-15)


def test_roller_velocity_is_the_derivative_of_its_position():
    for travel in (0.1, 0.25, 0.305, 0.35):
        step = 1e-6
        ahead, behind, m = place(travel + step), place(travel - step), place(travel, 2.0)
        for k in range(3):
            difference = (ahead.roller[k].position - behind.roller[k].position) / step
            assert m.roller[k].velocity == pytest.approx(difference, abs=1e-9)
            force = np.array([3.0, -5.0, 7.0])
            assert levers.cam_force(m.levers, k, force) * 2.0 == pytest.approx(force @ m.roller[k].velocity, abs=1e-12)


CONE = ((0.0, 0.360), (0.0808290, 0.220), (0.2870023, 0.047))
X = np.array([1.0, 0.0, 0.0])
ROLLER_RADIUS, HINGE_AT_START = 0.015, -0.493


def clearance(point):
    """Distance of a roller's surface from the receiving cone (RefCone), brute force over its meridian."""
    x, r = point[0], np.hypot(point[1], point[2])
    distances = []
    for (x1, r1), (x2, r2) in pairwise(CONE):
        s = np.clip(((x - x1) * (x2 - x1) + (r - r1) * (r2 - r1)) / ((x2 - x1) ** 2 + (r2 - r1) ** 2), 0.0, 1.0)
        distances.append(np.hypot(x - x1 - s * (x2 - x1), r - r1 - s * (r2 - r1)))
    inside = r < (0.36 - x * tan(radians(60)) if x < 0.080829 else 0.22 - (x - 0.080829) * tan(radians(40)))
    return (min(distances) if inside else -min(distances)) - ROLLER_RADIUS


def test_rollers_come_within_four_millimetres_of_the_cone_at_the_end():
    """Retracting with latches on their stops and no misalignment, the levers of LV-1 close in, and keep 4 mm."""
    for travel in np.linspace(0.0, 0.36, 61):
        gap = clearance(place(travel).roller[0].position + X * (HINGE_AT_START + travel))
        assert gap > 3.9e-3
    assert gap < 4.1e-3


@given(st.floats(0.0, 2.0 * pi), st.floats(0.0, 8e-3), st.floats(0.0, 2.0 * pi), st.floats(0.0, 0.02))
def test_spec06_oracle_13_never_three_rollers_at_once(direction, offset, axis, tilt):
    """Lateral offsets to 8 mm and tilts of the housing to 1.1 degrees about the head: at most two rollers touch."""
    turn = np.array(rotation.transpose(rotation.from_angles(tilt * cos(axis), tilt * sin(axis), 0.0)))
    head = np.array([0.307, 0.0, 0.0])
    for travel in (0.30, 0.32, 0.34, 0.36):
        m = place(travel)
        touching = 0
        for k in range(3):
            point = m.roller[k].position + X * (HINGE_AT_START + travel)
            point = head + turn @ (point - head) + np.array([0.0, offset * cos(direction), offset * sin(direction)])
            touching += clearance(point) < 0.0
        assert touching <= 2


@given(SMALL, SMALL, SMALL, st.floats(-0.12, -0.1), SMALL, SMALL)
def test_pushers_are_the_gradient_of_their_energy(yaw, pitch, roll, x, y, z):
    """Force = derivative of the energy, all pushers touching; the reaction on the base balances force and torque."""
    p = RECORD.memory().parameters.pushers
    plane = 0.133
    A = rotation.from_angles(0.2 * yaw, 0.2 * pitch, roll)
    force, torque, energy = pushers.wrench(p, plane, (x, y, z), A)
    step = 1e-6
    ahead = pushers.wrench(p, plane, (x + step, y, z), A)
    assert (ahead[2] - energy) / step == pytest.approx(0.5 * (ahead[0][0] + force[0]), rel=1e-6)
    back, back_torque = pushers.reaction(force, torque, (x, y, z), A)
    back = np.array(rotation.apply_transposed(A, back))
    back_torque = np.array(rotation.apply_transposed(A, back_torque))
    assert back + force == pytest.approx([0.0] * 3, abs=1e-10)
    assert back_torque + np.cross([x, y, z], back) + torque == pytest.approx([0.0] * 3, abs=1e-10)


def test_pushers_press_400_newton_at_first_touch_and_align():
    p = RECORD.memory().parameters.pushers
    straight = rotation.from_angles(0.0, 0.0, 0.0)
    assert pushers.wrench(p, 0.133, (-0.158 - 1e-9, 0.0, 0.0), straight)[0][0] == 0.0
    force, torque, energy = pushers.wrench(p, 0.133, (-0.133, 0.0, 0.0), straight)
    assert force[0] == pytest.approx(4 * (100.0 + 1e4 * 0.025))
    assert torque == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
    assert energy == pytest.approx(4 * (100.0 * 0.025 + 0.5 * 1e4 * 0.025**2))
    tilted = rotation.from_angles(0.0, 0.02, 0.0)
    force, torque, _ = pushers.wrench(p, 0.133, (-0.133, 0.0, 0.0), tilted)
    assert pushers.reaction(force, torque, (-0.133, 0.0, 0.0), tilted)[1][2] < 0.0, "turns the pitch back"


MOVING = 43.0
"""kg on the cover: housing and probe of PR-1"""


def hatch_cover(**parameters):
    m = RECORD.memory()
    for name, value in parameters.items():
        setattr(m.parameters.cover, name, value)
    assert cover.initialize(m.parameters.cover, m.cover, m.status) == 0
    return m


def press(m, force, h=5e-4):
    assert cover.advance(m.parameters.cover, m.cover, MOVING, force, h, m.status) == 0


def test_spec06_oracle_02_cover_solves_the_implicit_system():
    """With the segment of the hysteresis that the step has chosen."""
    m = hatch_cover()
    p, c = m.parameters.cover, m.cover
    h = 5e-4
    for force in np.random.default_rng(2).uniform(-1e4, 1e4, 50):
        before = c.travel, c.rate
        press(m, force, h)
        k, offset = c.memory.stiffness, c.memory.origin_reaction - c.memory.stiffness * c.memory.origin_deformation
        matrix = [[1.0, -h], [h * k / MOVING, 1.0 + h * p.damping / MOVING]]
        expected = np.linalg.solve(matrix, [before[0], before[1] + h * (force - offset) / MOVING])
        assert (c.travel, c.rate) == pytest.approx(expected, rel=1e-12, abs=1e-16)


@pytest.mark.parametrize("stiffness", [1e6, 5e12])
def test_spec06_oracle_02_cover_settles_at_its_static_deflection(stiffness):
    """Also for h sqrt(k/m) = 170, far beyond any explicit method; with hardly any hysteresis, which would hold it."""
    m = hatch_cover(stiffness=stiffness, hysteresis_loss=1e-7)
    for _ in range(20_000):
        press(m, -8e3)
    assert m.cover.travel == pytest.approx(-8e3 / stiffness, rel=1e-6)
    assert cover.transmitted(m.parameters.cover, m.cover) == pytest.approx(-8e3, rel=1e-9)


@pytest.mark.parametrize("loss", [0.1, 0.3])
def test_spec00_ruling_44_a_slow_loop_of_the_cover_loses_its_hysteresis(loss):
    """Both sides of the law to their limits and back: each loses `loss` of the work of loading, k limit^2 / 2.

    The rest is damping at the rate of the ramp, c v^2 t = 0.4 J.
    """
    m = hatch_cover(hysteresis_loss=loss, limit=0.01)
    peak = 1e6 * 0.01
    quarter = np.linspace(0.0, 1.0, 2000)
    for force in peak * np.concatenate([quarter, quarter[::-1], -quarter, -quarter[::-1], np.zeros(400)]):
        press(m, force, 1e-3)
    assert cover.dissipated_energy(m.cover) == pytest.approx(2.0 * loss * 0.5 * peak * 0.01 + 0.4, rel=0.02)
    assert abs(m.cover.travel) < 1e-3 * 0.01
    assert abs(cover.stored_energy(m.cover)) < 1e-6 * peak * 0.01
