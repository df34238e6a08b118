"""What a layout of sensors can tell of the wrenches, before any is estimated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockfmu.reconstruct.assembly import InputPrior, SensorLayout, assemble
from dockfmu.reconstruct.settings import DirectSettings
from dockfmu.reconstruct.unbiased import UnobservableError

SPAN_S, MOST_STEPS = 2.0, 400
"""Length of the stretch over which a constant wrench must be told, s, and most times in it."""
SCALE = 1e3
"""The wrench that must be told apart from none, N and N m."""
TOLD = 4.0
"""A direction is told if the readings of the stretch leave less than 1 / (1 + TOLD) of its variance."""


def information(layout: SensorLayout) -> np.ndarray:
    """Return the information that readings have on constant inputs, over those of a variance of SCALE squared, (m, m).

    States at the start are as unknown as in the estimate; none of the wrench's own change is assumed.
    """
    n, m = layout.states, layout.inputs
    prior = InputPrior(np.full(m, SCALE), 1e12, 1, np.ones((max(len(layout.time) - 1, 0), m)))
    model = assemble(layout, prior)
    first = _busy(layout)
    start = np.linalg.inv(model.covariance[:n, :n])
    total = np.zeros((n + m, n + m))
    total[:n, :n] = start
    scale = np.concatenate([np.sqrt(np.diagonal(model.covariance)[:n]), np.full(m, SCALE)])
    grown = np.diag(scale)
    total = grown.T @ total @ grown
    for k in range(first, min(len(layout.time), first + MOST_STEPS)):
        if layout.time[k] > layout.time[first] + SPAN_S:
            break
        H, R = model.layouts[model.layout[k]]
        seen = H @ grown / np.sqrt(R)[:, None]
        total += seen.T @ seen
        if k + 1 < len(layout.time):
            grown = model.steps[model.step[k]][0] @ grown
    cross = np.linalg.solve(total[:n, :n], total[:n, n:])
    schur = total[n:, n:] - total[n:, :n] @ cross
    return 0.5 * (schur + schur.T)


def _busy(layout: SensorLayout) -> int:
    """Return the time from which most readings follow: a stretch that has all frames if there is one."""
    counts = np.array([len(rows) for rows in layout.rows])
    sums = np.concatenate([[0], np.cumsum(counts)])
    ends = np.searchsorted(layout.time, layout.time + SPAN_S, side="right")
    ends = np.minimum(ends, np.arange(len(counts)) + MOST_STEPS)
    return int(np.argmax(sums[ends] - sums[:-1]))


def check_told(layout: SensorLayout, ports: Sequence[str], settings: DirectSettings) -> None:
    """Raise UnobservableError if the readings cannot tell every unknown wrench, and say what they can."""
    found = information(layout)
    m = len(settings.components)
    problems = []
    for number, port in enumerate(ports[:1] if settings.together else ports):
        own = slice(m * number, m * (number + 1))
        values, vectors = np.linalg.eigh(found[own, own])
        if values[0] > TOLD:
            continue
        missing = [_words(vectors[:, k], settings.components) for k in np.flatnonzero(values <= TOLD)]
        left = np.diagonal(np.linalg.inv(np.eye(m) + found[own, own]))
        alone = [name for name, share in zip(settings.components, left, strict=True) if share < 1.0 / (1.0 + TOLD)]
        problems.append(
            f"{port}: the readings tell {int((values > TOLD).sum())} of {m} components of the wrench; they tell "
            f"{', '.join(alone) or 'no component by itself'}, and not {'; '.join(missing)}"
        )
    if problems:
        raise UnobservableError(
            f"{layout.telemetry.table.where}: direct: {' - '.join(problems)}. Add accelerometers or gyros, or say with "
            "`components` which are unknown and let the others be zero"
        )


def _words(direction: np.ndarray, components: Sequence[str]) -> str:
    """Return a direction in words: its largest parts."""
    largest = [k for k in np.argsort(-np.abs(direction)) if abs(direction[k]) > 0.2]
    sign = np.sign(direction[largest[0]])
    parts = [f"{sign * direction[k]:+.2f} {components[k]}" for k in largest]
    return " ".join(parts).removeprefix("+1.00 ").removeprefix("+")
