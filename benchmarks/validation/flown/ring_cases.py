"""Cases that flew with a ring: quantities, and the ranges of what was assumed for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.validation.docking import changed
from benchmarks.validation.flown import ranges
from benchmarks.validation.flown.capture import captures, least_speed
from benchmarks.validation.flown.draws import Case, Quantity, Values
from benchmarks.validation.flown.outcomes import NONE, inertia, swing

SPEED = "initial_conditions.velocity"
CHASER = "chaser.parameters.inertia"
THRUST = "chaser.parameters.push_thrust"
DELAY = "cyclogram.parameters.push_delay"
RINGS = "mechanism.ring_pair.parameters."
SHAFTS = "mechanism.parameters.shafts."
FIRST, CHANGED = (
    {
        "inertia": [inertia, 4e-4, 4e-4, 4e-4, 4e-4, 4e-4],
        "damping": damping,
        "friction": [15.17, 0.03, 0.03, 0.04, 0.06, 0.06],
        "stiffness": stiffness,
    }
    for inertia, damping, stiffness in (
        (2.348e-3, [0.3, 0.15, 0.15, 0.05, 0.1, 0.1], [0.009, 0.16, 0.16, 0.048, 0.27, 0.27]),
        (1.845e-3, [0.0, 0.0, 0.0, 0.05, 0.1, 0.1], [0.009, 0.107, 0.107, 0.048, 0.18, 0.18]),
    )
)
"""Shafts of APAS-75-first and APAS-75."""


def _shafts(base: Mapping[str, Any], x: Values) -> dict[str, Any]:
    """Return the settings of the shafts with dampers, brake and springs of the lift in their shares."""
    damping = [d * x.get("dampers", 1.0) for d in base["damping"]]
    friction = [base["friction"][0] * x.get("brake", 1.0), *base["friction"][1:]]
    stiffness = [k * (x.get("springs", 1.0) if i in (1, 2, 4, 5) else 1.0) for i, k in enumerate(base["stiffness"])]
    return {SHAFTS + "damping": damping, SHAFTS + "friction": friction, SHAFTS + "stiffness": stiffness}


def _askew(base: Mapping[str, Any], x: Values) -> dict[str, Any]:
    """Return the settings of a ring that meets another askew."""
    friction = {f"{RINGS}{law}.friction": x["friction"] for law in ("law_petal", "law_side", "law_plane")}
    return {**_shafts(base, x), CHASER: inertia(3e4 * x["inertia"]), **friction}


def _least(system: str, settings: Mapping[str, Any]) -> float:
    return least_speed(system, settings, stop=3.0, low=0.0, high=0.32, halvings=6)


def _speeds(x: Values) -> tuple[float, ...]:
    """Return the speed that capture needs (m/s), with a late thrust over it, and with the changed device over it."""
    settings = {**_askew(FIRST, x), THRUST: x["thrust"]}
    needed = _least("apas_75_capture", settings)
    late = _least("apas_75_capture", {**settings, DELAY: 0.5})
    later = _least("apas_75_capture_changed", {**settings, **_askew(CHANGED, x)})
    return needed, late / needed, later / needed


def _thrust_for_any_speed(x: Values) -> tuple[float, ...]:
    """Return the thrust on the Soyuz that captures at 0.01 m/s, kN, to 0.05 kN."""
    low, high = 0.0, 3200.0
    settings = _askew(FIRST, x)
    for _ in range(6):
        middle = 0.5 * (low + high)
        if captures("apas_75_capture", 0.01, {**settings, THRUST: middle}, 4.0):
            high = middle
        else:
            low = middle
    return (1e-3 * high,)


def _falls(x: Values) -> tuple[float, ...]:
    """Return by how much both changes, and the inertia alone, lower the peak of the central impact, %."""
    lighter = {**FIRST, "inertia": CHANGED["inertia"]}
    peaks = []
    for base, system in ((FIRST, ""), (CHANGED, "_changed"), (lighter, "_lighter")):
        settings = {**_shafts(base, x), SPEED: [x["speed"], 0.0, 0.0]}
        run = changed(f"apas_75_impact{system}", settings).run(stop=0.15 / x["speed"])
        peaks.append(float(np.array(run["mechanism.load.compression"]).max()))
    return tuple(100.0 * (1.0 - peak / peaks[0]) for peak in peaks[1:])


def _offset(x: Values) -> tuple[float, ...]:
    """Return how far the latches can be out of the joint plane and still fire, mm, to 0.25 mm."""
    low, high = 0.0, 8.0
    settings = {
        SPEED: [x["speed"], 0.0, 0.0],
        f"{RINGS}latch.preload": 60.0 * x["latch spring"],
        f"{RINGS}law_plane.stiffness": 6.8e4 * x["contact"],
        f"{RINGS}law_petal.stiffness": 4e5 * x["contact"],
        f"{RINGS}stop.inner_radius": 0.515 - 1e-3 * x["stop"],
    }
    for _ in range(5):
        middle = 0.5 * (low + high)
        run = changed("apas_75_impact", {**settings, f"{RINGS}latch.height": 0.034 - 1e-3 * middle}).run(
            stop=0.07 / x["speed"] + 0.1
        )
        low, high = (middle, high) if "latched" in run.events else (low, middle)
    return (high,)


def _second(x: Values) -> tuple[float, ...]:
    """Return the largest swing (deg), what is left of it after 45 s, and the stroke that is nearest to its end (m)."""
    nuts, screws, lift = x["nut brake"], x["screw brakes"], x["friction"]
    settings = {
        SHAFTS + "damping": [3.0 * nuts, 1.5 * nuts, 1.5 * nuts, 0.05 * screws, 0.1 * screws, 0.1 * screws],
        SHAFTS + "friction": [15.17, 0.03 * lift, 0.03 * lift, 0.04 * lift, 0.06 * lift, 0.06 * lift],
        CHASER: inertia(3e4 * x["inertia"]),
        "cyclogram.parameters.fault.stray_time": [1.75 * x["firings"], 1.75 * x["firings"]],
    }
    run = changed("apas_75_second_docking", settings).run()
    if run.outcome != "captured":
        return NONE, NONE, NONE
    angle = swing(run)
    largest = float(angle[run.time < 12.0].max())
    strokes = np.array([run[f"mechanism.leg[{k}].stroke"] for k in range(1, 7)])
    return largest, float(angle[run.time > 45.0].max()) / largest, float(strokes.max())


class _Legs(ranges.Ring):
    """The ring of the Apollo side on legs of another geometry."""

    def __init__(self, x: Values) -> None:
        super().__init__("hydraulic", "APAS-75-Apollo", {
            "legs.base_radius": 0.6 * x["base"],
            "legs.ring_angle": np.pi / 4.0 * x["ring angle"],
            "legs.base_angle": 0.2443461 * x["base angle"],
            "legs.retracted_length": 0.4 * x["length"],
        })  # fmt: skip


def _legs(x: Values) -> tuple[float, ...]:
    """Return how much smaller the range of independent legs is if all motions are at once, and the ratio of edges."""
    ring = _Legs(x)
    return 1.0 / ranges.ranges(ring.fits_independent)[1], ranges.edge(ring, np.radians(4.0))


def _analysis_of_1972(x: Values) -> tuple[float, ...]:
    """Return what a tilt of 4 deg needs over what roll of 4 deg or 0.1 m aside need, for both rings, without thrust."""
    shares = []
    for system in ("apas_75_capture", "apas_75_independent"):
        settings = {"initial_conditions.pitch": 0.0, THRUST: 0.0, CHASER: inertia(3e4 * x["inertia"])}
        settings |= {f"{RINGS}{law}.friction": x["friction"] for law in ("law_petal", "law_side", "law_plane")}
        tilt, roll, aside = (
            least_speed(system, {**settings, **turned}, 4.0, halvings=5)
            for turned in (
                {"initial_conditions.pitch": np.radians(4.0)},
                {"initial_conditions.roll": np.radians(4.0)},
                {"initial_conditions.miss": [0.1, 0.0]},
            )
        )
        shares.append(tilt / max(roll, aside))
    return tuple(shares)


ASKEW = {"dampers": (0.5, 2.0), "springs": (0.8, 1.25), "inertia": (0.5, 2.0), "friction": (0.05, 0.2)}
MORE = np.nextafter(1.0, 2.0)

CASES = {
    "speed": Case(
        (
            Quantity("speed that `apas_75_capture` needs, m/s", "0.14", 0.85 * 0.14, 1.15 * 0.14),
            Quantity("speed with thrust 0.5 s late, over it", "more than 1", low=MORE),
            Quantity("speed of `apas_75_capture_changed`, over it", "less than 1", high=np.nextafter(1.0, 0.0)),
        ),
        ASKEW | {"thrust": (100.0, 500.0)},
        _speeds,
    ),
    "thrust": Case(
        (Quantity("thrust on the Soyuz that captures at 0.01 m/s, kN", "1.5", 1.2, 1.8),),
        ASKEW,
        _thrust_for_any_speed,
    ),
    "fall": Case(
        (
            Quantity("fall of the peak, `apas_75_impact` to `_changed`, %", "about 40", 30.0, 50.0),
            Quantity("the same, to `_lighter`, %", "about 9 (estimate)", 4.0, 14.0),
        ),
        {"speed": (0.15, 0.3), "brake": (0.25, 1.0), "dampers": (0.5, 2.0)},
        _falls,
    ),
    "offset": Case(
        (Quantity("ring out of the joint plane that is not linked, mm", "5 at most", high=5.0),),
        {"speed": (0.1, 0.3), "latch spring": (0.5, 2.0), "contact": (0.5, 4.0), "stop": (38.5, 41.5)},
        _offset,
    ),
    "second": Case(
        (
            Quantity("swing of `apas_75_second_docking`, deg", "several strong"),
            Quantity("what is left of it after 45 s", "quiet: a tenth", high=0.1),
            Quantity("its largest stroke, m", "inside 0.24", high=0.24),
        ),
        {"nut brake": (0.0, 0.1), "screw brakes": (0.5, 2.0), "friction": (0.5, 4.0), "inertia": (0.5, 2.0),
         "firings": (0.7, 1.3)},
        _second,
    ),
    "legs": Case(
        (
            Quantity("range of independent legs, one motion over all at once", "2 to 3", 2.0, 3.0),
            Quantity("edge of their tilted ring", "about 2", 1.8, 2.2),
        ),
        {"base": (0.9, 1.2), "ring angle": (0.8, 1.2), "base angle": (0.5, 1.5), "length": (0.8, 1.2)},
        _legs,
    ),
    "analysis_1972": Case(
        tuple(
            Quantity(f"speed for a tilt of 4° over that for roll or 0.1 m aside, `{system}`", "more than 1", low=MORE)
            for system in ("apas_75_capture", "apas_75_independent")
        ),
        {"inertia": (0.5, 2.0), "friction": (0.05, 0.2)},
        _analysis_of_1972,
    ),
}  # fmt: skip
