"""Turn recorded signals into plots: in display units, with few points, and without losing a peak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from dockfmu.base.names import subscripts
from dockfmu.declare.plan import Panel
from dockfmu.master.observers.recording.results import Results
from dockfmu.report.plots import Curve, Plot
from dockfmu.report.shown_units import shown_unit
from dockfmu.report.thinning import beyond, thin

_VECTORS = {
    f"{name}{now}"
    for name in ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration", "force", "torque",
                 "momentum", "angular_momentum", "deflection")
    for now in ("", "_now")
}  # fmt: skip
"""Names of arrays of three elements that are vectors with the components x, y, z."""


def component_name(results: Results, signal: str) -> str:
    """Return "x", "y", "z" for an element of a vector, "yaw", "pitch", "roll" for angles; empty for others."""
    array, place = subscripts(signal)
    if len(place) != 1 or f"{array}[3]" not in results or f"{array}[4]" in results:
        return ""
    last = array.rpartition(".")[2]
    if last == "angles" and str(results.attribute(signal).get("description", "")).startswith("yaw, pitch"):
        return ("yaw", "pitch", "roll")[place[0] - 1]
    return "xyz"[place[0] - 1] if last in _VECTORS else ""


def plots(results: Results, panels: Sequence[Panel], window: tuple[float, float] | None = None) -> list[Plot]:
    """Return the panels with their recorded signals; signals and panels that this run does not have are left out.

    `window` limits the time, s. The common prefix of the signal names of a panel goes to its title. Boolean signals
    become a logic diagram, with one lane each, the first on top.
    """
    return [
        _plot(results, panel.title, signals, window)
        for panel in panels
        if (signals := [signal for signal in panel.signals if signal in results])
    ]


def _plot(results: Results, title: str, signals: Sequence[str], window: tuple[float, float] | None) -> Plot:
    owner = _common_owner(signals)
    title = f"{title} ({owner})" if owner else title
    labels = [signal[len(owner) + 1 if owner else 0 :] for signal in signals]
    if components := [component_name(results, signal) for signal in signals]:
        arrays = {subscripts(signal)[0] for signal in signals}
        if all(components):
            labels = (
                components
                if len(arrays) == 1
                else [
                    f"{subscripts(label)[0]} {component}" for label, component in zip(labels, components, strict=True)
                ]
            )
    curves = tuple(curve(results, signal, label, window) for signal, label in zip(signals, labels, strict=True))
    if all(results[signal].dtype == np.bool_ for signal in signals):
        lifted = tuple(replace(c, values=0.7 * c.values + len(curves) - 1 - k) for k, c in enumerate(curves))
        return Plot(title, lifted, tuple((float(k), curve.label) for k, curve in enumerate(reversed(curves))))
    items = {tuple(results.attribute(signal).get("items", ())) for signal in signals}
    return Plot(title, curves, _names_of_values(items.pop(), curves) if len(items) == 1 else ())


def _names_of_values(items: Sequence[str], curves: Sequence[Curve]) -> tuple[tuple[float, str], ...]:
    """Return value and name of the items of an enumeration between the smallest and the largest that occur."""
    values = np.concatenate([curve.values for curve in curves])
    pairs = [item.split("=", 1) for item in items]
    return tuple(
        (float(value), name.replace("_", " ").lower())
        for value, name in pairs
        if len(values) and values.min() <= float(value) <= values.max()
    )


def _common_owner(signals: Sequence[str]) -> str:
    """Return the leading names, up to a dot, that all signals share."""
    names = zip(*(signal.split(".")[:-1] for signal in signals), strict=False)
    return ".".join(column[0] for column in takewhile(lambda column: len(set(column)) == 1, names))


def curve(results: Results, signal: str, label: str, window: tuple[float, float] | None = None) -> Curve:
    """Return a recorded signal as a curve in its display unit, in a `window` of time, s, or over the whole run."""
    unit, factor = shown_unit(results.unit(signal), results.display_unit(signal))
    start, end = window or (-np.inf, np.inf)
    inside = slice(*np.searchsorted(results.time, [start, np.nextafter(end, np.inf)]))
    time, values = results.time[inside], results[signal][inside] * factor
    band = np.empty((0, 4))
    if results.has_envelope(signal):
        low, high = (bound[inside] * factor for bound in results.envelope(signal))
        band = beyond(time, values, low, high)
    return Curve(label, unit, *thin(time, values), results.variability(signal) == "discrete", band)
