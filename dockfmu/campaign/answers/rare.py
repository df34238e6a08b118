"""The probability that a measure is beyond a bound, by subset simulation."""

from __future__ import annotations

import numpy as np

from dockfmu.campaign.answers.answer import Answer, Question
from dockfmu.campaign.answers.evaluation import FINE, MOST_RUNS, Evaluations, unfinished
from dockfmu.campaign.cluster.execution import Execution
from dockfmu.campaign.folder import CampaignFolder
from dockfmu.campaign.methods import first_order
from dockfmu.campaign.methods.subset_simulation import (
    LEVELS,
    Performance,
    RareEvent,
    SubsetRun,
    chains_of,
    rare_event,
)
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.errors import OptionError

ENTRIES = ("measure", "above", "below", "runs_per_level", "form")
SAMPLES_AGAIN = 10
"""Number of samples of a rare event that are repeated at a tenth of the step."""


def read(campaign: CampaignFolder, name: str, row: Table) -> Question:
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
    chains_of(per_level)
    if with_form:
        first_order.openturns()

    def answer(cluster: Execution) -> Answer:
        with Evaluations(campaign, cluster, name) as runs:

            def performance(points: np.ndarray, step_factor: float = 1.0) -> np.ndarray:
                values = [draws.from_normal(z) for z in points]
                return runs.distance(values, measure, bound, above=above is not None, step_factor=step_factor)

            found = rare_event(performance, draws.dimension, per_level=per_level, seed=draws.seed)
            # of the simulations alone: the runs below are not part of the probability
            left = unfinished(runs, "no events, so that the probability may be larger")
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
            f"Probability that {measure.name} is {side} {bound:g} {measure.unit}, by subset simulation",
            (
                f"probability {found.estimate}, {found.estimate.of} runs",
                "two independent simulations; the variation that each estimates itself is optimistic for very small "
                "probabilities",
                *sentences,
                *left,
            ),
            ("simulation", "probability", "own coefficient of variation", "runs", "levels"),
            each,
        )

    return answer


def nearest_samples(found: RareEvent) -> np.ndarray:
    """Return the distinct samples of an event, shape (n, dimension), the nearest to the mean first.

    Chains repeat a sample where they reject a move; it is returned once.
    """
    samples = np.unique(np.concatenate([one.points for one in found.each]), axis=0)
    return np.asarray(samples[np.argsort(np.linalg.norm(samples, axis=1), kind="stable")])


def _not_reached(k: int, one: SubsetRun) -> str:
    """Return a sentence on why simulation `k` did not reach the event, and how many of its samples are events."""
    if len(one.levels) == LEVELS:
        why = f"they were still falling after {LEVELS}"
    else:
        why = "they stopped falling where most samples have the same value"
    met = len(one.points) or "none"
    return f"the levels of simulation {k} did not reach the event: {why}; {met} of the last samples are events"


def _first_order(performance: Performance, samples: np.ndarray) -> str:
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
