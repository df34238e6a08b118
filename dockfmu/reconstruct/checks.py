"""What the residuals say: whiteness by signal, when a model cannot explain the readings, and columns that are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dockfmu.reconstruct.assembly import InputPrior, SensorLayout, assemble, known_loads, known_part
from dockfmu.reconstruct.kalman import Filtered, filtered, smoothed
from dockfmu.reconstruct.whiteness import autocorrelation, ljung_box

LAGS = 20
"""Lags of the test of whiteness."""
WHITE = 0.01
"""Probability below which a sequence is not taken for white."""
WINDOW_S = 0.5
"""Length of the stretch in which residuals are largest, s."""
INCONSISTENT = 3.0
"""Mean square of the whitened innovations above which columns are checked against each other."""
MISTAKES = {
    -1.0: "has the wrong sign",
    57.29578: "is in deg, not rad",
    1 / 57.29578: "is in rad, not deg",
    1e3: "is in a unit a thousand times smaller",
    1e-3: "is in a unit a thousand times larger",
    9.80665: "is in m/s2, not in g",
    1 / 9.80665: "is in g, not in m/s2",
}
"""Ratios of a reading to what the others tell of it, and what they mean."""


@dataclass(frozen=True)
class ResidualTest:
    """The innovations of a signal over their standard deviations: 1 is the mean square of a true model.

    `probability` is that of white noise with larger correlations; `worst` the middle of the stretch of WINDOW_S with
    the largest mean square, s, and `worst_square` that.
    """

    signal: str
    count: int
    mean_square: float
    correlation: float
    probability: float
    worst: float
    worst_square: float

    @property
    def verdict(self) -> str:
        """The result in words."""
        if self.count < 3 * LAGS:
            return "too few readings"
        if self.probability >= WHITE and self.mean_square < 1.5:
            return "white"
        what = "more than noise" if self.mean_square >= 1.5 else "not white"
        return f"{what}, most at {self.worst:.2f} s"


def residual_tests(residuals: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> list[ResidualTest]:
    """Return the test of each signal's residuals."""
    return [_test(name, time, values) for name, (time, values) in residuals.items() if len(values)]


def _test(name: str, time: np.ndarray, values: np.ndarray) -> ResidualTest:
    n = len(values)
    correlations = autocorrelation(values, min(LAGS, n - 1))
    ends = np.searchsorted(time, time + WINDOW_S, side="right")
    sums = np.concatenate([[0.0], np.cumsum(values**2)])
    counts = ends - np.arange(n)
    means = (sums[ends] - sums[:-1]) / counts
    means[counts < 0.5 * counts.max()] = 0.0
    k = int(np.argmax(means))
    middle = 0.5 * (time[k] + time[ends[k] - 1])
    square = float((values**2).mean())
    return ResidualTest(
        name, n, square, float(correlations[0]) if n > 1 else 0.0, ljung_box(correlations, n), float(middle),
        float(means[k]),
    )  # fmt: skip


def consistency(found: Filtered) -> float:
    """Return the mean square of all innovations, whitened together at each time: 1 for a true model."""
    total = sum(float(v @ P @ v) for v, P in zip(found.innovations, found.precisions, strict=True))
    return total / max(sum(map(len, found.innovations)), 1)


def suspects(layout: SensorLayout, prior: InputPrior, found: Filtered) -> list[str]:
    """Return sentences on signals that contradict the others, and what they look like.

    Each signal is compared with what all others tell of it. Where two contradict each other and nothing else decides,
    both are named.
    """
    whole = consistency(found)
    if whole < INCONSISTENT:
        return []
    notes = []
    for signal in layout.telemetry.signals:
        if signal.name not in layout.used or len(layout.used) < 2:
            continue
        rest = _without(layout, layout.telemetry.signals.index(signal))
        try:
            others = filtered(assemble(rest, prior))
        except np.linalg.LinAlgError:
            continue
        if consistency(others) > 0.5 * whole:
            continue
        told = _told_by_others(layout, prior, others, layout.telemetry.signals.index(signal))
        read = layout.telemetry.values[signal.part] - layout.used[signal.name].bias
        here = np.isfinite(told) & layout.telemetry.mask[signal.part]
        correlation = float(np.corrcoef(told[here], read[here])[0, 1])
        ratio = float(told[here] @ read[here] / max(told[here] @ told[here], 1e-300))
        nearest = min(MISTAKES, key=lambda known: abs(np.log(abs(ratio / known))) + 9.0 * (ratio * known < 0.0))
        fits = abs(correlation) > 0.8 and abs(ratio / nearest - 1.0) < 0.2
        looks = f": perhaps it {MISTAKES[nearest]}" if fits else ""
        notes.append(
            f"{signal.name} contradicts the other signals: it reads {ratio:.3g} times what they tell of it "
            f"(correlation {correlation:.2f}){looks}"
        )
    return notes or [
        f"the signals contradict each other or the model: their innovations are {np.sqrt(whole):.3g} times as large as "
        "noise allows"
    ]


def _without(layout: SensorLayout, number: int) -> SensorLayout:
    rows = [taken[layout.signal_of[taken] != number] for taken in layout.rows]
    return replace(layout, rows=rows)


def _told_by_others(layout: SensorLayout, prior: InputPrior, others: Filtered, number: int) -> np.ndarray:
    """Return what the other signals tell of a signal, less its bias, NaN where nothing."""
    alone = replace(layout, rows=[taken[layout.signal_of[taken] == number] for taken in layout.rows])
    model = assemble(alone, prior)
    mean, _ = smoothed(others)
    signal = layout.telemetry.signals[number]
    offsets = known_part(alone, known_loads(alone, None), None) - layout.used[signal.name].bias
    told = np.full(len(layout.telemetry.time), np.nan)
    for k, taken in enumerate(alone.rows):
        if len(taken):
            told[taken] = model.layouts[model.layout[k]][0] @ mean[k] + offsets[taken]
    return told[signal.part]
