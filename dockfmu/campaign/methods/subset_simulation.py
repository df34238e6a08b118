"""Rare events: subset simulation in standard normal space (Au and Beck 2001).

A small probability is the product of larger conditional ones, at levels of a performance function that descend to 0;
the event is where it is negative. Chains of conditional samples (Papaioannou et al. 2015) lead from level to level.
Their runs are requested in batches, so that a cluster can make them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dockfmu.campaign.methods.estimates import Estimate, probability
from dockfmu.campaign.sampling.draws import normal_numbers
from dockfmu.errors import OptionError

Performance = Callable[[np.ndarray], np.ndarray]
"""Function from points in standard normal space, shape (n, dimension), to the performance, shape (n,); the event is
where it is negative."""
LEVELS = 12
"""Largest number of levels: probabilities below 1e-12 are not sought."""
ACCEPTANCE = 0.44
"""Target share of accepted candidates, to which the length of the moves is adapted."""


@dataclass(frozen=True)
class SubsetRun:
    """One subset simulation: its probability, the level of each stage, the runs it took, its own variation.

    `variation` is the estimator's own coefficient of variation, which is optimistic for very small probabilities;
    `points` are samples of the event, shape (n, dimension), and `first` is the number of events among the independent
    samples of the first level. `reached` is False if the levels did not reach the event: all samples of a level, except
    fewer than its share, had the same performance, or `LEVELS` were not enough. The probability is then that of the
    events among the samples of the last level.
    """

    probability: float
    levels: tuple[float, ...]
    runs: int
    variation: float
    points: np.ndarray
    first: int
    reached: bool


@dataclass(frozen=True)
class RareEvent:
    """The probability of a rare event from two independent subset simulations.

    `estimate` is their mean. Its interval is log-normal, from their own variation or from their difference, whichever
    is larger. If one of them did not reach the event, the interval is that of Clopper and Pearson for the independent
    samples of both first levels, widened to include both probabilities.
    """

    estimate: Estimate
    each: tuple[SubsetRun, SubsetRun]


def subset_simulation(
    performance: Performance, dimension: int, *, per_level: int = 500, share: float = 0.1, seed: int = 0, key: int = 0
) -> SubsetRun:
    """Return the probability that the performance is negative, of independent standard normal variables.

    Parameters
    ----------
    performance : callable
        See `Performance`.
    dimension : int
        Number of variables.
    per_level : int
        Runs of a level; a multiple of 1 / share.
    share : float
        Probability of a level given the previous one.
    seed, key : int
        The samples depend on these alone.

    Raises
    ------
    OptionError
        for inconsistent numbers
    """
    chains, length = chains_of(per_level, share)
    points = normal_numbers(seed, (key, 0), (per_level, dimension))
    values = performance(points)
    first = int((values < 0.0).sum())
    levels: list[float] = []
    runs, total, variance = per_level, 1.0, 0.0
    width = 0.6
    # samples of chains are correlated: this factor is confirmed by the tests
    correlation = 1.0
    while True:
        threshold = float(np.sort(values)[chains - 1])
        # more than the share, if values at the threshold are equal
        within = np.flatnonzero(values <= threshold)
        reached = threshold < 0.0
        if reached or len(within) == per_level or len(levels) == LEVELS:
            break
        levels.append(threshold)
        # seeds are taken evenly from all of them
        seeds = within[np.arange(chains) * len(within) // chains]
        given = len(within) / per_level
        total *= given
        variance += correlation * (1.0 - given) / (given * per_level)
        correlation = 3.0
        points, values, width = _conditional(
            performance, points[seeds], values[seeds], threshold, length, width, (seed, key, len(levels))
        )
        runs += per_level - chains
    happened = values < 0.0
    last = float(happened.mean())
    variance += correlation * (1.0 - last) / (last * per_level) if last else math.inf
    found = (*levels, 0.0) if reached else tuple(levels)
    return SubsetRun(total * last, found, runs, math.sqrt(variance), points[happened], first, reached)


def chains_of(per_level: int, share: float = 0.1) -> tuple[int, int]:
    """Return (number of chains of a level, samples of each). Raises OptionError for inconsistent numbers."""
    chains, length = round(per_level * share), round(1.0 / share)
    if not 0.0 < share < 1.0 or chains < 5 or chains * length != per_level:
        raise OptionError(
            [f"subset simulation: {per_level} runs per level: must be a multiple of {length}, at least {5 * length}"]
        )
    return chains, length


def _conditional(
    performance: Performance,
    points: np.ndarray,
    values: np.ndarray,
    threshold: float,
    length: int,
    width: float,
    key: tuple[int, int, int],
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return samples of the law conditional on performance <= threshold, by chains from `points`, and the new width."""
    seed, first, level = key
    all_points, all_values = [points], [values]
    for k in range(1, length):
        sigma = min(1.0, width)
        rho = math.sqrt(1.0 - sigma * sigma)
        moved = rho * points + sigma * normal_numbers(seed, (first, level, k), points.shape)
        found = performance(moved)
        accepted = found <= threshold
        points = np.where(accepted[:, None], moved, points)
        values = np.where(accepted, found, values)
        all_points.append(points)
        all_values.append(values)
        width = math.exp(math.log(width) + (float(accepted.mean()) - ACCEPTANCE) / math.sqrt(k))
    return np.concatenate(all_points), np.concatenate(all_values), width


def rare_event(
    performance: Performance,
    dimension: int,
    *,
    per_level: int = 500,
    share: float = 0.1,
    seed: int = 0,
    confidence: float = 0.95,
) -> RareEvent:
    """Return the probability of a rare event by two independent subset simulations; see `subset_simulation`."""
    from scipy.special import ndtri

    one, other = (
        subset_simulation(performance, dimension, per_level=per_level, share=share, seed=seed, key=key)
        for key in (0, 1)
    )
    mean = 0.5 * (one.probability + other.probability)
    runs = one.runs + other.runs
    if not (one.reached and other.reached):
        independent = probability(np.arange(2 * per_level) < one.first + other.first, confidence)
        ends = (one.probability, other.probability, independent.low, independent.high)
        return RareEvent(Estimate(mean, min(ends), max(ends), confidence, None, runs), (one, other))
    own = math.sqrt(0.5 * (one.variation**2 + other.variation**2) / 2.0)
    apart = abs(one.probability - other.probability) / (2.0 * mean)
    spread = math.sqrt(math.log1p(max(own, apart) ** 2))
    z = float(ndtri(0.5 + 0.5 * confidence))
    estimate = Estimate(
        mean, mean * math.exp(-z * spread), min(1.0, mean * math.exp(z * spread)), confidence, None, runs
    )
    return RareEvent(estimate, (one, other))
