"""What every component of the catalogue must do at the edges of what it may be given.

Run as a program, it prints {property: [what breaks it, ...]}. Compiled kernels take a sixth of the time of the
interpreter, and the tests of components compile them anyway.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache

import numpy as np

from dockfmu.components import spacecraft
from dockfmu.components.core.component import Component, ComponentError, Instance
from dockfmu.fmus import catalogue

H = 1e-3


@cache
def components() -> list[Component]:
    elastic = [spacecraft.component("station_beam", coupling=coupling) for coupling in ("one_way", "two_way")]
    return [*(catalogue.component(name) for name in catalogue.names()), *elastic]


def _whole(slot) -> str:
    """The name of a scalar, or of the whole array that it is in."""
    return slot.name.rpartition("[")[0] if slot.field.shape else slot.name


def _run(component: Component, start_time: float = 0.0, steps: int = 3, **values) -> tuple[np.ndarray, str]:
    """All public values after the start and each step; or nothing, and why the component refused."""
    public = [slot.index for slot in component.record.variables]
    try:
        instance = Instance(component, start_time=start_time, **values)
        rows = [instance.block[public].copy()]
        for k in range(steps):
            instance.step(start_time + k * H, H)
            rows.append(instance.block[public].copy())
    except ComponentError as error:
        return np.zeros((0, 0)), str(error)
    return np.array(rows), ""


def _limits(component: Component) -> dict[tuple[str, float], None]:
    """(parameter or input, one of its limits), whole arrays at once; Booleans have two."""
    found: dict[tuple[str, float], None] = {}
    for slot in component.record.variables:
        if slot.field.causality in ("parameter", "input"):
            limits = (slot.field.minimum, slot.field.maximum)
            for limit in (0.0, 1.0) if slot.field.type.fmi == "Boolean" else limits:
                if limit is not None:
                    found[_whole(slot), float(limit)] = None
    return found


def legal_limits() -> Iterator[str]:
    """Each value at each end of its declared range runs, or is refused by a message that names a parameter.

    A limit may contradict another parameter (no room for a preload, a rod too short to reach); the message then says
    which. Outputs are finite. One step is several micro-steps of a mechanism, from contact to motion.
    """
    for component in components():
        known = {slot.name for slot in component.record.variables}
        for name, limit in _limits(component):
            rows, refusal = _run(component, steps=1, **{name: limit})
            if not np.isfinite(rows).all():
                yield f"{component.name}: {name} = {limit:g}: outputs are not finite"
            named = re.findall(r"[\w.]*parameters(?:\.\w+)+", refusal)
            if refusal and not any(any(k.startswith(n) for k in known) for n in named):
                yield f"{component.name}: {name} = {limit:g}: {refusal}"


MUST_RUN = {
    "ProbeMechanism": (
        {"parameters.probe.hysteresis_loss": 0.0},
        {"parameters.probe.hysteresis_loss": 0.45},
        {"parameters.probe.hysteresis_loss": 1e-12},
        {"parameters.lateral.spring.unloading": 1.0},
        {"parameters.lateral.spring.unloading": 1.0 - 1e-12},
        {"parameters.lateral.spring.first_preload": 0.0},
        {"parameters.lateral.spring.ramp": 1e-9},
        {"parameters.axial.spring_return": 1.0},
        {"parameters.axial.spring_return": 0.0},
        {"parameters.axial.spring_preload": 0.0},
        {"parameters.axial.screw_friction": 0.99},
        {"parameters.drive.efficiency": 0.01},
    ),
    "ProbeMechanismTwoBrakes": (
        {"parameters.axial.first_brake_compression": 1.0},
        {"parameters.axial.first_brake_extension": 1.0},
        {"parameters.axial.first_brake_stroke": 1e-9},
        {"parameters.axial.screw_friction": 0.99},
    ),
    "ProbeMechanismMovableLimiter": (
        {"parameters.limiter.mass": 1e-3},
        {"parameters.limiter.stroke": 1e-4},
        {
            "parameters.limiter.axial_inertia": 0.0,
            "parameters.limiter.lateral_inertia": 0.0,
            "parameters.limiter.centre": 0.0,
        },
        {"parameters.limiter.damping": 0.0, "parameters.limiter.stop_damping": 0.0},
        {"parameters.limiter.stop_stiffness": 1e5},
        {"command.limiter_release": 0.0},
    ),
}


def limits_that_run() -> Iterator[str]:
    """Limits that contradict nothing are not refused."""
    for component in components():
        for values in MUST_RUN.get(component.name, ()):
            rows, refusal = _run(component, **values)
            if refusal or not np.isfinite(rows).all():
                yield f"{component.name}: {values}: {refusal or 'not finite'}"


def parameter_sets() -> Iterator[str]:
    """Every parameter set that comes with a component fits its record, and runs over the start values."""
    for component in components():
        for chosen in component.parameter_sets:
            chosen.check(component.record)
            rows, refusal = _run(component, **chosen.values)
            if refusal or not np.isfinite(rows).all():
                yield f"{component.name}: {chosen.name}: {refusal or 'not finite'}"


def _attitudes(component: Component) -> list[str]:
    """Inputs and parameters that are quaternions."""
    slots = [slot for slot in component.record.variables if slot.field.causality in ("parameter", "input")]
    return sorted({_whole(slot) for slot in slots if slot.name.endswith("quaternion[1]")})


def quaternions() -> Iterator[str]:
    """A quaternion may have any norm; the outputs are those of the unit one to rounding. A zero one is refused.

    Scaled, it rounds by 1e-16 of its size; contact of 1e7 N/m on lengths of 1 m makes 1e-9 N of that.
    """
    turned = np.array([0.96, 0.10, -0.20, 0.15])
    turned /= np.linalg.norm(turned)
    for component in components():
        outputs = [i for i, slot in enumerate(component.record.variables) if slot.field.causality == "output"]
        for name in _attitudes(component):
            for q in (np.array([1.0, 0.0, 0.0, 0.0]), turned):
                unit, refusal = _run(component, **{name: q})
                for scale in (3.0, 0.2, 1e-3):
                    rows, again = _run(component, **{name: scale * q})
                    if refusal or again:
                        yield f"{component.name}: {name} = {scale:g} {q}: {refusal or again}"
                    elif not np.allclose(rows[:, outputs], unit[:, outputs], rtol=1e-12, atol=1e-9):
                        yield f"{component.name}: {name} = {scale:g} {q} gives other outputs than the unit quaternion"
            for q in (np.zeros(4), np.full(4, 1e-9)):
                _, refusal = _run(component, **{name: q})
                if "quaternion" not in refusal or "norm" not in refusal:
                    yield f"{component.name}: {name} = {q} is not refused by name but by {refusal!r}"
    if not any(_attitudes(component) for component in components()):
        yield "no component has a quaternion: this shows nothing"


def start_times() -> Iterator[str]:
    """A run that starts at another time is the same; only times of events are shifted."""
    for component in components():
        names = [slot.name for slot in component.record.variables]
        kept = [i for i, name in enumerate(names) if not name.startswith("event.")]
        rows, refusal = _run(component)
        later, again = _run(component, 1024.0)
        if refusal or again or rows[:, kept].tobytes() != later[:, kept].tobytes():
            yield f"{component.name}: {refusal or again or 'differs'}"


RISING = (0.0, 0.1, 0.2, 0.3)
REFUSED = {
    "ProbeMechanism": (
        ({"parameters.axial.magnetic_rate": (0.0, 0.3, 0.2, 0.6)}, r"magnetic_rate\[3\] = 0.2 m/s.* rise strictly"),
        ({"parameters.axial.magnetic_rate": (0.1, 0.2, 0.3, 0.6)}, r"magnetic_rate\[1\] = 0.1 m/s.* from 0"),
        ({"parameters.axial.magnetic_force": (5.0, 6.0, 7.0, 8.0)}, r"magnetic_force\[1\] = 5 N.* \(0, 0\)"),
        ({"parameters.axial.spring_end": 1500.0}, "spring_end = 1500 N must be above .*spring_preload = 1500 N"),
        ({"parameters.levers.travel": (0.0, 0.1, 0.1, 0.3, 0.4, 0.5)}, r"levers.travel\[3\] = 0.1 m.* rise strictly"),
        ({"parameters.lateral.brake.speed": np.zeros((2, 12))}, "lateral.brake: row 1 of speed must rise strictly"),
        ({"parameters.lateral.brake.torque": np.ones((2, 12))}, "torque and added_torque must start at 0"),
        ({"parameters.lateral.brake.stop_low": (1.0, 2.0)}, r"stop_low\[2\] = 2 rad must be below stop_high"),
        ({"parameters.lateral.brake.base_axes": np.ones((2, 3, 3))}, r"base_axes\[1\] .* not a rotation matrix"),
        ({"parameters.lateral.spring.stop_stiffness": (1e7, 3e6)}, r"stop_stiffness\[2\] = 3e\+06 N/m must be above"),
        ({"parameters.lateral.spring.second_travel": (2e-3, 4e-5)}, "mechanism 2: a preload needs 0.0001 m"),
        ({"parameters.lateral.spring.unloading": (0.9, 0.1), "parameters.lateral.spring.second_travel": 1e-3},
         r"unloading\[2\] must be above"),
        ({"parameters.probe.free_length": 0.09}, "free_length = 0.09 m must be above .*shortest_length = "),
        ({"parameters.probe.hysteresis_loss": 0.45, "parameters.probe.hysteresis_ratio": 1.5},
         "hysteresis_loss = 0.45 is more than 0.3136.*hysteresis_ratio = 1.5"),
        ({"probe_cone.parameters.cone.r": (0.5, 0.36, 0.4, 0.047, 0.047, 0.0, 0.0, 0.0)}, "do not form a convex chain"),
        ({"probe_cone.parameters.slot.narrow_depth": 0.03}, "slot.narrow_depth = 0.03 m must be below .*wide_depth"),
    ),
    "AttitudeControl": (
        ({"parameters.thruster.direction": np.full((12, 3), 0.5)}, r"thruster.direction: row 1 has length 0.866"),
        ({"parameters.thruster.thrust": (0.0,) * 4 + (220.0,) * 8}, r"cannot turn the craft in sense 3"),
        ({"parameters.least_pulse": 0.3}, r"least_pulse = 0.3 s must not exceed .*sample_time = 0.1 s"),
    ),
    "ProbeMechanismTwoBrakes": (
        ({"parameters.axial.first_brake_compression": 8.5e3},
         "first_brake_compression = 8500 N must be below .*brake_compression = 8500 N"),
        ({"parameters.axial.brake_extension": 700.0},
         r"first_brake_extension = 733.333 N must be below .*brake_extension = 700 N"),
    ),
    "StandPlatform": (
        ({"parameters.delay": 0.2}, r"delay = 0.2 s must not exceed 0.124 s"),
    ),
    "StandBalance": (
        ({"parameters.gauge.direction": np.full((6, 3), 0.5)}, r"gauge.direction: row 1 has length 0.866"),
        ({"parameters.gauge.position": np.zeros((6, 3))}, r"do not determine all six components of a wrench"),
    ),
    "Spacecraft": (
        ({"parameters.thruster[1].direction": (1.0, 0.1, 0.0)}, r"thruster\[1\].direction has length 1.00499"),
        ({"parameters.inertia": ((5.0, 1.0, 0.0), (0.0, 5.0, 0.0), (0.0, 0.0, 5.0))}, "not symmetric"),
    ),
}  # fmt: skip


def refusals() -> Iterator[str]:
    """Tables that do not rise, pairs in the wrong order, directions that are no unit vectors: by name and value."""
    for component in components():
        for values, message in REFUSED.get(component.name, ()):
            _, refusal = _run(component, **values)
            if not re.search(message, refusal):
                yield f"{component.name}: {values}: {refusal or 'runs'}"


PROPERTIES = (legal_limits, limits_that_run, parameter_sets, quaternions, start_times, refusals)

if __name__ == "__main__":
    with np.errstate(all="ignore"):
        print(json.dumps({check.__name__: list(check()) for check in PROPERTIES}))
