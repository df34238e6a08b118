"""Mutants of a kernel: what is changed, that each is Python, and that functions in memory become it."""

import ast
import weakref
from pathlib import Path

import pytest

from tests.mutation.functions import Functions, apply
from tests.mutation.mutants import mutants
from tests.mutation.reach import Statements

pytestmark = pytest.mark.quick

SOURCE = '''
@kernel
def law(p, x):
    """Töne: 1 + 2 is no code."""
    y = p.k * x - 0.5
    p.force[0] = -y
    if y > 0.0 and x != 2:
        store(y, p)
    p.work += y
    return y


def plain(x):
    return x + 1
'''


def test_what_is_changed():
    found = {(mutant.kind, mutant.old, mutant.text) for mutant in mutants(Path("law.py"), SOURCE)}
    assert found == {
        ("arithmetic", "p.k * x - 0.5", "(p.k * x + 0.5)"),
        ("arithmetic", "p.k * x", "(p.k / x)"),
        ("sign", "p.k * x - 0.5", "-(p.k * x - 0.5)"),
        ("constant", "0.5", "0.75"),
        ("sign", "-y", "(y)"),
        ("dropped", "p.force[0] = -y", "pass"),
        ("constant", "0", "1"),
        ("comparison", "y > 0.0 and x != 2", "(y > 0.0 or x != 2)"),
        ("comparison", "y > 0.0", "(y <= 0.0)"),
        ("constant", "0.0", "1.0"),
        ("comparison", "x != 2", "(x == 2)"),
        ("constant", "2", "3"),
        ("dropped", "store(y, p)", "pass"),
        ("arithmetic", "p.work += y", "p.work -= y"),
        ("dropped", "p.work += y", "pass"),
    }


def test_every_mutant_is_another_program():
    """Offsets count bytes: the docstring has a letter of two."""
    original = ast.dump(ast.parse(SOURCE))
    for mutant in mutants(Path("law.py"), SOURCE):
        assert ast.dump(ast.parse(mutant.applied(SOURCE.encode()).decode())) != original


FILE = Path("/nowhere/law.py")
LAW = b"""
def kernel(function):
    return function


@kernel
def force(x):
    if x > 1.0:
        return 3.0 * x
    return 0.0


def made(k):
    @kernel
    def inner(x):
        return k + x

    return inner
"""


@pytest.fixture
def law():
    """The functions of LAW, as a module would hold them."""
    names = {}
    exec(compile(LAW, str(FILE), "exec"), names)
    return names


def test_functions_become_a_mutant_where_they_are_referred_to(law):
    kept, inner = law["force"], law["made"](2.0)
    apply(Functions().changes(FILE, LAW, LAW.replace(b"3.0", b"4.5").replace(b"k + x", b"k - x")))
    assert kept(2.0) == 9.0
    assert inner(1.0) == law["made"](2.0)(1.0) == 1.0


def test_a_proxy_of_what_is_gone_is_passed_over(law):
    gone = weakref.proxy(lambda: None)
    with pytest.raises(ReferenceError):
        isinstance(gone, int)
    assert law["force"] in [function for function, _ in Functions().changes(FILE, LAW, LAW)]


def test_a_statement_is_reached_when_it_is_run(law):
    statements = Statements({FILE: LAW})
    apply(statements.counting(Functions()))
    assert law["force"](0.5) == 0.0
    lines = {line for (_, line), number in statements.number.items() if statements.reached[number]}
    assert lines == {8, 10}
    assert all((FILE, mutant.statement) in statements.number for mutant in mutants(FILE, LAW.decode()))
