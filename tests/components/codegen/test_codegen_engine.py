"""Graph, fold rules, small matrix algebra and emission: oracles O1 to O4 of symbolic and the rules R4 to R8."""

from collections import Counter

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from dockfmu.components.codegen import algebra
from dockfmu.components.codegen.emit import Program, Stage
from dockfmu.components.codegen.graph import Graph, Scalar

pytestmark = pytest.mark.quick


def counts(graph, *outputs):
    """(multiplications, additions) that the outputs need."""
    rows = graph.needed([x for out in outputs for x in np.ravel(np.asarray(out, object))])
    found = Counter(graph.rows[number].operation for number in rows)
    return found["*"], found["+"] + found["-"]


def general(graph):
    return graph.array("a", (3, 3))


def symmetric(graph):
    a = graph.array("a", (3, 3))
    for i in range(3):
        for k in range(i):
            a[i, k] = a[k, i]
    return a


def test_spec09_oracle_O1_formulas_are_identities():
    """(П.1) to (П.3) against plain products in SymPy, all axes."""
    w = np.array(sympy.symbols("w1:4"), object)
    inertia = np.array(sympy.symbols("i1:10"), object).reshape(3, 3)
    zero = np.zeros((3, 3), int)
    square = algebra.skew(w) @ algebra.skew(w)
    assert np.array_equal(np.vectorize(sympy.expand)(algebra.squared(w) - square), zero)
    inertia[~np.eye(3, dtype=bool)] = 0.0
    gyroscopic = algebra.gyroscopic(inertia, w) - algebra.cross(w, inertia @ w)
    assert all(sympy.expand(x) == 0 for x in gyroscopic)
    c, s = sympy.symbols("c s")
    a = np.array(sympy.symbols("a1:10"), object).reshape(3, 3)
    for axis in range(3):
        turn = algebra.rotation(axis, c, s)
        for symmetric_matrix in (False, True):
            b = (a + a.T) if symmetric_matrix else a
            error = algebra.congruence(axis, c, s, b, symmetric_matrix) - turn.T @ b @ turn
            assert all(sympy.expand(x) == 0 for x in error.ravel())


def test_spec09_oracle_O2_encoding_example():
    """Two bodies, joints z and y: two multiplications, no addition; signs in the references."""
    graph = Graph()
    q2, qd1, qd2 = (graph.input(name) for name in ("q2", "qd1", "qd2"))
    turn = algebra.rotation(1, q2.cos(), q2.sin())
    spin = turn @ algebra.array([0.0, 0.0, qd1]) + algebra.array([0.0, qd2, 0.0])
    assert counts(graph, spin) == (2, 0)
    assert spin[0].sign == -1
    assert spin[1].number == qd2.number
    assert spin[2].sign == 1


def test_spec09_oracle_O3_fold_rules():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    assert x * 0.0 == 0.0
    assert (x * 1.0).number == x.number
    assert (-1.0 * x).sign == -1
    assert (x + 0.0).number == x.number
    assert x - x == 0.0
    assert (x + x).number == (2.0 * x).number
    assert x.reciprocal() * x == 1.0
    assert (-x.reciprocal()) * x == -1.0
    assert x * (-x).reciprocal() == -1.0
    assert ((x - y).number, (x - y).sign) == ((y - x).number, -(y - x).sign)
    assert ((-x) * y).number == (x * y).number
    assert (x * y).number == (y * x).number
    folded = (0.1 * x) * 10.0
    assert isinstance(folded, Scalar)
    assert folded.number == x.number
    assert ((-x).sin().sign, (-x).cos().sign) == (-1, 1)
    assert (-x).cos().number == x.cos().number


def test_spec09_oracle_O4_operation_counts():
    """Congruence 15/9 symmetric, 12/9 with the products of sine and cosine at hand, 21/14 general, 10/5 special."""
    graph = Graph()
    q = graph.input("q")
    c, s = q.cos(), q.sin()
    assert counts(graph, algebra.congruence(0, c, s, symmetric(graph))) == (15, 9)
    graph = Graph()
    c, s = graph.input("q").cos(), graph.input("q").sin()
    assert counts(graph, algebra.congruence(0, c, s, general(graph), symmetric=False)) == (21, 14)
    a = symmetric(graph)
    a[2, 2] = a[1, 1]
    assert counts(graph, algebra.congruence(0, c, s, a)) == (10, 5)
    graph = Graph()
    inertia = np.diag(graph.array("i", 3))
    inertia[inertia == 0] = 0.0
    assert counts(graph, algebra.gyroscopic(inertia, graph.array("w", 3))) == (6, 3)


values = st.floats(-3.0, 3.0).filter(lambda x: abs(x) > 1e-3)


@given(st.lists(values, min_size=3, max_size=3), st.recursive(st.integers(0, 2) | values, lambda inner: st.tuples(
    st.sampled_from("+-*/"), inner, inner), max_leaves=25))  # fmt: skip
def test_folding_changes_no_value(numbers, tree):
    """Any expression of +, -, *, / folds to the value that plain arithmetic gives, where that is regular."""
    graph = Graph()
    inputs = graph.array("x", 3)

    def build(node, leaves):
        if isinstance(node, int):
            return leaves[node]
        if isinstance(node, float):
            return node
        operation, a, b = node[0], build(node[1], leaves), build(node[2], leaves)
        return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[operation]()

    try:
        expected, size = build(tree, numbers), build(tree, [abs(x) for x in numbers])
        found = graph.evaluate([build(tree, inputs)], lambda name: numbers[int(name[2])])[0]
    except ZeroDivisionError:
        return
    if abs(expected) < 1e6 and abs(size) < 1e6 and abs(expected) > 1e-3:
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_inverse_is_the_inverse(n):
    """Identity in SymPy for any matrix; one division."""
    a = np.array(sympy.symbols(f"a:{n * n}"), object).reshape(n, n)
    determinant, adjugate = algebra.determinant_and_adjugate(a)
    expected = sympy.Matrix(a)
    assert sympy.expand(determinant - expected.det()) == 0
    assert sympy.Matrix(adjugate).equals(expected.adjugate()) or (
        sympy.expand(sympy.Matrix(adjugate) - expected.adjugate()) == sympy.zeros(n)
    )
    graph = Graph()
    inverted, _ = algebra.inverse(graph.array("a", (n, n)))
    rows = graph.needed(inverted.ravel())
    assert Counter(graph.rows[k].operation for k in rows)["reciprocal"] == 1


def test_symmetric_solve():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(6, 6))
    a = a @ a.T + np.eye(6)
    b = rng.normal(size=6)
    np.testing.assert_allclose(algebra.solve_symmetric(a, b).astype(float), np.linalg.solve(a, b), rtol=1e-12)


def test_constants_are_snapped():
    turned = algebra.rotation(0, np.cos(np.pi / 2), np.sin(np.pi / 2)).astype(float)
    np.testing.assert_array_equal(algebra.snapped(turned), [[1, 0, 0], [0, 0, 1], [0, -1, 0]])


def two_stages():
    graph = Graph()
    x, y = graph.input("m.x"), graph.input("m.y")
    shared = x * y + 2.0
    first = Stage("first", ("m",), "One.")
    first.set("m.a", shared)
    dead = (x + y) * 7.0
    second = Stage("second", ("m",), "Two.")
    second.set("m.b", -shared * shared)
    second.add("m.c", x)
    assert dead is not None
    return Program(graph, [first, second], keep="m.kept")


def test_stages_keep_what_is_computed_and_drop_what_is_dead():
    program = two_stages()
    assert len(program.kept) == 1
    assert program.operations(0) == Counter({"*": 1, "+": 1})
    assert program.operations(1) == Counter({"*": 1, "+": 1})
    assert "7.0" not in program.source()
    assert program.source() == two_stages().source()


def test_reading_what_is_no_argument_is_refused():
    program = two_stages()
    program.stages[0].arguments = ("n",)
    with pytest.raises(ValueError, match="m is not an argument"):
        program.source()


def test_two_rows_cannot_share_a_name():
    graph = Graph()
    graph.label("a", graph.input("x"))
    with pytest.raises(ValueError, match="both be named a"):
        graph.label("a", graph.input("y"))
