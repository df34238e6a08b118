"""Annotations for settings that the standard does not cover: of elements, of connections, and the macro step.

Other tools ignore those of elements and connections. The macro step is written and read as libcosim and OMSimulator do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from dockfmu.base.number_text import strict_json, xml_double
from dockfmu.master.fmi.archive import parse_xml
from dockfmu.master.system import Connection, Element
from dockfmu.ssp.model import Annotation, SspError, StructureDescription

ELEMENT = "org.dockfmu.element"
CONNECTION = "org.dockfmu.connection"

# keyword arguments of Structure.add and Structure.connect, and their types
_ELEMENT: dict[str, type] = {"substeps": int, "every": int, "process": bool, "timeout": float}
_CONNECTION: dict[str, type] = {"mean": bool}

# types in JSON for each type: an int is also a valid number of seconds
_WRITTEN: dict[type, tuple[type, ...]] = {bool: (bool,), int: (int,), float: (int, float)}


def element_annotations(element: Element) -> list[Annotation]:
    """Return one annotation if the element has settings that the standard does not cover."""
    return _annotations(ELEMENT, element, _ELEMENT)


def connection_annotations(connection: Connection) -> list[Annotation]:
    """Return one annotation if the connection has settings that the standard does not cover."""
    return _annotations(CONNECTION, connection, _CONNECTION)


def element_settings(annotations: Iterable[Annotation], where: str) -> dict[str, Any]:
    """Return keyword arguments for `Structure.add`; `where` names the element in SspErrors for invalid content."""
    return _settings(ELEMENT, annotations, _ELEMENT, where)


def connection_settings(annotations: Iterable[Annotation], where: str) -> dict[str, Any]:
    """Return keyword arguments for `Structure.connect`.

    `where` names the connection in SspErrors for invalid content.
    """
    return _settings(CONNECTION, annotations, _CONNECTION, where)


def _annotations(kind: str, item: Element | Connection, known: Mapping[str, type]) -> list[Annotation]:
    defaults = {field.name: field.default for field in fields(item)}
    changed = {name: getattr(item, name) for name in known if getattr(item, name) != defaults[name]}
    return [Annotation.of_text(kind, json.dumps(changed, sort_keys=True))] if changed else []


def _settings(kind: str, annotations: Iterable[Annotation], known: Mapping[str, type], where: str) -> dict[str, Any]:
    text = next((annotation.text for annotation in annotations if annotation.type == kind), "{}")
    try:
        settings = strict_json(text)
    except (ValueError, RecursionError) as error:
        raise SspError(f"{where}: its annotation {kind} cannot be read ({error})") from None
    if not isinstance(settings, dict):
        raise SspError(f"{where}: its annotation {kind} is not a table")
    for name, value in settings.items():
        if name not in known or type(value) not in _WRITTEN[known[name]]:
            raise SspError(f"{where}: its annotation {kind} says {name} = {value!r}")
        if not isinstance(value, bool) and not 0 < value < float("inf"):
            raise SspError(f"{where}: its annotation {kind} says {name} = {value!r}, which is not positive")
    return settings


OPEN_SIMULATION_PLATFORM = "com.opensimulationplatform"
OMSIMULATOR = "org.openmodelica"
_OSP = "http://opensimulationplatform.com/SSP/OSPAnnotations"
_OMS = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"


def libcosim_step(step: float) -> Annotation:
    """Return the annotation of the default experiment from which libcosim takes its macro step, s."""
    return Annotation(
        OPEN_SIMULATION_PLATFORM,
        f'<osp:Algorithm xmlns:osp="{_OSP}"><osp:FixedStepAlgorithm baseStepSize="{step!r}"></osp:FixedStepAlgorithm>'
        "</osp:Algorithm>",
    )


def omsimulator_step(step: float) -> Annotation:
    """Return the annotation with the macro step, s, without which OMSimulator refuses a system.

    It must be the first annotation of the system.
    """
    return Annotation(
        OMSIMULATOR,
        f'<oms:Annotations xmlns:oms="{_OMS}"><oms:SimulationInformation>'
        f'<oms:FixedStepMaster absoluteTolerance="0.0001" description="oms-ma" relativeTolerance="0.0001" '
        f'stepSize="{step!r}"></oms:FixedStepMaster></oms:SimulationInformation></oms:Annotations>',
    )


def requested_step(description: StructureDescription) -> float | None:
    """Return the macro step, s, that annotations of libcosim or OMSimulator request, or None.

    Raises SspError for a text that is not a positive number.
    """
    for annotation in [*description.experiment_annotations, *description.system.annotations]:
        for text in _attributes(annotation):
            try:
                step = xml_double(text)
            except ValueError:
                step = math.nan
            if not 0.0 < step < math.inf:
                raise SspError(f"annotation {annotation.type}: the step {text!r} is not a positive number of seconds")
            return step
    return None


def _attributes(annotation: Annotation) -> Iterator[str]:
    if annotation.type in (OPEN_SIMULATION_PLATFORM, OMSIMULATOR) and annotation.content:
        for element in parse_xml(annotation.content.encode(), annotation.type).iter():
            for key in ("baseStepSize", "stepSize"):
                if key in element.attrib:
                    yield str(element.attrib[key])
