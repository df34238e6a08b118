"""Kinds of pairs of the two rings, their force laws, and the messages of their failures."""

from __future__ import annotations

from dockfmu.components.core.component import Message
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import penetration

# floats, as the slots are float64 and kernels compile once for all floats, but once for each integer constant
RIM_ON_ACTIVE_PETAL = 1.0
RIM_ON_PASSIVE_PETAL = 2.0
EDGE_ON_EDGE = 3.0
PLANE_ON_PLANE = 4.0
LATCH_FRONT = 5.0
LATCH_REAR = 6.0
SENSOR_ON_PLANE = 7.0

PAIRS = {
    RIM_ON_ACTIVE_PETAL: "passive rim on active petal {status.index:.0f}",
    RIM_ON_PASSIVE_PETAL: "active rim on passive petal {status.index:.0f}",
    EDGE_ON_EDGE: "side edges of petals, pair {status.index:.0f} of 24",
    PLANE_ON_PLANE: "point {status.index:.0f} of the active ring plane on the passive one",
    LATCH_FRONT: "latch {status.index:.0f} on the front of its stop",
    LATCH_REAR: "latch {status.index:.0f} behind its stop",
    SENSOR_ON_PLANE: "mating sensor {status.index:.0f} on the passive ring plane",
}

# the group of parameters of each kind's force law
LAWS = {
    RIM_ON_ACTIVE_PETAL: "law_petal",
    RIM_ON_PASSIVE_PETAL: "law_petal",
    EDGE_ON_EDGE: "law_side",
    PLANE_ON_PLANE: "law_plane",
    LATCH_FRONT: "law_front",
    LATCH_REAR: "law_rear",
    SENSOR_ON_PLANE: "law_sensor",
}


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


NOT_FINITE = 100
OUT_OF_RANGE = 101
GEOMETRY = 102
# PENETRATION + pair: the depth exceeds the limit of the pair's law
PENETRATION = 110

# first bit of each kind's parts in a set of contacts, and the number of bits
_BIT = (0, 0, 3, 6, 30, 36, 42, 48)
BITS = 51
_WEIGHT = tuple(2.0**k for k in range(BITS))


@kernel
def bit(pair, index):
    """Return the bit of a contact in a set of contacts; `index` counts parts from 1."""
    return _BIT[int(pair)] + int(index) - 1


@kernel
def weight(pair, index):
    """Return 2 to the power of `bit`: what a contact adds to a set of contacts that is kept as a number."""
    return _WEIGHT[bit(pair, index)]


def _shown(group: str, *names: str) -> str:
    """Return the part of a message that names parameters of a group with their values."""
    path = f"ring_pair.parameters.{group}"
    return path + " (" + ", ".join(f"{name} {{{path}.{name}:g}}" for name in names) + ")"


_NO_RING = (
    "contact: petals must be lower than their cone and narrower at the tip than at the root, there less than half of "
    "60 deg; radii must rise from the petals' tip over lower_radius, radius and plane.radius to outer_radius, and from "
    "the edge of the stops to their front: "
    + "; ".join((
        _shown("petal", "height", "cone_angle", "root_half_width", "tip_half_width", "lower_half_width",
               "lower_radius"),
        _shown("ring", "radius", "outer_radius"),
        _shown("plane", "radius"),
        _shown("stop", "inner_radius", "outer_radius"),
    ))
)  # fmt: skip


def messages(discard: bool) -> dict[int, Message]:
    """Return the messages of a unit's failures, by their codes; `discard` as for the probe-cone unit."""
    by_code = {
        NOT_FINITE: Message("contact: pose or velocity of the active ring is not finite"),
        OUT_OF_RANGE: Message(
            "contact: the active ring is near the passive one, but where the model of their contact does not hold "
            "(1 its axis more than 30 deg off, 2 rolled by more than 30 deg, 3 half a radius aside, 4 half a petal "
            "through): case {status.index:.0f}, {status.value:.4g} (1 cosine, 2 rad, 3 m, 4 m)"
        ),
        GEOMETRY: Message(_NO_RING),
    }
    position = ", ".join(f"{{ring_pair.work.link.position[{i}]:.4g}}" for i in (1, 2, 3))
    for pair, name in PAIRS.items():
        more = f", beyond which its model does not hold; the active ring was at ({position}) m in PU"
        limit = f"ring_pair.parameters.{LAWS[pair]}.penetration_limit"
        by_code[PENETRATION + int(pair)] = penetration(name, limit, more, discard=discard)
    return by_code


MESSAGES = messages(discard=True)
