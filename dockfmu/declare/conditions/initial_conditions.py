"""Initial conditions, declared or set: of a docking at first contact, of a berthing at its start.

Theory: spacecraft section 8.

A berthing has an `arm`: misses and angles are those of the payload's interface in front of the berth at rest, at `gap`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.units import UnitError, parse_unit
from dockfmu.declare.toml.quantities import in_unit, scaled
from dockfmu.declare.toml.tables import DeclarationError, Table, finite_number
from dockfmu.declare.toml.values import has_texts, physical_value

CONDITIONS = "initial_conditions"
CONDITION_PREFIX = f"{CONDITIONS}."
SEED = "seed"
"""Name of the seed from which the eleven parameters are drawn."""
CHOICES = {
    "moving": ("active", "passive"),
    "velocity_point": ("cm_inertial", "port_relative"),
    "start": ("first_contact", "docked"),
}
ANGLES = ("yaw", "pitch", "roll")
UNITS = {
    "miss": "m", "start_gap": "m", "gap": "m", "velocity": "m/s", "angular_velocity": "rad/s", "orbital_rate": "rad/s",
    **dict.fromkeys((*ANGLES, "angles"), "rad"),
}  # fmt: skip
"""Units of the initial conditions, also of numbers without a unit."""


@dataclass(frozen=True)
class InitialConditions:
    """Misalignment and motion of the moving craft at first contact, or of a payload before its berth, SI.

    Theory: spacecraft 8.

    Attributes
    ----------
    active, target : str
        Ports of the mechanism's craft and of the passive craft, whichever of them approaches.
    mechanism : str
        Element of the mechanism.
    contact : str
        Element with the contact model, if it is not the mechanism.
    miss : tuple of float
        (y, z) of the head's centre in axes of the resting unit, m; of the passive unit in frame 0 if "passive" moves.
    angles : tuple of float
        Yaw, pitch and roll of the moving unit relative to the resting one, rad.
    velocity : tuple of float
        Velocity of the moving craft, m/s; x > 0 closes.
    angular_velocity : tuple of float
        Angular velocity of the moving craft relative to the resting one, its axes C, rad/s.
    start_gap : float
        Distance by which the active unit is moved back along x of the passive one, m.
    moving : {"active", "passive"}
        The craft that approaches: that of the mechanism (case (a) of the spec), while the other rests and its frame C
        is I, or the other way round (case (b)).
    velocity_point : {"cm_inertial", "port_relative"}
        Point of `velocity`: the centre of mass in I, or the port relative to the port of the resting craft, which turns
        with `orbital_rate`.
    start : {"first_contact", "docked"}
        Where the approach along x ends: at the first contact of head or ring, or where the docking planes meet.
    orbital_rate : tuple of float
        Angular velocity of both craft due to their orbit, axes C of the resting one, rad/s.
    arm : str
        Element of the arm of a berthing, which has no `active`, `target` and `mechanism`. `miss` and `angles` are then
        those of the payload's interface PI against that of the berth, BI, and the payload is at rest.
    gap : float
        Distance of PI in front of BI, along x of BI, m.
    limits : mapping of str to tuple of float
        Limits of miss, angles, velocity and angular_velocity, for severity and draws; see `conditions.limits`. That of
        velocity[0] is the fastest closing speed.
    vector_sums : tuple of str
        Those of them whose components across the axis, `ACROSS`, are limited by their vector sum, not one by one.
    slowest : float
        The least closing speed within the limits, m/s.
    nominal_speed : float, optional
        Closing speed from which deviations count, m/s; by default that of `velocity`. It is the declared one, whatever
        velocity is set.
    sources : mapping of str to str
        Sources of the values of a file, by their names there.
    """

    active: str = ""
    target: str = ""
    mechanism: str = ""
    contact: str = ""
    miss: tuple[float, float] = (0.0, 0.0)
    angles: tuple[float, float, float] = (0.0, 0.0, 0.0)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    start_gap: float = 0.0
    moving: Literal["active", "passive"] = "active"
    velocity_point: Literal["cm_inertial", "port_relative"] = "cm_inertial"
    start: Literal["first_contact", "docked"] = "first_contact"
    orbital_rate: tuple[float, float, float] = (0.0, 0.0, 0.0)
    arm: str = ""
    gap: float = 0.0
    limits: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    vector_sums: tuple[str, ...] = ()
    slowest: float = 0.0
    nominal_speed: float | None = None
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if (chosen := getattr(self, name)) not in known:
                raise DeclarationError(f"{CONDITIONS}.{name} = {shown(chosen)}: must be {' or '.join(known)}")

    @property
    def limited(self) -> Mapping[str, int]:
        """Names of the parameters that have limits and are drawn, and how many numbers each has."""
        return {name: LIMITED[name] for name in BERTHING} if self.arm else LIMITED

    @property
    def sizes(self) -> Mapping[str, int]:
        """Names of all conditions with a unit, and how many numbers each has."""
        return BERTHING_SIZES if self.arm else SIZES


LIMITED = {"miss": 2, "angles": 3, "velocity": 3, "angular_velocity": 3}
"""The eleven parameters of spacecraft section 8: names, and how many each has."""

ACROSS = {"miss": (0, 1), "angles": (0, 1), "velocity": (1, 2), "angular_velocity": (1, 2)}
"""The components of the limited parameters across the axis, which standards limit by their vector sum: yaw and pitch of
the angles."""

SIZES = {
    **{name: size for name, size in LIMITED.items() if name != "angles"},
    "start_gap": 1, "orbital_rate": 3, **dict.fromkeys(ANGLES, 1),
}  # fmt: skip
"""Conditions with a unit, and how many numbers each has."""

BERTHING = ("miss", "angles")
"""Those of the eleven parameters that a berthing has."""
BERTHING_SIZES = {"miss": 2, "gap": 1, **dict.fromkeys(ANGLES, 1)}
"""Conditions of a berthing with a unit, and how many numbers each has."""
ARM = "arm"
SLOWEST, VECTOR_SUM = "slowest", "vector_sum"
"""Entries of the table of limits: the least closing speed, and whether a limit is one of a vector sum."""

PLAUSIBLE = 0.5
"""Misalignment beyond which a plain number looks like degrees, rad: several times the limit of any standard."""

PLACES = ("active", "target", "mechanism")


def _si(table: Table, name: str, more: tuple[str, ...] = ()) -> tuple[list[float], str]:
    """Return (numbers in SI, source) of a physical value, whose table may also have the entries `more`."""
    content = table.content[name]
    unit_name = UNITS.get(name, UNITS["velocity"])
    where, own = f"{table.where}, {name}", parse_unit(unit_name)
    if not isinstance(content, dict) and not has_texts(content):
        raise DeclarationError(f'{where} = {shown(content)}: give the unit too, such as "1 {unit_name}"')
    leaf = Table({"value": content} if has_texts(content) else content, where, ("value", "unit", "source", *more))
    value, unit, source = physical_value(leaf, source="")
    try:
        value = scaled(value, unit, own, f"{where} is given in {unit}") if unit else in_unit(value, own, where)
    except UnitError as error:
        raise DeclarationError(str(error)) from error
    numbers = [finite_number(item) for item in (value if isinstance(value, list) else [value])]
    if None in numbers:
        raise DeclarationError(f"{where}: value = {shown(value)}: must be finite numbers")
    return [number for number in numbers if number is not None], source


def read_conditions(table: Table) -> InitialConditions:
    """Return the conditions that the table of a system declares. Raises DeclarationError."""
    berthing = isinstance(table.content[CONDITIONS], dict) and ARM in table.content[CONDITIONS]
    sizes, limited = (BERTHING_SIZES, BERTHING) if berthing else (SIZES, tuple(LIMITED))
    where = (ARM,) if berthing else (*PLACES, "contact", *CHOICES)
    conditions = table.table(CONDITIONS, (*where, *sizes, "limits", SEED))
    given: dict[str, Any] = {}
    sources = {}
    for name, size in sizes.items():
        if name in conditions.content:
            numbers, sources[name] = _si(conditions, name)
            if len(numbers) != size:
                place = f"{conditions.where}, {name}"
                raise DeclarationError(f"{place}: must have {size} numbers, not {len(numbers)}")
            given[name] = numbers[0] if size == 1 else tuple(numbers)
    angles = tuple(given.pop(angle, 0.0) for angle in ANGLES)
    limits = _limits(conditions.table("limits", limited if berthing else (*limited, SLOWEST)), limited)
    if berthing:
        return InitialConditions(arm=conditions.text(ARM), **given, angles=angles, **limits, sources=sources)
    places = {name: conditions.text(name) for name in PLACES}
    choices = {name: conditions.text(name, words[0], choices=words) for name, words in CHOICES.items()}
    return InitialConditions(
        **places,
        contact=conditions.text("contact", ""),
        **choices,
        **given,
        angles=angles,
        **limits,
        nominal_speed=given.get("velocity", (0.0,))[0],
        sources=sources,
    )


def _limits(table: Table, names: Sequence[str]) -> dict[str, Any]:
    """Return limits, vector sums and slowest speed; one number applies to all elements. Empty for an empty table."""
    if not table.content:
        return {}
    limits, sums = {}, []
    for name in names:
        count = LIMITED[name]
        if name not in table.content:
            raise DeclarationError(f"{table.where}: lacks {name}")
        numbers = np.array(_si(table, name, (VECTOR_SUM,))[0])
        if len(numbers) not in (1, count) or not (numbers > 0.0).all():
            raise DeclarationError(f"{table.where}, {name}: give one positive number, or {count} of them")
        limits[name] = tuple(np.broadcast_to(numbers, count).tolist())
        content = table.content[name]
        if isinstance(content, dict) and Table(content, f"{table.where}, {name}").flag(VECTOR_SUM, False):
            first, second = (limits[name][k] for k in ACROSS[name])
            if first != second:
                raise DeclarationError(
                    f"{table.where}, {name}: {VECTOR_SUM} = true needs one limit for elements "
                    f"{' and '.join(str(k + 1) for k in ACROSS[name])}, not {first:g} and {second:g}"
                )
            sums.append(name)
    slowest = _si(table, SLOWEST)[0] if SLOWEST in table.content else [0.0]
    if SLOWEST in table.content and (len(slowest) != 1 or not 0.0 <= slowest[0] <= limits["velocity"][0]):
        raise DeclarationError(
            f"{table.where}, {SLOWEST}: give one speed between 0 and the limit of velocity[1], "
            f"{limits['velocity'][0]:g} m/s"
        )
    return {"limits": limits, "vector_sums": tuple(sums), SLOWEST: slowest[0]}


def with_condition(conditions: InitialConditions, name: str, value: Any) -> InitialConditions:
    """Return conditions with one replaced, or one element of it; `yaw`, `pitch`, `roll` are the elements of `angles`.

    Raises DeclarationError for other names, and for values that are not the required count of finite numbers.
    """
    typed = name
    if name in ANGLES:
        name = f"angles[{ANGLES.index(name) + 1}]"
    base, bracket, subscript = name.partition("[")
    others = ("gap",) if conditions.arm else ("start_gap", "orbital_rate")
    known = {key: getattr(conditions, key) for key in (*conditions.limited, *others)}
    choices = () if conditions.arm else tuple(CHOICES)
    where = f"{CONDITIONS}.{name} = {shown(value)}"
    if name in choices:
        words: dict[str, Any] = {name: value}
        return replace(conditions, **words)
    if base not in known:
        all_names = (*known, *choices, *ANGLES)
        hint = did_you_mean(base, all_names) or f"; there are {', '.join(all_names)}"
        raise DeclarationError(f"{where}: there is no such condition{hint}")
    before = known[base]
    try:
        value = in_unit(value, parse_unit(UNITS[base]), f"{CONDITIONS}.{typed}", PLAUSIBLE)
    except UnitError as error:
        raise DeclarationError(str(error)) from error
    candidates = [finite_number(item) for item in (value if isinstance(value, list) else [value])]
    numbers = [number for number in candidates if number is not None]
    if len(numbers) < len(candidates):
        raise DeclarationError(f"{where}: must be finite numbers")
    size = len(before) if isinstance(before, tuple) else 1
    if bracket:
        index = next((k for k in range(1, size + 1) if subscript == f"{k}]"), 0)
        if size == 1 or not index or len(numbers) != 1:
            raise DeclarationError(f"{where}: {base} has {size} elements, and each takes one number")
        changed: dict[str, Any] = {base: (*before[: index - 1], numbers[0], *before[index:])}
        return replace(conditions, **changed)
    if len(numbers) != size:
        raise DeclarationError(f"{where}: {base} takes {size} numbers, got {len(numbers)}")
    changed = {base: tuple(numbers) if isinstance(before, tuple) else numbers[0]}
    return replace(conditions, **changed)
