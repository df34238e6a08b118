"""Mutants of a kernel: what is changed, and that each is Python."""

import ast
from pathlib import Path

import pytest

from tests.mutation.mutants import mutants

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
