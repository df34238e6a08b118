"""What comes out of each case that flew, and the ranges of what was assumed for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import dockfmu
from benchmarks.validation.flown.capture import least_speed

Values = Mapping[str, float]
Run = dockfmu.Outcome


@dataclass(frozen=True)
class Case:
    """A quantity that is compared with a published one, and the ranges of the assumed data it may depend on.

    `measure` gets one value of each of `ranges`; shares multiply what the declaration has.
    """

    title: str
    published: str
    ranges: Mapping[str, tuple[float, float]]
    measure: Callable[[Values], float]


def _run(system: str, settings: Mapping[str, Any], stop: float | None = None, every: int | None = None) -> Run:
    return dockfmu.System.load(system, dict(settings)).run(stop=stop, every=every, check=False)


def _largest(run: Run, name: str) -> float:
    return float(np.array(run[name]).max())


def tilt(run: Run) -> float:
    """Return the largest angle between the docking axes after capture, deg."""
    if "capture" not in run.events:
        return float("nan")
    yaw, pitch = (np.array(run[f"mechanism.docking.angles[{i}]"]) for i in (1, 2))
    return float(np.degrees(np.hypot(yaw, pitch))[run.time > run.events["capture"]].max())


def _inertia(transverse: float) -> list[list[float]]:
    return np.diag([0.2 * transverse, transverse, transverse]).tolist()


def _swing(system: str) -> Callable[[Values], float]:
    def measure(x: Values) -> float:
        # four nozzles of the ring that fires, the others of the set
        thrust = [98.0 * x["nozzles"] if position[0] >= 0.0 else 0.0 for position in NOZZLES]
        placed = [[x["place"] if p[0] > 0.0 else p[0], *p[1:]] for p in NOZZLES]
        return tilt(
            _run(
                system,
                {
                    "initial_conditions.velocity": [x["speed"], 0.02, -0.02],
                    "station.parameters.inertia": _inertia(4e5 * x["inertia"]),
                    "chaser_attitude.parameters.thruster.thrust": thrust,
                    "chaser_attitude.parameters.thruster.position": placed,
                },
                stop=32.0,
            )
        )

    return measure


NOZZLES = (
    *((x, 0.0, z) for x in (1.0, -2.5) for z in (1.1, -1.1)),
    *((x, y, 0.0) for x in (1.0, -2.5) for y in (1.1, -1.1)),
    (0.0, 1.1, 0.0), (0.0, 1.1, 0.0), (0.0, -1.1, 0.0), (0.0, -1.1, 0.0),
)  # fmt: skip
SWING = {"speed": (0.2, 0.3), "nozzles": (0.6, 2.0), "place": (0.5, 2.0), "inertia": (0.5, 2.0)}

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


def _shafts(base: Mapping[str, Any], x: Values) -> dict[str, Any]:
    """Return the settings of the shafts with dampers, brake and springs of the lift in their shares."""
    damping = [d * x.get("dampers", 1.0) for d in base["damping"]]
    friction = [base["friction"][0] * x.get("brake", 1.0), *base["friction"][1:]]
    stiffness = [k * (x.get("springs", 1.0) if i in (1, 2, 4, 5) else 1.0) for i, k in enumerate(base["stiffness"])]
    return {SHAFTS + "damping": damping, SHAFTS + "friction": friction, SHAFTS + "stiffness": stiffness}


def _speed_needed(x: Values) -> float:
    settings = {
        **_shafts(FIRST, x),
        "chaser.parameters.push_thrust": x["thrust"],
        "chaser.parameters.inertia": _inertia(3e4 * x["inertia"]),
        "ring_pair_friction": x["friction"],
    }
    friction = settings.pop("ring_pair_friction")
    for law in ("law_petal", "law_side", "law_plane"):
        settings[f"mechanism.ring_pair.parameters.{law}.friction"] = friction
    return least_speed("apas_75_capture", settings, stop=3.0, low=0.04, high=0.28, halvings=5)


def _fall_of_the_peak(x: Values) -> float:
    peaks = []
    for base, system in ((FIRST, "apas_75_impact"), (CHANGED, "apas_75_impact_changed")):
        settings = {**_shafts(base, x), "initial_conditions.velocity": [x["speed"], 0.0, 0.0]}
        peaks.append(_largest(_run(system, settings, stop=0.3 / x["speed"] * 0.5), "mechanism.load.compression"))
    return 100.0 * (1.0 - peaks[1] / peaks[0])


def _recoil(x: Values) -> float:
    speeds = []
    for system in ("soyuz_1967", "soyuz_1971"):
        settings = {
            "chaser.parameters.push_thrust": 0.0,
            "initial_conditions.velocity": [x["speed"], 0.0, 0.0],
            "initial_conditions.miss": [x["miss"], 0.0],
            "mechanism.parameters.probe.bending_stiffness": 8e3 * x["rod"],
            "chaser.parameters.inertia": _inertia(3.2e4 * x["inertia"]),
        }
        run = _run(system, settings, stop=0.8, every=1)
        normal = zip((np.sin(np.radians(22.0)), np.cos(np.radians(22.0))), (1, 2), strict=True)
        along = sum(share * np.array(run[f"mechanism.docking.velocity[{k}]"]) for share, k in normal)
        speeds.append(float(-along[-1] / along[0]))
    return speeds[1] / speeds[0]


def _swing_left(x: Values) -> float:
    """Return the largest angle between the axes of Soyuz and Apollo later than 40 s after the second firing, deg."""
    nuts, screws, lift = x["nut brake"], x["screw brakes"], x["friction"]
    settings = {
        SHAFTS + "damping": [3.0 * nuts, 1.5 * nuts, 1.5 * nuts, 0.05 * screws, 0.1 * screws, 0.1 * screws],
        SHAFTS + "friction": [15.17, 0.03 * lift, 0.03 * lift, 0.04 * lift, 0.06 * lift, 0.06 * lift],
        "chaser.parameters.inertia": _inertia(3e4 * x["inertia"]),
    }
    run = _run("apas_75_second_docking", settings)
    swing = np.hypot(*(np.array(run[f"mechanism.docking.angles[{k}]"]) for k in (1, 2)))
    return float(np.degrees(swing)[run.time > 45.0].max())


def _absorbed(x: Values) -> float:
    """Return the energy that the mechanism of ATV-1 takes, J."""
    settings = {
        "initial_conditions.miss": [x["miss"], 0.0],
        "initial_conditions.velocity": [0.07, x["lateral"], 0.0],
        "initial_conditions.angular_velocity": [0.0, x["rate"], -x["rate"]],
        "chaser.parameters.inertia": _inertia(1.8e5 * x["inertia"]),
    }
    run = _run("atv_1", settings)
    histories = [np.array(run[f"mechanism.audit.{name}_energy"]) for name in ("dissipated", "stored", "kinetic")]
    return float(sum(history[-1] - history[0] for history in histories)) if "capture" in run.events else float("nan")


CASES = {
    "swing": Case("swing of `soyuz_10_free_swing`", "20° to 40°", SWING, _swing("soyuz_10_free_swing")),
    "held": Case("swing of `soyuz_10_fore_nozzles`", "20° to 40°", SWING, _swing("soyuz_10_fore_nozzles")),
    "speed": Case(
        "speed that `apas_75_capture` needs, m/s",
        "0.14",
        {"thrust": (100.0, 500.0), "dampers": (0.5, 2.0), "springs": (0.8, 1.25), "inertia": (0.5, 2.0),
         "friction": (0.05, 0.2)},
        _speed_needed,
    ),
    "fall": Case(
        "fall of the peak, `apas_75_impact` to `_changed`, %",
        "about 40",
        {"speed": (0.15, 0.3), "brake": (0.25, 1.0), "dampers": (0.5, 2.0)},
        _fall_of_the_peak,
    ),
    "recoil": Case(
        "recoil of `soyuz_1971` over that of `soyuz_1967`",
        "less than 1",
        {"speed": (0.1, 0.3), "miss": (0.08, 0.25), "rod": (0.5, 2.0), "inertia": (0.5, 2.0)},
        _recoil,
    ),
    "second": Case(
        "swing of `apas_75_second_docking` after 45 s, deg",
        "quiet",
        {"nut brake": (0.0, 0.1), "screw brakes": (0.5, 2.0), "friction": (0.5, 4.0), "inertia": (0.5, 2.0)},
        _swing_left,
    ),
    "energy": Case(
        "energy absorbed by the mechanism of `atv_1`, J",
        "43.5",
        {"miss": (0.0, 0.1), "lateral": (-0.02, 0.02), "rate": (-1e-3, 1e-3), "inertia": (0.7, 1.4)},
        _absorbed,
    ),
}  # fmt: skip
