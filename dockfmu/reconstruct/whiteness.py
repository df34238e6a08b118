"""Test whether residuals are white, as Ljung and Box do (1978, doi:10.1093/biomet/65.2.297)."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc


def autocorrelation(series: np.ndarray, lags: int) -> np.ndarray:
    """Return the autocorrelations of a series about its mean at the lags 1 to `lags`."""
    centred = series - series.mean()
    total = float(centred @ centred)
    if total == 0.0:
        return np.zeros(lags)
    return np.array([centred[:-lag] @ centred[lag:] for lag in range(1, lags + 1)]) / total


def ljung_box(correlations: np.ndarray, count: int) -> float:
    """Return the probability of autocorrelations as large in white noise: those of `count` values at the lags 1, 2, ...

    It is 1 without any lag.
    """
    lags = len(correlations)
    if not lags:
        return 1.0
    statistic = count * (count + 2.0) * float(np.sum(correlations**2 / (count - np.arange(1, lags + 1))))
    return float(gammaincc(lags / 2.0, statistic / 2.0))
