"""The groups of the record for drives and hysteretic springs of joints."""

from __future__ import annotations

from dockfmu.components.core.field import BOOLEAN, Field, Group, constants, input, output, parameter, private
from dockfmu.components.multibody import drives
from dockfmu.components.multibody.model.parts import Control, HystereticSpring, JointDrive
from dockfmu.components.physics import hysteresis

CODES: dict[Control, float] = {"voltage": drives.VOLTAGE, "rate": drives.RATE, "position": drives.POSITION}


def drive_fields(drive: JointDrive | None, unit: str, force: str) -> tuple[Field, ...]:
    """Return inputs, outputs and state of a drive; units of its coordinate and of the force on it."""
    one = drive or JointDrive("", "")
    commanded = {"voltage": "V", "rate": f"{unit}/s", "position": unit}[one.control]
    return (
        input("command", commanded, f"commanded {one.control} of {one.joint}", one.command),
        input("powered", "1", "the motor has current; without, its torque is zero", float(one.powered), type=BOOLEAN),
        input("brake", "1", "the brake is engaged", float(one.braked), type=BOOLEAN),
        output("torque", force, "of the drive on its coordinate, last micro-step"),
        output("motor_torque", "N.m", "of the motor, last micro-step"),
        output("motor_rate", "rad/s", "of the motor"),
        output("current", "A", "of the motor, last micro-step"),
        output("voltage", "V", "on the motor, last micro-step"),
        output("limited", "1", "the current is at its limit", type=BOOLEAN),
        output("held", "1", "the brake is engaged and does not slip", type=BOOLEAN),
        output("losses", "J", "lost so far in friction, brake and gearbox"),
        output("heat", "J", "lost so far in the resistance of the motor"),
        private("link", "1", "index of the link of its coordinate"),
        private("angle", unit, "of the rotor, in units of the coordinate"),
        private("rate", f"{unit}/s", "likewise"),
        private("deflection", unit, "of friction and brake that hold"),
        private("predicted", f"{unit}/s2", "acceleration of the rotor in the last micro-step"),
    )


def drive_parameters(drive: JointDrive | None, unit: str, force: str) -> tuple[Field, ...]:
    """Return the parameters of a drive."""
    one = drive or JointDrive("", "")
    per = f"{force}/{unit}"
    rate = f"{unit}/s"

    def quantity(name: str, unit: str, text: str, *, least: float | None = 0.0, tunable: bool = True) -> Field:
        return parameter(name, unit, text, getattr(one, name), minimum=least, tunable=tunable)

    elastic = one.gear_stiffness > 0.0
    controlled = one.control != "voltage"
    placed = one.control == "position"

    def hidden(name: str, unit: str, shown: bool, text: str) -> Field:
        return quantity(name, unit, text) if shown else private(name, unit, text, getattr(one, name))

    return (
        quantity("ratio", f"rad/{unit}", "radians of the motor for one of the coordinate", least=1e-9, tunable=False),
        quantity("inertia", "kg.m2", "of the motor with its side of the gearbox", least=1e-15, tunable=False),
        quantity("damping", "N.m.s/rad", "of the motor"),
        quantity("friction", "N.m", "dry friction of the motor"),
        quantity("brake_torque", "N.m", "limit of the brake, at the motor"),
        quantity("holding_stiffness", "N.m/rad", "of friction and brake before they slip, at the motor", tunable=False),
        quantity("torque_constant", "N.m/A", "torque of a current", least=1e-12, tunable=False),
        quantity("voltage_constant", "V.s/rad", "voltage that the rate induces", tunable=False),
        quantity("resistance", "Ohm", "of the motor", least=1e-9, tunable=False),
        quantity("voltage_limit", "V", "of the supply"),
        quantity("current_limit", "A", "of the motor"),
        quantity("gear_stiffness", per, "of the gearbox, at the joint", least=1e-12, tunable=False)
        if elastic
        else private("gear_stiffness", per, "0: the gearbox is rigid"),
        hidden("gear_damping", f"{force}.s/{unit}", elastic, "of the gearbox, at the joint"),
        quantity("play", unit, "of the gearbox, to either side, at the joint", tunable=False)
        if elastic
        else private("play", unit, "none"),
        parameter("efficiency", "1", "of the gearbox", one.efficiency, minimum=0.01, maximum=1.0, tunable=True),
        hidden("rate_gain", "V.s/rad", controlled, "voltage of an error of the motor's rate"),
        hidden("position_gain", "1/s", placed, "rate of an error of the position"),
        hidden("rate_limit", rate, placed, "largest rate that an error of the position asks for"),
        private("control", "1", "what the command is: one of those of `drives`", CODES[one.control]),
    )


def hysteresis_fields(spring: HystereticSpring | None, unit: str, per: str, label: str) -> tuple[Field, ...]:
    """Return the parameters of the hysteretic spring of a coordinate."""
    one = spring or HystereticSpring("", 0, 0.0, 0.0, 0.0)
    return (
        parameter("hysteresis_stiffness", per, f"of the loading branch of {label}", one.stiffness),
        parameter("hysteresis_range", unit, f"deformation of {label} at which its branches meet", one.range),
        parameter("hysteresis_loss", "1", "area of a full loop over the work of loading", one.loss, minimum=0.0),
        parameter("hysteresis_ratio", "1", "stiffness between the branches over that of loading", one.ratio,
                  minimum=1.01),
        parameter("hysteresis_common", "1", "share of the range without hysteresis", one.common, minimum=1e-4,
                  maximum=0.5),
        parameter("hysteresis_play", unit, "deformation before the spring acts", one.play, minimum=0.0),
        parameter("hysteresis_rest", unit, f"{label} with the spring relaxed", one.rest),
    )  # fmt: skip


def loop_group(count: int) -> Group:
    """Return the laws of hysteretic springs and their memory."""
    return Group(
        "loop",
        *constants(Group("loop", private("coordinate", "1", "index of its coordinate"))).members,
        hysteresis.law("law", "1", "1", causality="constant"),
        hysteresis.memory("memory", "1", "1"),
        count=max(1, count),
    )
