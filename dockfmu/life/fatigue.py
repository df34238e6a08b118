"""Fatigue: cycles of a stress history by the rainflow method, and the damage that they do."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import rainflow

CYCLE = np.dtype([("range", float), ("mean", float), ("count", float)])
"""A cycle of stress: range and mean, Pa, and 1 for a closed cycle, 0.5 for a half one that stays open."""


@dataclass(frozen=True)
class FatigueCurve:
    """S-N data: cycles to failure over the stress range, straight between points where both scales are logarithmic.

    The lines of the first two and of the last two points go on beyond them.

    Attributes
    ----------
    ranges : ndarray, shape (n,)
        Stress ranges, twice the amplitude, Pa, falling; n >= 2.
    cycles : ndarray, shape (n,)
        Cycles to failure at these ranges with a mean stress of zero, rising.
    endurance : float
        Range at and below which a cycle does no damage, Pa; 0 for none.
    """

    ranges: np.ndarray
    cycles: np.ndarray
    endurance: float = 0.0

    def cycles_at(self, ranges: np.ndarray) -> np.ndarray:
        """Return the cycles to failure at stress ranges, Pa; infinite up to the endurance, 0 for an infinite range."""
        known, lives = np.log(self.ranges), np.log(self.cycles)
        found = np.full(np.shape(ranges), np.inf)
        found[np.isinf(ranges)] = 0.0
        damaging = (ranges > self.endurance) & (ranges > 0.0) & np.isfinite(ranges)
        wanted = np.log(ranges[damaging])
        # the segment of each range: known falls
        after = np.clip(np.searchsorted(-known, -wanted), 1, len(known) - 1)
        slope = (lives[after] - lives[after - 1]) / (known[after] - known[after - 1])
        with np.errstate(over="ignore"):
            found[damaging] = np.exp(lives[after - 1] + slope * (wanted - known[after - 1]))
        return found


def count_cycles(stress: np.ndarray) -> np.ndarray:
    """Return the cycles of a stress history, Pa, in its order, as an array of `CYCLE` (ASTM E1049-85, rainflow)."""
    found = [(span, mean, count) for span, mean, count, _, _ in rainflow.extract_cycles(stress)]
    return np.array(found, CYCLE)


def equivalent_ranges(cycles: np.ndarray, ultimate: float) -> np.ndarray:
    """Return the ranges that do the same damage at a mean stress of zero, Pa (Goodman, 1899), shape (n,).

    A tensile mean raises the range, a compressive one counts as zero. The range is infinite where the mean reaches the
    `ultimate` strength, Pa, which is infinite for a structure whose mean stress does not matter.
    """
    if math.isinf(ultimate):
        return cycles["range"].copy()
    room = 1.0 - np.maximum(cycles["mean"], 0.0) / ultimate
    ranges = np.full(len(cycles), np.inf)
    with np.errstate(over="ignore"):
        np.divide(cycles["range"], room, out=ranges, where=room > 0.0)
    return ranges


def damage_of(cycles: np.ndarray, curve: FatigueCurve, ultimate: float = math.inf) -> float:
    """Return the share of the life that cycles spend (Palmgren and Miner): the sum of counts over cycles to failure."""
    lives = curve.cycles_at(equivalent_ranges(cycles, ultimate))
    with np.errstate(divide="ignore"):
        return float(np.sum(cycles["count"] / lives))
