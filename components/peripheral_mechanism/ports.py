"""The record of the peripheral mechanism: ports of conventions section 5.4, parameters of its devices, their states."""

from __future__ import annotations

from dockfmu.components.core import ports
from dockfmu.components.core.field import (
    BOOLEAN,
    INPUT,
    INTEGER,
    OUTPUT,
    Group,
    changed,
    input,
    output,
    parameter,
    private,
)
from dockfmu.components.core.record import Record
from dockfmu.components.peripheral_mechanism import accumulator
from dockfmu.components.physics.devices import exchange, guide_pins, interface_load, pushers
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.ring_on_legs import forward_stop, micro_step_control, platform, retraction, separation
from dockfmu.components.physics.ring_on_legs.contact.ports import RingContactPorts
from dockfmu.components.physics.ring_on_legs.drive_ports import DRIVE, MOTOR, drive_outputs, motor_voltage

LEGS = platform.LEGS

DEVICES = ("accumulators", "clutches", "legs", "stops", "cables", "drive", "guide_pins")
WORKS = ("base", "target", "drive")


# 1500 N over the last 20 mm
_PUSHERS = changed(
    pushers.parameters(),
    {
        "preload": {"start": 375.0},
        "stiffness": {"start": 0.0},
        "protrusion": {"start": 0.02},
    },
    description="separation pushers and connectors on the active docking plane",
)


def _parameters() -> Group:
    return Group(
        "parameters",
        parameter("docking_plane_x", "m", "abscissa of the active docking plane in frame 0", 0.23908),
        parameter("base_motion", "1", "how the carrier reports its acceleration; must be the same as at its port",
                  ports.LAGGED, type=ports.BASE_MOTION),
        *micro_step_control.parameters(),
        parameter("step_limit", "s", "longest step over which the motion of the ports may be extrapolated", 0.02,
                  minimum=1e-6),
        parameter("initial_stroke", "m", "stroke of all legs at the start, with locked recoil and zero force", 0.14,
                  minimum=0.0),
        parameter("initial_gear_angle", "rad", "angle of the gear cams at the start; 5.236 with all slack paid out",
                  5.235987755982989, minimum=0.0),
        parameter("switch_margin", "m", "deviation of the stroke from IP within which the IP switch is closed", 2.5e-3,
                  minimum=0.0),
        parameter("retracted_margin", "m", "stroke of all legs up to which the mechanism is retracted", 1e-3,
                  minimum=0.0),
        *platform.parameters(),
        forward_stop.parameters(),
        accumulator.parameters(),
        retraction.parameters(),
        DRIVE,
        _PUSHERS,
        guide_pins.parameters(),
    )  # fmt: skip


def record(contact: RingContactPorts) -> Record:
    """Return the record of the build with this contact."""
    return Record(
        # fields of only one port or build come first: numba would take the longer record for the shorter, and warn
        exchange.carrier_port(),
        Group("target", *contact.target, *ports.apart(3.0), *ports.twist(INPUT),
              *ports.acceleration(INPUT), *ports.wrench_output(),
              description="port of the passive unit, frame PU"),
        Group(
            "command",
            input("recoil_lock", "1", "clutch of each leg: recoil locked", 1.0, shape=LEGS, type=BOOLEAN),
            motor_voltage(),
            *contact.command,
        ),
        Group("link", *ports.link(OUTPUT), *contact.link, count=1, description="ring plane AR"),
        Group("ring", output("angles", "rad", "yaw, pitch, roll of the ring against frame 0", shape=3)),
        Group(
            "leg",
            output("stroke", "m", "stroke of the leg, 0 at the retracted position"),
            output("roll", "rad", "rotation of the rod about its axis"),
            output("effective_stroke", "m", "stroke equivalent to the rotation of the nut"),
            output("spring_force", "N", "force of spring and train on the rod, positive pushes it out"),
            output("state", "1", "line of the accumulator: 0 to 5, 11 or 12", type=INTEGER),
            output("locked", "1", "recoil is locked", type=BOOLEAN),
            count=LEGS,
        ),
        Group(
            "sensor",
            output("initial_position", "1", "IP switch of each leg is closed", shape=LEGS, type=BOOLEAN),
            output("initial_position_lost", "1", "a leg is shorter than at IP", type=BOOLEAN),
            *contact.sensor,
            output("retracted", "1", "RP: all legs retracted", type=BOOLEAN),
            output("drive_limit", "1", "all the slack of the cables is paid out", type=BOOLEAN),
        ),
        retraction.outputs(),
        guide_pins.outputs(),
        drive_outputs(),
        interface_load.loads(),
        ports.docking(),
        *contact.public,
        Group(
            "validity",
            output("cable_stop", "1", "number of steps in which a taut cable held the unlocked ring, drive at rest",
                   type=INTEGER),
            output("pin_missed", "1", "steps in which a guide pin bore on the plane beside its socket", type=INTEGER),
            *contact.validity,
            description="steps and micro-steps in which the model was used outside its domain",
        ),
        Group(
            "audit",
            *ports.audit((*DEVICES, *contact.devices), (*WORKS, *contact.works)).members,
            *exchange.audit(),
        ),
        ports.status(),
        _parameters(),
        hexapod.hexapod(),
        platform.state(),
        accumulator.state(),
        forward_stop.state(),
        guide_pins.state(),
        MOTOR,
        kinematics.placement("relative", "frame 0 relative to PU, PU axes"),
        Group("motion", kinematics.moving("base", "frame 0"), kinematics.moving("target", "frame PU")),
        micro_step_control.state(),
        Group(
            "balance",
            *exchange.balance(),
            *separation.balance(),
            private("spring_energy", "J", "stored energy of the accumulators at the start"),
            private("gear_loss", "J", "energy dissipated in the self-locking power gears so far"),
            *contact.balance,
        ),
        *contact.hidden,
    )  # fmt: skip
