"""Convert a value along its path: units, linear transformations and tables, hop by hop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dockfmu.base.names import did_you_mean
from dockfmu.base.units import Unit, conversion
from dockfmu.master.fmi.description import Variable
from dockfmu.ssp.model import LinearTransformation, MappingTable, Transformation, Value


@dataclass(frozen=True)
class Point:
    """A variable, connector or signal on the path of a value: its unit, and the items of its enumeration.

    `relative` says of a variable whether it is a difference (relativeQuantity); None where nothing says it, as of
    connectors and values of parameter sets.
    """

    unit: Unit | None = None
    items: tuple[tuple[str, int], ...] = ()
    relative: bool | None = None


@dataclass(frozen=True)
class Hop:
    """The step to the next point, by one connection or one entry of a mapping."""

    end: Point
    transformation: Transformation | None = None
    suppress_unit_conversion: bool = False


def affine(start: Point, hops: Iterable[Hop]) -> tuple[float, float]:
    """Return (factor, offset) of the whole path of a Real value: each hop converts the unit, then transforms.

    A point without a unit has the unit of the previous point. If an end is a difference, the offsets of units do not
    apply anywhere on the path. Raises ValueError for incompatible units, and for a path from a quantity to a difference
    through units with offsets.
    """
    hops = list(hops)
    start, *ends = _differences([start, *(hop.end for hop in hops)])
    hops = [replace(hop, end=end) for hop, end in zip(hops, ends, strict=True)]
    factor, offset, unit = 1.0, 0.0, start.unit
    for hop in hops:
        if isinstance(hop.transformation, MappingTable):
            raise ValueError("tables of values do not apply to Real values")
        if hop.suppress_unit_conversion:
            unit = hop.end.unit
        elif unit is not None and hop.end.unit is not None:
            scale, shift = conversion(unit, hop.end.unit)
            factor, offset = scale * factor, scale * offset + shift
        unit = hop.end.unit or unit
        if isinstance(hop.transformation, LinearTransformation):
            scale, shift = hop.transformation.factor, hop.transformation.offset
            factor, offset = scale * factor, scale * offset + shift
    return factor, offset


def _differences(points: Sequence[Point]) -> list[Point]:
    """Return the points of a path, with units without offsets if what passes along it is a difference."""
    kinds = {point.relative for point in points} - {None}
    with_offset = [point.unit.name for point in points if point.unit is not None and point.unit.offset]
    if True not in kinds or not with_offset:
        return list(points)
    if False in kinds:
        raise ValueError(
            f"one end is a difference (relativeQuantity), the other is none, and the unit {with_offset[0]!r} between "
            "them has an offset"
        )
    return [p if p.unit is None else replace(p, unit=replace(p.unit, offset=0.0)) for p in points]


def whole(value: Value, start: Point, hops: Iterable[Hop]) -> Value:
    """Return an Integer, Boolean or Enumeration value (number or name) after the tables; others are unchanged.

    Raises ValueError if a table needs the number or the name of an item that the enumeration does not have.
    """
    items = start.items
    for hop in hops:
        if isinstance(hop.transformation, LinearTransformation):
            raise ValueError("linear transformations apply to Real values only")
        if hop.transformation is not None:
            value = _look_up(value, hop.transformation, items)
        items = hop.end.items or items
    return value


def table(start: Point, hops: Sequence[Hop], end: Variable) -> tuple[tuple[int, int], ...]:
    """Return (source, target) for each value of an Integer, Boolean or Enumeration; empty if there are no tables."""
    tables = [hop.transformation for hop in hops if isinstance(hop.transformation, MappingTable)]
    if not tables:
        return ()
    domain: list[Value] = [name for name, _ in start.items]
    if not domain:
        domain = sorted({source for t in tables if t.type != "Enumeration" for source, _ in t.entries})
    numbers = dict(start.items)
    pairs = ((numbers.get(str(value), value), item(whole(value, start, hops), end)) for value in domain)
    return tuple((int(source), int(target)) for source, target in pairs)


def item(value: Value, variable: Variable) -> Value:
    """Return the number of an item for an Enumeration variable; values of other variables are unchanged.

    Raises ValueError, with near matches, for an unknown item.
    """
    if variable.type != "Enumeration":
        return value
    items = dict(variable.items)
    if isinstance(value, str):
        if value not in items:
            raise ValueError(f"{value!r} is not one of {', '.join(items)}{did_you_mean(value, items)}")
        return items[value]
    return int(value)


def _look_up(value: Value, transformation: MappingTable, items: Iterable[tuple[str, int]]) -> Value:
    numbers: Mapping[Value, Value] = dict(items)
    if transformation.type == "Integer" and isinstance(value, str):
        if value not in numbers:
            raise ValueError(f"the number of {value!r} is not known")
        value = numbers[value]
    elif transformation.type == "Enumeration" and not isinstance(value, str):
        names = {number: name for name, number in numbers.items()}
        if value not in names:
            raise ValueError(f"the name of item {value} is not known")
        value = names[value]
    return dict(transformation.entries).get(value, value)
