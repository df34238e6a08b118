"""The record of the radiator's contact: ports of conventions section 5.6 around the pair of units."""

from __future__ import annotations

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INPUT, Group, output
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import losses, radiator_pair
from dockfmu.components.physics.contact.evaluation import evaluation
from dockfmu.components.physics.devices import interface_load
from dockfmu.components.physics.mechanics import kinematics

CONTACTS = 8


# no port may begin with the fields of another: numba would take the longer record for the shorter one, and warn
RECORD = Record(
    Group("base", *ports.twist(INPUT), *ports.wrench_output(), *ports.pose(INPUT),
          description="active unit on the radiator, x out of it; wrench on it in its axes about its origin"),
    Group("target", *ports.wrench_output(), *ports.apart(2.0), *ports.twist(INPUT),
          description="passive unit USP, x into its craft"),
    Group(
        "sensor",
        output("first_contact", "1", "the units touch", type=BOOLEAN),
        output("capture", "1", "the ball is behind the plug", type=BOOLEAN),
    ),
    Group(
        "flag",
        output("plane_contact", "1", "the docking planes touch", type=BOOLEAN),
        output("in_socket", "1", "the plug is in the bore of its socket", type=BOOLEAN),
        output("guide_contact", "1", "this guide pin touches its cone or its bore", shape=2, type=BOOLEAN),
        output("plug_contact", "1", "the plug touches the plane, the cone or the bore of its socket", type=BOOLEAN),
    ),
    Group(
        "docking",
        output("plane_gap", "m", "distance between the docking planes at the axis"),
        output("position", "m", "active unit from the passive one, axes USP", shape=3),
        output("angles", "rad", "yaw, pitch, roll of the active unit relative to USP", shape=3),
    ),
    interface_load.loads(),
    ports.contacts(CONTACTS),
    ports.audit(("contact", "ball"), ()),
    ports.status(),
    Group("parameters", evaluation()),
    radiator_pair.unit(),
    Group(
        "motion",
        kinematics.moving("base", "active unit"),
        kinematics.moving("target", "USP"),
        kinematics.placement("relative", "active unit relative to USP, USP axes"),
    ),
    losses.state(1, "the active unit, USP axes"),
)  # fmt: skip
