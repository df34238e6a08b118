"""Physical values in a file: `{ value = 1.0, unit = "deg", source = "..." }`, a string with a unit, `"1deg"`, or plain.

A plain number or Boolean means what `--set` makes of it: the unit is that of the variable.
"""

from __future__ import annotations

from typing import Any

from dockfmu.base.messages import shown
from dockfmu.declare.toml.quantities import is_quantity
from dockfmu.declare.toml.tables import NEEDED, DeclarationError, Table, finite_number


class PlainValue(dict[str, Any]):
    """The long form of a number or Boolean that was written without a table."""


def long_form(content: Any) -> Any:
    """Return nested tables with `"1deg"`, `["1m", "2m"]`, `false` and `1.5` written as `{ value = ... }`."""
    if isinstance(content, dict):
        return content if "value" in content else {key: long_form(item) for key, item in content.items()}
    if isinstance(content, list) and any(isinstance(item, dict) for item in content):
        return [long_form(item) for item in content]
    if has_texts(content):
        return {"value": content}
    return PlainValue(value=content) if is_numeric(content) else content


def has_texts(value: Any) -> bool:
    """Return whether a value is a string, or a list that contains one."""
    return any(map(has_texts, value)) if isinstance(value, list) else isinstance(value, str)


def physical_value(leaf: Table, source: Any = NEEDED) -> tuple[Any, str, str]:
    """Return (value, unit, source) of a physical value; for strings with a unit and plain numbers the unit is empty.

    `source` is the default source of numbers; strings with a unit need no source.
    """
    value = leaf.content.get("value")
    if "value" not in leaf.content:
        raise DeclarationError(f"{leaf.where}: lacks 'value'")
    if not is_numeric(value):
        raise DeclarationError(
            f'{leaf.where}: value = {shown(value)}: must be finite numbers, or strings with a unit such as "20t"'
        )
    if isinstance(leaf.content, PlainValue):
        return value, "", ""
    if not has_texts(value):
        return value, leaf.text("unit"), leaf.text("source", source)
    if "unit" in leaf.content:
        raise DeclarationError(f"{leaf.where}: value = {shown(value)} contains its unit; leave out unit = ...")
    return value, "", leaf.text("source", "")


def is_numeric(value: Any) -> bool:
    """Return whether a value is a finite number, a Boolean, a quantity, or a nested list of these."""
    if isinstance(value, list):
        return all(map(is_numeric, value))
    return isinstance(value, bool) or is_quantity(value) or finite_number(value) is not None
