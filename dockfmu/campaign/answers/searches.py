"""Answers that take runs of their own: domains, rare events, worst cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockfmu.campaign.answers import domain, rare, worst
from dockfmu.campaign.answers.answer import Answer
from dockfmu.campaign.answers.form import first_order
from dockfmu.campaign.answers.statistics import counted
from dockfmu.campaign.description import severity_of, short_name
from dockfmu.campaign.evaluation import FINE, Evaluations
from dockfmu.campaign.execution import Execution
from dockfmu.campaign.folder import CampaignFolder
from dockfmu.campaign.runner import resolve
from dockfmu.campaign.unfinished import UNFINISHED, reached
from dockfmu.campaign.vary import CLOSING_SPEED, ELEVEN, limit_of, number_in, unit_text, varied_names
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
    fixed = _fixed(campaign, row)

    def values_of(point: np.ndarray) -> dict[str, Any]:
        return fixed | dict(zip(parameters, (low + point * (high - low)).tolist(), strict=True))

    _check(campaign, values_of(np.zeros(2)))
    with Evaluations(campaign, cluster, name) as runs:

        def margin(points: np.ndarray) -> np.ndarray:
            return runs.distance([values_of(point) for point in points], measure, 0.0, above=False)

        found = domain.refine_domain(margin, first=row.whole("cells", 8), divisions=row.whole("divisions", 3))
    full = (found.resolution + 1) ** 2
    scale = high - low
    return Answer(
        name, "domain", f"Where {measure.name} is below 0, over {' and '.join(map(short_name, parameters))}",
        (f"share of the rectangle within: {found.area:.4f}, between {found.low:.4f} and {found.high:.4f}",
         f"{found.runs} runs; a full grid of the same cells takes {full}",
         *_unfinished(runs, "outside the domain")),
        (), (),
        {"x": (low[0] + found.points[:, 0] * scale[0]).tolist(), "y": (low[1] + found.points[:, 1] * scale[1]).tolist(),
         "z": found.margins.tolist(), "open": runs.left_open,
         "lines": [(low + piece * scale).tolist() for piece in found.boundary],
         "labels": [f"{short_name(each)}, {unit_text(each, campaign.system)}" for each in parameters]},
    )  # fmt: skip


def find_rare(campaign: CampaignFolder, cluster: Execution, name: str, row: Table) -> Answer:
    """Return the probability that a measure is beyond a bound."""
    measure = campaign.study.measure(row.text("measure"))
    above, below = row.number("above", None), row.number("below", None)
    if (above is None) == (below is None):
        raise DeclarationError(f"{row.where}: one of 'above' and 'below' is needed")
    bound = float(below if above is None else above)
    draws = campaign.study.draws
    if draws.accept is not None or draws.sampling == "grid":
        raise OptionError([f"{row.where}: subset simulation goes with laws, not with rejected draws or grids"])
    with Evaluations(campaign, cluster, name) as runs:

        def performance(points: np.ndarray, step_factor: float = 1.0) -> np.ndarray:
            values = [draws.from_normal(z) for z in points]
            return runs.distance(values, measure, bound, above=above is not None, step_factor=step_factor)

        found = rare.rare_event(
            performance, draws.dimension, per_level=row.whole("runs_per_level", 500), seed=draws.seed
        )
        sentences = []
        samples = nearest_samples(found)
        if len(samples):
            again = performance(samples[:SAMPLES_AGAIN], FINE)
            sentences.append(
                f"of the {len(again)} different samples of the event nearest to the mean, {int((again < 0.0).sum())} "
                "are events at a tenth of the step"
            )
        if row.flag("form", False):
            sentences.append(_first_order(performance, samples))
        sentences += [_not_reached(k, one) for k, one in enumerate(found.each, 1) if not one.reached]
    side = "below" if above is None else "above"
    each = tuple((k + 1, one.probability, one.variation, one.runs, len(one.levels)) for k, one in enumerate(found.each))
    return Answer(
        name, "rare", f"Probability that {measure.name} is {side} {bound:g} {measure.unit}, by subset simulation",
        (f"probability {found.estimate}, {found.estimate.of} runs",
         "two independent simulations; each one's own variation is optimistic for very small probabilities",
         *sentences, *_unfinished(runs, "no events, so that the probability may be larger")),
        ("simulation", "probability", "own coefficient of variation", "runs", "levels"), each,
    )  # fmt: skip


def nearest_samples(found: rare.RareEvent) -> np.ndarray:
    """Return the different samples of an event, shape (n, dimension), the nearest to the mean first.

    Chains repeat a sample where they reject a move; it is returned once.
    """
    samples = np.unique(np.concatenate([one.points for one in found.each]), axis=0)
    return np.asarray(samples[np.argsort(np.linalg.norm(samples, axis=1), kind="stable")])


def _not_reached(k: int, one: rare.SubsetRun) -> str:
    """Return a sentence on why the levels of simulation `k` came to no end, and what it has of the event."""
    if len(one.levels) == rare.LEVELS:
        why = f"{rare.LEVELS} were not enough, and they still fell"
    else:
        why = "they stopped falling, where most samples have the same value"
    met = len(one.points) or "none"
    return f"the levels of simulation {k} did not reach the event: {why}; {met} of the last samples are events"


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
    names = varied_names(row, campaign.system) if "names" in row.content else ELEVEN
    limits = np.array([limit_of(conditions, each, row.where) for each in names])
    fixed = _fixed(campaign, row)
    # the conditions that are not searched count too
    others = severity_of(conditions, fixed | dict.fromkeys(names, 0.0))
    rest = others[0 if scale == "R1" else 1]
    if rest >= at_most:
        raise OptionError([f"{row.where}: the conditions that are not searched have {scale} = {rest:.4g} already"])
    sign = -1.0 if measure.kind == "min" else 1.0
    speed = np.array([each == CLOSING_SPEED for each in names])

    def values_of(point: np.ndarray) -> dict[str, Any]:
        shares = np.where(speed, np.abs(point), point)
        return fixed | dict(zip(names, (shares * limits).tolist(), strict=True))

    def severity(points: np.ndarray) -> np.ndarray:
        own = worst.severity(points, scale)
        return np.hypot(own, rest) if scale == "R1" else own + rest

    def project(points: np.ndarray) -> np.ndarray:
        left = float(np.sqrt(at_most**2 - rest**2)) if scale == "R1" else at_most - rest
        return worst.within_severity(points, scale, left)

    _check(campaign, values_of(np.zeros(len(names))))
    with Evaluations(campaign, cluster, name) as runs:

        def objective(points: np.ndarray) -> np.ndarray:
            values = [values_of(point) for point in points]
            if failing is None:
                return -sign * reached(runs.rows(values), measure)
            lack = runs.distance(values, measure, failing, above=True)
            # what does not fail is worse than any failure, the more the farther it is from failing
            return np.where(lack < 0.0, severity(points), at_most + 1.0 + lack)

        found = worst.minimise(
            objective, len(names), budget=row.whole("runs", 500), restarts=row.whole("restarts", 3),
            seed=campaign.study.draws.seed, project=project,
        )  # fmt: skip
        if not np.isfinite(found.value):
            return Answer(name, "worst", f"Worst case of {measure.name}", (
                f"no run of {found.runs} has this measure ({counted(runs.outcomes)})",))  # fmt: skip
        best = values_of(found.point)
        again = runs.rows([best], FINE).iloc[0]
        ended = runs.outcome(best)
    if failing is None:
        question = f"Largest {measure.name} within {scale} of {at_most:g}"
        sentence = (
            f"{-sign * found.value:.6g} {measure.unit} after {found.runs} runs; the starts found "
            f"{_listed(found.starts, -sign)}"
        )
    else:
        question = f"Smallest {scale} at which {measure.name} is above {failing:g} {measure.unit}"
        sentence = (
            f"{scale} = {found.value:.4g} after {found.runs} runs"
            if found.value <= at_most
            else f"none up to {at_most:g} was found in {found.runs} runs"
        )
    if ended in UNFINISHED:
        sentence += f"; that run did not come to an end ({ended.replace('_', ' ')}), and its {measure.name} is a bound"
    return Answer(
        name, "worst", question,
        (sentence, f"again with a tenth of the step: {measure.name} = {again[measure.name]:.6g} {measure.unit}, "
         f"outcome {again['outcome']}", *_unfinished(runs, "not failing" if failing is not None else ""),
         "a search proves no bound; starts that agree are a hint"),
        ("variable", "value", "unit"),
        tuple((short_name(key), value, unit_text(key, campaign.system) if key in names else "")
              for key, value in best.items()),
    )  # fmt: skip


def _fixed(campaign: CampaignFolder, row: Table) -> dict[str, Any]:
    """Return the `values` that all runs of a question have, those of variables that vary in SI.

    Raises DeclarationError where one of the choices of the campaign has no value, OptionError for one that it has not.
    """
    given, choices = dict(row.table("values").content), {choice.name: choice for choice in campaign.study.choices}
    for name, choice in choices.items():
        if name not in given:
            labels = ", ".join(option.label for option in choice.options)
            raise DeclarationError(f"{row.where}: `values` must say which {name} the runs have, one of {labels}")
        choice.option(given[name])
    numbers = [name for name in given if name in campaign.names and name not in choices]
    return given | {name: number_in(given[name], name, campaign.system, f"{row.where}: values") for name in numbers}


def _check(campaign: CampaignFolder, values: dict[str, Any]) -> None:
    """Raise what a run of these values would fail of at its start: for names and values that cannot be."""
    system = campaign.system
    system._starts.of(system.structure, resolve(campaign.study, values)[1])


def _unfinished(runs: Evaluations, counted_as: str) -> tuple[str, ...]:
    """Return a sentence on the runs that did not come to an end, and on what those count as that leave it open."""
    ended = runs.outcomes
    bad = ended[ended.isin(UNFINISHED)]
    if not len(bad):
        return ()
    sentence = f"{len(bad)} of the runs did not come to an end ({counted(bad)}); what they had reached counts"
    if left_open := sum(runs.left_open):
        sentence += f", and {left_open} that leave it open count as {counted_as}"
    return (sentence,)


def _listed(values: tuple[float, ...], sign: float) -> str:
    return ", ".join(f"{sign * value:.6g}" for value in values)
