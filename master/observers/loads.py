"""Limits of loads: a static one, and a higher one for short times, as standards of docking interfaces give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dockfmu.master.errors import StructureError
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Sampling
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

ROUNDING = 1e-9
"""By which a duration may fall short of a limit and still reach it, s: times are sums of rounded steps."""

UNITS = {"compression": "N", "tension": "N", "shear": "N", "torsion": "N.m", "bending": "N.m"}
"""The loads of an interface, outputs `load.NAME` of its element, and their units."""


@dataclass(frozen=True)
class LoadLimit:
    """Limits of one load, an output that is at least 0.

    The load may be above `static` for less than `short_time`, but never above `short`. Without `short` it may never be
    above `static`.

    Attributes
    ----------
    static : float
        Limit of a lasting load, in the unit of the output.
    short : float, optional
        Limit of a load that lasts less than `short_time`.
    short_time : float
        Time in s; 0 without `short`.
    source : str
        Where the limits come from.

    Raises
    ------
    ValueError
        for limits that contradict each other
    """

    static: float
    short: float | None = None
    short_time: float = 0.0
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("static", "short", "short_time"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value < np.inf:
                raise ValueError(f"{name} = {value!r} must be a finite number that is not negative")
        if self.static == 0.0:
            raise ValueError("static = 0 must be positive")
        if self.short is None and self.short_time:
            raise ValueError(f"short_time = {self.short_time:g} s without short: give the limit for this time")
        if self.short is not None and not self.short_time:
            raise ValueError("short without short_time: give the time below which this limit holds")
        if self.short is not None and self.short < self.static:
            raise ValueError(f"short = {self.short:g} is below static = {self.static:g}")


@dataclass(frozen=True)
class LoadRule:
    """The limits of the loads of an interface.

    Attributes
    ----------
    element : str
        Element with the outputs `load.NAME`.
    limits : mapping of str to LoadLimit
        Limits by the names of the loads, such as "compression".
    decides : bool
        Whether a run in which a limit is exceeded is no success.
    """

    element: str
    limits: Mapping[str, LoadLimit] = field(default_factory=dict)
    decides: bool = False

    def signal(self, name: str) -> str:
        """Return the full name of the output of a load."""
        return f"{self.element}.load.{name}"

    def problems(self, system: Structure) -> list[str]:
        """Return a sentence for each load that the system does not have."""
        found = [f"{name!r} is none of the loads {', '.join(UNITS)}" for name in self.limits if name not in UNITS]
        for name in self.limits.keys() & UNITS.keys():
            try:
                _, variable = system.resolve(self.signal(name))
            except StructureError as error:
                found += error.problems
                continue
            if variable.causality != "output" or variable.type != "Real":
                kind = f"{variable.causality} of type {variable.type}"
                found.append(f"an output of type Real is needed, but {self.signal(name)} is {kind}")
            elif (variable.unit or UNITS.get(name)) != UNITS.get(name):
                found.append(f"{self.signal(name)} is in {variable.unit}: a load in {UNITS.get(name)} is needed")
        return found


@dataclass
class _Found:
    """Hold the extremes of one load in a run so far. Times in s."""

    highest: float = -np.inf
    highest_time: float = 0.0
    since: float | None = None
    """Start of the time above the static limit that has not ended yet."""
    longest: float = 0.0
    longest_since: float | None = None
    exceeded: float | None = None
    """First time at which a limit was exceeded."""

    def take(self, limit: LoadLimit, before: float, time: np.ndarray, values: np.ndarray) -> None:
        """Take rows: the largest loads in steps that end at `time`; the first one begins at `before`."""
        broken = np.flatnonzero(np.isnan(values))
        if len(broken) and self.exceeded is None:
            self.exceeded = float(time[broken[0]])
        values = np.where(np.isnan(values), np.inf, values)
        k = int(np.argmax(values))
        if values[k] > self.highest:
            self.highest, self.highest_time = float(values[k]), float(time[k])
        starts = np.concatenate(([before], time[:-1]))
        above = values > limit.static
        # rows at which a time above the limit begins, and behind its last row
        edges = np.flatnonzero(np.diff(np.concatenate(([False], above, [False])).astype(np.int8)))
        for first, behind in edges.reshape(-1, 2):
            carried = first == 0 and self.since is not None
            since = float(self.since if carried else starts[first])  # type: ignore[arg-type]
            lasted = time[first:behind] - since
            if lasted[-1] > self.longest or self.longest_since is None:
                self.longest, self.longest_since = float(lasted[-1]), since
            too_long = lasted >= limit.short_time - ROUNDING
            if limit.short is not None:
                too_long |= values[first:behind] > limit.short
            if self.exceeded is None and too_long.any():
                self.exceeded = float(time[first + int(np.argmax(too_long))])
            self.since = since
        if not above[-1]:
            self.since = None


class LoadLimits(Observer):
    """Fills result.loads with the verdict on the loads of every macro step, by a rule.

    A load is the largest one in a step. If it is above the static limit, the whole step counts to the time above it:
    times are exact to one macro step at either end, and never too short.
    """

    def __init__(self, rule: LoadRule) -> None:
        self.rule = rule
        self.reset()

    def reset(self) -> None:
        self._found = {name: _Found() for name in self.rule.limits}
        self._before: float | None = None

    def sampling(self, system: Structure) -> Sampling:
        problems = self.rule.problems(system)
        if problems:
            raise StructureError([f"loads: {problem}" for problem in problems])
        signals = [self.rule.signal(name) for name in self.rule.limits]
        return Sampling(tuple(signals))

    def begin(self, run: RunContext) -> None:
        self._before = run.start

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        before = float(time[0]) if self._before is None else self._before
        for k, (name, limit) in enumerate(self.rule.limits.items()):
            self._found[name].take(limit, before, time, values[:, k])
        self._before = float(time[-1])

    def end(self, result: Result) -> None:
        if self._before is None:
            return
        limits = {
            name: _judged(self.rule.signal(name), UNITS[name], limit, self._found[name])
            for name, limit in self.rule.limits.items()
        }
        exceeded = [name for name, entry in limits.items() if not entry["ok"]]
        result.loads = {
            "element": self.rule.element,
            "verdict": "exceeded" if exceeded else "within",
            "exceeded": exceeded,
            "decides": self.rule.decides,
            "limits": limits,
        }


def _judged(signal: str, unit: str, limit: LoadLimit, found: _Found) -> dict[str, Any]:
    """Return the verdict on one load; a load that is not a number is not within its limits."""
    seen = found.highest > -np.inf
    above: Literal["short", "static"] = "static"
    if limit.short is not None and found.highest > limit.short:
        above = "short"
    return {
        "signal": signal,
        "unit": unit,
        "static": limit.static,
        "short": limit.short,
        "short_time": limit.short_time,
        "source": limit.source,
        "max": found.highest if seen else None,
        "t_max": found.highest_time if seen else None,
        "longest": found.longest,
        "t_longest": found.longest_since,
        "ok": seen and found.exceeded is None,
        "exceeds": above if found.exceeded is not None else None,
        "t_exceeded": found.exceeded,
    }
