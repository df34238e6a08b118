"""The unknowns of an estimation by the model: values of the system, errors of sensors, and when the run begins.

All are functions of standard normal numbers, so that the smoother needs to know nothing about their laws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.campaign.description import short_name
from dockfmu.campaign.sampling.distributions import Choice, Law, Normal, SeverityBall, Uniform, UniformDisc, names_of
from dockfmu.campaign.sampling.draws import EDGE
from dockfmu.campaign.sampling.vary import unit_text
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.reconstruct.telemetry import CLOCK_ERRORS, SENSOR_ERRORS, EventReading, Telemetry
from dockfmu.system import System

SENSOR = "sensor:"
"""Prefix of the names of errors of sensors and clocks: "sensor:gyros.yaw_rate.bias", "sensor:gyros.delay"."""
START = "telemetry.start"
"""True time at which the run begins, or at which the event of the start falls, s."""
UNTIL = "telemetry.until"
"""True time up to which a run is asked for, s. It ends there, with all that it has read before."""
SAMPLES = 2.0
"""Samples of the fastest frame in the time in which a run may begin, from which its readings tell when it did."""
_SENSOR = ("of", "error", "law", "mean", "deviation", "low", "high")


@dataclass(frozen=True)
class Unknowns:
    """Laws of all unknowns; `values` turns standard normal numbers into values by name."""

    laws: tuple[Law, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Full names of the unknowns."""
        return names_of(self.laws)

    @property
    def labels(self) -> tuple[str, ...]:
        """Short names of the unknowns."""
        return tuple(short_name(name) for name in self.names)

    @property
    def dimension(self) -> int:
        """Number of standard normal numbers."""
        return sum(law.dimension for law in self.laws)

    def values(self, normal: np.ndarray) -> dict[str, Any]:
        """Return the values for standard normal numbers, shape (dimension,)."""
        found: dict[str, Any] = {}
        first = 0
        for law in self.laws:
            part = normal[first : first + law.dimension]
            found |= law.values(np.clip(_uniform(law, part), EDGE, 1.0 - EDGE))
            first += law.dimension
        return found

    def table(self, members: np.ndarray) -> np.ndarray:
        """Return the values of members, shape (members, unknowns)."""
        rows = [self.values(member) for member in members]
        return np.array([[row[name] for name in self.names] for row in rows])


def _uniform(law: Law, normal: np.ndarray) -> np.ndarray:
    """Return the uniform numbers that a law takes, for standard normal ones.

    A disc takes radius and azimuth, which have no mean near its centre; it is the image of a plane of two normal
    numbers instead, whose azimuth it keeps.
    """
    if not isinstance(law, UniformDisc):
        return np.asarray(ndtr(normal))
    azimuth = math.atan2(float(normal[1]), float(normal[0])) / (2.0 * math.pi)
    return np.array([-math.expm1(-0.5 * float(normal @ normal)), azimuth % 1.0])


def check_laws(laws: Sequence[Law], where: str) -> None:
    """Raise DeclarationError for laws that no smoother can take."""
    for law in laws:
        if isinstance(law, Choice):
            raise DeclarationError(
                f"{where}: {', '.join(law.names)}: a choice is no unknown; [[ensemble.model]] compares models"
            )
        if isinstance(law, SeverityBall):
            raise DeclarationError(f"{where}: {', '.join(law.names)}: a severity is no law of unknowns")


def sensor_laws(rows: Sequence[Table], telemetry: Telemetry) -> tuple[Law, ...]:
    """Return the laws of errors of sensors and clocks, from the tables `sensor`. Raises DeclarationError."""
    found: list[Law] = []
    for given in rows:
        row = Table(given.content, given.where, _SENSOR)
        of, known = row.text("of"), [*telemetry.names, *(frame.name for frame in telemetry.frames)]
        if of not in known:
            raise DeclarationError(f"{row.where}: there is no signal or frame {shown(of)}{did_you_mean(of, known)}")
        error = row.text("error", choices=SENSOR_ERRORS if of in telemetry.names else tuple(CLOCK_ERRORS))
        name = f"{SENSOR}{of}.{error}"
        if row.text("law", choices=("normal", "uniform")) == "uniform":
            low, high = row.number("low"), row.number("high")
            if not low < high:
                raise DeclarationError(f"{row.where}: low = {low:g} must be below high = {high:g}")
            found.append(Uniform((name,), (low,), (high,)))
        else:
            mean = row.number("mean", 1.0 if error == "scale" else 0.0)
            found.append(Normal((name,), (mean,), ((row.number("deviation", positive=True),),)))
    return tuple(found)


def sensor_errors(values: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the errors of sensors among values of unknowns, as `Telemetry.with_errors` takes them."""
    found: dict[str, dict[str, float]] = {}
    for name, value in values.items():
        if name.startswith(SENSOR):
            of, _, error = name.removeprefix(SENSOR).rpartition(".")
            found.setdefault(of, {})[error] = float(value)
    return found


def of_the_system(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are set in the system."""
    return {name: value for name, value in values.items() if not name.startswith(SENSOR) and name not in (START, UNTIL)}


def unit_of_unknown(name: str, system: System, telemetry: Telemetry) -> str:
    """Return the name of the unit of an unknown, "1" where there is none."""
    if name == START:
        return "s"
    if not name.startswith(SENSOR):
        return unit_text(name, system)
    of, _, error = name.removeprefix(SENSOR).rpartition(".")
    if error == "bias":
        return telemetry.signal(of).sensor.unit.name
    return "s" if error in ("clock_offset", "delay") else "1"


@dataclass(frozen=True)
class StartOfRun:
    """When the run begins on the scale of the telemetry.

    With an `event`, that of the run and that of the telemetry fall together; without, the run begins then. The time is
    between `low` and `high`, s. It is an unknown unless both are equal, or it is `fitted`: chosen for each run by the
    first readings.
    """

    event: str
    low: float
    high: float
    fitted: bool = False

    def law(self) -> tuple[Law, ...]:
        """Return the law of the time, if it is unknown."""
        return (Uniform((START,), (self.low,), (self.high,)),) if self.low < self.high and not self.fitted else ()

    def shift(self, values: Mapping[str, Any], events: Mapping[str, float]) -> float:
        """Return the true time at which a run begins, s, NaN for a run without the event."""
        return float(values.get(START, self.low)) - (events.get(self.event, math.nan) if self.event else 0.0)


def read_start(table: Table, telemetry: Telemetry, events: Sequence[str]) -> StartOfRun:
    """Return when the run begins: `start`, an event, a time or a range; by default the first event that both have.

    Raises DeclarationError.
    """
    given = table.content.get("start")
    if isinstance(given, list | tuple):
        ends = [float(end) for end in given if isinstance(end, int | float)]
        if len(ends) != 2 or len(given) != 2 or not ends[0] < ends[1]:
            raise DeclarationError(f"{table.where}: start = {shown(given)}: must be an earliest and a latest time, s")
        return _by_readings(StartOfRun("", ends[0], ends[1]), telemetry)
    if isinstance(given, int | float) and not isinstance(given, bool):
        return StartOfRun("", float(given), float(given))
    told = [event for event in telemetry.events if event.name in events]
    if given is None:
        return _by_readings(_of_event(told[0]), telemetry) if told else StartOfRun("", 0.0, 0.0)
    name = table.text("start")
    chosen = [event for event in told if event.name == name]
    if not chosen:
        listed = ", ".join(event.name for event in told) or "none"
        raise DeclarationError(
            f"{table.where}: start = {shown(name)}: no such event is told that the system has; there are {listed}"
        )
    return _by_readings(_of_event(chosen[0]), telemetry)


def _by_readings(start: StartOfRun, telemetry: Telemetry) -> StartOfRun:
    """Return a start that is fitted if a frame takes several samples in the time in which it may lie."""
    fast = any(signal.clock.rate * (start.high - start.low) >= SAMPLES for signal in telemetry.signals)
    return replace(start, fitted=fast)


def _of_event(event: EventReading) -> StartOfRun:
    return StartOfRun(event.name, event.after, event.by)
