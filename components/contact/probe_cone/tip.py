"""Work of the slope of the bent probe's tip: latches and head sensors turn with it, the tree of the probe does not."""

from math import cos, sin

from components.core.field import Group, private
from components.core.kernel import kernel
from components.core.vector import ZERO, load, store


def tip() -> Group:
    return Group(
        "tip",
        private("torque", "N.m", "of the contact springs of latches and sensors about the head's centre, axes H",
                shape=3),
        private("slope", "rad", "of the tip about y and z at the last evaluation", shape=2),
        private("work", "J", "done so far by the slope on latches and sensors"),
    )  # fmt: skip


@kernel
def reset(tip):
    store(ZERO, tip.torque)
    tip.slope[0] = 0.0
    tip.slope[1] = 0.0
    tip.work = 0.0


@kernel
def book(tip, torque, slope):
    """Book the work since the last call; `torque` and `slope` as in the group `tip`, tuples."""
    y = slope[0] - tip.slope[0]
    z = slope[1] - tip.slope[1]
    turn = (z * sin(slope[0]), y, z * cos(slope[0]))
    before = load(tip.torque)
    for i in range(3):
        tip.work -= 0.5 * (torque[i] + before[i]) * turn[i]
        tip.torque[i] = torque[i]
    tip.slope[0] = slope[0]
    tip.slope[1] = slope[1]
