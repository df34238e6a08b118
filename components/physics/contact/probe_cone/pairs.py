"""Kinds of pairs of the probe-cone unit, their force laws, and the messages of its failures."""

from __future__ import annotations

from dockfmu.base.fmi import MISSED
from dockfmu.components.core.component import Message
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.pairs import PairKind, penetration_messages, setting, slots

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
    HEAD_CONE: PairKind("head on cone, edge or socket wall", "law_head"),
    HEAD_BOTTOM: PairKind("head on socket bottom", "law_bottom"),
    PAD_CONE: PairKind("limiter pad {status.index:.0f} on cone", "law_limiter", 16),
    ROLLER_CONE: PairKind("roller {status.index:.0f} on cone", "law_limiter", 3),
    LATCH_CONE: PairKind("retracted latch {status.index:.0f} on cone or socket", "law_latch", 4),
    SENSOR_CONE: PairKind("retracted capture sensor {status.index:.0f} on cone or socket", "law_head", 2),
    LATCH_STOP: PairKind("latch {status.index:.0f} on its stop", "law_latch", 4),
    LATCH_WALL: PairKind("latch {status.index:.0f} on the wall of its slot", "law_latch", 4),
    LATCH_WIDE: PairKind("latch {status.index:.0f} on the wall of the wide part of its slot", "law_latch", 4),
}
SLOTS = slots(PAIRS)


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


set_kinds = setting(PAIRS, law_of)

NOT_FINITE = 100
OUT_OF_RANGE = 101
GEOMETRY = 102
SLOT = 108


def messages(discard: bool) -> dict[int, Message]:
    """Return the messages of a unit's failures, by their codes.

    `discard`: whether a shorter communication step may avoid a penetration beyond its limit. It may where one
    evaluation serves the whole step; a mechanism that shortens its micro-steps has already tried (ruling R30).
    """
    position = ", ".join(f"{{probe_cone.input.base.position[{i}]:.4g}}" for i in (1, 2, 3))
    more = f", beyond which its model does not hold; frame 0 of the mechanism was at ({position}) m in PU"
    return {
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
        **dict(penetration_messages(PAIRS, "probe_cone.parameters", more, discard=discard)),
    }


MESSAGES = messages(discard=True)
