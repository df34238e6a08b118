"""Peaks of interface loads, called as in the `load` outputs of a mechanism, with bands by the posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from dockfmu.reconstruct.direct import DirectLoads

BAND = (0.05, 0.95)
"""Ends of the band of a peak: shares of the posterior below them."""
PLACES = np.array([0.25, 0.5, 0.75])
"""Shares of a step at which paths are drawn between two times."""
NEARBY = 2
"""Values on each side of a step whose deviations from their neighbours tell how rough the load is there."""


@dataclass(frozen=True)
class PeakLoad:
    """The peak of a load on a port: its median and its band, and the time of the largest mean, s."""

    port: str
    load: str
    unit: str
    value: float
    low: float
    high: float
    time: float


Load = Callable[[np.ndarray, float], np.ndarray]
LOADS: dict[str, tuple[str, Load]] = {
    "compression": ("N", lambda w, sign: sign * w[..., 0]),
    "tension": ("N", lambda w, sign: -sign * w[..., 0]),
    "shear": ("N", lambda w, _: np.hypot(w[..., 1], w[..., 2])),
    "torsion": ("N.m", lambda w, _: np.abs(w[..., 3])),
    "bending": ("N.m", lambda w, _: np.hypot(w[..., 4], w[..., 5])),
}
"""Loads by name: unit, and the load of wrenches on a port whose x axis presses for a sign of 1."""


def peak_loads(found: DirectLoads, seed: int = 1) -> list[PeakLoad]:
    """Return the peaks of the loads on each port, by the peak of each sample of the posterior.

    A peak may lie between two times: paths go on there as `between` says.
    """
    random = np.random.default_rng(seed)
    peaks = []
    for number, (port, target) in enumerate(found.ports.items()):
        part = slice(6 * number, 6 * number + 6)
        sign = 1.0 if target else -1.0
        paths = found.drawn[:, :, part] if len(found.drawn) else found.mean[None, :, part]
        error = 1.0 + found.mass_error * random.standard_normal(len(paths))
        inside = between(paths, found.mean[:, part], found.time, random) if len(found.drawn) else paths
        for name, (unit, load) in LOADS.items():
            largest = np.maximum(load(paths, sign).max(1), load(inside, sign).max(1)) * error
            low, median, high = band_of(largest)
            at = float(found.time[np.argmax(load(found.mean[:, part], sign))])
            peaks.append(PeakLoad(port, name, unit, median, low, high, at))
    return peaks


def band_of(values: np.ndarray) -> tuple[float, float, float]:
    """Return the lower end of the band of samples, their median, and its upper end."""
    low, median, high = np.quantile(values, [BAND[0], 0.5, BAND[1]])
    return float(low), float(median), float(high)


def between(paths: np.ndarray, mean: np.ndarray, time: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return values of paths at PLACES inside each step, shape (paths, places (N - 1), components).

    A load is smooth here and has a corner there, so that lots are drawn for each path and step. The one is between two
    curves: the cubic through the two times before and the two after, right for a smooth load, and a monotone one, right
    beside a corner. The other is by how much a curve misses the load: as much as a cubic through its neighbours misses
    one of the values near the step. It grows with the gap, as beside a corner, and has the covariance of a process
    whose rate is driven by noise between two given ends. What is shorter than a step is not seen.
    """
    if len(time) < 5:
        return paths
    gaps = time[1:] - time[:-1]
    at = time[:-1, None] + PLACES * gaps[:, None]
    first = np.clip(np.arange(len(gaps)) - 1, 0, len(time) - 4)
    nodes = first[:, None] + np.arange(4)
    curve = np.einsum("kpj,skjc->pskc", _lagrange(time[nodes], at), paths[:, nodes])
    monotone = PchipInterpolator(time, paths, axis=1)(at.T.ravel()).reshape(len(paths), len(PLACES), len(gaps), -1)
    curve = np.where(random.random(curve.shape[1:3])[None, :, :, None] < 0.5, curve, monotone.swapaxes(0, 1))
    lot = random.integers(0, 2 * NEARBY, curve.shape[1:3])
    size = _missed(mean, time)[np.arange(len(gaps)), lot] * gaps[:, None]
    s, t = np.minimum.outer(PLACES, PLACES), np.maximum.outer(PLACES, PLACES)
    root = np.linalg.cholesky(32.0 * s**2 * (1.0 - t) ** 2 * (3.0 * t - s - 2.0 * s * t))
    curve += np.tensordot(root, random.standard_normal(curve.shape), 1) * size
    return np.concatenate(list(curve), axis=1)


def _missed(values: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return by how much cubics through the neighbours miss the values near each step, over their gap.

    The shape is (N - 1, 2 NEARBY, components).
    """
    inner = np.arange(2, len(time) - 2)
    nodes = inner[:, None] + np.array([-2, -1, 1, 2])
    told = np.einsum("kpj,kjc->kc", _lagrange(time[nodes], time[inner][:, None]), values[nodes])
    found = np.zeros_like(values)
    found[inner] = (values[inner] - told) / (time[inner + 1] - time[inner - 1])[:, None]
    near = np.arange(len(time) - 1)[:, None] + np.arange(1 - NEARBY, 1 + NEARBY)
    return np.asarray(np.abs(found[np.clip(near, 0, len(time) - 1)]))


def _lagrange(nodes: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the weights of polynomials through nodes, shape (k, 4), at places, (k, p): shape (k, p, 4)."""
    weights = np.ones((*at.shape, nodes.shape[1]))
    for j in range(nodes.shape[1]):
        for i in range(nodes.shape[1]):
            if i != j:
                weights[:, :, j] *= (at - nodes[:, i, None]) / (nodes[:, j] - nodes[:, i])[:, None]
    return weights
