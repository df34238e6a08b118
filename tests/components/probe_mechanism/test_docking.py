"""A whole docking with the cyclogram, from first contact to the end of retraction, between rigid craft."""

import numpy as np
import pytest

from tests.components.probe_mechanism.rig import Docking, degrees

SENSORS = ["sensor.first_contact", "sensor.socket_bottom", "sensor.capture", "docking.plane_gap"]
ROLLERS = [f"flag.roller_contact[{k}]" for k in (1, 2, 3)]
ANGLES = [f"docking.angles[{k}]" for k in (1, 2, 3)]


@pytest.fixture(scope="module")
def docking():
    """20 t at 7 cm/s with the misalignments of the reference scenario, and a third of its lateral and angular rates:
    after capture nothing but the probe's end bounds the relative rotation until the rollers touch."""
    rig = Docking(
        gap=0.40,
        miss=(0.05, -0.05),
        angles=degrees(1.0, -1.0, 1.5),
        velocity=(0.07, 0.003, -0.003),
        rate=degrees(0.02, 0.02, -0.02),
    )
    names = [*SENSORS, *ROLLERS, *ANGLES, "base.force[1]", "command.lateral_brakes", "command.motor_voltage[1]"]
    return rig, rig.run(500.0, every=10, record=names, push=900.0)


@pytest.mark.slow
def test_spec06_oracle_19_21_23_sequence_and_windows(docking):
    rig, run = docking
    event = rig.cyclogram.event
    assert rig.cyclogram.finished == 1.0
    assert event.first_contact < event.capture <= event.start < event.end
    assert 1.5 <= event.start - event.first_contact <= 4.5
    t = run["t"]
    brakes = t[run["command.lateral_brakes"] > 0.0]
    assert brakes[-1] - brakes[0] == pytest.approx(30.0, abs=0.02)
    assert brakes[0] == pytest.approx(event.start + 2.0, abs=0.02)
    drive = t[run["command.motor_voltage[1]"] > 0.0][0]
    assert drive == pytest.approx(event.start + 35.0, abs=0.02)
    touching = sum(run[name] for name in ROLLERS)
    assert t[np.argmax(touching > 0.0)] - drive > 180.0
    assert 300.0 < event.end - event.first_contact < 420.0
    assert run["docking.plane_gap"][-1] == pytest.approx(0.010, abs=1e-4)


@pytest.mark.slow
def test_spec00_ruling_46_three_rollers_at_once_are_counted(docking):
    """In validity.three_rollers: the flags of a step hold all that bore in it, the count what bore at one time."""
    rig, run = docking
    touching = sum(run[name] for name in ROLLERS)
    assert (rig.m.validity.three_rollers > 0.0) == (touching.max() > 2.0)


@pytest.mark.slow
def test_spec06_oracle_23_at_most_two_rollers_touch_at_once(docking):
    rig, _ = docking
    assert rig.m.validity.three_rollers == 0.0


@pytest.mark.slow
def test_spec06_oracle_15_energy_closes_over_the_whole_docking(docking):
    """Thrust and drive work included: 29 kJ of drive work, 49 J of approach."""
    _, run = docking
    assert np.abs(run["energy"] - run["energy"][0]).max() < 1e-3 * 49.0


@pytest.mark.slow
def test_units_are_aligned_in_the_end(docking):
    _, run = docking
    largest = max(np.abs(run[name]).max() for name in ANGLES)
    final = max(abs(run[name][-1]) for name in ANGLES)
    assert largest > np.radians(8.0)
    assert final < np.radians(3.0)


def test_no_capture_retreats():
    """Too slow to push the latches in, thrusters dead: after 10 s the craft backs off and the sequence ends."""
    rig = Docking(gap=0.28, miss=(0.05, 0.0), velocity=(0.02, 0.0, 0.0))
    rig.cyclogram.parameters.fault.push = 1.0
    run = rig.run(60.0, every=10, record=["sensor.first_contact", "docking.plane_gap"], push=900.0)
    assert rig.cyclogram.finished == 1.0
    assert rig.cyclogram.event.capture == -1.0
    assert rig.cyclogram.event.end == pytest.approx(rig.cyclogram.event.first_contact + 20.0, abs=2e-3)
    assert run["docking.plane_gap"][-1] > run["docking.plane_gap"].min() + 0.05
