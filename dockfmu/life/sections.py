"""Sections of a structure, from TOML: their stress from recorded signals, their strength and their S-N data."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.units import Unit, UnitError, parse_quantity, parse_unit
from dockfmu.declare.toml.files import read_plain
from dockfmu.declare.toml.quantities import in_unit
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.life.fatigue import FatigueCurve

PASCAL = parse_unit("Pa")
ENTRIES = ("name", "description", "source", "stress", "allowable", "ultimate", "life_factor", "fatigue")
FATIGUE = ("ranges", "cycles", "endurance")
LARGEST_FILE = 1 << 20
"""Most bytes of a file of sections."""


@dataclass(frozen=True)
class StructureSection:
    """A section of a structure.

    Attributes
    ----------
    name, description, source : str
        What it is, and where its data are from.
    stress : mapping of str to (float, Unit)
        The stress is the sum of these signals, each times its factor, which is given in a unit.
    curve : FatigueCurve
        Cycles to failure.
    allowable : float
        Largest magnitude of the stress, Pa; infinite for none.
    ultimate : float
        Strength of the material, Pa, for the effect of the mean stress; infinite for none.
    life_factor : float
        Factor on the damage, for the scatter of the data.
    digest : str
        A digest of all data, by which a ledger knows the section again.
    """

    name: str
    description: str
    source: str
    stress: Mapping[str, tuple[float, Unit]]
    curve: FatigueCurve
    allowable: float
    ultimate: float
    life_factor: float
    digest: str


def read_sections(file: Path) -> tuple[StructureSection, ...]:
    """Read the sections of a TOML file, `[[section]]`.

    Raises DeclarationError, which names file, section, entry and value.
    """
    rows = Table(read_plain(file, LARGEST_FILE), str(file), ("section",)).rows("section", ENTRIES)
    if not rows:
        raise DeclarationError(f"{file}: has no [[section]]: each has name, source, stress and fatigue")
    sections = tuple(map(_section, rows))
    names = [section.name for section in sections]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DeclarationError(f"{file}: {shown(twice[0])} names several sections; give each a name of its own")
    return sections


def _section(row: Table) -> StructureSection:
    name = row.text("name")
    place = Table(row.content, f"{row.where} ({name})")
    fatigue = place.table("fatigue", FATIGUE)
    ranges, cycles = _stresses(fatigue, "ranges"), _cycles(fatigue)
    if len(ranges) != len(cycles) or len(ranges) < 2:
        raise DeclarationError(f"{fatigue.where}: ranges and cycles must have the same length, at least 2")
    if np.any(np.diff(ranges) >= 0.0) or np.any(np.diff(cycles) <= 0.0):
        raise DeclarationError(f"{fatigue.where}: ranges must fall, and cycles rise")
    factor = place.number("life_factor", 1.0, positive=True)
    if factor < 1.0:
        raise DeclarationError(f"{place.where}: life_factor = {factor:g}: must be at least 1")
    return StructureSection(
        name=name,
        description=place.text("description", ""),
        source=place.text("source"),
        stress=_terms(place.table("stress")),
        curve=FatigueCurve(ranges, cycles, _stress(fatigue, "endurance", 0.0)),
        allowable=_stress(place, "allowable", math.inf),
        ultimate=_stress(place, "ultimate", math.inf),
        life_factor=factor,
        digest=hashlib.sha256(json.dumps(_data_of(row.content), sort_keys=True).encode()).hexdigest()[:16],
    )


def _data_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of a section on which its damage depends, and not the words about it."""
    return {key: value for key, value in content.items() if key not in ("description", "source")}


def _terms(table: Table) -> dict[str, tuple[float, Unit]]:
    terms = {}
    for signal in table.content:
        text = table.text(signal)
        where = f"{table.where}: {signal} = {shown(text)}"
        try:
            quantity = parse_quantity(text)
        except UnitError as error:
            raise DeclarationError(f"{where}: {error}") from error
        if quantity is None or quantity[1] is None or not math.isfinite(quantity[0]):
            raise DeclarationError(f'{where}: must be a number with a unit, such as "1.5 kPa/N"')
        terms[signal] = quantity[0], quantity[1]
    if not terms:
        raise DeclarationError(f'{table.where}: names no signal, such as "mechanism.base.force[1]" = "1.5 kPa/N"')
    return terms


def _stress(table: Table, name: str, default: float) -> float:
    """Return a positive stress of a table, Pa."""
    return default if table.content.get(name) is None else _positive(table, name, table.content[name])


def _stresses(table: Table, name: str) -> np.ndarray:
    return np.array([_positive(table, name, value) for value in table.items(name)], float)


def _positive(table: Table, name: str, given: Any) -> float:
    where = f"{table.where}: {name}"
    try:
        value = in_unit(given, PASCAL, where)
    except UnitError as error:
        raise DeclarationError(str(error)) from error
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < math.inf:
        raise DeclarationError(f'{where} = {shown(given)}: must be a positive stress, such as "90 MPa"')
    return float(value)


def _cycles(table: Table) -> np.ndarray:
    given = table.items("cycles")
    for value in given:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < math.inf:
            raise DeclarationError(f"{table.where}: cycles = {shown(value)}: must be positive numbers")
    return np.array(given, float)
