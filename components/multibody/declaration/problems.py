"""Mistakes in a declaration, collected so that all are reported at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.base.messages import no_xml, shortened, shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.units import UnitError, conversion, parse_quantity, parse_unit

NUMBER = re.compile(r"\[[1-9][0-9]*\]$")
"""The number of one of several ports of a craft."""


class ModelError(DockfmuError, ValueError):
    """A declaration of a multibody system is wrong; `problems` holds one sentence for each mistake."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class _UnreadableError(Exception):
    """A value is not of the kind that its key requires; the text says why."""


class Problems:
    """The mistakes found so far in one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[str] = []

    def add(self, where: str, what: str) -> None:
        """Add a mistake at a place such as `joints.hinge.kind`."""
        self.found.append(f"{self.file}: {shortened(where)}: {what}")

    def raise_if_any(self) -> None:
        """Raise ModelError with all mistakes found so far."""
        if self.found:
            raise ModelError(self.found)


class Entries:
    """The entries of one table, each read by its kind. A mistake is noted, and the default is returned."""

    def __init__(self, content: Any, where: str, problems: Problems, known: Iterable[str] | None = None) -> None:
        self.where, self.problems = where, problems
        if not isinstance(content, Mapping):
            problems.add(where, f"must be a table, not {shown(content)}")
            content = {}
        self.content: Mapping[str, Any] = content
        if known is not None:
            names = tuple(known)
            for key in content:
                if key not in names:
                    problems.add(
                        self._at(key),
                        f"there is no such key{did_you_mean(str(key), names)}; there are {', '.join(names)}",
                    )

    def _at(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def problem(self, key: str, what: str) -> None:
        """Note a mistake in the value of a key, which is quoted."""
        place = shortened(self._at(key))
        given = f"{place} = {shown(self.content[key])}" if key in self.content else place
        self.problems.found.append(f"{self.problems.file}: {given}: {what}")

    def text(self, key: str, default: str = "", choices: Iterable[str] | None = None, *, needed: bool = False) -> str:
        """Return a string that XML can hold, one of `choices` if they are given."""
        if key not in self.content:
            if needed:
                self.problem(key, "is missing" + (f"; give one of {', '.join(choices)}" if choices else ""))
            return default
        value = self.content[key]
        if not isinstance(value, str):
            self.problem(key, "must be a string")
            return default
        if character := no_xml(value):
            self.problem(key, f"no XML can hold the character {character}")
            return default
        if choices is not None and value not in (names := tuple(choices)):
            self.problem(key, f"must be one of {', '.join(names)}{did_you_mean(value, names)}")
            return default
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """Return true or false."""
        value = self.content.get(key, default)
        if not isinstance(value, bool):
            self.problem(key, "must be true or false")
            return default
        return value

    def items(self, key: str) -> list[Any]:
        """Return a list; an empty one if it is missing."""
        value = self.content.get(key, [])
        if not isinstance(value, list):
            self.problem(key, "must be a list")
            return []
        return value

    def table(self, key: str, known: Iterable[str] | None = None) -> Entries:
        """Return a table within this one; an empty one if it is missing."""
        return Entries(self.content.get(key, {}), self._at(key), self.problems, known)

    def tables(self, key: str, *, numbered: bool = False) -> dict[str, Entries]:
        """Return the tables within a table, by their names, which must be names of variables.

        Where they are `numbered`, names such as "port[1]" are right too.
        """
        found = {}
        for name, content in self.table(key).content.items():
            bare = NUMBER.sub("", name) if numbered else name
            if not bare.isidentifier():
                self.problems.add(f"{self._at(key)}.{shown(name)}", "a name has letters, digits and underscores")
            found[name] = Entries(content, f"{self._at(key)}.{name}", self.problems)
        return found

    def quantity(self, key: str, unit: str, default: float = 0.0, *, needed: bool = False) -> float:
        """Return a number in `unit`: a number in SI, a string such as "20 kg", or a table of value and unit."""
        return float(self.array(key, unit, (), default, needed=needed))

    def array(self, key: str, unit: str, shape: tuple[int, ...], default: Any = 0.0, *, needed: bool = False) -> Any:
        """Return an array of numbers in `unit`, as nested lists of quantities or a table of value and unit."""
        if key not in self.content:
            if needed:
                self.problem(key, f"is missing; give {_kind(shape)} in {unit}")
            return np.broadcast_to(np.asarray(default, float), shape)
        try:
            numbers = np.asarray(_numbers(self.content[key], unit), float)
        except _UnreadableError as error:
            self.problem(key, str(error))
        except ValueError:
            self.problem(key, f"must be {_kind(shape)}")
        else:
            if numbers.shape == shape and np.isfinite(numbers).all():
                return numbers
            self.problem(key, f"must be {_kind(shape)}")
        return np.broadcast_to(np.asarray(default, float), shape)


def _kind(shape: tuple[int, ...]) -> str:
    if not shape:
        return "one finite number"
    return f"{' x '.join(map(str, shape))} finite numbers"


def _numbers(value: Any, unit: str) -> Any:
    """Return numbers in `unit`, with the nesting of `value`."""
    if isinstance(value, Mapping):
        extra = value.keys() - {"value", "unit", "source"}
        if extra or "value" not in value:
            raise _UnreadableError("must be a number, or a table of value, unit and source")
        given = value.get("unit", unit)
        if not isinstance(given, str):
            raise _UnreadableError(f"its unit {shown(given)} must be a string such as {unit}")
        factor = _factor(given, unit)
        return _scaled(_numbers(value["value"], unit), factor)
    if isinstance(value, list):
        return [_numbers(item, unit) for item in value]
    if isinstance(value, str):
        try:
            found = parse_quantity(value)
        except UnitError as error:
            raise _UnreadableError(str(error)) from None
        if found is None:
            raise _UnreadableError(f"must be a number, or a number with a unit such as '1.5 {unit}'")
        number, parsed = found
        return number if parsed is None else number * _factor(parsed.name, unit)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _UnreadableError(f"must be a number, or a number with a unit such as '1.5 {unit}'")
    return float(value)


def _scaled(numbers: Any, factor: float) -> Any:
    return [_scaled(item, factor) for item in numbers] if isinstance(numbers, list) else numbers * factor


def _factor(given: str, unit: str) -> float:
    """Return the factor from one unit to another; rad counts as a number, so that N.m and N.m/rad differ."""
    try:
        return conversion(parse_unit(given), parse_unit(unit))[0]
    except UnitError as error:
        raise _UnreadableError(f"{error}; give it in {unit}") from None
