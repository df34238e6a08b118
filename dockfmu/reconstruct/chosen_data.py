"""The data that an estimation by the model compares: readings that fall within the runs, and times of events."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.reconstruct.model_problem import ModelProblem
from dockfmu.reconstruct.readings_runner import HISTORIES, READINGS, reading_deviations

if TYPE_CHECKING:
    import pandas

BLOCK = 5
"""Neighbouring readings of a signal that are judged together."""
STEP = 1e-3
"""Deviation of the time of an event of a run itself, s: the macro step."""


class ReconstructionError(DockfmuError):
    """A reconstruction cannot be made, or not be continued in its folder."""


@dataclass(frozen=True)
class ChosenData:
    """The data that are compared: readings that count, then times of events.

    Attributes
    ----------
    places : ndarray of int, shape (n,)
        Their places among readings and events of a run.
    values, deviation, time : ndarray, shape (n,)
        Values and standard deviations in the unit of each, and true times, s.
    parts : mapping of str to slice
        The data of each signal, and of the events.
    windows : tuple of ndarray
        Masks of the windows; none if they grow.
    blocks : ndarray of int, shape (n,)
        Numbers of blocks of neighbouring readings of a signal; each event is one of its own.
    """

    places: np.ndarray
    values: np.ndarray
    deviation: np.ndarray
    time: np.ndarray
    parts: Mapping[str, slice]
    windows: tuple[np.ndarray, ...]
    blocks: np.ndarray


def outputs_of(rows: pandas.DataFrame, problem: ModelProblem) -> np.ndarray:
    """Return readings and times of events of runs, NaN where they have none, shape (runs, readings + events)."""
    count = len(problem.telemetry.time) + len(problem.telemetry.events)
    found = np.full((len(rows), count), np.nan)
    for k, cell in enumerate(rows[READINGS]):
        if cell is not None and np.size(cell) == count:
            found[k] = np.asarray(cell, float)
    return found


def histories_of(rows: pandas.DataFrame, problem: ModelProblem) -> np.ndarray:
    """Return the largest loads of runs in intervals, shape (runs, loads, intervals)."""
    instruments = problem.instruments
    shape = (len(instruments.loads), len(instruments.edges) - 1)
    found = np.full((len(rows), *shape), np.nan)
    for k, cell in enumerate(rows[HISTORIES]):
        if cell is not None and np.size(cell) == shape[0] * shape[1]:
            found[k] = np.asarray(cell, float).reshape(shape)
    return found


def choose(problem: ModelProblem, outputs: np.ndarray) -> tuple[ChosenData, list[str]]:
    """Return the data that are compared, and what is left out, from the outputs of the prior.

    Readings outside the runs are left out; so is the event with which the runs begin, which the prior has already.
    Raises ReconstructionError if no datum is left.
    """
    telemetry, notes = problem.telemetry, []
    count = len(telemetry.time)
    readings = outputs[:, :count]
    # a reading that hardly any of the runs with readings has lies outside them; one that some lack tells them apart
    some = np.isfinite(readings).any(axis=1)
    share = np.isfinite(readings[some]).mean(axis=0) if some.any() else np.zeros(count)
    inside = share >= 0.5
    if dropped := int((telemetry.mask & ~inside).sum()):
        times = telemetry.time[telemetry.mask & ~inside]
        notes.append(
            f"{dropped} readings from {times.min():.3f} to {times.max():.3f} s lie outside the runs and do not count"
        )
    used, spread = telemetry.mask & inside, reading_deviations(telemetry, problem.model_error)
    places, values, deviations, when = [], [], [], []
    parts: dict[str, slice] = {}
    start = 0
    for signal in telemetry.signals:
        own = np.arange(count)[signal.part][used[signal.part]]
        parts[signal.name] = slice(start, start + len(own))
        start += len(own)
        places.append(own)
        values.append(telemetry.values[own])
        deviations.append(spread[own])
        when.append(telemetry.time[own])
    known = problem.campaign.system.plan.events
    told = [(k, event) for k, event in enumerate(telemetry.events) if event.name in known]
    skipped = next((k for k, event in told if event.name == problem.instruments.start.event), -1)
    told = [(k, event) for k, event in told if k != skipped]
    if unknown := sorted({event.name for event in telemetry.events if event.name not in known}):
        notes.append(f"the system has no event {', '.join(unknown)}: what is told of it does not count")
    parts["events"] = slice(start, start + len(told))
    places.append(np.array([count + k for k, _ in told], int))
    values.append(np.array([0.5 * (event.after + event.by) for _, event in told]))
    deviations.append(np.array([math.hypot((event.by - event.after) / math.sqrt(12.0), STEP) for _, event in told]))
    when.append(np.array([event.by for _, event in told]))
    chosen, deviation, time = (np.concatenate(part) for part in (values, deviations, when))
    if not len(chosen):
        raise ReconstructionError(
            f"{telemetry.table.where}: no reading falls within the runs, {problem.instruments.edges[0]:.3f} to "
            f"{problem.instruments.edges[-1]:.3f} s: look at `start`, `window` and the clocks of the frames"
        )
    edges = np.array([-np.inf, *problem.windows, np.inf])
    number = np.searchsorted(edges, time) - 1
    masks = tuple(number == k for k in range(len(edges) - 1) if (number == k).any()) if problem.windows else ()
    # each signal in blocks of its own; every event in one
    own = [np.arange(part.stop - part.start) // (1 if name == "events" else BLOCK) for name, part in parts.items()]
    ends = np.cumsum([0, *(int(block[-1]) + 1 if len(block) else 0 for block in own)])
    blocks = np.concatenate([block + first for block, first in zip(own, ends[:-1], strict=True)])
    return ChosenData(np.concatenate(places), chosen, deviation, time, parts, masks, blocks), notes
