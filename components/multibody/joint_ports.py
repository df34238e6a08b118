"""Fields of joints: coordinates and their laws, rotations, places, locks, and the units of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INTEGER, Field, input, output, parameter, private
from dockfmu.components.multibody.contacts import ports as contact_ports
from dockfmu.components.multibody.drive_ports import hysteresis_fields
from dockfmu.components.multibody.families import HIDDEN, hidden
from dockfmu.components.multibody.forces import FAR
from dockfmu.components.multibody.model.parts import (
    COORDINATES,
    CoordinateLaw,
    JointDrive,
    JointLock,
    Model,
    MultibodyJoint,
    PrescribedMotion,
)
from dockfmu.components.multibody.model.surfaces import DeclaredSensor

UNIT = {"angle": "rad", "angle_x": "rad", "angle_y": "rad", "displacement": "m", "x": "m", "y": "m"}


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


def units(label: str) -> tuple[str, str]:
    """Return the units of a coordinate and of the generalised force on it."""
    unit = UNIT.get(label.rpartition(".")[2], "rad")
    return unit, "N.m" if unit == "rad" else "N"


def sensor_unit(sensor: DeclaredSensor, joints: Mapping[str, MultibodyJoint]) -> str:
    """Return the unit of what a sensor looks at."""
    if sensor.kind == "contact":
        return "1"
    if sensor.kind == "gap":
        return "m"
    return UNIT[COORDINATES[joints[sensor.part].kind][sensor.coordinate]]


def drive_units(drive: JointDrive | None, joints: Mapping[str, MultibodyJoint]) -> tuple[str, str]:
    """Return the units of the coordinate of a drive and of the force on it."""
    return units("angle" if drive is None else COORDINATES[joints[drive.joint].kind][drive.coordinate])


def _force(lock: JointLock | None, joints: dict[str, MultibodyJoint]) -> str:
    """Return the unit of the generalised force on the coordinate of a lock."""
    if lock is None:
        return "N"
    kind = joints[lock.joint].kind
    if kind in ("spherical", "free"):
        return "N" if kind == "free" else "N.m"
    return units(COORDINATES[kind][lock.coordinate])[1]


def coordinate_fields(label: str) -> tuple[Field, ...]:
    """Return what a coordinate takes and shows; `label` is JOINT.COORDINATE."""
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
        private("stopped", "1", "1: it is on a stop", type=BOOLEAN),
    )


def rotation_fields(joint: MultibodyJoint | None) -> tuple[Field, ...]:
    """Return what a spherical or free joint shows."""
    free = joint is not None and joint.kind == "free"
    turned = "predecessor -> successor, joint frames"
    return (
        *hidden((output("position", "m", "of the successor's joint frame in the predecessor's", shape=3),
                 output("velocity", "m/s", "its rate, axes of the predecessor's joint frame", shape=3)), free),
        output("quaternion", "1", f"{turned}, scalar first", ports.IDENTITY_QUATERNION, shape=4),
        output("angular_velocity", "rad/s", "of the successor relative to the predecessor, axes of the successor's "
               "joint frame", shape=3),
        private("link", "1", "index of its link"),
        private("reversed", "1", "1: the successor is nearer to the base than the predecessor"),
    )  # fmt: skip


def place_fields(joint: MultibodyJoint | None) -> tuple[Field, ...]:
    """Return the joint's points on its bodies, and its place among the links, which `layout` gives."""
    one = joint or MultibodyJoint("", "fixed", "", "")
    points = (
        parameter("predecessor_point", "m", f"origin of the joint frame on {one.predecessor}, body frame",
                  one.on_predecessor.point, shape=3),
        parameter("successor_point", "m", f"origin of the joint frame on {one.successor}, body frame",
                  one.on_successor.point, shape=3),
    )  # fmt: skip
    return (
        *hidden(points, not one.deforms),
        private("link", "1", "index of its first link"),
        private("outward", "1", "1: the successor is the body that it carries"),
        private("inner", "1", "index of the body that carries it, -1 for the base"),
        private("outer", "1", "index of the body that it carries"),
    )


def law_fields(label: str, model: Model, joints: dict[str, MultibodyJoint]) -> tuple[Field, ...]:
    """Return start values, law and prescribed motion of a coordinate; those that it does not have are private."""
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
        parameter("lower", unit, f"lower stop of {label}; -1e9 {unit} for none",
                  -FAR if isinf(law.lower) else law.lower, tunable=True),
        parameter("upper", unit, f"upper stop of {label}; 1e9 {unit} for none",
                  FAR if isinf(law.upper) else law.upper, tunable=True),
        parameter("stop_stiffness", per, f"of the stops of {label}", law.stop_stiffness, minimum=0.0, tunable=True),
        parameter("stop_damping", f"{force}.s/{unit}", f"of the stops of {label}", law.stop_damping, minimum=0.0,
                  tunable=True),
        parameter("stop_limit", unit, f"farthest beyond a stop of {label}: a run ends there; 1e9 {unit} for never",
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
        *hidden(starts, motion is None and label != HIDDEN),
        *hidden(laws, bool(given)),
        *hidden(hysteresis_fields(loop, unit, per, label), loop is not None),
        private("has_law", "1", "1: the declaration gives the coordinate a law", float(bool(given))),
        *hidden(motions, motion is not None),
        private("prescribed", "1", "1: the coordinate follows its motion", float(motion is not None)),
    )


def start_fields(joint: MultibodyJoint | None) -> tuple[Field, ...]:
    """Return the start values of a spherical or free joint."""
    q, v = joint.start if joint is not None else ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    free = joint is not None and joint.kind == "free"
    place = (
        parameter("position", "m", "at the start, predecessor's joint frame", q[:3] if free else 0.0, shape=3),
        parameter("velocity", "m/s", "at the start, predecessor's joint frame", v[:3] if free else 0.0, shape=3),
    )
    return (
        *hidden(place, free),
        parameter("quaternion", "1", "at the start, predecessor -> successor", q[-4:], shape=4),
        parameter("angular_velocity", "rad/s", "at the start, axes of the successor's joint frame", v[-3:], shape=3),
    )


def lock_fields(lock: JointLock | None, joints: dict[str, MultibodyJoint]) -> tuple[Field, ...]:
    """Return commands and outputs of a lock, and its conditions."""
    one, force = lock or JointLock("", ""), _force(lock, joints)
    return (
        input("close", "1", "a rising edge closes the lock", type=BOOLEAN),
        input("open", "1", "a rising edge opens the lock; while it is true the lock does not close", type=BOOLEAN),
        output("closed", "1", f"the joint {one.joint} is locked", type=BOOLEAN),
        output("closings", "1", "number of times it has closed", type=INTEGER),
        output(
            "impulse",
            f"{force}.s",
            "generalised impulse of its last closing, on a carried base after "
            "the step that follows; of a whole joint its size",
        ),
        output("loss", "J", "kinetic energy lost in all its closings, likewise"),
        private("closed_at_start", "1", "1: closed at the start", float(one.closed)),
        private("automatic", "1", "1: it closes by itself", float(one.at is not None)),
        private("at", "1", "value of the coordinate at which it closes", one.at or 0.0),
        private("direction", "1", "1 upward, -1 downward, 0 either way", float(one.direction)),
        private("link", "1", "index of the link of its coordinate, or of its spherical or free joint"),
        private("before", "1", "coordinate before the micro-step"),
        private("close_before", "1", "input of the last step"),
        private("open_before", "1", "input of the last step"),
        private("struck", "1", "1: it has closed since a carried base has yielded last", type=BOOLEAN),
        private("held", "N.s", "generalised impulse of its last closing first, or that of a whole joint, I", shape=3),
        private("push", "N.s", "impulse on a carried base that has not yielded to it yet, I", shape=3),
        private("turn", "N.m.s", "likewise, about the moving origin of the base", shape=3),
        *contact_ports.lock_conditions(),
    )
