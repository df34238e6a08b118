"""Comparison of two campaigns on equal draws: run by run, so that common effects cancel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # which imports scipy.stats, half a second, where it is first used

from dockfmu.campaign.methods.estimates import Estimate
from dockfmu.errors import OptionError


@dataclass(frozen=True)
class OutcomeComparison:
    """Probabilities of an outcome in two campaigns on `pairs` of equal draws.

    `difference` is second minus first, with the interval from the discordant pairs; `p_value` is that of McNemar's
    exact test of no difference.
    """

    first: float
    second: float
    difference: Estimate
    only_first: int
    only_second: int
    pairs: int
    p_value: float


def compare_outcomes(first: np.ndarray, second: np.ndarray, confidence: float = 0.95) -> OutcomeComparison:
    """Compare an outcome of two campaigns by truth values of shape (pairs,). Raises OptionError for no pairs."""
    if len(first) != len(second) or not len(first):
        raise OptionError([f"campaigns are compared run by run, not {len(first)} runs with {len(second)}"])
    n = len(first)
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    discordant = only_first + only_second
    p_value = 1.0 if discordant == 0 else float(scipy.stats.binomtest(only_second, discordant, 0.5).pvalue)
    # Agresti and Min (2005): the interval of the difference after half a pair is added to each cell
    b, c, total = only_first + 0.5, only_second + 0.5, n + 2.0
    middle = (c - b) / total
    width = float(scipy.stats.norm.ppf(0.5 + 0.5 * confidence)) * np.sqrt((b + c) - (c - b) ** 2 / total) / total
    low, high = max(-1.0, middle - width), min(1.0, middle + width)
    difference = Estimate((only_second - only_first) / n, low, high, confidence, discordant, n)
    means = float(first.mean()), float(second.mean())
    return OutcomeComparison(*means, difference, only_first, only_second, n, p_value)


@dataclass(frozen=True)
class MeasureComparison:
    """A measure in two campaigns, on `pairs` of equal draws that have it in both.

    `first` and `second` are its means. The mean of second minus first has Student's interval.
    """

    first: float
    second: float
    mean_difference: Estimate
    pairs: int


def compare_measures(first: np.ndarray, second: np.ndarray, confidence: float = 0.95) -> MeasureComparison:
    """Compare a measure of two campaigns, run by run; both of shape (pairs,), NaN where a run does not have it.

    Raises OptionError if there are no pairs.
    """
    use = np.isfinite(first) & np.isfinite(second)
    a, b = first[use], second[use]
    n = len(a)
    if not n:
        raise OptionError(["no run has the measure in both campaigns"])
    difference = b - a
    mean = float(difference.mean())
    # a single pair says nothing about the spread of the differences
    width = np.inf
    if n > 1:
        width = float(scipy.stats.t.ppf(0.5 + 0.5 * confidence, n - 1) * difference.std(ddof=1) / np.sqrt(n))
    estimate = Estimate(mean, mean - width, mean + width, confidence, None, n)
    return MeasureComparison(float(a.mean()), float(b.mean()), estimate, n)
