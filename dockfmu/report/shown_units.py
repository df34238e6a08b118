"""Units in which reports show values; this module is fast to import."""

from __future__ import annotations

from dockfmu.base.units import DISPLAY_UNITS, UnitError, parse_unit

_SYMBOLS = {"deg": "°", "deg/s": "°/s", "deg/s2": "°/s²", "m/s2": "m/s²", "N.m": "N·m", "N.s": "N·s"}


def shown_unit(unit: str, display: str = "") -> tuple[str, float]:
    """Return the symbol of the unit in which values are displayed, and the factor to it from values in `unit`.

    `display` is the display unit that an FMU requests. Without one, angles are shown in degrees and other quantities in
    their own unit; an unknown display unit is ignored. The unit 1 has an empty symbol.
    """
    target = display or DISPLAY_UNITS.get(unit, unit)
    try:
        from_unit, to_unit = parse_unit(unit), parse_unit(target)
    except UnitError:
        target, factor = unit, 1.0
    else:
        same = from_unit.exponents == to_unit.exponents
        target, factor = (target, from_unit.factor / to_unit.factor) if same else (unit, 1.0)
    return "" if target == "1" else _SYMBOLS.get(target, target), factor


def quantity_text(value: float | None, unit: str) -> str:
    """Return a value with its unit as the report shows them, to four digits."""
    shown, factor = shown_unit(unit)
    if value is None:
        return "not finite"
    return f"{factor * value:.4g}" + (f" {shown}" if shown else "")
