"""Which changes of the ring's acceleration set the length of the micro-steps, see `components.devices.micro_steps`.

A ring that rests on the other one is held by as many contacts as it has freedoms. The deepest point of a rim then jumps
from one side of its petal to the other with every micrometre, and the force with it; no short micro-step follows that,
and none has to: what it makes of the velocities the contacts take back. So a set of contacts that has held the ring for
a while is no reason for short ones.
"""

from __future__ import annotations

from math import fabs

from components.core.field import Field, Group, private
from components.core.kernel import kernel
from components.devices import micro_steps

# s, time in which a jerk is forgotten: the jerk of a vibration passes through zero, its error does not go
MEMORY = 5e-3
# contacts that hold a ring, and s after which those that have not changed do: half a swing of the ring on its legs
HOLDING = 6.0
SETTLED = 25e-3


def parameters() -> tuple[Field, ...]:
    """Return the parameters of the control."""
    return micro_steps.parameters(2.5e-4, 1e-3, 5e-5)


def state() -> Group:
    """Return the group `stepping`: the next micro-step, and what the last one leaves for it."""
    return Group(
        "stepping",
        *micro_steps.state(),
        private("closed", "1", "set of the contacts closed in the last micro-step"),
        private("contacts", "1", "how many they are"),
        private("unchanged", "s", "time for which they have been the same"),
        private("position", "m", "of the ring at the start of the micro-step", shape=3),
        private("quaternion", "1", "of the ring at the start of the micro-step", shape=4),
    )


@kernel
def initialize(p, stepping):
    """Start with the short micro-step, no contact closed."""
    stepping.jerk = 0.0
    stepping.closed = 0.0
    stepping.contacts = 0.0
    stepping.unchanged = 0.0
    micro_steps.restart(p, stepping)


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
    micro_steps.remember(stepping, change, MEMORY, h)
    wanted = micro_steps.allowed(p, stepping)
    if stepping.contacts >= HOLDING and stepping.unchanged >= SETTLED:
        wanted = micro_steps.longest(p)
    micro_steps.set_next(p, stepping, wanted, h)
