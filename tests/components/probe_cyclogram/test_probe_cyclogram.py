"""Every phase, timer, time limit and manual command of the cyclogram, central-docking section 6."""

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.probe_cyclogram import component
from dockfmu.components.probe_cyclogram.ports import OUTCOME, PHASE
from tests.components.cyclogram_rig import DOCKING, CyclogramRig, H

pytestmark = pytest.mark.quick


class Rig(CyclogramRig):
    groups = dict.fromkeys(("start", "abort", "undock"), "operator") | DOCKING
    phases, outcomes = PHASE, OUTCOME

    def __init__(self, start_time=0.0, **parameters):
        super().__init__(component(), start_time, **parameters)

    @property
    def commands(self):
        c = self.m.command
        return {
            "motor": tuple(map(float, c.motor_voltage)),
            "push": int(c.push),
            "brakes": bool(c.lateral_brakes),
            "latches": bool(c.latches_armed),
            "hold": tuple(map(bool, c.attitude_hold)),
        }


def captured():
    """Extended at 0, first contact at 1 s, capture at 3 s."""
    return Rig().run(0.9, extended=1).run(1.0, first_contact=1).run(2.9, first_contact=0).run(3.0, capture=1)


def started():
    """... socket bottom at 3.5 s: the start of docking."""
    return captured().run(3.4).run(3.5, socket_bottom=1).run(3.6, socket_bottom=0)


def test_prepare_extends_until_the_sensor():
    rig = Rig().run(5.0)
    assert rig.phase == "PREPARE"
    assert rig.commands == {"motor": (-27.0, -27.0), "push": 0, "brakes": False, "latches": True, "hold": (True, True)}
    rig.run(5.1, extended=1)
    assert rig.phase == "READY"
    assert rig.commands["motor"] == (0.0, 0.0)


def test_ready_waits_for_the_first_contact_and_latches_it():
    rig = Rig().run(99.9, extended=1)
    assert (rig.phase, rig.m.event.first_contact) == ("READY", -1.0)
    rig.run(100.0, first_contact=1)
    assert (rig.phase, rig.commands["push"], rig.commands["hold"]) == ("PUSH", 1, (True, True))
    rig.run(105.0, first_contact=0).run(106.0, first_contact=1)
    assert rig.phase == "PUSH"
    assert rig.m.event.first_contact == pytest.approx(100.0)


@pytest.mark.parametrize("sensor", ["capture", "socket_bottom"])
def test_spec00_r41_capture_or_bottom_without_first_contact_starts_the_sequence(sensor):
    """A centred head goes down the socket without touching the cone."""
    rig = Rig().run(0.9, extended=1).run(1.0, **{sensor: 1})
    assert rig.phase == ("CAPTURED" if sensor == "capture" else "PUSH")
    assert rig.m.event.first_contact == pytest.approx(1.0)
    rig.run(2.0, capture=1, socket_bottom=1)
    assert rig.m.event.start == pytest.approx(1.1)
    rig.run(50.0, plane_gap=0.009)
    assert (rig.phase, rig.outcome) == ("END", "DOCKED")


def test_spec00_r41_outcome_of_each_end():
    assert Rig().run(5.0).outcome == "NONE"
    assert Rig().run(0.9, extended=1).run(100.0).outcome == "NONE", "never touched"
    assert started().run(40.0).outcome == "NONE"
    assert started().run(100.0, plane_gap=0.01).outcome == "DOCKED"
    assert started().run(100.0, plane_gap=0.02).outcome == "NONE"
    assert started().run(99.0, plane_gap=0.02).run(100.0, retracted=1).outcome == "DOCKED"
    retreating = Rig().run(0.9, extended=1).run(1.0, first_contact=1).run(20.9)
    assert (retreating.phase, retreating.outcome) == ("RETREAT", "NONE")
    assert retreating.run(21.0).outcome == "RETREATED"
    assert Rig().run(0.8, extended=1).run(1.5, abort=1).run(1.6, abort=0).run(12.0).outcome == "ABORTED"
    assert captured().run(4.0, abort=1).outcome == "ABORTED"


def test_spec00_r41_a_probe_that_comes_back_alone_has_not_docked():
    rig = started().run(100.0, plane_gap=0.8).run(100.1, retracted=1)
    assert (rig.phase, rig.outcome, rig.commands["motor"]) == ("END", "ABORTED", (0.0, 0.0))


def test_spec00_r41_timed_out_until_the_operator_goes_on():
    rig = captured().run(62.9)
    assert rig.outcome == "NONE"
    assert rig.run(80.0).outcome == "TIMED_OUT"
    assert rig.run(80.1, start=1).outcome == "NONE"
    assert rig.run(200.0, start=0, plane_gap=0.009).outcome == "DOCKED"
    assert captured().run(80.0).run(80.1, abort=1).outcome == "ABORTED"


def test_no_capture_in_ten_seconds_retreats_and_ends():
    rig = Rig().run(0.9, extended=1).run(1.0, first_contact=1).run(10.9)
    assert rig.phase == "PUSH"
    rig.run(11.0)
    assert rig.phase == "RETREAT"
    assert rig.commands == {"motor": (0.0, 0.0), "push": -1, "brakes": False, "latches": False, "hold": (True, True)}
    rig.run(20.9, capture=1)
    assert rig.phase == "RETREAT", "too late to capture"
    rig.run(21.0)
    assert (rig.phase, rig.m.finished, rig.commands["push"]) == ("END", 1.0, 0)
    assert rig.m.event.end == pytest.approx(21.0)
    assert rig.m.event.capture == -1.0


def test_socket_bottom_before_capture_ends_the_push():
    rig = Rig().run(0.9, extended=1).run(1.0, first_contact=1).run(2.0, socket_bottom=1)
    assert (rig.phase, rig.commands["push"]) == ("PUSH", 0)
    rig.run(3.0, socket_bottom=0)
    assert rig.commands["push"] == 0
    rig.run(11.0)
    assert rig.phase == "RETREAT"


def test_capture_releases_attitude_and_pushes_on_to_the_bottom():
    rig = captured()
    assert (rig.phase, rig.commands["push"], rig.commands["hold"]) == ("CAPTURED", 1, (False, False))
    assert rig.m.event.capture == pytest.approx(3.0)
    rig.run(10.9)
    assert rig.commands["push"] == 1
    rig.run(11.0)
    assert (rig.phase, rig.commands["push"]) == ("CAPTURED", 0), "not beyond 10 s from first contact"


def test_start_when_captured_and_at_the_bottom():
    rig = started()
    assert (rig.phase, rig.commands["push"]) == ("START", 0)
    assert rig.m.event.start == pytest.approx(3.5)


def test_capture_and_bottom_at_once_start_in_one_step():
    rig = Rig().run(0.9, extended=1).run(1.0, first_contact=1, capture=1, socket_bottom=1)
    assert rig.phase == "START"
    assert rig.m.event.first_contact == rig.m.event.capture == rig.m.event.start == pytest.approx(1.0)


def test_spec06_oracle_21_brakes_thirty_seconds_and_drive_at_thirty_five():
    rig = started()
    on, drive = [], []
    while rig.phase != "RETRACT":
        rig.run(rig.k * H)
        if rig.commands["brakes"]:
            on.append((rig.k - 1) * H)
        drive.append(((rig.k - 1) * H, rig.commands["motor"][0]))
    assert on[0] == pytest.approx(3.5 + 2.0)
    assert on[-1] + H == pytest.approx(3.5 + 32.0)
    assert len(on) == round(30.0 / H)
    assert drive[-1] == (pytest.approx(3.5 + 35.0), 27.0)
    assert all(voltage == 0.0 for _, voltage in drive[:-1])


def test_retraction_ends_at_the_plane_gap():
    rig = started().run(100.0, plane_gap=0.011)
    assert (rig.phase, rig.m.finished) == ("RETRACT", 0.0)
    rig.run(100.1, plane_gap=0.01)
    assert (rig.phase, rig.m.finished, rig.commands["motor"]) == ("END", 1.0, (0.0, 0.0))
    assert rig.m.event.end == pytest.approx(100.1)
    assert rig.commands["hold"] == (False, False)


def test_retraction_ends_when_the_probe_is_retracted():
    assert started().run(99.0, plane_gap=0.02).run(100.0, retracted=1).phase == "END"


def test_missing_bottom_waits_for_the_operator():
    rig = captured().run(62.9)
    assert (rig.phase, rig.m.overdue) == ("CAPTURED", 0.0)
    rig.run(63.0)
    assert (rig.phase, rig.m.overdue) == ("CAPTURED", 1.0)
    rig.run(70.0, start=1)
    assert (rig.phase, rig.m.overdue) == ("DAMP", 0.0)
    assert rig.m.event.start == pytest.approx(63.1)


def test_overdue_retraction_stops_the_drive_until_the_operator_goes_on():
    rig = started().run(38.5 + 449.9)
    assert (rig.phase, rig.commands["motor"]) == ("RETRACT", (27.0, 27.0))
    rig.run(38.5 + 450.0)
    assert (rig.phase, rig.m.overdue, rig.commands["motor"]) == ("RETRACT", 1.0, (0.0, 0.0))
    rig.run(38.5 + 460.0, start=1)
    assert (rig.m.overdue, rig.commands["motor"]) == (0.0, (27.0, 27.0))


def test_overdue_extension_stops_the_drive():
    rig = Rig(extension_limit=50.0).run(50.0)
    assert (rig.phase, rig.m.overdue, rig.commands["motor"]) == ("PREPARE", 1.0, (0.0, 0.0))
    assert rig.run(51.0, start=1).commands["motor"] == (-27.0, -27.0)


@pytest.mark.parametrize("until", [0.95, 1.5])
def test_abort_before_capture_retreats(until):
    rig = Rig().run(0.8, extended=1).run(until, first_contact=until > 1.0).run(until + H, abort=1)
    assert (rig.phase, rig.commands["push"], rig.commands["latches"]) == ("RETREAT", -1, False)
    assert rig.run(until + 10.2).phase == "END"


@pytest.mark.parametrize("until", [3.2, 4.0, 20.0, 60.0])
def test_abort_after_capture_switches_everything_off(until):
    rig = started().run(until).run(until + H, abort=1) if until > 3.5 else captured().run(until + H, abort=1)
    assert (rig.phase, rig.m.finished) == ("END", 1.0)
    assert rig.commands == {"motor": (0.0, 0.0), "push": 0, "brakes": False, "latches": True, "hold": (False, False)}


def test_spec06_oracle_27_faults():
    rig = Rig(**{"fault.motor": (0.0, 1.0), "fault.push": 1.0, "fault.lateral_brakes": 1.0, "fault.attitude_hold": 1.0})
    rig.run(0.9, extended=1).run(1.0, first_contact=1)
    assert rig.commands["push"] == 0
    rig.run(3.0, capture=1, socket_bottom=1)
    assert rig.commands["hold"] == (True, True)
    rig.run(20.0)
    assert (rig.phase, rig.commands["brakes"]) == ("DAMP", False)
    rig.run(50.0)
    assert rig.commands["motor"] == (27.0, 0.0)


def test_attitude_control_can_be_left_off():
    assert Rig(attitude_control=(0.0, 0.0)).run(1.0).commands["hold"] == (False, False)


def test_times_do_not_depend_on_the_step():
    """A step of 1 s and steps of 0.1 s switch at the same communication points."""
    coarse = Instance(component(), **{"sensor.extended": 1.0})
    coarse.m.sensor.first_contact = coarse.m.sensor.capture = coarse.m.sensor.socket_bottom = 1.0
    voltages = []
    for k in range(40):
        coarse.step(float(k), 1.0)
        voltages.append(coarse.m.command.motor_voltage[0])
    assert np.flatnonzero(voltages)[0] == 35


def test_not_a_number_is_refused():
    rig = Rig()
    with pytest.raises(ComponentError, match=r"docking.plane_gap = nan m is not finite"):
        rig.run(0.0, plane_gap=float("nan"))


def story(start_time):
    """Every public value over a docking that starts at `start_time`, and the names of the values."""
    rig = Rig(start_time)
    rows = []
    for until, sensors in (
        (0.4, {}),
        (0.9, {"extended": 1}),
        (2.9, {"first_contact": 1}),
        (3.4, {"capture": 1}),
        (3.6, {"socket_bottom": 1}),
        (60.0, {"socket_bottom": 0}),
        (61.0, {"retracted": 1, "plane_gap": 0.02}),
        (62.0, {"undock": 1}),
        (63.0, {"capture": 0, "undock": 0, "velocity": (-0.1, 0.0, 0.0)}),
        (64.0, {"plane_gap": 0.9}),
    ):
        while rig.k * H < until:
            rig.run(rig.k * H, **sensors)
            rows.append(rig.instance.block.copy())
    record = component().record
    names = [slot.name for slot in record.variables]
    return np.array(rows)[:, [slot.index for slot in record.variables]], names


@pytest.mark.parametrize("start_time", [5000.0, -1000.0, -3.0])
def test_a_run_that_starts_at_another_time_is_the_same_shifted(start_time):
    """Timers count from the start of the run, not from 0 (FMI: startTime); times of events are shifted, -1 before."""
    rows, names = story(0.0)
    shifted, _ = story(start_time)
    for column, name in enumerate(names):
        if name.startswith("event."):
            before = rows[:, column] == -1.0
            assert (shifted[before, column] == -1.0).all(), name
            assert not before.all(), name
            assert shifted[~before, column] - start_time == pytest.approx(rows[~before, column], abs=1e-9), name
        else:
            assert np.array_equal(rows[:, column], shifted[:, column]), name


class Plant:
    """A probe in a socket in a few lines: contact, capture, bottom, and a drive that retracts what is captured."""

    def __init__(self, **fault):
        self.instance = Instance(
            component(),
            start_time=-20.0,
            **{"parameters.retreat_time": 5.0, "parameters.contact_limit": 200.0},
            **{f"parameters.fault.{name}": value for name, value in fault.items()},
        )
        self.m = self.instance.m

    def run(self, captures=True, stop=1500.0):
        """Run until the sequence ends, waits or `stop`; return its outcome. First contact at -10 s, if it comes."""
        c, sensor, travel, held = self.m.command, self.m.sensor, 0.0, False
        sensor.extended = 1.0
        for k in range(round((stop + 20.0) / H)):
            t = -20.0 + k * H
            # the head bounces: pulses of one look
            sensor.first_contact = float(k in (100, 108))
            held = (held or (captures and k == 118)) and c.latches_armed > 0.0
            sensor.capture = float(held)
            sensor.socket_bottom = float(captures and k == 123)
            travel += 1e-3 * H * np.mean(c.motor_voltage) / 27.0
            self.m.docking.plane_gap = 0.3 - travel if held else 0.8
            sensor.retracted = float(travel >= 0.3)
            self.instance.step(t, H)
            if self.m.finished > 0.0 or self.m.overdue > 0.0:
                break
        return next(name for name, code in OUTCOME.codes.items() if code == self.m.outcome)


DK1, DK2, DSG = 0, 1, 2
WORKS, MISSING, STUCK, LATE = 1.0, 2.0, 3.0, 4.0


def faulty(k, kind, value=0.0):
    fault = {"sensor": [WORKS] * 3, "stuck_at": [0.0] * 3, "delay": [0.0] * 3}
    fault["sensor"][k] = kind
    fault["stuck_at" if kind == STUCK else "delay"][k] = value
    return fault


@pytest.mark.parametrize(
    ("fault", "captured", "missed"),
    [
        ({}, "DOCKED", "RETREATED"),
        # capture or bottom start the sequence without DK1 (R41); with neither the wait has a limit
        (faulty(DK1, MISSING), "DOCKED", "TIMED_OUT"),
        (faulty(DK1, STUCK, 0.0), "DOCKED", "TIMED_OUT"),
        (faulty(DK1, STUCK, 1.0), "RETREATED", "RETREATED"),
        (faulty(DK1, LATE, 0.5), "DOCKED", "RETREATED"),
        (faulty(DK1, LATE, 30.0), "DOCKED", "RETREATED"),
        (faulty(DK2, MISSING), "TIMED_OUT", "RETREATED"),
        (faulty(DK2, STUCK, 0.0), "TIMED_OUT", "RETREATED"),
        (faulty(DK2, STUCK, 1.0), "RETREATED", "RETREATED"),
        (faulty(DK2, LATE, 3.0), "DOCKED", "RETREATED"),
        (faulty(DK2, LATE, 90.0), "TIMED_OUT", "RETREATED"),
        (faulty(DSG, MISSING), "RETREATED", "RETREATED"),
        (faulty(DSG, STUCK, 0.0), "RETREATED", "RETREATED"),
        # the bottom is reached, or not: then the sequence waits for it
        (faulty(DSG, STUCK, 1.0), "DOCKED", "TIMED_OUT"),
        (faulty(DSG, LATE, 0.3), "DOCKED", "RETREATED"),
        # the one touch of the bottom was before
        (faulty(DSG, LATE, 3.0), "TIMED_OUT", "RETREATED"),
        (faulty(DSG, LATE, 12.0), "RETREATED", "RETREATED"),
    ],
)
def test_every_fault_of_a_sensor_ends_in_a_told_outcome(fault, captured, missed):
    """With a plant that captures and with one that does not; devices are off at the end.

    Theory: central-docking 6.2 note e.
    """
    for captures, expected in ((True, captured), (False, missed)):
        plant = Plant(**fault)
        assert plant.run(captures) == expected
        assert plant.m.command.motor_voltage.tolist() == [0.0, 0.0]
        assert plant.m.command.push == 0.0


def test_a_probe_that_comes_back_alone_after_a_false_capture_is_aborted():
    """DSG and DK2 both stuck: the sequence retracts an empty probe, and says so."""
    fault = {"sensor": [WORKS, STUCK, STUCK], "stuck_at": [0.0, 1.0, 1.0]}
    assert Plant(**fault).run(captures=False) == "ABORTED"


def test_a_late_sensor_tells_pulses_later_and_not_twice():
    rig = Rig(**{"fault.sensor": [LATE, WORKS, WORKS], "fault.delay": [2.0, 0.0, 0.0]})
    rig.run(0.9, extended=1).run(1.0, first_contact=1).run(2.9, first_contact=0)
    assert rig.phase == "READY"
    rig.run(3.0)
    assert (rig.phase, rig.m.event.first_contact) == ("PUSH", pytest.approx(3.0))
    assert rig.m.work.reading[DK1].value == 1.0
    rig.run(3.1)
    assert rig.m.work.reading[DK1].value == 0.0


@pytest.mark.parametrize(("dead", "outcome", "end"), [((0.0, 0.0), "DOCKED", 316.4), ((0.0, 1.0), "DOCKED", 606.4)])
def test_with_one_motor_the_time_limit_fits_the_speed(dead, outcome, end):
    """Half the speed, twice the limit: 290 s of retraction, or 580 s, beyond the limit of 450 s of two motors."""
    plant = Plant(motor=dead)
    assert plant.run() == outcome
    assert plant.m.event.end == pytest.approx(end + 1.0, abs=1.5)
    both = Plant(motor=(1.0, 1.0))
    assert both.run() == "TIMED_OUT"


@pytest.mark.parametrize("start_time", [-0.3, -1.0, -1.5, -7.0, -500.0, 1000.0])
def test_a_run_may_start_before_zero(start_time):
    """All phases, flags and commands as from 0, with the times of events shifted."""

    def course(begin):
        rig, rows = Rig(start_time=begin), []
        script = {0: {"extended": 1}, 10: {"first_contact": 1}, 11: {"first_contact": 0}, 30: {"capture": 1},
                  35: {"socket_bottom": 1}, 36: {"socket_bottom": 0}, 500: {"plane_gap": 0.005}}  # fmt: skip
        for k in range(520):
            rig.run(k * H, **script.get(k, {}))
            flags = [rig.m.happened[name] for name in rig.m.happened.dtype.names]
            rows.append((rig.phase, rig.outcome, flags, str(rig.commands)))
        happened = [name for name in rig.m.event.dtype.names if rig.m.happened[name]]
        times = {name: float(rig.m.event[name]) - begin for name in happened}
        return rows, times

    expected, times = course(0.0)
    found, shifted = course(start_time)
    assert found == expected
    assert shifted == pytest.approx(times, abs=1e-9)
    assert set(times) == {"first_contact", "capture", "start", "end"}


def test_a_held_limiter_is_released_some_time_after_capture():
    rig = Rig(limiter_held=1.0, limiter_delay=4.0)
    rig.run(0.9, extended=1).run(1.0, first_contact=1).run(2.9, first_contact=0).run(3.0, capture=1).run(6.9)
    assert rig.m.command.limiter_release == 0.0
    assert rig.run(7.0).m.command.limiter_release == 1.0
    assert captured().m.command.limiter_release == 1.0
    never = Rig(limiter_held=1.0).run(0.9, extended=1).run(1.0, first_contact=1).run(30.0)
    assert (never.outcome, never.m.command.limiter_release) == ("RETREATED", 0.0)


@pytest.mark.parametrize(
    ("roll", "outcome"), [(1.9, "DOCKED"), (-1.9, "DOCKED"), (2.1, "MISALIGNED"), (-12.0, "MISALIGNED")]
)
def test_spec05_6_6_more_roll_than_the_slots_leave_is_no_docking(roll, outcome):
    """Planes that meet while the head moves in its play, with the latches in the wide parts of their slots."""
    for end in ({"plane_gap": 0.009}, {"plane_gap": 0.02, "retracted": 1}):
        rig = started()
        rig.m.docking.angles[2] = np.radians(roll)
        rig.run(40.0).run(40.1, **end)
        assert (rig.phase, rig.outcome, rig.commands["motor"]) == ("END", outcome, (0.0, 0.0))


def mated(**parameters):
    """Docked, the head held by its latches, the probe retracted."""
    rig = Rig(initial_phase=PHASE.codes["MATED"], **parameters)
    return rig.run(0.9, capture=1, retracted=1, plane_gap=0.01)


def test_undocking_withdraws_the_latches_and_ends_where_the_units_are_clear():
    """Commanded by the operator: RELEASE until the latches let go, SEPARATE until the gap of `separated_gap`."""
    rig = mated()
    assert (rig.phase, rig.outcome, rig.m.finished) == ("MATED", "NONE", 0.0)
    held = {"motor": (0.0, 0.0), "push": 0, "brakes": False, "latches": True, "hold": (False, False)}
    assert rig.commands == held
    rig.run(1.0, undock=1)
    assert (rig.phase, rig.m.event.release, rig.m.happened.release) == ("RELEASE", pytest.approx(1.0), 1.0)
    assert rig.commands == {**held, "latches": False}
    rig.run(1.2, undock=0)
    assert rig.phase == "RELEASE", "the latches still hold"
    rig.run(1.3, capture=0)
    assert (rig.phase, rig.m.event.separation) == ("SEPARATE", pytest.approx(1.3))
    rig.run(2.0, plane_gap=0.84, velocity=(-0.06, 0.003, 0.004), angular_velocity=(-0.001, 0.003, -0.004))
    assert (rig.phase, rig.m.finished) == ("SEPARATE", 0.0)
    rig.run(2.1, plane_gap=0.85, velocity=(-0.05, 0.003, 0.004))
    assert (rig.phase, rig.outcome, rig.m.finished) == ("END", "SEPARATED", 1.0)
    rig.run(3.0, velocity=(-9.0, 9.0, 9.0), angular_velocity=(9.0, 9.0, 9.0), undock=1)
    parting = rig.m.separation
    assert (parting.speed, parting.lateral_speed) == pytest.approx((0.05, 0.005)), "frozen at the end"
    assert (parting.tip_off_rate, parting.roll_rate) == pytest.approx((0.005, 0.001))
    assert (rig.phase, rig.outcome, rig.commands) == ("END", "SEPARATED", {**held, "latches": False})


def test_undocking_can_follow_a_docking_in_one_sequence():
    rig = started()
    rig.m.parameters.undocking_delay = 2.0
    rig.run(40.0).run(40.1, plane_gap=0.009)
    assert (rig.phase, rig.outcome, rig.m.finished) == ("MATED", "DOCKED", 0.0)
    docked = rig.m.event.end
    rig.run(docked + 1.9)
    assert rig.phase == "MATED"
    rig.run(docked + 2.0)
    assert (rig.phase, rig.outcome, rig.commands["latches"]) == ("RELEASE", "NONE", False)


def test_undocking_begins_by_the_operator_only_after_a_docking():
    """After a docking that has ended, aligned or not; not after one that was aborted."""
    for roll, outcome in ((0.0, "DOCKED"), (5.0, "MISALIGNED")):
        rig = started()
        rig.m.docking.angles[2] = np.radians(roll)
        rig.run(40.0).run(50.0, plane_gap=0.009)
        assert (rig.phase, rig.outcome) == ("END", outcome)
        rig.run(50.1, undock=1).run(50.2, capture=0)
        assert (rig.phase, rig.outcome, rig.m.finished) == ("SEPARATE", "NONE", 0.0)
    rig = started().run(40.0, abort=1).run(41.0, undock=1)
    assert (rig.phase, rig.outcome) == ("END", "ABORTED")


def test_latches_that_are_not_withdrawn_stop_the_undocking():
    rig = mated(**{"fault.latch_drive": 1.0, "undocking_delay": 0.0}).run(4.9)
    assert (rig.phase, rig.outcome, rig.commands["latches"]) == ("RELEASE", "NONE", True)
    rig.run(5.1)
    assert (rig.phase, rig.outcome) == ("RELEASE", "TIMED_OUT")
    rig.run(5.2, start=1)
    assert (rig.phase, rig.outcome) == ("RELEASE", "NONE"), "the operator renews the limit"
    rig.run(6.0, abort=1)
    assert (rig.phase, rig.outcome) == ("END", "ABORTED")


def test_units_that_do_not_part_time_out():
    rig = mated(undocking_delay=0.0, separation_limit=20.0).run(2.0, capture=0).run(22.0)
    assert (rig.phase, rig.outcome) == ("SEPARATE", "TIMED_OUT")


def test_a_sequence_begins_in_prepare_or_mated():
    with pytest.raises(ComponentError, match=r"initial_phase = 9 must be 1 \(PREPARE\) or 10 \(MATED\)"):
        Rig(initial_phase=PHASE.codes["END"])


@pytest.mark.parametrize(("radius", "retreats"), [(0.0, False), (0.35, True)])
def test_a_head_on_the_docking_frame_reverses_the_thrust_at_once(radius, retreats):
    """DK2 of the frame; a head on the cone pushes, and so does one on the frame without the sensor."""
    rig = Rig(frame_radius=radius).run(0.9, extended=1)
    rig.m.docking.position[:], rig.m.docking.angles[0] = (-0.9, 0.2, -0.2), -0.1  # 0.23 m aside
    rig.run(1.0, first_contact=1)
    assert (rig.phase, rig.commands["push"]) == ("PUSH", 1)
    rig.m.docking.angles[0] = 0.15  # 0.39 m aside
    rig.run(1.1)
    assert rig.commands["push"] == (-1 if retreats else 1)
    rig.run(1.2 + 10.0)
    assert (rig.outcome == "RETREATED") is retreats
