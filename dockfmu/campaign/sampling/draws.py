"""Draws: the values of run `index`, which depend on the seed and the index alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import ndtr

from dockfmu.base.messages import shown
from dockfmu.base.numbers import LARGEST_COUNT, is_integer
from dockfmu.campaign.sampling.distributions import Law, names_of
from dockfmu.errors import OptionError

SAMPLINGS = ("random", "sobol", "latin_hypercube", "grid")
LARGEST_SOBOL = 2**30
"""Number of points of a Sobol sequence as scipy computes it."""
MOST_NUMBERS = 20_000_000
"""Largest number of uniform numbers of a Latin hypercube, all of which are kept in memory."""
MOST_LEVELS = 1_000_000
"""Largest number of points of a variable on a grid."""
ATTEMPTS = 10_000
"""Number of rejected draws of one run after which the severity limit is considered out of reach."""
EDGE = 2.0**-54
"""Least distance of uniform numbers from 0 and 1, so that no normal variable is infinite."""


@dataclass(frozen=True)
class Draws:
    """The draws of a campaign.

    Attributes
    ----------
    laws : sequence of Law
        Laws of the varied variables.
    sampling : {"random", "sobol", "latin_hypercube", "grid"}
        How the uniform numbers that the laws transform are drawn.
    seed : int
        Seed of all draws.
    runs : int
        Number of runs; draws depend on it with "latin_hypercube" only.
    points : int
        Points of each variable, for a grid.
    accept : callable, optional
        Returns whether values are accepted; rejected values are drawn again. With "random" only.
    """

    laws: tuple[Law, ...]
    sampling: str = "random"
    seed: int = 0
    runs: int = 1
    points: int = 0
    accept: Callable[[Mapping[str, Any]], bool] | None = None

    def __post_init__(self) -> None:
        if self.sampling not in SAMPLINGS:
            raise OptionError([f"sampling = {self.sampling!r}: must be one of {', '.join(SAMPLINGS)}"])
        if self.accept is not None and self.sampling != "random":
            raise OptionError([f"a severity limit rejects draws: it needs sampling = 'random', not {self.sampling!r}"])
        if self.sampling == "grid" and not 2 <= self.points <= MOST_LEVELS:
            raise OptionError([f"a grid needs `points`, at least 2 for each variable and at most {MOST_LEVELS}"])
        names_of(self.laws)
        self._check_runs()

    def _check_runs(self) -> None:
        """Raise OptionError for more runs than can be made."""
        most, why = LARGEST_COUNT, ""
        if self.sampling == "sobol":
            most, why = LARGEST_SOBOL, "; so many points has the sequence"
        elif self.sampling == "latin_hypercube":
            most = MOST_NUMBERS // max(1, 2 * self.dimension)
            why = "; a Latin hypercube keeps all its points in memory, sampling = 'random' none"
        if not is_integer(self.runs) or not 1 <= self.runs <= most:
            raise OptionError([f"runs = {shown(self.runs)}: must be a positive integer up to {most}{why}"])
        if self.sampling == "grid" and self.grid_size > LARGEST_COUNT:
            raise OptionError([f"points = {self.points}: the grid would have {self.grid_size} runs"])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the varied variables and choices."""
        return names_of(self.laws)

    @property
    def dimension(self) -> int:
        """Number of uniform numbers that a run uses."""
        return sum(law.dimension for law in self.laws)

    @property
    def grid_size(self) -> int:
        """Number of runs of the full grid."""
        return math.prod(len(levels) for levels in self._levels())

    def values(self, index: int) -> dict[str, Any]:
        """Return the values of run `index`, by name. Raises OptionError for no such run, or if no draw is accepted."""
        count = math.inf
        if self.sampling != "random":
            size = {"grid": lambda: self.grid_size, "latin_hypercube": lambda: self.runs}
            count = size.get(self.sampling, lambda: LARGEST_SOBOL)()
        if not 0 <= index < count:
            last = f" to {count - 1}" if count < math.inf else ""
            raise OptionError([f"there is no run {index}: runs are numbered from 0{last}"])
        for attempt in range(ATTEMPTS):
            values = self.transform(self._uniform(index, attempt))
            if self.accept is None or self.accept(values):
                return values
        raise OptionError([f"run {index}: all of {ATTEMPTS} draws are beyond the severity limit: raise it"])

    def transform(self, uniform: np.ndarray) -> dict[str, Any]:
        """Return the values for uniform numbers, shape (dimension,)."""
        values: dict[str, Any] = {}
        first = 0
        clipped = np.clip(uniform, EDGE, 1.0 - EDGE) if self.sampling != "grid" else uniform
        for law in self.laws:
            values |= law.values(clipped[first : first + law.dimension])
            first += law.dimension
        return values

    def from_normal(self, z: np.ndarray) -> dict[str, Any]:
        """Return the values for a point of standard normal space, shape (dimension,)."""
        return self.transform(np.clip(ndtr(z), EDGE, 1.0 - EDGE))

    def _uniform(self, index: int, attempt: int) -> np.ndarray:
        if self.sampling == "random":
            return uniform_numbers(self.seed, index, self.dimension, attempt)
        if self.sampling == "sobol":
            return _sobol(self.dimension, self.seed, index)
        if self.sampling == "latin_hypercube":
            return np.array(_latin_hypercube(self.dimension, self.seed, self.runs)[index], float)
        levels = self._levels()
        place = np.unravel_index(index, [len(level) for level in levels])
        return np.array([level[k] for level, k in zip(levels, place, strict=True)])

    def _levels(self) -> list[list[float]]:
        return [level for law in self.laws for level in law.levels(self.points)]


def uniform_numbers(seed: int, index: int, count: int, attempt: int = 0) -> np.ndarray:
    """Return `count` numbers in (0, 1) from a counter-based generator whose stream is fixed.

    They are computed from its bits here, because the distributions of numpy may change between versions.
    """
    bits = np.random.Philox(np.random.SeedSequence(seed, spawn_key=(index, attempt))).random_raw(count)
    return ((bits >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53


def _sobol(dimension: int, seed: int, index: int) -> np.ndarray:
    """Return point `index` of the scrambled Sobol sequence."""
    from scipy.stats import qmc

    # only the scrambling uses the generator; the points draw nothing from it
    sequence = qmc.Sobol(dimension, scramble=True, seed=np.random.Generator(np.random.PCG64(seed)))
    if index:
        sequence.fast_forward(index)
    return np.array(sequence.random(1)[0], float)


@cache
def _latin_hypercube(dimension: int, seed: int, runs: int) -> np.ndarray:
    """Return all points, shape (runs, dimension): in every dimension, each of `runs` equal intervals has one."""
    points = np.empty((runs, dimension))
    for column in range(dimension):
        numbers = uniform_numbers(seed, column, 2 * runs)
        points[:, column] = (np.argsort(numbers[:runs], kind="stable") + numbers[runs:]) / runs
    points.flags.writeable = False
    return points


def normal_numbers(seed: int, key: Sequence[int], shape: tuple[int, ...]) -> np.ndarray:
    """Return standard normal numbers that depend on the seed and the key alone."""
    from scipy.special import ndtri

    count = math.prod(shape)
    bits = np.random.Philox(np.random.SeedSequence(seed, spawn_key=tuple(key))).random_raw(count)
    return np.asarray(ndtri(((bits >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53)).reshape(shape)
