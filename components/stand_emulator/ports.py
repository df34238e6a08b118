"""The records of the two devices of the virtual 6-DOF stand: platform and balance (spec/08 5.5, spec/06 12)."""

from __future__ import annotations

import numpy as np

from components.contact import kinematics
from components.core import ports
from components.core.field import BOOLEAN, INPUT, INTEGER, OUTPUT, Field, Group, input, output, parameter, private
from components.core.record import Record

LINE = 64
"""Commands that the delay line of the platform holds."""


def _rods() -> tuple[np.ndarray, np.ndarray]:
    """Return joints of the six rods on the floor and on the platform, shape (6, 3), m: pairs every 120 degrees.

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
    """Return places and directions of six gauges in PU, shape (6, 3): two at each of three points, tilted both ways.

    With the tilt of tan = sqrt(2) against x, gauges of equal noise give force components of equal noise.
    """
    azimuth = np.repeat(np.deg2rad([0.0, 120.0, 240.0]), 2)
    sense = np.tile([1.0, -1.0], 3)
    place = np.column_stack([np.full(6, x), radius * np.cos(azimuth), radius * np.sin(azimuth)])
    along, across = np.sqrt(1.0 / 3.0), np.sqrt(2.0 / 3.0)
    direction = np.column_stack([
        np.full(6, along), -sense * across * np.sin(azimuth), sense * across * np.cos(azimuth)
    ])  # fmt: skip
    # without negative zeros, which a model description does not tell from others
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
        private("position", "m", "of frame 0, axes PU", shape=3),
        private("velocity", "m/s", "axes PU", shape=3),
        private("quaternion", "1", "PU -> 0", shape=4),
        private("angular_velocity", "rad/s", "axes 0", shape=3),
    )


def _bypass() -> Field:
    return parameter("bypass", "1", "ideal stand: what comes in goes out, without any change", 0, type=BOOLEAN)


def _frame_time() -> Field:
    return parameter("frame_time", "s", "between two exchanges of the control computer with the stand", 2e-3,
                     minimum=1e-5, maximum=1.0)  # fmt: skip


def platform() -> Record:
    """Return the record of the platform: motion of the simulated craft in, motion that the units really make out."""
    return Record(
        *_simulated(),
        input("emergency_stop", "1", "blocks the actuators: the platform brakes and stays", type=BOOLEAN),
        _motion("base", "the active unit on the platform, frame 0; I is the hall, its origin that of the passive unit",
                "output"),
        _motion("target", "the passive unit on the balance, frame PU", "output"),
        Group(
            "error",
            output("position", "m", "realised less commanded position of frame 0, axes PU", shape=3),
            output("rotation", "rad", "rotation vector from commanded to realised attitude, axes 0", shape=3,
                   display_unit="deg"),
        ),
        Group(
            "rod",
            output("length", "m", "between its joints on floor and platform"),
            output("rate", "m/s", "of the length"),
            count=6,
        ),
        output("limited", "1", "a rate was at its limit in the step just done", type=BOOLEAN),
        Group(
            "parameters",
            _bypass(),
            _frame_time(),
            parameter("delay", "s", "from a command to the motion that answers it", 5e-3, minimum=0.0),
            parameter("frequency", "Hz", "undamped natural frequency of the platform under its regulators", 10.0,
                      minimum=1e-2, maximum=1e4),
            parameter("damping", "1", "ratio of its damping to the critical one", 0.7, minimum=1e-3, maximum=10.0),
            parameter("feedforward", "1", "share of the commanded rate that the regulators add", 0.0, minimum=0.0,
                      maximum=1.0),
            parameter("velocity_limit", "m/s", "largest speed of the origin of frame 0", 0.5, minimum=1e-6),
            parameter("angular_velocity_limit", "rad/s", "largest angular speed", 0.35, minimum=1e-6,
                      display_unit="deg/s"),
            parameter("deceleration", "m/s2", "after an emergency stop", 5.0, minimum=1e-6),
            parameter("angular_deceleration", "rad/s2", "after an emergency stop", 5.0, minimum=1e-6),
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
        Group("commanded", *_pose_and_twist(), description="by the simulated craft at the start of the step"),
        Group(
            "line",
            private("due", "s", "from the start of the step until it takes effect"),
            *_pose_and_twist(),
            count=LINE,
            description="commands on their way, a ring",
        ),
        Group(
            "clock",
            private("until_frame", "s", "from the start of the step to the next command"),
            private("first", "1", "place of the oldest command in the line"),
            private("count", "1", "of the commands in the line"),
        ),
        kinematics.placement("relative", "frame 0 relative to PU as simulated"),
        kinematics.moving("at_active", "frame 0 as simulated, at the instant of a command"),
        kinematics.moving("at_passive", "frame PU as simulated, at the instant of a command"),
    )  # fmt: skip


def _wrench_output(name: str, description: str) -> Group:
    return Group(
        name,
        output("force", "N", "on the craft, mean over the step just done, port axes", shape=3),
        output("torque", "N.m", "on the craft about the port origin, mean over the step, port axes", shape=3),
        *ports.pose(INPUT), *ports.twist(INPUT), *ports.acceleration(INPUT),
        description=description,
    )  # fmt: skip


def balance() -> Record:
    """Return the record of the balance: the wrench on the passive unit in, the measured one to both craft out."""
    return Record(
        Group("base", *ports.wrench_input(),
              description="the active unit on the platform, frame 0: passed on with bypass only"),
        Group("target", *ports.wrench_input(), description="the passive unit on the balance, frame PU"),
        _wrench_output("active", "docking port of the simulated active craft: gets the reaction to what was measured"),
        _wrench_output("passive", "docking port of the simulated passive craft: gets what was measured"),
        output("emergency_stop", "1", "force or torque has gone over its limit", type=BOOLEAN),
        Group(
            "measured",
            output("force", "N", "at the last reading, axes PU", shape=3),
            output("torque", "N.m", "about the origin of PU, at the last reading", shape=3),
            output("saturated", "1", "a gauge was at its full scale at the last reading", type=BOOLEAN),
        ),
        Group("gauge", output("reading", "N", "force along the gauge at the last reading"), count=6),
        Group(
            "parameters",
            _bypass(),
            _frame_time(),
            parameter("cutoff", "Hz", "of the first-order lag of gauge and amplifier", 100.0, minimum=1e-2,
                      maximum=1e6),
            parameter("noise", "N", "standard deviation of one reading of a gauge", 0.70710678, minimum=0.0),
            parameter("seed", "1", "of the noise", 1, type=INTEGER, minimum=0, maximum=2147483647),
            parameter("force_limit", "N", "of the emergency stop", 5e3, minimum=0.0),
            parameter("torque_limit", "N.m", "of the emergency stop, about the origin of PU", 3e3, minimum=0.0),
            Group(
                "gauge",
                parameter("position", "m", "of the gauges, frame PU", GAUGE_POSITION, shape=(6, 3)),
                parameter("direction", "1", "unit vectors of the forces that they feel, axes PU", GAUGE_DIRECTION,
                          shape=(6, 3)),
                parameter("bias", "N", "of each gauge", 0.0, shape=6),
                parameter("full_scale", "N", "of each gauge: readings beyond it are cut", 1e4, minimum=0.0),
            ),
        ),
        ports.status(),
        Group(
            "work",
            private("load", "N", "of each gauge in the present step", shape=6),
            private("signal", "N", "of each gauge behind its amplifier", shape=6),
            private("wrench", "1", "of the last reading: force (N), torque (N.m)", shape=6),
            private("mean", "1", "over the step, of readings", shape=6),
            private("matrix", "1", "wrench of unit forces along the gauges", shape=(6, 6)),
            private("factors", "1", "of the matrix", shape=(6, 6)),
            private("pivot", "1", "of the factors", shape=6),
            private("readings", "1", "made so far"),
            private("until_frame", "s", "from the start of the step to the next reading"),
        ),
        kinematics.placement("relative", "frame 0 relative to PU as simulated, mid-step"),
        kinematics.moving("at_active", "frame 0 as simulated, mid-step"),
        kinematics.moving("at_passive", "frame PU as simulated, mid-step"),
    )  # fmt: skip
