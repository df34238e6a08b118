"""The questions of a campaign file, answered from its runs.

Every campaign gives the probability of each outcome, the statistics of each measure, whose deciding runs are repeated
at a tenth of the step, and the sensitivities of each measure. A table `[answers.NAME]` with `kind` requests more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dockfmu.base.files import write_file
from dockfmu.campaign.answers.answer import Answer, Question, as_json
from dockfmu.campaign.answers.evaluation import refined
from dockfmu.campaign.answers.searches import read_domain, read_rare, read_worst
from dockfmu.campaign.answers.statistics import deciding, depends, loads, outcomes, read_comparison, verdicts
from dockfmu.campaign.cluster.execution import Execution
from dockfmu.campaign.storage.folder import ANSWERS, CampaignFolder
from dockfmu.declare.toml.tables import Table

if TYPE_CHECKING:
    import pandas

_KINDS: dict[str, tuple[Callable[[CampaignFolder, str, Table], Question], tuple[str, ...]]] = {
    "domain": (read_domain, ("measure", "parameters", "first", "second", "cells", "divisions", "values")),
    "rare": (read_rare, ("measure", "above", "below", "runs_per_level", "form")),
    "worst": (
        read_worst, ("measure", "severity", "at_most", "failing_above", "runs", "restarts", "names", "values")
    ),
    "compare": (read_comparison, ("with", "outcomes")),
}  # fmt: skip
"""For each kind of question, the function that reads it and the entries of its table."""


def read_questions(campaign: CampaignFolder) -> dict[str, Question]:
    """Read the questions of a campaign file; return them by name.

    Raises DeclarationError, OptionError, StructureError for an invalid question, and any error of loading the system of
    an option.
    """
    declared = {}
    for name, content in campaign.study.answers.items():
        where = f"answers, {name}"
        read, entries = _KINDS[Table(content, where).text("kind", choices=tuple(_KINDS))]
        declared[name] = read(campaign, name, Table(content, where, ("kind", *entries)))
    return declared


def answer_all(campaign: CampaignFolder, cluster: Execution, progress: Callable[[str], None]) -> list[Answer]:
    """Answer all questions, write them to answers/answers.json, and return them."""
    declared = read_questions(campaign)
    table, study = campaign.runs(), campaign.study
    answers = [outcomes(campaign, table), *verdicts(campaign, table)]
    chosen = {measure: deciding(table, measure, study.refined) for measure in study.measures}
    repeated = sorted({index for indices in chosen.values() for index in indices})
    if repeated:
        progress(f"repeating {len(repeated)} runs that decide a load, at a tenth of the step")
    fine = refined(campaign, cluster, repeated)
    answers += [loads(campaign, table, measure, _rows(fine, chosen[measure])) for measure in study.measures]
    answers += [depends(campaign, table, measure) for measure in study.measures]
    for name, question in declared.items():
        progress(f"answering {name}")
        answers.append(question(cluster))
    write_file(campaign.folder / ANSWERS / "answers.json", as_json(answers).encode())
    return answers


def _rows(fine: pandas.DataFrame, indices: list[int]) -> pandas.DataFrame:
    return fine.loc[indices] if indices else fine.head(0)
