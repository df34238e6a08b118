"""Length of the micro-steps of a mechanism, controlled by the jerk: the rate of change of its accelerations.

A micro-step kicks with the acceleration of its middle. While the acceleration changes smoothly, its change alters the
velocities by the jerk times the square of the step. A step length that keeps this at `micro_tolerance` follows impacts
with short micro-steps and calm phases with long ones, in contact or not. Each mechanism decides in its module
`micro_step_control` which accelerations count.
"""

from __future__ import annotations

from math import sqrt

from dockfmu.components.core.field import Field, parameter, private
from dockfmu.components.core.kernel import kernel

# ratio of the next micro-step to the one that would just meet the tolerance; its largest ratio to the last one
CAUTION = 0.9
GROWTH = 2.0
# m/s3, avoids a division by zero
LEAST_JERK = 1e-24


def parameters(shortest: float, longest: float, tolerance: float) -> tuple[Field, ...]:
    """Return the parameters of the control with their start values: `shortest`, `longest` in s, `tolerance` in m/s."""
    return (
        parameter("micro_step", "s", "micro-step after a contact has closed, and lower bound of the micro-step",
                  shortest, minimum=1e-6),
        parameter("longest_micro_step", "s", "micro-step while nothing changes", longest, minimum=1e-6),
        parameter("micro_tolerance", "m/s", "change of velocities in a micro-step due to the change of accelerations; "
                  "0: all micro-steps have the length micro_step", tolerance, minimum=0.0),
    )  # fmt: skip


def state() -> tuple[Field, ...]:
    """Return the fields of the group `stepping` that all mechanisms have."""
    return (
        private("micro_step", "s", "greatest length of the next micro-step"),
        private("jerk", "m/s3", "rate of change of the accelerations, the largest recent one"),
    )


@kernel
def restart(p, stepping):
    """Continue with the short micro-step."""
    stepping.micro_step = p.micro_step


@kernel
def remember(stepping, change, memory, h):
    """Update the jerk from the `change` of an acceleration over a micro-step h, m/s2.

    Older jerks fade within `memory`, s.
    """
    stepping.jerk = max(change / h, stepping.jerk * max(0.0, 1.0 - h / memory))


@kernel
def longest(p):
    """Return the micro-step while nothing changes, s."""
    return max(p.longest_micro_step, p.micro_step)


@kernel
def allowed(p, stepping):
    """Return the micro-step that meets the tolerance with the remembered jerk, s."""
    return CAUTION * sqrt(p.micro_tolerance / max(stepping.jerk, LEAST_JERK))


@kernel
def set_next(p, stepping, proposed, h):
    """Set the next micro-step after one of length h to the `proposed` one, s, within its bounds."""
    stepping.micro_step = min(max(min(proposed, GROWTH * h), p.micro_step), longest(p))
