"""The record of a multibody component: what the FMU shows, by the names of the declaration, and its state."""

from __future__ import annotations

from collections.abc import Mapping

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INPUT, OUTPUT, Field, Group, local, output, parameter, private
from dockfmu.components.core.ports import BASE_MOTION, LAGGED
from dockfmu.components.multibody.contacts import ports as contact_ports
from dockfmu.components.multibody.drive_ports import drive_fields, drive_parameters, loop_group
from dockfmu.components.multibody.elastic_ports import (
    deflection_fields,
    elastic_fields,
    elastic_labels,
    flex_group,
    longest_step,
    modal_fields,
    mode_labels,
    node_labels,
    section_fields,
    section_labels,
)
from dockfmu.components.multibody.families import Family, FamilyGroup, NamedRecord, hidden, hidden_group
from dockfmu.components.multibody.joint_ports import (
    coordinate_fields,
    coordinate_labels,
    drive_units,
    law_fields,
    lock_fields,
    place_fields,
    rotation_fields,
    sensor_unit,
    special_labels,
    start_fields,
)
from dockfmu.components.multibody.link_data import Links
from dockfmu.components.multibody.loop_ports import closure_group, cut_fields
from dockfmu.components.multibody.model.parts import Model, PointSpring, Port, RigidBody
from dockfmu.components.multibody.outcomes import decision, outcome_fields, requirement_group
from dockfmu.components.multibody.run_ports import grounded, run_group
from dockfmu.components.multibody.sparse_order import loop_plan
from dockfmu.components.physics.devices import interface_load, micro_steps
from dockfmu.components.physics.tree.ports import link_group

LEAST_MASS = 1e-9
"""Least mass of a body that has one, kg."""
MICRO_STEP, LONGEST, TOLERANCE = 1e-4, 1e-3, 1e-6
"""Start values of the micro-steps, s, and of their tolerance, rad/s or m/s."""
DEVICES = ("dampers", "stops", "friction", "springs", "locks", "contacts", "hysteresis", "motors")
WORKS = ("drives", "motors", "motions", "ports", "base", "target", "parameters")


def record_of(model: Model, made: Links, values: Mapping[str, float]) -> NamedRecord:
    """Return the record of a model laid out as `made`; `values` are the start values of what connects its parts."""
    coordinates, special = coordinate_labels(model), special_labels(model)
    joints = {joint.name: joint for joint in model.joints}
    bodies = {body.name: body for body in model.bodies}
    springs = {spring.name: spring for spring in model.springs}
    locks = {lock.name: lock for lock in model.locks}
    cuts = {joint.name: joint for joint in model.cuts}
    own_ports = {port.name: port for port in model.ports}
    surfaces = {surface.name: surface for surface in model.surfaces}
    contacts = {contact.name: contact for contact in model.contacts}
    sensors = {sensor.name: sensor for sensor in model.sensors}
    drives = {drive.name: drive for drive in model.drives}
    order, sparse = loop_plan(model, made)
    looked_at = {sensor.name: sensor_unit(sensor, joints) for sensor in model.sensors}
    return NamedRecord(
        _base(model),
        hidden_group(contact_ports.target_group(), contact_ports.has_target(model)),
        hidden_group(interface_load.loads(), contact_ports.has_target(model)),
        Family("port", list(own_ports), lambda name: _port_fields()),
        Family("coordinate", coordinates, coordinate_fields, "joint"),
        Family("rotation", special, lambda name: rotation_fields(joints.get(name)), "joint"),
        Family("body", list(bodies), lambda name: _body_fields(), "body"),
        Family("spring", list(springs), lambda name: _spring_fields(), "spring"),
        Family("lock", list(locks), lambda name: lock_fields(locks.get(name), joints), "lock"),
        Family("drive", list(drives),
               lambda name: drive_fields(drives.get(name), *drive_units(drives.get(name), joints)), "drive"),
        Family("elastic", elastic_labels(model), elastic_fields, "elastic"),
        Family("deflection", node_labels(model), deflection_fields, "node"),
        Family("modal", mode_labels(model), modal_fields, "mode"),
        Family("section", section_labels(model), section_fields, "section"),
        Family("cut", list(cuts), lambda name: cut_fields(cuts.get(name)), "joint"),
        Family("surface", list(surfaces), lambda name: contact_ports.surface_fields(), "surface"),
        Family("contact", list(contacts), lambda name: contact_ports.contact_fields(), "contact"),
        Family("sensor", list(sensors),
               lambda name: contact_ports.sensor_fields(sensors.get(name), looked_at.get(name, "1")), "sensor"),
        decision(model),
        Family("result", [one.name for one in model.outcomes], outcome_fields, "outcome"),
        FamilyGroup(
            "parameters",
            (
                Group(
                    "stepping",
                    *micro_steps.parameters(MICRO_STEP, longest_step(model, LONGEST, MICRO_STEP), TOLERANCE),
                ),
                parameter("gravity", "m/s2", "uniform field, axes I", model.gravity, shape=3, tunable=True),
                _base_motion(model),
                Family("body", list(bodies), lambda name: _mass_fields(bodies.get(name)), "body"),
                Family("joint", [joint.name for joint in model.tree], lambda name: place_fields(joints.get(name)),
                       "joint"),
                Family("coordinate", coordinates, lambda label: law_fields(label, model, joints), "joint"),
                Family("rotation", special, lambda name: start_fields(joints.get(name)), "joint"),
                Family("drive", list(drives),
                       lambda name: drive_parameters(drives.get(name), *drive_units(drives.get(name), joints)),
                       "drive"),
                Family("spring", list(springs), lambda name: _spring_parameters(springs.get(name)), "spring"),
                Family("port", list(own_ports), lambda name: _port_parameters(own_ports.get(name)), "port"),
                Family("surface", list(surfaces), lambda name: contact_ports.outline_fields(surfaces.get(name)),
                       "surface"),
                Family("vertex", contact_ports.vertex_labels(model),
                       lambda label: contact_ports.vertex_fields(label, surfaces), "surface"),
                Family("contact", list(contacts), lambda name: contact_ports.law_fields(contacts.get(name)), "contact"),
                Family("sensor", list(sensors),
                       lambda name: contact_ports.level_fields(sensors.get(name), looked_at.get(name, "1")), "sensor"),
            ),
        ),
        _audit(model),
        ports.status(),
        ports.start_time(),
        Group("stepping", *micro_steps.state()),
        run_group(model, order, sparse),
        closure_group(model, order, sparse),
        *contact_ports.hidden_groups(model),
        loop_group(len(model.loops)),
        requirement_group(model),
        flex_group(model),
        link_group(len(made.kind), bool(elastic_labels(model))),
        values=values,
    )  # fmt: skip


def _audit(model: Model) -> Group:
    owed = (
        output("impulse_response", "N.s", "of mechanisms with AFFINE on its ports in the last step, which they lose "
               "when their next begins; axes I", shape=3),
        output("angular_impulse_response", "N.m.s", "likewise, about the origin of I", shape=3),
    )  # fmt: skip
    late = (
        output("work_response", "J", "part of work_base so far: done when steps began, in response to the true motion "
               "of the base; in a balance it belongs to the end of the step before"),
        output("momentum_response", "N.s", "momentum so far received so, axes I", shape=3),
        output("loss_response", "J", "part of dissipated_locks so far: its correction when steps began, likewise"),
    )  # fmt: skip
    held = output("grounded", "1", "what stands still takes up momentum of it, which is not balanced", 1, type=BOOLEAN)
    return Group(
        "audit",
        *ports.audit(DEVICES, WORKS).members,
        *hidden(owed, bool(model.ports)),
        *hidden(late, model.base == "carried"),
        *hidden((held,), grounded(model)),
    )


def _base(model: Model) -> Group:
    fields = (
        *ports.pose(INPUT),
        *ports.twist(INPUT),
        *ports.acceleration(INPUT),
        *ports.wrench_output(),
        output("affine_mass", "1", "-d(wrench)/d(acceleration), upper triangle by rows, SI, force first; 0 except with "
               "AFFINE", shape=21),
    )  # fmt: skip
    carried = model.base == "carried"
    return Group("base", *hidden(fields, carried), description="port of the craft that carries the system")


def _base_motion(model: Model) -> Field:
    field = parameter("base_motion", "1", "how the craft reports its acceleration", LAGGED, type=BASE_MOTION)
    return hidden((field,), model.base == "carried")[0]


def _body_link() -> tuple[Field, ...]:
    """Return where a body is among the links: `layout` gives the values."""
    return (
        private("link", "1", "index of the link of the body"),
        private("reference", "m", "reference point of the link, body frame", shape=3),
        private("axes", "1", "body -> link", shape=(3, 3)),
    )


def _port_fields() -> tuple[Field, ...]:
    return (
        *ports.wrench_input(),
        ports.affine_mass_input(),
        *ports.pose(OUTPUT),
        *ports.twist(OUTPUT),
        *ports.acceleration(OUTPUT),
        private("body", "1", "index of its body, -1 for the base"),
        private("link", "1", "index of the link of its body"),
        private("arm", "m", "origin from the reference point, axes of the link", shape=3),
        private("turn", "1", "link -> port", shape=(3, 3)),
        private("last_velocity", "m/s", "absolute, at the start of the step, I", shape=3),
        private("last_spin", "rad/s", "likewise", shape=3),
        private("held_force", "N", "in this step, I: the force at the attitude of its middle", shape=3),
        private("held_torque", "N.m", "likewise", shape=3),
        private("middle", "m", "place in the middle of this step, predicted from its start, I", shape=3),
        private("affine", "1", "1: a mechanism on it responds to its acceleration (AFFINE)", type=BOOLEAN),
        private("tt", "kg", "inertia of this mechanism at the port in this step, as that of a link; I", shape=6),
        private("tr", "kg.m", "likewise", shape=9),
        private("rr", "kg.m2", "likewise", shape=6),
        private("given", "m/s2", "acceleration with which the mechanism moves in this step, I", shape=3),
        private("given_turn", "rad/s2", "likewise, the mean of its angular acceleration", shape=3),
        private("expected", "m/s", "velocity that it has extrapolated to the end of this step, I", shape=3),
        private("expected_spin", "rad/s", "likewise, angular velocity", shape=3),
        private("response", "N.s", "impulse of its response in this step, I", shape=3),
        private("angular_response", "N.m.s", "likewise, about the moving origin of the port", shape=3),
        private("last_middle", "m", "`middle` in the last step, I", shape=3),
        private("left_impulse", "N.s", "what it loses beyond this, for the next step, I", shape=3),
        private("left_angular_impulse", "N.m.s", "likewise", shape=3),
    )


def _body_fields() -> tuple[Field, ...]:
    return (
        local("position", "m", "origin of the body's frame, components in I", shape=3),
        local("quaternion", "1", "I -> body, scalar first", ports.IDENTITY_QUATERNION, shape=4),
        local("velocity", "m/s", "absolute velocity of the origin, body axes", shape=3),
        local("angular_velocity", "rad/s", "absolute angular velocity, body axes", shape=3),
        *_body_link(),
    )


def _spring_fields() -> tuple[Field, ...]:
    return (
        output("length", "m", "distance of its two points"),
        output("rate", "m/s", "rate of the distance"),
        output("tension", "N", "force with which it pulls its points together"),
        private("first", "1", "index of its first body, -1 for the base"),
        private("second", "1", "index of its second body"),
        private("first_link", "1", "index of the link of the first body"),
        private("second_link", "1", "index of the link of the second body"),
        private("first_arm", "m", "point on the first body from the reference point, axes of the link", shape=3),
        private("second_arm", "m", "likewise on the second", shape=3),
        private("taut", "1", "1: a tether or a pusher has acted in the last micro-step", type=BOOLEAN),
    )


def _mass_fields(body: RigidBody | None) -> tuple[Field, ...]:
    one = body or RigidBody("", 0.0)
    fields = (
        parameter("mass", "kg", "mass", one.mass, minimum=LEAST_MASS if one.mass else 0.0),
        parameter("center", "m", "centre of mass, body frame", one.center, shape=3),
        parameter("inertia", "kg.m2", "inertia about the centre of mass, body axes", one.inertia, shape=(3, 3)),
    )
    # the data of an elastic body are those of its file; a node has none
    return hidden(fields, one.elastic is None)


def _spring_parameters(spring: PointSpring | None) -> tuple[Field, ...]:
    one = spring or PointSpring("", "", "")
    return (
        parameter("first_point", "m", f"point on {one.first}, body frame", one.first_point, shape=3),
        parameter("second_point", "m", f"point on {one.second}, body frame", one.second_point, shape=3),
        parameter("stiffness", "N/m", "stiffness", one.stiffness, minimum=0.0, tunable=True),
        parameter("length", "m", "length without tension", one.length, minimum=0.0, tunable=True),
        parameter("damping", "N.s/m", "damping coefficient", one.damping, minimum=0.0, tunable=True),
        private("tether", "1", "1: it does not push, -1: it does not pull", float(one.tether) - float(one.pusher)),
    )


def _port_parameters(port: Port | None) -> tuple[Field, ...]:
    one = port or Port("", "")
    return (
        parameter("point", "m", f"origin of the port on {one.body}, body frame", one.point, shape=3),
        parameter("base_motion", "1", "how the port reports its acceleration to a mechanism", LAGGED,
                  type=BASE_MOTION),
        private("rotation", "1", "body -> port", one.rotation, shape=(3, 3)),
    )  # fmt: skip
