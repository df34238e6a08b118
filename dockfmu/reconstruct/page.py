"""The report of a reconstruction: telemetry over model, loads with bands, residuals, damage, on one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from dockfmu.base.files import write_text
from dockfmu.base.numbers import as_json, figure_text
from dockfmu.reconstruct.direct import DirectLoads
from dockfmu.reconstruct.result import Reconstruction
from dockfmu.reconstruct.telemetry import Telemetry
from dockfmu.report.figures import figure, plotly_js
from dockfmu.report.files import REPORT
from dockfmu.report.plots import Curve, Plot, close_up, first_events

MOST_BOXES = 3000
"""Most intervals of a band that is drawn; more are joined, by their extremes."""


def write_page(result: Reconstruction, folder: Path, file: Path) -> Path:
    """Write `report.html` of a reconstruction from `file`; return its path. Raises WriteError."""
    time = result.telemetry.time if result.loads is None else result.loads.time
    return write_framed(
        "page.html.j2", folder, _plots(result), result.telemetry, time,
        result=result,
        file=file,
        readings=int(result.telemetry.mask.sum()),
        events=result.telemetry.events,
        conditions=[] if result.conditions is None else result.conditions.lines(),
    )  # fmt: skip


def write_framed(
    template: str, folder: Path, plots: Sequence[Plot], telemetry: Telemetry, time: np.ndarray, **words: Any
) -> Path:
    """Write `report.html` from a template that extends `frame.html.j2`: its tables, and plots over `time`, s.

    `words` are what the tables show. Raises WriteError.
    """
    loader = jinja2.ChoiceLoader(
        [jinja2.PackageLoader("dockfmu", "reconstruct"), jinja2.PackageLoader("dockfmu", "report")]
    )
    environment = jinja2.Environment(loader=loader, autoescape=True)
    drawn = [figure(plot) for plot in plots]
    events = [{"t": event.by, "name": event.name} for event in telemetry.events]
    end = [float(time.min()), float(time.max())] if len(time) else [0.0, 1.0]
    figures = {"plots": drawn, "events": first_events(events), "end": end}
    window = close_up(end[0], end[1], events)
    text = environment.get_template(template).render(
        system=telemetry.system,
        windows=[("contact", *window)] if window else [],
        plots=[{"title": plot["title"], "text": plot["text"]} for plot in drawn],
        # escaped, so that no text in it can close the script element
        figures=Markup(as_json(figures).replace("<", "\\u003c")),
        plotly=Markup(plotly_js()),
        number=figure_text,
        infinity=float("inf"),
        version=version("dockfmu"),
        **words,
    )
    return write_text(folder / REPORT, text)


def _plots(result: Reconstruction) -> list[Plot]:
    return [*([] if result.loads is None else _load_plots(result.loads)), *_reading_plots(result)]


def _load_plots(loads: DirectLoads) -> list[Plot]:
    plots, (low, high) = [], loads.band
    for number, port in enumerate(loads.ports):
        for what, unit, first in (("Force", "N", 0), ("Torque", "N.m", 3)):
            curves = []
            for k, axis in enumerate("xyz"):
                column = 6 * number + first + k
                band = interval_band(loads.time, low[:, column], high[:, column])
                curves.append(Curve(axis, unit, loads.time, loads.mean[:, column], False, band))
            plots.append(Plot(f"{what} on {port}, with 90 % bands", tuple(curves)))
    return plots


def interval_band(time: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the intervals of a band, shape (intervals, 4): begin, end, least and largest value."""
    if len(time) < 2:
        return np.empty((0, 4))
    every = max(1, int(np.ceil((len(time) - 1) / MOST_BOXES)))
    begins = np.arange(0, len(time) - 1, every)
    ends = np.minimum(begins + every, len(time) - 1)
    least = np.minimum(np.minimum.reduceat(low[:-1], begins), low[ends])
    most = np.maximum(np.maximum.reduceat(high[:-1], begins), high[ends])
    return np.column_stack([time[begins], time[ends], least, most])


def _reading_plots(result: Reconstruction) -> list[Plot]:
    """Return the readings of each signal over what the model makes of them."""
    telemetry, plots = result.telemetry, []
    for signal in telemetry.signals:
        mask = telemetry.mask[signal.part]
        time, unit = telemetry.time[signal.part][mask], signal.sensor.unit.name
        curves = [reading_curve("read", unit, time, telemetry.values[signal.part][mask])]
        if result.loads is not None:
            fitted = result.loads.fitted[signal.part][mask]
            if np.isfinite(fitted).any():
                curves.append(reading_curve("model", unit, time, fitted))
        plots.append(Plot(signal.name, tuple(curves)))
    return plots


def reading_curve(label: str, unit: str, time: np.ndarray, values: np.ndarray) -> Curve:
    """Return the curve of the readings that are there."""
    here: Any = np.isfinite(values)
    return Curve(label, unit, time[here], values[here], False, np.empty((0, 4)))
