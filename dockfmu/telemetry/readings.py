"""What sensors read of a recorded run: samples of their clocks, with errors and losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.units import Unit, UnitError, conversion, parse_unit
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.observers.recording.results import Results
from dockfmu.telemetry.sensors import MEASURES, Clock, Frame, PortPoint, Sensor


class Recording(Protocol):
    """Stand for what sensors read: an open recording, or an outcome in memory with the same members."""

    @property
    def time(self) -> np.ndarray:
        """Times of the rows, s."""

    @property
    def variables(self) -> Sequence[str]:
        """Full names of the recorded scalars."""

    def __getitem__(self, name: str, /) -> np.ndarray:
        """Return the values of a variable, shape (rows,)."""

    def unit(self, name: str, /) -> str:
        """Return the unit of a variable."""

    def variability(self, name: str, /) -> str:
        """Return "discrete" for a variable that holds its value between rows."""


@dataclass(frozen=True)
class Readings:
    """The samples of one frame that arrived: time by its clock, s, shape (n,), and readings, shape (n, sensors).

    A lost reading is NaN. `events` are the intervals by the same clock, s, in which the events of the frame fell: after
    the sample before, up to the sample that tells it.
    """

    frame: Frame
    time: np.ndarray
    values: np.ndarray
    events: tuple[tuple[str, float, float], ...]


def read_frame(
    results: Results, frame: Frame, events: Sequence[tuple[str, float]], random: np.random.Generator
) -> Readings:
    """Return what a frame tells of a recorded run.

    Parameters
    ----------
    results : Results
        The recording. Between its rows values are interpolated, those of discrete variables held.
    frame : Frame
        The frame.
    events : sequence of (str, float)
        Names and times of the events of the run, s.
    random : Generator
        Where noise and losses are drawn from.

    Raises
    ------
    DeclarationError
        for a variable or a port that the recording does not have, another unit, an event that the run does not have,
        or a frame that asks for more samples than the recording has rows
    """
    clock = frame.clock
    true = _sample_times(results, clock, f"frame {frame.name}")
    arrived = random.random(len(true)) >= clock.lost
    values = [_readings(results, sensor, true - clock.delay, random) for sensor in frame.sensors]
    table = np.column_stack(values) if values else np.empty((len(true), 0))
    told = []
    for name, lost in frame.events.items():
        for time in _times_of(name, events, frame.name):
            interval = _interval(time, true, arrived, clock)
            if random.random() >= lost and interval is not None:
                told.append((name, *interval))
    return Readings(frame, _stamps(true, clock)[arrived], table[arrived], tuple(told))


def _times_of(name: str, events: Sequence[tuple[str, float]], frame: str) -> list[float]:
    """Return the times at which an event of the run happened, s."""
    times = [time for other, time in events if other == name]
    if not times:
        known = sorted({other for other, _ in events})
        hint = did_you_mean(name, known) or (f"; it has {', '.join(known)}" if known else "")
        raise DeclarationError(f"frame {frame}: the run has no event {shown(name)}{hint}")
    return times


def _stamps(true: np.ndarray, clock: Clock) -> np.ndarray:
    """Return the times that a clock tells at true times, s."""
    return (1.0 + clock.drift) * true + clock.offset


def shown_times(stamps: np.ndarray, clock: Clock) -> np.ndarray:
    """Return the true times of the values that samples with these stamps show, s: the delay is taken off."""
    return (stamps - clock.offset) / (1.0 + clock.drift) - clock.delay


def _name(results: Recording) -> str:
    return str(getattr(results, "file", "the run"))


def _sample_times(results: Results, clock: Clock, where: str) -> np.ndarray:
    """Return the true times of samples, s: those at which the clock has gone on by 1 / rate."""
    begin, end = float(results.time[0]), float(results.time[-1])
    step = 1.0 / (clock.rate * (1.0 + clock.drift))
    between = float(np.median(np.diff(results.time))) if len(results.time) > 1 else np.inf
    if step < 0.999 * between:
        raise DeclarationError(
            f"{where}: takes a sample every {step:g} s, but the run has a row every {between:g} s: record it with "
            "--every 1, or take a lower rate"
        )
    # a sample whose values are older than the run has nothing to tell
    last = max(-1.0, np.floor((end - begin - clock.delay) / step + 1e-9))
    return begin + clock.delay + step * np.arange(int(last) + 1)


def _interval(time: float, true: np.ndarray, arrived: np.ndarray, clock: Clock) -> tuple[float, float] | None:
    """Return the times by the clock of the samples that did not yet tell an event, and that told it, s."""
    seen = true[arrived]
    k = int(np.searchsorted(seen, time + clock.delay))
    if k == len(seen):
        return None
    before = seen[k - 1] if k else true[0] - 1.0 / clock.rate
    after, by = _stamps(np.array([before, seen[k]]), clock)
    return float(after), float(by)


def _readings(results: Results, sensor: Sensor, at: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the readings of a sensor that show the values at times, s, shape (n,)."""
    values = expected_readings(results, sensor, at) + sensor.noise * random.standard_normal(len(at))
    values = np.clip(values, *sensor.limits)
    if sensor.quantum > 0.0:
        values = sensor.quantum * np.round(values / sensor.quantum)
    return np.where(random.random(len(at)) < sensor.lost, np.nan, values)


def expected_readings(results: Recording, sensor: Sensor, at: np.ndarray) -> np.ndarray:
    """Return what a sensor tells of the values at times, s, without noise, range and resolution, shape (n,).

    Raises DeclarationError for a variable or a port that the recording does not have, and for another unit.
    """
    if not sensor.average > 0.0:
        return sensor.scale * _true_values(results, sensor, at) + sensor.bias
    rows = np.asarray(results.time, float)
    values = _true_values(results, sensor, rows)
    total = np.concatenate([[0.0], np.cumsum(0.5 * (values[1:] + values[:-1]) * np.diff(rows))])
    ends = (at, at - sensor.average)
    # before the first row its values hold
    to, since = (np.interp(end, rows, total) + np.minimum(end - rows[0], 0.0) * values[0] for end in ends)
    return np.asarray(sensor.scale * (to - since) / sensor.average + sensor.bias)


def _true_values(results: Recording, sensor: Sensor, at: np.ndarray) -> np.ndarray:
    """Return what a sensor measures at times, s, shape (n,)."""
    where = f"signal {sensor.column}"
    if isinstance(sensor.source, PortPoint):
        return _at_point(results, sensor.source, sensor.unit, at, where)
    return _variables(results, sensor.source, sensor.unit, at, where)


def _variables(results: Recording, factors: Mapping[str, float], unit: Unit, at: np.ndarray, where: str) -> np.ndarray:
    total = np.zeros(len(at))
    for name, factor in factors.items():
        if name not in results.variables:
            raise DeclarationError(
                f"{where}: {_name(results)} holds no {shown(name)}{did_you_mean(name, results.variables)}"
            )
        try:
            scale, offset = conversion(parse_unit(results.unit(name) or "1"), unit)
        except UnitError as error:
            raise DeclarationError(f"{where}: {name}: {error}") from error
        values = np.asarray(results[name], float)
        if results.variability(name) == "discrete":
            now = values[np.clip(np.searchsorted(results.time, at, side="right") - 1, 0, None)]
        else:
            now = np.interp(at, results.time, values)
        total += factor * (scale * now + offset)
    return total


def _at_point(results: Recording, point: PortPoint, unit: Unit, at: np.ndarray, where: str) -> np.ndarray:
    """Return the acceleration or the rate along the axis of a sensor at a point of a craft.

    The acceleration of a point at d from the origin of the port is a + alpha x d + omega x (omega x d), all in the axes
    of the port.
    """
    try:
        scale, _ = conversion(MEASURES[point.measures], unit)
    except UnitError as error:
        raise DeclarationError(f"{where}: {error}") from error
    rate = _vector(results, point.port, "angular_velocity", at, where)
    if point.measures == "rate":
        return np.asarray(scale * (rate @ point.axis))
    origin = _vector(results, point.port, "acceleration", at, where)
    turning = _vector(results, point.port, "angular_acceleration", at, where)
    felt = origin + np.cross(turning, point.offset) + np.cross(rate, np.cross(rate, point.offset))
    return np.asarray(scale * (felt @ point.axis))


def _vector(results: Recording, port: str, what: str, at: np.ndarray, where: str) -> np.ndarray:
    """Return a vector of a port over time, shape (n, 3), in SI units."""
    names = [f"{port}.{what}[{k}]" for k in (1, 2, 3)]
    if missing := [name for name in names if name not in results.variables]:
        ports = sorted({name.rpartition(f".{what}[")[0] for name in results.variables if f".{what}[" in name})
        raise DeclarationError(f"{where}: {_name(results)} holds no {missing[0]}{did_you_mean(port, ports)}")
    return np.column_stack([np.interp(at, results.time, np.asarray(results[name], float)) for name in names])
