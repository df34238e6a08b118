"""Worst cases: a search by random points and CMA-ES (Hansen 2016), with restarts and a stated budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dockfmu.campaign.sampling.draws import normal_numbers
from dockfmu.errors import OptionError

Objective = Callable[[np.ndarray], np.ndarray]
"""Function from points, shape (n, dimension), to the values to minimise, shape (n,); NaN where a run gives none."""
RANDOM_SHARE = 0.2
"""Share of the budget for random points; the searches start from the best of them."""


@dataclass(frozen=True)
class WorstCase:
    """The best point of a search, the `value` there, the `runs` spent, and the best value of each start.

    If no run gives a value, the values are infinite.

    A search by samples proves no bound: `starts` that agree are a hint, no more.
    """

    point: np.ndarray
    value: float
    runs: int
    starts: tuple[float, ...]


def minimise(
    objective: Objective,
    dimension: int,
    *,
    budget: int = 500,
    restarts: int = 3,
    spread: float = 0.3,
    seed: int = 0,
    project: Callable[[np.ndarray], np.ndarray] = lambda points: points,
) -> WorstCase:
    """Return the smallest value found with a budget of runs.

    Parameters
    ----------
    objective : callable
        See `Objective`.
    dimension : int
        Number of variables, which are of order 1.
    budget, restarts : int
        Total number of runs, and number of starts of the CMA-ES search.
    spread : float
        Initial standard deviation of the search.
    seed : int
        Seed of the random numbers.
    project : callable
        Brings points of shape (n, dimension) into the domain of the search.

    Raises
    ------
    OptionError
        for a budget that is too small
    """
    import cma

    check_budget(budget, restarts)
    count = max(10, int(RANDOM_SHARE * budget))
    points = project(normal_numbers(seed, (0,), (count, dimension)))
    values = _known(objective(points))
    order = np.argsort(values, kind="stable")
    best, value, runs = points[order[0]], float(values[order[0]]), count
    starts = []
    runs_per_start = (budget - count) // restarts
    for start in range(restarts):
        search = cma.CMAEvolutionStrategy(
            points[order[start]],
            spread,
            {"seed": seed * restarts + start + 1, "verbose": -9, "maxfevals": runs_per_start},
        )
        best_of_start = np.inf
        spent = 0
        while spent + search.popsize <= runs_per_start and not search.stop():
            candidates = search.ask()
            inside = project(np.array(candidates))
            results = _known(objective(inside))
            # penalise candidates outside the domain by their distance to it
            away, finite = np.linalg.norm(np.array(candidates) - inside, axis=1), _large(results)
            search.tell(candidates, (finite + np.abs(finite) * away + away).tolist())
            spent += len(candidates)
            k = int(np.argmin(results))
            best_of_start = min(best_of_start, float(results[k]))
            if results[k] < value:
                best, value = inside[k], float(results[k])
        runs += spent
        starts.append(best_of_start)
    return WorstCase(best, value, runs, tuple(starts))


def check_budget(budget: int, restarts: int) -> None:
    """Raise OptionError for a budget of runs that is too small for so many starts."""
    if budget < 20 * restarts:
        raise OptionError([f"a worst case needs at least 20 runs for each of {restarts} starts, not {budget}"])


def _known(values: np.ndarray) -> np.ndarray:
    """Return values with NaN replaced by infinity."""
    return np.where(np.isnan(values), np.inf, values)


def _large(values: np.ndarray) -> np.ndarray:
    """Return values with infinity replaced by a large number, which searches avoid."""
    finite = values[np.isfinite(values)]
    worst = float(np.max(np.abs(finite))) if len(finite) else 1.0
    return np.where(np.isfinite(values), values, 10.0 * worst + 1.0)


def severity(points: np.ndarray, measure: str, pairs: Sequence[tuple[int, int]] = ()) -> np.ndarray:
    """Return the severity R1 or R2 of points of shares value / limit, shape (n, dimension), as shape (n,).

    `pairs` are places of shares that are limited by their vector sum.
    """
    if measure == "R1":
        return np.asarray(np.linalg.norm(points, axis=1))
    total = np.abs(points).sum(axis=1)
    for one, other in pairs:
        total += np.hypot(points[:, one], points[:, other]) - np.abs(points[:, one]) - np.abs(points[:, other])
    return np.asarray(total)


def within_severity(
    points: np.ndarray, measure: str, at_most: float, pairs: Sequence[tuple[int, int]] = ()
) -> np.ndarray:
    """Return points of shares value / limit, shape (n, dimension), scaled back to a severity of `at_most` or less."""
    found = np.maximum(severity(points, measure, pairs), 1e-300)
    return np.asarray(points * np.minimum(1.0, at_most / found)[:, None])
