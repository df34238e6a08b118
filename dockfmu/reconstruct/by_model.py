"""Estimation by the model: initial conditions, parameters and errors of sensors with which runs tell the telemetry.

An ensemble of runs is a campaign in a folder: each step of the smoother requests its members there, so that an
interrupted estimation finds them again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.base.files import write_file
from dockfmu.base.given_files import read_json
from dockfmu.campaign.answers.evaluation import Evaluations
from dockfmu.campaign.campaign import open_session
from dockfmu.campaign.cluster.execution import ClusterOptions, check_workers
from dockfmu.campaign.runner import RunPoint
from dockfmu.campaign.sampling.draws import normal_numbers
from dockfmu.declare.packages.bundle import silent
from dockfmu.declare.toml.tables import Table
from dockfmu.reconstruct.chosen_data import ChosenData, ReconstructionError, choose, outputs_of
from dockfmu.reconstruct.ensemble import AssimilationStep, Posterior, smooth
from dockfmu.reconstruct.model_error import far_from_prior
from dockfmu.reconstruct.model_problem import ModelProblem
from dockfmu.reconstruct.readings_runner import COLUMNS, ReadingsRunner
from dockfmu.reconstruct.unknowns import UNTIL

if TYPE_CHECKING:
    import pandas

MANIFEST = "telemetry.json"


@dataclass(frozen=True)
class ModelEstimate:
    """Hold what an estimation by the model found.

    Attributes
    ----------
    problem : ModelProblem
        What was asked.
    data : ChosenData
        The data that were compared.
    posterior : Posterior
        Members in standard normal numbers, with their outputs at the data.
    prior_rows, rows : DataFrame
        Rows of the runs of the members before and after the data.
    notes : tuple of str
        What should be known about the result.
    """

    problem: ModelProblem
    data: ChosenData
    posterior: Posterior
    prior_rows: pandas.DataFrame
    rows: pandas.DataFrame
    notes: tuple[str, ...]

    @property
    def mean_values(self) -> dict[str, Any]:
        """Values of the unknowns at the mean of the posterior."""
        return self.problem.unknowns.values(self.posterior.mean)

    def values(self) -> np.ndarray:
        """Return the unknowns of the members with outputs, shape (members, unknowns)."""
        return self.problem.unknowns.table(self.posterior.unknowns[self.posterior.valid])


def estimate(
    problem: ModelProblem,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    memory_limit: str = "2GiB",
    progress: Callable[[str], None] = silent,
) -> ModelEstimate:
    """Make the runs that the folder lacks, and return what they tell of the unknowns.

    Parameters
    ----------
    problem : ModelProblem
        What is estimated from what.
    workers, scheduler, memory_limit
        As for a campaign; 0 workers make the runs in this process.
    progress : callable
        Called with lines on the state of the estimation.

    Raises
    ------
    ReconstructionError
        if the folder belongs to other telemetry, and if the prior does not reach the data
    EnsembleError
        if too few members have outputs
    CampaignError, LockedError, SchedulerLostError, WorkerMismatchError, MachineFaultError, WriteError
        as a campaign does
    """
    with _session(problem, ClusterOptions(workers, scheduler, memory_limit)) as cluster:
        _identify(problem)
        with Evaluations(problem.campaign, cluster, "ensemble", COLUMNS) as runs:
            return _estimate(problem, runs, progress)


class _ThisProcess:
    """Makes runs in this process, one after the other, in place of a cluster."""

    def __init__(self, runner: ReadingsRunner) -> None:
        self._runner = runner

    def run(
        self,
        points: Collection[RunPoint],
        *,
        tick: Callable[[], None] = lambda: None,
        note: Callable[[str], None] = lambda text: None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the row of each run."""
        for point in points:
            yield self._runner.run(point)
            tick()


@contextmanager
def _session(problem: ModelProblem, where: ClusterOptions) -> Iterator[Any]:
    """Open what makes runs: a cluster, or with 0 workers this process."""
    campaign = problem.campaign
    if where.workers != 0:
        check_workers(where)
        runner = partial(ReadingsRunner, problem.instruments)
        with open_session(campaign, where, runner) as (_, cluster):
            yield cluster
        return
    systems = campaign.identify()
    campaign.folder.mkdir(parents=True, exist_ok=True)
    campaign.write_manifest(systems)
    alone = ReadingsRunner(problem.instruments, campaign.study)
    try:
        yield _ThisProcess(alone)
    finally:
        alone.close()


def _estimate(problem: ModelProblem, runs: Evaluations, progress: Callable[[str], None]) -> ModelEstimate:
    unknowns = problem.unknowns
    prior = normal_numbers(problem.seed, (0,), (problem.members, unknowns.dimension))
    made: dict[tuple[float, bytes], pandas.DataFrame] = {}
    asked: dict[str, float] = {}

    def rows_of(members: np.ndarray) -> pandas.DataFrame:
        key = asked.get(UNTIL, math.inf), members.tobytes()
        if key not in made:
            made[key] = runs.rows([unknowns.values(member) | asked for member in members], progress=progress)
        return made[key]

    def until(time: float) -> None:
        asked.clear()
        if math.isfinite(time):
            asked[UNTIL] = time

    progress(f"{problem.members} members of the prior, {unknowns.dimension} unknowns")
    prior_rows = rows_of(prior)
    everything = outputs_of(prior_rows, problem)
    data, notes = choose(problem, everything)
    notes += [*_ended(prior_rows, "before the data"), *_excluded(problem, data, everything)]

    def told(step: AssimilationStep) -> None:
        progress(_line(step))

    posterior = smooth(
        prior,
        lambda members: outputs_of(rows_of(members), problem)[:, data.places],
        data.values,
        data.deviation,
        seed=problem.seed + 1,
        windows=data.windows,
        time=data.time,
        blocks=data.blocks,
        options=problem.options,
        until=until,
        told=told,
    )
    import pandas

    by_member: dict[bytes, dict[str, Any]] = {}
    for (_, key), table in sorted(made.items(), key=lambda item: item[0][0]):
        members = np.frombuffer(key).reshape(-1, unknowns.dimension)
        by_member |= {member.tobytes(): row for member, row in zip(members, table.to_dict("records"), strict=True)}

    rows = pandas.DataFrame([by_member[member.tobytes()] for member in posterior.unknowns])
    notes += _ended(rows, "after the data")
    return ModelEstimate(problem, data, posterior, prior_rows, rows, tuple(notes))


def _excluded(problem: ModelProblem, data: ChosenData, outputs: np.ndarray) -> list[str]:
    chosen = outputs[:, data.places]
    chosen = chosen[np.isfinite(chosen).all(axis=1)]
    if len(chosen) < 2:
        return []
    far = far_from_prior(data.parts, data.values, data.deviation, chosen)
    return [
        f"the prior excludes the readings of {name}: no run comes nearer than {distance:.3g} times noise and spread"
        for name, distance in far.items()
    ]


def _ended(rows: pandas.DataFrame, when: str) -> list[str]:
    """Return a sentence on how runs ended, if they did so in more than one way."""
    outcomes = rows["outcome"].value_counts()
    if len(outcomes) == 1 and outcomes.index[0] not in ("failed", "invalid", "crashed", "time_limit"):
        return []
    return [f"runs {when} ended as {', '.join(f'{name} {count}' for name, count in outcomes.items())}"]


def _line(step: AssimilationStep) -> str:
    absent = f"; {step.absent} members without outputs" if step.absent else ""
    if step.window < 0:
        what = f"refined: {100.0 * step.share:.0f} % of the members moved, mean square"
    else:
        what = f"{100.0 * step.total:.3g} % of window {step.window + 1} assimilated, mean square before"
    return f"to {step.until:.3f} s, {what} {step.misfit:.4g}{absent}"


def _identify(problem: ModelProblem) -> None:
    """Write what the runs are compared with, after a check that the folder has no other. Raises ReconstructionError."""
    telemetry, instruments = problem.telemetry, problem.instruments
    content = hashlib.sha256()
    for array in (telemetry.time, telemetry.values, telemetry.sigma, telemetry.mask, instruments.edges):
        content.update(np.ascontiguousarray(array).tobytes())
    now = {
        "readings": content.hexdigest(),
        "signals": telemetry.names,
        "events": [[event.name, event.after, event.by] for event in telemetry.events],
        "unknowns": list(problem.unknowns.names),
        "members": problem.members,
        "windows": list(problem.windows),
        "smoother": [problem.options.steps, problem.options.refinements, problem.model_error],
    }
    file = problem.campaign.folder / MANIFEST
    if file.is_file():
        try:
            before = Table(read_json(file), str(file)).content
        except (OSError, ValueError) as error:
            raise ReconstructionError(f"{file}: is not from a reconstruction: {error}") from error
        if changed := [name for name, value in now.items() if before.get(name) != value]:
            raise ReconstructionError(
                f"{problem.campaign.folder}: belongs to a reconstruction with other {', '.join(changed)}: choose "
                "another folder with -o, or remove this one"
            )
    write_file(file, json.dumps(now, indent=1).encode())
