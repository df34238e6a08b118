"""The worst runs by a measure: their numbers, inputs and times, how to see them, and the measure over each input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.campaign.answers.answer import Answer, Command, Link
from dockfmu.campaign.answers.censoring import finished
from dockfmu.campaign.answers.chart import Points, Scatter
from dockfmu.campaign.answers.measures import deciding, phases
from dockfmu.campaign.description import Measure, short_name
from dockfmu.campaign.folder import SERIES, CampaignFolder
from dockfmu.campaign.sampling.vary import unit_text
from dockfmu.declare.conditions.initial_conditions import ANGLES
from dockfmu.report.files import REPORT, RESULTS
from dockfmu.report.shown_units import shown_unit

if TYPE_CHECKING:
    import pandas

WORST = 5
"""Number of worst runs in the table."""
MOST_POINTS = 2000
"""Most points of a scatter: all of the worst tenth, and every k-th of the others."""


def worst_runs(campaign: CampaignFolder, table: pandas.DataFrame, measure: Measure) -> list[Answer]:
    """Return the worst runs by a measure; nothing for a value at the end, or with fewer than two runs."""
    complete = finished(table, measure)
    if measure.rises is None or len(complete) < 2:
        return []
    worst = deciding(table, measure, min(1.0, WORST / len(complete)))[:WORST]
    inputs = _inputs(campaign, table)
    words = _phases(campaign, complete, measure)
    rows = []
    for _, run in complete.set_index("index").loc[worst].reset_index().iterrows():
        index = int(run["index"])
        values = [_shown(run[column], factor) for column, _, factor in inputs]
        place = [float(run[measure.name]), float(run[f"t_{measure.name}"]), words[index]]
        rows.append((index, *place, str(run["outcome"]).replace("_", " "), *values, _see(campaign, index)))
    head = ("run", f"{measure.name}, {measure.unit}", "at, s", "phase", "outcome")
    return [
        Answer(
            f"worst runs of {measure.name}",
            f"Worst runs by {measure.name}",
            (f"the {len(rows)} {measure.end} values, the worst first; the figure shows a point for each run",),
            (*head, *(f"{_words(column)}{f', {unit}' if unit else ''}" for column, unit, _ in inputs), "to see it"),
            tuple(rows),
            _scatter(complete, measure, inputs),
        )
    ]


def _see(campaign: CampaignFolder, index: int) -> Link | Command:
    """Return a link to the report of a recorded run, or the command that shows it or records it."""
    place = f"{SERIES}/{index:06d}"
    if (campaign.folder / place / REPORT).is_file():
        return Link("report", f"{place}/{REPORT}")
    if (campaign.folder / place / RESULTS).is_file():
        return Command(f"dockfmu view {campaign.folder}/{place}")
    return Command(f"dockfmu campaign {campaign.folder} --index {index}")


def _inputs(campaign: CampaignFolder, table: pandas.DataFrame) -> list[tuple[str, str, float]]:
    """Return column, display unit and factor to it of each varied variable and choice, and of R1."""
    choices = {choice.name for choice in campaign.study.choices}
    found = []
    for name in campaign.names:
        if name in choices:
            found.append((short_name(name), "", 1.0))
            continue
        found.append((short_name(name), *shown_unit(unit_text(name, campaign.system))))
    if "R1" in table.columns and table["R1"].notna().any():
        found.append(("R1", "", 1.0))
    return found


def _words(column: str) -> str:
    """Return yaw, pitch and roll for the columns of angles."""
    return next((angle for k, angle in enumerate(ANGLES, 1) if column == f"angles[{k}]"), column)


def _shown(value: Any, factor: float) -> Any:
    return factor * float(value) if isinstance(value, int | float | np.number) else str(value).replace("_", " ")


def _phases(campaign: CampaignFolder, complete: pandas.DataFrame, measure: Measure) -> dict[int, str]:
    """Return the phase of the measure in each run in words, by index."""
    found = phases(campaign, complete, measure)
    return {int(index): str(phase).replace("_", " ") for index, phase in zip(complete["index"], found, strict=True)}


def _scatter(complete: pandas.DataFrame, measure: Measure, inputs: list[tuple[str, str, float]]) -> Scatter | None:
    """Return the measure over each input that is a number, the one with the strongest rank correlation first."""
    ordered = complete.sort_values(measure.name, ascending=measure.rises is False, kind="stable")
    if len(ordered) > MOST_POINTS:
        tenth = len(ordered) // 10
        step = -(-(len(ordered) - tenth) // max(MOST_POINTS - tenth, MOST_POINTS // 2))
        ordered = ordered.iloc[[*range(min(tenth, MOST_POINTS // 2)), *range(tenth, len(ordered), step)]]
    values, runs = ordered[measure.name].to_numpy(float), ordered["index"].to_numpy(float).tolist()
    parts = []
    for column, unit, factor in inputs:
        given = ordered[column]
        if given.dtype.kind not in "fiu" or given.nunique() < 2:
            continue
        label = f"{_words(column)}{f', {unit}' if unit else ''}"
        # that of the ranks; constant values have none
        ranks = given.rank().to_numpy(), ordered[measure.name].rank().to_numpy()
        correlation = abs(np.corrcoef(*ranks)[0, 1]) if ordered[measure.name].nunique() > 1 else 0.0
        points = Points(label, (factor * given.to_numpy(float)).tolist(), values.tolist(), "circle", runs)
        parts.append((correlation, points))
    if not parts:
        return None
    ranked = [points for _, points in sorted(parts, key=lambda part: -part[0])]
    return Scatter(ranked, ranked[0].name, f"{measure.name}, {measure.unit}")
