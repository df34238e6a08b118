"""Kinds of pairs of the radiator's units, their force laws, and the messages of their failures."""

from __future__ import annotations

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core.component import Message
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.pairs import PairKind, penetration_messages, setting

# floats, as the slots are float64 and kernels compile once for all floats, but once for each integer constant
PIN = 1.0
PLUG = 2.0
PLANES = 3.0
BALL_RESISTS = 4.0
BALL_HOLDS = 5.0

PAIRS = {
    PIN: PairKind("guide pin {status.index:.0f} on its cone or socket", "law_device", 2),
    PLUG: PairKind("the plug on its socket", "law_device"),
    PLANES: PairKind("point {status.index:.0f} of the active docking plane on the passive one", "law_plane", 4),
    BALL_RESISTS: PairKind("the plug on the ball of the lock", "law_device"),
    BALL_HOLDS: PairKind("the plug held by the ball of the lock", "law_device"),
}


@kernel
def law_of(parameters, pair):
    """Return the force law of a kind of pair."""
    if pair == PLANES:
        return parameters.law_plane
    return parameters.law_device


set_kinds = setting(PAIRS, law_of)

GEOMETRY = 100
TILTED = 101


def messages() -> dict[int, Message]:
    """Return the messages of a unit's failures, by their codes; a shorter step may avoid a depth beyond its limit."""
    group = "radiator_pair.parameters"
    return {
        GEOMETRY: Message(
            "contact: check {status.index:.0f} of the radiator's units fails; in turn: "
            f"(1) {group}.guide and (2) {group}.socket: plane_radius > mouth_radius > bore_radius > 0, "
            "0 < cone_angle < 90 deg, end beyond the cone; (3) pin.radius at most guide.bore_radius and "
            "plug.ring_radius + plug.radius at most socket.bore_radius; (4) 0 < ball.rise <= ball.travel; "
            "(5) all points of plane.y, plane.z within plane.radius"
        ),
        TILTED: Message(
            "contact: the axis of the active unit is {status.value:.4g} rad off that of the passive one, more than "
            "radiator_pair.parameters.tilt_limit = {radiator_pair.parameters.tilt_limit:.4g} rad, beyond which the "
            "model does not hold",
            outcome=LIMIT_EXCEEDED,
        ),
        **dict(penetration_messages(PAIRS, group)),
    }


MESSAGES = messages()
