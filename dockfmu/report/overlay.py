"""An overlay of the signals of two runs, as one zoomable page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from dockfmu.base.files import write_file
from dockfmu.declare.plan import Plan
from dockfmu.report.comparison import Comparison, Run
from dockfmu.report.curves import curve
from dockfmu.report.figures import traces
from dockfmu.report.plots import COLOURS

MOST = 40
"""Largest number of panels on a page: browsers are slow with more."""


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


def write_overlay(a: Run, b: Run, chosen: Sequence[tuple[str, list[str]]], file: Path) -> Path:
    """Write an HTML page with a panel for each of `chosen`: A as a solid line, B dashed in the same colour.

    Boxes show the extremes between the recorded samples.
    """
    from plotly.subplots import make_subplots

    shown = [(title, names) for title, names in chosen if any(_has(run, name) for run in (a, b) for name in names)]
    shown = shown[:MOST]
    rows = max(len(shown), 1)
    titles = [title for title, _ in shown]
    figure = make_subplots(
        rows=rows, cols=1, shared_xaxes=True, vertical_spacing=0.3 / (rows + 2), subplot_titles=titles
    )
    for row, (_, names) in enumerate(shown, 1):
        units = []
        short = [name.rpartition(".")[2] for name in names]
        labels = short if len(set(short)) == len(names) else names
        legend = "legend" if row == 1 else f"legend{row}"
        for name, label, colour in zip(names, labels, cycle(COLOURS), strict=False):
            for run, letter, dash in ((a, "A", "solid"), (b, "B", "dash")):
                if run.results is None or not _has(run, name):
                    continue
                drawn = curve(run.results, name, f"{letter}: {label}")
                units.append(drawn.unit)
                for trace in traces(drawn, colour, legend=True, dash=dash):
                    figure.add_trace({**trace, "legend": legend}, row=row, col=1)
        top = figure.layout["yaxis" if row == 1 else f"yaxis{row}"].domain[1]
        figure.update_layout({legend: {"x": 1.01, "y": top, "yanchor": "top"}})
        figure.update_yaxes(title_text=", ".join(dict.fromkeys(unit for unit in units if unit)), row=row, col=1)
    figure.update_xaxes(title_text="time, s", row=rows, col=1)
    figure.update_layout(
        title=f"A (solid): {a.place}<br>B (dashed): {b.place}",
        template="plotly_white",
        height=200 + 240 * rows,
        hovermode="x",
    )
    return write_file(file, figure.to_html(include_plotlyjs=True).encode())


def _has(run: Run, name: str) -> bool:
    return run.results is not None and name in run.results and bool(len(run.results.time))
