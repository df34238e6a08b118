"""Worst cases: a search by random points and CMA-ES (Hansen 2016), with restarts and a stated budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dockfmu.campaign.draws import normal_numbers
from dockfmu.options import OptionError

Objective = Callable[[np.ndarray], np.ndarray]
"""Of points, shape (n, dimension), what is to be made small, shape (n,); NaN where a run gives nothing."""
RANDOM_SHARE = 0.2
"""Share of the budget that random points get, from the best of which the searches start."""


@dataclass(frozen=True)
class WorstCase:
    """The best point of a search: `value` there, `runs` spent, and what each start of the search found.

    Where no run gives anything the values are infinite.

    A search by samples proves no bound: `starts` that agree are a hint, not more.
    """

    point: np.ndarray
    value: float
    runs: int
    starts: tuple[float, ...]


def minimise(
    objective: Objective, dimension: int, *, budget: int = 500, restarts: int = 3, spread: float = 0.3, seed: int = 0,
    project: Callable[[np.ndarray], np.ndarray] = lambda points: points,
) -> WorstCase:  # fmt: skip
    """Return the least value that a budget of runs finds.

    Parameters
    ----------
    objective : callable
        See `Objective`.
    dimension : int
        Number of variables, which are of order 1.
    budget, restarts : int
        Runs in all, and how often the search by CMA-ES starts.
    spread : float
        First standard deviation of the search.
    seed : int
        What the random numbers depend on.
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
    each = (budget - count) // restarts
    for start in range(restarts):
        search = cma.CMAEvolutionStrategy(
            points[order[start]], spread, {"seed": seed * restarts + start + 1, "verbose": -9, "maxfevals": each}
        )
        found = np.inf
        spent = 0
        while spent + search.popsize <= each and not search.stop():
            asked = search.ask()
            inside = project(np.array(asked))
            results = _known(objective(inside))
            # what leaves the domain is drawn back to it
            away, told = np.linalg.norm(np.array(asked) - inside, axis=1), _large(results)
            search.tell(asked, (told + np.abs(told) * away + away).tolist())
            spent += len(asked)
            k = int(np.argmin(results))
            found = min(found, float(results[k]))
            if results[k] < value:
                best, value = inside[k], float(results[k])
        runs += spent
        starts.append(found)
    return WorstCase(best, value, runs, tuple(starts))


def check_budget(budget: int, restarts: int) -> None:
    """Raise OptionError for a budget of runs that is too small for so many starts."""
    if budget < 20 * restarts:
        raise OptionError([f"a worst case needs at least 20 runs for each of {restarts} starts, not {budget}"])


def _known(values: np.ndarray) -> np.ndarray:
    """Return values with infinity for NaN."""
    return np.where(np.isnan(values), np.inf, values)


def _large(values: np.ndarray) -> np.ndarray:
    """Return values with a large number for infinity, which searches keep away from."""
    finite = values[np.isfinite(values)]
    worst = float(np.max(np.abs(finite))) if len(finite) else 1.0
    return np.where(np.isfinite(values), values, 10.0 * worst + 1.0)


def severity(points: np.ndarray, measure: str) -> np.ndarray:
    """Return the severity R1 or R2 of points of shares value / limit, shape (n, dimension), as shape (n,)."""
    return np.asarray(np.linalg.norm(points, axis=1) if measure == "R1" else np.abs(points).sum(axis=1))


def within_severity(points: np.ndarray, measure: str, at_most: float) -> np.ndarray:
    """Return points of shares value / limit, shape (n, dimension), drawn back to a severity R1 or R2."""
    return np.asarray(points * np.minimum(1.0, at_most / np.maximum(severity(points, measure), 1e-300))[:, None])
