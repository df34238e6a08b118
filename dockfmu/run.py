"""One run: from a system's name or an .ssp to a folder of results."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dockfmu import bundle, declaration
from dockfmu.assembly import assemble
from dockfmu.plan import Plan
from dockfmu.ports import swap
from dockfmu.report import write_report
from master import algorithms
from master.observers.audit import Audit
from master.observers.events import Events
from master.observers.observer import Observer
from master.observers.peaks import Peaks
from master.observers.progress import Progress
from master.observers.recorder import Recorder
from master.result import Result
from master.run import run
from master.system import System


@dataclass(frozen=True)
class Request:
    """What the command `dockfmu run` asks for; None leaves the system's own setting."""

    system: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    parameters: tuple[Path, ...] = ()
    swaps: Mapping[str, Path] = field(default_factory=dict)
    algorithm: str | None = None
    step: float | None = None
    stop: float | None = None
    output: Path | None = None
    report: bool = True


def execute(request: Request, build: Path, say: Callable[[str], None]) -> tuple[dict[str, Any], Path]:
    """Run a request; returns the summary of architecture section 7 and the folder of results.

    The folder holds `results.h5`, `events.json`, `summary.json`, and with `report` also `report.html` and plots, of
    failed runs too. Everything runs from an .ssp: a system by name is first written to one. Raises MasterError,
    ParameterError or DeclarationError before anything has run.
    """
    with tempfile.TemporaryDirectory(prefix="dockfmu-") as unpacked:
        if request.system.endswith(".ssp"):
            file, settings = Path(request.system), request.settings
        else:
            file, settings = prepare(request, build, say), {}
        system, plan, description, notes = bundle.read_bundle(file, Path(unpacked))
        notes += _adapt(system, request, settings)
        plan = _overridden(plan, request)
        folder = request.output or build / "results" / system.name
        folder.mkdir(parents=True, exist_ok=True)
        result = _run(system, plan, folder, description)
        result.warnings[:0] = notes
    for note in result.warnings:
        say(f"warning: {note}")
    summary = result.summary()
    _write_json(folder / "summary.json", summary)
    _write_json(folder / "events.json", result.events)
    if request.report and (folder / "results.h5").is_file():
        write_report(folder)
    return summary, folder


def prepare(request: Request, build: Path, say: Callable[[str], None]) -> Path:
    """The .ssp of a declared system, with the request's settings in it, FMUs built where needed."""
    declared = declaration.read(request.system)
    chosen = declared.with_values(request.settings)
    system, plan = assemble(chosen, build / "fmus", say)
    folder = request.output if request.settings and request.output else build / "ssp"
    folder.mkdir(parents=True, exist_ok=True)
    changed = "" if chosen == declared else "-changed"
    return bundle.write_bundle(system, plan, chosen.description, folder / f"{declared.name}{changed}.ssp")


def _adapt(system: System, request: Request, settings: Mapping[str, Any]) -> list[str]:
    """Put parameter files, single values and other FMUs into the system; what had to be left out as sentences."""
    notes = []
    for file in request.parameters:
        notes += bundle.apply_parameters(system, file)
    for name, value in settings.items():
        bundle.set_value(system, name, value)
    for element, fmu in request.swaps.items():
        notes += swap(system, element, fmu)
    return notes


def _overridden(plan: Plan, request: Request) -> Plan:
    asked = {"algorithm": request.algorithm, "step": request.step, "stop": request.stop}
    return replace(plan, **{name: value for name, value in asked.items() if value is not None})  # type: ignore[arg-type]


def _run(system: System, plan: Plan, folder: Path, description: str) -> Result:
    recorder = Recorder(
        folder / "results.h5",
        every=plan.record_every,
        attributes={"plan": plan.to_json(), "description": description},
    )
    outputs = [name for name in system.select("*", causality=("output",)) if system.resolve(name)[1].type == "Real"]
    observers: list[Observer] = [recorder, Peaks(outputs), Events(plan.events), Progress()]
    if plan.audited:
        observers.append(audit(system, plan))
    return run(
        system,
        algorithm=algorithms.by_name(plan.algorithm),
        step=plan.step,
        stop=plan.stop,
        stop_when=plan.stop_when,
        observers=observers,
    )


def audit(system: System, plan: Plan) -> Audit:
    """The balance over the audited elements, from those of their `audit` outputs that they have."""

    def present(*names: str) -> list[str]:
        known = {element: system.description(element).variables for element in plan.audited}
        return [
            f"{element}.audit.{name}"
            for element in plan.audited
            for name in names
            if f"audit.{name}" in known[element] or f"audit.{name}[1]" in known[element]
        ]

    return Audit(
        momentum=present("momentum"),
        angular_momentum=present("angular_momentum"),
        impulse=present("impulse_control"),
        angular_impulse=present("angular_impulse_control"),
        stored=present("kinetic_energy", "stored_energy"),
        dissipated=present("dissipated_energy"),
        supplied=plan.supplied,
        reference_energy=plan.approach_energy or None,
    )


def _write_json(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
