"""Micro-step control from changes of the ring's acceleration, see `dockfmu.components.physics.devices.micro_steps`.

A ring at rest on the other one is held by as many contacts as it has degrees of freedom. The deepest point of a rim
then jumps from one side of its petal to the other with every micrometre, and the force with it. No short micro-step can
resolve that, and none has to: the contacts undo the resulting change of the velocities. So a set of contacts that has
held the ring for a while does not shorten the micro-step.
"""

from __future__ import annotations

from math import fabs

from dockfmu.components.core.field import Field, Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.devices import micro_steps

# s, time in which a jerk is forgotten: the jerk of a vibration passes through zero, but its error does not vanish
MEMORY = 5e-3
# number of contacts that hold a ring, and time in s after which unchanged contacts do: half a swing of the ring on legs
HOLDING = 6.0
SETTLED = 25e-3


def parameters() -> tuple[Field, ...]:
    """Return the parameters of the control."""
    return micro_steps.parameters(2.5e-4, 1e-3, 5e-5)


def state() -> Group:
    """Return the group `stepping`: the next micro-step, and the results of the last one needed for its control."""
    return Group(
        "stepping",
        *micro_steps.state(),
        private("closed", "1", "bit set of the contacts closed in the last micro-step"),
        private("contacts", "1", "number of these contacts"),
        private("unchanged", "s", "time for which the set has not changed"),
        private("position", "m", "position of the ring at the start of the micro-step", shape=3),
        private("quaternion", "1", "attitude of the ring at the start of the micro-step", shape=4),
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
    """Remember the set `closed` of contacts, `contacts` in number, of an accepted micro-step of length h."""
    stepping.unchanged = stepping.unchanged + h if closed == stepping.closed else 0.0
    stepping.closed = closed
    stepping.contacts = contacts


@kernel
def set_next(p, stepping, before, now, h):
    """Set the length of the next micro-step after one of length h.

    `before` and `now` (6) are the accelerations of the ring in the last micro-step and in this one. Angular
    accelerations count at the radius of its joints.
    """
    change = 0.0
    for i in range(6):
        reach = 1.0 if i < 3 else p.legs.ring_radius
        change = max(change, reach * fabs(now[i] - before[i]))
    micro_steps.remember(stepping, change, MEMORY, h)
    length = micro_steps.allowed(p, stepping)
    if stepping.contacts >= HOLDING and stepping.unchanged >= SETTLED:
        length = micro_steps.longest(p)
    micro_steps.set_next(p, stepping, length, h)
