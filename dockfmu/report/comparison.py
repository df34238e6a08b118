"""Compare two recorded runs: outcome, settings, FMUs, parameters, events, peaks, signals."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.base.given_files import read_json
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.recording.results import DamagedRecording, Results, read_results
from dockfmu.report.files import SUMMARY, recording
from dockfmu.report.loads import interface_peaks
from dockfmu.report.summaries import cut_off, summary_problem
from dockfmu.report.words import condition_lines

SETTINGS = ("system", "algorithm", "step", "record_every")
VERSIONS = ("model_name", "sha256", "generation_tool", "fmi_version")


class ComparisonError(DockfmuError, RuntimeError):
    """There is nothing to compare: a folder without a run."""


@dataclass
class Run:
    """A run on disk as far as it can be read; `problems` lists what cannot be read.

    `results` is None if the recording is missing or unreadable. If summary.json is missing, `summary` comes from the
    attributes of the recording.
    """

    place: Path
    results: Results | None
    summary: dict[str, Any]
    problems: list[str]

    @property
    def ended(self) -> dict[str, Any]:
        """The outcome, status, t_end in s and message; None for unknown values."""
        known = {name: self.summary.get(name) for name in ("outcome", "status", "t_end", "message")}
        return {**known, "outcome": known["outcome"] or known["status"]}


@dataclass(frozen=True)
class Pair:
    """One quantity of both runs: None if a run does not have it. `difference` is B - A."""

    name: str
    a: Any
    b: Any
    unit: str = ""
    difference: float | None = None


@dataclass(frozen=True)
class SignalDifference:
    """Largest difference between a signal of B and that of A: magnitude, time in s, and share of the largest value."""

    name: str
    unit: str
    largest: float
    time: float
    share: float


@dataclass
class Comparison:
    """Differences between run A and run B. `same` says whether their results agree within the tolerances.

    Settings, FMUs and parameters are causes and do not count for `same`. `events` holds all events by their first
    times, `repeats` those that happened a different number of times; `peaks` and `signals` hold only those that differ
    by more than the tolerance, the largest share first, those that are nothing beside others of their unit last.
    `conditions` holds the initial conditions that differ, as they were given; `loads` the largest interface loads and
    resultants, all of them, which do not count for `same`: their signals do. `span` is the time in s that both
    recordings cover.
    """

    a: dict[str, Any]
    b: dict[str, Any]
    conditions: list[Pair] = field(default_factory=list)
    settings: list[Pair] = field(default_factory=list)
    fmus: list[Pair] = field(default_factory=list)
    parameters: list[Pair] = field(default_factory=list)
    events: list[Pair] = field(default_factory=list)
    repeats: list[Pair] = field(default_factory=list)
    loads: list[Pair] = field(default_factory=list)
    peaks: list[Pair] = field(default_factory=list)
    signals: list[SignalDifference] = field(default_factory=list)
    compared: int = 0
    span: tuple[float, float] | None = None
    only_a: list[str] = field(default_factory=list)
    only_b: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    same: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain lists and dictionaries."""
        return asdict(self)


def open_run(place: Path) -> Run:
    """Open a run by its folder or its results.h5. Raises ComparisonError if there is no run."""
    if not place.exists():
        raise ComparisonError(f"{place}: there is no such file or folder; give the folder of a run, or its results.h5")
    file = recording(place)
    folder = file.parent
    problems: list[str] = []
    results = None
    if file.is_file():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DamagedRecording)
                results = read_results(file)
            problems += [results.damage] if results.damage else []
        except MasterError as error:
            problems.append(str(error))
    else:
        problems.append(f"{file}: there is no such file")
    summary = _summary(folder / SUMMARY, problems)
    if results is None and summary is None:
        raise ComparisonError(f"{place}: holds no run: {'; '.join(problems)}")
    if results is not None and (problem := cut_off(results, summary or {})):
        problems.append(problem)
    return Run(place, results, summary or _summary_from_attributes(results), problems)


def _conditions(a: Run, b: Run) -> list[Pair]:
    """Return the initial conditions that differ, by the words of reports, with the severities."""
    one, other = (run.summary.get("initial_conditions", {}) for run in (a, b))
    if not (one and other):
        return []
    values = [{line["words"]: (line["value"], line["unit"]) for line in condition_lines(run)} for run in (one, other)]
    for found, run in zip(values, (one, other), strict=True):
        found |= {name: (run[name], "1") for name in ("R1", "R2") if name in run}
    pairs = []
    for name in dict.fromkeys([*values[0], *values[1]]):
        # a condition that is left out is 0
        (first, unit), (second, _) = (found.get(name, (0.0, values[0].get(name, values[1].get(name, (0.0, "")))[1]))
                                      for found in values)  # fmt: skip
        if first != second:
            pairs.append(Pair(name, first, second, unit, second - first))
    return pairs


def _loads(a: Run, b: Run) -> list[Pair]:
    """Return the largest interface loads and resultants of both runs."""
    found = []
    for run in (a, b):
        entries: dict[str, tuple[float | None, str]] = {
            f"{element}.load.{name}": (peak.get("max"), str(peak.get("unit", "")))
            for element, loads in interface_peaks(run.summary).items()
            for name, peak in loads.items()
        }
        entries |= {name: (entry["max"], entry["unit"]) for name, entry in run.summary.get("resultants", {}).items()}
        found.append(entries)
    pairs = []
    for name in dict.fromkeys([*found[0], *found[1]]):
        (first, unit), (second, other) = (entries.get(name, (None, "")) for entries in found)
        difference = None if first is None or second is None else second - first
        pairs.append(Pair(name, first, second, unit or other, difference))
    return pairs


def _summary(file: Path, problems: list[str]) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = read_json(file)
    except OSError as error:
        problems.append(f"{file}: {error.strerror}")
        return None
    except ValueError as error:
        problems.append(f"{file}: not JSON ({error})")
        return None
    if problem := summary_problem(content):
        problems.append(f"{file}: not the summary of a run: {problem}")
        return None
    return content


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _summary_from_attributes(results: Results | None) -> dict[str, Any]:
    """Return a summary from the attributes of a recording without one."""
    if results is None:
        return {}
    known = results.attributes
    status = "killed" if known.get("status", "running") == "running" else known["status"]
    t_end = float(results.time[-1]) if len(results.time) else None
    settings = {name: known[name] for name in SETTINGS if name in known}
    return {"outcome": known.get("outcome", status), "status": status, "t_end": t_end, **settings}


def compare(
    a: Run, b: Run, signals: Sequence[str] = ("*",), *, tolerance: float = 0.0, event_tolerance: float = 0.0
) -> Comparison:
    """Compare two runs.

    `signals` are patterns for peaks and signals. Peaks and signals may differ by `tolerance` times the largest
    magnitude of the variable in either run, times of events by `event_tolerance` in s. Signals are compared at the
    times of A that B also covers; between its samples, B is interpolated, or holds its value if it is discrete.
    Raises MasterError for a pattern that selects nothing in either run.
    """
    found = Comparison(a.ended, b.ended, problems=[f"A: {p}" for p in a.problems] + [f"B: {p}" for p in b.problems])
    found.settings = _settings(a, b)
    found.conditions, found.loads = _conditions(a, b), _loads(a, b)
    found.fmus, found.parameters = _fmus(a, b), _parameters(a, b)
    found.events, found.repeats = _events(a, b)
    chosen_a, chosen_b = selected(a, b, signals)
    found.only_a = [name for name in chosen_a if name not in set(chosen_b)]
    found.only_b = [name for name in chosen_b if name not in set(chosen_a)]
    found.peaks = _peaks(a, b, {*chosen_a, *chosen_b} if tuple(signals) != ("*",) else None, tolerance)
    _compare_signals(a, b, [name for name in chosen_a if name in set(chosen_b)], tolerance, found)
    events = all(e.difference is not None and abs(e.difference) <= event_tolerance for e in found.events)
    ended = all(found.a[name] == found.b[name] for name in ("outcome", "status"))
    ends = [found.a["t_end"], found.b["t_end"]]
    ended = ended and (ends[0] == ends[1] or (all(map(_number, ends)) and abs(ends[1] - ends[0]) <= event_tolerance))
    differ = found.repeats or found.peaks or found.signals or found.only_a or found.only_b or found.problems
    found.same = bool(ended and events and not differ)
    return found


def _settings(a: Run, b: Run) -> list[Pair]:
    def value(run: Run, name: str) -> Any:
        found = run.summary.get(name, run.results.attributes.get(name) if run.results is not None else None)
        return found if isinstance(found, str | int | float) or found is None else getattr(found, "item", str)()

    pairs = [Pair(name, value(a, name), value(b, name)) for name in SETTINGS]
    return [pair for pair in pairs if pair.a != pair.b]


def _fmus(a: Run, b: Run) -> list[Pair]:
    one, other = (run.results.fmus if run.results is not None else {} for run in (a, b))
    if a.results is None or b.results is None:
        return []
    pairs = []
    for element in dict.fromkeys([*one, *other]):
        if element not in one or element not in other:
            pairs.append(Pair(element, one.get(element, {}).get("file"), other.get(element, {}).get("file")))
            continue
        for name in VERSIONS:
            first, second = (str(fmus[element].get(name, "")) for fmus in (one, other))
            pairs += [Pair(f"{element}, {name}", first, second)] if first != second else []
    return pairs


def _parameters(a: Run, b: Run) -> list[Pair]:
    if a.results is None or b.results is None:
        return []
    pairs = []
    for element in a.results.fmus:
        if element not in b.results.fmus:
            continue
        one, other = a.results.parameters(element), b.results.parameters(element)
        units = b.results.parameter_units(element) | a.results.parameter_units(element)
        for name in dict.fromkeys([*one, *other]):
            first, second = one.get(name), other.get(name)
            if first != second and not (first != first and second != second):  # both may be NaN
                difference = None if first is None or second is None else second - first
                pairs.append(Pair(f"{element}.{name}", first, second, units.get(name, ""), difference))
    return pairs


def _events(a: Run, b: Run) -> tuple[list[Pair], list[Pair]]:
    """Return (first times, numbers of occurrences that differ)."""
    first: list[dict[str, float]] = []
    counts = []
    for run in (a, b):
        times: dict[str, float] = {}
        for event in run.summary.get("events", []):
            times.setdefault(event["name"], float(event["t"]))
        first.append(times)
        counts.append(Counter(event["name"] for event in run.summary.get("events", [])))
    one, other = first
    pairs = [
        Pair(
            name,
            one.get(name),
            other.get(name),
            "s",
            other[name] - one[name] if name in one and name in other else None,
        )
        for name in dict.fromkeys([*one, *other])
    ]
    pairs.sort(key=lambda pair: pair.a if pair.a is not None else pair.b)
    repeats = [Pair(n, counts[0][n], counts[1][n]) for n in one if n in other and counts[0][n] != counts[1][n]]
    return pairs, repeats


def selected(a: Run, b: Run, patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the recorded signals of each run that `patterns` select, in the order of the patterns.

    Raises MasterError for a pattern that selects nothing in either run.
    """
    found: tuple[list[str], list[str]] = ([], [])
    for pattern in patterns:
        errors = []
        for run, names in zip((a, b), found, strict=True):
            if run.results is None or not run.results.variables:
                continue
            try:
                names += [name for name in run.results.select(pattern) if name not in names]
            except MasterError as error:
                errors.append(error)
        if len(errors) == sum(run.results is not None and bool(run.results.variables) for run in (a, b)) and errors:
            raise errors[0]
    return found


def _peaks(a: Run, b: Run, chosen: set[str] | None, tolerance: float) -> list[Pair]:
    one, other = a.summary.get("peaks", {}), b.summary.get("peaks", {})
    ranked = []
    for name, peak in one.items():
        if name not in other or (chosen is not None and name not in chosen):
            continue
        ends = [(which, peak.get(which), other[name].get(which)) for which in ("max", "min")]
        numbers = [abs(value) for _, *values in ends for value in values if _number(value)]
        scale = max(numbers, default=0.0)
        for which, first, second in ends:
            if _number(first) and _number(second):
                difference = second - first
                if abs(difference) > tolerance * scale:
                    pair = Pair(f"{name} {which}", first, second, str(peak.get("unit", "")), difference)
                    ranked.append((abs(difference) / scale, pair))
            elif first != second:
                ranked.append((np.inf, Pair(f"{name} {which}", first, second, str(peak.get("unit", "")))))
    largest = _largest_of_units((pair.unit, *(v for v in (pair.a, pair.b) if _number(v))) for _, pair in ranked)
    ranked.sort(key=lambda entry: -entry[0])
    ranked.sort(key=lambda entry: _is_nothing(largest, entry[1].name, entry[1].unit, entry[1].difference))
    return [pair for _, pair in ranked]


NOTHING = 1e-9
"""Share of the largest value of a unit below which a difference is rounding."""

_ERROR_OF_AUDIT = re.compile(r"\.audit\.\w*_error\b")


def _largest_of_units(rows: Iterable[tuple[Any, ...]]) -> dict[str, float]:
    """Return the largest magnitude for each unit, from rows of a unit and values."""
    largest: dict[str, float] = {}
    for unit, *values in rows:
        largest[unit] = max([largest.get(unit, 0.0), *(abs(value) for value in values)])
    return largest


def _is_nothing(largest: Mapping[str, float], name: str, unit: str, difference: float | None) -> bool:
    """Return whether a difference is rounding, or one of the errors that an audit measures: no answer of the runs."""
    if _ERROR_OF_AUDIT.search(name):
        return True
    return difference is not None and abs(difference) <= NOTHING * largest.get(unit, 0.0)


def _compare_signals(a: Run, b: Run, names: Sequence[str], tolerance: float, found: Comparison) -> None:
    if a.results is None or b.results is None:
        return
    if not len(a.results.time) or not len(b.results.time):
        if len(a.results.time) or len(b.results.time):
            found.problems.append(f"{'B' if len(a.results.time) else 'A'}: nothing was recorded")
        return
    one, other = a.results.time, b.results.time
    inside = (one >= other[0]) & (one <= other[-1])
    time = one[inside]
    if not len(time):
        found.problems.append("the recordings have no time in common")
        return
    found.span, found.compared = (float(time[0]), float(time[-1])), len(names)
    scales: list[tuple[Any, ...]] = []
    for name in names:
        try:
            first, second = a.results[name], b.results[name]
        except MasterError as error:
            found.problems.append(str(error))
            continue
        if first.dtype.kind in "SUO" or second.dtype.kind in "SUO":
            unequal = first[inside] != resampled(other, second, time, step=True)
            if unequal.any():
                at = int(np.argmax(unequal))
                found.signals.append(SignalDifference(name, "", np.inf, float(time[at]), np.inf))
            continue
        step = a.results.variability(name) == "discrete"
        scale = max(_largest(first), _largest(second))
        scales.append((a.results.unit(name), scale))
        reference, compared = first[inside].astype(float), resampled(other, second.astype(float), time, step)
        with np.errstate(invalid="ignore", over="ignore"):
            gap = np.abs(compared - reference)
        # infinite values are equal too, though their difference is not a number
        gap[(compared == reference) | (np.isnan(compared) & np.isnan(reference))] = 0.0
        gap[np.isnan(gap)] = np.inf
        at = int(np.argmax(gap))
        if gap[at] > tolerance * scale:
            share = float(gap[at] / scale) if scale else np.inf
            unit = a.results.unit(name)
            found.signals.append(SignalDifference(name, unit, float(gap[at]), float(time[at]), share))
    magnitudes = _largest_of_units(scales)
    found.signals.sort(key=lambda signal: -signal.share)
    found.signals.sort(key=lambda signal: _is_nothing(magnitudes, signal.name, signal.unit, signal.largest))


def _largest(values: np.ndarray) -> float:
    finite = np.abs(values[np.isfinite(values)].astype(float)) if values.dtype.kind == "f" else np.abs(values * 1.0)
    return float(finite.max()) if len(finite) else 0.0


def resampled(time: np.ndarray, values: np.ndarray, at: np.ndarray, step: bool) -> np.ndarray:
    """Return samples `values` over `time` at the times `at` within it: interpolated, or held if `step` is true."""
    if len(time) == len(at) and np.array_equal(time, at):
        return values
    if step:
        held: np.ndarray = values[np.searchsorted(time, at, side="right") - 1]
        return held
    interpolated: np.ndarray = np.interp(at, time, values)
    return interpolated
