"""Statistics of durations in a fixed amount of memory, however many there are."""

from __future__ import annotations

import math

import numpy as np

SHORTEST_S, LONGEST_S = 1e-8, 1e4
"""Durations between which the classes lie; those beyond count in the first and the last class."""
RATIO = 1.01
"""Ratio of the ends of a class, and so the largest error of a quantile."""
_LOG = math.log(RATIO)
_CLASSES = math.ceil(math.log(LONGEST_S / SHORTEST_S) / _LOG)


class Durations:
    """Mean, quantiles and maximum of durations; quantiles are at most 1 % too large, from counts in classes."""

    def __init__(self) -> None:
        self.count = 0
        self.total = self.longest = 0.0
        self._classes = np.zeros(_CLASSES, dtype=np.int64)

    def __len__(self) -> int:
        return self.count

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.count += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)
        k = int(math.log(seconds / SHORTEST_S) / _LOG) if seconds > SHORTEST_S else 0
        self._classes[min(k, _CLASSES - 1)] += 1

    def quantile(self, share: float) -> float:
        """Return the end of the class below which this share of the durations lies, at most the longest of them."""
        wanted = max(1, math.ceil(share * self.count))
        k = int(np.searchsorted(np.cumsum(self._classes), wanted))
        return self.longest if k >= _CLASSES - 1 else min(SHORTEST_S * RATIO ** (k + 1), self.longest)

    def summary(self, name: str) -> dict[str, float]:
        """Return mean, 99 % and maximum as entries `name_mean_s`, ...; none without durations."""
        if not self.count:
            return {}
        return {
            f"{name}_mean_s": self.total / self.count,
            f"{name}_99_s": self.quantile(0.99),
            f"{name}_max_s": self.longest,
        }
