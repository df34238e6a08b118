"""Check a package beyond the schemas: the elements, connectors, files and units that it refers to must exist."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi.archive import members
from dockfmu.master.fmi.description import Description, read_description
from dockfmu.ssp.archive import read_ssp
from dockfmu.ssp.model import (
    DESCRIPTION,
    FMU_TYPE,
    Connector,
    SsdComponent,
    SsdElement,
    SsdSystem,
    Ssp,
    SsvParameterSet,
    StructureDescription,
)
from dockfmu.ssp.resolve import resolve, resource_path

NO_UNIT = "None"
"""What OMSimulator writes for a value without a unit."""


def validate(file: Path) -> list[str]:
    """Return the faults of the package `file`, a sentence for each."""
    return examine(file)[0]


def examine(file: Path) -> tuple[list[str], list[str]]:
    """Return the faults of the package `file`, and remarks about possible surprises."""
    try:
        members(Path(file))
        with TemporaryFolder("ssp") as folder:
            package = read_ssp(file, folder)
            return faults(package), remarks(package)
    except MasterError as error:
        return [str(error)], []


def faults(ssp: Ssp) -> list[str]:
    """Return the faults of a package, and of the packages inside it, a sentence for each."""
    descriptions = {DESCRIPTION: ssp.description, **ssp.variants}
    found = [fault for name, one in descriptions.items() for fault in _Checks(ssp, one, posixpath.dirname(name)).run()]
    for name, values in ssp.parameter_sets.items():
        found += [f"{name}: {problem}" for problem in repeated(values)]
    for name, package in ssp.packages.items():
        found += [f"{name}: {fault}" for fault in faults(package)]
    if not found:
        try:
            resolve(ssp)
        except MasterError as error:
            found.append(str(error))
    return found


def remarks(ssp: Ssp) -> list[str]:
    """Return remarks on units that are empty or not defined, which do not prevent a run but may surprise."""
    found: list[str] = []
    for description in (ssp.description, *ssp.variants.values()):
        units = {definition.unit.name for definition in description.units}
        found += _units(description.system, description.system.name, units)
    documents = {**ssp.parameter_sets, **ssp.mappings, **ssp.dictionaries}
    found += [
        f"{name}: calls itself version {document.version}; its content is valid in SSP 1.0, and read as that"
        for name, document in documents.items()
        if not document.version.startswith("1.")
    ]
    for name, values in ssp.parameter_sets.items():
        units = {definition.unit.name for definition in (*values.units, *ssp.description.units)}
        found += (f"{name}, {p.name}: {fault}" for p in values.parameters if (fault := _unit(p.unit, units)))
    for name, package in ssp.packages.items():
        found += [f"{name}: {remark}" for remark in remarks(package)]
    return list(dict.fromkeys(found))


def repeated(values: SsvParameterSet) -> list[str]:
    """Return a sentence for each name that has more than one value in a parameter set."""
    found: dict[str, list[str]] = {}
    for parameter in values.parameters:
        found.setdefault(parameter.name, []).append(shown(parameter.value))
    return [
        f"{name!r} has {len(given)} values: {', '.join(given[:5])}{', ...' if len(given) > 5 else ''}"
        for name, given in found.items()
        if len(given) > 1
    ]


def _unit(unit: str | None, known: Iterable[str]) -> str:
    """Return a remark about a unit that is empty or not defined; an empty string for other units and None."""
    if unit == "":
        return "the unit is empty, and treated as no unit"
    if unit == NO_UNIT and unit not in known:
        return f"the unit {unit!r} is not defined, and treated as no unit"
    undefined = unit is not None and unit not in known
    return f"the unit {unit!r} is not defined: a value in it cannot be converted" if undefined else ""


def _units(element: SsdElement, path: str, known: set[str]) -> Iterable[str]:
    """Yield remarks about the connectors, signals and inline values of an element and of the elements inside it."""
    typed: list[tuple[str, str | None]] = [(f"{path}.{c.name}", c.unit) for c in element.connectors]
    yield from (f"{name}: {text}" for name, unit in typed if (text := _unit(unit, known)))
    for binding in element.bindings:
        if binding.values is not None:
            own = known | {definition.unit.name for definition in binding.values.units}
            listed = [(f"{path}.{p.name}", p.unit) for p in binding.values.parameters]
            yield from (f"{name}: {text}" for name, unit in listed if (text := _unit(unit, own)))
    if isinstance(element, SsdSystem):
        for bound in element.dictionaries:
            if bound.dictionary is not None:
                own = known | {definition.unit.name for definition in bound.dictionary.units}
                signals = [(f"{path}, signal {e.name}", e.unit) for e in bound.dictionary.entries]
                yield from (f"{name}: {text}" for name, unit in signals if (text := _unit(unit, own)))
        for child in element.elements:
            yield from _units(child, f"{path}.{child.name}", known)


@dataclass(frozen=True)
class _Checks:
    """Checks of one description, in the folder `base` of its package."""

    ssp: Ssp
    description: StructureDescription
    base: str

    def run(self) -> Iterable[str]:
        return self.system(self.description.system, self.description.system.name)

    def system(self, system: SsdSystem, path: str) -> Iterable[str]:
        names = [element.name for element in system.elements]
        yield from (f"{path}: two elements are called {name!r}" for name in sorted(set(names)) if names.count(name) > 1)
        for element in system.elements:
            yield from self.element(element, f"{path}.{element.name}")
        yield from self.bindings(system, path)
        yield from self.connectors(system, path)
        for connection in system.connections:
            for name, connector in connection.ends:
                owner: SsdElement | None = system if name is None else system.element(name)
                if owner is None:
                    hint = did_you_mean(name or "", names)
                    yield f"{path}, connection {connection}: there is no element {name!r}{hint}"
                elif not any(c.name == connector for c in owner.connectors):
                    known = [c.name for c in owner.connectors]
                    hint = did_you_mean(connector, known)
                    yield f"{path}, connection {connection}: {owner.name} has no connector {connector!r}{hint}"

    def element(self, element: SsdElement, path: str) -> Iterable[str]:
        if isinstance(element, SsdSystem):
            yield from self.system(element, path)
            return
        yield from self.bindings(element, path)
        yield from self.connectors(element, path)
        if isinstance(element, SsdComponent) and element.type == FMU_TYPE:
            yield from self.component(element, path)

    def component(self, component: SsdComponent, path: str) -> Iterable[str]:
        try:
            name = resource_path(component.source, self.base)
        except ValueError as error:
            yield f"{path}: its source {error}"
            return
        if name not in self.ssp.resources:
            yield f"{path}: the package holds no {name}" + did_you_mean(name, self.ssp.resources)
            return
        try:
            description = read_description(self.ssp.resources[name])
        except MasterError as error:
            yield f"{path}: {error}"
            return
        for connector in component.connectors:
            yield from _mismatches(description, connector, path)

    def connectors(self, element: SsdElement, path: str) -> Iterable[str]:
        names = [connector.name for connector in element.connectors]
        duplicates = sorted({name for name in names if names.count(name) > 1})
        yield from (f"{path}: two connectors are called {name!r}" for name in duplicates)
        enumerations = {enumeration.name for enumeration in self.description.enumerations}
        for connector in element.connectors:
            if (name := connector.enumeration) is not None and name not in enumerations:
                yield f"{path}.{connector.name}: the description does not define the enumeration {name!r}"

    def bindings(self, element: SsdElement, path: str) -> Iterable[str]:
        for binding in element.bindings:
            if binding.source is None and binding.values is not None:
                yield from (f"{path}, {binding.values.name}: {problem}" for problem in repeated(binding.values))
            mapping = binding.mapping
            sources = [(binding.source, binding.source_base, self.ssp.parameter_sets, "parameter set")]
            if mapping is not None:
                sources.append((mapping.source, mapping.source_base, self.ssp.mappings, "parameter mapping"))  # type: ignore[arg-type]
            for source, base, known, kind in sources:
                if source is None or base == "component":
                    continue
                try:
                    name = resource_path(source, self.base)
                except ValueError as error:
                    yield f"{path}: a {kind} {error}"
                else:
                    if name not in known:
                        yield f"{path}: the package holds no {kind} {name}" + did_you_mean(name, known)


def _mismatches(description: Description, connector: Connector, path: str) -> Iterable[str]:
    """Yield the faults of a connector that does not match the variable of the FMU."""
    variable = description.variables.get(connector.name)
    if variable is None:
        hint = did_you_mean(connector.name, description.variables)
        yield f"{path}: its FMU has no variable {shown(connector.name)}{hint}"
    elif connector.type is not None and connector.type != variable.type:
        yield f"{path}.{connector.name}: the connector is {connector.type}, the variable of the FMU {variable.type}"
    elif connector.kind != variable.causality:
        yield f"{path}.{connector.name}: the connector is of kind {connector.kind}, the variable {variable.causality}"
