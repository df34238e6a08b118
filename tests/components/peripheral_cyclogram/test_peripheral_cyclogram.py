"""Every phase, timer, time limit and manual command of the cyclogram, peripheral-docking section 9."""

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError
from dockfmu.components.peripheral_cyclogram import component
from dockfmu.components.peripheral_cyclogram.ports import PERIPHERAL_OUTCOME, PERIPHERAL_PHASE
from tests.components.cyclogram_rig import DOCKING, CyclogramRig, H

pytestmark = pytest.mark.quick

ALL = [1.0] * 6
# rings clear of each other
APART = {"contact": 0, "plane_gap": 1.0}


class Rig(CyclogramRig):
    groups = {"extend": "operator", "abort": "operator", "undock": "operator", "contact": "flag"} | DOCKING
    phases, outcomes = PERIPHERAL_PHASE, PERIPHERAL_OUTCOME

    def __init__(self, start_time=0.0, **parameters):
        super().__init__(component(), start_time, **parameters)

    @property
    def locks(self):
        return [int(x) for x in self.m.command.recoil_lock]

    @property
    def volts(self):
        return tuple(map(float, self.m.command.motor_voltage))


def stowed(**parameters):
    return Rig(initial_phase=PERIPHERAL_PHASE.codes["STOWED"], **parameters)


def adapting(**parameters):
    """First contact at 1 s, initial position lost at 3 s."""
    rig = Rig(**parameters).run(0.9).run(1.0, contact=1)
    return rig.run(2.9).run(3.0, initial_position_lost=1)


def captured():
    """... capture at 3.2 s."""
    return adapting().run(3.1).run(3.2, capture=1, mated=[1.0] * 3, latched=ALL)


def test_stowed_until_the_operator_extends():
    rig = stowed().run(10.0)
    assert (rig.phase, rig.locks, rig.volts) == ("STOWED", [1] * 6, (0.0, 0.0))
    rig.run(10.1, extend=1)
    assert (rig.phase, rig.locks, rig.volts) == ("EXTEND", [0] * 6, (-27.0, -27.0))


def test_each_leg_is_locked_where_it_first_reaches_the_initial_position():
    rig = stowed().run(0.5, extend=1).run(1.0, initial_position=[0, 1, 0, 0, 0, 0])
    assert rig.locks == [0, 1, 0, 0, 0, 0]
    rig.run(2.0, initial_position=[1, 0, 1, 1, 1, 0])
    assert (rig.phase, rig.locks) == ("EXTEND", [1, 1, 1, 1, 1, 0]), "a leg that has passed IP stays locked"
    rig.run(2.1, initial_position=[0, 0, 0, 0, 0, 1])
    assert (rig.phase, rig.locks, rig.volts) == ("SLACK", [1] * 6, (-27.0, -27.0))
    rig.run(200.0, drive_limit=1)
    assert (rig.phase, rig.volts) == ("READY", (0.0, 0.0))


def test_loss_of_the_initial_position_unlocks_until_capture():
    rig = adapting()
    assert (rig.phase, rig.locks, rig.volts) == ("ADAPT", [0] * 6, (0.0, 0.0))
    assert (rig.m.event.first_contact, rig.m.event.initial_position_lost) == pytest.approx((1.0, 3.0))
    rig.run(3.1, initial_position_lost=0)
    assert rig.locks == [0] * 6, "the lock stays off"
    rig.run(3.2, capture=1)
    assert (rig.phase, rig.locks) == ("ABSORB", [1] * 6)


def test_capture_before_the_loss_inhibits_the_extension():
    rig = Rig().run(1.0, contact=1).run(1.1, capture=1).run(5.0, initial_position_lost=1)
    assert (rig.phase, rig.locks) == ("ABSORB", [1] * 6)
    assert rig.m.event.initial_position_lost == -1.0


def test_drive_on_ten_seconds_after_capture():
    rig = captured()
    t = rig.m.event.capture
    rig.run(t + 9.8)
    assert (rig.phase, rig.volts) == ("ABSORB", (0.0, 0.0))
    rig.run(t + 10.0)
    assert (rig.phase, rig.volts, rig.m.event.drive_on) == ("RETRACT", (27.0, 27.0), pytest.approx(t + 10.0))
    rig.run(200.0, retracted=1, plane_gap=0.003)
    assert (rig.phase, rig.outcome, rig.m.finished, rig.volts) == ("MATED", "DOCKED", 1.0, (0.0, 0.0))
    assert rig.m.event.end == pytest.approx(t + 10.1)


def test_a_ring_with_controllers_is_drawn_in_and_held_there():
    """`command.retract` holds from drive on, after the end too, and while a free ring is recovered and stowed."""
    rig = captured()
    t = rig.m.event.capture
    assert rig.run(t + 9.8).m.command.retract == 0.0
    assert rig.run(t + 10.0).m.command.retract == 1.0
    assert rig.run(200.0, retracted=1, plane_gap=0.003).m.command.retract == 1.0
    rig = adapting(recovery=1.0)
    t = rig.m.event.initial_position_lost
    assert rig.run(t + 24.8, **APART).m.command.retract == 0.0
    assert rig.run(t + 25.0).m.command.retract == 1.0
    rig.run(t + 26.0, retracted=1)
    assert (rig.phase, rig.m.command.retract) == ("STOWED", 1.0)


def mated(**parameters):
    """Docked, all latches behind their stops."""
    rig = Rig(initial_phase=PERIPHERAL_PHASE.codes["MATED"], **parameters)
    return rig.run(0.9, latched=ALL, retracted=1, plane_gap=0.0)


def test_undocking_draws_the_latches_in_and_ends_where_the_units_are_clear():
    """Commanded by the operator: RELEASE until no latch holds, SEPARATE until the gap of `separated_gap`."""
    rig = mated()
    assert (rig.phase, rig.outcome, rig.m.finished, rig.m.captured) == ("MATED", "NONE", 0.0, 1.0)
    assert [*rig.m.command.release] == [0.0] * 6
    rig.run(1.0, undock=1)
    assert (rig.phase, rig.m.event.release, [*rig.m.command.release]) == ("RELEASE", pytest.approx(1.0), ALL)
    rig.run(1.2, undock=0, latched=[0, 0, 1, 0, 0, 0])
    assert rig.phase == "RELEASE", "one latch still holds"
    rig.run(1.3, latched=[0.0] * 6)
    assert (rig.phase, rig.m.event.separation) == ("SEPARATE", pytest.approx(1.3))
    rig.run(2.0, plane_gap=0.49, velocity=[-0.06, 0.003, 0.004], angular_velocity=[-0.001, 0.003, -0.004])
    assert (rig.phase, rig.m.finished) == ("SEPARATE", 0.0)
    rig.run(2.1, plane_gap=0.5, velocity=[-0.05, 0.003, 0.004])
    assert (rig.phase, rig.outcome, rig.m.finished) == ("STOWED", "SEPARATED", 1.0)
    assert (rig.m.event.end, rig.volts, rig.m.command.push) == (pytest.approx(2.1), (0.0, 0.0), 0.0)
    rig.run(3.0, velocity=[-9.0] * 3, angular_velocity=[9.0] * 3)
    parting = rig.m.separation
    assert (parting.speed, parting.lateral_speed) == pytest.approx((0.05, 0.005)), "frozen at the end"
    assert (parting.tip_off_rate, parting.roll_rate) == pytest.approx((0.005, 0.001))
    assert [*rig.m.command.release] == ALL, "latches stay drawn in"
    rig.run(3.1, extend=1)
    assert (rig.phase, [*rig.m.command.release]) == ("EXTEND", [0.0] * 6), "and are let out for the next docking"


def test_undocking_can_follow_a_docking_in_one_sequence():
    rig = Rig(undocking_delay=2.0).run(1.0, contact=1).run(1.1, capture=1, latched=ALL)
    rig.run(12.0, retracted=1, plane_gap=0.003)
    assert (rig.phase, rig.outcome, rig.m.finished) == ("MATED", "DOCKED", 0.0)
    entered = rig.m.event.end
    rig.run(entered + 1.9)
    assert rig.phase == "MATED"
    rig.run(entered + 2.0)
    assert (rig.phase, rig.outcome) == ("RELEASE", "NONE")


def test_undocking_begins_by_the_operator_after_a_docking_that_has_ended():
    rig = captured()
    rig.run(30.0, retracted=1, plane_gap=0.003)
    assert (rig.phase, rig.m.finished) == ("MATED", 1.0)
    rig.run(30.1, undock=1).run(30.2, latched=[0.0] * 6)
    assert (rig.phase, rig.m.finished) == ("SEPARATE", 0.0)


def test_a_latch_that_does_not_let_go_stops_the_undocking():
    """`fault.latch`: its command is missing; RELEASE times out with the others still drawn in, and can be resumed."""
    rig = mated(**{"fault.latch": [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]}).run(1.0, undock=1)
    held = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    assert [*rig.m.command.release] == [1.0 - k for k in held]
    rig.run(5.9, latched=held, undock=0)
    assert rig.phase == "RELEASE"
    rig.run(6.1)
    assert (rig.phase, rig.outcome) == ("FAULT", "TIMED_OUT")
    assert sum(rig.m.command.release) == 5.0
    rig.run(7.0, extend=1)
    assert rig.phase == "RELEASE"


def test_units_that_do_not_part_time_out():
    rig = mated(undocking_delay=0.0).run(1.2, latched=[0.0] * 6)
    assert rig.phase == "SEPARATE"
    rig.run(rig.m.event.separation + 60.1, plane_gap=0.3)
    assert (rig.phase, rig.outcome) == ("FAULT", "TIMED_OUT")


def test_a_ring_that_comes_back_alone_has_not_docked():
    rig = captured().run(20.0).run(21.0, retracted=1, plane_gap=0.5)
    assert (rig.phase, rig.outcome) == ("END", "ABORTED")


def test_no_capture_in_time_departs():
    rig = adapting()
    t = rig.m.event.initial_position_lost
    rig.run(t + 14.8)
    assert rig.phase == "ADAPT"
    rig.run(t + 15.0)
    assert (rig.phase, rig.locks, rig.m.command.push) == ("DEPART", [1] * 6, -1)
    rig.run(t + 24.8, **APART)
    assert (rig.m.finished, rig.outcome) == (0.0, "NONE")
    rig.run(t + 25.0)
    assert (rig.phase, rig.outcome, rig.m.finished, rig.m.command.push) == ("END", "RETREATED", 1.0, 0)


@pytest.mark.parametrize("still", [{"contact": 1}, {"plane_gap": 0.7}])
def test_ruling_R53_units_that_are_not_apart_have_not_retreated(still):
    """Thrust goes on until the rings are clear of each other, at most for `retreat_limit`; then the operator acts."""
    rig = adapting()
    t = rig.m.event.initial_position_lost + 15.0
    rig.run(t + 59.8, **{**APART, **still})
    assert (rig.phase, rig.outcome, rig.m.command.push) == ("DEPART", "NONE", -1)
    rig.run(t + 60.1)
    assert (rig.phase, rig.outcome, rig.m.command.push) == ("FAULT", "TIMED_OUT", 0)
    rig = adapting().run(t + 30.0, **{**APART, **still})
    assert rig.run(t + 30.1, **APART).outcome == "RETREATED"


def test_ruling_R53_latched_without_capture_is_an_outcome_of_its_own():
    """No thrust against held latches: neither at the end of the wait, nor by abort, nor when one catches on the way."""
    waiting = adapting().run(17.0, latched=[0, 0, 0, 1, 0, 0])
    pushes = {waiting.run(17.0 + 0.1 * k).m.command.push for k in range(1, 30)}
    assert (waiting.phase, waiting.outcome, waiting.m.finished, pushes) == ("END", "LATCHED", 1.0, {0.0})
    aborted = adapting().run(3.1, latched=ALL, abort=1)
    assert (aborted.outcome, aborted.m.command.push, aborted.locks) == ("LATCHED", 0, [1] * 6)
    caught = adapting().run(19.0)
    assert caught.m.command.push == -1
    caught.run(19.1, latched=[1, 0, 0, 0, 0, 0], plane_gap=0.4)
    assert (caught.outcome, caught.m.command.push) == ("LATCHED", 0)


def test_recovery_draws_the_free_ring_back_for_another_attempt():
    """A1 of peripheral-docking 9: S6 with a free ring, then S0; `extend` begins anew."""
    rig = adapting(recovery=1.0)
    t = rig.m.event.initial_position_lost
    rig.run(t + 25.0, **APART)
    assert (rig.phase, rig.m.finished, rig.volts, rig.locks) == ("RECOVER", 0.0, (27.0, 27.0), [1] * 6)
    assert rig.m.command.push == 0
    rig.run(t + 60.0)
    assert rig.phase == "RECOVER"
    rig.run(t + 61.0, retracted=1)
    assert (rig.phase, rig.outcome, rig.m.finished, rig.volts) == ("STOWED", "RETREATED", 1.0, (0.0, 0.0))
    rig.run(t + 62.0, extend=1, retracted=0, initial_position=[0.0] * 6, initial_position_lost=0)
    assert (rig.phase, rig.outcome, rig.m.finished, rig.locks) == ("EXTEND", "NONE", 0.0, [0] * 6)
    assert (rig.m.event.initial_position_lost, rig.m.event.end) == (-1.0, -1.0)


def test_a_recovery_that_takes_too_long_waits_and_goes_on():
    rig = adapting(recovery=1.0, retraction_limit=5.0)
    t = rig.m.event.initial_position_lost
    rig.run(t + 30.5, **APART)
    assert (rig.phase, rig.outcome, rig.volts) == ("FAULT", "TIMED_OUT", (0.0, 0.0))
    rig.run(t + 30.6, extend=1)
    assert (rig.phase, rig.outcome) == ("RECOVER", "NONE")


def test_contact_without_loss_nor_capture_departs_after_a_minute():
    rig = Rig().run(0.0, contact=1).run(59.9, contact=0)
    assert rig.phase == "READY"
    assert rig.run(60.0).phase == "DEPART"


def test_thrust_from_first_contact_to_capture_where_it_is_wanted():
    rig = Rig(push=1.0).run(0.9)
    assert rig.m.command.push == 0
    assert rig.run(1.0, contact=1).m.command.push == 1
    assert rig.run(2.0, initial_position_lost=1).m.command.push == 1
    assert rig.run(2.1, capture=1).m.command.push == 0
    assert adapting().m.command.push == 0, "off by default"


def test_attitude_is_held_until_capture():
    rig = adapting()
    assert list(rig.m.command.attitude_hold) == [1.0, 1.0]
    assert list(captured().m.command.attitude_hold) == [0.0, 0.0]
    left_on = adapting(**{"fault.attitude_hold": 1.0}).run(3.2, capture=1)
    assert list(left_on.m.command.attitude_hold) == [1.0, 1.0]
    assert list(Rig(attitude_control=[1.0, 0.0]).m.command.attitude_hold) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("begin", "limit", "after"),
    [
        (lambda: stowed().run(0.0, extend=1).run(0.1, extend=0), 400.0, "EXTEND"),
        (lambda: stowed().run(0.0, extend=1).run(0.1, extend=0, initial_position=ALL), 300.0, "SLACK"),
        (lambda: captured().run(13.2), 900.0, "RETRACT"),
    ],
)
def test_time_limits_stop_the_drive_and_wait_for_the_operator(begin, limit, after):
    rig = begin()
    assert rig.phase == after
    entered = rig.m.work.entered
    rig.run(entered + limit - 0.2)
    assert (rig.phase, rig.outcome) == (after, "NONE")
    rig.run(entered + limit + 5.0)
    assert (rig.phase, rig.outcome, rig.volts, rig.m.finished) == ("FAULT", "TIMED_OUT", (0.0, 0.0), 0.0)
    rig.run(entered + limit + 5.1, extend=1)
    assert (rig.phase, rig.outcome) == (after, "NONE")
    assert rig.volts != (0.0, 0.0)


def test_abort_departs_before_capture_and_ends_after_it():
    rig = adapting().run(3.1, abort=1)
    assert (rig.phase, rig.m.command.push) == ("DEPART", -1)
    rig.run(20.0, **APART)
    assert (rig.phase, rig.outcome) == ("END", "ABORTED")
    rig = captured().run(4.0, abort=1)
    assert (rig.phase, rig.outcome, rig.locks) == ("END", "ABORTED", [1] * 6)
    assert stowed().run(0.1, abort=1).outcome == "ABORTED"


def test_capture_by_sensors_without_latches_is_reported():
    rig = captured().run(14.0)
    assert rig.m.unlatched == 0.0
    rig.run(14.1, latched=[1, 0, 0, 1, 1, 0])
    assert rig.m.unlatched == 0.0, "one latch of each pair holds"
    rig.run(14.2, latched=[1, 0, 0, 1, 0, 0])
    assert rig.m.unlatched == 1.0


def test_faults_of_single_devices():
    rig = adapting(**{"fault.clutch": [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]})
    assert rig.locks == [0, 0, 1, 0, 0, 0]
    rig = stowed(**{"fault.motor": [1.0, 0.0]}).run(0.0, extend=1)
    assert rig.volts == (0.0, -27.0)


def test_times_are_those_of_the_run():
    rig = Rig(start_time=100.0).run(1.0, contact=1)
    assert rig.m.event.first_contact == pytest.approx(100.0, abs=0.11)
    rig = Rig(start_time=100.0).run(0.9).run(1.0, contact=1)
    assert rig.m.event.first_contact == pytest.approx(101.0)


def test_wrong_numbers_are_refused():
    rig = Rig()
    rig.m.docking.plane_gap = np.nan
    with pytest.raises(ComponentError, match="plane_gap"):
        rig.run(0.0)
    with pytest.raises(ComponentError, match="initial_phase"):
        Rig(initial_phase=7)


@pytest.mark.parametrize("start_time", [-0.3, -1.0, -1.5, -7.0, -500.0, 1000.0])
def test_a_run_may_start_before_zero(start_time):
    """All phases, flags and commands as from 0, with the times of events shifted."""

    def course(begin):
        rig, rows = Rig(start_time=begin, push=1.0), []
        script = {10: {"contact": 1}, 30: {"initial_position_lost": 1},
                  32: {"capture": 1, "mated": [1.0] * 3, "latched": ALL},
                  400: {"retracted": 1, "plane_gap": 0.0}}  # fmt: skip
        for k in range(420):
            rig.run(k * H, **script.get(k, {}))
            flags = [float(rig.m.happened[name]) for name in rig.m.happened.dtype.names]
            rows.append((rig.phase, rig.outcome, flags, rig.locks, rig.volts, float(rig.m.command.push)))
        happened = [name for name in rig.m.event.dtype.names if rig.m.happened[name]]
        return rows, {name: float(rig.m.event[name]) - begin for name in happened}

    expected, times = course(0.0)
    found, shifted = course(start_time)
    assert found == expected
    assert shifted == pytest.approx(times, abs=1e-9)
    assert {"first_contact", "initial_position_lost", "capture", "drive_on", "end"} <= set(times)


def test_thrust_begins_after_its_delay():
    rig = Rig(push=1.0, push_delay=0.5).run(0.9).run(1.0, contact=1)
    assert rig.m.command.push == 0.0
    rig.run(1.4)
    assert rig.m.command.push == 0.0
    rig.run(1.5)
    assert rig.m.command.push == 1.0


def test_stray_thrust_has_its_impulse_after_capture():
    """Two firings of 0.25 s, which begin within steps of 0.1 s: none before capture, and the impulse of both."""
    firings = {"fault.stray_thrust": (100.0, -40.0), "fault.stray_start": (0.52, 1.0), "fault.stray_time": (0.25, 0.25)}
    rig = Rig(**firings).run(2.9)
    assert rig.m.stray.thrust == 0.0
    impulse = 0.0
    for k in range(30, 60):
        rig.run(k * H, capture=1)
        impulse += rig.m.stray.thrust * H
        assert rig.m.stray.thrust != 0.0 if 35 <= k <= 37 or 40 <= k <= 42 else rig.m.stray.thrust == 0.0
    assert impulse == pytest.approx(0.25 * (100.0 - 40.0))
