"""Costs and gains of the modes of base motion and of elastic coupling: tables of docs/validation/modes.md.

python -m benchmarks base_motion [--write docs/validation/modes.md]
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import dockfmu
from benchmarks.coupling.hub_and_beam import Reference, hub_and_beam
from benchmarks.kernels.spacecraft import march_elastic, march_rigid, march_two_way
from benchmarks.page import replace_table
from benchmarks.timing import microseconds
from dockfmu.components import spacecraft
from dockfmu.components.core.component import Instance
from dockfmu.components.physics.mechanics.rotation import from_quaternion
from dockfmu.declare import declaration
from dockfmu.declare.packages.assembly import make_component, parameter_set

MODES = ("SOURCE", "LAGGED", "AFFINE")
CRAFT = "chaser.parameters.port[1].base_motion"
MECHANISM = "mechanism.parameters.base_motion"
CRAFTS = ("chaser", "station")
SYSTEM = "soyuz_probe_cone"


def _starts(name: str) -> Any:
    """Return the start values of an element of the docking, as its component's record."""
    element = declaration.read(SYSTEM).elements[name]
    component = make_component(element.component, element.origin, dict(element.options))
    sets = [parameter_set(component, entry, element.origin) for entry in element.sets]
    if element.values is not None:
        sets.append(element.values)
    return component.record.view(component.start(*sets)).parameters


@cache
def composite() -> dict[str, Any]:
    """Return the mass data that mode SOURCE requires of the craft: the Soyuz with the mechanism frozen in place."""
    craft, probe = _starts("chaser"), _starts("mechanism").probe
    port = np.asarray(craft.port[0].position, float)

    def steiner(part: float, x: np.ndarray) -> np.ndarray:
        return part * (x @ x * np.eye(3) - np.outer(x, x))

    def about_origin(part: float, at: np.ndarray, centre: np.ndarray, inertia: np.ndarray) -> np.ndarray:
        """Return an inertia about the origin; `inertia` is about `at`, from which `centre` counts."""
        return np.asarray(inertia, float) - steiner(part, centre) + steiner(part, at + centre)

    # craft about its centre of mass; housing about the hinge; probe about the exit bearing
    bearing = port + np.array([float(probe.bearing_distance), 0.0, 0.0])
    bodies = [
        (float(craft.mass), np.asarray(craft.center_of_mass, float), np.zeros(3), craft.inertia),
        (float(probe.housing_mass), port, np.asarray(probe.housing_centre, float), probe.housing_inertia),
        (float(probe.probe_mass), bearing, np.asarray(probe.probe_centre, float), probe.probe_inertia),
    ]
    total = sum(part for part, *_ in bodies)
    centre = sum(part * (at + own) for part, at, own, _ in bodies) / total
    inertia = sum(about_origin(*body) for body in bodies) - steiner(total, centre)
    return {
        "chaser.parameters.mass": total,
        "chaser.parameters.inertia": inertia.tolist(),
        "chaser.parameters.center_of_mass": centre.tolist(),
    }


@cache
def _in_mode(mode: str, name: str) -> dockfmu.System:
    """Return the docking in a mode of base motion, to be copied, not to be changed."""
    return dockfmu.load(name, {CRAFT: mode, MECHANISM: mode, **(composite() if mode == "SOURCE" else {})})


def system(mode: str, name: str = SYSTEM, **values: Any) -> dockfmu.System:
    """Return the docking with craft and mechanism in the `mode` of base motion."""
    return _in_mode(mode, name).with_values(values)


def momentum_drift(mode: str, step: float, name: str = SYSTEM) -> np.ndarray:
    """Return the largest relative change of linear and of angular momentum of craft, station and mechanism.

    It is computed from the mechanism's own state, and is relative to the momentum that the station received. The
    mechanism's momentum at a time is known at the end of the next step, when the true motion of the base has corrected
    the extrapolated one.
    """
    names = ["momentum", "angular_momentum"]
    wanted = [f"{e}.audit.{kind}" for e in CRAFTS for kind in (*names, "impulse_control", "angular_impulse_control")]
    wanted += [f"mechanism.audit.{prefix}{kind}" for kind in names for prefix in ("", "own_")]
    run = system(mode, name).run(step=step, stop=2.0, record=wanted)
    drift = []
    for kind, impulse in zip(names, ("impulse_control", "angular_impulse_control"), strict=True):
        told, own = run[f"mechanism.audit.{kind}"], run[f"mechanism.audit.own_{kind}"]
        crafts = sum(run[f"{e}.audit.{kind}"] - run[f"{e}.audit.{impulse}"] for e in CRAFTS)
        total = (crafts + told)[:-1] + (own - told)[1:]
        exchanged = np.linalg.norm(run[f"station.audit.{kind}"] - run[f"station.audit.{kind}"][0], axis=1).max()
        drift.append(np.linalg.norm(total - total[0], axis=1).max() / exchanged)
    return np.array(drift)


def counted_twice(step: float, seconds: float = 2.0) -> tuple[np.ndarray, np.ndarray, float]:
    """Return (times, what SOURCE loses of the momentum of all, what it counts twice, exchanged momentum), N.s in I.

    Shape (2, n, 3) of the second. SOURCE passes on the velocity terms of the base's acceleration, and the mechanism
    answers with its mass; the craft, whose mass includes the mechanism at rest on it, has them already. With the port
    at r from the centre of mass of both, static moment S of the mechanism about the port and momentum p relative to the
    base, the force on the craft lacks w x (w x (m r + S)) + w x p (dynamics 4.3).
    """
    both = composite()
    probe, port = _starts("mechanism").probe, np.asarray(_starts("chaser").port[0].position, float)
    mass = float(probe.housing_mass + probe.probe_mass)
    arm = mass * (port - both["chaser.parameters.center_of_mass"])
    names = [f"{e}.audit.{name}" for e in CRAFTS for name in ("momentum", "impulse_control")]
    body = ["chaser.body.angular_velocity", "chaser.body.quaternion", "mechanism.audit.own_momentum"]
    run = system("SOURCE").run(step=step, stop=seconds, record=[*names, *body, "mechanism.probe.length"])
    w, q, own, length = (run[name] for name in (*body, "mechanism.probe.length"))
    total = own + sum(run[f"{e}.audit.momentum"] - run[f"{e}.audit.impulse_control"] for e in CRAFTS)
    shorter = length - float(probe.free_length)
    along = probe.housing_mass * np.asarray(probe.housing_centre)[0]
    along = along + probe.probe_mass * (probe.bearing_distance + shorter + np.asarray(probe.probe_centre)[0])
    static = arm + along[:, None] * np.array([1.0, 0.0, 0.0])
    turned = np.array([from_quaternion(tuple(map(float, row))) for row in q]).transpose(0, 2, 1)
    rate = -np.einsum("kij,kj->ki", turned, np.cross(w, np.cross(w, static)))
    rate -= np.cross(np.einsum("kij,kj->ki", turned, w), own)
    twice = np.vstack([np.zeros(3), np.cumsum(0.5 * step * (rate[1:] + rate[:-1]), axis=0)])
    station = run["station.audit.momentum"]
    exchanged = float(np.linalg.norm(station - station[0], axis=1).max())
    return run.time, np.array([total - total[0], twice]), exchanged


@cache
def impulses(mode: str, step: float, fine: int) -> np.ndarray:
    """Return the cumulative impulse of the mean force on the carrier, every ms of 1.63 s; `fine` steps make a ms."""
    run = system(mode).run(step=step, stop=1.63, record=["mechanism.base.force"])
    return np.asarray(step * np.cumsum(run["mechanism.base.force"][1:], axis=0)[fine - 1 :: fine])


def pulse(mode: str, step: float, seconds: float = 2.0) -> np.ndarray:
    """Return velocity and angular velocity of the carrier's port after a push and a twist on the free craft.

    The push acts where the craft without mechanism has its centre of mass. Mode COMPOSITE is one rigid body.
    """
    alone = mode == "COMPOSITE"
    settings = composite() if alone else {}
    values = {"initial_conditions.start_gap": 5.0, "initial_conditions.velocity": [0.0, 0.0, 0.0],
              "initial_conditions.angular_velocity": [0.0, 0.0, 0.0], **settings}  # fmt: skip
    craft = dockfmu.load("soyuz_probe_cone", values) if alone else system(mode, **values)
    if alone:
        craft.structure.connections[:] = [c for c in craft.structure.connections if c.target != "chaser"]
    arm = -np.array(composite()["chaser.parameters.center_of_mass"]) if mode in ("COMPOSITE", "SOURCE") else np.zeros(3)
    with craft.simulate(step=step, stop=seconds, record=["chaser.port[1].velocity"]) as run:
        for k in range(round(seconds / step)):
            push = np.sin(np.pi * (k + 0.5) * step / seconds)
            force = np.array([100.0, 2000.0 * push, 500.0 * push])
            run["chaser.control.force"] = force.tolist()
            run["chaser.control.torque"] = (np.array([50.0, 0.0, -300.0 * push]) + np.cross(arm, force)).tolist()
            run.step()
        return np.array([*run["chaser.port[1].velocity"], *run["chaser.port[1].angular_velocity"]])


def base_motion() -> str:
    """Return the table of the modes of base motion: errors of a docking and of a push, time of a run."""
    exact = impulses("AFFINE", 1e-3, 1)
    body = pulse("COMPOSITE", 1e-2)
    seconds: dict[str, list[float]] = {mode: [] for mode in MODES}
    for _ in range(3):
        for mode in MODES:
            seconds[mode].append(system(mode).run(stop=2.0, record=["mechanism.base.force"]).result.wall_s)
    rows = [
        "| mode | momentum of all | impulse on the carrier | push, against one rigid body | time of a run |",
        "|---|---|---|---|---|",
    ]
    for mode in MODES:
        drift = momentum_drift(mode, 1e-3).max() if mode != "SOURCE" else None
        impulse = np.abs(impulses(mode, 1e-3, 1) - exact).max() / np.abs(exact).max() if mode != "AFFINE" else None
        push = np.abs(pulse(mode, 1e-2) - body).max() / np.abs(body).max()
        time = min(seconds[mode]) / min(seconds["LAGGED"])
        told = "not kept" if drift is None else f"{drift:.1e}"
        apart = "" if impulse is None else f"{impulse:.1e}"
        rows.append(f"| {mode} | {told} | {apart} | {push:.1e} | {time:.2f} |")
    return "\n".join(rows)


def _time(craft: Instance, coupling: str) -> str:
    march = {"rigid": march_rigid, "one_way": march_elastic, "two_way": march_two_way}[coupling]
    return f"{microseconds(march, craft.m, 1e-3, count=20_000):.2f} µs"


def after_pulse(coupling: str, scale: float, seconds: float = 5.0, h: float = 1e-3) -> np.ndarray:
    """Return the angular velocity of the hub and the place of the beam's tip in I after flexible O6's pulse.

    Modes are those of the beam held at its root; one-way takes those of the free craft.
    """
    bodies = hub_and_beam(scale=scale)
    free = bodies.free_modes() if coupling == "one_way" else None
    rigid = {"parameters.modes_used": 0} if coupling == "rigid" else {}
    one = bodies.craft("two_way" if coupling == "two_way" else "one_way", modes=free, **rigid)
    for k in range(round(seconds / h)):
        one.m.port[0].force[:] = (0.0, 1000.0, 500.0) if (k + 0.5) * h < 0.1 else 0.0
        one.step(k * h, h)
    return np.concatenate([one.m.port[0].angular_velocity, one.m.port[1].position + bodies.origin])


def reference(scale: float, seconds: float = 5.0) -> np.ndarray:
    """Return the same from a computation with bodies in absolute coordinates."""
    bodies = hub_and_beam(scale=scale)
    body = Reference(bodies)
    force = np.array([0.0, 1000.0, 500.0])
    y = body.run(body.start(), 0.1, lambda t, y: (force, np.cross(bodies.place[0], force), 0.0))
    y = body.run(y, seconds - 0.1, lambda t, y: (np.zeros(3), np.zeros(3), 0.0), 0.1)
    return np.concatenate([body.velocities(y)[3:6], body.tip(y)])


def elastic() -> str:
    """Return the table of rigid, one-way and two-way craft: errors after a pulse, and the time of a step."""
    scales = (1.0, 0.1, 0.01)
    exact = {scale: reference(scale) for scale in scales}
    rows = [
        "| craft | " + " | ".join(f"beam of {20 * scale:g} kg: rate, place" for scale in scales)
        + " | 4 modes | 30 modes |",
        "|---|" + "---|" * (len(scales) + 2),
    ]  # fmt: skip
    hub = hub_and_beam()
    station = {"parameters.mass": 4e5, "parameters.inertia": np.diag([1.2e8, 1.0e8, 2.0e8])}
    for coupling in ("rigid", "one_way", "two_way"):
        cells = []
        for scale in scales:
            apart = np.abs(after_pulse(coupling, scale) - exact[scale])
            cells.append(f"{apart[:3].max():.1e} rad/s, {1e3 * apart[3:].max():.2g} mm")
        if coupling == "rigid":
            times = 2 * [_time(Instance(spacecraft.component(), **station), coupling)]
        else:
            large = Instance(spacecraft.component("station_beam", coupling=coupling), **station)
            times = [_time(hub.craft(coupling), coupling), _time(large, coupling)]
        rows.append(f"| {coupling} | {' | '.join(cells + times)} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="page that gets the tables")
    page = parser.parse_args().write
    for name, make in (("elastic", elastic), ("base motion", base_motion)):
        table = make()
        print(f"\n{name}\n{table}", flush=True)
        if page:
            replace_table(page, name, table)


if __name__ == "__main__":
    main()
