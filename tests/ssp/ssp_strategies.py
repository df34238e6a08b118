"""Random SSP documents that the schemas allow: every field of the model takes every kind of value."""

import dataclasses
import itertools

from hypothesis import strategies as st

from dockfmu.base.units import Unit
from dockfmu.ssp import model

CHARACTERS = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cn"), include_characters="\t\n")
TEXT = st.text(CHARACTERS, max_size=6)
NAME = st.text(CHARACTERS, min_size=1, max_size=6)
NUMBER = st.floats(allow_nan=False)
INTEGER = st.integers(-(2**31), 2**31 - 1)
# normalized strings and URIs of the schema: white space in them would not survive a parser
LINE = st.sampled_from(["1.0", "a tool 2", "x-y"])
URI = st.sampled_from(["resources/a.ssv", "b%20c.fmu", "#there", "../x"])
XML = st.sampled_from(
    [
        '<n:a xmlns:n="urn:n"><n:b c="1">text &amp; more</n:b></n:a>',
        '<a xmlns="http://example.com/a"></a>',
        '<a xmlns="http://example.com/a"><b></b><c>\n</c></a>',
    ]
)
EXPONENTS = st.tuples(*[st.integers(-3, 3)] * 8)


def fields(cls: type, **known: st.SearchStrategy) -> st.SearchStrategy:
    """Instances of a class of the model: `known` strategies for some fields, the common ones for those left."""
    common = {
        "id": st.none() | st.just("id"),
        "description": st.none() | TEXT,
        "annotations": st.lists(st.builds(model.Annotation, LINE, st.just("") | XML), max_size=2),
        "name": NAME,
        "version": st.sampled_from(["1.0", "1.1-beta"]),
        "metadata": st.builds(
            model.Metadata,
            *[st.none() | TEXT, st.none() | LINE, st.none() | TEXT, st.none() | TEXT, st.none() | LINE],
            st.none() | st.just("2026-01-01T00:00:00Z"),
        ),
        "suppress_unit_conversion": st.booleans(),
        "source_base": st.sampled_from(["SSD", "component"]),
        "prefix": TEXT,
    }
    names = [field.name for field in dataclasses.fields(cls)]
    return st.builds(cls, **{name: known[name] if name in known else common[name] for name in names})


def few(strategy: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(strategy, max_size=2)


def corners(cls: type, **rest: st.SearchStrategy) -> st.SearchStrategy:
    return st.builds(cls, NUMBER, NUMBER, NUMBER, NUMBER, **rest)


@st.composite
def typed(draw, cls, required, **rest):
    """A connector or a signal: type, and what goes with it."""
    kinds = ["Real", "Integer", "Boolean", "String", "Enumeration", "Binary"]
    kind = draw(st.sampled_from(kinds if required else [None, *kinds]))
    return draw(
        fields(
            cls,
            type=st.just(kind),
            unit=st.none() | TEXT if kind == "Real" else st.none(),
            enumeration=TEXT if kind == "Enumeration" else st.none(),
            mime_type=st.none() | TEXT if kind == "Binary" else st.none(),
            **rest,
        )
    )


@st.composite
def parameters(draw):
    values = {
        "Real": NUMBER,
        "Integer": INTEGER,
        "Boolean": st.booleans(),
        "String": TEXT,
        "Enumeration": TEXT,
        "Binary": st.sampled_from(["", "00FF"]),
    }
    kind = draw(st.sampled_from(sorted(values)))
    return draw(
        fields(
            model.SsvParameter,
            type=st.just(kind),
            value=values[kind],
            unit=st.none() | TEXT if kind == "Real" else st.none(),
            enumeration=st.none() | TEXT if kind == "Enumeration" else st.none(),
            mime_type=st.none() | TEXT if kind == "Binary" else st.none(),
        )
    )


@st.composite
def sourced(draw, cls, inline, document, **rest):
    """A document by its source, inside, or of another type with content that nobody knows."""
    known = {"source": st.none(), inline: st.none(), "content": st.just(())}
    match draw(st.integers(0, 3)):
        case 0:
            known["source"] = URI
        case 1:
            known[inline] = document
        case 2:
            known["content"] = few(XML).map(tuple)
    kind = st.just("text/xml") if draw(st.booleans()) else st.just(cls("").type)
    return draw(fields(cls, type=kind, **known, **rest))


def table(kind: str, values: st.SearchStrategy) -> st.SearchStrategy:
    entries = st.lists(st.tuples(values, values), min_size=1, max_size=3).map(tuple)
    return st.builds(model.MappingTable, st.just(kind), entries)


TRANSFORMATION = st.one_of(
    st.none(),
    st.builds(model.LinearTransformation, NUMBER, NUMBER),
    table("Boolean", st.booleans()),
    table("Integer", INTEGER),
    table("Enumeration", TEXT),
)
UNITS = fields(
    model.UnitDefinition, unit=st.builds(Unit, NAME, EXPONENTS, st.floats(1e-3, 1e3), st.floats(-300.0, 300.0))
)
ENUMERATIONS = fields(model.Enumeration, items=st.lists(st.tuples(TEXT, INTEGER), min_size=1, max_size=3).map(tuple))
DEFINITIONS = {"enumerations": few(ENUMERATIONS), "units": few(UNITS)}
PARAMETER_SETS = fields(model.SsvParameterSet, parameters=few(parameters()), **DEFINITIONS)
MAPPINGS = fields(
    model.ParameterMapping,
    entries=few(fields(model.MappingEntry, source=TEXT, target=TEXT, transformation=TRANSFORMATION)),
)
DICTIONARIES = fields(model.SignalDictionary, entries=few(typed(model.DictionaryEntry, required=True)), **DEFINITIONS)
BINDINGS = sourced(
    model.ParameterBinding,
    "values",
    PARAMETER_SETS,
    mapping=st.none() | sourced(model.BoundMapping, "mapping", MAPPINGS),
)
COMMON = {
    "connectors": few(
        typed(
            model.Connector,
            required=False,
            kind=st.sampled_from(["input", "output", "parameter", "calculatedParameter", "inout"]),
            position=st.none() | st.tuples(NUMBER, NUMBER),
        )
    ),
    "bindings": few(BINDINGS),
    "geometry": st.none()
    | corners(
        model.Geometry,
        rotation=NUMBER,
        icon_source=st.none() | URI,
        icon_rotation=NUMBER,
        icon_flip=st.booleans(),
        icon_fixed_aspect_ratio=st.booleans(),
    ),
}
COMPONENTS = fields(
    model.SsdComponent,
    source=URI,
    type=st.sampled_from([model.FMU_TYPE, model.PACKAGE_TYPE, model.DEFINITION_TYPE]),
    implementation=st.sampled_from(["any", "CoSimulation", "ModelExchange"]),
    **COMMON,
)
REFERENCES = fields(model.DictionaryReference, dictionary=TEXT, **COMMON)
# of a line, as many x as y, all finite: what cannot be drawn is read as no line
POINTS = [st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * count) for count in range(3)]
CONNECTIONS = fields(
    model.SsdConnection,
    start_element=st.none() | TEXT,
    start_connector=TEXT,
    end_element=st.none() | TEXT,
    end_connector=TEXT,
    transformation=TRANSFORMATION,
    waypoints=st.none() | st.integers(0, 2).flatmap(lambda count: st.tuples(POINTS[count], POINTS[count])),
)


def systems(inner: st.SearchStrategy) -> st.SearchStrategy:
    return fields(
        model.SsdSystem,
        elements=few(COMPONENTS | REFERENCES | inner),
        connections=few(CONNECTIONS),
        dictionaries=few(sourced(model.BoundDictionary, "dictionary", DICTIONARIES)),
        diagram=st.none() | st.tuples(NUMBER, NUMBER, NUMBER, NUMBER),
        notes=few(corners(model.Note, text=TEXT)),
        **COMMON,
    )


DESCRIPTIONS = fields(
    model.StructureDescription,
    system=systems(systems(st.nothing())),
    start_time=st.none() | NUMBER,
    stop_time=st.none() | NUMBER,
    experiment_annotations=st.lists(st.builds(model.Annotation, LINE, XML), max_size=1),
    **DEFINITIONS,
)


def with_ids(document):
    """Ids are unique in a document: those that were drawn are numbered."""
    numbers = itertools.count()

    def walk(value):
        if dataclasses.is_dataclass(value):
            if getattr(value, "id", None) is not None:
                value.id = f"id{next(numbers)}"
            for field in dataclasses.fields(value):
                walk(getattr(value, field.name))
        elif isinstance(value, list | tuple):
            for item in value:
                walk(item)

    walk(document)
    return document


def documents(strategy: st.SearchStrategy) -> st.SearchStrategy:
    return strategy.map(with_ids)
