"""Units in terms of SI base units, as FMI 2.0 and SSP 1.0 describe them."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

from dockfmu.base.errors import FAILED, DockfmuError
from dockfmu.base.messages import shown
from dockfmu.base.number_text import DECIMAL

BASE_UNITS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
"""The base units of FMI and SSP, in the order of `Unit.exponents`."""

DISPLAY_UNITS = {"rad": "deg", "rad/s": "deg/s", "rad/s2": "deg/s2"}
"""Units displayed instead of SI units: one for each unit, so that plots of a quantity agree across all FMUs."""

# name: (exponents of base units, factor)
_ATOMS: dict[str, tuple[dict[str, int], float]] = {
    **{name: ({name: 1}, 1.0) for name in BASE_UNITS},
    "g": ({"kg": 1}, 1e-3),
    "t": ({"kg": 1}, 1e3),
    "mm": ({"m": 1}, 1e-3),
    "cm": ({"m": 1}, 1e-2),
    "km": ({"m": 1}, 1e3),
    "ms": ({"s": 1}, 1e-3),
    "us": ({"s": 1}, 1e-6),
    "min": ({"s": 1}, 60.0),
    "h": ({"s": 1}, 3600.0),
    "mrad": ({"rad": 1}, 1e-3),
    "deg": ({"rad": 1}, 0.017453292519943295),
    "Hz": ({"s": -1}, 1.0),
    "N": ({"kg": 1, "m": 1, "s": -2}, 1.0),
    "kN": ({"kg": 1, "m": 1, "s": -2}, 1e3),
    "MN": ({"kg": 1, "m": 1, "s": -2}, 1e6),
    "Pa": ({"kg": 1, "m": -1, "s": -2}, 1.0),
    "kPa": ({"kg": 1, "m": -1, "s": -2}, 1e3),
    "MPa": ({"kg": 1, "m": -1, "s": -2}, 1e6),
    "J": ({"kg": 1, "m": 2, "s": -2}, 1.0),
    "kJ": ({"kg": 1, "m": 2, "s": -2}, 1e3),
    "W": ({"kg": 1, "m": 2, "s": -3}, 1.0),
    "kW": ({"kg": 1, "m": 2, "s": -3}, 1e3),
    "C": ({"A": 1, "s": 1}, 1.0),
    "V": ({"kg": 1, "m": 2, "s": -3, "A": -1}, 1.0),
    "Ohm": ({"kg": 1, "m": 2, "s": -3, "A": -2}, 1.0),
    "F": ({"kg": -1, "m": -2, "s": 4, "A": 2}, 1.0),
    "H": ({"kg": 1, "m": 2, "s": -2, "A": -2}, 1.0),
    "Wb": ({"kg": 1, "m": 2, "s": -2, "A": -1}, 1.0),
    "T": ({"kg": 1, "s": -2, "A": -1}, 1.0),
}

LARGEST_EXPONENT = 12
"""Largest exponent of a factor of a unit, in magnitude: physics has 4 (the second moment of an area)."""
_FACTOR = re.compile(r"([A-Za-z]+)(-?\d{1,2})?")
_DENOMINATOR = re.compile(r"\(([^()]*)\)|([^()]*)")


class UnitError(DockfmuError, ValueError):
    """A unit is unknown or malformed, or two units measure different quantities."""

    exit_status = FAILED


@dataclass(frozen=True)
class Unit:
    """A unit: value in base units = factor * value + offset.

    `exponents` are those of `BASE_UNITS`, or None where a file uses a unit that it does not define. `display` lists
    display units as (name, factor, offset), with display value = factor * value + offset.
    """

    name: str
    exponents: tuple[int, ...] | None = None
    factor: float = 1.0
    offset: float = 0.0
    display: tuple[tuple[str, float, float], ...] = ()

    def __post_init__(self) -> None:
        """Raise UnitError for a factor or an offset with which nothing can be converted."""
        if self.factor == 0.0 or not math.isfinite(self.factor) or not math.isfinite(self.offset):
            raise UnitError(f"unit {self.name!r}: factor {self.factor:g} and offset {self.offset:g} convert nothing")

    def same(self, other: Unit) -> bool:
        """Return whether values in this unit are those in another, whatever their names."""
        mine, its = (self.exponents, self.factor, self.offset), (other.exponents, other.factor, other.offset)
        return self == other or (mine == its and self.exponents is not None)

    @property
    def base_units(self) -> dict[str, int]:
        """The base units with a nonzero exponent."""
        exponents = self.exponents or (0,) * len(BASE_UNITS)
        return {name: exponent for name, exponent in zip(BASE_UNITS, exponents, strict=True) if exponent}


def parse_unit(text: str) -> Unit:
    """Return the unit written as `N.m`, `kg.m2`, `m/s2`, `N.m.s/rad`, `J/(kg.K)`, `1/s` or `1`.

    All factors after the slash are in the denominator. Raises UnitError that names the unit and its unknown part.
    """
    numerator, _, below = text.partition("/")
    inner = _DENOMINATOR.fullmatch(below)
    denominator = "" if inner is None else inner[1] or inner[2] or ""
    total: Counter[str] = Counter()
    factor = 1.0
    for part, sign in ((numerator, 1), (denominator, -1)):
        for word in part.split(".") if part else ():
            if word == "1":
                continue
            match = _FACTOR.fullmatch(word)
            if match is None or match[1] not in _ATOMS:
                raise UnitError(f"unit {shown(text)}: {shown(word)} is not known; known units are {', '.join(_ATOMS)}")
            power = sign * int(match[2] or 1)
            if abs(power) > LARGEST_EXPONENT:
                raise UnitError(f"unit {shown(text)}: the exponent of {shown(word)} is beyond {LARGEST_EXPONENT}")
            exponents, size = _ATOMS[match[1]]
            factor *= size**power
            for base, exponent in exponents.items():
                total[base] += power * exponent
    if not 0.0 < factor < math.inf:
        raise UnitError(f"unit {shown(text)} is too large or too small for a number")
    if not numerator or (not denominator and "/" in text):
        raise UnitError(f"unit {shown(text)} is not a valid unit expression, such as N.m/rad")
    return Unit(text, tuple(total[name] for name in BASE_UNITS), factor)


_QUANTITY = re.compile(rf"({DECIMAL})\s*([a-z/°].*|1/.*|)", re.ASCII | re.IGNORECASE)
_WRITTEN = str.maketrans({"*": ".", "·": ".", "^": None, "²": "2", "³": "3", "°": "deg"})


def parse_quantity(text: str) -> tuple[float, Unit | None] | None:
    """Return (number, unit) of a quantity such as `20t`, `-1.5 deg/s`, `3 kg*m^2` or `2`, which has no unit.

    Returns None if the text does not begin with a number. Raises UnitError for an unknown unit.
    """
    parts = split_quantity(text)
    if parts is None:
        return None
    number, unit = parts[0], parts[1].translate(_WRITTEN)
    return number, parse_unit(f"1{unit}" if unit.startswith("/") else unit) if unit else None


def split_quantity(text: str) -> tuple[float, str] | None:
    """Return the number of a quantity and its unit as it is written; None if the text does not begin with a number."""
    match = _QUANTITY.fullmatch(text.strip())
    return None if match is None else (float(match[1]), match[2])


def round_conversion(value: float) -> float:
    """Return a converted value rounded to 15 digits: 9 ms are 0.009 s, not 0.009000000000000001 s."""
    return float(f"{value:.15g}")


def units_like(name: str) -> list[str]:
    """Return units of the same quantity as `name`: itself, and those with one of its factors in another unit."""
    parts = re.split(r"([A-Za-z]+)", name)
    similar = [name]
    for k, part in enumerate(parts):
        if k % 2 and part in _ATOMS:
            exponents = _ATOMS[part][0]
            others = [atom for atom, (other, _) in _ATOMS.items() if other == exponents and atom != part]
            similar += ["".join([*parts[:k], atom, *parts[k + 1 :]]) for atom in others]
    return similar


def conversion(source: Unit, target: Unit) -> tuple[float, float]:
    """Return (factor, offset) that convert a value in `source` to one in `target`: factor * value + offset.

    Raises UnitError, with the reason, if the units measure different quantities or one is not defined.
    """
    if source == target:
        return 1.0, 0.0
    if source.exponents is None or target.exponents is None:
        if source.name == target.name:
            return 1.0, 0.0
        unknown = source.name if source.exponents is None else target.name
        both = f"units {shown(source.name)} and {shown(target.name)}"
        raise UnitError(f"{both} differ, and {shown(unknown)} is not defined in SI units")
    if source.exponents != target.exponents:
        raise UnitError(f"units {shown(source.name)} and {shown(target.name)} measure different quantities")
    return source.factor / target.factor, (source.offset - target.offset) / target.factor
