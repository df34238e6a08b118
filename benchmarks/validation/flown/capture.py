"""Capture ability: the least speed of approach that captures, by bisection, and what raises or lowers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dockfmu
from benchmarks.validation.docking import changed

VELOCITY = "initial_conditions.velocity"
CAPTURE = "mechanism.sensor.capture"
DECLARED = {"apollo_probe_drogue": ("csm.parameters.initial.velocity", "mechanism.lock.hold.closed")}
"""Velocity and signal of capture of declared mechanisms, whose systems have no initial conditions."""


def captures(system: str, speed: float, settings: Mapping[str, Any], stop: float) -> bool:
    """Return whether a system captures at `speed` (m/s) before `stop` (s). A run that leaves its model does not."""
    velocity, capture = DECLARED.get(system, (VELOCITY, CAPTURE))
    values = {**settings, velocity: [speed, 0.0, 0.0]}
    try:
        run = changed(system, values).run(stop=stop, record=[capture], every=10)
    except dockfmu.DockfmuError:
        return False
    return "capture" in run.events


def least_speed(
    system: str, settings: Mapping[str, Any], stop: float, low: float = 0.0, high: float = 0.4, halvings: int = 6
) -> float:
    """Return the least speed that captures, m/s, to (high - low) / 2**halvings; infinite if `high` does not."""
    if not captures(system, high, settings, stop):
        return float("inf")
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if captures(system, middle, settings, stop) else (middle, high)
    return high
