"""How often the loads at the interface exceed their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dockfmu.campaign.answers.answer import Answer
from dockfmu.campaign.answers.censoring import UNFINISHED
from dockfmu.campaign.answers.probabilities import probabilities
from dockfmu.campaign.folder import CampaignFolder
from dockfmu.master.observers.loads import UNITS as LOADS

if TYPE_CHECKING:
    import pandas


def interface_loads(campaign: CampaignFolder, table: pandas.DataFrame) -> list[Answer]:
    """Return the probabilities that loads exceed their limits; nothing if the system declares none."""
    if "loads" not in table.columns:
        return []
    whole = table[~table["outcome"].isin(UNFINISHED)].dropna(subset=["loads"])
    exceeded = whole["loads_exceeded"].str.split(", ")
    masks = [("exceeded", (whole["loads"] == "exceeded").to_numpy())]
    masks += [(name, exceeded.map(lambda names, one=name: one in names).to_numpy()) for name in LOADS]
    sentences = []
    lost = table[table["outcome"].isin(UNFINISHED)]
    if len(lost):
        beyond = int((lost["loads"] == "exceeded").sum())
        sentences.append(
            f"{len(lost)} runs that did not finish are left out; loads had exceeded limits in {beyond} of them"
        )
    found = probabilities(
        "interface_loads",
        f"Loads of {len(whole)} runs beyond their limits, with 95 % intervals",
        "load",
        [(name, mask) for name, mask in masks if len(mask) and (name == "exceeded" or mask.any())],
        campaign.study.draws.sampling,
        sentences,
    )
    return [found]
