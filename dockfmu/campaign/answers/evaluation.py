"""Additional runs of a campaign, stored so that a repeated method finds them.

Methods request runs at chosen values instead of draws. Runs that decide a number are repeated with a finer step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.campaign.answers.censoring import UNFINISHED, distance
from dockfmu.campaign.answers.probabilities import counted
from dockfmu.campaign.cluster.execution import Execution
from dockfmu.campaign.dataset import DataSet
from dockfmu.campaign.description import REFINED, Measure
from dockfmu.campaign.folder import ANSWERS, CampaignFolder, data_set
from dockfmu.campaign.progress import CampaignProgress
from dockfmu.campaign.runner import ASKED, PEAKS, RunPoint

if TYPE_CHECKING:
    import pandas


FINE = 0.1
"""Factor on the step for the repetition of a run that decides a number."""
MOST_RUNS = 1_000_000
"""Largest number of runs of a level or a search, whose values are kept in memory."""


class EvaluationError(DockfmuError):
    """The stored runs of a method are not those that it requests."""


def refined(campaign: CampaignFolder, cluster: Execution, indices: Sequence[int]) -> pandas.DataFrame:
    """Repeat runs of a campaign at a tenth of the step, and return their rows by index."""
    with data_set(campaign, Path(ANSWERS) / f"{REFINED}.parquet") as data:
        todo = [RunPoint(index, step_factor=FINE) for index in indices if index not in data.seen]
        try:
            for row in cluster.run(todo) if todo else ():
                data.add(row)
        finally:
            data.flush()
        found = data.read() if data.seen else _no_rows(data)
    return found.set_index("index").loc[list(indices)]


def _no_rows(data: DataSet) -> pandas.DataFrame:
    return data.schema.empty_table().to_pandas()


class Evaluations:
    """The runs of one method, numbered in the order of its requests; a context manager.

    Methods are deterministic. A method that is repeated, after an interruption or because its campaign grew, requests
    the same runs again and gets the stored rows. Column `asked_values` holds the requested values as JSON; `more` are
    columns beside those of the study.
    """

    def __init__(
        self, campaign: CampaignFolder, cluster: Execution, name: str, more: Mapping[str, str] | None = None
    ) -> None:
        self.campaign, self.cluster = campaign, cluster
        self.data = data_set(campaign, Path(ANSWERS) / f"{name}.parquet", {ASKED: "text"} | dict(more or {}))
        self.count = 0
        """Number of runs requested so far."""
        self.left_open: list[bool] = []
        """For each run whose distance was requested, whether it leaves the question open; see `censoring.distance`."""

    def __enter__(self) -> Evaluations:
        self.data.folder.parent.mkdir(parents=True, exist_ok=True)
        self.data.__enter__()
        self._rows: dict[int, dict[str, Any]] = {}
        if self.data.seen:
            table = self.data.read()
            self._rows = {int(row["index"]): row for row in table.to_dict("records")}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.data.__exit__()

    def rows(
        self,
        values: Sequence[Mapping[str, Any]],
        step_factor: float = 1.0,
        progress: Callable[[str], None] = lambda line: None,
    ) -> pandas.DataFrame:
        """Return one row for each mapping of values by full names, made with `step_factor` times the study's step.

        `progress` is called with lines on the runs that are made, about once a second. Raises EvaluationError if stored
        rows are of other values or of another step.
        """
        import pandas

        first, self.count = self.count, self.count + len(values)
        points = [RunPoint(first + k, dict(chosen), step_factor) for k, chosen in enumerate(values)]
        requests = {
            point.index: {ASKED: json.dumps(point.values, sort_keys=True), "step_factor": step_factor}
            for point in points
        }
        for index in requests.keys() & self._rows.keys():
            self._check(index, requests[index])
        todo = [point for point in points if point.index not in self._rows]
        tracker = CampaignProgress(len(points), len(points) - len(todo), progress)
        try:
            for row in self.cluster.run(todo, tick=tracker.tick, note=progress) if todo else ():
                self._rows[row["index"]] = row | requests[row["index"]]
                self.data.add(self._rows[row["index"]])
                tracker.count(row)
        finally:
            self.data.flush()
        peaks = {f"peak_{part}" for part in PEAKS}
        columns = [name for name in self.data.schema.names if name not in peaks]
        return pandas.DataFrame([self._rows[point.index] for point in points]).reindex(columns=columns)

    def distance(
        self,
        values: Sequence[Mapping[str, Any]],
        measure: Measure,
        bound: float,
        *,
        above: bool,
        step_factor: float = 1.0,
    ) -> np.ndarray:
        """Make runs, and return the distance of their measure from a bound; see `censoring.distance`."""
        distances, open_ = distance(self.rows(values, step_factor), measure, bound, above=above)
        self.left_open += open_.tolist()
        return distances

    @property
    def outcomes(self) -> pandas.Series:
        """The outcome of each run requested so far."""
        import pandas

        return pandas.Series([self._rows[index]["outcome"] for index in range(self.count)], dtype=str)

    def outcome(self, values: Mapping[str, Any]) -> str:
        """Return the outcome of the first run that was requested with these values."""
        requested = json.dumps(values, sort_keys=True)
        return next(str(row["outcome"]) for _, row in sorted(self._rows.items()) if row[ASKED] == requested)

    def _check(self, index: int, request: Mapping[str, Any]) -> None:
        for name, value in request.items():
            if (stored := self._rows[index].get(name)) != value:
                raise EvaluationError(
                    f"{self.data.folder}: run {index} was made with {name} = {stored}, but {value} is requested; "
                    "remove the folder to repeat all of them"
                )


def unfinished(runs: Evaluations, counted_as: str) -> tuple[str, ...]:
    """Return sentences on the runs so far that did not finish, and on how runs that leave the question open count.

    Runs without a value of the measure leave it open too.
    """
    outcomes = runs.outcomes
    bad = outcomes[outcomes.isin(UNFINISHED)]
    sentences = []
    if len(bad):
        sentences.append(
            f"{len(bad)} of the runs did not finish ({counted(bad)}); the values that they had reached are used"
        )
    if left_open := sum(runs.left_open):
        sentences.append(f"{left_open} of the runs do not decide the question and count as {counted_as}")
    return tuple(sentences)
