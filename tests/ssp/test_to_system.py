"""Packages become systems, systems become packages, and both run alike."""

import numpy as np
import pytest

from dockfmu.base.units import Unit
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from dockfmu.ssp.annotations import ELEMENT
from dockfmu.ssp.archive import read_ssp, write_ssp
from dockfmu.ssp.from_system import from_system
from dockfmu.ssp.model import (
    Annotation,
    BoundMapping,
    Connector,
    LinearTransformation,
    MappingEntry,
    MappingTable,
    ParameterBinding,
    ParameterMapping,
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
from dockfmu.ssp.to_system import apply_parameters, to_system
from dockfmu.ssp.validate import validate

U, Y = Connector("u[1]", "input", "Real"), Connector("y[1]", "output", "Real")
MM = Unit("mm", (0, 1, 0, 0, 0, 0, 0, 0), 1e-3)


def two_lags(file):
    system = Structure("two lags")
    system.add("a", file, {"gain": 2.0, "u[1]": 1.0})
    system.add("b", file, {"label": "second", "fail.function": 0, "enable": True})
    system.connect("a", "y[1]", "b", "u[1]", factor=2.0, offset=0.25)
    system.connect("a", "count", "b", "count_in")
    system.connect("a", "high", "b", "enable")
    return system


def component(name, **rest):
    return SsdComponent(name, "resources/Lag.fmu", connectors=[U, Y], **rest)


def package(lag, system, **rest):
    return Ssp(StructureDescription("test", system), resources={"resources/Lag.fmu": lag}, **rest)


def values(*parameters, name="set"):
    return SsvParameterSet(name, [SsvParameter(key, "Real", float(value)) for key, value in parameters])


def test_a_system_written_as_a_package_runs_bit_for_bit_alike(lag, tmp_path):
    direct = two_lags(lag)
    plan = Annotation.of_text("org.example.plan", "anything")
    file = write_ssp(from_system(direct, stop_time=1.0, step=0.01, annotations=[plan]), tmp_path / "two.ssp")
    assert validate(file) == []
    ssp = read_ssp(file, tmp_path / "unpacked")
    assert ssp.description.stop_time == 1.0
    assert ssp.description.annotation("org.example.plan").text == "anything"
    again, notes = to_system(ssp)
    assert notes == []
    assert again.connections == direct.connections
    assert {n: e.start for n, e in again.elements.items()} == {n: e.start for n, e in direct.elements.items()}
    for name, system in (("direct", direct), ("again", again)):
        result = CoSimulation(
            system, Schedule(step=0.01, stop=1.0), observers=[Recorder(tmp_path / f"{name}.h5")]
        ).run()
        assert result.status == "completed", result.message
    with read_results(tmp_path / "direct.h5") as one, read_results(tmp_path / "again.h5") as two:
        assert one.variables == two.variables
        for name in one.variables:
            assert np.array_equal(one[name], two[name])


def test_nested_systems_are_flattened_and_their_transformations_add_up(lag):
    inner = SsdSystem(
        "inner",
        elements=[component("b")],
        connectors=[Connector("in", "input", "Real"), Connector("out", "output", "Real")],
        connections=[
            SsdConnection(None, "in", "b", "u[1]", LinearTransformation(3.0, 1.0)),
            # start and end do not tell the direction
            SsdConnection(None, "out", "b", "y[1]"),
        ],
    )
    root = SsdSystem(
        "root",
        elements=[component("a"), inner, component("c")],
        connections=[
            SsdConnection("inner", "in", "a", "y[1]", LinearTransformation(2.0, 0.5)),
            SsdConnection("inner", "out", "c", "u[1]", suppress_unit_conversion=True),
        ],
    )
    system, _ = to_system(package(lag, root))
    assert list(system.elements) == ["a", "inner.b", "c"]
    first, second = sorted(system.connections, key=lambda c: c.source)
    assert (first.source, first.target, first.factor, first.offset) == ("a", "inner.b", 6.0, 2.5)
    assert (second.source, second.target, second.convert_units) == ("inner.b", "c", False)
    system.check()
    assert system.resolve("inner.b.y[1]")[0] == "inner.b"


def test_outer_bindings_win_over_inner_and_later_over_earlier(lag):
    inner = SsdSystem(
        "inner",
        elements=[component("b", bindings=[ParameterBinding(values=values(("gain", 1), ("nan_time", 11)))])],
        bindings=[ParameterBinding(values=values(("b.gain", 2), ("b.fail.time", 22)))],
        connectors=[Connector("stiffness", "parameter")],
        connections=[SsdConnection(None, "stiffness", "b", "gain")],
    )
    inner.elements[0].connectors.append(Connector("gain", "parameter", "Real"))
    root = SsdSystem(
        "root",
        elements=[inner, component("a")],
        bindings=[
            ParameterBinding(source="resources/outer.ssv"),
            ParameterBinding(values=values(("gain", 5)), prefix="a."),
            ParameterBinding(values=values(("inner.stiffness", 4))),
        ],
    )
    outer = values(("inner.b.gain", 3), ("a.gain", 3), ("a.gian", 1), ("nobody.gain", 1))
    system, notes = to_system(package(lag, root, parameter_sets={"resources/outer.ssv": outer}))
    assert system.elements["inner.b"].start == {"gain": 4.0, "nan_time": 11.0, "fail.time": 22.0}
    assert system.elements["a"].start == {"gain": 5.0}
    assert len(notes) == 2
    assert "a.gian" in notes[0]


def test_mappings_convert_units_first_and_then_transform(lag):
    parameters = SsvParameterSet(
        "set",
        [
            SsvParameter("length", "Real", 1500.0, "mm"),
            SsvParameter("raw", "Real", 1500.0, "mm"),
            SsvParameter("function", "Enumeration", "off"),
            SsvParameter("unmapped", "Real", 1.0),
        ],
        units=[UnitDefinition(MM)],
    )
    mapping = ParameterMapping(
        [
            MappingEntry("length", "u[1]", LinearTransformation(2.0, 1.0)),
            MappingEntry("raw", "gain", suppress_unit_conversion=True),
            MappingEntry("function", "fail.function", MappingTable("Enumeration", (("off", 0), ("on", 1)))),
        ]
    )
    element = component("a", bindings=[ParameterBinding(values=parameters, mapping=BoundMapping(mapping=mapping))])
    system, _ = to_system(package(lag, SsdSystem("root", elements=[element])))
    assert system.elements["a"].start == {"u[1]": 4.0, "gain": 1500.0, "fail.function": 0}


def test_a_parameter_file_is_laid_over_a_system(lag):
    system = two_lags(lag)
    notes = apply_parameters(system, values(("a.gain", 7), ("b.gian", 1), ("c.gain", 1)))
    assert system.elements["a"].start["gain"] == 7.0
    assert "did you mean gain" in notes[0]
    assert "'c.gain' names no element" in notes[1]


@pytest.mark.parametrize(
    ("variable", "kind", "value", "words"),
    [
        ("gain", "Boolean", True, "it is a Boolean, but gain is a Real"),
        ("gain", "String", "1", "it is a String, but gain is a Real"),
        ("gain", "Integer", 10**400, "an integer of 1329 bits: must be a finite number"),
        ("gain", "Real", float("inf"), "a.gain = inf: must be a finite number"),
        ("count_in", "Real", 1.0, "it is a Real, but count_in is a Integer"),
        ("count_in", "Boolean", True, "it is a Boolean, but count_in is a Integer"),
        ("count_in", "Integer", 2**31, "outside the range of 32-bit integers"),
        ("enable", "Integer", 1, "it is a Integer, but enable is a Boolean"),
    ],
)
def test_a_parameter_file_with_a_value_that_does_not_fit(lag, variable, kind, value, words):
    """In a file and in a package."""
    parameters = SsvParameterSet("mine.ssv", [SsvParameter(f"a.{variable}", kind, value)])
    (problem,) = apply_parameters(two_lags(lag), parameters)
    assert problem.startswith("mine.ssv: ")
    assert words in problem
    if words.startswith("it is"):
        root = SsdSystem("root", elements=[component("a")], bindings=[ParameterBinding(values=parameters)])
        with pytest.raises(StructureError, match=words):
            to_system(package(lag, root))


def test_whole_numbers_are_values_of_real_variables(lag):
    system = two_lags(lag)
    assert apply_parameters(system, SsvParameterSet("mine", [SsvParameter("a.gain", "Integer", 3)])) == []
    assert system.elements["a"].start["gain"] == 3.0


def test_a_parameter_that_is_given_twice_is_refused(lag):
    """In a file, in an .ssv of a package, and within its description."""
    twice = values(("a.gain", 5), ("a.gain", 6))
    told = "'a.gain' has 2 values: 5.0, 6.0"
    assert any(told in problem for problem in apply_parameters(two_lags(lag), twice))
    for binding, sets in (
        (ParameterBinding(values=twice), {}),
        (ParameterBinding(source="resources/p.ssv"), {"resources/p.ssv": twice}),
    ):
        root = SsdSystem("root", elements=[component("a")], bindings=[binding])
        with pytest.raises(SspError, match=told):
            to_system(package(lag, root, parameter_sets=sets))


def faulty(lag, **changes):
    """A package of two connected lags with one thing changed."""
    a, b = component("a"), component("b")
    link = SsdConnection("a", "y[1]", "b", "u[1]")
    for key, value in changes.items():
        setattr(link if hasattr(link, key) and key != "annotations" else a, key, value)
    return package(lag, SsdSystem("root", elements=[a, b], connections=[link]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"start_element": "aa"}, "there is no element 'aa'; did you mean a"),
        ({"end_connector": "u[2]"}, r"b has no connector 'u\[2\]'; did you mean u\[1\]"),
        ({"source": "resources/Lga.fmu"}, "holds no resources/Lga.fmu; did you mean resources/Lag.fmu"),
        ({"source": "../Lag.fmu"}, "points out of the package"),
        ({"source": "resources\\Lag.fmu"}, "has a backslash: a URI separates folders by /"),
        ({"source": "/etc/passwd"}, "points out of the package"),
        ({"source": "http://example.com/Lag.fmu"}, "not a relative path"),
        ({"name": "b"}, "two elements are called 'b'"),
        ({"connectors": [Connector("y[1]", "output", "Boolean")]}, "is Boolean, the variable of the FMU Real"),
        ({"connectors": [Y, Connector("z", "input")]}, "its FMU has no variable 'z'"),
        ({"bindings": [ParameterBinding(source="resources/none.ssv")]}, "holds no parameter set resources/none.ssv"),
        ({"type": "application/x-ssp-package"}, "holds no package resources/Lag.fmu"),
        ({"type": "text/plain"}, "only FMUs and systems"),
        ({"implementation": "ModelExchange"}, "model exchange"),
        ({"transformation": MappingTable("Integer", ((1, 2),))}, "tables of values do not apply to Real"),
        ({"annotations": [Annotation.of_text(ELEMENT, '{"substeps": 0}')]}, "substeps = 0, which is not positive"),
        ({"annotations": [Annotation.of_text(ELEMENT, '{"shell": "rm"}')]}, "says shell = 'rm'"),
        ({"annotations": [Annotation.of_text(ELEMENT, "[" * 100_000)]}, "cannot be read"),
    ],
)  # fmt: skip
def test_faulty_packages_are_refused_with_the_reason(lag, changes, words):
    with pytest.raises(SspError, match=words):
        to_system(faulty(lag, **changes))


def test_two_sources_on_one_input_are_refused(lag):
    ssp = faulty(lag)
    system = ssp.description.system
    system.elements.append(component("c"))
    system.connections.append(SsdConnection("b", "u[1]", "c", "y[1]"))
    with pytest.raises(StructureError, match="already has a source"):
        to_system(ssp)


def test_two_outputs_cannot_be_joined(lag):
    with pytest.raises(SspError, match="joins two sources"):
        to_system(faulty(lag, end_connector="y[1]"))


def test_validate_reports_damaged_archives(tmp_path):
    (tmp_path / "damaged.ssp").write_bytes(b"PK\x03\x04 no")
    assert "not a readable zip archive" in validate(tmp_path / "damaged.ssp")[0]
    assert "no such file" in validate(tmp_path / "missing.ssp")[0]


def test_connectors_that_feed_only_each_other_are_refused(lag):
    inner = SsdSystem(
        "inner",
        elements=[component("b")],
        connectors=[Connector("in", "input"), Connector("out", "output")],
        connections=[SsdConnection(None, "in", None, "out")],
    )
    root = SsdSystem("root", elements=[inner], connections=[SsdConnection("inner", "out", "inner", "in")])
    with pytest.raises(SspError, match=r"form a loop without a source: inner\.(in|out), inner\.(in|out)"):
        to_system(package(lag, root))


def test_what_the_standard_does_not_know_goes_along(lag, tmp_path):
    system = Structure("more")
    system.add("a", lag, substeps=4)
    system.add("b", lag, every=2, process=True, timeout=5)
    system.connect("a", "y[1]", "b", "u[1]", mean=True)
    system.connect("a", "count", "b", "count_in", table=((0, 7), (1, 8)))
    system.connect("a", "high", "b", "enable", table=((0, 1), (1, 0)))
    file = write_ssp(from_system(system), tmp_path / "more.ssp")
    assert validate(file) == []
    again, _ = to_system(read_ssp(file, tmp_path / "unpacked"))
    assert again.connections == system.connections
    for name, element in system.elements.items():
        found = again.elements[name]
        assert (found.substeps, found.every, found.process, found.timeout) == (
            element.substeps,
            element.every,
            element.process,
            element.timeout,
        )
