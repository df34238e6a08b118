"""Estimates with confidence intervals: probabilities, quantiles, exceedance, extreme values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # which imports scipy.stats, half a second, where it is first used

from dockfmu.base.numbers import figure_text
from dockfmu.errors import OptionError


@dataclass(frozen=True)
class Estimate:
    """A number with its confidence interval; `count` of `of` runs, where given, are those that it rests on."""

    value: float
    low: float
    high: float
    confidence: float = 0.95
    count: int | None = None
    of: int | None = None

    def __str__(self) -> str:
        value, low, high = map(figure_text, (self.value, self.low, self.high))
        return f"{value} ({self.confidence:.0%}: {low} to {high})"


def probability(happened: Sequence[bool] | np.ndarray, confidence: float = 0.95) -> Estimate:
    """Return the probability of an outcome, with the exact interval of Clopper and Pearson.

    The interval is for independent draws; for Sobol and Latin samples it is too wide.
    """
    mask = np.asarray(happened, bool)
    n, k = len(mask), int(mask.sum())
    if n == 0:
        raise OptionError(["a probability needs at least one run"])
    rest = 0.5 * (1.0 - confidence)
    low = 0.0 if k == 0 else float(scipy.stats.beta.ppf(rest, k, n - k + 1))
    high = 1.0 if k == n else float(scipy.stats.beta.ppf(1.0 - rest, k + 1, n - k))
    return Estimate(k / n, low, high, confidence, k, n)


def quantile(values: Sequence[float] | np.ndarray, share: float, confidence: float = 0.95) -> Estimate:
    """Return a quantile, with the interval between order statistics, which holds for any continuous law.

    An end of the interval beyond the sample is infinite.
    """
    ordered = np.sort(_finite(values))
    n, rest = len(ordered), 0.5 * (1.0 - confidence)
    # the number of values below the quantile is binomial
    low, high = int(scipy.stats.binom.ppf(rest, n, share)), int(scipy.stats.binom.ppf(1.0 - rest, n, share)) + 1
    return Estimate(
        float(np.quantile(ordered, share)),
        float(ordered[low - 1]) if low >= 1 else -np.inf,
        float(ordered[high - 1]) if high <= n else np.inf,
        confidence,
        None,
        n,
    )


@dataclass(frozen=True)
class Exceedance:
    """The probability that a load is at least each of `levels`, with the interval of each point; all of shape (n,).

    `levels` are the values of the sample in rising order; equal values have equal probabilities.
    """

    levels: np.ndarray
    probability: np.ndarray
    low: np.ndarray
    high: np.ndarray


def exceedance(values: Sequence[float] | np.ndarray, confidence: float = 0.95) -> Exceedance:
    """Return the exceedance curve at each value of the sample, with intervals of Clopper and Pearson."""
    ordered = np.sort(_finite(values))
    n = len(ordered)
    beyond = n - np.searchsorted(ordered, ordered)
    rest = 0.5 * (1.0 - confidence)
    low = scipy.stats.beta.ppf(rest, beyond, n - beyond + 1)
    high = np.where(beyond == n, 1.0, scipy.stats.beta.ppf(1.0 - rest, beyond + 1, np.maximum(n - beyond, 1)))
    return Exceedance(ordered, beyond / n, np.asarray(low), np.asarray(high))


@dataclass(frozen=True)
class ExtremeValue:
    """A level that a load exceeds with a small `probability`, extrapolated from the tail beyond `threshold`.

    The `shape` of the generalised Pareto law is negative for a bounded tail. `beyond` values were fitted, and `largest`
    is the largest value of the sample.
    """

    probability: float
    level: Estimate
    threshold: float
    shape: float
    scale: float
    beyond: int
    largest: float


def extreme_value(
    values: Sequence[float] | np.ndarray,
    probability: float,
    *,
    tail: float = 0.1,
    confidence: float = 0.95,
    repetitions: int = 200,
    seed: int = 0,
) -> ExtremeValue:
    """Return the level exceeded with `probability`, which may be less than 1 / number of runs.

    A generalised Pareto law is fitted to the largest `tail` of the values by maximum likelihood; the interval is that
    of a parametric bootstrap. It cannot account for physics that the sample has not met, such as another stop or
    another contact.

    Raises OptionError for fewer than 20 values in the tail, and for a tail of equal values.
    """
    sample = _finite(values)
    threshold = float(np.quantile(sample, 1.0 - tail))
    beyond = sample[sample > threshold] - threshold
    if len(beyond) < 20:
        raise OptionError([f"an extreme value needs 20 runs in the tail, not {len(beyond)}: make more runs"])
    if np.ptp(beyond) == 0.0:
        raise OptionError([f"an extreme value needs a tail, not {len(beyond)} runs of the same value"])
    share = len(beyond) / len(sample)
    shape, _, scale = scipy.stats.genpareto.fit(beyond, floc=0.0)

    def level(shape: float, scale: float) -> float:
        return threshold + float(scipy.stats.genpareto.isf(min(probability / share, 1.0), shape, scale=scale))

    generator = np.random.Generator(np.random.PCG64(seed))
    levels = []
    for _ in range(repetitions):
        drawn = scipy.stats.genpareto.rvs(shape, scale=scale, size=len(beyond), random_state=generator)
        drawn_shape, _, drawn_scale = scipy.stats.genpareto.fit(drawn, floc=0.0)
        levels.append(level(drawn_shape, drawn_scale))
    rest = 0.5 * (1.0 - confidence)
    low, high = np.quantile(levels, [rest, 1.0 - rest])
    estimate = Estimate(level(shape, scale), float(low), float(high), confidence, len(beyond), len(sample))
    return ExtremeValue(probability, estimate, threshold, float(shape), float(scale), len(beyond), float(sample.max()))


def phases(times: np.ndarray, events: dict[str, np.ndarray]) -> np.ndarray:
    """Return, for the time of each load, "after EVENT" for the latest event at or before it; "start" if there is none.

    `times` and each array of `events` have shape (n,), with NaN where an event did not happen.
    """
    names = list(events)
    if not names:
        return np.full(len(times), "start", dtype=object)
    table = np.column_stack([events[name] for name in names])
    before = np.where(table <= times[:, None] + 1e-12, table, -np.inf)
    last = before.argmax(axis=1)
    words = [*(f"after {name}" for name in names), "start"]
    chosen = np.where(np.isneginf(before.max(axis=1)), len(names), last)
    return np.array([words[k] for k in chosen], dtype=object)


def _finite(values: Sequence[float] | np.ndarray) -> np.ndarray:
    given = np.asarray(values, float)
    sample = np.array(given[np.isfinite(given)], float)
    if not len(sample):
        raise OptionError(["there is no run with a value"])
    return sample
