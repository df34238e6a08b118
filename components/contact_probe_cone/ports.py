"""The record of the contact component: ports of conventions section 5.6 around the probe-cone unit."""

from __future__ import annotations

from dockfmu.components.contact_probe_cone import roller_losses
from dockfmu.components.core import ports
from dockfmu.components.core.field import (
    INPUT,
    Group,
    input,
    output,
    parameter,
)
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import probe_cone
from dockfmu.components.physics.contact.evaluation import evaluation
from dockfmu.components.physics.contact.probe_cone import tip_slope
from dockfmu.components.physics.devices import interface_load
from dockfmu.components.physics.mechanics import kinematics

CONTACTS = 16


# no port may begin with the fields of another: numba would take the longer record for the shorter one, and warn
RECORD = Record(
    Group("base", *ports.twist(INPUT), *ports.pose(INPUT), description="port of the active craft, frame 0"),
    Group("target", *ports.wrench_output(), *ports.apart(2.0), *ports.twist(INPUT),
          description="port of the passive unit, frame PU"),
    Group(
        "link",
        input("tip_slope", "rad", "slope of the bent probe's tip about y and z beyond that of link 1", shape=2),
        *ports.link(INPUT),
        *ports.wrench_output(),
        output("tip_torque", "N.m", "of the springs of latches and head sensors about the origin of link 1, its axes",
               shape=3),
        count=2,
        description="buffer links: head H, limiter M; wrenches in link axes about the link's origin",
    ),
    Group(
        "roller",
        input("position", "m", "centre of the roller, frame M", shape=3),
        input("velocity", "m/s", "velocity of the roller's centre relative to M, M axes", shape=3),
        output("force", "N", "on this roller, a part of the wrench on M; M axes", shape=3),
        count=3,
    ),
    Group("command", probe_cone.latches_armed()),
    Group("sensor", *probe_cone.sensors()),
    probe_cone.flags(),
    probe_cone.capture(),
    interface_load.loads(),
    ports.contacts(CONTACTS),
    probe_cone.validity(),
    ports.audit(("contact", "latches"), ("tip",)),
    ports.status(),
    Group(
        "parameters",
        evaluation(),
        parameter("head_mass", "kg", "of the head, for friction held over a step, see README", 4.0, minimum=1e-6),
        parameter("limiter_mass", "kg", "of the limiter, for friction held over a step", 20.0, minimum=1e-6),
    ),
    probe_cone.unit(),
    Group(
        "motion",
        kinematics.moving("base", "frame 0"),
        kinematics.moving("target", "frame PU"),
    ),
    tip_slope.state(),
    roller_losses.state(),
)  # fmt: skip
