"""Packages as somebody else would write them by hand from the standard: every element that decides about a run."""

import zipfile

import numpy as np
import pytest
from lxml import etree

from dockfmu.cli import main
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from dockfmu.ssp.archive import read_ssp
from dockfmu.ssp.model import PACKAGE_TYPE, SspError
from dockfmu.ssp.to_system import to_system
from dockfmu.ssp.validate import examine, validate

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<{root} version="1.0" {name}'
    'xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" '
    'xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" '
    'xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" '
    'xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping" '
    'xmlns:ssb="http://ssp-standard.org/SSP1/SystemStructureSignalDictionary">{body}</{root}>'
)
UNITS = """<{0}:Units>
  <ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>
  <ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>
</{0}:Units>"""
IN = '<ssd:Connector name="u[1]" kind="input"><ssc:Real/></ssd:Connector>'
OUT = '<ssd:Connector name="y[1]" kind="output"><ssc:Real unit="m"/></ssd:Connector>'
GAIN = '<ssd:Connector name="gain" kind="parameter"><ssc:Real/></ssd:Connector>'


def document(root, body, name="test"):
    return HEAD.format(root=root, name=f'name="{name}" ' if name else "", body=body)


def description(system, rest=""):
    return document("ssd:SystemStructureDescription", system + UNITS.format("ssd") + rest)


def values(*parameters):
    listed = "".join(f'<ssv:Parameter name="{name}">{value}</ssv:Parameter>' for name, value in parameters)
    return document("ssv:ParameterSet", f"<ssv:Parameters>{listed}</ssv:Parameters>" + UNITS.format("ssv"))


def real(value, unit=""):
    return f'<ssv:Real value="{value}"' + (f' unit="{unit}"/>' if unit else "/>")


def inline(*parameters):
    body = _body(values(*parameters))
    return f"<ssd:ParameterBinding><ssd:ParameterValues>{body}</ssd:ParameterValues></ssd:ParameterBinding>"


def mapped_to(*entries):
    listed = "".join(f'<ssm:MappingEntry source="{source}" target="{target}"/>' for source, target in entries)
    return document("ssm:ParameterMapping", listed, "")


def binding(*parameters, more='source=""', mapping='source=""', entries=()):
    """Return bindings with values of their own, and with a mapping of their own if there are entries."""
    listed = "".join(f'<ssm:MappingEntry source="{source}" target="{target}"/>' for source, target in entries)
    mapped = (
        f"<ssd:ParameterMapping {mapping}>{_body(document('ssm:ParameterMapping', listed, ''))}</ssd:ParameterMapping>"
    )
    written = inline(*parameters).replace("<ssd:ParameterBinding>", f"<ssd:ParameterBinding {more}>")
    end = "</ssd:ParameterBinding>"
    written = written.replace(end, (mapped if entries else "") + end)
    return f"<ssd:ParameterBindings>{written}</ssd:ParameterBindings>"


def bound(attributes):
    return f"<ssd:ParameterBindings><ssd:ParameterBinding {attributes}/></ssd:ParameterBindings>"


def _body(text):
    return text.split("\n", 1)[1]


def lag_component(name, connectors=IN + OUT, bindings="", source="Lag.fmu", more=""):
    bound = f"<ssd:ParameterBindings>{bindings}</ssd:ParameterBindings>" if bindings else ""
    return (
        f'<ssd:Component name="{name}" source="{source}" {more}>'
        f"<ssd:Connectors>{connectors}</ssd:Connectors>{bound}</ssd:Component>"
    )


def package_component(name, source):
    return f'<ssd:Component name="{name}" type="{PACKAGE_TYPE}" source="{source}"/>'


def system(elements, connections="", before="", after="", name="root", more=""):
    wires = f"<ssd:Connections>{connections}</ssd:Connections>" if connections else ""
    return (
        f'<ssd:System name="{name}" {more}>{before}<ssd:Elements>{elements}</ssd:Elements>{wires}{after}</ssd:System>'
    )


def wire(start, end, inside="", more=""):
    ends = ""
    for which, place in (("start", start), ("end", end)):
        element, _, connector = place.rpartition("/")
        ends += f'{which}Element="{element}" ' if element else ""
        ends += f'{which}Connector="{connector}" '
    return f"<ssd:Connection {ends}{more}>{inside}</ssd:Connection>"


def pack(file, members):
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file


@pytest.fixture
def load(lag, tmp_path):
    """Packs a description with Lag.fmu and further members, checks it, and turns it into a system."""

    def make(text, members=(), say=None):
        file = pack(
            tmp_path / "theirs.ssp", {"SystemStructure.ssd": text, "Lag.fmu": lag.read_bytes(), **dict(members)}
        )
        if say is None:
            assert validate(file) == []
        made, notes = to_system(read_ssp(file, tmp_path / "unpacked"))
        assert notes == (say or [])
        made.check()
        return made

    return make


def wires(system):
    return {
        (f"{c.source}.{c.output}", f"{c.target}.{c.input}"): (c.factor, c.offset, c.convert_units)
        for c in system.connections
    }


def starts(system):
    return {name: element.start for name, element in system.elements.items()}


INNER = system(
    lag_component("lag", IN + OUT + GAIN),
    wire("in", "lag/u[1]") + wire("lag/y[1]", "out") + wire("stiffness", "lag/gain"),
    before="<ssd:Connectors>"
    '<ssd:Connector name="in" kind="input"><ssc:Real unit="mm"/></ssd:Connector>'
    '<ssd:Connector name="out" kind="output"><ssc:Real unit="mm"/></ssd:Connector>'
    '<ssd:Connector name="stiffness" kind="parameter"/></ssd:Connectors>',
    name="inner",
    more='id="inner"',
)


def test_units_are_those_of_every_connector_on_the_way(load):
    """From metres over a connector in millimetres, with 2 x + 1 there, back to metres: 2 x + 0.001."""
    text = description(
        system(
            lag_component("first") + INNER,
            wire("first/y[1]", "inner/in", '<ssc:LinearTransformation factor="2" offset="1"/>'),
        )
    )
    made = load(text)
    ((ends, (factor, offset, convert)),) = wires(made).items()
    assert ends == ("first.y[1]", "inner.lag.u[1]")
    assert (factor, offset, convert) == (pytest.approx(2.0), pytest.approx(1e-3), False)


def test_a_suppressed_conversion_takes_the_number_as_it_is(load):
    text = description(
        system(
            lag_component("first") + INNER,
            wire("first/y[1]", "inner/in", more='suppressUnitConversion="true"'),
        )
    )
    assert wires(load(text)) == {("first.y[1]", "inner.lag.u[1]"): (1e-3, 0.0, False)}


def test_values_pass_through_connectors_like_signals(load):
    """1500 mm to a connector in mm, to a variable in m; a parameter through a linear transformation."""
    text = description(
        system(
            INNER.replace('endConnector="gain" >', 'endConnector="gain" ><ssc:LinearTransformation factor="3"/>'),
            before="<ssd:ParameterBindings>"
            + inline(("inner.in", real(1500, "mm")), ("inner.stiffness", real(2)))
            + "</ssd:ParameterBindings>",
        )
    )
    assert starts(load(text)) == {"inner.lag": {"u[1]": 1.5, "gain": 6.0}}


@pytest.mark.parametrize("where", ["definition", "file", "package", "variant"])
def test_systems_may_be_defined_elsewhere(load, lag, tmp_path, where):
    """In the same document by id, in another description, in a package, in another description of a package.

    The component's own values go over those of the system that it stands for.
    """
    low = "<ssd:ParameterBindings>" + inline(("lag.gain", real(1)), ("lag.bias", real(1))) + "</ssd:ParameterBindings>"
    defined = INNER.replace("</ssd:Connectors><ssd:Elements>", f"</ssd:Connectors>{low}<ssd:Elements>", 1)
    members, elements = {}, ""
    if where == "definition":
        kind, source, elements = "definition", "#inner", defined
    elif where == "file":
        kind, source = "definition", "parts/Inner%20One.ssd"
        members = {"parts/Inner One.ssd": description(defined.replace("Lag.fmu", "Lag2.fmu"))}
        members["parts/Lag2.fmu"] = lag.read_bytes()
    else:
        kind, source = "package", "resources/inner.ssp" + ("#Other.ssd" if where == "variant" else "")
        other = description(system(lag_component("wrong"), name="wrong"))
        one, two = (other, description(defined)) if where == "variant" else (description(defined), other)
        inside = {"SystemStructure.ssd": one, "Other.ssd": two, "Lag.fmu": lag.read_bytes()}
        members = {"resources/inner.ssp": pack(tmp_path / "inner.ssp", inside).read_bytes()}
    component = lag_component(
        "copy",
        '<ssd:Connector name="in" kind="input"/>',
        inline(("lag.gain", real(4))),
        source,
        f'type="application/x-ssp-{kind}"',
    )
    made = load(
        description(system(lag_component("first") + elements + component, wire("first/y[1]", "copy/in"))), members
    )
    assert starts(made)["copy.lag"] == {"gain": 4.0, "bias": 1.0}
    assert ("first.y[1]", "copy.lag.u[1]") in wires(made)
    if where == "definition":
        assert starts(made)["inner.lag"] == {"gain": 1.0, "bias": 1.0}
    assert CoSimulation(made, Schedule(step=0.1, stop=1.0)).run().status == "completed"


DICTIONARY = document(
    "ssb:SignalDictionary",
    '<ssb:DictionaryEntry name="height"><ssc:Real unit="mm"/></ssb:DictionaryEntry>' + UNITS.format("ssb"),
    name="",
)


def bus(name, kind, dictionary="air"):
    return (
        f'<ssd:SignalDictionaryReference name="{name}" dictionary="{dictionary}"><ssd:Connectors>'
        f'<ssd:Connector name="height" kind="{kind}"/></ssd:Connectors></ssd:SignalDictionaryReference>'
    )


@pytest.mark.parametrize("source", [True, False], ids=["SSB", "inline"])
def test_a_signal_dictionary_carries_signals_between_systems(load, source):
    """Written in one system and read in two others; the dictionary is found from the inside outwards."""
    body = 'source="signals.ssb"/>' if source else f">{_body(DICTIONARY)}</ssd:SignalDictionary>"
    far = system(bus("radio", "inout") + lag_component("lag"), wire("lag/u[1]", "radio/height"), name="far")
    text = description(
        system(
            lag_component("first") + lag_component("near") + bus("radio", "inout") + far,
            wire("first/y[1]", "radio/height", '<ssc:LinearTransformation factor="2" offset="1"/>')
            + wire("radio/height", "near/u[1]"),
            after=f'<ssd:SignalDictionaries><ssd:SignalDictionary name="air" {body}</ssd:SignalDictionaries>',
        )
    )
    made = load(text, {"signals.ssb": DICTIONARY} if source else ())
    expected = (pytest.approx(2.0), pytest.approx(1e-3), False)
    assert wires(made) == {("first.y[1]", "near.u[1]"): expected, ("first.y[1]", "far.lag.u[1]"): expected}


def test_parameter_documents_of_a_component(load, lag, tmp_path):
    """`sourceBase` component: an SSV and an SSM inside the FMU."""
    with zipfile.ZipFile(lag) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["resources/set.ssv"] = values(("k", real(7)))
    members["resources/map.ssm"] = document(
        "ssm:ParameterMapping", '<ssm:MappingEntry source="k" target="gain"/>', name=""
    )
    rich = pack(tmp_path / "Rich.fmu", members)
    binding = (
        '<ssd:ParameterBinding source="resources/set.ssv" sourceBase="component">'
        '<ssd:ParameterMapping source="resources/map.ssm" sourceBase="component"/></ssd:ParameterBinding>'
    )
    text = description(system(lag_component("a", bindings=binding, source="Rich.fmu")))
    assert starts(load(text, {"Rich.fmu": rich.read_bytes()})) == {"a": {"gain": 7.0}}


INTEGERS = (
    '<ssd:Connector name="count_in" kind="input"><ssc:Integer/></ssd:Connector>'
    '<ssd:Connector name="count" kind="output"><ssc:Integer/></ssd:Connector>'
)
BOOLEANS = (
    '<ssd:Connector name="enable" kind="input"><ssc:Boolean/></ssd:Connector>'
    '<ssd:Connector name="high" kind="output"><ssc:Boolean/></ssd:Connector>'
)


def mapped(kind, *pairs):
    entries = "".join(f'<ssc:MapEntry source="{source}" target="{target}"/>' for source, target in pairs)
    return f"<ssc:{kind}MappingTransformation>{entries}</ssc:{kind}MappingTransformation>"


def test_tables_of_values_on_connections(load):
    """1 to 10 and then to 100; true and false exchanged; values that no table names pass unchanged."""
    relay = system(
        lag_component("lag", INTEGERS + BOOLEANS),
        wire("in", "lag/count_in", mapped("Integer", (10, 100), (3, 30))),
        before='<ssd:Connectors><ssd:Connector name="in" kind="input"><ssc:Integer/></ssd:Connector></ssd:Connectors>',
        name="relay",
    )
    first = lag_component("first", INTEGERS + BOOLEANS)
    second = lag_component("second", INTEGERS + BOOLEANS)
    text = description(
        system(
            first + second + relay,
            wire("first/count", "relay/in", mapped("Integer", (1, 10), (2, 20)))
            + wire("first/high", "second/enable", mapped("Boolean", ("true", "false"), ("false", "true"))),
        )
    )
    made = load(text)
    tables = {(c.target, c.input): c.table for c in made.connections}
    assert tables["relay.lag", "count_in"] == ((1, 100), (2, 20), (3, 30), (10, 100))
    assert tables["second", "enable"] == ((0, 1), (1, 0))
    made.elements["first"].start["count_in"] = 0
    with CoSimulation(made, Schedule(step=0.1, stop=1.0)).open() as simulation:
        seen = []
        for k in range(1, 5):
            simulation.advance(0.1 * k)
            seen.append(simulation.get(["relay.lag.count"])[0])
    # each counts its steps and adds the input, which is the count of the first, 1, 2, 3, 4, through the tables
    assert seen == [1 + 100, 2 + 20, 3 + 30, 4 + 4]


@pytest.fixture(scope="module")
def modal(lag, tmp_path_factory):
    """Lag.fmu whose integers are enumerations: the output low, high; the input weak, strong."""
    with zipfile.ZipFile(lag) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    root = etree.fromstring(members["modelDescription.xml"])
    types = etree.Element("TypeDefinitions")
    root.find("ModelVariables").addprevious(types)
    for name, kind, items in (("count_in", "Force", ("weak", "strong")), ("count", "Level", ("low", "high"))):
        enumeration = etree.SubElement(etree.SubElement(types, "SimpleType", name=kind), "Enumeration")
        for number, item in enumerate(items, 5 if kind == "Force" else 1):
            etree.SubElement(enumeration, "Item", name=item, value=str(number))
        (variable,) = root.iterfind(f"ModelVariables/ScalarVariable[@name='{name}']")
        del variable[:]
        start = {"start": "5"} if kind == "Force" else {}
        etree.SubElement(variable, "Enumeration", declaredType=kind, **start)
    members["modelDescription.xml"] = etree.tostring(root)
    return pack(tmp_path_factory.mktemp("modal") / "Modal.fmu", members)


def test_enumerations_are_mapped_by_the_names_of_their_items(load, modal):
    connectors = (
        '<ssd:Connector name="count_in" kind="input"><ssc:Enumeration name="Force"/></ssd:Connector>'
        '<ssd:Connector name="count" kind="output"><ssc:Enumeration name="Level"/></ssd:Connector>'
    )
    enumerations = (
        '<ssd:Enumerations><ssc:Enumeration name="Level"><ssc:Item name="low" value="1"/>'
        '<ssc:Item name="high" value="2"/></ssc:Enumeration>'
        '<ssc:Enumeration name="Force"><ssc:Item name="weak" value="5"/><ssc:Item name="strong" value="6"/>'
        "</ssc:Enumeration></ssd:Enumerations>"
    )
    start = inline(("count_in", '<ssv:Enumeration value="strong"/>'))
    body = system(
        lag_component("a", connectors, start, source="Modal.fmu") + lag_component("b", connectors, source="Modal.fmu"),
        wire("a/count", "b/count_in", mapped("Enumeration", ("low", "weak"), ("high", "strong"))),
    )
    text = document("ssd:SystemStructureDescription", body + enumerations + UNITS.format("ssd"))
    made = load(text, {"Modal.fmu": modal.read_bytes()})
    assert starts(made)["a"] == {"count_in": 6}
    assert made.connections[0].table == ((1, 5), (2, 6))
    incomplete = text.replace('<ssc:MapEntry source="high" target="strong"/>', "")
    with pytest.raises(SspError, match="'high' is not one of weak, strong"):
        load(incomplete, {"Modal.fmu": modal.read_bytes()})


def test_bindings_with_sources_prefixes_and_mappings_in_files(load):
    mapping = document(
        "ssm:ParameterMapping",
        '<ssm:MappingEntry source="a.width" target="a.u[1]"><ssc:LinearTransformation offset="1"/></ssm:MappingEntry>'
        '<ssm:MappingEntry source="a.width" target="b.u[1]" suppressUnitConversion="true"/>'
        '<ssm:MappingEntry source="a.count" target="b.count_in"><ssc:IntegerMappingTransformation>'
        '<ssc:MapEntry source="3" target="30"/></ssc:IntegerMappingTransformation></ssm:MappingEntry>'
        '<ssm:MappingEntry source="a.on" target="b.enable"><ssc:BooleanMappingTransformation>'
        '<ssc:MapEntry source="true" target="false"/></ssc:BooleanMappingTransformation></ssm:MappingEntry>',
        name="",
    )
    parameters = values(
        ("width", real(2000, "mm")),
        ("count", '<ssv:Integer value="3"/>'),
        ("on", '<ssv:Boolean value="true"/>'),
        ("label", '<ssv:String value="unmapped"/>'),
    )
    binding = (
        '<ssd:ParameterBindings><ssd:ParameterBinding source="data/set.ssv" prefix="a.">'
        '<ssd:ParameterMapping source="data/map.ssm"/></ssd:ParameterBinding></ssd:ParameterBindings>'
    )
    text = description(system(lag_component("a") + lag_component("b"), before=binding))
    made = load(text, {"data/set.ssv": parameters, "data/map.ssm": mapping})
    assert starts(made) == {"a": {"u[1]": 3.0}, "b": {"u[1]": 2000.0, "count_in": 30, "enable": False}}


def test_a_package_of_somebody_else_runs_like_the_same_system_made_directly(load, lag, tmp_path):
    theirs = load(
        description(
            system(
                lag_component("a", bindings=inline(("gain", real(2)), ("u[1]", real(1000, "mm")))) + INNER,
                wire("a/y[1]", "inner/in")
                + wire("inner/out", "a/u[1]", '<ssc:LinearTransformation factor="-1" offset="1"/>'),
            ),
            '<ssd:DefaultExperiment startTime="0" stopTime="1"/>',
        )
    )
    ours = Structure("ours")
    ours.add("a", lag, {"gain": 2.0, "u[1]": 1.0})
    ours.add("inner.lag", lag)
    ours.connect("a", "y[1]", "inner.lag", "u[1]")
    ours.connect("inner.lag", "y[1]", "a", "u[1]", factor=-1.0, offset=1.0)
    for name, one in (("theirs", theirs), ("ours", ours)):
        assert (
            CoSimulation(one, Schedule(step=0.01, stop=1.0), observers=[Recorder(tmp_path / f"{name}.h5")]).run().status
            == "completed"
        )
    with read_results(tmp_path / "theirs.h5") as one, read_results(tmp_path / "ours.h5") as two:
        assert np.ptp(two["a.y[1]"]) > 0.0
        # metres to millimetres and back costs two roundings per step
        assert np.abs(one["a.y[1]"] - two["a.y[1]"]).max() < 100 * 4 * np.finfo(float).eps


SELF = '<ssd:Component name="me" type="application/x-ssp-definition" source="#root"/>'
TWICE = "".join(
    f'<ssd:System name="s{k}" id="s{k}"><ssd:Elements>'
    + "".join(f'<ssd:Component name="{side}" type="application/x-ssp-definition" source="#s{k - 1}"/>' for side in "ab")
    + "</ssd:Elements></ssd:System>"
    for k in range(1, 40)
)
TWO = ("x", real(1)), ("y", real(2))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (system(SELF, more='id="root"'), "contains itself"),
        (system(system(lag_component("a"), name="s0", more='id="s0"') + TWICE), "more than 10000 elements"),
        (system(SELF.replace("#root", "#nobody")), "no system has the id 'nobody'"),
        (system(SELF.replace("#root", "Other.ssd")), "holds no description Other.ssd"),
        (system(SELF.replace("#root", "SystemStructure.ssd")), "contains itself"),
        (system(SELF.replace("definition", "package").replace("#root", "x.ssp")), "holds no package x.ssp"),
        (system(bus("radio", "inout")), "has a signal dictionary 'air'"),
        (
            system(lag_component("a", bindings='<ssd:ParameterBinding type="text/csv"/>')),
            "parameter sets of type text/csv are not supported",
        ),
        (
            system(lag_component("a"), before=bound('source="https://x.y/z"')),
            "not a relative path in the package",
        ),
        (
            system(lag_component("a"), before=bound('source="a.ssv" sourceBase="component"')),
            "only FMUs and packages have parameter documents",
        ),
        (
            system(lag_component("a"), before=binding(*TWO, entries=[("y", "a.gain"), ("x", "a.gain")])),
            r"2 entries of a parameter mapping give 'a.gain' a value \(x, y\)",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_resolved_is_refused_with_the_reason(load, text, reason):
    with pytest.raises(SspError, match=reason):
        load(description(text), say=[])


@pytest.mark.parametrize(("where", "what", "file"), [("more", "binding", "p.ssv"), ("mapping", "mapping", "p.ssm")])
def test_documents_that_are_given_twice_are_refused(load, where, what, file):
    """As a file of the package and inline: the schema wants one of them."""
    bindings = binding(("x", real(4)), entries=[("x", "a.gain")], **{where: f'source="{file}"'})
    held = {file: values(("x", real(5))) if what == "binding" else mapped_to(("x", "a.time"))}
    with pytest.raises(SspError, match=f"a parameter {what} has both the source {file} and inline content"):
        load(description(system(lag_component("a"), before=bindings)), held, say=[])


def test_an_empty_source_is_none(load):
    """The schema wants the source of what is written inline to be missing or empty."""
    made = load(description(system(lag_component("a"), before=binding(("x", real(4)), entries=[("x", "a.gain")]))))
    assert made.elements["a"].start["gain"] == 4.0


def test_packages_inside_each_other_without_end_are_refused(lag, tmp_path):
    file = pack(tmp_path / "0.ssp", {"SystemStructure.ssd": description(system(lag_component("a")))})
    for k in range(1, 10):
        inner = file.read_bytes()
        # only packages that a description refers to are opened
        refers = package_component("a", "in.ssp")
        file = pack(tmp_path / f"{k}.ssp", {"SystemStructure.ssd": description(system(refers)), "in.ssp": inner})
    with pytest.raises(SspError, match=r"packages are nested more than 8 deep"):
        read_ssp(file, tmp_path / "unpacked")


PLAIN = system(lag_component("a") + lag_component("b"), wire("a/y[1]", "b/u[1]"))


def test_an_empty_element_name_is_the_system_itself(load):
    """Some tools write startElement="" where the standard leaves the attribute out."""
    plain = description(system(lag_component("first") + INNER, wire("first/y[1]", "inner/in")))
    empty = plain.replace("<ssd:Connection startConnector", '<ssd:Connection startElement="" startConnector')
    empty = empty.replace(' endConnector="out"', ' endElement="" endConnector="out"')
    assert empty.count('Element=""') == 3
    assert wires(load(empty)) == wires(load(plain)) != {}


@pytest.mark.parametrize(
    ("unit", "remark"),
    [
        ("", "root.a.y[1]: the unit is empty, and treated as no unit"),
        ("furlong", "root.a.y[1]: the unit 'furlong' is not defined: a value in it cannot be converted"),
    ],
)
def test_units_that_say_nothing_are_remarked(load, tmp_path, unit, remark):
    text = description(PLAIN.replace('<ssc:Real unit="m"/>', f'<ssc:Real unit="{unit}"/>', 1))
    made = load(text, say=[remark])
    assert [(c.source, c.output) for c in made.connections] == [("a", "y[1]")]
    assert examine(tmp_path / "theirs.ssp") == ([], [remark])


def test_a_value_with_an_empty_unit_is_taken_as_it_is(load):
    element = lag_component("a", bindings=inline(("gain", '<ssv:Real value="4" unit=""/>')))
    text = description(system(element + lag_component("b"), wire("a/y[1]", "b/u[1]")))
    made = load(text, say=["root.a.gain: the unit is empty, and treated as no unit"])
    assert starts(made)["a"] == {"gain": 4.0}


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('Description version="1.0"', 'Description version="2.0"', "this document is in SSP 2.0;"),
        ("ssp-standard.org/SSP1/", "ssp-standard.org/SSP2/", "this document is in SSP 2, version 1.0;"),
    ],
)
def test_packages_of_ssp_2_are_refused_in_a_sentence(lag, tmp_path, old, new, found):
    text = description(PLAIN).replace(old, new)
    file = pack(tmp_path / "new.ssp", {"SystemStructure.ssd": text, "Lag.fmu": lag.read_bytes()})
    (fault,) = validate(file)
    assert f"SystemStructure.ssd: {found} only SSP 1.0 is supported" in fault
    assert "pattern" not in fault
    with pytest.raises(SspError, match=r"only SSP 1\.0 is supported"):
        read_ssp(file, tmp_path / "unpacked")


@pytest.mark.parametrize("factor", ["0", "INF"])
def test_a_unit_with_which_nothing_can_be_converted_is_refused(lag, tmp_path, factor):
    text = description(system(lag_component("first") + INNER)).replace('factor="0.001"', f'factor="{factor}"')
    assert f'factor="{factor}"' in text
    file = tmp_path / "test.ssp"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("SystemStructure.ssd", text)
        archive.write(lag, "resources/Lag.fmu")
    assert any("unit 'mm': factor" in problem for problem in validate(file))
    with pytest.raises(SspError, match="unit 'mm': factor"):
        read_ssp(file, tmp_path / "unpacked")


def without_units(lag, folder):
    """Lag.fmu whose variables have no units."""
    file = folder / "Bare.fmu"
    with zipfile.ZipFile(lag) as source, zipfile.ZipFile(file, "w") as sink:
        for name in source.namelist():
            data = source.read(name)
            if name == "modelDescription.xml":
                data = data.replace(b' unit="m"', b"")
            sink.writestr(name, data)
    return file.read_bytes()


def connectors(unit_in, unit_out):
    return (
        f'<ssd:Connector name="u[1]" kind="input"><ssc:Real unit="{unit_in}"/></ssd:Connector>'
        f'<ssd:Connector name="y[1]" kind="output"><ssc:Real unit="{unit_out}"/></ssd:Connector>'
    )


@pytest.mark.parametrize(
    ("given", "taken", "factor"), [("m", "m", 1.0), ("m", "mm", 1e3), ("mm", "m", 1e-3), ("mm", "mm", 1.0)]
)
def test_the_unit_of_a_connector_is_that_of_a_variable_that_has_none(load, lag, tmp_path, given, taken, factor):
    bare = without_units(lag, tmp_path)
    elements = lag_component("a", connectors("m", given), source="Bare.fmu")
    elements += lag_component("b", connectors(taken, "m"), source="Bare.fmu")
    made = load(description(system(elements, wire("a/y[1]", "b/u[1]"))), {"Bare.fmu": bare})
    assert made.transformation(made.connections[0]) == (pytest.approx(factor), 0.0)
    assert made.resolve("a.y[1]")[1].unit == given
    made.elements["a"].start |= {"u[1]": 1.0, "feed": 1.0}
    result = CoSimulation(made, Schedule(step=0.1, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    assert result.status == "completed"
    with read_results(tmp_path / "r.h5") as results:
        assert results.unit("a.y[1]") == given


def test_a_value_with_a_unit_is_converted_to_that_of_the_connector(load, lag, tmp_path):
    binding = inline(("u[1]", real(3.0, "m")))
    element = lag_component("a", connectors("mm", "mm"), bindings=binding, source="Bare.fmu")
    made = load(description(system(element)), {"Bare.fmu": without_units(lag, tmp_path)})
    assert starts(made)["a"]["u[1]"] == pytest.approx(3000.0)


def test_the_unit_of_the_fmu_applies_where_its_connector_has_another(load):
    elements = lag_component("a", connectors("m", "mm")) + lag_component("b", connectors("m", "m"))
    made = load(
        description(system(elements, wire("a/y[1]", "b/u[1]"))),
        say=[
            "a.y[1]: the connector is in mm, the variable of the FMU in m; values are in m, the unit of the connector "
            "is ignored"
        ],
    )
    assert made.transformation(made.connections[0]) == (1.0, 0.0)


def reference(inside, outside, more=""):
    """A description whose system is in another file, with a connector of each unit on both sides."""

    def typed(unit, kind):
        unit = f' unit="{unit}"' if unit else ""
        return (
            f'<ssd:Connectors><ssd:Connector name="in" kind="{kind}"><ssc:Real{unit}/></ssd:Connector></ssd:Connectors>'
        )

    inner = system(lag_component("lag"), wire("in", "lag/u[1]"), before=typed(inside, "input"))
    outer = (
        f'<ssd:Component name="sub" type="application/x-ssp-definition" source="Inner.ssd">{typed(outside, "input")}'
    )
    text = description(system(lag_component("a") + outer + "</ssd:Component>", wire("a/y[1]", "sub/in", more)))
    return text, {"Inner.ssd": description(inner)}


@pytest.mark.parametrize(("inside", "outside"), [("mm", ""), ("", "mm"), ("mm", "mm")])
def test_the_unit_of_a_reference_counts_where_the_system_has_none(load, inside, outside):
    """The number 2 in mm, added after the conversion to mm, is 0.002 m."""
    made = load(*reference(inside, outside, '<ssc:LinearTransformation factor="1" offset="2"/>'))
    assert wires(made)["a.y[1]", "sub.lag.u[1]"][:2] == (pytest.approx(1.0), pytest.approx(2e-3))


def test_the_unit_of_a_reference_that_contradicts_its_system_is_reported(load):
    text, members = reference("m", "mm")
    note = "sub.in: the connector is in mm, the connector of Inner.ssd in m, which applies"
    load(text, members, say=[note])


def test_documents_that_call_themselves_version_2_are_read_if_they_are_valid_in_1(load):
    """Read them as OMSimulator 3 writes them, with a mapping that maps nothing, and "None" for no unit."""
    sets = (
        values(("nobody", real(1.0, "None")))
        .replace('version="1.0"', 'version="2.0"', 1)
        .replace('<ssv:ParameterSet version="1.0"', '<ssv:ParameterSet version="2.0"')
    )
    mapping = document("ssm:ParameterMapping", "", None).replace(
        '<ssm:ParameterMapping version="1.0"', '<ssm:ParameterMapping version="2.0"'
    )
    binding = (
        '<ssd:ParameterBindings><ssd:ParameterBinding source="p.ssv"><ssd:ParameterMapping source="p.ssm"/>'
        "</ssd:ParameterBinding></ssd:ParameterBindings>"
    )
    sets = sets.replace('<?xml version="2.0"', '<?xml version="1.0"')
    load(
        description(system(lag_component("a"), before=binding)),
        {"p.ssv": sets, "p.ssm": mapping},
        say=[
            "p.ssv: calls itself version 2.0; its content is valid in SSP 1.0, and read as that",
            "p.ssm: calls itself version 2.0; its content is valid in SSP 1.0, and read as that",
            "p.ssv, nobody: the unit 'None' is not defined, and treated as no unit",
            "the values of nobody are ignored: their parameter mapping has no entry for them",
        ],
    )


@pytest.mark.parametrize(("xs", "ys", "points"), [
    ("0 1 2", "0 1 2", ((0.0, 1.0, 2.0), (0.0, 1.0, 2.0))), ("0 1", "0 1 2", None), ("0 INF", "0 1", None),
    ("0 NaN", "0 1", None),
])  # fmt: skip
def test_a_line_that_cannot_be_drawn_has_no_geometry(lag, tmp_path, xs, ys, points):
    """Regression: `dockfmu diagram` ended in a traceback."""
    line = wire("a/y[1]", "b/u[1]", f'<ssd:ConnectionGeometry pointsX="{xs}" pointsY="{ys}"/>')
    text = description(system(lag_component("a") + lag_component("b"), line))
    file = pack(tmp_path / "a.ssp", {"SystemStructure.ssd": text, "Lag.fmu": lag.read_bytes()})
    (connection,) = read_ssp(file, tmp_path / "out").description.system.connections
    assert connection.waypoints == points
    assert main(["diagram", str(file), "-o", str(tmp_path / "a.svg")]) == 0
