"""How rough the unknown wrench may be in time: given, or by the likelihood of the readings.

A docking is quiet, struck, and quiet again. The noise that drives an input has a level in time. Its logarithm is a
random walk: one that all components share, since one impact strikes them all, plus one of each group of components.
Both are where readings and walk together are likeliest. A component that the readings tell little of follows the
others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from dockfmu.reconstruct.assembly import InputPrior, SensorLayout, assemble, input_rows, noise_slopes, with_prior
from dockfmu.reconstruct.craft import WRENCH
from dockfmu.reconstruct.kalman import GaussMarkov, filtered, smoothed
from dockfmu.reconstruct.settings import DirectSettings

GROUPS = {"axial force": (0,), "lateral force": (1, 2), "torsion": (3,), "bending": (4, 5)}
"""Components that share a standard deviation, by their numbers in a wrench."""
FIRST = 1e3
"""First guess of a standard deviation, N and N m."""
MOST_TIMES = 800
"""Most times of the stretch on which constant standard deviations are estimated."""
LEAST, MOST = 1e-2, 1e7
"""Limits of a standard deviation, N and N m."""
BIN_S = 0.05
"""Time over which the level is the same, s."""
SHARED, OWN = 1.5, 0.5
"""Standard deviations of the steps of the walks from bin to bin: of the shared one and of those of the groups."""
FREE = 3.0
"""Standard deviation of the first value of each walk."""
ITERATIONS = 40
"""Most iterations of the search for the level."""
HIGHEST = 12.0
"""Most that the logarithm of a level may be, of either sign."""


def fit_prior(layout: SensorLayout, settings: DirectSettings, progress: Callable[[str], None]) -> InputPrior:
    """Return what is assumed of the inputs: as given, or where the readings are likeliest."""
    groups = _groups(layout, settings)
    given = {name: settings.force if "force" in name else settings.torque for name in groups}
    start = InputPrior(
        _sigma(layout, settings, groups, np.array([given[name] or FIRST for name in groups])),
        settings.length,
        settings.order,
        np.ones((max(len(layout.time) - 1, 0), layout.inputs)),
    )
    if all(value is not None for value in given.values()):
        return start
    sizes = _likeliest(_loudest(layout, start), settings, groups)
    progress(", ".join(f"{name} {size:.3g}" for name, size in zip(groups, sizes, strict=True)))
    fixed = replace(start, sigma=_sigma(layout, settings, groups, sizes))
    return _with_levels(layout, groups, fixed, progress) if settings.adaptive else fixed


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
    return replace(layout, time=layout.time[begin : begin + MOST_TIMES], rows=layout.rows[begin : begin + MOST_TIMES])


@dataclass(frozen=True)
class _Likelihood:
    """Evaluates the likelihood of the readings of a layout under priors of its inputs."""

    layout: SensorLayout
    model: GaussMarkov

    def of(self, prior: InputPrior) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the log likelihood and its slopes, as by `noise_slopes`; a very low one where arithmetic fails."""
        try:
            found = filtered(with_prior(self.model, self.layout, prior))
        except np.linalg.LinAlgError:
            return -1e18, np.zeros(self.layout.inputs), np.zeros_like(prior.level)
        return (found.log_likelihood, *noise_slopes(self.layout, prior, found))


def _likeliest(layout: SensorLayout, settings: DirectSettings, groups: dict[str, np.ndarray]) -> np.ndarray:
    """Return the standard deviations of the groups at which the readings of a layout are likeliest."""
    level = np.ones((len(layout.time) - 1, layout.inputs))

    def prior_of(logs: np.ndarray) -> InputPrior:
        return InputPrior(_sigma(layout, settings, groups, np.exp(logs)), settings.length, settings.order, level)

    begin = np.full(len(groups), np.log(FIRST))
    likelihood = _Likelihood(layout, assemble(layout, prior_of(begin)))

    def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
        prior, h = prior_of(logs), 1e-4
        value, start, steps = likelihood.of(prior)
        # how the standard deviations of the inputs follow those of the groups
        moved = [np.log(prior_of(logs + h * unit).sigma / prior.sigma) / h for unit in np.eye(len(logs))]
        return -value, -np.array(moved) @ (start + steps.sum(0))

    limits = [(np.log(LEAST), np.log(MOST))] * len(groups)
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=limits, options={"maxiter": 25, "ftol": 1e-5})
    return np.asarray(np.exp(found.x))


def _with_levels(
    layout: SensorLayout, groups: dict[str, np.ndarray], fixed: InputPrior, progress: Callable[[str], None]
) -> InputPrior:
    """Return the prior with the level in time at which readings and walks are likeliest together."""
    likelihood = _Likelihood(layout, assemble(layout, fixed))
    place = ((layout.time[1:] - layout.time[0]) / BIN_S).astype(int)
    bins, count = int(place.max(initial=0)) + 1, len(groups)
    steps = np.full((count + 1, bins), OWN)
    steps[0] = SHARED
    steps[:, 0] = FREE

    def prior_of(white: np.ndarray) -> tuple[InputPrior, np.ndarray]:
        walks = np.cumsum(steps * white.reshape(steps.shape), axis=1)
        logs = walks[0] + walks[1:]
        level = np.ones_like(fixed.level)
        for own, log in zip(groups.values(), np.clip(logs, -HIGHEST, HIGHEST), strict=True):
            level[:, own] = np.exp(log)[place][:, None]
        return replace(fixed, level=level), np.abs(logs) < HIGHEST

    def loss(white: np.ndarray) -> tuple[float, np.ndarray]:
        prior, inside = prior_of(white)
        value, _, by_step = likelihood.of(prior)
        by_bin = np.array([np.bincount(place, by_step[:, own].sum(1), bins) for own in groups.values()]) * inside
        slopes = np.vstack([by_bin.sum(0), by_bin])
        # a step of a walk moves all that follows
        by_white = steps * np.cumsum(slopes[:, ::-1], axis=1)[:, ::-1]
        return 0.5 * float(white @ white) - value, white - by_white.ravel()

    found = minimize(
        loss, np.zeros(steps.size), jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS, "ftol": 1e-6}
    )
    best, _ = prior_of(found.x)
    progress(f"roughness changes in time by {best.level.max() / best.level.min():.3g}")
    return best
