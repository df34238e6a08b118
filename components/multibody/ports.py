"""The record of a multibody component: what the FMU shows, by the names of the declaration, and its state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isinf

from dockfmu.components.core import ports
from dockfmu.components.core.field import (
    BOOLEAN,
    INPUT,
    INTEGER,
    OUTPUT,
    Field,
    Group,
    input,
    local,
    output,
    parameter,
    private,
    temporary,
)
from dockfmu.components.core.ports import BASE_MOTION, LAGGED
from dockfmu.components.multibody.contacts import ports as contact_ports
from dockfmu.components.multibody.drive_ports import drive_fields, drive_parameters, hysteresis_fields, loop_group
from dockfmu.components.multibody.elastic_ports import (
    deflection_fields,
    elastic_fields,
    elastic_labels,
    flex_group,
    longest_step,
    modal_fields,
    mode_labels,
    node_labels,
    run_counts,
    section_fields,
    section_labels,
)
from dockfmu.components.multibody.families import HIDDEN, Family, FamilyGroup, NamedRecord
from dockfmu.components.multibody.forces import FAR
from dockfmu.components.multibody.link_data import Links, link_group
from dockfmu.components.multibody.loop_order import LoopOrder, loop_order, rows_of
from dockfmu.components.multibody.model.parts import (
    BASE,
    COORDINATES,
    CoordinateLaw,
    JointDrive,
    JointLock,
    Model,
    MultibodyJoint,
    PointSpring,
    Port,
    PrescribedMotion,
    RigidBody,
)
from dockfmu.components.multibody.model.surfaces import DeclaredSensor
from dockfmu.components.multibody.outcomes import decision, outcome_fields, requirement_group, requirements
from dockfmu.components.physics.devices import interface_load, micro_steps

LEAST_MASS = 1e-9
"""Least mass of a body that has one, kg."""
MICRO_STEP, LONGEST, TOLERANCE = 1e-4, 1e-3, 1e-6
"""Start values of the micro-steps, s, and of their tolerance, rad/s or m/s."""
UNIT = {"angle": "rad", "angle_x": "rad", "angle_y": "rad", "displacement": "m", "x": "m", "y": "m"}
DEVICES = ("dampers", "stops", "friction", "springs", "locks", "contacts", "hysteresis", "motors")
WORKS = ("drives", "motors", "motions", "ports", "base", "target", "parameters")


def coordinate_labels(model: Model) -> list[str]:
    """Return JOINT.COORDINATE of all coordinates that are numbers of their own, in the order of the joints."""
    return [
        f"{joint.name}.{name}"
        for joint in model.tree
        if joint.kind not in ("spherical", "free")
        for name in COORDINATES[joint.kind]
    ]


def special_labels(model: Model) -> list[str]:
    """Return the names of the spherical and free joints."""
    return [joint.name for joint in model.tree if joint.kind in ("spherical", "free")]


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
    order = loop_order(model, made)
    looked_at = {sensor.name: sensor_unit(sensor, joints) for sensor in model.sensors}
    return NamedRecord(
        _base(model),
        _hidden_group(contact_ports.target_group(), contact_ports.has_target(model)),
        _hidden_group(interface_load.loads(), contact_ports.has_target(model)),
        Family("port", list(own_ports), lambda name: _port_fields()),
        Family("coordinate", coordinates, lambda label: _coordinate_fields(label), "joint"),
        Family("rotation", special, lambda name: _rotation_fields(joints.get(name)), "joint"),
        Family("body", list(bodies), lambda name: _body_fields(), "body"),
        Family("spring", list(springs), lambda name: _spring_fields(), "spring"),
        Family("lock", list(locks), lambda name: _lock_fields(locks.get(name), joints), "lock"),
        Family("drive", list(drives),
               lambda name: drive_fields(drives.get(name), *_drive_units(drives.get(name), joints)), "drive"),
        Family("elastic", elastic_labels(model), elastic_fields, "elastic"),
        Family("deflection", node_labels(model), deflection_fields, "node"),
        Family("modal", mode_labels(model), modal_fields, "mode"),
        Family("section", section_labels(model), section_fields, "section"),
        Family("cut", list(cuts), lambda name: _cut_fields(cuts.get(name)), "joint"),
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
                Family("joint", [joint.name for joint in model.tree], lambda name: _place_fields(joints.get(name)),
                       "joint"),
                Family("coordinate", coordinates, lambda label: _law_fields(label, model, joints), "joint"),
                Family("rotation", special, lambda name: _start_fields(joints.get(name)), "joint"),
                Family("drive", list(drives),
                       lambda name: drive_parameters(drives.get(name), *_drive_units(drives.get(name), joints)),
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
        ports.audit(DEVICES, WORKS),
        ports.status(),
        ports.start_time(),
        Group("stepping", *micro_steps.state()),
        _run(model, order),
        _closure(model, order),
        *contact_ports.hidden_groups(model),
        loop_group(len(model.loops)),
        requirement_group(model),
        flex_group(model),
        link_group(len(made.kind)),
        values=values,
    )  # fmt: skip


def _hidden(fields: tuple[Field, ...], public: bool) -> tuple[Field, ...]:
    return fields if public else tuple(replace(field, causality="private") for field in fields)


def _hidden_group(group: Group, public: bool) -> Group:
    """Return a group of fields, all private unless it is public."""
    fields = tuple(member for member in group.members if isinstance(member, Field))
    return Group(group.name, *_hidden(fields, public), description=group.description)


def sensor_unit(sensor: DeclaredSensor, joints: Mapping[str, MultibodyJoint]) -> str:
    """Return the unit of what a sensor looks at."""
    if sensor.kind == "contact":
        return "1"
    if sensor.kind == "gap":
        return "m"
    return UNIT[COORDINATES[joints[sensor.part].kind][sensor.coordinate]]


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
    return Group("base", *_hidden(fields, carried), description="port of the craft that carries the system")


def _base_motion(model: Model) -> Field:
    field = parameter("base_motion", "1", "how the craft reports its acceleration", LAGGED, type=BASE_MOTION)
    return _hidden((field,), model.base == "carried")[0]


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
    )


def _coordinate_fields(label: str) -> tuple[Field, ...]:
    unit, force = units(label)
    return (
        input("drive", force, f"generalised force on {label}, mean over the step", evaluated="mean"),
        output("position", unit, f"coordinate {label}"),
        output("rate", f"{unit}/s", f"rate of {label}"),
        output("acceleration", f"{unit}/s2", f"acceleration of {label} in the last micro-step"),
        output(
            "force", force, f"generalised force of springs, dampers, stops and friction on {label}, last micro-step"
        ),
        output("holding", force, f"generalised force that holds {label} while it is locked or prescribed"),
        private("deflection", unit, "elastic deflection of the friction"),
        private("link", "1", "index of its link"),
        private("stopped", "1", "1: it is on a stop"),
    )


def _rotation_fields(joint: MultibodyJoint | None) -> tuple[Field, ...]:
    free = joint is not None and joint.kind == "free"
    turned = "predecessor -> successor, joint frames"
    return (
        *_hidden((output("position", "m", "of the successor's joint frame in the predecessor's", shape=3),
                  output("velocity", "m/s", "its rate, axes of the predecessor's joint frame", shape=3)), free),
        output("quaternion", "1", f"{turned}, scalar first", ports.IDENTITY_QUATERNION, shape=4),
        output("angular_velocity", "rad/s", "of the successor relative to the predecessor, axes of the successor's "
               "joint frame", shape=3),
        private("link", "1", "index of its link"),
        private("reversed", "1", "1: the successor is nearer to the base than the predecessor"),
    )  # fmt: skip


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
        private("taut", "1", "1: a tether or a pusher has acted in the last micro-step"),
    )


def _lock_fields(lock: JointLock | None, joints: dict[str, MultibodyJoint]) -> tuple[Field, ...]:
    one, force = lock or JointLock("", ""), _force(lock, joints)
    return (
        input("close", "1", "a rising edge closes the lock", type=BOOLEAN),
        input("open", "1", "a rising edge opens the lock; while it is true the lock does not close", type=BOOLEAN),
        output("closed", "1", f"the joint {one.joint} is locked", type=BOOLEAN),
        output("closings", "1", "number of times it has closed", type=INTEGER),
        output("impulse", f"{force}.s", "generalised impulse of its last closing; of a whole joint its size"),
        output("loss", "J", "kinetic energy lost in all its closings"),
        private("closed_at_start", "1", "1: closed at the start", float(one.closed)),
        private("automatic", "1", "1: it closes by itself", float(one.at is not None)),
        private("at", "1", "value of the coordinate at which it closes", one.at or 0.0),
        private("direction", "1", "1 upward, -1 downward, 0 either way", float(one.direction)),
        private("link", "1", "index of the link of its coordinate, or of its spherical or free joint"),
        private("before", "1", "coordinate before the micro-step"),
        private("close_before", "1", "input of the last step"),
        private("open_before", "1", "input of the last step"),
        *contact_ports.lock_conditions(),
    )


def _cut_fields(joint: MultibodyJoint | None) -> tuple[Field, ...]:
    one = joint or MultibodyJoint("", "fixed", "", "")
    return (
        output("force", "N", f"of the cut joint on {one.successor}, joint axes on {one.predecessor}", shape=3),
        output("torque", "N.m", "likewise, about the joint point", shape=3),
        output("error", "1", "largest error of its closure, m or rad"),
        output("redundant", "1", "its constraints that depend on others: the forces in them are not determined",
               type=INTEGER),
        private("first", "1", "index of the predecessor, -1 for the base"),
        private("second", "1", "index of the successor, -1 for the base"),
        private("first_link", "1", "index of the link of the predecessor"),
        private("second_link", "1", "index of the link of the successor"),
        private("first_point", "m", "of the joint on the predecessor, body frame", one.on_predecessor.point, shape=3),
        private("second_point", "m", "of the joint on the successor, body frame", one.on_successor.point, shape=3),
        private("first_axes", "1", "link of the predecessor -> joint frame", shape=(3, 3)),
        private("second_axes", "1", "link of the successor -> joint frame", shape=(3, 3)),
        private("first_arm", "m", "joint point from the reference point, axes of the link", shape=3),
        private("second_arm", "m", "likewise on the successor", shape=3),
        private("first_reach", "m", "successor's joint point from the predecessor's reference point, I", shape=3),
        private("second_reach", "m", "the same point from the successor's reference point, I", shape=3),
        private("gap", "m", "between the joint points, I", shape=3),
        private("gap_rate", "m/s", "seen from the predecessor, I", shape=3),
        private("gap_acceleration", "m/s2", "seen from the predecessor, I", shape=3),
        private("spin", "rad/s", "relative angular velocity, I", shape=3),
        private("spin_rate", "rad/s2", "seen from the predecessor, I", shape=3),
        private("radius", "m", "of what rolls", one.radius),
        private("closure_limit", "1", "error with which a run ends, m or rad", one.closure_limit),
        temporary("first_frame", "1", "I -> joint frame on the predecessor", shape=(3, 3)),
        temporary("second_frame", "1", "I -> joint frame on the successor", shape=(3, 3)),
        temporary("rolling", "m", "point that rolls, from the successor's joint point, I", shape=3),
        temporary("rolling_rate", "m/s", "its rate, seen from the predecessor, I", shape=3),
    )  # fmt: skip


def _closure(model: Model, order: LoopOrder) -> Group:
    """Return what the loops show together, the rows of the cut joints, and the work space of their elimination."""
    rows = max(1, rows_of(model))
    shown = (
        output("equations", "1", "number of the constraints of all cut joints", float(rows_of(model)), type=INTEGER),
        output("rank", "1", "how many of them are independent: those of the motion; the others are redundant",
               type=INTEGER),
        output("freedoms", "1", "degrees of freedom: free rates of the tree less the rank", type=INTEGER),
    )  # fmt: skip
    return Group(
        "closure",
        *_hidden(shown, bool(model.cuts)),
        Group(
            "row",
            private("joint", "1", "index of the cut joint"),
            private("kind", "1", "one of those of `cut_rows`"),
            private("axis", "1", "axis of the joint frame on the predecessor"),
            private("independent", "1", "1: it does not depend on others"),
            private("multiplier", "1", "force or torque, N or N.m"),
            private("earlier", "1", "likewise, before friction"),
            private("wanted", "1", "right-hand side"),
            private("error", "1", "m or rad"),
            private("rate", "1", "m/s or rad/s"),
            private("normal", "1", "I", shape=3),
            temporary("rest", "1", "right-hand side in the elimination"),
            temporary("strength", "1", "what joints have added to its pivot"),
            temporary("pivot", "1", "of the elimination"),
            temporary("first_pull", "1", "wrench on the link to which it has come from the predecessor", shape=6),
            temporary("second_pull", "1", "likewise from the successor", shape=6),
            temporary("hold", "1", "wrench on the link at which its loop closes", shape=6),
            count=rows,
        ),
        Group(
            "entry",
            private("row", "1", "index of a row that is open at a link"),
            private("second", "1", "1: from its successor"),
            temporary("share", "1", "what the joint of the link feels of it", shape=6),
            count=max(1, len(order.entries)),
            description="rows that are open at a link, link by link",
        ),
        Group(
            "front",
            private("link", "1", "index of the link at which the loops close"),
            private("first", "1", "index of their first row"),
            private("count", "1", "number of their rows"),
            count=max(1, len(order.fronts)),
            description="groups of loops that close together, in the order of elimination",
        ),
        Group(
            "carrier",
            *(
                temporary(name, "1", "inertia that loops add to the link", shape=size)
                for name, size in (("tt", 6), ("tr", 9), ("rr", 6))
            ),
            temporary("force", "N", "wrench that loops add to the link", shape=3),
            temporary("torque", "N.m", "likewise", shape=3),
            temporary("felt_force", "1", "inertia with that of the loops times the axis", shape=3),
            temporary("felt_torque", "1", "likewise", shape=3),
            temporary("felt", "1", "what the joint feels of the wrench"),
            temporary("mobility", "1", "inverse of the inertia felt by the coordinate"),
            temporary("inverse", "1", "of the inertia felt by a spherical joint", shape=6),
            temporary("spherical_tr", "1", "inertia by columns, torque by acceleration", shape=9),
            temporary("spherical_rr", "1", "inertia, torque by angular acceleration", shape=6),
            temporary("acceleration", "m/s2", "of the link by the loops, I", shape=3),
            temporary("angular_acceleration", "rad/s2", "likewise", shape=3),
            count=max(1, len(order.carriers)),
            description="what loops closed beyond a link add to it",
        ),
        temporary("matrix", "1", "H M^-1 H^T", shape=(rows, rows)),
    )


def _place_fields(joint: MultibodyJoint | None) -> tuple[Field, ...]:
    one = joint or MultibodyJoint("", "fixed", "", "")
    points = (
        parameter("predecessor_point", "m", f"origin of the joint frame on {one.predecessor}, body frame",
                  one.on_predecessor.point, shape=3),
        parameter("successor_point", "m", f"origin of the joint frame on {one.successor}, body frame",
                  one.on_successor.point, shape=3),
    )  # fmt: skip
    return (
        *_hidden(points, not one.deforms),
        private("link", "1", "index of its first link"),
        private("outward", "1", "1: the successor is the body that it carries"),
        private("inner", "1", "index of the body that carries it, -1 for the base"),
        private("outer", "1", "index of the body that it carries"),
    )


def _mass_fields(body: RigidBody | None) -> tuple[Field, ...]:
    one = body or RigidBody("", 0.0)
    fields = (
        parameter("mass", "kg", "mass", one.mass, minimum=LEAST_MASS if one.mass else 0.0),
        parameter("center", "m", "centre of mass, body frame", one.center, shape=3),
        parameter("inertia", "kg.m2", "inertia about the centre of mass, body axes", one.inertia, shape=(3, 3)),
    )
    # the data of an elastic body are those of its file; a node has none
    return _hidden(fields, one.elastic is None)


def _force(lock: JointLock | None, joints: dict[str, MultibodyJoint]) -> str:
    """Return the unit of the generalised force on the coordinate of a lock."""
    if lock is None:
        return "N"
    kind = joints[lock.joint].kind
    if kind in ("spherical", "free"):
        return "N" if kind == "free" else "N.m"
    return units(COORDINATES[kind][lock.coordinate])[1]


def _drive_units(drive: JointDrive | None, joints: Mapping[str, MultibodyJoint]) -> tuple[str, str]:
    """Return the units of the coordinate of a drive and of the force on it."""
    return units("angle" if drive is None else COORDINATES[joints[drive.joint].kind][drive.coordinate])


def units(label: str) -> tuple[str, str]:
    """Return the units of a coordinate and of the generalised force on it."""
    unit = UNIT.get(label.rpartition(".")[2], "rad")
    return unit, "N.m" if unit == "rad" else "N"


def _law_fields(label: str, model: Model, joints: dict[str, MultibodyJoint]) -> tuple[Field, ...]:
    unit, force = units(label)
    joint = joints.get(label.partition(".")[0])
    number = COORDINATES[joint.kind].index(label.rpartition(".")[2]) if joint is not None else 0
    loop = next(
        (one for one in model.loops if joint is not None and (one.joint, one.coordinate) == (joint.name, number)), None
    )
    given = [law for law in model.laws if joint is not None and (law.joint, law.coordinate) == (joint.name, number)]
    law = given[0] if given else CoordinateLaw("")
    q, v = joint.start if joint is not None else ((0.0,), (0.0,))
    motion = joint.motions.get(number) if joint is not None else None
    known = motion or PrescribedMotion()
    per = f"{force}/{unit}"
    starts = (
        parameter("start", unit, f"{label} at the start", q[number]),
        parameter("start_rate", f"{unit}/s", f"rate of {label} at the start", v[number]),
    )
    laws = (
        parameter("stiffness", per, f"spring of {label}", law.stiffness, minimum=0.0, tunable=True),
        parameter("rest", unit, f"{label} with the spring relaxed", law.rest, tunable=True),
        parameter("preload", force, f"constant force on {label}", law.preload, tunable=True),
        parameter("damping", f"{force}.s/{unit}", f"damper of {label}", law.damping, minimum=0.0, tunable=True),
        parameter("lower", unit, f"lower stop of {label}", -FAR if isinf(law.lower) else law.lower, tunable=True),
        parameter("upper", unit, f"upper stop of {label}", FAR if isinf(law.upper) else law.upper, tunable=True),
        parameter("stop_stiffness", per, f"of the stops of {label}", law.stop_stiffness, minimum=0.0, tunable=True),
        parameter("stop_damping", f"{force}.s/{unit}", f"of the stops of {label}", law.stop_damping, minimum=0.0,
                  tunable=True),
        parameter("stop_limit", unit, f"farthest beyond a stop of {label}: a run ends there",
                  FAR if isinf(law.stop_limit) else law.stop_limit, minimum=0.0, tunable=True),
        parameter("friction", force, f"limit of the friction of {label}", law.friction, minimum=0.0, tunable=True),
        parameter("friction_stiffness", per, f"presliding stiffness of the friction of {label}",
                  law.friction_stiffness, minimum=0.0, tunable=True),
    )  # fmt: skip
    motions = (
        parameter("position", unit, f"{label} = position + rate t + acceleration t^2 / 2 + amplitude "
                  "sin(frequency t + phase)", known.position),
        parameter("velocity", f"{unit}/s", "rate of the prescribed motion", known.rate),
        parameter("acceleration", f"{unit}/s2", "of the prescribed motion", known.acceleration),
        parameter("amplitude", unit, "of the prescribed motion", known.amplitude),
        parameter("frequency", "rad/s", "of the prescribed motion", known.frequency),
        parameter("phase", "rad", "of the prescribed motion", known.phase),
    )  # fmt: skip
    return (
        *_hidden(starts, motion is None and label != HIDDEN),
        *_hidden(laws, bool(given)),
        *_hidden(hysteresis_fields(loop, unit, per, label), loop is not None),
        private("has_law", "1", "1: the declaration gives the coordinate a law", float(bool(given))),
        *_hidden(motions, motion is not None),
        private("prescribed", "1", "1: the coordinate follows its motion", float(motion is not None)),
    )


def _start_fields(joint: MultibodyJoint | None) -> tuple[Field, ...]:
    q, v = joint.start if joint is not None else ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    free = joint is not None and joint.kind == "free"
    place = (
        parameter("position", "m", "at the start, predecessor's joint frame", q[:3] if free else 0.0, shape=3),
        parameter("velocity", "m/s", "at the start, predecessor's joint frame", v[:3] if free else 0.0, shape=3),
    )
    return (
        *_hidden(place, free),
        parameter("quaternion", "1", "at the start, predecessor -> successor", q[-4:], shape=4),
        parameter("angular_velocity", "rad/s", "at the start, axes of the successor's joint frame", v[-3:], shape=3),
    )


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
        private("rotation", "1", "body -> port", one.rotation, shape=(3, 3)),
    )


def _flies(model: Model) -> bool:
    """Return whether the system flies freely: its only joint with the inertial base is free."""
    rooted = [joint for joint in model.tree if BASE in (joint.predecessor, joint.successor)]
    return model.base == "fixed" and len(rooted) == 1 and rooted[0].kind == "free"


def _run(model: Model, order: LoopOrder) -> Group:
    """Return the group of sizes, accounts and work space, whose type is the same for all models."""
    return Group(
        "run",
        private("coordinates", "1", "number of coordinates of one degree", float(len(coordinate_labels(model)))),
        private("rotations", "1", "number of spherical and free joints", float(len(special_labels(model)))),
        private("springs", "1", "number of springs between points", float(len(model.springs))),
        private("cuts", "1", "number of cut joints", float(len(model.cuts))),
        private("rows", "1", "number of their constraints", float(rows_of(model))),
        private("open", "1", "not 0: the constraints cannot be solved"),
        private("rank", "1", "number of constraints that are independent"),
        private("freedoms", "1", "free rates of the tree less the rank"),
        private("rank_again", "1", "1: a lock has changed which constraints depend on others"),
        private("fronts", "1", "number of groups of loops that close together", float(len(order.fronts))),
        private("carriers", "1", "number of links to which loops closed beyond them add", float(len(order.carriers))),
        *run_counts(model),
        private("failure", "1", "code of the first failure, 0 without one"),
        private("culprit", "1", "number of the part that failed, from 1"),
        private("amount", "1", "the value that failed"),
        private("failed_at", "s", "time of the failure"),
        private("now", "s", "time of the present micro-step"),
        private("short", "s", "length of the short micro-step"),
        private("outcomes", "1", "number of outcomes", float(len(model.outcomes))),
        private("requirements", "1", "number of their conditions", float(len(requirements(model)))),
        private("loops", "1", "number of hysteretic springs", float(len(model.loops))),
        private("drive_count", "1", "number of drives", float(len(model.drives))),
        private("motors", "J", "work of motors so far"),
        private("motors_lost", "J", "lost so far in drives, but for the heat of the motors"),
        private("locks", "1", "number of locks", float(len(model.locks))),
        private("ports", "1", "number of ports", float(len(model.ports))),
        private("carried", "1", "1: the base moves with the port base", float(model.base == "carried")),
        private("affine", "1", "1: the craft corrects the wrench on it for its true acceleration (AFFINE)"),
        private("base_position", "m", "of the base, I", shape=3),
        private("base_velocity", "m/s", "of the base, I", shape=3),
        private("change", "1", "largest change of an acceleration in the last micro-step, rad/s2 or m/s2"),
        private("until_stop", "s", "until the first coordinate reaches a stop at its present rate"),
        private("restart", "1", "1: a stop has been reached or left in the last micro-step"),
        private("dampers", "J", "lost so far in dampers of coordinates"),
        private("stops", "J", "lost so far in stops"),
        private("friction", "J", "lost so far in friction"),
        private("locks_lost", "J", "lost so far in closing locks"),
        private("springs_lost", "J", "lost so far in springs between points"),
        private("drives", "J", "work of drives so far"),
        private("motions", "J", "work so far of what prescribes motions"),
        private("ports_work", "J", "work so far of the wrenches on ports"),
        private("base_work", "J", "work so far of the base on the system"),
        private("tuned", "J", "work so far of changes of parameters"),
        private("end_potential", "J", "of springs and gravity at the end of the last step"),
        private("end_height", "kg.m", "moment of mass about the origin of I then", shape=3),
        private("force", "N", "of the system on the base, at present, I", shape=3),
        private("torque", "N.m", "likewise, about the origin of the base", shape=3),
        private("impulse", "N.s", "on the base in this step, I", shape=3),
        private("angular_impulse", "N.m.s", "likewise, about the moving origin of the base", shape=3),
        private("free_root", "1", "1: one body alone hangs on the base, by a free joint", float(_flies(model))),
        private("place", "m", "of the root at the start of the micro-step, from the origin of the base, I", shape=3),
        private("speed", "m/s", "likewise, its velocity", shape=3),
        private("momentum", "N.s", "at the start of the micro-step, seen from a frame with this velocity, I", shape=3),
        private("angular_momentum", "N.m.s", "likewise, about `place`", shape=3),
        private("moment", "kg.m", "of mass about `place`", shape=3),
        private("pivot", "m", "place in the middle of the micro-step at this velocity", shape=3),
        private("outer_force", "N", "force from outside in the micro-step, I", shape=3),
        private("outer_torque", "N.m", "likewise, about `pivot`", shape=3),
        private("jump", "m/s", "velocity of the base at the start of the step less that predicted, I", shape=3),
        private("port_impulse", "N.s", "of wrenches on ports in this step, I", shape=3),
        private("port_angular_impulse", "N.m.s", "likewise, about the moving origin of the base", shape=3),
        private("port_turn", "N.m.s", "likewise, about the origin of I", shape=3),
        private(
            "apart",
            "N.m.s",
            "change of the angular momentum beyond what it and the craft receive, about the origin of I",
            shape=3,
        ),
        private(
            "end_absolute", "N.m.s", "angular momentum at the end of the last step, about the origin of I", shape=3
        ),
        private("end_momentum", "N.s", "relative to the base's origin at the end of the last step, I", shape=3),
        private("end_angular_momentum", "N.m.s", "likewise, about the base's origin", shape=3),
        private("end_moment", "kg.m", "of mass about the base's origin, likewise", shape=3),
        private("end_velocity", "m/s", "of the base, predicted for the end of the last step, I", shape=3),
        private("end_spin", "rad/s", "likewise, its angular velocity", shape=3),
        private("end_energy", "J", "kinetic energy at the end of the last step"),
        *contact_ports.run_fields(model),
    )


__all__ = ["DEVICES", "WORKS", "coordinate_labels", "record_of", "special_labels"]
