"""What an estimation by the model says: unknowns and peaks with bands, residuals, evidence, warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dockfmu.campaign.sampling.draws import normal_numbers
from dockfmu.reconstruct.by_model import ModelEstimate
from dockfmu.reconstruct.chosen_data import histories_of
from dockfmu.reconstruct.ensemble_step import EnsembleError
from dockfmu.reconstruct.model_error import (
    RARE,
    SignalResiduals,
    collapse,
    log_evidence,
    residuals_of,
    strained,
)
from dockfmu.reconstruct.readings_runner import LIFE
from dockfmu.reconstruct.spent import RestoredLife, lives_of
from dockfmu.reconstruct.unknowns import unit_of_unknown

if TYPE_CHECKING:
    import pandas

BAND = (0.05, 0.5, 0.95)
"""Quantiles of the bands: their ends, and the middle."""
FEWEST = 19
"""Fewest members of a 90 % band: with fewer, their whole range holds less."""
PRIOR = 1000
"""Draws of the prior beside which the posterior is shown. They need no runs."""


@dataclass(frozen=True)
class PeakBand:
    """The largest value of a load in the runs of the posterior: ends of the 90 % band, and the middle, in `unit`."""

    name: str
    unit: str
    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class UnknownBand:
    """Tell what the data leave of an unknown.

    Attributes
    ----------
    name, unit : str
        Its short name and unit.
    low, middle, high : float
        Ends and middle of its 90 % band.
    width : float
        Standard deviation over that of the prior.
    begin, end : float
        Probability that the prior gives to values up to each end of the band, from 0 to 1.
    """

    name: str
    unit: str
    low: float
    middle: float
    high: float
    width: float
    begin: float
    end: float


@dataclass(frozen=True)
class Findings:
    """Sum up an estimate: unknowns, residuals, peaks, evidence, warnings.

    Attributes
    ----------
    unknowns : tuple of UnknownBand
        What the data leave of each unknown.
    residuals : tuple of SignalResiduals
        How each signal is explained.
    peaks : tuple of PeakBand
        Peaks of the measures.
    evidence : float
        Logarithm of the evidence of the model.
    warnings : tuple of str
        What should be known about the result: notes of the estimate, signals without explanation, a prior that excludes
        the data, a collapsed ensemble.
    life : tuple of RestoredLife
        Life spent of the sections that the telemetry names.
    """

    unknowns: tuple[UnknownBand, ...]
    residuals: tuple[SignalResiduals, ...]
    peaks: tuple[PeakBand, ...]
    evidence: float
    warnings: tuple[str, ...]
    life: tuple[RestoredLife, ...] = ()


def findings(found: ModelEstimate) -> Findings:
    """Return what an estimate says. Raises EnsembleError if fewer than three runs have outputs."""
    data, posterior, valid = found.data, found.posterior, found.posterior.valid
    if valid.sum() < 3:
        raise EnsembleError(f"{int(valid.sum())} of {len(valid)} members have outputs after the data")
    phases = [event.by for event in found.problem.telemetry.events]
    residuals = residuals_of(data.parts, data.time, data.values, data.deviation, posterior.outputs[valid], phases)
    warnings = [*found.problem.telemetry.notes, *found.notes]
    warnings += [str(signal) for signal in residuals if not signal.explained]
    chance, far = strained(found.problem.unknowns.labels, posterior)
    if chance < RARE or far:
        listed = f": {', '.join(far)} beyond three standard deviations of their prior" if far else ""
        warnings.append(f"the data pull the unknowns to where the prior has a probability of {chance:.2g}{listed}")
    if told := collapse(data.values, data.deviation, posterior):
        warnings.append(told)
    if valid.sum() < FEWEST:
        warnings.append(
            f"{int(valid.sum())} members: a band is the range of all, which holds "
            f"{100.0 * (valid.sum() - 1.0) / (valid.sum() + 1.0):.0f} %; {FEWEST} are needed for 90 %"
        )
    rows = found.rows[valid]
    measures = [m for m in found.problem.campaign.study.measures if rows[m.name].notna().any()]
    peaks = tuple(PeakBand(m.name, m.unit, *map(float, band_of(rows[m.name].to_numpy(float)))) for m in measures)
    evidence = log_evidence(data.values, data.deviation, posterior)
    life = tuple(lives_of(found.problem.instruments.sections, *section_draws(found, rows), band_of))
    return Findings(unknown_bands(found), residuals, peaks, evidence, tuple(warnings), life)


def section_draws(found: ModelEstimate, rows: pandas.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return peak stresses, Pa, and damages of runs, each of shape (runs, sections), NaN where a run has none."""
    count = len(found.problem.instruments.sections)
    told = np.full((len(rows), count, 2), np.nan)
    for k, cell in enumerate(rows[LIFE] if count else ()):
        if cell is not None and np.size(cell) == 2 * count:
            told[k] = np.reshape(cell, (count, 2))
    return told[..., 0], told[..., 1]


def band_of(draws: np.ndarray) -> np.ndarray:
    """Return ends and middle of the 90 % band of draws along their first axis, without NaN among them.

    One more draw of the same law, the truth, lies below the k-th of m sorted draws with the probability k / (m + 1). So
    quantiles are taken there, and bands of few members hold what they say; 1 % more where a place lies between two.
    """
    return np.asarray(np.nanquantile(draws, BAND, axis=0, method="weibull"))


def unknown_bands(found: ModelEstimate) -> tuple[UnknownBand, ...]:
    """Return what the data leave of each unknown, beside PRIOR draws of the unknowns before them."""
    problem, values = found.problem, found.values()
    unknowns, system = problem.unknowns, problem.campaign.system
    prior = unknowns.table(normal_numbers(problem.seed, (1,), (PRIOR, unknowns.dimension)))
    units = [unit_of_unknown(name, system, problem.telemetry) for name in unknowns.names]
    rows = []
    for k, (name, unit) in enumerate(zip(unknowns.labels, units, strict=True)):
        low, middle, high = map(float, band_of(values[:, k]))
        begin, end = (float(np.mean(prior[:, k] <= bound)) for bound in (low, high))
        width = float(values[:, k].std(ddof=1) / prior[:, k].std(ddof=1))
        rows.append(UnknownBand(name, unit, low, middle, high, width, begin, end))
    return tuple(rows)


def bands(found: ModelEstimate) -> np.ndarray:
    """Return percentiles of the largest loads in intervals of time, shape (3, loads, intervals), NaN without runs."""
    histories = histories_of(found.rows[found.posterior.valid], found.problem)
    empty = np.isnan(histories).all(axis=0)
    filled = np.where(empty, 0.0, histories)
    return np.where(empty, np.nan, band_of(filled))
