"""Sensitivities: what a measure depends on, from the existing runs of a campaign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # which imports scipy.stats, half a second, where it is first used

BINS = 20


@dataclass(frozen=True)
class Sensitivity:
    """Dependence of a measure on one variable.

    `rank_correlation` is Spearman's and detects monotonic dependence; it is NaN for a choice. `p_value` is that of its
    test, or of the test of Kruskal and Wallis for a choice. `first_order` is the share of the variance that the
    variable alone explains, whatever the form of the dependence (0 to 1, less what as many bins or options explain by
    chance); it is NaN for a choice with as many options as runs.
    """

    name: str
    rank_correlation: float
    p_value: float
    first_order: float


def sensitivities(variables: dict[str, np.ndarray], measure: np.ndarray) -> list[Sensitivity]:
    """Return the sensitivity of a measure, shape (runs,), to each variable, the strongest first.

    Variables are numbers, or the labels of a choice. For each variable, runs in which it or the measure is not finite
    are left out. Variables that do not vary, or that have fewer than ten runs, are left out too.
    """
    found = []
    for name, values in variables.items():
        labels = values.dtype.kind not in "fiu"
        use = np.isfinite(measure) & (True if labels else np.isfinite(values))
        x, y = values[use], measure[use]
        if len(x) < 10 or (x == x[0]).all() or np.ptp(y) == 0.0:
            continue
        if labels:
            groups = [y[x == label] for label in np.unique(x.astype(str))]
            found.append(Sensitivity(name, np.nan, float(scipy.stats.kruskal(*groups).pvalue), _explained(groups)))
        else:
            correlation = scipy.stats.spearmanr(x, y)
            bins = np.array_split(y[np.argsort(x, kind="stable")], min(BINS, max(2, len(x) // 10)))
            found.append(Sensitivity(name, float(correlation.statistic), float(correlation.pvalue), _explained(bins)))
    return sorted(found, key=_strength, reverse=True)


def _strength(entry: Sensitivity) -> float:
    """Return the larger of the squared correlation and the first-order share, ignoring unknown ones."""
    return float(max(np.nan_to_num(entry.rank_correlation) ** 2, np.nan_to_num(entry.first_order)))


def _explained(parts: list[np.ndarray]) -> float:
    """Return Var(E[y | part]) / Var(y), less the share that as many parts explain by chance; NaN for single values."""
    y = np.concatenate(parts)
    if len(y) <= len(parts):
        return np.nan
    explained = sum(len(part) * (part.mean() - y.mean()) ** 2 for part in parts)
    total = ((y - y.mean()) ** 2).sum()
    # the adjusted coefficient of determination
    return float(max(0.0, 1.0 - (1.0 - explained / total) * (len(y) - 1) / (len(y) - len(parts))))
