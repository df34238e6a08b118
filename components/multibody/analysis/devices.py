"""Drives and hysteretic springs of joints in the analysis: torques, inertias of rotors, energies.

Dry friction, brakes and the losses of gearboxes hold or slip by a state of their own and are left out, as the friction
of joints is. Hysteretic springs are on their first loading from rest, rotors of elastic gearboxes where a state has
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from dockfmu.components.core.record import Record
from dockfmu.components.multibody.analysis.elements import coordinate_index, rate_index
from dockfmu.components.multibody.drive_ports import loop_group
from dockfmu.components.multibody.model import Model
from dockfmu.components.multibody.model.parts import HystereticSpring, JointDrive
from dockfmu.components.multibody.reference.kinematics import TreeMotion
from dockfmu.components.physics import hysteresis

Rotors = Mapping[str, tuple[float, float]]
"""Angle and rate of the rotors of elastic gearboxes in units of their coordinates, by the names of the drives."""


@dataclass
class DeviceLoads:
    """Hold what devices add: forces and inertias along the rates, accelerations of the rotors of elastic gearboxes."""

    tau: np.ndarray
    inertia: np.ndarray
    rotors: dict[str, float] = field(default_factory=dict)
    kinetic: float = 0.0
    stored: float = 0.0


def voltage(drive: JointDrive, command: float, angle: float, rate: float) -> float:
    """Return the voltage that the controller sets, for an angle and a rate of the rotor in units of the coordinate."""
    if drive.control == "voltage":
        wanted = command
    else:
        speed = command
        if drive.control == "position":
            speed = float(np.clip(drive.position_gain * (command - angle), -drive.rate_limit, drive.rate_limit))
        wanted = drive.ratio * (drive.voltage_constant * speed + drive.rate_gain * (speed - rate))
    return float(np.clip(wanted, -drive.voltage_limit, drive.voltage_limit))


def motor_torque(drive: JointDrive, command: float, angle: float, rate: float) -> float:
    """Return the torque of the motor less its viscous friction, on the coordinate; a motor without power has none."""
    viscous = drive.ratio**2 * drive.damping * rate
    if not drive.powered:
        return -viscous
    induced = drive.voltage_constant * drive.ratio * rate
    amperes = (voltage(drive, command, angle, rate) - induced) / drive.resistance
    limited = float(np.clip(amperes, -drive.current_limit, drive.current_limit))
    return drive.ratio * drive.torque_constant * limited - viscous


def gear_torque(drive: JointDrive, windup: float) -> tuple[float, float]:
    """Return (torque on the joint, stored energy) of an elastic gearbox; within its play it is a weak parabola."""
    k, play, size = drive.gear_stiffness, drive.play, abs(windup)
    if size < play:
        return float(np.copysign(0.5 * k * windup**2 / play, windup)), k * size**3 / (6.0 * play)
    over = size - play
    return float(np.copysign(k * over + 0.5 * k * play, windup)), k * (play**2 / 6.0 + 0.5 * over * (play + over))


def device_loads(model: Model, motion: TreeMotion, rotors: Rotors, commands: Mapping[str, float]) -> DeviceLoads:
    """Return what all drives and hysteretic springs add to the equations of motion."""
    found = DeviceLoads(np.zeros(motion.system.rates), np.zeros(motion.system.rates))
    for drive in model.drives:
        place = rate_index(model, drive.joint, drive.coordinate)
        q = float(motion.q[coordinate_index(model, drive.joint, drive.coordinate)])
        u = float(motion.u[place])
        command = commands.get(drive.name, drive.command)
        inertia = drive.ratio**2 * drive.inertia
        if drive.gear_stiffness == 0.0:
            found.tau[place] += motor_torque(drive, command, q, u)
            found.inertia[place] += inertia
            found.kinetic += 0.5 * inertia * u**2
            continue
        angle, rate = rotors.get(drive.name, (q, u))
        torque, stored = gear_torque(drive, angle - q)
        torque += drive.gear_damping * (rate - u)
        found.tau[place] += torque
        found.rotors[drive.name] = (motor_torque(drive, command, angle, rate) - torque) / inertia
        found.kinetic += 0.5 * inertia * rate**2
        found.stored += stored
    for spring in model.loops:
        place = rate_index(model, spring.joint, spring.coordinate)
        q = float(motion.q[coordinate_index(model, spring.joint, spring.coordinate)])
        reaction, stored = first_loading(spring, q - spring.rest, float(motion.u[place]))
        found.tau[place] -= reaction
        found.stored += stored
    return found


@cache
def _record() -> Record:
    return Record(loop_group(1))


def first_loading(spring: HystereticSpring, deformation: float, rate: float) -> tuple[float, float]:
    """Return (reaction, stored energy) of a hysteretic spring that was relaxed before."""
    record = _record()
    loop = record.view(record.start.copy()).loop[0]
    hysteresis.elastic_loop(
        loop.law,
        spring.stiffness,
        spring.range,
        spring.play,
        spring.common,
        min(spring.loss, hysteresis.largest_loss(spring.common, spring.ratio)),
        spring.ratio,
    )
    hysteresis.reset(loop.law, loop.memory)
    hysteresis.update(loop.law, loop.memory, deformation, rate, 1.0)
    return float(hysteresis.reaction(loop.memory, deformation)), float(loop.memory.stored_energy)
