"""Ports by name: joining two of them variable by variable, and whether another FMU has the ports of an element."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from base.units import Unit, conversion
from master.errors import StructureError
from master.fmi.description import Description, Variable, read_description
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
    """A connected variable, or the elements of an array, that another FMU lacks or has otherwise."""

    variable: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.variable}: needs {self.expected}, has {self.found}"


def misfits(system: System, element: str, other: Description) -> list[Misfit]:
    """What keeps `other` from taking the place of `element`: connected variables that it lacks or has otherwise.

    A variable without a unit fits any. Units of one quantity fit where the master converts them.
    """
    own = system.description(element)
    used: dict[str, bool] = {}
    for connection in system.connections:
        for owner, name in ((connection.source, connection.output), (connection.target, connection.input)):
            if owner == element:
                used[name] = used.get(name, True) and connection.convert_units
    arrays: dict[tuple[str, str, str], list[str]] = {}
    for name in [name for name in own.variables if name in used]:
        wanted, found = own.variables[name], other.variables.get(name)
        if found is None or not _fits(own, wanted, other, found, convert=used[name]):
            array, bracket, subscript = name.rpartition("[")
            key = (array if bracket and subscript[:-1].isdigit() else name, _kind(wanted), _kind(found))
            arrays.setdefault(key, []).append(name)
    return [
        Misfit(names[0] if len(names) == 1 else f"{array}[{', '.join(n[len(array) + 1 : -1] for n in names)}]", *kinds)
        for (array, *kinds), names in arrays.items()
    ]


def _fits(own: Description, wanted: Variable, other: Description, found: Variable, convert: bool = True) -> bool:
    if (wanted.causality, wanted.storage) != (found.causality, found.storage):
        return False
    if wanted.items and found.items and wanted.items != found.items:
        return False
    units = (own.unit(wanted), other.unit(found))
    if wanted.type == "Real" and None not in units:
        try:
            factors = conversion(*cast(tuple[Unit, Unit], units))
        except ValueError:
            return False
        return convert or factors == (1.0, 0.0)
    return True


def _kind(variable: Variable | None) -> str:
    if variable is None:
        return "no such variable"
    unit = f" in {variable.unit}" if variable.unit and variable.type == "Real" else ""
    items = f" of {', '.join(name for name, _ in variable.items)}" if variable.items else ""
    return f"{variable.causality} {variable.type}{unit}{items}"


def swap(system: System, element: str, file: Path) -> tuple[set[str], list[str]]:
    """Put the FMU `file` in the place of `element`; its start values are kept where the new FMU has the variable.

    Returns the outputs that are lost, "element.variable", and a sentence on start values that were left out. Raises
    StructureError that lists every variable of the connected ports that the new FMU lacks or has otherwise.
    """
    if element not in system.elements:
        raise StructureError([f"--swap {element}: the system has {', '.join(system.elements)}, no {element!r}"])
    own, other = system.description(element), read_description(file)
    wrong = [f"{file.name} cannot take the place of {element}: {misfit}" for misfit in misfits(system, element, other)]
    if wrong:
        raise StructureError(wrong)
    place = system.elements[element]
    kept, left_out = {}, []
    for name, value in place.start.items():
        if name in other.variables and _fits(own, own.variables[name], other, other.variables[name]):
            kept[name] = _converted(value, own.unit(own.variables[name]), other.unit(other.variables[name]))
        else:
            left_out.append(name)
    place.file, place.start = file, kept
    notes = []
    if left_out:
        shown = ", ".join(left_out[:6]) + (", ..." if len(left_out) > 6 else "")
        notes = [f"{file.name} does not take {len(left_out)} start values of {element}: {shown}"]
    lost = {f"{element}.{variable.name}" for variable in own.select("output") if variable.name not in other.variables}
    return lost, notes


def _converted(value: Any, own: Unit | None, other: Unit | None) -> Any:
    if own is None or other is None or own == other:
        return value
    factor, offset = conversion(own, other)
    return factor * value + offset
