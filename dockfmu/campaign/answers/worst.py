"""The worst case: the largest load within a severity, or the least severity with a measure above a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dockfmu.campaign.answers.answer import Answer, Question
from dockfmu.campaign.answers.censoring import UNFINISHED, reached
from dockfmu.campaign.answers.evaluation import FINE, MOST_RUNS, Evaluations, unfinished
from dockfmu.campaign.answers.fixed_values import check_free, check_values, fixed_values
from dockfmu.campaign.answers.probabilities import counted
from dockfmu.campaign.cluster.execution import Execution
from dockfmu.campaign.description import Measure, severity_of, short_name
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
from dockfmu.declare.conditions.initial_conditions import InitialConditions
from dockfmu.declare.conditions.limits import speed_at
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.errors import OptionError
from dockfmu.system import System

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
    nominal: dict[str, float] = dict.fromkeys(names, 0.0)
    if CLOSING_SPEED in nominal:
        nominal[CLOSING_SPEED] = speed_at(conditions, 0.0)
    others = severity_of(conditions, resolve(campaign.study, fixed)[1] | nominal)
    rest = others[0 if scale == "R1" else 1]
    if rest >= at_most:
        raise OptionError([f"{row.where}: the conditions that are not searched have {scale} = {rest:.4g} already"])
    pairs = vector_pairs(conditions, names, row.where)
    domain = _Domain(conditions, names, limits, pairs, scale, at_most, rest)
    tried = domain.project(np.outer([0.0, 0.3, -0.3], np.ones(len(names))))
    check_values(campaign, system, (fixed | domain.values_at(point) for point in tried))
    return _Search(campaign, name, system, measure, failing, budget, restarts, fixed, domain).answer


@dataclass(frozen=True)
class _Domain:
    """Hold the initial conditions that are searched, as points in parts of their limits, within a severity.

    `pairs` are the places of conditions that are components of one vector; `rest` is the severity of the conditions
    that are not searched.
    """

    conditions: InitialConditions
    names: Sequence[str]
    limits: np.ndarray
    pairs: Sequence[tuple[int, int]]
    scale: str
    at_most: float
    rest: float

    def values_at(self, point: np.ndarray) -> dict[str, Any]:
        """Return the initial conditions at a point, shape (names,), by their names."""
        values = dict(zip(self.names, (point * self.limits).tolist(), strict=True))
        if CLOSING_SPEED in values:
            values[CLOSING_SPEED] = speed_at(self.conditions, float(point[self.names.index(CLOSING_SPEED)]))
        return values

    def severity(self, points: np.ndarray) -> np.ndarray:
        """Return the severity of points, shape (points, names), with that of the conditions not searched."""
        own = worst_case.severity(points, self.scale, self.pairs)
        return np.hypot(own, self.rest) if self.scale == "R1" else own + self.rest

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return points, shape (points, names), drawn into the severity that is allowed."""
        left = float(np.sqrt(self.at_most**2 - self.rest**2)) if self.scale == "R1" else self.at_most - self.rest
        return worst_case.within_severity(points, self.scale, left, self.pairs)


@dataclass(frozen=True)
class _Search:
    """Search a domain for the largest measure, or for the least severity with a measure above `failing`."""

    campaign: CampaignFolder
    name: str
    system: System
    measure: Measure
    failing: float | None
    budget: int
    restarts: int
    fixed: dict[str, Any]
    domain: _Domain

    def answer(self, cluster: Execution) -> Answer:
        """Search on a cluster, repeat the worst run at a tenth of the step, and say what was found."""
        with Evaluations(self.campaign, cluster, self.name) as runs:
            found = worst_case.minimise(
                lambda points: self._objective(runs, points),
                len(self.domain.names),
                budget=self.budget,
                restarts=self.restarts,
                seed=self.campaign.study.draws.seed,
                project=self.domain.project,
            )
            left = unfinished(runs, "not failing")
            if not np.isfinite(found.value):
                return Answer(self.name, f"Worst case of {self.measure.name}", (self._nothing(runs, found), *left))
            worst = self.fixed | self.domain.values_at(found.point)
            repeated = runs.rows([worst], FINE).iloc[0]
            ended = runs.outcome(worst)
        question, sentence = self._found(found)
        measure = self.measure
        if ended in UNFINISHED:
            sentence += f"; that run did not finish ({ended.replace('_', ' ')}), and its {measure.name} is a bound"
        at_fine_step = (
            f"at a tenth of the step: {measure.name} = {repeated[measure.name]:.6g} {measure.unit}, "
            f"outcome {repeated['outcome']}"
        )
        warning = "a search proves no bound; agreement of the starts is only an indication"
        rows = tuple(
            (short_name(key), value, unit_text(key, self.system) if type(value) in (int, float) else "")
            for key, value in worst.items()
        )
        return Answer(
            self.name, question, (sentence, at_fine_step, *left, warning), ("variable", "value", "unit"), rows
        )

    def _objective(self, runs: Evaluations, points: np.ndarray) -> np.ndarray:
        """Return what is to be least at points, shape (points, names): minus the measure, or the severity."""
        values = [self.fixed | self.domain.values_at(point) for point in points]
        if self.failing is None:
            return -self.measure.sign * reached(runs.rows(values), self.measure)
        lack = runs.distance(values, self.measure, self.failing, above=True)
        # a point that does not fail ranks behind every failure, the farther from failing the worse
        return np.where(lack < 0.0, self.domain.severity(points), self.domain.at_most + 1.0 + lack)

    def _nothing(self, runs: Evaluations, found: worst_case.WorstCase) -> str:
        if self.failing is None:
            return f"none of {found.runs} runs has this measure ({counted(runs.outcomes)})"
        return f"all {found.runs} runs leave open whether {self.measure.name} is above {self.failing:g}"

    def _found(self, found: worst_case.WorstCase) -> tuple[str, str]:
        """Return the question and the sentence that answers it."""
        measure, scale, at_most = self.measure, self.domain.scale, self.domain.at_most
        if self.failing is None:
            starts = ", ".join(f"{-measure.sign * value:.6g}" for value in found.starts)
            return f"Largest {measure.name} within {scale} of {at_most:g}", (
                f"{-measure.sign * found.value:.6g} {measure.unit} after {found.runs} runs; the starts found {starts}"
            )
        sentence = (
            f"{scale} = {found.value:.4g} after {found.runs} runs"
            if found.value <= at_most
            else f"none up to {at_most:g} was found in {found.runs} runs"
        )
        return f"Smallest {scale} at which {measure.name} is above {self.failing:g} {measure.unit}", sentence
