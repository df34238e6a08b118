"""Read SSP 1.0 documents (SSD, SSV, SSM, SSB) from XML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from math import isfinite
from typing import Any, TypeVar, cast

from lxml import etree

from dockfmu.base.number_text import xml_boolean, xml_double, xml_integer, xml_list
from dockfmu.base.units import BASE_UNITS, Unit, UnitError
from dockfmu.ssp.model import (
    Annotation,
    BoundDictionary,
    BoundMapping,
    Connector,
    DictionaryEntry,
    DictionaryReference,
    Enumeration,
    Geometry,
    LinearTransformation,
    MappingEntry,
    MappingTable,
    Metadata,
    Note,
    ParameterBinding,
    ParameterMapping,
    SignalDictionary,
    SsdComponent,
    SsdConnection,
    SsdElement,
    SsdSystem,
    SspError,
    SsvParameter,
    SsvParameterSet,
    StructureDescription,
    Transformation,
    UnitDefinition,
    Value,
    VariableType,
)
from dockfmu.ssp.schema import PREFIXES, SSB, SSC, SSD, SSM, SSV, parse

T = TypeVar("T")


def read_description(data: bytes, where: str) -> StructureDescription:
    """Return the SSD document in `data`; `where` names it in the SspError if it is invalid."""
    root = parse(data, where, f"{{{SSD}}}SystemStructureDescription")
    system = _child(root, "ssd:System")
    experiment = _child(root, "ssd:DefaultExperiment")
    assert system is not None
    with _named(where):
        return StructureDescription(
            name=root.get("name", ""),
            system=_system(system),
            start_time=_float(experiment, "startTime"),
            stop_time=_float(experiment, "stopTime"),
            experiment_annotations=_annotations(experiment, "ssd"),
            **_definitions(root, "ssd"),
            **_document(root, "ssd"),
        )


def read_parameter_set(data: bytes, where: str) -> SsvParameterSet:
    """Return the SSV document in `data`; `where` names it in the SspError if it is invalid."""
    root = parse(data, where, f"{{{SSV}}}ParameterSet")
    with _named(where):
        return _parameter_set(root)


def read_parameter_mapping(data: bytes, where: str) -> ParameterMapping:
    """Return the SSM document in `data`; `where` names it in the SspError if it is invalid."""
    root = parse(data, where, f"{{{SSM}}}ParameterMapping")
    with _named(where):
        return _parameter_mapping(root)


def read_signal_dictionary(data: bytes, where: str) -> SignalDictionary:
    """Return the SSB document in `data`; `where` names it in the SspError if it is invalid."""
    root = parse(data, where, f"{{{SSB}}}SignalDictionary")
    with _named(where):
        return _signal_dictionary(root)


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Put the name of the document before an error of what it holds, which knows the line alone."""
    try:
        yield
    except SspError as error:
        raise SspError(f"{where}: {error}") from error


def _child(element: etree._Element | None, path: str) -> etree._Element | None:
    return None if element is None else element.find(path, PREFIXES)


def _children(element: etree._Element | None, path: str) -> list[etree._Element]:
    return [] if element is None else element.findall(path, PREFIXES)


def _convert(element: etree._Element | None, key: str, convert: Callable[[str], T], default: T) -> T:
    text = None if element is None else element.get(key)
    return default if text is None or element is None else _converted(element, text, convert)


def _converted(element: etree._Element, text: str, convert: Callable[[str], T]) -> T:
    """Convert a text of an element: libxml2 takes some, such as 1e, for numbers that are none."""
    try:
        return convert(text)
    except ValueError as error:
        tag = etree.QName(element).localname
        raise SspError(f"line {element.sourceline}, {tag}: {text!r} is not a valid value") from error


def _float(element: etree._Element | None, key: str) -> float | None:
    return _convert(element, key, xml_double, None)


def _number(element: etree._Element, key: str, default: float = 0.0) -> float:
    return _convert(element, key, xml_double, default)


def _annotations(element: etree._Element | None, prefix: str) -> list[Annotation]:
    found = _children(element, f"{prefix}:Annotations/ssc:Annotation")
    return [Annotation(a.get("type", ""), _xml(a[0]) if len(a) else "") for a in found]


def _xml(element: etree._Element) -> str:
    """Return the XML of an element in a form that is independent of its place and layout in the document."""
    element = deepcopy(element)
    for node in element.iter():
        if len(node) and not (node.text or "").strip():
            node.text = None
        if not (node.tail or "").strip():
            node.tail = None
    try:
        return etree.tostring(element, method="c14n", exclusive=True, with_tail=False).decode()
    except etree.C14NError as error:
        raise SspError(
            f"line {element.sourceline}, {element.tag}: {error}; are its namespaces absolute URIs?"
        ) from error


def _described(element: etree._Element) -> dict[str, Any]:
    return {"id": element.get("id"), "description": element.get("description")}


def _annotated(element: etree._Element, prefix: str) -> dict[str, Any]:
    return {"annotations": _annotations(element, prefix), **_described(element)}


def _document(root: etree._Element, prefix: str) -> dict[str, Any]:
    keys = ("author", "fileversion", "copyright", "license", "generationTool", "generationDateAndTime")
    metadata = Metadata(*(root.get(key) for key in keys))
    return {"version": root.get("version", ""), "metadata": metadata, **_annotated(root, prefix)}


def _definitions(root: etree._Element, prefix: str) -> dict[str, Any]:
    return {
        "enumerations": [_enumeration(e) for e in _children(root, f"{prefix}:Enumerations/ssc:Enumeration")],
        "units": [_unit(u) for u in _children(root, f"{prefix}:Units/ssc:Unit")],
    }


def _enumeration(element: etree._Element) -> Enumeration:
    items = tuple(
        (item.get("name", ""), _convert(item, "value", xml_integer, 0)) for item in _children(element, "ssc:Item")
    )
    return Enumeration(element.get("name", ""), items, **_annotated(element, "ssc"))


def _unit(element: etree._Element) -> UnitDefinition:
    base = element[0]
    exponents = tuple(_convert(base, key, xml_integer, 0) for key in BASE_UNITS)
    try:
        unit = Unit(element.get("name", ""), exponents, _number(base, "factor", 1.0), _number(base, "offset"))
    except UnitError as error:
        raise SspError(str(error)) from error
    return UnitDefinition(unit, **_annotated(element, "ssc"))


def _corners(element: etree._Element) -> dict[str, float]:
    return {key: _number(element, key) for key in ("x1", "y1", "x2", "y2")}


def _geometry(element: etree._Element) -> Geometry | None:
    found = _child(element, "ssd:ElementGeometry")
    if found is None:
        return None
    return Geometry(
        **_corners(found),
        rotation=_number(found, "rotation"),
        icon_source=found.get("iconSource"),
        icon_rotation=_number(found, "iconRotation"),
        icon_flip=_convert(found, "iconFlip", xml_boolean, False),
        icon_fixed_aspect_ratio=_convert(found, "iconFixedAspectRatio", xml_boolean, False),
    )


def _common(element: etree._Element) -> dict[str, Any]:
    """Return the arguments common to components, systems and references."""
    return {
        "name": element.get("name", ""),
        "connectors": [_connector(c) for c in _children(element, "ssd:Connectors/ssd:Connector")],
        "bindings": [_binding(b) for b in _children(element, "ssd:ParameterBindings/ssd:ParameterBinding")],
        "geometry": _geometry(element),
        **_annotated(element, "ssd"),
    }


def _element(element: etree._Element) -> SsdElement:
    kind = etree.QName(element).localname
    if kind == "System":
        return _system(element)
    if kind == "SignalDictionaryReference":
        return DictionaryReference(dictionary=element.get("dictionary", ""), **_common(element))
    defaults = SsdComponent("", "")
    return SsdComponent(
        source=element.get("source", ""),
        type=element.get("type", defaults.type),
        implementation=cast(Any, element.get("implementation", defaults.implementation)),
        **_common(element),
    )


def _system(element: etree._Element) -> SsdSystem:
    diagram = _child(element, "ssd:SystemGeometry")
    return SsdSystem(
        elements=[_element(child) for child in _children(element, "ssd:Elements/*")],
        connections=[_connection(c) for c in _children(element, "ssd:Connections/ssd:Connection")],
        diagram=None if diagram is None else cast(Any, tuple(_corners(diagram).values())),
        notes=[
            Note(**_corners(note), text=note.get("text", ""))
            for note in _children(element, "ssd:GraphicalElements/ssd:Note")
        ],
        dictionaries=[_dictionary(d) for d in _children(element, "ssd:SignalDictionaries/ssd:SignalDictionary")],
        **_common(element),
    )


def _dictionary(element: etree._Element) -> BoundDictionary:
    inline = _child(element, "ssb:SignalDictionary")
    return BoundDictionary(
        name=element.get("name", ""),
        source=element.get("source") or None,
        dictionary=None if inline is None else _signal_dictionary(inline),
        type=element.get("type", BoundDictionary("").type),
        content=_content(element, inline),
        **_described(element),
    )


def _content(element: etree._Element | None, known: etree._Element | None) -> tuple[str, ...]:
    """Return the XML of the children of an element, or nothing if they are the standard document `known`."""
    return () if element is None or known is not None else tuple(_xml(child) for child in element)


def _type(element: etree._Element) -> dict[str, Any]:
    kind = next((child for child in element if etree.QName(child).namespace == SSC), None)
    return {
        "type": None if kind is None else etree.QName(kind).localname,
        "unit": None if kind is None else kind.get("unit"),
        "enumeration": None if kind is None else kind.get("name"),
        "mime_type": None if kind is None else kind.get("mime-type"),
    }


def _connector(element: etree._Element) -> Connector:
    place = _child(element, "ssd:ConnectorGeometry")
    return Connector(
        name=element.get("name", ""),
        kind=cast(Any, element.get("kind", "")),
        position=None if place is None else (_number(place, "x"), _number(place, "y")),
        **_type(element),
        **_annotated(element, "ssd"),
    )


def _connection(element: etree._Element) -> SsdConnection:
    geometry = _child(element, "ssd:ConnectionGeometry")
    points = None
    if geometry is not None:
        xs, ys = (
            _converted(geometry, geometry.get(key, ""), lambda text: xml_list(text, xml_double))
            for key in ("pointsX", "pointsY")
        )
        # a line that cannot be drawn is drawn as one without geometry
        points = (xs, ys) if len(xs) == len(ys) and all(map(isfinite, (*xs, *ys))) else None
    return SsdConnection(
        element.get("startElement"),
        element.get("startConnector", ""),
        element.get("endElement"),
        element.get("endConnector", ""),
        transformation=_transformation(element),
        suppress_unit_conversion=_convert(element, "suppressUnitConversion", xml_boolean, False),
        waypoints=points,
        **_annotated(element, "ssd"),
    )


_VALUES: dict[str, Callable[[str], Value]] = {"Real": xml_double, "Integer": xml_integer, "Boolean": xml_boolean}


def _transformation(element: etree._Element) -> Transformation | None:
    found = next((child for child in element if str(child.tag).endswith("Transformation")), None)
    if found is None:
        return None
    name = etree.QName(found).localname
    if name == "LinearTransformation":
        return LinearTransformation(_number(found, "factor", 1.0), _number(found, "offset"))
    kind = cast(Any, name.removesuffix("MappingTransformation"))
    convert = _VALUES.get(kind, str)
    return MappingTable(
        kind,
        tuple(
            (_converted(e, e.get("source", ""), convert), _converted(e, e.get("target", ""), convert)) for e in found
        ),
    )


def _binding(element: etree._Element) -> ParameterBinding:
    values = _child(element, "ssd:ParameterValues")
    inline = _child(values, "ssv:ParameterSet")
    mapping = _child(element, "ssd:ParameterMapping")
    return ParameterBinding(
        source=element.get("source") or None,
        values=None if inline is None else _parameter_set(inline),
        prefix=element.get("prefix", ""),
        mapping=None if mapping is None else _bound_mapping(mapping),
        source_base=cast(Any, element.get("sourceBase", "SSD")),
        type=element.get("type", ParameterBinding().type),
        content=_content(values, inline),
        **_annotated(element, "ssd"),
    )


def _bound_mapping(element: etree._Element) -> BoundMapping:
    inline = _child(element, "ssm:ParameterMapping")
    return BoundMapping(
        source=element.get("source") or None,
        mapping=None if inline is None else _parameter_mapping(inline),
        source_base=cast(Any, element.get("sourceBase", "SSD")),
        type=element.get("type", BoundMapping().type),
        content=_content(element, inline),
        **_described(element),
    )


def _parameter_set(root: etree._Element) -> SsvParameterSet:
    return SsvParameterSet(
        name=root.get("name", ""),
        parameters=[_parameter(p) for p in _children(root, "ssv:Parameters/ssv:Parameter")],
        **_definitions(root, "ssv"),
        **_document(root, "ssv"),
    )


def _parameter(element: etree._Element) -> SsvParameter:
    content = element[0]
    kind = etree.QName(content).localname
    return SsvParameter(
        name=element.get("name", ""),
        type=cast(VariableType, kind),
        value=_converted(content, content.get("value", ""), _VALUES.get(kind, str)),
        unit=content.get("unit"),
        enumeration=content.get("name"),
        mime_type=content.get("mime-type"),
        **_annotated(element, "ssv"),
    )


def _parameter_mapping(root: etree._Element) -> ParameterMapping:
    return ParameterMapping(
        entries=[
            MappingEntry(
                source=entry.get("source", ""),
                target=entry.get("target", ""),
                transformation=_transformation(entry),
                suppress_unit_conversion=_convert(entry, "suppressUnitConversion", xml_boolean, False),
                **_annotated(entry, "ssm"),
            )
            for entry in _children(root, "ssm:MappingEntry")
        ],
        **_document(root, "ssm"),
    )


def _signal_dictionary(root: etree._Element) -> SignalDictionary:
    return SignalDictionary(
        entries=[
            DictionaryEntry(name=entry.get("name", ""), **_type(entry), **_annotated(entry, "ssb"))
            for entry in _children(root, "ssb:DictionaryEntry")
        ],
        **_definitions(root, "ssb"),
        **_document(root, "ssb"),
    )
