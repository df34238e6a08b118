"""The class-1 force law: signs, balance, impacts in closed form."""

from __future__ import annotations

from math import atan2, exp, hypot, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import contact_list, force, profile
from dockfmu.components.physics.contact.list_forces import make_forces, set_velocities
from dockfmu.components.physics.mechanics.vector import dot

pytestmark = pytest.mark.quick

RECORD = Record(
    force.law("law", "of the test"),
    force.wrench("a", ""),
    force.wrench("b", ""),
    force.motion("link", count=1),
    contact_list.tally(1),
    profile.faces(2),
)


def law(stiffness=1e6, damping=0.0, friction=0.0, slip_velocity=1e-3):
    m = RECORD.memory()
    m.law.stiffness = stiffness
    m.law.damping = damping
    m.law.friction = friction
    m.law.slip_velocity = slip_velocity
    return m.law


def contact(entry, v, n, depth, gain=1.0):
    """Return a listed contact of a link that moves with v, with its forces."""
    m = RECORD.memory()
    m.link[0].velocity[:] = v
    # in the interpreter: compiled code that is called from Python gets copies of records
    plain(contact_list.list_contact)(m.tally, 1.0, 0.0, 0.0, depth, n, gain, (0.0, 0.0, 0.0))
    plain(set_velocities)(m.tally, 0.0, m.link)
    plain(make_forces)(m.tally, 0.0, (entry,), True)
    return m.tally.contact[0]


def plain(kernel):
    return getattr(kernel, "py_func", kernel)


def normal_force(entry, depth, rate):
    return force.normal_force(entry, rate, 1.0, depth)


def impact(entry, mass, speed):
    """(time, penetration, velocity) of a mass that hits the plane x = 0 and leaves it."""

    def right_side(_, y):
        return [y[1], -normal_force(entry, y[0], y[1]) / mass]

    def leaves(_, y):
        return y[0]

    leaves.terminal, leaves.direction = True, -1
    period = 2.0 * pi * sqrt(mass / entry.stiffness)
    result = solve_ivp(
        right_side, (0.0, 10.0 * period), [1e-15, speed], events=leaves, rtol=1e-11, atol=1e-13, max_step=period / 200.0
    )
    return result.t, result.y[0], result.y[1]


def test_spec05_oracle_19_elastic_impact():
    entry = law()
    t, depth, velocity = impact(entry, 5.0, 0.1)
    assert entry.stiffness * depth.max() == pytest.approx(0.1 * sqrt(entry.stiffness * 5.0), rel=1e-4)
    assert t[-1] == pytest.approx(pi * sqrt(5.0 / entry.stiffness), rel=1e-6)
    assert depth.max() == pytest.approx(0.1 * sqrt(5.0 / entry.stiffness), rel=1e-4)
    assert velocity[-1] == pytest.approx(-0.1, rel=1e-8)


@pytest.mark.parametrize(
    ("zeta", "expected"), [(0.05, 0.85876), (0.1, 0.74408), (0.2, 0.57174), (0.3, 0.45098), (0.5, 0.29844)]
)
def test_spec05_oracle_20_restitution_of_clamped_damping(zeta, expected):
    stiffness, mass = 1e6, 5.0
    damping = 2.0 * zeta * sqrt(stiffness * mass)
    _, _, velocity = impact(law(damping=damping), mass, 0.1)
    beta = damping / (2.0 * mass)
    omega = sqrt(stiffness / mass - beta * beta)
    closed = exp(-beta / omega * (pi - atan2(2 * beta * omega, omega * omega - beta * beta)))
    assert closed == pytest.approx(expected, abs=5e-6)
    # the clamp ends the push while the mass is still inside: the last free flight leaves the speed unchanged
    assert -velocity[-1] / 0.1 == pytest.approx(closed, rel=1e-6)


@pytest.mark.parametrize(
    ("damping", "depth_max", "time", "restitution"),
    [
        (0.0, 13.80131e-3, 0.433581, 1.0),
        (27602.62, 11.90502e-3, 0.407977, 0.744079),
        (2 * 27602.62, 10.43565e-3, 0.385796, 0.571740),
    ],
)
def test_spec04_oracle_S06_central_impact(damping, depth_max, time, restitution):
    """20 t and 400 t at 0.1 m/s: reduced mass 19047.619 kg; contact ends where the force vanishes."""
    entry = law(damping=damping)
    t, depth, velocity = impact(entry, 20e3 * 400e3 / 420e3, 0.1)
    pushing = np.array([normal_force(entry, d, v) > 0.0 for d, v in zip(depth, velocity, strict=True)])
    # resolution of the dense steps: period / 200 = 4.3 ms for the time, its square for the maximum
    assert depth.max() == pytest.approx(depth_max, rel=2e-4)
    assert t[pushing][-1] == pytest.approx(time, abs=5e-3)
    assert -velocity[-1] / 0.1 == pytest.approx(restitution, rel=2e-6)


unit_floats = st.floats(-1.0, 1.0)
vectors = st.tuples(unit_floats, unit_floats, unit_floats)


@given(v=vectors, n=vectors.filter(lambda n: hypot(*n) > 0.1), depth=st.floats(1e-6, 5e-3))
def test_spec05_oracle_18_friction_opposes_sliding(v, n, depth):
    entry = law(damping=500.0, friction=0.1)
    n = tuple(np.array(n) / hypot(*n))
    item = contact(entry, v, n, depth)
    on_passive, normal, friction = item.force, item.normal_force, item.friction_force
    rate = dot(n, v)
    slip = np.array(v) - rate * np.array(n)
    tangential = np.array(on_passive) - dot(on_passive, n) * np.array(n)
    # the passive unit is dragged along with the sliding link (erratum E18), and the pair of forces loses power
    assert np.dot(tangential, slip) >= -1e-15
    assert normal >= 0.0
    assert friction <= 0.1 * normal * (1.0 + 1e-15)
    reversed_slip = tuple(rate * np.array(n) - slip)
    other = contact(entry, reversed_slip, n, depth).force
    np.testing.assert_allclose(np.array(other) - dot(other, n) * np.array(n), -tangential, atol=1e-9)
    # of the power that the link puts in the spring stores its part, and damping and friction lose the rest
    stored_rate = entry.stiffness * depth * rate
    assert np.dot(on_passive, v) >= stored_rate - 1e-9


@given(f=vectors, r=vectors, p=vectors)
def test_spec05_oracle_17_action_and_reaction(f, r, p):
    m = RECORD.memory()
    force.exert(f, r, p, m.a, m.b)
    np.testing.assert_allclose(m.a.force + m.b.force, 0.0, atol=1e-15)
    about_origin = m.a.torque + m.b.torque + np.cross(p, m.b.force)
    np.testing.assert_allclose(about_origin, 0.0, atol=1e-15)


def test_spec05_erratum_26_no_adhesion():
    assert normal_force(law(damping=1e4), 1e-3, -1.0) == 0.0


def brake(entry, h, mobility, mass, steps):
    """Speeds of a mass that slides under 8 kN, its initial energy, and what friction takes by the mean speeds."""
    v, lost, speeds = 0.05, 0.0, []
    for _ in range(steps):
        on_passive = force.friction_force(entry, 8e3, (0.0, v, 0.0), mobility)
        after = v - h / mass * on_passive[1]
        lost += 0.5 * h * on_passive[1] * (v + after)
        v = after
        speeds.append(v)
    return np.array(speeds), 0.5 * mass * 0.05**2, lost


def test_friction_stops_a_mass_whatever_the_step():
    """8 kN on 4 kg at 0.1 ms: friction of the start of the step shakes the mass at 10 mm/s for ever; held friction, of
    its end, is the whole k_Fr f_N until the step in which the mass stops."""
    entry = law(friction=0.1)
    shaken, _, _ = brake(entry, 1e-4, 0.0, 4.0, 200)
    assert np.abs(shaken[-50:]).min() > 5e-3
    speeds, energy, lost = brake(entry, 1e-4, 1e-4 / 4.0, 4.0, 200)
    assert speeds.min() >= 0.0
    assert speeds[-1] < 1e-9
    # 800 N stop 0.05 m/s of 4 kg within 0.25 ms
    assert speeds[:3] == pytest.approx([0.03, 0.01, 0.0], abs=1e-3)
    assert lost == pytest.approx(energy, rel=1e-9)


@given(free=st.floats(1e-6, 1.0), loss=st.floats(0.0, 1.0))
def test_speed_after_solves_the_law_of_friction_at_the_end_of_the_step(free, loss):
    entry = law(friction=0.1)
    after = force.speed_after(entry, free, loss)
    assert 0.0 <= after <= free
    assert after + loss * after / hypot(after, 1e-3) == pytest.approx(free, rel=1e-9)


def held_impact(kappa, gamma, midpoint, steps=4000):
    """Largest |penetration| late in the free motion of a mass on a held contact force, m = H = 1, bilateral."""
    x, v = 1.0, 0.0
    late = 0.0
    for i in range(steps):
        depth = x + 0.5 * v if midpoint else x
        f = -kappa * depth - gamma * v
        x += v + 0.5 * f
        v += f
        if i > steps - 100:
            late = max(late, abs(x))
        if abs(x) > 1e6:
            return abs(x)
    return late


@pytest.mark.parametrize("kappa", [0.01, 0.083, 0.5, 2.0])
def test_spec04_oracle_S15_stability_of_a_held_contact_force(kappa):
    """From the step's start kappa / 2 < gamma < 2, at the midpoint 0 <= gamma <= 2 - kappa / 2: contact-forces 12."""
    for midpoint, low, high in ((False, kappa / 2.0, 2.0), (True, 0.0, 2.0 - kappa / 2.0)):
        inside = low + 0.02 * (high - low), high - 0.02 * (high - low)
        outside = low - 0.02 * (high - low), high + 0.02 * (high - low)
        assert all(held_impact(kappa, gamma, midpoint) < 1.0 for gamma in inside)
        assert all(held_impact(kappa, gamma, midpoint) > 10.0 for gamma in outside)


def test_motion_group_holds_a_velocity_field():
    m = Record(Group("test", force.motion("link"))).memory().test.link
    m.position[:] = (1.0, 0.0, 0.0)
    m.velocity[:] = (0.0, 0.0, 1.0)
    m.angular_velocity[:] = (0.0, 0.0, 2.0)
    assert force.point_velocity(m, (1.0, 0.5, 0.0)) == pytest.approx((-1.0, 0.0, 1.0))


@pytest.mark.parametrize("seed", range(3))
def test_spec04_oracle_S09_penetration_rate(make_unit, seed):
    """n . v of the force law is the rate of the depth: power of the spring against finite differences."""
    unit = make_unit(
        **{f"law_{n}.{q}": 0.0 for n in ("head", "bottom", "latch", "limiter") for q in ("damping", "friction")}
    )
    rng = np.random.default_rng(seed)
    position = np.array([0.09, 0.1555, 0.03])
    v, w = rng.uniform(-0.1, 0.1, (2, 3))
    h, energies = 1e-6, []
    for step in (-1, 1):
        unit.head(position + step * h * v)
        energies.append(unit.output.stored_energy)
    assert unit.head(position, velocity=v, angular_velocity=w) == 0
    assert unit.output.stored_energy > 0.0
    power = np.dot(unit.output.target.force, v)
    # a sphere turning about its centre does not change its depth
    assert power == pytest.approx((energies[1] - energies[0]) / (2 * h), rel=1e-5)


def deepest(start, along):
    """Return the depth of a segment over the edge at (0.15, 0.15) m between a cone and a wall, by 10,001 of its points.

    Near the deepest point the depth is a roof: half a spacing off the ridge costs some 1e-6 m, which is taken out by
    intersecting the lines of its two sides.
    """
    t = np.linspace(0.0, 1.0, 10_001)
    points = start + t[:, None] * along
    x, r = points[:, 0], np.hypot(points[:, 1], points[:, 2])
    sides = (0.15 * (x - 0.15) + 0.06 * (r - 0.15)) / hypot(0.15, 0.06), r - 0.15
    k = int(np.argmax(np.minimum(*sides)))
    lines = [np.polyfit(t[k - 2 : k + 3] - t[k], side[k - 2 : k + 3], 1) for side in sides]
    at = (lines[1][1] - lines[0][1]) / (lines[0][0] - lines[1][0])
    return lines[0][0] * at + lines[0][1]


@pytest.mark.parametrize("v", [(0.03, 0.0, 0.0), (0.01, 0.02, 0.0), (0.02, -0.01, 0.015)])
def test_damper_on_an_edge_takes_the_power_of_the_rate_of_depth(v):
    """A segment over an edge of a profile, where the gain is below 1: with the depth d by brute force, the spring takes
    k d d' and the damper c d'^2, so that both act on one coordinate."""
    m = RECORD.memory()
    assert plain(profile.build)((0.09, 0.15, 0.45), (0.3, 0.15, 0.15), 3, m.face)
    along = np.array([0.03, -0.03, 0.003])
    start = np.array([0.151, 0.1505, 0.01]) - 0.5 * along
    d, n, gain, _ = plain(profile.segment_profile)(m.face, 2, tuple(start), tuple(along))
    assert 0.0 < d < 5e-3
    assert gain < 0.9
    assert deepest(start, along) == pytest.approx(d, rel=1e-4)
    h = 1e-3
    rate = (deepest(start + h * np.array(v), along) - deepest(start - h * np.array(v), along)) / (2.0 * h)
    sprung = np.dot(contact(law(1e6), v, n, d, gain).force, v)
    assert sprung == pytest.approx(1e6 * d * rate, rel=1e-3)
    damped = np.dot(contact(law(1e6, damping=500.0), v, n, d, gain).force, v)
    assert damped - sprung == pytest.approx(500.0 * rate**2, rel=2e-3)
