"""Units of the components in terms of SI base units, as FMI and SSP describe them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")

# name: (exponents of base units, factor)
_ATOMS: dict[str, tuple[dict[str, int], float]] = {
    **{name: ({name: 1}, 1.0) for name in BASE},
    "g": ({"kg": 1}, 1e-3),
    "t": ({"kg": 1}, 1e3),
    "mm": ({"m": 1}, 1e-3),
    "cm": ({"m": 1}, 1e-2),
    "km": ({"m": 1}, 1e3),
    "ms": ({"s": 1}, 1e-3),
    "us": ({"s": 1}, 1e-6),
    "min": ({"s": 1}, 60.0),
    "h": ({"s": 1}, 3600.0),
    "deg": ({"rad": 1}, 0.017453292519943295),
    "Hz": ({"s": -1}, 1.0),
    "N": ({"kg": 1, "m": 1, "s": -2}, 1.0),
    "kN": ({"kg": 1, "m": 1, "s": -2}, 1e3),
    "Pa": ({"kg": 1, "m": -1, "s": -2}, 1.0),
    "J": ({"kg": 1, "m": 2, "s": -2}, 1.0),
    "W": ({"kg": 1, "m": 2, "s": -3}, 1.0),
    "C": ({"A": 1, "s": 1}, 1.0),
    "V": ({"kg": 1, "m": 2, "s": -3, "A": -1}, 1.0),
    "Ohm": ({"kg": 1, "m": 2, "s": -3, "A": -2}, 1.0),
    "F": ({"kg": -1, "m": -2, "s": 4, "A": 2}, 1.0),
    "H": ({"kg": 1, "m": 2, "s": -2, "A": -2}, 1.0),
    "Wb": ({"kg": 1, "m": 2, "s": -2, "A": -1}, 1.0),
    "T": ({"kg": 1, "s": -2, "A": -1}, 1.0),
}

DISPLAY = {"rad": "deg", "rad/s": "deg/s", "rad/s2": "deg/s2"}
"""What people are shown instead of a unit: one for each, in all FMUs, or plots of one quantity differ by its source."""

_FACTOR = re.compile(r"([A-Za-z]+)(-?\d+)?")


class UnitError(ValueError):
    """A unit that is not known, or not written as units are written here."""


@dataclass(frozen=True)
class Unit:
    """A value in this unit times `factor` is the value in base units with these exponents (in the order of BASE)."""

    name: str
    exponents: tuple[int, ...]
    factor: float

    @property
    def base(self) -> dict[str, int]:
        """The base units with a nonzero exponent."""
        return {name: exponent for name, exponent in zip(BASE, self.exponents, strict=True) if exponent}


def parse(text: str) -> Unit:
    """`N.m`, `kg.m2`, `m/s2`, `N.m.s/rad`, `J/(kg.K)`, `1/s`, `1`: all after the one slash divides.

    Raises UnitError, naming the unit and the part that is not understood.
    """
    numerator, _, denominator = text.partition("/")
    total: Counter[str] = Counter()
    factor = 1.0
    for part, sign in ((numerator, 1), (denominator.removeprefix("(").removesuffix(")"), -1)):
        for word in part.split(".") if part else ():
            if word == "1":
                continue
            match = _FACTOR.fullmatch(word)
            if match is None or match[1] not in _ATOMS:
                raise UnitError(f"unit {text!r}: {word!r} is not known; known are {', '.join(_ATOMS)}")
            power = sign * int(match[2] or 1)
            exponents, size = _ATOMS[match[1]]
            factor *= size**power
            for base, exponent in exponents.items():
                total[base] += power * exponent
    if not numerator or (not denominator and "/" in text):
        raise UnitError(f"unit {text!r} is not written like N.m/rad")
    return Unit(text, tuple(total[name] for name in BASE), factor)
