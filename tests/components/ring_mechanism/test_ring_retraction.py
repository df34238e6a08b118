"""Retraction of the simpler rings on a base that stands, without a passive unit: alignment, ends, energy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from components.core.component import Instance
from components.ring_mechanism import component

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
    """Without `retract` the reference stands, and the ring with it; without `attenuate` too the ring goes out again."""
    still = (0.0, 0.0, 0.0)
    i = displaced("force_controlled", shift=still, turn=still, **{"control.retraction_speed": SPEED})
    i.m.command.attenuate = i.m.command.retract = 1.0
    first = stepped(i, 3.0, *STROKES)[-1]
    i.m.command.retract = 0.0
    second = stepped(i, 3.0, *STROKES)[-1]
    # it goes on by the lag
    assert first == pytest.approx(0.14 - 3.0 * SPEED + LAG, abs=5e-5)
    assert second == pytest.approx(0.14 - 3.0 * SPEED, abs=5e-5)
    i.m.command.attenuate = 0.0
    assert stepped(i, 3.0, *STROKES)[-1] == pytest.approx(0.14, abs=6e-3)
