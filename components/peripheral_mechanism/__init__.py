"""Peripheral docking mechanism: ring on six legs with energy accumulators, retraction device. spec/07."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.contact import ring_pair
from components.core.component import Component, combined
from components.core.parameters import read_parameter_sets
from components.peripheral_mechanism import external_contact, internal_contact
from components.peripheral_mechanism.contact_ports import EXTERNAL, INTERNAL
from components.peripheral_mechanism.kernel import MESSAGES, initialize, step
from components.peripheral_mechanism.ports import record

_OWN_SETS = read_parameter_sets(Path(__file__).parent / "parameters")
# contact: end of the name, of the description, fields of the record, messages, parameter sets of others
_CONTACTS: dict[str, tuple[Any, ...]] = {
    "internal": ("", "", INTERNAL, internal_contact.MESSAGES, ring_pair.PARAMETER_SETS),
    "external": ("External", ", contact on the passive unit from outside", EXTERNAL, external_contact.MESSAGES, ()),
}


def component(contact: str = "internal") -> Component:
    """Return the mechanism with this contact.

    `contact = "external"` leaves the contact of the rings to an FMU of its own, whose wrenches come through ports and
    hold over a step. Raises ValueError for another word.
    """
    if contact not in _CONTACTS:
        raise ValueError(f"contact is {' or '.join(_CONTACTS)}, not {contact!r}")
    name, where, contact_ports, contact_messages, more_sets = _CONTACTS[contact]
    return Component(
        name=f"PeripheralMechanism{name}",
        description=f"elastic-adaptive peripheral docking mechanism{where}",
        record=record(contact_ports),
        initialize=initialize,
        step=step,
        messages=combined(MESSAGES, contact_messages),
        module=Path(__file__),
        parameter_sets=(*_OWN_SETS, *more_sets),
    )
