"""Refinement of an ensemble: each member goes to the most probable point for its own perturbed data.

With its own draw of the prior and its own perturbations of the data the most probable points of the members are draws
of the posterior, exactly so in a linear model (randomised maximum likelihood, Chen & Oliver 2013,
doi:10.1007/s10596-013-9351-5). The members go there by steps of Gauss and Newton, with slopes from a regression over
runs near them. Four things keep them from staying where the outputs are no straight line:

- A run says how probable its unknowns are for every member, whichever member it was made for. So a member goes on from
  the run of another that is clearly better for it, and none is left behind in a valley of its own.
- A step that makes a member worse is tried again half as long. Such a run is not lost: it is near, and so one of those
  that the next slopes are taken from.
- A member has arrived when its next step promises less than noise hides, and makes no more runs.
- Where all members are in a valley that is not that of the data, runs are drawn around the best, as wide as the members
  were before the data that they do not explain, then narrower. From where a member starts is free: it goes to the most
  probable point for its own draws, whose law this does not change.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dockfmu.reconstruct.ensemble_step import SPARE, regression

NEAR = 2
"""Runs that slopes are taken from, for each member."""
ARRIVED = 0.1
"""Decrease of an objective that a step has to promise: that of a third of a deviation of one direction."""
CLEARLY = 2.0
"""Decrease of its objective for which a member goes to the run of another: members of a posterior differ by as much."""
SEARCHES = (1.0, 0.5, 0.25, 0.125)
"""Sizes of the draws of a search, in the spread of the members before the data that they do not explain."""
CHILDREN = 4
"""Draws around each of the most probable runs."""
SHORTEST = 1.0 / 64.0
"""Shortest step that is tried, as a share of that of Gauss and Newton."""


@dataclass
class Archive:
    """All runs so far: unknowns, shape (runs, n), and outputs, shape (runs, data), NaN where there are none."""

    unknowns: np.ndarray
    outputs: np.ndarray

    def add(self, unknowns: np.ndarray, outputs: np.ndarray) -> None:
        """Add runs."""
        self.unknowns = np.vstack([self.unknowns, unknowns])
        self.outputs = np.vstack([self.outputs, outputs])

    def best(self, aim: Aim, most: int) -> np.ndarray:
        """Return the places of the most probable runs, the best first, at most so many; none lacks an output."""
        whitened = aim.whitened(self.outputs)
        objective = np.sum(self.unknowns**2, axis=1) + np.sum(whitened**2, axis=1)
        order = np.argsort(objective, kind="stable")
        return np.asarray(order[: min(most, int(np.isfinite(objective).sum()))])


@dataclass(frozen=True)
class Aim:
    """Hold what each member goes to: data, and perturbations of its own.

    Attributes
    ----------
    data, deviation : ndarray, shape (data,)
        The data, and the standard deviations of their errors.
    needed : ndarray of bool, shape (data,)
        The data that count.
    prior : ndarray, shape (members, n)
        Draw of the prior of each member, without a mean of its own.
    noise : ndarray, shape (members, data)
        Perturbation of the data for each member, in deviations.
    """

    data: np.ndarray
    deviation: np.ndarray
    needed: np.ndarray
    prior: np.ndarray
    noise: np.ndarray

    def whitened(self, outputs: np.ndarray) -> np.ndarray:
        """Return outputs less the data in deviations, of the data that count."""
        return np.asarray(((outputs - self.data) / self.deviation)[:, self.needed])

    def misfit(self, outputs: np.ndarray) -> float:
        """Return the mean square of the residuals of the members with outputs in deviations, NaN without any."""
        whitened = self.whitened(outputs)
        whitened = whitened[np.isfinite(whitened).all(axis=1)]
        return float(np.mean(whitened**2)) if whitened.size else math.nan

    def objectives(self, unknowns: np.ndarray, whitened: np.ndarray, scale: np.ndarray | float = 1.0) -> np.ndarray:
        """Return twice the negative logarithm of the posterior of each run for each member, shape (members, runs).

        Residuals and perturbations count by `scale`.
        """
        reached, noise = whitened * scale, self.noise[:, self.needed] * scale
        return np.asarray(_distances(self.prior, unknowns) + _distances(noise, reached))


def _distances(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    squares = np.sum(one**2, axis=1)[:, None] + np.sum(other**2, axis=1)[None, :]
    return np.asarray(np.maximum(squares - 2.0 * one @ other.T, 0.0))


@dataclass(frozen=True)
class RefinementStep:
    """Tell of a step: the share of the members moved, what their mean objective gained, and runs without outputs."""

    moved: float
    gained: float
    absent: int


def refinable(members: np.ndarray) -> bool:
    """Return whether members are enough for slopes."""
    count, dimension = members.shape
    return bool(count - 1 - dimension >= SPARE)


def spread_of(members: np.ndarray) -> np.ndarray:
    """Return anomalies of members whose products with standard normal numbers have their covariance."""
    return np.asarray((members - members.mean(axis=0)) / math.sqrt(len(members) - 1))


def search(
    aim: Aim, archive: Archive, forward: Callable[[np.ndarray], np.ndarray], spread: np.ndarray,
    random: np.random.Generator, digits: int,
) -> None:  # fmt: skip
    """Add runs around those that are most probable so far, for members that all are in a valley that has no exit.

    The first are as far apart as `spread` says, the members before the data that they do not explain; those after them
    half as far, and so on, each time around the best of all.
    """
    members = len(aim.prior)
    for size in SEARCHES:
        parents = archive.unknowns[archive.best(aim, max(1, members // CHILDREN))]
        parents = parents[np.arange(members) % len(parents)]
        drawn = np.round(parents + size * random.standard_normal((members, len(spread))) @ spread, digits)
        archive.add(drawn, np.asarray(forward(drawn), float))


class Refinement:
    """The members on their way: unknowns and outputs after the last step, and how long a step each tries next."""

    def __init__(
        self, aim: Aim, members: tuple[np.ndarray, np.ndarray], archive: Archive,
        forward: Callable[[np.ndarray], np.ndarray], digits: int,
    ) -> None:  # fmt: skip
        self.aim, self.archive, self.forward, self.digits = aim, archive, forward, digits
        self.unknowns, self.outputs = members
        self.length = np.ones(len(aim.prior))

    def step(self, excess: Callable[[np.ndarray], np.ndarray], *, strict: bool = False) -> RefinementStep | None:
        """Move the members once; return None if all have arrived, or if there are too few runs for slopes.

        `excess` returns the variance, in that of the noise, to be added to it, for residuals of runs (runs, data). It
        shapes the direction, and unless `strict` also the objectives that moves are judged by.
        """
        aim = self.aim
        pool, outputs, whitened, place = self._pool()
        if not refinable(pool):
            return None
        near = self._near(pool, whitened)
        slope, variance = regression(pool[near], whitened[near])
        scale = 1.0 / np.sqrt(variance + excess(whitened[near]))
        judged = 1.0 if strict else scale
        objectives = aim.objectives(pool, whitened, judged)
        best = _starts(objectives, place)
        before = objectives[np.arange(len(best)), best]
        target, promised = _gauss_newton(aim, pool[best], whitened[best], slope, scale)
        tries = np.flatnonzero((promised >= ARRIVED) & (self.length >= SHORTEST))
        if not len(tries):
            return None
        start = pool[best][tries]
        trial = np.round(start + self.length[tries, None] * (target[tries] - start), self.digits)
        told = np.asarray(self.forward(trial), float)
        self.archive.add(trial, told)
        reached = aim.objectives(trial, aim.whitened(told), judged)
        reached = np.where(np.isfinite(reached), reached, np.inf)
        own = reached[tries, np.arange(len(tries))]
        better = own < before[tries]
        self.length[tries] = np.where(better, np.minimum(2.0 * self.length[tries], 1.0), 0.5 * self.length[tries])
        chosen = _ends(reached, before, tries)
        moved = chosen >= 0
        self.unknowns = np.where(moved[:, None], trial[chosen], pool[best])
        self.outputs = np.where(moved[:, None], told[chosen], outputs[best])
        gained = np.where(moved, before - reached[np.arange(len(best)), chosen], 0.0)
        return RefinementStep(float(moved.mean()), float(gained.mean()), int((~np.isfinite(own)).sum()))

    def _pool(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the runs of the members, and as many again that are most probable, with outputs and residuals.

        The last array has the place of each member among them, -1 for one without outputs.
        """
        best = self.archive.best(self.aim, len(self.length))
        unknowns = np.vstack([self.unknowns, self.archive.unknowns[best]])
        outputs = np.vstack([self.outputs, self.archive.outputs[best]])
        unknowns, first, place = np.unique(unknowns, axis=0, return_index=True, return_inverse=True)
        outputs = outputs[first]
        whitened = self.aim.whitened(outputs)
        there = np.isfinite(whitened).all(axis=1)
        kept = np.where(there, np.cumsum(there) - 1, -1)[np.ravel(place)[: len(self.length)]]
        return unknowns[there], outputs[there], whitened[there], kept

    def _near(self, pool: np.ndarray, whitened: np.ndarray) -> np.ndarray:
        """Return the runs that slopes are taken from: those that are most probable for some member."""
        objectives = self.aim.objectives(pool, whitened)
        own = objectives - objectives.min(axis=1, keepdims=True)
        count = min(len(pool), NEAR * len(self.length))
        return np.asarray(np.argsort(own.min(axis=0), kind="stable")[:count])


def _starts(objectives: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the run from which each member goes on: its own at `place`, unless another is clearly better for it."""
    best = np.argmin(objectives, axis=1)
    there = np.flatnonzero(place >= 0)
    own = place[there]
    stays = objectives[there, own] < objectives[there, best[there]] + CLEARLY
    best[there[stays]] = own[stays]
    return np.asarray(best)


def _ends(reached: np.ndarray, before: np.ndarray, tries: np.ndarray) -> np.ndarray:
    """Return the trial run to which each member moves, -1 for one that stays.

    `reached` are the objectives of the trial runs for all members, shape (members, trials), `before` those of the
    members, and `tries` the members that the trials were made for. Its own run is good enough for a member unless
    another is clearly better.
    """
    chosen = np.argmin(reached, axis=1)
    least = reached[np.arange(len(reached)), chosen]
    found = np.where(least < before - CLEARLY, chosen, -1)
    own = reached[tries, np.arange(len(tries))]
    mine = (own < before[tries]) & (own < least[tries] + CLEARLY)
    found[tries[mine]] = np.flatnonzero(mine)
    return np.asarray(found)


def _gauss_newton(
    aim: Aim, at: np.ndarray, misses: np.ndarray, slope: np.ndarray, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return where a step of Gauss and Newton takes the members, and the decrease it promises.

    That is of objectives in which residuals count by `scale`.
    """
    noise = aim.noise[:, aim.needed]
    reached = (noise - misses + (at - aim.prior) @ slope.T) * scale
    scaled = slope * scale[:, None]
    left, singular, right = np.linalg.svd(scaled, full_matrices=False)
    gain = (right.T * (singular / (1.0 + singular**2))) @ left.T
    target = aim.prior + reached @ gain.T
    now = (misses - noise) * scale
    linear = now + (target - at) @ scaled.T
    before = np.sum((at - aim.prior) ** 2, axis=1) + np.sum(now**2, axis=1)
    promised = before - np.sum((target - aim.prior) ** 2, axis=1) - np.sum(linear**2, axis=1)
    return target, promised
