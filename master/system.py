"""A system: instances of FMUs, connections, start values, and the checks of them.

>>> system = Structure("two lags")                                  # doctest: +SKIP
>>> system.add("a", Path("Lag.fmu"), {"gain": 2.0})
>>> system.add("b", Path("Lag.fmu"))
>>> system.connect("a", "y[1]", "b", "u[1]")
>>> system.check()
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.fmi import TYPES
from dockfmu.base.messages import shortened, shown, with_article
from dockfmu.base.names import did_you_mean, matching, owner
from dockfmu.base.numbers import is_integer, is_positive, real
from dockfmu.base.units import Unit, conversion
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.archive import Budget
from dockfmu.master.fmi.description import Description, Variable, read_description
from dockfmu.master.order import execution_order

TIMEOUT_S = 60.0
"""Longest duration of a call of an FMU in a separate process, s."""


@cache
def _description(file: Path, stamp: tuple[int, int], structure: tuple[tuple[str, int], ...] = ()) -> Description:
    return read_description(file, dict(structure))


@dataclass(frozen=True)
class Supplement:
    """Describe a variable where its FMU does not: unit, items of its values, description."""

    unit: Unit | None = None
    items: tuple[tuple[str, int], ...] = ()
    description: str = ""


@cache
def _described(
    file: Path,
    stamp: tuple[int, int],
    structure: tuple[tuple[str, int], ...],
    supplements: tuple[tuple[str, Supplement], ...],
) -> Description:
    """Return a description in which variables have what only a system says of them."""
    found = _description(file, stamp, structure)
    variables, known = dict(found.variables), dict(found.units)
    for name, more in supplements:
        variable = variables.get(name)
        if variable is None:
            continue
        label, unit = variable.unit, more.unit
        if unit is not None and variable.type == "Real" and not label:
            # the FMU may have another unit of this name
            label = unit.name if known.setdefault(unit.name, unit) == unit else f"{unit.name} (of the system)"
            known[label] = unit
        variables[name] = replace(
            variable,
            unit=label,
            items=variable.items or (more.items if variable.storage == "Integer" else ()),
            description=variable.description or more.description,
        )
    return replace(found, variables=variables, units=known)


@dataclass
class Element:
    """One instance: its FMU, the values that are set before it is initialised, its rate, and where it runs.

    It takes `substeps` steps in a macro step, or one step in `every` macro steps: at the end of these, with the means
    of its Real inputs over them. With `process` it runs in a separate process. If that process ends, or if a call takes
    longer than `timeout` seconds, the run fails, but this process goes on. With `fresh` each run, also after a reset,
    begins in a new process. `supplements` say of variables what the FMU's description does not.
    """

    name: str
    file: Path
    start: dict[str, Any] = field(default_factory=dict)
    process: bool = False
    timeout: float = TIMEOUT_S
    substeps: int = 1
    every: int = 1
    fresh: bool = False
    supplements: dict[str, Supplement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = [
            f"{self.name}: {what} must be an integer, not {shown(count)}"
            for what, count in (("substeps", self.substeps), ("every", self.every))
            if not is_integer(count)
        ]
        if not is_positive(self.timeout):
            problems.append(f"{self.name}: the timeout must be a positive, finite time in s, not {shown(self.timeout)}")
        if problems:
            raise StructureError(problems)


@dataclass(frozen=True)
class Connection:
    """input = factor * (output, converted to the unit of the input) + offset.

    `mean` declares that the output is a mean over the step that gave it, such as an impulse divided by time: it is then
    held instead of predicted as a line, and averaged over the substeps of its instance. `table` maps values of outputs
    that are not Real; values that it does not name are passed on unchanged.
    """

    source: str
    output: str
    target: str
    input: str
    factor: float = 1.0
    offset: float = 0.0
    convert_units: bool = True
    mean: bool = False
    table: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        problems = [
            f"connection {self}: {what} must be a finite number, not {shown(value)}"
            for what, value in (("factor", self.factor), ("offset", self.offset))
            if (number := real(value)) is None or not math.isfinite(number)
        ]
        if problems:
            raise StructureError(problems)

    def __str__(self) -> str:
        return f"{self.source}.{self.output} -> {self.target}.{self.input}"


class Structure:
    """Elements, connections, and the order in which they step.

    `order` may be set to the names of all elements. By default the connections determine the order, and elements that
    depend on each other keep the order in which they were added.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.elements: dict[str, Element] = {}
        self.connections: list[Connection] = []
        self.order: tuple[str, ...] | None = None
        self.keeps: list[object] = []
        """Objects that must live as long as the system, such as the temporary folder of its FMUs."""
        self.budget = Budget()
        """What has been unpacked for the system so far; its FMUs follow."""

    def copy(self) -> Structure:
        """Return a system whose elements and connections can be changed without changing this one."""
        other = Structure(self.name)
        other.elements = {name: replace(element, start=dict(element.start)) for name, element in self.elements.items()}
        other.connections, other.order, other.keeps = list(self.connections), self.order, list(self.keeps)
        other.budget = self.budget
        return other

    def add(
        self,
        name: str,
        file: Path,
        start: Mapping[str, Any] | None = None,
        *,
        substeps: int = 1,
        every: int = 1,
        process: bool = False,
        timeout: float = TIMEOUT_S,
    ) -> Element:
        """Add an instance of the FMU `file`; see Element. Raises StructureError for invalid values."""
        if name in self.elements:
            raise StructureError([f"system {self.name}: two elements are called {name!r}"])
        self.elements[name] = Element(
            name, Path(file), dict(start or {}), process, timeout, substeps=substeps, every=every
        )
        return self.elements[name]

    def connect(
        self,
        source: str,
        output: str,
        target: str,
        input: str,
        *,
        factor: float = 1.0,
        offset: float = 0.0,
        convert_units: bool = True,
        mean: bool = False,
        table: Iterable[tuple[int, int]] = (),
    ) -> None:
        """Connect an output to an input; see Connection. Raises StructureError for invalid values."""
        self.connections.append(
            Connection(source, output, target, input, factor, offset, convert_units, mean, tuple(table))
        )

    def description(self, element: str) -> Description:
        """Return the model description of the FMU of an element, with what the system adds.

        Raises DescriptionError or ArchiveError.
        """
        file = self.elements[element].file
        try:
            stat = file.stat()
            stamp = stat.st_mtime_ns, stat.st_size
        except OSError:
            # reading the file reports the error
            stamp = 0, 0
        description = _description(file, stamp)
        structure = tuple(description.structure(self.elements[element].start).items())
        if supplements := self.elements[element].supplements:
            return _described(file, stamp, structure, tuple(supplements.items()))
        return _description(file, stamp, structure) if structure else description

    def element(self, name: str, origin: str = "") -> Element:
        """Return the element of this name. Raises StructureError that names `origin`, all elements and near matches."""
        if name not in self.elements:
            listed, hint = ", ".join(self.elements), did_you_mean(name, self.elements)
            problem = f"the system {self.name} has no element {shown(name)}; there are {listed}{hint}"
            raise StructureError([f"{shortened(origin or name)}: {problem}"])
        return self.elements[name]

    def start_value(self, element: str, variable: str) -> Any:
        """Return the start value of a variable: the one that is set, or that of the FMU; None for no such variable."""
        known = self.description(element).variables.get(variable)
        return None if known is None else self.elements[element].start.get(variable, known.start)

    def resolve(self, name: str) -> tuple[str, Variable]:
        """Return (element, variable) of a full name "element.variable". Raises StructureError with near matches."""
        element = self._owner(name)
        if element is None and name in self.elements:
            raise StructureError([f"{name} is an element; name a variable of it, {name}.VARIABLE"])
        if element is None:
            hint = did_you_mean(name.partition(".")[0], self.elements)
            raise StructureError([f"{name!r} names no element of system {self.name}{hint}"])
        variable = name[len(element) + 1 :]
        found = self.description(element).variables.get(variable)
        if found is None:
            raise StructureError([f"{element} has no variable {shown(variable)}" + self._near(element, variable)])
        return element, found

    def _owner(self, name: str) -> str | None:
        """Return the element that a full name begins with: the longest, but rather one that has the variable."""
        longest = found = owner(name, self.elements)
        while found is not None and name[len(found) + 1 :] not in self.description(found).variables:
            found = owner(found, self.elements)
        return longest if found is None else found

    def select(
        self, pattern: str = "*", causality: Iterable[str] = ("output",), types: Container[str] = TYPES
    ) -> list[str]:
        """Return the full names of variables of these causalities and types that `pattern` selects.

        See `dockfmu.base.names.matching`: `*` matches any text; a group or an array selects everything in it.
        """
        names = (
            f"{element}.{variable.name}"
            for element in self.elements
            for variable in self.description(element).select(*causality)
            if variable.type in types
        )
        return matching(pattern, names)

    def execution_order(self) -> tuple[str, ...]:
        """Return the order in which the elements step."""
        if self.order is not None:
            return self.order
        return execution_order(tuple(self.elements), {(c.source, c.target) for c in self.connections})

    def transformation(self, connection: Connection) -> tuple[float, float]:
        """Return (factor, offset) of a connection, including the conversion of units. Raises ValueError."""
        factor, offset = 1.0, 0.0
        source, target = self.description(connection.source), self.description(connection.target)
        output_unit = source.unit(source.variables[connection.output])
        input_unit = target.unit(target.variables[connection.input])
        if connection.convert_units and output_unit is not None and input_unit is not None:
            factor, offset = conversion(output_unit, input_unit)
            _check_differences((source, connection.output), (target, connection.input))
        return connection.factor * factor, connection.factor * offset + connection.offset

    def check(self) -> None:
        """Raise StructureError that lists all mistakes; DescriptionError or ArchiveError for unusable FMUs."""
        for name in self.elements:
            self.description(name)
        problems = [
            *self._check_names(),
            *self._check_order(),
            *self._check_rates(),
            *self._check_connections(),
            *self._start_problems(),
        ]
        if problems:
            raise StructureError(problems)

    def _check_names(self) -> Iterable[str]:
        """Yield a sentence for each full name that two elements have, as `a.b.c` of `a` and of `a.b`."""
        for inner in self.elements:
            outer = owner(inner, self.elements)
            while outer is not None:
                rest = inner[len(outer) + 1 :]
                known = self.description(outer).variables
                for name in self.description(inner).variables:
                    if f"{rest}.{name}" in known:
                        yield (
                            f"{inner}.{name} is the variable {name!r} of element {inner!r}, and {rest}.{name!r} of "
                            f"element {outer!r}: rename an element"
                        )
                        break
                outer = owner(outer, self.elements)

    def check_starts(self) -> None:
        """Raise StructureError that lists all mistakes in the start values."""
        problems = list(self._start_problems())
        if problems:
            raise StructureError(problems)

    def _near(self, element: str, variable: str) -> str:
        """Return a hint on a missing variable: why it was left out, or similar names."""
        reason = self.description(element).left_out.get(variable)
        if reason:
            return f" that can be used: {reason}"
        return did_you_mean(variable, self.description(element).variables)

    def _check_order(self) -> Iterable[str]:
        if self.order is not None and sorted(self.order) != sorted(self.elements):
            yield f"the order ({', '.join(self.order)}) does not name each element once ({', '.join(self.elements)})"

    def _check_rates(self) -> Iterable[str]:
        for element in self.elements.values():
            if element.substeps < 1 or element.every < 1 or (element.substeps > 1 and element.every > 1):
                yield (
                    f"{element.name}: {element.substeps} substeps in every {element.every} macro steps is not a rate: "
                    "one of them must be 1, the other an integer from 1"
                )

    def _check_connections(self) -> Iterable[str]:
        sources: dict[tuple[str, str], Connection] = {}
        for connection in self.connections:
            problem = self._check_connection(connection)
            if problem:
                yield f"connection {connection}: {problem}"
                continue
            key = (connection.target, connection.input)
            if key in sources:
                other = sources[key]
                yield f"connection {connection}: the input already has another source, {other.source}.{other.output}"
            sources[key] = connection

    def _check_connection(self, connection: Connection) -> str:
        ends = []
        for element, name in ((connection.source, connection.output), (connection.target, connection.input)):
            if element not in self.elements:
                return f"there is no element {element!r}" + did_you_mean(element, self.elements)
            variable = self.description(element).variables.get(name)
            if variable is None:
                return f"{element} has no variable {shown(name)}" + self._near(element, name)
            ends.append(variable)
        source, target = ends
        if source.causality != "output":
            return f"{connection.source}.{source.name} is not an output but {source.causality}"
        if target.causality != "input":
            return f"{connection.target}.{target.name} is not an input but {target.causality}"
        if source.storage != target.storage:
            return f"the output is {source.type}, the input {target.type}"
        if connection.table and source.type == "Real":
            return "a table maps integers, not Real variables"
        if not connection.table and source.items and target.items and source.items != target.items:
            return f"the enumerations differ: {_items(source)} against {_items(target)}"
        if source.type != "Real" and (connection.factor, connection.offset) != (1.0, 0.0):
            return f"factor and offset apply to Real variables, not to {source.type}"
        try:
            self.transformation(connection)
        except ValueError as error:
            return f"{error}; give the factor and turn the conversion off, or correct the connection"
        return ""

    def _start_problems(self) -> Iterable[str]:
        for element in self.elements.values():
            yield from self._check_start(element)

    def _check_start(self, element: Element) -> Iterable[str]:
        variables = self.description(element.name).variables
        for name, value in element.start.items():
            variable = variables.get(name)
            if variable is None:
                yield f"{element.name} has no variable {shown(name)}" + self._near(element.name, name)
            elif problem := check_value(variable, value):
                yield f"{element.name}.{name} = {shown(value)}: {problem}"
            elif reason := why_fixed(variable):
                yield f"{element.name}.{name} cannot be set: it is {reason}"


def _check_differences(*ends: tuple[Description, str]) -> None:
    """Raise ValueError for a connection of a difference and a quantity that is none, in units with an offset."""
    variables = [description.variables[name] for description, name in ends]
    units = [description.units.get(v.unit or "") for (description, _), v in zip(ends, variables, strict=True)]
    if variables[0].relative != variables[1].relative and any(unit is not None and unit.offset for unit in units):
        which = next(v for v in variables if v.relative)
        raise ValueError(
            f"units {variables[0].unit!r} and {variables[1].unit!r} differ in an offset, and {which.name} is a "
            "difference (relativeQuantity)"
        )


def _items(variable: Variable) -> str:
    return "{" + ", ".join(f"{name} = {value}" for name, value in variable.items) + "}"


def _text_problem(value: str) -> str:
    """Return why FMI cannot pass a text, or an empty string."""
    if "\0" in value:
        return "must not contain the character NUL, at which strings of FMI end"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "must be text in UTF-8"
    return ""


def why_fixed(variable: Variable) -> str:
    """Return why a variable takes no start value, as in "an output that the FMU calculates", or an empty string."""
    if variable.causality not in ("parameter", "input") and variable.initial not in ("exact", "approx"):
        return f"{with_article(variable.causality)} that the FMU calculates"
    return "constant" if variable.variability == "constant" else ""


def check_value(variable: Variable, value: Any) -> str:
    """Return what is wrong with a value for a variable, or an empty string."""
    if variable.type == "String":
        return _text_problem(value) if isinstance(value, str) else "must be a String"
    number = float(value) if isinstance(value, bool | np.bool_) else real(value)
    if variable.type == "Boolean":
        return "" if number in (0.0, 1.0) else "must be a Boolean"
    # an integer may be too large for a float
    if number is None or (not abs(number) < math.inf and not (variable.storage == "Integer" and is_integer(value))):
        # a limit that begins at infinity is none, and can be taken away again
        return "" if variable.type == "Real" and number == variable.start else "must be a finite number"
    if variable.storage == "Integer" and not -(2.0**31) <= number < 2.0**31:
        return "outside the range of 32-bit integers"
    if variable.type != "Real" and value != int(value):
        return f"an {variable.type} takes integers"
    if variable.items and int(value) not in {number for _, number in variable.items}:
        return f"not one of {_items(variable)}"
    unit = f" {variable.unit}" if variable.unit else ""
    if variable.minimum is not None and value < variable.minimum:
        return f"less than its minimum {variable.minimum:g}{unit}"
    if variable.maximum is not None and value > variable.maximum:
        return f"more than its maximum {variable.maximum:g}{unit}"
    return ""
