"""Margin of capture of the rings: the longest remaining travel of a mating sensor, negative once all are pressed in."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockfmu.components.physics.contact import ring_pair
from tests.components.physics.contact.ring_pair.ring_unit import ELASTIC, Rings


@pytest.fixture
def rings():
    return Rings(**ELASTIC)


def margin(rings, position, angles=(0.0, 0.0, 0.0)):
    rings.place(position, angles)
    return ring_pair.capture_margin(rings.u)


def test_along_the_axis_it_is_the_way_to_go(rings):
    """The plungers stand 2 mm over the ring plane and switch 1 mm deep: 1 mm before the planes meet."""
    for x in (-2.0, -0.3, -0.05, -0.0015, -0.0005, 0.0):
        assert margin(rings, (x, 0.0, 0.0)) == pytest.approx(-x - 1e-3, abs=1e-15)


def test_it_is_negative_exactly_where_all_sensors_are_pressed_in(rings):
    rng = np.random.default_rng(5)
    captured = 0
    for _ in range(500):
        position = np.array([rng.uniform(-4e-3, 1e-3), *rng.uniform(-3e-3, 3e-3, 2)])
        angles = rng.uniform(-3e-3, 3e-3, 3)
        found = margin(rings, position, angles)
        assert (found < 0.0) == (rings.output.capture == 1.0)
        captured += rings.output.capture
    assert 50 < captured < 450


@pytest.mark.parametrize("axis", [1, 2])
def test_the_sensor_with_the_longest_way_counts(rings, axis):
    """A ring turned by a lifts its plungers, at p, by the component of p across the axis times the sine of a."""
    plungers = np.array([list(p) for p in rings.u.geometry.plunger])
    for turn in (0.02, -0.02):
        turned = Rotation.from_rotvec(turn * np.eye(3)[axis])
        rings.place((-0.01, 0.0, 0.0), rotation=turned.as_matrix().T)
        way = max(1e-3 + 0.01 - turned.apply(plungers)[:, 0])
        assert ring_pair.capture_margin(rings.u) == pytest.approx(way, abs=1e-15)


def test_a_ring_beside_the_plane_lacks_the_way_onto_it(rings):
    """Past the plane and aside: the way of the plunger at z is across the axis, and the ring is not captured."""
    aside = margin(rings, (0.002, 0.0, 0.04))
    assert aside == pytest.approx(0.51 + 0.04 - 0.52 + 1e-3, abs=1e-15)


def test_it_changes_nothing(rings):
    other = Rings(**ELASTIC)
    for x in np.linspace(-0.02, 0.0, 9):
        for unit in (rings, other):
            unit.place((x, 0.001, -0.002), (0.002, 0.001, 0.003))
        ring_pair.capture_margin(rings.u)
        assert rings.block.tobytes() == other.block.tobytes()
