"""A package turned into a system that the master runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from master.description import Description, Variable
from master.errors import StructureError
from master.order import loops
from master.system import System as Coupled
from master.units import Unit, conversion
from ssp.errors import SspError
from ssp.model import (
    FMU_TYPE,
    Component,
    Connection,
    Element,
    Linear,
    MappingEntry,
    Parameter,
    ParameterBinding,
    ParameterSet,
    Ssp,
    System,
    Table,
    Value,
)
from ssp.validate import faults, near, resource_path


def to_system(ssp: Ssp) -> tuple[Coupled, list[str]]:
    """The system of a package that was read, and notes on values that were left out because nothing has their name.

    Nested systems are flattened: their elements are called "system.element". Bindings of an outer level go before those
    of an inner one, later ones before earlier ones of the same level. Where a connection passes through connectors of
    systems, transformations add up, and units are converted from the first to the last variable.

    Raises SspError with all faults of the package, StructureError for a system that cannot be coupled.
    """
    found = faults(ssp)
    if found:
        raise SspError("\n".join(found))
    return _Flattening(ssp).run()


def apply_parameters(system: Coupled, values: ParameterSet) -> list[str]:
    """Put the values of a set, named "element.variable", over the start values of a system.

    Returns notes on names that nothing has. Raises StructureError for values that do not fit.
    """
    notes = []
    for parameter in values.parameters:
        element = _owner(parameter.name, system.elements)
        if element is None:
            hint = near(parameter.name.partition(".")[0], system.elements)
            notes.append(f"{values.name}: {parameter.name!r} names no element{hint}")
            continue
        name = parameter.name[len(element) + 1 :]
        variable = system.description(element).variables.get(name)
        if variable is None:
            known = system.description(element).variables
            notes.append(f"{values.name}: {element} has no variable {name!r}" + near(name, known))
        else:
            units = {unit.name: unit for unit in values.units}
            system.elements[element].start[name] = _value(parameter, variable, system.description(element), units)
    return notes


def _owner(name: str, elements: Iterable[str]) -> str | None:
    """The element whose name, and a dot, `name` begins with; the longest where there are several."""
    return max((element for element in elements if name.startswith(element + ".")), key=len, default=None)


Node = tuple[str, str]
"""(path of an element, connector); the path of the root system is empty"""


@dataclass
class _Link:
    """What feeds a connector."""

    source: Node
    connection: Connection


@dataclass
class _Binding:
    """One parameter for one element, mapped and prefixed."""

    parameter: Parameter
    name: str
    units: dict[str, Unit]
    entry: MappingEntry | None


@dataclass
class _Flattening:
    """The work of `to_system`: paths of elements in the package become names in the system."""

    ssp: Ssp
    notes: list[str] = field(default_factory=list)
    links: dict[Node, _Link] = field(default_factory=dict)
    systems: dict[str, System] = field(default_factory=dict)
    components: dict[str, Component] = field(default_factory=dict)

    def run(self) -> tuple[Coupled, list[str]]:
        root = self.ssp.description.system
        self.coupled = Coupled(root.name)
        self.systems[""] = root
        self._add_elements(root, "")
        for path, system in self.systems.items():
            for connection in system.connections:
                self._add_link(system, path, connection)
        edges = [(link.source, target) for target, link in self.links.items()]
        for loop in loops(list(dict.fromkeys(node for edge in edges for node in edge)), edges):
            raise SspError(f"connectors feed only each other: {', '.join(_join(*node) for node in loop)}")
        for path, element in self.components.items():
            for connector in element.connectors:
                if connector.kind == "input":
                    self._connect((path, connector.name))
        # inner levels first: what comes later wins
        self._bind(root, "")
        return self.coupled, self.notes

    def _add_elements(self, system: System, path: str) -> None:
        for element in system.elements:
            inner = _join(path, element.name)
            if isinstance(element, System):
                self.systems[inner] = element
                self._add_elements(element, inner)
            elif isinstance(element, Component) and element.type == FMU_TYPE:
                if element.implementation == "ModelExchange":
                    raise SspError(f"{inner} is to be run as model exchange; this master runs co-simulation FMUs")
                self.components[inner] = element
                self.coupled.add(inner, self.ssp.resources[resource_path(element.source)])
            else:
                kind = element.type if isinstance(element, Component) else "signal dictionary"
                raise SspError(f"{inner} is of type {kind}; only FMUs and systems inside the description can be run")

    def _add_link(self, system: System, path: str, connection: Connection) -> None:
        start = self._end(system, path, connection.start_element, connection.start_connector)
        end = self._end(system, path, connection.end_element, connection.end_connector)
        for _, kind in (start, end):
            if kind not in ("input", "output", "parameter", "calculatedParameter"):
                raise SspError(f"{_join(path, str(connection))}: connectors of kind {kind} cannot be run")
        # seen from inside a system its own inputs are sources, and its own outputs take values
        flows = [
            (kind in ("output", "calculatedParameter")) != (element is None)
            for (_, kind), element in ((start, connection.start_element), (end, connection.end_element))
        ]
        if flows[0] == flows[1]:
            raise SspError(f"{_join(path, str(connection))} joins two {'sources' if flows[0] else 'targets'}")
        source, target = (start[0], end[0]) if flows[0] else (end[0], start[0])
        if target in self.links:
            other = self.links[target].connection
            raise StructureError([f"{_join(path, str(connection))}: {_join(*target)} has a source already in {other}"])
        self.links[target] = _Link(source, connection)

    def _end(self, system: System, path: str, name: str | None, connector: str) -> tuple[Node, str]:
        owner: Element = system if name is None else _known(system.element(name))
        kind = next(c.kind for c in owner.connectors if c.name == connector)
        return (path if name is None else _join(path, name), connector), kind

    def _connect(self, target: Node) -> None:
        """Follow the links from an input of an FMU back to the output of another."""
        chain: list[Connection] = []
        node = target
        while node in self.links:
            link = self.links[node]
            chain.append(link.connection)
            node = link.source
        if not chain or node[0] not in self.components:
            return
        factor, offset = 1.0, 0.0
        for connection in reversed(chain):
            if isinstance(connection.transformation, Table):
                raise SspError(f"connection {connection}: tables of values are applied to parameters only")
            if connection.transformation is not None:
                factor *= connection.transformation.factor
                offset = connection.transformation.factor * offset + connection.transformation.offset
        convert = not any(connection.suppress_unit_conversion for connection in chain)
        self.coupled.connect(*node, *target, factor=factor, offset=offset, convert_units=convert)

    def _bind(self, element: Element, path: str) -> None:
        if isinstance(element, System):
            for child in element.elements:
                self._bind(child, _join(path, child.name))
        for binding in element.bindings:
            for bound in self._values(element, binding, path):
                self._apply(bound, path)

    def _values(self, element: Element, binding: ParameterBinding, path: str) -> Iterable[_Binding]:
        if binding.source_base == "component" and (binding.source or binding.mapping_source):
            raise SspError(f"{path}: parameter sets inside an FMU are not read")
        values, mapping = binding.values, binding.mapping
        if binding.source is not None:
            values = self.ssp.parameter_sets[resource_path(binding.source)]
        if binding.mapping_source is not None:
            mapping = self.ssp.mappings[resource_path(binding.mapping_source)]
        assert values is not None
        units = {unit.name: unit for unit in [*self.ssp.description.units, *values.units]}
        for parameter in values.parameters:
            name = binding.prefix + parameter.name
            if mapping is None:
                yield _Binding(parameter, name, units, None)
            else:
                yield from (_Binding(parameter, e.target, units, e) for e in mapping.entries if e.source == name)

    def _apply(self, bound: _Binding, path: str) -> None:
        targets = list(self._targets(path, bound.name))
        if not targets:
            self.notes.append(f"the value of {_join(path, bound.name)} is left out: nothing has this name")
        for element, name in targets:
            description = self.coupled.description(element)
            value = _value(bound.parameter, description.variables[name], description, bound.units, bound.entry)
            self.coupled.elements[element].start[name] = value

    def _targets(self, path: str, name: str) -> Iterable[Node]:
        """The variables of FMUs that a hierarchical name at `path` means."""
        if path in self.components:
            if name in self.coupled.description(path).variables:
                yield path, name
            return
        system = self.systems[path]
        if any(connector.name == name for connector in system.connectors):
            for target, link in self.links.items():
                if link.source == (path, name):
                    yield from self._targets(*target)
            return
        child = _owner(name, (element.name for element in system.elements))
        if child is not None:
            yield from self._targets(_join(path, child), name[len(child) + 1 :])


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _known(element: Element | None) -> Element:
    assert element is not None
    return element


def _value(
    parameter: Parameter,
    variable: Variable,
    description: Description,
    units: Mapping[str, Unit],
    entry: MappingEntry | None = None,
) -> Any:
    """The value of a parameter in type and unit of the variable that takes it. Raises StructureError."""
    where = f"parameter {parameter.name}"
    value: Any = parameter.value
    if entry is not None and isinstance(entry.transformation, Table):
        value = dict(entry.transformation.entries).get(value, value)
    if variable.type == "Enumeration":
        return _item(value, variable, where)
    if variable.type == "String" or parameter.type == "String":
        if variable.type != parameter.type:
            raise StructureError([f"{where} is a {parameter.type}, {variable.name} a {variable.type}"])
        return value
    if variable.type == "Real":
        value = float(value)
        wanted = description.unit(variable)
        if parameter.unit is not None and wanted is not None and not (entry and entry.suppress_unit_conversion):
            try:
                factor, offset = conversion(units.get(parameter.unit, Unit(parameter.unit)), wanted)
            except ValueError as error:
                raise StructureError([f"{where}: {error}"]) from None
            value = factor * value + offset
        if entry is not None and isinstance(entry.transformation, Linear):
            value = entry.transformation.factor * value + entry.transformation.offset
    return value


def _item(value: Value, variable: Variable, where: str) -> int:
    items = dict(variable.items)
    if isinstance(value, str):
        if value not in items:
            raise StructureError([f"{where} = {value!r} is none of {', '.join(items)}" + near(value, items)])
        return items[value]
    return int(value)
