"""A campaign: its folder, its runs, and the repetition of any of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockfmu.campaign.answers.questions import answer_all, read_questions
from dockfmu.campaign.cluster.execution import ClusterOptions, Execution, check_workers
from dockfmu.campaign.dataset import DataSet
from dockfmu.campaign.description import Study
from dockfmu.campaign.folder import RUNS, SERIES, CampaignFolder, data_set
from dockfmu.campaign.progress import CampaignProgress
from dockfmu.campaign.report.page import write_campaign_report
from dockfmu.campaign.runner import Runner, RunPoint, endings, resolve
from dockfmu.declare.packages.bundle import silent
from dockfmu.errors import OptionError
from dockfmu.record import RecordedRun
from dockfmu.report.files import SUMMARY

if TYPE_CHECKING:
    import pandas

HERE = ClusterOptions()


class Campaign(CampaignFolder):
    """Many runs of one system with varying values, kept in a folder.

    Parameters
    ----------
    source : Path, str or mapping
        Campaign file (.toml), its content as a dictionary, or the folder of a campaign to continue.
    folder : Path or str, optional
        Folder of the campaign; by default build/campaigns/NAME.
    where : str
        What messages call a description that is given as a dictionary, such as the file that it is part of.

    Raises
    ------
    DeclarationError, OptionError, StructureError
        for an invalid description; messages name file, place and value
    CampaignError
        if the folder belongs to another campaign

    Examples
    --------
    >>> campaign = dockfmu.Campaign("docs/examples/atv_campaign.toml", "build/atv")               # doctest: +SKIP
    >>> campaign.run(runs=1000, workers=2)
    >>> campaign.runs()["outcome"].value_counts()
    """

    _runner: Runner | None = None

    def _repr_html_(self) -> str:
        from dockfmu.report.notebook import table_html

        counts: dict[str, int] = {}
        if (self.folder / RUNS).exists():
            counts = {str(outcome): int(count) for outcome, count in self.runs()["outcome"].value_counts().items()}
        title = f"{self.study.name}: {sum(counts.values())} of {self.study.draws.runs} runs of {self.study.system}"
        return table_html(title, [(name.replace("_", " "), str(count)) for name, count in counts.items()])

    def run(
        self,
        runs: int | None = None,
        *,
        workers: int | None = None,
        scheduler: str | None = None,
        memory_limit: str = "2GiB",
        answer: bool = True,
        progress: Callable[[str], None] = silent,
    ) -> pandas.DataFrame:
        """Make the runs that the folder lacks, then the recordings, the answers and the report; return all rows.

        An interrupted campaign continues where it stopped. Rows already made are kept in any case.

        Parameters
        ----------
        runs : int, optional
            Number of runs; by default that of the description or of the previous session.
        workers : int, optional
            Processes on this machine; by default one for each core.
        scheduler : str, optional
            Address of a Dask scheduler, whose workers are used instead.
        memory_limit : str
            Memory limit of each worker on this machine.
        answer : bool
            Whether to compute the answers and write the report.
        progress : callable
            Called with lines on the state of the campaign, about once a second.

        Raises
        ------
        DeclarationError, OptionError, StructureError
            for an invalid question, before any run
        CampaignError
            if the folder belongs to another campaign
        LockedError
            if another process is writing to the folder
        SchedulerLostError, WorkerMismatchError, MachineFaultError, WriteError
            if the campaign cannot continue
        """
        where = ClusterOptions(workers, scheduler, memory_limit)
        check_workers(where)
        if runs is not None:
            self.study = self._with_runs(runs)
        if answer:
            # report mistakes in questions before the runs, not after them
            read_questions(self)
        with open_session(self, where) as (data, cluster):
            make_runs(data, cluster, self.study.draws.runs, progress)
            if answer:
                self._conclude(cluster, progress)
        return self.runs()

    def row(self, index: int) -> dict[str, Any]:
        """Make run `index` alone, in this process, and return its row, bitwise equal to that of the campaign."""
        if self._runner is None:
            self._runner = Runner(self.study)
        return self._runner.run(RunPoint(index))

    def record(
        self,
        index: int,
        folder: Path | str | None = None,
        *,
        report: bool = True,
        progress: Callable[[str], None] = silent,
    ) -> RecordedRun:
        """Make run `index` alone and record everything, as `dockfmu run` does; by default in series/INDEX."""
        variant, settings = resolve(self.study, self.values(index))
        if self._runner is None:
            self._runner = Runner(self.study)
        system = self._runner.system(variant).with_values(settings)
        place = self.folder / SERIES / f"{index:06d}" if folder is None else Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        return system.record(
            place,
            self.study.options,
            record=None,
            every=None,
            report=report,
            progress=progress,
            observers=endings(self.study, system.plan),
            command=f"dockfmu campaign {self.folder} --index {index}",
        )

    def _with_runs(self, runs: int) -> Study:
        if self.study.draws.sampling == "grid":
            raise OptionError(
                [f"--runs {runs}: the grid has {self.study.draws.runs} runs, set by `points` in its file"]
            )
        return self.study.with_runs(runs)

    def _conclude(self, cluster: Execution, progress: Callable[[str], None]) -> None:
        for index in self.wanted_series():
            if not (self.folder / SERIES / f"{index:06d}" / SUMMARY).is_file():
                progress(f"recording run {index}")
                self.record(index, report=False)
        answers = answer_all(self, cluster, progress)
        write_campaign_report(self, answers)

    def wanted_series(self) -> list[int]:
        """Return the indices of the runs for which `keep` requests a recording."""
        kept, table = self.study.kept, self.runs()
        # runs with invalid values have nothing to record, and what has ended its worker would end this process
        table = table[(table["outcome"] != "invalid") & (table["status"] != "crashed")]
        indices: list[int] = []
        if kept.every:
            indices += [int(index) for index in table["index"] if index % kept.every == 0]
        if kept.failed:
            indices += table.loc[table["status"] == "failed", "index"].tolist()
        for name, count in kept.worst.items():
            smallest_first = self.study.measure(name).rises is False
            ordered = table.dropna(subset=[name]).sort_values(name, ascending=smallest_first, kind="stable")
            indices += ordered["index"].head(count).tolist()
        return sorted(dict.fromkeys(indices))


@contextmanager
def open_session(
    campaign: Campaign, where: ClusterOptions = HERE, runner: Any = Runner
) -> Iterator[tuple[DataSet, Execution]]:
    """Open the folder of a campaign for writing, and start a cluster for its runs and those of methods."""
    systems = campaign.identify()
    # the data set knows another campaign by a digest alone, the manifest what differs
    campaign.check_manifest(systems)
    with data_set(campaign) as data:
        campaign.write_manifest(systems)
        digests = {labels: dict(system["fmus"]) for labels, system in systems.items()}
        with Execution(campaign.study, digests, where, runner) as cluster:
            yield data, cluster


class _Missing(Collection[RunPoint]):
    """The runs with indices below `runs` that are not among those `seen`. They are counted, not listed."""

    def __init__(self, runs: int, seen: Set[int]) -> None:
        self._runs, self._seen = runs, frozenset(index for index in seen if index < runs)

    def __len__(self) -> int:
        return self._runs - len(self._seen)

    def __iter__(self) -> Iterator[RunPoint]:
        return (RunPoint(index) for index in range(self._runs) if index not in self._seen)

    def __contains__(self, point: object) -> bool:
        return isinstance(point, RunPoint) and any(point == other for other in self)


def make_runs(data: DataSet, cluster: Execution, runs: int, progress: Callable[[str], None] = silent) -> None:
    """Make those of the first `runs` runs that a data set lacks. Rows already made are kept in any case."""
    for note in data.notes:
        progress(note)
    todo = _Missing(runs, data.seen)
    if not todo:
        return
    tracker = CampaignProgress(runs, runs - len(todo), progress)
    try:
        for row in cluster.run(todo, tick=tracker.tick, note=progress):
            data.add(row)
            tracker.count(row)
    finally:
        data.flush()
        tracker.end()
