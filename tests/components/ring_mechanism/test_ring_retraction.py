"""Retraction of the simpler rings on a base that stands, without a passive unit: alignment, ends, energy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.ring_mechanism import component
from dockfmu.components.ring_mechanism.legs import cranked

pytestmark = pytest.mark.slow

TURN = np.radians([2.0, -3.0, 2.5])
SHIFT = np.array([0.0, 0.03, -0.02])


def displaced(legs, shift=SHIFT, turn=TURN, **parameters):
    """An instance whose ring is shifted (m, frame 0) and turned (rad), at rest."""
    i = Instance(component(legs), **{f"parameters.{name}": value for name, value in parameters.items()})
    i.m.hexapod.ring.position[:] = np.add(i.m.hexapod.ring.position, shift)
    i.m.ring_state.quaternion[:] = np.roll(Rotation.from_rotvec(turn).as_quat(), 1)
    return i


def stepped(i, duration, *names, h=1e-3):
    """Step for `duration` (s) and return the histories of the names, rows at the ends of steps."""
    slots = [i.component.record.index[name] for name in names]
    rows = []
    for k in range(round(duration / h)):
        i.step(k * h, h)
        rows.append(i.block[slots])
    return np.array(rows)


STROKES = [f"leg[{k}].stroke" for k in range(1, 7)]
# of an electric leg that follows its reference unloaded: its controller asks for (1 / (1 + gain)) of the friction
SPEED = 8e-3
FRICTION = 40.0 * SPEED / np.hypot(SPEED, 5e-3)
LAG = (5e3 * SPEED + FRICTION / (1.0 + 3.0)) / 2e4
ENERGIES = ["audit.kinetic_energy", "audit.stored_energy", "audit.dissipated_energy", "audit.work_drive"]


def test_electric_legs_become_equal_longest_first_and_end_on_their_stops():
    """Each leg holds its stroke until the common reference, moving in from the longest, has come to it.

    Damping and friction let a leg lag behind its commanded stroke by LAG, 2.4 mm. At the end motors press with their
    controllers' stiffness, (1 + gain) times, against the stops, in series with theirs.
    """
    overrun = 2e-3
    i = displaced("force_controlled", **{"control.retraction_speed": SPEED})
    i.m.command.attenuate = i.m.command.retract = 1.0
    rows = stepped(i, 27.0, *STROKES, *ENERGIES, "sensor.retracted", *(f"ring.angles[{k}]" for k in (1, 2, 3)))
    strokes, t = rows[:, :6], 1e-3 * np.arange(1, len(rows) + 1)
    start = strokes[0]
    reference = start.max() - SPEED * t
    commanded = np.minimum(start, reference[:, None])
    aligned = t > (start.max() - start.min()) / SPEED + 1.0
    before = commanded.min(1) > 0.01
    assert np.ptp(start) > 0.05, "legs differ by centimetres at first"
    assert np.abs(strokes - commanded)[before].max() < 2.0 * LAG
    assert (strokes - commanded)[before & aligned].mean() == pytest.approx(LAG, rel=0.03)
    assert np.degrees(np.abs(rows[aligned][:, 11:])).max() < 0.05
    assert not rows[before, 10].any()
    assert rows[-1, 10] == 1.0
    stiffness = (1.0 + 3.0) * 2e4
    assert strokes[-1] == pytest.approx(-stiffness * overrun / (stiffness + 5e5), abs=2e-5)
    assert i.m.hexapod.ring.position[1:] == pytest.approx([0.0, 0.0], abs=1e-4)
    kinetic, stored, dissipated, work = rows[:, 6:10].T
    balance = kinetic + stored + dissipated - work
    assert work[-1] > 6 * 0.1 * 10.0, "friction of 40 N, of which the loop leaves a quarter to the controllers"
    assert np.abs(balance - balance[0]).max() < 1e-3 * work[-1]


def test_electric_legs_stand_where_the_retraction_is_taken_back():
    """Without `retract` the reference stands, and the ring with it; without `attenuate` too the ring goes out again.

    A ring that had lunged goes out to its first stroke, and lunges when a leg is pushed again.
    """
    still = (0.0, 0.0, 0.0)
    i = displaced("force_controlled", shift=still, turn=still, **{"control.retraction_speed": SPEED})
    i.m.servo.touched, i.m.servo.advance = 1.0, 0.08
    i.m.command.attenuate = i.m.command.retract = 1.0
    first = stepped(i, 3.0, *STROKES)[-1]
    i.m.command.retract = 0.0
    second = stepped(i, 3.0, *STROKES)[-1]
    # it goes on by the lag
    assert first == pytest.approx(0.14 - 3.0 * SPEED + LAG, abs=5e-5)
    assert second == pytest.approx(0.14 - 3.0 * SPEED, abs=5e-5)
    i.m.command.attenuate = 0.0
    assert stepped(i, 3.0, *STROKES)[-1] == pytest.approx(0.14, abs=6e-3)
    i.m.ring_state.velocity[0] = -0.2
    commanded = stepped(i, 1.0, "leg[1].commanded_stroke")
    assert commanded[0] < 0.15
    assert commanded[-1] == pytest.approx(0.14 + 0.08)


def test_an_electric_ring_that_is_drawn_in_feels_no_contact():
    """Pushing its legs while it is drawn in, as their stops do at the end, starts no lunge."""
    for retract in (0.0, 1.0):
        i = displaced("force_controlled", shift=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0))
        i.m.command.retract = retract
        i.m.ring_state.velocity[0] = -0.2
        sensed = stepped(i, 0.1, "leg[1].sensed_force")
        assert sensed.max() > i.m.parameters.control.contact_force
        assert i.m.servo.touched == 1.0 - retract


DRIVEN = ("hydraulic", "geared", "cranked")
LONGEST = {"hydraulic": 2 * np.pi - 4 * np.pi / 12, "geared": 60.3, "cranked": np.radians(42.0)}
RATIO = {"hydraulic": 100.0, "geared": 4.0, "cranked": 200.0}


def way(m, legs):
    """Angle by which the drive has turned drums, first shaft or stops, rad."""
    return -m.drive.angle / RATIO[legs]


@cache
def drawn_in(legs):
    """A displaced ring, drawn in by both motors until the limit switch stops the drive, or the stops of the legs do.

    Returns its record and the histories of ways, energies, drive and sensor, and of the cables.
    """
    shift, turn = (SHIFT, TURN) if legs == "geared" else (0.5 * SHIFT, 0.5 * TURN)
    if legs != "geared":  # from where no leg is beyond its forward position
        shift = np.subtract(shift, (0.05, 0.0, 0.0))
    i = displaced(legs, shift=shift, turn=turn)
    i.m.command.motor_voltage[:] = 27.0
    ways = [f"leg[{k}].{'angle' if legs == 'cranked' else 'stroke'}" for k in range(1, 7)]
    names = [*ways, *ENERGIES, "drive.angle", "drive.rate", "sensor.retracted"]
    if legs == "hydraulic":
        names += [f"cable[{k}].{name}" for name in ("tension", "joined") for k in (1, 2, 3)]
    duration = {"hydraulic": 175.0, "geared": 90.0, "cranked": 56.0}[legs]
    return i.m, stepped(i, duration, *names)


@pytest.mark.parametrize("legs", DRIVEN)
def test_a_drive_draws_the_free_ring_in_until_all_legs_are_there(legs):
    m, rows = drawn_in(legs)
    assert rows[-1, 12] == 1.0
    first = np.argmax(rows[:, 12])
    assert rows[first:, 12].all()
    assert first > 0.7 * len(rows)
    assert np.degrees(np.abs(m.ring.angles).max()) < 0.05
    assert np.abs(m.hexapod.ring.position[1:]).max() < 1e-3
    if legs != "hydraulic":  # whose drive stalls, the rods on their stops
        assert way(m, legs) == pytest.approx(LONGEST[legs], abs=0.03 / RATIO[legs])
        assert m.drive.rate == 0.0


@pytest.mark.parametrize("legs", DRIVEN)
def test_what_the_motors_do_is_stored_or_lost(legs):
    """Energy of ring, legs and drive: motors supply, everything else is inside."""
    _, rows = drawn_in(legs)
    kinetic, stored, dissipated, work = rows[:, 6:10].T
    balance = kinetic + stored + dissipated - work
    assert work[-1] > 1000.0
    assert np.abs(balance - balance[0]).max() < 1e-4 * work[-1]


def test_cables_carry_springs_oil_and_seals():
    """Halfway, the ring aligned and slow: tensions along the axis are what six attenuators push."""
    _, rows = drawn_in("hydraulic")
    strokes = rows[:, :6]
    assert rows[:, 16:].any(0).all()
    k = np.argmax(strokes.max(1) < 0.12)
    stroke, rate = strokes[k - 500 : k + 500].mean(), (strokes[k + 500] - strokes[k - 500]).mean()
    area = np.interp(0.24 - stroke, np.linspace(0.0, 0.24, 5), [4.6e-7, 4.2e-7, 3.7e-7, 3.1e-7, 2.4e-7])
    oil = 0.5 * 870.0 * 2e-4 * (2e-4 * rate / (0.7 * area)) ** 2
    force = 60.0 + 150.0 * (0.24 - stroke) + oil + 20.0 * -rate / np.hypot(rate, 5e-3)
    length = 0.4 + stroke
    height = np.sqrt(length**2 - (2 * 0.6 * np.sin(np.radians(31.0) / 2)) ** 2)
    # cables of an aligned ring run along the axis
    assert rows[k - 500 : k + 500, 13:16].sum(1).mean() == pytest.approx(6 * force * height / length, rel=0.01)


def test_the_first_shaft_follows_its_carrier_and_presses_the_seats():
    """The preload keeps the shaft on its upper stop, which the drive turns back; at the end seats take the rest.

    F on each rod is the stop's torque less the preload, through a sixth of the tree and the screw: F = 5e5 d on a seat.
    """
    _, rows = drawn_in("geared")
    ratio, lean = 2 * np.pi / 0.02, 1.15 / 4.0
    turned = -rows[:, 10] / RATIO["geared"]
    mean = rows[:, :6].mean(1) - 0.19
    middle = (turned > 10.0) & (turned < 50.0)
    # the torque that takes friction along bends the stop: less than its lean under the preload
    assert np.abs(mean * ratio + turned)[middle].max() < lean
    over = LONGEST["geared"] - 0.19 * ratio
    # 4 (over - d ratio + lean) - 1.15 - 0.009 (over - d ratio) = 6 * 5e5 d / ratio
    depth = (4.0 * (over + lean) - 1.15 - 0.009 * over) / ((4.0 - 0.009) * ratio + 6 * 5e5 / ratio)
    assert -rows[-1, :6] == pytest.approx(np.full(6, depth), rel=0.05)


def test_cranks_end_where_springs_press_them_on_their_stops():
    """Farthest out first; in equilibrium each stop carries its spring: depth = T lever / stiffness."""
    m, rows = drawn_in("cranked")
    p = m.parameters.dampers
    angles, turned = rows[:, :6], -rows[:, 10] / RATIO["cranked"]
    stop = np.radians(120.0) + m.damper.lean + turned
    moving = rows[:, 11] < -1.0
    # those on their stops are the farthest out; none is beyond its stop by more than the stops give
    assert (angles[moving].min(1) - stop[moving] > -2e-3).all()
    # motors that stall at 14 N.m and run free at 2.9 rad/s, against springs, dampers and friction of six cranks
    k = np.argmax(turned > 0.5)
    rate = -rows[k, 11] / RATIO["cranked"]
    _, tension, lever = cranked.spring(p, np.cos(angles[k].mean()), np.sin(angles[k].mean()), m.damper.length)
    load = 6 * (tension * lever + 150.0 * rate + 3.0 * rate / np.hypot(rate, 0.02)) / (RATIO["cranked"] * 0.5)
    assert -rows[k, 11] == pytest.approx(2.9 * (1.0 - load / 14.0), rel=0.01)
    end = angles[-1].mean()
    _, tension, lever = cranked.spring(p, np.cos(end), np.sin(end), m.damper.length)
    assert angles[-1] == pytest.approx(np.full(6, stop[-1] - tension * lever / p.stop_stiffness), abs=2e-5)
    assert abs(m.docking.position[0]) > 1.0, "no passive unit is near"
    assert m.hexapod.ring.position[0] == pytest.approx(m.parameters.docking_plane_x, abs=1e-3)


@pytest.mark.parametrize("legs", DRIVEN)
def test_one_motor_is_half_as_fast_and_none_stands(legs):
    """T23: differential of two motors; a self-locking gear holds the ring against whatever pulls at it."""
    rates = []
    unloaded = {"dampers.spring_preload": 0.0, "dampers.spring_stiffness": 0.0} if legs == "cranked" else {}
    for volts in ((27.0, 27.0), (27.0, 0.0)):
        i = displaced(legs, np.zeros(3), np.zeros(3), **unloaded)
        i.m.command.motor_voltage[:] = volts
        rates.append(stepped(i, 0.5, "drive.rate")[-1, 0])
    assert rates[0] == pytest.approx(-2.9, rel=0.03)
    assert rates[1] / rates[0] == pytest.approx(0.5, rel=0.03)
    before = float(i.m.drive.angle)
    i.m.command.motor_voltage[:] = 0.0
    i.m.ring_state.velocity[0] = 0.1
    coasted = stepped(i, 0.5, "drive.angle")[:, 0]
    assert coasted[-1] == pytest.approx(before, abs=0.05)
    assert coasted[-1] == coasted[100]


@pytest.mark.parametrize("legs", DRIVEN)
def test_limit_switch_and_bad_voltages(legs):
    """At the start there is nothing to let out; a voltage that is not finite is refused by name."""
    i = displaced(legs, shift=np.zeros(3), turn=np.zeros(3))
    i.m.command.motor_voltage[:] = -27.0
    assert not stepped(i, 0.05, "drive.angle").any()
    i.m.command.motor_voltage[1] = np.nan
    with pytest.raises(ComponentError, match="3 motor voltages"):
        i.step(0.05, 1e-3)
