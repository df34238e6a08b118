"""Turn a system of the master into a package that other tools can open, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from dockfmu.base.file_names import file_name
from dockfmu.base.units import Unit
from dockfmu.master.fmi.description import Description, Variable
from dockfmu.master.system import Connection, Structure
from dockfmu.ssp.annotations import connection_annotations, element_annotations, libcosim_step, omsimulator_step
from dockfmu.ssp.layout import arrange
from dockfmu.ssp.model import (
    Annotation,
    Connector,
    Enumeration,
    LinearTransformation,
    MappingTable,
    ParameterBinding,
    SsdComponent,
    SsdConnection,
    SsdElement,
    SsdSystem,
    Ssp,
    SsvParameter,
    SsvParameterSet,
    StructureDescription,
    Transformation,
    UnitDefinition,
    VariableType,
)

_CONVERT: dict[str, Callable[[Any], float | int | bool | str]] = {
    "Real": float,
    "Integer": int,
    "Boolean": bool,
    "String": str,
}


def from_system(
    system: Structure,
    *,
    start_time: float | None = None,
    stop_time: float | None = None,
    step: float | None = None,
    annotations: Iterable[Annotation] = (),
    description: str | None = None,
) -> Ssp:
    """Return a system as a package, with a diagram; elements are in their order of execution.

    Start values are written twice, because no tool reads both: as `resources/<system>.ssv`, bound to the system, and
    inside the description at each component, in sets that all have the name of the system. By the standard, the first
    has precedence. `step` adds the annotations from which libcosim and OMSimulator take it; OMSimulator refuses
    packages without one. Unconnected connectors of type Enumeration are left out, because libcosim fails on them.
    """
    catalogue = _Catalogue()
    resources: dict[str, Path] = {}
    elements: list[SsdElement] = []
    joined = {end for c in system.connections for end in ((c.source, c.output), (c.target, c.input))}
    for name in system.execution_order():
        element = system.elements[name]
        source = _resource(element.file, resources)
        variables = system.description(name)
        connectors = [
            catalogue.connector(variables, variable)
            for variable in variables.select("input", "output")
            if variable.type != "Enumeration" or (name, variable.name) in joined
        ]
        own = [_plain(variables.variables[key], key, value) for key, value in element.start.items()]
        inline = [ParameterBinding(values=SsvParameterSet(system.name, own))] if own else []
        elements.append(
            SsdComponent(
                name,
                source,
                connectors=connectors,
                bindings=inline,
                description=variables.description or None,
                annotations=element_annotations(element),
            )
        )
    connections = [
        SsdConnection(
            c.source,
            c.output,
            c.target,
            c.input,
            transformation=_transformation(system, c),
            suppress_unit_conversion=not c.convert_units,
            annotations=connection_annotations(c),
        )
        for c in system.connections
    ]
    values = _all_values(system)
    place = f"resources/{file_name(system.name)}.ssv"
    root = SsdSystem(
        system.name,
        elements=elements,
        connections=connections,
        bindings=[ParameterBinding(source=place)] if values.parameters else [],
        annotations=[omsimulator_step(step)] if step is not None else [],
    )
    structure = StructureDescription(
        system.name,
        arrange(root),
        enumerations=list(catalogue.enumerations.values()),
        units=[UnitDefinition(unit) for unit in catalogue.units.values()],
        start_time=start_time,
        stop_time=stop_time,
        experiment_annotations=[libcosim_step(step)] if step is not None else [],
        description=description,
        annotations=list(annotations),
    )
    return Ssp(structure, {place: values} if values.parameters else {}, resources=resources)


def _transformation(system: Structure, connection: Connection) -> Transformation | None:
    if connection.table:
        source = system.description(connection.source).variables[connection.output]
        if source.type == "Boolean":
            return MappingTable("Boolean", tuple((bool(a), bool(b)) for a, b in connection.table))
        return MappingTable("Integer", connection.table)
    linear = LinearTransformation(connection.factor, connection.offset)
    return None if linear == LinearTransformation() else linear


def _resource(file: Path, resources: dict[str, Path]) -> str:
    """Return the path of an FMU in the package; different files of equal names are numbered."""
    count, name = 1, f"resources/{file.name}"
    while name in resources and resources[name] != file:
        count += 1
        name = f"resources/{file.stem}-{count}{file.suffix}"
    resources[name] = file
    return name


@dataclass
class _Catalogue:
    """The units and enumerations that the connectors of a description use, by name."""

    units: dict[str, Unit] = field(default_factory=dict)
    enumerations: dict[str, Enumeration] = field(default_factory=dict)

    def unit(self, unit: Unit | None) -> str | None:
        """Define a unit and return its name; None if another unit has that name, or if it has no SI exponents."""
        if unit is None or unit.exponents is None:
            return None
        plain = Unit(unit.name, unit.exponents, unit.factor, unit.offset)
        return unit.name if self.units.setdefault(unit.name, plain) == plain else None

    def connector(self, description: Description, variable: Variable) -> Connector:
        """Return the connector of a variable, and define its unit and enumeration."""
        connector = Connector(
            variable.name,
            "input" if variable.causality == "input" else "output",
            type=cast(VariableType, variable.type),
            unit=self.unit(description.unit(variable)),
            description=variable.description or None,
        )
        if variable.type == "Enumeration":
            name = variable.declared_type or variable.name
            enumeration = Enumeration(name, variable.items)
            if self.enumerations.setdefault(name, enumeration) != enumeration:
                connector.enumeration = f"{description.identifier}.{name}"
                self.enumerations[connector.enumeration] = Enumeration(connector.enumeration, variable.items)
            else:
                connector.enumeration = name
        return connector


def _parameter(variable: Variable, name: str, value: Any, unit: str | None = None) -> SsvParameter:
    if variable.type == "Enumeration":
        names = {number: item for item, number in variable.items}
        return SsvParameter(name, "Enumeration", names.get(int(value), str(value)))
    return SsvParameter(name, cast(VariableType, variable.type), _CONVERT[variable.type](value), unit)


def _plain(variable: Variable, name: str, value: Any) -> SsvParameter:
    """Return a parameter without enumeration and unit, which few tools can read."""
    kind = "Integer" if variable.type == "Enumeration" else variable.type
    return SsvParameter(name, cast(VariableType, kind), _CONVERT[kind](value))


def _all_values(system: Structure) -> SsvParameterSet:
    catalogue = _Catalogue()
    parameters = []
    for name in system.execution_order():
        description = system.description(name)
        for key, value in system.elements[name].start.items():
            variable = description.variables[key]
            unit = catalogue.unit(description.unit(variable))
            parameters.append(_parameter(variable, f"{name}.{key}", value, unit))
    return SsvParameterSet(system.name, parameters, units=[UnitDefinition(unit) for unit in catalogue.units.values()])
