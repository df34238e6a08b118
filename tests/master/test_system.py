"""All problems of a system are found and reported together."""

import math

import pytest

from dockfmu.master.errors import ArchiveError, StructureError
from dockfmu.master.order import execution_order, loops
from dockfmu.master.system import Structure


@pytest.fixture
def pair(lag):
    system = Structure("pair")
    system.add("a", lag)
    system.add("b", lag)
    return system


def problems(system):
    with pytest.raises(StructureError) as caught:
        system.check()
    return list(caught.value.problems)


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        (("a", "y[1]", "c", "u[1]"), "there is no element 'c'"),
        (("a", "y[2]", "b", "u[1]"), "a has no variable 'y[2]'; did you mean y[1]"),
        (("a", "u[1]", "b", "u[1]"), "a.u[1] is not an output but input"),
        (("a", "y[1]", "b", "gain"), "b.gain is not an input but parameter"),
        (("a", "y[1]", "b", "enable"), "the output is Real, the input Boolean"),
        (("a", "count", "b", "u[1]"), "the output is Integer, the input Real"),
    ],
)
def test_connections_that_cannot_be(pair, connection, words):
    pair.connect(*connection)
    (problem,) = problems(pair)
    assert problem.startswith("connection {}.{} -> {}.{}: ".format(*connection))
    assert words in problem


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ({"substeps": 1.5}, "c: substeps must be an integer, not 1.5"),
        ({"every": "x"}, "c: every must be an integer, not 'x'"),
        ({"timeout": -1}, "c: the timeout must be a positive, finite time in s, not -1"),
        ({"timeout": float("nan")}, "not nan"),
    ],
)
def test_rates_and_time_limits_that_cannot_be(pair, lag, rate, words):
    with pytest.raises(StructureError, match=words):
        pair.add("c", lag, **rate)
    assert list(pair.elements) == ["a", "b"]


@pytest.mark.parametrize(("name", "value"), [("factor", "x"), ("offset", float("nan")), ("factor", 10**400)])
def test_factors_that_are_no_numbers(pair, name, value):
    with pytest.raises(StructureError, match=rf"connection a\.y\[1\] -> b\.u\[1\]: {name} must be a finite number"):
        pair.connect("a", "y[1]", "b", "u[1]", **{name: value})
    assert pair.connections == []


def test_two_sources_of_one_input(pair):
    pair.connect("a", "y[1]", "b", "u[1]")
    pair.connect("b", "y[1]", "b", "u[1]")
    assert "the input already has another source, a.y[1]" in problems(pair)[0]


def test_units_that_do_not_fit(third_party, tmp_path, lag):
    system = Structure("units")
    system.add("metres", lag)
    system.add("newtons", third_party.build(tmp_path, "Newtons", unit="N"))
    system.add("plain", third_party.build(tmp_path, "Plain", unit=None))
    system.add("odd", third_party.build(tmp_path, "Odd", unit="cubit"))
    system.connect("metres", "y[1]", "newtons", "u[1]")
    system.connect("metres", "y[1]", "odd", "u[1]")
    system.connect("metres", "y[1]", "plain", "u[1]")
    different, unknown = problems(system)
    assert "units 'm' and 'N' measure different quantities" in different
    assert "'cubit' is not defined" in unknown
    system.connections = [c for c in system.connections if c.target == "plain"]
    system.connect("metres", "y[1]", "newtons", "u[1]", factor=3.0, convert_units=False)
    system.check()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("gian", 1.0, "has no variable 'gian'; did you mean gain"),
        ("gain", -1.0, "less than its minimum 0"),
        ("gain", 1001.0, "more than its maximum 1000"),
        ("gain", float("nan"), "must be a finite number"),
        ("gain", "1", "must be a finite number"),
        ("count_in", 1.5, "takes integers"),
        ("enable", 2, "must be a Boolean"),
        ("label", 3, "must be a String"),
        ("y[1]", 1.0, "cannot be set: it is an output that the FMU calculates"),
    ],
)
def test_start_values_that_do_not_fit(pair, name, value, words):
    pair.elements["b"].start[name] = value
    (problem,) = problems(pair)
    assert problem.startswith(f"b.{name}" if name != "gian" else "b ")
    assert words in problem


def test_all_problems_are_told_together(pair):
    pair.connect("a", "y[1]", "b", "v")
    pair.elements["a"].start["gain"] = -1.0
    pair.order = ("a",)
    assert len(problems(pair)) == 3


def test_an_fmu_that_is_not_there(tmp_path):
    system = Structure("missing")
    system.add("a", tmp_path / "missing.fmu")
    with pytest.raises(ArchiveError, match=r"missing\.fmu: there is no such file"):
        system.check()


def test_names_are_resolved_and_selected(pair):
    assert pair.resolve("a.fail.time")[1].name == "fail.time"
    with pytest.raises(StructureError, match="names no element of system pair"):
        pair.resolve("c.y[1]")
    assert pair.select("*.y[1]") == ["a.y[1]", "b.y[1]"]
    assert pair.select("b.*", ["parameter"])[0] == "b.gain"
    assert pair.select("a.y1") == []
    assert pair.select("a.*", types=("Boolean", "String")) == ["a.high", "a.text"]
    with pytest.raises(StructureError, match=r"^a is an element; name a variable of it, a\.VARIABLE$"):
        pair.resolve("a")


def test_the_order_of_execution_follows_the_connections(lag):
    system = Structure("chain")
    for name in "abcd":
        system.add(name, lag)
    for source, target in ("da", "ab", "ba", "bc"):
        system.connect(source, "y[1]" if source + target != "ba" else "through", target, "u[1]")
    assert system.execution_order() == ("d", "a", "b", "c")
    system.order = ("c", "b", "a", "d")
    assert system.execution_order() == ("c", "b", "a", "d")


def test_loops_of_a_graph():
    edges = [(1, 2), (2, 3), (3, 1), (3, 4), (5, 5)]
    assert loops([1, 2, 3, 4, 5], edges) == [(1, 2, 3), (5,)]
    assert execution_order([4, 3, 2, 1, 5], edges) == (3, 2, 1, 4, 5)
    assert loops([], []) == []


def test_an_infinite_start_value_may_be_set_again_and_no_other_value_may_be_infinite(third_party, tmp_path):
    """A limit that begins at infinity is none."""
    xml = third_party.description().replace('<Real start="1" min="0" max="1000"/>', '<Real start="INF"/>')
    file = third_party.build(tmp_path, xml=xml)
    for value, found in ((math.inf, []), (1.0, []), (-math.inf, ["a.gain = -inf: must be a finite number"])):
        system = Structure("limit")
        system.add("a", file, {"gain": value})
        assert (problems(system) if found else system.check() or []) == found


def test_a_name_of_any_length_makes_a_message_that_can_be_read(pair):
    with pytest.raises(StructureError, match="the system pair has no element 'xxx") as caught:
        pair.element("x" * 5000)
    assert len(str(caught.value)) < 500
