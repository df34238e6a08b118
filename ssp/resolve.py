"""Resolve the references of a package: replace each by its target, so that the package can be run."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from dockfmu.base.names import did_you_mean
from dockfmu.base.units import Unit
from dockfmu.master.fmi.archive import read_member
from dockfmu.ssp.model import (
    DEFINITION_TYPE,
    DESCRIPTION,
    FMU_TYPE,
    PACKAGE_TYPE,
    SSB_TYPE,
    SSM_TYPE,
    SSV_TYPE,
    BoundMapping,
    Connector,
    DictionaryEntry,
    DictionaryReference,
    Document,
    ParameterBinding,
    ParameterMapping,
    SsdComponent,
    SsdElement,
    SsdSystem,
    Ssp,
    SspError,
    SsvParameterSet,
    StructureDescription,
)
from dockfmu.ssp.read import read_parameter_mapping, read_parameter_set

MOST_ELEMENTS = 10_000
"""Largest number of elements in a resolved system: nested references multiply."""

T = TypeVar("T")


@dataclass
class Resolved:
    """The root system of a package, in which every component is an FMU and everything else is inline.

    The source of a component is a key of `files`. `units` and `enumerations` are those of all descriptions.
    """

    system: SsdSystem
    files: dict[str, Path] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    enumerations: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def resource_path(source: str, base: str = "") -> str:
    """Return the path in the package that a URI relative to the folder `base` names.

    Raises ValueError, with the reason, for other URIs and for paths that lead out of the package.
    """
    try:
        parts = urlsplit(source)
    except ValueError as error:
        raise ValueError(f"{source!r} is not a URI ({error})") from None
    if parts.scheme or parts.netloc:
        raise ValueError(f"{source!r} is not a relative path in the package")
    if not parts.path:
        raise ValueError(f"{source!r} does not name a file")
    path = unquote(parts.path)
    if "\\" in path:
        raise ValueError(f"{source!r} has a backslash: a URI separates folders by /, on Windows too")
    joined = posixpath.normpath(posixpath.join(base, path))
    if PurePosixPath(path).is_absolute() or joined.split("/")[0] == ".." or "\0" in path:
        raise ValueError(f"{source!r} points out of the package")
    return joined


def resolve(ssp: Ssp) -> Resolved:
    """Return the package with its references resolved.

    Raises SspError for a reference that does not exist, contains itself, or has a type that the standard does not
    define.
    """
    work = _Resolver()
    root = work.system(_Place(ssp, ssp.description), ssp.description.system, ())
    return Resolved(root, work.files, work.units, work.enumerations, work.notes)


@dataclass(frozen=True)
class _Place:
    """The context of a system: package, description, folder of the description, and path of the package."""

    ssp: Ssp
    description: StructureDescription
    base: str = ""
    prefix: str = ""

    def look_up(self, source: str, known: Mapping[str, T], kind: str, where: str) -> tuple[str, T]:
        """Return the (path, document) that a URI names. Raises SspError with near matches."""
        try:
            name = resource_path(source, self.base)
        except ValueError as error:
            raise SspError(f"{where}: a {kind} {error}") from None
        if name not in known:
            raise SspError(f"{where}: the package holds no {kind} {self.prefix}{name}{did_you_mean(name, known)}")
        return name, known[name]


@dataclass
class _Resolver:
    files: dict[str, Path] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    enumerations: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    count: int = 0
    notes: list[str] = field(default_factory=list)

    def system(self, place: _Place, system: SsdSystem, above: tuple[SsdSystem, ...]) -> SsdSystem:
        """Return a system with its references resolved; `above` are the systems around it, unresolved."""
        if any(system is one for one in above):
            raise SspError(f"the system {system.name} contains itself")
        self._define(place)
        above = (*above, system)
        dictionaries = []
        for bound in system.dictionaries:
            if bound.type != SSB_TYPE:
                raise SspError(f"{system.name}: signal dictionaries of type {bound.type} are not supported")
            if bound.source is not None:
                _refuse_both(bound.source, bound.dictionary, f"{system.name}: the signal dictionary {bound.name}")
                known = place.ssp.dictionaries
                bound = replace(bound, dictionary=place.look_up(bound.source, known, "dictionary", system.name)[1])
            if bound.dictionary is None:
                raise SspError(f"{system.name}: the signal dictionary {bound.name} is empty")
            dictionaries.append(bound)
        return replace(
            system,
            dictionaries=dictionaries,
            elements=[self._element(place, element, above) for element in system.elements],
            bindings=[self._binding(place, binding, system.name, None) for binding in system.bindings],
        )

    def _element(self, place: _Place, element: SsdElement, above: tuple[SsdSystem, ...]) -> SsdElement:
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise SspError(f"more than {MOST_ELEMENTS} elements, including those of references")
        if isinstance(element, SsdSystem):
            return self.system(place, element, above)
        if isinstance(element, DictionaryReference):
            return element
        if element.type == FMU_TYPE:
            name, file = place.look_up(element.source, place.ssp.resources, "file", element.name)
            self.files[place.prefix + name] = file
            bindings = [self._binding(place, binding, element.name, file) for binding in element.bindings]
            return replace(element, source=place.prefix + name, bindings=bindings)
        return self._referenced(place, element, above)

    def _referenced(self, place: _Place, component: SsdComponent, above: tuple[SsdSystem, ...]) -> SsdSystem:
        """Return the system, defined elsewhere, to which a component refers."""
        other, definition = self._definition(place, component)
        inner = self.system(other, definition, above)
        known = {connector.name: connector for connector in inner.connectors}
        for connector in component.connectors:
            if connector.name not in known:
                hint = did_you_mean(connector.name, known)
                raise SspError(f"{component.name}: {component.source} has no connector {connector.name!r}{hint}")
            known[connector.name] = self._joined(component, connector, known[connector.name])
        inner = replace(inner, connectors=list(known.values()))
        package = other if component.type == PACKAGE_TYPE else None
        bindings = [self._binding(place, binding, component.name, package) for binding in component.bindings]
        return replace(inner, name=component.name, geometry=component.geometry, bindings=[*inner.bindings, *bindings])

    def _joined(self, component: SsdComponent, outer: Connector, inner: Connector) -> Connector:
        """Return the connector of a referenced system, with what only the reference says about it."""
        where = f"{component.name}.{outer.name}"
        if outer.type is not None and inner.type is not None and outer.type != inner.type:
            raise SspError(f"{where}: the connector is {outer.type}, that of {component.source} {inner.type}")
        if outer.kind != inner.kind:
            raise SspError(f"{where}: the connector is of kind {outer.kind}, that of {component.source} {inner.kind}")
        self.notes += contradictions(where, outer, inner, f"connector of {component.source}", self.units)
        return replace(
            inner,
            type=inner.type or outer.type,
            unit=inner.unit or outer.unit,
            enumeration=inner.enumeration or outer.enumeration,
        )

    def _definition(self, place: _Place, component: SsdComponent) -> tuple[_Place, SsdSystem]:
        path, _, fragment = component.source.partition("#")
        fragment = unquote(fragment)
        if component.type == PACKAGE_TYPE:
            name, package = place.look_up(path, place.ssp.packages, "package", component.name)
            inside = _Place(package, package.description, prefix=f"{place.prefix}{name}/")
            if not fragment or fragment == DESCRIPTION:
                return inside, package.description.system
            name, description = inside.look_up(fragment, package.variants, "description", component.name)
            return replace(inside, description=description, base=posixpath.dirname(name)), description.system
        if component.type != DEFINITION_TYPE:
            raise SspError(f"{component.name} is of type {component.type}; only FMUs and systems can be run")
        if path:
            known = {DESCRIPTION: place.ssp.description, **place.ssp.variants}
            name, description = place.look_up(path, known, "description", component.name)
            place = replace(place, description=description, base=posixpath.dirname(name))
        if not fragment:
            return place, place.description.system
        for system in _systems(place.description.system):
            if system.id == fragment:
                return place, system
        raise SspError(f"{component.name}: no system has the id {fragment!r}")

    def _binding(
        self, place: _Place, binding: ParameterBinding, where: str, component: Path | _Place | None
    ) -> ParameterBinding:
        """Return a binding with its values inline; sources may be relative to the FMU or package `component`."""
        if binding.type != SSV_TYPE:
            raise SspError(f"{where}: parameter sets of type {binding.type} are not supported")
        values, mapping = binding.values, binding.mapping
        if binding.source is not None:
            _refuse_both(binding.source, values, f"{where}: a parameter binding")
            values = self._values(place, binding.source, binding.source_base, where, component)
        if values is None:
            raise SspError(f"{where}: a parameter binding has neither source nor values")
        if mapping is not None:
            mapping = BoundMapping(mapping=self._mapping(place, mapping, where, component))
        named = {definition.unit.name for definition in values.units}
        more = [definition for definition in place.description.units if definition.unit.name not in named]
        items = {enumeration.name for enumeration in values.enumerations}
        listed = [enumeration for enumeration in place.description.enumerations if enumeration.name not in items]
        values = replace(values, units=[*values.units, *more], enumerations=[*values.enumerations, *listed])
        resolved = ParameterBinding(values=values, prefix=binding.prefix, mapping=mapping)
        for fault in _mapped_together(resolved):
            raise SspError(f"{where}: {fault}")
        return resolved

    def _values(
        self, place: _Place, source: str, base: str, where: str, component: Path | _Place | None
    ) -> SsvParameterSet:
        if base == "component" and isinstance(component, Path):
            return read_parameter_set(_inside(component, source, where), f"{component.name}, {source}")
        place = _base(place, base, where, component)
        return place.look_up(source, place.ssp.parameter_sets, "parameter set", where)[1]

    def _mapping(
        self, place: _Place, bound: BoundMapping, where: str, component: Path | _Place | None
    ) -> ParameterMapping:
        if bound.type != SSM_TYPE:
            raise SspError(f"{where}: parameter mappings of type {bound.type} are not supported")
        if bound.source is None:
            if bound.mapping is None:
                raise SspError(f"{where}: a parameter mapping has neither source nor entries")
            return bound.mapping
        _refuse_both(bound.source, bound.mapping, f"{where}: a parameter mapping")
        if bound.source_base == "component" and isinstance(component, Path):
            return read_parameter_mapping(_inside(component, bound.source, where), f"{component.name}, {bound.source}")
        place = _base(place, bound.source_base, where, component)
        return place.look_up(bound.source, place.ssp.mappings, "parameter mapping", where)[1]

    def _define(self, place: _Place) -> None:
        """Collect units and enumerations, whose names are shared by all descriptions."""
        units, enumerations = definitions(place.description)
        _merge(self.units, units, "unit")
        _merge(self.enumerations, enumerations, "enumeration")


def definitions(
    document: StructureDescription | SsvParameterSet,
) -> tuple[dict[str, Unit], dict[str, tuple[tuple[str, int], ...]]]:
    """Return the units and the items of the enumerations of a document, by name.

    Raises SspError for a name with two definitions that differ: which of them holds would be a guess.
    """
    units: dict[str, Unit] = {}
    enumerations: dict[str, tuple[tuple[str, int], ...]] = {}
    for definition in document.units:
        _merge(units, {definition.unit.name: definition.unit}, "unit")
    for enumeration in document.enumerations:
        _merge(enumerations, {enumeration.name: enumeration.items}, "enumeration")
    return units, enumerations


def contradictions(
    where: str, outer: Connector, inner: Connector | DictionaryEntry, kind: str, units: Mapping[str, Unit]
) -> list[str]:
    """Return notes on a connector that contradicts what it stands for, of this kind, which applies."""
    found = []
    mine, its = (units.get(name or "") for name in (outer.unit, inner.unit))
    if mine is not None and its is not None and not mine.same(its):
        found.append(f"{where}: the connector is in {outer.unit}, the {kind} in {inner.unit}, which applies")
    if outer.enumeration and inner.enumeration and outer.enumeration != inner.enumeration:
        found.append(
            f"{where}: the connector has the enumeration {outer.enumeration}, the {kind} {inner.enumeration}, "
            "which applies"
        )
    return found


def _merge(known: dict[str, T], found: Mapping[str, T], kind: str) -> None:
    for name, definition in found.items():
        if known.setdefault(name, definition) != definition:
            raise SspError(f"the {kind} {name!r} is defined twice, in different ways")


def _refuse_both(source: str, inline: Document | None, what: str) -> None:
    """Raise SspError for a document that is given twice, as the file `source` and inline."""
    if inline is not None:
        raise SspError(f"{what} has both the source {source} and inline content: leave one out")


def _mapped_together(binding: ParameterBinding) -> Iterator[str]:
    """Yield a sentence for each name to which the mapping of a binding brings more than one value."""
    assert binding.values is not None
    sources: dict[str, list[str]] = {}
    for parameter in binding.values.parameters:
        for target, entry in binding.names(parameter):
            if entry is not None:
                sources.setdefault(target, []).append(entry.source)
    for target, names in sources.items():
        if len(names) > 1:
            yield f"{len(names)} entries of a parameter mapping give {target!r} a value ({', '.join(names)}): keep one"


def _base(place: _Place, base: str, where: str, component: Path | _Place | None) -> _Place:
    if base != "component":
        return place
    if not isinstance(component, _Place):
        raise SspError(f"{where}: only FMUs and packages have parameter documents of their own")
    return component


def _inside(fmu: Path, source: str, where: str) -> bytes:
    try:
        return read_member(fmu, resource_path(source))
    except ValueError as error:
        raise SspError(f"{where}: a document in {fmu.name} {error}") from None


def _systems(system: SsdSystem) -> Iterator[SsdSystem]:
    yield system
    for element in system.elements:
        if isinstance(element, SsdSystem):
            yield from _systems(element)
