"""Undocking of rings and probes: the latches let go, the pushers part the units, the summary has how."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dockfmu
from tests.dockfmu.command_line import run_system

pytestmark = pytest.mark.slow

MASSES = 20e3, 350e3


@pytest.fixture(scope="module")
def undock(tmp_path_factory):
    """Return a function that returns the run with settings, each made once."""
    system = ("idss_undocking_20t", "--no-report")
    return cache(lambda *settings: run_system(tmp_path_factory.mktemp("undocking"), *system, *settings))


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


def turned(run):
    """Return the rates of pitch and yaw before the release and at the end, and what unequal pushers alone would give.

    The springs of one side are 5 % stronger: their moment has the lever 0.05 x 2 x 0.60 m / 4 with the axial impulse.
    """
    results, t = run.results, run.results.time
    rates = np.column_stack([results[f"mechanism.docking.angular_velocity[{k}]"] for k in (2, 3)])
    speed = run.summary["finals"]["separation_speed"]["value"]
    impulse = speed * MASSES[0] * MASSES[1] / sum(MASSES)
    before = rates[np.searchsorted(t, run.time("release") - 1e-6)]
    return before, rates[-1], impulse * 0.05 * 2.0 * 0.60 / 4.0 / 190e3


def test_unequal_pushers_tip_the_craft_off(undock):
    """Without guide pins: within a third, as each spring acts over a way that differs with the tilt within the play."""
    before, after, expected = turned(undock("--set", "mechanism.parameters.guide_pins.pin_radius=0 m"))
    assert np.linalg.norm(after - before) == pytest.approx(expected, rel=1.0 / 3.0)


def test_the_craft_part_without_a_touch(undock):
    """They also rock within the play of latches and pins before the release.

    Guide pins, which slide out of their sockets over 30 mm, change the rate by up to three times as much as the
    pushers do (0.8 to 2.4 times for pins of 18 and 20 mm, laws of 1 and 5 MN/m). Nothing touches once pushers and pins
    are free.
    """
    run = undock()
    results, t = run.results, run.results.time
    finals = {name: entry["value"] for name, entry in run.summary["finals"].items()}
    before, after, expected = turned(run)
    assert np.linalg.norm(after - before) < 4.0 * expected
    assert finals["tip_off_rate"] == pytest.approx(np.linalg.norm(after))
    assert finals["tip_off_rate"] < np.radians(0.05)
    assert finals["roll_rate"] < np.radians(0.05)
    roll = results["mechanism.docking.angular_velocity[1]"]
    rocked = roll[np.searchsorted(t, run.time("release") - 1e-6)]
    assert abs(roll[-1] - rocked) < np.radians(0.01), "release, pushers and pins turn the craft by little"
    free = t > run.time("release") + 1.0
    assert not results["mechanism.flag.contact"][free].any()
    assert results["mechanism.docking.plane_gap"][-1] >= 0.5


def test_equal_pushers_pass_the_audit(undock):
    """They exchange no angular momentum, to which its errors could be relative."""
    run = undock("--set", "mechanism.parameters.pushers.relative_force=1,1,1,1")
    assert run.summary["outcome"] == "separated"
    assert [name for name, check in run.summary["audit_checks"].items() if check["ok"] is not True] == []


PROBE_MASSES = 7e3, 400e3
REDUCED = PROBE_MASSES[0] * PROBE_MASSES[1] / sum(PROBE_MASSES)


def energy_of_pushers(gap):
    """Return that of four, each 100 N and 10 N/mm over 25 mm (PU-1), from a gap on; 0.95 and 1.05 cancel."""
    left = 0.025 - gap
    return 4.0 * (100.0 * left + 0.5 * 1e4 * left**2)


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    return run_system(tmp_path_factory.mktemp("undocking"), "soyuz_undocking", "--no-report")


def test_a_probe_is_held_by_its_latches_until_they_are_withdrawn(probe):
    """Pushers part the planes to 10 mm and the stretch of the gear train; then nothing moves until the release."""
    results, t = probe.results, probe.results.time
    assert probe.summary["outcome"] == "separated"
    assert probe.summary["success"]
    still = (t > 7.0) & (t < probe.time("release"))
    gap = results["mechanism.docking.plane_gap"]
    pull = 4.0 * (100.0 + 1e4 * (0.025 - gap[still].mean()))
    assert gap[still].mean() == pytest.approx(0.010 + pull / 1e6, abs=0.2e-3)
    assert np.ptp(gap[still]) < 0.05e-3
    assert results["mechanism.sensor.capture"][still].all()
    assert not results["mechanism.sensor.capture"][t > probe.time("latches_in") + 0.01].any()


def test_a_probe_parts_with_the_energy_of_the_pushers(probe):
    """From the gap at which the latches held, with the energy of the stretched train, of which the screw keeps some."""
    results, t = probe.results, probe.results.time
    held = results["mechanism.docking.plane_gap"][np.searchsorted(t, probe.time("release") - 1e-6)]
    finals = {name: entry["value"] for name, entry in probe.summary["finals"].items()}
    assert finals["separation_speed"] == pytest.approx(np.sqrt(2.0 * energy_of_pushers(held) / REDUCED), rel=0.01)
    assert finals["separation_speed"] == pytest.approx(-results["mechanism.docking.velocity[1]"][-1], rel=1e-6)
    assert finals["tip_off_rate"] < np.radians(0.02)
    assert finals["roll_rate"] < np.radians(0.001)
    free = t > probe.time("pushers_free") + 2.0
    contacts = ["limiter_contact", "plane_contact", *(f"roller_contact[{k}]" for k in (1, 2, 3))]
    assert not any(results[f"mechanism.flag.{name}"][free].any() for name in contacts)
    assert results["mechanism.docking.plane_gap"][-1] >= 0.85


def test_latches_that_are_withdrawn_before_the_hooks_open_leave_all_the_energy():
    """No hold in the latches: the pushers work from the planes on."""
    done = dockfmu.load("soyuz_undocking", {"cyclogram.parameters.undocking_delay": 0.0}).run(check=False)
    assert done.outcome == "separated"
    speed = float(done["cyclogram.separation.speed"][-1])
    assert speed == pytest.approx(np.sqrt(2.0 * energy_of_pushers(0.0) / REDUCED), rel=0.01)


def test_undocking_follows_the_docking_of_v2_in_one_run():
    """The head in its play, a tilted craft and FrB1: still the pushers' energy from the gap of the docking on."""
    done = dockfmu.load("soyuz_probe_cone_v2", {"cyclogram.parameters.undocking_delay": 10.0}).run(
        record=["cyclogram.separation.speed", "mechanism.docking.plane_gap"], every=10
    )
    assert done.outcome == "separated"
    docked = float(done["mechanism.docking.plane_gap"][np.searchsorted(done.time, done.events["end_of_retraction"])])
    speed = float(done["cyclogram.separation.speed"][-1])
    assert speed == pytest.approx(np.sqrt(2.0 * energy_of_pushers(docked) / REDUCED), rel=0.05)
