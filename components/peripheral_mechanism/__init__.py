"""Peripheral docking mechanism: ring on six legs with energy accumulators, retraction device. spec/07."""

from __future__ import annotations

from pathlib import Path

from components.core.component import Component, combined
from components.core.parameters import read_parameter_sets
from components.peripheral_mechanism import external_contact
from components.peripheral_mechanism.contact_ports import EXTERNAL
from components.peripheral_mechanism.kernel import MESSAGES, initialize, step
from components.peripheral_mechanism.ports import record


def component() -> Component:
    """Return the mechanism whose contact with the passive ring is an FMU of its own."""
    return Component(
        name="PeripheralMechanismExternal",
        description="elastic-adaptive peripheral docking mechanism, contact on the passive unit from outside",
        record=record(EXTERNAL),
        initialize=initialize,
        step=step,
        messages=combined(MESSAGES, external_contact.MESSAGES),
        module=Path(__file__),
        parameter_sets=read_parameter_sets(Path(__file__).parent / "parameters"),
    )
