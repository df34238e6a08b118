"""Telemetry as estimation needs it: readings with their true times and errors, and what a run would have told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.telemetry.readings import Recording, expected_readings, shown_times
from dockfmu.telemetry.sensors import Clock, Frame, Sensor

SENSOR_ERRORS = ("scale", "bias")
"""Errors of a sensor that `with_errors` changes, in the unit of the signal."""
CLOCK_ERRORS = {"clock_offset": "offset", "clock_drift": "drift", "delay": "delay"}
"""Errors of the clock of a frame that `with_errors` changes, by the names of their entries."""


@dataclass(frozen=True)
class SignalReadings:
    """The readings of one signal: their `part` of the arrays of a `Telemetry`, and what reads them.

    `stamps` are the times that the clock of the frame told, s.
    """

    frame: str
    sensor: Sensor
    clock: Clock
    stamps: np.ndarray
    part: slice

    @property
    def name(self) -> str:
        """The name of the frame and the column."""
        return f"{self.frame}.{self.sensor.column}"


@dataclass(frozen=True)
class EventReading:
    """The interval of true time, s, in which an event fell: after the sample before, by the one that told it."""

    name: str
    frame: str
    after: float
    by: float


@dataclass(frozen=True)
class Telemetry:
    """Readings of all signals, one after the other, and the events that were told.

    Attributes
    ----------
    system : str
        The system that docked, by name or file; empty if the file names none.
    settings : dict
        Start values laid over those of the system.
    signals : tuple of SignalReadings
        The signals, each with its part of the arrays.
    frames : tuple of Frame
        The declared frames.
    time : ndarray, shape (n,)
        True times of the values that the readings show, s: clock and delay are taken off.
    values, sigma : ndarray, shape (n,)
        Readings, NaN where they are missing, and their standard deviations by noise and resolution, in the units of
        the signals.
    mask : ndarray of bool, shape (n,)
        Readings that count: neither missing nor at an end of the range, and of a clock that runs forward.
    events : tuple of EventReading
        What was told of events.
    notes : tuple of str
        What is wrong with the telemetry, and what was done about it.
    table : Table
        The file that declares all this, for the entries of the methods.
    """

    system: str
    settings: Mapping[str, Any]
    signals: tuple[SignalReadings, ...]
    frames: tuple[Frame, ...]
    time: np.ndarray
    values: np.ndarray
    sigma: np.ndarray
    mask: np.ndarray
    events: tuple[EventReading, ...]
    notes: tuple[str, ...]
    table: Table

    @property
    def names(self) -> list[str]:
        """The names of the signals, frame and column."""
        return [signal.name for signal in self.signals]

    def signal(self, name: str) -> SignalReadings:
        """Return a signal by name. Raises DeclarationError, with near matches."""
        for signal in self.signals:
            if signal.name == name:
                return signal
        hint = did_you_mean(name, self.names) or f"; there are {', '.join(self.names)}"
        raise DeclarationError(f"{self.table.where}: there is no signal {shown(name)}{hint}")

    def predict(self, run: Recording, shift: float | np.ndarray = 0.0) -> np.ndarray:
        """Return what the sensors would tell of a run without noise and resolution, NaN outside it, shape (n,).

        Parameters
        ----------
        run : Recording
            An open recording, or anything with the same members.
        shift : float, or ndarray of shape (shifts,)
            True time at which the run begins to count, s: its time t is the true time t + shift. Of several times the
            result has a row each, shape (shifts, n).

        Raises
        ------
        DeclarationError
            for a variable that the run does not have, and for another unit
        """
        at = self.time - np.asarray(shift, float)[..., None]
        found = np.full(at.shape, np.nan)
        if not len(run.time):
            return found
        inside = (at >= run.time[0] - 1e-9) & (at <= run.time[-1] + 1e-9)
        for signal in self.signals:
            own = inside[..., signal.part]
            if own.any():
                found[..., signal.part][own] = expected_readings(run, signal.sensor, at[..., signal.part][own])
        return found

    def predict_events(
        self, times: Mapping[str, float | Sequence[float]] | Sequence[tuple[str, float]], shift: float = 0.0
    ) -> np.ndarray:
        """Return the true times of the events of a run that belong to `events`, NaN where it has none, shape (events,).

        Parameters
        ----------
        times : mapping of str to float or floats, or sequence of (str, float)
            The events of the run: the times of each name in their order, s.
        shift : float
            As for `predict`. The k-th interval of a name in a frame belongs to the k-th event of that name.
        """
        known: dict[str, list[float]] = {}
        pairs = times.items() if isinstance(times, Mapping) else times
        for name, at in pairs:
            known.setdefault(name, []).extend(np.atleast_1d(np.asarray(at, float)).tolist())
        counts: dict[tuple[str, str], int] = {}
        found = np.full(len(self.events), np.nan)
        for k, event in enumerate(self.events):
            number = counts.get((event.frame, event.name), 0)
            counts[event.frame, event.name] = number + 1
            if number < len(known.get(event.name, ())):
                found[k] = known[event.name][number] + shift
        return found

    def with_errors(self, errors: Mapping[str, Mapping[str, float]]) -> Telemetry:
        """Return a copy whose sensors and clocks have other errors.

        Parameters
        ----------
        errors : mapping
            "frame.column" -> `scale`, `bias` in the unit of the signal; "frame" -> `clock_offset`, `clock_drift`,
            `delay`. Names and entries that do not exist raise DeclarationError.
        """
        by_name = {frame.name: frame.clock for frame in self.frames}
        sensors = {signal.name: signal.sensor for signal in self.signals}
        clocks = dict(by_name)
        for name, given in errors.items():
            if name in sensors:
                self._check(name, given, SENSOR_ERRORS)
                own = sensors[name]
                sensors[name] = replace(own, scale=given.get("scale", own.scale), bias=given.get("bias", own.bias))
            elif name in clocks:
                self._check(name, given, tuple(CLOCK_ERRORS))
                clocks[name] = replace(clocks[name], **{CLOCK_ERRORS[entry]: value for entry, value in given.items()})
            else:
                known = [*sensors, *clocks]
                raise DeclarationError(f"there is no signal or frame {shown(name)}{did_you_mean(name, known)}")
        signals = tuple(
            replace(signal, sensor=sensors[signal.name], clock=clocks[signal.frame]) for signal in self.signals
        )
        time = self.time.copy()
        for signal in signals:
            time[signal.part] = shown_times(signal.stamps, signal.clock)
        events = []
        for event in self.events:
            # back to what the clock told
            old, new = by_name[event.frame], clocks[event.frame]
            stamps = (1.0 + old.drift) * (np.array([event.after, event.by]) + old.delay) + old.offset
            after, by = shown_times(stamps, new)
            events.append(replace(event, after=float(after), by=float(by)))
        return replace(self, signals=signals, time=time, events=tuple(events))

    def _check(self, name: str, given: Mapping[str, float], known: Sequence[str]) -> None:
        for entry in given:
            if entry not in known:
                raise DeclarationError(f"{name} has no error {shown(entry)}; there are {', '.join(known)}")

    def within(self, begin: float, end: float) -> Telemetry:
        """Return a copy with the readings whose values, and the events that, fell from `begin` to `end`, true time, s.

        An event counts if its interval and the window have a time in common.
        """
        return self._chosen((self.time >= begin) & (self.time <= end), begin, end)

    def _chosen(self, kept: np.ndarray, begin: float, end: float) -> Telemetry:
        signals, start = [], 0
        for signal in self.signals:
            own = kept[signal.part]
            stop = start + int(own.sum())
            signals.append(replace(signal, stamps=signal.stamps[own], part=slice(start, stop)))
            start = stop
        return replace(
            self,
            signals=tuple(signals),
            time=self.time[kept],
            values=self.values[kept],
            sigma=self.sigma[kept],
            mask=self.mask[kept],
            events=tuple(event for event in self.events if event.by >= begin and event.after <= end),
        )
