"""Outputs are passed to inputs before the first step, along chains and around loops."""

import itertools

import pytest

from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure


def chain(lag, names, start):
    system = Structure("chain")
    for name in names:
        system.add(name, lag, start)
    for source, target in itertools.pairwise(names):
        system.connect(source, "through", target, "u[1]")
    return system


def first_values(system, file, names):
    result = CoSimulation(
        system, Schedule(step=0.1, stop=0.1), observers=[Recorder(file, [f"{n}.through" for n in names])]
    ).run()
    with read_results(file) as results:
        return result, [results[f"{name}.through"][0] for name in names]


@pytest.mark.parametrize("order", ["abcd", "dcba", "bdac"])
def test_values_pass_along_a_chain_whatever_the_order_of_execution(lag, tmp_path, order):
    system = chain(lag, "abcd", {"feed": 2.0, "bias": 1.0})
    system.order = tuple(order)
    result, values = first_values(system, tmp_path / "r.h5", "abcd")
    assert values == [1.0, 3.0, 7.0, 15.0]
    assert result.warnings == []


def test_an_algebraic_loop_that_settles_is_solved_and_reported(lag, tmp_path):
    system = chain(lag, "ab", {"feed": 0.5, "bias": 1.0})
    system.connect("b", "through", "a", "u[1]")
    result, values = first_values(system, tmp_path / "r.h5", "ab")
    # x = y/2 + 1, y = x/2 + 1; substitution gains two bits a sweep
    assert values == pytest.approx([2.0, 2.0], rel=1e-11)
    (note,) = result.warnings
    assert "algebraic loop at the start" in note
    assert "a <-> b (a.through, b.through)" in note


def test_an_algebraic_loop_on_which_substitution_runs_away_is_solved_by_newton(lag, tmp_path):
    system = chain(lag, "ab", {"feed": 2.0, "bias": 1.0})
    system.connect("b", "through", "a", "u[1]")
    result, values = first_values(system, tmp_path / "r.h5", "ab")
    # x = 2 y + 1, y = 2 x + 1: each sweep makes the error four times larger
    assert values == pytest.approx([-1.0, -1.0], rel=1e-9)
    (note,) = result.warnings
    assert "solved by Newton's method: a <-> b (a.through, b.through)" in note


def test_an_algebraic_loop_without_a_solution_fails_by_name(lag):
    system = chain(lag, "ab", {"feed": 1.0, "bias": 1.0})
    system.connect("b", "through", "a", "u[1]")
    # x = y + 1, y = x + 1
    result = CoSimulation(system, Schedule(step=0.1, stop=1.0)).run()
    assert result.status == "failed"
    assert "algebraic loop a <-> b (a.through, b.through) does not converge" in result.message
    assert "finds no solution" in result.message
    assert result.t_end == 0.0


def test_a_loop_that_is_only_declared_is_passed_without_a_word(lag, third_party, tmp_path):
    xml = third_party.description().replace(' dependencies=""', "")
    unclear = third_party.build(tmp_path, "Unclear", xml=xml)
    system = Structure("loop")
    system.add("a", unclear)
    system.add("b", lag, {"feed": 3.0, "bias": 1.0})
    system.connect("a", "y[1]", "b", "u[1]")
    system.connect("b", "through", "a", "u[1]")
    result, (value,) = first_values(system, tmp_path / "r.h5", "b")
    assert value == 1.0
    assert result.warnings == []


@pytest.mark.parametrize("order", ["abc", "cba", "bca"])
def test_dependencies_that_a_description_denies_are_noticed(third_party, tmp_path, order):
    """`through` is declared to depend on nothing; the first row is right in any order, and the run warns of it."""
    xml = third_party.description().replace(' dependencies="1"', ' dependencies=""')
    system = chain(third_party.build(tmp_path, "Denier", xml=xml), "abc", {"feed": 2.0, "bias": 1.0})
    system.order = tuple(order)
    result, values = first_values(system, tmp_path / "r.h5", "abc")
    assert values == [1.0, 3.0, 7.0]
    if order == "abc":  # happens to be read in the order in which values pass
        assert result.warnings == []
        return
    (note,) = result.warnings
    assert "b.through depend on inputs that their model descriptions do not list (InitialUnknowns)" in note


def test_a_loop_that_is_denied_is_solved(third_party, tmp_path):
    xml = third_party.description().replace(' dependencies="1"', ' dependencies=""')
    system = chain(third_party.build(tmp_path, "Denier", xml=xml), "ab", {"feed": 2.0, "bias": 1.0})
    system.connect("b", "through", "a", "u[1]")
    result, values = first_values(system, tmp_path / "r.h5", "ab")
    # x = 2 y + 1, y = 2 x + 1: substitution runs away, Newton's method finds it
    assert values == pytest.approx([-1.0, -1.0], rel=1e-9)
    assert len(result.warnings) == 1


def test_tables_of_connections_hold_in_every_step(lag, tmp_path):
    system = Structure("table")
    system.add("a", lag)
    system.add("b", lag)
    system.connect("a", "count", "b", "count_in", table=[(0, 7), (1, 40)])
    CoSimulation(system, Schedule(step=0.1, stop=0.2), observers=[Recorder(tmp_path / "r.h5", ["b.count"])]).run()
    with read_results(tmp_path / "r.h5") as results:
        # after a step each: b counts 1 + table[1], then 2 + 2, which the table does not name
        assert list(results["b.count"][1:]) == [41, 4]
