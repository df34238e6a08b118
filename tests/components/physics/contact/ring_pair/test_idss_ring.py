"""Sets IDSS-ring and IDSS-latches: the dimensions of the standard that are public, and rings that fit each other."""

from __future__ import annotations

from math import pi, tan

import numpy as np
import pytest

from dockfmu.components.physics.contact import ring_pair
from tests.components.physics.contact.ring_pair.ring_unit import Rings

pytestmark = pytest.mark.quick

SETS = {chosen.name: chosen for chosen in ring_pair.PARAMETER_SETS}
PREFIX = "ring_pair.parameters."


def values(*names):
    """The values of sets, in order, without the prefix of the pair's parameters."""
    merged = {}
    for name in names:
        merged |= {path.removeprefix(PREFIX): value for path, value in SETS[name].values.items()}
    return merged


def idss():
    return Rings(**values("IDSS-ring", "IDSS-latches"))


def test_dimensions_of_the_standard():
    """Mating plane of 1200 mm; three petals, clear of a passage of 800 mm (public text, docs/theory/idss.md)."""
    p = idss().u.parameters
    assert 2.0 * p.ring.radius == pytest.approx(1.2)
    tips = p.ring.radius - p.petal.height * tan(p.petal.cone_angle)
    assert 2.0 * tips == pytest.approx(0.8)
    assert len(idss().u.geometry.petal) == 3
    assert p.ring.outer_radius - p.ring.radius < 0.03, "narrow ring"


def test_every_value_names_the_standard_or_is_assumed():
    for name in ("IDSS-ring", "IDSS-latches"):
        for path, source in SETS[name].sources.items():
            assert source.startswith(("IDSS IDD", "assumed")), f"{name}: {path}"


def test_six_petals_interleave_without_touching_when_the_rings_lie_on_each_other():
    """Androgynous: each petal of one ring stands in a gap of the other, all latches behind their stops."""
    rings = idss()
    assert rings.place((-1e-6, 0.0, 0.0)) == 0
    rings.accept(0.0)
    kinds = {item.pair for item in rings.contacts()}
    assert kinds <= {7.0}, "mating sensors only"
    assert all(rings.output.latched)
    assert rings.output.capture == 1.0


def test_rings_with_a_miss_and_tilt_of_the_standard_meet_on_petals():
    """0.10 m aside and 4 deg tilted the tips still fall inside the other ring: petals are what touches first.

    Approached along the axis the first contact lies between the tips' meeting and the ring plane, for every direction.
    """
    rings = idss()
    height = rings.u.parameters.petal.height
    for azimuth in np.linspace(0.0, 2.0 * pi, 5):
        for tilt in (0.0, pi / 2):
            a = np.radians(4.0)
            angles = (a * np.sin(azimuth + tilt), a * np.cos(azimuth + tilt), np.radians(4.0))
            miss = 0.10 * np.cos(azimuth), 0.10 * np.sin(azimuth)
            x = next(x for x in np.arange(-2.2 * height, 0.0, 4e-3) if touches(rings, x, miss, angles))
            assert -2.0 * height < x < -0.01
            assert {item.pair for item in rings.contacts()} <= {1.0, 2.0, 3.0}


def touches(rings, x, miss, angles):
    assert rings.place((x, *miss), angles) == 0
    return bool(rings.contacts())
