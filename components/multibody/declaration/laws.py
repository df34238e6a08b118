"""Read the laws of the coordinates of joints: springs, dampers, stops, friction."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from dockfmu.components.multibody.declaration.joint_frames import UNIT
from dockfmu.components.multibody.declaration.problems import Entries, Problems
from dockfmu.components.multibody.model.parts import CONSTRAINTS, COORDINATES, CoordinateLaw

LAW_KEYS = ("stiffness", "rest", "preload", "damping", "lower", "upper", "stop_stiffness", "stop_damping", "stop_limit",
            "friction", "friction_stiffness")  # fmt: skip


def read_laws(joint: str, entries: Entries) -> list[CoordinateLaw]:
    """Return the laws of the coordinates of a joint, also of one whose bodies could not be read."""
    kind = entries.content.get("kind")
    if kind not in [*COORDINATES] or kind in ("spherical", "free", "fixed", *CONSTRAINTS):
        return []
    found = []
    silent = Problems(entries.problems.file)
    for k, name in enumerate(COORDINATES[kind]):
        # unknown keys have been noted when the coordinate was read
        content = entries.content.get(name, {})
        table = Entries(content if isinstance(content, Mapping) else {}, f"{entries.where}.{name}", entries.problems)
        if not any(key in table for key in LAW_KEYS):
            continue
        unit = UNIT[name]
        force = "N.m" if unit == "rad" else "N"
        per = f"{force}/{unit}"
        for key in LAW_KEYS:
            if (
                key not in ("rest", "preload", "lower", "upper")
                and table.quantity(key, _law_unit(key, force, unit)) < 0
            ):
                table.problem(key, "must not be negative")
        quiet = Entries(table.content, table.where, silent)
        law = CoordinateLaw(
            joint,
            k,
            quiet.quantity("stiffness", per),
            table.quantity("rest", unit),
            table.quantity("preload", force),
            quiet.quantity("damping", f"{force}.s/{unit}"),
            table.quantity("lower", unit, -inf),
            table.quantity("upper", unit, inf),
            quiet.quantity("stop_stiffness", per),
            quiet.quantity("stop_damping", f"{force}.s/{unit}"),
            quiet.quantity("friction", force),
            quiet.quantity("friction_stiffness", per),
            quiet.quantity("stop_limit", unit, inf),
        )
        _check_law(table, law, per)
        found.append(law)
    return found


def _law_unit(key: str, force: str, unit: str) -> str:
    if key == "stop_limit":
        return unit
    if key in ("stiffness", "stop_stiffness", "friction_stiffness"):
        return f"{force}/{unit}"
    return f"{force}.s/{unit}" if key in ("damping", "stop_damping") else force


def _check_law(table: Entries, law: CoordinateLaw, per: str) -> None:
    if not law.lower < law.upper:
        table.problem("lower", f"must be less than upper = {law.upper:g}")
    stops = law.lower > -inf or law.upper < inf
    if stops and law.stop_stiffness == 0.0:
        table.problem("stop_stiffness", f"is missing: a stop needs a stiffness, in {per}")
    given = [key for key in ("stop_stiffness", "stop_damping", "stop_limit") if key in table]
    if not stops and given and (law.stop_stiffness or law.stop_damping or law.stop_limit < inf):
        table.problem(given[0], "there is no stop: give lower, upper or both")
    if "stop_limit" in table and law.stop_limit == 0.0:
        table.problem("stop_limit", "must be positive: a stop yields by its stiffness")
    if law.friction and not law.friction_stiffness:
        table.problem("friction_stiffness", f"is missing: friction sticks on a presliding stiffness, in {per}")
