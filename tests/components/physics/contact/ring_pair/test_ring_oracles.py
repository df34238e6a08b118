"""Oracles of contact-geometry section 12 for the rings: closed forms of section 7."""

from __future__ import annotations

from math import cos, pi, radians, sin, sqrt

import numpy as np
import pytest

from dockfmu.components.physics.contact.ring_pair.geometry import generatrix_end, upper_edge
from dockfmu.components.physics.contact.ring_pair.pairs import (
    EDGE_ON_EDGE,
    LATCH_FRONT,
    LATCH_REAR,
    RIM_ON_ACTIVE_PETAL,
    RIM_ON_PASSIVE_PETAL,
    SENSOR_ON_PLANE,
)
from tests.components.physics.contact.ring_pair.ring_unit import ELASTIC, Rings

ACTIVE = {1: radians(90.0), 2: radians(330.0), 3: radians(210.0)}
PASSIVE = {1: radians(270.0), 2: radians(30.0), 3: radians(150.0)}


@pytest.fixture(scope="module")
def rings():
    return Rings(**ELASTIC)


def radial(azimuth: float) -> np.ndarray:
    return np.array([0.0, cos(azimuth), sin(azimuth)])


@pytest.mark.parametrize("petal", [1, 2, 3])
def test_spec05_oracle_T14_lateral_offset_has_two_equal_contacts(rings, petal):
    """Offset e = 30 mm toward an active petal, gap d = 25 mm: (e - d) / sqrt(2) there and on the opposite passive one.

    The points are those of the rims, on the lines of action; the source has those of the generatrices, e - d farther.
    """
    e, d = 0.03, 0.025
    out = radial(ACTIVE[petal])
    opposite = next(k for k, a in PASSIVE.items() if abs(cos(a - ACTIVE[petal]) + 1.0) < 1e-9)
    assert rings.place(np.array([-d, 0.0, 0.0]) + e * out) == 0
    (first,) = rings.contacts(RIM_ON_ACTIVE_PETAL)
    (second,) = rings.contacts(RIM_ON_PASSIVE_PETAL)
    assert (first.index, second.index) == (petal, opposite)
    for item in (first, second):
        assert item.penetration == pytest.approx(0.0035355339059, abs=1e-12)
        assert np.allclose(item.normal, (np.array([1.0, 0.0, 0.0]) + out) / sqrt(2.0), atol=1e-9)
        assert item.gain == 1.0
    assert np.allclose(first.position, 0.5 * out, atol=1e-9)
    assert np.allclose(second.position, [-d, 0.0, 0.0] - (0.5 - e) * out, atol=1e-9)


@pytest.mark.parametrize(
    ("d", "roll", "share", "depth", "n_x"),
    [
        (0.05, 3.5310846, 0.1388889, 3.776290e-3, 0.407521),
        (0.10, 6.3560776, 0.2777778, 3.535783e-3, 0.426637),
        (0.15, 9.5252123, 0.4166667, 3.297187e-3, 0.447175),
    ],
)
@pytest.mark.parametrize("hand", [-1, 1])
def test_spec05_oracle_T14_pure_roll_makes_side_edges_meet(rings, d, roll, share, depth, n_x, hand):
    """Coaxial, gap d: edges meet at x = -d/2 and the tabulated roll, on three petals alike; the roll to 1e-6 deg."""
    for excess, count in ((-1e-6, 0), (1e-6, 3)):
        assert rings.place((-d, 0.0, 0.0), (0.0, 0.0, hand * radians(roll + excess))) == 0
        found = rings.contacts(EDGE_ON_EDGE)
        assert len(found) == count
    for item in found:
        assert item.position[0] == pytest.approx(-share * 0.18, abs=1e-6)
    assert rings.place((-d, 0.0, 0.0), (0.0, 0.0, hand * radians(roll + 0.5))) == 0
    found = rings.contacts(EDGE_ON_EDGE)
    assert len(found) == 3
    for item in found:
        assert item.penetration == pytest.approx(depth, abs=2e-9)
        assert item.normal[0] == pytest.approx(n_x, abs=2e-6)


def test_spec05_oracle_T13_hyperbola_and_chord(rings):
    """The chord of a side edge is up to 4.65 mm off the hyperbola in which the side face cuts the cone.

    The hyperbola is sampled at 20 001 generatrices and is where both faces' equations hold.
    """
    p = rings.u.parameters
    root, along = (np.array(v) for v in upper_edge(p.ring, p.petal, 0.0, 1.0))
    foot = root + along * (-root[0] / along[0])
    slope_root = 0.5 * cos(radians(30.5))
    slope = 0.18 / (slope_root - 0.32 * cos(radians(44.12)))
    largest = 0.0
    for u in np.linspace(p.petal.tip_half_width, p.petal.root_half_width, 20001):
        x = generatrix_end(p.ring, p.petal, float(u))
        point = np.array([x, (0.5 - x) * cos(u), (0.5 - x) * sin(u)])
        s = point @ radial(pi / 3.0)
        assert x == pytest.approx(slope * (slope_root - s), abs=1e-12)
        off = np.cross(point - foot, along) / np.linalg.norm(along)
        largest = max(largest, float(np.linalg.norm(off)))
    assert largest == pytest.approx(4.65e-3, abs=0.05e-3)
    assert generatrix_end(p.ring, p.petal, 0.1) == 0.18
    assert generatrix_end(p.ring, p.petal, float(p.petal.root_half_width)) == pytest.approx(0.0, abs=1e-12)


def coaxial(rings: Rings, d: float) -> int:
    return rings.place((-d, 0.0, 0.0))


def test_spec05_oracle_T16_ring_latches():
    """Contact from d = 13.284 mm, travel of a latch without inertia there to 3.000 mm, where it fires and is behind.

    At rest in 2000 steps of 10 ms the latch is where its spring balances the contact: (k + c^2 k_LS) x = ..., c = 1.
    """
    rings = Rings(**ELASTIC)
    start = 0.5 + sqrt(2.0) * 0.02 - 0.515
    assert start == pytest.approx(13.284e-3, abs=1e-6)
    assert coaxial(rings, start + 1e-9) == 0
    assert not rings.contacts(LATCH_FRONT)
    for d in (start - 1e-9, 0.010, 0.005, 0.0030001):
        for _ in range(2000):
            assert coaxial(rings, d) == 0
            rings.accept(1e-2)
        depth = (start - d) / sqrt(2.0)
        travel = max(0.0, (1e6 * depth - 60.0) / (1e6 + 4e3))
        for latch in rings.u.state.latch:
            assert latch.travel == pytest.approx(travel, abs=1e-12)
            assert latch.fired == 0.0
        found = rings.contacts(LATCH_FRONT)
        assert len(found) == 6
        for item in found:
            assert item.normal_force == pytest.approx(60.0 + 4e3 * travel if travel else 1e6 * depth, rel=1e-6)
    # 7.272 mm less what roller and face give under 89 N
    assert travel == pytest.approx(7.272e-3, abs=9e-5)
    assert not rings.contacts(LATCH_REAR)
    before = rings.output.stored_energy
    assert coaxial(rings, 0.0029999) == 0
    rings.accept(1e-4)
    assert list(rings.output.latched) == [1.0] * 6
    assert rings.output.dissipated_latches > 0.9 * before
    for d, depth in ((0.0029999, None), (0.0030001, 1e-7), (0.004, 1e-3)):
        assert coaxial(rings, d) == 0
        found = rings.contacts(LATCH_REAR)
        assert len(found) == (6 if depth else 0)
        for item in found:
            # Delta_B,L = Delta_C,L = d - (2 x_a - R_R - x_top), over sqrt(2)
            assert item.penetration == pytest.approx(depth / sqrt(2.0), abs=1e-12)
            assert item.normal[0] == pytest.approx(-sqrt(0.5), abs=1e-12)


def test_spec05_oracle_T27_pulled_ring_is_held_and_the_latches_are_not_pushed_in():
    rings = Rings(**ELASTIC)
    for d in np.linspace(0.02, 0.001, 2000):
        assert coaxial(rings, d) == 0
        rings.accept(1e-4)
    assert list(rings.output.latched) == [1.0] * 6
    assert rings.output.target.force[0] > 0.0
    assert coaxial(rings, 0.0035) == 0
    assert rings.output.target.force[0] < 0.0
    assert rings.output.link.force[0] > 0.0
    for item in rings.contacts(LATCH_REAR):
        along = rings.u.geometry.latch_along[int(item.index) - 1]
        assert np.dot(item.normal, along) == pytest.approx(0.0, abs=1e-15)


def test_implicit_step_of_a_latch():
    """m = 0.4, k = 4000, f_0 = 60, f_RL = 200, h = 1 ms from rest: v = 0.346534653, x = 3.46534653e-4.

    By contact-geometry 7.4.

    The force is given by a contact so soft that it does not change.
    """
    rings = Rings(**{**ELASTIC, "law_front.stiffness": 1e-3, "latch.preload": 0.0})
    # a spring that pulls is a force: -140 N
    rings.u.parameters.latch.preload = -140.0
    assert coaxial(rings, 0.013) == 0
    rings.accept(1e-3)
    for latch in rings.u.state.latch:
        assert latch.rate == pytest.approx(0.346534653, abs=1e-9)
        assert latch.travel == pytest.approx(3.46534653e-4, abs=1e-12)


def test_spec07_oracle_T24_capture_at_1_mm():
    """Mating sensors protrude 2 mm and switch at 1 mm; capture needs all three, the mechanical one latches too."""
    rings = Rings(**ELASTIC)
    assert coaxial(rings, 0.00201) == 0
    assert not rings.contacts(SENSOR_ON_PLANE)
    for d in np.linspace(0.014, 0.00101, 2000):
        assert coaxial(rings, d) == 0
        rings.accept(1e-4)
    assert list(rings.output.mated) == [0.0] * 3
    assert rings.output.capture == 0.0
    assert coaxial(rings, 0.00099) == 0
    assert list(rings.output.mated) == [1.0] * 3
    assert rings.output.capture == rings.output.capture_mechanical == 1.0
    tilted = (0.0, radians(0.2), 0.0)
    assert rings.place((-0.00099, 0.0, 0.0), tilted) == 0
    assert 0.0 < sum(rings.output.mated) < 3.0
    assert rings.output.capture == rings.output.capture_mechanical == 0.0
