"""Undocking from a station: the latches let go, the pushers part the units, the summary has how."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.dockfmu.command_line import run_system

pytestmark = pytest.mark.slow

MASSES = 20e3, 350e3


@pytest.fixture(scope="module")
def undock(tmp_path_factory):
    """Return a function that returns the run with settings, each made once."""
    return cache(lambda *settings: run_system(tmp_path_factory.mktemp("undocking"), "idss_undocking_20t", *settings))


def test_the_units_part_with_the_energy_of_the_pushers(undock):
    """1500 N from the gap at which the latches held to 20 mm, 25 J; the ring takes and gives back little: 2 %."""
    run = undock()
    results, t = run.results, run.results.time
    assert run.summary["outcome"] == "separated"
    assert run.summary["success"]
    held = results["mechanism.docking.plane_gap"][np.searchsorted(t, run.time("release") - 1e-6)]
    assert 0.0 < held < 5e-3, "play of the latches"
    energy = 1500.0 * (0.02 - held)
    mass = MASSES[0] * MASSES[1] / sum(MASSES)
    finals = {name: entry["value"] for name, entry in run.summary["finals"].items()}
    assert finals["separation_speed"] == pytest.approx(np.sqrt(2.0 * energy / mass), rel=0.02)
    assert finals["separation_speed"] == pytest.approx(-results["mechanism.docking.velocity[1]"][-1], rel=1e-6)


def test_unequal_pushers_tip_the_craft_off_without_a_touch(undock):
    """Two springs 5 % apart from the other two turn the craft, which also rocked within the play of the latches before.

    Their moment has the lever 0.05 x 2 x 0.60 m / 4 with the axial impulse; guide pins, which slide out of sockets
    over the same 30 mm, change the rate by about as much. Nothing touches once pushers and pins are free.
    """
    run = undock()
    results, t = run.results, run.results.time
    rates = np.column_stack([results[f"mechanism.docking.angular_velocity[{k}]"] for k in (2, 3)])
    before, after = rates[np.searchsorted(t, run.time("release") - 1e-6)], rates[-1]
    finals = {name: entry["value"] for name, entry in run.summary["finals"].items()}
    impulse = finals["separation_speed"] * MASSES[0] * MASSES[1] / sum(MASSES)
    expected = impulse * 0.05 * 2.0 * 0.60 / 4.0 / 190e3
    assert np.linalg.norm(after - before) < 3.0 * expected
    assert finals["tip_off_rate"] == pytest.approx(np.linalg.norm(after))
    assert finals["tip_off_rate"] < np.radians(0.05)
    assert finals["roll_rate"] < np.radians(0.01)
    free = t > run.time("release") + 1.0
    assert not results["mechanism.flag.contact"][free].any()
    assert results["mechanism.docking.plane_gap"][-1] >= 0.5
