"""What is read from the recording of a docking, shared by the cases and the tests."""

from __future__ import annotations

import numpy as np

import dockfmu

NONE = float("nan")
"""What a case returns where there is no number."""


def inertia(transverse: float) -> list[list[float]]:
    """Return the inertia of a slender craft, kg m2, from that across its axis."""
    return np.diag([0.2 * transverse, transverse, transverse]).tolist()


def swing(run: dockfmu.Outcome) -> np.ndarray:
    """Return the angle between the docking axes over time, deg, to first order."""
    yaw, pitch = (np.array(run[f"mechanism.docking.angles[{i}]"]) for i in (1, 2))
    return np.degrees(np.hypot(yaw, pitch))


def tilt(run: dockfmu.Outcome) -> float:
    """Return the largest angle between the docking axes after capture, deg; NaN without a capture."""
    if "capture" not in run.events:
        return NONE
    return float(swing(run)[run.time > run.events["capture"]].max())


def shear(run: dockfmu.Outcome) -> float:
    """Return the largest force across the axis after capture, N; NaN without a capture."""
    if "capture" not in run.events:
        return NONE
    return float(np.array(run["mechanism.load.shear"])[run.time > run.events["capture"]].max())


def absorbed(run: dockfmu.Outcome) -> float:
    """Return the energy that the mechanism has taken from the start to the end, J."""
    histories = [run[f"mechanism.audit.{name}_energy"] for name in ("dissipated", "stored", "kinetic")]
    return sum(float(history[-1] - history[0]) for history in histories)


def recoil(run: dockfmu.Outcome, cone: float) -> float:
    """Return the speed along the normal of a cone of half-angle `cone` (rad) at the end over that at the start."""
    normal = np.sin(cone), np.cos(cone)
    along = sum(n * np.array(run[f"mechanism.docking.velocity[{k}]"]) for n, k in zip(normal, (1, 2), strict=True))
    return float(-along[-1] / along[0])
