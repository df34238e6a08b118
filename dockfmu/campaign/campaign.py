"""A campaign: its folder, its runs, and each of them again."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base.errors import DockfmuError
from base.files import write_file
from dockfmu.campaign.dataset import DataSet, read_peaks, read_runs
from dockfmu.campaign.description import Study, read_content, read_study
from dockfmu.campaign.execution import ClusterOptions, Execution, check_workers
from dockfmu.campaign.progress import CampaignProgress, silent
from dockfmu.campaign.runner import Runner, RunPoint, columns, resolve, variants
from dockfmu.campaign.worker import fingerprint
from dockfmu.options import OptionError
from dockfmu.record import RecordedRun
from dockfmu.system import System
from master.checkpoint import digests, identity

if TYPE_CHECKING:
    import numpy as np
    import pandas

MANIFEST, RUNS, SERIES, ANSWERS = "campaign.json", "runs.parquet", "series", "answers"
PART_ROWS, PART_S = 500, 30.0
"""A part is written when it has this many rows, or when its first row has waited this long."""
FORMAT = 1
HERE = ClusterOptions()
FREE = ("runs", "answers", "keep", "description")
"""Tables of a description that may change between two sessions of a campaign."""


class CampaignError(DockfmuError):
    """A campaign cannot be made, or not gone on with."""


class Campaign:
    """Many runs of one system with values that vary, kept in a folder.

    Parameters
    ----------
    source : Path, str or mapping
        Campaign file (.toml), the same as a dictionary, or the folder of a campaign, with which it goes on.
    folder : Path or str, optional
        Folder of the campaign; by default build/campaigns/NAME.

    Raises
    ------
    DeclarationError, OptionError, StructureError
        for a description that cannot be; messages name file, place and value
    CampaignError
        for a folder that is that of another campaign

    Examples
    --------
    >>> campaign = dockfmu.Campaign("docs/examples/atv_campaign.toml", "build/atv")               # doctest: +SKIP
    >>> campaign.run(runs=1000, workers=2)
    >>> campaign.runs()["outcome"].value_counts()
    """

    def __init__(self, source: Path | str | Mapping[str, Any], folder: Path | str | None = None) -> None:
        if isinstance(source, Mapping):
            content, base, where = dict(source), Path(), "campaign"
        elif (Path(source) / MANIFEST).is_file():
            content, base, where = _described(Path(source))
            folder = source if folder is None else folder
        else:
            content, base, where = read_content(Path(source)), Path(source).parent, str(source)
        self.study, self.system = read_study(content, base.absolute(), where)
        self.folder = Path("build") / "campaigns" / self.study.name if folder is None else Path(folder)
        self._runner: Runner | None = None

    def __repr__(self) -> str:
        return f"<Campaign {self.study.name} of {self.study.system}: {self.folder}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Full names of what varies."""
        return self.study.draws.names

    def values(self, index: int) -> dict[str, Any]:
        """Return the values of run `index`, which depend on the seed and the index alone."""
        return self.study.draws.values(index)

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
        """Make the runs that the folder lacks, then the recordings, answers and the report; return all rows.

        A campaign that was interrupted goes on where it was. What was made is kept whatever happens.

        Parameters
        ----------
        runs : int, optional
            Number of runs, by default that of the description or of the session before.
        workers : int, optional
            Processes on this machine, by default one for each core.
        scheduler : str, optional
            Address of a scheduler of Dask, whose workers are taken instead.
        memory_limit : str
            Memory of each worker on this machine.
        answer : bool
            Whether to compute the answers and write the report.
        progress : callable
            Called with a line on the state of the campaign, some times a minute.

        Raises
        ------
        CampaignError
            for a folder of another campaign
        LockedError
            while another process writes the folder
        SchedulerLostError, WorkerMismatchError, WriteError
            where the campaign cannot go on
        """
        where = ClusterOptions(workers, scheduler, memory_limit)
        check_workers(where)
        if runs is not None:
            self.study = self._with_runs(runs)
        with open_session(self, where) as (data, cluster):
            make_runs(data, cluster, self.study.draws.runs, progress)
            if answer:
                self._conclude(cluster, progress)
        return self.runs()

    def runs(self, columns: Sequence[str] | None = None) -> pandas.DataFrame:
        """Return the rows of all runs made so far, in the order of their index."""
        return read_runs(self.folder / RUNS, columns)

    def peaks(self, output: str, part: str = "max") -> np.ndarray:
        """Return the peak of an output in each run: "max" or "min", "t_max" or "t_min" in s."""
        return read_peaks(self.folder / RUNS, output, part)

    def row(self, index: int) -> dict[str, Any]:
        """Make run `index` alone, in this process, and return its row: bitwise that of the campaign."""
        if self._runner is None:
            self._runner = Runner(self.study)
        return self._runner.run(RunPoint(index))

    def record(
        self, index: int, folder: Path | str | None = None, *, report: bool = True,
        progress: Callable[[str], None] = silent,
    ) -> RecordedRun:  # fmt: skip
        """Make run `index` alone and record everything, as `dockfmu run` does; by default into series/INDEX."""
        variant, settings = resolve(self.study, self.values(index))
        if self._runner is None:
            self._runner = Runner(self.study)
        system = self._runner.system(variant)
        place = self.folder / SERIES / f"{index:06d}" if folder is None else Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        start = system._starts.of(system.structure, settings)
        return _with_start(system, start).record(
            place, self.study.options, record=None, every=None, report=report, progress=progress,
            command=f"dockfmu campaign {self.folder} --index {index}",
        )  # fmt: skip

    def _with_runs(self, runs: int) -> Study:
        if self.study.draws.sampling == "grid":
            raise OptionError([f"--runs {runs}: a grid has {self.study.draws.runs} runs, by `points` of its file"])
        return self.study.with_runs(runs)

    def _conclude(self, cluster: Execution, progress: Callable[[str], None]) -> None:
        from dockfmu.campaign.answers.asked import answer_all
        from dockfmu.campaign.report import write_campaign_report

        for index in self.wanted_series():
            if not (self.folder / SERIES / f"{index:06d}" / "summary.json").is_file():
                progress(f"recording run {index}")
                self.record(index, report=False)
        answers = answer_all(self, cluster, progress)
        write_campaign_report(self, answers)

    def wanted_series(self) -> list[int]:
        """Return the numbers of the runs of which `keep` asks for a recording."""
        kept, table = self.study.kept, self.runs()
        found: list[int] = []
        if kept.every:
            found += [int(index) for index in table["index"] if index % kept.every == 0]
        if kept.failed:
            found += table.loc[table["status"] == "failed", "index"].tolist()
        for name, count in kept.worst.items():
            smallest = self.study.measure(name).kind == "min"
            ordered = table.dropna(subset=[name]).sort_values(name, ascending=smallest, kind="stable")
            found += ordered["index"].head(count).tolist()
        return sorted(dict.fromkeys(found))

    def _identify(self) -> dict[tuple[str, ...], dict[str, Any]]:
        """Return, for each variant, the digests of its FMUs and one of all that it is."""
        runner = Runner(self.study)
        runner._systems[()] = self.system
        found = {}
        for labels in variants(self.study):
            structure = runner.system(labels).structure
            about = json.dumps(identity(structure), sort_keys=True).encode()
            found[labels] = {"fmus": digests(structure), "all": hashlib.sha256(about).hexdigest()}
        return found

    def _write_manifest(self, known: Mapping[tuple[str, ...], Mapping[str, Any]]) -> None:
        """Write what the campaign is, or check that the folder is of this one. Raises CampaignError."""
        systems = {" ".join(labels): dict(system) for labels, system in known.items()}
        now = {
            "format": FORMAT, "description": self.study.content, "files": str(self.study.folder),
            "systems": systems, "versions": fingerprint(),
        }  # fmt: skip
        file = self.folder / MANIFEST
        before = _manifest(file) if file.is_file() else None
        if before is not None:
            _check_same(self.folder, before, now)
        made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if before is None else before.get("created")
        write_file(file, json.dumps({**now, "created": made}, indent=1, default=str).encode())


@contextmanager
def open_session(
    campaign: Campaign, where: ClusterOptions = HERE, runner: Any = Runner
) -> Iterator[tuple[DataSet, Execution]]:
    """Open the folder of a campaign for writing, and a cluster for its runs and those of methods."""
    known = campaign._identify()
    with data_set(campaign) as data:
        campaign._write_manifest(known)
        made = {labels: dict(system["fmus"]) for labels, system in known.items()}
        with Execution(campaign.study, made, where, runner) as cluster:
            yield data, cluster


def data_set(campaign: Campaign, place: Path = Path(RUNS)) -> DataSet:
    """Return the data set of the runs of a campaign, or of other runs of its study at a `place` in its folder."""
    study, system = campaign.study, campaign.system
    peaks = tuple(system.structure.select(types=("Real",))) if study.kept.peaks else ()
    told = {"campaign": study.name, "versions": json.dumps(fingerprint())}
    return DataSet(campaign.folder / place, columns(study, system), peaks, told)


def make_runs(data: DataSet, cluster: Execution, runs: int, progress: Callable[[str], None] = silent) -> None:
    """Make those of `runs` runs that a data set lacks. What was made is kept, whatever happens."""
    for note in data.notes:
        progress(note)
    todo = [index for index in range(runs) if index not in data.seen]
    if not todo:
        return
    shown = CampaignProgress(runs, runs - len(todo), progress)
    waiting: list[dict[str, Any]] = []
    since = time.monotonic()
    try:
        for row in cluster.run(map(RunPoint, todo), tick=shown.tick):
            waiting.append(row)
            shown.count(row)
            if len(waiting) >= PART_ROWS or time.monotonic() - since > PART_S:
                full, waiting, since = waiting, [], time.monotonic()
                data.write(full)
    finally:
        data.write(waiting)
        shown.end()


def _with_start(system: System, start: Any) -> System:
    """Return a copy of a system with other start values and the plan that follows from them."""
    from copy import copy
    from dataclasses import replace

    other = copy(system)
    other.structure = start.structure
    if start.approach_energy is not None:
        other.plan = replace(system.plan, approach_energy=start.approach_energy)
    other._products = None
    return other


def _manifest(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CampaignError(f"{file}: cannot be read ({error})") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise CampaignError(f"{file}: not of a campaign of this version of dockfmu")
    return found


def _described(folder: Path) -> tuple[dict[str, Any], Path, str]:
    found = _manifest(folder / MANIFEST)
    return found["description"], Path(found["files"]), str(folder / MANIFEST)


def _check_same(folder: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise CampaignError that names what differs between a campaign's folder and what is to go on in it."""
    then, given = before["description"], now["description"]
    changed = [key for key in dict.fromkeys([*then, *given]) if key not in FREE and then.get(key) != given.get(key)]
    if then.get("sampling") == "latin_hypercube" and then.get("runs") != given.get("runs"):
        changed.append("runs (a Latin hypercube is made for one number)")
    changed += [f"system {name}" for name, system in now["systems"].items() if before["systems"].get(name) != system]
    old, new = before["versions"], now["versions"]
    changed += [f"version of {name}" for name, value in new.items() if old.get(name) != value]
    if changed:
        raise CampaignError(
            f"{folder}: is of a campaign with another {', another '.join(changed)}; runs of both would be mixed: give "
            "another folder with -o"
        )
