"""Contacts of conforming surfaces are spread (ruling R54); fired latches re-arm (ruling R53)."""

from __future__ import annotations

from math import radians, sqrt

import numpy as np
import pytest

from dockfmu.components.physics.contact.ring_pair.pairs import (
    LATCH_FRONT,
    LATCH_REAR,
    RIM_ON_ACTIVE_PETAL,
    RIM_ON_PASSIVE_PETAL,
)
from dockfmu.components.physics.mechanics.rotation import from_angles
from tests.components.physics.contact.ring_pair.ring_unit import ELASTIC, Rings

RIMS = (RIM_ON_ACTIVE_PETAL, RIM_ON_PASSIVE_PETAL)


def wrench(rings: Rings, position, angles) -> np.ndarray:
    assert rings.place(position, angles) == 0
    return np.concatenate([rings.output.target.force, rings.output.target.torque])


def test_ruling_R54_parallel_rings_load_each_other_along_the_axis():
    """Planes 1 mm through: six rims at 45 deg, 2.12 kN along the axis each; across less than 1e-12 of it.

    The forces act in the middle of the petals: their mean radius is that of the rim's points there.
    """
    rings = Rings(**ELASTIC)
    total = wrench(rings, (1e-3, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert np.abs(total[1:]).max() < 1e-12 * total[0]
    found = rings.contacts(*RIMS)
    assert len(found) == 6
    for item in found:
        assert item.normal_force == pytest.approx(1e7 * 1e-3 / sqrt(2.0) * item.gain, rel=1e-9)
        assert item.gain == pytest.approx(
            sqrt(0.5 + 0.5 * (4 + 5 * np.cos(sqrt(0.6) * radians(15.88))) ** 2 / 81), rel=1e-6
        )


@pytest.mark.parametrize("tilt", [1e-15, 1e-9, 1e-7])
def test_ruling_R54_what_is_below_the_accuracy_of_the_surfaces_does_not_show(tilt):
    """The wrench of rings that are parallel within rounding is that of parallel ones; it grows with the tilt.

    The deepest point alone would jump by 29.5 deg along each rim, and the force with it: kilonewtons across.
    """
    rings = Rings(**ELASTIC)
    total = wrench(rings, (1e-3, 0.0, 0.0), (0.7 * tilt, -tilt, 0.0))
    across = np.hypot(total[1], total[2])
    assert across < 1e-12 * total[0] + tilt * 1e6 * total[0]
    alone = Rings(**ELASTIC, **{"ring.conformity": 0.0})
    jumped = wrench(alone, (1e-3, 0.0, 0.0), (0.7 * tilt, -tilt, 0.0))
    if tilt > 1e-14:
        assert np.abs(jumped[4:]).max() > 100.0 * max(np.abs(total[4:]).max() * 1e-3, 1e-9)


@pytest.mark.parametrize("size", [1e-6, 1e-5, 1e-4, 1e-3])
def test_spec05_oracle_T21_the_spread_wrench_is_the_gradient_of_the_energy(size):
    """Around parallel rings, with misalignments from a tenth of the conformity to many times it; 1e-6 of the wrench."""
    rings = Rings(**ELASTIC, **{"latch.preload": 0.0, "law_front.stiffness": 0.0})
    rng = np.random.default_rng(11)
    for _ in range(12):
        p0 = np.array([8e-4, 0.0, 0.0]) + size * rng.normal(size=3) * [0.1, 1.0, 1.0]
        a0 = size * rng.normal(size=3)
        A0 = np.array(from_angles(*map(float, a0)))

        def energy(shift, turn, p0=p0, A0=A0):
            half = np.array([[0, turn[2], -turn[1]], [-turn[2], 0, turn[0]], [turn[1], -turn[0], 0]])
            # turned about PU axes through the centre of the ring, to second order
            B = A0 @ (np.eye(3) + half + 0.5 * half @ half)
            assert rings.place(p0 + shift, rotation=B) == 0
            return float(rings.output.stored_energy)

        force = rings.place(p0, rotation=A0) or np.array(rings.output.target.force)
        torque = np.array(rings.output.target.torque) - np.cross(p0, force)
        h = 2e-8
        for i in range(3):
            step = h * np.eye(3)[i]
            zero = np.zeros(3)
            slope = (energy(step, zero) - energy(-step, zero)) / (2 * h)
            assert slope == pytest.approx(force[i], abs=2e-5 * abs(force[0]))
            slope = (energy(zero, step) - energy(zero, -step)) / (2 * h)
            assert slope == pytest.approx(torque[i], abs=2e-5 * abs(force[0]))


def latched(rings: Rings) -> list[float]:
    return [float(x) for x in rings.output.latched]


def move(rings: Rings, *path) -> None:
    for x in np.concatenate(path):
        rings.place((x, 0.0, 0.0))
        rings.accept(1e-3)


def test_ruling_R53_a_latch_that_is_hooked_no_longer_re_arms():
    """Pushed in, the latches fire; drawn in and apart, they are ready again and yield like new ones.

    Between, the ring is moved out sideways past the stops, as it comes free in a rebound: no axial pull frees it.
    """
    rings = Rings(**{f"law_{law}.penetration_limit": 10.0 for law in ("rear", "front", "petal", "side", "plane")})
    approach = np.arange(-0.02, 0.0, 2e-4)
    move(rings, approach)
    assert latched(rings) == [1.0] * 6
    move(rings, np.arange(0.0, -0.0045, -2e-4))
    assert latched(rings) == [1.0] * 6, "held on the rear faces"
    assert len(rings.contacts(LATCH_REAR)) == 6
    rings.place((-0.1, 0.0, 0.0))
    rings.accept(1e-3)
    assert latched(rings) == [0.0] * 6
    resistance = []
    for x in approach:
        rings.place((x, 0.0, 0.0))
        rings.accept(1e-3)
        assert not rings.contacts(LATCH_REAR) or x > -0.0031
        resistance.append(sum(item.normal_force * item.normal[0] for item in rings.contacts(LATCH_FRONT)))
    assert latched(rings) == [1.0] * 6
    assert 200.0 < max(resistance) < 500.0, "the springs of six latches: 255 to 424 N"
