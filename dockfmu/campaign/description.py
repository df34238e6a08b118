"""The description of a campaign: what is run, what varies, what ends a run, and what is kept of it.

It is a TOML file, or its content as a dictionary; docs/guide/campaigns.md describes the format. `read_study` checks it
against its system and converts all numbers to SI.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.file_names import file_name_problem
from dockfmu.base.given_files import read_toml
from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.units import UnitError, parse_unit, round_conversion
from dockfmu.campaign.sampling.distributions import Choice
from dockfmu.campaign.sampling.draws import SAMPLINGS, Draws
from dockfmu.campaign.sampling.vary import canonical, read_laws
from dockfmu.declare.conditions.initial_conditions import (
    CONDITION_PREFIX,
    CONDITIONS,
    SEED,
    InitialConditions,
    with_condition,
)
from dockfmu.declare.conditions.limits import severity
from dockfmu.declare.settings import scalars
from dockfmu.declare.toml.quantities import in_unit
from dockfmu.declare.toml.tables import DeclarationError, Table, finite_number, named_place
from dockfmu.errors import OptionError
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.loads import UNITS as LOADS
from dockfmu.master.step_control import Retry
from dockfmu.options import RunOptions
from dockfmu.system import System

_TABLES = (
    "name", "description", "system", "runs", "seed", "sampling", "points", "values", "parameters", "swap", "vary",
    "severity", "run", "end", "measures", "keep", "refined", "answers",
)  # fmt: skip
_RUN = ("step", "stop", "algorithm", "adaptive", "retry", "time_limit")
_MEASURE = ("signal", "kind", "unit")
_SERIES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "max": lambda signals: signals.max(axis=1),
    "min": lambda signals: signals.min(axis=1),
    "magnitude": lambda signals: np.abs(signals).max(axis=1),
    "resultant": lambda signals: np.sqrt((signals * signals).sum(axis=1)),
    "final": lambda signals: signals[:, 0],
}
"""For each kind of measure the series over time that it is taken from: the largest or smallest value of its signals,
their largest magnitude, the root of the sum of their squares, the value at the end of one signal."""
_RISES = {"min": False, "final": None}
_SECOND = parse_unit("s")
REFINED = "refined"
"""Name of the data set of the runs repeated at a tenth of the step; it lies beside those of the questions."""


@dataclass(frozen=True)
class Measure:
    """A number kept of each run, in column `name`, with the time at which it occurs, in column `t_name`."""

    name: str
    signals: tuple[str, ...]
    kind: str
    unit: str

    def series(self, signals: np.ndarray) -> np.ndarray:
        """Return the series, shape (n,), of the rows of the signals, shape (n, signals)."""
        return _SERIES[self.kind](signals)

    @property
    def rises(self) -> bool | None:
        """True if the measure can only rise as a run continues, False if it can only fall, None if both."""
        return _RISES.get(self.kind, True)

    @property
    def sign(self) -> float:
        """Sign by which the extreme that counts becomes the largest."""
        return -1.0 if self.rises is False else 1.0

    @property
    def end(self) -> str:
        """Word for the extreme that counts."""
        return "smallest" if self.rises is False else "largest"


@dataclass(frozen=True)
class Ending:
    """An end of a run: `after` s of simulated time after an event of the plan."""

    event: str
    after: float


@dataclass(frozen=True)
class Kept:
    """Choice of what is kept of a campaign besides one row for each run.

    With `peaks`, the rows hold the peaks of all outputs. Recordings are kept of each run that `failed`, of the `worst`
    runs by some measures (name -> number of runs; the smallest values for kind "min"), and of every `every`-th run (0
    for none).
    """

    peaks: bool = True
    failed: bool = False
    worst: Mapping[str, int] = field(default_factory=dict)
    every: int = 0


@dataclass(frozen=True)
class Study:
    """A checked description, with all numbers in SI: all that workers need to make any run.

    Attributes
    ----------
    content : mapping
        The description as given.
    folder : Path
        Folder to which its files are relative.
    name, description, system : str
        Name and description of the campaign, and its system, by name or file.
    settings, parameters, swap
        Values, .ssv files and .fmu files of every run.
    draws : Draws
        What varies.
    options : RunOptions
        How a run is made.
    endings : tuple of Ending
        What ends a run before its stop time.
    measures : tuple of Measure
        Numbers that are kept of each run.
    kept : Kept
        What is kept besides the rows.
    time_limit : float
        Longest duration of a run, s of wall-clock time.
    refined : float
        Share of the largest values of each measure whose runs are repeated at a tenth of the step.
    answers : mapping
        The tables of the questions.
    where : str
        What messages call the description: its file.
    """

    content: Mapping[str, Any]
    folder: Path
    name: str
    description: str
    system: str
    settings: Mapping[str, Any]
    parameters: tuple[str, ...]
    swap: Mapping[str, str]
    draws: Draws
    options: RunOptions
    endings: tuple[Ending, ...]
    measures: tuple[Measure, ...]
    kept: Kept
    time_limit: float
    answers: Mapping[str, Any]
    refined: float = 0.01
    where: str = "campaign"

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The laws that choose between options."""
        return tuple(law for law in self.draws.laws if isinstance(law, Choice))

    def measure(self, name: str) -> Measure:
        """Return a measure by its name. Raises OptionError with near matches."""
        found = next((measure for measure in self.measures if measure.name == name), None)
        if found is None:
            names = [measure.name for measure in self.measures]
            listed = f"{', '.join(names)}{did_you_mean(name, names)}"
            raise OptionError([f"there is no measure {name!r}; there are {listed}"])
        return found

    def path(self, file: str) -> Path:
        """Return a file of the description, relative to its folder."""
        return self.folder / file

    def with_runs(self, runs: int) -> Study:
        """Return the study with another number of runs."""
        return replace(self, draws=replace(self.draws, runs=runs), content={**self.content, "runs": runs})


@dataclass(frozen=True)
class SeverityLimit:
    """Predicate that accepts draws whose severity R1 or R2, of all eleven parameters, is at most `at_most`.

    It is a class, not a nested function, because it is sent to workers.
    """

    conditions: Any
    measure: str
    at_most: float

    def __call__(self, values: Mapping[str, Any]) -> bool:
        """Return whether values are accepted."""
        severities = severity_of(self.conditions, values)
        return severities[0 if self.measure == "R1" else 1] <= self.at_most


def severity_of(conditions: Any, values: Mapping[str, Any]) -> tuple[float, float]:
    """Return the severities R1 and R2 of the declared conditions with drawn values inserted; NaN without limits."""
    found = severity(conditions_with(conditions, values))
    return (float("nan"), float("nan")) if found is None else (found.root_sum_square, found.sum)


def conditions_with(conditions: InitialConditions, values: Mapping[str, Any]) -> InitialConditions:
    """Return the declared conditions with drawn values inserted."""
    for name, value in values.items():
        if name.startswith(CONDITION_PREFIX):
            conditions = with_condition(conditions, name.removeprefix(CONDITION_PREFIX), value)
    return conditions


def condition_columns(conditions: InitialConditions) -> dict[str, float]:
    """Return misses, angles and velocities by the names of their columns, "miss[1]" or "angles[3]", SI."""
    return {
        f"{name}[{k}]": number for name in conditions.limited for k, number in enumerate(getattr(conditions, name), 1)
    }


def read_content(file: Path) -> dict[str, Any]:
    """Return the tables of a campaign file. Raises DeclarationError."""
    try:
        return read_toml(file)
    except OSError as error:
        raise DeclarationError(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise DeclarationError(f"{file}: not TOML ({error})") from error


def load_system(table: Table, folder: Path) -> System:
    """Load the system that a description names, with its values, sets and FMUs for all runs."""
    return load_variant(
        table.text("system"),
        folder,
        dict(table.table("values").content),
        tuple(table.texts("parameters", ())),
        {str(element): str(file) for element, file in table.table("swap").content.items()},
    )


def load_variant(
    source: str, folder: Path, values: Mapping[str, Any], parameters: tuple[str, ...], swap: Mapping[str, str]
) -> System:
    """Load a system by its name or file, with values, .ssv files and swapped FMUs."""
    file = source.partition("#")[0].endswith((".ssp", ".toml"))
    system = System.load(
        str(folder / source) if file else source, values, parameters=[folder / name for name in parameters]
    )
    for element, fmu in swap.items():
        system.swap(element, folder / fmu)
    return system


def read_study(content: Mapping[str, Any], folder: Path, where: str) -> tuple[Study, System]:
    """Return a checked description and its loaded system.

    Raises DeclarationError, OptionError, StructureError and any error of loading; messages name file, place and value.
    """
    table = Table(content, where, _TABLES)
    name = table.text("name", "campaign")
    if problem := file_name_problem(name):
        raise DeclarationError(f"{where}: the name {shown(name)} {problem}")
    _check_values(table)
    with named_place(where):
        system = load_system(table, folder)
    run = table.table("run", _RUN)
    with named_place(run.where):
        options = RunOptions(
            step=_seconds(run, "step"),
            stop=_seconds(run, "stop"),
            algorithm=run.text("algorithm", None),
            adaptive=run.number("adaptive", None),
            control=None if "retry" not in run.content else Retry(_seconds(run, "retry") or 0.0),
            record=(),
            every=1,
        )
    laws = read_laws(table, system)
    sampling = table.text("sampling", "random", SAMPLINGS)
    seed = table.content.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise DeclarationError(f"{where}: seed = {shown(seed)}: must be a non-negative integer")
    runs, points, accept = table.whole("runs", 1), table.whole("points", 0), _severity_limit(table, system)
    with named_place(where):
        draws = Draws(laws, sampling, seed, runs, points, accept)
        if sampling == "grid":
            draws = replace(draws, runs=draws.grid_size)
    return Study(
        content=json.loads(json.dumps(content, default=str)), folder=folder, name=name,
        description=table.text("description", ""), system=table.text("system"),
        settings=dict(table.table("values").content), parameters=tuple(table.texts("parameters", ())),
        swap={str(element): str(file) for element, file in table.table("swap").content.items()},
        draws=draws, options=options, endings=_endings(table, system), measures=_measures(table, system),
        kept=_kept(table), time_limit=_seconds(run, "time_limit") or 600.0,
        answers=_answers(table), refined=_share(table, "refined", Study.refined), where=where,
    ), system  # fmt: skip


def _check_values(table: Table) -> None:
    if f"{CONDITION_PREFIX}{SEED}" in table.table("values").content:
        raise DeclarationError(f"{table.where}, values: {CONDITIONS}.{SEED} is a single draw; use law = 'documented'")


def _seconds(table: Table, name: str) -> float | None:
    """Return a time in s from a number or a text with a unit; None where it is missing."""
    value = table.content.get(name)
    if value is None:
        return None
    try:
        number = finite_number(in_unit(value, _SECOND, f"{table.where}: {name}"))
    except UnitError as error:
        raise DeclarationError(str(error)) from error
    if number is None or number <= 0.0:
        raise DeclarationError(f"{table.where}: {name} = {shown(value)}: must be a positive time, such as 15 or '10ms'")
    return round_conversion(number) if isinstance(value, str) else number


def _share(table: Table, name: str, default: float) -> float:
    share = float(table.number(name, default))
    if not 0.0 <= share <= 1.0:
        raise DeclarationError(f"{table.where}: {name} = {share:g}: must lie between 0 and 1")
    return share


def _severity_limit(table: Table, system: System) -> SeverityLimit | None:
    if "severity" not in table.content:
        return None
    limit = table.table("severity", ("measure", "at_most"))
    conditions = system.conditions
    if conditions is None or not conditions.limits:
        raise DeclarationError(f"{limit.where}: the system {system.name} declares no {CONDITIONS}.limits")
    return SeverityLimit(conditions, limit.text("measure", "R1", ("R1", "R2")), limit.number("at_most", positive=True))


def _endings(table: Table, system: System) -> tuple[Ending, ...]:
    found = []
    for row in table.rows("end", ("event", "after")):
        event, events = row.text("event"), system.plan.events
        if event not in events:
            listed = f"; there are {', '.join(events)}{did_you_mean(event, events)}"
            raise DeclarationError(f"{row.where}: the system has no event {event!r}{listed}")
        found.append(Ending(event, _seconds(row, "after") or 0.0))
    return tuple(found)


def _interface_loads(system: System) -> tuple[Measure, ...]:
    """Return measures of the loads at the interface: of the element whose loads have limits, or of the mechanism."""
    plan, conditions = system.plan, system.conditions
    element = plan.loads.element if plan.loads is not None else conditions.mechanism if conditions is not None else ""
    if element not in system.structure.elements:
        return ()
    known = system.structure.description(element).variables
    return tuple(
        Measure(name, (f"{element}.load.{name}",), "max", unit)
        for name, unit in LOADS.items()
        if f"load.{name}" in known
    )


def _measures(table: Table, system: System) -> tuple[Measure, ...]:
    """Return the declared measures; by default the loads at the interface."""
    if "measures" not in table.content:
        return _interface_loads(system)
    found = []
    for name, row in table.tables("measures", _MEASURE, "measure").items():
        if not name.isidentifier():
            raise DeclarationError(f"{row.where}: the name of a measure must be one word, which becomes a column")
        given = row.content.get("signal")
        names = row.texts("signal") if isinstance(given, list) else (row.text("signal"),)
        signals, units = _signals(system, names, row.where)
        kind = row.text("kind", "resultant" if len(names) == 1 and len(signals) > 1 else "max", tuple(_SERIES))
        if kind == "final" and len(signals) > 1:
            raise DeclarationError(f"{row.where}: kind = 'final' needs one variable; there are {len(signals)}")
        if len(set(units)) > 1:
            listed = ", ".join(f"{signal} in {unit}" for signal, unit in zip(signals, units, strict=True))
            raise DeclarationError(f"{row.where}: the signals of a measure must have one unit: {listed}")
        unit = units[0]
        found.append(Measure(name, tuple(signals), kind, unit))
    return tuple(found)


def _signals(system: System, names: Sequence[str], where: str) -> tuple[list[str], list[str]]:
    """Return the scalars of one or several variables, and their units. Raises DeclarationError."""
    try:
        signals = [scalar for name in names for scalar in scalars(system.structure, name)[0]]
    except StructureError as error:
        raise DeclarationError(f"{where}: {error}") from error
    if not signals:
        raise DeclarationError(f"{where}: signal = []: a measure needs at least one variable")
    return signals, [system.structure.resolve(signal)[1].unit or "1" for signal in signals]


def _answers(table: Table) -> dict[str, Any]:
    """Return the tables of the questions, whose names become file names beside that of the refined runs."""
    answers = table.table("answers")
    for name in answers.content:
        if name == REFINED:
            raise DeclarationError(
                f"{answers.where}: the name {name!r} is reserved for the repeated runs; choose another"
            )
        if problem := file_name_problem(name):
            raise DeclarationError(f"{answers.where}: the name {name!r} {problem}")
    return dict(answers.content)


def _kept(table: Table) -> Kept:
    row = table.table("keep", ("peaks", "failed", "worst", "every"))
    worst = row.table("worst", tuple(table.table("measures").content))
    return Kept(
        row.flag("peaks", True),
        row.flag("failed", False),
        {name: worst.whole(name) for name in worst.content},
        row.whole("every", 0),
    )


def short_name(name: str) -> str:
    """Return the column name of a varied variable: initial conditions without their prefix, others in full."""
    return canonical(name).removeprefix(CONDITION_PREFIX)
