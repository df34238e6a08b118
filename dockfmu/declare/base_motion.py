"""The base motion of mechanisms: craft and mechanism must agree on the acceleration of a port (ruling R38)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dockfmu.master.errors import StructureError
from dockfmu.master.system import Structure

ACCELERATION = ".acceleration[1]"
MASS = ".affine_mass["
AFFINE = "AFFINE"
BASE = "base"
MECHANISM = f"parameters.{BASE}_motion"


def check_base_motion(system: Structure) -> None:
    """Raise StructureError for mechanisms whose `base_motion` differs from that of the port that carries them.

    The check covers connections from a port's acceleration to the port `base` of an FMU; third-party FMUs, which have
    no such parameters, are skipped.
    """
    problems = list(_problems(system))
    if problems:
        raise StructureError(problems)


def leave_out_affine_mass(system: Structure) -> None:
    """Remove the connections of `affine_mass` from mechanisms whose mode does not use it.

    They cost time in each step, and a third-party craft need not have the input.
    """
    system.connections[:] = [
        connection
        for connection in system.connections
        if not connection.output.startswith(BASE + MASS) or _value(system, connection.source, MECHANISM) == AFFINE
    ]


@dataclass(frozen=True)
class Carried:
    """A mechanism on a port of a craft, and what both say about the acceleration of the port; None if nothing."""

    craft: str
    port: str
    parameter: str
    mechanism: str
    of_craft: Any
    of_mechanism: Any


def carried(system: Structure) -> Iterator[Carried]:
    """Yield all mechanisms that get the acceleration of a port at their port `base`."""
    for connection in system.connections:
        if connection.input != BASE + ACCELERATION or not connection.output.endswith(ACCELERATION):
            continue
        craft, mechanism = connection.source, connection.target
        port = connection.output.removesuffix(ACCELERATION)
        parameter = f"parameters.{port}.base_motion"
        if _value(system, craft, parameter) is None:
            # a declared system
            parameter = f"parameters.port.{port}.base_motion"
        modes = _value(system, craft, parameter), _value(system, mechanism, MECHANISM)
        yield Carried(craft, port, parameter, mechanism, *modes)


def _problems(system: Structure) -> Iterator[str]:
    fed = {(c.source, c.target, c.input) for c in system.connections}
    for one in carried(system):
        if one.of_craft is not None and one.of_mechanism is not None and one.of_craft != one.of_mechanism:
            yield (
                f"{one.craft}.{one.parameter} = {one.of_craft}, but {one.mechanism}.{MECHANISM} = {one.of_mechanism}: "
                f"the mechanism must know how {one.craft}.{one.port} reports its acceleration"
            )
        elif one.of_craft == AFFINE and (one.mechanism, one.craft, f"{one.port}{MASS}1]") not in fed:
            yield (
                f"{one.craft}.{one.parameter} = {AFFINE}: {one.mechanism}.{BASE}{MASS[:-1]} is not connected to "
                f"{one.craft}.{one.port}{MASS[:-1]}; a system by name connects them if it is loaded with {AFFINE}"
            )


def _value(system: Structure, element: str, name: str) -> Any:
    """Return the name of the item to which a parameter is set; None if the element has no such parameter."""
    variable = system.description(element).variables.get(name)
    if variable is None:
        return None
    value = system.start_value(element, name)
    return next((item for item, number in variable.items if number == value), value)
