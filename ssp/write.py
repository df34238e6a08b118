"""Write SSP 1.0 documents (SSD, SSV, SSM, SSB) as XML: equal data give equal bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lxml import etree

from dockfmu.base.messages import no_xml, shown
from dockfmu.master.fmi.archive import parse_xml
from dockfmu.ssp.model import (
    Annotated,
    Annotation,
    BoundDictionary,
    BoundMapping,
    Connector,
    Described,
    DictionaryEntry,
    Document,
    Enumeration,
    Geometry,
    LinearTransformation,
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
)
from dockfmu.ssp.schema import PREFIXES


def write_description(description: StructureDescription) -> bytes:
    """Return the XML of an SSD document."""
    root = _root("ssd:SystemStructureDescription", ("ssd", "ssc", "ssv", "ssm", "ssb"))
    _attributes(root, {"name": description.name})
    _document(root, description)
    _system(root, description.system)
    _definitions(root, "ssd", description.enumerations, description.units)
    times = {"startTime": description.start_time, "stopTime": description.stop_time}
    if description.experiment_annotations or any(time is not None for time in times.values()):
        _annotations(_add(root, "ssd:DefaultExperiment", times), "ssd", description.experiment_annotations)
    _annotations(root, "ssd", description.annotations)
    return _bytes(root)


def write_parameter_set(values: SsvParameterSet) -> bytes:
    """Return the XML of an SSV document."""
    root = _root("ssv:ParameterSet", ("ssv", "ssc"))
    _fill_parameter_set(root, values)
    return _bytes(root)


def write_parameter_mapping(mapping: ParameterMapping) -> bytes:
    """Return the XML of an SSM document."""
    root = _root("ssm:ParameterMapping", ("ssm", "ssc"))
    _fill_parameter_mapping(root, mapping)
    return _bytes(root)


def write_signal_dictionary(dictionary: SignalDictionary) -> bytes:
    """Return the XML of an SSB document."""
    root = _root("ssb:SignalDictionary", ("ssb", "ssc"))
    _fill_signal_dictionary(root, dictionary)
    return _bytes(root)


def _tag(name: str) -> str:
    prefix, local = name.split(":")
    return f"{{{PREFIXES[prefix]}}}{local}"


def _root(name: str, prefixes: Iterable[str]) -> etree._Element:
    return etree.Element(_tag(name), nsmap={prefix: PREFIXES[prefix] for prefix in prefixes})


def _bytes(root: etree._Element) -> bytes:
    """Return the document with all namespaces declared at its root: some tools mistake a declaration for content."""
    uris: dict[str, set[str]] = {}
    for element in root.iter():
        for prefix, uri in element.nsmap.items():
            if prefix is not None:
                uris.setdefault(prefix, set()).add(uri)
    unique = {prefix: uri for prefix, (uri, *others) in uris.items() if not others}
    etree.cleanup_namespaces(root, top_nsmap=unique, keep_ns_prefixes=list(unique))
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(text := repr(float(value)), text)
    return str(value)


def _attributes(element: etree._Element, values: Mapping[str, Value | None]) -> None:
    """Set attributes. Raises SspError for a text that no XML can hold."""
    for key, value in values.items():
        if value is None:
            continue
        text = _text(value)
        if character := no_xml(text):
            what = f"{etree.QName(element).localname} {element.get('name', '')}".rstrip()
            raise SspError(f"{what}: {key} = {shown(text)}: no XML can hold the character {character}")
        element.set(key, text)


def _add(parent: etree._Element, name: str, values: Mapping[str, Value | None] | None = None) -> etree._Element:
    element = etree.SubElement(parent, _tag(name))
    _attributes(element, values or {})
    return element


def _unless(value: Value, default: Value) -> Value | None:
    """Return `value`, or None, which omits the attribute, if it is the default."""
    return None if value == default else value


def _raw(parent: etree._Element, xml: str) -> None:
    parent.append(parse_xml(xml.encode(), "annotation"))


def _annotations(parent: etree._Element, prefix: str, annotations: Iterable[Annotation]) -> None:
    annotations = list(annotations)
    if annotations:
        group = _add(parent, f"{prefix}:Annotations")
        for annotation in annotations:
            element = _add(group, "ssc:Annotation", {"type": annotation.type})
            if annotation.content:
                _raw(element, annotation.content)


def _described(node: etree._Element, item: Described) -> None:
    _attributes(node, {"id": item.id, "description": item.description})


def _annotated(node: etree._Element, prefix: str, item: Annotated) -> None:
    """Write the description and annotations of an item, after the other children of its node."""
    _described(node, item)
    _annotations(node, prefix, item.annotations)


def _document(root: etree._Element, document: Document | StructureDescription) -> None:
    """Write the attributes of a document. Its annotations must come last, and are written elsewhere."""
    data = document.metadata
    keys = ("author", "fileversion", "copyright", "license", "generationTool", "generationDateAndTime")
    values = (data.author, data.fileversion, data.copyright, data.license, data.generation_tool, data.generation_time)
    _attributes(root, {"version": document.version})
    _described(root, document)
    _attributes(root, dict(zip(keys, values, strict=True)))


def _definitions(
    parent: etree._Element, prefix: str, enumerations: list[Enumeration], units: list[UnitDefinition]
) -> None:
    if enumerations:
        group = _add(parent, f"{prefix}:Enumerations")
        for enumeration in enumerations:
            element = _add(group, "ssc:Enumeration", {"name": enumeration.name})
            for name, value in enumeration.items:
                _add(element, "ssc:Item", {"name": name, "value": value})
            _annotated(element, "ssc", enumeration)
    if units:
        group = _add(parent, f"{prefix}:Units")
        for definition in units:
            unit = definition.unit
            values: dict[str, Value | None] = dict(unit.base_units)
            values |= {"factor": _unless(unit.factor, 1.0), "offset": _unless(unit.offset, 0.0)}
            element = _add(group, "ssc:Unit", {"name": unit.name})
            _add(element, "ssc:BaseUnit", values)
            _annotated(element, "ssc", definition)


def _geometry(parent: etree._Element, geometry: Geometry | None) -> None:
    if geometry is not None:
        values: dict[str, Value | None] = {key: getattr(geometry, key) for key in ("x1", "y1", "x2", "y2")}
        values |= {
            "rotation": _unless(geometry.rotation, 0.0),
            "iconSource": geometry.icon_source,
            "iconRotation": _unless(geometry.icon_rotation, 0.0),
            "iconFlip": _unless(geometry.icon_flip, False),
            "iconFixedAspectRatio": _unless(geometry.icon_fixed_aspect_ratio, False),
        }
        _add(parent, "ssd:ElementGeometry", values)


def _element(parent: etree._Element, element: SsdElement) -> None:
    if isinstance(element, SsdSystem):
        _system(parent, element)
        return
    if isinstance(element, SsdComponent):
        defaults = SsdComponent("", "")
        given: dict[str, Value | None] = {
            "name": element.name,
            "type": _unless(element.type, defaults.type),
            "source": element.source,
            "implementation": _unless(element.implementation, defaults.implementation),
        }
        node = _add(parent, "ssd:Component", given)
    else:
        node = _add(parent, "ssd:SignalDictionaryReference", {"name": element.name, "dictionary": element.dictionary})
    _common(node, element)
    _annotations(node, "ssd", element.annotations)


def _common(node: etree._Element, element: SsdElement) -> None:
    _described(node, element)
    if element.connectors:
        group = _add(node, "ssd:Connectors")
        for connector in element.connectors:
            _connector(group, connector)
    _geometry(node, element.geometry)
    if element.bindings:
        group = _add(node, "ssd:ParameterBindings")
        for binding in element.bindings:
            _binding(group, binding)


def _system(parent: etree._Element, system: SsdSystem) -> None:
    node = _add(parent, "ssd:System", {"name": system.name})
    _common(node, system)
    if system.elements:
        group = _add(node, "ssd:Elements")
        for element in system.elements:
            _element(group, element)
    if system.connections:
        group = _add(node, "ssd:Connections")
        for connection in system.connections:
            _connection(group, connection)
    if system.dictionaries:
        group = _add(node, "ssd:SignalDictionaries")
        for dictionary in system.dictionaries:
            _dictionary(group, dictionary)
    if system.diagram is not None:
        _add(node, "ssd:SystemGeometry", dict(zip(("x1", "y1", "x2", "y2"), system.diagram, strict=True)))
    if system.notes:
        group = _add(node, "ssd:GraphicalElements")
        for note in system.notes:
            _add(group, "ssd:Note", {"x1": note.x1, "y1": note.y1, "x2": note.x2, "y2": note.y2, "text": note.text})
    _annotations(node, "ssd", system.annotations)


def _dictionary(parent: etree._Element, bound: BoundDictionary) -> None:
    given = {"name": bound.name, "source": bound.source, "type": _unless(bound.type, BoundDictionary("").type)}
    node = _add(parent, "ssd:SignalDictionary", given)
    _described(node, bound)
    if bound.dictionary is not None:
        _fill_signal_dictionary(_add(node, "ssb:SignalDictionary"), bound.dictionary)
    for xml in bound.content:
        _raw(node, xml)


def _type(node: etree._Element, typed: Connector | DictionaryEntry) -> None:
    if typed.type is not None:
        given = {"unit": typed.unit, "name": typed.enumeration, "mime-type": typed.mime_type}
        _add(node, f"ssc:{typed.type}", given)


def _connector(parent: etree._Element, connector: Connector) -> None:
    node = _add(parent, "ssd:Connector", {"name": connector.name, "kind": connector.kind})
    _type(node, connector)
    if connector.position is not None:
        _add(node, "ssd:ConnectorGeometry", dict(zip("xy", connector.position, strict=True)))
    _annotated(node, "ssd", connector)


def _connection(parent: etree._Element, connection: SsdConnection) -> None:
    node = _add(
        parent,
        "ssd:Connection",
        {
            "startElement": connection.start_element,
            "startConnector": connection.start_connector,
            "endElement": connection.end_element,
            "endConnector": connection.end_connector,
            "suppressUnitConversion": _unless(connection.suppress_unit_conversion, False),
        },
    )
    _transformation(node, connection.transformation)
    if connection.waypoints is not None:
        xs, ys = (" ".join(map(_text, points)) for points in connection.waypoints)
        _add(node, "ssd:ConnectionGeometry", {"pointsX": xs, "pointsY": ys})
    _annotated(node, "ssd", connection)


def _transformation(parent: etree._Element, transformation: Transformation | None) -> None:
    if isinstance(transformation, LinearTransformation):
        values = {"factor": _unless(transformation.factor, 1.0), "offset": _unless(transformation.offset, 0.0)}
        _add(parent, "ssc:LinearTransformation", values)
    elif transformation is not None:
        node = _add(parent, f"ssc:{transformation.type}MappingTransformation")
        for source, target in transformation.entries:
            _add(node, "ssc:MapEntry", {"source": source, "target": target})


def _binding(parent: etree._Element, binding: ParameterBinding) -> None:
    given: dict[str, Value | None] = {
        "type": _unless(binding.type, ParameterBinding().type),
        "source": binding.source,
        "sourceBase": _unless(binding.source_base, "SSD"),
        "prefix": _unless(binding.prefix, ""),
    }
    node = _add(parent, "ssd:ParameterBinding", given)
    if binding.values is not None or binding.content:
        inside = _add(node, "ssd:ParameterValues")
        if binding.values is not None:
            _fill_parameter_set(_add(inside, "ssv:ParameterSet"), binding.values)
        for xml in binding.content:
            _raw(inside, xml)
    if binding.mapping is not None:
        _bound_mapping(node, binding.mapping)
    _annotated(node, "ssd", binding)


def _bound_mapping(parent: etree._Element, bound: BoundMapping) -> None:
    given: dict[str, Value | None] = {
        "type": _unless(bound.type, BoundMapping().type),
        "source": bound.source,
        "sourceBase": _unless(bound.source_base, "SSD"),
    }
    node = _add(parent, "ssd:ParameterMapping", given)
    _described(node, bound)
    if bound.mapping is not None:
        _fill_parameter_mapping(_add(node, "ssm:ParameterMapping"), bound.mapping)
    for xml in bound.content:
        _raw(node, xml)


def _fill_parameter_set(root: etree._Element, values: SsvParameterSet) -> None:
    _attributes(root, {"name": values.name})
    _document(root, values)
    group = _add(root, "ssv:Parameters")
    for parameter in values.parameters:
        _parameter(group, parameter)
    _definitions(root, "ssv", values.enumerations, values.units)
    _annotations(root, "ssv", values.annotations)


def _parameter(parent: etree._Element, parameter: SsvParameter) -> None:
    node = _add(parent, "ssv:Parameter", {"name": parameter.name})
    given: dict[str, Value | None] = {
        "value": parameter.value,
        "unit": parameter.unit,
        "name": parameter.enumeration,
        "mime-type": parameter.mime_type,
    }
    _add(node, f"ssv:{parameter.type}", given)
    _annotated(node, "ssv", parameter)


def _fill_parameter_mapping(root: etree._Element, mapping: ParameterMapping) -> None:
    _document(root, mapping)
    for entry in mapping.entries:
        given: dict[str, Value | None] = {
            "source": entry.source,
            "target": entry.target,
            "suppressUnitConversion": _unless(entry.suppress_unit_conversion, False),
        }
        node = _add(root, "ssm:MappingEntry", given)
        _transformation(node, entry.transformation)
        _annotated(node, "ssm", entry)
    _annotations(root, "ssm", mapping.annotations)


def _fill_signal_dictionary(root: etree._Element, dictionary: SignalDictionary) -> None:
    _document(root, dictionary)
    for entry in dictionary.entries:
        node = _add(root, "ssb:DictionaryEntry", {"name": entry.name})
        _type(node, entry)
        _annotated(node, "ssb", entry)
    _definitions(root, "ssb", dictionary.enumerations, dictionary.units)
    _annotations(root, "ssb", dictionary.annotations)
