"""Two campaigns on equal draws, compared run by run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.campaign.answers.answer import Answer, Question
from dockfmu.campaign.answers.censoring import UNFINISHED
from dockfmu.campaign.cluster.execution import Execution
from dockfmu.campaign.dataset import read_runs
from dockfmu.campaign.description import short_name
from dockfmu.campaign.folder import RUNS, CampaignFolder
from dockfmu.campaign.methods import comparison
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.errors import OptionError

if TYPE_CHECKING:
    import pandas

ENTRIES = ("with", "outcomes")
_OTHER = " of the other"


def read(campaign: CampaignFolder, name: str, row: Table) -> Question:
    """Read the question for the comparison with another campaign on equal draws."""
    other = campaign.study.path(row.text("with"))
    if not (other / RUNS).is_dir():
        raise DeclarationError(f"{row.where}: with = {shown(str(other))}: must be the folder of a campaign with runs")
    wanted = row.texts("outcomes", ())

    def answer(cluster: Execution) -> Answer:
        mine, theirs = campaign.runs(), read_runs(other / RUNS)
        measures = [measure.name for measure in campaign.study.measures]
        return compare(mine, theirs, name, measures, [short_name(varied) for varied in campaign.names], wanted)

    return answer


def compare(
    first: pandas.DataFrame,
    second: pandas.DataFrame,
    name: str,
    measures: Sequence[str],
    varied: Sequence[str],
    wanted: Sequence[str] = (),
) -> Answer:
    """Compare the rows of two campaigns on equal draws, by their index. Raises OptionError for draws that differ."""
    both = first.merge(second, on="index", suffixes=("", _OTHER))
    if not len(both):
        raise OptionError([f"{name}: the campaigns have no run of the same number"])
    for column in varied:
        there = column + _OTHER
        if there not in both or not both[column].equals(both[there]):
            raise OptionError([f"{name}: the draws of {column} differ; both campaigns need equal laws and seeds"])
    theirs = both["outcome" + _OTHER]
    rows: list[tuple[Any, ...]] = []
    for outcome in wanted or sorted({*both["outcome"], *theirs}):
        shares = comparison.compare_outcomes((both["outcome"] == outcome).to_numpy(), (theirs == outcome).to_numpy())
        ends = shares.difference.low, shares.difference.high
        rows.append((f"probability of {outcome}", shares.first, shares.second, *ends, shares.pairs))
    known = both[~(both["outcome"].isin(UNFINISHED) | theirs.isin(UNFINISHED))]
    for measure in measures:
        if measure + _OTHER not in known:
            continue
        x, y = (known[column].to_numpy(float) for column in (measure, measure + _OTHER))
        if (np.isfinite(x) & np.isfinite(y)).any():
            means = comparison.compare_measures(x, y)
            ends = means.mean_difference.low, means.mean_difference.high
            rows.append((f"mean of {measure}", means.first, means.second, *ends, means.pairs))
    return Answer(
        name,
        f"Two campaigns on {len(both)} equal draws",
        ("differences are second minus first, with 95 % intervals; measures cover pairs in which both runs finished",),
        ("", "first", "second", "difference from", "to", "pairs"),
        tuple(rows),
    )
