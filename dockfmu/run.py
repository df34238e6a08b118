"""One run: from a system's name or an .ssp to a folder of results."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from base.errors import DockfmuError
from base.files import WriteError
from base.names import file_name
from dockfmu.declare import bundle, declaration
from dockfmu.declare.assembly import assemble
from dockfmu.declare.base_motion import check_base_motion
from dockfmu.declare.declaration import CHANGED, CONDITIONS
from dockfmu.declare.plan import Plan
from dockfmu.declare.ports import swap
from dockfmu.declare.settings import Settings
from dockfmu.products import ResultsFolder, finite, publish
from dockfmu.report.page import PRODUCTS as REPORTS
from dockfmu.report.page import write_report
from dockfmu.report.png import Painters
from dockfmu.watch.live import NOT_LIVE, Live
from dockfmu.watch.watching import watching
from master import algorithms
from master.checkpoint import Checkpoint, check_states, read_checkpoint
from master.observers.checkpoints import Checkpoints
from master.observers.observer import Observer
from master.observers.progress import Progress
from master.observers.recording import journal
from master.observers.recording.recorder import Recorder
from master.observers.recording.selection import Dense
from master.result import Result
from master.run.simulation import Simulation
from master.step_control import Retry, StepControl
from master.system import System
from ssp.archive import is_package
from ssp.read import read_parameter_set

CHECKPOINT = "run.checkpoint"

MADE = "made"
"""Folder of the products of a declared system, before they are published."""

PRODUCTS = ("results.h5", "summary.json", "events.json", CHECKPOINT, *REPORTS)
"""Files that a run leaves in its folder."""


class RequestError(DockfmuError, ValueError):
    """The command asks for what cannot be done."""


@dataclass(frozen=True)
class Request:
    """What the command `dockfmu run` asks for; None leaves the system's own setting.

    `every` is the number of macro steps between two records, `around` the seconds before and after each event of the
    system in which all steps are recorded. `adaptive` lets the steps vary as the system declares, with this tolerance
    or, if 0, its own; `retry` is the length of the shortest step that takes the place of one that an FMU discards.
    `processes` are elements that run in processes of their own, with the longest call in s, or None for the default.
    `resume` is the checkpoint of an earlier run; with `force` differences between that run and this one do not matter,
    where the checkpoint can be used at all. On several `threads` elements step side by side. `command` is
    what was typed, for the report.
    """

    system: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    parameters: tuple[Path, ...] = ()
    swaps: Mapping[str, Path] = field(default_factory=dict)
    algorithm: str | None = None
    step: float | None = None
    stop: float | None = None
    output: Path | None = None
    report: bool = True
    live: Live = NOT_LIVE
    every: int | None = None
    around: tuple[float, float] | None = None
    adaptive: float | None = None
    retry: float | None = None
    processes: Mapping[str, float | None] = field(default_factory=dict)
    resume: Path | None = None
    force: bool = False
    threads: int = 1
    command: str = ""


def execute(request: Request, build: Path, say: Callable[[str], None]) -> tuple[dict[str, Any], Path]:
    """Run a request; returns the summary, as of Result.summary, and the folder of results.

    The folder holds `results.h5`, `events.json`, `summary.json`, and with `report` also `report.html` and plots, of
    failed runs too; those of an earlier run are removed, but for the recording where the run goes on from a checkpoint
    in that folder. Everything runs from an .ssp: a system by name is first written to one. Raises MasterError,
    ParameterError, CatalogueError, DeclarationError or RequestError before anything has run.
    """
    if request.algorithm is not None:
        algorithms.by_name(request.algorithm)
    if request.output is not None:
        _check_folder(request.output)
    settings, conditions = _settings(request)
    with tempfile.TemporaryDirectory(prefix="dockfmu-") as unpacked:
        if is_package(request.system):
            if conditions:
                raise RequestError(
                    f"{CONDITIONS}.{next(iter(conditions))}: an .ssp has start states instead, such as "
                    "ELEMENT.parameters.initial.position; initial conditions belong to a system by name"
                )
            system, plan, description, notes = bundle.read_bundle(request.system, Path(unpacked))
            settings.apply(system)
        else:
            file = prepare(request, settings, conditions, Path(unpacked), say)
            # apart from what was made: packages within a package are unpacked too
            system, plan, description, notes = bundle.read_bundle(file, Path(unpacked) / "package")
        plan = _overridden(plan, request)
        plan.check(system)
        for element, fmu in request.swaps.items():
            lost, left_out = swap(system, element, fmu)
            plan, unwatched = plan.without(lost)
            notes += left_out + unwatched
        _separate(system, request.processes)
        system.check()
        check_base_motion(system)
        checkpoint = None if request.resume is None else _checkpoint(request, system, plan)
        with ResultsFolder(request.output or build / "results" / file_name(system.name)) as folder:
            if not is_package(request.system):
                _publish(Path(unpacked) / MADE, folder, request, build, say)
            return _recorded(system, plan, folder, description, request, checkpoint, notes, say), folder.path


def _publish(made: Path, folder: ResultsFolder, request: Request, build: Path, say: Callable[[str], None]) -> None:
    """Leave the .ssp and the FMUs that a run is made of where they can be found.

    A run whose results go elsewhere does without, where it is in a folder that it cannot write.
    """
    changed = any((made / "ssp").glob(f"*{CHANGED}.ssp"))
    beside_results = changed and request.output is not None
    try:
        publish(made / "ssp", folder.path if beside_results else build / "ssp", "*.ssp")
        publish(made / "fmus", build / "fmus", "**/*.fmu")
    except WriteError as error:
        if request.output is None:
            raise
        say(f"note: {error}; --build DIR leaves the FMUs and the .ssp elsewhere")


def _recorded(
    system: System, plan: Plan, folder: ResultsFolder, description: str, request: Request,
    checkpoint: Checkpoint | None, notes: list[str], say: Callable[[str], None],
) -> dict[str, Any]:  # fmt: skip
    """Run, and write what is said of it, whatever happens; returns the summary."""
    simulation = _simulation(system, plan, folder.path, description, request, checkpoint)
    simulation.open()
    # as late as can be: what is refused until here leaves the results of an earlier run
    try:
        if checkpoint is not None and request.resume is not None and _is_in(request.resume, folder.path):
            kept = folder.keep_recording("results.h5", checkpoint.time)
            if kept is not None:
                say(f"note: the recording of the run before is kept as {kept}; results.h5 begins at the checkpoint")
        rows = journal.beside(Path("results.h5"))
        folder.clear((*PRODUCTS, rows.name, journal.unfinished(rows).name), request.resume)
    except DockfmuError:
        simulation.abandon()
        raise
    with _painters(request) as painters:
        try:
            simulation.run()
        except KeyboardInterrupt:
            # before the first step or after the last one: the result says so
            pass
        except Exception:
            # a fault of this program: what there is of the run is kept all the same
            _summarise(simulation.result, folder, notes)
            raise
        result = simulation.result
        summary = _summarise(result, folder, notes)
        for note in result.warnings:
            say(f"warning: {note}")
        if request.report and (folder.path / "results.h5").is_file():
            try:
                write_report(folder.path, painters)
            except (DockfmuError, OSError) as error:
                say(f"warning: no report: {error}")
        return summary


def _painters(request: Request) -> AbstractContextManager[Painters | None]:
    """Have plots drawn by processes that load what they need while the run goes on.

    A run that is held to the clock is left alone meanwhile.
    """
    return Painters() if request.report and request.live.realtime is None else nullcontext()


def _is_in(file: Path, folder: Path) -> bool:
    return file.resolve().parent == folder.resolve()


def _summarise(result: Result, folder: ResultsFolder, notes: list[str]) -> dict[str, Any]:
    """Write summary and events, for which there is a reserve."""
    result.warnings[:0] = notes
    summary: dict[str, Any] = finite(result.summary())
    folder.release_reserve()
    folder.write_json("summary.json", summary)
    folder.write_json("events.json", summary["events"])
    return summary


def prepare(
    request: Request, settings: Settings, conditions: Mapping[str, Any], folder: Path, say: Callable[[str], None]
) -> Path:
    """The .ssp of a declared system, with the request's settings in it, FMUs built where needed.

    It is made in a private folder: another run of that name, with other settings, does not get in between.
    """
    declared = declaration.read(request.system)
    changed = bool(settings.values or settings.sets or conditions)
    made = folder / MADE
    fmus = made / "fmus" / declared.name
    system, plan = assemble(declared.with_conditions(conditions), fmus, say, settings)
    (made / "ssp").mkdir()
    name = f"{declared.name}{CHANGED if changed else ''}.ssp"
    return bundle.write_bundle(system, plan, declared.description, made / "ssp" / name)


def _settings(request: Request) -> tuple[Settings, dict[str, Any]]:
    """(values for elements, values for initial conditions) of a request."""
    prefix = f"{CONDITIONS}."
    values = {name: value for name, value in request.settings.items() if not name.startswith(prefix)}
    conditions = {name[len(prefix) :]: v for name, v in request.settings.items() if name.startswith(prefix)}
    sets = []
    for file in request.parameters:
        try:
            # messages say in which file a value stands
            sets.append(replace(read_parameter_set(file.read_bytes(), str(file)), name=str(file)))
        except OSError as error:
            raise RequestError(f"--parameters {file}: {error.strerror}") from error
    return Settings(values, tuple(sets)), conditions


def _check_folder(folder: Path) -> None:
    """Refuse a folder of results that cannot be written, before FMUs are built for it."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        reason = "is not writable" if existing.is_dir() else "is no folder"
        raise RequestError(f"-o {folder}: {existing} {reason}")


def _overridden(plan: Plan, request: Request) -> Plan:
    asked = {"algorithm": request.algorithm, "step": request.step, "stop": request.stop, "record_every": request.every}
    return replace(plan, **{name: value for name, value in asked.items() if value is not None})  # type: ignore[arg-type]


def _checkpoint(request: Request, system: System, plan: Plan) -> Checkpoint:
    """The checkpoint to go on from. Raises CheckpointError or RequestError for one that does not fit the run."""
    assert request.resume is not None
    checkpoint = read_checkpoint(request.resume)
    check_states(system)
    checkpoint.check(system, force=request.force)
    if not plan.stop > checkpoint.time:
        raise RequestError(
            f"--resume {request.resume}: is at {checkpoint.time:g} s already; the run ends at {plan.stop:g} s"
        )
    return checkpoint


def _separate(system: System, processes: Mapping[str, float | None]) -> None:
    """Give elements processes of their own."""
    for name, timeout in processes.items():
        if name not in system.elements:
            raise RequestError(f"--process {name}: the system has the elements {', '.join(system.elements)}")
        element = system.elements[name]
        element.process, element.timeout = True, timeout or element.timeout


def _simulation(
    system: System, plan: Plan, folder: Path, description: str, request: Request, checkpoint: Checkpoint | None
) -> Simulation:
    recorder = Recorder(
        folder / "results.h5",
        every=plan.record_every,
        dense=None if request.around is None else Dense(tuple(plan.events.values()), *request.around),
        attributes={
            "plan": plan.to_json(),
            "description": description,
            "command": request.command,
            "changed": json.dumps({name: str(value) for name, value in request.settings.items()}),
        },
    )
    observers: list[Observer] = [*watching(system, plan), recorder, Progress()]
    # a run that is held to the clock has no time for checkpoints
    if request.live.realtime is None and all(system.description(n).can_serialize_state for n in system.elements):
        observers.append(Checkpoints(folder / CHECKPOINT))
    drivers, live = request.live.watchers(system)
    return Simulation(
        system,
        drivers=drivers,
        algorithm=algorithms.by_name(plan.algorithm),
        control=_control(system, plan, request),
        step=plan.step,
        stop=plan.stop,
        stop_when=plan.stop_when,
        observers=[*observers, *live],
        resume=checkpoint,
        force=request.force,
        threads=request.threads,
    )


def _control(system: System, plan: Plan, request: Request) -> StepControl | Retry | None:
    if request.adaptive is None:
        return Retry(request.retry) if request.retry is not None else None
    if plan.adaptive is None:
        raise RequestError("--adaptive: the system declares no table `adaptive` that says how its steps may vary")
    plan.adaptive.prepare(system)
    return plan.adaptive.control(request.adaptive or None)
