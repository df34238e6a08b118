"""Ports by name: list the variables of a port, and join two ports variable by variable."""

from __future__ import annotations

from dockfmu.base.names import owner
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.description import Description, Variable
from dockfmu.master.system import Structure


def port_variables(description: Description, port: str) -> dict[str, Variable]:
    """Return the variables of `port` by their suffix: `.position[1]` for `base.position[1]`, `` for `base` itself."""
    variables = {}
    for name, variable in description.variables.items():
        rest = name[len(port) :]
        if name.startswith(port) and (rest == "" or rest[0] in ".["):
            variables[rest] = variable
    return variables


def join(system: Structure, first: str, second: str) -> None:
    """Connect two ports, "element.port", both ways: outputs of one to the inputs of the same name of the other.

    Raises StructureError if a port does not exist, or if no variables match.
    """
    sides = []
    for full in (first, second):
        element = owner(full, system.elements) or full.partition(".")[0]
        port = full[len(element) + 1 :]
        system.element(element, origin=full)
        variables = port_variables(system.description(element), port)
        if not variables:
            raise StructureError([f"{full}: {system.elements[element].file.name} has no port {port!r}"])
        sides.append((element, variables))
    count = 0
    for (source, outputs), (target, inputs) in (sides, sides[::-1]):
        for rest, output in outputs.items():
            matching = inputs.get(rest)
            if output.causality == "output" and matching is not None and matching.causality == "input":
                system.connect(source, output.name, target, matching.name)
                count += 1
    if not count:
        raise StructureError([f"{first} and {second} have no output and input of the same name to connect"])
