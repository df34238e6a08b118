"""The values of a measure: quantiles, exceedance, extremes, phases, and the repetition of the runs that decide them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.base.names import subscripts, vector
from dockfmu.base.numbers import figure_text
from dockfmu.campaign.answers.answer import Answer
from dockfmu.campaign.answers.censoring import UNFINISHED, finished
from dockfmu.campaign.answers.chart import Band, Chart, Part, Points, Polyline
from dockfmu.campaign.answers.probabilities import counted
from dockfmu.campaign.description import Measure
from dockfmu.campaign.folder import CampaignFolder
from dockfmu.campaign.methods import estimates
from dockfmu.errors import OptionError

if TYPE_CHECKING:
    import pandas

LEAST_FOR_EXTREMES = 200
"""Number of runs from which on a level beyond them is extrapolated."""


def deciding(table: pandas.DataFrame, measure: Measure, share: float) -> list[int]:
    """Return the indices of the runs with the largest values of a measure, or the smallest of a minimum, extreme first.

    A `share` of the `finished` runs is taken, at least one run; none for a value at the end, which decides nothing.
    """
    complete = finished(table, measure)
    if measure.rises is None or not share or not len(complete):
        return []
    ordered = complete.sort_values(measure.name, ascending=not measure.rises, kind="stable")
    return [int(index) for index in ordered["index"].head(max(1, round(share * len(complete))))]


def values_of(campaign: CampaignFolder, table: pandas.DataFrame, measure: Measure, fine: pandas.DataFrame) -> Answer:
    """Return quantiles, exceedance and phases of a measure over the `finished` runs.

    `fine` holds the rows of the runs that decide its extremes, repeated at a tenth of the step, in the order of
    `deciding`.
    """
    complete = finished(table, measure)
    values = complete[measure.name].to_numpy(float)
    title = f"{measure.name}: {measure.kind} of {signals_text(measure)}, {measure.unit}"
    if len(values) < 2:
        return Answer(measure.name, title, ("fewer than two runs have this measure",))
    rows: list[tuple[Any, ...]] = []
    for share in (0.01, 0.05, 0.5, 0.95, 0.99):
        estimate = estimates.quantile(values, share)
        rows.append((f"{100 * share:g} % quantile", estimate.value, estimate.low, estimate.high))
    rows.append((measure.end, measure.sign * float((measure.sign * values).max()), None, None))
    sentences = [_basis(table, complete, measure)]
    if measure.rises and len(values) >= LEAST_FOR_EXTREMES:
        sentences.append(_extreme(values, measure.unit))
    repeated = np.array([])
    if len(fine):
        repeated = fine[measure.name].where(~fine["outcome"].isin(UNFINISHED)).to_numpy(float)
        sentences.append(_refinement(table, measure, fine, repeated))
        if np.isfinite(repeated).any():
            extreme_repeated = measure.sign * float(np.nanmax(measure.sign * repeated))
            rows.append((f"{measure.end} at a tenth of the step", extreme_repeated, None, None))
    phase = phases(campaign, complete, measure)
    names, counts = np.unique(phase.astype(str), return_counts=True)
    shares = sorted(zip(counts.tolist(), names.tolist(), strict=True), reverse=True)
    parts = (f"{name.replace('_', ' ')} {count / len(phase):.1%}" for count, name in shares)
    sentences.append(f"phases: {', '.join(parts)}")
    return Answer(
        measure.name,
        title,
        tuple(sentences),
        ("", f"value, {measure.unit}", "95 % from", "to"),
        tuple(rows),
        _curve(measure, values, repeated),
    )


def signals_text(measure: Measure) -> str:
    """Return the signals of a measure in words: an array by its name, several ones with commas."""
    arrays = list(dict.fromkeys(subscripts(signal)[0] for signal in measure.signals))
    if len(measure.signals) == 1:
        return measure.signals[0]
    if len(arrays) == 1 and measure.signals == vector(arrays[0], len(measure.signals)):
        return arrays[0]
    return ", ".join(measure.signals)


def phases(campaign: CampaignFolder, complete: pandas.DataFrame, measure: Measure) -> np.ndarray:
    """Return the phase of the measure in each run, see `estimates.phases`; shape (runs,)."""
    columns = {name[2:]: complete[name].to_numpy(float) for name in complete.columns if name.startswith("t_")}
    events = {name: columns[name] for name in campaign.system.plan.events if name in columns}
    return estimates.phases(columns[measure.name], events)


def _curve(measure: Measure, values: np.ndarray, repeated: np.ndarray) -> Chart:
    """Return the curve of the probability of at least a value, or for a minimum of at most a value.

    `repeated` holds values of repeated runs, NaN for runs that did not finish; each is drawn at its rank among them.
    """
    sign, side = measure.sign, "least" if measure.sign > 0.0 else "most"
    curve = estimates.exceedance(sign * values)
    levels = (sign * curve.levels).tolist()
    parts: list[Part] = [
        Band("95 % interval", levels, curve.low.tolist(), curve.high.tolist()),
        Polyline("runs", levels, curve.probability.tolist()),
    ]
    new = np.sort(sign * repeated[np.isfinite(repeated)])
    if len(new):
        share = np.arange(len(new), 0, -1) / len(values)
        parts.append(Points("at a tenth of the step", (sign * new).tolist(), share.tolist(), "diamond"))
    return Chart(parts, f"{measure.name}, {measure.unit}", f"probability of at {side} this value", logarithmic=True)


def _basis(table: pandas.DataFrame, complete: pandas.DataFrame, measure: Measure) -> str:
    """Return a sentence on the runs that the statistics cover, and on what is known of the others."""
    sentence = f"over {len(complete)} of {len(table)} runs"
    if beyond := int((complete["outcome"] == "limit_exceeded").sum()):
        sentence += f", including {beyond} that exceeded a limit of the model, with their values until then"
    others = table.loc[table.index.difference(complete.index)]
    if len(others):
        sentence += f"; left out: {counted(others['outcome'])}"
    reached = others[measure.name].dropna().to_numpy(float)
    if len(reached) and measure.rises is not None:
        extreme = measure.sign * (measure.sign * reached).max()
        sentence += f". The {measure.end} value that these had reached was {figure_text(extreme)} {measure.unit}"
    return sentence


def _extreme(values: np.ndarray, unit: str) -> str:
    """Return a sentence on the level that is exceeded once in ten times as many runs as there are."""
    try:
        extreme = estimates.extreme_value(values, 0.1 / len(values))
    except OptionError as error:
        return f"no extrapolation beyond the sample: {error}"
    return (
        f"level exceeded once in {10 * len(values)} runs: {extreme.level} {unit}, from a generalised Pareto law of "
        f"shape {extreme.shape:.2f} fitted to the {extreme.beyond} runs above {figure_text(extreme.threshold)} {unit}"
    )


def _refinement(table: pandas.DataFrame, measure: Measure, fine: pandas.DataFrame, new: np.ndarray) -> str:
    """Return a sentence on how runs change at a tenth of the step; `new` is NaN for those that did not finish."""
    before = table.set_index("index").loc[fine.index]
    old = before[measure.name].to_numpy(float)
    use = np.isfinite(new) & (old != 0.0)
    changes = (new[use] - old[use]) / np.abs(old[use])
    same = int((before["outcome"].to_numpy() == fine["outcome"].to_numpy()).sum())
    values = f"{measure.end} value" if len(fine) == 1 else f"{len(fine)} {measure.end} values"
    sentence = f"the {values}, repeated at a tenth of the step: "
    # z: what rounds to nothing has no sign
    sentence += f"changes from {changes.min():+z.2%} to {changes.max():+z.2%}; " if len(changes) else ""
    if unfinished := int(fine["outcome"].isin(UNFINISHED).sum()):
        sentence += f"{unfinished} did not finish and are left out; "
    return f"{sentence}{same} of {len(fine)} outcomes are the same (answers/refined.parquet)"
