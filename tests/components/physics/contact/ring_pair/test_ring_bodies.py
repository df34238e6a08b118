"""The pair of rings as a whole: symmetries, action and reaction, friction, limits, first contact."""

from __future__ import annotations

from math import nan, radians, sqrt

import numpy as np
import pytest

from dockfmu.components.physics.contact import ring_pair
from dockfmu.components.physics.contact.first_contact import (
    Misalignment,
    Mount,
    NoContactError,
    place,
    ring_penetration,
)
from dockfmu.components.physics.contact.ring_pair.pairs import (
    EDGE_ON_EDGE,
    PLANE_ON_PLANE,
    RIM_ON_ACTIVE_PETAL,
    RIM_ON_PASSIVE_PETAL,
)
from dockfmu.components.physics.mechanics.rotation import from_angles
from tests.components.physics.contact.ring_pair.ring_unit import ELASTIC, LAWS, RECORD, Rings

FLIP = np.diag([-1.0, 1.0, -1.0])
NO_LIMIT = {f"law_{law}.penetration_limit": 10.0 for law in LAWS}


def poses(count: int, seed: int):
    rng = np.random.default_rng(seed)
    for k in range(count):
        size = (1.0, 0.3, 0.05)[k % 3]
        position = np.array([-rng.uniform(-0.002, 0.12), *rng.uniform(-0.1, 0.1, 2) * size])
        yield position, np.array(from_angles(*map(float, np.radians(rng.uniform(-6.0, 6.0, 3)) * size))), rng


def wrench(rings: Rings, position, A, velocity=(0, 0, 0), turning=(0, 0, 0)) -> np.ndarray:
    """Force and torque on the passive unit, about the origin of PU."""
    assert rings.place(position, rotation=A, velocity=velocity, angular_velocity=turning) == 0
    return np.concatenate([rings.output.target.force, rings.output.target.torque])


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-9) -> bool:
    return bool(np.allclose(found, expected, atol=tolerance * np.abs(expected).max()))


def test_spec05_oracle_T21_a_third_of_a_turn():
    """Turning pose and motion about the axis by 120 deg turns the wrench: the rings have three petals alike."""
    rings = Rings(**NO_LIMIT)
    c, s = -0.5, sqrt(0.75)
    third = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    touched = 0
    for position, A, rng in poses(150, 1):
        v, w = rng.normal(size=3) * 0.05, rng.normal(size=3) * 0.02
        one = wrench(rings, position, A, v, w)
        turned = wrench(rings, third @ position, third @ A @ third.T, third @ v, third @ w)
        assert close(turned, np.concatenate([third @ one[:3], third @ one[3:]]))
        touched += np.abs(one).max() > 0.0
    assert touched > 50


def test_spec05_oracle_T21_mirror():
    """The plane y = 0 holds the middle of a petal of either ring: the mirrored scene has the mirrored wrench."""
    rings = Rings(**NO_LIMIT)
    mirror = np.diag([1.0, -1.0, 1.0])
    touched = 0
    for position, A, rng in poses(150, 2):
        v, w = rng.normal(size=3) * 0.05, rng.normal(size=3) * 0.02
        one = wrench(rings, position, A, v, w)
        other = wrench(rings, mirror @ position, mirror @ A @ mirror, mirror @ v, -mirror @ w)
        assert close(other, np.concatenate([mirror @ one[:3], -mirror @ one[3:]]))
        touched += np.abs(one).max() > 0.0
    assert touched > 50


def test_rings_change_places():
    """Androgynous: with the passive ring for the active one every rim and edge has the opposite force.

    The ring plane, latches and sensors are of the active ring alone: they are left out.
    """
    others = ("plane", "front", "rear", "sensor")
    none = {f"law_{law}.{name}": 0.0 for law in others for name in ("stiffness", "damping")}
    rings = Rings(**{**NO_LIMIT, **none})
    touched = 0
    for position, A, rng in poses(150, 3):
        v, w = rng.normal(size=3) * 0.05, rng.normal(size=3) * 0.02
        one = wrench(rings, position, A, v, w)
        depths = sorted(item.penetration for item in rings.contacts(1.0, 2.0, EDGE_ON_EDGE))
        # PU of the other scene stands where the active ring is, half a turn about its y; and all moves with it
        there = FLIP @ A
        relative = -(v + np.cross(w, -position))
        swapped = wrench(rings, -there @ position, FLIP @ A.T @ FLIP, there @ relative, -there @ w)
        assert np.allclose(sorted(i.penetration for i in rings.contacts(1.0, 2.0, EDGE_ON_EDGE)), depths, atol=1e-12)
        torque = one[3:] - np.cross(position, one[:3])
        assert close(swapped, -np.concatenate([there @ one[:3], there @ torque]), 1e-7)
        touched += len(depths) > 0
    assert touched > 50


def test_spec05_oracle_T17_forces_and_moments_balance():
    """With damping, friction, latches on the move and fired: sums vanish about one point, at every accepted step."""
    rings = Rings(**NO_LIMIT)
    for position, A, rng in poses(200, 4):
        wrench(rings, position, A, rng.normal(size=3) * 0.05, rng.normal(size=3) * 0.02)
        rings.accept(1e-3)
        out = rings.output
        force, torque = A.T @ out.link.force, A.T @ out.link.torque
        size = max(np.abs(force).max(), 1e-9)
        assert np.allclose(out.target.force, -force, atol=1e-11 * size)
        assert np.allclose(out.target.torque + torque + np.cross(position, force), 0.0, atol=1e-11 * size)


def test_spec05_oracle_T18_friction_takes_power_and_never_exceeds_its_cone():
    with_friction, without = Rings(**NO_LIMIT), Rings(**NO_LIMIT, **{f"law_{law}.friction": 0.0 for law in LAWS})
    taken = 0
    for position, A, rng in poses(150, 5):
        v, w = rng.normal(size=3) * 0.05, rng.normal(size=3) * 0.02
        rub = wrench(with_friction, position, A, v, w) - wrench(without, position, A, v, w)
        # on the passive unit along the sliding of the ring; the same loads the ring, which loses that power
        power = rub[:3] @ (v - np.cross(w, position)) + rub[3:] @ w
        assert power >= -1e-9
        taken += power > 0.0
        for item in with_friction.contacts():
            assert item.friction_force <= 0.1 * item.normal_force * (1.0 + 1e-12)
            assert item.normal_force >= 0.0
    assert taken > 50


@pytest.mark.slow
def test_quick_tests_agree_with_the_full_ones():
    """A pair that is left early touches nowhere: moved in from afar no contact begins deeper than a step of the way."""
    rings = Rings(**{**ELASTIC, "latch.preload": 0.0, "law_front.stiffness": 0.0})
    for start, A, _ in poses(60, 6):
        before = 0.0
        for x in np.arange(-0.6, 0.0, 2e-4):
            rings.place((x, start[1], start[2]), rotation=A)
            if rings.u.status.code or rings.output.stored_energy > 0.2:
                break
            deepest = max((item.penetration for item in rings.contacts()), default=0.0)
            assert deepest - before <= 2.01e-4
            before = deepest


def test_limits_name_pair_and_place():
    def message(rings: Rings, code: int) -> str:
        return ring_pair.MESSAGES[code].text

    rings = Rings()
    assert rings.place((-0.02, 0.0, 0.03)) == ring_pair.PENETRATION + RIM_ON_ACTIVE_PETAL
    assert (rings.u.status.value, rings.u.status.index) == (pytest.approx(0.01 / sqrt(2.0)), 1.0)
    assert "passive rim on active petal" in message(rings, int(rings.u.status.code))
    assert rings.place((-0.1, 0.0, 0.0), (0.0, 0.0, radians(10.0))) == ring_pair.PENETRATION + EDGE_ON_EDGE
    assert rings.place((0.006, 0.0, 0.0)) in {
        ring_pair.PENETRATION + p for p in (RIM_ON_ACTIVE_PETAL, RIM_ON_PASSIVE_PETAL, PLANE_ON_PLANE)
    }
    for pose, index in (
        (((-0.1, 0.0, 0.0), (0.6, 0.0, 0.0)), 1),
        (((-0.1, 0.0, 0.0), (0.0, 0.0, 0.6)), 2),
        (((-0.1, 0.3, 0.0), (0.0, 0.0, 0.0)), 3),
        (((0.2, 0.0, 0.0), (0.0, 0.0, 0.0)), 4),
    ):
        assert rings.place(*pose) == ring_pair.OUT_OF_RANGE
        assert rings.u.status.index == index
    assert rings.place((-1.0, 3.0, 0.0), (2.0, 0.0, 3.0)) == 0
    assert rings.place((nan, 0.0, 0.0)) == ring_pair.NOT_FINITE


@pytest.mark.parametrize(
    "wrong",
    [
        {"petal.height": 0.51},
        {"petal.tip_half_width": 0.52},
        {"petal.root_half_width": 0.53},
        {"petal.lower_radius": 0.51},
        {"ring.outer_radius": 0.49},
        {"plane.radius": 0.53},
        {"stop.inner_radius": 0.6},
    ],
)
def test_what_is_no_ring_is_refused(wrong):
    block = RECORD.start.copy()
    for name, value in wrong.items():
        block[RECORD.index[f"ring_pair.parameters.{name}"]] = value
    unit = RECORD.view(block).ring_pair
    assert ring_pair.initialize(unit) == ring_pair.GEOMETRY


def test_spec05_a13_first_contact_of_the_rings():
    """Centred: the latches meet the stops at a gap of 13.284 mm. Rolled by 6.3560776 deg: side edges at 0.1 m."""
    rings = Rings()
    penetration = ring_penetration(rings.u, (0.4, 0.0, 0.0))
    mount = Mount(np.zeros(3))
    found = place(penetration, Misalignment(), mount, mount, (0.4, 0.0, 0.0))
    assert found.position[0] == pytest.approx(-0.4 - 13.284e-3, abs=2e-6)
    assert 0.0 < found.penetration <= 1e-6
    rolled = Misalignment(angles=(0.0, 0.0, radians(6.3560776)))
    found = place(penetration, rolled, mount, mount, (0.4, 0.0, 0.0))
    assert found.position[0] == pytest.approx(-0.5, abs=2e-5)
    with pytest.raises(NoContactError):
        place(penetration, Misalignment(miss=(3.0, 0.0)), mount, mount, (0.4, 0.0, 0.0))


def test_latches_rest_where_their_springs_balance_at_the_start():
    rings = Rings(**ELASTIC)
    assert rings.place((-0.008, 0.0, 0.0)) == 0
    rings.accept(0.0)
    start = rings.output.stored_energy
    for _ in range(100):
        assert rings.place((-0.008, 0.0, 0.0)) == 0
        rings.accept(1e-4)
    assert rings.output.stored_energy == pytest.approx(start, rel=1e-9)
    assert rings.output.dissipated_latches == pytest.approx(0.0, abs=1e-12)
    assert rings.place((-0.001, 0.0, 0.0)) == 0
    rings.accept(0.0)
    assert list(rings.output.latched) == [1.0] * 6


def test_implicit_latches_only_lose_energy():
    """At rings that rest, fast latches and long steps, contact made and lost within one: never a gain."""
    rings = Rings(**ELASTIC)
    rng = np.random.default_rng(7)
    for _ in range(600):
        pose = (-rng.uniform(0.0031, 0.02), *rng.uniform(-1e-3, 1e-3, 2))
        assert rings.place(pose) == 0
        rings.accept(1e-4)
        for _ in range(5):
            before = rings.output.dissipated_latches
            assert rings.place(pose) == 0
            rings.accept(float(rng.choice([1e-5, 1e-4, 1e-3, 1e-2])))
            assert rings.output.dissipated_latches >= before - 1e-9
