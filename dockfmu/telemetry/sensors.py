"""Sensors, from TOML: frames of signals that share a clock, and events that a frame tells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.file_names import file_name
from dockfmu.base.messages import shown
from dockfmu.base.units import Unit, UnitError, parse_unit
from dockfmu.declare.toml.files import read_plain
from dockfmu.declare.toml.quantities import in_unit
from dockfmu.declare.toml.tables import DeclarationError, Table, finite_number

LARGEST_FILE = 1 << 20
"""Most bytes of a file of sensors."""
RATES = (1e-3, 1e6)
"""Lowest and highest rate of a frame, Hz."""

FRAME = ("name", "rate", "delay", "clock_offset", "clock_drift", "lost", "signal", "event", "file", "time")
SENSOR = (
    "column", "variable", "port", "offset", "axis", "measures", "unit", "scale", "bias", "noise", "quantum", "range",
    "average",
    "lost",
)  # fmt: skip
EVENT = ("name", "lost")
MEASURES = {"acceleration": parse_unit("m/s2"), "rate": parse_unit("rad/s")}
"""What a sensor at a point of a craft measures, and the SI unit of it."""


@dataclass(frozen=True)
class PortPoint:
    """A point that moves with a port of a craft: `offset` from its origin, m, and the `axis` of a sensor there.

    Offset and axis, a unit vector, are in the axes of the port. The structure between port and point is rigid.
    """

    port: str
    offset: np.ndarray
    axis: np.ndarray
    measures: str


@dataclass(frozen=True)
class Sensor:
    """A sensor: what it measures, and what becomes of a value on its way to the telemetry.

    The value is that of a moment, or the mean over the time `average` before it, s, as of an integrating accelerometer.
    The reading is `scale` times the value plus `bias`, plus normal `noise` of this standard deviation, cut to `limits`,
    rounded to multiples of `quantum`, all in `unit`; a share `lost` of the readings is missing.

    Attributes
    ----------
    source : mapping of str to float, or PortPoint
        Variables of the recording, of one unit, and their factors: a misaligned axis takes part of its neighbours; or a
        point of a craft.
    """

    column: str
    source: Mapping[str, float] | PortPoint
    unit: Unit
    scale: float = 1.0
    bias: float = 0.0
    noise: float = 0.0
    quantum: float = 0.0
    limits: tuple[float, float] = (-math.inf, math.inf)
    lost: float = 0.0
    average: float = 0.0


@dataclass(frozen=True)
class Clock:
    """The clock of a frame, which tells (1 + drift) t + offset at the time t, s, and takes a sample every 1 / rate.

    A sample shows the values that are `delay` old, s. A share `lost` of all samples is missing.
    """

    rate: float
    delay: float = 0.0
    offset: float = 0.0
    drift: float = 0.0
    lost: float = 0.0


@dataclass(frozen=True)
class Frame:
    """Sensors that share a clock, and events by name with the share of them that is lost.

    `file` holds their readings, beside a column of times that is called `time`; by default it has the frame's name.
    """

    name: str
    clock: Clock
    sensors: tuple[Sensor, ...]
    events: Mapping[str, float]
    file: str = ""
    time: str = "time"


@dataclass(frozen=True)
class Sensors:
    """All frames of a file; `epoch` is the calendar time at which a run begins, None for times in s."""

    frames: tuple[Frame, ...]
    epoch: datetime | None


def read_sensors(file: Path) -> Sensors:
    """Read sensors from a TOML file, `[[frame]]` with `[[frame.signal]]` and `[[frame.event]]`.

    Raises DeclarationError, which names file, frame, signal, entry and value.
    """
    return sensors_of(Table(read_plain(file, LARGEST_FILE), str(file), ("epoch", "frame")))


def sensors_of(table: Table) -> Sensors:
    """Return the sensors that a table declares. Raises DeclarationError as `read_sensors` does."""
    frames = tuple(map(_frame, table.rows("frame", FRAME)))
    if not frames:
        raise DeclarationError(f"{table.where}: has no [[frame]]: each has name, rate, and signals or events")
    _distinct([frame.name for frame in frames], f"{table.where}: several frames")
    return Sensors(frames, _epoch(table))


def _epoch(table: Table) -> datetime | None:
    given = table.content.get("epoch")
    if given is None:
        return None
    if not isinstance(given, datetime):
        raise DeclarationError(f"{table.where}: epoch = {shown(given)}: must be such as 2026-11-27T10:00:00Z")
    # a time without a zone is taken for UTC
    return given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)


def _frame(row: Table) -> Frame:
    name = row.text("name")
    if file_name(name) != name:
        raise DeclarationError(f"{row.where}: name = {shown(name)}: must serve as the name of a file")
    where = Table(row.content, f"{row.where} ({name})")
    rate = _quantity(where, "rate", "Hz", None)
    if not RATES[0] <= rate <= RATES[1]:
        raise DeclarationError(f"{where.where}: rate = {rate:g} Hz: must be from {RATES[0]:g} to {RATES[1]:g} Hz")
    delay = _quantity(where, "delay", "s", 0.0)
    drift = where.number("clock_drift", 0.0)
    if delay < 0.0 or not -0.5 <= drift <= 0.5:
        raise DeclarationError(f"{where.where}: delay must not be negative, and clock_drift from -0.5 to 0.5")
    clock = Clock(rate, delay, _quantity(where, "clock_offset", "s", 0.0), drift, _share(where))
    sensors = tuple(map(_sensor, where.rows("signal", SENSOR)))
    events = {event.text("name"): _share(event) for event in where.rows("event", EVENT)}
    if not sensors and not events:
        raise DeclarationError(f"{where.where}: has neither [[frame.signal]] nor [[frame.event]]")
    _distinct([sensor.column for sensor in sensors], f"{where.where}: several signals")
    return Frame(name, clock, sensors, events, where.text("file", ""), where.text("time", "time"))


def _sensor(row: Table) -> Sensor:
    column = row.text("column")
    place = Table(row.content, f"{row.where} ({column})")
    text = place.text("unit", "1")
    try:
        unit = parse_unit(text)
    except UnitError as error:
        raise DeclarationError(f"{place.where}: {error}") from error
    noise, quantum = _quantity(place, "noise", text, 0.0), _quantity(place, "quantum", text, 0.0)
    if noise < 0.0 or quantum < 0.0:
        raise DeclarationError(f"{place.where}: noise and quantum must not be negative")
    average = _quantity(place, "average", "s", 0.0)
    if average < 0.0:
        raise DeclarationError(f"{place.where}: average = {average:g} s: must not be negative")
    return Sensor(
        column,
        _source(place),
        unit,
        place.number("scale", 1.0),
        _quantity(place, "bias", text, 0.0),
        noise,
        quantum,
        _range(place, text),
        _share(place),
        average,
    )


def _source(place: Table) -> Mapping[str, float] | PortPoint:
    given = place.content.get("variable")
    if (given is None) == ("port" not in place.content):
        raise DeclarationError(f"{place.where}: needs either `variable` or `port`")
    if given is None:
        return _point(place)
    if beside := sorted({"offset", "axis", "measures"} & set(place.content)):
        raise DeclarationError(f"{place.where}: {beside[0]} belongs to a `port`, not to a `variable`")
    if isinstance(given, str):
        return {given: 1.0}
    table = place.table("variable")
    factors = {name: table.number(name) for name in table.content}
    if not factors:
        raise DeclarationError(f"{place.where}: variable names none")
    return factors


def _point(place: Table) -> PortPoint:
    measures = place.text("measures", choices=tuple(MEASURES))
    offset = np.array([_number(value, "m", f"{place.where}: offset") for value in place.items("offset") or [0, 0, 0]])
    axis = np.array([finite_number(value) or 0.0 for value in place.items("axis")])
    if offset.shape != (3,) or axis.shape != (3,) or not np.isclose(np.linalg.norm(axis), 1.0, rtol=0.0, atol=1e-6):
        raise DeclarationError(f"{place.where}: offset and axis have three components, and axis is a unit vector")
    return PortPoint(place.text("port"), offset, axis / np.linalg.norm(axis), measures)


def _range(place: Table, unit: str) -> tuple[float, float]:
    given = place.items("range")
    if not given:
        return -math.inf, math.inf
    values = [_number(value, unit, f"{place.where}: range") for value in given]
    if len(values) != 2 or not values[0] < values[1]:
        raise DeclarationError(f"{place.where}: range = {shown(given)}: must be a lower and a higher value")
    return values[0], values[1]


def _share(table: Table) -> float:
    lost: float = table.number("lost", 0.0)
    if not 0.0 <= lost < 1.0:
        raise DeclarationError(f"{table.where}: lost = {lost:g}: must be a share from 0 to below 1")
    return lost


def _quantity(table: Table, name: str, unit: str, default: float | None) -> float:
    """Return a number with its unit in `unit`; a plain number is in that unit."""
    if table.content.get(name) is None:
        if default is None:
            raise DeclarationError(f"{table.where}: lacks {name!r}")
        return default
    return _number(table.content[name], unit, f"{table.where}: {name}")


def _number(given: Any, unit: str, where: str) -> float:
    try:
        value = finite_number(in_unit(given, parse_unit(unit), where, math.inf))
    except UnitError as error:
        raise DeclarationError(str(error)) from error
    if value is None:
        raise DeclarationError(f"{where} = {shown(given)}: must be a number, in {unit} if it has no unit")
    return value


def _distinct(names: list[str], what: str) -> None:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DeclarationError(f"{what} are called {shown(twice[0])}")
