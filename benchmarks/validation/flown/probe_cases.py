"""Cases that flew with a probe: quantities, and the ranges of what was assumed for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.validation.docking import changed
from benchmarks.validation.flown import impacts, spring
from benchmarks.validation.flown.capture import captures, least_speed
from benchmarks.validation.flown.draws import Case, Quantity, Values
from benchmarks.validation.flown.outcomes import NONE, absorbed, inertia, recoil, shear, tilt
from benchmarks.validation.flown.rankings import PROBE_STOP

CONE = np.radians(22.0)
SPEED = "initial_conditions.velocity"
CHASER, STATION = "chaser.parameters.inertia", "station.parameters.inertia"
THRUST = "chaser.parameters.push_thrust"
LATCHES = "mechanism.probe_cone.parameters.law_latch.stiffness"
NOZZLES = (
    *((x, 0.0, z) for x in (1.0, -2.5) for z in (1.1, -1.1)),
    *((x, y, 0.0) for x in (1.0, -2.5) for y in (1.1, -1.1)),
    (0.0, 1.1, 0.0), (0.0, 1.1, 0.0), (0.0, -1.1, 0.0), (0.0, -1.1, 0.0),
)  # fmt: skip
"""Of `soyuz_10_fore_nozzles`, m."""


def _soyuz_10(x: Values) -> tuple[float, ...]:
    """Return the swing (deg) and the largest force across the axis (N) with the control of the set."""
    settings = {
        SPEED: [x["speed"], 0.02, -0.02],
        STATION: inertia(4e5 * x["inertia"]),
        "chaser_attitude.parameters.thruster.thrust": [130.0 * x["nozzles"]] * len(NOZZLES),
        "chaser_attitude.parameters.rate_gain": x["rate gain"],
        LATCHES: 1e7 * x["latches"],
    }
    run = changed("soyuz_10", settings).run(stop=32.0)
    return tilt(run), shear(run)


def _control_off(x: Values) -> tuple[float, ...]:
    """Return the largest force across the axis with the control off, at the 0.2 m/s of after the rework, N."""
    settings = {
        SPEED: [0.2, x["across"], -x["across"]],
        STATION: inertia(4e5 * x["inertia"]),
        CHASER: inertia(3.2e4 * x["own inertia"]),
        LATCHES: 1e7 * x["latches"],
    }
    return (shear(changed("soyuz_10_control_off", settings).run(stop=32.0)),)


def _nozzles(system: str) -> Callable[[Values], tuple[float, ...]]:
    def measure(x: Values) -> tuple[float, ...]:
        """Return the swing, deg, with the four nozzles of the ring that fires in other places and of other sizes."""
        thrust = [98.0 * x["nozzles"] if position[0] >= 0.0 else 0.0 for position in NOZZLES]
        placed = [[x["place"] if p[0] > 0.0 else p[0], *p[1:]] for p in NOZZLES]
        settings = {
            SPEED: [x["speed"], 0.02, -0.02],
            STATION: inertia(4e5 * x["inertia"]),
            "chaser_attitude.parameters.thruster.thrust": thrust,
            "chaser_attitude.parameters.thruster.position": placed,
        }
        return (tilt(changed(system, settings).run(stop=32.0)),)

    return measure


def _energy(x: Values) -> tuple[float, ...]:
    """Return the energy that the mechanism of ATV-1 takes, J."""
    settings = {
        "initial_conditions.miss": [x["miss"], 0.0],
        SPEED: [0.07, x["lateral"], 0.0],
        "initial_conditions.angular_velocity": [0.0, x["rate"], -x["rate"]],
        CHASER: inertia(1.8e5 * x["inertia"]),
    }
    run = changed("atv_1", settings).run()
    return (absorbed(run) if "capture" in run.events else NONE,)


def _recoils(x: Values) -> tuple[float, ...]:
    """Return the recoil of 1967, and that of 1971 over it."""
    settings = {
        THRUST: 0.0,
        SPEED: [x["speed"], 0.0, 0.0],
        "initial_conditions.miss": [x["miss"], 0.0],
        "mechanism.parameters.probe.bending_stiffness": 8e3 * x["rod"],
        CHASER: inertia(3.2e4 * x["inertia"]),
    }
    early, late = (
        recoil(changed(system, settings).run(stop=0.8, every=1), CONE) for system in ("soyuz_1967", "soyuz_1971")
    )
    return early, late / early


def _impacts(x: Values) -> tuple[float, ...]:
    """Return the impacts before capture of 1967 less those of 1971, from the same start."""
    settings = {
        "mechanism.parameters.probe.bending_stiffness": 8e3 * x["rod"],
        CHASER: inertia(3.2e4 * x["inertia"]),
    }
    early, late = (impacts.impacts(name, x["miss"], x["speed"], settings) for name in ("soyuz_1967", "soyuz_1971"))
    return (float(early[0] - late[0]),)


APOLLO_SPEED, APOLLO_PLACE = "csm.parameters.initial.velocity", "csm.parameters.initial.position"
ABSORBER = "mechanism.parameters.joint.absorber.displacement."


def _apollo_settings(x: Values) -> dict[str, Any]:
    across = 1e5 * x["inertia"]
    return {
        APOLLO_SPEED: [x["speed"], 0.0, 0.0],
        APOLLO_PLACE: [-6.71, x["miss"], 0.0],
        "csm.parameters.inertia": np.diag([0.48 * across, across, across]).tolist(),
        ABSORBER + "stiffness": 5e3 * x["spring"],
        ABSORBER + "damping": 2.5e4 * x["oil"],
    }


def _apollo(x: Values) -> tuple[float, ...]:
    """Return the time from capture to the rings' bearing, s."""
    run = changed("apollo_probe_drogue", _apollo_settings(x)).run(every=10)
    return (run.events["docked"] - run.events["capture"] if run.outcome == "docked" else NONE,)


def _apollo_14(x: Values) -> tuple[float, ...]:
    """Return 1 if Apollo 14 captures, 0 if not."""
    settings = {**_apollo_settings(x), "csm.parameters.push_thrust": 890.0 * x["thrust"]}
    return (float(captures("apollo_14", x["speed"], settings, 4.4)),)


def _analysis_of_1966(x: Values) -> tuple[float, ...]:
    """Return the least speed with thrust, hold, half the inertia or the lateral absorber, over that without."""
    whole = 3.2e4 * x["inertia"]
    plain = {
        THRUST: 0.0,
        "initial_conditions.miss": [x["miss"], 0.0],
        "mechanism.parameters.probe.bending_stiffness": 8e3 * x["rod"],
        CHASER: inertia(whole),
    }
    hold = {"cyclogram.parameters.attitude_control": [1.0, 1.0], "chaser.parameters.hold_frequency": 0.5}
    others = (
        ("soyuz_1967", {THRUST: 500.0}),
        ("soyuz_1967", hold),
        ("soyuz_1967", {CHASER: inertia(0.5 * whole)}),
        ("soyuz_1971", {}),
    )
    base = least_speed("soyuz_1967", plain, PROBE_STOP)
    return tuple(least_speed(system, {**plain, **settings}, PROBE_STOP) / base for system, settings in others)


def _dynamic_part(x: Values) -> tuple[float, ...]:
    """Return the dynamic part of the force of V2 at first contact, % of what its brake holds."""
    settings = spring.of(x["inertance"], 1e6 * x["spring"]) | {SPEED: [x["speed"], 0.0, 0.0]}
    return (100.0 * spring.dynamic_part(settings),)


SWING = {"speed": (0.2, 0.3), "nozzles": (0.6, 2.0), "place": (0.5, 2.0), "inertia": (0.5, 2.0)}
PLANE_START = {"speed": (0.1, 0.3), "miss": (0.08, 0.2), "rod": (0.5, 2.0), "inertia": (0.5, 2.0)}
APOLLO = {"speed": (0.1, 0.3), "miss": (0.0, 0.15), "inertia": (0.5, 2.0), "spring": (0.4, 2.0), "oil": (0.4, 2.0)}
ONE = np.nextafter(1.0, 0.0)

CASES = {
    "energy": Case(
        (Quantity("energy absorbed by the mechanism of `atv_1`, J", "43.5", 0.98 * 43.54, 1.02 * 43.54),),
        {"miss": (0.0, 0.1), "lateral": (-0.02, 0.02), "rate": (-1e-3, 1e-3), "inertia": (0.7, 1.4)},
        _energy,
    ),
    "couples": Case(
        (
            Quantity("swing of `soyuz_10`", "20° to 40°", 20.0, 40.0),
            Quantity("force across the axis of `soyuz_10`, N", "above 785", 785.0),
        ),
        {"speed": (0.2, 0.3), "nozzles": (0.5, 2.0), "rate gain": (0.05, 10.0), "inertia": (0.5, 2.0),
         "latches": (0.5, 2.0)},
        _soyuz_10,
    ),
    "off": Case(
        (Quantity("force across the axis of `soyuz_10_control_off` at 0.2 m/s, N", "below 1569", high=1569.0),),
        {"across": (-0.05, 0.05), "inertia": (0.5, 2.0), "own inertia": (0.7, 1.4), "latches": (0.5, 2.0)},
        _control_off,
    ),
    "held": Case(
        (Quantity("swing of `soyuz_10_fore_nozzles`", "20° to 40°", 20.0, 40.0),),
        SWING,
        _nozzles("soyuz_10_fore_nozzles"),
    ),
    "swing": Case(
        (Quantity("swing of `soyuz_10_free_swing`", "20° to 40°", 20.0, 40.0),), SWING, _nozzles("soyuz_10_free_swing")
    ),
    "recoil": Case(
        (
            Quantity("recoil of `soyuz_1967`", "high"),
            Quantity("recoil of `soyuz_1971` over that of `soyuz_1967`", "less than 1", high=ONE),
        ),
        PLANE_START,
        _recoils,
    ),
    "impacts": Case(
        (Quantity("impacts of `soyuz_1967` less those of `soyuz_1971`", "more (by its recoil)", low=1.0),),
        PLANE_START,
        _impacts,
    ),
    "apollo": Case(
        (Quantity("`apollo_probe_drogue`: capture to rings bearing, s", "captured, drawn in", low=0.0),),
        APOLLO,
        _apollo,
    ),
    "apollo_14": Case(
        (Quantity("captures of `apollo_14`", "none", high=0.0),),
        APOLLO | {"speed": (0.05, 0.3), "thrust": (0.0, 2.0)},
        _apollo_14,
    ),
    "spring": Case(
        (Quantity("dynamic part of the force of `central_impact_20t_v2`, %", "10 at most", high=10.0),),
        {"speed": (0.1, 0.3), "inertance": (15.0, 50.0), "spring": (0.2, 2.0)},
        _dynamic_part,
    ),
    "analysis_1966": Case(
        tuple(
            Quantity(f"least speed of `soyuz_1967` with {what}, over that without", "less than 1", high=ONE)
            for what in ("thrust", "attitude hold", "half the inertia", "the lateral absorber")
        ),
        {"miss": (0.12, 0.2), "rod": (0.5, 2.0), "inertia": (0.5, 2.0)},
        _analysis_of_1966,
    ),
}  # fmt: skip
