"""What our master knows of elements and connections beyond the standard, as annotations that other tools pass over."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from master.system import Connection, Element
from ssp.errors import SspError
from ssp.model import Annotation

ELEMENT = "org.dockfmu.element"
CONNECTION = "org.dockfmu.connection"

# keyword arguments of System.add and System.connect, with the type of each
_ELEMENT: dict[str, type] = {"substeps": int, "every": int, "process": bool, "timeout": float}
_CONNECTION: dict[str, type] = {"mean": bool}

# what JSON has for each type: 5 is a number of seconds, too
_WRITTEN: dict[type, tuple[type, ...]] = {bool: (bool,), int: (int,), float: (int, float)}


def of_element(element: Element) -> list[Annotation]:
    """One annotation where the element is not run in the plain way."""
    return _annotations(ELEMENT, element, _ELEMENT)


def of_connection(connection: Connection) -> list[Annotation]:
    return _annotations(CONNECTION, connection, _CONNECTION)


def element_settings(annotations: Iterable[Annotation], where: str) -> dict[str, Any]:
    """Keyword arguments for System.add. Raises SspError for an annotation that says something else."""
    return _settings(ELEMENT, annotations, _ELEMENT, where)


def connection_settings(annotations: Iterable[Annotation], where: str) -> dict[str, Any]:
    """Keyword arguments for System.connect. Raises SspError for an annotation that says something else."""
    return _settings(CONNECTION, annotations, _CONNECTION, where)


def _annotations(kind: str, item: Element | Connection, known: Mapping[str, type]) -> list[Annotation]:
    defaults = {field.name: field.default for field in fields(item)}
    changed = {name: getattr(item, name) for name in known if getattr(item, name) != defaults[name]}
    return [Annotation.of_text(kind, json.dumps(changed, sort_keys=True))] if changed else []


def _settings(kind: str, annotations: Iterable[Annotation], known: Mapping[str, type], where: str) -> dict[str, Any]:
    text = next((annotation.text for annotation in annotations if annotation.type == kind), "{}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SspError(f"{where}: its annotation {kind} cannot be read ({error})") from None
    if not isinstance(found, dict):
        raise SspError(f"{where}: its annotation {kind} is no table")
    for name, value in found.items():
        if name not in known or type(value) not in _WRITTEN[known[name]]:
            raise SspError(f"{where}: its annotation {kind} says {name} = {value!r}")
        if not isinstance(value, bool) and not 0 < value < float("inf"):
            raise SspError(f"{where}: its annotation {kind} says {name} = {value!r}, which is not positive")
    return found
