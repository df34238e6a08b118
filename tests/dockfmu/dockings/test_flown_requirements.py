"""Requirements of the book: speed that turns a ring, and a stiff spring before a friction brake."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.validation.flown import alignment, spring
from benchmarks.validation.flown.capture import captures

pytestmark = pytest.mark.slow


def test_a_small_lift_of_the_ring_has_the_stiffness_of_its_shafts_with_a_free_centre():
    """Less than that of a held centre, whose shafts turn by 112.2 rad per rad of tilt."""
    lifted = alignment.lift()
    stiffness = float(lifted.energy.derivative(2)(0.0))
    assert float(lifted.damping(0.0)) == pytest.approx(stiffness, rel=2e-3)
    assert stiffness * alignment.RADIUS**2 < (0.16 + 0.27) * 112.2**2
    assert lifted.end == pytest.approx(alignment.RADIUS * np.sin(alignment.TILT), rel=0.03)


def test_the_least_speed_of_the_closed_form_is_that_of_its_integral():
    """Without damper and thrust m v^2 / 2 is the energy of the springs of the aligned ring."""
    mass = alignment.SOYUZ * alignment.APOLLO / (alignment.SOYUZ + alignment.APOLLO)
    energy = float(alignment.lift().energy(alignment.lift().end))
    assert alignment.closed_form(0.0, 0.0, 0.0) == pytest.approx(np.sqrt(2.0 * energy / mass), rel=5e-4)


@pytest.mark.parametrize("row", alignment.ROWS)
def test_spec13_1_6_a_real_ring_needs_the_speed_of_the_closed_form(row):
    """Within 1e-3 where the ring is reduced to what the form assumes."""
    needed, settings = alignment.closed_form(**row), alignment.reduced(**row)
    assert captures("apas_75_capture", 1.001 * needed, settings, 4.0)
    assert not captures("apas_75_capture", 0.999 * needed, settings, 4.0)


@pytest.mark.parametrize(("stiffness", "part"), [(1e6, 0.06), (2e5, 0.03)])
def test_a_stiff_spring_before_the_brake_keeps_the_dynamic_part_within_a_tenth(stiffness, part):
    """V2 as it is, and with a softer spring; without one it is more than half of what the brake holds."""
    assert spring.dynamic_part(spring.of(25.0, stiffness)) == pytest.approx(part, abs=0.01)
    assert spring.dynamic_part(spring.of(25.0, spring.RIGID)) > 0.5


def test_the_spring_does_not_help_where_the_parts_before_it_are_heavy():
    """100 kg turn between contact and spring: their own impact is more than the brake holds by two thirds."""
    assert spring.dynamic_part(spring.of(100.0, 2e5)) > 0.6


@pytest.mark.parametrize(
    ("before", "behind", "stiffness", "part"),
    [(170.0, 0.0, 0.0, 0.97), (148.0, 22.0, 2e5, 0.19), (100.0, 70.0, 5e4, 0.02)],
)
def test_a_spring_before_the_brake_of_a_ring_takes_most_of_the_dynamic_part(before, behind, stiffness, part):
    """APAS-75: within a tenth only where fewer parts are before the spring than the changed ratio tells."""
    assert spring.ring_dynamic_part(before, behind, stiffness) == pytest.approx(part, abs=0.02)
