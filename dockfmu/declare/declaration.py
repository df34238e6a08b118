"""A system as data: its elements, connections of ports, initial conditions and how it is run.

Declarations are TOML files, those of dockfmu in `ssp/systems`; docs/guide/systems.md describes the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from base.names import did_you_mean, shown, unfit_for_file
from base.units import UnitError, parse_unit
from components.core.parameters import ParameterSet, parameter_leaves
from components.core.record import ParameterError
from dockfmu.declare.files import SYSTEMS, read_tables
from dockfmu.declare.files import names as names
from dockfmu.declare.plan import Plan
from dockfmu.declare.quantities import in_unit, is_quantity, scaled
from dockfmu.declare.tables import NEEDED, Table, finite_number
from dockfmu.declare.tables import DeclarationError as DeclarationError

CONDITIONS = "initial_conditions"
CHOICES = {"moving": ("active", "passive"), "velocity_point": ("cm_inertial", "port_relative")}
CHANGED = "-changed"
"""The end of the name of an .ssp that holds a system with other settings than its own."""
ANGLES = ("yaw", "pitch", "roll")
_TABLES = (
    "name", "description", "elements", "connections", CONDITIONS, "run", "adaptive", "events", "audit", "outcome",
    "report",
)  # fmt: skip
UNITS = {
    "miss": "m", "start_gap": "m", "velocity": "m/s", "angular_velocity": "rad/s", "orbital_rate": "rad/s",
    **dict.fromkeys((*ANGLES, "angles"), "rad"),
}  # fmt: skip
"""The units of the initial conditions, in which numbers without a unit are."""


@dataclass(frozen=True)
class DeclaredElement:
    """One FMU of the system: a component with build options, parameter sets and single values.

    `origin` names it in messages, with the file that declares it.
    """

    component: str
    origin: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sets: tuple[str, ...] = ()
    values: ParameterSet | None = None


@dataclass(frozen=True)
class InitialConditions:
    """Misalignment and motion of the moving craft at first contact, SI, spec/04 section 8.

    `active` and `target` are the ports of mechanism and passive unit, whichever craft approaches; `contact` is the
    element that has the contact, if it is not the mechanism.

    `moving` : "active" (case (a) of the spec): the craft with the mechanism approaches, the other one rests, and its
        frame C is I; "passive" (case (b)): the other way round
    `miss` : (y, z) of the head's centre in axes of the resting unit; of the passive unit in frame 0 in case (b)
    `angles` : yaw, pitch, roll of the moving unit against the resting one
    `velocity` : of the moving craft, x > 0 closes; `velocity_point` says of what: "cm_inertial", its centre of mass in
        I; "port_relative", its port as seen in the port of the resting craft, which turns with `orbital_rate`
    `angular_velocity` : of the moving craft relative to the resting one, axes C
    `orbital_rate` : angular velocity of both craft with their orbit, axes C of the resting one
    `start_gap` : moves the active unit back along x of the passive one
    `limits` : of miss, angles, velocity and angular_velocity, for the severity, see `declare.severity`
    `sources` : where the values of a file are from, by their names there
    """

    active: str
    target: str
    mechanism: str
    contact: str = ""
    miss: tuple[float, float] = (0.0, 0.0)
    angles: tuple[float, float, float] = (0.0, 0.0, 0.0)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    start_gap: float = 0.0
    moving: Literal["active", "passive"] = "active"
    velocity_point: Literal["cm_inertial", "port_relative"] = "cm_inertial"
    orbital_rate: tuple[float, float, float] = (0.0, 0.0, 0.0)
    limits: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if (chosen := getattr(self, name)) not in known:
                raise DeclarationError(f"{CONDITIONS}.{name} = {shown(chosen)}: must be {' or '.join(known)}")


@dataclass(frozen=True)
class Declaration:
    """A whole system. `connections` are pairs of ports, "element.port"; `origin` is the file of a user's system."""

    name: str
    description: str
    elements: Mapping[str, DeclaredElement]
    connections: tuple[tuple[str, str], ...]
    initial_conditions: InitialConditions | None
    plan: Plan
    origin: Path | None = None

    def with_conditions(self, settings: Mapping[str, Any]) -> Declaration:
        """Return a copy with initial conditions replaced, by their name or that of one element of them, `miss[2]`.

        Values are numbers in SI or texts with a unit.

        Raises DeclarationError for other names, and for values that are not as many finite numbers as are needed.
        """
        conditions = self.initial_conditions
        if settings and conditions is None:
            raise DeclarationError(f"the system {self.name} has no {CONDITIONS}")
        for name, value in settings.items():
            assert conditions is not None
            conditions = _with_condition(conditions, name, value)
        return replace(self, initial_conditions=conditions)


def read(name: str) -> Declaration:
    """Return the declaration of the system `name`, or of a TOML file. Raises DeclarationError."""
    if not name.endswith(".toml"):
        if name not in names():
            hint = did_you_mean(name, names()) or "; a file ends in .ssp or .toml"
            raise DeclarationError(f"there is no system {name!r}; there are {', '.join(names())}{hint}")
        return _declaration(SYSTEMS / f"{name}.toml")
    return replace(_declaration(Path(name)), origin=Path(name))


def _declaration(file: Path) -> Declaration:
    try:
        content = read_tables(file)
        _check_names(content, file)
        return _from_table(Table(content, str(file), _TABLES))
    except RecursionError as error:
        raise DeclarationError(f"{file}: too many tables or lists within each other") from error


def _from_table(table: Table) -> Declaration:
    tables = table.tables("elements", ("component", "options", "sets", "values"), "element")
    elements = {name: _element(entry) for name, entry in tables.items()}
    if not elements:
        raise DeclarationError(f"{table.where}: lacks 'elements'")
    try:
        plan = Plan.from_tables(table)
    except DeclarationError:
        raise
    except (TypeError, ValueError) as error:
        # what does not fit together, though each entry is of its kind
        raise DeclarationError(f"{table.where}: {error}") from error
    for where, named in (("audit: elements", plan.audited), ("run: order", plan.order)):
        for name in named:
            if name not in elements:
                raise DeclarationError(
                    f"{table.where}, {where}: there is no element {name!r}{did_you_mean(name, elements)}"
                )
    if plan.order and sorted(plan.order) != sorted(elements):
        wanted = f"it must name each element once: {', '.join(elements)}"
        raise DeclarationError(f"{table.where}, run: order = {', '.join(plan.order)}: {wanted}")
    return Declaration(
        table.text("name"),
        table.text("description", ""),
        elements,
        tuple(row.texts("ports", size=2) for row in table.rows("connections", ("ports",))),
        _conditions(table) if CONDITIONS in table.content else None,
        plan,
    )


def _check_names(content: Mapping[str, Any], file: Path) -> None:
    """Raise DeclarationError for names under which the products of a system could not lie beside those of others.

    Folders and files are called by them, also where upper and lower case are not distinguished.
    """
    name, elements = content.get("name"), content.get("elements")
    given = [("name", name)] if name is not None else []
    given += [("element", element) for element in elements] if isinstance(elements, dict) else []
    for what, text in given:
        problem = unfit_for_file(text)
        if not problem and text.lower().endswith((".fmu", ".ssp", CHANGED)):
            problem = "ends like that of a file of ours"
        if problem:
            raise DeclarationError(f"{file}: the {what} {text!r} {problem}")
    seen: dict[str, str] = {}
    for _, element in given[1:]:
        other = seen.setdefault(element.lower(), element)
        if other != element:
            raise DeclarationError(f"{file}: the elements {other} and {element} differ in capital letters only")
    if isinstance(name, str) and file.parent != SYSTEMS and name.lower() in map(str.lower, names()):
        raise DeclarationError(f"{file}: {name} is a system of dockfmu; give yours a name of its own")


def _element(table: Table) -> DeclaredElement:
    try:
        leaves = dict(parameter_leaves(_long_form(table.table("values").content)))
    except ParameterError as error:
        raise DeclarationError(f"{table.where}: {error}") from error
    values, units, sources = {}, {}, {}
    for path, content in leaves.items():
        leaf = Table(content, f"{table.where}, {path}", ("value", "unit", "source"))
        values[path], units[path], sources[path] = _value(leaf)
    return DeclaredElement(
        table.text("component"),
        table.where,
        table.table("options").content,
        table.texts("sets", ()),
        ParameterSet("values", "", table.where, values, units, sources),
    )


def _long_form(content: Any) -> Any:
    """Return nested tables with `"1deg"` and `["1m", "2m"]` written as `{ value = ... }`."""
    if isinstance(content, dict):
        return content if "value" in content else {key: _long_form(item) for key, item in content.items()}
    if isinstance(content, list) and any(isinstance(item, dict) for item in content):
        return [_long_form(item) for item in content]
    return {"value": content} if _has_texts(content) else content


def _has_texts(value: Any) -> bool:
    return any(map(_has_texts, value)) if isinstance(value, list) else isinstance(value, str)


def _value(leaf: Table, source: Any = NEEDED) -> tuple[Any, str, str]:
    """Return (value, unit, source) of a physical value; a value of quantities, `"1deg"`, has an empty unit.

    `source` is the default for numbers; quantities need none.
    """
    value = leaf.content.get("value")
    if "value" not in leaf.content:
        raise DeclarationError(f"{leaf.where}: lacks 'value'")
    if not _is_numeric(value):
        raise DeclarationError(
            f'{leaf.where}: value = {shown(value)}: must be finite numbers, or strings with a unit such as "20t"'
        )
    if not _has_texts(value):
        return value, leaf.text("unit"), leaf.text("source", source)
    if "unit" in leaf.content:
        raise DeclarationError(f"{leaf.where}: value = {shown(value)} has its unit; leave out unit = ...")
    return value, "", leaf.text("source", "")


def _is_numeric(value: Any) -> bool:
    """Return whether this is a finite number, a truth value, a quantity, or a list of them or of such lists."""
    if isinstance(value, list):
        return all(map(_is_numeric, value))
    return isinstance(value, bool) or is_quantity(value) or finite_number(value) is not None


LIMITED = {"miss": 2, "angles": 3, "velocity": 3, "angular_velocity": 3}
"""The eleven parameters of spec/04 section 8, by name and number."""

SIZES = {
    **{name: size for name, size in LIMITED.items() if name != "angles"},
    "start_gap": 1, "orbital_rate": 3, **dict.fromkeys(ANGLES, 1),
}  # fmt: skip
"""The conditions that have a unit, and how many numbers each has."""

PLACES = ("active", "target", "mechanism")


def _si(table: Table, name: str) -> tuple[list[float], str]:
    """Return (numbers in SI, source) of a physical value."""
    content = table.content[name]
    where, own = f"{table.where}, {name}", parse_unit(UNITS[name])
    if not isinstance(content, dict) and not _has_texts(content):
        raise DeclarationError(f'{where} = {shown(content)}: give the unit too, such as "1 {UNITS[name]}"')
    leaf = Table({"value": content} if _has_texts(content) else content, where, ("value", "unit", "source"))
    value, unit, source = _value(leaf, source="")
    try:
        value = scaled(value, unit, own, f"{where} is given in {unit}") if unit else in_unit(value, own, where)
    except UnitError as error:
        raise DeclarationError(str(error)) from error
    numbers = [finite_number(item) for item in (value if isinstance(value, list) else [value])]
    if None in numbers:
        raise DeclarationError(f"{where}: value = {shown(value)}: must be finite numbers")
    return [number for number in numbers if number is not None], source


def _conditions(table: Table) -> InitialConditions:
    known = (*PLACES, "contact", *CHOICES, *SIZES, "limits")
    conditions = table.table(CONDITIONS, known)
    given: dict[str, Any] = {}
    sources = {}
    for name, size in SIZES.items():
        if name in conditions.content:
            numbers, sources[name] = _si(conditions, name)
            if len(numbers) != size:
                where = f"{conditions.where}, {name}"
                raise DeclarationError(f"{where}: must have {size} numbers, not {len(numbers)}")
            given[name] = numbers[0] if size == 1 else tuple(numbers)
    angles = tuple(given.pop(angle, 0.0) for angle in ANGLES)
    places = {name: conditions.text(name) for name in PLACES}
    choices = {name: conditions.text(name, words[0], choices=words) for name, words in CHOICES.items()}
    limits = _limits(conditions.table("limits", tuple(LIMITED)))
    return InitialConditions(
        **places,
        contact=conditions.text("contact", ""),
        **choices,
        **given,
        angles=angles,
        limits=limits,
        sources=sources,
    )


def _limits(table: Table) -> dict[str, tuple[float, ...]]:
    """Limits of all eleven parameters, SI; one number serves all elements. Empty for an empty table."""
    if not table.content:
        return {}
    found = {}
    for name, count in LIMITED.items():
        if name not in table.content:
            raise DeclarationError(f"{table.where}: lacks {name}")
        numbers = np.array(_si(table, name)[0])
        if len(numbers) not in (1, count) or not (numbers > 0.0).all():
            raise DeclarationError(f"{table.where}, {name}: give one positive number, or {count} of them")
        found[name] = tuple(np.broadcast_to(numbers, count).tolist())
    return found


def _with_condition(conditions: InitialConditions, name: str, value: Any) -> InitialConditions:
    """One condition, or one element of it, replaced; `yaw`, `pitch` and `roll` are the elements of `angles`."""
    typed = name
    if name in ANGLES:
        name = f"angles[{ANGLES.index(name) + 1}]"
    base, bracket, subscript = name.partition("[")
    known = {key: getattr(conditions, key) for key in (*LIMITED, "start_gap", "orbital_rate")}
    where = f"{CONDITIONS}.{name} = {shown(value)}"
    if name in CHOICES:
        words: dict[str, Any] = {name: value}
        return replace(conditions, **words)
    if base not in known:
        all_names = (*known, *CHOICES, *ANGLES)
        hint = did_you_mean(base, all_names) or f"; there are {', '.join(all_names)}"
        raise DeclarationError(f"{where}: there is no such condition{hint}")
    before = known[base]
    try:
        value = in_unit(value, parse_unit(UNITS[base]), f"{CONDITIONS}.{typed}")
    except UnitError as error:
        raise DeclarationError(str(error)) from error
    found = [finite_number(item) for item in (value if isinstance(value, list) else [value])]
    numbers = [number for number in found if number is not None]
    if len(numbers) < len(found):
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
