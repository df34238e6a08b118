"""Docking mechanism of the central type (probe and cone) with its contact on the passive unit, spec/06."""

from pathlib import Path
from typing import Any

from components.contact import probe_cone
from components.core.component import Component, combined
from components.core.parameters import read_parameter_sets
from components.probe_mechanism import external_contact, internal_contact, spring_and_brake, two_brakes
from components.probe_mechanism.axial_ports import SPRING_AND_BRAKE, TWO_BRAKES
from components.probe_mechanism.contact_ports import EXTERNAL, INTERNAL
from components.probe_mechanism.kernel import MESSAGES, initialize, step
from components.probe_mechanism.ports import record

_OWN_SETS = read_parameter_sets(Path(__file__).parent / "parameters")
# name in the FMU, description, ports, messages, parameter sets of others
_CONTACTS: dict[str, tuple[Any, ...]] = {
    "internal": ("", "", INTERNAL, internal_contact.MESSAGES, probe_cone.PARAMETER_SETS),
    "external": ("External", ", contact on the passive unit from outside", EXTERNAL, external_contact.MESSAGES, ()),
}
# likewise, with the parameter sets of `_OWN_SETS` that only this device has the parameters for
_AXIAL: dict[str, tuple[Any, ...]] = {
    "spring_and_brake": ("", "existing design", SPRING_AND_BRAKE, spring_and_brake.MESSAGES, {"AX-1", "AX-MIM"}),
    "two_brakes": ("TwoBrakes", "two axial friction brakes", TWO_BRAKES, two_brakes.MESSAGES, {"AX-2"}),
}
_OF_ONE_DEVICE = frozenset(name for *_, sets in _AXIAL.values() for name in sets)


def component(contact: str = "internal", axial: str = "spring_and_brake") -> Component:
    """Return the mechanism with this contact and this axial device.

    `contact = "external"` leaves the contact on the passive unit to an FMU of its own, `ContactProbeCone`, whose
    wrenches come through ports and hold over a step. `axial = "two_brakes"` has two friction brakes in series (variant
    V2) instead of spring, friction brake and magnetic brakes (V1). Hinge, lateral damper, probe and levers are
    parameter sets of either. Raises ValueError for another word.
    """
    for option, given, known in (("contact", contact, _CONTACTS), ("axial", axial, _AXIAL)):
        if given not in known:
            raise ValueError(f"{option} is {' or '.join(known)}, not {given!r}")
    outside, where, contact_ports, contact_messages, more_sets = _CONTACTS[contact]
    device, what, axial_ports, axial_messages, device_sets = _AXIAL[axial]
    own_sets = [entry for entry in _OWN_SETS if entry.name in device_sets or entry.name not in _OF_ONE_DEVICE]
    return Component(
        name=f"ProbeMechanism{outside}{device}",
        description=f"docking mechanism of the probe-cone type, {what}{where}",
        record=record(contact_ports, axial_ports),
        initialize=initialize,
        step=step,
        messages=combined(MESSAGES, contact_messages, axial_messages),
        module=Path(__file__),
        parameter_sets=(*own_sets, *more_sets),
    )
