"""A system as data: its elements, connections of ports, initial conditions and how it is run.

Declarations are the TOML files of `ssp/systems`; README.md there describes the format.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from components.core.parameters import parameter_leaves, unknown_name
from dockfmu.plan import Plan

SYSTEMS = Path(__file__).resolve().parents[1] / "ssp" / "systems"

_TO_SI = {"m": 1.0, "m/s": 1.0, "rad": 1.0, "rad/s": 1.0, "deg": np.pi / 180.0, "deg/s": np.pi / 180.0}


class DeclarationError(ValueError):
    """A system that does not exist, or whose file does not say what it must."""


@dataclass(frozen=True)
class Element:
    """One FMU of the system: a component with build options, parameter sets and single values."""

    component: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sets: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class InitialConditions:
    """Misalignment and motion of the active craft at first contact, SI, spec/04 section 8.

    `miss` (y, z) of the head's centre and `angles` (yaw, pitch, roll) of frame 0 against PU; `velocity` of the centre
    of mass in I and `angular_velocity` in C of the active craft relative to the target; `start_gap` moves the active
    craft back along x. `head_at_bottom` starts with the head at the bottom of the socket instead.
    """

    active: str
    target: str
    mechanism: str
    miss: tuple[float, float] = (0.0, 0.0)
    angles: tuple[float, float, float] = (0.0, 0.0, 0.0)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    start_gap: float = 0.0


@dataclass(frozen=True)
class Declaration:
    """A whole system. `connections` are pairs of ports, "element.port"."""

    name: str
    description: str
    elements: Mapping[str, Element]
    connections: tuple[tuple[str, str], ...]
    initial_conditions: InitialConditions | None
    plan: Plan

    def with_values(self, settings: Mapping[str, Any]) -> Declaration:
        """A copy with `ELEMENT.VARIABLE` or `initial_conditions.NAME` set; raises DeclarationError for other names."""
        elements, conditions = dict(self.elements), self.initial_conditions
        for name, value in settings.items():
            owner, _, variable = name.partition(".")
            if owner == "initial_conditions" and conditions is not None:
                conditions = _with_condition(conditions, variable, value)
            elif owner in elements:
                before = elements[owner]
                elements[owner] = replace(before, values={**before.values, variable: value})
            else:
                known = dict.fromkeys([*elements, "initial_conditions"])
                raise DeclarationError(f"--set {name}: the system {self.name} has {', '.join(known)}, no {owner!r}")
        return replace(self, elements=elements, initial_conditions=conditions)


def names() -> list[str]:
    """The systems that come with dockfmu."""
    return sorted(file.stem for file in SYSTEMS.glob("*.toml"))


def read(name: str) -> Declaration:
    """The declaration of the system `name`, or of a TOML file. Raises DeclarationError."""
    file = Path(name) if name.endswith(".toml") else SYSTEMS / f"{name}.toml"
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DeclarationError(str(unknown_name(name, dict.fromkeys(names()), "systems"))) from None
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise DeclarationError(f"{file}: {error}") from error
    return _declaration(content, file)


def _declaration(content: Mapping[str, Any], file: Path) -> Declaration:
    if "extends" in content:
        base = tomllib.loads((file.parent / f"{content['extends']}.toml").read_text(encoding="utf-8"))
        content = _merged(base, {key: value for key, value in content.items() if key != "extends"})
    try:
        elements = {
            name: Element(
                entry["component"],
                entry.get("options", {}),
                tuple(entry.get("sets", ())),
                {path: leaf["value"] for path, leaf in parameter_leaves(entry.get("values", {}))},
            )
            for name, entry in content["elements"].items()
        }
        connections = tuple((first, second) for first, second in (c["ports"] for c in content["connections"]))
        conditions = content.get("initial_conditions")
        return Declaration(
            content["name"],
            content["description"],
            elements,
            connections,
            None if conditions is None else _conditions(conditions),
            Plan.from_tables(content),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DeclarationError(f"{file}: {error!r}") from error


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the tables of `over` laid over it, table by table."""
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both and "value" not in value else value
    return merged


def _si(leaf: Mapping[str, Any]) -> Any:
    value = np.asarray(leaf["value"], float) * _TO_SI[leaf["unit"]]
    return tuple(value.tolist()) if value.ndim else float(value)


def _conditions(table: Mapping[str, Any]) -> InitialConditions:
    plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
    given = {key: _si(value) for key, value in table.items() if isinstance(value, dict)}
    angles = tuple(given.pop(angle, 0.0) for angle in ("yaw", "pitch", "roll"))
    return InitialConditions(**plain, **given, angles=angles)


def _with_condition(conditions: InitialConditions, name: str, value: Any) -> InitialConditions:
    """One condition, or one element of it (`miss[2]`), replaced; SI."""
    base, _, subscript = name.partition("[")
    known = {key: getattr(conditions, key) for key in ("miss", "angles", "velocity", "angular_velocity", "start_gap")}
    if base not in known:
        raise DeclarationError(str(unknown_name(name, known, "--set initial_conditions")))
    if subscript:
        numbers = list(known[base])
        try:
            numbers[int(subscript.rstrip("]")) - 1] = float(value)
        except (ValueError, IndexError):
            raise DeclarationError(f"--set initial_conditions.{name}={value}: no such element") from None
        return replace(conditions, **{base: tuple(numbers)})
    before = known[base]
    if isinstance(before, tuple) and len(np.atleast_1d(value)) != len(before):
        raise DeclarationError(f"--set initial_conditions.{name} takes {len(before)} numbers, got {value!r}")
    return replace(conditions, **{base: tuple(map(float, value)) if isinstance(before, tuple) else float(value)})
