"""BerthingSequence: scripts, delay, dead zones, noise by seed, guards and outcomes (manipulator 3.7, berthing 6)."""

from __future__ import annotations

from math import radians

import numpy as np
import pytest

from dockfmu.components.berthing_sequence import component
from dockfmu.components.berthing_sequence.ports import OUTCOME, PHASE, SCRIPT
from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.manipulator.ports import MODE, STEP_STATE, STEP_TYPE
from dockfmu.components.physics.mechanics.rotation import from_angles, quaternion

H = 0.02


def sequence(script: str, **values) -> Instance:
    return Instance(component(), **{"parameters.script": SCRIPT.codes[script], **values})


def name(kind, value) -> str:
    return next(item for item, code in kind.codes.items() if code == value)


def phase(s) -> str:
    return name(PHASE, s.m.phase)


def outcome(s) -> str:
    return name(OUTCOME, s.m.outcome)


class Ideal:
    """A payload that follows the commanded rates exactly; positions and angles are small."""

    def __init__(self, s: Instance, position, angles) -> None:
        self.s, self.position, self.angles, self.k = s, np.array(position, float), np.array(angles, float), 0
        self.phases: list[str] = []
        self.deflections: list[np.ndarray] = []
        self.tell()
        s.initialize()

    def tell(self) -> None:
        m = self.s.m
        m.relative.position[:] = self.position
        m.relative.quaternion[:] = quaternion(from_angles(*map(float, self.angles)))

    def run(self, seconds: float, until=None) -> None:
        for _ in range(round(seconds / H)):
            self.s.step(self.k * H, H)
            self.k += 1
            m = self.s.m
            A = np.array(from_angles(*map(float, self.angles)))
            self.position += H * A.T @ np.array(m.command.velocity)
            w = m.command.angular_velocity
            self.angles += H * np.array([w[1], w[2], w[0]])
            self.tell()
            self.phases.append(phase(self.s))
            self.deflections.append(np.array(m.sight.deflection))
            if until is not None and until(m):
                return

    @property
    def time(self) -> float:
        return self.k * H


def test_nrt_goes_forward_and_does_nothing_else():
    """berthing 6: one constant rate; not stopped by capture, ended some time after it."""
    s = sequence("NRT")
    body = Ideal(s, (-1.39, 0.03, -0.02), np.radians([0.5, -0.5, 1.0]))
    body.run(48.0)
    assert name(MODE, s.m.command.mode) == "SEMI"
    assert s.m.command.velocity == pytest.approx([0.019, 0.0, 0.0])
    assert s.m.command.angular_velocity == pytest.approx([0.0, 0.0, 0.0])
    s.m.sensor.capture = 1.0
    body.run(4.9)
    assert s.m.command.velocity == pytest.approx([0.019, 0.0, 0.0])
    assert s.m.finished == 0.0
    body.run(0.2)
    assert outcome(s) == "BERTHED"
    assert s.m.event.capture == pytest.approx(48.0)
    assert s.m.event.end == pytest.approx(53.0)
    assert s.m.command.velocity == pytest.approx([0.0, 0.0, 0.0])
    assert name(MODE, s.m.command.mode) == "HOLD"


def test_rt_aligns_angles_first_then_offset_then_approaches():
    """Fig. 8.3.7: the order of phases, and which controllers move in each; all errors end in their zones."""
    s = sequence("RT")
    body = Ideal(s, (-1.39, 0.08, -0.06), np.radians([2.0, -2.0, 2.0]))
    body.run(300.0, until=lambda m: m.relative.position[0] > -0.4)
    order = [p for i, p in enumerate(body.phases) if i == 0 or p != body.phases[i - 1]]
    assert order == ["ALIGN_ANGLES", "ALIGN_OFFSET", "APPROACH"]
    moved = {
        p: np.abs(np.array([d for q, d in zip(body.phases, body.deflections, strict=True) if q == p])).max(0)
        for p in order
    }
    assert np.all(moved["ALIGN_ANGLES"][:4] == 0.0)
    assert np.all(moved["ALIGN_ANGLES"][4:] > 0.3)
    assert np.all(moved["ALIGN_OFFSET"][1:4] > 0.3)
    assert moved["ALIGN_OFFSET"][0] == 0.0
    assert moved["APPROACH"][0] == 1.0
    assert np.all(moved["APPROACH"][1:] <= 0.3)
    assert np.all(np.abs(body.angles) < radians(0.6))
    assert np.all(np.abs(body.position[1:]) < 0.02)
    every = np.array(body.deflections)
    assert np.allclose(every * 10.0, np.round(every * 10.0), atol=1e-9)


def test_rt_moves_a_delay_after_it_looks():
    s = sequence("RT")
    body = Ideal(s, (-1.39, 0.0, 0.0), np.radians([3.0, 0.0, 0.0]))
    body.run(1.0)
    first = next(k for k, d in enumerate(body.deflections) if d.any())
    assert first * H == pytest.approx(0.3, abs=1e-9)


def test_rt_leaves_small_errors_alone():
    s = sequence("RT", **{"parameters.operator.angle_noise": 0.0})
    # 0.05 deg at 1.39 m looks like 1.2 mm more
    body = Ideal(s, (-1.39, 0.0015, -0.0015), np.radians([0.05, -0.05, 0.25]))
    body.run(12.0)
    assert np.all(np.array(body.deflections)[:, 1:] == 0.0)
    assert phase(s) == "APPROACH"


def test_rt_breaks_the_approach_off_when_an_angle_grows():
    s = sequence("RT", **{"parameters.operator.angle_noise": 0.0})
    body = Ideal(s, (-1.39, 0.0, 0.0), (0.0, 0.0, 0.0))
    body.run(12.0)
    assert phase(s) == "APPROACH"
    body.angles[0] = radians(2.0)
    body.run(5.0)
    assert phase(s) == "ALIGN_ANGLES"
    assert s.m.command.velocity[0] == 0.0


def test_noise_belongs_to_the_seed():
    runs = []
    for seed in (1, 1, 2):
        s = sequence("RT", **{"parameters.operator.seed": seed})
        body = Ideal(s, (-1.39, 0.05, 0.0), np.radians([1.0, 1.0, 1.0]))
        body.run(40.0)
        runs.append((body.position.copy(), body.angles.copy()))
    assert np.array_equal(runs[0][0], runs[1][0])
    assert np.array_equal(runs[0][1], runs[1][1])
    assert not np.array_equal(runs[0][1], runs[2][1])


LIST = {
    "parameters.step.count": 3,
    "parameters.step.axis": (2, 5, 1, *[1] * 9),
    "parameters.step.amplitude": (-0.02, 0.005, 0.1, *[0.0] * 9),
    "parameters.step.speed": (0.0, 0.0, 1e-3, *[0.0] * 9),
    "parameters.step.insert": (0.0, 0.0, 1.0, *[0.0] * 9),
    "parameters.step.begin": (1.0, 5.0, 5.0, *[0.0] * 9),
    "parameters.limit.guard": 0.0,
}


def carry_out(s, seconds, duration=2.0, end="HOLD"):
    """An arm that takes each command for `duration`, ending in `end`: [(time, type, axis, amplitude)] as they begin."""
    begun, left = [], 0.0
    m = s.m
    for k in range(round(seconds / H)):
        s.step(k * H, H)
        state = name(STEP_STATE, m.command.state)
        if state == "IDLE" and m.command.step.trigger:
            given = m.command.step
            begun.append((k * H, name(STEP_TYPE, given.type), int(given.axis), float(given.amplitude)))
            m.command.state, left = STEP_STATE.codes["RUN"], duration
        elif state == "RUN":
            left -= H
            if left <= 0.0:
                m.command.state = STEP_STATE.codes[end]
        elif state == end and not m.command.step.trigger:
            m.command.state = STEP_STATE.codes["IDLE"]
    return begun


def test_step_gives_one_command_after_another():
    """Commands start at their time and after the previous one, one coordinate at a time (oracle O36 of manipulator).

    Without capture the outcome is NOT_CAPTURED.
    """
    s = sequence("STEP", **LIST)
    begun = carry_out(s, 20.0)
    assert [entry[1:] for entry in begun] == [("STEP", 2, -0.02), ("STEP", 5, 0.005), ("INSERT", 1, 0.1)]
    times = [entry[0] for entry in begun]
    assert times[0] == pytest.approx(1.0)
    assert times[1] == pytest.approx(5.0)
    assert 7.0 <= times[2] <= 7.2
    assert outcome(s) == "NOT_CAPTURED"
    assert s.m.event.end == pytest.approx(times[2] + 2.0 + 5.0, abs=0.1)


def aimed(units, zones, **values):
    """Return a sequence whose Steps along y, z, about y, z, x correct what is seen, then an Insert of 0.1 m."""
    return sequence("STEP", **{
        "parameters.step.count": 6,
        "parameters.step.axis": (2, 3, 5, 6, 4, *[1] * 7),
        "parameters.step.insert": (*[0.0] * 5, 1.0, *[0.0] * 6),
        "parameters.step.amplitude": (*[0.0] * 5, 0.1, *[0.0] * 6),
        "parameters.step.unit": (*[units[0]] * 2, *[units[1]] * 3, *[0.0] * 7),
        "parameters.step.zone": (*[zones[0]] * 2, *[zones[1]] * 3, *[0.0] * 7),
        **values,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("miss", "turn", "expected"),
    [
        # the nominal miss of conventions 8.1
        ((20e-3, -20e-3), (0.5, -0.5, 0.0), [(2, -20e-3), (3, 20e-3), (5, -0.5), (6, 0.5)]),
        ((-20e-3, 20e-3), (-0.5, 0.5, 0.0), [(2, 20e-3), (3, -20e-3), (5, 0.5), (6, -0.5)]),
        # what is within the zone is left; more than one unit
        ((9.9e-3, -31e-3), (0.2, 0.8, -0.3), [(3, 40e-3), (6, -1.0), (4, 0.5)]),
        ((0.0, 0.0), (0.0, 0.0, 0.0), []),
    ],
)
def test_steps_correct_the_miss_that_the_operator_sees(miss, turn, expected):
    """Whole units against the miss (source 8.4: Steps reduce the misses by amounts that the operator chooses)."""
    s = aimed((20e-3, radians(0.5)), (10e-3, radians(0.25)))
    m = s.m
    m.relative.position[:] = (-0.34, *miss)
    m.relative.quaternion[:] = quaternion(from_angles(*map(radians, turn)))
    begun = [entry[1:] for entry in carry_out(s, 20.0)]
    steps = [("STEP", axis, by if axis < 4 else radians(by)) for axis, by in expected]
    assert [entry[:2] for entry in begun] == [(*entry[:2],) for entry in [*steps, ("INSERT", 1, 0.1)]]
    assert [entry[2] for entry in begun] == pytest.approx([entry[2] for entry in [*steps, ("INSERT", 1, 0.1)]])


def test_a_step_sees_what_the_steps_before_it_have_left():
    """The miss is read when the command is given, not at the start."""
    s = aimed((20e-3, radians(0.5)), (10e-3, radians(0.25)), **{"parameters.step.begin": (0.0, 5.0, *[5.0] * 10)})
    m = s.m
    m.relative.position[:] = (-0.34, 0.0, 0.0)
    for k in range(200):
        s.step(k * H, H)
    m.relative.position[2] = 15e-3
    for k in range(200, 300):
        s.step(k * H, H)
    assert m.command.step.axis == 3.0
    assert m.command.step.amplitude == pytest.approx(-20e-3)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"parameters.step.axis": (2, 1, 5, 6, 4, *[1] * 7)},
            r"step.unit\[2\] = 0.02: an Insert, and a Step along axis 1",
        ),
        ({"parameters.step.insert": (1.0, *[0.0] * 11)}, r"step.unit\[1\] = 0.02: an Insert"),
        ({"parameters.step.zone": (10e-3, 9e-3, *[0.1] * 10)}, r"step.zone\[2\] = 0.009 must be at least half of"),
    ],
)
def test_a_unit_belongs_to_a_step_aside_and_a_zone_to_its_half(values, message):
    with pytest.raises(ComponentError, match=message):
        aimed((20e-3, radians(0.5)), (10e-3, radians(0.25)), **values)


@pytest.mark.parametrize(("load", "expected"), [(100.0, "BERTHED"), (1500.0, "OVERLOADED")])
def test_an_insert_runs_to_its_end_after_capture(load, expected):
    """Capture does not stop the insert (source 8.4); a load beyond its limit gives OVERLOADED instead of BERTHED."""
    s = sequence("STEP", **LIST)
    s.m.sensor.capture = 1.0
    s.m.tip.force[0] = load
    begun = carry_out(s, 20.0)
    assert len(begun) == 3
    assert outcome(s) == expected
    assert s.m.load.peak_force == load


@pytest.mark.parametrize(("capture", "count"), [(0.0, 3), (1.0, 2)])
def test_ruling_R58_commands_that_do_not_reach_their_pose_are_counted_and_the_list_goes_on(capture, count):
    """An Insert that a capture stops before its end has done its work."""
    s = sequence("STEP", **LIST)
    s.m.sensor.capture = capture
    assert len(carry_out(s, 20.0, end="NOT_REACHED")) == 3
    assert s.m.notice.not_reached == count
    assert outcome(s) == ("BERTHED" if capture else "NOT_CAPTURED")


def test_a_trigger_that_the_arm_did_not_see_rise_is_given_again():
    """An arm that enters SUPV with the trigger already on, as at the start, does not begin: the list must not hang."""
    s = sequence("STEP", **{**LIST, "parameters.step.begin": (0.0,) * 12})
    m = s.m
    before, given = None, []
    for k in range(200):
        s.step(k * H, H)
        trigger = float(m.command.step.trigger)
        # the first trigger is there when the arm enters the mode
        if before is not None and trigger > before and m.command.state == STEP_STATE.codes["IDLE"]:
            m.command.state = STEP_STATE.codes["RUN"]
            given.append(k * H)
        before = trigger
    assert len(given) == 1
    assert given[0] == pytest.approx(0.25, abs=0.1)


def test_the_second_of_a_list_is_given_again_as_well():
    """The arm carries out the first command, does not see the second, and sees it when it is given again."""
    s = sequence("STEP", **{**LIST, "parameters.step.begin": (1.0,) * 12})
    m, before, given, left = s.m, 0.0, [], 0.0
    for k in range(round(5.0 / H)):
        s.step(k * H, H)
        trigger, state = float(m.command.step.trigger), name(STEP_STATE, m.command.state)
        if trigger > before:
            given.append(int(m.command.step.axis))
            if len(given) != 2:
                m.command.state, left = STEP_STATE.codes["RUN"], 0.5
        elif state == "RUN":
            left -= H
            if left <= 0.0:
                m.command.state = STEP_STATE.codes["HOLD"]
        elif state == "HOLD" and not trigger:
            m.command.state = STEP_STATE.codes["IDLE"]
        before = trigger
    assert given == [2, 5, 5, 1]


def test_a_limp_arm_is_driven_to_its_capture_by_thrust():
    """OP-74 of berthing 1.2: joints relaxed, thrusters on until capture, or for their longest time."""
    s = sequence("LIMP", **{"parameters.thrust": (200.0, 0.0, 5.0), "parameters.start_delay": 0.1})
    rows = []
    for k in range(600):
        s.m.sensor.capture = 1.0 if k >= 250 else 0.0
        s.step(k * H, H)
        rows.append([name(MODE, s.m.command.mode), tuple(map(float, s.m.payload.force)), phase(s)])
    assert rows[0] == ["HOLD", (0.0, 0.0, 0.0), "WAIT"]
    assert rows[10] == rows[249] == ["LIMP", (200.0, 0.0, 5.0), "APPROACH"]
    assert rows[251] == ["LIMP", (0.0, 0.0, 0.0), "CAPTURED"]
    assert rows[-1] == ["HOLD", (0.0, 0.0, 0.0), "END"]
    assert outcome(s) == "BERTHED"
    s = sequence("LIMP", **{"parameters.thrust_time": 2.0, "parameters.time_limit": 4.0})
    thrust = []
    for k in range(300):
        s.step(k * H, H)
        thrust.append(float(s.m.payload.force[0]))
    assert sum(thrust) * H == pytest.approx(2.0 * 100.0, rel=0.02)
    assert outcome(s) == "TIMED_OUT"


@pytest.mark.parametrize(("load", "expected"), [(100.0, "NOT_CAPTURED"), (1500.0, "NOT_CAPTURED_AND_OVERLOADED")])
def test_a_load_beyond_its_limit_is_told_without_a_capture_too(load, expected):
    """The list ends without capture, and one moment of the load is enough."""
    s = sequence("STEP", **LIST)
    s.m.tip.force[0] = load
    s.step(0.0, H)
    s.m.tip.force[0] = 0.0
    carry_out(s, 20.0)
    assert outcome(s) == expected


@pytest.mark.parametrize(
    ("ending", "expected"), [("time_limit", "TIMED_OUT_AND_OVERLOADED"), ("abort", "ABORTED_AND_OVERLOADED")]
)
def test_a_load_beyond_its_limit_is_told_by_an_early_end_too(ending, expected):
    s = sequence("STEP", **{**LIST, "parameters.time_limit": 0.5})
    s.m.tip.torque[1] = 4000.0
    s.step(0.0, H)
    s.m.tip.torque[1] = 0.0
    s.m.operator.abort = float(ending == "abort")
    carry_out(s, 1.0)
    assert outcome(s) == expected


def test_guard_ends_the_sequence():
    s = sequence("STEP", **{**LIST, "parameters.limit.guard": 1.0})
    s.m.tip.torque[2] = 3001.0
    carry_out(s, 1.0)
    assert outcome(s) == "OVERLOADED"
    assert s.m.event.overload == 0.0
    assert s.m.finished == 1.0
    assert name(MODE, s.m.command.mode) == "HOLD"


@pytest.mark.parametrize(("overload", "expected"), [(0.0, "ABORTED"), (1.0, "OVERLOADED")])
def test_a_command_that_the_arm_breaks_off_ends_the_list(overload, expected):
    """After a load above its limit the arm has broken off because of it."""
    s = sequence("STEP", **LIST)
    for k in range(100):
        s.step(k * H, H)
        if s.m.command.step.trigger:
            s.m.command.state = STEP_STATE.codes["RUN" if k < 60 else "ABORTED"]
            s.m.load.exceeded = overload
    assert outcome(s) == expected


def test_time_limit_and_operator():
    s = sequence("NRT", **{"parameters.time_limit": 2.0})
    body = Ideal(s, (-1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    body.run(2.1)
    assert outcome(s) == "TIMED_OUT"
    s = sequence("NRT")
    body = Ideal(s, (-1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    s.m.operator.abort = 1.0
    body.run(0.1)
    assert outcome(s) == "ABORTED"
    assert s.m.command.abort == 1.0


def test_live_passes_the_hand_controllers_on():
    s = sequence("LIVE")
    s.m.hand.translation[:] = (0.5, -1.0, 0.0)
    s.m.hand.rotation[:] = (0.0, 0.1, 1.0)
    s.step(0.0, H)
    assert s.m.command.velocity == pytest.approx([0.0095, -0.010, 0.0])
    assert s.m.command.angular_velocity == pytest.approx([0.0, radians(0.015), radians(0.15)])


def order(s, **values):
    """Set what a live operator commands."""
    for key, value in values.items():
        setattr(s.m.operator if key == "mode" else s.m.operator.step, key, value)


def test_a_live_operator_commands_steps_and_inserts():
    """The operator starts each command (manipulator 3.7); a trigger that stays set does not start another one."""
    s = sequence("LIVE")
    s.m.hand.translation[:] = (0.5, -1.0, 0.0)
    s.step(0.0, H)
    assert name(MODE, s.m.command.mode) == "SEMI"
    order(s, mode=MODE.codes["SUPV"], type=STEP_TYPE.codes["STEP"], axis=2, amplitude=-0.02, speed=0.01)
    assert carry_out(s, 1.0) == []
    # the hand controllers, still deflected, move nothing
    assert name(MODE, s.m.command.mode) == "SUPV"
    assert s.m.command.velocity == pytest.approx([0.0, 0.0, 0.0])
    assert s.m.sight.deflection == pytest.approx([0.0] * 6)
    order(s, trigger=1.0)
    assert [entry[1:] for entry in carry_out(s, 1.0)] == [("STEP", 2, -0.02)]
    assert s.m.command.step.speed == 0.01
    assert phase(s) == "STEP"
    # what is chosen for the next command changes nothing of this one
    order(s, type=STEP_TYPE.codes["INSERT"], axis=1, amplitude=0.1)
    s.step(1.0, H)
    assert phase(s) == "STEP"
    assert carry_out(s, 1.0) == []
    assert phase(s) == "WAIT"
    order(s, trigger=0.0)
    carry_out(s, 0.1)
    order(s, trigger=1.0)
    assert [entry[1:] for entry in carry_out(s, 1.0)] == [("INSERT", 1, 0.1)]
    assert phase(s) == "INSERT"
    order(s, mode=MODE.codes["SEMI"], trigger=1.0)
    s.step(0.0, H)
    assert s.m.command.velocity == pytest.approx([0.0095, -0.010, 0.0])
    assert s.m.command.step.trigger == 0.0
    for other in ("AUTO", "LIMP", "BRAKE", "HOLD", "SINGLE"):
        order(s, mode=MODE.codes[other])
        s.step(0.0, H)
        assert name(MODE, s.m.command.mode) == "HOLD"
        assert s.m.command.velocity == pytest.approx([0.0, 0.0, 0.0])


def test_an_insert_of_a_live_operator_runs_to_its_end_after_capture():
    """The sequence ends `post_time` after capture or after the Insert, whichever is later (source 8.4)."""
    s = sequence("LIVE", **{"operator.mode": MODE.codes["SUPV"], "parameters.limit.guard": 0.0})
    order(s, type=STEP_TYPE.codes["INSERT"], axis=1, amplitude=0.1, trigger=1.0)
    seen = []
    arm = STEP_STATE.codes
    for k in range(round(30.0 / H)):
        t = k * H
        s.m.command.state = arm["RUN"] if 0.1 < t < 20.0 else arm["HOLD"] if t >= 20.0 else arm["IDLE"]
        s.m.sensor.capture = float(t >= 10.0)
        s.step(t, H)
        seen.append(phase(s))
        if s.m.finished:
            break
    assert s.m.event.capture == pytest.approx(10.0)
    assert s.m.event.end == pytest.approx(25.0, abs=H)
    assert outcome(s) == "BERTHED"
    assert [p for k, p in enumerate(seen) if k == 0 or p != seen[k - 1]] == ["WAIT", "INSERT", "CAPTURED", "END"]


@pytest.mark.parametrize("kind", ["STEP", "INSERT"])
@pytest.mark.parametrize("mode", ["HOLD", "SEMI"])
def test_a_change_of_mode_breaks_a_command_off_and_the_end_comes_after_it(kind, mode):
    """The sequence ends `post_time` after the command, though capture was longer ago: at 25 s, not at 20 s."""
    s = sequence("LIVE", **{"operator.mode": MODE.codes["SUPV"], "parameters.limit.guard": 0.0})
    order(s, type=STEP_TYPE.codes[kind], axis=1, amplitude=0.1, trigger=1.0)
    for k in range(round(30.0 / H)):
        t = k * H
        if t >= 20.0:
            order(s, mode=MODE.codes[mode])
        s.m.command.state = STEP_STATE.codes["RUN" if 0.1 < t <= 20.0 else "IDLE"]
        s.m.sensor.capture = float(t >= 10.0)
        s.step(t, H)
        if s.m.finished:
            break
    assert s.m.event.capture == pytest.approx(10.0)
    assert s.m.event.end == pytest.approx(25.0, abs=H)
    assert outcome(s) == "BERTHED"


def test_a_live_operator_may_command_again_after_the_arm_has_broken_off():
    s = sequence("LIVE", **{"operator.mode": MODE.codes["SUPV"]})
    for state, shown in (("IDLE", "WAIT"), ("RUN", "STEP"), ("ABORTED", "WAIT"), ("RUN", "STEP")):
        s.m.command.state = STEP_STATE.codes[state]
        s.step(0.0, H)
        assert phase(s) == shown
    assert outcome(s) == "NONE"


def test_what_comes_in_is_checked():
    s = sequence("RT")
    s.m.tip.force[1] = np.nan
    with pytest.raises(ComponentError, match=r"input 2 of .* \(1 relative, 2 tip, 3 hand, 4 operator\) is not finite"):
        s.step(0.0, H)
    s = sequence("LIVE")
    s.m.operator.step.amplitude = np.inf
    with pytest.raises(ComponentError, match=r"input 4 of .* 4 operator\)"):
        s.step(0.0, H)
    with pytest.raises(ComponentError, match=r"relative.quaternion has norm 0"):
        sequence("NRT", **{"relative.quaternion": (0.0, 0.0, 0.0, 0.0)})
    with pytest.raises(ComponentError, match=r"operator.delay = 2 s must not exceed 0.7 s"):
        sequence("RT", **{"parameters.operator.delay": 2.0})


@pytest.mark.parametrize("start_time", [-0.3, -1.0, -1.5, -7.0, 1000.0])
def test_a_run_may_start_before_zero(start_time):
    """The look of the operator, contact and capture as from 0, with the times of events shifted."""

    def course(begin):
        s = Instance(component(), start_time=begin, **{"parameters.script": SCRIPT.codes["NRT"]})
        rows = []
        for k in range(500):
            s.m.sensor.first_contact = float(k >= 40)
            s.m.sensor.capture = float(k >= 60)
            s.step(begin + k * H, H)
            flags = [float(s.m.happened[name]) for name in s.m.happened.dtype.names]
            rows.append((phase(s), outcome(s), flags, s.m.command.velocity.tolist()))
        happened = [name for name in s.m.event.dtype.names if s.m.happened[name]]
        return rows, {name: float(s.m.event[name]) - begin for name in happened}

    expected, times = course(0.0)
    found, shifted = course(start_time)
    assert found == expected
    assert shifted == pytest.approx(times, abs=1e-9)
    assert times["first_contact"] == pytest.approx(40 * H)
    assert times["capture"] == pytest.approx(60 * H)
    assert "end" in times
