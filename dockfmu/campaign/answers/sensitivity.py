"""Sensitivities: what a measure depends on, from the runs of a campaign as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

BINS = 20


@dataclass(frozen=True)
class Sensitivity:
    """Dependence of a measure on one variable.

    `rank_correlation` of Spearman, with its p-value, sees what rises or falls throughout; `first_order` is the share of
    the variance that the variable explains alone, whatever the form (0 to 1, less what as many bins explain by chance).
    """

    name: str
    rank_correlation: float
    p_value: float
    first_order: float


def sensitivities(variables: dict[str, np.ndarray], measure: np.ndarray) -> list[Sensitivity]:
    """Return the sensitivity of a measure, shape (runs,), to each variable, the strongest first.

    Runs in which one of them is not finite are left out; variables that do not vary are too.
    """
    found = []
    for name, values in variables.items():
        use = np.isfinite(values) & np.isfinite(measure)
        x, y = values[use], measure[use]
        if len(x) < 10 or np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
            continue
        correlation = stats.spearmanr(x, y)
        found.append(Sensitivity(name, float(correlation.statistic), float(correlation.pvalue), _first_order(x, y)))
    return sorted(found, key=lambda entry: -max(abs(entry.rank_correlation) ** 2, entry.first_order))


def _first_order(x: np.ndarray, y: np.ndarray) -> float:
    """Return Var(E[y | x]) / Var(y), by bins of equal numbers, less the part that chance gives."""
    bins = min(BINS, max(2, len(x) // 10))
    parts = np.array_split(y[np.argsort(x, kind="stable")], bins)
    explained = sum(len(part) * (part.mean() - y.mean()) ** 2 for part in parts)
    total = ((y - y.mean()) ** 2).sum()
    # the adjusted coefficient of determination
    return float(max(0.0, 1.0 - (1.0 - explained / total) * (len(y) - 1) / (len(y) - bins)))
