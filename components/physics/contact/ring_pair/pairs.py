"""Kinds of pairs of the two rings, their force laws, and the messages of their failures."""

from __future__ import annotations

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core.component import Message
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.pairs import PairKind, penetration_messages, setting, slots

# floats, as the slots are float64 and kernels compile once for all floats, but once for each integer constant
RIM_ON_ACTIVE_PETAL = 1.0
RIM_ON_PASSIVE_PETAL = 2.0
EDGE_ON_EDGE = 3.0
PLANE_ON_PLANE = 4.0
LATCH_FRONT = 5.0
LATCH_REAR = 6.0
SENSOR_ON_PLANE = 7.0

PAIRS = {
    RIM_ON_ACTIVE_PETAL: PairKind("passive rim on active petal {status.index:.0f}", "law_petal", 3),
    RIM_ON_PASSIVE_PETAL: PairKind("active rim on passive petal {status.index:.0f}", "law_petal", 3),
    EDGE_ON_EDGE: PairKind("side edges of petals, pair {status.index:.0f} of 24", "law_side", 24),
    PLANE_ON_PLANE: PairKind("point {status.index:.0f} of the active ring plane on the passive one", "law_plane", 6),
    LATCH_FRONT: PairKind("latch {status.index:.0f} on the front of its stop", "law_front", 6),
    LATCH_REAR: PairKind("latch {status.index:.0f} behind its stop", "law_rear", 6),
    SENSOR_ON_PLANE: PairKind("mating sensor {status.index:.0f} on the passive ring plane", "law_sensor", 3),
}
SLOTS = slots(PAIRS)


@kernel
def law_of(parameters, pair):
    """Return the force law of a kind of pair."""
    if pair in (RIM_ON_ACTIVE_PETAL, RIM_ON_PASSIVE_PETAL):
        return parameters.law_petal
    if pair == EDGE_ON_EDGE:
        return parameters.law_side
    if pair == PLANE_ON_PLANE:
        return parameters.law_plane
    if pair == LATCH_FRONT:
        return parameters.law_front
    if pair == LATCH_REAR:
        return parameters.law_rear
    return parameters.law_sensor


set_kinds = setting(PAIRS, law_of)

NOT_FINITE = 100
OUT_OF_RANGE = 101
GEOMETRY = 102


def _shown(group: str, *names: str) -> str:
    """Return the part of a message that names parameters of a group with their values."""
    path = f"ring_pair.parameters.{group}"
    return path + " (" + ", ".join(f"{name} {{{path}.{name}:g}}" for name in names) + ")"


_NO_RING = (
    "contact: petals must be lower than their cone and narrower at the tip than at the root, there less than half of "
    "60 deg; radii must rise from the petals' tip over lower_radius, radius and plane.radius to outer_radius, and from "
    "the edge of the stops to their front: "
    + "; ".join(
        (
            _shown(
                "petal", "height", "cone_angle", "root_half_width", "tip_half_width", "lower_half_width", "lower_radius"
            ),
            _shown("ring", "radius", "outer_radius"),
            _shown("plane", "radius"),
            _shown("stop", "inner_radius", "outer_radius"),
        )
    )
)


def messages(discard: bool) -> dict[int, Message]:
    """Return the messages of a unit's failures, by their codes; `discard` as for the probe-cone unit."""
    position = ", ".join(f"{{ring_pair.work.link[1].position[{i}]:.4g}}" for i in (1, 2, 3))
    more = f", beyond which its model does not hold; the active ring was at ({position}) m in PU"
    return {
        NOT_FINITE: Message("contact: pose or velocity of the active ring is not finite"),
        OUT_OF_RANGE: Message(
            "contact: the active ring is near the passive one, but where the model of their contact does not hold "
            "(1 its axis more than 30 deg off, 2 rolled by more than 30 deg, 3 half a radius aside, 4 half a petal "
            "through): case {status.index:.0f}, {status.value:.4g} (1 cosine, 2 rad, 3 m, 4 m)",
            outcome=LIMIT_EXCEEDED,
        ),
        GEOMETRY: Message(_NO_RING),
        **dict(penetration_messages(PAIRS, "ring_pair.parameters", more, discard=discard)),
    }


MESSAGES = messages(discard=True)
