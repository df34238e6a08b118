"""Values that a user gives: from text, and from parameter files, to the start values of a system's elements."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from master.errors import StructureError
from master.fmi.description import Variable
from master.names import near, owner
from master.system import System
from ssp import coupling
from ssp.model import ParameterSet


def parse_value(text: str) -> Any:
    """A number, true or false, a list of them ("1, 2, 3", "[1, 2, 3]", "[[1, 0], [0, 1]]"), else the text itself."""
    text = text.strip()
    try:
        return json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except json.JSONDecodeError:
        pass
    try:
        return float(text)
    except ValueError:
        pass
    if "," in text:
        return [parse_value(item) for item in text.strip("[]()").split(",")]
    return text


@dataclass(frozen=True)
class Settings:
    """What is laid over the start values of a system: parameter sets in their order, then single `values`.

    `values` maps "element.variable" to a number, truth value, name of an enumeration, or to nested lists for a whole
    array.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    sets: tuple[ParameterSet, ...] = ()

    def apply(self, system: System) -> None:
        """Raises StructureError that lists all names and values that do not fit; the system may be changed in part."""
        problems = [problem for entry in self.sets for problem in coupling.apply_parameters(system, entry)]
        for name, value in self.values.items():
            try:
                set_value(system, name, value)
            except StructureError as error:
                problems += error.problems
        if problems:
            raise StructureError(problems)


def set_value(system: System, name: str, value: Any) -> None:
    """Start value of "element.variable", a scalar or a whole array. Raises StructureError for what does not fit."""
    element, variable, shape = _find(system, name)
    known = system.description(element).variables
    chosen = dict(_elements(name, variable, shape, value)) if shape else {variable: value}
    system.elements[element].start |= {key: _typed(f"{element}.{key}", known[key], v) for key, v in chosen.items()}


def scalars(system: System, name: str) -> tuple[list[str], tuple[int, ...]]:
    """The full names of the elements of the array "element.variable", row by row, and its shape; of a scalar its own
    name and (). Raises StructureError for what does not exist.
    """
    element, variable, shape = _find(system, name)
    return [f"{element}.{variable}{place}" for place in _places(shape)], shape


def _find(system: System, name: str) -> tuple[str, str, tuple[int, ...]]:
    """(element, variable, shape) of a scalar or a whole array. Raises StructureError for what does not exist."""
    if name in system.elements:
        raise StructureError([f"{name} is an element; a variable of it is called {name}.VARIABLE"])
    element = owner(name, system.elements)
    if element is None:
        first = name.partition(".")[0]
        all_names, hint = ", ".join(system.elements), near(first, system.elements)
        raise StructureError([f"{name}: the system {system.name} has {all_names}, no {first!r}{hint}"])
    variable = name[len(element) + 1 :]
    known = system.description(element).variables
    shape = () if variable in known else _shape(variable, known)
    if not shape:
        system.resolve(name)
    return element, variable, shape


def _places(shape: tuple[int, ...]) -> Iterator[str]:
    """The subscripts of an array as they stand in names; one empty text for a scalar."""
    for place in product(*map(range, shape)):
        yield f"[{','.join(str(i + 1) for i in place)}]" if place else ""


def _shape(array: str, known: Iterable[str]) -> tuple[int, ...]:
    """The shape of an array by the subscripts of its scalars; empty where there is none of this name."""
    form = re.compile(re.escape(array) + r"\[([\d,]+)\]")
    places = [tuple(map(int, match[1].split(","))) for name in known if (match := form.fullmatch(name))]
    return tuple(map(max, zip(*places, strict=True)))


def _elements(name: str, array: str, shape: tuple[int, ...], value: Any) -> Iterator[tuple[str, Any]]:
    """(scalar, value) of a whole array; a single value goes to every place."""
    numbers = value
    if isinstance(value, list):
        found: tuple[int, ...]
        try:
            found = np.shape(value)
        except ValueError:
            found = ()
        if found != shape:
            wanted = " x ".join(map(str, shape))
            raise StructureError([f"{name} = {value!r}: the array takes {wanted} values, got {_words(found)}"])
        numbers = np.array(value, object)
    for place, subscripts in zip(product(*map(range, shape)), _places(shape), strict=True):
        yield array + subscripts, numbers[place] if isinstance(value, list) else value


def _words(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) if shape else "rows of unequal length"


def _typed(name: str, variable: Variable, value: Any) -> Any:
    """`value` for a variable of this type; its range is the system's to check. Raises StructureError."""
    items = dict(variable.items)
    if isinstance(value, str) and value in items:
        return items[value]
    if variable.type == "String":
        return str(value)
    if isinstance(value, str) and items:
        raise StructureError([f"{name} = {value!r}: not one of {', '.join(items)}{near(value, items)}"])
    if isinstance(value, list):
        raise StructureError([f"{name} = {value!r}: one value is wanted, got {len(value)}"])
    if isinstance(value, bool) and variable.type != "Boolean":
        raise StructureError([f"{name} = {str(value).lower()}: a number is wanted, the variable is {variable.type}"])
    if isinstance(value, str) or value is None:
        wanted = "true or false" if variable.type == "Boolean" else "a number"
        raise StructureError([f"{name} = {value!r}: {wanted} is wanted"])
    return float(value) if variable.type == "Real" else value
