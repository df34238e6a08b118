"""Answers from the rows of a campaign: outcomes, loads, sensitivities, and comparison with another campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.campaign.answers import comparison, estimates, sensitivity
from dockfmu.campaign.answers.answer import Answer
from dockfmu.campaign.dataset import read_runs
from dockfmu.campaign.description import Measure, short_name
from dockfmu.campaign.execution import Execution
from dockfmu.campaign.folder import CampaignFolder
from dockfmu.declare.tables import Table
from dockfmu.options import OptionError

if TYPE_CHECKING:
    import pandas


def outcomes(campaign: CampaignFolder, table: pandas.DataFrame) -> Answer:
    """Return the probability of each outcome."""
    rows = []
    for outcome, count in table["outcome"].value_counts().items():
        found = estimates.probability((table["outcome"] == outcome).to_numpy())
        rows.append((str(outcome), int(count), found.value, found.low, found.high))
    bad = table[table["status"].isin(("failed", "crashed"))]
    told = [f"run {row['index']}: {row['reason']}" for _, row in bad.head(10).iterrows()]
    if len(bad) > 10:
        told.append(f"and {len(bad) - 10} more: column `reason` of {campaign.folder}/runs.parquet")
    return Answer(
        "outcomes", "outcomes", f"Outcomes of {len(table)} runs, with 95 % intervals of Clopper and Pearson",
        tuple(told), ("outcome", "runs", "probability", "95 % from", "to"), tuple(rows),
        {"x": [row[0] for row in rows], "y": [row[2] for row in rows], "low": [row[3] for row in rows],
         "high": [row[4] for row in rows]},
    )  # fmt: skip


def deciding(table: pandas.DataFrame, measure: Measure, share: float) -> list[int]:
    """Return the numbers of the runs with the largest values of a measure, the smallest of a minimum, largest first.

    `share` of the runs that have it are taken, at least one, and none of a value at the end, which decides nothing.
    """
    having = table.dropna(subset=[measure.name])
    if measure.kind == "final" or not share or not len(having):
        return []
    ordered = having.sort_values(measure.name, ascending=measure.kind == "min", kind="stable")
    return [int(index) for index in ordered["index"].head(max(1, round(share * len(having))))]


def loads(campaign: CampaignFolder, table: pandas.DataFrame, measure: Measure, fine: pandas.DataFrame) -> Answer:
    """Return quantiles, exceedance and phases of a measure.

    `fine` are the rows of those runs that decide its extremes, made again at a tenth of the step, in the order of
    `deciding`.
    """
    values, times = (table[name].to_numpy(float) for name in (measure.name, f"t_{measure.name}"))
    use = np.isfinite(values)
    values, times = values[use], times[use]
    signal = measure.signals[0] if len(measure.signals) == 1 else measure.signals[0].rpartition("[")[0]
    title = f"{measure.name}: {measure.kind} of {signal}, {measure.unit}"
    if len(values) < 2:
        return Answer(measure.name, "loads", title, ("no run has this measure",))
    rows: list[tuple[Any, ...]] = []
    for share in (0.01, 0.05, 0.5, 0.95, 0.99):
        found = estimates.quantile(values, share)
        rows.append((f"{100 * share:g} % quantile", found.value, found.low, found.high))
    smallest = measure.kind == "min"
    rows.append(("smallest", float(values.min()), None, None) if smallest else
                ("largest", float(values.max()), None, None))  # fmt: skip
    told = [f"{use.sum()} of {len(table)} runs have the measure; what failed before its peak is not among them"]
    if measure.kind not in ("min", "final") and len(values) >= 200:
        extreme = estimates.extreme_value(values, 0.1 / len(values))
        told.append(
            f"exceeded once in {10 * len(values)} runs: {extreme.level}, by a generalised Pareto tail of shape "
            f"{extreme.shape:.2f} over {extreme.threshold:.4g} ({extreme.beyond} runs)"
        )
    again = np.array([])
    if len(fine):
        again = fine[measure.name].to_numpy(float)
        told.append(_refinement(table, measure, fine))
        if np.isfinite(again).any():
            word = "smallest" if smallest else "largest"
            extreme_again = float(np.nanmin(again) if smallest else np.nanmax(again))
            rows.append((f"{word} at a tenth of the step", extreme_again, None, None))
    columns = {name[2:]: table.loc[use, name].to_numpy(float) for name in table.columns if name.startswith("t_")}
    events = {name: columns[name] for name in campaign.system.plan.events if name in columns}
    phase = estimates.phases(times, events)
    names, counts = np.unique(phase.astype(str), return_counts=True)
    shares = sorted(zip(counts.tolist(), names.tolist(), strict=True), reverse=True)
    parts = (f"{name.replace('_', ' ')} {count / len(phase):.1%}" for count, name in shares)
    told.append(f"phases: {', '.join(parts)}")
    curve = estimates.exceedance(values)
    return Answer(
        measure.name, "loads", title, tuple(told), ("", f"value, {measure.unit}", "95 % from", "to"), tuple(rows),
        {"x": curve.levels.tolist(), "y": curve.probability.tolist(), "low": curve.low.tolist(),
         "high": curve.high.tolist(), "label": f"{measure.name}, {measure.unit}",
         **_refined_points(values, again, smallest)},
    )  # fmt: skip


def _refinement(table: pandas.DataFrame, measure: Measure, fine: pandas.DataFrame) -> str:
    """Return a sentence on how runs change at a tenth of the step."""
    before = table.set_index("index").loc[fine.index]
    old, new = (rows[measure.name].to_numpy(float) for rows in (before, fine))
    use = np.isfinite(new) & (old != 0.0)
    changes = (new[use] - old[use]) / np.abs(old[use])
    same = int((before["outcome"].to_numpy() == fine["outcome"].to_numpy()).sum())
    end = "smallest" if measure.kind == "min" else "largest"
    told = f"the {len(fine)} {end} values again at a tenth of the step: "
    told += f"changes from {changes.min():+.2%} to {changes.max():+.2%}, " if len(changes) else ""
    return f"{told}{same} of {len(fine)} outcomes are the same (answers/refined.parquet)"


def _refined_points(values: np.ndarray, again: np.ndarray, smallest: bool) -> dict[str, list[float]]:
    """Return the ends of the exceedance curve by values that were made again: each at the rank that it has there."""
    new, n, count = np.sort(again[np.isfinite(again)]), len(values), len(again)
    if not len(new):
        return {}
    ranks = np.arange(count)[: len(new)] if smallest else np.arange(n - count, n)[-len(new) :]
    return {"x_fine": new.tolist(), "y_fine": ((n - ranks) / n).tolist()}


def depends(campaign: CampaignFolder, table: pandas.DataFrame, measure: Measure) -> Answer:
    """Return the sensitivities of a measure."""
    choices = {choice.name for choice in campaign.study.choices}
    names = [name for name in map(short_name, campaign.names) if name not in choices]
    found = sensitivity.sensitivities(
        {name: table[name].to_numpy(float) for name in names}, table[measure.name].to_numpy(float)
    )
    rows = tuple((entry.name, entry.rank_correlation, entry.p_value, entry.first_order) for entry in found)
    return Answer(
        f"sensitivity of {measure.name}", "sensitivity", f"What {measure.name} depends on", (),
        ("variable", "rank correlation", "p-value", "first-order share"), rows,
        {"x": [row[0] for row in rows], "y": [row[1] for row in rows], "z": [row[3] for row in rows]},
    )  # fmt: skip


def compare_with(campaign: CampaignFolder, cluster: Execution, name: str, row: Table) -> Answer:
    """Return what another campaign on equal draws has in other numbers."""
    other = campaign.study.path(row.text("with"))
    mine, theirs = campaign.runs(), read_runs(other / "runs.parquet")
    return compare(mine, theirs, name, [measure.name for measure in campaign.study.measures],
                   [short_name(each) for each in campaign.names], row.texts("outcomes", ()))  # fmt: skip


def compare(
    first: pandas.DataFrame, second: pandas.DataFrame, name: str, measures: list[str], varied: list[str],
    wanted: tuple[str, ...] = (),
) -> Answer:  # fmt: skip
    """Compare the rows of two campaigns on equal draws, by their index. Raises OptionError for draws that differ."""
    both = first.merge(second, on="index", suffixes=("", " of the other"))
    for column in varied:
        there = f"{column} of the other"
        if there in both and not both[column].equals(both[there]):
            raise OptionError([f"{name}: the draws of {column} differ; both campaigns need equal laws and seeds"])
    rows = []
    for outcome in wanted or tuple(sorted(set(both["outcome"]) | set(both["outcome of the other"]))):
        a, b = ((both[column] == outcome).to_numpy() for column in ("outcome", "outcome of the other"))
        found = comparison.compare_outcomes(a, b)
        rows.append((f"probability of {outcome}", found.first, found.second, found.difference.low,
                     found.difference.high))  # fmt: skip
    for measure in measures:
        if f"{measure} of the other" in both:
            x, y = (both[column].to_numpy(float) for column in (measure, f"{measure} of the other"))
            if (np.isfinite(x) & np.isfinite(y)).any():
                found_measure = comparison.compare_measures(x, y).mean_difference
                rows.append((f"mean of {measure}", float(np.nanmean(x)), float(np.nanmean(y)), found_measure.low,
                             found_measure.high))  # fmt: skip
    return Answer(
        name, "compare", f"Two campaigns on {len(both)} equal draws", ("second less first, with 95 % intervals",),
        ("", "first", "second", "difference from", "to"), tuple(rows),
    )  # fmt: skip
