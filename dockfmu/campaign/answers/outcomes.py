"""How the runs end: the probability of each outcome, and the reasons of runs that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dockfmu.campaign.answers.answer import Answer
from dockfmu.campaign.answers.probabilities import probabilities
from dockfmu.campaign.folder import CampaignFolder

if TYPE_CHECKING:
    import pandas

NAMED = 10
"""Number of failed runs whose reason is given."""


def outcomes(campaign: CampaignFolder, table: pandas.DataFrame) -> Answer:
    """Return the probability of each outcome."""
    bad = table[table["status"].isin(("failed", "crashed"))]
    sentences = [f"run {row['index']}: {row['reason']}" for _, row in bad.head(NAMED).iterrows()]
    if len(bad) > NAMED:
        sentences.append(f"and {len(bad) - NAMED} more: column `reason` of {campaign.folder}/runs.parquet")
    return probabilities(
        "outcomes",
        f"Outcomes of {len(table)} runs, with 95 % intervals of Clopper and Pearson",
        "outcome",
        ((str(outcome), (table["outcome"] == outcome).to_numpy()) for outcome in table["outcome"].value_counts().index),
        campaign.study.draws.sampling,
        sentences,
    )
