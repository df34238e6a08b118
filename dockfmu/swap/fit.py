"""Check whether another FMU has the connected ports of an element, and replace the FMU of that element."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from dockfmu.base.units import Unit, conversion
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.description import Description, Variable, read_description
from dockfmu.master.system import Structure, Supplement

OPTIONAL = "; optional"
"""End of the description of an input that another FMU in the place of the element may lack."""


@dataclass(frozen=True)
class Misfit:
    """A connected variable, or elements of a connected array, that another FMU lacks or defines differently."""

    variable: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.variable}: needs {self.expected}, has {self.found}"


def misfits(system: Structure, element: str, other: Description) -> list[Misfit]:
    """Return the connected variables of `element` that `other` lacks or defines differently.

    A variable without a unit fits any unit. Units of one quantity fit if the master converts them. Inputs that are
    optional may be missing.
    """
    own = system.description(element)
    used: dict[str, bool] = {}
    for connection in system.connections:
        for owner, name in ((connection.source, connection.output), (connection.target, connection.input)):
            if owner == element:
                used[name] = used.get(name, True) and connection.convert_units
    arrays: dict[tuple[str, str, str], list[str]] = {}
    for name in [name for name in own.variables if name in used]:
        expected, present = own.variables[name], other.variables.get(name)
        if present is None and is_optional(expected):
            continue
        if present is None or not _fits(own, expected, other, present, convert=used[name]):
            array, bracket, subscript = name.rpartition("[")
            key = (array if bracket and subscript[:-1].isdigit() else name, _kind(expected), _kind(present))
            arrays.setdefault(key, []).append(name)
    return [Misfit(_listed(array, names), *kinds) for (array, *kinds), names in arrays.items()]


def is_optional(variable: Variable) -> bool:
    """Return whether a variable is an input whose description ends with OPTIONAL."""
    return variable.causality == "input" and variable.description.endswith(OPTIONAL)


def _listed(array: str, names: list[str]) -> str:
    """Return elements of one array as A[1, 2]; a single name as it is."""
    return names[0] if len(names) == 1 else f"{array}[{', '.join(n[len(array) + 1 : -1] for n in names)}]"


def _disconnect(system: Structure, element: str, other: Description) -> list[str]:
    """Remove the connections to optional inputs that `other` lacks; return these inputs, arrays as one."""
    own = system.description(element)
    arrays: dict[str, list[str]] = {}
    for connection in list(system.connections):
        name = connection.input
        if connection.target != element or name in other.variables or not is_optional(own.variables[name]):
            continue
        system.connections.remove(connection)
        arrays.setdefault(name.partition("[")[0] if name.count("[") == 1 else name, []).append(name)
    return [_listed(array, names) for array, names in arrays.items()]


def _fits(own: Description, expected: Variable, other: Description, present: Variable, convert: bool = True) -> bool:
    if (expected.causality, expected.storage) != (present.causality, present.storage):
        return False
    if expected.items and present.items and expected.items != present.items:
        return False
    units = (own.unit(expected), other.unit(present))
    if expected.type == "Real" and None not in units:
        try:
            factors = conversion(*cast(tuple[Unit, Unit], units))
        except ValueError:
            return False
        given = own.units.get(expected.unit or ""), other.units.get(present.unit or "")
        if expected.relative != present.relative and any(unit is not None and unit.offset for unit in given):
            return False
        return convert or factors == (1.0, 0.0)
    return True


def _kind(variable: Variable | None) -> str:
    if variable is None:
        return "no such variable"
    unit = f" in {variable.unit}" if variable.unit and variable.type == "Real" else ""
    items = f" of {', '.join(name for name, _ in variable.items)}" if variable.items else ""
    kind = " that is a difference" if variable.relative else ""
    return f"{variable.causality} {variable.type}{unit}{items}{kind}"


def swap(system: Structure, element: str, file: Path) -> tuple[set[str], list[str]]:
    """Replace the FMU of `element` by `file`; start values are kept if the new FMU has the variable.

    Units, descriptions, names of values and start values that the new FMU does not give are those of the replaced one.

    Returns the outputs that are lost, "element.variable", and sentences on optional inputs that the new FMU lacks and
    on start values that were left out. Raises StructureError, which lists every connected variable that the new FMU
    lacks or defines differently.
    """
    system.element(element)
    own, other = system.description(element), read_description(file)
    problems = [
        f"{file.name} cannot take the place of {element}: {misfit}" for misfit in misfits(system, element, other)
    ]
    if problems:
        raise StructureError(problems)
    unread = _disconnect(system, element, other)
    place = system.elements[element]
    kept, left_out = {}, []
    for name, value in place.start.items():
        if name in other.variables and _fits(own, own.variables[name], other, other.variables[name]):
            kept[name] = _converted(value, own.unit(own.variables[name]), other.unit(other.variables[name]))
        else:
            left_out.append(name)
    for name, variable in other.variables.items():
        before = own.variables.get(name)
        settable = variable.causality in ("parameter", "input") and variable.variability != "constant"
        if before is None or before.start is None or variable.start is not None or not settable or name in kept:
            continue
        if _fits(own, before, other, variable):
            kept[name] = _converted(before.start, own.unit(before), other.unit(variable))
    place.file, place.start = file, kept
    place.supplements = {
        name: Supplement(own.unit(before), before.items, before.description)
        for name, before in own.variables.items()
        if name in other.variables and before.storage == other.variables[name].storage
    }
    notes = [f"{file.name} does not read {name} of {element}, which is optional" for name in unread]
    if left_out:
        shown = ", ".join(left_out[:6]) + (", ..." if len(left_out) > 6 else "")
        notes += [f"{file.name} does not take {len(left_out)} start values of {element}: {shown}"]
    lost = {f"{element}.{variable.name}" for variable in own.select("output") if variable.name not in other.variables}
    return lost, notes


def _converted(value: Any, own: Unit | None, other: Unit | None) -> Any:
    if own is None or other is None or own == other:
        return value
    factor, offset = conversion(own, other)
    return factor * value + offset
