"""Answers that take runs of their own: domains, rare events, worst cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockfmu.campaign.answers import domain, rare, worst
from dockfmu.campaign.answers.answer import Answer
from dockfmu.campaign.answers.form import first_order
from dockfmu.campaign.description import short_name
from dockfmu.campaign.evaluation import FINE, Evaluations
from dockfmu.campaign.execution import Execution
from dockfmu.campaign.folder import CampaignFolder
from dockfmu.campaign.vary import ELEVEN, limit_of, number_in, unit_text
from dockfmu.declare.tables import DeclarationError, Table
from dockfmu.options import OptionError

SAMPLES_AGAIN = 10
"""Samples of a rare event that are made again at a tenth of the step."""


def find_domain(campaign: CampaignFolder, cluster: Execution, name: str, row: Table) -> Answer:
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
        name, "domain", f"Where {measure.name} is below 0, over {' and '.join(map(short_name, parameters))}",
        (f"share of the rectangle within: {found.area:.4f}, between {found.low:.4f} and {found.high:.4f}",
         f"{found.runs} runs; a full grid of the same cells takes {full}"),
        (), (),
        {"x": (low[0] + found.points[:, 0] * scale[0]).tolist(), "y": (low[1] + found.points[:, 1] * scale[1]).tolist(),
         "z": found.margins.tolist(), "lines": [(low + piece * scale).tolist() for piece in found.boundary],
         "labels": [f"{short_name(each)}, {unit_text(each, campaign.system)}" for each in parameters]},
    )  # fmt: skip


def find_rare(campaign: CampaignFolder, cluster: Execution, name: str, row: Table) -> Answer:
    """Return the probability that a measure is beyond a bound."""
    measure = campaign.study.measure(row.text("measure"))
    above, below = row.number("above", None), row.number("below", None)
    if (above is None) == (below is None):
        raise DeclarationError(f"{row.where}: one of 'above' and 'below' is needed")
    draws = campaign.study.draws
    if draws.accept is not None or draws.sampling == "grid":
        raise OptionError([f"{row.where}: subset simulation goes with laws, not with rejected draws or grids"])
    with Evaluations(campaign, cluster, name) as runs:

        def performance(points: np.ndarray, step_factor: float = 1.0) -> np.ndarray:
            values = runs.rows([draws.from_normal(z) for z in points], step_factor)[measure.name].to_numpy(float)
            found = above - values if above is not None else values - below
            # a run without the measure is no event
            return np.asarray(np.where(np.isfinite(found), found, np.inf))

        found = rare.rare_event(
            performance, draws.dimension, per_level=row.content.get("runs_per_level", 500), seed=draws.seed
        )
        sentences = []
        samples = nearest_samples(found)
        if len(samples):
            again = performance(samples[:SAMPLES_AGAIN], FINE)
            sentences.append(
                f"of the {len(again)} different samples of the event nearest to the mean, {int((again <= 0.0).sum())} "
                "are events at a tenth of the step"
            )
        if row.flag("form", False):
            sentences.append(_first_order(performance, samples))
    bound = f"above {above:g}" if above is not None else f"below {below:g}"
    each = tuple((k + 1, one.probability, one.variation, one.runs, len(one.levels)) for k, one in enumerate(found.each))
    return Answer(
        name, "rare", f"Probability that {measure.name} is {bound} {measure.unit}, by subset simulation",
        (f"probability {found.estimate}, {found.estimate.of} runs",
         "two independent simulations; each one's own variation is optimistic for very small probabilities",
         *sentences),
        ("simulation", "probability", "own coefficient of variation", "runs", "levels"), each,
    )  # fmt: skip


def nearest_samples(found: rare.RareEvent) -> np.ndarray:
    """Return the different samples of an event, shape (n, dimension), the nearest to the mean first.

    Chains repeat a sample where they reject a move; it is returned once.
    """
    samples = np.unique(np.concatenate([one.points for one in found.each]), axis=0)
    return np.asarray(samples[np.argsort(np.linalg.norm(samples, axis=1), kind="stable")])


def _first_order(performance: rare.Performance, samples: np.ndarray) -> str:
    """Return a sentence with the first-order estimate, from the sample of the event nearest to the mean."""
    found = first_order(performance, samples[0]) if len(samples) else None
    if found is None:
        return "FORM finds no nearest point of the event: its boundary is not smooth enough, or the event was not met"
    return (
        f"FORM: {found.probability:.4g} by a plane at a distance of {found.beta:.3f} from the mean, {found.runs} runs; "
        "curved and several regions make it wrong, so the simulations above count"
    )


def find_worst(campaign: CampaignFolder, cluster: Execution, name: str, row: Table) -> Answer:
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
        again = runs.rows([best], FINE).iloc[0]
    if failing is None:
        value = -sign * found.value
        question = f"Largest {measure.name} within {scale} of {at_most:g}"
        sentence = (
            f"{value:.6g} {measure.unit} after {found.runs} runs; the starts found {_listed(found.starts, -sign)}"
        )
    else:
        question = f"Smallest {scale} at which {measure.name} is above {failing:g} {measure.unit}"
        sentence = (
            f"{scale} = {found.value:.4g} after {found.runs} runs"
            if found.value <= at_most
            else f"none up to {at_most:g} was found in {found.runs} runs"
        )
    return Answer(
        name, "worst", question,
        (sentence, f"again with a tenth of the step: {measure.name} = {again[measure.name]:.6g} {measure.unit}, "
         f"outcome {again['outcome']}", "a search proves no bound; starts that agree are a hint"),
        ("variable", "value", "unit"),
        tuple((short_name(key), value, unit_text(key, campaign.system) if key in names else "")
              for key, value in best.items()),
    )  # fmt: skip


def _listed(values: tuple[float, ...], sign: float) -> str:
    return ", ".join(f"{sign * value:.6g}" for value in values)
