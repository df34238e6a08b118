"""Changes of the accelerations that set the length of the micro-steps: see `physics.devices.micro_steps`.

Stiff friction does not require short steps: `implicit` keeps it stable at any length. After every change of the step,
and after every correction of the craft's motion at the start of a macro step, it finds a new balance within a few
micro-steps, with accelerations that a step could follow only if it resolved M / D. As in solvers for stiff equations,
the change of an acceleration is therefore weighted by M / (M + h D), with the articulated inertias without and with the
implicit dampers.
"""

from __future__ import annotations

from math import fabs, sqrt

from dockfmu.components.core.field import Field, Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.devices import micro_steps
from dockfmu.components.probe_mechanism.tree import ANGLES

# s, time in which a jerk fades: the jerk of a vibration passes through zero, its error does not
MEMORY = 2e-3


def parameters() -> tuple[Field, ...]:
    """Return the parameters of the control."""
    return micro_steps.parameters(1e-4, 2e-3, 2e-6)


def state(joints: int) -> Group:
    """Return the group `stepping`: the next micro-step, and the accelerations of the last one; `joints` of the tree."""
    return Group(
        "stepping",
        *micro_steps.state(),
        private("free_inertia", "kg.m2", "articulated, about each joint, at the start", shape=joints),
        private("joint_acceleration", "rad/s2", "of the tree in the last micro-step", shape=joints),
        private("axial_acceleration", "m/s2", "of the probe in the last micro-step"),
    )


@kernel
def initialize(p, stepping, t):
    """Start with the short micro-step, with the tree `t` evaluated for it, preferably before a contact has closed."""
    stepping.jerk = 0.0
    stepping.axial_acceleration = 0.0
    for j in range(len(t.qdd)):
        stepping.joint_acceleration[j] = t.qdd[j]
        stepping.free_inertia[j] = t.pivot[j]
    micro_steps.restart(p, stepping)


@kernel
def set_next(p, stepping, t, axial_acceleration, h):
    """Set the next micro-step after one of length h with these accelerations of the tree `t` and of the probe (m/s2).

    Angular accelerations count at the head's centre, torsion at the probe's radius of gyration; that of a movable
    limiter is not scaled.
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
        weight = min(1.0, stepping.free_inertia[j] / t.pivot[j])
        change = max(change, weight * reach * fabs(t.qdd[j] - stepping.joint_acceleration[j]))
        stepping.joint_acceleration[j] = t.qdd[j]
    micro_steps.remember(stepping, change, MEMORY, h)
    micro_steps.set_next(p, stepping, micro_steps.allowed(p, stepping), h)
