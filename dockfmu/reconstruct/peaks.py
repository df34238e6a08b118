"""Peaks of interface loads, called as in the `load` outputs of a mechanism, with bands by the posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter1d

from dockfmu.reconstruct.direct import DirectLoads

BAND = (0.05, 0.95)
"""Ends of the band of a peak: shares of the posterior below them."""
NEARBY_S = 0.1
"""Half the time over which the deviation of values from their neighbours is averaged, s."""


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
LOADS: dict[str, tuple[str, Load, tuple[int, ...]]] = {
    "compression": ("N", lambda w, sign: sign * w[..., 0], (0,)),
    "tension": ("N", lambda w, sign: -sign * w[..., 0], (0,)),
    "shear": ("N", lambda w, _: np.hypot(w[..., 1], w[..., 2]), (1, 2)),
    "torsion": ("N.m", lambda w, _: np.abs(w[..., 3]), (3,)),
    "bending": ("N.m", lambda w, _: np.hypot(w[..., 4], w[..., 5]), (4, 5)),
}
"""Loads by name: unit, the load of wrenches on a port whose x axis presses for a sign of 1, and its components."""


def peak_loads(found: DirectLoads, seed: int = 1) -> list[PeakLoad]:
    """Return the peaks of the loads on each port.

    A peak may lie between two times. There the paths of a smooth input are cubic by their values and rates, plus what
    such curves miss: a normal deviation of the size by which values deviate from the mean of their neighbours nearby.
    Those of a rough input are Brownian bridges, whose largest values are drawn.
    """
    random = np.random.default_rng(seed)
    peaks = []
    for number, (port, target) in enumerate(found.ports.items()):
        part = slice(6 * number, 6 * number + 6)
        sign = 1.0 if target else -1.0
        paths = found.drawn[:, :, part] if len(found.drawn) else found.mean[None, :, part]
        error = 1.0 + found.mass_error * random.standard_normal(len(paths))
        for name, (unit, load, components) in LOADS.items():
            mean = load(found.mean[:, part], sign)
            values = load(paths, sign)
            if found.slopes.size:
                inside = load(_inside(paths, found.slopes[:, :, part], found.time), sign)
                between = (inside + _missed(mean, found.time, inside.shape, random)).max(1)
            else:
                between = _between(values, _growth(found, number, components), random)
            largest = np.maximum(values.max(1), between) * error
            low, median, high = band_of(largest)
            at = float(found.time[np.argmax(mean)])
            peaks.append(PeakLoad(port, name, unit, median, low, high, at))
    return peaks


def band_of(values: np.ndarray) -> tuple[float, float, float]:
    """Return the lower end of the band of samples, their median, and its upper end."""
    low, median, high = np.quantile(values, [BAND[0], 0.5, BAND[1]])
    return float(low), float(median), float(high)


def _growth(found: DirectLoads, port: int, components: tuple[int, ...]) -> np.ndarray:
    """Return the variance that the prior adds to a component over each step, (N - 1,); zero for a smooth input."""
    prior = found.prior
    h = np.diff(found.time)
    if prior is None or prior.order != 1:
        return np.zeros(len(h))
    rate = 2.0 * (prior.sigma * prior.level) ** 2 / prior.length
    shares = found.input_map[6 * port : 6 * port + 6][list(components)] ** 2
    return np.asarray((rate @ shares.T).mean(1) * h)


def _inside(values: np.ndarray, slopes: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return cubic Hermite values at three places inside each step, shape (paths, 3 (N - 1), components)."""
    h = np.diff(time)[None, :, None]
    a, b, da, db = values[:, :-1], values[:, 1:], h * slopes[:, :-1], h * slopes[:, 1:]
    places = []
    for s in (0.25, 0.5, 0.75):
        blend = s * s * (3.0 - 2.0 * s)
        places.append((1.0 - blend) * a + blend * b + s * (1.0 - s) * ((1.0 - s) * da - s * db))
    return np.concatenate(places, axis=1)


def _missed(values: np.ndarray, time: np.ndarray, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Return draws of what lies between the samples of a load and a curve through them, at the places of `_inside`.

    A value of a rough load deviates from the mean of its neighbours with twice the variance with which the middle of a
    step deviates from the mean of its ends.
    """
    if len(values) < 3:
        return np.zeros(shape)
    deviation = np.zeros(len(values))
    deviation[1:-1] = values[1:-1] - 0.5 * (values[:-2] + values[2:])
    width = max(1, round(NEARBY_S / float(np.median(np.diff(time)))))
    size = np.sqrt(0.5 * uniform_filter1d(deviation**2, 2 * width + 1))
    middle = 0.5 * (size[:-1] + size[1:])
    drawn = random.standard_normal((shape[0], len(middle))) * middle
    return np.concatenate([share * drawn for share in (0.75, 1.0, 0.75)], axis=1)


def _between(values: np.ndarray, growth: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the largest values of Brownian bridges between the values of each path, shape (paths,)."""
    if not growth.any():
        return np.asarray(values.max(1))
    a, b = values[:, :-1], values[:, 1:]
    drawn = -np.log(1.0 - random.random(a.shape))
    return np.asarray(np.max(0.5 * (a + b + np.sqrt((a - b) ** 2 + 2.0 * growth * drawn)), axis=1))
