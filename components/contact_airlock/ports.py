"""The record of the airlock's contact: ports of conventions section 5.6, the swinging head inside."""

from __future__ import annotations

from math import radians

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INPUT, INTEGER, Group, output, parameter, private
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import airlock_pair, force
from dockfmu.components.physics.devices import interface_load
from dockfmu.components.physics.mechanics import kinematics

CONTACTS = 16


# no port may begin with the fields of another: numba would take the longer record for the shorter one, and warn
RECORD = Record(
    Group("base", *ports.twist(INPUT), *ports.wrench_output(), *ports.pose(INPUT),
          description="active unit AU, x into its craft; wrench on it in its axes about its origin"),
    Group("target", *ports.wrench_output(), *ports.apart(-2.0), *ports.twist(INPUT),
          description="passive unit PMU, x out of its craft toward the active unit"),
    Group(
        "head",
        output("angle", "rad", "swing about y and z of AU", shape=2),
        output("rate", "rad/s", "of the swing", shape=2),
    ),
    Group(
        "latch",
        output("fired", "1", "this latch has snapped out behind the strike", type=BOOLEAN),
        output("travel", "m", "by which the strike pushes it in"),
        count=airlock_pair.LATCHES,
    ),
    Group(
        "sensor",
        output("first_contact", "1", "the head touches the passive unit", type=BOOLEAN),
        output("capture", "1", "enough latches for a capture are behind the strike", type=BOOLEAN),
    ),
    interface_load.loads(),
    ports.contacts(CONTACTS),
    Group("validity", output("swing", "1", "micro-steps with the head beyond its largest angle", type=INTEGER),
          description="micro-steps computed outside the domain of the formulas"),
    ports.audit(("contact", "stops", "latches"), ()),
    ports.status(),
    Group(
        "parameters",
        Group(
            "hinge",
            parameter("inertia", "kg.m2", "J_H, of the head about either axis", 0.02, minimum=1e-6),
            parameter("gap", "rad", "psi_S,0, angle at which the head meets its stops", radians(0.5), minimum=0.0),
            parameter("stiffness", "N.m/rad", "k_S, of the stops", 1e4, minimum=0.0),
            parameter("damping", "N.m.s/rad", "c_S, of the stops", 8.5, minimum=0.0),
            parameter("limit", "rad", "largest angle, counted when exceeded", radians(1.0), minimum=0.0),
            parameter("offset", "m", "of the hinge from the origin of AU, against its x", 0.122),
            parameter("roll", "rad", "of the head relative to AU", radians(22.5)),
            description="the head swings about two axes without friction, between stops of Belleville springs",
        ),
        Group("cone", parameter("offset", "m", "of the cone's mouth from the origin of PMU, along its x", 0.106)),
        parameter("latches_for_capture", "1", "latches behind the strike that make a capture", 4, type=INTEGER,
                  minimum=1, maximum=airlock_pair.LATCHES),
        parameter("micro_step", "s", "longest step of the head near its cone", 1e-4, minimum=1e-6),
    ),
    airlock_pair.unit(),
    Group(
        "swing",
        private("angle", "rad", "about y and z of AU", shape=2),
        private("rate", "rad/s", "of the swing", shape=2),
        private("exceeded", "1", "micro-steps beyond the largest angle"),
    ),
    Group(
        "motion",
        kinematics.moving("base", "AU"),
        kinematics.moving("target", "PMU"),
        kinematics.placement("relative", "AU relative to PMU, PMU axes"),
        force.motion("hinge"),
        private("to_AU", "1", "P -> AU", shape=(3, 3)),
        private("axis", "1", "axes of the swing about y and z, P", shape=(2, 3)),
    ),
    Group(
        "work",
        force.wrench("base", "impulses on AU, its axes, about its origin"),
        force.wrench("target", "impulses on PMU, its axes, about its origin"),
        private("stop", "N.m", "torque of the stops on AU about the axes of the swing", shape=2),
        private("touched", "1", "the head has touched in this step"),
    ),
    Group(
        "losses",
        private("contact", "J", "by damping and friction so far"),
        private("stops", "J", "by the stops so far"),
    ),
)  # fmt: skip
