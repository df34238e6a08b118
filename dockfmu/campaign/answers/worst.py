"""The worst case: the largest load within a severity, or the least severity with a measure above a bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockfmu.campaign.answers.answer import Answer, Question
from dockfmu.campaign.answers.censoring import UNFINISHED, reached
from dockfmu.campaign.answers.evaluation import FINE, MOST_RUNS, Evaluations, unfinished
from dockfmu.campaign.answers.fixed_values import check_free, check_values, fixed_values
from dockfmu.campaign.answers.probabilities import counted
from dockfmu.campaign.cluster.execution import Execution
from dockfmu.campaign.description import severity_of, short_name
from dockfmu.campaign.folder import CampaignFolder
from dockfmu.campaign.methods import worst_case
from dockfmu.campaign.runner import resolve
from dockfmu.campaign.sampling.vary import (
    CLOSING_SPEED,
    drawn_names,
    limit_of,
    unit_text,
    varied_names,
    vector_pairs,
)
from dockfmu.declare.conditions.limits import speed_at
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.errors import OptionError

ENTRIES = ("measure", "severity", "at_most", "failing_above", "runs", "restarts", "names", "values")


def read(campaign: CampaignFolder, name: str, row: Table) -> Question:
    """Read the question for the largest load within a severity, or the least severity with a measure above a bound."""
    measure = campaign.study.measure(row.text("measure"))
    scale = row.text("severity", "R1", ("R1", "R2"))
    at_most = row.number("at_most", 1.0, positive=True)
    failing = row.number("failing_above", None)
    budget, restarts = row.whole("runs", 500, most=MOST_RUNS), row.whole("restarts", 3, most=MOST_RUNS)
    worst_case.check_budget(budget, restarts)
    fixed, system = fixed_values(campaign, row)
    conditions = system.conditions
    if conditions is None:
        raise DeclarationError(f"{row.where}: the system has no initial conditions, and so no severity")
    names = varied_names(row, system) if "names" in row.content else drawn_names(conditions)
    limits = np.array([limit_of(conditions, condition, row.where) for condition in names])
    check_free(campaign, fixed, names, row.where)
    # the conditions that are not searched count too, including those that the option of a choice sets
    pairs = vector_pairs(conditions, names, row.where)
    nominal: dict[str, float] = dict.fromkeys(names, 0.0)
    if CLOSING_SPEED in nominal:
        nominal[CLOSING_SPEED] = speed_at(conditions, 0.0)
    others = severity_of(conditions, resolve(campaign.study, fixed)[1] | nominal)
    rest = others[0 if scale == "R1" else 1]
    if rest >= at_most:
        raise OptionError([f"{row.where}: the conditions that are not searched have {scale} = {rest:.4g} already"])
    sign = measure.sign

    def values_of(point: np.ndarray) -> dict[str, Any]:
        values = dict(zip(names, (point * limits).tolist(), strict=True))
        if CLOSING_SPEED in values:
            values[CLOSING_SPEED] = speed_at(conditions, float(point[names.index(CLOSING_SPEED)]))
        return fixed | values

    def severity(points: np.ndarray) -> np.ndarray:
        own = worst_case.severity(points, scale, pairs)
        return np.hypot(own, rest) if scale == "R1" else own + rest

    def project(points: np.ndarray) -> np.ndarray:
        left = float(np.sqrt(at_most**2 - rest**2)) if scale == "R1" else at_most - rest
        return worst_case.within_severity(points, scale, left, pairs)

    check_values(campaign, system, map(values_of, project(np.outer([0.0, 0.3, -0.3], np.ones(len(names))))))

    def answer(cluster: Execution) -> Answer:
        with Evaluations(campaign, cluster, name) as runs:

            def objective(points: np.ndarray) -> np.ndarray:
                values = [values_of(point) for point in points]
                if failing is None:
                    return -sign * reached(runs.rows(values), measure)
                lack = runs.distance(values, measure, failing, above=True)
                # a point that does not fail ranks behind every failure, the farther from failing the worse
                return np.where(lack < 0.0, severity(points), at_most + 1.0 + lack)

            found = worst_case.minimise(
                objective,
                len(names),
                budget=budget,
                restarts=restarts,
                seed=campaign.study.draws.seed,
                project=project,
            )
            left = unfinished(runs, "not failing")
            if not np.isfinite(found.value):
                nothing = (
                    f"none of {found.runs} runs has this measure ({counted(runs.outcomes)})"
                    if failing is None
                    else f"all {found.runs} runs leave open whether {measure.name} is above {failing:g}"
                )
                return Answer(name, f"Worst case of {measure.name}", (nothing, *left))
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
            question,
            (
                sentence,
                f"at a tenth of the step: {measure.name} = {repeated[measure.name]:.6g} {measure.unit}, "
                f"outcome {repeated['outcome']}",
                *left,
                "a search proves no bound; agreement of the starts is only an indication",
            ),
            ("variable", "value", "unit"),
            tuple(
                (short_name(key), value, unit_text(key, system) if type(value) in (int, float) else "")
                for key, value in best.items()
            ),
        )

    return answer


def _listed(values: tuple[float, ...], sign: float) -> str:
    return ", ".join(f"{sign * value:.6g}" for value in values)
