"""Whole dockings with a fault, each a named system, end as their declarations say (central-docking oracle 27)."""

from __future__ import annotations

import numpy as np
import pytest

from dockfmu.components.probe_cyclogram.ports import PHASE
from dockfmu.declare import declaration
from tests.dockfmu.command_line import Run, run_system

pytestmark = pytest.mark.slow

OUTCOMES = {
    "atv_attitude_control": "docked",
    "atv_attitude_left_on": "docked",
    "atv_dead_lateral_brakes": "docked",
    "atv_hatch_cover": "docked",
    "atv_late_capture": "retreated",
    "atv_missing_first_contact": "docked",
    "atv_missing_latch": "retreated",
    "atv_missing_socket_bottom": "timed_out",
    "atv_no_capture": "retreated",
    "atv_no_push": "docked",
    "atv_one_motor": "docked",
    "atv_probe_cone": "docked",
    "atv_stuck_brake": "docked",
    "atv_stuck_capture": "docked",
    "soyuz_near_maxima": "docked",
}
SETTINGS = {"both motors": ("atv_one_motor", "cyclogram.parameters.fault.motor=1,1")}
"""Name of a run that is no system of its own -> system, setting."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that returns the run of a system, each made once."""
    made: dict[str, Run] = {}

    def find(name: str) -> Run:
        if name not in made:
            folder = tmp_path_factory.mktemp("fault")
            system, *settings = SETTINGS.get(name, (name,))
            words = [word for setting in settings for word in ("--set", setting)]
            # a system with settings of its own may end in an outcome that it does not declare
            statuses = (0, 3) if name in SETTINGS else (0,)
            made[name] = run_system(folder, system, "--adaptive", *words, "--no-report", statuses=statuses)
        return made[name]

    return find


def end(found: Run) -> dict:
    """Return the state of the sequence at the end of the run."""
    last = {name: float(found.results[f"cyclogram.{name}"][-1]) for name in ("finished", "overdue")}
    phase = next(name for name, code in PHASE.codes.items() if code == found.results["cyclogram.phase"][-1])
    volts = max(abs(float(found.results[f"cyclogram.command.motor_voltage[{s}]"][-1])) for s in (1, 2))
    return {"phase": phase, **last, "motors": volts, "push": float(found.results["cyclogram.command.push"][-1])}


DONE = {"phase": "END", "finished": 1.0, "overdue": 0.0, "motors": 0.0, "push": 0.0}
WAITING = {"phase": "RETRACT", "finished": 0.0, "overdue": 1.0, "motors": 0.0, "push": 0.0}


@pytest.mark.parametrize("name", OUTCOMES)
def test_spec06_oracle_27_a_named_system_ends_as_it_declares(run, name):
    """The outcome is the declared success, all devices are off, and the balances close."""
    found = run(name)
    assert found.summary["outcome"] == OUTCOMES[name]
    assert declaration.read(name).plan.outcome.success == (OUTCOMES[name],)
    assert end(found) == ({**WAITING, "phase": "CAPTURED"} if OUTCOMES[name] == "timed_out" else DONE)
    assert found.summary["audit"]["energy_residual"] < 5e-3
    assert found.summary["audit"]["linear_momentum_drift"] < 1e-9


@pytest.mark.parametrize("name", [name for name, outcome in OUTCOMES.items() if outcome == "docked"])
def test_spec06_oracle_27_what_docks_is_captured_10_mm_apart(run, name):
    found = run(name)
    assert found.results["mechanism.docking.plane_gap"][-1] == pytest.approx(0.010, abs=1e-4)
    assert found.results["mechanism.sensor.capture"][-1] == 1.0
    slow = 2.0 if name == "atv_one_motor" else 1.0
    assert 300.0 * slow - 60.0 < found.summary["t_end"] < 420.0 * slow


@pytest.mark.parametrize(("name", "speed"), [("atv_one_motor", 0.5), ("both motors", 0.0)])
def test_spec06_oracle_27_dead_motors_retract_slowly_or_not_until_the_time_limit(run, name, speed):
    """The differential halves the speed of one motor, which the time limit allows for; without any it waits."""
    found, whole = run(name), run("atv_probe_cone")
    assert end(found) == (DONE if speed else WAITING)
    assert found.results["mechanism.sensor.capture"][-1] == 1.0
    on = found.time("docking_start") + 35.0
    t = found.results.time
    if speed:
        assert found.summary["outcome"] == "docked"
        assert 450.0 < found.summary["t_end"] - on < 900.0
    else:
        overdue = t[np.argmax(found.results["cyclogram.overdue"] > 0.0)]
        assert overdue == pytest.approx(on + 450.0, abs=0.1)

    def travelled(which):
        """Return the travel of the drive over 100 s from 50 s after drive-on."""
        begin = which.time("docking_start") + 85.0
        angle = np.interp([begin, begin + 100.0], which.results.time, which.results["mechanism.drive.angle"])
        return angle[1] - angle[0]

    # the load on the drive is small beside its stall torque, and half of it on the other motor's speed
    assert travelled(found) == pytest.approx(speed * travelled(whole), rel=0.03, abs=1e-9)


@pytest.mark.parametrize("name", ["atv_no_capture", "atv_missing_latch"])
def test_spec06_oracle_27_without_capture_the_craft_departs(run, name):
    """Thrusters reverse and latches withdraw after 10 s; the run ends 10 s later."""
    found = run(name)
    assert found.results["cyclogram.event.capture"][-1] == -1.0
    first = found.results["cyclogram.event.first_contact"][-1]
    assert found.results["cyclogram.event.end"][-1] == pytest.approx(first + 20.0, abs=0.02)
    assert found.results["chaser.body.velocity[1]"][-1] < -0.1
    assert found.results["mechanism.docking.plane_gap"][-1] > found.results["mechanism.docking.plane_gap"].min() + 0.5


def test_spec06_oracle_27_three_latches_hold_until_they_are_withdrawn(run):
    results = run("atv_missing_latch").results
    fired = np.array([results[f"mechanism.flag.latch[{k}]"] for k in (1, 2, 3, 4)])
    assert list(fired.max(axis=1)) == [1.0, 1.0, 0.0, 1.0]
    assert not fired[:, -1].any()


def test_spec06_oracle_27_each_fault_does_what_it_says(run):
    """The failed device does not respond to its command: no brakes, no thrust."""
    brakes = run("atv_dead_lateral_brakes").results
    assert not brakes["cyclogram.command.lateral_brakes"].any()
    assert run("atv_probe_cone").results["cyclogram.command.lateral_brakes"].any()
    assert not (run("atv_no_push").results["cyclogram.command.push"] > 0.0).any()
    assert run("atv_no_push").time("capture") > run("atv_probe_cone").time("capture")


def test_spec04_section_7_attitude_control_until_capture_and_after_it(run):
    """It acts until capture in the nominal docking; if left on, the craft turns less, for more impulse."""
    free, nominal, left_on = run("atv_probe_cone"), run("atv_attitude_control"), run("atv_attitude_left_on")
    capture = nominal.time("capture")
    hold = nominal.results["cyclogram.command.attitude_hold[1]"][1:]
    assert np.array_equal(hold > 0.0, nominal.results.time[1:] <= capture + 1e-6)
    assert (left_on.results["cyclogram.command.attitude_hold[1]"][1:] == 1.0).all()
    assert not free.results["cyclogram.command.attitude_hold[1]"].any()
    turned = [max(np.ptp(found.results[f"chaser.body.angles[{k}]"]) for k in (1, 2, 3)) for found in (left_on, free)]
    assert turned[0] < turned[1]
    spent = [found.results["chaser_attitude.impulse"][-1] for found in (nominal, left_on)]
    assert 0.0 <= spent[0] < spent[1]
    assert left_on.summary["audit"]["angular_momentum_drift"] < 1e-8


def test_a_stuck_brake_never_slips_and_hits_harder(run):
    stuck, free = run("atv_stuck_brake").results, run("atv_probe_cone").results
    assert np.abs(free["mechanism.axial.brake_slip"]).max() > 0.0
    assert not np.any(stuck["mechanism.axial.brake_slip"])
    force = "mechanism.target.force_now[1]"
    assert np.abs(stuck[force]).max() > np.abs(free[force]).max()


def test_near_the_maxima_the_limiter_strikes(run):
    """The severity is beyond nominal, and a limiter force through the hinge is not damped."""
    found = run("soyuz_near_maxima")
    assert found.results["mechanism.flag.limiter_contact"].any()
    assert np.abs(found.results["mechanism.target.force_now[1]"]).max() > 15e3
    angles = np.degrees([np.abs(found.results[f"mechanism.docking.angles[{k}]"]).max() for k in (1, 2)])
    assert angles.max() > 5.25


def test_spec06_oracle_18_the_hatch_cover_gives_way_and_delays_the_latches(run):
    """Cover compliance increases the interval between socket-bottom and latch hits."""
    covered, free = run("atv_hatch_cover"), run("atv_probe_cone")
    assert np.abs(covered.results["mechanism.cover.travel"]).max() > 1e-3

    def pulse(found):
        """Return the time from the bottom to the largest pull of the latches within 4 s."""
        t, force = found.results.time, found.results["mechanism.target.force_now[1]"]
        bottom = found.time("socket_bottom")
        window = (t > bottom) & (t < bottom + 4.0)
        return t[window][np.argmin(force[window])] - bottom

    assert pulse(covered) > pulse(free)
