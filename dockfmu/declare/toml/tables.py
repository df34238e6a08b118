"""Read tables of TOML or JSON entry by entry: an entry of the wrong kind is refused, naming the file and the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any, TypeVar

from dockfmu.base.errors import DockfmuError
from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.numbers import LARGEST_COUNT
from dockfmu.master.errors import StructureError

T = TypeVar("T")

NEEDED: Any = object()
"""The default of a required entry."""


class DeclarationError(DockfmuError, ValueError):
    """A system does not exist, or its declaration is invalid."""


@contextmanager
def named_place(where: str) -> Iterator[None]:
    """Prefix the file and place `where` to the message of a StructureError or DeclarationError that lacks them."""
    try:
        yield
    except StructureError as error:
        raise type(error)([_prefixed(text, where) for text in error.problems]) from error
    except DeclarationError as error:
        raise DeclarationError(_prefixed(str(error), where)) from error


def _prefixed(text: str, where: str) -> str:
    return text if text.startswith(where) else f"{where}: {text}"


def finite_number(value: Any) -> float | None:
    """Return `value` as a float, None if it is not a finite number (a bool is not)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


class Table:
    """A table whose entries are read by their kind.

    `where` names the file and the place for messages; entries that are not `known` are refused, unless `known` is None.
    Every method takes the name of an entry, and raises DeclarationError for an entry of the wrong kind, or for a
    missing one without a default. An entry that is None (null in JSON) counts as missing.
    """

    def __init__(self, content: Any, where: str, known: Sequence[str] | None = None) -> None:
        if not isinstance(content, Mapping):
            raise DeclarationError(f"{where}: must be a table, not {shown(content)}")
        self.content, self.where = content, where
        for name in content:
            if known is not None and name not in known:
                listed = f"; there are {', '.join(known)}{did_you_mean(str(name), known)}"
                raise DeclarationError(f"{where}: there is no entry {shown(name)} here{listed}")

    def number(self, name: str, default: Any = NEEDED, *, positive: bool = False) -> Any:
        """Return a finite number as a float."""

        def read(value: Any) -> float | None:
            number = finite_number(value)
            return None if number is None or (positive and number <= 0.0) else number

        return self._entry(name, default, read, f"must be a {'positive' if positive else 'finite'} number")

    def whole(self, name: str, default: Any = NEEDED, *, least: int = 1, most: int = LARGEST_COUNT) -> Any:
        """Return an integer from `least` to `most`."""

        def read(value: Any) -> int | None:
            return value if type(value) is int and least <= value <= most else None

        kind = {0: "a non-negative integer", 1: "a positive integer"}.get(least, f"an integer of at least {least},")
        return self._entry(name, default, read, f"must be {kind} up to {most}")

    def flag(self, name: str, default: Any = NEEDED) -> Any:
        """Return true or false."""
        return self._entry(name, default, lambda v: v if isinstance(v, bool) else None, "must be true or false")

    def text(self, name: str, default: Any = NEEDED, choices: Sequence[str] | None = None) -> Any:
        """Return a string, one of `choices` if they are given."""

        def read(value: Any) -> str | None:
            return value if isinstance(value, str) and (choices is None or value in choices) else None

        return self._entry(
            name, default, read, "must be a string" if choices is None else f"must be {_one_of(choices)}"
        )

    def texts(self, name: str, default: Any = NEEDED, size: int | None = None) -> Any:
        """Return a list of strings as a tuple, of length `size` if it is given."""

        def read(value: Any) -> tuple[str, ...] | None:
            fits = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
            return tuple(value) if fits and size in (None, len(value)) else None

        return self._entry(name, default, read, f"must be a list of {'' if size is None else f'{size} '}strings")

    def items(self, name: str) -> list[Any]:
        """Return a list of anything; an empty one if the entry is missing."""

        def read(value: Any) -> list[Any] | None:
            return list(value) if isinstance(value, list | tuple) else None

        return self._entry(name, [], read, "must be a list")

    def table(self, name: str, known: Sequence[str] | None = None) -> Table:
        """Return a table within this one; an empty one if it is missing."""
        content = self.content.get(name)
        return Table({} if content is None else content, f"{self.where}, {name}", known)

    def rows(self, name: str, known: Sequence[str] | None = None) -> list[Table]:
        """Return a list of tables, `[[name]]`."""
        return [Table(row, f"{self.where}, {name} {k}", known) for k, row in enumerate(self.items(name), 1)]

    def tables(self, name: str, known: Sequence[str], what: str) -> dict[str, Table]:
        """Return the tables within a table, `[name.KEY]`; messages call each by `what` and its key."""
        content = self.table(name).content
        return {key: Table(entry, f"{self.where}, {what} {key}", known) for key, entry in content.items()}

    def _entry(self, name: str, default: T, read: Callable[[Any], T | None], rule: str) -> T:
        value = self.content.get(name)
        if value is None:
            if default is NEEDED:
                raise DeclarationError(f"{self.where}: lacks {name!r}")
            return default
        entry = read(value)
        if entry is None:
            raise DeclarationError(f"{self.where}: {name} = {shown(value)}: {rule}")
        return entry


def _one_of(choices: Sequence[str]) -> str:
    return " or ".join(choices) if len(choices) < 3 else f"one of {', '.join(choices)}"
