"""Checks of a package beyond the schemas: does everything that is referred to exist?"""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from master.archive import members
from master.description import Description, read_description
from master.errors import MasterError
from ssp.model import Component, Connector, Element, Ssp, System
from ssp.read import read_ssp


def validate(file: Path) -> list[str]:
    """What is wrong with a package, one sentence each; empty if nothing is."""
    try:
        members(Path(file))
        with tempfile.TemporaryDirectory(prefix="ssp-") as folder:
            return faults(read_ssp(file, Path(folder)))
    except MasterError as error:
        return [str(error)]


def resource_path(source: str) -> str:
    """The path in the package that a relative URI names. Raises ValueError, with the reason, for other URIs."""
    parts = urlsplit(source)
    if parts.scheme or parts.netloc:
        raise ValueError(f"{source!r} is no relative path in the package")
    if not parts.path:
        raise ValueError(f"{source!r} refers into the description itself, which is not supported")
    path = PurePosixPath(unquote(parts.path))
    if path.is_absolute() or ".." in path.parts or "\\" in str(path):
        raise ValueError(f"{source!r} points out of the package")
    return str(path)


def faults(ssp: Ssp) -> list[str]:
    """What is wrong with a package that has been read."""
    return list(_system(ssp, ssp.description.system, ssp.description.system.name))


def near(name: str, names: Iterable[str]) -> str:
    """ "; did you mean ...?" with the names most like `name`, if there are any."""
    found = difflib.get_close_matches(name, list(names), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(found)}?" if found else ""


def _system(ssp: Ssp, system: System, path: str) -> Iterable[str]:
    names = [element.name for element in system.elements]
    yield from (f"{path}: two elements are called {name!r}" for name in sorted(set(names)) if names.count(name) > 1)
    for element in system.elements:
        yield from _element(ssp, element, f"{path}.{element.name}")
    yield from _bindings(ssp, system, path)
    yield from _connectors(ssp, system, path)
    for connection in system.connections:
        for name, connector in (
            (connection.start_element, connection.start_connector),
            (connection.end_element, connection.end_connector),
        ):
            owner: Element | None = system if name is None else system.element(name)
            if owner is None:
                yield f"{path}, connection {connection}: there is no element {name!r}" + near(name or "", names)
            elif not any(c.name == connector for c in owner.connectors):
                known = [c.name for c in owner.connectors]
                yield f"{path}, connection {connection}: {owner.name} has no connector {connector!r}" + near(
                    connector, known
                )


def _element(ssp: Ssp, element: Element, path: str) -> Iterable[str]:
    if isinstance(element, System):
        yield from _system(ssp, element, path)
        return
    yield from _bindings(ssp, element, path)
    yield from _connectors(ssp, element, path)
    if isinstance(element, Component):
        try:
            name = resource_path(element.source)
        except ValueError as error:
            yield f"{path}: its source {error}"
            return
        if name not in ssp.resources:
            yield f"{path}: the package holds no {name}" + near(name, ssp.resources)
        elif name.endswith(".fmu"):
            try:
                description = read_description(ssp.resources[name])
            except MasterError as error:
                yield f"{path}: {error}"
                return
            for connector in element.connectors:
                yield from _against(description, connector, path)


def _against(description: Description, connector: Connector, path: str) -> Iterable[str]:
    """Does a connector fit the variable of the FMU?"""
    variable = description.variables.get(connector.name)
    if variable is None:
        yield f"{path}: its FMU has no variable {connector.name!r}" + near(connector.name, description.variables)
    elif connector.type is not None and connector.type != variable.type:
        yield f"{path}.{connector.name}: the connector is {connector.type}, the variable of the FMU {variable.type}"
    elif connector.kind in ("input", "output") and connector.kind != variable.causality:
        yield f"{path}.{connector.name}: the connector is an {connector.kind}, the variable a {variable.causality}"


def _connectors(ssp: Ssp, element: Element, path: str) -> Iterable[str]:
    names = [connector.name for connector in element.connectors]
    yield from (f"{path}: two connectors are called {name!r}" for name in sorted(set(names)) if names.count(name) > 1)
    units = {unit.name for unit in ssp.description.units}
    enumerations = {enumeration.name for enumeration in ssp.description.enumerations}
    for connector in element.connectors:
        if connector.unit is not None and connector.unit not in units:
            yield f"{path}.{connector.name}: the description does not define the unit {connector.unit!r}"
        if connector.enumeration is not None and connector.enumeration not in enumerations:
            yield f"{path}.{connector.name}: the description does not define the enumeration {connector.enumeration!r}"


def _bindings(ssp: Ssp, element: Element, path: str) -> Iterable[str]:
    for binding in element.bindings:
        if binding.source_base == "component":
            continue
        for source, known, kind in (
            (binding.source, ssp.parameter_sets, "parameter set"),
            (binding.mapping_source, ssp.mappings, "parameter mapping"),
        ):
            if source is None:
                continue
            try:
                name = resource_path(source)
            except ValueError as error:
                yield f"{path}: a {kind} {error}"
            else:
                if name not in known:
                    yield f"{path}: the package holds no {kind} {name}" + near(name, known)
        if binding.source is None and binding.values is None:
            yield f"{path}: a parameter binding without source and values"
