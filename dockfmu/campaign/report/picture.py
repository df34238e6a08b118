"""Charts as PNG, drawn with matplotlib."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.base.files import atomic_file
from dockfmu.campaign.answers.chart import Band, Bars, Chart, Points, Polyline, Scatter
from dockfmu.campaign.report.colours import COLOUR_OF, FIRST, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI = 160
BARS_WIDTH = 0.8
"""Width of all bars at one word."""
MOST_BESIDE = 6
"""Most parts of a scatter in one picture."""
FEW_WORDS = 5
"""Number of words that fit below an axis without being turned."""


def write_picture(chart: Chart, title: str, file: Path) -> None:
    """Write a chart as PNG. Raises WriteError."""
    from matplotlib.figure import Figure

    if isinstance(chart, Scatter):
        _write_scatter(chart, title, file)
        return
    figure = Figure(figsize=(9, 5), layout="constrained")
    axis = figure.subplots()
    groups = [part for part in chart.parts if isinstance(part, Bars)]
    for k, bars in enumerate(groups):
        _draw_bars(bars, axis, k, len(groups))
    for part in chart.parts:
        if not isinstance(part, Bars):
            _draw(part, axis)
    if len(chart.parts) > 1:
        # beside the axes: within them it would lie over points
        figure.legend(loc="outside right upper", frameon=False)
    axis.set(xlabel=chart.x, ylabel=chart.y, yscale="log" if chart.logarithmic else "linear")
    axis.set_title(title, fontsize=10)
    axis.grid(alpha=0.3)
    with atomic_file(file) as unfinished:
        figure.savefig(unfinished, dpi=DPI, format="png")


def _write_scatter(chart: Scatter, title: str, file: Path) -> None:
    """Draw the first parts of a scatter beside each other."""
    from matplotlib.figure import Figure

    parts = [part for part in chart.parts if isinstance(part, Points)][:MOST_BESIDE]
    columns = min(3, len(parts))
    lines = -(-len(parts) // columns)
    figure = Figure(figsize=(9, 1 + 2.6 * lines), layout="constrained")
    for axis, part in zip(figure.subplots(lines, columns, sharey=True, squeeze=False).flat, parts, strict=False):
        _draw(part, axis)
        axis.set_xlabel(part.name, fontsize=8)
        axis.grid(alpha=0.3)
    figure.supylabel(chart.y, fontsize=9)
    figure.suptitle(title, fontsize=10)
    with atomic_file(file) as unfinished:
        figure.savefig(unfinished, dpi=DPI, format="png")


def _draw_bars(part: Bars, axis: Axes, k: int, count: int) -> None:
    """Draw the `k`-th of `count` groups of bars beside each other."""
    places, width = np.arange(len(part.x)), BARS_WIDTH / count
    errors = np.abs(np.array([part.low, part.high]) - np.array(part.y)) if len(part.low) else None
    axis.bar(places + width * (k - 0.5 * (count - 1)), part.y, width, yerr=errors, capsize=4, label=part.name)
    turned: dict[str, Any] = {"rotation": 40, "ha": "right"} if len(part.x) > FEW_WORDS else {}
    axis.set_xticks(places, part.x, **turned)


@singledispatch
def _draw(part: Any, axis: Axes) -> None:
    raise TypeError(f"a chart has no parts of type {type(part).__name__}")


@_draw.register(Polyline)
def _(part: Polyline, axis: Axes) -> None:
    axis.plot(part.x, part.y, color=NEUTRAL if part.border else FIRST, label=part.name)


@_draw.register(Band)
def _(part: Band, axis: Axes) -> None:
    axis.fill_between(part.x, part.low, part.high, color=FIRST, lw=0.0, alpha=0.3, label=part.name)


@_draw.register(Points)
def _(part: Points, axis: Axes) -> None:
    axis.plot(part.x, part.y, _MARKS[part.mark], ms=4, color=COLOUR_OF[part.mark], label=part.name)


_MARKS = {"circle": "o", "diamond": "D", "cross": "x"}
