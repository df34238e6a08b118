"""Speed that turns the ring of APAS-75 face to face: the ring itself against the closed form 1.6.

The closed form has one coordinate, the travel s of the ring's edge: m_e s'' + k s' + c s = P up to the end s_L. Here
m_e is the reduced mass of the craft, P the thrust in the share of the masses, s_L = R sin(4 deg) on the radius R of the
plane's contact, and c = K / R^2 with the stiffness K of the ring against a tilt about its centre, which the petals
hold. K follows from the stiffness of the shafts and from how far they turn, by the kinematics of the legs.

The ring is that of `apas_75_capture`, reduced to what the form assumes: craft that do not turn, no dry friction but in
the brake along the axis, a light ring on light legs, dampers of the lift in proportion to its springs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.validation.flown.capture import least_speed
from benchmarks.validation.flown.ranges import Ring
from benchmarks.validation.flown.ring_cases import FIRST, RINGS, SHAFTS
from dockfmu.components.ring_mechanism.legs import geared

SOYUZ, APOLLO = 6790.0, 14768.0
RADIUS, TILT = 0.51, np.radians(4.0)
ROWS = (
    {"lag": 0.0, "thrust": 0.0, "delay": 0.0},
    {"lag": 0.0, "thrust": 250.0, "delay": 0.0},
    {"lag": 0.3, "thrust": 0.0, "delay": 0.0},
    {"lag": 0.3, "thrust": 250.0, "delay": 0.0},
    {"lag": 0.3, "thrust": 250.0, "delay": 0.5},
)
"""Damper over spring of the lift (s), thrust on the Soyuz (N), its delay (s)."""


def tilt_stiffness() -> float:
    """Return the stiffness of the ring against a small tilt about its held centre, N m/rad."""
    ring = Ring("geared", "APAS-75-first")
    angles = []
    for tilt in (-1e-5, 1e-5):
        ring.strokes(ring.forward, 0.0, 0.0, tilt, 0.0)
        geared.set_outputs(ring.m)
        angles.append(np.array([shaft.angle for shaft in ring.m.shaft]))
    (turned,) = (after - before for before, after in pairwise(angles))
    return float(np.dot(FIRST["stiffness"][1:], (turned[1:] / 2e-5) ** 2))


def _aligns(speed: float, stiffness: float, lag: float, pressing: float, delay: float, step: float = 1e-3) -> bool:
    """Return whether the edge reaches its end, by the midpoint rule."""
    mass, end = SOYUZ * APOLLO / (SOYUZ + APOLLO), RADIUS * np.sin(TILT)
    s, v, t = 0.0, speed, 0.0

    def acceleration(s: float, v: float, t: float) -> float:
        return ((pressing if t >= delay else 0.0) - stiffness * (s + lag * v)) / mass

    while v > 0.0 and s < end and t < 20.0:
        middle = v + 0.5 * step * acceleration(s, v, t)
        v += step * acceleration(s + 0.5 * step * v, middle, t + 0.5 * step)
        s += step * middle
        t += step
    return bool(s >= end)


def closed_form(lag: float, thrust: float, delay: float) -> float:
    """Return the least speed of the closed form, m/s."""
    stiffness, pressing = tilt_stiffness() / RADIUS**2, thrust * APOLLO / (SOYUZ + APOLLO)
    low, high = 0.0, 0.4
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _aligns(middle, stiffness, lag, pressing, delay) else (middle, high)
    return high


def reduced(lag: float, thrust: float, delay: float) -> dict[str, Any]:
    """Return the settings that reduce `apas_75_capture` to the assumptions of the closed form."""
    still, legs = np.diag([1e9] * 3).tolist(), "mechanism.parameters.legs."
    return {
        "initial_conditions.pitch": TILT,
        "chaser.parameters.push_thrust": thrust,
        "chaser.parameters.inertia": still,
        "station.parameters.inertia": still,
        "cyclogram.parameters.push_delay": delay,
        SHAFTS + "damping": [FIRST["damping"][0], *(lag * k for k in FIRST["stiffness"][1:])],
        SHAFTS + "friction": [60.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        SHAFTS + "inertia": [FIRST["inertia"][0], *[1e-6] * 5],
        "mechanism.parameters.ring.mass": 5.0,
        "mechanism.parameters.ring.inertia": np.diag([1.8, 0.9, 0.9]).tolist(),
        legs + "housing_mass": 0.1,
        legs + "housing_inertia": [1e-4, 1e-3],
        legs + "screw_mass": 0.1,
        legs + "screw_inertia": [1e-5, 1e-3],
        legs + "nut_inertia": 1e-6,
        **{f"{RINGS}{law}.friction": 0.0 for law in ("law_petal", "law_side", "law_plane")},
    }


def real(lag: float, thrust: float, delay: float) -> float:
    """Return the least speed of the reduced ring, m/s, to 0.0016."""
    return least_speed("apas_75_capture", reduced(lag, thrust, delay), 4.0, high=0.2, halvings=7)


def main() -> None:
    """Print both speeds."""
    print("| damper over spring | thrust | late by | closed form | ring |\n|---|---|---|---|---|")
    for row in ROWS:
        told = f"{row['lag']} s | {row['thrust']:.0f} N | {row['delay']} s"
        print(f"| {told} | {closed_form(**row):.3f} m/s | {real(**row):.3f} m/s |", flush=True)
