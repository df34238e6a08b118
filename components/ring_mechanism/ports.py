"""The record of a ring mechanism: the ports of the peripheral mechanism, parameters and states of its legs."""

from __future__ import annotations

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INPUT, INTEGER, OUTPUT, Group, changed, output, parameter
from dockfmu.components.core.record import Record
from dockfmu.components.physics.devices import exchange, guide_pins, interface_load, pushers
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.ring_on_legs import micro_step_control, platform, separation
from dockfmu.components.physics.ring_on_legs.contact.ports import INTERNAL as CONTACT
from dockfmu.components.ring_mechanism.legs.law import LegLaw

WORKS = ("base", "target")

STARTS = {"longest_micro_step": 2.5e-4}
"""Start values that differ from the peripheral mechanism: with leg dampers, longer micro-steps may lose energy."""


# none: set IDSS-pushers has some
PUSHERS = changed(
    pushers.parameters(),
    {"preload": {"start": 0.0}, "stiffness": {"start": 0.0}, "protrusion": {"start": 0.0}},
)


def _parameters(law: LegLaw) -> Group:
    group = Group(
        "parameters",
        parameter("docking_plane_x", "m", "abscissa of the active docking plane in frame 0", 0.23908),
        parameter("base_motion", "1", "how the carrier reports its acceleration; must be the same as at its port",
                  ports.LAGGED, type=ports.BASE_MOTION),
        *micro_step_control.parameters(),
        parameter("step_limit", "s", "longest step over which the motion of the ports may be extrapolated", 0.02,
                  minimum=1e-6),
        *law.geometry,
        *law.parameters,
        PUSHERS,
        guide_pins.parameters(),
    )  # fmt: skip
    return changed(group, {name: {"start": start} for name, start in (STARTS | dict(law.starts)).items()})


def record(law: LegLaw) -> Record:
    """Return the record of the ring mechanism with this law of the legs."""
    return Record(
        exchange.carrier_port(),
        Group("target", *ports.apart(3.0), *ports.twist(INPUT), *ports.acceleration(INPUT),
              *ports.wrench_output(), description="port of the passive unit, frame PU"),
        Group("command", *law.command, *CONTACT.command),
        Group("link", *ports.link(OUTPUT), count=1, description="ring plane AR"),
        Group("ring", output("angles", "rad", "yaw, pitch, roll of the ring against frame 0", shape=3)),
        Group(
            "leg",
            *law.leg,
            count=platform.LEGS,
        ),
        Group("sensor", *CONTACT.sensor, output("retracted", "1", "all legs are retracted", type=BOOLEAN)),
        interface_load.loads(),
        ports.docking(),
        *law.public,
        guide_pins.outputs(),
        *CONTACT.public,
        Group(
            "validity",
            output("pin_missed", "1", "steps in which a guide pin bore on the plane beside its socket", type=INTEGER),
            *CONTACT.validity,
            description="steps and micro-steps in which the model was used outside its domain",
        ),
        Group(
            "audit",
            *ports.audit((*law.devices, *CONTACT.devices, "guide_pins"), (*WORKS, *law.works)).members,
            *exchange.audit(),
        ),
        ports.status(),
        _parameters(law),
        law.hexapod,
        platform.state(),
        law.state,
        guide_pins.state(),
        *law.drive,
        kinematics.placement("relative", "frame 0 relative to PU, PU axes"),
        Group("motion", kinematics.moving("base", "frame 0"), kinematics.moving("target", "frame PU")),
        micro_step_control.state(),
        Group("balance", *exchange.balance(), *separation.balance(), *CONTACT.balance),
        *CONTACT.hidden,
    )  # fmt: skip
