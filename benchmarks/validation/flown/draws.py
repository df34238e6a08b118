"""Sensitivity of a case to its assumed data: draws over their ranges, kept one by one, and the rows of the table.

Draws are a Latin hypercube: each datum has one draw in each of as many equal parts of its range. Where one datum
decides, the quantiles of what comes out are then known within a part. Where several do, draws are as good as
independent, and the least of 32 lies below the 10 % quantile with a probability of 97 %, as does the largest above the
90 % quantile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dockfmu

Values = Mapping[str, float]
SEED = 1


@dataclass(frozen=True)
class Quantity:
    """A quantity that is compared with a published one. A draw agrees from `low` to `high`, the fair tolerance."""

    title: str
    published: str
    low: float = -np.inf
    high: float = np.inf


@dataclass(frozen=True)
class Case:
    """Quantities that come out of the same runs, and the ranges of the assumed data they may depend on.

    `measure` gets one value of each of `ranges` and returns one number for each quantity, NaN where there is none (no
    capture). Shares multiply what the declaration has.
    """

    quantities: tuple[Quantity, ...]
    ranges: Mapping[str, tuple[float, float]]
    measure: Callable[[Values], tuple[float, ...]]


def points(case: Case, draws: int) -> np.ndarray:
    """Return the draws of the assumed data, shape (draws, data): the same for the same case and number."""
    low, high = np.array(list(case.ranges.values())).T
    random = np.random.default_rng(SEED)
    part = np.array([random.permutation(draws) for _ in low]).T
    return low + (high - low) * (part + random.random(part.shape)) / draws


def _kept(file: Path | None) -> dict[tuple[float, ...], tuple[float, ...]]:
    """Return what has been found for each point that a file of lines keeps. A line that was cut off is left out."""
    found = {}
    for line in file.read_text().splitlines() if file and file.exists() else ():
        try:
            point, values = json.loads(line)
        except ValueError:
            continue
        found[tuple(point)] = tuple(values)
    return found


def collect(name: str, case: Case, draws: int, keep: Path | None = None) -> np.ndarray:
    """Return what comes out of each draw, shape (draws, quantities).

    With `keep`, a folder, each draw is appended to a file there, and one that it already has is not run again: an
    interrupted campaign goes on where it was. A run that fails has no number.
    """
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    file = keep / f"{name}.jsonl" if keep else None
    known = _kept(file)
    rows = []
    for point in map(tuple, points(case, draws).tolist()):
        if point not in known:
            try:
                known[point] = case.measure(dict(zip(case.ranges, point, strict=True)))
            except dockfmu.DockfmuError:
                known[point] = (float("nan"),) * len(case.quantities)
            if file:
                with file.open("a") as lines:
                    print(json.dumps([point, known[point]]), file=lines, flush=True)
        rows.append(known[point])
    return np.array(rows, dtype=float)


def _ranks(x: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(x)).astype(float)


def _correlations(case: Case, drawn: np.ndarray, found: np.ndarray) -> str:
    """Return the rank correlation with each datum; a dash where all draws have the same."""
    if np.ptp(found) == 0.0:
        return "-"
    each = zip(case.ranges, drawn.T, strict=True)
    return ", ".join(f"{name} {np.corrcoef(_ranks(x), _ranks(found))[0, 1]:+.1f}" for name, x in each)


def rows(case: Case, found: np.ndarray) -> list[str]:
    """Return a row of the table for each quantity: quantiles, draws that agree, ranges, rank correlations."""
    drawn = points(case, len(found))
    told = ", ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in case.ranges.items())
    table = []
    for quantity, values in zip(case.quantities, found.T, strict=True):
        valid = np.isfinite(values)
        agreeing = int(((values >= quantity.low) & (values <= quantity.high)).sum())
        quantiles = "none"
        by = "-"
        if valid.any():
            quantiles = " … ".join(f"{float(f'{np.quantile(values[valid], q):.3g}'):g}" for q in (0.1, 0.5, 0.9))
            by = _correlations(case, drawn[valid], values[valid])
        bounded = np.isfinite([quantity.low, quantity.high]).any()
        counted = f"{agreeing} of {len(values)}" if bounded else f"no number, {len(values)} draws"
        missing = "" if valid.all() else f", {int((~valid).sum())} without a number"
        columns = (quantity.title, quantity.published, quantiles, counted + missing, told, by)
        table.append(f"| {' | '.join(columns)} |")
    return table
