"""What a model cannot explain: residuals of readings, priors that exclude the data, ensembles that have collapsed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc

from dockfmu.reconstruct.ensemble import Posterior
from dockfmu.reconstruct.whiteness import autocorrelation, ljung_box

LAGS = 10
"""Most lags of the test of whiteness."""
FALSE_ALARM = 0.01
"""Probability with which a right model is said not to explain one signal or more of a reconstruction."""
LEFT = 0.5
"""Least share of the readings of a phase that the unknowns leave free."""
SIGMAS = 4.0
"""Standard deviations by which a mean square has to exceed 1 in an interval of time."""
BINS = 40
"""Intervals of time in which residuals are compared."""
FAR = 4.0
"""Normalised distance of data from a prior, root mean square, from which the prior excludes them."""
RARE = 1e-4
"""Probability of a posterior mean so far from the centre of the prior, below which the prior excludes the data."""
INCONSISTENT = 3.0
"""Ratio of squared residuals to the variance that spread and noise explain, above which an ensemble has collapsed."""


@dataclass(frozen=True)
class SignalResiduals:
    """Tell how the posterior explains the readings of a signal.

    Attributes
    ----------
    name : str
        The signal.
    count : int
        Readings that count.
    mean_square : float
        Mean square of the residuals, of the mean of the members, over the variance of noise and spread: 1 if explained.
    whiteness : float
        Probability of autocorrelations as large in white noise (Ljung & Box 1978, doi:10.1093/biomet/65.2.297).
    chances : tuple of float
        Probability of residuals as large from a right model, in each phase in which the signal has readings.
    times : tuple of (float, float)
        Intervals in which the model does not explain the readings, s.
    explained : bool
        Whether size and whiteness are those of noise. Residuals smaller than their deviations may be correlated: model
        error, of which the deviations have a share, is.
    """

    name: str
    count: int
    mean_square: float
    whiteness: float
    chances: tuple[float, ...]
    times: tuple[tuple[float, float], ...]
    explained: bool

    def __str__(self) -> str:
        if self.explained:
            return f"{self.name}: explained, mean square {self.mean_square:.3g}"
        when = ", ".join(f"{begin:.3g} to {end:.3g} s" for begin, end in self.times) or "at no time in particular"
        return (
            f"{self.name}: the model does not explain it: mean square {self.mean_square:.3g} of what noise and spread "
            f"allow, {when}; residuals as large have a probability of {min(self.chances):.2g}, as correlated ones of "
            f"{self.whiteness:.2g}"
        )


def residuals_of(
    parts: Mapping[str, slice],
    time: np.ndarray,
    data: np.ndarray,
    deviation: np.ndarray,
    outputs: np.ndarray,
    phases: Sequence[float] = (),
) -> tuple[SignalResiduals, ...]:
    """Return how members explain the readings of each signal.

    The residuals of the most probable run have the squares of noise less the directions that the unknowns follow, which
    spread over noise counts (exact in a linear model). Their sum is compared with chi-squared in each phase, by a law
    that makes FALSE_ALARM true of all tests of all signals together (Bonferroni).

    Parameters
    ----------
    parts : mapping of str to slice
        The readings of each signal, in the order of time.
    time, data, deviation : ndarray, shape (n,)
        Readings, and the standard deviations of their noise.
    outputs : ndarray, shape (members, n)
        Readings of the members after the data, all finite.
    phases : sequence of float
        Times that part the phases, s: those of events.
    """
    spread = outputs.var(axis=0, ddof=1) if len(outputs) > 1 else np.zeros(len(data))
    normal = (data - outputs.mean(axis=0)) / np.sqrt(deviation**2 + spread)
    squares, followed = (data - outputs.mean(axis=0)) ** 2 / deviation**2, spread / deviation**2
    edges = np.array([-np.inf, *sorted(phases), np.inf])
    chances = {
        name: tuple(_chance(squares[part][own], followed[part][own]) for own in _phases(time[part], edges))
        for name, part in parts.items()
    }
    level = FALSE_ALARM / max(1, sum(len(each) + 1 for each in chances.values()))
    return tuple(
        _signal(name, time[part], normal[part], chances[name], level) for name, part in parts.items() if chances[name]
    )


def _phases(time: np.ndarray, edges: np.ndarray) -> list[np.ndarray]:
    """Return the places of the readings of each phase that has any."""
    number = np.searchsorted(edges, time, side="right")
    return [np.flatnonzero(number == k) for k in np.unique(number)]


def _chance(squares: np.ndarray, followed: np.ndarray) -> float:
    """Return the probability of squared residuals as large, of which the unknowns follow some directions."""
    freedom = max(len(squares) - float(followed.sum()), LEFT * len(squares))
    return float(gammaincc(freedom / 2.0, float(squares.sum()) / 2.0))


def _signal(
    name: str, time: np.ndarray, normal: np.ndarray, chances: tuple[float, ...], level: float
) -> SignalResiduals:
    square, white = float(np.mean(normal**2)), whiteness(normal)
    explained = min(chances) >= level and not (white < level and square > 1.0)
    times = () if explained else _when(time, normal)
    return SignalResiduals(name, len(normal), square, white, chances, times, explained)


def whiteness(series: np.ndarray, lags: int = LAGS) -> float:
    """Return the probability that white noise has autocorrelations as large as those of a series, NaN if too short."""
    count = len(series)
    most = min(lags, count // 5)
    if most < 1:
        return math.nan
    return ljung_box(autocorrelation(series, most), count)


def _when(time: np.ndarray, normal: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Return the intervals in which residuals are larger than noise allows."""
    edges = np.linspace(time[0], time[-1], min(BINS, max(1, len(time) // 5)) + 1)
    place = np.clip(np.searchsorted(edges, time, side="right") - 1, 0, len(edges) - 2)
    found: list[tuple[float, float]] = []
    for k in range(len(edges) - 1):
        inside = normal[place == k]
        if not len(inside) or float(np.mean(inside**2)) <= 1.0 + SIGMAS * math.sqrt(2.0 / len(inside)):
            continue
        if found and found[-1][1] == float(edges[k]):
            found[-1] = (found[-1][0], float(edges[k + 1]))
        else:
            found.append((float(edges[k]), float(edges[k + 1])))
    return tuple(found)


def far_from_prior(
    parts: Mapping[str, slice], data: np.ndarray, deviation: np.ndarray, outputs: np.ndarray
) -> dict[str, float]:
    """Return the signals whose readings no draw of the prior comes near, with their distance.

    The distance is that of the nearest member and of the mean of all, whichever is smaller: the root mean square of the
    residuals over noise and spread. `outputs` are those of the members before the data, shape (members, n).
    """
    found = {}
    variance = deviation**2 + outputs.var(axis=0, ddof=1)
    for name, part in parts.items():
        if not len(data[part]):
            continue
        squares = np.mean((data[part] - outputs[:, part]) ** 2 / variance[part], axis=1)
        centre = np.mean((data[part] - outputs[:, part].mean(axis=0)) ** 2 / variance[part])
        if (distance := math.sqrt(min(float(centre), float(squares.min())))) > FAR:
            found[name] = distance
    return found


def strained(names: Sequence[str], posterior: Posterior) -> tuple[float, list[str]]:
    """Return the probability that the prior gives to unknowns as far from its centre, and those that are far.

    The unknowns are standard normal before the data, so that the square of the length of their mean has a chi-squared
    law; the names are those of unknowns beyond three standard deviations of the prior.
    """
    mean = posterior.mean
    far = [name for name, place in zip(names, mean, strict=True) if abs(place) > 3.0]
    return float(gammaincc(len(mean) / 2.0, float(mean @ mean) / 2.0)), far


def inconsistency(data: np.ndarray, deviation: np.ndarray, outputs: np.ndarray) -> float:
    """Return the mean square of the residuals of the mean over the mean variance of noise and spread.

    It is about 1 for an ensemble that knows what it does not know. It is large if the members agree with each other,
    but not with the data: the ensemble has collapsed, or the model is wrong.
    """
    variance = deviation**2 + outputs.var(axis=0, ddof=1)
    return float(np.mean((data - outputs.mean(axis=0)) ** 2 / variance))


def effective_rank(unknowns: np.ndarray) -> float:
    """Return the number of directions in which members differ: (sum of variances)^2 / (sum of their squares)."""
    variances = np.linalg.svd(unknowns - unknowns.mean(axis=0), compute_uv=False) ** 2
    total = float(np.sum(variances))
    return total**2 / float(np.sum(variances**2)) if total > 0.0 else 0.0


def collapse(data: np.ndarray, deviation: np.ndarray, posterior: Posterior) -> str:
    """Return a sentence if the ensemble has collapsed, empty if not.

    Members that are no more than the unknowns span too few directions; then the spread is too small, and the residuals
    show it unless noise hides it.
    """
    valid = posterior.valid
    members, count = int(valid.sum()), posterior.unknowns.shape[1]
    ratio = inconsistency(data, deviation, posterior.outputs[valid])
    if ratio <= INCONSISTENT and members > count:
        return ""
    reason = (
        f"{members} members span at most {members - 1} of {count} unknowns"
        if members <= count
        else f"{members} members differ in {effective_rank(posterior.unknowns[valid]):.2g} directions"
    )
    return (
        f"the ensemble has collapsed or the model is wrong: residuals are {math.sqrt(ratio):.3g} times what noise and "
        f"spread explain, and {reason}; its bands are too narrow"
    )


def log_evidence(data: np.ndarray, deviation: np.ndarray, posterior: Posterior) -> float:
    """Return the logarithm of the evidence of a model: the probability density of the data before they are seen.

    It is Laplace's: the likelihood and the prior at the mean of the posterior times the volume of the posterior, which
    is exact for a linear model (Kass & Raftery 1995, doi:10.1080/01621459.1995.10476572). Differences between models
    of the same data are the logarithms of Bayes factors.
    """
    residuals = (data - posterior.outputs[posterior.valid].mean(axis=0)) / deviation
    likelihood = -0.5 * float(residuals @ residuals) - float(np.sum(np.log(deviation * math.sqrt(2.0 * math.pi))))
    mean = posterior.mean
    _, volume = np.linalg.slogdet(posterior.covariance)
    return likelihood - 0.5 * float(mean @ mean) + 0.5 * float(volume)


def probabilities(evidences: Sequence[float]) -> np.ndarray:
    """Return the probabilities of models that are equally likely before the data."""
    logs = np.asarray(evidences, float)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
