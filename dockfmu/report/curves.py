"""From recorded signals to plots: in the units of the reader, with few points, and no peak left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from base.units import DISPLAY_UNITS, UnitError, parse_unit
from dockfmu.declare.plan import Panel
from dockfmu.report.plots import Curve, Plot
from dockfmu.report.thinning import beyond, thin
from master.observers.recording.results import Results

_SYMBOLS = {"deg": "°", "deg/s": "°/s", "deg/s2": "°/s²", "m/s2": "m/s²", "N.m": "N·m", "N.s": "N·s"}


def shown_unit(unit: str, display: str = "") -> tuple[str, float]:
    """Return how a unit is written for readers, and the factor from values in `unit` to values in what is written.

    `display` is the display unit that an FMU asks for. Without one, angles are shown in degrees, other quantities in
    the unit that they have; so are those whose display unit is unknown. The unit 1 is written as nothing.
    """
    wanted = display or DISPLAY_UNITS.get(unit, unit)
    try:
        have, want = parse_unit(unit), parse_unit(wanted)
    except UnitError:
        wanted, factor = unit, 1.0
    else:
        same = have.exponents == want.exponents
        wanted, factor = (wanted, have.factor / want.factor) if same else (unit, 1.0)
    return "" if wanted == "1" else _SYMBOLS.get(wanted, wanted), factor


def plots(results: Results, panels: Sequence[Panel], window: tuple[float, float] | None = None) -> list[Plot]:
    """Return the panels with their recorded signals; signals and panels that this run does not have are left out.

    `window` limits the time, s. What the signals of a panel have in common in their names goes to its title. Boolean
    signals become a logic diagram, one lane each, the first on top.
    """
    return [
        _plot(results, panel.title, signals, window)
        for panel in panels
        if (signals := [signal for signal in panel.signals if signal in results])
    ]


def _plot(results: Results, title: str, signals: Sequence[str], window: tuple[float, float] | None) -> Plot:
    owner = _common_owner(signals)
    title = f"{title} ({owner})" if owner else title
    curves = tuple(curve(results, signal, signal[len(owner) + 1 if owner else 0 :], window) for signal in signals)
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
    """Return a recorded signal as a curve in the units of readers, in a `window` of time, s, or the whole run."""
    unit, factor = shown_unit(results.unit(signal), results.display_unit(signal))
    start, end = window or (-np.inf, np.inf)
    inside = slice(*np.searchsorted(results.time, [start, np.nextafter(end, np.inf)]))
    time, values = results.time[inside], results[signal][inside] * factor
    band = np.empty((0, 4))
    if results.has_envelope(signal):
        low, high = (bound[inside] * factor for bound in results.envelope(signal))
        band = beyond(time, values, low, high)
    return Curve(label, unit, *thin(time, values), results.variability(signal) == "discrete", band)
