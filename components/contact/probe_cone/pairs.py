"""Kinds of pairs of the probe-cone unit, and the messages of its failures."""

from __future__ import annotations

from components.core.component import Message

# stored in float64 slots; and kernels compile once for all floats, but once for each integer constant
HEAD_CONE = 1.0
HEAD_BOTTOM = 2.0
PAD_CONE = 3.0
ROLLER_CONE = 4.0
LATCH_CONE = 5.0
SENSOR_CONE = 6.0
LATCH_STOP = 7.0
LATCH_WALL = 8.0

PAIRS = {
    HEAD_CONE: "head on cone, edge or socket wall",
    HEAD_BOTTOM: "head on socket bottom",
    PAD_CONE: "limiter pad {status.index:.0f} on cone",
    ROLLER_CONE: "roller {status.index:.0f} on cone",
    LATCH_CONE: "retracted latch {status.index:.0f} on cone or socket",
    SENSOR_CONE: "retracted capture sensor {status.index:.0f} on cone or socket",
    LATCH_STOP: "latch {status.index:.0f} on its stop",
    LATCH_WALL: "latch {status.index:.0f} on the wall of its slot",
}

NOT_FINITE = 100
OUT_OF_RANGE = 101
GEOMETRY = 102
SLOT = 108
# PENETRATION + pair: the depth exceeds the limit of the pair's law; a shorter step may help
PENETRATION = 110

MESSAGES = {
    NOT_FINITE: Message(
        "contact: pose or velocity of link {status.index:.0f} (1 head, 2 limiter with rollers) is not finite"
    ),
    OUT_OF_RANGE: Message(
        "contact: the head passed the docking plane {status.value:.4g} m from the axis, outside the passive unit"
    ),
    GEOMETRY: Message(
        "contact: the {status.index:.0f} points of probe_cone.parameters.cone make no convex chain of faces with a "
        "flat bottom: from the mouth to the axis x must not fall and r not rise"
    ),
    SLOT: Message(
        "contact: probe_cone.parameters.slot.narrow_depth = {probe_cone.parameters.slot.narrow_depth:g} m must be "
        "below wide_depth = {probe_cone.parameters.slot.wide_depth:g} m"
    ),
} | {
    PENETRATION + int(pair): Message(
        f"contact: penetration {{status.value:.4g}} m of {name} exceeds its limit", discard=True
    )
    for pair, name in PAIRS.items()
}
