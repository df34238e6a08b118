"""Compare an oblique docking of two craft with that of one body against a fixed one, by the rule of the book.

Book, pages 288, 289: the rig has the central and the lateral reduced mass of both craft at the point of contact; not
all conditions hold at once, the error is at most 10 to 15 %. Here for an impact at x_1 and x_2 ahead of the centres of
mass, on the axis: mass m_e, and the inertia that x_1 has to have with it,

    1/m_e = 1/m_1 + 1/m_2,    x_1^2/I = x_1^2/I_1 + x_2^2/I_2

and the thrust that gives m_e the acceleration of the craft. The third condition, of the angle between the axes,
x_1/I = x_1/I_1 - x_2/I_2, cannot hold then: by the second one x_1/I is above x_1/I_1.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.validation.docking import changed

pytestmark = pytest.mark.slow

MASS, INERTIA, MECHANISM, THRUST = 6600.0, 3.2e4, 43.0, 500.0
HEAD = 0.895
"""Of the centre of the head ahead of the port, m."""
PORT, TARGET = 3.02, 3.5
"""Of the ports ahead of the centres of mass, m."""


def inside(miss: float) -> float:
    """Return how far the head is behind the docking plane of the target at first contact, m: the cone has 22 deg."""
    return 0.370 - (miss - 0.15) / np.tan(np.radians(22.0))


def rig(inertia: float) -> dict[str, Any]:
    """Return the settings of a rig with half the mass of each craft, and an inertia across its axis, kg m2."""
    across = inertia - MECHANISM * (PORT + 0.3) ** 2
    return {
        "chaser.parameters.mass": 0.5 * MASS - MECHANISM,
        "chaser.parameters.inertia": np.diag([0.2 * across, across, across]).tolist(),
        "chaser.parameters.push_thrust": 0.5 * THRUST,
        "station.parameters.mass": 1e12,
        "station.parameters.inertia": np.diag([1e12] * 3).tolist(),
    }


def equivalent(miss: float) -> dict[str, Any]:
    """Return the settings of the rig of the rule."""
    ahead, behind = PORT + HEAD, TARGET - inside(miss)
    return rig(ahead**2 * INERTIA / (ahead**2 + behind**2))


@cache
def docking(which: str, miss: float) -> dict[str, float]:
    """Return what a docking has until capture: forces (N), impulse of an impact (N s), times (s), angle (deg)."""
    values = {"two": {}, "rig": equivalent(miss), "half": rig(0.5 * INERTIA)}[which]
    run = changed("soyuz_1967", {**values, "initial_conditions.miss": [miss, 0.0]}).run(stop=2.5, every=1)
    force = np.linalg.norm([run[f"mechanism.target.force[{k}]"] for k in (1, 2, 3)], axis=0)
    apart = np.flatnonzero((force < 1.0) & (run.time > 0.1))[0]
    before = run.time < run.events["capture"]
    return {
        "time of capture": run.events["capture"],
        "time of impact": float(run.time[apart]),
        "impulse": float(force[:apart].sum() * 1e-3),
        "force": float(force[before].max()),
        "along the axis": float(np.array(run["mechanism.load.compression"])[before].max()),
        "angle": float(np.degrees(np.abs(run["mechanism.docking.angles[2]"]))[before].max()),
    }


def errors(which: str, miss: float) -> dict[str, float]:
    """Return by how much a rig is off, shares of what two craft have."""
    two, one = docking("two", miss), docking(which, miss)
    return {name: one[name] / two[name] - 1.0 for name in two}


@pytest.mark.parametrize(("miss", "share"), [(0.1, 0.15), (0.15, 0.15), (0.2, 0.17)])
def test_a_rig_of_the_central_and_lateral_reduced_mass_has_the_docking_of_two_craft(miss, share):
    """First impact and time of capture within 1.5 %. The force of the second impact, which the angle enters, is within
    the published 15 % but for the largest miss."""
    found = errors("rig", miss)
    assert abs(found["impulse"]) < 0.015
    assert abs(found["time of impact"]) < 0.015
    assert abs(found["time of capture"]) < 0.015
    assert abs(found["force"]) < share


def test_half_of_the_mass_and_inertia_has_another_lateral_reduced_mass():
    """The contact is not halfway between the centres of mass: the first impact has 13 % less impulse."""
    assert -0.16 < errors("half", 0.15)["impulse"] < -0.10


def test_the_angle_between_the_axes_is_not_that_of_two_craft():
    """Two craft turn in the same sense and stay parallel, the body of the rig turns alone: the force has another share
    along the axis, which differs by more than 15 %."""
    assert docking("rig", 0.15)["angle"] > 5.0 * docking("two", 0.15)["angle"]
    assert errors("rig", 0.15)["along the axis"] > 0.15
