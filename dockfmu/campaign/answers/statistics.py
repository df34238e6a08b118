"""Answers from the rows of a campaign: outcomes, loads, sensitivities, and comparison with another campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.campaign.answers import comparison, estimates, sensitivity
from dockfmu.campaign.answers.answer import Answer, Question, figure_text
from dockfmu.campaign.answers.censoring import UNFINISHED, finished, only_rises
from dockfmu.campaign.cluster.execution import Execution
from dockfmu.campaign.description import Measure, short_name
from dockfmu.campaign.storage.dataset import read_runs
from dockfmu.campaign.storage.folder import RUNS, CampaignFolder
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.errors import OptionError
from dockfmu.master.observers.loads import UNITS as LOADS

if TYPE_CHECKING:
    import pandas


_SAMPLES = {
    "grid": "the runs form a grid and are not draws: these are shares of the grid, not probabilities",
    **dict.fromkeys(
        ("sobol", "latin_hypercube"),
        "the intervals are those of independent draws; for this sampling they are too wide",
    ),
}
"""Caveats on the intervals, by sampling."""


def counted(outcomes: pandas.Series) -> str:
    """Return how often each word of a column occurs, the most frequent first."""
    return ", ".join(f"{count} {str(word).replace('_', ' ')}" for word, count in outcomes.value_counts().items())


def outcomes(campaign: CampaignFolder, table: pandas.DataFrame) -> Answer:
    """Return the probability of each outcome."""
    rows = []
    for outcome, count in table["outcome"].value_counts().items():
        estimate = estimates.probability((table["outcome"] == outcome).to_numpy())
        rows.append((str(outcome), int(count), estimate.value, estimate.low, estimate.high))
    bad = table[table["status"].isin(("failed", "crashed"))]
    sentences = [_SAMPLES[campaign.study.draws.sampling]] if campaign.study.draws.sampling in _SAMPLES else []
    sentences += [f"run {row['index']}: {row['reason']}" for _, row in bad.head(10).iterrows()]
    if len(bad) > 10:
        sentences.append(f"and {len(bad) - 10} more: column `reason` of {campaign.folder}/runs.parquet")
    return Answer(
        "outcomes",
        "outcomes",
        f"Outcomes of {len(table)} runs, with 95 % intervals of Clopper and Pearson",
        tuple(sentences),
        ("outcome", "runs", "probability", "95 % from", "to"),
        tuple(rows),
        {
            "x": [row[0] for row in rows],
            "y": [row[2] for row in rows],
            "low": [row[3] for row in rows],
            "high": [row[4] for row in rows],
        },
    )


def verdicts(campaign: CampaignFolder, table: pandas.DataFrame) -> list[Answer]:
    """Return the probabilities that loads exceed their limits; nothing if the system declares none."""
    if "loads" not in table.columns:
        return []
    whole = table[~table["outcome"].isin(UNFINISHED)].dropna(subset=["loads"])
    exceeded = whole["loads_exceeded"].str.split(", ")
    rows = []
    chances = [("exceeded", (whole["loads"] == "exceeded").to_numpy())]
    chances += [(name, exceeded.map(lambda names, one=name: one in names).to_numpy()) for name in LOADS]
    for name, mask in chances:
        if len(mask) and (name == "exceeded" or mask.any()):
            estimate = estimates.probability(mask)
            rows.append((name, int(mask.sum()), estimate.value, estimate.low, estimate.high))
    sentences = [_SAMPLES[campaign.study.draws.sampling]] if campaign.study.draws.sampling in _SAMPLES else []
    lost = table[table["outcome"].isin(UNFINISHED)]
    if len(lost):
        beyond = int((lost["loads"] == "exceeded").sum())
        sentences.append(
            f"{len(lost)} runs that did not finish are left out; loads had exceeded limits in {beyond} of them"
        )
    return [Answer(
        "interface_loads", "outcomes", f"Loads of {len(whole)} runs beyond their limits, with 95 % intervals",
        tuple(sentences), ("load", "runs", "probability", "95 % from", "to"), tuple(rows),
        {"x": [row[0] for row in rows], "y": [row[2] for row in rows], "low": [row[3] for row in rows],
         "high": [row[4] for row in rows]},
    )]  # fmt: skip


def deciding(table: pandas.DataFrame, measure: Measure, share: float) -> list[int]:
    """Return the indices of the runs with the largest values of a measure, or the smallest of a minimum, extreme first.

    A `share` of the `finished` runs is taken, at least one run; none for a value at the end, which decides nothing.
    """
    complete = finished(table, measure)
    if measure.kind == "final" or not share or not len(complete):
        return []
    ordered = complete.sort_values(measure.name, ascending=measure.kind == "min", kind="stable")
    return [int(index) for index in ordered["index"].head(max(1, round(share * len(complete))))]


def loads(campaign: CampaignFolder, table: pandas.DataFrame, measure: Measure, fine: pandas.DataFrame) -> Answer:
    """Return quantiles, exceedance and phases of a measure over the `finished` runs.

    `fine` holds the rows of the runs that decide its extremes, repeated at a tenth of the step, in the order of
    `deciding`.
    """
    complete = finished(table, measure)
    values, times = (complete[name].to_numpy(float) for name in (measure.name, f"t_{measure.name}"))
    signal = measure.signals[0] if len(measure.signals) == 1 else measure.signals[0].rpartition("[")[0]
    title = f"{measure.name}: {measure.kind} of {signal}, {measure.unit}"
    if len(values) < 2:
        return Answer(measure.name, "loads", title, ("fewer than two runs have this measure",))
    rows: list[tuple[Any, ...]] = []
    for share in (0.01, 0.05, 0.5, 0.95, 0.99):
        estimate = estimates.quantile(values, share)
        rows.append((f"{100 * share:g} % quantile", estimate.value, estimate.low, estimate.high))
    smallest = measure.kind == "min"
    rows.append(
        ("smallest", float(values.min()), None, None) if smallest else ("largest", float(values.max()), None, None)
    )
    sentences = [_basis(table, complete, measure)]
    if measure.kind not in ("min", "final") and len(values) >= 200:
        sentences.append(_extreme(values, measure.unit))
    repeated = np.array([])
    if len(fine):
        repeated = fine[measure.name].where(~fine["outcome"].isin(UNFINISHED)).to_numpy(float)
        sentences.append(_refinement(table, measure, fine, repeated))
        if np.isfinite(repeated).any():
            word = "smallest" if smallest else "largest"
            extreme_repeated = float(np.nanmin(repeated) if smallest else np.nanmax(repeated))
            rows.append((f"{word} at a tenth of the step", extreme_repeated, None, None))
    columns = {name[2:]: complete[name].to_numpy(float) for name in table.columns if name.startswith("t_")}
    events = {name: columns[name] for name in campaign.system.plan.events if name in columns}
    phase = estimates.phases(times, events)
    names, counts = np.unique(phase.astype(str), return_counts=True)
    shares = sorted(zip(counts.tolist(), names.tolist(), strict=True), reverse=True)
    parts = (f"{name.replace('_', ' ')} {count / len(phase):.1%}" for count, name in shares)
    sentences.append(f"phases: {', '.join(parts)}")
    return Answer(
        measure.name,
        "loads",
        title,
        tuple(sentences),
        ("", f"value, {measure.unit}", "95 % from", "to"),
        tuple(rows),
        _curve(measure, values, repeated),
    )


def _curve(measure: Measure, values: np.ndarray, repeated: np.ndarray) -> dict[str, Any]:
    """Return the curve of the probability of at least a value, or for a minimum of at most a value.

    `repeated` holds values of repeated runs, NaN for runs that did not finish; each is drawn at its rank among them.
    """
    sign, side = (-1.0, "most") if measure.kind == "min" else (1.0, "least")
    curve = estimates.exceedance(sign * values)
    found: dict[str, Any] = {
        "x": (sign * curve.levels).tolist(), "y": curve.probability.tolist(), "low": curve.low.tolist(),
        "high": curve.high.tolist(), "label": f"{measure.name}, {measure.unit}",
        "side": f"probability of at {side} this value",
    }  # fmt: skip
    new = np.sort(sign * repeated[np.isfinite(repeated)])
    if len(new):
        share = np.arange(len(new), 0, -1) / len(values)
        found |= {"x_fine": (sign * new).tolist(), "y_fine": share.tolist()}
    return found


def _basis(table: pandas.DataFrame, complete: pandas.DataFrame, measure: Measure) -> str:
    """Return a sentence on the runs that the statistics cover, and on what is known of the others."""
    sentence = f"over {len(complete)} of {len(table)} runs"
    if beyond := int((complete["outcome"] == "limit_exceeded").sum()):
        sentence += f", including {beyond} that exceeded a limit of the model, with their values until then"
    others = table.loc[table.index.difference(complete.index)]
    if len(others):
        sentence += f"; left out: {counted(others['outcome'])}"
    reached = others[measure.name].dropna().to_numpy(float)
    rises = only_rises(measure)
    if len(reached) and rises is not None:
        end, extreme = ("largest", reached.max()) if rises else ("smallest", reached.min())
        sentence += f". The {end} value that these had reached was {figure_text(extreme)} {measure.unit}"
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
    end = "smallest" if measure.kind == "min" else "largest"
    sentence = f"the {len(fine)} {end} values, repeated at a tenth of the step: "
    sentence += f"changes from {changes.min():+.2%} to {changes.max():+.2%}; " if len(changes) else ""
    if unfinished := int(fine["outcome"].isin(UNFINISHED).sum()):
        sentence += f"{unfinished} did not finish and are left out; "
    return f"{sentence}{same} of {len(fine)} outcomes are the same (answers/refined.parquet)"


def depends(campaign: CampaignFolder, table: pandas.DataFrame, measure: Measure) -> Answer:
    """Return the sensitivities of a measure over the `finished` runs."""
    choices = {choice.name for choice in campaign.study.choices}
    complete = finished(table, measure)
    entries = sensitivity.sensitivities(
        {name: complete[name].to_numpy(str if name in choices else float) for name in map(short_name, campaign.names)},
        complete[measure.name].to_numpy(float),
    )
    rows = tuple(
        (entry.name, _known(entry.rank_correlation), entry.p_value, _known(entry.first_order)) for entry in entries
    )
    return Answer(
        f"sensitivity of {measure.name}",
        "sensitivity",
        f"Sensitivities of {measure.name}",
        () if entries else ("no sensitivities: there are fewer than ten runs, or nothing varies",),
        ("variable", "rank correlation", "p-value", "first-order share"),
        rows,
        {
            "x": [entry.name for entry in entries],
            "y": [entry.rank_correlation for entry in entries],
            "z": [entry.first_order for entry in entries],
        }
        if entries
        else {},
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def read_comparison(campaign: CampaignFolder, name: str, row: Table) -> Question:
    """Read the question for the comparison with another campaign on equal draws."""
    other = campaign.study.path(row.text("with"))
    if not (other / RUNS).is_dir():
        raise DeclarationError(f"{row.where}: with = {shown(str(other))}: must be the folder of a campaign with runs")
    wanted = row.texts("outcomes", ())

    def answer(cluster: Execution) -> Answer:
        mine, theirs = campaign.runs(), read_runs(other / RUNS)
        return compare(
            mine,
            theirs,
            name,
            [measure.name for measure in campaign.study.measures],
            [short_name(varied) for varied in campaign.names],
            wanted,
        )

    return answer


def compare(
    first: pandas.DataFrame,
    second: pandas.DataFrame,
    name: str,
    measures: list[str],
    varied: list[str],
    wanted: tuple[str, ...] = (),
) -> Answer:
    """Compare the rows of two campaigns on equal draws, by their index. Raises OptionError for draws that differ."""
    both = first.merge(second, on="index", suffixes=("", " of the other"))
    if not len(both):
        raise OptionError([f"{name}: the campaigns have no run of the same number"])
    for column in varied:
        there = f"{column} of the other"
        if there not in both or not both[column].equals(both[there]):
            raise OptionError([f"{name}: the draws of {column} differ; both campaigns need equal laws and seeds"])
    rows: list[tuple[Any, ...]] = []
    for outcome in wanted or tuple(sorted(set(both["outcome"]) | set(both["outcome of the other"]))):
        a, b = ((both[column] == outcome).to_numpy() for column in ("outcome", "outcome of the other"))
        shares = comparison.compare_outcomes(a, b)
        rows.append(
            (
                f"probability of {outcome}",
                shares.first,
                shares.second,
                shares.difference.low,
                shares.difference.high,
                shares.pairs,
            )
        )
    known = both[~(both["outcome"].isin(UNFINISHED) | both["outcome of the other"].isin(UNFINISHED))]
    for measure in measures:
        if f"{measure} of the other" in known:
            x, y = (known[column].to_numpy(float) for column in (measure, f"{measure} of the other"))
            if (np.isfinite(x) & np.isfinite(y)).any():
                means = comparison.compare_measures(x, y)
                rows.append(
                    (
                        f"mean of {measure}",
                        means.first,
                        means.second,
                        means.mean_difference.low,
                        means.mean_difference.high,
                        means.pairs,
                    )
                )
    return Answer(
        name,
        "compare",
        f"Two campaigns on {len(both)} equal draws",
        ("differences are second minus first, with 95 % intervals; measures cover pairs in which both runs finished",),
        ("", "first", "second", "difference from", "to", "pairs"),
        tuple(rows),
    )
