"""The vocabulary in which a component declares its record: fields and groups of fields.

A declaration reads like a table::

    Group("base", *ports.pose(INPUT), *ports.wrench(OUTPUT))
    Group("parameters",
          parameter("mass", "kg", "mass without the mechanism", 7000.0, minimum=1.0),
          parameter("inertia", "kg.m2", "about the centre of mass, axes C", IDENTITY, shape=(3, 3)))
    Group("work", private("acceleration", "m/s2", "of the current stage", shape=3))

Every field is stored as float64, whatever its FMI type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack

Causality = Literal["input", "output", "parameter", "local", "private", "constant", "temporary", "table"]
INPUT: Causality = "input"
OUTPUT: Causality = "output"


@dataclass(frozen=True)
class Type:
    """FMI type of a field. An enumeration has its own `name` and `items`, numbered from 1."""

    fmi: Literal["Real", "Integer", "Boolean", "Enumeration"]
    name: str = ""
    items: tuple[tuple[str, str], ...] = ()

    @property
    def codes(self) -> dict[str, int]:
        """Return a mapping of item names to their values, from 1."""
        return {item: value for value, (item, _) in enumerate(self.items, start=1)}


REAL = Type("Real")
INTEGER = Type("Integer")
BOOLEAN = Type("Boolean")


def enumeration(name: str, **items: str) -> Type:
    """Return an enumeration type: `items` maps item names to descriptions, in the order of their values from 1."""
    return Type("Enumeration", name, tuple(items.items()))


@dataclass(frozen=True)
class Field:
    """One named array of a record.

    Attributes
    ----------
    name, unit, description : str
        As in the model description; the unit is written like "N.m/rad", "1" for none.
    causality : str
        "input", "output", "parameter" and "local" are those of FMI, and public. The others are not in the model
        description: "private" is hidden state; "constant" is what `initialize` alone computes, saved with the state;
        "temporary" is work space that each call of `initialize` and `step` writes before it reads it, not saved;
        "table" is constant data, not saved.
    start : number or array
        Start value of the given `shape`, or one number for all elements.
    shape : tuple of int
        Shape of the array, () for a scalar.
    type : Type
        FMI type.
    discrete : bool
        Whether a Real variable changes at events only.
    tunable : bool
        Whether a parameter can be set between steps.
    minimum, maximum, nominal : float, optional
        Range and nominal value, in the unit.
    evaluated : {"start", "mean"}
        The instant of a step for which the kernel takes an input that is interpolated over it
        (fmi2SetRealInputDerivatives): "start" where the kernel extrapolates by itself, "mean" where it applies one
        value over the whole step.
    resource : str, optional
        File of little-endian float64 under `resources/` that fills a table at instantiation.
    """

    name: str
    unit: str
    description: str
    causality: Causality
    start: Any = 0.0
    shape: tuple[int, ...] = ()
    type: Type = REAL
    discrete: bool = False
    tunable: bool = False
    minimum: float | None = None
    maximum: float | None = None
    nominal: float | None = None
    evaluated: Literal["start", "mean"] = "start"
    resource: str | None = None

    @property
    def public(self) -> bool:
        """Whether the model description lists it."""
        return self.causality not in ("private", "constant", "temporary", "table")

    @property
    def variability(self) -> Literal["fixed", "tunable", "discrete", "continuous"]:
        """FMI variability; only Real variables can be continuous."""
        if self.causality == "parameter":
            return "tunable" if self.tunable else "fixed"
        return "discrete" if self.discrete or self.type.fmi != "Real" else "continuous"


@dataclass(frozen=True)
class Group:
    """A sub-record, or an array of `count` equal sub-records, of fields and groups."""

    name: str
    members: tuple[Field | Group, ...]
    count: int | None = None
    description: str = ""

    def __init__(self, name: str, *members: Field | Group, count: int | None = None, description: str = "") -> None:
        for attribute, value in (("name", name), ("members", members), ("count", count), ("description", description)):
            object.__setattr__(self, attribute, value)


def changed(group: Group, changes: Mapping[str, Mapping[str, Any]], *, name: str = "", description: str = "") -> Group:
    """Return a group with changed attributes of its fields, nested ones included, and with a new name and description.

    `changes` maps the name of a field to its new attributes. An empty name or description keeps that of `group`.
    """
    members = (
        changed(member, changes) if isinstance(member, Group) else replace(member, **changes.get(member.name, {}))
        for member in group.members
    )
    return Group(name or group.name, *members, count=group.count, description=description or group.description)


def _hidden_as(causality: Causality, group: Group) -> Group:
    """Return a group whose private fields, nested ones included, have another causality."""
    members = (
        _hidden_as(causality, member)
        if isinstance(member, Group)
        else replace(member, causality=causality if member.causality == "private" else member.causality)
        for member in group.members
    )
    return Group(group.name, *members, count=group.count, description=group.description)


def constants(group: Group) -> Group:
    """Return a group whose private fields are computed by `initialize` and not changed by any step."""
    return _hidden_as("constant", group)


def temporaries(group: Group) -> Group:
    """Return a group whose private fields are temporary, like those that `temporary` returns."""
    return _hidden_as("temporary", group)


class FieldOptions(TypedDict, total=False):
    """Further attributes of a `Field` by keyword."""

    type: Type
    discrete: bool
    tunable: bool
    minimum: float | None
    maximum: float | None
    nominal: float | None
    evaluated: Literal["start", "mean"]
    resource: str | None


def _shape(shape: int | Iterable[int]) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def input(
    name: str,
    unit: str,
    description: str,
    start: Any = 0.0,
    *,
    shape: int | Iterable[int] = (),
    **options: Unpack[FieldOptions],
) -> Field:
    """Return a field for a value that the component receives, held or interpolated over each step."""
    return Field(name, unit, description, "input", start, _shape(shape), **options)


def output(
    name: str,
    unit: str,
    description: str,
    start: Any = 0.0,
    *,
    shape: int | Iterable[int] = (),
    **options: Unpack[FieldOptions],
) -> Field:
    """Return a field for a value that the component computes; consistent after `initialize` and after each `step`."""
    return Field(name, unit, description, "output", start, _shape(shape), **options)


def parameter(
    name: str,
    unit: str,
    description: str,
    start: Any,
    *,
    shape: int | Iterable[int] = (),
    **options: Unpack[FieldOptions],
) -> Field:
    """Return a field for a constant of a run, settable before initialisation (`tunable=True`: also between steps)."""
    return Field(name, unit, description, "parameter", start, _shape(shape), **options)


def local(
    name: str,
    unit: str,
    description: str,
    start: Any = 0.0,
    *,
    shape: int | Iterable[int] = (),
    **options: Unpack[FieldOptions],
) -> Field:
    """Return a field for a public value that is plotted or inspected, not connected."""
    return Field(name, unit, description, "local", start, _shape(shape), **options)


def private(
    name: str,
    unit: str,
    description: str,
    start: Any = 0.0,
    *,
    shape: int | Iterable[int] = (),
    **options: Unpack[FieldOptions],
) -> Field:
    """Return a field of hidden state: saved with the state, absent from the model description."""
    return Field(name, unit, description, "private", start, _shape(shape), **options)


def temporary(
    name: str,
    unit: str,
    description: str,
    start: Any = 0.0,
    *,
    shape: int | Iterable[int] = (),
    **options: Unpack[FieldOptions],
) -> Field:
    """Return a field of work space that each call of a kernel writes before reading: not saved with the state.

    A step that is repeated after a failure, or that continues from a restored state, finds arbitrary values in it.
    """
    return Field(name, unit, description, "temporary", start, _shape(shape), **options)


def table(
    name: str,
    unit: str,
    description: str,
    start: Any = 0.0,
    *,
    shape: int | Iterable[int] = (),
    **options: Unpack[FieldOptions],
) -> Field:
    """Return a field of constant data, never written after instantiation: not saved with the state.

    Tables form groups at the end of the record. `resource="modes.f64"` fills the field from the FMU's resources.
    """
    return Field(name, unit, description, "table", start, _shape(shape), **options)
