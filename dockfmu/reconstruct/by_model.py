"""Estimation by the model: initial conditions, parameters and errors of sensors with which runs tell the telemetry.

An ensemble of runs is a campaign in a folder: each step of the smoother requests its members there, so that an
interrupted estimation finds them again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import write_file
from dockfmu.base.messages import shown
from dockfmu.campaign.answers.evaluation import Evaluations
from dockfmu.campaign.campaign import Campaign, open_session
from dockfmu.campaign.cluster.execution import ClusterOptions, check_workers
from dockfmu.campaign.runner import RunPoint
from dockfmu.campaign.sampling.draws import normal_numbers
from dockfmu.declare.packages.bundle import silent
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.reconstruct.ensemble import REFINEMENTS, AssimilationStep, Posterior, SmootherOptions, smooth
from dockfmu.reconstruct.model_error import far_from_prior
from dockfmu.reconstruct.readings_runner import COLUMNS, HISTORIES, READINGS, Instruments, ReadingsRunner
from dockfmu.reconstruct.telemetry import Telemetry
from dockfmu.reconstruct.unknowns import Unknowns, check_laws, read_start, sensor_laws

if TYPE_CHECKING:
    import pandas

ENTRIES = (
    "members", "seed", "start", "windows", "steps", "refinements", "unknown", "sensor", "values", "parameters", "swap",
    "run", "measures", "model", "model_error",
)  # fmt: skip
BLOCK = 5
"""Neighbouring readings of a signal that are judged together."""
MODEL_ERROR = 0.02
"""Deviation of the model, as a share of the root mean square of each signal, if none is given."""
MEMBERS = 60
FEWEST_MEMBERS = 10
INTERVALS = 400
"""Intervals of time in which the largest loads of members are kept."""
MANIFEST = "telemetry.json"
STEP = 1e-3
"""Deviation of the time of an event of a run itself, s: the macro step."""


class ReconstructionError(DockfmuError):
    """A reconstruction cannot be made, or not be continued in its folder."""


@dataclass(frozen=True)
class ModelProblem:
    """What is estimated from what.

    Attributes
    ----------
    telemetry : Telemetry
        The readings.
    campaign : Campaign
        The runs: system, their values and options, measures.
    unknowns : Unknowns
        What is estimated.
    instruments : Instruments
        What is read of each run.
    members, seed : int
        Size of the ensemble, and seed of everything that is drawn.
    windows : tuple of float
        Ends of windows, true time, s; the last window goes to the end.
    options : SmootherOptions
        How the smoother works.
    model_error : float
        Deviation of the model, as a share of the root mean square of each signal.
    """

    telemetry: Telemetry
    campaign: Campaign
    unknowns: Unknowns
    instruments: Instruments
    members: int
    seed: int
    windows: tuple[float, ...]
    options: SmootherOptions
    model_error: float


@dataclass(frozen=True)
class ChosenData:
    """The data that are compared: readings that count, then times of events.

    Attributes
    ----------
    places : ndarray of int, shape (n,)
        Their places among readings and events of a run.
    values, deviation, time : ndarray, shape (n,)
        Values and standard deviations in the unit of each, and true times, s.
    parts : mapping of str to slice
        The data of each signal, and of the events.
    windows : tuple of ndarray
        Masks of the windows.
    blocks : ndarray of int, shape (n,)
        Numbers of blocks of neighbouring readings of a signal; each event is one of its own.
    """

    places: np.ndarray
    values: np.ndarray
    deviation: np.ndarray
    time: np.ndarray
    parts: Mapping[str, slice]
    windows: tuple[np.ndarray, ...]
    blocks: np.ndarray


@dataclass(frozen=True)
class Estimate:
    """What an estimation by the model found.

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


def read_problem(telemetry: Telemetry, folder: Path, label: str = "") -> ModelProblem:
    """Read the table `[ensemble]` of telemetry; its runs are kept in a folder.

    `label` names one of the tables `[[ensemble.model]]`, whose values are laid over those of the system. Raises
    DeclarationError, OptionError, StructureError; messages name file, place and value.
    """
    table = telemetry.table.table("ensemble", ENTRIES)
    if not telemetry.system:
        raise DeclarationError(f"{table.where}: `system` is missing: an ensemble needs a model")
    base = Path(telemetry.table.where).parent.absolute()
    model = _model(table, label)
    content = {
        "name": "ensemble",
        "system": _absolute(telemetry.system, Path()),
        "values": {**telemetry.settings, **dict(table.table("values").content), **model},
        "seed": table.whole("seed", 1, least=0),
        "keep": {"peaks": False},
        "parameters": [_absolute(file, base) for file in table.texts("parameters", ())],
        "swap": {name: _absolute(str(file), base) for name, file in table.table("swap").content.items()},
        **({"measures": table.content["measures"]} if "measures" in table.content else {}),
        "vary": [dict(row.content) for row in table.rows("unknown")],
    }
    run = dict(table.table("run").content)
    campaign = Campaign({**content, "run": run}, folder)
    start = read_start(table, telemetry, tuple(campaign.system.plan.events))
    if "stop" not in run:
        # the last reading, and what the run needs until the event with which it begins
        plan = campaign.system.plan
        last = max([*telemetry.time[telemetry.mask].tolist(), *(event.by for event in telemetry.events)], default=0.0)
        stop = min(plan.stop or math.inf, last - start.low + 2.0 * plan.step)
        if not stop > 0.0:
            raise DeclarationError(f"{table.where}: no reading is later than the start of the run at {start.low:g} s")
        campaign = Campaign({**content, "run": {**run, "stop": round(stop, 6)}}, folder)
    laws = (*campaign.study.draws.laws, *sensor_laws(table.rows("sensor"), telemetry), *start.law())
    check_laws(laws, table.where)
    if not laws:
        raise DeclarationError(f"{table.where}: has no [[ensemble.unknown]], and so nothing to estimate")
    members = table.whole("members", MEMBERS, least=FEWEST_MEMBERS, most=100_000)
    begin, end = start.low, start.high + (campaign.study.options.stop or 0.0)
    return ModelProblem(
        telemetry,
        campaign,
        Unknowns(laws),
        Instruments(telemetry, start, _loads(campaign), np.linspace(begin, end, INTERVALS + 1)),
        members,
        campaign.study.draws.seed,
        _windows(table, telemetry, start.event),
        SmootherOptions(table.whole("steps", 0, least=0), refinements=table.whole("refinements", REFINEMENTS, least=0)),
        _model_error(table),
    )


def _model_error(table: Table) -> float:
    share = float(table.number("model_error", MODEL_ERROR))
    if not 0.0 <= share < 1.0:
        raise DeclarationError(f"{table.where}: model_error = {share:g}: must be a share from 0 to below 1")
    return share


def models(telemetry: Telemetry) -> tuple[str, ...]:
    """Return the labels of the models to compare, from `[[ensemble.model]]`; one empty label if there are none."""
    rows = telemetry.table.table("ensemble", ENTRIES).rows("model", ("label", "values"))
    labels = tuple(row.text("label") for row in rows)
    if len(set(labels)) < len(labels):
        raise DeclarationError(f"{telemetry.table.where}: ensemble.model: labels must differ, not {', '.join(labels)}")
    return labels or ("",)


def _model(table: Table, label: str) -> dict[str, Any]:
    for row in table.rows("model", ("label", "values")):
        if row.text("label") == label:
            return dict(row.table("values").content)
    return {}


def _absolute(file: str, base: Path) -> str:
    """Return the absolute path of a file, and anything else as it is: the name of a system."""
    place = base / file.partition("#")[0]
    return str(base.absolute() / file) if place.is_file() else file


def _loads(campaign: Campaign) -> tuple[str, ...]:
    """Return the signals whose histories are kept: those of the measures that are the largest value of one."""
    return tuple(
        m.signals[0] for m in campaign.study.measures if m.kind in ("max", "magnitude") and len(m.signals) == 1
    )


def _windows(table: Table, telemetry: Telemetry, start: str) -> tuple[float, ...]:
    """Return the ends of windows: given ones, times or events; by default the first time an event is told."""
    given = table.content.get("windows")
    first: dict[str, float] = {}
    for event in telemetry.events:
        first.setdefault(event.name, event.by)
    if given is None:
        return tuple(sorted({by for name, by in first.items() if name != start}))
    found = []
    for end in given if isinstance(given, list | tuple) else [given]:
        if isinstance(end, str) and end in first:
            found.append(first[end])
        elif isinstance(end, int | float) and not isinstance(end, bool):
            found.append(float(end))
        else:
            raise DeclarationError(
                f"{table.where}: windows = {shown(given)}: must be times, s, or events that are told: "
                f"{', '.join(first) or 'none'}"
            )
    return tuple(sorted(set(found)))


def estimate(
    problem: ModelProblem,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    memory_limit: str = "2GiB",
    progress: Callable[[str], None] = silent,
) -> Estimate:
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


def _estimate(problem: ModelProblem, runs: Evaluations, progress: Callable[[str], None]) -> Estimate:
    unknowns = problem.unknowns
    prior = normal_numbers(problem.seed, (0,), (problem.members, unknowns.dimension))
    made: dict[bytes, pandas.DataFrame] = {}

    def rows_of(members: np.ndarray) -> pandas.DataFrame:
        key = members.tobytes()
        if key not in made:
            made[key] = runs.rows([unknowns.values(member) for member in members], progress=progress)
        return made[key]

    progress(f"{problem.members} members of the prior, {unknowns.dimension} unknowns")
    prior_rows = rows_of(prior)
    everything = outputs_of(prior_rows, problem)
    data, notes = choose(problem, everything)
    notes += [*_ended(prior_rows, "before the data"), *_excluded(problem, data, everything)]

    def told(step: AssimilationStep) -> None:
        progress(_line(step, problem.windows))

    posterior = smooth(
        prior,
        lambda members: outputs_of(rows_of(members), problem)[:, data.places],
        data.values,
        data.deviation,
        seed=problem.seed + 1,
        windows=data.windows,
        blocks=data.blocks,
        options=problem.options,
        told=told,
    )
    import pandas

    by_member = {}
    for key, table in made.items():
        members = np.frombuffer(key).reshape(-1, unknowns.dimension)
        by_member |= {member.tobytes(): row for member, row in zip(members, table.to_dict("records"), strict=True)}

    rows = pandas.DataFrame([by_member[member.tobytes()] for member in posterior.unknowns])
    notes += _ended(rows, "after the data")
    return Estimate(problem, data, posterior, prior_rows, rows, tuple(notes))


def outputs_of(rows: pandas.DataFrame, problem: ModelProblem) -> np.ndarray:
    """Return readings and times of events of runs, NaN where they have none, shape (runs, readings + events)."""
    count = len(problem.telemetry.time) + len(problem.telemetry.events)
    found = np.full((len(rows), count), np.nan)
    for k, cell in enumerate(rows[READINGS]):
        if cell is not None and np.size(cell) == count:
            found[k] = np.asarray(cell, float)
    return found


def histories_of(rows: pandas.DataFrame, problem: ModelProblem) -> np.ndarray:
    """Return the largest loads of runs in intervals, shape (runs, loads, intervals)."""
    instruments = problem.instruments
    shape = (len(instruments.loads), len(instruments.edges) - 1)
    found = np.full((len(rows), *shape), np.nan)
    for k, cell in enumerate(rows[HISTORIES]):
        if cell is not None and np.size(cell) == shape[0] * shape[1]:
            found[k] = np.asarray(cell, float).reshape(shape)
    return found


def choose(problem: ModelProblem, outputs: np.ndarray) -> tuple[ChosenData, list[str]]:
    """Return the data that are compared, and what is left out, from the outputs of the prior.

    Readings outside the runs are left out; so is the event with which the runs begin, which the prior has already.
    Raises ReconstructionError if no datum is left.
    """
    telemetry, notes = problem.telemetry, []
    count = len(telemetry.time)
    readings = outputs[:, :count]
    # a reading that hardly any of the runs with readings has lies outside them; one that some lack tells them apart
    some = np.isfinite(readings).any(axis=1)
    share = np.isfinite(readings[some]).mean(axis=0) if some.any() else np.zeros(count)
    inside = share >= 0.5
    if dropped := int((telemetry.mask & ~inside).sum()):
        times = telemetry.time[telemetry.mask & ~inside]
        notes.append(
            f"{dropped} readings from {times.min():.3f} to {times.max():.3f} s lie outside the runs and do not count"
        )
    used = telemetry.mask & inside
    places, values, deviations, when = [], [], [], []
    parts: dict[str, slice] = {}
    start = 0
    for signal in telemetry.signals:
        own = np.arange(count)[signal.part][used[signal.part]]
        parts[signal.name] = slice(start, start + len(own))
        start += len(own)
        size = float(np.sqrt(np.mean(telemetry.values[own] ** 2))) if len(own) else 0.0
        places.append(own)
        values.append(telemetry.values[own])
        deviations.append(np.hypot(telemetry.sigma[own], problem.model_error * size))
        when.append(telemetry.time[own])
    known = problem.campaign.system.plan.events
    told = [(k, event) for k, event in enumerate(telemetry.events) if event.name in known]
    skipped = next((k for k, event in told if event.name == problem.instruments.start.event), -1)
    told = [(k, event) for k, event in told if k != skipped]
    if unknown := sorted({event.name for event in telemetry.events if event.name not in known}):
        notes.append(f"the system has no event {', '.join(unknown)}: what is told of it does not count")
    parts["events"] = slice(start, start + len(told))
    places.append(np.array([count + k for k, _ in told], int))
    values.append(np.array([0.5 * (event.after + event.by) for _, event in told]))
    deviations.append(np.array([math.hypot((event.by - event.after) / math.sqrt(12.0), STEP) for _, event in told]))
    when.append(np.array([event.by for _, event in told]))
    joined = [np.concatenate(part) for part in (values, deviations, when)]
    if not len(joined[0]):
        raise ReconstructionError(
            f"{telemetry.table.where}: no reading falls within the runs, {problem.instruments.edges[0]:.3f} to "
            f"{problem.instruments.edges[-1]:.3f} s: look at `start`, `window` and the clocks of the frames"
        )
    edges = np.array([-np.inf, *problem.windows, np.inf])
    number = np.searchsorted(edges, joined[2]) - 1
    masks = tuple(number == k for k in range(len(edges) - 1) if (number == k).any())
    # each signal in blocks of its own; every event in one
    own = [np.arange(part.stop - part.start) // (1 if name == "events" else BLOCK) for name, part in parts.items()]
    ends = np.cumsum([0, *(int(block[-1]) + 1 if len(block) else 0 for block in own)])
    blocks = np.concatenate([block + first for block, first in zip(own, ends[:-1], strict=True)])
    return ChosenData(np.concatenate(places), *joined, parts, masks, blocks), notes


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


def _line(step: AssimilationStep, windows: Sequence[float]) -> str:
    absent = f"; {step.absent} members without outputs" if step.absent else ""
    if step.window < 0:
        return f"refined: {100.0 * step.share:.0f} % of the members moved, mean square {step.misfit:.4g}{absent}"
    part = f"window {step.window + 1} of at most {len(windows) + 1}"
    return f"{part}: {100.0 * step.total:.3g} % assimilated, mean square before {step.misfit:.4g}{absent}"


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
        before = json.loads(file.read_text(encoding="utf-8"))
        if changed := [name for name, value in now.items() if before.get(name) != value]:
            raise ReconstructionError(
                f"{problem.campaign.folder}: belongs to a reconstruction with other {', '.join(changed)}: choose "
                "another folder with -o, or remove this one"
            )
    write_file(file, json.dumps(now, indent=1).encode())
