"""Documents are written and read back unchanged, and other tools read them."""

import re
import zipfile

import fmpy.ssp.ssd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from dockfmu.base.units import Unit
from dockfmu.master.errors import ArchiveError, MasterError
from dockfmu.ssp.archive import read_ssp, write_ssp
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
    SsdSystem,
    Ssp,
    SspError,
    SsvParameter,
    SsvParameterSet,
    StructureDescription,
    UnitDefinition,
)
from dockfmu.ssp.read import read_description, read_parameter_mapping, read_parameter_set, read_signal_dictionary
from dockfmu.ssp.resolve import definitions
from dockfmu.ssp.schema import faults
from dockfmu.ssp.write import write_description, write_parameter_mapping, write_parameter_set, write_signal_dictionary
from tests.ssp import ssp_strategies

NOTE = Annotation("com.example", '<n:a xmlns:n="urn:n"><n:b c="1">text &amp; more</n:b></n:a>')
EMPTY = Annotation("com.example.empty")


def everything() -> StructureDescription:
    """A description that uses every feature of the model."""
    values = SsvParameterSet(
        "values",
        [
            SsvParameter("mass", "Real", 1.0 / 3.0, "kg", description="of the body"),
            SsvParameter("count", "Integer", -7),
            SsvParameter("on", "Boolean", True, annotations=[NOTE]),
            SsvParameter("label", "String", "<&> ü"),
            SsvParameter("mode", "Enumeration", "fast", enumeration="Mode"),
            SsvParameter("blob", "Binary", "00FF"),
        ],
        enumerations=[Enumeration("Mode", (("slow", 1), ("fast", 2)))],
        units=[UnitDefinition(Unit("kg", (1, 0, 0, 0, 0, 0, 0, 0)))],
        annotations=[NOTE],
        description="set",
        metadata=Metadata("me", "1", "mine", "MIT", "tool", "2026-01-01T00:00:00Z"),
    )
    mapping = ParameterMapping(
        [
            MappingEntry("a", "b", LinearTransformation(2.0, 1.0), suppress_unit_conversion=True),
            MappingEntry("c", "d", MappingTable("Boolean", ((True, False), (False, True)))),
            MappingEntry("e", "f", MappingTable("Integer", ((1, 2),))),
            MappingEntry("g", "h", MappingTable("Enumeration", (("x", "y"),))),
            MappingEntry("i", "j"),
        ],
        annotations=[EMPTY],
    )
    signals = SignalDictionary([DictionaryEntry("s", "Real", "mm", id="signal", annotations=[NOTE])])
    inner = SsdSystem(
        "inner",
        elements=[DictionaryReference("bus", "signals", connectors=[Connector("s", "inout")])],
        dictionaries=[
            BoundDictionary("signals", "signals.ssb"),
            BoundDictionary("inline", dictionary=signals, description="inline"),
            BoundDictionary("other", type="text/xml", content=(NOTE.content,)),
        ],
        connectors=[Connector("in", "input", "Real", "mm")],
        diagram=(0.0, 0.0, 100.0, 50.0),
        notes=[Note(0.0, 1.0, 2.0, 3.0, "note")],
        annotations=[NOTE, EMPTY],
    )
    component = SsdComponent(
        "craft",
        "resources/Craft.fmu",
        implementation="CoSimulation",
        connectors=[
            Connector("y[1]", "output", "Real", "mm", position=(1.0, 0.5), description="first"),
            Connector("u", "input", "Enumeration", enumeration="Mode", annotations=[NOTE]),
            Connector("k", "parameter", "Binary", mime_type="application/x"),
            Connector("c", "calculatedParameter"),
        ],
        bindings=[
            ParameterBinding(source="resources/a.ssv", prefix="p.", mapping=BoundMapping("resources/a.ssm")),
            ParameterBinding(
                values=values, mapping=BoundMapping(mapping=mapping), description="inline", annotations=[NOTE]
            ),
        ],
        geometry=Geometry(0.0, 0.0, 1.0, 2.0, 90.0, "icon.png", 45.0, True, True),
        description="a craft",
        annotations=[NOTE],
    )
    return StructureDescription(
        "everything",
        SsdSystem(
            "root",
            elements=[component, inner],
            connectors=[Connector("out", "output", "Boolean")],
            connections=[
                SsdConnection(
                    "craft", "y[1]", "inner", "in", LinearTransformation(1e-3, 0.5), waypoints=((1.0, 2.0), (3.0, 4.0))
                ),
                SsdConnection(None, "out", "craft", "u", suppress_unit_conversion=True, description="odd"),
                SsdConnection(None, "out", "craft", "k", annotations=[NOTE]),
            ],
        ),
        enumerations=[Enumeration("Mode", (("slow", 1), ("fast", 2)))],
        units=[
            UnitDefinition(Unit("mm", (0, 1, 0, 0, 0, 0, 0, 0), 1e-3), id="mm", annotations=[NOTE]),
            UnitDefinition(Unit("degC", (0, 0, 0, 0, 1, 0, 0, 0), 1.0, 273.15)),
        ],
        start_time=0.0,
        stop_time=12.5,
        experiment_annotations=[EMPTY],
        description="all of it",
        annotations=[Annotation.of_text("com.example.text", '{"a": "<b> & c"}')],
        metadata=Metadata(author="me", generation_tool="tool"),
    )


def test_a_description_is_read_back_equal_and_written_again_to_the_same_bytes():
    data = write_description(everything())
    again = read_description(data, "test")
    assert again == everything()
    assert write_description(again) == data


def test_a_parameter_set_and_a_mapping_are_read_back_equal():
    binding = everything().system.elements[0].bindings[1]
    assert read_parameter_set(write_parameter_set(binding.values), "test") == binding.values
    assert read_parameter_mapping(write_parameter_mapping(binding.mapping.mapping), "test") == binding.mapping.mapping


DOCUMENTS = {
    "SSD": (ssp_strategies.DESCRIPTIONS, write_description, read_description),
    "SSV": (ssp_strategies.PARAMETER_SETS, write_parameter_set, read_parameter_set),
    "SSM": (ssp_strategies.MAPPINGS, write_parameter_mapping, read_parameter_mapping),
    "SSB": (ssp_strategies.DICTIONARIES, write_signal_dictionary, read_signal_dictionary),
}


# the strategy is no argument of the test: hypothesis prints arguments of a failure, and 43 kB of it are a warning,
# which as an error ends the report with another fault, "inconsistent data generation"
@pytest.mark.slow
@pytest.mark.parametrize("kind", DOCUMENTS)
@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_any_document_is_valid_and_read_back_equal(kind, data):
    strategy, write, read = DOCUMENTS[kind]
    document = data.draw(ssp_strategies.documents(strategy))
    text = write(document)
    assert read(text, "test") == document
    assert write(read(text, "test")) == text


def test_what_is_written_fits_the_official_schemas():
    binding = everything().system.elements[0].bindings[1]
    for data in (
        write_description(everything()),
        write_parameter_set(binding.values),
        write_parameter_mapping(binding.mapping.mapping),
    ):
        assert faults(etree.fromstring(data)) == []


def test_text_in_annotations_survives():
    again = read_description(write_description(everything()), "test")
    assert again.annotation("com.example.text").text == '{"a": "<b> & c"}'
    assert again.annotation("com.example.none") is None


def test_a_package_is_read_back_equal_and_is_reproducible(tmp_path):
    (tmp_path / "data.bin").write_bytes(b"\0\1")
    description = everything()
    binding = description.system.elements[0].bindings[1]
    ssp = Ssp(
        description,
        {"resources/a.ssv": binding.values},
        {"resources/a.ssm": binding.mapping.mapping},
        {"signals.ssb": description.system.elements[1].dictionaries[1].dictionary},
        {"Variant.ssd": everything()},
        {"resources/data.bin": tmp_path / "data.bin"},
    )
    first, second = (write_ssp(ssp, tmp_path / name).read_bytes() for name in ("1.ssp", "2.ssp"))
    assert first == second
    again = read_ssp(tmp_path / "1.ssp", tmp_path / "unpacked")
    assert again.resources == {"resources/data.bin": tmp_path / "unpacked" / "resources" / "data.bin"}
    assert again.resources["resources/data.bin"].read_bytes() == b"\0\1"
    again.resources = ssp.resources
    assert again == ssp


def test_fmpy_reads_what_is_written(tmp_path):
    description = everything()
    description.system.elements.pop()
    description.system.connections.pop(0)
    binding = description.system.elements[0].bindings[1]
    file = write_ssp(
        Ssp(description, {"resources/a.ssv": binding.values}, {"resources/a.ssm": binding.mapping.mapping}),
        tmp_path / "e.ssp",
    )
    seen = fmpy.ssp.ssd.read_ssd(str(file))
    assert seen.name == "everything"
    craft = seen.system.elements[0]
    assert (craft.name, craft.source) == ("craft", "resources/Craft.fmu")
    assert [c.name for c in craft.connectors] == ["y[1]", "u", "k", "c"]
    values = fmpy.ssp.ssd.read_ssv(str(file), "resources/a.ssv")
    assert {p.name: p.value for p in values.parameters}["mass"] == repr(1.0 / 3.0)


def test_documents_that_do_not_fit_the_schema_are_refused_with_line_and_reason():
    data = write_description(everything()).replace(b'kind="output"', b'kind="sideways"')
    with pytest.raises(SspError, match=r"line \d+.*sideways"):
        read_description(data, "test")
    with pytest.raises(ArchiveError, match="not well-formed"):
        read_description(b"<ssd", "test")
    with pytest.raises(SspError, match="the root element is"):
        read_parameter_set(write_parameter_mapping(ParameterMapping()), "test")


@pytest.mark.parametrize("text", ["1e", "1e+", "1E-"])
def test_numbers_that_the_schema_takes_and_that_are_none_are_refused(text):
    """The parser libxml2 takes an exponent without digits for xs:double: a traceback before."""
    data = write_parameter_set(SsvParameterSet("s", [SsvParameter("a", "Real", 2.5)])).replace(b"2.5", text.encode())
    with pytest.raises(SspError, match=rf"a\.ssv: line \d+, Real: {re.escape(repr(text))} is not a valid value"):
        read_parameter_set(data, "a.ssv")


def test_a_unit_or_enumeration_that_is_defined_in_two_ways_is_refused():
    """The last one was taken without a word."""
    units = [UnitDefinition(Unit("foo", (1, *[0] * 7), factor)) for factor in (2.0, 3.0)]
    with pytest.raises(SspError, match="the unit 'foo' is defined twice, in different ways"):
        definitions(SsvParameterSet("s", [], units=units))
    modes = [Enumeration("mode", items) for items in ((("on", 1),), (("on", 2),))]
    with pytest.raises(SspError, match="the enumeration 'mode' is defined twice"):
        definitions(SsvParameterSet("s", [], enumerations=modes))
    assert definitions(SsvParameterSet("s", [], units=[units[0], units[0]]))[0] == {"foo": units[0].unit}


def test_parameter_sets_inside_a_description_are_checked_too():
    data = write_description(everything()).replace(b'Integer value="-7"', b'Integer value="seven"')
    with pytest.raises(SspError, match="seven"):
        read_description(data, "test")


def test_namespaces_that_are_no_uris_are_refused():
    data = write_description(everything()).replace(b"urn:n", b"n")
    with pytest.raises(SspError, match="are its namespaces absolute URIs"):
        read_description(data, "test")


@given(st.data())
@settings(max_examples=200)
def test_damage_is_told_or_seen_in_what_is_read(data):
    """A changed document is refused, or read as another description, which is the same when written and read again."""
    text = write_description(everything()).decode()
    pieces = [match.span() for match in re.finditer(r'"[^"]*"|<[A-Za-z/:]+|[a-zA-Z]+=', text)]
    start, end = data.draw(st.sampled_from(pieces))
    words = ['""', '"-1"', '"x"', '"true"', '"1e400"', '"nan"', "", "<", ">", "name"]
    word = data.draw(st.sampled_from(words))
    found, told = None, ""
    try:
        found = read_description((text[:start] + word + text[end:]).encode(), "test")
    except MasterError as error:
        told = str(error)
    if not found:
        assert told.startswith("test: ")
        return
    assert found != read_description(text.encode(), "test") or word == text[start:end], (text[start - 40 : end], word)
    assert repr(read_description(write_description(found), "again")) == repr(found), (text[start - 40 : end], word)


def test_a_package_that_reaches_out_of_its_folder_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "evil.ssp", "w") as archive:
        archive.writestr("SystemStructure.ssd", write_description(everything()))
        archive.writestr("../evil.txt", "gone")
    with pytest.raises(ArchiveError, match="points out of the archive"):
        read_ssp(tmp_path / "evil.ssp", tmp_path / "unpacked")
    assert not (tmp_path / "evil.txt").exists()


def test_a_zip_without_description_is_no_package(tmp_path):
    with zipfile.ZipFile(tmp_path / "empty.ssp", "w") as archive:
        archive.writestr("readme.txt", "")
    with pytest.raises(SspError, match="not a system structure package"):
        read_ssp(tmp_path / "empty.ssp", tmp_path / "unpacked")
