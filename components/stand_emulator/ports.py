"""The records of the two parts of the virtual 6-DOF stand: platform and balance (stand 5.5, stand 12)."""

from __future__ import annotations

import numpy as np

from dockfmu.components.core import ports
from dockfmu.components.core.field import (
    BOOLEAN,
    INPUT,
    INTEGER,
    OUTPUT,
    Field,
    Group,
    input,
    output,
    parameter,
    private,
)
from dockfmu.components.core.record import Record
from dockfmu.components.physics.mechanics import kinematics

LINE = 64
"""Number of commands that the delay line of the platform can hold."""


def _rods() -> tuple[np.ndarray, np.ndarray]:
    """Return the joints of the six rods on floor and platform, shape (6, 3), m: pairs every 120 degrees.

    x is the docking axis: the platform stands behind the active unit, the floor 3 m behind that.
    """
    floor = np.deg2rad([-50.0, 50.0, 70.0, 170.0, 190.0, 290.0])
    platform = np.deg2rad([-10.0, 10.0, 110.0, 130.0, 230.0, 250.0])
    points = [
        np.column_stack([np.full(6, x), radius * np.cos(angle), radius * np.sin(angle)])
        for x, radius, angle in ((-4.0, 2.5, floor), (-1.0, 1.5, platform))
    ]
    return points[0], points[1]


def _gauges(radius: float = 0.45, x: float = 0.27) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and directions of six gauges in PU, shape (6, 3): two at each of three points, tilted both ways.

    With a tilt of tan = sqrt(2) against x, gauges of equal noise give force components of equal noise.
    """
    azimuth = np.repeat(np.deg2rad([0.0, 120.0, 240.0]), 2)
    sense = np.tile([1.0, -1.0], 3)
    place = np.column_stack([np.full(6, x), radius * np.cos(azimuth), radius * np.sin(azimuth)])
    along, across = np.sqrt(1.0 / 3.0), np.sqrt(2.0 / 3.0)
    direction = np.column_stack([
        np.full(6, along), -sense * across * np.sin(azimuth), sense * across * np.cos(azimuth)
    ])  # fmt: skip
    # adding zero removes negative zeros, which a model description does not preserve
    return place + 0.0, direction + 0.0


ROD_FLOOR, ROD_PLATFORM = _rods()
GAUGE_POSITION, GAUGE_DIRECTION = _gauges()


def _motion(name: str, description: str, causality: str) -> Group:
    side = INPUT if causality == "input" else OUTPUT
    return Group(name, *ports.pose(side), *ports.twist(side), *ports.acceleration(side), description=description)


def _simulated() -> tuple[Group, Group]:
    return (
        _motion("active", "docking port of the simulated active craft", "input"),
        _motion("passive", "docking port of the simulated passive craft", "input"),
    )


def _pose_and_twist() -> tuple[Field, ...]:
    return (
        private("position", "m", "position of frame 0, axes PU", shape=3),
        private("velocity", "m/s", "velocity, axes PU", shape=3),
        private("quaternion", "1", "attitude PU -> 0", shape=4),
        private("angular_velocity", "rad/s", "angular velocity, axes 0", shape=3),
    )


def _bypass() -> Field:
    return parameter("bypass", "1", "ideal stand: inputs are passed on unchanged", 0, type=BOOLEAN)


def _frame_time() -> Field:
    return parameter("frame_time", "s", "time between two exchanges of the control computer with the stand", 2e-3,
                     minimum=1e-5, maximum=1.0)  # fmt: skip


def platform() -> Record:
    """Return the record of the platform: motion of the simulated craft in, realised motion of the units out."""
    return Record(
        *_simulated(),
        input("emergency_stop", "1", "block the actuators: the platform brakes and stops", type=BOOLEAN),
        _motion("base", "the active unit on the platform, frame 0; I is the hall, its origin that of the passive unit",
                "output"),
        _motion("target", "the passive unit on the balance, frame PU", "output"),
        Group(
            "error",
            output("position", "m", "realised minus commanded position of frame 0, axes PU", shape=3),
            output("rotation", "rad", "rotation vector from commanded to realised attitude, axes 0", shape=3),
        ),
        Group(
            "rod",
            output("length", "m", "length of the rod between its joints on floor and platform"),
            output("rate", "m/s", "rate of the length"),
            count=6,
        ),
        output("limited", "1", "a rate was at its limit in the step just done", type=BOOLEAN),
        Group(
            "parameters",
            _bypass(),
            _frame_time(),
            parameter("delay", "s", "delay from a command to the resulting motion", 5e-3, minimum=0.0),
            parameter("frequency", "Hz", "undamped natural frequency of the controlled platform", 10.0,
                      minimum=1e-2, maximum=1e4),
            parameter("damping", "1", "damping ratio of the controlled platform", 0.7, minimum=1e-3, maximum=10.0),
            parameter("feedforward", "1", "share of the commanded rate that the controllers feed forward", 0.0,
                      minimum=0.0, maximum=1.0),
            parameter("velocity_limit", "m/s", "largest speed of the origin of frame 0", 0.5, minimum=1e-6),
            parameter("angular_velocity_limit", "rad/s", "largest angular speed", 0.35, minimum=1e-6),
            parameter("deceleration", "m/s2", "deceleration after an emergency stop", 5.0, minimum=1e-6),
            parameter("angular_deceleration", "rad/s2", "angular deceleration after an emergency stop", 5.0,
                      minimum=1e-6),
            parameter("micro_step", "s", "longest step of the servo", 1e-3, minimum=1e-6, maximum=0.1),
            Group(
                "rod",
                parameter("floor", "m", "joints on the floor, hall axes from the passive unit", ROD_FLOOR,
                          shape=(6, 3)),
                parameter("platform", "m", "joints on the platform, frame 0", ROD_PLATFORM, shape=(6, 3)),
            ),
        ),
        ports.status(),
        Group(
            "servo",
            private("stopped", "1", "the actuators are blocked"),
            *_pose_and_twist(),
            description="the platform",
        ),
        Group("reference", *_pose_and_twist(), description="the command in effect, moved on by its twist"),
        Group("commanded", *_pose_and_twist(), description="motion of the simulated craft at the start of the step"),
        Group(
            "line",
            private("due", "s", "time from the start of the step until it takes effect"),
            *_pose_and_twist(),
            count=LINE,
            description="delay line of commands, a ring buffer",
        ),
        Group(
            "clock",
            private("until_frame", "s", "time from the start of the step to the next command"),
            private("first", "1", "index of the oldest command in the line"),
            private("count", "1", "number of commands in the line"),
        ),
        kinematics.placement("relative", "frame 0 relative to PU as simulated"),
        kinematics.moving("at_active", "frame 0 as simulated, at the instant of a command"),
        kinematics.moving("at_passive", "frame PU as simulated, at the instant of a command"),
    )  # fmt: skip


def _wrench_output(name: str, description: str) -> Group:
    return Group(
        name,
        output("force", "N", "force on the craft, mean over the step just done, port axes", shape=3),
        output("torque", "N.m", "torque on the craft about the port origin, mean over the step, port axes", shape=3),
        *ports.pose(INPUT), *ports.twist(INPUT), *ports.acceleration(INPUT),
        description=description,
    )  # fmt: skip


def balance() -> Record:
    """Return the record of the balance: the wrench on the passive unit in, the measured one to both craft out."""
    return Record(
        Group("base", *ports.wrench_input(),
              description="the active unit on the platform, frame 0: passed on only with bypass"),
        Group("target", *ports.wrench_input(), description="the passive unit on the balance, frame PU"),
        _wrench_output("active", "docking port of the simulated active craft: gets the reaction"),
        _wrench_output("passive", "docking port of the simulated passive craft: gets the measured wrench"),
        output("emergency_stop", "1", "force or torque has exceeded its limit", type=BOOLEAN),
        Group(
            "measured",
            output("force", "N", "force at the last reading, axes PU", shape=3),
            output("torque", "N.m", "torque about the origin of PU, at the last reading", shape=3),
            output("saturated", "1", "a gauge was at its full scale at the last reading", type=BOOLEAN),
        ),
        Group("gauge", output("reading", "N", "force along the gauge at the last reading"), count=6),
        Group(
            "parameters",
            _bypass(),
            _frame_time(),
            parameter("cutoff", "Hz", "cutoff frequency of the first-order lag of gauge and amplifier", 100.0,
                      minimum=1e-2, maximum=1e6),
            parameter("noise", "N", "standard deviation of one reading of a gauge", 0.70710678, minimum=0.0),
            parameter("seed", "1", "seed of the noise", 1, type=INTEGER, minimum=0, maximum=2147483647),
            parameter("force_limit", "N", "force that triggers the emergency stop", 5e3, minimum=0.0),
            parameter("torque_limit", "N.m", "torque about the origin of PU that triggers the emergency stop", 3e3,
                      minimum=0.0),
            Group(
                "gauge",
                parameter("position", "m", "positions of the gauges, frame PU", GAUGE_POSITION, shape=(6, 3)),
                parameter("direction", "1", "unit vectors of the measured forces, axes PU", GAUGE_DIRECTION,
                          shape=(6, 3)),
                parameter("bias", "N", "bias of each gauge", 0.0, shape=6),
                parameter("full_scale", "N", "full scale of each gauge, at which readings are clipped", 1e4,
                          minimum=0.0),
            ),
        ),
        ports.status(),
        Group(
            "work",
            private("load", "N", "force along each gauge in the present step", shape=6),
            private("signal", "N", "signal of each gauge after its amplifier", shape=6),
            private("wrench", "1", "wrench of the last reading: force (N), torque (N.m)", shape=6),
            private("mean", "1", "mean over the step of the wrench of the readings", shape=6),
            private("matrix", "1", "wrenches of unit forces along the gauges, as columns", shape=(6, 6)),
            private("factors", "1", "LU factors of the matrix", shape=(6, 6)),
            private("pivot", "1", "pivots of the factors", shape=6),
            private("readings", "1", "number of readings so far"),
            private("until_frame", "s", "time from the start of the step to the next reading"),
        ),
        kinematics.placement("relative", "frame 0 relative to PU as simulated, mid-step"),
        kinematics.moving("at_active", "frame 0 as simulated, mid-step"),
        kinematics.moving("at_passive", "frame PU as simulated, mid-step"),
    )  # fmt: skip
