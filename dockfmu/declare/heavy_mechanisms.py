"""Declared mechanisms that are too heavy for craft whose acceleration they get one step late (LAGGED).

With the inertia M_A of the mechanism at its base and the mobility Y of the craft at that port, the acceleration in step
n is a_n = f - Y M_A (2 a_(n-1) - a_(n-2)): its errors grow from step to step if an eigenvalue of Y M_A is beyond a
third. Shorter steps make that faster.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np

from dockfmu.declare.base_motion import AFFINE, BASE, MASS, MECHANISM, Carried, carried
from dockfmu.master.algorithms import Jacobi
from dockfmu.master.errors import MasterError
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

LAGGED = "LAGGED"
LIMIT = 1.0 / 3.0
"""Largest eigenvalue of Y M_A with which the exchange is stable."""
LIGHT = 0.01
"""A mechanism of less than this part of its craft's mass is not looked at: it would need an arm of many metres."""
BODY = "parameters.body."
INITIAL = "parameters.initial."
"""Where a craft is and how it moves at the start: its mobility, in the axes of the port, does not depend on them."""
KEPT = 64
_ratios: dict[tuple[Hashable, ...], float] = {}
"""Ratios found in this process, so that the runs of a campaign whose masses are the same find one once."""


def heavy_notes(system: Structure, step: float) -> Iterator[str]:
    """Yield a sentence about each declared mechanism on LAGGED that the exchange over `step`, s, cannot carry."""
    for one in carried(system):
        if (one.of_craft, one.of_mechanism) != (LAGGED, LAGGED) or _light(system, one):
            continue
        try:
            ratio = _known_ratio(system, one, step)
        except MasterError:
            # what fails alone is told by the run
            continue
        if ratio > LIMIT:
            yield (
                f"{one.mechanism} has {ratio:.2g} times the inertia of {one.craft} at {one.port}: with base_motion "
                f"{LAGGED} the exchange diverges beyond 1/3, the faster the shorter the macro step; set "
                f"{one.craft}.{one.parameter} and {one.mechanism}.{MECHANISM} to {AFFINE}"
            )


def _light(system: Structure, one: Carried) -> bool:
    """Return whether a mechanism is none of declared bodies, or is much lighter than its craft."""
    description = system.description(one.mechanism)
    bodies = [name for name in description.variables if name.startswith(BODY) and name.endswith(".mass")]
    elastic = any(name.startswith("elastic.") for name in description.variables)
    if not bodies and not elastic:
        return True
    if elastic or "parameters.mass" not in system.description(one.craft).variables:
        return False
    mass = sum(system.start_value(one.mechanism, name) for name in bodies)
    return bool(mass < LIGHT * system.start_value(one.craft, "parameters.mass"))


def _known_ratio(system: Structure, one: Carried, step: float) -> float:
    """Return the largest eigenvalue of Y M_A, found once for the same FMUs and values."""
    key = (one.port, step, *_identity(system, one.craft), *_identity(system, one.mechanism))
    if key not in _ratios:
        if len(_ratios) >= KEPT:
            _ratios.clear()
        _ratios[key] = _ratio(system, one, step)
    return _ratios[key]


def _identity(system: Structure, name: str) -> tuple[Hashable, ...]:
    """Return what distinguishes the FMU of an element and its start values, but for INITIAL."""
    element = system.elements[name]
    values = sorted((key, repr(value)) for key, value in element.start.items() if not key.startswith(INITIAL))
    return name, system.description(name).guid, element.file.stat().st_size, tuple(values)


def _ratio(system: Structure, one: Carried, step: float) -> float:
    """Return the largest eigenvalue of Y M_A."""
    # imports the compiler, which other runs need not wait for
    from dockfmu.declare.port_mobility import alone

    craft = _only(system, one.craft, {})
    with CoSimulation(craft, Schedule(step=step), Jacobi()).open() as run, alone(craft, run, one.craft, step) as part:
        mobility = part.mobility(f"{one.craft}.{one.port}", 1).matrix
    modes = dict(system.description(one.mechanism).variables[MECHANISM].items)
    mechanism = _only(system, one.mechanism, {MECHANISM: modes[AFFINE]})
    names = [f"{one.mechanism}.{BASE}{MASS}{k}]" for k in range(1, 22)]
    with CoSimulation(mechanism, Schedule(step=step), Jacobi()).open() as run:
        inertia = np.zeros((6, 6))
        inertia[np.triu_indices(6)] = run.get(names)
    inertia += np.triu(inertia, 1).T
    return float(np.abs(np.linalg.eigvals(mobility @ inertia)).max())


def _only(system: Structure, name: str, changes: dict[str, float]) -> Structure:
    """Return one element of a system by itself."""
    element = system.elements[name]
    found = Structure(name)
    found.add(name, element.file, element.start | changes, process=element.process, timeout=element.timeout)
    found.keeps = system.keeps
    return found
