"""The tables `[[vary]]` of a campaign file: which variables vary, by which law, with units."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.units import Unit, UnitError, parse_unit
from dockfmu.campaign.sampling.distributions import Choice, Law, Normal, Option, SeverityBall, Uniform, UniformDisc
from dockfmu.declare.conditions.initial_conditions import (
    ACROSS,
    ANGLES,
    CONDITION_PREFIX,
    CONDITIONS,
    LIMITED,
    SIZES,
    UNITS,
    InitialConditions,
)
from dockfmu.declare.conditions.limits import SIGMAS, nominal_speed, rooms, speed_at
from dockfmu.declare.settings import scalars
from dockfmu.declare.toml.quantities import in_unit
from dockfmu.declare.toml.tables import DeclarationError, Table, finite_number, named_place
from dockfmu.system import System

_ENTRIES = (
    "name", "names", "law", "low", "high", "mean", "deviation", "covariance", "limit", "radius", "centre", "measure",
    "at_most", "exactly", "options",
)  # fmt: skip
_OPTION = ("label", "weight", "values", "parameters", "swap", "system")
ELEVEN = tuple(f"{CONDITION_PREFIX}{name}[{k + 1}]" for name, count in LIMITED.items() for k in range(count))
"""The full names of the eleven parameters of spacecraft section 8."""
CLOSING_SPEED = f"{CONDITION_PREFIX}velocity[1]"
"""The closing speed, the only one of the eleven that must be positive."""


def drawn_names(conditions: InitialConditions) -> tuple[str, ...]:
    """Return the full names of the parameters that are drawn: eleven for a docking, five for a berthing."""
    limited = conditions.limited.items()
    return tuple(f"{CONDITION_PREFIX}{name}[{k + 1}]" for name, count in limited for k in range(count))


def read_laws(table: Table, system: System) -> tuple[Law, ...]:
    """Return the laws of the tables `vary`.

    Raises DeclarationError, OptionError, StructureError that name file, place and value.
    """
    laws: list[Law] = []
    for row in table.rows("vary", _ENTRIES):
        with named_place(row.where):
            laws += _READERS[row.text("law", choices=tuple(_READERS))](row, system)
    return tuple(laws)


def _uniform(row: Table, system: System) -> tuple[Uniform]:
    names = varied_names(row, system)
    low, high = (_numbers(row, key, names, system) for key in ("low", "high"))
    _check_width(row, names, low, high)
    return (Uniform(names, tuple(low), tuple(high)),)


def _disc(row: Table, system: System) -> tuple[UniformDisc]:
    names = varied_names(row, system)
    radius = _numbers(row, "radius", names[:1], system)[0]
    centre = _numbers(row, "centre", names, system, [0.0] * len(names))
    return (UniformDisc(names, radius, (centre[0], centre[-1])),)


def _check_width(row: Table, names: Sequence[str], low: Sequence[float], high: Sequence[float]) -> None:
    for name, first, last in zip(names, low, high, strict=True):
        if not math.isfinite(last - first):
            raise DeclarationError(
                f"{row.where}: {name}: from {first:g} to {last:g} is a wider range than numbers have"
            )


def _normal(row: Table, system: System) -> tuple[Normal]:
    names = varied_names(row, system)
    mean = _numbers(row, "mean", names, system, [0.0] * len(names))
    low: list[float] = []
    high: list[float] = []
    if "limit" in row.content:
        limit = _numbers(row, "limit", names, system)
        low, high = (np.array(mean) - limit).tolist(), (np.array(mean) + limit).tolist()
    elif "low" in row.content or "high" in row.content:
        low, high = (_numbers(row, key, names, system) for key in ("low", "high"))
    if "covariance" in row.content:
        factor = _factor(row, names)
    else:
        factor = np.diag(_numbers(row, "deviation", names, system))
    if not (np.diag(factor) > 0.0).all():
        raise DeclarationError(f"{row.where}: deviations must be positive")
    rows = tuple(tuple(line) for line in factor.tolist())
    return (Normal(names, tuple(mean), rows, tuple(low), tuple(high)),)


def _factor(row: Table, names: Sequence[str]) -> np.ndarray:
    """Return the Cholesky factor of a covariance matrix, in SI."""
    given = np.array(row.items("covariance"), dtype=object)
    where = f"{row.where}: covariance"
    if given.shape != (len(names), len(names)) or any(finite_number(item) is None for item in given.ravel()):
        raise DeclarationError(f"{where}: must be {len(names)} rows of {len(names)} numbers, in SI")
    matrix = given.astype(float)
    if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0.0):
        raise DeclarationError(f"{where}: must be symmetric")
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError as error:
        raise DeclarationError(f"{where}: must be positive definite") from error


def documented(conditions: InitialConditions, where: str) -> tuple[Law, ...]:
    """Return the laws of the eleven parameters as `initial_conditions.seed` draws them (docs: systems, limits).

    Each is normal about 0, the closing speed about the nominal one, with a third of its limit as standard deviation,
    and truncated at its limit; those limited by a vector sum are uniform in a disc. Raises DeclarationError if no
    limits are declared.
    """
    if not conditions.limits:
        raise DeclarationError(f"{where}: law = 'documented': the system declares no {CONDITIONS}.limits")
    speed = nominal_speed(conditions)
    limits = {
        f"{CONDITION_PREFIX}{name}[{k + 1}]": limit
        for name in conditions.limited
        for k, limit in enumerate(conditions.limits[name])
    }
    if CLOSING_SPEED in limits:
        limits[CLOSING_SPEED] = min(rooms(conditions))
        if not limits[CLOSING_SPEED] > 0.0:
            between = f"{conditions.slowest:g} and {conditions.limits['velocity'][0]:g} m/s"
            raise DeclarationError(f"{where}: {CLOSING_SPEED} = {speed:g}: to vary, it must lie between {between}")
    discs = [
        UniformDisc(names, limits[names[0]])
        for name in conditions.vector_sums
        for names in [tuple(f"{CONDITION_PREFIX}{name}[{k + 1}]" for k in ACROSS[name])]
    ]
    names = tuple(name for name in drawn_names(conditions) if not any(name in disc.names for disc in discs))
    bounds = np.array([limits[name] for name in names])
    mean = np.array([speed if name == CLOSING_SPEED else 0.0 for name in names])
    factor = tuple(tuple(row) for row in np.diag(bounds / SIGMAS).tolist())
    normal = Normal(names, tuple(mean), factor, tuple((mean - bounds).tolist()), tuple((mean + bounds).tolist()))
    return normal, *discs


def vector_pairs(conditions: InitialConditions, names: Sequence[str], where: str) -> tuple[tuple[int, int], ...]:
    """Return the places in `names` of pairs that are limited by their vector sum.

    Raises DeclarationError if only one of a pair is among the names.
    """
    known = [canonical(name) for name in names]
    pairs = []
    for name in conditions.vector_sums:
        pair = [f"{CONDITION_PREFIX}{name}[{k + 1}]" for k in ACROSS[name]]
        found = [known.index(member) for member in pair if member in known]
        if len(found) == 1:
            raise DeclarationError(f"{where}: {' and '.join(pair)} have one limit, of their vector sum: name both")
        if found:
            pairs.append((found[0], found[1]))
    return tuple(pairs)


def _documented(row: Table, system: System) -> tuple[Law, ...]:
    return documented(_conditions(row, system), row.where)


def _severity(row: Table, system: System) -> tuple[SeverityBall]:
    names, conditions = varied_names(row, system), _conditions(row, system)
    limits = {name: limit_of(conditions, name, row.where) for name in names}
    exactly = row.number("exactly", None, positive=True)
    at_most = row.number("at_most", None, positive=True)
    if (exactly is None) == (at_most is None):
        raise DeclarationError(f"{row.where}: one of 'at_most' and 'exactly' is needed")
    law = SeverityBall(
        names,
        tuple(limits.values()),
        row.text("measure", "R1", ("R1", "R2")),
        exactly or at_most,
        surface=exactly is not None,
        pairs=vector_pairs(conditions, names, row.where),
        values_at={CLOSING_SPEED: partial(speed_at, conditions)},
    )
    return (law,)


def limit_of(conditions: InitialConditions, name: str, where: str) -> float:
    """Return the declared limit of one of the eleven parameters, SI. Raises DeclarationError."""
    base = canonical(name).removeprefix(CONDITION_PREFIX)
    group, _, place = base.partition("[")
    if group not in conditions.limited or not conditions.limits:
        raise DeclarationError(f"{where}: {name} has no limit: a severity needs one in {CONDITIONS}.limits")
    return conditions.limits[group][int(place.rstrip("]")) - 1]


def canonical(name: str) -> str:
    """Return the name of an initial condition with `angles[k]` for yaw, pitch and roll."""
    angle = name.removeprefix(CONDITION_PREFIX)
    return f"{CONDITION_PREFIX}angles[{ANGLES.index(angle) + 1}]" if angle in ANGLES else name


def _choice(row: Table, system: System) -> tuple[Choice]:
    options = []
    for entry in row.rows("options", _OPTION):
        weight = entry.number("weight", 1.0)
        swaps = entry.table("swap").content
        options.append(
            Option(
                entry.text("label"),
                weight,
                dict(entry.table("values").content),
                tuple(entry.texts("parameters", ())),
                {str(element): str(file) for element, file in swaps.items()},
                entry.text("system", ""),
            )
        )
    return (Choice(row.text("name"), tuple(options)),)


def _conditions(row: Table, system: System) -> InitialConditions:
    declared = system.conditions
    if declared is None:
        raise DeclarationError(f"{row.where}: the system {system.name} has no {CONDITIONS}")
    return declared


def varied_names(row: Table, system: System) -> tuple[str, ...]:
    """Return the full names of the scalars in `name` or `names`, arrays with all elements. Raises DeclarationError."""
    given = row.texts("names", ()) or (row.text("name"),)
    found: list[str] = []
    for name in given:
        if name.startswith(CONDITION_PREFIX):
            base = name.removeprefix(CONDITION_PREFIX)
            if base == "angles":
                found += [f"{CONDITION_PREFIX}{angle}" for angle in ANGLES]
                continue
            size = SIZES.get(base, 1)
            found += [f"{name}[{k + 1}]" for k in range(size)] if size > 1 else [name]
        else:
            found += scalars(system.structure, name)[0]
    for name in found:
        unit_of(name, system, row.where)
        if not name.startswith(CONDITION_PREFIX) and (kind := system.structure.resolve(name)[1].type) != "Real":
            raise DeclarationError(f'{row.where}: {name} is of type {kind}: give its values by law = "choice"')
    return tuple(found)


def unit_of(name: str, system: System, where: str) -> Unit | None:
    """Return the unit of the values of a variable. Raises DeclarationError, StructureError."""
    if name.startswith(CONDITION_PREFIX):
        base = name.removeprefix(CONDITION_PREFIX).partition("[")[0]
        if base not in UNITS:
            raise DeclarationError(f"{where}: there is no condition {base!r} to vary; there are {', '.join(UNITS)}")
        _conditions(Table({}, where), system)
        return parse_unit(UNITS[base])
    element, variable = system.structure.resolve(name)
    return system.structure.description(element).unit(variable)


def unit_text(name: str, system: System) -> str:
    """Return the name of the unit of the values of a variable, "1" where there is none."""
    if name.startswith(CONDITION_PREFIX):
        return UNITS[name.removeprefix(CONDITION_PREFIX).partition("[")[0]]
    return system.structure.resolve(name)[1].unit or "1"


def _numbers(
    row: Table, key: str, names: Sequence[str], system: System, default: list[float] | None = None
) -> list[float]:
    """Return one number in SI for each name, from a number or text with a unit, or a list of them."""
    if key not in row.content:
        if default is None:
            raise DeclarationError(f"{row.where}: lacks {key!r}")
        return default
    given = row.content[key]
    items = list(given) if isinstance(given, list | tuple) else [given] * len(names)
    if len(items) != len(names):
        raise DeclarationError(f"{row.where}: {key} = {shown(given)}: must be one value, or {len(names)} of them")
    return [number_in(item, name, system, f"{row.where}: {key}") for item, name in zip(items, names, strict=True)]


def number_in(value: Any, name: str, system: System, where: str) -> float:
    """Return a value for a variable, a number or a text with a unit, in SI. Raises DeclarationError."""
    try:
        number = finite_number(in_unit(value, unit_of(name, system, where), f"{where} of {name}"))
    except UnitError as error:
        raise DeclarationError(str(error)) from error
    if number is None:
        raise DeclarationError(f"{where} = {shown(value)}: must be a finite number, or a text with a unit")
    return number


_READERS: dict[str, Callable[[Table, System], tuple[Law, ...]]] = {
    "uniform": _uniform,
    "normal": _normal,
    "disc": _disc,
    "documented": _documented,
    "severity": _severity,
    "choice": _choice,
}
"""For each kind of law, the function that reads it."""
