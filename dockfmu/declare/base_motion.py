"""The base motion of mechanisms: craft and mechanism must agree on the acceleration of a port (ruling R38)."""

from __future__ import annotations

from collections.abc import Iterator
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


def responds(system: Structure) -> bool:
    """Return whether a craft adds the response of its mechanism to the wrench that it receives (AFFINE)."""
    return any(_value(system, name, MECHANISM) == AFFINE for name in system.elements)


def _problems(system: Structure) -> Iterator[str]:
    fed = {(c.source, c.target, c.input) for c in system.connections}
    for connection in system.connections:
        if connection.input != BASE + ACCELERATION or not connection.output.endswith(ACCELERATION):
            continue
        port = connection.output.removesuffix(ACCELERATION)
        carrier = f"parameters.{port}.base_motion"
        if _value(system, connection.source, carrier) is None:
            # a declared system
            carrier = f"parameters.port.{port}.base_motion"
        of_craft = _value(system, connection.source, carrier)
        of_mechanism = _value(system, connection.target, MECHANISM)
        if of_craft is not None and of_mechanism is not None and of_craft != of_mechanism:
            yield (
                f"{connection.source}.{carrier} = {of_craft}, but {connection.target}.{MECHANISM} = {of_mechanism}: "
                f"the mechanism must know how {connection.source}.{port} reports its acceleration"
            )
        elif of_craft == AFFINE and (connection.target, connection.source, f"{port}{MASS}1]") not in fed:
            yield (
                f"{connection.source}.{carrier} = {AFFINE}: {connection.target}.{BASE}{MASS[:-1]} is not connected to "
                f"{connection.source}.{port}{MASS[:-1]}; a system by name connects them if it is loaded with {AFFINE}"
            )


def _value(system: Structure, element: str, name: str) -> Any:
    """Return the name of the item to which a parameter is set; None if the element has no such parameter."""
    variable = system.description(element).variables.get(name)
    if variable is None:
        return None
    value = system.start_value(element, name)
    return next((item for item, number in variable.items if number == value), value)
