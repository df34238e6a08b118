"""Charts in a browser: the traces and the layout of plotly.js."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from dockfmu.campaign.answers.chart import Band, Bars, Chart, Points, Polyline, Scatter
from dockfmu.campaign.report.colours import COLOUR_OF, FIRST, NEUTRAL, PALE


def traces(chart: Chart) -> list[dict[str, Any]]:
    """Return the traces of a chart; of a scatter the first is visible."""
    if isinstance(chart, Scatter):
        hover = "%{x:.4g}, %{y:.4g}: run %{customdata:d}<extra></extra>"
        return [
            {**trace, "hovertemplate": hover, "visible": k == 0, "showlegend": False}
            for k, part in enumerate(chart.parts)
            for trace in _traces(part)
        ]
    return [trace for part in chart.parts for trace in _traces(part)]


def layout(chart: Chart) -> dict[str, Any]:
    """Return the axes of a chart."""
    words = any(isinstance(part, Bars) for part in chart.parts)
    x: dict[str, Any] = {"title": {"text": chart.x}}
    # a line at zero would look like a boundary
    y: dict[str, Any] = {"title": {"text": chart.y}, "zeroline": words}
    x |= {"showgrid": False} if words else {"zeroline": False}
    y |= {"type": "log", "dtick": 1, "exponentformat": "power"} if chart.logarithmic else {}
    return {"xaxis": x, "yaxis": y}


@singledispatch
def _traces(part: Any) -> list[dict[str, Any]]:
    raise TypeError(f"a chart has no parts of type {type(part).__name__}")


@_traces.register(Bars)
def _(part: Bars) -> list[dict[str, Any]]:
    trace: dict[str, Any] = {"type": "bar", "x": part.x, "y": part.y, "name": part.name}
    if len(part.low):
        y = np.array(part.y)
        trace["error_y"] = {
            "type": "data", "symmetric": False, "array": np.array(part.high) - y, "arrayminus": y - part.low,
        }  # fmt: skip
    return [trace]


@_traces.register(Polyline)
def _(part: Polyline) -> list[dict[str, Any]]:
    colour = NEUTRAL if part.border else FIRST
    line = {"color": colour}
    return [{"type": "scatter", "mode": "lines", "x": part.x, "y": part.y, "name": part.name, "line": line}]


@_traces.register(Band)
def _(part: Band) -> list[dict[str, Any]]:
    line = {"type": "scatter", "mode": "lines", "x": part.x, "line": {"width": 0}}
    return [
        {**line, "y": part.low, "showlegend": False, "hoverinfo": "skip"},
        {**line, "y": part.high, "fill": "tonexty", "name": part.name, "fillcolor": PALE},
    ]


@_traces.register(Points)
def _(part: Points) -> list[dict[str, Any]]:
    trace = {
        "type": "scatter", "mode": "markers", "x": part.x, "y": part.y, "name": part.name,
        "marker": {"size": 7, "color": COLOUR_OF[part.mark], "symbol": _SYMBOLS[part.mark]},
    }  # fmt: skip
    if len(part.values):
        trace |= {"customdata": part.values, "hovertemplate": "%{x:.4g}, %{y:.4g}: %{customdata:.4g}<extra></extra>"}
    return [trace]


_SYMBOLS = {"circle": "circle", "diamond": "diamond", "cross": "x"}
