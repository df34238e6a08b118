"""What an estimation by the model found, as files: unknowns, loads with bands, residuals, and a run at the mean."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.files import atomic_file, write_file
from dockfmu.declare.packages.bundle import silent
from dockfmu.reconstruct.by_model import ModelEstimate, estimate
from dockfmu.reconstruct.chosen_data import histories_of
from dockfmu.reconstruct.ensemble_step import EnsembleError
from dockfmu.reconstruct.model_error import (
    RARE,
    SignalResiduals,
    collapse,
    log_evidence,
    probabilities,
    residuals_of,
    strained,
)
from dockfmu.reconstruct.model_problem import models, read_problem
from dockfmu.reconstruct.reading import read_telemetry
from dockfmu.reconstruct.unknowns import of_the_system
from dockfmu.record import RecordedRun

BAND = (5.0, 50.0, 95.0)
"""Percentiles of the bands: their ends, and the middle."""
UNKNOWNS, BANDS, SUMMARY, MEAN = "unknowns.parquet", "load_bands.parquet", "ensemble.json", "mean"
MODELS = "models.json"


@dataclass(frozen=True)
class PeakBand:
    """The largest value of a load in the runs of the posterior: ends of the 90 % band, and the middle, in `unit`."""

    name: str
    unit: str
    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Findings:
    """Sum up an estimate: residuals, peaks, evidence, warnings.

    Attributes
    ----------
    residuals : tuple of SignalResiduals
        How each signal is explained.
    peaks : tuple of PeakBand
        Peaks of the measures.
    evidence : float
        Logarithm of the evidence of the model.
    warnings : tuple of str
        What should be known about the result: notes of the estimate, signals without explanation, a prior that excludes
        the data, a collapsed ensemble.
    """

    residuals: tuple[SignalResiduals, ...]
    peaks: tuple[PeakBand, ...]
    evidence: float
    warnings: tuple[str, ...]


def findings(found: ModelEstimate) -> Findings:
    """Return what an estimate says. Raises EnsembleError if fewer than three runs have outputs."""
    data, posterior, valid = found.data, found.posterior, found.posterior.valid
    if valid.sum() < 3:
        raise EnsembleError(f"{int(valid.sum())} of {len(valid)} members have outputs after the data")
    residuals = residuals_of(data.parts, data.time, data.values, data.deviation, posterior.outputs[valid])
    warnings = [*found.problem.telemetry.notes, *found.notes]
    warnings += [str(signal) for signal in residuals if not signal.explained]
    chance, far = strained(found.problem.unknowns.labels, posterior)
    if chance < RARE or far:
        listed = f": {', '.join(far)} beyond three standard deviations of their prior" if far else ""
        warnings.append(f"the data pull the unknowns to where the prior has a probability of {chance:.2g}{listed}")
    if told := collapse(data.values, data.deviation, posterior):
        warnings.append(told)
    rows = found.rows[valid]
    measures = [m for m in found.problem.campaign.study.measures if rows[m.name].notna().any()]
    peaks = tuple(PeakBand(m.name, m.unit, *np.nanpercentile(rows[m.name].astype(float), BAND)) for m in measures)
    return Findings(residuals, peaks, log_evidence(data.values, data.deviation, posterior), tuple(warnings))


def bands(found: ModelEstimate) -> np.ndarray:
    """Return percentiles of the largest loads in intervals of time, shape (3, loads, intervals), NaN without runs."""
    histories = histories_of(found.rows[found.posterior.valid], found.problem)
    empty = np.isnan(histories).all(axis=0)
    filled = np.where(empty, 0.0, histories)
    return np.where(empty, np.nan, np.nanpercentile(filled, BAND, axis=0))


def record_mean(
    found: ModelEstimate, folder: Path, *, report: bool = False, progress: Callable[[str], None] = silent
) -> RecordedRun:
    """Run and record at the mean of the posterior, as `dockfmu run` does; `dockfmu view` opens the folder."""
    campaign = found.problem.campaign
    system = campaign.system.with_values(of_the_system(found.mean_values))
    folder.mkdir(parents=True, exist_ok=True)
    return system.record(
        folder, campaign.study.options, record=None, every=None, report=report, progress=progress,
        command=f"dockfmu reconstruct {found.problem.telemetry.table.where}",
    )  # fmt: skip


def write_estimate(
    found: ModelEstimate, said: Findings, folder: Path, *, progress: Callable[[str], None] = silent
) -> list[Path]:
    """Write what an estimate found and says to a folder, and return the files.

    They are `unknowns.parquet`, a row for each member with its unknowns, outcome and peaks; `load_bands.parquet`, ends
    and middle of the 90 % band of each load over time; `ensemble.json`, the summary; and the folder `mean` of the run
    at the mean of the posterior. Raises WriteError.
    """
    import pandas

    problem = found.problem
    folder.mkdir(parents=True, exist_ok=True)
    members = pandas.DataFrame(problem.unknowns.table(found.posterior.unknowns), columns=list(problem.unknowns.labels))
    kept = ["outcome", *(peak.name for peak in said.peaks)]
    members = members.assign(**{name: found.rows[name].to_numpy() for name in kept}, valid=found.posterior.valid)
    edges, ends = problem.instruments.edges, bands(found)
    table = {"from": edges[:-1], "to": edges[1:]}
    for k, name in enumerate(problem.instruments.loads):
        table |= {f"{name} {word}": ends[j, k] for j, word in enumerate(("low", "middle", "high"))}
    files = []
    for frame, file in ((members, UNKNOWNS), (pandas.DataFrame(table), BANDS)):
        with atomic_file(folder / file) as unfinished:
            frame.to_parquet(unfinished)
        files.append(folder / file)
    files.append(write_file(folder / SUMMARY, json.dumps(summary(found, said), indent=1).encode()))
    record_mean(found, folder / MEAN, progress=progress)
    return files


def summary(found: ModelEstimate, said: Findings) -> dict[str, Any]:
    """Return the summary of an estimate, as numbers and words."""
    problem, values = found.problem, found.values()
    low, middle, high = np.percentile(values, BAND, axis=0)
    prior = problem.unknowns.table(found.posterior.prior).std(axis=0)
    return {
        "system": problem.telemetry.system,
        "members": problem.members,
        "runs": (1 + len(found.posterior.steps)) * problem.members,
        "steps": [
            {"window": s.window, "share": s.share, "mean_square": s.misfit, "absent": s.absent}
            for s in found.posterior.steps
        ],
        "unknowns": {
            name: {
                "low": low[k], "middle": middle[k], "high": high[k], "width": float(values[:, k].std() / prior[k]),
            }
            for k, name in enumerate(problem.unknowns.labels)
        },
        "peaks": {p.name: {"unit": p.unit, "low": p.low, "middle": p.middle, "high": p.high} for p in said.peaks},
        "residuals": {
            r.name: {
                "count": r.count, "mean_square": r.mean_square,
                "whiteness": None if math.isnan(r.whiteness) else r.whiteness,
                "explained": r.explained, "times": [list(times) for times in r.times],
            }
            for r in said.residuals
        },
        "log_evidence": said.evidence,
        "warnings": list(said.warnings),
    }  # fmt: skip


def compare_models(labels: Sequence[str], said: Sequence[Findings]) -> dict[str, float]:
    """Return the probability of each model of a comparison, equally likely before the data."""
    return dict(zip(labels, probabilities([each.evidence for each in said]).tolist(), strict=True))


@dataclass(frozen=True)
class ModelReconstruction:
    """Hold what the models of `[ensemble]` say of a docking.

    Attributes
    ----------
    estimates, findings : mapping of str to ModelEstimate and to Findings
        By the label of the model, "" if one is given.
    probabilities : mapping of str to float
        Probability of each model, equally likely before the data.
    """

    estimates: Mapping[str, ModelEstimate]
    findings: Mapping[str, Findings]
    probabilities: Mapping[str, float]


def reconstruct_by_model(
    file: Path | str,
    folder: Path | str,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    memory_limit: str = "2GiB",
    progress: Callable[[str], None] = silent,
) -> ModelReconstruction:
    """Estimate what a docking did to the structure by runs that reproduce its telemetry, and write it to a folder.

    An interrupted estimation continues in its folder; `runs` in it is a campaign. With several `[[ensemble.model]]`
    each has a folder of its own, and their evidence is compared.

    Parameters
    ----------
    file : path
        The TOML file that names system and telemetry, with a table `[ensemble]`.
    folder : path
        Receives `unknowns.parquet`, `load_bands.parquet`, `ensemble.json` and `mean`, the recorded run at the mean.
    workers, scheduler, memory_limit
        As for a campaign; 0 workers make the runs in this process.
    progress : callable
        Called with lines on the state of the estimation.

    Raises
    ------
    DeclarationError, OptionError, StructureError
        for a file, telemetry or values that are wrong
    ReconstructionError, EnsembleError
        for a folder of other telemetry, readings outside the runs, and too few runs with outputs
    CampaignError, LockedError, SchedulerLostError, WorkerMismatchError, MachineFaultError, WriteError
        as a campaign does
    """
    telemetry, place = read_telemetry(file), Path(folder)
    estimates, said = {}, {}
    for label in models(telemetry):
        own = place / label if label else place
        if label:
            progress(f"model {label}")
        found = estimate(
            read_problem(telemetry, own / "runs", label),
            workers=workers, scheduler=scheduler, memory_limit=memory_limit, progress=progress,
        )  # fmt: skip
        estimates[label], said[label] = found, findings(found)
        write_estimate(found, said[label], own, progress=progress)
    chances = compare_models(tuple(said), tuple(said.values()))
    if len(said) > 1:
        about = {"probabilities": chances, "log_evidence": {label: each.evidence for label, each in said.items()}}
        write_file(place / MODELS, json.dumps(about, indent=1).encode())
    return ModelReconstruction(estimates, said, chances)
