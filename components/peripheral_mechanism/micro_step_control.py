"""Length of the micro-steps, found from how fast the acceleration of the ring changes, as in the probe mechanism.

A micro-step kicks with the acceleration of its middle. While it changes smoothly, what its change makes of the
velocities is jerk times the square of the step; a step that keeps it at `micro_tolerance` follows impacts with short
micro-steps and calm phases with long ones, in contact or not.

A ring that rests on the other one is held by as many contacts as it has freedoms. The deepest point of a rim then jumps
from one side of its petal to the other with every micrometre, and the force with it; no short micro-step follows that,
and none has to: what it makes of the velocities the contacts take back. So a set of contacts that has held the ring for
a while is no reason for short ones.
"""

from __future__ import annotations

from math import fabs, sqrt

from components.core.field import Field, Group, parameter, private
from components.core.kernel import kernel

# the next micro-step over the one that would just keep the tolerance, and at most over the last one
CAUTION = 0.9
GROWTH = 2.0
# s, time in which a jerk is forgotten: the jerk of a vibration passes through zero, its error does not go
MEMORY = 5e-3
# contacts that hold a ring, and s after which those that have not changed do: half a swing of the ring on its legs
HOLDING = 6.0
SETTLED = 25e-3
# m/s3, keeps a division from zero
LEAST_JERK = 1e-24


def parameters() -> tuple[Field, ...]:
    """Return the parameters of the control."""
    return (
        parameter("micro_step", "s", "micro-step when a contact has closed, and the shortest for the tolerance", 2.5e-4,
                  minimum=1e-6),
        parameter("longest_micro_step", "s", "micro-step while nothing changes", 1e-3, minimum=1e-6),
        parameter("micro_tolerance", "m/s", "change of velocities in a micro-step by the change of accelerations; "
                  "0: all have the length micro_step", 5e-5, minimum=0.0),
    )  # fmt: skip


def state() -> Group:
    """Return the group `stepping`: the next micro-step, and what the last one leaves for it."""
    return Group(
        "stepping",
        private("micro_step", "s", "length of the next micro-step, at most"),
        private("jerk", "m/s3", "change of the accelerations in time, the largest of late"),
        private("closed", "1", "set of the contacts closed in the last micro-step"),
        private("contacts", "1", "how many they are"),
        private("unchanged", "s", "time for which they have been the same"),
        private("position", "m", "of the ring at the start of the micro-step", shape=3),
        private("quaternion", "1", "of the ring at the start of the micro-step", shape=4),
    )


@kernel
def restart(p, stepping):
    """Continue with the short micro-step."""
    stepping.micro_step = p.micro_step


@kernel
def initialize(p, stepping):
    """Start with the short micro-step, no contact closed."""
    stepping.jerk = 0.0
    stepping.closed = 0.0
    stepping.contacts = 0.0
    stepping.unchanged = 0.0
    restart(p, stepping)


@kernel
def remember_contacts(stepping, closed, contacts, h):
    """Remember the set `closed` of the `contacts` (their number) of an accepted micro-step of length h."""
    stepping.unchanged = stepping.unchanged + h if closed == stepping.closed else 0.0
    stepping.closed = closed
    stepping.contacts = contacts


@kernel
def set_next(p, stepping, before, now, h):
    """Set the next micro-step after one of length h.

    `before`, `now` (6): accelerations of the ring in the last and in this one; angular ones count at its joints.
    """
    change = 0.0
    for i in range(6):
        reach = 1.0 if i < 3 else p.legs.ring_radius
        change = max(change, reach * fabs(now[i] - before[i]))
    stepping.jerk = max(change / h, stepping.jerk * max(0.0, 1.0 - h / MEMORY))
    longest = max(p.longest_micro_step, p.micro_step)
    allowed = CAUTION * sqrt(p.micro_tolerance / max(stepping.jerk, LEAST_JERK))
    if stepping.contacts >= HOLDING and stepping.unchanged >= SETTLED:
        allowed = longest
    stepping.micro_step = min(max(min(allowed, GROWTH * h), p.micro_step), longest)
