"""The table of oracles names tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

TESTS = Path(__file__).parent
TABLE = TESTS.parent / "docs" / "validation" / "oracles.md"
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", TABLE.read_text(encoding="utf-8"))))


@cache
def collected(file: Path) -> frozenset[str]:
    """Names of the test functions of a file, as pytest collects them."""
    return frozenset(
        node.name
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_a_test_that_the_table_of_oracles_names_exists(file, name):
    assert name in collected(TESTS / file)


def test_the_table_names_each_specification():
    assert len(NAMED) > 100
    text = TABLE.read_text(encoding="utf-8")
    assert all(f"\n## {spec} " in text for spec in ("00", "01", "02", "03", "04", "05", "06", "07", "08"))
