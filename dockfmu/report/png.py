"""Plots as PNG, drawn by matplotlib, which is imported late: it loads more slowly than a report is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.base.files import atomic_file
from dockfmu.report.plots import Plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 160
_NAMES_APART = 0.025
"""Least distance between the names of two events, relative to the width of a plot."""


@dataclass(frozen=True)
class Picture:
    """Stacked plots over the time from `start` to `end`, s, with `events` (time, name), to be written to `file`."""

    file: Path
    title: str
    plots: Sequence[Plot]
    events: Sequence[tuple[float, str]]
    start: float
    end: float


def write_png(picture: Picture) -> None:
    """Write a picture as PNG. Raises WriteError."""
    figure = figure_of(picture)
    with atomic_file(picture.file) as unfinished:
        figure.savefig(unfinished, dpi=DPI, format="png", pil_kwargs={"compress_level": 3})


def figure_of(picture: Picture) -> Figure:
    """Return the figure of a picture."""
    from matplotlib.figure import Figure

    rows = max(len(picture.plots), 1)
    height = 1.6 + 1.9 * rows
    figure = Figure(figsize=(12, height))
    axes = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    figure.subplots_adjust(left=0.16, right=0.8, top=1.0 - 1.5 / height, bottom=0.5 / height, hspace=0.25)
    events = [(t, name) for t, name in picture.events if picture.start <= t <= picture.end]
    for axis, plot in zip(axes, picture.plots, strict=False):
        _draw(axis, plot)
        lines = axis.vlines([t for t, _ in events], 0.0, 1.0, transform=axis.get_xaxis_transform(), colors="0.5")
        lines.set(linewidth=0.7, linestyle=":")
    _name_events(axes[0], events, picture.start, picture.end)
    axes[-1].set_xlabel("time, s")
    if picture.start < picture.end:
        axes[-1].set_xlim(picture.start, picture.end)
    figure.suptitle(picture.title, fontsize=11, y=1.0 - 0.1 / height)
    return figure


def _draw(axis: Any, plot: Plot) -> None:
    from matplotlib.collections import PolyCollection

    for curve, colour in plot.coloured:
        style = "steps-post" if curve.step else "default"
        axis.plot(curve.time, curve.values, color=colour, lw=1.0, label=curve.label, drawstyle=style)
        if len(curve.band):
            boxes = curve.band[:, [0, 2, 1, 2, 1, 3, 0, 3]].reshape(-1, 4, 2)
            axis.add_collection(PolyCollection(list(boxes), color=colour, alpha=0.45, linewidth=0.5))
            axis.autoscale_view()
    # with y given, as matplotlib would otherwise measure every label; above the lines to the names of events
    title = axis.set_title(plot.title, loc="left", fontsize=9, y=1.0)
    title.set(zorder=4, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0})
    if plot.ticks:
        axis.set_yticks(*zip(*plot.ticks, strict=True))
    else:
        axis.set_ylabel(plot.axis_label, fontsize=8)
        axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7, frameon=False)
    axis.grid(alpha=0.3)
    axis.tick_params(labelsize=8)


def _name_events(axis: Any, events: Sequence[tuple[float, str]], start: float, end: float) -> None:
    """Write event names slanted above the top plot, pushed apart so that none covers another."""
    last = -np.inf
    for t, name in sorted(events):
        last = place = max(t, last + _NAMES_APART * (end - start))
        axis.annotate(
            name,
            xy=(t, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(place, 1.22),
            textcoords=("data", "axes fraction"),
            rotation=40,
            fontsize=7,
            arrowprops={"arrowstyle": "-", "lw": 0.4, "color": "0.5"},
        )
