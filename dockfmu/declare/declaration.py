"""A system as data: its elements, connections of ports, initial conditions and the plan of its runs.

Declarations are TOML files, for the systems of dockfmu in `ssp/systems`; docs/guide/systems.md describes the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dockfmu.base.file_names import file_name_problem
from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.components.core.parameters import ParameterSet, parameter_leaves
from dockfmu.components.core.record import ParameterError
from dockfmu.declare.conditions.initial_conditions import (
    CONDITIONS,
    SEED,
    InitialConditions,
    read_conditions,
    with_condition,
)
from dockfmu.declare.conditions.limits import draw, seed_of
from dockfmu.declare.craft_scene import scene_of_craft
from dockfmu.declare.plan import Plan
from dockfmu.declare.toml.files import SYSTEMS, own_names, read_tables, system_file
from dockfmu.declare.toml.files import names as names
from dockfmu.declare.toml.tables import DeclarationError as DeclarationError
from dockfmu.declare.toml.tables import Table
from dockfmu.declare.toml.values import long_form, physical_value

CHANGED = "-changed"
"""End of the name of an .ssp whose settings differ from those of the declaration."""
_TABLES = (
    "name", "description", "elements", "connections", CONDITIONS, "run", "adaptive", "events", "audit", "outcome",
    "final", "loads", "report", "scene",
)  # fmt: skip


@dataclass(frozen=True)
class DeclaredElement:
    """One FMU of the system: a component with build options and parameter sets, or a file `fmu`; and single values.

    `component` is "" for a file. `origin` names the element and the file that declares it, for messages.
    """

    component: str
    origin: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sets: tuple[str, ...] = ()
    values: ParameterSet | None = None
    fmu: Path | None = None


@dataclass(frozen=True)
class Declaration:
    """A whole system.

    `connections` are pairs of ports, "element.port"; `origin` is the file of a user's system, None for one of dockfmu.
    """

    name: str
    description: str
    elements: Mapping[str, DeclaredElement]
    connections: tuple[tuple[str, str], ...]
    initial_conditions: InitialConditions | None
    plan: Plan
    origin: Path | None = None

    def with_conditions(self, settings: Mapping[str, Any]) -> Declaration:
        """Return a copy with initial conditions replaced, by name or by the name of one element, `miss[2]`.

        Values are numbers in SI or strings with a unit. The name `seed` replaces all eleven, drawn within their limits
        by `limits.draw`; other values take precedence over it.

        Raises DeclarationError for other names, and for values that are not the required count of finite numbers.
        """
        conditions = self.initial_conditions
        if not settings:
            return self
        if conditions is None:
            raise DeclarationError(f"the system {self.name} has no {CONDITIONS}")
        if SEED in settings:
            conditions = draw(conditions, seed_of(settings[SEED]))
        for name, value in settings.items():
            if name != SEED:
                conditions = with_condition(conditions, name, value)
        return replace(self, initial_conditions=conditions)


def read(name: str) -> Declaration:
    """Return the declaration of the system `name`, or of a TOML file. Raises DeclarationError."""
    own = not name.endswith(".toml")
    file = system_file(name) if own else Path(name)
    declared = _declaration(file)
    return declared if own and file.parent == SYSTEMS else replace(declared, origin=file)


def _declaration(file: Path) -> Declaration:
    try:
        content = read_tables(file)
        _check_names(content, file)
        return _from_table(Table(content, str(file), _TABLES))
    except RecursionError as error:
        raise DeclarationError(f"{file}: tables or lists are nested too deeply") from error


def _from_table(table: Table) -> Declaration:
    tables = table.tables("elements", ("component", "fmu", "model", "options", "sets", "values"), "element")
    elements = {name: _element(entry) for name, entry in tables.items()}
    if not elements:
        raise DeclarationError(f"{table.where}: lacks 'elements'")
    try:
        plan = Plan.from_tables(table)
    except DeclarationError:
        raise
    except (TypeError, ValueError) as error:
        # entries of the right kind that do not fit together
        raise DeclarationError(f"{table.where}: {error}") from error
    if "scene" in table.content:
        plan = replace(plan, scene=scene_of_craft(table.content["scene"], elements, table.where))
    loaded = () if plan.loads is None else (plan.loads.element,)
    for where, named in (("audit: elements", plan.audited), ("run: order", plan.order), ("loads: element", loaded)):
        for name in named:
            if name not in elements:
                raise DeclarationError(
                    f"{table.where}, {where}: there is no element {name!r}{did_you_mean(name, elements)}"
                )
    if plan.order and sorted(plan.order) != sorted(elements):
        rule = f"it must name each element once: {', '.join(elements)}"
        raise DeclarationError(f"{table.where}, run: order = {', '.join(plan.order)}: {rule}")
    conditions = _conditions(table) if CONDITIONS in table.content else None
    if conditions is not None:
        _check_placed(conditions, elements, table.where)
    return Declaration(
        table.text("name"),
        table.text("description", ""),
        elements,
        tuple(row.texts("ports", size=2) for row in table.rows("connections", ("ports",))),
        conditions,
        plan,
    )


def _check_placed(conditions: InitialConditions, elements: Mapping[str, DeclaredElement], where: str) -> None:
    """Raise DeclarationError for initial conditions of an element whose start values dockfmu cannot compute."""
    for key in ("active", "target", "mechanism", "contact", "arm"):
        name = (getattr(conditions, key, "") or "").split(".")[0]
        if name in elements and elements[name].fmu is not None:
            raise DeclarationError(
                f"{where}, {CONDITIONS}: {key}: {name} is an FMU from a file, whose start states only it knows; "
                f"declare a component, and exchange it by `dockfmu run --swap {name}=FILE.fmu`"
            )


def _conditions(table: Table) -> InitialConditions:
    """Return the initial conditions of a system; with a seed, they are drawn about those of its table."""
    conditions, seed = read_conditions(table), table.table(CONDITIONS).content.get(SEED)
    return conditions if seed is None else draw(conditions, seed_of(seed))


def _check_names(content: Mapping[str, Any], file: Path) -> None:
    """Raise DeclarationError for names under which the products of a system would collide with other files.

    Folders and files bear these names, also on file systems that do not distinguish upper and lower case.
    """
    name, elements = content.get("name"), content.get("elements")
    given = [("name", name)] if name is not None else []
    given += [("element", element) for element in elements] if isinstance(elements, dict) else []
    for what, text in given:
        problem = file_name_problem(text)
        if not problem and text.lower().endswith((".fmu", ".ssp", CHANGED)):
            problem = "ends like the name of a file of dockfmu"
        if problem:
            raise DeclarationError(f"{file}: the {what} {shown(text)} {problem}")
    seen: dict[str, str] = {}
    if isinstance(elements, dict) and CONDITIONS in elements:
        raise DeclarationError(f"{file}: an element {CONDITIONS} would be taken for the table of this name: rename it")
    for _, element in given[1:]:
        other = seen.setdefault(element.lower(), element)
        if other != element:
            raise DeclarationError(f"{file}: the elements {other} and {element} differ only in case")
    if isinstance(name, str) and file.parent != SYSTEMS and name.lower() in map(str.lower, own_names()):
        raise DeclarationError(f"{file}: {name} is a system of dockfmu; give yours another name")


def _element(table: Table) -> DeclaredElement:
    options = dict(table.table("options").content)
    if model := table.text("model", ""):
        options["model"] = model
    try:
        leaves = dict(parameter_leaves(long_form(table.table("values").content)))
    except ParameterError as error:
        raise DeclarationError(f"{table.where}: {error}") from error
    values, units, sources = {}, {}, {}
    for path, content in leaves.items():
        leaf = Table(content, f"{table.where}, {path}", ("value", "unit", "source"))
        values[path], units[path], sources[path] = physical_value(leaf)
    if {"component", "fmu"} <= table.content.keys():
        raise DeclarationError(f"{table.where}: component and fmu: an element is one of both")
    fmu = Path(table.text("fmu")) if "fmu" in table.content else None
    if fmu is not None and (unused := sorted({"model", "options", "sets"} & table.content.keys())):
        raise DeclarationError(f"{table.where}: {' and '.join(unused)}: an FMU from a file has none; give values")
    return DeclaredElement(
        table.text("component", "") if fmu is not None else table.text("component"),
        table.where,
        options,
        table.texts("sets", ()),
        ParameterSet("values", "", table.where, values, units, sources),
        fmu,
    )
