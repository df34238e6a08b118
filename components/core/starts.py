"""Start values of a record from parameter sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dockfmu.components.core.field import Field, Group
from dockfmu.components.core.parameters import ParameterSet


def with_starts(group: Group, sets: Iterable[ParameterSet], within: str = "") -> Group:
    """Return `group`, part of the group `within`, with the start values that `sets` give for its fields."""
    path = f"{within}.{group.name}" if within else group.name
    return _with_values(group, path, {name: value for entry in sets for name, value in entry.values.items()})


def _with_values(group: Group, path: str, values: Mapping[str, Any]) -> Group:
    members: list[Field | Group] = []
    for member in group.members:
        name = f"{path}.{member.name}"
        if isinstance(member, Group):
            members.append(_with_values(member, name, values))
        else:
            members.append(replace(member, start=values.get(name, member.start)))
    return Group(group.name, *members, count=group.count, description=group.description)
