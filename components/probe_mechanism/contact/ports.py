"""The mechanism's fields and groups for its contact: inside, or outside through ports."""

from __future__ import annotations

from dataclasses import dataclass

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INTEGER, Field, Group, input, output, private, temporary
from dockfmu.components.physics.contact import probe_cone
from dockfmu.components.physics.contact.probe_cone import tip_slope
from dockfmu.components.physics.contact.probe_cone.pairs import SLOTS

CONTACTS = 16


@dataclass(frozen=True)
class ContactPorts:
    """Fields and groups that only one build has, by the group of the record that takes them."""

    target: tuple[Field, ...] = ()
    command: tuple[Field, ...] = ()
    link: tuple[Field, ...] = ()
    roller: tuple[Field, ...] = ()
    sensor: tuple[Field, ...] = ()
    public: tuple[Group, ...] = ()
    devices: tuple[str, ...] = ()
    works: tuple[str, ...] = ()
    hidden: tuple[Group, ...] = ()
    balance: tuple[Field, ...] = ()


_PLANE_CONTACT = output("plane_contact", "1", "docking planes or solid pushers bore in this step", type=BOOLEAN)
_EARLY_PLANE_CONTACT = output(
    "early_plane_contact",
    "1",
    "micro-steps in which docking planes or solid pushers bore before the drive has retracted the probe",
    type=INTEGER,
)

INTERNAL = ContactPorts(
    command=(probe_cone.latches_armed(),),
    sensor=probe_cone.sensors(),
    public=(
        probe_cone.flags(_PLANE_CONTACT),
        probe_cone.capture(),
        ports.contacts(CONTACTS),
        probe_cone.validity(_EARLY_PLANE_CONTACT),
    ),
    devices=("contact", "latches"),
    works=("tip",),
    hidden=(
        probe_cone.unit(),
        Group(
            "implicit_contact",
            private("loaded", "1", "there are contacts on the link: head, limiter", shape=2),
            private("loss_wrench", "1", "damping and friction of contacts on the links, about their joints, link axes",
                    shape=(2, 6)),
            private("closed", "1", "set of the contacts closed in the last micro-step"),
            Group(
                "last",
                private("normal", "1", "of the contact when it was last closed, PU axes", shape=3),
                count=SLOTS,
                description="contacts by their slot",
            ),
            private("correction", "1", "part of the contact wrenches added by held forces, likewise", shape=(2, 6)),
            private("axial_damping", "kg", "damping of contacts along the probe times the micro-step"),
            Group(
                "held",
                temporary("link", "1", "0 head, 1 limiter"),
                temporary("point", "m", "from the origin of the link, link axes", shape=3),
                temporary("normal", "1", "link axes", shape=3),
                temporary("velocity", "m/s", "of the point relative to PU, link axes", shape=3),
                temporary("active", "1", "the contact is held to a force"),
                temporary("force", "N", "on its link for this micro-step, link axes", shape=3),
                count=SLOTS + 1,
                description="class-1 contacts as listed, then the capture sensors",
            ),
            private("cam_damping", "kg", "damping of the rollers' contacts times the micro-step, per probe's rate"),
            private("cam_coupling", "1", "likewise, per twist of the housing about its joint, M axes", shape=6),
            private("cam_correction", "N", "added by held forces of rollers to the force on the probe's travel"),
            Group("roller", private("force", "N", "damping and friction of its contact, M axes", shape=3), count=3),
            private("dissipated", "J", "by damping and friction of contacts and capture sensors"),
            tip_slope.state(),
        ),
    ),
)  # fmt: skip

EXTERNAL = ContactPorts(
    target=ports.external_contact(),
    link=(
        *ports.wrench_input(),
        input("tip_torque", "N.m", "of the springs of latches and head sensors about the head's centre, link axes; a "
              "part of the torque, which the bent tip feels too; 0 for M", shape=3, evaluated="mean"),
        output("tip_slope", "rad", "slope of the bent probe's tip about y and z beyond that of the link; 0 for M",
               shape=2),
    ),
    roller=(
        input("force", "N", "of the contact on this roller, a part of the wrench on M; M axes", shape=3,
              evaluated="mean"),
    ),
    public=(
        Group("flag", _PLANE_CONTACT),
        Group("validity", _EARLY_PLANE_CONTACT, description="micro-steps computed outside the domain of the formulas"),
    ),
    works=("contact",),
    balance=(
        private("work_contact", "J", "done by the external contact on links, rollers and passive unit"),
        private("touched", "1", "a wrench of the external contact acts"),
        private("touched_before", "1", "one acted in the last micro-step"),
    ),
)  # fmt: skip
