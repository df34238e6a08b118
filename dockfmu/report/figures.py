"""Plots of a run: the panels of its plan over one time axis, as PNG for papers and as a zoomable figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from base.files import atomic_file
from dockfmu.declare.plan import Panel
from dockfmu.report.thinning import thin
from master.observers.recording.results import Results

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")
_DISPLAY = {"deg": ("°", 180.0 / np.pi), "deg/s": ("°/s", 180.0 / np.pi), "mm": ("mm", 1e3), "kN": ("kN", 1e-3)}


@dataclass(frozen=True)
class Curve:
    """One signal, in the unit in which people read it; `step` where it holds its value between samples."""

    label: str
    unit: str
    time: np.ndarray
    values: np.ndarray
    step: bool


@dataclass(frozen=True)
class Plot:
    """A panel with the curves that a run has for it. `lanes` names what stands at y = 0, 1, ... of a logic diagram."""

    title: str
    curves: tuple[Curve, ...]
    lanes: tuple[str, ...] = ()


def plots(results: Results, panels: Sequence[Panel]) -> list[Plot]:
    """The panels with their recorded signals; signals and panels that this run does not have are left out.

    What the signals of a panel have in common in their names goes to its title. Boolean signals become a logic diagram,
    one lane each, the first on top.
    """
    found = []
    for panel in panels:
        signals = [signal for signal in panel.signals if signal in results.variables]
        if signals:
            owner = _common_owner(signals)
            title = f"{panel.title} ({owner})" if owner else panel.title
            chosen = tuple(_curve(results, signal, signal[len(owner) + 1 if owner else 0 :]) for signal in signals)
            logic = all(results[signal].dtype == np.bool_ for signal in signals)
            found.append(_logic_diagram(title, chosen) if logic else Plot(title, chosen))
    return found


def _common_owner(signals: Sequence[str]) -> str:
    """The leading names, up to a dot, that all signals share."""
    names = zip(*(signal.split(".")[:-1] for signal in signals), strict=False)
    return ".".join(column[0] for column in takewhile(lambda column: len(set(column)) == 1, names))


def _curve(results: Results, signal: str, label: str) -> Curve:
    unit, factor = _DISPLAY.get(results.display_unit(signal), (results.unit(signal), 1.0))
    step = results.variability(signal) == "discrete"
    return Curve(label, "" if unit == "1" else unit, results.time, results[signal] * factor, step)


def _logic_diagram(title: str, found: Sequence[Curve]) -> Plot:
    lifted = tuple(replace(c, values=0.7 * c.values + len(found) - 1 - k) for k, c in enumerate(found))
    return Plot(title, lifted, tuple(curve.label for curve in reversed(found)))


def _axis_label(shown: Sequence[Curve]) -> str:
    return ", ".join(dict.fromkeys(curve.unit for curve in shown if curve.unit)) or "1"


def _first_events(events: Sequence[dict[str, Any]]) -> list[tuple[float, str]]:
    """The first time of each event: repeated ones (a sensor that flickers) would hide the rest."""
    first: dict[str, float] = {}
    for event in events:
        first.setdefault(event["name"], event["t"])
    return [(t, name) for name, t in first.items()]


def interactive(results: Results, panels: Sequence[Panel], events: Sequence[dict[str, Any]]) -> go.Figure:
    """All panels under each other over one zoomable time axis, with a line at the first of each event."""
    shown = plots(results, panels)
    figure = make_subplots(
        rows=max(len(shown), 1),
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.25 / max(len(shown), 1) * 0.35,
        subplot_titles=[plot.title for plot in shown],
    )
    for row, plot in enumerate(shown, start=1):
        for curve, colour in zip(plot.curves, COLOURS * 4, strict=False):
            t, y = thin(curve.time, curve.values)
            figure.add_trace(
                go.Scatter(
                    x=t.astype(np.float32),
                    y=y.astype(np.float32),
                    name=curve.label,
                    mode="lines",
                    line={"color": colour, "width": 1.3, "shape": "hv" if curve.step else "linear"},
                    legend=f"legend{row}" if row > 1 else "legend",
                    showlegend=not plot.lanes,
                    hovertemplate=f"%{{y:.5g}} {curve.unit}<extra>{curve.label}</extra>",
                ),
                row=row,
                col=1,
            )
        ticks = {"tickvals": list(range(len(plot.lanes))), "ticktext": plot.lanes} if plot.lanes else {}
        figure.update_yaxes(title_text="" if plot.lanes else _axis_label(plot.curves), row=row, col=1, **ticks)
        top = figure.layout["yaxis" if row == 1 else f"yaxis{row}"].domain[1]
        figure.update_layout({"legend" if row == 1 else f"legend{row}": {"x": 1.01, "y": top, "yanchor": "top"}})
    # all at once: plotly looks through the whole figure for each line that is added by itself
    first = _first_events(events)
    figure.update_layout(
        shapes=[_event_line(t, row) for t, _ in first for row in range(1, len(shown) + 1)],
        annotations=[*figure.layout.annotations, *(_event_label(t, name) for t, name in first if shown)],
    )
    figure.update_xaxes(title_text="time, s", row=max(len(shown), 1), col=1)
    figure.update_layout(
        height=170 + 230 * max(len(shown), 1),
        template="plotly_white",
        margin={"l": 150, "r": 20, "t": 130, "b": 50},
        hovermode="x",
    )
    return figure


def _event_line(t: float, row: int) -> dict[str, Any]:
    """Return a dotted line at an event over the height of one panel."""
    number = "" if row == 1 else str(row)
    return {
        "type": "line", "xref": f"x{number}", "yref": f"y{number} domain", "x0": t, "x1": t, "y0": 0, "y1": 1,
        "line": {"color": "#999999", "width": 0.8, "dash": "dot"},
    }  # fmt: skip


def _event_label(t: float, name: str) -> dict[str, Any]:
    """Return the name of an event, slanted, above the first panel."""
    return {
        "text": name.replace("_", " "), "x": t, "y": 1.0, "xref": "x", "yref": "y domain", "yshift": 22,
        "xanchor": "left", "yanchor": "bottom", "textangle": -40, "showarrow": False,
        "font": {"size": 10, "color": "#666666"},
    }  # fmt: skip


def write_png(
    results: Results,
    panels: Sequence[Panel],
    events: Sequence[dict[str, Any]],
    file: Path,
    title: str,
    window: tuple[float, float] | None = None,
) -> None:
    """The panels as one PNG of 160 dpi; `window` limits the time axis in s."""
    shown = plots(results, panels)
    rows = max(len(shown), 1)
    height = 1.6 + 1.9 * rows
    # slow to import, and runs without a report do without
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, height))
    axes = figure.subplots(rows, 1, sharex=True, squeeze=False)
    figure.subplots_adjust(left=0.16, right=0.8, top=1.0 - 1.5 / height, bottom=0.5 / height, hspace=0.25)
    start, end = window or (float(results.time[0]), float(results.time[-1]))
    for axis, plot in zip(axes[:, 0], shown, strict=False):
        for curve, colour in zip(plot.curves, COLOURS * 4, strict=False):
            inside = (curve.time >= start) & (curve.time <= end)
            t, y = thin(curve.time[inside], curve.values[inside])
            axis.plot(
                t, y, color=colour, lw=1.0, label=curve.label, drawstyle="steps-post" if curve.step else "default"
            )
        axis.set_title(plot.title, loc="left", fontsize=9)
        if plot.lanes:
            axis.set_yticks(range(len(plot.lanes)), plot.lanes)
        else:
            axis.set_ylabel(_axis_label(plot.curves), fontsize=8)
            axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7, frameon=False)
        axis.grid(alpha=0.3)
        axis.tick_params(labelsize=8)
        for event, _ in _first_events(events):
            if start <= event <= end:
                axis.axvline(event, color="0.5", lw=0.7, ls=":")
    _name_events(axes[0, 0], [(t, name) for t, name in _first_events(events) if start <= t <= end], start, end)
    axes[-1, 0].set_xlabel("time, s")
    if start < end:
        axes[-1, 0].set_xlim(start, end)
    figure.suptitle(title, fontsize=11, y=1.0 - 0.1 / height)
    with atomic_file(file) as unfinished:
        figure.savefig(unfinished, dpi=160)


def _name_events(axis: Any, events: Sequence[tuple[float, str]], start: float, end: float) -> None:
    """Event names over the top panel, slanted, close ones pushed apart so that none covers another."""
    last = -np.inf
    apart = 0.025 * (end - start)
    for t, name in sorted(events):
        place = max(t, last + apart)
        last = place
        axis.annotate(
            name.replace("_", " "),
            xy=(t, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(place, 1.22),
            textcoords=("data", "axes fraction"),
            rotation=40,
            fontsize=7,
            arrowprops={"arrowstyle": "-", "lw": 0.4, "color": "0.5"},
        )
