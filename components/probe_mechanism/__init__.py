"""Docking mechanism of the central type (probe and cone) with its contact on the passive unit, central-docking."""

from pathlib import Path
from typing import Any

from dockfmu.components.core.component import Component, combined
from dockfmu.components.core.parameters import fitting, read_parameter_sets
from dockfmu.components.physics.contact import probe_cone
from dockfmu.components.probe_mechanism.alignment.limiter import MESSAGES as _LIMITER_MESSAGES
from dockfmu.components.probe_mechanism.axial import spring_and_brake, two_brakes
from dockfmu.components.probe_mechanism.axial.ports import SPRING_AND_BRAKE, TWO_BRAKES
from dockfmu.components.probe_mechanism.contact import external as external_contact
from dockfmu.components.probe_mechanism.contact import internal as internal_contact
from dockfmu.components.probe_mechanism.contact.ports import EXTERNAL, INTERNAL
from dockfmu.components.probe_mechanism.kernel import MESSAGES, initialize, step
from dockfmu.components.probe_mechanism.ports import record

_OWN_SETS = read_parameter_sets(Path(__file__).parent / "parameters")
# part of the FMU's name, description, ports, messages, parameter sets of other packages
_CONTACTS: dict[str, tuple[Any, ...]] = {
    "internal": ("", "", INTERNAL, internal_contact.MESSAGES, probe_cone.PARAMETER_SETS),
    "external": ("External", ", external contact on the passive unit", EXTERNAL, external_contact.MESSAGES, ()),
}
# description, ports, messages
_AXIAL: dict[str, tuple[Any, ...]] = {
    "spring_and_brake": ("existing design", SPRING_AND_BRAKE, spring_and_brake.MESSAGES),
    "two_brakes": ("two axial friction brakes", TWO_BRAKES, two_brakes.MESSAGES),
}
# description, messages
_LIMITERS: dict[str, tuple[Any, ...]] = {
    "fixed": ("", {}),
    "movable": (", movable limiter", _LIMITER_MESSAGES),
}
# part of the FMU's name
_NAMES = {
    ("spring_and_brake", "fixed"): "",
    ("two_brakes", "fixed"): "TwoBrakes",
    ("two_brakes", "movable"): "MovableLimiter",
    ("spring_and_brake", "movable"): "SpringMovableLimiter",
}


def component(contact: str = "internal", axial: str = "spring_and_brake", limiter: str = "fixed") -> Component:
    """Return the mechanism with this contact, this axial device and this limiter.

    `contact = "external"` leaves the contact on the passive unit to a separate FMU, `ContactProbeCone`, whose wrenches
    come through ports and hold over a step. `axial = "two_brakes"` has two friction brakes in series (variant V2)
    instead of spring, friction brake and magnetic brakes (V1). With `limiter = "movable"` the limiter slides along the
    housing on springs, and there are no alignment levers (variant V3, with two brakes). Hinge, lateral damper and probe
    are chosen by parameter sets. Raises ValueError for any other value.
    """
    options = (("contact", contact, _CONTACTS), ("axial", axial, _AXIAL), ("limiter", limiter, _LIMITERS))
    for option, value, choices in options:
        if value not in choices:
            raise ValueError(f"{option} is {' or '.join(choices)}, not {value!r}")
    contact_name, contact_text, contact_ports, contact_messages, more_sets = _CONTACTS[contact]
    axial_text, axial_ports, axial_messages = _AXIAL[axial]
    limiter_text, more_messages = _LIMITERS[limiter]
    return Component(
        name=f"ProbeMechanism{contact_name}{_NAMES[axial, limiter]}",
        description=f"docking mechanism of the probe-cone type, {axial_text}{limiter_text}{contact_text}",
        record=record(contact_ports, axial_ports, limiter == "movable"),
        initialize=initialize,
        step=step,
        messages=combined(MESSAGES, contact_messages, axial_messages, more_messages),
        module=Path(__file__),
        parameter_sets=(*fitting(_OWN_SETS, {"axial": axial, "limiter": limiter}), *more_sets),
    )
