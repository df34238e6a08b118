"""One run of a campaign: from its index, or its values, to a row of results.

A runner keeps its simulations open, so that only the first run of a system loads FMUs; later runs begin with
`Simulation.reset`. Rows depend neither on earlier runs nor on the place where a run is made: the first run of each
system is repeated, and if the repetition differs, because an FMU keeps data from one run to the next, each run of this
system begins in new processes of its FMUs.
"""

from __future__ import annotations

import math
import socket
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.base.fmi import outcome_of_category
from dockfmu.campaign.description import (
    Measure,
    Study,
    condition_columns,
    conditions_with,
    load_variant,
    severity_of,
    short_name,
)
from dockfmu.campaign.machine import MachineFaultError, check_machine
from dockfmu.campaign.sampling.distributions import Choice
from dockfmu.declare.conditions.initial_conditions import CONDITION_PREFIX
from dockfmu.declare.plan import Plan
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.errors import OptionError
from dockfmu.master.checkpoint import digests
from dockfmu.master.errors import FmuError, MasterError, StructureError
from dockfmu.master.observers.endings import EndAfterEvents
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Sampling
from dockfmu.master.result import Result
from dockfmu.master.system import Structure, why_fixed
from dockfmu.simulation import Simulation
from dockfmu.system import System

KEPT = 4
"""Number of simulations that a runner keeps open."""
CLOSING = "docking.velocity[1]"
AT_REST = 1e-3
"""Speed below which craft that have not docked are considered stuck, m/s."""
PEAKS = ("max", "t_max", "min", "t_min")
ASKED = "asked_values"
"""Column of the values that a method requested, in the rows of its runs."""
MISMATCH = "the FMUs of this worker differ from those of the client"


class WorkerMismatchError(DockfmuError):
    """A worker has another version of dockfmu, of a library, or of an FMU than the client."""


@dataclass(frozen=True, slots=True)
class RunPoint:
    """A run to make: number `index`, with its own draw or with these `values`.

    `step_factor` multiplies the step of the study, or of the system that the values choose. If it is not 1, the step
    is fixed even where the study controls it, and the time limit is divided by the factor. The run ends at `until`, s,
    if that is before the stop time.
    """

    index: int
    values: Mapping[str, Any] | None = None
    step_factor: float = 1.0
    until: float = math.inf


class MeasureObserver(Observer):
    """Computes the measures of a run from every macro step: `found` maps a name to (value, time)."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        self.measures = tuple(measures)
        self.reset()

    def reset(self) -> None:
        """Forget the previous run."""
        self.found: dict[str, tuple[float, float]] = {}

    def sampling(self, system: Structure) -> Sampling | None:
        """Request all signals."""
        names = dict.fromkeys(signal for measure in self.measures for signal in measure.signals)
        self._column = {name: k for k, name in enumerate(names)}
        return Sampling(tuple(names)) if names else None

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        """Update the measures with rows."""
        for measure in self.measures:
            signal = values[:, [self._column[name] for name in measure.signals]]
            series, sign = measure.series(signal), measure.sign
            if measure.rises is None:
                self.found[measure.name] = float(series[-1]), float(time[-1])
                continue
            k = int(np.argmax(sign * series))
            value, before = float(series[k]), self.found.get(measure.name)
            # a measure that was not a number once stays so
            if before is None or not (np.isnan(before[0]) or sign * value <= sign * before[0]):
                self.found[measure.name] = value, float(time[k])


class TimeLimit(Observer):
    """Ends a run that takes longer than `limit` seconds of wall-clock time."""

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def progress(self, time: float, wall: float) -> str | None:
        """Return the reason to end the run."""
        return f"took longer than {self.limit:g} s of wall-clock time" if wall > self.limit else None


class LastDocking(Observer):
    """Reads the `closing` speed of the craft at the end of a run, m/s; None if no element has that output."""

    closing: float | None = None

    def reset(self) -> None:
        """Forget the previous run."""
        self.closing = None

    def begin(self, run: RunContext) -> None:
        """Find the element that has the output."""
        self._read = run.read
        self._signals = [f"{name}.{CLOSING}" for name, d in run.descriptions.items() if CLOSING in d.variables][:1]

    def last(self) -> None:
        """Read the speed."""
        self.closing = next(iter(self._read(self._signals)), None)


def endings(study: Study, plan: Plan) -> list[Observer]:
    """Return the observers that end a run before its stop time."""
    after: dict[str, float] = {}
    for end in study.endings:
        after[end.event] = min(end.after, after.get(end.event, math.inf))
    return [EndAfterEvents(plan.events, after)] if after else []


class LastOutputs(Observer):
    """Reads all outputs at the end of a run if they are `wanted`, to compare it with its repetition."""

    def __init__(self) -> None:
        self.wanted = True
        self.values: dict[str, Any] = {}

    def reset(self) -> None:
        """Forget the previous run."""
        self.values = {}

    def begin(self, run: RunContext) -> None:
        """Find the outputs."""
        self._read = run.read
        self._names = [
            f"{name}.{variable.name}" for name, d in run.descriptions.items() for variable in d.select("output")
        ]

    def last(self) -> None:
        """Read the outputs."""
        if self.wanted:
            self.values = dict(zip(self._names, self._read(self._names), strict=True))


class _Warm:
    """An open simulation of one variant of the system, with its observers."""

    def __init__(self, system: System, study: Study, step_factor: float) -> None:
        plan = system.plan
        self.system, self.plan = system, plan
        self.measures = MeasureObserver(study.measures)
        self.last, self.outputs = LastDocking(), LastOutputs()
        limit = TimeLimit(study.time_limit / step_factor)
        observers = [self.measures, self.last, self.outputs, *endings(study, plan), limit]
        options = replace(study.options, stop=study.options.stop or plan.stop)
        self.step = options.step or plan.step
        if step_factor != 1.0:
            # a finer step is fixed: step control would only begin with it
            self.step *= step_factor
            options = replace(options, step=self.step, adaptive=None)
        self.simulation: Simulation = system.simulate(options, observers=observers)
        self.simulation.__enter__()

    def close(self) -> None:
        self.simulation.__exit__(None, None, None)


class Runner:
    """Makes runs of a study in this process.

    `expected` holds the digests of the FMUs of each variant, by its labels; other FMUs raise WorkerMismatchError.
    """

    def __init__(self, study: Study, expected: Mapping[tuple[str, ...], Mapping[str, str]] | None = None) -> None:
        self.study = study
        self.expected = expected or {}
        self._warm: OrderedDict[tuple[tuple[str, ...], float], _Warm] = OrderedDict()
        self._systems: dict[tuple[str, ...], System] = {}
        self._checked: set[tuple[str, ...]] = set()
        """Variants whose first run has been repeated."""
        self._isolated: dict[tuple[str, ...], str] = {}
        """Variants whose FMUs have new processes for each run, and the difference that is the reason."""

    def close(self) -> None:
        """Free all FMUs."""
        while self._warm:
            self._warm.popitem()[1].close()

    def attempts(self, point: RunPoint) -> int:
        """Return the largest number of simulations that `run` makes for a point."""
        try:
            variant, _ = resolve(self.study, self._values(point))
        except DockfmuError:
            return 1
        return 1 if variant in self._checked else 3

    def run(self, point: RunPoint) -> dict[str, Any]:
        """Make a run and return its row, also if the run fails.

        Raises WorkerMismatchError, and MachineFaultError if this machine cannot make runs.
        """
        row: dict[str, Any] = {"index": point.index, "worker": socket.gethostname(), "step_factor": point.step_factor}
        try:
            values = self._values(point)
            row |= {short_name(name): value for name, value in values.items()}
            variant, settings = resolve(self.study, values)
            warm = self._get(variant, point.step_factor)
            row["step"] = warm.step
            conditions = warm.system.conditions
            if conditions is not None:
                row |= condition_columns(conditions_with(conditions, settings))
                row["R1"], row["R2"] = severity_of(conditions, settings)
            warm.outputs.wanted = variant not in self._checked
            made = self._simulate(warm, settings, point)
            # the end of a run by its time limit is no property of the run
            if variant not in self._checked and made["status"] != "stopped":
                made = self._confirm(variant, point, settings, made)
        except (WorkerMismatchError, MachineFaultError):
            raise
        except (OSError, MemoryError) as error:
            check_machine(error)
            raise
        except DockfmuError as error:
            check_machine(error)
            return row | {"status": "failed", "outcome": "invalid", "reason": str(error)}
        if variant in self._isolated:
            made["warnings"] = "\n".join(filter(None, (self._isolated[variant], made["warnings"])))
        return row | made

    def _values(self, point: RunPoint) -> dict[str, Any]:
        return self.study.draws.values(point.index) if point.values is None else dict(point.values)

    def _confirm(
        self, variant: tuple[str, ...], point: RunPoint, settings: Mapping[str, Any], made: dict[str, Any]
    ) -> dict[str, Any]:
        """Repeat the first run of a variant; return its row, from new processes of the FMUs if the repetition differs.

        A run that fails before its first step is repeated in new processes: its FMUs may refuse a second instance.
        """
        warm = self._get(variant, point.step_factor)
        first = _bits(made, warm)
        refused = made["status"] == "failed" and not made["macro_steps"]
        if not refused:
            again = self._simulate(warm, settings, point)
            difference = _difference(first, _bits(again, warm))
            if not difference:
                self._checked.add(variant)
                return made
        self._checked.add(variant)
        try:
            isolated = self._isolate(variant, point.step_factor)
        except MasterError as error:
            if not refused:
                self._isolated[variant] = f"{NOT_INDEPENDENT} ({difference}), and it stays so: {error}"
            return made
        alone = self._simulate(isolated, settings, point)
        if refused:
            if alone["status"] == "failed" and not alone["macro_steps"]:
                self._drop(variant)
                return made
            difference = made["reason"]
        self._isolated[variant] = f"{NOT_INDEPENDENT} ({difference}): each run starts new processes for its FMUs"
        return alone

    def _isolate(self, variant: tuple[str, ...], step_factor: float) -> _Warm:
        """Open a variant again whose FMUs have new processes for each run."""
        self._drop(variant)
        system = self._systems[variant] = load(self.study, variant)
        for name in system.structure.elements:
            system.isolate(name, self.study.time_limit, fresh=True)
        return self._get(variant, step_factor)

    def _drop(self, variant: tuple[str, ...]) -> None:
        """Close the simulations of a variant, and forget its system."""
        for key in [key for key in self._warm if key[0] == variant]:
            self._warm.pop(key).close()
        self._systems.pop(variant, None)

    def system(self, variant: tuple[str, ...]) -> System:
        """Return the loaded system of a variant."""
        if variant not in self._systems:
            self._systems[variant] = system = load(self.study, variant)
            expected = self.expected.get(variant)
            if expected is not None and (actual := digests(system.structure)) != expected:
                differing = ", ".join(name for name in expected if actual.get(name) != expected[name])
                raise WorkerMismatchError(f"{MISMATCH}: {differing}")
        return self._systems[variant]

    def _simulate(self, warm: _Warm, settings: Mapping[str, Any], point: RunPoint) -> dict[str, Any]:
        """Make a run, also one that fails, and return the cells of its row that come from the result.

        Raises DockfmuError for settings with which no run is possible, and MachineFaultError if this machine is at
        fault.
        """
        try:
            warm.simulation.reset(settings)
            self._advance(warm.simulation, point.until, warm.step)
        except FmuError:
            pass  # the outcome reports it
        try:
            result = warm.simulation.finish().result
        except FmuError:
            result = warm.simulation.outcome.result
        if result.status == "failed":
            check_machine(result.error)
        return _row(result, warm)

    def _advance(self, simulation: Simulation, until: float, step: float) -> None:
        """Make the steps of a run up to a time, or to its end. Raises FmuError if an FMU fails."""
        simulation.advance(until)

    def _get(self, variant: tuple[str, ...], step_factor: float) -> _Warm:
        key = (variant, step_factor)
        if key not in self._warm:
            if len(self._warm) == KEPT:
                self._warm.popitem(last=False)[1].close()
            self._warm[key] = _Warm(self.system(variant), self.study, step_factor)
        self._warm.move_to_end(key)
        return self._warm[key]


NOT_INDEPENDENT = "runs in one process are not independent"
"""Beginning of the warning of runs whose FMUs keep data from one run to the next."""


def _bits(made: Mapping[str, Any], warm: _Warm) -> dict[str, str]:
    """Return what a repetition of a run must give to the last bit, by name."""
    cells = {name: value for name, value in made.items() if name != "wall_s"} | warm.outputs.values
    return {name: repr(value) for name, value in cells.items()}


def _difference(first: Mapping[str, str], again: Mapping[str, str]) -> str:
    """Return a sentence on the first value that differs, empty if all are equal."""
    names = [name for name in {**first, **again} if first.get(name) != again.get(name)]
    if not names:
        return ""
    name, more = names[0], f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"repeated, one gave {name} = {again.get(name, 'nothing')} instead of {first.get(name, 'nothing')}{more}"


def resolve(study: Study, values: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return (labels of the options that need their own system, settings) for drawn values. Raises OptionError."""
    variant: list[str] = []
    settings = dict(values)
    for choice in study.choices:
        option = choice.option(settings.pop(choice.name))
        settings |= option.values
        if _loads(choice):
            variant.append(option.label)
    return tuple(variant), settings


def load(study: Study, variant: tuple[str, ...]) -> System:
    """Load the system of a variant."""
    source, parameters, swap = study.system, study.parameters, dict(study.swap)
    for choice, label in zip(filter(_loads, study.choices), variant, strict=True):
        option = choice.option(label)
        source, parameters, swap = option.system or source, parameters + option.parameters, swap | dict(option.swap)
    return load_variant(source, study.folder, study.settings, parameters, swap)


def variants(study: Study) -> list[tuple[str, ...]]:
    """Return the labels of all systems that a study needs."""
    combinations: list[tuple[str, ...]] = [()]
    for choice in filter(_loads, study.choices):
        combinations = [(*labels, option.label) for labels in combinations for option in choice.options]
    return combinations


def check_options(study: Study, systems: Mapping[tuple[str, ...], System]) -> None:
    """Raise OptionError for values of all runs or of options of choices that their systems do not accept.

    Whatever else is drawn, runs with them would fail; so would those that vary what an FMU calculates. `systems` are
    those of all `variants`.
    """
    problems: dict[str, None] = {}
    where = study.where
    loading = [choice.name for choice in study.choices if _loads(choice)]
    for labels, system in systems.items():
        chosen = dict(zip(loading, labels, strict=True))
        problems |= dict.fromkeys(f"{where}, values: {problem}" for problem in system.problems(study.settings))
        problems |= dict.fromkeys(_calculated(study, system))
        for choice in study.choices:
            for option in choice.options:
                if chosen.get(choice.name, option.label) == option.label:
                    place = f"{where}, {choice.name}, option {option.label!r}"
                    problems |= dict.fromkeys(f"{place}: {problem}" for problem in system.problems(option.values))
    if problems:
        raise OptionError(problems)


def _calculated(study: Study, system: System) -> Iterator[str]:
    """Yield a sentence for each variable that a study varies, and an FMU calculates."""
    chosen = {choice.name for choice in study.choices}
    for name in study.draws.names:
        if name in chosen or name.startswith(CONDITION_PREFIX):
            continue
        # an array has no variable of its name: it is looked at when it is set
        with suppress(StructureError):
            if reason := why_fixed(system.structure.resolve(name)[1]):
                yield f"{study.where}: {name} cannot vary: it is {reason}"


def _loads(choice: Choice) -> bool:
    return any(option.loads for option in choice.options)


def columns(study: Study, system: System) -> dict[str, str]:
    """Return the columns of a row: name -> "whole", "number", "text", or "numbers" for a list over all peaks.

    Raises DeclarationError for a measure or a choice with the name of another column.
    """
    found = {"index": "whole", "status": "text", "outcome": "text", "reason": "text", "t_end": "number"}
    found |= {f"t_{event}": "number" for event in system.plan.events}
    choices = {choice.name for choice in study.choices}
    varied = {short_name(name): "text" if name in choices else "number" for name in study.draws.names}
    severities: dict[str, str] = {}
    if system.conditions is not None:
        severities = dict.fromkeys([*condition_columns(system.conditions), "R1", "R2"], "number")
    named = [name for measure in study.measures for name in (measure.name, f"t_{measure.name}")]
    more = {f"audit_{name}": "number" for name in AUDIT} | {"warnings": "text"}
    more |= {"step": "number", "step_factor": "number", "macro_steps": "whole", "wall_s": "number", "worker": "text"}
    peaks = {f"peak_{part}": "numbers" for part in PEAKS}
    more |= {"loads": "text", "loads_exceeded": "text"} if system.plan.loads is not None else {}
    severities = {name: kind for name, kind in severities.items() if name not in varied}
    given, others = [*varied, *named], {*found, *severities, *more, *peaks, ASKED}
    for name in given:
        if name in others or given.count(name) > 1:
            raise DeclarationError(
                f"{study.where}: two columns would have the name {name!r}: rename the measure or choice"
            )
    found |= varied | severities | dict.fromkeys(named, "number") | more
    return found | (peaks if study.kept.peaks else {})


AUDIT = (
    "linear_momentum_drift", "angular_momentum_drift", "mechanism_momentum_drift", "base_impulse_error",
    "energy_residual",
)  # fmt: skip


def _row(result: Result, warm: _Warm) -> dict[str, Any]:
    """Return the cells of a row that come from a result."""
    first: dict[str, float] = {}
    for event in result.events:
        first.setdefault(f"t_{event['name']}", event["t"])
    row: dict[str, Any] = {
        "status": result.status,
        "outcome": outcome_of(result, warm.plan, warm.last.closing),
        "reason": result.message,
        "t_end": result.t_end,
        "macro_steps": result.macro_steps,
        "wall_s": result.wall_s,
        "warnings": "\n".join(result.warnings),
        **first,
        **{f"audit_{name}": result.audit[name] for name in AUDIT if name in result.audit},
    }
    if result.loads:
        row |= {"loads": result.loads["verdict"], "loads_exceeded": ", ".join(result.loads["exceeded"])}
    for name, (value, time) in warm.measures.found.items():
        row |= {name: value, f"t_{name}": time}
    row["peaks"] = {name: [peak[part] for part in PEAKS] for name, peak in result.peaks.items()}
    return row


def outcome_of(result: Result, plan: Plan, closing: float | None) -> str:
    """Return the outcome of a run, as one word.

    It is that of the system if the system has decided. A run that failed because a bound of the model was exceeded is
    "limit_exceeded", if the FMU that failed says so by the category of its message. Craft that have not been captured
    have "missed" if there was no contact, or if the head is past the docking plane outside the passive unit, which the
    category says. They have "bounced" if they separate, are "jammed" if they are at rest against each other, and are
    "undecided" if they are still closing.
    """
    if result.status == "failed":
        return outcome_of_category(result.failure.get("category", "")) or "failed"
    if result.status == "stopped":
        return "time_limit"
    if plan.outcome is None or result.outcome != plan.outcome.undecided or closing is None:
        return result.outcome
    if not any(event["name"] == "first_contact" for event in result.events):
        return "missed"
    if closing < -AT_REST:
        return "bounced"
    return "jammed" if closing <= AT_REST else "undecided"
