"""Kinds of pairs of the probe-cone unit, their force laws, and the messages of its failures."""

from __future__ import annotations

from dockfmu.base.fmi import MISSED
from dockfmu.components.core.component import Message
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import penetration

# floats, as the slots are float64 and kernels compile once for all floats, but once for each integer constant
HEAD_CONE = 1.0
HEAD_BOTTOM = 2.0
PAD_CONE = 3.0
ROLLER_CONE = 4.0
LATCH_CONE = 5.0
SENSOR_CONE = 6.0
LATCH_STOP = 7.0
LATCH_WALL = 8.0
LATCH_WIDE = 9.0

PAIRS = {
    HEAD_CONE: "head on cone, edge or socket wall",
    HEAD_BOTTOM: "head on socket bottom",
    PAD_CONE: "limiter pad {status.index:.0f} on cone",
    ROLLER_CONE: "roller {status.index:.0f} on cone",
    LATCH_CONE: "retracted latch {status.index:.0f} on cone or socket",
    SENSOR_CONE: "retracted capture sensor {status.index:.0f} on cone or socket",
    LATCH_STOP: "latch {status.index:.0f} on its stop",
    LATCH_WALL: "latch {status.index:.0f} on the wall of its slot",
    LATCH_WIDE: "latch {status.index:.0f} on the wall of the wide part of its slot",
}


# the group of parameters of each kind's force law
LAWS = {
    HEAD_CONE: "law_head",
    HEAD_BOTTOM: "law_bottom",
    PAD_CONE: "law_limiter",
    ROLLER_CONE: "law_limiter",
    LATCH_CONE: "law_latch",
    SENSOR_CONE: "law_head",
    LATCH_STOP: "law_latch",
    LATCH_WALL: "law_latch",
    LATCH_WIDE: "law_latch",
}


@kernel
def law_of(parameters, pair):
    """Return the force law of a kind of pair."""
    if pair in (HEAD_CONE, SENSOR_CONE):
        return parameters.law_head
    if pair == HEAD_BOTTOM:
        return parameters.law_bottom
    if pair in (LATCH_CONE, LATCH_STOP, LATCH_WALL, LATCH_WIDE):
        return parameters.law_latch
    return parameters.law_limiter


@kernel
def on_lever(pair):
    """Return whether a kind of pair loads a latch or sensor, which turn with the slope of the bent probe's tip."""
    return pair in (LATCH_CONE, SENSOR_CONE, LATCH_STOP, LATCH_WALL, LATCH_WIDE)


NOT_FINITE = 100
OUT_OF_RANGE = 101
GEOMETRY = 102
SLOT = 108
# PENETRATION + pair: the depth exceeds the limit of the pair's law
PENETRATION = 110

# first bit of each kind's parts in a set of contacts, and the number of bits
_BIT = (0, 0, 1, 2, 18, 21, 25, 27, 31, 35)
BITS = 39
_WEIGHT = tuple(2.0**k for k in range(BITS))


@kernel
def bit(pair, index):
    """Return the bit of a contact in a set of contacts; `index` counts parts from 1 and is 0 if there is only one."""
    return _BIT[int(pair)] + max(int(index) - 1, 0)


@kernel
def weight(pair, index):
    """Return 2 to the power of `bit`: what a contact adds to a set of contacts that is kept as a number."""
    return _WEIGHT[bit(pair, index)]


def messages(discard: bool) -> dict[int, Message]:
    """Return the messages of a unit's failures, by their codes.

    `discard`: whether a shorter communication step may avoid a penetration beyond its limit. It may where one
    evaluation serves the whole step; a mechanism that shortens its micro-steps has already tried (spec/00 R30).
    """
    by_code = {
        NOT_FINITE: Message(
            "contact: pose or velocity of link {status.index:.0f} (1 head, 2 limiter with rollers) is not finite"
        ),
        OUT_OF_RANGE: Message(
            "contact: the head passed the docking plane {status.value:.4g} m from the axis, outside the passive unit",
            outcome=MISSED,
        ),
        GEOMETRY: Message(
            "contact: the {status.index:.0f} points of probe_cone.parameters.cone do not form a convex chain of faces "
            "with a flat bottom: from the mouth to the axis x must not fall and r must not rise"
        ),
        SLOT: Message(
            "contact: probe_cone.parameters.slot.narrow_depth = {probe_cone.parameters.slot.narrow_depth:g} m must be "
            "below wide_depth = {probe_cone.parameters.slot.wide_depth:g} m"
        ),
    }
    position = ", ".join(f"{{probe_cone.input.base.position[{i}]:.4g}}" for i in (1, 2, 3))
    for pair, name in PAIRS.items():
        more = f", beyond which its model does not hold; frame 0 of the mechanism was at ({position}) m in PU"
        limit = f"probe_cone.parameters.{LAWS[pair]}.penetration_limit"
        by_code[PENETRATION + int(pair)] = penetration(name, limit, more, discard=discard)
    return by_code


MESSAGES = messages(discard=True)
