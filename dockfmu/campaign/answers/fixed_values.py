"""Values that all runs of a question have, besides those that it varies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dockfmu.base.errors import DockfmuError
from dockfmu.campaign.folder import CampaignFolder
from dockfmu.campaign.runner import load, resolve
from dockfmu.campaign.sampling.vary import canonical, number_in
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.errors import OptionError
from dockfmu.system import System


def fixed_values(campaign: CampaignFolder, row: Table) -> tuple[dict[str, Any], System]:
    """Return the `values` common to all runs of a question, with varied variables in SI, and the system of these runs.

    The system is that of the chosen options. Raises DeclarationError if a choice of the campaign has no value,
    OptionError for an unknown option, and any error of loading.
    """
    given, choices = dict(row.table("values").content), {choice.name: choice for choice in campaign.study.choices}
    for name, choice in choices.items():
        if name not in given:
            labels = ", ".join(option.label for option in choice.options)
            raise DeclarationError(f"{row.where}: `values` must say which {name} the runs have, one of {labels}")
        choice.option(given[name])
    variant = resolve(campaign.study, given)[0]
    system = load(campaign.study, variant) if variant else campaign.system
    numbers = [name for name in given if name in campaign.names and name not in choices]
    return given | {name: number_in(given[name], name, system, f"{row.where}: values") for name in numbers}, system


def check_free(campaign: CampaignFolder, fixed: dict[str, Any], names: Sequence[str], where: str) -> None:
    """Raise OptionError for a name whose value is set in every run by the chosen option of a choice."""
    for choice in campaign.study.choices:
        label = fixed[choice.name]
        taken = {canonical(name) for name in choice.option(label).values}
        for name in names:
            element = canonical(name)
            if element in taken or element.partition("[")[0] in taken:
                raise OptionError([f"{where}: {name} cannot vary: {choice.name} = {label} sets it"])


def check_values(campaign: CampaignFolder, system: System, examples: Iterable[dict[str, Any]]) -> None:
    """Raise the error of the first example if runs of all examples would fail before they start.

    An invalid name or fixed value fails in all examples. Values at an edge may fail alone; such runs are invalid.
    """
    first: DockfmuError | None = None
    for values in examples:
        try:
            system.with_values(resolve(campaign.study, values)[1])
        except DockfmuError as error:
            first = first or error
        else:
            return
    if first is not None:
        raise first
