"""How rough the unknown wrench may be in time: given, or by the likelihood of the readings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import minimize, minimize_scalar

from dockfmu.reconstruct.assembly import InputPrior, SensorLayout, assemble, input_rows
from dockfmu.reconstruct.craft import WRENCH
from dockfmu.reconstruct.kalman import filtered, samples, smoothed
from dockfmu.reconstruct.settings import DirectSettings

GROUPS = {"axial force": (0,), "lateral force": (1, 2), "torsion": (3,), "bending": (4, 5)}
"""Components that share a standard deviation, by their numbers in a wrench."""
FIRST = 1e3
"""First guess of a standard deviation, N and N m."""
MOST_TIMES = 800
"""Most times of the stretch on which the likelihood is maximised."""
SMOOTHING_S = 0.1
"""Time over which the roughness is averaged for its level, s."""
LEVELS = (0.03, 30.0)
"""Lowest and highest level."""
ROUNDS, DRAWS = 3, 20
"""Rounds of the estimate of levels, and samples of the posterior in each."""


def fit_prior(layout: SensorLayout, settings: DirectSettings, progress: Callable[[str], None]) -> InputPrior:
    """Return what is assumed of the inputs: as given, or where the readings are likeliest."""
    level = np.ones((max(len(layout.time) - 1, 0), layout.inputs))
    groups = _groups(layout, settings)
    given = {name: settings.force if "force" in name else settings.torque for name in groups}
    start = InputPrior(
        _sigma(layout, settings, groups, np.array([given[name] or FIRST for name in groups])),
        settings.length, settings.order, level,
    )  # fmt: skip
    if all(value is not None for value in given.values()):
        return start
    part = _loudest(layout, start)
    sizes = _likeliest(part, settings, groups, progress)
    fixed = InputPrior(_sigma(layout, settings, groups, sizes), settings.length, settings.order, level)
    if not settings.adaptive:
        return fixed
    return _with_levels(layout, settings, groups, sizes, fixed, progress)


def _groups(layout: SensorLayout, settings: DirectSettings) -> dict[str, np.ndarray]:
    """Return the numbers of the inputs of each group; inputs repeat for each port, or for what sets both apart."""
    chosen = [WRENCH.index(name) for name in settings.components]
    found = {}
    for name, members in GROUPS.items():
        own = [k for k in range(layout.inputs) if chosen[k % len(chosen)] in members]
        if own:
            found[name] = np.array(own)
    return found


def _sigma(
    layout: SensorLayout, settings: DirectSettings, groups: dict[str, np.ndarray], sizes: np.ndarray
) -> np.ndarray:
    sigma = np.ones(layout.inputs)
    for own, size in zip(groups.values(), sizes, strict=True):
        sigma[own] = size
    if settings.together:
        # what sets the wrenches apart: a share of the force, and of the torque that it makes at an arm of 1 m
        m = layout.inputs // 2
        force = max((size for name, size in zip(groups, sizes, strict=True) if "force" in name), default=0.0)
        sigma[m:] = settings.tolerance * np.maximum(sigma[m:], force)
    return sigma


def _loudest(layout: SensorLayout, prior: InputPrior) -> SensorLayout:
    """Return the stretch of the layout with the largest changes of the load."""
    count = len(layout.time)
    if count <= MOST_TIMES:
        return layout
    mean, _ = smoothed(filtered(assemble(layout, prior)), input_rows(layout, prior.order))
    change = (np.diff(mean / prior.sigma, axis=0) ** 2).sum(1)
    sums = np.concatenate([[0.0], np.cumsum(change)])
    begin = int(np.argmax(sums[MOST_TIMES - 1 :] - sums[: len(sums) - MOST_TIMES + 1]))
    return _stretch(layout, begin, begin + MOST_TIMES)


def _stretch(layout: SensorLayout, begin: int, end: int) -> SensorLayout:
    return replace(layout, time=layout.time[begin:end], rows=layout.rows[begin:end])


def _likeliest(
    layout: SensorLayout, settings: DirectSettings, groups: dict[str, np.ndarray], progress: Callable[[str], None]
) -> np.ndarray:
    """Return the standard deviations of the groups at which the readings of a layout are likeliest."""
    level = np.ones((len(layout.time) - 1, layout.inputs))

    def loss(logs: np.ndarray) -> float:
        sigma = _sigma(layout, settings, groups, np.exp(np.clip(logs, np.log(1e-2), np.log(1e7))))
        return -_likelihood(layout, InputPrior(sigma, settings.length, settings.order, level))

    begin = np.full(len(groups), np.log(FIRST))
    simplex = np.vstack([begin, begin + 1.5 * np.eye(len(groups))])
    found = minimize(
        loss, begin, method="Nelder-Mead",
        options={"initial_simplex": simplex, "maxfev": 25 * len(groups), "xatol": 0.1, "fatol": 0.5},
    )  # fmt: skip
    sizes = np.exp(np.clip(found.x, np.log(1e-2), np.log(1e7)))
    progress(", ".join(f"{name} {size:.3g}" for name, size in zip(groups, sizes, strict=True)))
    return np.asarray(sizes)


def _likelihood(layout: SensorLayout, prior: InputPrior) -> float:
    """Return the log likelihood of the readings; a very low one where a prior is too wide for the arithmetic."""
    try:
        return filtered(assemble(layout, prior)).log_likelihood
    except np.linalg.LinAlgError:
        return -1e18


def _with_levels(
    layout: SensorLayout, settings: DirectSettings, groups: dict[str, np.ndarray], sizes: np.ndarray, fixed: InputPrior,
    progress: Callable[[str], None],
) -> InputPrior:  # fmt: skip
    """Return the prior with a level in time if the readings are likelier with it."""
    found = filtered(assemble(layout, fixed))
    best, best_likelihood = fixed, found.log_likelihood
    rows = input_rows(layout, fixed.order, fixed.order - 1)
    for number in range(ROUNDS):
        drawn = samples(found, rows, DRAWS, np.random.default_rng(number))
        level = _levels(layout, best, groups, drawn)

        def of(scale: float, level: np.ndarray = level) -> InputPrior:
            sigma = _sigma(layout, settings, groups, sizes) * np.exp(scale)
            return InputPrior(sigma, settings.length, settings.order, level)

        chosen = minimize_scalar(
            lambda scale, of=of: -_likelihood(layout, of(scale)),
            bounds=(-2.0, 2.0), method="bounded", options={"maxiter": 8, "xatol": 0.1},
        )  # fmt: skip
        trial = of(float(chosen.x))
        found = filtered(assemble(layout, trial))
        if found.log_likelihood <= best_likelihood:
            break
        best, best_likelihood = trial, found.log_likelihood
    progress(f"roughness changes in time by {best.level.max() / best.level.min():.3g}")
    return best


def _levels(layout: SensorLayout, prior: InputPrior, groups: dict[str, np.ndarray], drawn: np.ndarray) -> np.ndarray:
    """Return the levels of each step: how much the last derivatives of a group change there, against the expected.

    The mean square of the change over samples of the posterior is that of the EM algorithm (Shumway and Stoffer, 1982),
    here averaged over time: where the readings tell nothing, the level stays.
    """
    h = np.diff(layout.time)
    rate = 2.0 / prior.length if prior.order == 1 else 4.0 * (np.sqrt(3.0) / prior.length) ** 3
    expected = rate * prior.sigma**2 * h[:, None]
    share = (np.diff(drawn, axis=1) ** 2).mean(0) / expected
    even = np.arange(layout.time[0], layout.time[-1], float(np.median(h)))
    width = SMOOTHING_S / float(np.median(h))
    level = np.ones((len(h), layout.inputs))
    for own in groups.values():
        spread = gaussian_filter1d(np.interp(even, layout.time[1:], share[:, own].mean(1)), width)
        raw = np.sqrt(np.interp(layout.time[1:], even, spread))
        # steps of a quarter of a decade keep the number of different matrices small
        level[:, own] = (10.0 ** (np.round(4.0 * np.log10(np.clip(raw, *LEVELS))) / 4.0))[:, None]
    return level
