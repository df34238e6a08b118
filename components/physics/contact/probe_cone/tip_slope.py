"""Work of the slope of the bent probe's tip, which turns latches and head sensors but not the tree of the probe."""

from math import cos, sin

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.probe_cone.pairs import on_lever
from dockfmu.components.physics.mechanics.rotation import apply, load_matrix
from dockfmu.components.physics.mechanics.vector import ZERO, add, cross, load, scale, store, subtract


def state() -> Group:
    """Return the group `tip`."""
    return Group(
        "tip",
        private(
            "torque", "N.m", "of the contact springs of latches and sensors about the head's centre, axes H", shape=3
        ),
        private("slope", "rad", "of the tip about y and z at the last evaluation", shape=2),
        private("work", "J", "done so far by the slope on latches and sensors"),
    )


@kernel
def reset(tip):
    """Set torque, slope and work to zero."""
    store(ZERO, tip.torque)
    tip.slope[0] = 0.0
    tip.slope[1] = 0.0
    tip.work = 0.0


@kernel
def spring_torque(unit):
    """Return the torque of the contact springs on latches and sensors about the head's centre, N m, axes H."""
    head = unit.work.link[0]
    torque = load(unit.work.levers.part[0].torque)
    for k in range(int(unit.tally.class_1)):
        item = unit.tally.contact[k]
        if on_lever(item.pair):
            force = scale(-item.spring, load(item.normal))
            torque = add(torque, cross(subtract(load(item.position), load(head.position)), force))
    return apply(load_matrix(head.rotation), torque)


@kernel
def add_work(tip, torque, slope):
    """Add the work since the last call; `torque` and `slope` are tuples as in the group `tip`."""
    y = slope[0] - tip.slope[0]
    z = slope[1] - tip.slope[1]
    turn = (z * sin(slope[0]), y, z * cos(slope[0]))
    before = load(tip.torque)
    for i in range(3):
        tip.work -= 0.5 * (torque[i] + before[i]) * turn[i]
        tip.torque[i] = torque[i]
    tip.slope[0] = slope[0]
    tip.slope[1] = slope[1]
