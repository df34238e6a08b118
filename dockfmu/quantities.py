"""Values that people give with a unit, `20t` or `1.5 deg/s`: what they are in the unit of a variable.

A number without a unit is in the unit of the variable, which is SI: 1 for an angle is 1 rad, in a file as on the command
line. An angle is easily meant in degrees; one of more than half a turn without a unit is warned of.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from base.names import shown
from base.units import Unit, UnitError, conversion, parse_quantity, parse_unit, units_like

ANGLE = parse_unit("rad")
"""The unit of angles, of numbers without a unit too."""


class AngleWarning(UserWarning):
    """A plain number that is given for an angle looks like degrees."""


def in_unit(value: Any, unit: Unit | None, name: str) -> Any:
    """Return `value` for the variable `name` with its quantities, in nested lists too, as numbers in `unit`.

    What is no quantity comes back as it is. A variable whose `unit` is None has no dimension. Raises UnitError that
    names the variable, its unit and the accepted ones for a quantity of another dimension, or in an unknown unit. Warns
    with AngleWarning of a plain number for an angle beyond pi.
    """
    numbers: list[float] = []
    converted = _converted(value, unit, name, numbers)
    largest = max(numbers, key=abs, default=0.0)
    if unit is not None and unit.exponents == ANGLE.exponents and unit.factor == 1.0 and abs(largest) > math.pi:
        degrees = f"{math.degrees(largest):.4g}"
        message = f"{name}: {largest:g} rad = {degrees} deg; did you mean {largest:g}deg?"
        warnings.warn(message, AngleWarning, stacklevel=2)
    return converted


def _converted(value: Any, unit: Unit | None, name: str, numbers: list[float]) -> Any:
    """Return `value` in `unit`; the plain numbers in it are added to `numbers`."""
    if isinstance(value, list | tuple):
        return [_converted(item, unit, name, numbers) for item in value]
    if isinstance(value, str):
        return _quantity(value, unit, name)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        numbers.append(float(value))
    return value


def _quantity(text: str, unit: Unit | None, name: str) -> Any:
    own = unit or parse_unit("1")
    try:
        found = parse_quantity(text)
        if found is None:
            return text
        number, given = found
        factor, offset = (1.0, 0.0) if given is None else conversion(given, own)
    except UnitError as error:
        accepted = f"accepted: {', '.join(_accepted(own))}" if own.name != "1" else "it has no unit"
        raise UnitError(f"{name} = {shown(text)}: {error}; {_said(own)}; {accepted}") from error
    # without the sum where there is no offset: -0.0 stays what it is
    return factor * number + offset if offset else factor * number


def _said(unit: Unit) -> str:
    return "the variable is a plain number" if unit.name == "1" else f"the variable is in {unit.name}"


def _accepted(unit: Unit) -> list[str]:
    return units_like(unit.name)[:8]
