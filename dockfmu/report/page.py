"""The report of a run: one self-contained HTML file, and PNG plots, from what the run left in its folder."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import write_text
from dockfmu.base.given_files import parse_json, read_json
from dockfmu.base.messages import shown
from dockfmu.base.numbers import as_json
from dockfmu.declare.plan import Panel, Plan
from dockfmu.master.observers.recording.results import DamagedRecording, Results, read_results
from dockfmu.report.curves import plots
from dockfmu.report.figures import figure, plotly_js
from dockfmu.report.files import EVENTS, IMPACT, OVERVIEW, REPORT, RESULTS, SUMMARY, why_unrecorded
from dockfmu.report.loads import load_lines, load_text
from dockfmu.report.plots import Plot, close_up, first_events
from dockfmu.report.png import Picture, write_png
from dockfmu.report.shown_units import quantity_text, shown_unit
from dockfmu.report.summaries import cut_off, events_problem, summary_problem
from dockfmu.report.templates import environment
from dockfmu.report.words import condition_lines, phase_at, resultant_lines, severity_text


class ReportError(DockfmuError, RuntimeError):
    """The folder holds no results to report."""


def write_report(folder: Path, *, png: bool = False) -> list[Path]:
    """Write `report.html` from `results.h5`, `summary.json` and `events.json`; return the files written.

    Results of failed and interrupted runs are accepted; the page of a run that ended before its first row has its
    summary alone. With `png`, the plots are also written as `overview.png` and
    `impact.png`. Raises ReportError if there are no results, WriteError if a file cannot be written.
    """
    file = folder / RESULTS
    if file.is_file():
        with read_results(file) as results:
            return _write(folder, results, png=png)
    if not _read_json(folder / SUMMARY, {}):
        raise ReportError(f"{folder} holds no results.h5; {why_unrecorded(folder)}")
    return _write(folder, Unrecorded(file), png=False)


@dataclass(frozen=True)
class Unrecorded:
    """The recording of a run that ended before it had one."""

    file: Path
    time: tuple[float, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    fmus: Mapping[str, Any] = field(default_factory=dict)


def _write(folder: Path, results: Results | Unrecorded, *, png: bool) -> list[Path]:
    summary = _read_json(folder / SUMMARY, {})
    if not len(results.time) and not summary:
        raise ReportError(f"{folder}: the run ended before anything was recorded")
    summary = summary or _summary_from(results)
    if "conditions" in results.attributes and "initial_conditions" not in summary:
        summary["initial_conditions"] = _table(results, "conditions")
        if problem := summary_problem({"initial_conditions": summary["initial_conditions"]}):
            raise ReportError(f"{results.file}: its attribute 'conditions' is not that of a run: {problem}")
    events = _read_json(folder / EVENTS, [])
    for file, problem in ((SUMMARY, summary_problem(summary, whole=True)), (EVENTS, events_problem(events))):
        if problem:
            raise ReportError(
                f"{folder / file}: not from a run: {problem}; remove summary.json and events.json to make a report "
                "without them"
            )
    if isinstance(results, Results) and (problem := cut_off(results, summary)):
        warnings.warn(problem, DamagedRecording, stacklevel=3)
        summary = {**summary, "warnings": [*summary.get("warnings", []), problem]}
    plan = Plan.from_json(results.attributes["plan"]) if "plan" in results.attributes else Plan()
    if isinstance(results, Unrecorded) or not len(results.time):
        return [write_text(folder / REPORT, _page(results, summary, events, (), ()))]
    panels = plan.panels or panels_by_unit(results)
    shown = plots(results, panels)
    written = [write_text(folder / REPORT, _page(results, summary, events, panels, shown))]
    if png:
        title = f"{summary['system']}: {_outcome(summary)} at {float(results.time[-1]):.1f} s"
        for picture in _pictures(folder, results, panels, shown, events, title):
            write_png(picture)
            written.append(picture.file)
    return written


def _pictures(
    folder: Path,
    results: Results,
    panels: Sequence[Panel],
    shown: Sequence[Plot],
    events: Sequence[Mapping[str, Any]],
    title: str,
) -> list[Picture]:
    """Return the overview of the plots and, for longer runs, the close-up of the first event."""
    whole, named = (float(results.time[0]), float(results.time[-1])), first_events(events)
    pictures = [Picture(folder / OVERVIEW, title, shown, named, *whole)]
    if window := close_up(float(results.time[0]), float(results.time[-1]), events):
        pictures.append(Picture(folder / IMPACT, title, plots(results, panels, window), named, *window))
    return pictures


def _page(
    results: Results | Unrecorded,
    summary: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
    panels: Sequence[Panel],
    shown: Sequence[Plot],
) -> str:
    counts = Counter(event["name"] for event in events)
    first: dict[str, dict[str, Any]] = {}
    for event in events:
        first.setdefault(event["name"], {**event, "repeats": counts[event["name"]] - 1})
    recorded = len(results.time) > 0
    drawn = [figure(plot) for plot in shown]
    figures = {
        "plots": drawn,
        "events": first_events(events),
        "end": [float(results.time[0]), float(results.time[-1])] if recorded else [],
    }
    window = close_up(float(results.time[0]), float(results.time[-1]), events) if recorded else None
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            summary=summary,
            recorded=recorded,
            description=results.attributes.get("description", ""),
            outcome=_outcome(summary),
            standing=_style_of(summary),
            audit=_audit(summary),
            loads=load_lines(summary),
            resultants=[{**line, "largest": load_text(line["max"], line["unit"])} for line in resultant_lines(summary)],
            conditions=condition_lines(summary.get("initial_conditions", {})),
            severity=severity_text(summary.get("initial_conditions", {})),
            invalid=[(name, counter) for name, counter in summary.get("validity", {}).items() if counter["count"]],
            finals=[
                {
                    "name": name.replace("_", " "),
                    "signal": final["signal"],
                    "text": quantity_text(final["value"], final["unit"]),
                }
                for name, final in summary.get("finals", {}).items()
            ],
            changed=_table(results, "changed"),
            command=results.attributes.get("command", ""),
            place=results.file.parent,
            events=list(first.values()),
            windows=[("impact", *window)] if window else [],
            plots=[{"title": plot["title"], "text": plot["text"]} for plot in drawn],
            # escaped, so that no text in it can close the script element
            figures=Markup(as_json(figures).replace("<", "\\u003c")),
            plotly=Markup(plotly_js()),
            peaks=_peaks(results, summary, panels) if isinstance(results, Results) else [],
            fmus=[{"element": name, **attributes} for name, attributes in results.fmus.items()],
            parameters=[(element, _parameters(results, element)) for element in results.fmus]
            if isinstance(results, Results)
            else [],
            versions=", ".join(f"{package} {version(package)}" for package in ("dockfmu", "numpy", "numba", "h5py")),
        )
    )


def _peaks(results: Results, summary: Mapping[str, Any], panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """Return the rows of the table of peaks: the signals of the panels, in their order and in units of the plots."""
    rows = []
    for name in dict.fromkeys(signal for panel in panels for signal in panel.signals):
        peak = summary.get("peaks", {}).get(name)
        if peak is not None:
            unit, factor = shown_unit(peak["unit"], results.display_unit(name) if name in results else "")
            scaled = {end: None if peak[end] is None else factor * peak[end] for end in ("max", "min")}
            phases = {f"phase_{end}": phase_at(summary.get("events", []), peak[f"t_{end}"]) for end in ("max", "min")}
            rows.append({**peak, **scaled, **phases, "name": name, "unit": unit})
    return rows


def _parameters(results: Results, element: str) -> list[tuple[str, float, str]]:
    """Return name, value and unit of the parameters of an element, in display units, sorted by name."""
    units = {name: shown_unit(unit) for name, unit in results.parameter_units(element).items()}
    values = results.parameters(element)
    return [(name, values[name] * units[name][1], units[name][0]) for name in sorted(values)]


def _outcome(summary: Mapping[str, Any]) -> str:
    """Return the outcome in words; the status if the summary has no outcome."""
    return str(summary.get("outcome", summary["status"])).replace("_", " ")


def _style_of(summary: Mapping[str, Any]) -> str:
    """Return the style class of the outcome: good, bad, or neither if the run was ended from outside."""
    if summary["status"] in ("failed", "killed"):
        return "bad"
    if summary["status"] == "completed":
        return "good" if summary.get("success", True) else "bad"
    return "neither"


def _audit(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of the balance, with their judgement if there is one; without those that do not hold here."""
    checks = summary.get("audit_checks", {})
    no_check = {"limit": None, "ok": None, "tests": "", "meaning": ""}
    return [
        {"name": name.replace("_", " "), "value": value, **no_check, **checks.get(name, {})}
        for name, value in summary.get("audit", {}).items()
        if name not in checks or checks[name]["limit"] is not None
    ]


def _table(results: Results | Unrecorded, name: str) -> dict[str, Any]:
    """Return an attribute of the recording that holds a table as JSON, empty if there is none. Raises ReportError."""
    text = results.attributes.get(name, "{}")
    try:
        table = parse_json(text)
    except (TypeError, ValueError) as error:
        raise ReportError(f"{results.file}: its attribute {name!r} is not JSON ({error})") from error
    if not isinstance(table, dict):
        raise ReportError(f"{results.file}: its attribute {name!r} is not a table but {shown(table)}")
    return table


def panels_by_unit(results: Any) -> tuple[Panel, ...]:
    """Return panels for a system that declares none: signals by element and unit, at most eight per panel."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for signal in results.variables:
        grouped.setdefault((signal.partition(".")[0], results.unit(signal)), []).append(signal)
    return tuple(Panel(f"{element}, {unit or '1'}", tuple(signals[:8])) for (element, unit), signals in grouped.items())


def _summary_from(results: Results | Unrecorded) -> dict[str, Any]:
    """Return a summary from the attributes of a recording, for a run whose process was killed."""
    known = {
        "system": "unknown",
        "status": "running",
        "step": float("nan"),
        "algorithm": "unknown",
        **results.attributes,
    }
    t_end, step = float(results.time[-1]), float(known["step"])
    return {
        "system": known["system"],
        "outcome": known.get("outcome", "killed"),
        "status": "killed" if known["status"] == "running" else known["status"],
        "t_end": t_end,
        "wall_s": None,
        "macro_steps": round((t_end - float(results.time[0])) / step) if step > 0.0 else 0,
        "algorithm": known["algorithm"],
        "step": step,
        "message": known.get("message", "the process ended before its run did"),
    }


def _read_json(file: Path, missing: Any) -> Any:
    if not file.is_file():
        return missing
    try:
        content = read_json(file)
    except (OSError, ValueError) as error:
        raise ReportError(f"{file}: not JSON ({error}); remove it to make a report without it") from error
    if type(content) is not type(missing):
        raise ReportError(f"{file}: not from a run; remove it to make a report without it")
    return content
