"""A unit beside its partner touches nothing: planes and profiles end at their discs (ruling R57)."""

from __future__ import annotations

import numpy as np
import pytest

from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import profile
from tests.components.physics.contact.airlock_pair.airlock_unit import Head
from tests.components.physics.contact.radiator_pair.test_radiator_pair import ELASTIC, Radiator

# RefCone25 of ruling R35: flange of 0.5 m, cone, socket
X, R = (0.0, 0.0, 0.55, 0.64), (0.5, 0.303469, 0.047, 0.047)
BEHIND = (-0.02, 0.001, 0.03, 0.4, 3.0)


@pytest.fixture(scope="module")
def cone():
    m = Record(Group("test", profile.faces(6))).memory().test
    assert profile.build(np.array(X), np.array(R), 4, m.face)
    return m.face


@pytest.mark.parametrize("x", BEHIND)
@pytest.mark.parametrize("aside", [0.501, 0.7, 7.0])
def test_ruling_R57_a_sphere_beside_the_disc_has_no_contact(cone, x, aside):
    for azimuth in (0.0, 2.0):
        centre = (x, aside * np.cos(azimuth), aside * np.sin(azimuth))
        assert profile.sphere_profile(cone, 3, centre, 0.0)[0] <= 0.0
        assert profile.sphere_profile(cone, 3, centre, 0.045)[0] <= 0.0


def test_ruling_R57_within_the_disc_nothing_changes(cone):
    """On the flange up to its rim, the depth is that of its plane; in the socket that of its wall."""
    for r in (0.31, 0.4, 0.4999):
        assert profile.depth(cone, 3, 0.002, r, 0.01)[0] == pytest.approx(0.002, abs=1e-12)
        assert profile.sphere_profile(cone, 3, (-0.040, 0.0, r), 0.045)[0] == pytest.approx(0.005, abs=1e-12)
    assert profile.sphere_profile(cone, 3, (0.60, 0.007, 0.0), 0.045)[0] == pytest.approx(0.005, abs=1e-12)


@pytest.mark.parametrize("x", BEHIND)
def test_ruling_R57_a_segment_beside_the_disc_has_no_contact(cone, x):
    for y in (0.501, 7.0):
        assert profile.segment_profile(cone, 3, (x, y, -0.1), (0.05, 0.02, 0.1))[0] <= 0.0
        assert profile.segment_profile(cone, 3, (x, y, 0.0), (0.1, 0.0, 0.0))[0] <= 0.0


def test_ruling_R57_a_segment_across_the_rim_bears_only_within_it(cone):
    """It dips deepest at the end beyond the rim; what counts is its depth at the rim, r = 0.5 m."""
    depth, t, _, _ = profile.segment_depth(cone, 3, (-0.01, 0.4, 0.0), (0.02, 0.2, 0.0))
    assert t == pytest.approx(0.5, abs=1e-12)
    assert depth == pytest.approx(0.0, abs=1e-12)
    depth, t, _, _ = profile.segment_depth(cone, 3, (-0.01, 0.4, 0.0), (0.04, 0.2, 0.0))
    assert t == pytest.approx(0.5, abs=1e-12)
    assert depth == pytest.approx(0.01, abs=1e-12)


def test_ruling_R57_an_open_profile_ends_behind_its_bore():
    """A bore has no wall beyond its end, and nothing behind the body."""
    m = Record(Group("test", profile.faces(3))).memory().test
    assert profile.build(np.array([0.0, 0.0, 0.0135, 0.08]), np.array([0.15, 0.030, 0.0165, 0.0165]), 4, m.face)
    assert profile.sphere_profile(m.face, 3, (0.07, 0.010, 0.0), 0.010)[0] == pytest.approx(0.0035, abs=1e-12)
    for centre in ((0.09, 0.010, 0.0), (5.0, 0.10, 0.0), (0.09, 0.030, 0.0)):
        assert profile.sphere_profile(m.face, 3, centre, 0.010)[0] <= 0.0


ASIDE = [(y, z) for y, z in ((7.0, 0.0), (0.0, -7.0), (0.5, 0.5))]


@pytest.mark.parametrize("aside", ASIDE)
@pytest.mark.parametrize("x", [-0.05, 0.0, 0.06, 0.5, 5.0])
def test_ruling_R57_the_radiator_beside_its_berth_touches_nothing(x, aside):
    """Pins, plug, planes and ball: also tilted beyond the limit of the model, and nothing is captured."""
    for angles in ((0.0, 0.0, 0.0), (0.3, -0.2, 1.0)):
        radiator = Radiator(**{name: value for name, value in ELASTIC.items() if "limit" not in name})
        assert radiator.place((x, *aside), angles) == 0
        assert radiator.contacts() == []
        assert np.abs(radiator.u.work.sums.passive.force).max() == 0.0


def test_ruling_R57_the_ball_meets_only_a_plug_in_its_bore():
    radiator = Radiator(**ELASTIC)
    radiator.place((0.05, 0.10, 0.0))
    from dockfmu.components.physics.contact import radiator_pair

    radiator_pair.accept(radiator.u)
    assert radiator.u.state.captured == 0.0


def test_the_points_of_the_active_plane_must_lie_on_the_passive_one():
    from dockfmu.components.physics.contact import radiator_pair

    radiator = Radiator()
    radiator.u.parameters.plane.radius = 0.3
    assert radiator_pair.initialize(radiator.u) == 100
    assert radiator.u.status.index == 5


@pytest.mark.parametrize("aside", ASIDE)
@pytest.mark.parametrize("x", [-0.10, 0.0, 0.05, 0.3, 5.0])
def test_ruling_R57_the_head_beside_its_cone_touches_nothing(x, aside):
    """Spheres, cones, wall, bottom and latches; a head that is tilted there is outside no domain."""
    for angles in ((0.0, 0.0, 0.0), (0.4, 0.3, 0.1)):
        head = Head()
        assert head.place((x, *aside), angles) == 0
        assert head.contacts() == []
        assert np.abs(head.wrench).max() == 0.0
