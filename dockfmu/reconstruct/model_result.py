"""What an estimation by the model found, as files: unknowns, loads with bands, residuals, and a run at the mean."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py

from dockfmu.base.files import atomic_file, write_file
from dockfmu.base.numbers import finite
from dockfmu.declare.packages.bundle import silent
from dockfmu.reconstruct.by_model import ModelEstimate, estimate
from dockfmu.reconstruct.model_error import probabilities
from dockfmu.reconstruct.model_findings import Findings, bands, findings, section_draws
from dockfmu.reconstruct.model_page import write_model_page
from dockfmu.reconstruct.model_problem import models, read_problem
from dockfmu.reconstruct.reading import read_telemetry
from dockfmu.reconstruct.unknowns import of_the_system
from dockfmu.record import RecordedRun

UNKNOWNS, BANDS, BOTH, SUMMARY, MEAN = (
    "unknowns.parquet", "load_bands.parquet", "ensemble.h5", "ensemble.json", "mean",
)  # fmt: skip
MODELS = "models.json"


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

    They are `unknowns.parquet`, a row for each member with its unknowns, outcome, peaks and, of each section, peak
    stress, Pa, and damage; `load_bands.parquet`, ends and middle of the 90 % band of each load over time; `ensemble.h5`
    with both, a group for each and a dataset for each column; `ensemble.json`, the summary; and the folder `mean` of
    the run at the mean of the posterior. Raises WriteError.
    """
    import pandas

    problem = found.problem
    folder.mkdir(parents=True, exist_ok=True)
    members = pandas.DataFrame(problem.unknowns.table(found.posterior.unknowns), columns=list(problem.unknowns.labels))
    kept = ["outcome", *(peak.name for peak in said.peaks)]
    members = members.assign(**{name: found.rows[name].to_numpy() for name in kept}, valid=found.posterior.valid)
    units = {u.name: u.unit for u in said.unknowns} | {p.name: p.unit for p in said.peaks} | {"from": "s", "to": "s"}
    stresses, damages = section_draws(found, found.rows)
    for k, section in enumerate(problem.instruments.sections):
        members[f"stress {section.name}"], members[f"damage {section.name}"] = stresses[:, k], damages[:, k]
        units |= {f"stress {section.name}": "Pa", f"damage {section.name}": "1"}
    edges, ends = problem.instruments.edges, bands(found)
    table = {"from": edges[:-1], "to": edges[1:]}
    own = {m.signals[0]: m.unit for m in problem.campaign.study.measures if m.signals}
    for k, name in enumerate(problem.instruments.loads):
        columns = {f"{name} {word}": ends[j, k] for j, word in enumerate(("low", "middle", "high"))}
        table, units = table | columns, units | dict.fromkeys(columns, own[name])
    files, frames = [folder / BOTH], {UNKNOWNS: members, BANDS: pandas.DataFrame(table)}
    for file, frame in frames.items():
        with atomic_file(folder / file) as unfinished:
            frame.to_parquet(unfinished)
        files.append(folder / file)
    with atomic_file(folder / BOTH) as unfinished, h5py.File(unfinished, "w") as out:
        for file, frame in frames.items():
            group = out.create_group(Path(file).stem)
            for name in frame:
                group[name] = frame[name].to_list()
                group[name].attrs["unit"] = units.get(str(name), "")
    files.append(write_file(folder / SUMMARY, json.dumps(summary(found, said), indent=1).encode()))
    record_mean(found, folder / MEAN, progress=progress)
    return files


def summary(found: ModelEstimate, said: Findings) -> dict[str, Any]:
    """Return the summary of an estimate, as numbers and words."""
    problem = found.problem
    return {
        "system": problem.telemetry.system,
        "members": problem.members,
        "runs": found.posterior.runs,
        "steps": [
            {"window": s.window, "share": s.share, "mean_square": s.misfit, "absent": s.absent}
            for s in found.posterior.steps
        ],
        "unknowns": {
            u.name: {"unit": u.unit, "low": u.low, "middle": u.middle, "high": u.high, "width": u.width}
            for u in said.unknowns
        },
        "peaks": {p.name: {"unit": p.unit, "low": p.low, "middle": p.middle, "high": p.high} for p in said.peaks},
        "residuals": {
            r.name: {
                "count": r.count, "mean_square": r.mean_square,
                "whiteness": None if math.isnan(r.whiteness) else r.whiteness,
                "chances": list(r.chances), "explained": r.explained, "times": [list(times) for times in r.times],
            }
            for r in said.residuals
        },
        "life": finite([life.described() for life in said.life]),
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
        Receives `unknowns.parquet`, `load_bands.parquet`, `ensemble.json`, `report.html`, and `mean`, the recorded run
        at the mean.
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
    for label, found in estimates.items():
        write_model_page(found, said[label], place / label, label, chances)
    if len(said) > 1:
        about = {"probabilities": chances, "log_evidence": {label: each.evidence for label, each in said.items()}}
        write_file(place / MODELS, json.dumps(about, indent=1).encode())
    return ModelReconstruction(estimates, said, chances)
