"""Plots as data, independent of the library that draws them; this module is fast to import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")
"""Colours of the curves of a plot, in turn; legible on white and on black."""

CLOSE_UP_S = 15.0
"""Duration of the close-up of the first event: contact, capture and the first oscillations."""


@dataclass(frozen=True)
class Curve:
    """One signal in the unit `unit`; `step` is true if it holds its value between samples.

    `band` lists the intervals in which the signal leaves the line of its samples, shape (intervals, 4): start and end
    in s, smallest and largest value.
    """

    label: str
    unit: str
    time: np.ndarray
    values: np.ndarray
    step: bool
    band: np.ndarray

    @property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest value, NaN if there are none."""
        if not len(self.values):
            return np.nan, np.nan
        low, high = [self.values, self.band[:, 2]], [self.values, self.band[:, 3]]
        return float(np.concatenate(low).min()), float(np.concatenate(high).max())


@dataclass(frozen=True)
class Plot:
    """A panel with those curves that a run has. `ticks` names the values of a logic diagram or an enumeration."""

    title: str
    curves: tuple[Curve, ...]
    ticks: tuple[tuple[float, str], ...] = ()

    @property
    def coloured(self) -> list[tuple[Curve, str]]:
        """The curves with their colours."""
        return [(curve, COLOURS[k % len(COLOURS)]) for k, curve in enumerate(self.curves)]

    @property
    def axis_label(self) -> str:
        """The units of the curves; empty if the values have names."""
        units = dict.fromkeys(curve.unit for curve in self.curves if curve.unit)
        return "" if self.ticks else ", ".join(units) or "1"


def first_events(events: Sequence[Mapping[str, Any]]) -> list[tuple[float, str]]:
    """Return time in s and name of the first occurrence of each event; repetitions would hide the others."""
    first: dict[str, float] = {}
    for event in events:
        first.setdefault(event["name"], event["t"])
    return [(t, name.replace("_", " ")) for name, t in first.items()]


def close_up(first: float, last: float, events: Sequence[Mapping[str, Any]]) -> tuple[float, float] | None:
    """Return start and end of the close-up of the first event, s; None without an event or for a shorter run.

    `first` and `last` are the times of the first and last row.
    """
    if not events or last <= CLOSE_UP_S:
        return None
    start = max(first, events[0]["t"] - 0.5)
    return start, min(start + CLOSE_UP_S, last)
