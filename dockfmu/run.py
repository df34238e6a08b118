"""One run: from a system's name or an .ssp to a folder of results."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dockfmu import bundle, declaration
from dockfmu.assembly import assemble
from dockfmu.balance import audit
from dockfmu.base_motion import check_base_motion
from dockfmu.declaration import CONDITIONS
from dockfmu.live import NOT_LIVE, Live
from dockfmu.plan import Plan
from dockfmu.ports import swap
from dockfmu.report import PRODUCTS as REPORTS
from dockfmu.report import ReportError, write_report
from dockfmu.settings import Settings
from master import algorithms
from master.checkpoint import Checkpoint, check_states, read_checkpoint
from master.observers import journal
from master.observers.checkpoints import Checkpoints
from master.observers.dense import Dense
from master.observers.events import Events
from master.observers.observer import Observer
from master.observers.peaks import Peaks
from master.observers.progress import Progress
from master.observers.recorder import Recorder
from master.result import Result
from master.simulation import Simulation
from master.step_control import Retry, StepControl
from master.system import System
from ssp.read import read_parameter_set
from ssp.variants import is_package

IMBALANCE = 0.01
"""Energy residual that a run is warned of: ten times what is promised at the default step."""

CHECKPOINT = "run.checkpoint"

PRODUCTS = ("results.h5", "summary.json", "events.json", CHECKPOINT, *REPORTS)
"""Files that a run leaves in its folder."""


class RequestError(ValueError):
    """The command asks for what cannot be done."""


@dataclass(frozen=True)
class Request:
    """What the command `dockfmu run` asks for; None leaves the system's own setting.

    `every` is the number of macro steps between two records, `around` the seconds before and after each event of the
    system in which all steps are recorded. `adaptive` lets the steps vary as the system declares, with this tolerance
    or, if 0, its own; `retry` is the length of the shortest step that takes the place of one that an FMU discards.
    `processes` are elements that run in processes of their own, with the longest call in s, or None for the default.
    `resume` is the checkpoint of an earlier run. On several `threads` elements step side by side.
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
    threads: int = 1


def execute(request: Request, build: Path, say: Callable[[str], None]) -> tuple[dict[str, Any], Path]:
    """Run a request; returns the summary, as of Result.summary, and the folder of results.

    The folder holds `results.h5`, `events.json`, `summary.json`, and with `report` also `report.html` and plots, of
    failed runs too; those of an earlier run are removed. Everything runs from an .ssp: a system by name is first
    written to one. Raises MasterError, ParameterError, CatalogueError, DeclarationError or RequestError before anything
    has run.
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
            file = prepare(request, settings, conditions, build, say)
            system, plan, description, notes = bundle.read_bundle(file, Path(unpacked))
        plan = _overridden(plan, request)
        for element, fmu in request.swaps.items():
            lost, left_out = swap(system, element, fmu)
            plan, unwatched = plan.without(lost)
            notes += left_out + unwatched
        _separate(system, request.processes)
        system.check()
        check_base_motion(system)
        checkpoint = None if request.resume is None else _checkpoint(request.resume, system, plan)
        folder = request.output or build / "results" / system.name
        result = _run(system, plan, folder, description, request, checkpoint)
        result.warnings[:0] = notes
        result.warnings += _imbalance(result)
    for note in result.warnings:
        say(f"warning: {note}")
    summary = _finite(result.summary())
    _write_json(folder / "summary.json", summary)
    _write_json(folder / "events.json", summary["events"])
    if request.report and (folder / "results.h5").is_file():
        try:
            write_report(folder)
        except ReportError as error:
            say(f"warning: no report: {error}")
    return summary, folder


def prepare(
    request: Request, settings: Settings, conditions: Mapping[str, Any], build: Path, say: Callable[[str], None]
) -> Path:
    """The .ssp of a declared system, with the request's settings in it, FMUs built where needed."""
    declared = declaration.read(request.system)
    changed = bool(settings.values or settings.sets or conditions)
    system, plan = assemble(declared.with_conditions(conditions), build / "fmus", say, settings)
    folder = request.output if changed and request.output else build / "ssp"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{declared.name}{'-changed' if changed else ''}.ssp"
    return bundle.write_bundle(system, plan, declared.description, folder / name)


def _settings(request: Request) -> tuple[Settings, dict[str, Any]]:
    """(values for elements, values for initial conditions) of a request."""
    prefix = f"{CONDITIONS}."
    values = {name: value for name, value in request.settings.items() if not name.startswith(prefix)}
    conditions = {name[len(prefix) :]: v for name, v in request.settings.items() if name.startswith(prefix)}
    sets = []
    for file in request.parameters:
        try:
            sets.append(read_parameter_set(file.read_bytes(), str(file)))
        except OSError as error:
            raise RequestError(f"--parameters {file}: {error.strerror}") from error
    return Settings(values, tuple(sets)), conditions


def _check_folder(folder: Path) -> None:
    """Refuse a folder of results that cannot be written, before FMUs are built for it."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        reason = "is not writable" if existing.is_dir() else "is no folder"
        raise RequestError(f"-o {folder}: {existing} {reason}")


def _clear(folder: Path, kept: Path | None) -> None:
    """Make the folder, without what an earlier run left in it, but for the checkpoint that this one goes on from."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in (folder / name for name in (*PRODUCTS, journal.beside(Path("results.h5")).name)):
            if kept is None or file.resolve() != kept.resolve():
                file.unlink(missing_ok=True)
    except OSError as error:
        raise RequestError(f"-o {folder}: cannot be written ({error.strerror})") from error


def _overridden(plan: Plan, request: Request) -> Plan:
    asked = {"algorithm": request.algorithm, "step": request.step, "stop": request.stop, "record_every": request.every}
    return replace(plan, **{name: value for name, value in asked.items() if value is not None})  # type: ignore[arg-type]


def _checkpoint(file: Path, system: System, plan: Plan) -> Checkpoint:
    """The checkpoint to go on from. Raises CheckpointError or RequestError for one that does not fit the run."""
    checkpoint = read_checkpoint(file)
    check_states(system)
    checkpoint.check(system)
    if not plan.stop > checkpoint.time:
        raise RequestError(f"--resume {file}: is at {checkpoint.time:g} s already; the run ends at {plan.stop:g} s")
    return checkpoint


def _separate(system: System, processes: Mapping[str, float | None]) -> None:
    """Give elements processes of their own."""
    for name, timeout in processes.items():
        if name not in system.elements:
            raise RequestError(f"--process {name}: the system has the elements {', '.join(system.elements)}")
        element = system.elements[name]
        element.process, element.timeout = True, timeout or element.timeout


def _run(
    system: System, plan: Plan, folder: Path, description: str, request: Request, checkpoint: Checkpoint | None
) -> Result:
    recorder = Recorder(
        folder / "results.h5",
        every=plan.record_every,
        dense=None if request.around is None else Dense(tuple(plan.events.values()), *request.around),
        attributes={"plan": plan.to_json(), "description": description},
    )
    peaks = Peaks(system.select(types=("Real",)))
    observers: list[Observer] = [recorder, peaks, Events(plan.events), Progress()]
    if plan.audited:
        observers.append(audit(system, plan))
    # a run that is held to the clock has no time for checkpoints
    if request.live.realtime is None and all(system.description(n).can_serialize_state for n in system.elements):
        observers.append(Checkpoints(folder / CHECKPOINT))
    drivers, live = request.live.watchers(system)
    simulation = Simulation(
        system,
        drivers=drivers,
        algorithm=algorithms.by_name(plan.algorithm),
        control=_control(system, plan, request),
        step=plan.step,
        stop=plan.stop,
        stop_when=plan.stop_when,
        observers=[*observers, *live],
        resume=checkpoint,
        threads=request.threads,
    )
    simulation.open()
    # as late as can be: what is refused until here leaves the results of an earlier run
    _clear(folder, request.resume)
    return simulation.run()


def _control(system: System, plan: Plan, request: Request) -> StepControl | Retry | None:
    if request.adaptive is None:
        return Retry(request.retry) if request.retry is not None else None
    if plan.adaptive is None:
        raise RequestError("--adaptive: the system declares no table `adaptive` that says how its steps may vary")
    plan.adaptive.prepare(system)
    return plan.adaptive.control(request.adaptive or None)


def _imbalance(result: Result) -> list[str]:
    """A sentence where the energy balance of a run does not close, so that its results are not to be believed."""
    residual = result.audit.get("energy_residual", 0.0)
    if residual <= IMBALANCE:
        return []
    return [
        f"the energy balance does not close, with a residual of {residual:.3g}: a smaller macro step than "
        f"{result.step:g} s may help, or work from outside is missing in it"
    ]


def _finite(content: Any) -> Any:
    """`content` with None for what is infinite or no number, which JSON has no words for."""
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _write_json(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
