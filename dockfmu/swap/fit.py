"""Whether another FMU has the connected ports of an element, and putting it in the place of that element."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from base.units import Unit, conversion
from master.errors import StructureError
from master.fmi.description import Description, Variable, read_description
from master.system import Structure


@dataclass(frozen=True)
class Misfit:
    """A connected variable, or the elements of an array, that another FMU lacks or has otherwise."""

    variable: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.variable}: needs {self.expected}, has {self.found}"


def misfits(system: Structure, element: str, other: Description) -> list[Misfit]:
    """Return the connected variables of `element` that `other` lacks or has otherwise, and so cannot take its place.

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


def swap(system: Structure, element: str, file: Path) -> tuple[set[str], list[str]]:
    """Put the FMU `file` in the place of `element`; its start values are kept where the new FMU has the variable.

    Returns the outputs that are lost, "element.variable", and a sentence on start values that were left out. Raises
    StructureError that lists every variable of the connected ports that the new FMU lacks or has otherwise.
    """
    if element not in system.elements:
        raise StructureError([f"{element}: the system {system.name} has {', '.join(system.elements)}, no {element!r}"])
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
