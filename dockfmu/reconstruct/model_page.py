"""The report of an estimation by the model: posterior of unknowns and event times, residuals, loads with bands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from dockfmu.reconstruct.by_model import ModelEstimate
from dockfmu.reconstruct.chosen_data import outputs_of
from dockfmu.reconstruct.model_findings import Findings, band_of, bands
from dockfmu.reconstruct.page import interval_band, reading_curve, write_framed
from dockfmu.report.plots import Curve, Plot


def write_model_page(
    found: ModelEstimate, said: Findings, folder: Path, label: str = "", compared: Mapping[str, float] | None = None
) -> Path:
    """Write `report.html` of an estimate; return its path.

    Parameters
    ----------
    found, said : ModelEstimate, Findings
        The estimate, and what it says.
    folder : path
        Receives the page.
    label : str
        The label of its model.
    compared : mapping of str to float, optional
        Probabilities of the models that were compared, by their labels; shown for more than one.

    Raises
    ------
    WriteError
        if the page cannot be written
    """
    telemetry = found.problem.telemetry
    count = len(telemetry.time)
    told = outputs_of(found.rows[found.posterior.valid], found.problem)
    return write_framed(
        "model_page.html.j2", folder, [*_load_plots(found), *_reading_plots(found, told[:, :count])], telemetry,
        telemetry.time,
        file=telemetry.table.where,
        label=label,
        compared=dict(compared or {}),
        said=said,
        found=found,
        events=list(zip(telemetry.events, _event_bands(told[:, count:]), strict=True)),
    )  # fmt: skip


def _event_bands(times: np.ndarray) -> list[list[float] | None]:
    """Return the band of the time of each event to 1 ms, s, None where no run has it."""
    # 0.0 is added to write no time as -0.000
    return [(np.round(band_of(column), 3) + 0.0).tolist() if np.isfinite(column).any() else None for column in times.T]


def _load_plots(found: ModelEstimate) -> list[Plot]:
    """Return the largest value of each load in intervals of time, with its band."""
    edges, (low, middle, high) = found.problem.instruments.edges, bands(found)
    centres = 0.5 * (edges[1:] + edges[:-1])
    units = {m.signals[0]: m.unit for m in found.problem.campaign.study.measures if m.signals}
    plots = []
    for k, name in enumerate(found.problem.instruments.loads):
        there = np.isfinite(middle[k])
        if not there.any():
            continue
        box = np.column_stack([edges[:-1], edges[1:], low[k], high[k]])[there]
        curve = Curve(name, units[name], centres[there], middle[k][there], False, box)
        plots.append(Plot(f"{name}, with 90 % bands", (curve,)))
    return plots


def _reading_plots(found: ModelEstimate, told: np.ndarray) -> list[Plot]:
    """Return the readings of each signal over the band of the runs of the posterior, where these have readings."""
    telemetry, plots = found.problem.telemetry, []
    there = np.isfinite(told).all(axis=0)
    ends = np.full((3, len(there)), np.nan)
    ends[:, there] = band_of(told[:, there])
    for signal in telemetry.signals:
        mask, time = telemetry.mask[signal.part], telemetry.time[signal.part]
        unit, (low, middle, high) = signal.sensor.unit.name, ends[:, signal.part]
        own = mask & there[signal.part]
        curves = [reading_curve("read", unit, time[mask], telemetry.values[signal.part][mask])]
        if own.any():
            box = interval_band(time[own], low[own], high[own])
            curves.append(Curve("model", unit, time[own], middle[own], False, box))
        plots.append(Plot(signal.name, tuple(curves)))
    return plots
