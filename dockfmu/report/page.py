"""The report of a run: one self-contained HTML file and PNG plots, from what the run left in its folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2

from base.errors import DockfmuError
from base.files import write_file
from dockfmu.declare.plan import Panel, Plan
from dockfmu.report.figures import interactive, write_png
from master.observers.recording.results import Results, read_results

IMPACT_WINDOW = 15.0
"""Seconds after the first event that the close-up shows: contact, capture and the first oscillations."""


PRODUCTS = ("report.html", "overview.png", "impact.png")


class ReportError(DockfmuError, RuntimeError):
    """The folder holds no results to report."""


def write_report(folder: Path) -> Path:
    """Write `report.html`, `overview.png` and `impact.png` from `results.h5`, `summary.json` and `events.json`.

    Works on the results of failed and interrupted runs too. Raises ReportError if there are none.
    """
    file = folder / "results.h5"
    if not file.is_file():
        raise ReportError(f"{folder} holds no results.h5; run a system with -o {folder} first")
    with read_results(file) as results:
        return _write(folder, results)


def _write(folder: Path, results: Results) -> Path:
    if not len(results.time):
        raise ReportError(f"{folder}: the run ended before anything was recorded")
    summary = _read_json(folder / "summary.json", {}) or _known_of(results)
    events = _read_json(folder / "events.json", [])
    if not (
        {"system", "status"} <= summary.keys()
        and all(isinstance(e, dict) and {"t", "name"} <= e.keys() for e in events)
    ):
        raise ReportError(f"{folder}: summary.json and events.json are not those of a run; remove them to do without")
    plan = Plan.from_json(results.attributes["plan"]) if "plan" in results.attributes else Plan()
    panels = plan.panels or _panels_by_unit(results)
    title = f"{summary['system']}: {_outcome(summary)} at {results.time[-1]:.1f} s"
    write_png(results, panels, events, folder / "overview.png", title)
    if events and results.time[-1] > IMPACT_WINDOW:
        start = max(float(results.time[0]), events[0]["t"] - 0.5)
        write_png(results, panels, events, folder / "impact.png", title, (start, start + IMPACT_WINDOW))
    html = _page(results, summary, events, panels)
    return write_file(folder / "report.html", html.encode())


def _page(results: Results, summary: Mapping[str, Any], events: list[dict[str, Any]], panels: tuple[Panel, ...]) -> str:
    environment = jinja2.Environment(loader=jinja2.PackageLoader("dockfmu.report", "."), autoescape=True)
    counts = Counter(event["name"] for event in events)
    first: dict[str, dict[str, Any]] = {}
    for event in events:
        first.setdefault(event["name"], {**event, "repeats": counts[event["name"]] - 1})
    shown = {signal for panel in panels for signal in panel.signals}
    figure = interactive(results, panels, events).to_html(full_html=False, include_plotlyjs=True)
    return environment.get_template("report.html.j2").render(
        summary=summary,
        description=results.attributes.get("description", ""),
        outcome=_outcome(summary),
        standing=_standing(summary),
        audit=_audit(summary),
        invalid=[(name, counter) for name, counter in summary.get("validity", {}).items() if counter["count"]],
        events=list(first.values()),
        figure=jinja2.filters.Markup(figure),
        peaks=[(name, peak) for name, peak in summary.get("peaks", {}).items() if name in shown],
        fmus=[{"element": name, **attributes} for name, attributes in results.fmus.items()],
        parameters=[(element, sorted(results.parameters(element).items())) for element in results.fmus],
        versions=", ".join(f"{package} {version(package)}" for package in ("dockfmu", "numpy", "numba", "h5py")),
    )


def _outcome(summary: Mapping[str, Any]) -> str:
    """Return the outcome in words; that of a summary which tells none is its status."""
    return str(summary.get("outcome", summary["status"])).replace("_", " ")


def _standing(summary: Mapping[str, Any]) -> str:
    """Return the class of style of the outcome: good, bad, or neither where a run was ended from outside."""
    if summary["status"] in ("failed", "killed"):
        return "bad"
    if summary["status"] == "completed":
        return "good" if summary.get("success", True) else "bad"
    return "neither"


def _audit(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of the balance with their judgement, where there is one."""
    checks = summary.get("audit_checks", {})
    no_check = {"limit": None, "ok": None, "tests": "", "meaning": ""}
    return [
        {"name": name.replace("_", " "), "value": value, **no_check, **checks.get(name, {})}
        for name, value in summary.get("audit", {}).items()
    ]


def _panels_by_unit(results: Results) -> tuple[Panel, ...]:
    """For a system that says nothing of plots: its signals by element and unit, eight to a panel at the most."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for signal in results.variables:
        grouped.setdefault((signal.partition(".")[0], results.unit(signal)), []).append(signal)
    return tuple(Panel(f"{element}, {unit or '1'}", tuple(signals[:8])) for (element, unit), signals in grouped.items())


def _known_of(results: Results) -> dict[str, Any]:
    """A summary for the recording of a process that was killed: what the recording says of itself."""
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
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{file}: not JSON ({error}); remove it to make a report without it") from error
    if type(content) is not type(missing):
        raise ReportError(f"{file}: not that of a run; remove it to make a report without it")
    return content
