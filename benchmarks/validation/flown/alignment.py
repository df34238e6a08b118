"""Speed that turns the ring of APAS-75 face to face: the ring itself against the closed form 1.6.

The closed form has one coordinate, the travel s of the craft from the first contact of the ring's edge on:
m_e s'' + k s' + F_s = P until the ring is aligned. m_e is the reduced mass of the craft, P the thrust in the share of
the masses. F_s(s) and k(s) follow from the springs and dampers of the shafts by the kinematics of the legs: the force
acts along the axis of the passive ring on the edge of the plane, and the centre of the ring goes where the springs let
it.

The ring is that of `apas_75_capture`, reduced to what the form assumes. Craft do not turn, the ring and its legs are
light, and nothing but the edge of the plane bears: petals give way, latches have no springs, and the sensors switch as
the planes meet. No dry friction but in the brake along the axis, which holds behind a stiff spring; dampers of the lift
in proportion to its springs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import fsolve

from benchmarks.validation.flown.capture import least_speed
from benchmarks.validation.flown.ranges import Ring
from benchmarks.validation.flown.ring_cases import FIRST, RINGS, SHAFTS
from dockfmu.components.ring_mechanism.legs import geared

RING, LEGS = 5.0, 1.2
"""Masses of the light ring and of its legs, kg."""
SOYUZ, APOLLO = 6696.0 + RING + LEGS, 14768.0
HELD = 1440.0
"""Spring between the first shaft and its brake, N m/rad: 1e8 N/m along the axis."""
RADIUS, TILT = 0.51, np.radians(4.0)
ROWS = (
    {"lag": 0.0, "thrust": 0.0, "delay": 0.0},
    {"lag": 0.0, "thrust": 250.0, "delay": 0.0},
    {"lag": 0.3, "thrust": 0.0, "delay": 0.0},
    {"lag": 0.3, "thrust": 250.0, "delay": 0.0},
    {"lag": 0.3, "thrust": 250.0, "delay": 0.5},
)
"""Damper over spring of the lift (s), thrust on the Soyuz (N), its delay (s)."""
COMMAND = 1.5e-3
"""From first contact to the thrust, s, without a delay: half a macro step until the sequence is told, and one more."""


@dataclass(frozen=True)
class Lift:
    """Hold what lifts with the edge of the ring, over its travel s, m.

    They are splines of the energy of the springs, J, and of k of dampers that are their springs times 1 s, N s/m;
    `end` is the travel to the aligned ring.
    """

    energy: CubicSpline
    damping: CubicSpline
    end: float


@cache
def lift() -> Lift:
    """Return the lift of the ring in its plane of tilt, without turn of its first shaft, in balance across its axis."""
    ring = Ring("geared", "APAS-75-first")
    stiffness = np.array(FIRST["stiffness"])
    across = np.array([np.cos(TILT), -np.sin(TILT)])

    def shafts(pose: np.ndarray) -> np.ndarray:
        """Return the angles of the shafts, rad, at a height, lateral place and tilt."""
        ring.strokes(pose[0], pose[1], 0.0, pose[2], 0.0)
        geared.set_outputs(ring.m)
        return np.array([shaft.angle for shaft in ring.m.shaft])

    def edge(pose: np.ndarray) -> float:
        """Return how far the edge of the plane is along the axis of the passive ring, m."""
        return float(across @ (pose[:2] + RADIUS * np.array([np.sin(pose[2]), -np.cos(pose[2])])))

    def out_of_balance(place: np.ndarray, tilt: float) -> list[float]:
        """Return the turn of the first shaft, and the force in the direction in which neither it nor the edge moves."""
        pose, step = np.array([*place, tilt]), 1e-5 * np.eye(3)
        turns = np.array([(shafts(pose + d) - shafts(pose - d)) / 2e-5 for d in step])
        moves = np.array([(edge(pose + d) - edge(pose - d)) / 2e-5 for d in step])
        angles = shafts(pose)
        return [angles[0], np.cross(turns[:, 0], moves) @ turns[:, 1:] @ (stiffness * angles)[1:]]

    place, travel, turned = np.array([ring.forward, 0.0]), [], []
    start = edge(np.array([*place, 0.0]))
    for tilt in np.linspace(0.0, -TILT, 17):
        place = fsolve(out_of_balance, place, args=(tilt,), xtol=1e-9)
        pose = np.array([*place, tilt])
        travel.append(start - edge(pose))
        turned.append(shafts(pose)[1:])
    s, angles = np.array(travel), np.array(turned)
    rates = CubicSpline(s, angles).derivative()(s)
    return Lift(CubicSpline(s, 0.5 * angles**2 @ stiffness[1:]), CubicSpline(s, rates**2 @ stiffness[1:]), float(s[-1]))


def _aligns(speed: float, lag: float, pressing: float, delay: float, step: float = 1e-3) -> bool:
    """Return whether the edge reaches its end, by the midpoint rule."""
    mass, lifted = SOYUZ * APOLLO / (SOYUZ + APOLLO), lift()
    spring = lifted.energy.derivative()
    s, v, t = 0.0, speed, 0.0

    def acceleration(s: float, v: float, t: float) -> float:
        pressed = pressing if t >= delay + COMMAND else 0.0
        return float(pressed - spring(s) - lag * lifted.damping(s) * v) / mass

    while v > 0.0 and s < lifted.end and t < 20.0:
        middle = v + 0.5 * step * acceleration(s, v, t)
        v += step * acceleration(s + 0.5 * step * v, middle, t + 0.5 * step)
        s += step * middle
        t += step
    return bool(s >= lifted.end)


def closed_form(lag: float, thrust: float, delay: float) -> float:
    """Return the least speed of the closed form, m/s, to 1e-5."""
    pressing = thrust * APOLLO / (SOYUZ + APOLLO)
    low, high = 0.0, 0.3
    for _ in range(15):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _aligns(middle, lag, pressing, delay) else (middle, high)
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
        SHAFTS + "brake_stiffness": [HELD, 0.0, 0.0, 0.0, 0.0, 0.0],
        SHAFTS + "inertia": [FIRST["inertia"][0], *[1e-6] * 5],
        "mechanism.parameters.ring.mass": RING,
        "mechanism.parameters.ring.inertia": np.diag([1.8, 0.9, 0.9]).tolist(),
        legs + "housing_mass": LEGS / 12.0,
        legs + "housing_inertia": [1e-4, 1e-3],
        legs + "screw_mass": LEGS / 12.0,
        legs + "screw_inertia": [1e-5, 1e-3],
        legs + "nut_inertia": 1e-6,
        # the plane alone bears, on a band wide enough for a ring whose centre goes 30 mm aside
        RINGS + "ring.radius": 0.475,
        RINGS + "ring.outer_radius": 0.56,
        RINGS + "petal.lower_radius": 0.46,
        **{f"{RINGS}{law}.friction": 0.0 for law in ("law_petal", "law_side", "law_plane")},
        **{f"{RINGS}{law}.stiffness": 1e-3 for law in ("law_petal", "law_side")},
        **{f"{RINGS}{law}.damping": 0.0 for law in ("law_petal", "law_side")},
        **{f"{RINGS}{law}.penetration_limit": 1.0 for law in ("law_petal", "law_side")},
        RINGS + "law_plane.stiffness": 1e7,
        RINGS + "law_plane.damping": 1e4,
        RINGS + "latch.preload": 0.0,
        RINGS + "latch.stiffness": 1.0,
        # they switch 0.05 mm before the planes meet: the edge yields by that
        RINGS + "sensor.protrusion": 1e-4,
        RINGS + "sensor.threshold": 5e-5,
    }


def real(lag: float, thrust: float, delay: float) -> float:
    """Return the least speed of the reduced ring, m/s, to 1e-4 of that of the closed form."""
    needed = closed_form(lag, thrust, delay)
    settings = reduced(lag, thrust, delay)
    return least_speed("apas_75_capture", settings, 4.0, low=0.99 * needed, high=1.01 * needed, halvings=8)


def main() -> None:
    """Print both speeds."""
    print("| damper over spring | thrust | late by | closed form | ring |\n|---|---|---|---|---|")
    for row in ROWS:
        told = f"{row['lag']} s | {row['thrust']:.0f} N | {row['delay']} s"
        print(f"| {told} | {closed_form(**row):.5f} m/s | {real(**row):.5f} m/s |", flush=True)
