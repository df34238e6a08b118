"""The plots of a report as data for plotly.js, which draws them in the reader's browser.

Figures are plain dictionaries in the format of plotly.js: its Python package would take seconds to build them.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.report.plots import Curve, Plot


def plotly_js() -> str:
    """Return the source of plotly.js, which the Python package plotly contains."""
    found = find_spec("plotly")
    assert found is not None
    assert found.origin is not None
    return (Path(found.origin).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def figure(plot: Plot) -> dict[str, Any]:
    """Return a plot as data: traces, title, names of values, label of the value axis, and a text alternative."""
    return {
        "title": plot.title,
        "unit": plot.axis_label,
        "ticks": [list(tick) for tick in plot.ticks],
        "lanes": bool(plot.ticks) and len(plot.curves) > 1,
        "traces": [
            trace
            for curve, colour in plot.coloured
            for trace in traces(curve, colour, legend=len(plot.curves) > 1 and not plot.ticks)
        ],
        "text": description(plot),
    }


def description(plot: Plot) -> str:
    """Return a description of a plot in words, for readers who cannot see it."""
    ranges = []
    for curve in plot.curves:
        if plot.ticks or not len(curve.values):
            ranges.append(curve.label)
        else:
            least, most = curve.extremes
            ranges.append(f"{curve.label} from {least:.4g} to {most:.4g} {curve.unit}".rstrip())
    return f"{plot.title}, over time: {'; '.join(ranges)}"


def traces(curve: Curve, colour: str, *, legend: bool, dash: str = "solid") -> list[dict[str, Any]]:
    """Return the line through the samples and, behind it, boxes for the extremes between them."""
    line = {
        "type": "scatter", "mode": "lines", "name": curve.label, "legendgroup": curve.label,
        "x": _array(curve.time), "y": _array(curve.values),
        "line": {"color": colour, "width": 1.3, "dash": dash, "shape": "hv" if curve.step else "linear"},
        "showlegend": legend,
        "hovertemplate": f"%{{y:.5g}} {curve.unit}<extra>{curve.label}</extra>",
    }  # fmt: skip
    if not len(curve.band):
        return [line]
    start, end, low, high = curve.band.T
    gap = np.full(len(start), np.nan)
    boxes = {
        "type": "scatter", "mode": "lines", "name": curve.label, "legendgroup": curve.label, "showlegend": False,
        "x": _array(np.column_stack([start, end, end, start, start, gap]).ravel()),
        "y": _array(np.column_stack([low, low, high, high, low, gap]).ravel()),
        "line": {"color": colour, "width": 0.5}, "fill": "toself", "opacity": 0.45, "hoverinfo": "skip",
    }  # fmt: skip
    return [boxes, line]


def _array(values: np.ndarray | Sequence[float]) -> dict[str, str]:
    """Return numbers in the base64 form of plotly.js, in single precision (7 digits) if that holds their magnitudes."""
    single = bool(np.all(np.abs(values) <= np.finfo("f4").max, where=np.isfinite(values)))
    packed = np.asarray(values, "<f4" if single else "<f8").tobytes()
    return {"dtype": "f4" if single else "f8", "bdata": base64.b64encode(packed).decode()}
