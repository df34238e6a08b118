"""Fields of the mechanism's record for internal contact, or for external contact through ports."""

from __future__ import annotations

from dataclasses import dataclass

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, Field, Group, output, private
from dockfmu.components.physics.contact import ring_pair

CONTACTS = 16


@dataclass(frozen=True)
class RingContactPorts:
    """Fields and groups that differ between the two builds, named by the group of the record that takes them."""

    target: tuple[Field, ...] = ()
    command: tuple[Field, ...] = ()
    link: tuple[Field, ...] = ()
    sensor: tuple[Field, ...] = ()
    public: tuple[Group, ...] = ()
    validity: tuple[Field | Group, ...] = ()
    devices: tuple[str, ...] = ()
    works: tuple[str, ...] = ()
    hidden: tuple[Group, ...] = ()
    balance: tuple[Field, ...] = ()


INTERNAL = RingContactPorts(
    command=(ring_pair.release(),),
    sensor=(
        output("mated", "1", "MATE: this mating sensor is pressed in", shape=3, type=BOOLEAN),
        output("capture", "1", "CAPTURE: all three mating sensors are pressed in", type=BOOLEAN),
        output("latched", "1", "this latch is behind its stop; two of each petal", shape=6, type=BOOLEAN),
    ),
    public=(
        Group(
            "flag",
            output("contact", "1", "the rings touched in this step", type=BOOLEAN),
            output("capture_mechanical", "1", "all mating sensors are pressed in, and a latch of each petal holds",
                   type=BOOLEAN),
        ),
        ring_pair.capture(),
        ports.contacts(CONTACTS),
    ),
    validity=ring_pair.validity().members,
    devices=("contact", "latches"),
    hidden=(ring_pair.unit(),),
    balance=(
        private("contact_work", "J", "work of the contact on ring and passive unit so far"),
        private("contact_energy", "J", "energy stored in contacts and latches at the start"),
    ),
)  # fmt: skip

EXTERNAL = RingContactPorts(
    target=ports.external_contact(),
    link=ports.wrench_input(),
    works=("contact",),
    balance=(private("work_contact", "J", "work of the external contact on ring and passive unit so far"),),
)  # fmt: skip
