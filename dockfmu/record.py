"""Record a run in a folder of results, for `dockfmu run` and `System.record`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import WriteError
from dockfmu.base.numbers import finite
from dockfmu.declare.plan import Plan
from dockfmu.errors import OptionError
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.drivers.operator import LoggedInputs
from dockfmu.master.observers.checkpoints import Checkpoints
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.progress import Progress
from dockfmu.master.observers.recording import journal
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.selection import Dense
from dockfmu.master.result import Result
from dockfmu.master.run.interruption import uninterrupted
from dockfmu.master.run.running import Running
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from dockfmu.options import RunOptions
from dockfmu.products import ResultsFolder
from dockfmu.report.files import CHECKPOINT, EVENTS, RESULTS, RUN_FILES, SUMMARY
from dockfmu.view.scenes import Scenes, operated_inputs
from dockfmu.view.station import LiveView, watchers
from dockfmu.watch.live import Live

if TYPE_CHECKING:
    from dockfmu.report.notebook import NotebookFigure, NotebookPage


@dataclass(frozen=True)
class RecordedRun:
    """A run that was recorded in a folder.

    Attributes
    ----------
    folder : Path
        Folder of results.
    summary : dict
        Content of its `summary.json`.
    """

    folder: Path
    summary: dict[str, Any]

    def _repr_html_(self) -> str:
        from dockfmu.report.notebook import summary_html

        return summary_html(self.summary)

    def plot(self) -> NotebookFigure:
        """Return the plots of the report as a figure, the impact of a long run; a notebook shows it."""
        from dockfmu.master.observers.recording.results import read_results
        from dockfmu.report.notebook import drawing
        from dockfmu.report.page import panels_by_unit

        with read_results(self.folder / RESULTS) as results:
            panels = Plan.from_json(results.attributes["plan"]).panels or panels_by_unit(results)
            return drawing(results, panels, self.summary["events"], self.summary["system"])

    def view(self, height: int = 640) -> NotebookPage:
        """Return the replay of the run as a frame of `height` pixels that a notebook shows, without a server.

        Raises ViewError if there is nothing to show.
        """
        from dockfmu.master.observers.recording.results import read_results
        from dockfmu.report.notebook import NotebookPage
        from dockfmu.view.export import page_of
        from dockfmu.view.recording import Replay

        with read_results(self.folder / RESULTS) as results:
            return NotebookPage(page_of([Replay(results, self.folder)]), height)


def record(
    run: CoSimulation,
    place: Path,
    options: RunOptions,
    *,
    publish: Callable[[], None] | None,
    required: bool,
    report: bool,
    progress: Callable[[str], None],
) -> RecordedRun:
    """Record a run in a folder of results; see `System.record`.

    Parameters
    ----------
    run : CoSimulation
        The run, with the observers of its `RunRecord`.
    place : Path
        Folder of results.
    options : RunOptions
        Options of the run.
    publish : callable, optional
        Copies the .ssp and the FMUs of the run to the build folder; None if the user already has them.
    required : bool
        Whether the run fails if its .ssp and FMUs cannot be written.
    report : bool
        Whether to write the report.
    progress : callable
        Called with messages about lengthy operations.
    """
    name = run.system.name
    with ResultsFolder(place) as folder:
        if publish is not None:
            try:
                publish()
            except WriteError as error:
                if required:
                    raise
                progress(f"note: {error}; --build DIR writes the FMUs and the .ssp elsewhere")
        progress(f"{name}: loading {len(run.system.elements)} FMUs")
        running = run.open()
        try:
            _clear(folder, run.schedule.start, options, progress)
        except DockfmuError:
            running.close()
            raise
        schedule = run.schedule
        progress(f"{name}: running to {schedule.stop:g} s in steps of {schedule.step:g} s, {run.algorithm.name}")
        summary = _run(running, folder)
        for note in running.result.warnings:
            progress(f"warning: {note}")
        if report:
            _report(folder.path, progress)
        return RecordedRun(folder.path, summary)


def check_writable(folder: Path) -> None:
    """Raise OptionError for a folder of results that cannot be written, before FMUs are built for it."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        reason = "is not writable" if existing.is_dir() else "is not a directory"
        raise OptionError([f"{folder}: {existing} {reason}"])


@dataclass(frozen=True)
class RunRecord:
    """Hold what is recorded and shown of a run, made once: for the recording, for its report and for a live view.

    Attributes
    ----------
    folder : Path
        Folder of results.
    structure : Structure
        The system.
    plan : Plan
        Its plan, with the options of the run applied.
    scenes : Scenes
        The scenes of its FMUs.
    attributes : mapping of str to str
        Attributes of the recording; plan and scenes as texts are among them.
    """

    folder: Path
    structure: Structure
    plan: Plan
    scenes: Scenes
    attributes: Mapping[str, str]

    @classmethod
    def of(cls, folder: Path, structure: Structure, plan: Plan, scenes: Scenes, **about: str) -> RunRecord:
        """Return the record of a run, with further attributes."""
        # the scenes have the shapes of the plan already
        attributes = {"plan": replace(plan, scene={}).to_json(), "scenes": json.dumps(scenes.elements), **about}
        return cls(folder, structure, plan, scenes, attributes)

    def observers(self, options: RunOptions) -> list[Observer]:
        """Return the observers that write the recording of the run, and its checkpoints."""
        around = options.around
        recorder = Recorder(
            self.folder / RESULTS,
            more=self.scenes.locals,
            every=self.plan.record_every,
            dense=None if around is None else Dense(tuple(self.plan.events.values()), *around),
            attributes=self.attributes,
        )
        observers: list[Observer] = [recorder, Progress()]
        descriptions = map(self.structure.description, self.structure.elements)
        # a run that is paced to real time has no time for checkpoints
        if options.live.realtime is None and all(description.can_serialize_state for description in descriptions):
            observers.append(Checkpoints(self.folder / CHECKPOINT))
        return observers

    def live_view(self, live: Live, progress: Callable[[str], None]) -> tuple[list[Driver], list[Observer]]:
        """Return the drivers and observers that show the run live in the browser; none if `view` is not requested."""
        if live.view is None:
            return [], []
        view = LiveView(
            self.folder,
            self.folder / RESULTS,
            live,
            self.attributes,
            self.plan,
            self.scenes.locals,
            lambda address: progress(f"{self.structure.name}: watch it at {address}"),
        )
        return watchers(view, live, self.structure, self.plan, self.scenes, self.folder)


def driven_inputs(structure: Structure, live: Live) -> list[str]:
    """Return the inputs that an operator sets, live or in a logged session that is replayed."""
    if live.view is not None and live.realtime is not None:
        return operated_inputs(structure)
    return [] if live.inputs is None else list(LoggedInputs(live.inputs).inputs)


def _clear(folder: ResultsFolder, start: float, options: RunOptions, progress: Callable[[str], None]) -> None:
    """Remove the files of an earlier run, except the recording and the checkpoint from which this one continues.

    This is done as late as possible: a run that is refused before leaves the earlier results in place.
    """
    resumed = None if options.resume is None else Path(options.resume)
    if resumed is not None and resumed.resolve().parent == folder.path.resolve():
        kept = folder.keep_recording(RESULTS, start)
        if kept is not None:
            progress(f"note: the recording of the previous run is kept as {kept}; {RESULTS} begins at the checkpoint")
    rows = journal.beside(Path(RESULTS))
    folder.clear((*RUN_FILES, rows.name, journal.unfinished(rows).name), resumed)


def _run(run: Running, folder: ResultsFolder) -> dict[str, Any]:
    """Run, write summary and events whatever happens, and return the summary."""
    interruption: KeyboardInterrupt | None = None
    try:
        run.run()
    except KeyboardInterrupt as error:
        # before the first step, which the result records, or after the last one
        interruption = error
    except Exception:
        # a defect of this program: keep the results so far
        _summarise(run.result, folder)
        raise
    summary = _summarise(run.result, folder)
    if interruption is not None and not run.result.signal:
        raise interruption
    return summary


def _summarise(result: Result, folder: ResultsFolder) -> dict[str, Any]:
    """Write summary and events, using the reserved disk space if the disk is full."""
    summary: dict[str, Any] = finite(result.summary())
    folder.release_reserve()
    folder.write_json(SUMMARY, summary)
    folder.write_json(EVENTS, summary["events"])
    return summary


def _report(folder: Path, progress: Callable[[str], None]) -> None:
    from dockfmu.report.page import write_report

    progress(f"{folder}: writing the report")
    try:
        with uninterrupted():
            write_report(folder)
    except (DockfmuError, OSError) as error:
        progress(f"warning: no report: {error}")
