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
from dockfmu.campaign.evaluation import refined
from dockfmu.campaign.execution import Execution
from dockfmu.campaign.folder import ANSWERS, CampaignFolder
from dockfmu.declare.tables import Table

if TYPE_CHECKING:
    import pandas

_KINDS: dict[str, Callable[[CampaignFolder, Execution, str, Table], Answer]] = {
    "domain": find_domain, "rare": find_rare, "worst": find_worst, "compare": compare_with,
}  # fmt: skip


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
    for name, content in study.answers.items():
        progress(f"answering {name}")
        row = Table(content, f"answers, {name}")
        kind = row.text("kind", choices=tuple(_KINDS))
        found.append(_KINDS[kind](campaign, cluster, name, row))
    write_file(campaign.folder / ANSWERS / "answers.json", as_json(found).encode())
    return found


def _rows(fine: pandas.DataFrame, indices: list[int]) -> pandas.DataFrame:
    return fine.loc[indices] if indices else fine.head(0)
