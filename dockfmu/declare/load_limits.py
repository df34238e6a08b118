"""The table `loads` of a system: limits of the loads at its interface, with units and sources."""

from __future__ import annotations

from typing import Any

from dockfmu.base.messages import shown
from dockfmu.base.units import UnitError, parse_unit
from dockfmu.declare.toml.quantities import in_unit, is_quantity
from dockfmu.declare.toml.tables import DeclarationError, Table, finite_number
from dockfmu.master.observers.loads import UNITS, LoadLimit, LoadRule


def read_load_limits(tables: Table) -> LoadRule | None:
    """Return the rule that the table `loads` of a system declares, None without one. Raises DeclarationError."""
    if tables.content.get("loads") is None:
        return None
    table = tables.table("loads", ("element", "decides", "limits"))
    element, decides = table.text("element"), table.flag("decides", False)
    limits = table.table("limits", tuple(UNITS))
    if not limits.content:
        raise DeclarationError(f"{table.where}: lacks limits, a table of {', '.join(UNITS)}")
    return LoadRule(element, {name: _limit(limits, name) for name in limits.content}, decides)


def rule_from_json(content: Any) -> LoadRule | None:
    """Return the rule from the content of `dataclasses.asdict`."""
    if content is None:
        return None
    return LoadRule(**{**content, "limits": {name: LoadLimit(**limit) for name, limit in content["limits"].items()}})


def _limit(limits: Table, name: str) -> LoadLimit:
    table = limits.table(name, ("static", "short", "short_time", "source"))
    numbers = {
        key: _quantity(table, key, unit)
        for key, unit in (("static", UNITS[name]), ("short", UNITS[name]), ("short_time", "s"))
        if key == "static" or table.content.get(key) is not None
    }
    source = table.text("source")
    if not source:
        raise DeclarationError(
            f"{table.where}: source is empty: say where the limits come from, or that they are assumed"
        )
    try:
        return LoadLimit(**numbers, source=source)
    except ValueError as error:
        raise DeclarationError(f"{table.where}: {error}") from error


def _quantity(table: Table, key: str, unit: str) -> float:
    """Return a quantity of a table in SI."""
    text, where = table.text(key), f"{table.where}, {key}"
    if not is_quantity(text):
        raise DeclarationError(f'{where} = {shown(text)}: give a number with a unit, such as "1 {unit}"')
    try:
        number = finite_number(in_unit(text, parse_unit(unit), where))
    except UnitError as error:
        raise DeclarationError(str(error)) from error
    if number is None:
        raise DeclarationError(f"{where} = {shown(text)}: must be a finite number with a unit")
    return number
