"""Turn a package into a system that the master runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean, owner
from dockfmu.base.units import Unit
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.description import Description, Variable
from dockfmu.master.order import loops
from dockfmu.master.system import Structure, Supplement, check_value
from dockfmu.ssp.annotations import connection_settings, element_settings
from dockfmu.ssp.conversion import Hop, Point, affine, item, table, whole
from dockfmu.ssp.model import (
    DictionaryEntry,
    DictionaryReference,
    MappingEntry,
    SsdComponent,
    SsdConnection,
    SsdElement,
    SsdSystem,
    Ssp,
    SspError,
    SsvParameter,
    SsvParameterSet,
)
from dockfmu.ssp.resolve import Resolved, contradictions, definitions, resolve
from dockfmu.ssp.validate import NO_UNIT, faults, remarks, repeated


def to_system(ssp: Ssp) -> tuple[Structure, list[str]]:
    """Return the system of a package, and notes on values without a variable and on unknown units.

    Nested systems are flattened, wherever they are defined: their elements are called "system.element". Bindings of an
    outer level take precedence over those of an inner one, and later over earlier ones of a level. If a connection
    passes through connectors of systems and signals of dictionaries, each hop converts units and transforms values.

    Raises SspError with all faults of the package, StructureError for a system that cannot be coupled.
    """
    problems = faults(ssp)
    if problems:
        raise SspError("\n".join(problems))
    resolved = resolve(ssp)
    system, notes = _Flattening(resolved, [*remarks(ssp), *resolved.notes]).run()
    system.budget = ssp.budget
    return system, notes


def apply_parameters(system: Structure, values: SsvParameterSet) -> list[str]:
    """Set start values of a system to the values of a set, named "element.variable".

    Returns a sentence, which begins with the name of the set, for each name that matches no variable or is given twice,
    and for each value that does not fit its variable.
    """
    problems = repeated(values)
    for parameter in values.parameters:
        element = owner(parameter.name, system.elements)
        if element is None:
            hint = did_you_mean(parameter.name.partition(".")[0], system.elements)
            problems.append(f"{parameter.name!r} names no element{hint}")
            continue
        name = parameter.name[len(element) + 1 :]
        description = system.description(element)
        variable = description.variables.get(name)
        if variable is None:
            problems.append(f"{element} has no variable {shown(name)}" + did_you_mean(name, description.variables))
            continue
        try:
            value = _value(
                parameter, _point(parameter, values), [Hop(_variable_point(description, variable))], variable
            )
        except StructureError as error:
            problems += error.problems
            continue
        if problem := check_value(variable, value):
            problems.append(f"{parameter.name} = {shown(value)}: {problem}")
        system.elements[element].start[name] = value
    return [f"{values.name}: {problem}" for problem in problems]


ConnectorPath = tuple[str, str]
"""A pair (path of an element, connector); the path of the root system is empty, that of a dictionary begins with #."""


@dataclass
class _Link:
    """The source of a connector, and the connection from that source."""

    source: ConnectorPath
    connection: SsdConnection


@dataclass
class _Flattening:
    """Flattening of a package, for `to_system`: element paths become element names."""

    package: Resolved
    notes: list[str] = field(default_factory=list)
    links: dict[ConnectorPath, _Link] = field(default_factory=dict)
    systems: dict[str, SsdSystem] = field(default_factory=dict)
    components: dict[str, SsdComponent] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    """Path of the dictionary of each reference."""
    signals: dict[ConnectorPath, DictionaryEntry] = field(default_factory=dict)

    def run(self) -> tuple[Structure, list[str]]:
        root = self.package.system
        self.coupled = Structure(root.name)
        self.systems[""] = root
        self._add_elements(root, "")
        for path, component in self.components.items():
            self._add_types(path, component)
        for path, system in self.systems.items():
            for connection in system.connections:
                self._add_link(system, path, connection)
        edges = [(link.source, target) for target, link in self.links.items()]
        for loop in loops(list(dict.fromkeys(node for edge in edges for node in edge)), edges):
            raise SspError(f"connectors form a loop without a source: {', '.join(_join(*node) for node in loop)}")
        for path, element in self.components.items():
            for connector in element.connectors:
                if connector.kind in ("input", "parameter"):
                    self._connect((path, connector.name))
        # inner levels first: later values take precedence
        self._bind(root, "")
        return self.coupled, self.notes

    def _add_elements(self, system: SsdSystem, path: str) -> None:
        for element in system.elements:
            inner = _join(path, element.name)
            if isinstance(element, SsdSystem):
                self.systems[inner] = element
                self._add_elements(element, inner)
            elif isinstance(element, SsdComponent):
                if element.implementation == "ModelExchange":
                    raise SspError(f"{inner} requires model exchange; this master runs only co-simulation FMUs")
                self.components[inner] = element
                settings = element_settings(element.annotations, inner)
                self.coupled.add(inner, self.package.files[element.source], **settings)
            else:
                self._add_signals(element, path)

    def _add_types(self, path: str, component: SsdComponent) -> None:
        """Give variables without a unit that of their connector; note connectors that contradict the FMU."""
        description = self.coupled.description(path)
        for connector in component.connectors:
            where, variable = f"{path}.{connector.name}", description.variables[connector.name]
            own, unit = description.unit(variable), self.package.units.get(connector.unit or "")
            if unit is not None and variable.relative:
                unit = replace(unit, offset=0.0)
            if unit is not None:
                known = own is not None and own.exponents is not None
                if own is None or (not known and own.name == unit.name):
                    self.coupled.elements[path].supplements[variable.name] = Supplement(unit)
                elif not own.same(unit):
                    self.notes.append(
                        f"{where}: the connector is in {unit.name}, the variable of the FMU in {own.name}; values are "
                        f"in {own.name}, the unit of the connector is ignored"
                    )
            items = self.package.enumerations.get(connector.enumeration or "", variable.items)
            if variable.type == "Enumeration" and dict(items) != dict(variable.items):
                self.notes.append(
                    f"{where}: the enumeration {connector.enumeration} of the connector differs from that of the FMU, "
                    f"{variable.declared_type}, whose items apply"
                )

    def _add_signals(self, reference: DictionaryReference, path: str) -> None:
        """Add the signals of a referenced dictionary, which is looked up by name from the system outwards."""
        scope = path
        while not any(d.name == reference.dictionary for d in self.systems[scope].dictionaries):
            if not scope:
                where = _join(path, reference.name)
                raise SspError(f"{where}: no system around it has a signal dictionary {reference.dictionary!r}")
            # the name of a system may contain dots
            scope = max((s for s in self.systems if not s or scope.startswith(s + ".")), key=len)
        bound = next(d for d in self.systems[scope].dictionaries if d.name == reference.dictionary)
        assert bound.dictionary is not None
        place = "#" + _join(scope, bound.name)
        self.references[_join(path, reference.name)] = place
        entries = {entry.name: entry for entry in bound.dictionary.entries}
        for connector in reference.connectors:
            entry = entries.get(connector.name)
            where = f"{_join(path, reference.name)}.{connector.name}"
            if entry is None:
                raise SspError(f"{where}: the dictionary has no such signal{did_you_mean(connector.name, entries)}")
            if connector.type not in (None, entry.type):
                raise SspError(f"{where}: the connector is {connector.type}, the signal {entry.type}")
            self.notes += contradictions(where, connector, entry, "signal", self.package.units)
            self.signals[place, entry.name] = entry

    def _add_link(self, system: SsdSystem, path: str, connection: SsdConnection) -> None:
        where = _join(path, str(connection))
        (start, start_gives), (end, end_gives) = (self._end(system, path, *end, where) for end in connection.ends)
        if start_gives is None and end_gives is None:
            raise SspError(f"{where} joins two connectors of kind inout: which of them is the source?")
        if start_gives == end_gives:
            raise SspError(f"{where} joins two {'sources' if start_gives else 'targets'}")
        from_start = start_gives if start_gives is not None else not end_gives
        source, target = (start, end) if from_start else (end, start)
        if target in self.links:
            other = self.links[target].connection
            raise StructureError([f"{where}: {_join(*target)} already has a source in {other}"])
        self.links[target] = _Link(source, connection)

    def _end(
        self, system: SsdSystem, path: str, name: str | None, which: str, where: str
    ) -> tuple[ConnectorPath, bool | None]:
        """Return the node, and whether it is a source; None for the kind inout, for which the other end decides."""
        owner: SsdElement = system if name is None else _existing(system.element(name))
        connector = next(c for c in owner.connectors if c.name == which)
        place = path if name is None else _join(path, name)
        place = self.references.get(place, place)
        if connector.kind == "inout":
            if not isinstance(owner, DictionaryReference):
                raise SspError(f"{where}: only signal dictionaries have connectors of kind inout")
            return (place, which), None
        # inside a system, its own inputs are sources and its own outputs are targets
        return (place, which), connector.gives != (name is None)

    def _connect(self, target: ConnectorPath) -> None:
        """Connect an input of an FMU to the output from which its links lead."""
        chain: list[tuple[ConnectorPath, SsdConnection]] = []
        node = target
        while node in self.links:
            link = self.links[node]
            chain.append((node, link.connection))
            node = link.source
        if not chain or node[0] not in self.components:
            return
        chain.reverse()
        names = ", ".join(str(connection) for _, connection in chain)
        description = self.coupled.description(node[0])
        if description.variables[node[1]].causality == "calculatedParameter":
            raise SspError(f"{names}: parameters calculated by an FMU cannot be passed to other FMUs")
        variable = self.coupled.description(target[0]).variables[target[1]]
        start, hops = self._at(node), [self._hop(end, connection) for end, connection in chain]
        settings: dict[str, Any] = {}
        for _, connection in chain:
            settings |= connection_settings(connection.annotations, str(connection))
        try:
            if variable.type != "Real":
                settings["table"] = table(start, hops, variable)
            elif len(hops) == 1:
                settings["factor"], settings["offset"] = affine(Point(), [replace(hops[0], end=Point())])
                settings["convert_units"] = not hops[0].suppress_unit_conversion
            else:
                settings["factor"], settings["offset"] = affine(start, hops)
                settings["convert_units"] = False
            self.coupled.connect(*node, *target, **settings)
        except ValueError as error:
            raise SspError(f"{names}: {error}") from None

    def _at(self, node: ConnectorPath) -> Point:
        """Return the unit and the enumeration of a node."""
        path, name = node
        if path in self.components:
            description = self.coupled.description(path)
            return _variable_point(description, description.variables[name])
        if node in self.signals:
            typed: Any = self.signals[node]
        else:
            typed = next(c for c in self.systems[path].connectors if c.name == name)
        return Point(self.package.units.get(typed.unit), self.package.enumerations.get(typed.enumeration, ()))

    def _hop(self, end: ConnectorPath, connection: SsdConnection) -> Hop:
        return Hop(self._at(end), connection.transformation, connection.suppress_unit_conversion)

    def _bind(self, element: SsdElement, path: str) -> None:
        if isinstance(element, SsdSystem):
            for child in element.elements:
                self._bind(child, _join(path, child.name))
        for binding in element.bindings:
            assert binding.values is not None
            for parameter in binding.values.parameters:
                for name, entry in binding.names(parameter):
                    self._apply(parameter, binding.values, name, entry, path)
            given = binding.values.parameters
            if given and not any(map(binding.names, given)):
                listed = ", ".join(parameter.name for parameter in given[:4]) + (", ..." if len(given) > 4 else "")
                self.notes.append(f"the values of {listed} are ignored: their parameter mapping has no entry for them")

    def _apply(
        self, parameter: SsvParameter, values: SsvParameterSet, name: str, entry: MappingEntry | None, path: str
    ) -> None:
        applied = False
        for node, first, hops in self._targets(path, name, []):
            applied = True
            variable = self.coupled.description(node[0]).variables[node[1]]
            mapped = Hop(first) if entry is None else Hop(first, entry.transformation, entry.suppress_unit_conversion)
            value = _value(parameter, _point(parameter, values), [mapped, *hops], variable)
            self.coupled.elements[node[0]].start[node[1]] = value
        if not applied:
            self.notes.append(f"the value of {_join(path, name)} is ignored: nothing has this name")

    def _targets(self, path: str, name: str, hops: list[Hop]) -> Iterator[tuple[ConnectorPath, Point, list[Hop]]]:
        """Yield the variables of FMUs to which a name at `path` refers, with the name's point and the hops from it."""
        if path in self.components:
            if name in self.coupled.description(path).variables:
                yield (path, name), self._at((path, name)), hops
            return
        if path in self.systems:
            if any(connector.name == name for connector in self.systems[path].connectors):
                for node, onward in self._fed((path, name), []):
                    yield node, self._at((path, name)), [*hops, *onward]
                return
            child = owner(name, [element.name for element in self.systems[path].elements])
            if child is not None:
                yield from self._targets(_join(path, child), name[len(child) + 1 :], hops)

    def _fed(self, node: ConnectorPath, hops: list[Hop]) -> Iterator[tuple[ConnectorPath, list[Hop]]]:
        """Yield the variables of FMUs that a node feeds, each with the hops to it."""
        if node[0] in self.components:
            yield node, hops
        for target, link in self.links.items():
            if link.source == node:
                yield from self._fed(target, [*hops, self._hop(target, link.connection)])


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _existing(element: SsdElement | None) -> SsdElement:
    assert element is not None
    return element


def _variable_point(description: Description, variable: Variable) -> Point:
    # with the offset of its unit, also of a difference: the whole path decides whether it applies
    return Point(description.unit(replace(variable, relative=False)), variable.items, variable.relative)


def _point(parameter: SsvParameter, values: SsvParameterSet) -> Point:
    """Return the unit and the enumeration of a value of a parameter set."""
    units, enumerations = definitions(values)
    items = enumerations.get(parameter.enumeration or "", ())
    if not parameter.unit or (parameter.unit == NO_UNIT and NO_UNIT not in units):
        return Point(None, items)
    return Point(units.get(parameter.unit, Unit(parameter.unit)), items)


_ACCEPTED: Mapping[str, tuple[type, ...]] = {
    "Real": (float, int), "Integer": (int,), "Boolean": (bool,), "Enumeration": (str, int), "String": (str,),
}  # fmt: skip
"""Python types that a variable of each type accepts; an Enumeration accepts the name or the number of an item."""


def _value(parameter: SsvParameter, start: Point, hops: list[Hop], variable: Variable) -> Any:
    """Return the value of a parameter in the type and unit of its variable. Raises StructureError."""
    where = f"parameter {parameter.name} = {shown(parameter.value)}"
    try:
        value = parameter.value if variable.type == "Real" else whole(parameter.value, start, hops)
        texts = variable.type == "String" and parameter.type != "String"
        if texts or type(value) not in _ACCEPTED[variable.type]:
            raise ValueError(f"it is a {parameter.type}, but {variable.name} is a {variable.type}")
        if variable.type != "Real":
            return item(value, variable)
        factor, offset = affine(start, hops)
        return factor * float(value) + offset
    except OverflowError:
        raise StructureError([f"{where}: must be a finite number"]) from None
    except ValueError as error:
        raise StructureError([f"{where}: {error}"]) from None
