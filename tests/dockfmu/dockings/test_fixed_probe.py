"""The first central mechanisms, whose probe moves along its axis only, beside the existing one (kinematics 3.3)."""

from __future__ import annotations

import numpy as np
import pytest

import dockfmu
from benchmarks.validation.docking import changed

pytestmark = pytest.mark.slow


def approach(system: str, speed: float) -> dockfmu.Outcome:
    """Return the first 12 s without push, at a closing speed in m/s, from the start of soyuz_probe_cone."""
    values = {
        "cyclogram.parameters.fault.push": 1,
        "initial_conditions.miss": [0.10, -0.08],
        "initial_conditions.velocity": [speed, 0.02, -0.02],
    }
    return changed(system, values).run(stop=12.0)


def lateral_force(run: dockfmu.Outcome, until: float) -> float:
    """Return the largest force across the axis on the passive craft up to a time, N."""
    forces = np.array([run[f"mechanism.target.force[{i}]"] for i in (2, 3)])
    return float(np.hypot(*forces[:, run.time <= until]).max())


def test_a_fixed_probe_needs_a_higher_closing_speed():
    """Its lateral force acts on the craft at once, and brakes it before the latches close: at 0.2 m/s without push the
    existing mechanism captures and the fixed probe does not; at 0.25 m/s it does."""
    fixed, existing = (approach(name, 0.2) for name in ("soyuz_fixed_probe", "soyuz_probe_cone"))
    assert "capture" in existing.events
    assert "capture" not in fixed.events
    assert "capture" in approach("soyuz_fixed_probe", 0.25).events
    swings = [np.degrees(np.abs(run["mechanism.joint.angle[1]"]).max()) for run in (fixed, existing)]
    assert swings[0] < 0.3
    assert swings[1] > 1.0
    # of the approach alone: later forces depend on whether the head is captured
    assert lateral_force(fixed, 1.5) > 2.0 * lateral_force(existing, 1.5)


def test_it_docks_with_push():
    assert dockfmu.System.load("soyuz_fixed_probe").run().result.outcome == "docked"
