"""Read telemetry: a TOML file that maps the columns of files to signals, and the files of its frames."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.messages import shortened, shown
from dockfmu.declare.toml.files import read_plain
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.reconstruct.columns import TelemetryColumns, read_columns, unit_factor
from dockfmu.reconstruct.telemetry import EventReading, SignalReadings, Telemetry
from dockfmu.telemetry.readings import shown_times
from dockfmu.telemetry.sensors import LARGEST_FILE, Frame, Sensor, Sensors, read_sensors, sensors_of

ENTRIES = (
    "system", "values", "epoch", "folder", "events", "sensors", "frame", "window", "life",
    "direct", "classical", "ensemble",
)  # fmt: skip
"""Entries of the file; a method reads those of its own table."""
EVENTS = "events.csv"
ENDINGS = (".csv", ".parquet", ".h5", ".hdf5")


def read_telemetry(file: Path | str) -> Telemetry:
    """Read telemetry from the files that a TOML file names.

    Parameters
    ----------
    file : path
        The TOML file: `system`, `folder` of the telemetry, and `sensors`, the file of the frames, or the `[[frame]]`
        themselves; paths are from its folder.

    Raises
    ------
    DeclarationError
        for a file that is wrong: the message names file, frame, signal, column, row and value
    """
    file = Path(file)
    table = Table(read_plain(file, LARGEST_FILE), str(file), ENTRIES)
    sensors = _sensors(table, file)
    folder = file.parent / table.text("folder", ".")
    notes: list[str] = []
    parts, epoch = [], None if sensors.epoch is None else sensors.epoch.timestamp()
    for frame in sensors.frames:
        if not frame.sensors:
            continue
        source = _file_of(frame, folder)
        columns = read_columns(source, f"{file}, frame {frame.name}")
        stamps, calendar = columns.times(frame.time, f"{file}, frame {frame.name}")
        if calendar:
            if epoch is None:
                epoch = float(np.floor(stamps[0])) if len(stamps) else 0.0
                notes.append(f"times count from {datetime.fromtimestamp(epoch, UTC).isoformat()}: no epoch is given")
            stamps = stamps - epoch
        parts.append(_of_frame(frame, stamps, columns, f"{file}, frame {frame.name}", notes))
    signals, time, values, sigma, mask = _joined(parts)
    events = _events(table, sensors, folder, epoch)
    telemetry = Telemetry(
        system=_system(table, file),
        settings=dict(table.table("values").content),
        signals=signals,
        frames=sensors.frames,
        time=time,
        values=values,
        sigma=sigma,
        mask=mask,
        events=events,
        notes=tuple(notes),
        table=table,
    )
    return _in_window(telemetry, table)


def _system(table: Table, file: Path) -> str:
    text: str = table.text("system", "")
    beside = file.parent / text
    return str(beside) if text and os.path.isfile(beside) else text  # noqa: PTH113


def _sensors(table: Table, file: Path) -> Sensors:
    named = table.text("sensors", "")
    if bool(named) == ("frame" in table.content):
        raise DeclarationError(f"{file}: needs either `sensors`, the file of the frames, or [[frame]]")
    if not named:
        return sensors_of(table)
    if "epoch" in table.content:
        raise DeclarationError(f"{file}: epoch stands in the file of the sensors")
    return read_sensors(file.parent / named)


def _file_of(frame: Frame, folder: Path) -> Path:
    if frame.file:
        return folder / frame.file
    found = [place for ending in ENDINGS if os.path.isfile(place := folder / f"{frame.name}{ending}")]  # noqa: PTH113
    if not found:
        raise DeclarationError(
            f"frame {frame.name}: {shortened(str(folder))} has no {frame.name}{' or '.join(ENDINGS)}"
        )
    return found[0]


def _in_window(telemetry: Telemetry, table: Table) -> Telemetry:
    given = table.items("window")
    if not given:
        return telemetry
    if len(given) != 2 or not all(isinstance(end, int | float) for end in given) or not given[0] < given[1]:
        raise DeclarationError(f"{table.where}: window = {shown(given)}: must be a begin and a later end, s")
    chosen = telemetry.within(float(given[0]), float(given[1]))
    if not chosen.mask.any() and not chosen.events:
        span = f"{telemetry.time.min():g} to {telemetry.time.max():g} s" if len(telemetry.time) else "no time at all"
        raise DeclarationError(f"{table.where}: window = {shown(given)} has no readings; they cover {span}")
    return chosen


_Part = tuple[Frame, Sensor, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _of_frame(frame: Frame, stamps: np.ndarray, columns: TelemetryColumns, where: str, notes: list[str]) -> list[_Part]:
    """Return frame, sensor, stamps, values, sigma and mask of each signal of a frame."""
    if not len(stamps):
        raise DeclarationError(f"{where}: {columns.file} has no rows")
    order, forward = _order(stamps, 1.0 / frame.clock.rate)
    name = f"frame {frame.name}"
    _tell_clock(name, stamps, order, forward, frame, notes)
    found = []
    for sensor in frame.sensors:
        place = f"{where}, signal {sensor.column}"
        values, unit = columns.numbers(sensor.column, place)
        if len(values) != len(stamps):
            raise DeclarationError(f"{place}: {columns.file} has {len(values)} of them and {len(stamps)} times")
        if unit and unit != sensor.unit.name:
            values = values * unit_factor(unit, sensor.unit.name, f"{place}: {columns.file}")
            notes.append(f"{name}, {sensor.column}: converted from {unit} to {sensor.unit.name}")
        values = values[order]
        low, high = sensor.limits
        edge = 0.5 * sensor.quantum
        saturated = (values >= high - edge) | (values <= low + edge)
        if count := int(saturated.sum()):
            at = shown_times(stamps[order][np.argmax(saturated)], frame.clock)
            notes.append(f"{name}, {sensor.column}: {count} readings at an end of the range, the first at {at:.3f} s")
        mask = np.isfinite(values) & ~saturated & forward[order]
        if not mask.any():
            raise DeclarationError(f"{place}: {columns.file} has no reading of it that counts")
        found.append((frame, sensor, stamps[order], values, _sigma(sensor, values, mask, name, notes), mask))
    return found


def _order(stamps: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of rows by time, and by row whether it counts.

    A row that is late, and falls into a gap of the others, is put into its place. A row whose time has passed already
    does not count: a repeated one, or one of a clock that was set back.
    """
    before = np.concatenate([[-np.inf], np.maximum.accumulate(stamps)[:-1]])
    forward = stamps > before + 1e-9
    own = np.sort(stamps[forward])
    for row in np.flatnonzero(~forward):
        k = int(np.searchsorted(own, stamps[row]))
        left = own[k - 1] if k else -np.inf
        right = own[k] if k < len(own) else np.inf
        if min(stamps[row] - left, right - stamps[row]) > 0.75 * step:
            forward[row] = True
            own = np.insert(own, k, stamps[row])
    return np.argsort(stamps, kind="stable"), forward


def _tell_clock(
    name: str, stamps: np.ndarray, order: np.ndarray, forward: np.ndarray, frame: Frame, notes: list[str]
) -> None:
    """Note what is wrong with the clock of a frame."""
    if late := int((forward & (stamps < np.maximum.accumulate(stamps))).sum()):
        notes.append(f"{name}: {late} late rows were put into their places")
    back = np.flatnonzero(~forward)
    repeated = np.isin(stamps[back], stamps[forward])
    if count := int(repeated.sum()):
        first = stamps[back[np.argmax(repeated)]]
        notes.append(
            f"{name}: {count} rows repeat a time, the first {first:.3f} s by its clock; the first of each counts"
        )
    if count := int((~repeated).sum()):
        row = int(back[np.argmin(repeated)])
        by = float(np.maximum.accumulate(stamps)[row] - stamps[row])
        notes.append(
            f"{name}: the clock runs back by {by:.3f} s at row {row + 1}; {count} rows of times that had passed do not "
            "count"
        )
    steps = np.diff(stamps[order][forward[order]])
    if not len(steps):
        return
    step = 1.0 / frame.clock.rate
    usual = float(np.median(steps))
    if abs(usual - step) > 0.02 * step:
        notes.append(
            f"{name}: rows follow each other after {usual:.6g} s, which is not 1 / rate = {step:.6g} s: is the time of "
            "the file in another unit?"
        )
    gaps = steps > 1.5 * usual
    if count := int(gaps.sum()):
        worst = int(np.argmax(steps))
        at = shown_times(stamps[order][forward[order]][worst], frame.clock)
        notes.append(f"{name}: {count} gaps, the longest {steps[worst]:.3f} s at {at:.3f} s")


def _sigma(sensor: Sensor, values: np.ndarray, mask: np.ndarray, name: str, notes: list[str]) -> np.ndarray:
    """Return the standard deviations of readings: noise and resolution, or what their third differences tell."""
    sigma = float(np.hypot(sensor.noise, sensor.quantum / np.sqrt(12.0)))
    if sigma == 0.0:
        good = values[mask]
        # a smooth signal has small third differences: those of noise have 20 times its variance
        rough = np.diff(good, 3) if len(good) > 10 else np.zeros(1)
        sigma = max(1.4826 * float(np.median(np.abs(rough))) / np.sqrt(20.0), 1e-6 * float(np.ptp(good)), 1e-12)
        notes.append(
            f"{name}, {sensor.column}: neither noise nor quantum is given; {sigma:.3g} {sensor.unit.name} by the "
            "scatter of the readings"
        )
    return np.full(len(values), sigma)


def _joined(parts: list[list[_Part]]) -> tuple[Any, ...]:
    signals, start = [], 0
    rows = [row for part in parts for row in part]
    for frame, sensor, stamps, values, _, _ in rows:
        signals.append(SignalReadings(frame.name, sensor, frame.clock, stamps, slice(start, start + len(values))))
        start += len(values)
    join = [np.concatenate([row[k] for row in rows]) if rows else np.empty(0) for k in (2, 3, 4, 5)]
    time = join[0].copy()
    for signal in signals:
        time[signal.part] = shown_times(signal.stamps, signal.clock)
    return tuple(signals), time, join[1], join[2], join[3].astype(bool)


def _events(table: Table, sensors: Sensors, folder: Path, epoch: float | None) -> tuple[EventReading, ...]:
    declared = [name for frame in sensors.frames for name in frame.events]
    if not declared:
        return ()
    where = f"{table.where}, events"
    columns = read_columns(folder / table.text("events", EVENTS), where)
    names = [str(name) for name in columns.of("name", where)[0].tolist()]
    ends = []
    if uneven := [name for name, column in columns.values.items() if len(column) != len(names)]:
        raise DeclarationError(
            f"{where}: {columns.file} has {len(names)} names, and another number of {shown(uneven[0])}"
        )
    for end in ("after", "by"):
        times, calendar = columns.times(end, where) if names else (np.empty(0), False)
        if calendar and epoch is None:
            raise DeclarationError(
                f"{where}: {columns.file} has calendar times: give the `epoch` from which they count"
            )
        ends.append(times - (epoch or 0.0) * calendar)
    frames = columns.values.get("frame")
    found = []
    for row, (name, after, by) in enumerate(zip(names, *ends, strict=True)):
        place = f"{where}: {columns.file}, row {row + 1} ({name})"
        frame = _frame_of(name, None if frames is None else str(frames[row]), sensors, place)
        if frame is None:
            continue
        if not after <= by:
            raise DeclarationError(f"{place}: after = {after:g} s is later than by = {by:g} s")
        low, high = shown_times(np.array([after, by]), frame.clock)
        found.append(EventReading(name, frame.name, float(low), float(high)))
    return tuple(sorted(found, key=lambda event: event.by))


def _frame_of(name: str, given: str | None, sensors: Sensors, place: str) -> Frame | None:
    """Return the frame that told an event, None for an event that no frame declares."""
    frames = [frame for frame in sensors.frames if name in frame.events and given in (None, frame.name)]
    if len(frames) > 1 and any(frame.clock != frames[0].clock for frame in frames):
        raise DeclarationError(f"{place}: several frames tell it; a column `frame` says which")
    return frames[0] if frames else None
