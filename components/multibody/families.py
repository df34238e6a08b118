"""Records with named parts: an array of equal groups in memory, one name for each element in the FMU.

A kernel is compiled for a type of record. Names of bodies and joints are therefore kept out of the types: the memory is
an array of groups, `m.spring[k]`, while the variables of the FMU are `spring.cable.length`. Kernels that take such an
array serve any number of elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from types import MappingProxyType

from dockfmu.components.core.field import Field, Group
from dockfmu.components.core.record import Record, Slot

HIDDEN = "none"
"""Name of the single hidden element of a family without elements: an array of a record has at least one."""


@dataclass(frozen=True)
class Family:
    """Equal groups, called `name[k]` in kernels, and named by `labels` in the FMU.

    `fields(label)` are the fields of one element, with its units, descriptions and start values; names and shapes are
    the same for all. A label `hinge.angle` makes nested groups; `within` is the group in the FMU that contains them
    all, "" for the top.
    """

    name: str
    labels: Sequence[str]
    fields: Callable[[str], Iterable[Field]]
    within: str = ""

    @property
    def counted(self) -> Group:
        """The array of groups, as kernels see it."""
        label = self.labels[0] if self.labels else HIDDEN
        return Group(self.name, *self.fields(label), count=max(1, len(self.labels)))

    @property
    def named(self) -> tuple[Group, ...]:
        """The same memory as groups with names."""
        if not self.labels:
            return (Group(f"{HIDDEN}_{self.name}", *hidden(tuple(self.fields(HIDDEN)), False)),)
        groups = _nested([(label.split("."), tuple(self.fields(label))) for label in self.labels])
        return (Group(self.within, *groups),) if self.within else groups


def _nested(rows: list[tuple[list[str], tuple[Field, ...]]]) -> tuple[Group, ...]:
    """Return groups by the first part of the labels; equal first parts are neighbours."""
    groups: list[Group] = []
    place = 0
    while place < len(rows):
        (first, *rest), fields = rows[place]
        if not rest:
            groups.append(Group(first, *fields))
            place += 1
            continue
        end = place
        while end < len(rows) and rows[end][0][0] == first:
            end += 1
        groups.append(Group(first, *_nested([(label[1:], fields) for label, fields in rows[place:end]])))
        place = end
    return tuple(groups)


Member = Field | Group | Family


@dataclass(frozen=True)
class FamilyGroup:
    """A group that contains families."""

    name: str
    members: tuple[Member, ...]


class NamedRecord(Record):
    """A record with families: their elements are arrays of groups for kernels, and groups with names in the FMU.

    `counted` has the names that kernels use; `values` are start values of slots by name, for arrays of groups whose
    elements differ.
    """

    def __init__(self, *members: Member | FamilyGroup, values: Mapping[str, float] = MappingProxyType({})) -> None:
        self.counted = Record(*_counted(members))
        super().__init__(*self.counted.members)
        self.members = tuple(_named(members))
        self._values = values
        if sum(map(_slot_count, self.members)) != self.size:
            raise ValueError("the elements of a family differ in size")

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Return every scalar in the order of memory, with the start values that `values` gives for some."""
        values = self._values
        found = tuple(
            Slot(slot.name, slot.index, slot.field, values[slot.name]) if slot.name in values else slot
            for slot in super().slots
        )
        if len(values) > sum(slot.name in values for slot in found):
            raise ValueError(f"no slots: {sorted(set(values) - {slot.name for slot in found})[:5]}")
        return found


def _slot_count(member: Field | Group) -> int:
    if isinstance(member, Field):
        return prod(member.shape)
    return sum(map(_slot_count, member.members)) * (1 if member.count is None else member.count)


def _counted(members: Iterable[Member | FamilyGroup]) -> list[Field | Group]:
    found: list[Field | Group] = []
    for member in members:
        if isinstance(member, FamilyGroup):
            found.append(Group(member.name, *_counted(member.members)))
        else:
            found.append(member.counted if isinstance(member, Family) else member)
    return found


def _named(members: Iterable[Member | FamilyGroup]) -> list[Field | Group]:
    found: list[Field | Group] = []
    for member in members:
        if isinstance(member, FamilyGroup):
            found.append(Group(member.name, *_named(member.members)))
        elif isinstance(member, Family):
            found.extend(member.named)
        else:
            found.append(member)
    return found


def hidden(fields: tuple[Field, ...], public: bool) -> tuple[Field, ...]:
    """Return fields, all private unless they are public."""
    return fields if public else tuple(replace(field, causality="private") for field in fields)


def hidden_group(group: Group, public: bool) -> Group:
    """Return a group of fields, all private unless it is public."""
    fields = tuple(member for member in group.members if isinstance(member, Field))
    return Group(group.name, *hidden(fields, public), description=group.description)
