"""Initial conditions of a run in its result, as they were given: misses, angles and rates, not positions of craft."""

from __future__ import annotations

from typing import Any

from dockfmu.declare.conditions.initial_conditions import ANGLES, UNITS, InitialConditions
from dockfmu.declare.conditions.limits import severity
from dockfmu.master.observers.observer import Observer
from dockfmu.master.result import Result

AXES = {
    "miss": ("miss[1]", "miss[2]"),
    "angles": ANGLES,
    "velocity": ("velocity[1]", "velocity[2]", "velocity[3]"),
    "angular_velocity": ("angular_velocity[1]", "angular_velocity[2]", "angular_velocity[3]"),
    "start_gap": ("start_gap",),
    "gap": ("gap",),
    "orbital_rate": ("orbital_rate[1]", "orbital_rate[2]", "orbital_rate[3]"),
}
"""Names of the numbers of each condition, as `--set initial_conditions.NAME` takes them."""


def given(conditions: InitialConditions) -> dict[str, Any]:
    """Return the conditions ready for JSON: `values` by name with unit and, if declared, limit; R1, R2 and the nearest.

    Conditions that are rarely used, the gap and the rate of the orbit, are left out where they are 0. `vector_sums`
    lists those of the values whose limit is one of the vector sum.
    """
    values: dict[str, dict[str, Any]] = {}
    for name, numbers in numbers_of(conditions).items():
        if name not in conditions.limited and not any(numbers):
            continue
        limits = conditions.limits.get(name, (None,) * len(numbers))
        for key, number, limit in zip(AXES[name], numbers, limits, strict=True):
            values[key] = {"value": number, "unit": UNITS[name], **({} if limit is None else {"limit": limit})}
    found: dict[str, Any] = {"values": values}
    if conditions.arm:
        found["arm"] = conditions.arm
    else:
        found |= {"moving": conditions.moving, "velocity_point": conditions.velocity_point, "start": conditions.start}
    if (share := severity(conditions)) is not None:
        found |= {"R1": share.root_sum_square, "R2": share.sum, "nearest": list(share.worst)}
        found["vector_sums"] = list(conditions.vector_sums)
    return found


def numbers_of(conditions: InitialConditions) -> dict[str, tuple[float, ...]]:
    """Return the numbers of each condition that a system with these conditions has, SI."""
    names = [*conditions.limited, *(("gap",) if conditions.arm else ("start_gap", "orbital_rate"))]
    found = {name: getattr(conditions, name) for name in names}
    return {name: value if isinstance(value, tuple) else (value,) for name, value in found.items()}


class ConditionsObserver(Observer):
    """An observer that needs the initial conditions of the present run, which `Simulation.reset` changes."""

    def __init__(self, conditions: InitialConditions | None) -> None:
        self.conditions = conditions


class GivenConditions(ConditionsObserver):
    """Fills result.initial_conditions."""

    def end(self, result: Result) -> None:
        """Add the conditions to the result."""
        if self.conditions is not None:
            result.initial_conditions = given(self.conditions)
