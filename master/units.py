"""Units by their SI base exponents, as FMI 2.0 and SSP 1.0 define them."""

from __future__ import annotations

from dataclasses import dataclass, field

BASES = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


@dataclass(frozen=True)
class Unit:
    """value in SI base units = factor * value + offset; `exponents` is None where the file does not define it."""

    name: str
    exponents: tuple[int, ...] | None = None
    factor: float = 1.0
    offset: float = 0.0
    display: tuple[tuple[str, float, float], ...] = field(default=())
    """display units: (name, factor, offset) with display value = factor * value + offset"""


def conversion(source: Unit, target: Unit) -> tuple[float, float]:
    """(factor, offset) that turn a value in `source` into one in `target`.

    Raises ValueError, with the reason, where the units do not measure the same quantity or are not defined.
    """
    if source == target:
        return 1.0, 0.0
    if source.exponents is None or target.exponents is None:
        if source.name == target.name:
            return 1.0, 0.0
        unknown = source.name if source.exponents is None else target.name
        raise ValueError(
            f"units {source.name!r} and {target.name!r} differ, and {unknown!r} is not defined in SI units"
        )
    if source.exponents != target.exponents:
        raise ValueError(f"units {source.name!r} and {target.name!r} measure different quantities")
    return source.factor / target.factor, (source.offset - target.offset) / target.factor
