"""The reference docking from first contact to the end of retraction: spec/06 sections 9.3 and 9.6."""

import numpy as np
import pytest
from command_line import run_system

pytestmark = pytest.mark.slow

PUSH = "mechanism.target.force_now[1]"
"""Axial force on the station: > 0 while the probe is pushed in, < 0 while the latches pull."""


def _first(time, condition, after=0.0):
    """The first time at or after `after` at which the condition holds."""
    return float(time[np.flatnonzero(condition & (time >= after))[0]])


def test_it_completes_with_its_events_in_order(atv):
    assert atv.summary["status"] == "completed"
    times = [
        atv.time(name)
        for name in ("first_contact", "capture", "docking_start", "lateral_brakes_on", "lateral_brakes_off", "drive_on")
    ]
    rollers = [atv.time(f"roller_contact_{k}") for k in (1, 2, 3)]
    assert times == sorted(times)
    assert times[-1] < min(rollers) < atv.time("end_of_retraction")
    assert atv.time("first_contact") <= atv.time("socket_bottom") <= atv.time("docking_start")


def test_spec06_oracle_14_momentum_is_conserved(atv):
    """Less the impulses of the thrusters; rounding of 4e5 steps on momenta of 1e3 N.s and lever arms of 20 m."""
    assert atv.summary["audit"]["linear_momentum_drift"] < 1e-11
    assert atv.summary["audit"]["angular_momentum_drift"] < 1e-9


def test_spec06_oracle_15_energy_balance_closes(atv):
    assert atv.summary["audit"]["energy_residual"] < 1e-3


def test_spec06_oracle_15_every_loss_grows(atv):
    """No device gives back what it has dissipated; rounding of sums of some 100 J over 4e5 steps."""
    for name in atv.results.variables:
        if ".audit.dissipated_" in name:
            lost = atv.results[name]
            assert np.diff(lost).min() > -1e-6, name


def test_spec06_oracle_19_docking_starts_3_s_after_first_contact(atv):
    assert 1.5 <= atv.time("docking_start") - atv.time("first_contact") <= 4.5


def test_spec06_oracle_19_first_latch_pulse_2_to_4_s_after_the_bottom(atv):
    t, force = atv.results.time, atv.results[PUSH]
    bottom = atv.time("socket_bottom")
    window = (t > bottom) & (t < bottom + 10.0)
    pulse = t[window][np.argmin(force[window])]
    assert force[window].min() < -1e3
    assert 2.0 <= pulse - bottom <= 4.0


def test_spec06_oracle_19_contact_is_lost_before_the_socket(atv):
    t, touching = atv.results.time, atv.results["mechanism.sensor.first_contact"].astype(bool)
    between = (t > atv.time("first_contact")) & (t < atv.time("socket_bottom"))
    assert not touching[between].all()


def test_spec06_oracle_20_recoil_is_weaker_than_resistance_at_equal_travel(atv):
    t, travel, force = atv.results.time, atv.results["mechanism.sensor.axial_travel"], atv.results[PUSH]
    start = atv.time("socket_bottom")
    turn = int(np.argmax(np.where(t < start + 5.0, travel, -1.0)))
    first = int(np.searchsorted(t, start))
    for share in (0.3, 0.5, 0.7):
        level = share * travel[turn]
        loading = force[first + int(np.argmax(travel[first:turn] >= level))]
        unloading = force[turn + int(np.argmax(travel[turn:] <= level))]
        assert 0.0 < unloading < loading


def test_spec06_oracle_20_second_bottom_hit_is_slower_and_weaker(atv):
    t, force, travel = atv.results.time, atv.results[PUSH], atv.results["mechanism.sensor.axial_travel"]
    first = (t >= atv.time("socket_bottom")) & (t < atv.time("socket_bottom") + 2.0)
    latch = float(t[first][-1]) + 2.0
    second = (t >= latch) & (t < latch + 3.0)
    assert 0.0 < force[second].max() < force[first].max()
    assert 0.0 < np.gradient(travel, t)[second].max() < np.gradient(travel, t)[first].max()


def test_spec06_oracle_20_the_latch_pulse_is_asymmetric(atv):
    """Hysteresis of the train: the fall from the peak differs from the rise to it by more than a tenth."""
    t, force = atv.results.time, atv.results[PUSH]
    bottom = atv.time("socket_bottom")
    window = np.flatnonzero((t > bottom + 1.0) & (t < bottom + 4.0))
    peak = window[np.argmin(force[window])]
    half = force[peak] / 2.0
    rise = t[peak] - _first(t, force < half, bottom + 1.0)
    fall = _first(t, force > half, t[peak]) - t[peak]
    assert abs(rise - fall) > 0.1 * (rise + fall) / 2.0


def test_spec06_oracle_21_commands_follow_the_cyclogram(atv):
    """To one macro step: a command acts in the step after the one in which its time passed."""
    start, step = atv.time("docking_start"), atv.summary["step"]
    assert atv.time("lateral_brakes_on") == pytest.approx(start + 2.0, abs=1.01 * step)
    assert atv.time("lateral_brakes_off") - atv.time("lateral_brakes_on") == pytest.approx(30.0, abs=1.01 * step)
    assert atv.time("drive_on") == pytest.approx(start + 35.0, abs=1.01 * step)


def test_spec06_oracle_23_rollers_touch_late_and_two_at_most(atv):
    touching = np.sum([atv.results[f"mechanism.flag.roller_contact[{k}]"] for k in (1, 2, 3)], axis=0)
    first = min(atv.time(f"roller_contact_{k}") for k in (1, 2, 3))
    assert first - atv.time("drive_on") > 180.0
    assert touching.max() in (1, 2)


def test_spec06_oracle_23_it_ends_within_5_to_7_minutes(atv):
    assert 300.0 <= atv.time("end_of_retraction") - atv.time("first_contact") <= 420.0


def test_a_run_from_its_ssp_is_the_same_run(atv, tmp_path):
    """`dockfmu run FILE.ssp` equals `dockfmu run SYSTEM`, byte for byte over the first seconds."""
    again = run_system(tmp_path, "build/ssp/atv_probe_cone.ssp", "--stop", 5, "--no-report")
    rows = len(again.results.time)
    for name in again.results.variables:
        assert np.array_equal(again.results[name], atv.results[name][:rows]), name


def test_the_folder_holds_what_was_promised(atv):
    for name in ("results.h5", "events.json", "summary.json", "report.html", "overview.png", "impact.png"):
        assert (atv.folder / name).stat().st_size > 0, name
    html = (atv.folder / "report.html").read_text(encoding="utf-8")
    assert "end of retraction" in html
    assert "<script src=" not in html
