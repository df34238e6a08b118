"""Drives and hysteretic springs of joints in a declaration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from dockfmu.components.multibody.declaration.joint_frames import UNIT
from dockfmu.components.multibody.declaration.problems import Entries
from dockfmu.components.multibody.model.parts import (
    CONSTRAINTS,
    COORDINATES,
    Control,
    HystereticSpring,
    JointDrive,
    MultibodyJoint,
)
from dockfmu.components.physics.hysteresis import largest_loss

HYSTERESIS_KEYS = ("stiffness", "range", "loss", "ratio", "common", "play", "rest")
MOTOR_UNITS = {
    "inertia": "kg.m2",
    "damping": "N.m.s/rad",
    "friction": "N.m",
    "brake_torque": "N.m",
    "holding_stiffness": "N.m/rad",
    "torque_constant": "N.m/A",
    "voltage_constant": "V.s/rad",
    "resistance": "Ohm",
    "voltage_limit": "V",
    "current_limit": "A",
    "efficiency": "1",
    "rate_gain": "V.s/rad",
    "position_gain": "1/s",
}
"""Keys of the motor, and their units; those of the joint have units by the coordinate."""
NEEDED = ("inertia", "torque_constant", "resistance", "voltage_limit", "current_limit")
DRIVE_KEYS = ("joint", "coordinate", "control", "ratio", *MOTOR_UNITS, "gear_stiffness", "gear_damping", "play",
              "rate_limit", "command", "powered", "braked", "description")  # fmt: skip
CONTROLS: tuple[Control, ...] = ("voltage", "rate", "position")


def force_of(unit: str) -> str:
    """Return the unit of the generalised force on a coordinate."""
    return "N.m" if unit == "rad" else "N"


def read_loops(joint: MultibodyJoint, entries: Entries) -> list[HystereticSpring]:
    """Return the hysteretic springs of the coordinates of a joint."""
    if joint.kind in ("spherical", "free", "fixed", *CONSTRAINTS):
        return []
    found = []
    for k, name in enumerate(COORDINATES[joint.kind]):
        content = entries.content.get(name, {})
        if not isinstance(content, Mapping) or "hysteresis" not in content:
            continue
        where = f"{entries.where}.{name}.hysteresis"
        table = Entries(content["hysteresis"], where, entries.problems, HYSTERESIS_KEYS)
        if joint.cut:
            table.problem("stiffness", f"{joint.name} is a cut joint, which has no coordinates; cut another one")
        if "motion" in content:
            table.problem("stiffness", "the coordinate is prescribed: a spring changes nothing; leave one of them out")
        found.append(_loop(joint, k, table, UNIT[name]))
    return found


def _loop(joint: MultibodyJoint, number: int, table: Entries, unit: str) -> HystereticSpring:
    stiffness = table.quantity("stiffness", f"{force_of(unit)}/{unit}", 1.0, needed=True)
    reach = table.quantity("range", unit, 1.0, needed=True)
    loss, ratio = table.quantity("loss", "1", 0.0, needed=True), table.quantity("ratio", "1", 2.0)
    common, play = table.quantity("common", "1", 0.03), table.quantity("play", unit)
    for key, value in (("stiffness", stiffness), ("range", reach)):
        if not value > 0.0:
            table.problem(key, "must be positive")
    if not 0.0 <= play < reach:
        table.problem("play", f"must be 0 or more, and less than the range, {reach:g} {unit}")
    if not ratio >= 1.01:
        table.problem("ratio", "must be at least 1.01: the springs between the branches are stiffer than loading")
    elif not 1e-4 <= common <= 0.5:
        table.problem("common", "must be from 1e-4 to 0.5")
    elif not 0.0 <= loss <= (most := float(largest_loss(common, ratio))):
        table.problem("loss", f"must be from 0 to {most:.4g}, the largest with this ratio and common")
    return HystereticSpring(joint.name, number, stiffness, reach, loss, ratio, common, play,
                            table.quantity("rest", unit))  # fmt: skip


def read_drive(name: str, entries: Entries, joints: Iterable[MultibodyJoint]) -> JointDrive:
    """Return a drive of a joint."""
    entries = Entries(entries.content, entries.where, entries.problems, DRIVE_KEYS)
    joint = entries.text("joint", needed=True)
    found = next((one for one in joints if one.name == joint), None)
    names = COORDINATES.get(found.kind, ()) if found is not None and found.kind not in ("spherical", "free") else ()
    named = entries.text("coordinate", names[0] if names else "", names if names else None)
    unit = UNIT.get(named, "rad")
    force = force_of(unit)
    control = cast(Control, entries.text("control", "voltage", CONTROLS))
    values = {
        key: entries.quantity(key, of, 1.0 if key in (*NEEDED, "efficiency") else 0.0, needed=key in NEEDED)
        for key, of in MOTOR_UNITS.items()
    }
    if "voltage_constant" not in entries:
        # equal in SI for a motor without losses
        values["voltage_constant"] = values["torque_constant"]
    values["ratio"] = entries.quantity("ratio", f"rad/{unit}", 1.0, needed=unit == "m")
    values["gear_stiffness"] = entries.quantity("gear_stiffness", f"{force}/{unit}")
    values["gear_damping"] = entries.quantity("gear_damping", f"{force}.s/{unit}")
    values["play"] = entries.quantity("play", unit)
    values["rate_limit"] = entries.quantity("rate_limit", f"{unit}/s", 1e9)
    _check_drive(entries, values, control)
    commanded = {"voltage": "V", "rate": f"{unit}/s", "position": unit}[control]
    return JointDrive(
        name,
        joint,
        names.index(named) if named in names else 0,
        control,
        **values,
        command=entries.quantity("command", commanded),
        powered=entries.flag("powered", True),
        braked=entries.flag("braked"),
    )


def _check_drive(entries: Entries, values: Mapping[str, float], control: Control) -> None:
    """Note what is wrong with the numbers of a drive."""
    for key, value in values.items():
        positive = key in (*NEEDED, "ratio", "rate_limit")
        if value < 0.0 or (positive and value == 0.0):
            entries.problem(key, "must be positive" if positive else "must not be negative")
    if not 0.01 <= values["efficiency"] <= 1.0:
        entries.problem("efficiency", "must be from 0.01 to 1")
    dry = [key for key in ("friction", "brake_torque") if values[key] > 0.0]
    dry += ["efficiency"] if values["efficiency"] < 1.0 else []
    if dry and values["holding_stiffness"] == 0.0:
        entries.problem("holding_stiffness", f"is missing: {dry[0]} holds on it before it slips, in N.m/rad")
    if values["gear_stiffness"] == 0.0:
        for key in ("gear_damping", "play"):
            if key in entries:
                entries.problem(key, "belongs to an elastic gearbox: give gear_stiffness, or leave this out")
    belongs = {"rate_gain": ("rate", "position"), "position_gain": ("position",), "rate_limit": ("position",)}
    for key, of in belongs.items():
        if key in entries and control not in of:
            entries.problem(key, f"belongs to control = {' or '.join(map(repr, of))}")
        elif key != "rate_limit" and control in of and values[key] == 0.0:
            entries.problem(key, f"is missing: control = {control!r} needs it")
