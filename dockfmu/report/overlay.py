"""The page of a comparison: tables of what differs, and the signals of two runs over each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dockfmu.base.files import write_text
from dockfmu.base.numbers import as_json
from dockfmu.declare.plan import Panel, Plan
from dockfmu.report.comparison import Comparison, Run
from dockfmu.report.comparison_lines import sections
from dockfmu.report.curves import plots
from dockfmu.report.figures import description, plotly_js, traces
from dockfmu.report.plots import Plot, close_up, first_events
from dockfmu.report.templates import environment

MOST = 40
"""Largest number of panels on a page: browsers are slow with more."""
MOST_ROWS = 15
"""Most rows of a table; `dockfmu compare --json` has all."""


def panels(a: Run, b: Run, signals: Sequence[str] | None, comparison: Comparison) -> list[tuple[str, list[str]]]:
    """Return (title, signals) of the panels: one for each array of `signals`, or those of the report if it is None.

    Runs without panels in their report show the arrays that differ most.
    """
    if signals is None:
        for run in (a, b):
            plan = run.results.attributes.get("plan") if run.results is not None else None
            if plan is not None and (declared := Plan.from_json(plan).panels):
                return [(panel.title, list(panel.signals)) for panel in declared]
        signals = [difference.name for difference in comparison.signals[:24]]
    arrays: dict[str, list[str]] = {}
    for name in signals:
        arrays.setdefault(re.sub(r"\[[\d,]+\]$", "", name), []).append(name)
    return list(arrays.items())


def write_comparison(
    a: Run, b: Run, comparison: Comparison, chosen: Sequence[tuple[str, list[str]]], file: Path
) -> Path:
    """Write the page of a comparison, with a plot for each panel of `chosen`: A solid, B dashed in the same colour.

    Boxes show the extremes between the recorded samples. Raises WriteError.
    """
    shown = [(title, names) for title, names in chosen if any(_has(run, name) for run in (a, b) for name in names)]
    drawn = [figure for title, names in shown[:MOST] for figure in _figures(a, b, title, names)]
    events = _events(a, b, comparison)
    times = [float(t) for run in (a, b) if _recorded(run) for t in run.results.time[[0, -1]]]  # type: ignore[union-attr]
    end = [min(times, default=0.0), max(times, default=1.0)]
    window = close_up(end[0], end[1], [{"t": t} for t, _ in events])
    figures = {"plots": drawn, "events": events, "end": end}
    tables = sections(comparison)
    page = (
        environment()
        .get_template("compare.html.j2")
        .render(
            runs=[
                {"letter": letter, "place": run.place, **ended, "standing": _standing(ended), "summary": run.summary}
                for letter, run, ended in (("A", a, comparison.a), ("B", b, comparison.b))
            ],
            same=comparison.same,
            problems=comparison.problems,
            tables=tables,
            most=MOST_ROWS,
            windows=[("impact", *window)] if window else [],
            plots=[{"title": figure["title"], "text": figure["text"]} for figure in drawn],
            # escaped, so that no text in it can close the script element
            figures=Markup(as_json(figures).replace("<", "\\u003c")),
            plotly=Markup(plotly_js()),
            version=version("dockfmu"),
        )
    )
    return write_text(file, page)


def _standing(ended: dict[str, Any]) -> str:
    return "bad" if ended["status"] in ("failed", "killed") else "neither" if ended["status"] == "stopped" else ""


def _events(a: Run, b: Run, comparison: Comparison) -> list[tuple[float, str]]:
    """Return time and name of the first occurrence of the events of both; of B only those at other times than in A."""
    of_a, of_b = (first_events(run.summary.get("events", [])) for run in (a, b))
    known = {name: t for t, name in of_a}
    others = [(t, f"{name} (B)") for t, name in of_b if known.get(name) != t]
    return sorted([*of_a, *others])


def _recorded(run: Run) -> bool:
    return run.results is not None and bool(len(run.results.time))


def _has(run: Run, name: str) -> bool:
    return run.results is not None and name in run.results and bool(len(run.results.time))


def _figures(a: Run, b: Run, title: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the plot of the signals that both runs have, and one for those that a run has alone."""
    both = [name for name in names if _has(a, name) and _has(b, name)]
    found = []
    if both:
        of_a, of_b = (plots(run.results, [Panel(title, tuple(both))])[0] for run in (a, b))  # type: ignore[arg-type]
        found.append(_overlaid(of_a, of_b))
    for letter, run, other in (("A", a, b), ("B", b, a)):
        alone = [name for name in names if _has(run, name) and not _has(other, name)]
        if alone:
            (plot,) = plots(run.results, [Panel(f"{title}, only in {letter}", tuple(alone))])  # type: ignore[arg-type]
            found.append(_overlaid(*((plot, None) if letter == "A" else (None, plot))))
    return found


def _overlaid(of_a: Plot | None, of_b: Plot | None) -> dict[str, Any]:
    """Return a plot as data for the page, in the form of `figures.figure`."""
    both = [(letter, plot, dash) for letter, plot, dash in (("A", of_a, "solid"), ("B", of_b, "dash")) if plot]
    first = both[0][1]
    ticks = sorted({tick for _, plot, _ in both for tick in plot.ticks})
    drawn = []
    for letter, plot, dash in both:
        for curve, colour in plot.coloured:
            # one entry of the legend for both: it hides and shows them together
            legend = len(plot.curves) > 1 and not ticks and plot is first
            for trace in traces(curve, colour, legend=legend, dash=dash):
                hover = f"%{{y:.5g}} {curve.unit}<extra>{letter}: {curve.label}</extra>"
                drawn.append({**trace, **({"hovertemplate": hover} if "hovertemplate" in trace else {})})
    return {
        "title": first.title,
        "unit": first.axis_label,
        "ticks": [list(tick) for tick in ticks],
        "lanes": bool(ticks) and len(first.curves) > 1,
        "traces": drawn,
        "text": "; ".join(f"{letter}: {description(plot)}" for letter, plot, _ in both),
    }
