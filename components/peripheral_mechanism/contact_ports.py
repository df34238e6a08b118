"""What the record of the mechanism has for its contact: inside, or outside through ports."""

from __future__ import annotations

from dataclasses import dataclass

from components.core import ports
from components.core.field import Field, Group, input, private


@dataclass(frozen=True)
class RingContactPorts:
    """Fields and groups that one build has and the other has not, by the group of the record that takes them."""

    target: tuple[Field, ...] = ()
    link: tuple[Field, ...] = ()
    sensor: tuple[Field, ...] = ()
    public: tuple[Group, ...] = ()
    devices: tuple[str, ...] = ()
    works: tuple[str, ...] = ()
    hidden: tuple[Group, ...] = ()
    balance: tuple[Field, ...] = ()


EXTERNAL = RingContactPorts(
    target=(
        input("contact_force", "N", "force of the external contact on the passive unit, PU axes", shape=3,
              evaluated="mean"),
        input("contact_torque", "N.m", "torque of the external contact on the passive unit about the origin of PU",
              shape=3, evaluated="mean"),
    ),
    link=ports.wrench_input(),
    works=("contact",),
    balance=(private("work_contact", "J", "done by the external contact on ring and passive unit"),),
)  # fmt: skip
