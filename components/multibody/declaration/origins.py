"""Which key of a declaration gives a parameter of its component, and which source stands beside the value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dockfmu.components.multibody.declaration.joints import MOTION_KEYS
from dockfmu.components.multibody.declaration.surfaces import FORMS

TABLES = {"body": "bodies"}
"""Tables of a declaration by the groups of the record; the others are called as the group, with an s."""
POINTS = {"predecessor_point": ("points",), "successor_point": ("points",)}
KEYS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "body": {"inertia": ("inertia", "solid")},
    "joint": POINTS | {"quaternion": ("quaternion", "angles")},
    "drive": {"voltage_constant": ("voltage_constant", "torque_constant")},
    "spring": {"first_point": ("points",), "second_point": ("points",)},
    "surface": {
        "point": ("point", "segment"),
        "along": ("segment",),
        "radius": ("radius", "sphere"),
        "x": FORMS,
        "r": FORMS,
    },
    "sensor": {"level": ("above", "below", "pairs")},
}
"""Keys that may give a parameter, where its own name is not the only one."""
MOTION = {"velocity": "rate"} | {key: key for key in MOTION_KEYS if key != "rate"}
"""Keys of a prescribed motion by the names of the parameters."""
UNDECLARED = ("stepping", "base_motion")
"""Parameters, or groups of them, that no key gives."""

_PREFIX, _SUBSCRIPTS = "parameters.", re.compile(r"\[[0-9,]+\]$")


def origin(variable: str, content: Mapping[str, Any], file: str) -> str:
    """Return where a parameter such as `parameters.body.rod.mass` is from: the key of a declaration, or its default.

    `content` is the declaration, already checked, and `file` its name. The source that a declaration gives beside a
    value follows the key. Returns "" for a parameter that no key can give.
    """
    group, *names = _SUBSCRIPTS.sub("", variable.removeprefix(_PREFIX)).split(".")
    if group in UNDECLARED or names[-1:] == ["base_motion"]:
        return ""
    if not names:
        place: list[str] = []
        keys: tuple[str, ...] = (group,)
    else:
        parts = TABLES.get(group, f"{group}s")
        inner, keys = _within(content[parts][names[0]], group, names[1:])
        place = [parts, names[0], *inner]
    table = content
    for name in place:
        table = table.get(name, {})
    given = next((key for key in keys if key in table), None)
    where = ".".join([*place, given or keys[0]])
    if given is None:
        return f"default: {file} gives no {where}"
    sources = "; ".join(dict.fromkeys(_sources(table[given])))
    return f"{file}, {where}" + (f": {sources}" if sources else "")


def _within(table: Mapping[str, Any], group: str, names: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the tables within that of a part which have a parameter of it, and the keys that may give it."""
    *inner, name = names
    if group == "surface":
        # vertices have numbers in the record, and stand in one list
        return [], KEYS[group].get(name, (name,))
    if group == "joint" and inner:
        if "motion" in table.get(inner[0], {}):
            return [*inner, "motion"], (MOTION[name],)
        if name.startswith("hysteresis_"):
            return [*inner, "hysteresis"], (name.removeprefix("hysteresis_"),)
        return inner, ("rate" if name == "start_rate" else name,)
    if group == "joint" and name not in POINTS:
        return ["start"], KEYS[group].get(name, (name,))
    return inner, KEYS.get(group, {}).get(name, (name,))


def _sources(value: Any) -> Iterator[str]:
    """Yield the sources that stand in a value, a list or a table of quantities."""
    if isinstance(value, Mapping):
        if "source" in value:
            yield str(value["source"])
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _sources(item)
