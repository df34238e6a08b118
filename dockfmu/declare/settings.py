"""Values given by a user, as text or in parameter files, and their application as start values of a system."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.given_files import read_bytes
from dockfmu.base.messages import shown
from dockfmu.base.names import array_shape, did_you_mean, owner, readings, subscripts
from dockfmu.base.number_text import any_number, strict_json
from dockfmu.base.units import UnitError
from dockfmu.declare.conditions.initial_conditions import CONDITION_PREFIX
from dockfmu.declare.toml.quantities import in_unit
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.description import Variable
from dockfmu.master.system import Structure
from dockfmu.ssp.model import SsvParameterSet
from dockfmu.ssp.read import read_parameter_set
from dockfmu.ssp.to_system import apply_parameters

_WORD = re.compile(r"[^\[\],\s][^\[\],]*")


def parse_value(text: str) -> Any:
    """Return a number, a bool, a list of values ("1, 2, 3", "[1, 2, 3]", "[[1, 0], [0, 1]]"), or else the text.

    A quantity such as "20t" stays text until the variable is known, also in lists.
    """
    text = text.strip()
    try:
        value = strict_json(text.lower() if text.lower() in ("true", "false") else text)
        # no variable takes a JSON object or null
        return text if value is None or isinstance(value, dict) else value
    except (ValueError, RecursionError):
        # not JSON, an integer of too many digits, or lists nested too deeply
        pass
    with suppress(ValueError):
        return any_number(text)
    if "," in text:
        try:
            # words and quantities in nested lists: quoting them makes it JSON
            return _parsed(strict_json(_WORD.sub(lambda match: json.dumps(match[0].strip()), text)))
        except (ValueError, RecursionError):
            return [parse_value(item) for item in text.strip("[]()").split(",")]
    return text


def _parsed(value: Any) -> Any:
    return [_parsed(item) for item in value] if isinstance(value, list) else parse_value(value)


class Written(str):
    """A value as it was written on the command line: what it means depends on the variable."""

    __slots__ = ()


def _meant(name: str, variable: Variable, value: Any) -> Any:
    """Return the value that a written text means for a scalar: the text itself, an item, or what `parse_value` reads.

    Raises StructureError for a text that is the name of one item and the number of another.
    """
    if not isinstance(value, Written):
        return value
    if variable.type == "String":
        return str(value)
    parsed, items = parse_value(value), dict(variable.items)
    if value not in items:
        return parsed
    number = isinstance(parsed, int | float) and not isinstance(parsed, bool)
    if number and parsed != items[value] and parsed in items.values():
        other = next(item for item, number in items.items() if number == parsed)
        text = f"is both the item {value!r}, which is {items[value]}, and the number of the item {other!r}"
        raise StructureError([f"{name} = {value}: {text}; give {items[value]} or {other}"])
    return items[value]


@dataclass(frozen=True)
class Settings:
    """Values that override the start values of a system: parameter sets in their order, then single `values`.

    `values` maps "element.variable" to a number, a bool or the name of an enumeration item, or to nested lists for a
    whole array. Messages refer to a set by its name.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    sets: tuple[SsvParameterSet, ...] = ()

    def apply(self, system: Structure) -> None:
        """Set the values in a system. Raises StructureError with all that do not fit; the others are set."""
        problems = [problem for entry in self.sets for problem in apply_parameters(system, entry)]
        for name, value in self.values.items():
            try:
                set_value(system, name, value)
            except StructureError as error:
                problems += error.problems
        if problems:
            raise StructureError(problems)


NOTHING = Settings()


def read_settings(given: Mapping[str, Any], files: Sequence[Path | str] = ()) -> tuple[Settings, dict[str, Any]]:
    """Separate the values given by a user: return (settings of elements, initial conditions by name).

    `given` are values by full names, which take precedence over those of the .ssv `files`. Raises DeclarationError for
    a file that cannot be read, SspError for a file that is not a parameter set.
    """
    conditions: dict[str, Any] = {}
    sets = []
    for file in map(Path, files):
        try:
            content = read_parameter_set(read_bytes(file), str(file))
        except OSError as error:
            raise DeclarationError(f"parameters {file}: {error.strerror}") from error
        own = [parameter for parameter in content.parameters if not parameter.name.startswith(CONDITION_PREFIX)]
        for parameter in content.parameters:
            if parameter.name.startswith(CONDITION_PREFIX):
                value = f"{parameter.value} {parameter.unit}" if parameter.unit else parameter.value
                conditions[parameter.name[len(CONDITION_PREFIX) :]] = value
        # so that messages name the file of a value
        sets.append(replace(content, name=str(file), parameters=own))
    values = {}
    for name, value in given.items():
        written = isinstance(value, Written)
        plain = name.strip() if written else name
        if plain.startswith(CONDITION_PREFIX):
            conditions[plain[len(CONDITION_PREFIX) :]] = parse_value(value) if written else value
        else:
            values[name] = value
    return Settings(values, tuple(sets)), conditions


def set_value(system: Structure, name: str, value: Any) -> None:
    """Set the start value of "element.variable", a scalar or a whole array, from numbers or strings with a unit.

    Raises StructureError for values that do not fit. Emits AngleWarning for a plain number beyond pi for an angle.
    """
    if isinstance(value, Written):
        name, value = _divided(system, name, value)
    element, variable, shape = _find(system, name)
    description = system.description(element)
    known = description.variables
    first = known[variable + next(_places(shape))]
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Written):
        value = parse_value(value) if shape else _meant(name, first, value)
    # elements of an array may have units of their own
    one_unit = len({description.unit(known[variable + place]) for place in _places(shape)}) == 1
    try:
        if first.type == "Real" and one_unit:
            value = in_unit(value, description.unit(first), name)
        chosen = dict(_elements(name, variable, shape, value)) if shape else {variable: value}
        if not one_unit:
            chosen = {key: in_unit(v, description.unit(known[key]), f"{element}.{key}") for key, v in chosen.items()}
    except UnitError as error:
        raise StructureError([str(error)]) from error
    system.elements[element].start |= {key: _typed(f"{element}.{key}", known[key], v) for key, v in chosen.items()}


def _divided(system: Structure, name: str, value: Written) -> tuple[str, Written]:
    """Return the name and the value that a text NAME=VALUE means, in which blanks may stand around the equals sign.

    The name of a variable may have equal signs itself. Raises StructureError if more than one name is a variable's.
    """
    pieces = f"{name}={value}".split("=")
    found = []
    for k in range(1, len(pieces)):
        for text in readings("=".join(pieces[:k])):
            with suppress(StructureError):
                _find(system, text)
                found.append((text, Written("=".join(pieces[k:]))))
                break
    if len(found) > 1:
        meant = " and ".join(f"{names} to {rest}" for names, rest in found)
        raise StructureError([f"{name}={value}: could set {meant}; give the value in an .ssv (--parameters)"])
    return found[0] if found else (name.strip(), value)


def scalars(system: Structure, name: str) -> tuple[list[str], tuple[int, ...]]:
    """Return the full names of the elements of the array "element.variable", row by row, and its shape.

    For a scalar, returns its own name and (). Raises StructureError for variables that do not exist.
    """
    element, variable, shape = _find(system, name)
    return [f"{element}.{variable}{place}" for place in _places(shape)], shape


def _find(system: Structure, name: str) -> tuple[str, str, tuple[int, ...]]:
    """Return (element, variable, shape) of a scalar or a whole array. Raises StructureError if it does not exist."""
    if name in system.elements:
        raise StructureError([f"{name} is an element; name a variable of it, {name}.VARIABLE"])
    element = owner(name, system.elements) or system.element(name.partition(".")[0], origin=name).name
    variable = name[len(element) + 1 :]
    known = system.description(element).variables
    shape = () if variable in known else _shape(variable, known)
    if not shape:
        system.resolve(name)
    return element, variable, shape


def _places(shape: tuple[int, ...]) -> Iterator[str]:
    """Yield the subscripts of an array as written in names; one empty string for a scalar."""
    for place in product(*map(range, shape)):
        yield f"[{','.join(str(i + 1) for i in place)}]" if place else ""


def _shape(array: str, known: Iterable[str]) -> tuple[int, ...]:
    """Return the shape of an array from the subscripts of its scalars; empty if no array has this name."""
    form = re.compile(re.escape(array) + r"\[([\d,]+)\]")
    places = [subscripts(name)[1] for name in known if form.fullmatch(name)]
    return array_shape([place for place in places if place])


def _elements(name: str, array: str, shape: tuple[int, ...], value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (scalar, value) for each element of an array; a single value applies to all elements."""
    numbers = value
    if isinstance(value, list):
        given: tuple[int, ...]
        try:
            given = np.shape(value)
        except (ValueError, RecursionError):
            given = ()
        if given != shape:
            size = " x ".join(map(str, shape))
            raise StructureError([f"{name} = {shown(value)}: the array takes {size} values, got {_words(given)}"])
        numbers = np.array(value, object)
    for place, written in zip(product(*map(range, shape)), _places(shape), strict=True):
        yield array + written, numbers[place] if isinstance(value, list) else value


def _words(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) if shape else "rows of unequal length"


def _typed(name: str, variable: Variable, value: Any) -> Any:
    """Return `value` in the type of the variable; the system checks its range. Raises StructureError."""
    if isinstance(value, np.generic):
        value = value.item()
    items = dict(variable.items)
    if isinstance(value, str) and value in items:
        return items[value]
    if variable.type == "String":
        return str(value)
    where = f"{name} = {str(value).lower() if isinstance(value, bool) else shown(value)}"
    if isinstance(value, str) and items:
        raise StructureError([f"{where}: not one of {', '.join(items)}{did_you_mean(value, items)}"])
    if isinstance(value, list):
        raise StructureError([f"{where}: must be one value, not {len(value)}"])
    if isinstance(value, bool) and variable.type != "Boolean":
        raise StructureError([f"{where}: must be a number, the variable is {variable.type}"])
    if not isinstance(value, int | float):
        expected = "true or false" if variable.type == "Boolean" else "a number"
        raise StructureError([f"{where}: must be {expected}"])
    try:
        return float(value) if variable.type == "Real" else value
    except OverflowError as error:
        raise StructureError([f"{where}: must be a finite number"]) from error
