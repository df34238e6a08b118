"""Layout of a component's memory: one contiguous block of float64, viewed as nested records.

A slot is one float64. The FMI value reference of a variable is its slot; the saved state of an instance is a copy of
its `saved` slots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.base.names import did_you_mean
from dockfmu.components.core.field import Field, Group


class ParameterError(DockfmuError, ValueError):
    """A parameter that does not exist, has the wrong shape or unit, or lies outside its range."""


class Memory(np.record):  # type: ignore[misc]
    """A record of memory with its fields as attributes, in the interpreter as in compiled kernels.

    Unlike in `numpy.record`, a field's name takes precedence over numpy's own attributes (`base`, `size` ... are free),
    and a nested record is again a `Memory` over the same bytes.
    """

    def __getattribute__(self, name: str) -> Any:
        if name == "data":
            # numba reads this attribute at each call to find the memory; numpy's own first describes every field
            return np.void.getfield(self, (np.uint8, (np.void.__getattribute__(self, "dtype").itemsize,)), 0)
        if name == "dtype":
            return np.void.__getattribute__(self, name)
        try:
            return np.void.__getitem__(self, name)
        except ValueError:
            return np.void.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            np.void.__setitem__(self, name, value)
        except ValueError:
            fields = self.dtype.names or ()
            if name in fields:
                raise
            raise AttributeError(f"record has no field {name!r}; it has {', '.join(fields)}") from None


@dataclass(frozen=True)
class Slot:
    """One scalar variable: its structured FMI name, its place in memory, the field it belongs to, its start value."""

    name: str
    index: int
    field: Field
    start: float

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The minimum and maximum, None where there is none. A Boolean has none; an enumeration has 1 to its size."""
        if self.field.type.fmi == "Boolean":
            return None, None
        if self.field.type.fmi == "Enumeration":
            return 1.0, float(len(self.field.type.items))
        return self.field.minimum, self.field.maximum


@dataclass(frozen=True)
class Span:
    """Adjacent slots: `count` of them, starting at `first`."""

    first: int
    count: int


GAP = 8
"""A span continues over a gap of fewer slots than this: copying the gap costs less than another span."""


@dataclass(frozen=True)
class Resource:
    """A file under `resources/` of little-endian float64 that fills `count` slots, starting at `first`."""

    file: str
    first: int
    count: int


START_TIME = "start_time"
"""Name of the top-level slot of a record for the start time of the run, see `Record.set_start_time`."""

RESERVED = ("data", "dtype")
"""Attributes that numba reads from a record: fields of these names would hide the memory from it."""


def _dtype(members: tuple[Field | Group, ...]) -> np.dtype:
    def entry(member: Field | Group) -> tuple[Any, ...]:
        if member.name in RESERVED:
            raise ValueError(f"no field or group of a record can be called {member.name!r}: numba needs that attribute")
        if isinstance(member, Field):
            return (member.name, np.float64, member.shape)
        inner = _dtype(member.members)
        return (member.name, inner) if member.count is None else (member.name, inner, (member.count,))

    return np.dtype((Memory, np.dtype([entry(member) for member in members], align=True)))


def _scalars(members: Iterable[Field | Group]) -> list[tuple[str, Field, float]]:
    """Return (structured name, field, start value) of every scalar, in the order of memory."""
    found: list[tuple[str, Field, float]] = []
    for member in members:
        if isinstance(member, Field):
            starts = np.full(member.shape, member.start, np.float64).ravel().tolist()
            names = [member.name + subscript for subscript in _subscripts(member.shape)]
            found += [(name, member, start) for name, start in zip(names, starts, strict=True)]
            continue
        inner = _scalars(member.members)
        for subscript in ("",) if member.count is None else _subscripts((member.count,)):
            prefix = f"{member.name}{subscript}."
            found += [(prefix + name, field, start) for name, field, start in inner]
    return found


@cache
def _subscripts(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the subscripts of the elements of an array, "[1,1]", "[1,2]", ... ; "" alone for a scalar."""
    places = product(*(range(1, n + 1) for n in shape))
    return tuple(f"[{','.join(map(str, place))}]" if place else "" for place in places)


def _fields(members: tuple[Field | Group, ...]) -> Iterator[Field]:
    for member in members:
        if isinstance(member, Field):
            yield member
        else:
            yield from _fields(member.members)


def _size(member: Field | Group) -> int:
    if isinstance(member, Field):
        return prod(member.shape)
    return sum(map(_size, member.members)) * (1 if member.count is None else member.count)


def _spans(slots: Iterable[Slot]) -> tuple[Span, ...]:
    """Return the ascending spans of slots, gaps of less than GAP filled."""
    spans: list[Span] = []
    for slot in slots:
        if spans and slot.index - (spans[-1].first + spans[-1].count) < GAP:
            spans[-1] = Span(spans[-1].first, slot.index + 1 - spans[-1].first)
        else:
            spans.append(Span(slot.index, 1))
    return tuple(spans)


class Record:
    """The declaration of a component's memory: `Record(Group(...), Group(...), field, ...)`.

    Attributes
    ----------
    dtype : nested numpy record type of one instance, all float64, without padding
    size : number of slots
    state_size : number of leading slots that are not tables: the saved state lies in them
    """

    def __init__(self, *members: Field | Group) -> None:
        self.members = members
        self.dtype = _dtype(members)
        self.size = sum(map(_size, members))
        tables = [all(field.causality == "table" for field in _fields((member,))) for member in members]
        changing = [member for member, constant in zip(members, tables, strict=True) if not constant]
        self.state_size = sum(map(_size, changing))
        mixed = [field.name for field in _fields(tuple(changing)) if field.causality == "table"]
        if mixed or tables != sorted(tables):
            raise ValueError(f"tables must be in separate top-level groups at the end of the record: {mixed}")

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Return every scalar in the order of memory, private ones and tables included."""
        scalars = _scalars(self.members)
        return tuple(Slot(name, k, field, start) for k, (name, field, start) in enumerate(scalars))

    @cached_property
    def variables(self) -> tuple[Slot, ...]:
        """Return the public scalars: those in the model description."""
        return tuple(slot for slot in self.slots if slot.field.public)

    @cached_property
    def saved(self) -> tuple[Span, ...]:
        """Return the slots that make up the saved state: all but tables and temporaries."""
        return _spans(slot for slot in self.slots if slot.field.causality not in ("table", "temporary"))

    @cached_property
    def changing(self) -> tuple[Span, ...]:
        """Return the saved slots that can change after initialisation: all but constants and fixed parameters."""

        def changes(field: Field) -> bool:
            return field.tunable or field.causality not in ("table", "temporary", "constant", "parameter")

        return _spans(slot for slot in self.slots if changes(slot.field))

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Return a mapping of the structured name of a scalar to its slot."""
        return {slot.name: slot.index for slot in self.slots}

    @cached_property
    def start(self) -> np.ndarray:
        """Return the start values, shape (size,)."""
        return np.array([slot.start for slot in self.slots])

    @cached_property
    def resources(self) -> tuple[Resource, ...]:
        """Return the tables that are filled from files at instantiation."""
        by_file: dict[str, Resource] = {}
        for slot in self.slots:
            if (file := slot.field.resource) is not None:
                before = by_file.get(file)
                first, count = (before.first, before.count + 1) if before else (slot.index, 1)
                by_file[file] = Resource(file, first, count)
        return tuple(by_file.values())

    @cached_property
    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Return a mapping of the structured name of each public or private array to its shape."""
        return {slot.name.rpartition("[")[0]: slot.field.shape for slot in self.slots if slot.field.shape}

    def expand(self, name: str, value: Any, origin: str) -> list[tuple[str, float]]:
        """Return the scalars that `name = value` sets: `[(structured name, number), ...]`.

        `name` is a scalar or a whole array, whose `value` then has its shape (or is one number for all).
        Raises ParameterError, naming `origin`, for an unknown name or a value that does not fit.
        """
        shape = () if name in self.index else self._shapes.get(name)
        if shape is None:
            raise ParameterError(f"{origin}: no variable {name!r}{did_you_mean(name, self.index)}")
        try:
            numbers = np.broadcast_to(np.asarray(value, np.float64), shape)
        except (TypeError, ValueError):
            raise ParameterError(f"{origin}: {name} = {value!r} does not fit its shape {shape}") from None
        return [
            (name + subscript, number)
            for subscript, number in zip(_subscripts(shape), numbers.ravel().tolist(), strict=True)
        ]

    @property
    def start_time(self) -> int | None:
        """Return the slot in which `initialize` finds the start time of the run, or None if there is none."""
        return self.index.get(START_TIME)

    def set_start_time(self, block: np.ndarray, time: float) -> None:
        """Set the start time of the run, s, if the record has a slot for it; call it before `initialize`."""
        if self.start_time is not None:
            block[self.start_time] = time

    def view(self, block: np.ndarray) -> Memory:
        """Return `block`, float64 of shape (size,), viewed as this record. Writes change the block."""
        view: Memory = block.view(self.dtype)[0]
        return view

    def memory(self) -> Memory:
        """Return a new instance at its start values."""
        return self.view(self.start.copy())
