"""Capture limit of APAS-75 over speed and thrust, and the swing of Soyuz-10: searches, and the figures of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import dockfmu
from benchmarks.validation.flown.capture import least_speed

DELAY = "cyclogram.parameters.push_delay"
THRUST = "chaser.parameters.push_thrust"
CURVES: dict[str, tuple[str, dict[str, Any], tuple[float, ...]]] = {
    "as first built": ("apas_75_capture", {}, (0.0, 250.0, 500.0, 750.0, 1000.0)),
    "thrust 0.5 s late": ("apas_75_capture", {DELAY: 0.5}, (250.0, 750.0)),
    "changed": ("apas_75_capture_changed", {}, (0.0, 250.0, 500.0)),
}


def limit() -> dict[str, tuple[list[float], list[float]]]:
    """Return thrusts (N) and least speeds (m/s) of each curve, and print them."""
    found = {}
    print("| device | thrust on the Soyuz | least speed |\n|---|---|---|")
    for name, (system, settings, thrusts) in CURVES.items():
        speeds = []
        for thrust in thrusts:
            speeds.append(least_speed(system, {**settings, THRUST: thrust}, 3.0, high=0.2, halvings=5))
            print(f"| {name} | {thrust:.0f} N | {speeds[-1]:.3f} m/s |", flush=True)
        found[name] = (list(thrusts), speeds)
    return found


def draw_limit(found: dict[str, tuple[list[float], list[float]]], file: Path) -> None:
    """Draw the least speeds over the thrust, with the published speed within 15 %."""
    figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    axes.axhspan(0.85 * 0.14, 1.15 * 0.14, color="0.88", label="published: 0.14 m/s with thrust, ±15 %")
    for (name, (thrusts, speeds)), mark in zip(found.items(), "osd", strict=True):
        axes.plot(thrusts, speeds, marker=mark, label=name)
    axes.axvline(1500.0, color="0.5", linestyle=":", label="published: any speed from 1.5 kN")
    axes.set(
        xlabel="thrust on the Soyuz, N", ylabel="least speed that captures, m/s", xlim=(0.0, 1600.0), ylim=(0.0, 0.28)
    )
    axes.legend(fontsize="small", loc="upper right")
    figure.savefig(file, dpi=150)


def draw_swing(file: Path) -> None:
    """Draw the angle between the docking axes of Soyuz-10 over time, with the controls and limiters that were tried."""
    titles = {
        "soyuz_10": "couples of nozzles, limiter of 9°",
        "soyuz_10_control_off": "control off, limiter of 9°",
        "soyuz_10_fore_nozzles": "single nozzles ahead, limiter of 9°",
        "soyuz_10_free_swing": "single nozzles ahead, limiter of 26° to 36°",
    }
    figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    axes.axhspan(20.0, 40.0, color="0.88", label="published: about 30°")
    for system, title in titles.items():
        run = dockfmu.System.load(system).run()
        after = run.time > run.events["capture"]
        angle = np.hypot(*(np.array(run[f"mechanism.docking.angles[{i}]"]) for i in (1, 2)))
        axes.plot(run.time[after] - run.events["capture"], np.degrees(angle[after]), label=title)
    axes.set(
        xlabel="time after capture, s", ylabel="angle between the docking axes, deg", xlim=(0.0, 31.0), ylim=(0.0, 40.0)
    )
    axes.legend(fontsize="small", loc="upper left")
    figure.savefig(file, dpi=150)
