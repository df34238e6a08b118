"""The questions of a campaign's file, put to its runs: each gives an answer for people and for the report.

Every campaign answers the first three by itself: the probability of each outcome, the statistics of each measure, and
its sensitivities. A table `[answers.NAME]` with `kind` asks for more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from base.files import write_file
from dockfmu.campaign.answers import comparison, domain, estimates, rare, sensitivity, worst
from dockfmu.campaign.dataset import read_runs
from dockfmu.campaign.description import Measure, short_name
from dockfmu.campaign.evaluation import Evaluations
from dockfmu.campaign.execution import Execution
from dockfmu.campaign.folder import ANSWERS, CampaignFolder
from dockfmu.campaign.vary import ELEVEN, limit_of, number_in
from dockfmu.declare.tables import DeclarationError, Table
from dockfmu.options import OptionError

if TYPE_CHECKING:
    import pandas

FINE = 0.1
"""The step of runs that decide a number is made again with this part of it."""


@dataclass(frozen=True)
class Answer:
    """An answer: its question, sentences, rows of a table, and what `figure` is drawn of; `kind` says by which form."""

    name: str
    kind: str
    question: str
    sentences: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    table: tuple[tuple[Any, ...], ...] = ()
    figure: Mapping[str, Any] = field(default_factory=dict)


def answer_all(campaign: CampaignFolder, cluster: Execution, progress: Callable[[str], None]) -> list[Answer]:
    """Answer all questions, write them to answers/answers.json, and return them."""
    table = campaign.runs()
    found = [outcomes(campaign, table)]
    found += [loads(campaign, table, measure) for measure in campaign.study.measures]
    found += [depends(campaign, table, measure) for measure in campaign.study.measures]
    for name, content in campaign.study.answers.items():
        progress(f"answering {name}")
        row = Table(content, f"answers, {name}")
        kind = row.text("kind", choices=tuple(_KINDS))
        found.append(_KINDS[kind](campaign, cluster, name, row))
    text = json.dumps([asdict(answer) for answer in found], indent=1, default=_plain)
    write_file(campaign.folder / ANSWERS / "answers.json", text.encode())
    return found


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
        tuple(told), ("outcome", "runs", "probability", "low", "high"), tuple(rows),
        {"x": [row[0] for row in rows], "y": [row[2] for row in rows], "low": [row[3] for row in rows],
         "high": [row[4] for row in rows]},
    )  # fmt: skip


def loads(campaign: CampaignFolder, table: pandas.DataFrame, measure: Measure) -> Answer:
    """Return quantiles, exceedance and phases of a measure; of its negative where the smallest values count."""
    values, times = (table[name].to_numpy(float) for name in (measure.name, f"t_{measure.name}"))
    use = np.isfinite(values)
    values, times = values[use], times[use]
    title = f"{measure.name}, {measure.kind} of {', '.join(measure.signals)}, {measure.unit}"
    if len(values) < 2:
        return Answer(measure.name, "loads", title, ("no run has this measure",))
    rows: list[tuple[Any, ...]] = []
    for share in (0.01, 0.05, 0.5, 0.95, 0.99):
        found = estimates.quantile(values, share)
        rows.append((f"{share:.0%} quantile", found.value, found.low, found.high))
    rows.append(("largest", float(values.max()), None, None))
    told = [f"{use.sum()} of {len(table)} runs have the measure; what failed before its peak is not among them"]
    if measure.kind not in ("min", "final") and len(values) >= 200:
        extreme = estimates.extreme_value(values, 0.1 / len(values))
        told.append(
            f"exceeded once in {10 * len(values)} runs: {extreme.level}, by a generalised Pareto tail of shape "
            f"{extreme.shape:.2f} over {extreme.threshold:.4g} ({extreme.beyond} runs)"
        )
    columns = {name[2:]: table.loc[use, name].to_numpy(float) for name in table.columns if name.startswith("t_")}
    events = {name: columns[name] for name in campaign.system.plan.events if name in columns}
    phase = estimates.phases(times, events)
    names, counts = np.unique(phase.astype(str), return_counts=True)
    shares = sorted(zip(counts.tolist(), names.tolist(), strict=True), reverse=True)
    told.append("phases: " + ", ".join(f"{phase_name} {count / len(phase):.0%}" for count, phase_name in shares))
    curve = estimates.exceedance(values)
    return Answer(
        measure.name, "loads", title, tuple(told), ("", f"value, {measure.unit}", "low", "high"), tuple(rows),
        {"x": curve.levels.tolist(), "y": curve.probability.tolist(), "low": curve.low.tolist(),
         "high": curve.high.tolist(), "label": f"{measure.name}, {measure.unit}"},
    )  # fmt: skip


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
        ("variable", "rank correlation", "p-value", "first-order share of the variance"), rows,
        {"x": [row[0] for row in rows], "y": [row[1] for row in rows], "z": [row[3] for row in rows]},
    )  # fmt: skip


def _domain(campaign: CampaignFolder, cluster: Execution, name: str, row: Table) -> Answer:
    """Return the domain where a measure is negative, over two parameters."""
    parameters = row.texts("parameters", size=2)
    where = row.where
    spans = []
    for parameter, key in zip(parameters, ("first", "second"), strict=True):
        ends = row.items(key)
        if len(ends) != 2:
            raise DeclarationError(f"{where}: {key} must be the two ends of {parameter}")
        spans.append([number_in(end, parameter, campaign.system, f"{where}: {key}") for end in ends])
    low, high = np.array(spans).T
    measure = campaign.study.measure(row.text("measure"))
    fixed = dict(row.table("values").content)
    with Evaluations(campaign, cluster, name) as runs:

        def margin(points: np.ndarray) -> np.ndarray:
            values = [
                fixed | dict(zip(parameters, map(float, low + point * (high - low)), strict=True)) for point in points
            ]
            # a run without the measure has not reached what it measures
            return np.asarray(runs.rows(values)[measure.name].fillna(np.inf).clip(upper=1e3), float)

        found = domain.refine_domain(
            margin, first=row.content.get("cells", 8), divisions=row.content.get("divisions", 3)
        )
    full = (found.resolution + 1) ** 2
    scale = high - low
    return Answer(
        name, "domain", f"Where {measure.name} is below 0, over {parameters[0]} and {parameters[1]}",
        (f"share of the rectangle within: {found.area:.4f}, between {found.low:.4f} and {found.high:.4f}",
         f"{found.runs} runs; a full grid of the same cells takes {full}"),
        (), (),
        {"x": (low[0] + found.points[:, 0] * scale[0]).tolist(), "y": (low[1] + found.points[:, 1] * scale[1]).tolist(),
         "z": found.margins.tolist(), "lines": [(low + piece * scale).tolist() for piece in found.boundary],
         "labels": [short_name(parameter) for parameter in parameters]},
    )  # fmt: skip


def _rare(campaign: CampaignFolder, cluster: Execution, name: str, row: Table) -> Answer:
    """Return the probability that a measure is beyond a bound."""
    measure = campaign.study.measure(row.text("measure"))
    above, below = row.number("above", None), row.number("below", None)
    if (above is None) == (below is None):
        raise DeclarationError(f"{row.where}: one of 'above' and 'below' is needed")
    draws = campaign.study.draws
    if draws.accept is not None or draws.sampling == "grid":
        raise OptionError([f"{row.where}: subset simulation goes with laws, not with rejected draws or grids"])
    with Evaluations(campaign, cluster, name) as runs:

        def performance(points: np.ndarray) -> np.ndarray:
            values = runs.rows([draws.from_normal(z) for z in points])[measure.name].to_numpy(float)
            found = above - values if above is not None else values - below
            # a run without the measure is no event
            return np.asarray(np.where(np.isfinite(found), found, np.inf))

        found = rare.rare_event(
            performance, draws.dimension, per_level=row.content.get("runs_per_level", 500), seed=draws.seed
        )
    bound = f"above {above:g}" if above is not None else f"below {below:g}"
    each = tuple((k + 1, one.probability, one.variation, one.runs, len(one.levels)) for k, one in enumerate(found.each))
    return Answer(
        name, "rare", f"Probability that {measure.name} is {bound} {measure.unit}, by subset simulation",
        (f"probability {found.estimate}, {found.estimate.of} runs",
         "two independent simulations; each one's own variation is optimistic for very small probabilities"),
        ("simulation", "probability", "own coefficient of variation", "runs", "levels"), each,
    )  # fmt: skip


def _worst(campaign: CampaignFolder, cluster: Execution, name: str, row: Table) -> Answer:
    """Return the largest load within a severity, or the smallest severity at which a measure is above a bound."""
    measure = campaign.study.measure(row.text("measure"))
    scale = row.text("severity", "R1", ("R1", "R2"))
    at_most = row.number("at_most", 1.0, positive=True)
    failing = row.number("failing_above", None)
    conditions = campaign.system._starts.conditions
    if conditions is None:
        raise DeclarationError(f"{row.where}: the system has no initial conditions, and so no severity")
    names = row.texts("names", ELEVEN)
    limits = np.array([limit_of(conditions, each, row.where) for each in names])
    sign = -1.0 if measure.kind == "min" else 1.0
    speed = np.array([each.endswith("velocity[1]") and "angular" not in each for each in names])
    fixed = dict(row.table("values").content)

    def values_of(point: np.ndarray) -> dict[str, Any]:
        shares = np.where(speed, np.abs(point), point)
        return fixed | dict(zip(names, (shares * limits).tolist(), strict=True))

    def project(points: np.ndarray) -> np.ndarray:
        return worst.within_severity(points, scale, at_most)

    with Evaluations(campaign, cluster, name) as runs:

        def objective(points: np.ndarray) -> np.ndarray:
            found = runs.rows([values_of(point) for point in points])
            if failing is None:
                return np.asarray(-sign * found[measure.name], float)
            value = found[measure.name].fillna(np.inf).to_numpy(float)
            # what does not fail is worse than any failure, the more the farther it is from failing
            lack = at_most + 1.0 + np.maximum(failing - value, 0.0)
            return np.asarray(np.where(value > failing, found[scale].to_numpy(float), lack))

        found = worst.minimise(
            objective, len(names), budget=row.content.get("runs", 500), restarts=row.content.get("restarts", 3),
            seed=campaign.study.draws.seed, project=project,
        )  # fmt: skip
        best = values_of(found.point)
        again = runs.rows([best], step=FINE * _step(campaign)).iloc[0]
    if failing is None:
        value = -sign * found.value
        question = f"Largest {measure.name} within {scale} of {at_most:g}"
        told = f"{value:.6g} {measure.unit} after {found.runs} runs; the starts found {_listed(found.starts, -sign)}"
    else:
        question = f"Smallest {scale} at which {measure.name} is above {failing:g} {measure.unit}"
        told = (
            f"{scale} = {found.value:.4g} after {found.runs} runs"
            if found.value <= at_most
            else f"none up to {at_most:g} was found in {found.runs} runs"
        )
    return Answer(
        name, "worst", question,
        (told, f"again with a tenth of the step: {measure.name} = {again[measure.name]:.6g} {measure.unit}, "
         f"outcome {again['outcome']}", "a search proves no bound; starts that agree are a hint"),
        ("variable", "value, SI"), tuple((short_name(key), value) for key, value in best.items()),
    )  # fmt: skip


def _refine(campaign: CampaignFolder, cluster: Execution, name: str, row: Table) -> Answer:
    """Return how the largest values of a measure change at a tenth of the step."""
    measure = campaign.study.measure(row.text("measure"))
    share = row.number("share", 0.01, positive=True)
    table = campaign.runs().dropna(subset=[measure.name])
    count = max(1, round(share * len(table)))
    top = table.sort_values(measure.name, ascending=measure.kind == "min", kind="stable").head(count)
    with Evaluations(campaign, cluster, name) as runs:
        again = runs.rows([campaign.values(int(index)) for index in top["index"]], step=FINE * _step(campaign))
    before, after = top[measure.name].to_numpy(float), again[measure.name].to_numpy(float)
    changes = (after - before) / np.abs(before)
    same = int((top["outcome"].to_numpy() == again["outcome"].to_numpy()).sum())
    rows = tuple(zip(map(int, top["index"]), before.tolist(), after.tolist(), changes.tolist(), strict=True))
    finite = changes[np.isfinite(changes)]
    told = f"changes from {finite.min():+.2%} to {finite.max():+.2%}, " if len(finite) else ""
    return Answer(
        name, "refine", f"The top {share:.1%} of {measure.name} with a tenth of the step ({count} runs)",
        (f"{told}{same} of {count} outcomes are the same",),
        ("run", f"step {_step(campaign):g} s", f"step {FINE * _step(campaign):g} s", "change"), rows,
    )  # fmt: skip


def _compare(campaign: CampaignFolder, cluster: Execution, name: str, row: Table) -> Answer:
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


_KINDS: dict[str, Callable[[CampaignFolder, Execution, str, Table], Answer]] = {
    "domain": _domain, "rare": _rare, "worst": _worst, "refine": _refine, "compare": _compare,
}  # fmt: skip


def _step(campaign: CampaignFolder) -> float:
    return campaign.study.options.step or campaign.system.plan.step


def _listed(values: tuple[float, ...], sign: float) -> str:
    return ", ".join(f"{sign * value:.6g}" for value in values)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else str(value)
