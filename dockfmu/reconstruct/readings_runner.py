"""Runs of a campaign whose rows have what the sensors would tell, for estimation by the model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dockfmu.campaign.description import Study
from dockfmu.campaign.runner import Runner, RunPoint, resolve
from dockfmu.life.sections import StructureSection
from dockfmu.life.spent import lives_in
from dockfmu.outcome import Outcome
from dockfmu.reconstruct.spent import SampledLoads
from dockfmu.reconstruct.telemetry import Telemetry
from dockfmu.reconstruct.unknowns import UNTIL, StartOfRun, of_the_system, sensor_errors
from dockfmu.simulation import Simulation
from dockfmu.telemetry.sensors import PortPoint, Sensor

READINGS, HISTORIES, SHIFT, LIFE = "readings", "histories", "shift", "life"
"""Columns of a row: readings and times of events, NaN where there are none; the largest loads in intervals; the true
time at which the run began; peak stress, Pa, and damage of each section."""
BEFORE = 2.0
"""Time before a run for which its first values hold, s: the craft drift until they touch."""
FIRST_S = 0.3
"""Time after the latest start whose readings tell when a run begins, s."""
TRIALS = (26, 17, 17)
"""How many times are tried: first of all that the start may have, then between the neighbours of the best one."""
COLUMNS = {READINGS: "numbers", HISTORIES: "numbers", SHIFT: "number", LIFE: "numbers"}


@dataclass(frozen=True)
class Instruments:
    """Name what is read of each run.

    Attributes
    ----------
    telemetry : Telemetry
        The readings to be reproduced.
    start : StartOfRun
        When a run begins.
    loads : tuple of str
        Signals whose largest value in each interval is kept.
    edges : ndarray, shape (intervals + 1,)
        Ends of the intervals, true time, s.
    model_error : float
        Deviation of the model, as a share of the root mean square of each signal.
    sections : tuple of StructureSection
        Sections of the structure whose life is counted.
    """

    telemetry: Telemetry
    start: StartOfRun
    loads: tuple[str, ...]
    edges: np.ndarray
    model_error: float = 0.0
    sections: tuple[StructureSection, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """Full names of all scalars that are read."""
        names = [name for signal in self.telemetry.signals for name in variables_of(signal.sensor)]
        stresses = [name for section in self.sections for name in section.stress]
        return tuple(dict.fromkeys([*names, *self.loads, *stresses]))


def variables_of(sensor: Sensor) -> list[str]:
    """Return the full names of the scalars that a sensor reads."""
    if not isinstance(sensor.source, PortPoint):
        return list(sensor.source)
    parts = ["angular_velocity"]
    if sensor.source.measures == "acceleration":
        parts += ["acceleration", "angular_acceleration"]
    return [f"{sensor.source.port}.{part}[{k}]" for part in parts for k in (1, 2, 3)]


class DriftingRun:
    """The recording of a run in memory, with its first values for some time before it. Values are looked up once."""

    def __init__(self, outcome: Outcome, before: float = BEFORE) -> None:
        self._outcome = outcome
        self.time = np.concatenate([outcome.time[:1] - before, outcome.time])
        self.variables: Sequence[str] = outcome.variables
        self._values: dict[str, np.ndarray] = {}
        self._facts: dict[str, tuple[str, str]] = {}

    def __getitem__(self, name: str, /) -> np.ndarray:
        if name not in self._values:
            values = self._outcome[name]
            self._values[name] = np.concatenate([values[:1], values])
        return self._values[name]

    def unit(self, name: str, /) -> str:
        """Return the unit of a variable."""
        return self._facts_of(name)[0]

    def variability(self, name: str, /) -> str:
        """Return the variability of a variable."""
        return self._facts_of(name)[1]

    def _facts_of(self, name: str) -> tuple[str, str]:
        if name not in self._facts:
            self._facts[name] = self._outcome.unit(name), self._outcome.variability(name)
        return self._facts[name]


class ReadingsRunner(Runner):
    """Makes runs, and reads the instruments of each. Values of unknowns that belong to sensors are not set in them."""

    def __init__(
        self,
        instruments: Instruments,
        study: Study,
        expected: Mapping[tuple[str, ...], Mapping[str, str]] | None = None,
    ) -> None:
        recorded = replace(study.options, record=instruments.variables, every=1)
        super().__init__(replace(study, options=recorded), expected)
        self.instruments = instruments

    def run(self, point: RunPoint) -> dict[str, Any]:
        """Make a run and return its row, with readings."""
        values = dict(point.values or {})
        row = super().run(replace(point, values=of_the_system(values), until=float(values.get(UNTIL, np.inf))))
        if row["outcome"] == "invalid":
            return row
        variant, _ = resolve(self.study, of_the_system(values))
        return row | self.read(values, self._get(variant, point.step_factor).simulation.outcome)

    def _advance(self, simulation: Simulation, until: float, step: float) -> None:
        """Make the steps of a run up to a true time, wherever in its range the start lies; whole steps, as in others.

        The readings that tell the start are always made.
        """
        start = self.instruments.start
        last = max(until, start.high + FIRST_S) if start.fitted else until

        def reach(time: float) -> None:
            simulation.advance(step * math.ceil(time / step - 1e-6) if math.isfinite(time) else time)

        reach(last - start.low)
        if start.event:
            # before the event nobody knows at which time of the run the start lies
            reach(last - start.low + simulation.events.get(start.event, math.inf))

    def read(self, values: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
        """Return what the instruments tell of a run, with the errors of sensors among values of unknowns."""
        instruments = self.instruments
        shift = instruments.start.shift(values, outcome.events)
        errors = sensor_errors(values)
        telemetry = instruments.telemetry.with_errors(errors) if errors else instruments.telemetry
        if not np.isfinite(shift) or not len(outcome.time):
            readings = np.full(len(telemetry.time) + len(telemetry.events), np.nan)
            histories = np.full(len(instruments.loads) * (len(instruments.edges) - 1), np.nan)
            return {READINGS: readings.tolist(), HISTORIES: histories.tolist()}
        run = DriftingRun(outcome)
        if instruments.start.fitted:
            shift += fitted_delay(telemetry, run, shift, instruments.start, instruments.model_error)
        told = [(event["name"], event["t"]) for event in outcome.result.events]
        readings = np.concatenate([telemetry.predict(run, shift), telemetry.predict_events(told, shift)])
        return {
            READINGS: readings.tolist(),
            HISTORIES: largest(outcome, instruments.loads, instruments.edges - shift).ravel().tolist(),
            SHIFT: shift,
            # of whole runs alone, as cycles of a part are none of the docking
            LIFE: [] if UNTIL in values else life_in(outcome, instruments.sections),
        }


def life_in(outcome: Outcome, sections: Sequence[StructureSection]) -> list[float]:
    """Return peak stress, Pa, and damage of each section in the rows of a run, one after the other."""
    names = dict.fromkeys(name for section in sections for name in section.stress)
    loads = SampledLoads(outcome.time, {name: outcome[name] for name in names}, outcome.unit)
    lives = lives_in(loads, sections)  # type: ignore[arg-type]
    return [number for life in lives for number in (life.peak, life.damage)]


def reading_deviations(telemetry: Telemetry, model_error: float) -> np.ndarray:
    """Return the standard deviations of readings: their noise, and a share of the root mean square of each signal."""
    size = np.zeros(len(telemetry.time))
    for signal in telemetry.signals:
        values = telemetry.values[signal.part][telemetry.mask[signal.part]]
        size[signal.part] = np.sqrt(np.mean(values**2)) if len(values) else 0.0
    return np.asarray(np.hypot(telemetry.sigma, model_error * size))


def fitted_delay(telemetry: Telemetry, run: DriftingRun, shift: float, start: StartOfRun, model_error: float) -> float:
    """Return by how much later than the earliest time a run begins, s, for the least misfit of the first readings.

    When a run begins changes nothing in it. So the time needs no member: for each run it is where the run tells the
    readings of the first FIRST_S best. An impact tells it far better than a sample of its sensor.
    """
    deviation = reading_deviations(telemetry, model_error)
    chosen = (telemetry.time <= start.high + FIRST_S) & telemetry.mask
    early = telemetry.within(-np.inf, start.high + FIRST_S)
    values, weights = telemetry.values[chosen], 1.0 / deviation[chosen]
    span = start.high - start.low
    low, high = 0.0, span
    for trials in TRIALS:
        grid = np.linspace(low, high, trials)
        misfits = np.nansum(((early.predict(run, shift + grid)[:, early.mask] - values) * weights) ** 2, axis=1)
        best, step = float(grid[np.argmin(misfits)]), (high - low) / (trials - 1)
        low, high = max(best - step, 0.0), min(best + step, span)
    return best


def largest(outcome: Outcome, names: Sequence[str], edges: np.ndarray) -> np.ndarray:
    """Return the largest value of signals in intervals, NaN where there is no row, shape (names, intervals)."""
    found = np.full((len(names), len(edges) - 1), np.nan)
    place = np.searchsorted(edges, outcome.time, side="right") - 1
    inside = (place >= 0) & (place < len(edges) - 1)
    for k, name in enumerate(names):
        lowest = np.full(len(edges) - 1, -np.inf)
        np.maximum.at(lowest, place[inside], outcome[name][inside])
        found[k] = np.where(np.isfinite(lowest), lowest, np.nan)
    return found
