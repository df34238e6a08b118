"""Ports by name: joining two of them variable by variable, and whether another FMU has the ports of an element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from master.description import Description, Variable, read_description
from master.errors import StructureError
from master.system import System


def port_variables(description: Description, port: str) -> dict[str, Variable]:
    """Variables of `port` by what follows its name: `.position[1]` for `base.position[1]`, `` for `base` itself."""
    found = {}
    for name, variable in description.variables.items():
        rest = name[len(port) :]
        if name.startswith(port) and (rest == "" or rest[0] in ".["):
            found[rest] = variable
    return found


def join(system: System, first: str, second: str) -> None:
    """Connect two ports, "element.port", both ways: outputs of one to the inputs of the same name of the other.

    Raises StructureError if a port does not exist or nothing of one fits the other.
    """
    (first_element, _, first_port), (second_element, _, second_port) = first.partition("."), second.partition(".")
    sides = []
    for full, element, port in ((first, first_element, first_port), (second, second_element, second_port)):
        if element not in system.elements:
            raise StructureError([f"{full}: the system has no element {element!r}"])
        variables = port_variables(system.description(element), port)
        if not variables:
            raise StructureError([f"{full}: {system.elements[element].file.name} has no port {port!r}"])
        sides.append((element, variables))
    made = 0
    for (source, outputs), (target, inputs) in (sides, sides[::-1]):
        for rest, output in outputs.items():
            matching = inputs.get(rest)
            if output.causality == "output" and matching is not None and matching.causality == "input":
                system.connect(source, output.name, target, matching.name)
                made += 1
    if not made:
        raise StructureError([f"{first} and {second} have no output and input of the same name to connect"])


@dataclass(frozen=True)
class Misfit:
    """One variable of a port that another FMU lacks or has otherwise."""

    variable: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.variable}: needs {self.expected}, has {self.found}"


def misfits(system: System, element: str, other: Description) -> Iterator[Misfit]:
    """What keeps `other` from taking the place of `element`: connected variables that it lacks or has otherwise."""
    own = system.description(element)
    used = {c.output for c in system.connections if c.source == element}
    used |= {c.input for c in system.connections if c.target == element}
    for name in sorted(used):
        wanted, found = own.variables[name], other.variables.get(name)
        if found is None:
            yield Misfit(name, _kind(wanted), "no such variable")
        elif _kind(wanted) != _kind(found):
            yield Misfit(name, _kind(wanted), _kind(found))


def _kind(variable: Variable) -> str:
    unit = f" in {variable.unit}" if variable.unit and variable.type == "Real" else ""
    return f"{variable.causality} {variable.type}{unit}"


def swap(system: System, element: str, file: Path) -> list[str]:
    """Put the FMU `file` in the place of `element`; its start values are kept where the new FMU has the variable.

    Returns a sentence for each value that was left out. Raises StructureError that lists every variable of the
    connected ports that the new FMU lacks or has otherwise.
    """
    if element not in system.elements:
        raise StructureError([f"--swap {element}: the system has {', '.join(system.elements)}"])
    other = read_description(file)
    wrong = [f"{file.name} cannot take the place of {element}: {misfit}" for misfit in misfits(system, element, other)]
    if wrong:
        raise StructureError(wrong)
    place = system.elements[element]
    left_out = [name for name in place.start if name not in other.variables]
    place.file = file
    place.start = {name: value for name, value in place.start.items() if name in other.variables}
    if not left_out:
        return []
    return [f"{file.name} has no variable for {len(left_out)} start values of {element}, e.g. {left_out[0]}"]
