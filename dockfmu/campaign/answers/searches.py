"""Answers that need additional runs: domains, rare events, worst cases.

A question is read first, which finds mistakes before any run, and answered when the runs of its campaign are done.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.campaign.answers import domain, first_order, rare, worst
from dockfmu.campaign.answers.answer import Answer, Question
from dockfmu.campaign.answers.censoring import UNFINISHED, reached
from dockfmu.campaign.answers.evaluation import FINE, Evaluations
from dockfmu.campaign.answers.statistics import counted
from dockfmu.campaign.cluster.execution import Execution
from dockfmu.campaign.description import severity_of, short_name
from dockfmu.campaign.runner import load, resolve
from dockfmu.campaign.sampling.vary import (
    CLOSING_SPEED,
    canonical,
    drawn_names,
    limit_of,
    number_in,
    unit_text,
    varied_names,
    vector_pairs,
)
from dockfmu.campaign.storage.folder import CampaignFolder
from dockfmu.declare.conditions.limits import speed_at
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.errors import OptionError
from dockfmu.system import System

MOST_RUNS = 1_000_000
"""Largest number of runs of a level or a search, whose values are kept in memory."""
SAMPLES_AGAIN = 10
"""Number of samples of a rare event that are repeated at a tenth of the step."""


def read_domain(campaign: CampaignFolder, name: str, row: Table) -> Question:
    """Read the question for the domain where a measure is negative, over two parameters."""
    fixed, system = _fixed(campaign, row)
    parameters = row.texts("parameters", size=2)
    where = row.where
    spans = []
    for parameter, key in zip(parameters, ("first", "second"), strict=True):
        ends = row.items(key)
        if len(ends) != 2:
            raise DeclarationError(f"{where}: {key} must be the two ends of {parameter}")
        spans.append([number_in(end, parameter, system, f"{where}: {key}") for end in ends])
    low, high = np.array(spans).T
    measure = campaign.study.measure(row.text("measure"))
    cells, divisions = row.whole("cells", 8), row.whole("divisions", 3, least=0)
    domain.check_cells(cells, divisions)
    _check_free(campaign, fixed, parameters, where)

    def values_of(point: np.ndarray) -> dict[str, Any]:
        return fixed | dict(zip(parameters, (low + point * (high - low)).tolist(), strict=True))

    _check_values(campaign, system, [values_of(np.array(at)) for at in ((0, 0), (0, 1), (1, 0), (1, 1), (0.5, 0.5))])

    def answer(cluster: Execution) -> Answer:
        with Evaluations(campaign, cluster, name) as runs:

            def margin(points: np.ndarray) -> np.ndarray:
                return runs.distance([values_of(point) for point in points], measure, 0.0, above=False)

            found = domain.refine_domain(margin, first=cells, divisions=divisions)
        full = (found.resolution + 1) ** 2
        x, y = (low + found.points * (high - low)).T
        return Answer(
            name,
            "domain",
            f"Where {measure.name} is below 0, over {' and '.join(map(short_name, parameters))}",
            (
                f"share of the rectangle inside: {found.area:.4f}, between {found.low:.4f} and {found.high:.4f}",
                f"{found.runs} runs; a full grid of the same cells would need {full}",
                *_unfinished(runs, "outside the domain"),
            ),
            (),
            (),
            {
                "x": x.tolist(),
                "y": y.tolist(),
                "z": found.margins.tolist(),
                "open": runs.left_open,
                "lines": [(low + piece * (high - low)).tolist() for piece in found.boundary],
                "labels": [f"{short_name(varied)}, {unit_text(varied, system)}" for varied in parameters],
            },
        )

    return answer


def read_rare(campaign: CampaignFolder, name: str, row: Table) -> Question:
    """Read the question for the probability that a measure is beyond a bound."""
    measure = campaign.study.measure(row.text("measure"))
    above, below = row.number("above", None), row.number("below", None)
    if (above is None) == (below is None):
        raise DeclarationError(f"{row.where}: one of 'above' and 'below' is needed")
    bound = float(below if above is None else above)
    draws = campaign.study.draws
    if draws.accept is not None or draws.sampling == "grid":
        raise OptionError([f"{row.where}: subset simulation works with laws, not with rejected draws or grids"])
    per_level, with_form = row.whole("runs_per_level", 500, most=MOST_RUNS), row.flag("form", False)
    rare.chains_of(per_level)
    if with_form:
        first_order.openturns()

    def answer(cluster: Execution) -> Answer:
        with Evaluations(campaign, cluster, name) as runs:

            def performance(points: np.ndarray, step_factor: float = 1.0) -> np.ndarray:
                values = [draws.from_normal(z) for z in points]
                return runs.distance(values, measure, bound, above=above is not None, step_factor=step_factor)

            found = rare.rare_event(performance, draws.dimension, per_level=per_level, seed=draws.seed)
            # of the simulations alone: the runs below are not part of the probability
            unfinished = _unfinished(runs, "no events, so that the probability may be larger")
            sentences = []
            samples = nearest_samples(found)
            if len(samples):
                before = len(runs.left_open)
                repeated = performance(samples[:SAMPLES_AGAIN], FINE)
                left_open = sum(runs.left_open[before:])
                sentences.append(
                    f"of the {len(repeated)} distinct samples of the event nearest to the mean, "
                    f"{int((repeated < 0.0).sum())} are events at a tenth of the step"
                    + (f", and {left_open} are undecided" if left_open else "")
                )
            if with_form:
                sentences.append(_first_order(performance, samples))
        sentences += [_not_reached(k, one) for k, one in enumerate(found.each, 1) if not one.reached]
        side = "below" if above is None else "above"
        each = tuple(
            (k, one.probability, one.variation, one.runs, len(one.levels)) for k, one in enumerate(found.each, 1)
        )
        return Answer(
            name,
            "rare",
            f"Probability that {measure.name} is {side} {bound:g} {measure.unit}, by subset simulation",
            (
                f"probability {found.estimate}, {found.estimate.of} runs",
                "two independent simulations; the variation that each estimates itself is optimistic for very small "
                "probabilities",
                *sentences,
                *unfinished,
            ),
            ("simulation", "probability", "own coefficient of variation", "runs", "levels"),
            each,
        )

    return answer


def nearest_samples(found: rare.RareEvent) -> np.ndarray:
    """Return the distinct samples of an event, shape (n, dimension), the nearest to the mean first.

    Chains repeat a sample where they reject a move; it is returned once.
    """
    samples = np.unique(np.concatenate([one.points for one in found.each]), axis=0)
    return np.asarray(samples[np.argsort(np.linalg.norm(samples, axis=1), kind="stable")])


def _not_reached(k: int, one: rare.SubsetRun) -> str:
    """Return a sentence on why simulation `k` did not reach the event, and how many of its samples are events."""
    if len(one.levels) == rare.LEVELS:
        why = f"they were still falling after {rare.LEVELS}"
    else:
        why = "they stopped falling where most samples have the same value"
    met = len(one.points) or "none"
    return f"the levels of simulation {k} did not reach the event: {why}; {met} of the last samples are events"


def _first_order(performance: rare.Performance, samples: np.ndarray) -> str:
    """Return a sentence with the first-order estimate, from the sample of the event nearest to the mean."""
    found = first_order.estimate(performance, samples[0]) if len(samples) else None
    if found is None:
        return (
            "FORM found no point of the event nearest to the mean: its boundary is not smooth, or no sample is an event"
        )
    return (
        f"FORM: {found.probability:.4g}, for a plane boundary at a distance of {found.beta:.3f} from the mean, "
        f"{found.runs} runs; rely on the simulations above, because FORM is wrong for curved boundaries and for "
        "several regions"
    )


def read_worst(campaign: CampaignFolder, name: str, row: Table) -> Question:
    """Read the question for the largest load within a severity, or the least severity with a measure above a bound."""
    measure = campaign.study.measure(row.text("measure"))
    scale = row.text("severity", "R1", ("R1", "R2"))
    at_most = row.number("at_most", 1.0, positive=True)
    failing = row.number("failing_above", None)
    budget, restarts = row.whole("runs", 500, most=MOST_RUNS), row.whole("restarts", 3, most=MOST_RUNS)
    worst.check_budget(budget, restarts)
    fixed, system = _fixed(campaign, row)
    conditions = system.conditions
    if conditions is None:
        raise DeclarationError(f"{row.where}: the system has no initial conditions, and so no severity")
    names = varied_names(row, system) if "names" in row.content else drawn_names(conditions)
    limits = np.array([limit_of(conditions, condition, row.where) for condition in names])
    _check_free(campaign, fixed, names, row.where)
    # the conditions that are not searched count too, including those that the option of a choice sets
    pairs = vector_pairs(conditions, names, row.where)
    nominal: dict[str, float] = dict.fromkeys(names, 0.0)
    if CLOSING_SPEED in nominal:
        nominal[CLOSING_SPEED] = speed_at(conditions, 0.0)
    others = severity_of(conditions, resolve(campaign.study, fixed)[1] | nominal)
    rest = others[0 if scale == "R1" else 1]
    if rest >= at_most:
        raise OptionError([f"{row.where}: the conditions that are not searched have {scale} = {rest:.4g} already"])
    sign = -1.0 if measure.kind == "min" else 1.0

    def values_of(point: np.ndarray) -> dict[str, Any]:
        values = dict(zip(names, (point * limits).tolist(), strict=True))
        if CLOSING_SPEED in values:
            values[CLOSING_SPEED] = speed_at(conditions, float(point[names.index(CLOSING_SPEED)]))
        return fixed | values

    def severity(points: np.ndarray) -> np.ndarray:
        own = worst.severity(points, scale, pairs)
        return np.hypot(own, rest) if scale == "R1" else own + rest

    def project(points: np.ndarray) -> np.ndarray:
        left = float(np.sqrt(at_most**2 - rest**2)) if scale == "R1" else at_most - rest
        return worst.within_severity(points, scale, left, pairs)

    _check_values(campaign, system, map(values_of, project(np.outer([0.0, 0.3, -0.3], np.ones(len(names))))))

    def answer(cluster: Execution) -> Answer:
        with Evaluations(campaign, cluster, name) as runs:

            def objective(points: np.ndarray) -> np.ndarray:
                values = [values_of(point) for point in points]
                if failing is None:
                    return -sign * reached(runs.rows(values), measure)
                lack = runs.distance(values, measure, failing, above=True)
                # a point that does not fail ranks behind every failure, the farther from failing the worse
                return np.where(lack < 0.0, severity(points), at_most + 1.0 + lack)

            found = worst.minimise(
                objective,
                len(names),
                budget=budget,
                restarts=restarts,
                seed=campaign.study.draws.seed,
                project=project,
            )
            unfinished = _unfinished(runs, "not failing")
            if not np.isfinite(found.value):
                nothing = (
                    f"none of {found.runs} runs has this measure ({counted(runs.outcomes)})"
                    if failing is None
                    else f"all {found.runs} runs leave open whether {measure.name} is above {failing:g}"
                )
                return Answer(name, "worst", f"Worst case of {measure.name}", (nothing, *unfinished))
            best = values_of(found.point)
            repeated = runs.rows([best], FINE).iloc[0]
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
            sentence += f"; that run did not finish ({ended.replace('_', ' ')}), and its {measure.name} is a bound"
        return Answer(
            name,
            "worst",
            question,
            (
                sentence,
                f"at a tenth of the step: {measure.name} = {repeated[measure.name]:.6g} {measure.unit}, "
                f"outcome {repeated['outcome']}",
                *unfinished,
                "a search proves no bound; agreement of the starts is only an indication",
            ),
            ("variable", "value", "unit"),
            tuple(
                (short_name(key), value, unit_text(key, system) if type(value) in (int, float) else "")
                for key, value in best.items()
            ),
        )

    return answer


def _fixed(campaign: CampaignFolder, row: Table) -> tuple[dict[str, Any], System]:
    """Return the `values` common to all runs of a question, with varied variables in SI, and the system of these runs.

    The system is that of the chosen options. Raises DeclarationError if a choice of the campaign has no value,
    OptionError for an unknown option, and any error of loading.
    """
    given, choices = dict(row.table("values").content), {choice.name: choice for choice in campaign.study.choices}
    for name, choice in choices.items():
        if name not in given:
            labels = ", ".join(option.label for option in choice.options)
            raise DeclarationError(f"{row.where}: `values` must say which {name} the runs have, one of {labels}")
        choice.option(given[name])
    variant = resolve(campaign.study, given)[0]
    system = load(campaign.study, variant) if variant else campaign.system
    numbers = [name for name in given if name in campaign.names and name not in choices]
    return given | {name: number_in(given[name], name, system, f"{row.where}: values") for name in numbers}, system


def _check_free(campaign: CampaignFolder, fixed: dict[str, Any], names: Sequence[str], where: str) -> None:
    """Raise OptionError for a name whose value is set in every run by the chosen option of a choice."""
    for choice in campaign.study.choices:
        label = fixed[choice.name]
        taken = {canonical(name) for name in choice.option(label).values}
        for name in names:
            element = canonical(name)
            if element in taken or element.partition("[")[0] in taken:
                raise OptionError([f"{where}: {name} cannot vary: {choice.name} = {label} sets it"])


def _check_values(campaign: CampaignFolder, system: System, examples: Iterable[dict[str, Any]]) -> None:
    """Raise the error of the first example if runs of all examples would fail before they start.

    An invalid name or fixed value fails in all examples. Values at an edge may fail alone; such runs are invalid.
    """
    first: DockfmuError | None = None
    for values in examples:
        try:
            system.with_values(resolve(campaign.study, values)[1])
        except DockfmuError as error:
            first = first or error
        else:
            return
    if first is not None:
        raise first


def _unfinished(runs: Evaluations, counted_as: str) -> tuple[str, ...]:
    """Return sentences on the runs so far that did not finish, and on how runs that leave the question open count.

    Runs without a value of the measure leave it open too.
    """
    outcomes = runs.outcomes
    bad = outcomes[outcomes.isin(UNFINISHED)]
    sentences = []
    if len(bad):
        sentences.append(
            f"{len(bad)} of the runs did not finish ({counted(bad)}); the values that they had reached are used"
        )
    if left_open := sum(runs.left_open):
        sentences.append(f"{left_open} of the runs do not decide the question and count as {counted_as}")
    return tuple(sentences)


def _listed(values: tuple[float, ...], sign: float) -> str:
    return ", ".join(f"{sign * value:.6g}" for value in values)
