"""Kinds of pairs of surfaces: what a unit declares about them, and their laws as kernels read them.

A unit numbers its kinds from 1 and declares each as a `PairKind`. Its record has the group `kind`, a row a kind with
the force law and the first slot of its parts, which `initialize` fills from the parameters. A slot is the number of one
contact among all that there can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dockfmu.components.core.component import Message
from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import force

# PENETRATION + pair: the depth exceeds the limit of the pair's law
PENETRATION = 110
# slots of which a number can hold a set
MOST_SLOTS = 53
_WEIGHT = tuple(2.0**k for k in range(MOST_SLOTS))


@dataclass(frozen=True)
class PairKind:
    """One kind of pair: `name` as messages say it, group of parameters of its `law`, number of its `parts`."""

    name: str
    law: str
    parts: int = 1


def first_slots(pairs: Mapping[float, PairKind]) -> tuple[float, ...]:
    """Return the first slot of each kind, in the order of their numbers."""
    slots = [0.0]
    for pair in pairs.values():
        slots.append(slots[-1] + pair.parts)
    return tuple(slots[:-1])


def slots(pairs: Mapping[float, PairKind]) -> int:
    """Return the number of contacts that can be closed at once."""
    return sum(pair.parts for pair in pairs.values())


def kinds(count: int) -> Group:
    """Return the group `kind` of `count` kinds of pairs."""
    return Group(
        "kind",
        private("stiffness", "N/m", "of the contact"),
        private("damping", "N.s/m", "along the normal"),
        private("friction", "1", "coefficient of friction"),
        private("slip_velocity", "m/s", "sliding speed below which friction fades"),
        private("penetration_limit", "m", "depth beyond which the model does not hold"),
        private("first_slot", "1", "slot of its first part"),
        count=count,
        description="kinds of pairs: force law, and slots of their parts",
    )


@kernel
def kind_of(kinds, pair):
    """Return the row of a kind of pair."""
    return kinds[int(pair) - 1]


@kernel
def slot_of(kinds, pair, index):
    """Return the slot of a contact; the `index` counts parts from 1 and is 0 if there is only one."""
    return kind_of(kinds, pair).first_slot + max(index - 1.0, 0.0)


@kernel
def weight(slot):
    """Return 2 to the power of a slot: what a contact adds to a set of contacts that is kept as a number."""
    return _WEIGHT[int(slot)]


@kernel
def set_spread_kind(kind, law, share, penetration_limit, first_slot):
    """Fill the row of one kind from its law, of which each contact bears a `share`."""
    kind.stiffness = share * law.stiffness
    kind.damping = share * law.damping
    kind.friction = law.friction
    kind.slip_velocity = law.slip_velocity
    kind.penetration_limit = penetration_limit
    kind.first_slot = first_slot


@kernel
def set_kind(kind, law, first_slot):
    """Fill the row of one kind from its law, a group of parameters `force.law`."""
    set_spread_kind(kind, law, 1.0, law.penetration_limit, first_slot)


def setting(pairs: Mapping[float, PairKind], law_of: Any) -> Any:
    """Return the kernel `set_kinds(unit)` that fills the group `kind` of a unit from its parameters.

    `law_of(parameters, pair)` returns the group of parameters that `PairKind.law` names.
    """
    first = first_slots(pairs)

    @kernel
    def set_kinds(unit):
        for k in range(len(unit.kind)):
            set_kind(unit.kind[k], law_of(unit.parameters, k + 1.0), first[k])

    return set_kinds


def penetration_messages(
    pairs: Mapping[float, PairKind], parameters: str, more: str = "", *, discard: bool = True
) -> Iterator[tuple[int, Message]]:
    """Yield code and message of a depth beyond the limit of each kind; `parameters` is the path of their group."""
    for number, pair in pairs.items():
        limit = f"{parameters}.{pair.law}.penetration_limit"
        yield PENETRATION + int(number), force.penetration(pair.name, limit, more, discard=discard)
