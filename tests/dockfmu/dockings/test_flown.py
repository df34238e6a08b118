"""Flights and tests of real docking devices as named systems, as far as their sources go (docs/validation/flown.md).

What does not come out as published has a test, too, so that the page stays true.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dockfmu

pytestmark = pytest.mark.slow


@cache
def flown(system: str) -> dockfmu.Outcome:
    return dockfmu.System.load(system).run()


def absorbed(run: dockfmu.Outcome) -> float:
    """Return the energy that the mechanism has taken from the start to the end, J."""
    histories = [run[f"mechanism.audit.{name}_energy"] for name in ("dissipated", "stored", "kinetic")]
    return sum(float(history[-1] - history[0]) for history in histories)


def tilt(run: dockfmu.Outcome) -> float:
    """Return the largest angle between the docking axes after capture, deg, to first order."""
    yaw, pitch = (np.array(run[f"mechanism.docking.angles[{i}]"]) for i in (1, 2))
    return float(np.degrees(np.hypot(yaw, pitch))[run.time > run.events["capture"]].max())


def shear(run: dockfmu.Outcome) -> float:
    """Return the largest force across the axis after capture, N."""
    return float(np.array(run["mechanism.load.shear"])[run.time > run.events["capture"]].max())


def test_atv_1_absorbs_the_published_energy():
    """1/2 m_e v^2 = 43.5 J of 19 t, 275 t, 0.07 m/s, within 2 %, and capture."""
    run = flown("atv_1")
    assert run.outcome == "captured"
    assert absorbed(run) == pytest.approx(0.5 * 19e3 * 275e3 / 294e3 * 0.07**2, rel=0.02)


def test_soyuz_10_loads_exceed_what_its_levers_were_made_for():
    """More than 785 N with the control left on. At 0.25 m/s with the control off the force is below the 1569 N of after
    the rework, which is for 0.2 m/s."""
    assert shear(flown("soyuz_10")) > 785.0
    assert shear(flown("soyuz_10_control_off")) < 1569.0


def test_the_swing_of_soyuz_10_is_not_reproduced():
    """20 to 40 deg in the flight: an attitude control that works as it should quiets the craft, and the limiter of our
    mechanism holds it at 9 deg without one."""
    on, off = tilt(flown("soyuz_10")), tilt(flown("soyuz_10_control_off"))
    assert on < off < 10.0


def test_apas_75_dampers_make_more_of_the_peak_than_inertia():
    """Both changes are published to take about 40 %, inertia alone some 9 % by estimate. Here they take 21 and 2 %."""
    peaks = {
        name: float(np.array(flown(f"apas_75_impact{name}")["mechanism.load.compression"]).max())
        for name in ("", "_lighter", "_undamped", "_changed")
    }
    fall = {name: 1.0 - peak / peaks[""] for name, peak in peaks.items()}
    assert 0.0 < fall["_lighter"] < 0.09
    assert fall["_lighter"] < fall["_undamped"] < fall["_changed"] < 0.4


def test_spec13_1_10_a_trolley_of_the_reduced_mass_has_the_impact_of_two_craft():
    """The central impact of 20 t on 400 t, and of their reduced mass on a craft at rest: force and travel."""
    reduced = 20e3 * 400e3 / 420e3
    rig = {"chaser.parameters.mass": reduced - 43.0, "station.parameters.mass": 1e12}
    two, one = (dockfmu.System.load("central_impact_20t", values).run(stop=1.5) for values in ({}, rig))
    for name in ("mechanism.load.compression", "mechanism.sensor.axial_travel"):
        assert np.array(one[name]).max() == pytest.approx(np.array(two[name]).max(), rel=1e-3)
