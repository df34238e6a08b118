"""The stand of Apollo-Soyuz: what its six drives can, and what a docking asks of them (docs/validation/flown.md)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dockfmu
from dockfmu.components.core.component import Instance
from dockfmu.components.stand_emulator import component

pytestmark = pytest.mark.slow

FORCE, SPEED, STROKE, STOP = 125e3, 0.5, 2.0, 0.2
"""Public, of a rod: N, m/s, m; of the emergency stop: s."""
MOVED = 3000.0
"""Of platform, unit and fixtures, kg: assumed."""


@cache
def run_on_stand() -> dockfmu.Outcome:
    return dockfmu.System.load("atv_stand_published").run(every=1)


def rods(name: str) -> np.ndarray:
    """Return a quantity of the rods, a column each."""
    return np.array([run_on_stand()[f"platform.rod[{k}].{name}"] for k in range(1, 7)]).T


def test_the_emergency_stop_ends_the_motion_within_the_published_time():
    run = run_on_stand()
    assert run.outcome == "emergency_stop"
    alarm = run.time[np.argmax(np.array(run["balance.emergency_stop"]) > 0)]
    rates = np.abs(rods("rate")).max(axis=1)
    assert rates[run.time < alarm][-1] > 0.01
    assert run.time[-1] > alarm + 2.0 * STOP
    assert rates[run.time > alarm + STOP].max() < 1e-9


def test_rods_stay_within_their_speed_and_stroke():
    assert np.abs(rods("rate")).max() < SPEED
    assert np.ptp(rods("length"), axis=0).max() < STROKE


def test_forces_of_the_rods_stay_within_that_of_the_drives():
    """A bound: largest loads in all directions at once, and the weight and inertia of what the rods move."""
    run = run_on_stand()
    made = component("platform")
    values = next(entry for entry in made.parameter_sets if entry.name == "SP-2").values
    p = Instance(made, **values).m.parameters
    x = np.array([run[f"platform.base.position[{k}]"][-1] for k in (1, 2, 3)])
    joints, floor = np.array(p.rod.platform), np.array(p.rod.floor)
    along = x + joints - floor
    along /= np.linalg.norm(along, axis=1)[:, None]
    wrenches = np.vstack([along.T, np.cross(joints, along).T])
    speed = np.array([run[f"platform.base.velocity[{k}]"] for k in (1, 2, 3)])
    inertia = MOVED * (9.81 + float(np.linalg.norm(np.gradient(speed, run.time, axis=1), axis=0).max()))
    force, bending, torsion = (
        sum(float(np.array(run[f"mechanism.load.{name}"]).max()) for name in names)
        for names in (("compression", "tension", "shear"), ("bending",), ("torsion",))
    )
    bound = np.abs(np.linalg.inv(wrenches)) @ np.array([*[force + inertia] * 3, torsion, bending, bending])
    assert bound.max() < FORCE
