"""Start values of a unit's record from parameter sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from components.core.field import Field, Group
from components.core.parameters import ParameterSet


def with_starts(group: Group, sets: Iterable[ParameterSet]) -> Group:
    """Return `group` with the start values that `sets` have for the structured names of its fields."""
    return _laid_over(group, group.name, {name: value for chosen in sets for name, value in chosen.values.items()})


def _laid_over(group: Group, path: str, values: Mapping[str, Any]) -> Group:
    members: list[Field | Group] = []
    for member in group.members:
        name = f"{path}.{member.name}"
        if isinstance(member, Group):
            members.append(_laid_over(member, name, values))
        else:
            members.append(replace(member, start=values.get(name, member.start)))
    return Group(group.name, *members, count=group.count, description=group.description)
