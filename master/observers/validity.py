"""Counters of values that FMUs computed outside the domain of their formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockfmu.master.observers.observer import Observer
from dockfmu.master.requests import Sampling
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

PREFIX = "validity."
"""Prefix of the names of the counters, which are outputs (ruling R40)."""
NOTICE = "notice."
"""Prefix of counters of what an FMU could not do as commanded (ruling R58): told at the end, but the results hold."""
TYPES = ("Integer", "Boolean")


class Validity(Observer):
    """Fills result.validity with {name: {"count", "t_first", "description"}} of all outputs `validity.*`.

    `count` is the largest value of the counter, `t_first` the time of the first row in which it was above 0, or None.
    Each counter above 0 gives a warning, and so does each output `notice.*`.
    """

    def sampling(self, system: Structure) -> Sampling | None:
        self.counters = {
            f"{element}.{variable.name}": variable.description
            for element in system.elements
            for variable in system.description(element).select("output")
            if variable.name.startswith((PREFIX, NOTICE)) and variable.type in TYPES
        }
        self.reset()
        return Sampling(tuple(self.counters)) if self.counters else None

    def reset(self) -> None:
        self._counts = np.zeros(len(self.counters))
        self._first: list[float | None] = [None] * len(self.counters)

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        self._counts = np.maximum(self._counts, values.max(axis=0))
        for k, first in enumerate(self._first):
            if first is None and self._counts[k] > 0.0:
                self._first[k] = float(time[np.flatnonzero(values[:, k] > 0.0)[0]])

    def end(self, result: Result) -> None:
        for (name, description), count, first in zip(
            getattr(self, "counters", {}).items(), self._counts, self._first, strict=True
        ):
            entry: dict[str, Any] = {"count": int(count), "t_first": first, "description": description}
            notice = name.partition(".")[2].startswith(NOTICE)
            if not notice:
                result.validity[name] = entry
            if count > 0.0:
                meaning = f" ({description})" if description else ""
                beyond = "" if notice else ": results there are outside the domain of the formulas"
                result.warnings.append(f"{name} = {entry['count']} from t = {first:.9g} s on{meaning}{beyond}")
