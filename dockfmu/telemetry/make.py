"""Make telemetry of a recorded run: a CSV file for each frame, the events, and what it was made of."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from dockfmu.base.files import WriteError, write_file
from dockfmu.base.given_files import read_bytes, read_json
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.master.observers.recording.results import read_results
from dockfmu.report.export import write_rows
from dockfmu.report.files import SUMMARY, recording
from dockfmu.telemetry.readings import Readings, read_frame
from dockfmu.telemetry.sensors import Sensors, read_sensors

EVENTS, ABOUT = "events.csv", "telemetry.json"


def write_telemetry(results: Path | str, sensors: Path | str, folder: Path | str, seed: int = 1) -> list[Path]:
    """Write the telemetry of a recorded run, and return its files.

    The folder receives a CSV file for each frame (columns `time` and `column [unit]`, an empty cell for a lost
    reading), `events.csv` (name, after, by: the interval in which it fell) and `telemetry.json`, which says of what and
    with which seed they were made. The same seed gives the same bytes.

    Parameters
    ----------
    results : path
        The folder of a run, or its results.h5; events are read from summary.json beside it.
    sensors : path
        The TOML file of the sensors: see `read_sensors`.
    folder : path
        Where the files are written.
    seed : int
        Seed of noise and losses; each frame draws from a stream of its own.

    Raises
    ------
    DeclarationError
        for sensors that are wrong, or that do not fit the recording
    MasterError, WriteError
        for a recording that cannot be read, and for a folder that cannot be written
    """
    source, place = recording(Path(results)), Path(folder)
    declared = read_sensors(Path(sensors))
    streams = np.random.SeedSequence(seed).spawn(len(declared.frames))
    with read_results(source) as content:
        if not len(content.time):
            raise DeclarationError(f"{source}: has no rows, and so no telemetry")
        about = dict(content.attributes)
        told = any(frame.events for frame in declared.frames)
        events = _events(source.with_name(SUMMARY)) if told else []
        # everything is read before anything is written: what does not fit leaves no part of it
        frames = [
            read_frame(content, frame, events, np.random.default_rng(stream))
            for frame, stream in zip(declared.frames, streams, strict=True)
        ]
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{place}: cannot be written ({error.strerror})") from error
    files = [_write_frame(readings, declared, place) for readings in frames if readings.frame.sensors]
    if told:
        rows = sorted((by, name, after) for readings in frames for name, after, by in readings.events)
        cells = ([name, _time(after, declared), _time(by, declared)] for by, name, after in rows)
        header = ["name", f"after{_of_time(declared)}", f"by{_of_time(declared)}"]
        files.append(write_rows(place / EVENTS, header, cells))
    made_of = {
        "system": str(about.get("system", "")),
        "recording": str(about.get("recording", "")),
        "sensors": str(sensors),
        "sha256 of sensors": hashlib.sha256(read_bytes(Path(sensors))).hexdigest(),
        "seed": seed,
        "files": [file.name for file in files],
    }
    files.append(write_file(place / ABOUT, (json.dumps(made_of, indent=1) + "\n").encode()))
    return files


def _events(summary: Path) -> list[tuple[str, float]]:
    """Return names and times of the events of a run, s."""
    try:
        content = read_json(summary)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DeclarationError(f"{summary}: {reason}: the events of a run stand there") from error
    rows = Table(content, str(summary)).rows("events", ("t", "name", "signal", "old", "new"))
    return [(row.text("name"), row.number("t")) for row in rows]


def _write_frame(readings: Readings, sensors: Sensors, folder: Path) -> Path:
    columns = [
        sensor.column if sensor.unit.name == "1" else f"{sensor.column} [{sensor.unit.name}]"
        for sensor in readings.frame.sensors
    ]
    rows = (
        [_time(time, sensors), *("" if np.isnan(value) else _short(value) for value in values)]
        for time, values in zip(readings.time.tolist(), readings.values.tolist(), strict=True)
    )
    return write_rows(folder / f"{readings.frame.name}.csv", [f"time{_of_time(sensors)}", *columns], rows)


def _of_time(sensors: Sensors) -> str:
    """Return what follows the name of a column of times."""
    return "" if sensors.epoch else " [s]"


def _time(seconds: float, sensors: Sensors) -> float | str:
    """Return a time in s, or as calendar time in UTC to the microsecond."""
    if sensors.epoch is None:
        return _short(seconds)
    moment: datetime = sensors.epoch + timedelta(seconds=seconds)
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _short(value: float) -> float:
    """Return a number to twelve digits, without the last bits of a sum or a rounded quantum."""
    return float(f"{value:.12g}")
