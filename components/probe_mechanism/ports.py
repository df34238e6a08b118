"""The record of the probe mechanism: ports of conventions section 5.2, parameters of its devices, their states."""

from __future__ import annotations

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INPUT, OUTPUT, Group, input, output, parameter, private
from dockfmu.components.core.record import Record
from dockfmu.components.physics.devices import docking_planes, drive, exchange, interface_load, pushers
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.probe_mechanism import cover, micro_step_control, tree
from dockfmu.components.probe_mechanism.alignment import limiter
from dockfmu.components.probe_mechanism.alignment.ports import LEVER_PARAMETERS, LEVERS, SIMPLIFICATIONS
from dockfmu.components.probe_mechanism.axial import axial_train, end_stops
from dockfmu.components.probe_mechanism.axial.ports import AxialPorts
from dockfmu.components.probe_mechanism.contact.ports import ContactPorts
from dockfmu.components.probe_mechanism.lateral import lateral_damper

# in addition to those of the axial device and of the contact
DEVICES = (
    "drive",
    "probe",
    "lateral_springs",
    "lateral_brakes",
    "lateral_stops",
    "cover",
    "planes",
    "end_stops",
)
WORKS = ("base", "target", "drive", "stiffness", "levers")


def _parameters(axial_device: AxialPorts, movable_limiter: bool) -> Group:
    return Group(
        "parameters",
        parameter("docking_plane_x", "m", "abscissa of the active docking plane in frame 0", 0.133),
        parameter("base_motion", "1", "how the carrier reports its acceleration; the same as at its port",
                  ports.LAGGED, type=ports.BASE_MOTION),
        parameter("simplifications", "1", "simplifications of the source that create or destroy energy",
                  SIMPLIFICATIONS.codes["NONE"], type=SIMPLIFICATIONS),
        *micro_step_control.parameters(),
        parameter("step_limit", "s", "longest step over which the ports' motion may be extrapolated", 0.02,
                  minimum=1e-6),
        parameter("initial_travel", "m", "compression of the probe at the start; 0 at the initial position", 0.0,
                  minimum=0.0),
        parameter("sensor_margin", "m", "travel from the end positions within which their sensors switch", 5e-4,
                  minimum=0.0),
        parameter("travel_margin", "m", "travel beyond full retraction for which the model holds", 0.01, minimum=0.0),
        axial_device.parameters,
        end_stops.parameters(),
        drive.parameters(),
        lateral_damper.parameters(),
        tree.parameters(),
        limiter.parameters() if movable_limiter else LEVER_PARAMETERS,
        pushers.parameters(),
        *docking_planes.parameters(),
        cover.parameters(),
    )  # fmt: skip


def record(contact: ContactPorts, axial_device: AxialPorts, movable_limiter: bool = False) -> Record:
    """Return the record of the build with this contact, this axial device, and a movable limiter or levers."""
    joints = tree.ANGLES + movable_limiter
    links = "head H, limiter" if movable_limiter else "head H, housing M"
    here = "" if movable_limiter else "; 0 here"
    devices = (*axial_device.devices, *DEVICES, *(("limiter",) if movable_limiter else ()), *contact.devices)
    return Record(
        # optional members come first: otherwise numba would take the longer record for the shorter one, and warn
        exchange.carrier_port(),
        Group("target", *contact.target, *ports.apart(2.0), *ports.twist(INPUT),
              *ports.acceleration(INPUT), *ports.wrench_output(),
              description="port of the passive unit, frame PU"),
        Group(
            "command",
            input("motor_voltage", "V", "of both motors, positive retracts", shape=2, discrete=True),
            input("lateral_brakes", "1", "switchable magnetic brakes of the lateral damper on", type=BOOLEAN),
            *contact.command,
            input("limiter_release", "1", "movable limiter free on its springs; false locks it"
                  + ("" if movable_limiter else "; without effect here"), 1.0, type=BOOLEAN),
        ),
        Group("link", *ports.link(OUTPUT), *contact.link, count=2, description=f"buffer links: {links}"),
        Group(
            "roller",
            output("position", "m", "centre of the roller, frame M", shape=3),
            output("velocity", "m/s", "velocity of the roller's centre relative to M, M axes", shape=3),
            *contact.roller,
            count=3,
        ),
        Group(
            "sensor",
            output("extended", "1", "IP: probe at its initial, extended position", type=BOOLEAN),
            output("retracted", "1", "KP: probe fully retracted", type=BOOLEAN),
            *contact.sensor,
            output("axial_travel", "m", "LPS: compression of the probe"),
            output("probe_deflection", "m", "BPR, BPT: displacement of the head along y and z of frame 0", shape=2),
            output("housing_angle", "rad", "of the housing about y and z", shape=2),
        ),
        tree.outputs(),
        Group(
            "limiter",
            output("travel", "m", f"of the movable limiter from its forward position{here}"),
            output("rate", "m/s", f"of the movable limiter, positive to the rear{here}"),
        ),
        Group(
            "nut",
            output("angle", "rad", "of the ball nut, positive shortens the probe"),
            output("rate", "rad/s", "of the ball nut, positive shortens the probe"),
        ),
        Group("probe", output("length", "m", "free length: exit bearing -> head centre")),
        drive.state(),
        axial_device.state,
        lateral_damper.outputs(),
        cover.state(),
        interface_load.loads(),
        ports.docking(),
        *contact.public,
        Group(
            "audit",
            *ports.audit(devices, (*WORKS, *contact.works)).members,
            *exchange.audit(),
        ),
        ports.status(),
        _parameters(axial_device, movable_limiter),
        tree.state(limiter.body() if movable_limiter else None),
        lateral_damper.state(),
        axial_train.load(),
        end_stops.state(),
        docking_planes.state(),
        LEVERS,
        kinematics.placement("relative", "frame 0 relative to PU, PU axes"),
        Group(
            "motion",
            kinematics.moving("base", "frame 0, on the hatch cover"),
            kinematics.moving("target", "frame PU"),
            private("joint_position", "rad", "joints of the tree at the start of the micro-step", shape=joints),
        ),
        micro_step_control.state(joints),
        Group(
            "balance",
            *exchange.balance(),
            private("pusher_energy", "J", "stored in pushers and docking planes"),
            private("push_force", "N", "of pushers and docking planes on the target, PU", shape=3),
            private("push_torque", "N.m", "likewise, about the origin of PU", shape=3),
            private("work_levers", "J", "done by the cam on the rollers, which the nut does not feel"),
            *contact.balance,
        ),
        *contact.hidden,
        *((limiter.state(),) if movable_limiter else ()),
    )  # fmt: skip
