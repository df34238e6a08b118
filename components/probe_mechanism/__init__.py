"""Docking mechanism of the central type (probe and cone) with its contact on the passive unit, spec/06."""

from pathlib import Path

from components.contact import probe_cone
from components.core.component import Component, combined
from components.core.parameters import read_parameter_sets
from components.probe_mechanism import inside, outside
from components.probe_mechanism.contact_ports import INSIDE, OUTSIDE
from components.probe_mechanism.kernel import MESSAGES, initialize, step
from components.probe_mechanism.ports import record

_OWN_SETS = read_parameter_sets(Path(__file__).parent / "parameters")


def component(contact: str = "inside") -> Component:
    """Variant V1: existing mechanism with spring and friction brake, switchable lateral brakes, alignment levers.

    `contact = "external"` leaves the contact on the passive unit to an FMU of its own, `ContactProbeCone`, whose
    wrenches come through ports and hold over a step. Raises ValueError for another word.
    """
    if contact not in ("inside", "external"):
        raise ValueError(f"contact is inside or external, not {contact!r}")
    within = contact == "inside"
    return Component(
        name="ProbeMechanism" if within else "ProbeMechanismExternal",
        description="docking mechanism of the probe-cone type, existing design"
        + ("" if within else ", contact on the passive unit from outside"),
        record=record(INSIDE if within else OUTSIDE),
        initialize=initialize,
        step=step,
        messages=combined(MESSAGES, (inside if within else outside).MESSAGES),
        module=Path(__file__),
        parameter_sets=(*_OWN_SETS, *(probe_cone.PARAMETER_SETS if within else ())),
    )
