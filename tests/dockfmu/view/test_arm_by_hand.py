"""An arm flown by hand through the browser: Step, Insert and hand controllers move it as they command."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dockfmu.master.observers.recording.results import read_results
from tests.dockfmu.view.browser import Shown, eventually, going, quickly_drawn

pytestmark = pytest.mark.slow

SYSTEM = Path(__file__).parents[3] / "docs/examples/arm_by_hand.toml"
SEMI, SUPV = "SEMI", "SUPV"
SETTLED_S = 30.0
SWING_S = 5.9
"""Period in which the airlock swings on ERA: places are compared as means over two of them."""

LEFT_OF_SWING = 2 * 0.05
"""Part of the amplitude of the swing that the means before and after a motion leave: 5 % each, as far as SWING_S is
known."""

SWING_M, SWING_RAD = 0.01, 0.003
"""Amplitude of the swing when places are compared; 4 to 8 mm and 2 mrad were measured, as the phases
at which commands come add up."""

TILT_RAD = np.radians(0.5) * np.sqrt(2.0)
"""Between the axes of the payload and those of the station: half a degree about two axes."""

RAMP_S = 2.0
NOT_REACHED_S = 20.0
"""Of ERA: a motion takes as much longer than at constant speed."""

ROW_S = 0.01
OUTER_TICK_S = 0.008


class Pilot:
    """Operator of the arm, who uses what the page offers: lists, fields, buttons, keys and sticks.

    `inputs` is the group of variables that the fields set, `given` the one that the arm gets: the same where no
    sequence stands between them.
    """

    def __init__(self, shown: Shown, inputs: str = "manipulator.command", given: str = "manipulator.command") -> None:
        self.shown, self.inputs, self.given = shown, inputs, given
        watched = ("mode", "step.axis", "step.amplitude", "step.speed", "angular_velocity[2]")
        names = ["manipulator.command.state", *(f"{given}.{name}" for name in watched)]
        shown("names => dockfmu.load(names)", names)
        shown("dockfmu.follow()")

    def field(self, name: str):
        return self.shown.page.locator(f'.manual [title="{self.inputs}.{name}"]')

    def newest(self, name: str) -> float:
        """Return the newest recorded value of what the arm is commanded."""
        return self.shown("n => dockfmu.rows(n)[1].at(-1)", f"{self.given}.{name}")

    def state(self) -> float:
        return self.shown("dockfmu.rows('manipulator.command.state')[1].at(-1)")

    def eventually(self, condition, timeout: float = 90.0) -> None:
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, self.shown("dockfmu.station.state()")
            self.shown.page.wait_for_timeout(50)

    def mode(self, wanted: str) -> None:
        self.field("mode").select_option(label=wanted)
        self.eventually(lambda: self.newest("mode") == {SEMI: 2, SUPV: 3}[wanted])
        # the arm takes a command when it has been in its mode for a tick of its outer loop
        self.shown.goes_on(OUTER_TICK_S + ROW_S)

    def command(self, step: str, axis: int, amplitude: float, speed: float) -> None:
        """Choose a STEP or an INSERT with its axis, amplitude and speed."""
        self.field("step.type").select_option(label=step)
        self.field("step.axis").select_option(str(axis))
        for label, value in (("amplitude", amplitude), ("speed", speed)):
            field = self.field(f"step.{label}")
            field.fill(str(value))
            field.press("Tab")
        self.eventually(lambda: self.newest("step.amplitude") == pytest.approx(amplitude))
        self.eventually(lambda: self.newest("step.axis") == axis)
        # longer than the server waits for an operator who is not heard: numbers stay, unlike sticks
        self.shown.page.wait_for_timeout(700)
        self.shown.goes_on(2 * ROW_S)
        assert self.newest("step.amplitude") == pytest.approx(amplitude)
        assert self.state() == 1

    def carry_out(self, step: str, axis: int, amplitude: float, speed: float, settle: float = SETTLED_S) -> None:
        """Command a STEP or an INSERT, and wait until the arm has carried it out and has settled."""
        self.command(step, axis, amplitude, speed)
        button = self.field("step.trigger")
        button.focus()
        self.shown.page.keyboard.down("Enter")
        self.eventually(lambda: self.state() == 2)
        self.shown.page.keyboard.up("Enter")
        # it ends in HOLD, and is IDLE again because the button is up
        self.shown("dockfmu.station.speed(50)")
        self.eventually(lambda: self.state() == 1)
        self.settle(settle)

    def settle(self, seconds: float = SETTLED_S) -> None:
        """Wait, as fast as the machine can: the payload swings on the arm."""
        self.shown("dockfmu.station.speed(50)")
        self.shown.goes_on(seconds)
        self.shown("dockfmu.station.speed(1)")
        self.eventually(lambda: self.shown("dockfmu.station.state().speed") == 1)
        self.shown.catches_up()


def fly(shown: Shown) -> None:
    """Command a Step, an Insert and two motions by hand."""
    pilot = Pilot(shown)
    shown.page.click("#take")
    pilot.eventually(lambda: shown("dockfmu.station.state().mine"))
    pilot.mode(SUPV)
    pilot.settle()
    pilot.carry_out("STEP", 2, 0.02, 0.01)
    pilot.carry_out("INSERT", 1, -0.05, 0.02)
    pilot.mode(SEMI)
    shown("dockfmu.station.deflect('x', -0.2)")
    shown.goes_on(3.0)
    shown("dockfmu.station.deflect('x', 0)")
    pilot.settle()
    shown.page.locator("canvas#side").click()
    shown.page.keyboard.down("j")
    shown.goes_on(2.0)
    shown.page.keyboard.up("j")
    pilot.eventually(lambda: pilot.newest("angular_velocity[2]") == 0.0)
    pilot.settle()


def test_an_operator_flies_the_arm_and_the_session_is_repeated_bitwise(browser, tmp_path):
    first, again = tmp_path / "first", tmp_path / "again"
    until = ("--stop", "260", "--no-report")
    with going(SYSTEM, *until, "--realtime", "-o", first) as run, quickly_drawn(browser) as context:
        shown = Shown(context, run.address)
        fly(shown)
        shown.page.screenshot(path=tmp_path / "flown.png")
        shown("dockfmu.station.speed(50)")
        assert run.end(300.0) == 0, run.said
        assert shown.errors == []
    with read_results(first / "results.h5") as results:
        moved_as_commanded(results)
    command = [sys.executable, "-m", "dockfmu", "run", str(SYSTEM), *until]
    command += ["--inputs", str(first / "inputs.jsonl"), "-o", str(again)]
    subprocess.run(command, check=True, capture_output=True)
    assert_equal_runs(first, again, 200)


def assert_equal_runs(first: Path, again: Path, least: int) -> None:
    """Compare all variables that two runs have, more than `least`, to the bit."""
    with read_results(first / "results.h5") as one, read_results(again / "results.h5") as two:
        assert np.array_equal(one.time, two.time)
        common = [name for name in one.variables if name in two]
        assert len(common) > least
        assert [name for name in common if not np.array_equal(one[name], two[name], equal_nan=True)] == []


def moved_as_commanded(results) -> None:
    """Compare the motion of the payload's interface with what was commanded."""

    def column(name):
        return np.array(results[f"manipulator.{name}"])

    time_of, state = results.time, column("command.state")
    position = np.stack([column(f"interface.position[{k}]") for k in (1, 2, 3)], axis=1)
    rows = round(2 * SWING_S / (time_of[1] - time_of[0]))

    def way(quantity, first, last):
        """Return the way from the mean before a motion to the mean SETTLED_S after it."""
        settled = int(np.searchsorted(time_of, time_of[last] + SETTLED_S))
        return quantity[settled - rows : settled].mean(axis=0) - quantity[first - rows : first].mean(axis=0)

    def near(wanted):
        """Compare up to what swing and tilt account for; the largest errors measured were 0.3 and, pushed, 0.9 mm."""
        return pytest.approx(wanted, abs=LEFT_OF_SWING * SWING_M + TILT_RAD * np.linalg.norm(wanted))

    assert time_of[1] - time_of[0] == pytest.approx(ROW_S)
    begun, ended = np.flatnonzero(np.diff((state == 2).astype(int))).reshape(2, 2).T
    for first, last, wanted, speed in zip(begun, ended, ((0, 0.02, 0), (-0.05, 0, 0)), (0.01, 0.02), strict=True):
        assert way(position, first, last) == near(wanted)
        # it ends when the encoders see its pose (ruling R58): measured 1.6 s after the planned end;
        # both ends of the motion are at a tick of the outer loop, and are seen at a row
        planned, seen = np.linalg.norm(wanted) / speed + RAMP_S, 2 * (ROW_S + OUTER_TICK_S)
        # HOLD is over within a tick, as the button is up
        assert column("flag.arrived")[last + 1] == 1
        assert planned - seen <= time_of[last] - time_of[first] <= planned + SWING_S
    assert column("notice.not_reached")[-1] == 0
    pushed, turned = (np.flatnonzero(column(f"command.{name}")) for name in ("velocity[1]", "angular_velocity[2]"))
    assert np.allclose(column("command.velocity[1]")[pushed], -0.02)
    pushed_for, turned_for = (ROW_S * len(rows_of) for rows_of in (pushed, turned))
    assert pushed_for > 2.0
    assert way(position, pushed[0], pushed[-1]) == near((-0.02 * pushed_for, 0, 0))
    assert np.allclose(column("command.angular_velocity[2]")[turned], 0.02)
    turn = 0.02 * turned_for
    assert turn > 0.02
    turned_by = way(column("relative.angles[1]"), turned[0], turned[-1])
    assert turned_by == pytest.approx(turn, abs=LEFT_OF_SWING * SWING_RAD + 0.02 * ROW_S)


STEPS = ((2, -0.02, 0.0), (5, np.radians(-0.5), 0.0), (6, np.radians(0.5), 0.0))
"""Axis, amplitude and speed (0 is the arm's own): what has to be taken back, but for z, which is flown by hand."""

BY_HAND = 0.01
"""Speed at full deflection through the sequence, m/s."""

BERTHING = ("airlock_era", "--set", "sequence.parameters.script=LIVE", "--no-report")


def berth(shown: Shown) -> None:
    """Take the offset along z back by hand, the others by Step, and berth by Insert, all through the sequence."""
    pilot = Pilot(shown, "sequence.operator", "sequence.command")
    shown("dockfmu.load('sequence.phase')")
    shown.page.click("#take")
    pilot.eventually(lambda: shown("dockfmu.station.state().mine"))
    shown("dockfmu.station.deflect('z', 1)")
    shown.goes_on(0.02 / BY_HAND)
    shown("dockfmu.station.deflect('z', 0)")
    pilot.settle(10.0)
    pilot.mode(SUPV)
    for axis, amplitude, speed in STEPS:
        pilot.carry_out("STEP", axis, amplitude, speed, settle=10.0)
    shown("dockfmu.station.speed(100)")
    pilot.command("INSERT", 1, 0.112, 0.001)
    button = pilot.field("step.trigger")
    button.dispatch_event("pointerdown")
    pilot.eventually(lambda: pilot.state() == 2)
    button.dispatch_event("pointerup")


def deflected(log: Path, name: str) -> list[float]:
    """Return the times, s, at which a stick was set to 1 and to 0, once each."""
    entries = [json.loads(line) for line in log.read_text().splitlines()[1:]]
    found = [(entry["t"], entry["set"][name]) for entry in entries if name in entry["set"]]
    assert [value for _, value in found] == [1.0, 0.0]
    return [t for t, _ in found]


def test_an_operator_berths_through_the_sequence_and_the_session_is_repeated_bitwise(browser, tmp_path):
    first, again = tmp_path / "first", tmp_path / "again"
    with going(*BERTHING, "--realtime", "-o", first) as run, quickly_drawn(browser) as context:
        shown = Shown(context, run.address)
        berth(shown)
        assert run.end(400.0) == 0, run.said
        eventually(lambda: shown("dockfmu.outcome") == "berthed")
        assert [e["name"] for e in shown("dockfmu.events")][:3] == ["lateral_steps", "insert", "first_contact"]
        assert shown.errors == []
        shown.page.screenshot(path=tmp_path / "berthed.png")
    summary = json.loads((first / "summary.json").read_text())
    assert (summary["outcome"], summary["success"]) == ("berthed", True)
    with read_results(first / "results.h5") as results:
        phase, time_of = results["sequence.phase"], results.time
        # STEP is 5, INSERT 6: three of the one, one of the other
        begun = np.flatnonzero(np.diff(np.isin(phase, (5, 6)).astype(int)) == 1) + 1
        assert list(phase[begun]) == [5, 5, 5, 6]
        given = [[results[f"sequence.command.step.{name}"][row] for name in ("axis", "amplitude")] for row in begun]
        assert np.allclose(given, [*((axis, amplitude) for axis, amplitude, _ in STEPS), (1, 0.112)])
        # at constant speed and with its ramps, to its end, though the latches catch before: its pose is not reached
        insert = time_of[np.flatnonzero(phase == 6)]
        assert insert[-1] - insert[0] == pytest.approx(0.112 / 0.001 + RAMP_S + NOT_REACHED_S, abs=0.1)
        captured = next(e["t"] for e in summary["events"] if e["name"] == "capture")
        assert insert[0] < captured < insert[-1]
        assert summary["t_end"] == pytest.approx(insert[-1] + 5.0, abs=0.1)
        # what was taken back by hand, while the sequence passed the stick on
        by_hand = results["sequence.command.velocity[3]"]
        assert by_hand.max() == pytest.approx(BY_HAND)
        pushed, let_go = deflected(first / "inputs.jsonl", "sequence.hand.translation[3]")
        # the page counts from when it sent the first, which takes effect some rows later
        assert let_go - pushed > 0.5 * 0.02 / BY_HAND
        # each end is seen at a row
        row = np.diff(time_of[: np.searchsorted(time_of, let_go)]).max()
        passed_on = np.sum(by_hand[:-1] * np.diff(time_of))
        assert passed_on == pytest.approx(BY_HAND * (let_go - pushed), abs=2 * BY_HAND * row)
    command = [sys.executable, "-m", "dockfmu", "run", *BERTHING]
    command += ["--inputs", str(first / "inputs.jsonl"), "-o", str(again)]
    subprocess.run(command, check=True, capture_output=True)
    assert_equal_runs(first, again, 200)


def test_fields_show_what_the_run_has_after_a_reload_and_to_another_operator(browser, tmp_path):
    commands = {"step.amplitude": "0.03", "step.speed": "0.015", "step.axis": "5", "mode": "3"}
    with (
        going(SYSTEM, "--no-report", "--realtime", "-o", tmp_path / "r") as run,
        quickly_drawn(browser) as context,
    ):
        shown = Shown(context, run.address)
        pilot = Pilot(shown)

        def fields(pilot):
            return {name: pilot.field(name).input_value() for name in commands}

        shown.page.click("#take")
        pilot.eventually(lambda: shown("dockfmu.station.state().mine"))
        for name, value in commands.items():
            field = pilot.field(name)
            if "." in value:
                field.fill(value)
                field.press("Tab")
            else:
                field.select_option(value)
            pilot.eventually(lambda name=name, value=value: pilot.newest(name) == pytest.approx(float(value)))
        assert fields(pilot) == commands
        # half a number, while the run goes on: it stays under the hand
        pilot.field("step.amplitude").fill("0.0")
        shown.goes_on(2 * ROW_S)
        assert fields(pilot) == commands | {"step.amplitude": "0.0"}
        shown.page.reload()
        shown.page.wait_for_selector("html[data-ready]", state="attached")
        assert pilot.newest("step.amplitude") == pytest.approx(0.03)
        pilot.eventually(lambda: fields(pilot) == commands)
        # another page sees them, too
        other = Pilot(Shown(context, run.address))
        other.eventually(lambda: fields(other) == commands)
        # what is set while the run waits is in no row yet
        shown.page.click("#take")
        pilot.eventually(lambda: shown("dockfmu.station.state().mine"))
        shown.page.click("#hold")
        pilot.eventually(lambda: shown("dockfmu.station.state().hold"))
        commands["step.axis"], commands["step.amplitude"] = "2", "0.07"
        pilot.field("step.axis").select_option("2")
        pilot.field("step.amplitude").fill("0.07")
        pilot.field("step.amplitude").press("Tab")
        # the run has taken them, and the rows that it had sent before are here after the reload
        other.eventually(lambda: fields(other) == commands)
        shown.page.reload()
        shown.page.wait_for_selector("html[data-ready]", state="attached")
        pilot = Pilot(shown)
        pilot.eventually(lambda: fields(pilot) == commands)
        assert pilot.newest("step.amplitude") == pytest.approx(0.03)
        held = shown("dockfmu.rows('manipulator.command.mode')[0].at(-1)")
        # what the run does not take is said, and the field is what the run has
        shown.page.click("#take")
        pilot.eventually(lambda: shown("dockfmu.station.state().mine"))
        pilot.field("step.speed").fill("-1")
        pilot.field("step.speed").press("Tab")
        pilot.eventually(lambda: "less than its minimum" in shown.page.inner_text("#who"))
        assert fields(pilot) == commands
        # so it is with what the server refuses
        shown("dockfmu.station.speed(1000)")
        pilot.eventually(lambda: "a speed is between" in shown.page.inner_text("#who"))
        assert fields(pilot) == commands
        assert shown("dockfmu.rows('manipulator.command.mode')[0].at(-1)") == held
        shown.page.click("#hold")
        pilot.eventually(lambda: pilot.newest("step.amplitude") == pytest.approx(0.07))
        assert fields(pilot) == commands
        pilot.field("step.amplitude").fill("-0.04")
        pilot.field("step.amplitude").press("Tab")
        other.eventually(lambda: fields(other) == commands | {"step.amplitude": "-0.04"})
        assert shown.errors == other.shown.errors == []
