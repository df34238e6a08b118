"""The questions of a campaign's file, put to its runs.

Every campaign answers by itself: the probability of each outcome, the statistics of each measure, with what decides
them made again at a tenth of the step, and its sensitivities. A table `[answers.NAME]` with `kind` asks for more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from base.files import write_file
from dockfmu.campaign.answers.answer import Answer, as_json
from dockfmu.campaign.answers.searches import find_domain, find_rare, find_worst
from dockfmu.campaign.answers.statistics import compare_with, deciding, depends, loads, outcomes
from dockfmu.campaign.description import Study
from dockfmu.campaign.evaluation import refined
from dockfmu.campaign.execution import Execution
from dockfmu.campaign.folder import ANSWERS, CampaignFolder
from dockfmu.declare.tables import Table

if TYPE_CHECKING:
    import pandas

_KINDS: dict[str, tuple[Callable[[CampaignFolder, Execution, str, Table], Answer], tuple[str, ...]]] = {
    "domain": (find_domain, ("measure", "parameters", "first", "second", "cells", "divisions", "values")),
    "rare": (find_rare, ("measure", "above", "below", "runs_per_level", "form")),
    "worst": (
        find_worst, ("measure", "severity", "at_most", "failing_above", "runs", "restarts", "names", "values")
    ),
    "compare": (compare_with, ("with", "outcomes")),
}  # fmt: skip
"""The kinds of questions: the function that answers it, and the entries of its table."""


def questions(study: Study) -> dict[str, tuple[str, Table]]:
    """Return the kind and the table of each question of a file. Raises DeclarationError, OptionError."""
    found = {}
    for name, content in study.answers.items():
        where = f"answers, {name}"
        kind = Table(content, where).text("kind", choices=tuple(_KINDS))
        found[name] = kind, Table(content, where, ("kind", *_KINDS[kind][1]))
        if "measure" in _KINDS[kind][1]:
            study.measure(found[name][1].text("measure"))
    return found


def answer_all(campaign: CampaignFolder, cluster: Execution, progress: Callable[[str], None]) -> list[Answer]:
    """Answer all questions, write them to answers/answers.json, and return them."""
    table, study = campaign.runs(), campaign.study
    found = [outcomes(campaign, table)]
    chosen = {measure: deciding(table, measure, study.refined) for measure in study.measures}
    wanted = sorted({index for indices in chosen.values() for index in indices})
    if wanted:
        progress(f"{len(wanted)} runs that decide a load again, at a tenth of the step")
    fine = refined(campaign, cluster, wanted)
    found += [loads(campaign, table, measure, _rows(fine, chosen[measure])) for measure in study.measures]
    found += [depends(campaign, table, measure) for measure in study.measures]
    for name, (kind, row) in questions(study).items():
        progress(f"answering {name}")
        found.append(_KINDS[kind][0](campaign, cluster, name, row))
    write_file(campaign.folder / ANSWERS / "answers.json", as_json(found).encode())
    return found


def _rows(fine: pandas.DataFrame, indices: list[int]) -> pandas.DataFrame:
    return fine.loc[indices] if indices else fine.head(0)
