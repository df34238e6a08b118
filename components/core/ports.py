"""The port types of conventions section 4 as fields, and the groups that every component has.

A port is a group of the record that holds both its inputs and its outputs::

    Group("base", *ports.pose("input"), *ports.twist("input"), *ports.wrench_output())
"""

from __future__ import annotations

from dataclasses import replace

from dockfmu.components.core.field import (
    BOOLEAN,
    INPUT,
    INTEGER,
    Causality,
    Field,
    Group,
    enumeration,
    local,
    output,
    private,
)
from dockfmu.components.core.record import START_TIME

IDENTITY_QUATERNION = (1.0, 0.0, 0.0, 0.0)

BASE_MOTION = enumeration(
    "BaseMotion",
    SOURCE="velocity terms only; masses of the craft include the mechanism",
    LAGGED="mean acceleration of the previous step; masses without the mechanism",
    AFFINE="as LAGGED, with affine_mass times the lag of the acceleration subtracted from the wrench",
)
"""How a craft reports its acceleration to a mechanism that it carries (dynamics 4.3, ruling R38): a parameter of both,
which must agree."""
SOURCE, LAGGED, AFFINE = (BASE_MOTION.codes[mode] for mode in ("SOURCE", "LAGGED", "AFFINE"))


def pose(causality: Causality) -> tuple[Field, ...]:
    """Return the pose of a port in I."""
    return (
        Field("position", "m", "origin of the port, components in I", causality, shape=(3,)),
        Field("quaternion", "1", "I -> port, scalar first", causality, IDENTITY_QUATERNION, shape=(4,)),
    )


def apart(x: float) -> tuple[Field, ...]:
    """Return the pose of a passive unit, an input that starts at x (m) in I, out of the active unit's reach."""
    position, quaternion = pose(INPUT)
    return replace(position, start=(x, 0.0, 0.0)), quaternion


def twist(causality: Causality) -> tuple[Field, ...]:
    """Return the absolute twist of a port in its axes."""
    return (
        Field("velocity", "m/s", "absolute velocity of the origin, port axes", causality, shape=(3,)),
        Field("angular_velocity", "rad/s", "absolute angular velocity, port axes", causality, shape=(3,)),
    )


def acceleration(causality: Causality) -> tuple[Field, ...]:
    """Return the absolute accelerations of a port in its axes."""
    return (
        Field("acceleration", "m/s2", "absolute acceleration of the origin, port axes", causality, shape=(3,)),
        Field("angular_acceleration", "rad/s2", "absolute angular acceleration, port axes", causality, shape=(3,)),
    )


def wrench_input() -> tuple[Field, ...]:
    """Return a wrench that acts on this component, applied in port axes over the whole step."""
    return (
        Field("force", "N", "force on this component, mean over the step, port axes", "input", shape=(3,),
              evaluated="mean"),
        Field("torque", "N.m", "torque on this component about the port origin, mean over the step, port axes",
              "input", shape=(3,), evaluated="mean"),
    )  # fmt: skip


def affine_mass_input() -> Field:
    """Return the response of a mechanism to the acceleration of the port that carries it, for AFFINE."""
    return Field("affine_mass", "1", "-d(wrench)/d(acceleration), upper triangle by rows, SI, force first; for AFFINE",
                 "input", shape=(21,), evaluated="mean")  # fmt: skip


def external_contact() -> tuple[Field, ...]:
    """Return the wrench of an external contact on the passive unit, for a mechanism that balances its momentum."""
    return (
        Field("contact_force", "N", "force of the external contact on the passive unit, PU axes", "input", shape=(3,),
              evaluated="mean"),
        Field("contact_torque", "N.m", "torque of the external contact on the passive unit about the origin of PU",
              "input", shape=(3,), evaluated="mean"),
    )  # fmt: skip


def wrench_output() -> tuple[Field, ...]:
    """Return a wrench that this component exerts: its mean over the step just done, and its value at the step's end."""
    return (
        output("force", "N", "force on the receiver, mean over the step just done, port axes", shape=3),
        output("torque", "N.m", "torque on the receiver about the port origin, mean over the step, port axes", shape=3),
        output("force_now", "N", "force on the receiver at the end of the step, port axes", shape=3),
        output("torque_now", "N.m", "torque on the receiver at the end of the step, port axes", shape=3),
    )


def link(causality: Causality) -> tuple[Field, ...]:
    """Return the pose and twist of a buffer link relative to frame 0, in frame 0 axes."""
    return (
        Field("position", "m", "origin of the link relative to frame 0, frame 0 axes", causality, shape=(3,)),
        Field("quaternion", "1", "frame 0 -> link", causality, IDENTITY_QUATERNION, shape=(4,)),
        Field("velocity", "m/s", "velocity of the origin relative to frame 0, frame 0 axes", causality, shape=(3,)),
        Field("angular_velocity", "rad/s", "relative to frame 0, frame 0 axes", causality, shape=(3,)),
    )


def contacts(count: int) -> Group:
    """Return the groups `contact[k]`: the contacts that are active now, for visualisation."""
    return Group(
        "contact",
        local("active", "1", "this contact is closed", type=BOOLEAN),
        local("pair", "1", "number of the pair of primitives", type=INTEGER),
        local("position", "m", "contact point, frame PU", shape=3),
        local("normal", "1", "unit reaction on the passive unit, frame PU", shape=3),
        local("penetration", "m", "depth of penetration"),
        local("normal_force", "N", "normal reaction"),
        local("friction_force", "N", "friction"),
        count=count,
    )


def docking() -> Group:
    """Return the group `docking`: relative motion of the two docking units, readable, seen in PU."""
    return Group(
        "docking",
        output("plane_gap", "m", "distance between the docking planes"),
        output("position", "m", "frame 0 relative to PU, PU axes", shape=3),
        output("angles", "rad", "yaw, pitch, roll of frame 0 relative to PU", shape=3),
        output("velocity", "m/s", "velocity of frame 0 seen in PU", shape=3),
        output("angular_velocity", "rad/s", "angular velocity of frame 0 seen in PU", shape=3),
    )


def audit(devices: tuple[str, ...] = (), works: tuple[str, ...] = ()) -> Group:
    """Return the group `audit`: energy and momentum of the component.

    The balance is kinetic + stored + dissipated = initial + sum of works; `works` names the ports and drives that do
    work on the component, `devices` the devices that dissipate energy.
    """
    return Group(
        "audit",
        output("kinetic_energy", "J", "kinetic energy"),
        output("stored_energy", "J", "potential energy of springs and contacts"),
        output("dissipated_energy", "J", "energy dissipated so far, all devices"),
        *(output(f"dissipated_{device}", "J", f"energy dissipated so far: {device}") for device in devices),
        *(output(f"work_{work}", "J", f"work done on this component so far: {work}") for work in works),
        output("momentum", "N.s", "linear momentum, axes I", shape=3),
        output("angular_momentum", "N.m.s", "angular momentum about the origin of I, axes I", shape=3),
    )


def status() -> Group:
    """Return the group `status`: the details of a kernel's failure; the code is 0 without failure."""
    return Group(
        "status",
        output("code", "1", "0, or the number of the message of the failure", type=INTEGER),
        output("value", "1", "the value that exceeded its bound"),
        output("index", "1", "number of the part that failed, from 1; 0 if there is only one", type=INTEGER),
    )


def start_time() -> Field:
    """Return the top-level slot of a record in which `initialize` finds the start time of the run.

    Only a component that compares times with its own start needs it. The caller of `initialize` sets it before the
    call.
    """
    return private(START_TIME, "s", "time at which the run starts, set before initialize")


def events(**descriptions: str) -> tuple[Group, Group]:
    """Return the groups `event`, times of events, and `happened`, whether each has happened.

    A run may start at any time, so that no number can say that an event has not happened yet: -1 before is what a time
    shows, and `happened` is what counts.
    """
    times = (
        output(name, "s", f"time of {description}; -1 before", -1.0, discrete=True)
        for name, description in descriptions.items()
    )
    flags = (
        output(name, "1", f"has happened: {description}", type=BOOLEAN) for name, description in descriptions.items()
    )
    return Group("event", *times), Group("happened", *flags)
