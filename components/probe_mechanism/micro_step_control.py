"""Length of the micro-steps, found from how fast the accelerations change.

A micro-step kicks with the accelerations of its middle. While they change smoothly, what their change makes of the
velocities is jerk times the square of the step; a step that keeps it at `micro_tolerance` follows impacts with short
micro-steps and calm phases with long ones, in contact or not.

Stiff friction is no reason for short steps: `implicit` keeps it stable at any. With every change of the step, and with
every correction of the craft's motion at the start of a macro step, it finds a new balance within a few micro-steps,
with accelerations that a step could follow only if it resolved M / D. As in solvers for stiff equations the change of
an acceleration therefore counts by M / (M + h D), with the articulated inertias without and with the implicit dampers.
"""

from __future__ import annotations

from math import fabs, sqrt

from components.core.field import Field, Group, parameter, private
from components.core.kernel import kernel
from components.probe_mechanism.tree import ANGLES

# the next micro-step over the one that would just keep the tolerance, and at most over the last one
CAUTION = 0.9
GROWTH = 2.0
# s, time in which a jerk is forgotten: the jerk of a vibration passes through zero, its error does not go
MEMORY = 2e-3
# m/s3, keeps a division from zero
LEAST_JERK = 1e-24


def parameters() -> tuple[Field, ...]:
    """Return the parameters of the control."""
    return (
        parameter("micro_step", "s", "micro-step when a contact has closed, and the shortest for the tolerance", 1e-4,
                  minimum=1e-6),
        parameter("longest_micro_step", "s", "micro-step while nothing changes", 2e-3, minimum=1e-6),
        parameter("micro_tolerance", "m/s", "change of velocities in a micro-step by the change of accelerations; "
                  "0: all have the length micro_step", 5e-7, minimum=0.0),
    )  # fmt: skip


def state(joints: int) -> Group:
    """Return the group `stepping`: the next micro-step, and what the last one leaves for it; `joints` of the tree."""
    return Group(
        "stepping",
        private("micro_step", "s", "length of the next micro-step, at most"),
        private("free_inertia", "kg.m2", "articulated, about each joint, at the start", shape=joints),
        private("joint_acceleration", "rad/s2", "of the tree in the last micro-step", shape=joints),
        private("jerk", "m/s3", "change of the accelerations in time, the largest of late"),
        private("axial_acceleration", "m/s2", "of the probe in the last micro-step"),
    )


@kernel
def initialize(p, stepping, t):
    """Start with the short micro-step, with the tree `t` evaluated for it; best before a contact has closed."""
    stepping.jerk = 0.0
    stepping.axial_acceleration = 0.0
    for j in range(len(t.qdd)):
        stepping.joint_acceleration[j] = t.qdd[j]
        stepping.free_inertia[j] = t.pivot[j]
    restart(p, stepping)


@kernel
def restart(p, stepping):
    """Continue with the short micro-step."""
    stepping.micro_step = p.micro_step


@kernel
def set_next(p, stepping, t, axial_acceleration, h):
    """Set the next micro-step after one of length h with these accelerations of the tree `t` and of the probe (m/s2).

    Angular accelerations count at the head's centre, torsion at the probe's radius of gyration, that of a movable
    limiter as it is.
    """
    probe = p.probe
    reach = probe.bearing_distance + probe.free_length
    change = fabs(axial_acceleration - stepping.axial_acceleration)
    stepping.axial_acceleration = axial_acceleration
    for j in range(len(t.qdd)):
        if j == 2:
            reach = probe.free_length
        elif j == 4:
            reach = sqrt(probe.probe_inertia[0, 0] / probe.probe_mass)
        elif j == ANGLES:
            reach = 1.0
        share = min(1.0, stepping.free_inertia[j] / t.pivot[j])
        change = max(change, share * reach * fabs(t.qdd[j] - stepping.joint_acceleration[j]))
        stepping.joint_acceleration[j] = t.qdd[j]
    stepping.jerk = max(change / h, stepping.jerk * max(0.0, 1.0 - h / MEMORY))
    allowed = CAUTION * sqrt(p.micro_tolerance / max(stepping.jerk, LEAST_JERK))
    longest = max(p.longest_micro_step, p.micro_step)
    stepping.micro_step = min(max(min(allowed, GROWTH * h), p.micro_step), longest)
