"""Kinds of pairs of the head and its cone, their force laws, and the messages of their failures."""

from __future__ import annotations

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core.component import Message
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.pairs import PairKind, penetration_messages, setting

# floats, as the slots are float64 and kernels compile once for all floats, but once for each integer constant
SPHERE_ON_CONE = 1.0
SPHERE_ON_WALL = 2.0
SPHERE_ON_BOTTOM = 3.0
CONE_ON_MOUTH = 4.0
CONE_ON_STRIKE = 5.0
LATCH_PUSHED = 6.0
LATCH_BOTTOMED = 7.0
LATCH_HOLDS = 8.0

PAIRS = {
    SPHERE_ON_CONE: PairKind("sphere {status.index:.0f} of the head on the receiving cone", "law_head", 2),
    SPHERE_ON_WALL: PairKind("sphere {status.index:.0f} of the head on the wall of the socket", "law_head", 2),
    SPHERE_ON_BOTTOM: PairKind("sphere {status.index:.0f} of the head on the bottom of the socket", "law_head", 2),
    CONE_ON_MOUTH: PairKind("cone {status.index:.0f} of the head on the mouth of the receiving cone", "law_head", 2),
    CONE_ON_STRIKE: PairKind("cone {status.index:.0f} of the head on the strike", "law_head", 2),
    # latches that are pushed in have no law
    LATCH_PUSHED: PairKind("latch {status.index:.0f} pushed in by the strike", "law_head", 4),
    LATCH_BOTTOMED: PairKind("latch {status.index:.0f} on the strike at the end of its travel", "law_latch", 4),
    LATCH_HOLDS: PairKind("latch {status.index:.0f} behind the strike", "law_latch", 4),
}


@kernel
def law_of(parameters, pair):
    """Return the force law of a kind of pair."""
    if pair in (LATCH_BOTTOMED, LATCH_HOLDS):
        return parameters.law_latch
    return parameters.law_head


set_kinds = setting(PAIRS, law_of)

GEOMETRY = 100
TILTED = 101


def messages() -> dict[int, Message]:
    """Return the messages of a unit's failures, by their codes; a shorter step may avoid a depth beyond its limit."""
    return {
        GEOMETRY: Message(
            "contact: check {status.index:.0f} of the head and its cone fails; in turn: "
            "(1) airlock_pair.parameters.cone.plane_radius > mouth_radius > strike_radius > 0 and depth > 0, "
            "(2) 0 < strike_angle < 90 deg, wall_radius > strike_radius and bottom beyond the strike, "
            "(3) head.sphere_x falls from the nose backward, by more than the spheres' radii differ, "
            "(4) 0 < head.shank_angle < 90 deg and shank_x < sphere_x[2], "
            "(5) latch.x falls from front to rear, and the ramp ends above the radius of the strike"
        ),
        TILTED: Message(
            "contact: the axis of the head is {status.value:.4g} rad off that of the cone, more than "
            "airlock_pair.parameters.tilt_limit = {airlock_pair.parameters.tilt_limit:.4g} rad, beyond which the "
            "model does not hold",
            outcome=LIMIT_EXCEEDED,
        ),
        **dict(penetration_messages(PAIRS, "airlock_pair.parameters")),
    }


MESSAGES = messages()
