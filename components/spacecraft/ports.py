"""The record of a spacecraft: inputs, outputs, parameters and state (conventions section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INTEGER, OUTPUT, Group, input, output, parameter, private
from dockfmu.components.core.field import table as constant
from dockfmu.components.core.ports import BASE_MOTION, LAGGED
from dockfmu.components.core.record import Record

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def _inputs(port_count: int, thruster_count: int) -> tuple[Group, ...]:
    return (
        Group(
            "port",
            *ports.wrench_input(),
            ports.affine_mass_input(),
            *ports.pose(OUTPUT),
            *ports.twist(OUTPUT),
            *ports.acceleration(OUTPUT),
            count=port_count,
            description="docking port, deformed; x outward if it carries the active unit, inward if it is the target",
        ),
        Group(
            "control",
            input("force", "N", "force on the centre of mass, axes C, mean over the step", shape=3, evaluated="mean"),
            input("torque", "N.m", "torque about the centre of mass, axes C, mean over the step", shape=3,
                  evaluated="mean"),
        ),
        Group(
            "thruster",
            input("thrust", "N", "thrust along the thruster's direction, mean over the step", evaluated="mean"),
            count=thruster_count,
        ),
        Group(
            "command",
            input("push", "1", "constant thrust along x of C: +1 push, 0 off, -1 retreat", type=INTEGER, minimum=-1,
                  maximum=1),
            input("attitude_hold", "1", "hold the attitude at the moment this was switched on", type=BOOLEAN),
        ),
    )  # fmt: skip


def _outputs() -> tuple[Group, ...]:
    return (
        Group(
            "body",
            *ports.pose(OUTPUT),
            *ports.twist(OUTPUT),
            output("angles", "rad", "yaw, pitch, roll of C against I", shape=3),
            description="frame C at the centre of mass",
        ),
        Group("flexible", output("rotation_max", "rad", "largest elastic rotation of a port so far")),
    )


def _parameters(port_count: int, thruster_count: int, mode_count: int) -> Group:
    used = (
        parameter("modes_used", "1", "number of elastic modes used, from the lowest; 0 for a rigid craft",
                  mode_count, type=INTEGER, minimum=0, maximum=mode_count),
    )  # fmt: skip
    return Group(
        "parameters",
        parameter("mass", "kg", "mass without the mechanism, or with it for base motion SOURCE", 7000.0, minimum=1e-3),
        parameter("inertia", "kg.m2", "inertia tensor about the centre of mass, axes S", IDENTITY, shape=(3, 3)),
        parameter("inertia_about_origin", "1", "the inertia is given about the origin of S instead", 0, type=BOOLEAN),
        parameter("center_of_mass", "m", "origin of C in S", 0.0, shape=3),
        parameter("axes", "rad", "yaw, pitch, roll of C against S", 0.0, shape=3),
        parameter("fixed", "1", "frame C stands still in I", 0, type=BOOLEAN),
        parameter("push_thrust", "N", "thrust of command.push", 500.0, minimum=0.0),
        parameter("hold_frequency", "rad/s", "bandwidth of the attitude control", 0.05, minimum=0.0),
        parameter("hold_damping", "1", "damping ratio of the attitude control", 0.7, minimum=0.0),
        parameter("rotation_limit", "rad", "elastic rotation of a port above which the model is not valid", 0.05,
                  minimum=0.0),
        *(used if mode_count else ()),
        Group(
            "port",
            parameter("position", "m", "origin of the undeformed port in S", 0.0, shape=3),
            parameter("angles", "rad", "yaw, pitch, roll of the undeformed port against S", 0.0, shape=3),
            parameter("base_motion", "1", "how the port reports its acceleration to a mechanism", LAGGED,
                      type=BASE_MOTION),
            count=port_count,
        ),
        Group(
            "thruster",
            parameter("position", "m", "position of the nozzle in S", 0.0, shape=3),
            parameter("direction", "1", "unit vector of the force on the craft, axes S", (1.0, 0.0, 0.0), shape=3),
            count=thruster_count,
        ),
        Group(
            "initial",
            parameter("position", "m", "position of the centre of mass in I", 0.0, shape=3),
            parameter("quaternion", "1", "attitude I -> C, scalar first; will be normalised", ports.IDENTITY_QUATERNION,
                      shape=4),
            parameter("velocity", "m/s", "velocity of the centre of mass, axes I", 0.0, shape=3),
            parameter("angular_velocity", "rad/s", "angular velocity, axes C", 0.0, shape=3),
        ),
    )  # fmt: skip


def _hidden(port_count: int) -> tuple[Group, ...]:
    return (
        Group(
            "rigid",
            private("frame", "1", "S -> C", shape=(3, 3)),
            private("inertia", "kg.m2", "about the centre of mass, axes C", shape=(3, 3)),
            private("inverse", "1/(kg.m2)", "inverse of the inertia", shape=(3, 3)),
            private("principal_moments", "kg.m2", "principal moments of the inertia", shape=3),
            private("moments_work", "kg.m2", "work space for the principal moments", shape=(3, 3)),
            private("position", "m", "centre of mass in I", shape=3),
            private("velocity", "m/s", "of the centre of mass, axes I", shape=3),
            private("quaternion", "1", "I -> C", shape=4),
            private("angular_momentum", "N.m.s", "about the centre of mass, axes I", shape=3),
            private("angular_velocity", "rad/s", "axes C", shape=3),
            private("angular_acceleration", "rad/s2", "mean over the step just done, axes C", shape=3),
            private("displacement", "m", "displacement of the centre of mass in the step just done, axes I", shape=3),
            private("turn", "rad", "integral of the angular velocity over the step just done, axes I", shape=3),
            private("force", "N", "resultant of the present step, axes I", shape=3),
            private("torque", "N.m", "resultant about the centre of mass, axes I", shape=3),
            private("impulse", "N.s", "received by a fixed craft, axes I", shape=3),
            private("angular_impulse", "N.m.s", "received by a fixed craft about the origin of I", shape=3),
        ),
        Group(
            "mount",
            private("offset", "m", "centre of mass -> undeformed port, axes C", shape=3),
            private("quaternion", "1", "C -> undeformed port", shape=4),
            private("deformation", "1", "elastic displacement (m) and rotation (rad), axes S", shape=6),
            private("displacement", "m", "elastic displacement, axes C", shape=3),
            private("rotation", "rad", "elastic rotation vector, axes of the undeformed port", shape=3),
            private("displacement_rate", "m/s", "axes C", shape=3),
            private("rotation_rate", "rad/s", "axes C", shape=3),
            private("displacement_acceleration", "m/s2", "mean over the step just done, axes C", shape=3),
            private("rotation_acceleration", "rad/s2", "mean over the step just done, axes C", shape=3),
            private("velocity", "m/s", "absolute velocity of the port, axes I", shape=3),
            private("angular_velocity", "rad/s", "absolute, axes I", shape=3),
            private("mid_frame", "1", "C -> port at mid-step", shape=(3, 3)),
            private(
                "mid_rates",
                "1",
                "J: angular velocity from the rate of the rotation vector, mid-step, axes C",
                shape=(3, 3),
            ),
            private("mid_arm", "m", "centre of mass -> port at mid-step, axes C", shape=3),
            private("wrench", "1", "received in the present step: force (N), torque (N.m), port axes", shape=6),
            private("force", "N", "received in the present step, axes C", shape=3),
            private("torque", "N.m", "about the port, received in the present step, axes C", shape=3),
            private("load", "1", "received in the present step: force (N), torque (N.m), axes S", shape=6),
            count=port_count,
        ),
        Group(
            "actuation",
            private("force", "N", "control, push and thrusters, axes C", shape=3),
            private("torque", "N.m", "about the centre of mass, axes C", shape=3),
            private("direct_force", "N", "control and push, axes C", shape=3),
            private("direct_torque", "N.m", "control and attitude hold about the centre of mass, axes C", shape=3),
            private("mid_quaternion", "1", "I -> C at mid-step", shape=4),
            private("holding", "1", "attitude control was on in the last step"),
            private("reference", "1", "I -> C, attitude to hold", shape=4),
        ),
        Group(
            "affine",
            private("mass", "1", "M_A of the port (SI)", shape=(6, 6)),
            private("mobility", "1", "mean acceleration of the port from a unit wrench on it (SI)", shape=(6, 6)),
            private("bias", "1", "mean acceleration of the port without its wrench (SI)", shape=6),
            private("matrix", "1", "1 + M_A mobility", shape=(6, 6)),
            private("pivot", "1", "pivots of its LU factors", shape=6),
            private("added", "1", "to the received wrench: N, N.m, port axes", shape=6),
            private(
                "expected",
                "1",
                "twist of the port that its mechanism has extrapolated to the end of the step, I",
                shape=6,
            ),
            private(
                "left",
                "1",
                "impulse (N.s) and angular impulse (N.m.s) about the port that the mechanism loses "
                "beyond those added, for the next step, I",
                shape=6,
            ),
            private(
                "place",
                "m",
                "of the port in the middle of the last step, as its mechanism has extrapolated it, I",
                shape=3,
            ),
            private(
                "apart",
                "N.m.s",
                "what was left has changed the angular momentum by this much more than it "
                "changes that of the mechanism, about the origin of I",
                shape=3,
            ),
        ),
    )


def _shape(name: str, description: str) -> Group:
    return Group(
        name,
        private("center", "m", "origin of C -> centre of mass, axes C", shape=3),
        private("center_rate", "m/s", "relative to C, axes C", shape=3),
        private("spin", "N.m.s", "angular momentum of the modes relative to C, about the centre of mass", shape=3),
        private("inertia", "kg.m2", "about the centre of mass, axes C", shape=(3, 3)),
        description=description,
    )


def _two_way(n: int) -> tuple[Group, ...]:
    return (
        Group(
            "whole",
            private("position", "m", "centre of mass, deformed, in I", shape=3),
            private("momentum", "N.s", "of the whole craft, axes I", shape=3),
            _shape("before", "the deformed craft at the start of the step"),
            _shape("after", "the deformed craft at its end"),
            private("acceleration", "1", "mean acceleration of the origin of C (m/s2) and angular acceleration "
                    "(rad/s2) over the step, axes S", shape=6),
            private("response", "1", "mass matrix of the carrying motion with the modes eliminated (SI), axes S",
                    shape=(6, 6)),
            private("pivot", "1", "pivots of its LU factors", shape=6),
            private("push", "1", "effect of the AFFINE port's wrench, port axes, on the six equations, axes S (SI)",
                    shape=(6, 6)),
            private("answer", "1", "accelerations of C due to each unit of that wrench, axes S (SI)", shape=(6, 6)),
            private("received", "1", "that wrench as received, then its change: N, N.m, port axes", shape=6),
            private("load", "1", "the same as load of the modes, axes S", shape=6),
            private("turned", "1", "change of `acceleration` by the change of the wrench, axes S", shape=6),
            private("coordinate", "1", "modal coordinates at mid-step (kg^(1/2) m)", shape=n),
            private("rate", "1", "their rates (kg^(1/2) m/s)", shape=n),
            private("change", "1", "mean acceleration of each mode without forces (kg^(1/2) m/s2)", shape=n),
            private("weight", "1", "mean acceleration of each mode due to a unit force", shape=n),
            private("carried", "1", "modal force of the carrying motion in the last step (kg^(1/2) m/s2)", shape=n),
            private("lever", "1", "J_rw (kg^(1/2)) and J_phiw (kg^(1/2) m) of each mode at mid-step", shape=(n, 6)),
            description="carrying motion together with the modes",
        ),
        Group(
            "coupling",
            constant("translation", "1", "J_rw of each mode, axes S (kg^(1/2))", shape=(n, 3),
                     resource="coupling.f64"),
            constant("rotation", "1", "J_phiw of each mode, undeformed, axes S (kg^(1/2) m)", shape=(n, 3),
                     resource="coupling.f64"),
            constant("inertia", "1", "N2: change of the inertia with each mode, axes S (kg^(1/2) m)", shape=(n, 3, 3),
                     resource="coupling.f64"),
            constant("curvature", "1", "N3: quadratic change of the inertia, symmetric in the modes, axes S",
                     shape=(n, n, 3, 3), resource="coupling.f64"),
            constant("gyration", "1", "N4: change of J_phiw with each mode, axes S", shape=(n, n, 3),
                     resource="coupling.f64"),
        ),
    )  # fmt: skip


def _elastic(port_count: int, thruster_count: int, n: int, shown: bool) -> tuple[Group, ...]:
    told = "modal coordinates (kg^(1/2) m)"
    coordinate = output("coordinate", "1", told, shape=n) if shown else private("coordinate", "1", told, shape=n)
    return (
        Group(
            "elastic",
            private("step", "s", "step length for which the coefficients are valid"),
            private("stored_energy", "J", "stored energy of all modes"),
            private("kinetic_energy", "J", "kinetic energy of all modes"),
            coordinate,
            private("rate", "1", "their rates (kg^(1/2) m/s)", shape=n),
            private("from_coordinate", "1", "c1: coordinate from coordinate", shape=n),
            private("from_rate", "1", "c2: coordinate from rate, rate from force (s)", shape=n),
            private("from_force", "1", "c3: coordinate from force (s2)", shape=n),
            private("rate_from_rate", "1", "c5: rate from rate", shape=n),
            private("excitation", "1", "modal force of thrusters and control", shape=n),
            private("force", "1", "modal force", shape=n),
            private("mobility", "1", "mobility of the AFFINE port due to the modes, axes S (SI)", shape=(6, 6)),
            private("bias", "1", "mean acceleration of the AFFINE port due to the modes without its wrench, axes S "
                    "(SI)", shape=6),
        ),
        Group(
            "modes",
            constant("frequency", "rad/s", "undamped circular frequency", 1.0, shape=n, resource="modes.f64"),
            constant("decrement", "1", "logarithmic decrement", shape=n, resource="modes.f64"),
            constant("initial_coordinate", "1", "modal coordinates at the start", shape=n, resource="modes.f64"),
            constant("initial_rate", "1", "modal rates at the start", shape=n, resource="modes.f64"),
            constant("port", "1", "translation (kg^(-1/2)) and rotation (rad/m kg^(-1/2)) of each port in each mode, S",
                     shape=(port_count, n, 6), resource="modes.f64"),
            constant("thruster", "1", "translation of each nozzle in each mode, S (kg^(-1/2))",
                     shape=(thruster_count, n, 3), resource="modes.f64"),
            constant("control", "1", "translation (kg^(-1/2)) and rotation (rad/m kg^(-1/2)) of nozzle 1 in each mode",
                     shape=(n, 6), resource="modes.f64"),
        ),
    )  # fmt: skip


def _sections(names: Sequence[str]) -> tuple[Group, ...]:
    listed = ", ".join(f"{k} {name}" for k, name in enumerate(names, 1))
    return (
        Group(
            "section",
            output("force", "N", "that the part beyond the section exerts on the part of its node, axes S", shape=3),
            output("torque", "N.m", "the same about the node of the section, axes S", shape=3),
            private("held", "1", "force (N) and torque (N.m) of the loads held over the step", shape=6),
            count=len(names),
            description=f"load at a section of the structure by mode acceleration: {listed}",
        ),
    )


def _cuts(names: Sequence[str], port_count: int, thruster_count: int, n: int) -> tuple[Group, ...]:
    file = "sections.f64"
    return (
        Group(
            "cut",
            constant("port", "1", "load by the wrench on each port, axes S (SI)", shape=(port_count, 6, 6),
                     resource=file),
            constant("thruster", "1", "load by the force at each nozzle, axes S (SI)", shape=(thruster_count, 6, 3),
                     resource=file),
            constant("control", "1", "load by the wrench at nozzle 1, axes S (SI)", shape=(6, 6), resource=file),
            constant("inertia", "1", "load by minus the acceleration of C, axes S (SI)", shape=(6, 6), resource=file),
            constant("spin", "1", "load by minus the products of the angular velocity, axes S (SI)", shape=(6, 6),
                     resource=file),
            constant("modal", "1", "load by minus the acceleration and damping of each mode, axes S (SI)",
                     shape=(n, 6), resource=file),
            count=len(names),
        ),
    )  # fmt: skip


def record(
    port_count: int,
    thruster_count: int,
    mode_count: int,
    two_way: bool = False,
    sections: Sequence[str] = (),
    deformation: bool = False,
) -> Record:
    """Return the record of a craft with these numbers of ports, thrusters (at least one each) and elastic modes.

    `sections` names the sections of its structure whose loads it gives. With `deformation` the modal coordinates are
    outputs.
    """
    audit = ports.audit(devices=("modes",), works=("control",))
    elastic = _elastic(port_count, thruster_count, mode_count, deformation) if mode_count else ()
    more = _two_way(mode_count) if two_way else ()
    loads = _sections(sections) if sections else ()
    cuts = _cuts(sections, port_count, thruster_count, mode_count) if sections else ()
    return Record(
        *_inputs(port_count, thruster_count),
        *_outputs(),
        *loads,
        _parameters(port_count, thruster_count, mode_count),
        Group(
            "audit",
            *audit.members,
            output("work_port", "J", "work done so far by the wrench at each port", shape=port_count),
            output("impulse_control", "N.s", "impulse of control, push and thrusters so far, axes I", shape=3),
            output("angular_impulse_control", "N.m.s", "angular impulse of control, push and thrusters so far, about "
                   "the origin of I", shape=3),
            output("impulse_response", "N.s", "impulse added for AFFINE in the last step, to which the mechanism "
                   "responds when its next begins; axes I", shape=3),
            output("angular_impulse_response", "N.m.s", "likewise, about the origin of I", shape=3),
        ),
        ports.status(),
        *_hidden(port_count),
        *more[:1],
        *elastic,
        *more[1:],
        *cuts,
    )  # fmt: skip
