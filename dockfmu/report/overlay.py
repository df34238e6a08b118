"""Signals of two runs over each other, as one zoomable page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from base.files import write_file
from base.units import DISPLAY_UNITS, conversion, parse_unit
from dockfmu.declare.plan import Plan
from dockfmu.report.comparison import Comparison, Run
from dockfmu.report.thinning import thin
from master.observers.recording.results import Results

MOST = 40
"""Most panels of a page: a browser is slow with more."""

_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")


def panels(a: Run, b: Run, signals: Sequence[str] | None, found: Comparison) -> list[tuple[str, list[str]]]:
    """Return (title, signals) of the panels: an array each for chosen `signals`, otherwise those of the report.

    Runs without panels of their own show the arrays that differ most.
    """
    if signals is None:
        for run in (a, b):
            plan = run.results.attributes.get("plan") if run.results is not None else None
            if plan is not None and (known := Plan.from_json(plan).panels):
                return [(panel.title, list(panel.signals)) for panel in known]
        signals = [difference.name for difference in found.signals[:24]]
    arrays: dict[str, list[str]] = {}
    for name in signals:
        arrays.setdefault(re.sub(r"\[[\d,]+\]$", "", name), []).append(name)
    return list(arrays.items())


def write_overlay(a: Run, b: Run, chosen: Sequence[tuple[str, list[str]]], file: Path) -> Path:
    """Write an HTML page with a panel for each of `chosen`: A drawn through, B dashed in the same colour."""
    import plotly.graph_objects as go
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
        for name, known, colour in zip(names, labels, _COLOURS * len(names), strict=False):
            for run, letter, dash in ((a, "A", "solid"), (b, "B", "dash")):
                if run.results is None or not _has(run, name):
                    continue
                unit, factor = _display(run.results, name)
                units.append(unit)
                t, y = thin(run.results.time, np.asarray(run.results[name], float) * factor)
                step = run.results.variability(name) == "discrete"
                line = {"color": colour, "dash": dash, "width": 1.3, "shape": "hv" if step else "linear"}
                label = f"{letter}: {known}"
                hover = f"%{{y:.5g}} {unit}<extra>{label}</extra>"
                curve: Any = go.Scatter(
                    x=t, y=y, name=label, mode="lines", line=line, hovertemplate=hover, legend=legend
                )
                figure.add_trace(curve, row=row, col=1)
        top = figure.layout["yaxis" if row == 1 else f"yaxis{row}"].domain[1]
        figure.update_layout({legend: {"x": 1.01, "y": top, "yanchor": "top"}})
        figure.update_yaxes(title_text=", ".join(dict.fromkeys(unit for unit in units if unit)), row=row, col=1)
    figure.update_xaxes(title_text="time, s", row=rows, col=1)
    figure.update_layout(
        title=f"A (drawn through): {a.place}<br>B (dashed): {b.place}",
        template="plotly_white",
        height=200 + 240 * rows,
        hovermode="x",
    )
    return write_file(file, figure.to_html(include_plotlyjs=True).encode())


def _has(run: Run, name: str) -> bool:
    return run.results is not None and name in run.results and bool(len(run.results.time))


def _display(results: Results, name: str) -> tuple[str, float]:
    """Return the unit in which people read a signal, and the factor to it."""
    unit = results.unit(name)
    if unit in DISPLAY_UNITS:
        shown = DISPLAY_UNITS[unit]
        return shown, conversion(parse_unit(unit), parse_unit(shown))[0]
    return "" if unit == "1" else unit, 1.0
