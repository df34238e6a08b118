"""The record of the attitude control: attitude and rates in, thrust out.

Theory: spacecraft section 7, conventions section 5.9.
"""

from __future__ import annotations

import numpy as np

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INTEGER, Group, input, output, parameter, private
from dockfmu.components.core.record import Record

PENDING = 16
"""Largest number of samples whose pulses are pending or under way at one time."""

NOZZLES = (
    # nozzle from the centre of mass, m, and direction of the force on the craft, both in axes C
    ((4.0, 0.0, 2.25), (0.0, 0.0, -1.0)),
    ((4.0, 0.0, -2.25), (0.0, 0.0, 1.0)),
    ((-4.0, 0.0, 2.25), (0.0, 0.0, -1.0)),
    ((-4.0, 0.0, -2.25), (0.0, 0.0, 1.0)),
    ((4.0, 2.25, 0.0), (0.0, -1.0, 0.0)),
    ((4.0, -2.25, 0.0), (0.0, 1.0, 0.0)),
    ((-4.0, 2.25, 0.0), (0.0, -1.0, 0.0)),
    ((-4.0, -2.25, 0.0), (0.0, 1.0, 0.0)),
    ((0.0, 2.25, 0.0), (0.0, 0.0, 1.0)),
    ((0.0, 2.25, 0.0), (0.0, 0.0, -1.0)),
    ((0.0, -2.25, 0.0), (0.0, 0.0, 1.0)),
    ((0.0, -2.25, 0.0), (0.0, 0.0, -1.0)),
)
"""Start values: the twelve nozzles of set AC-20t, repeated where there are more."""


def _parameters(count: int) -> Group:
    nozzles = np.array([NOZZLES[e % len(NOZZLES)] for e in range(count)])
    return Group(
        "parameters",
        parameter("moments_of_inertia", "kg.m2", "moments of inertia of the craft about its centre of mass, axes C",
                  (5e4, 1.9e5, 1.9e5), shape=3, minimum=1e-6),
        parameter("dead_band", "rad", "dead band of roll, yaw and pitch error plus weighted rate error",
                  0.0087266463, shape=3, minimum=0.0),
        parameter("rate_gain", "s", "weight of the rate error relative to the attitude error", 10.0, minimum=1e-6),
        parameter("gain", "1", "share of the excess over the dead band that the pulses of one sample remove", 0.5,
                  minimum=0.0, maximum=1.0),
        parameter("sample_time", "s", "time between two measurements", 0.1, minimum=1e-4),
        parameter("delay", "s", "delay from a measurement to the resulting thrust", 0.03, minimum=0.0),
        parameter("least_pulse", "s", "shortest pulse of a valve", 0.02, minimum=0.0),
        parameter("orbital_rate", "rad/s", "angular velocity of the attitude to hold, axes I", 0.0, shape=3),
        Group(
            "thruster",
            parameter("position", "m", "nozzles from the centre of mass, axes C", nozzles[:, 0], shape=(count, 3)),
            parameter("direction", "1", "unit vectors of the forces on the craft, axes C", nozzles[:, 1],
                      shape=(count, 3)),
            parameter("thrust", "N", "thrust of each nozzle with its valve open; a nozzle with 0 is ignored", 220.0,
                      shape=count, minimum=0.0),
        ),
    )  # fmt: skip


def record(count: int) -> Record:
    """Return the record of the control of a craft with `count` thrusters, at least one."""
    return Record(
        Group(
            "body",
            input("quaternion", "1", "measured attitude, I -> C, scalar first", ports.IDENTITY_QUATERNION, shape=4),
            input("angular_velocity", "rad/s", "measured rates, axes C", shape=3),
            description="frame C at the centre of mass of the craft",
        ),
        Group(
            "command",
            input("attitude_hold", "1", "hold the attitude at the moment this was switched on", type=BOOLEAN),
        ),
        Group(
            "control",
            output("force", "N", "force of all thrusters on the craft, mean over the step, axes C", shape=3),
            output("torque", "N.m", "torque of all thrusters about the centre of mass, mean over the step, axes C",
                   shape=3),
        ),
        Group(
            "thruster",
            output("thrust", "N", "thrust, mean over the step"),
            output("pulses", "1", "number of pulses begun so far", type=INTEGER),
            count=count,
        ),
        output("error", "rad", "rotation vector from the attitude to hold, at the last measurement, axes C", shape=3),
        output("rate_error", "rad/s", "angular velocity minus that of the attitude to hold, at the last measurement",
               shape=3),
        output("impulse", "N.s", "total impulse of all thrusters so far"),
        _parameters(count),
        ports.status(),
        Group(
            "work",
            private("holding", "1", "the control was on in the last step"),
            private("reference", "1", "I -> C, attitude to hold when the control was switched on", shape=4),
            private("elapsed", "s", "time since then, at the start of the step"),
            private("until_sample", "s", "time from the start of the step to the next measurement"),
            private("slot", "1", "index in `pending` for the next measurement"),
            private("on_time", "s", "demanded on-time of each thruster", shape=count),
        ),
        Group(
            "pending",
            private("open", "1", "its pulses are pending or under way"),
            private("begin", "s", "time from the start of the step to the beginning of its pulses"),
            private("longest", "s", "longest of its pulses"),
            private("on_time", "s", "on-time of each thruster", shape=count),
            count=PENDING,
            description="measurements whose pulses have not ended",
        ),
        Group(
            "selection",
            private("force", "N", "force of each thruster, axes C", shape=(count, 3)),
            private("torque", "N.m", "torque of each thruster about the centre of mass, axes C", shape=(count, 3)),
            private("on_time", "1/(N.m)", "on-time of each thruster per angular impulse about +x, -x, +y, -y, +z, -z",
                    shape=(6, count)),
            private("least_impulse", "N.m.s", "smallest angular impulse about +x, -x, +y, -y, +z, -z, with which the "
                    "longest on-time is the shortest pulse", shape=6),
            private("matrix", "1", "matrix of Newton's method", shape=(3, 3)),
            private("pivot", "1", "pivots of its LU factors", shape=3),
            private("correction", "1", "Newton correction of the multipliers", shape=3),
        ),
    )  # fmt: skip
