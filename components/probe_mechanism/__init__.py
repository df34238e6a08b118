"""Docking mechanism of the central type (probe and cone) with its contact on the passive unit, spec/06."""

from pathlib import Path

from components.contact import probe_cone
from components.core.component import Component, combined
from components.core.parameters import read_parameter_sets
from components.probe_mechanism import external_contact, internal_contact
from components.probe_mechanism.contact_ports import EXTERNAL, INTERNAL
from components.probe_mechanism.kernel import MESSAGES, initialize, step
from components.probe_mechanism.ports import record

_OWN_SETS = read_parameter_sets(Path(__file__).parent / "parameters")


def component(contact: str = "internal") -> Component:
    """Return variant V1: spring and friction brake, switchable lateral brakes, alignment levers.

    `contact = "external"` leaves the contact on the passive unit to an FMU of its own, `ContactProbeCone`, whose
    wrenches come through ports and hold over a step. Raises ValueError for another word.
    """
    if contact not in ("internal", "external"):
        raise ValueError(f"contact is internal or external, not {contact!r}")
    internal = contact == "internal"
    return Component(
        name="ProbeMechanism" if internal else "ProbeMechanismExternal",
        description="docking mechanism of the probe-cone type, existing design"
        + ("" if internal else ", contact on the passive unit from outside"),
        record=record(INTERNAL if internal else EXTERNAL),
        initialize=initialize,
        step=step,
        messages=combined(MESSAGES, (internal_contact if internal else external_contact).MESSAGES),
        module=Path(__file__),
        parameter_sets=(*_OWN_SETS, *(probe_cone.PARAMETER_SETS if internal else ())),
    )
