"""Values given with a unit, `20t` or `1.5 deg/s`, converted to the unit of a variable.

A number without a unit is in the unit of the variable, which is SI: 1 for an angle is 1 rad, on the command line as in
Python. Files give every value with its unit. Angles are often meant in degrees, so a plain number beyond pi gives a
warning.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from dockfmu.base.messages import shown
from dockfmu.base.units import Unit, UnitError, conversion, parse_quantity, parse_unit, split_quantity, units_like
from dockfmu.declare.toml.tables import finite_number

ANGLE = parse_unit("rad")
"""The unit of angles, also of numbers without a unit."""


class AngleWarning(UserWarning):
    """A plain number given for an angle looks like degrees."""


def in_unit(value: Any, unit: Unit | None, name: str, plausible: float = math.pi) -> Any:
    """Return `value` for the variable `name` with its quantities, also in nested lists, as numbers in `unit`.

    Values that are not quantities are returned unchanged. A variable whose `unit` is None is dimensionless. Raises
    UnitError for a quantity of another dimension or in an unknown unit; the message names the variable, its unit and
    the accepted ones. Emits AngleWarning for a plain number beyond `plausible`, in rad, for an angle.
    """
    numbers: list[float] = []
    converted = _converted(value, unit, name, numbers)
    largest = max(numbers, key=abs, default=0.0)
    if unit is not None and unit.exponents == ANGLE.exponents and unit.factor == 1.0 and abs(largest) > plausible:
        degrees = f"{math.degrees(largest):.4g}"
        message = f"{name}: {largest:g} rad = {degrees} deg; did you mean {largest:g}deg?"
        warnings.warn(message, AngleWarning, stacklevel=2)
    return converted


def is_quantity(value: Any) -> bool:
    """Return whether a value is a string that begins with a finite number, such as `20t`."""
    try:
        quantity = parse_quantity(value) if isinstance(value, str) else None
    except UnitError:
        return True
    return quantity is not None and math.isfinite(quantity[0])


def _converted(value: Any, unit: Unit | None, name: str, numbers: list[float]) -> Any:
    """Return `value` in `unit`; the plain numbers in it are added to `numbers`."""
    if isinstance(value, list | tuple):
        return [_converted(item, unit, name, numbers) for item in value]
    if isinstance(value, str):
        return _quantity(value, unit, name)
    if (number := finite_number(value)) is not None:
        numbers.append(number)
    return value


def _quantity(text: str, unit: Unit | None, name: str) -> Any:
    own = unit or parse_unit("1")
    parts = split_quantity(text)
    if unit is not None and parts is not None and parts[1].strip() == own.name.strip():
        # an FMU may use a name that is not known here, or mean another unit by it: a short ton by t
        return parts[0]
    try:
        quantity = parse_quantity(text)
    except UnitError as error:
        raise UnitError(f"{name} = {shown(text)}: unknown unit; {_accepted(own)}") from error
    if quantity is None:
        return text
    number, given = quantity
    return number if given is None else scaled(number, given, own, f"{name} = {shown(text)}")


def scaled(value: Any, given: Unit | str, own: Unit, where: str) -> Any:
    """Return numbers, also in nested lists, converted from the unit `given` to `own`.

    Raises UnitError for a unit that is unknown or of another quantity; the message begins with `where`.
    """
    try:
        if isinstance(given, str):
            given = own if given.strip() == own.name.strip() else parse_unit(given)
    except UnitError as error:
        raise UnitError(f"{where}: unknown unit; {_accepted(own)}") from error
    try:
        factor, offset = conversion(given, own)
    except UnitError as error:
        raise UnitError(f"{where}: another quantity; {_accepted(own)}") from error

    def convert(number: Any) -> Any:
        if isinstance(number, list):
            return [convert(item) for item in number]
        if (factor, offset) == (1.0, 0.0):
            return number
        # no sum without an offset: it would turn -0.0 into 0.0
        return factor * number + offset if offset else factor * number

    return convert(value)


def _accepted(unit: Unit) -> str:
    if unit.name == "1":
        return "the variable has no unit"
    return f"the variable is in {unit.name}; accepted: {', '.join(units_like(unit.name)[:8])}"
