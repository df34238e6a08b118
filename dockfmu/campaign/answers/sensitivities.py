"""What a measure depends on: its sensitivities to what varies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dockfmu.campaign.answers.answer import Answer
from dockfmu.campaign.answers.censoring import finished
from dockfmu.campaign.answers.chart import Bars, Chart
from dockfmu.campaign.description import Measure, short_name
from dockfmu.campaign.folder import CampaignFolder
from dockfmu.campaign.methods import sensitivity

if TYPE_CHECKING:
    import pandas


def sensitivities(campaign: CampaignFolder, table: pandas.DataFrame, measure: Measure) -> Answer:
    """Return the sensitivities of a measure over the `finished` runs."""
    name, question = f"sensitivity of {measure.name}", f"Sensitivities of {measure.name}"
    choices = {choice.name for choice in campaign.study.choices}
    complete = finished(table, measure)
    entries = sensitivity.sensitivities(
        {name: complete[name].to_numpy(str if name in choices else float) for name in map(short_name, campaign.names)},
        complete[measure.name].to_numpy(float),
    )
    if not entries:
        return Answer(name, question, ("no sensitivities: there are fewer than ten runs, or nothing varies",))
    names = [entry.name for entry in entries]
    bars = [
        Bars("rank correlation", names, [entry.rank_correlation for entry in entries]),
        Bars("first-order share", names, [entry.first_order for entry in entries]),
    ]
    rows = tuple(
        (entry.name, _known(entry.rank_correlation), entry.p_value, _known(entry.first_order)) for entry in entries
    )
    head = ("variable", "rank correlation", "p-value", "first-order share")
    return Answer(name, question, (), head, rows, Chart(bars, y="correlation, share of variance"))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
