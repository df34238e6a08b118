"""The questions of a campaign file, answered from its runs.

Every campaign gives the probability of each outcome, the statistics of each measure, whose deciding runs are repeated
at a tenth of the step, its worst runs, and its sensitivities. A table `[answers.NAME]` with `kind` requests more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from dockfmu.base.files import write_file
from dockfmu.campaign.answers import compare, domain, rare, worst
from dockfmu.campaign.answers.answer import Answer, Question, as_json
from dockfmu.campaign.answers.evaluation import refined
from dockfmu.campaign.answers.interface_loads import interface_loads
from dockfmu.campaign.answers.measures import deciding, values_of
from dockfmu.campaign.answers.outcomes import outcomes
from dockfmu.campaign.answers.sensitivities import sensitivities
from dockfmu.campaign.answers.worst_runs import worst_runs
from dockfmu.campaign.cluster.execution import Execution
from dockfmu.campaign.folder import ANSWERS, CampaignFolder
from dockfmu.declare.toml.tables import Table, named_place

if TYPE_CHECKING:
    import pandas


class _Kind(Protocol):
    """A kind of question: the entries of its table, and the function that reads it."""

    @property
    def ENTRIES(self) -> tuple[str, ...]: ...  # noqa: N802

    def read(self, campaign: CampaignFolder, name: str, row: Table) -> Question: ...


_KINDS: dict[str, _Kind] = {"domain": domain, "rare": rare, "worst": worst, "compare": compare}


def read_questions(campaign: CampaignFolder) -> dict[str, Question]:
    """Read the questions of a campaign file; return them by name.

    Raises DeclarationError, OptionError, StructureError for an invalid question, and any error of loading the system of
    an option.
    """
    declared = {}
    for name, content in campaign.study.answers.items():
        where = f"{campaign.study.where}, answers, {name}"
        kind = _KINDS[Table(content, where).text("kind", choices=tuple(_KINDS))]
        with named_place(where):
            declared[name] = kind.read(campaign, name, Table(content, where, ("kind", *kind.ENTRIES)))
    return declared


def answer_all(campaign: CampaignFolder, cluster: Execution, progress: Callable[[str], None]) -> list[Answer]:
    """Answer all questions, write them to answers/answers.json, and return them."""
    declared = read_questions(campaign)
    table, study = campaign.runs(), campaign.study
    answers = [outcomes(campaign, table), *interface_loads(campaign, table)]
    chosen = {measure: deciding(table, measure, study.refined) for measure in study.measures}
    repeated = sorted({index for indices in chosen.values() for index in indices})
    if repeated:
        progress(f"repeating {len(repeated)} runs that decide a load, at a tenth of the step")
    fine = refined(campaign, cluster, repeated)
    for measure in study.measures:
        answers.append(values_of(campaign, table, measure, _rows(fine, chosen[measure])))
        answers += worst_runs(campaign, table, measure)
    answers += [sensitivities(campaign, table, measure) for measure in study.measures]
    for name, question in declared.items():
        progress(f"answering {name}")
        answers.append(question(cluster))
    write_file(campaign.folder / ANSWERS / "answers.json", as_json(answers).encode())
    return answers


def _rows(fine: pandas.DataFrame, indices: list[int]) -> pandas.DataFrame:
    return fine.loc[indices] if indices else fine.head(0)
