"""The record of the contact component: ports of conventions section 5.6 around the pair of rings."""

from __future__ import annotations

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INPUT, Group, output, parameter
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import losses, ring_pair
from dockfmu.components.physics.contact.evaluation import evaluation
from dockfmu.components.physics.devices import interface_load
from dockfmu.components.physics.mechanics import kinematics

CONTACTS = 16


# no port may begin with the fields of another: numba would take the longer record for the shorter one, and warn
RECORD = Record(
    Group("base", *ports.twist(INPUT), *ports.pose(INPUT), description="port of the active craft, frame 0"),
    Group("target", *ports.wrench_output(), *ports.apart(2.0), *ports.twist(INPUT),
          description="port of the passive unit, frame PU"),
    Group("link", *ports.link(INPUT), *ports.wrench_output(), count=1,
          description="ring-plane frame AR of the active ring; wrench in its axes about its origin"),
    Group("command", ring_pair.release()),
    Group(
        "sensor",
        output("mated", "1", "this mating sensor is pressed in beyond its threshold", shape=3, type=BOOLEAN),
        output("latched", "1", "this latch has fired: 1 and 2 of petal 1, then of petals 2 and 3", shape=6,
               type=BOOLEAN),
        output("capture", "1", "all mating sensors are pressed in", type=BOOLEAN),
    ),
    Group(
        "flag",
        output("contact", "1", "the rings touched in this step", type=BOOLEAN),
        output("capture_mechanical", "1", "capture, and at least one latch of each petal has fired", type=BOOLEAN),
    ),
    ring_pair.capture(),
    interface_load.loads(),
    ports.contacts(CONTACTS),
    ring_pair.validity(),
    ports.audit(("contact", "latches"), ()),
    ports.status(),
    Group(
        "parameters",
        evaluation(),
        parameter("ring_mass", "kg", "of the ring, for friction held over a step, see README", 40.0, minimum=1e-6),
    ),
    ring_pair.unit(),
    Group(
        "motion",
        kinematics.moving("base", "frame 0"),
        kinematics.moving("target", "frame PU"),
    ),
    losses.state(1, "the ring, PU axes"),
)  # fmt: skip
