"""Length of the micro-steps of a mechanism, found from how fast its accelerations change.

A micro-step kicks with the acceleration of its middle. While it changes smoothly, what its change makes of the
velocities is jerk times the square of the step; a step that keeps it at `micro_tolerance` follows impacts with short
micro-steps and calm phases with long ones, in contact or not. Which change counts is each mechanism's own: see their
`micro_step_control`.
"""

from __future__ import annotations

from math import sqrt

from components.core.field import Field, parameter, private
from components.core.kernel import kernel

# the next micro-step over the one that would just keep the tolerance, and at most over the last one
CAUTION = 0.9
GROWTH = 2.0
# m/s3, keeps a division from zero
LEAST_JERK = 1e-24


def parameters(shortest: float, longest: float, tolerance: float) -> tuple[Field, ...]:
    """Return the parameters of the control with their start values: `shortest`, `longest` in s, `tolerance` in m/s."""
    return (
        parameter("micro_step", "s", "micro-step when a contact has closed, and the shortest for the tolerance",
                  shortest, minimum=1e-6),
        parameter("longest_micro_step", "s", "micro-step while nothing changes", longest, minimum=1e-6),
        parameter("micro_tolerance", "m/s", "change of velocities in a micro-step by the change of accelerations; "
                  "0: all have the length micro_step", tolerance, minimum=0.0),
    )  # fmt: skip


def state() -> tuple[Field, ...]:
    """Return the fields of the group `stepping` that all mechanisms have."""
    return (
        private("micro_step", "s", "length of the next micro-step, at most"),
        private("jerk", "m/s3", "change of the accelerations in time, the largest of late"),
    )


@kernel
def restart(p, stepping):
    """Continue with the short micro-step."""
    stepping.micro_step = p.micro_step


@kernel
def remember(stepping, change, memory, h):
    """Take the `change` of an acceleration over a micro-step h, m/s2; older jerks are forgotten within `memory`, s."""
    stepping.jerk = max(change / h, stepping.jerk * max(0.0, 1.0 - h / memory))


@kernel
def longest(p):
    """Return the micro-step while nothing changes, s."""
    return max(p.longest_micro_step, p.micro_step)


@kernel
def allowed(p, stepping):
    """Return the micro-step that keeps the tolerance with the remembered jerk, s."""
    return CAUTION * sqrt(p.micro_tolerance / max(stepping.jerk, LEAST_JERK))


@kernel
def set_next(p, stepping, wanted, h):
    """Set the next micro-step after one of length h to the `wanted` one, s, within its bounds."""
    stepping.micro_step = min(max(min(wanted, GROWTH * h), p.micro_step), longest(p))
