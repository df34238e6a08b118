"""Peripheral docking mechanism: ring on six legs with energy accumulators, retraction device. peripheral-docking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dockfmu.components.core.component import Component, combined
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.peripheral_mechanism.kernel import MESSAGES, initialize, step
from dockfmu.components.peripheral_mechanism.ports import record
from dockfmu.components.physics.contact import ring_pair
from dockfmu.components.physics.ring_on_legs.contact import external as external_contact
from dockfmu.components.physics.ring_on_legs.contact import internal as internal_contact
from dockfmu.components.physics.ring_on_legs.contact.ports import EXTERNAL, INTERNAL

_OWN_SETS = read_parameter_sets(Path(__file__).parent / "parameters")
# contact: suffix of the name, suffix of the description, fields of the record, messages, further parameter sets
_CONTACTS: dict[str, tuple[Any, ...]] = {
    "internal": ("", "", INTERNAL, internal_contact.MESSAGES, ring_pair.PARAMETER_SETS),
    "external": ("External", " with external contact", EXTERNAL, external_contact.MESSAGES, ()),
}


def component(contact: str = "internal") -> Component:
    """Return the mechanism with "internal" or "external" contact.

    With "external" the contact of the rings is a separate FMU, whose wrenches come through ports and are held over a
    step. Raises ValueError for any other value.
    """
    if contact not in _CONTACTS:
        raise ValueError(f"contact must be {' or '.join(_CONTACTS)}, not {contact!r}")
    name, suffix, contact_ports, contact_messages, more_sets = _CONTACTS[contact]
    return Component(
        name=f"PeripheralMechanism{name}",
        description=f"elastic-adaptive peripheral docking mechanism{suffix}",
        record=record(contact_ports),
        initialize=initialize,
        step=step,
        messages=combined(MESSAGES, contact_messages),
        module=Path(__file__),
        parameter_sets=(*_OWN_SETS, *more_sets),
    )
