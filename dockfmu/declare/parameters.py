"""The parameters of a system and the sources of their values, without building an FMU."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dockfmu.base.messages import shown
from dockfmu.base.names import array_shape, did_you_mean, matching, subscripts
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import ParameterSet
from dockfmu.declare import declaration
from dockfmu.declare.conditions.initial_conditions import ANGLES, CONDITIONS, SEED, UNITS
from dockfmu.declare.declaration import Declaration
from dockfmu.declare.packages.assembly import in_declared_units, parameter_set
from dockfmu.declare.packages.bundle import read_bundle
from dockfmu.declare.packages.unbuilt import described, on_paper, split_name
from dockfmu.declare.settings import Settings, read_settings, scalars
from dockfmu.fmus import catalogue
from dockfmu.fmus.folders import is_folder
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi import archive
from dockfmu.master.fmi.description import Description, Variable
from dockfmu.master.system import Structure
from dockfmu.ssp.archive import is_package
from dockfmu.ssp.model import SspError, SsvParameterSet
from dockfmu.ssp.read import read_parameter_set

_SETS = re.compile(r"resources/parameters/[^/]+\.ssv")

_CONDITIONS = {
    "miss": "position (y, z) of the head's centre in axes of the resting unit",
    "yaw": "yaw of the moving unit relative to the resting one",
    "pitch": "pitch of the moving unit relative to the resting one",
    "roll": "roll of the moving unit relative to the resting one",
    "velocity": "velocity of the moving craft; x > 0 closes",
    "angular_velocity": "angular velocity of the moving craft relative to the resting one, axes C",
    "start_gap": "distance by which the active unit is moved back along x of the passive one",
    "gap": "distance along x by which the interface of a payload is short of the berth",
    "orbital_rate": "angular velocity of both craft due to their orbit, axes C of the resting one",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of an element, with an array as one parameter.

    `value` and `default` are numbers in `unit`, Booleans or strings, in nested lists for arrays; `default` is that of
    the FMU. A value of None is computed when a run starts. `set_by` names what set the value: a parameter set,
    "system", "initial_conditions", "package", "--parameters" or "--set"; it is empty for a default. `source` says where
    the value is from, such as "assumed"; it is empty if this is unknown. `display` is (unit, factor) for displayed
    values.
    """

    element: str
    name: str
    shape: tuple[int, ...]
    type: str
    value: Any
    default: Any
    unit: str = "1"
    display: tuple[str, float] = ("1", 1.0)
    minimum: float | None = None
    maximum: float | None = None
    items: tuple[str, ...] = ()
    tunable: bool = False
    description: str = ""
    source: str = ""
    set_by: str = ""

    @property
    def changed(self) -> bool:
        """Tell whether the value differs from that of the FMU, or is computed."""
        # a start value that is no number differs from itself
        return bool(self.value != self.default and repr(self.value) != repr(self.default))

    @property
    def full_name(self) -> str:
        """The name that `--set` takes."""
        return f"{self.element}.{self.name}"


@dataclass
class _Layer:
    """Values that override those of the layers below: scalar -> value, and the source of each."""

    by: str
    values: Mapping[str, Any]
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _Element:
    """An element with the layers of its values, lowest first, and the sets that may give the source of a default.

    `default` gives the source of a default that no set has, by the name of a scalar.
    """

    description: Description
    layers: list[_Layer] = field(default_factory=list)
    known: list[_Layer] = field(default_factory=list)
    default: Callable[[str], str] = lambda _: ""


def parameters(name: str, settings: Mapping[str, Any] | None = None, files: Sequence[Path] = ()) -> list[Parameter]:
    """Return the parameters of "SYSTEM[.ELEMENT[.PATTERN]]".

    The system is a name, a .toml or an .ssp; FILE.fmu and the name of a component take no ELEMENT. `settings` and
    `files` are applied as by `--set` and `--parameters`. Raises StructureError with near matches for an element or
    a pattern that selects nothing, and any error of reading the system.
    """
    origin, _, rest = split_name(name)
    with TemporaryFolder("build") as folder:
        (chosen, conditions), declared = read_settings(settings or {}, files), None
        if origin.endswith(".fmu"):
            system = Structure(Path(origin).name)
            system.add(Path(origin).stem, Path(origin))
            elements = {n: _of_file(system, n) for n in system.elements}
        elif is_package(origin):
            system, _, _, _ = read_bundle(origin, folder)
            elements = {n: _of_file(system, n) for n in system.elements}
        elif origin not in declaration.names() and _is_component(origin):
            component = catalogue.component(origin)
            name = component.name if is_folder(origin) else origin
            system = Structure(name)
            system.add(name, described(component, name, folder).file)
            known = _sets(component, component.parameter_sets)
            elements = {name: _Element(system.description(name), known=known, default=component.origin)}
        else:
            declared = declaration.read(origin)
            system, components = on_paper(declared, folder)
            elements = {
                n: _of_declaration(system, declared, n, components[n]) if n in components else _of_file(system, n)
                for n in system.elements
            }
        _lay_over(system, elements, chosen)
        found = [entry for n, element in elements.items() for entry in _entries(n, element)]
        if declared is not None and declared.initial_conditions is not None:
            found += _of_conditions(declared, conditions)
    alone = declared is None and len(elements) == 1 and not is_package(origin)
    pattern = f"{next(iter(elements))}.{rest}" if alone and rest else rest
    return _chosen(origin, found, pattern)


def _is_component(name: str) -> bool:
    if is_folder(name):
        return Path(name).is_dir()
    try:
        catalogue.entry(name)
    except catalogue.CatalogueError:
        return False
    return True


def _chosen(origin: str, found: list[Parameter], pattern: str) -> list[Parameter]:
    if not pattern:
        return found
    names = [parameter.full_name for parameter in found]
    chosen = set(matching(pattern, names))
    if not chosen:
        elements = list(dict.fromkeys(parameter.element for parameter in found))
        element, dot, rest = pattern.partition(".")
        if element in elements and dot:
            inside = [parameter.name for parameter in found if parameter.element == element]
            raise StructureError([f"{origin}.{element} has no parameter {shown(rest)}{did_you_mean(rest, inside)}"])
        if "*" in element:
            raise StructureError([f"{origin} has no parameter {shown(pattern)}{did_you_mean(pattern, names)}"])
        hint = did_you_mean(element, elements) or did_you_mean(pattern, names)
        raise StructureError([f"{origin} has no element {shown(element)}; there are {', '.join(elements)}{hint}"])
    return [parameter for parameter in found if parameter.full_name in chosen]


def _of_declaration(system: Structure, declared: Declaration, name: str, component: Component) -> _Element:
    element = declared.elements[name]
    chosen = [parameter_set(component, one, element.origin) for one in element.sets]
    layers = _sets(component, chosen)
    if element.values is not None:
        (given,) = _sets(component, [in_declared_units(component.record, element.values)])
        layers.append(_Layer("system", given.values, given.sources))
    known = _sets(component, component.parameter_sets)
    described_element = _Element(system.description(name), layers, known, component.origin)
    # values that the system itself changes, such as the mass of an AFFINE mechanism
    layers.append(
        _Layer("system", {n: v for n, v in system.elements[name].start.items() if v != _value(described_element, n)})
    )
    conditions = declared.initial_conditions
    if conditions is not None and name == conditions.arm:
        placed = [
            n
            for n in described_element.description.variables
            if n.startswith(("parameters.initial.angle[", "parameters.initial.payload_angles["))
        ]
        layers.append(_Layer(CONDITIONS, dict.fromkeys(placed), dict.fromkeys(placed, "computed at the start")))
    elif conditions is not None and name in (conditions.active.split(".")[0], conditions.target.split(".")[0]):
        placed = [n for n in described_element.description.variables if n.startswith("parameters.initial.")]
        layers.append(_Layer(CONDITIONS, dict.fromkeys(placed), dict.fromkeys(placed, "computed at the start")))
    return described_element


def _sets(component: Component, sets: Sequence[ParameterSet]) -> list[_Layer]:
    """Return parameter sets as layers of scalars."""
    layers = []
    for entry in sets:
        pairs = [
            (scalar, number, entry.sources[name])
            for name, value in entry.values.items()
            for scalar, number in component.record.expand(name, value, entry.file)
        ]
        layers.append(_Layer(entry.name, {s: n for s, n, _ in pairs}, {s: source for s, _, source in pairs}))
    return layers


def _of_file(system: Structure, name: str) -> _Element:
    """Return an element of an FMU; the parameter sets inside the FMU give the sources of its values."""
    element = system.elements[name]
    known = []
    if element.file.is_file():
        sets, _ = sets_of_fmu(element.file)
        for content in sets:
            values = {p.name: p.value for p in content.parameters}
            known.append(_Layer(content.name, values, {p.name: p.description or "" for p in content.parameters}))
    return _Element(system.description(name), [_Layer("package", dict(element.start))], known)


def sets_of_fmu(file: Path) -> tuple[list[SsvParameterSet], list[str]]:
    """Return the parameter sets (.ssv) inside an FMU, and a sentence for each that cannot be read.

    Raises ArchiveError.
    """
    sets, problems = [], []
    for member in filter(_SETS.fullmatch, archive.members(file)):
        try:
            sets.append(read_parameter_set(archive.read_member(file, member), f"{file}, {member}"))
        except SspError as error:
            problems.append(str(error))
    return sets, problems


def _lay_over(system: Structure, elements: Mapping[str, _Element], chosen: Settings) -> None:
    """Add the layers of `--parameters` and `--set`. Raises StructureError for what does not fit."""
    before = {name: dict(system.elements[name].start) for name in elements}
    chosen.apply(system)
    system.check()
    given = {scalar for name in chosen.values for scalar in scalars(system, name)[0]}
    for name, element in elements.items():
        start = system.elements[name].start
        own = {n: v for n, v in start.items() if f"{name}.{n}" in given}
        others = {n: v for n, v in start.items() if n not in own and before[name].get(n) != v}
        element.layers += [_Layer("--parameters", others), _Layer("--set", own)]


def _value(element: _Element, name: str) -> Any:
    layer = _top(element, name)
    return element.description.variables[name].start if layer is None else layer.values[name]


def _top(element: _Element, name: str) -> _Layer | None:
    """Return the highest layer with a value for a scalar; None if it has the default of the FMU."""
    return next((layer for layer in reversed(element.layers) if name in layer.values), None)


def _source(element: _Element, name: str) -> str:
    layer = _top(element, name)
    if layer is not None and (layer.by != "package" or name in layer.sources):
        return layer.sources.get(name, "")
    value = _value(element, name)
    # the source of a default, or of a value of a package, is the set that has the same value
    same = (entry for entry in element.known if name in entry.values and entry.values[name] == value)
    entry = next(same, None)
    return element.default(name) if entry is None else f"{entry.by}: {entry.sources.get(name, '')}"


def _entries(name: str, element: _Element) -> Iterator[Parameter]:
    """Yield the parameters of an element, the scalars of an array as one parameter."""
    arrays: dict[str, list[Variable]] = {}
    for variable in element.description.select("parameter", "structuralParameter"):
        arrays.setdefault(subscripts(variable.name)[0], []).append(variable)
    for array, members in _whole(arrays):
        first = members[0]
        shape = _shape(members)
        layers = [_top(element, variable.name) for variable in members]
        unit = element.description.unit(first)
        shown = next((d for d in (unit.display if unit else ()) if d[0] == first.display_unit), None)
        yield Parameter(
            name,
            array,
            shape,
            first.type,
            _nested([_named(first, _value(element, variable.name)) for variable in members], shape),
            _nested([_named(first, variable.start) for variable in members], shape),
            first.unit or "1",
            (first.unit or "1", 1.0) if shown is None or shown[2] or _is_frequency(array) else (shown[0], shown[1]),
            first.minimum,
            first.maximum,
            tuple(item for item, _ in first.items),
            first.variability == "tunable",
            first.description,
            _joined(_source(element, variable.name) for variable in members),
            _joined(layer.by if layer else "" for layer in layers),
        )


def _is_frequency(array: str) -> bool:
    """Return whether a parameter in rad/s is a bandwidth or a circular frequency, not a rate of turn."""
    return array.rpartition(".")[2].endswith(("frequency", "bandwidth"))


def _of_conditions(declared: Declaration, settings: Mapping[str, Any]) -> Iterator[Parameter]:
    given = declared.with_conditions(settings).initial_conditions
    assert given is not None
    changed = {name.partition("[")[0] for name in settings}
    if SEED in changed:
        changed |= set(given.limited)
    for name, size in given.sizes.items():
        value: Any = given.angles[ANGLES.index(name)] if name in ANGLES else getattr(given, name)
        by = "--set" if name in changed or (name in ANGLES and "angles" in changed) else "system"
        unit = UNITS[name]
        degrees = (unit.replace("rad", "deg"), math.degrees(1.0)) if "rad" in unit else (unit, 1.0)
        yield Parameter(
            CONDITIONS,
            name,
            () if size == 1 else (size,),
            "Real",
            value if size == 1 else list(value),
            0.0 if size == 1 else [0.0] * size,
            unit,
            degrees,
            description=_CONDITIONS[name],
            source=given.sources.get(name, "assumed: the system gives none") if by == "system" else "",
            set_by=by if by == "--set" or name in given.sources else "",
        )


def _whole(arrays: Mapping[str, list[Variable]]) -> Iterator[tuple[str, list[Variable]]]:
    """Yield arrays, and scalars that fill none, or have types or units of their own, under their own names."""
    for array, members in arrays.items():
        if _shape(members) and len({(v.type, v.unit, v.display_unit, v.items) for v in members}) == 1:
            yield array, members
        else:
            yield from ((variable.name, [variable]) for variable in members)


def _shape(members: Sequence[Variable]) -> tuple[int, ...]:
    return array_shape([subscripts(variable.name)[1] for variable in members])


def _named(variable: Variable, value: Any) -> Any:
    """Return a value in the form of its type: the name of an enumeration item, a bool, an int, or unchanged."""
    if value is None or isinstance(value, str):
        return value
    if variable.items:
        return {number: item for item, number in variable.items}.get(int(value), value)
    if variable.type == "Boolean":
        return bool(value)
    return int(value) if variable.type == "Integer" else value


def _nested(values: list[Any], shape: tuple[int, ...]) -> Any:
    """Return values in row-major order as nested lists."""
    if not shape:
        return values[0]
    for size in reversed(shape[1:]):
        values = [values[k : k + size] for k in range(0, len(values), size)]
    return values


def _joined(texts: Iterator[str]) -> str:
    return "; ".join(dict.fromkeys(text for text in texts if text))
