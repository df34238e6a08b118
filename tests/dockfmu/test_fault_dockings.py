"""Whole dockings with a fault of spec/06 section 6.2 (e): each ends in the state that the cyclogram defines."""

from __future__ import annotations

import json

import numpy as np
import pytest

from components.probe_cyclogram.ports import PHASE
from master.observers.recording.results import read_results
from tests.dockfmu.command_line import Run, dockfmu

pytestmark = pytest.mark.slow

FAULT = "cyclogram.parameters.fault."
RUNS = {
    "none": (),
    "one motor": (f"{FAULT}motor=0,1",),
    "both motors": (f"{FAULT}motor=1,1",),
    "lateral brakes": (f"{FAULT}lateral_brakes=1",),
    "no push": (f"{FAULT}push=1",),
    "no push, too slow": (f"{FAULT}push=1", "initial_conditions.velocity=0.01,0,0"),
    "attitude control": ("cyclogram.parameters.attitude_control=1,1", f"{FAULT}attitude_hold=1"),
}
"""What is set; without it the docking of atv_probe_cone ends with a plane gap of 10 mm."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The run of a fault, made once. Its exit status says how it ended, which the tests look up themselves."""
    made: dict[str, Run] = {}

    def find(name: str) -> Run:
        if name not in made:
            folder = tmp_path_factory.mktemp("fault")
            settings = [word for setting in RUNS[name] for word in ("--set", setting)]
            done = dockfmu("run", "atv_probe_cone", "--adaptive", *settings, "--json", "-o", folder)
            assert done.stdout, done.stderr
            made[name] = Run(json.loads(done.stdout), read_results(folder / "results.h5"), folder)
        return made[name]

    return find


def end(found: Run) -> dict:
    """How the sequence stands at the end of the run."""
    last = {name: float(found.results[f"cyclogram.{name}"][-1]) for name in ("finished", "overdue")}
    phase = next(name for name, code in PHASE.codes.items() if code == found.results["cyclogram.phase"][-1])
    volts = max(abs(float(found.results[f"cyclogram.command.motor_voltage[{s}]"][-1])) for s in (1, 2))
    return {"phase": phase, **last, "motors": volts, "push": float(found.results["cyclogram.command.push"][-1])}


DONE = {"phase": "END", "finished": 1.0, "overdue": 0.0, "motors": 0.0, "push": 0.0}
WAITING = {"phase": "RETRACT", "finished": 0.0, "overdue": 1.0, "motors": 0.0, "push": 0.0}


@pytest.mark.parametrize("name", ["none", "lateral brakes", "no push", "attitude control"])
def test_spec06_oracle_27_docking_ends_in_spite_of_the_fault(run, name):
    """Units 10 mm apart, capture kept, everything off; energy and momentum close as without the fault."""
    found = run(name)
    assert end(found) == DONE
    assert found.results["mechanism.docking.plane_gap"][-1] == pytest.approx(0.010, abs=1e-4)
    assert found.results["mechanism.sensor.capture"][-1] == 1.0
    assert 300.0 < found.summary["t_end"] < 420.0
    assert found.summary["audit"]["energy_residual"] < 5e-3
    assert found.summary.get("outcome", "docked") == "docked"


@pytest.mark.parametrize(("name", "speed"), [("one motor", 0.5), ("both motors", 0.0)])
def test_spec06_oracle_27_dead_motors_retract_slowly_or_not_until_the_time_limit(run, name, speed):
    """The differential halves the speed of one motor: 450 s after drive-on the sequence stops and waits, captured."""
    found, whole = run(name), run("none")
    assert end(found) == WAITING
    assert found.results["mechanism.sensor.capture"][-1] == 1.0
    on = found.time("docking_start") + 35.0
    t = found.results.time
    overdue = t[np.argmax(found.results["cyclogram.overdue"] > 0.0)]
    assert overdue == pytest.approx(on + 450.0, abs=0.1)

    def travelled(which):
        """Drive's travel over 100 s from 50 s after drive-on."""
        begin = which.time("docking_start") + 85.0
        angle = np.interp([begin, begin + 100.0], which.results.time, which.results["mechanism.drive.angle"])
        return angle[1] - angle[0]

    # the load on the drive is small beside its stall torque, and half of it on the other motor's speed
    assert travelled(found) == pytest.approx(speed * travelled(whole), rel=0.03, abs=1e-9)
    assert found.summary.get("outcome", "") != "docked"


def test_spec06_oracle_27_no_push_and_no_capture_retreats(run):
    """Too slow to push the latches in: after 10 s thrusters reversed and latches withdrawn, 10 s later the end."""
    found = run("no push, too slow")
    assert end(found) == DONE
    assert found.results["cyclogram.event.capture"][-1] == -1.0
    first = found.results["cyclogram.event.first_contact"][-1]
    assert found.results["cyclogram.event.end"][-1] == pytest.approx(first + 20.0, abs=0.02)
    assert found.results["chaser.body.velocity[1]"][-1] < -0.1
    assert found.results["mechanism.docking.plane_gap"][-1] > found.results["mechanism.docking.plane_gap"].min() + 0.5
    assert found.summary.get("outcome", "retreated") == "retreated"


def test_spec06_oracle_27_each_fault_does_what_it_says(run):
    """The device is dead from its command on: no brakes, no thrust, attitude control that stays on after capture."""
    brakes = run("lateral brakes").results
    assert not brakes["cyclogram.command.lateral_brakes"].any()
    assert run("none").results["cyclogram.command.lateral_brakes"].any()
    assert not (run("no push").results["cyclogram.command.push"] > 0.0).any()
    assert run("no push").time("capture") > run("none").time("capture")
    held = run("attitude control").results
    assert (held["cyclogram.command.attitude_hold[1]"][1:] == 1.0).all()
    assert not run("none").results["cyclogram.command.attitude_hold[1]"].any()
    # a PD of 0.05 rad/s resists the turning of a craft that else is free
    turned, free = (
        max(np.ptp(run(name).results[f"chaser.body.angles[{k}]"]) for k in (1, 2, 3))
        for name in ("attitude control", "none")
    )
    assert turned < free
