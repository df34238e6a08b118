"""Margin of capture of the rings: the way of the mating sensor that lacks most, negative once all are pressed in."""

import numpy as np
import pytest

from components.contact import ring_pair
from tests.components.contact.ring_unit import ELASTIC, Rings


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


def test_the_sensor_that_lacks_most_counts(rings):
    """A ring that is pitched about z by a: the plunger at the azimuth of y lifts by the sine of a."""
    angle, radius = 0.02, rings.u.parameters.sensor.radius
    straight = margin(rings, (-0.01, 0.0, 0.0))
    lifted = [margin(rings, (-0.01, 0.0, 0.0), (0.0, turn, 0.0)) - straight for turn in (angle, -angle)]
    # sensors stand at azimuths of 90 deg and 30 deg below: of one sign the single one lifts, of the other the pair does
    sizes = sorted(gain / (radius * np.sin(angle)) for gain in lifted)
    assert sizes[0] > 0.4
    assert sizes[1] < 1.1


def test_a_ring_beside_the_plane_lacks_the_way_onto_it(rings):
    """Past the plane by far and aside: what the sensor lacks is across the axis, and it is not captured."""
    aside = margin(rings, (0.002, 0.0, 0.04))
    outer = rings.u.parameters.ring.outer_radius
    assert aside == pytest.approx(0.51 + 0.04 - outer + 1e-3, abs=5e-3)


def test_it_changes_nothing(rings):
    other = Rings(**ELASTIC)
    for x in np.linspace(-0.02, 0.0, 9):
        for unit in (rings, other):
            unit.place((x, 0.001, -0.002), (0.002, 0.001, 0.003))
        ring_pair.capture_margin(rings.u)
        assert rings.block.tobytes() == other.block.tobytes()
