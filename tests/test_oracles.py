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
    """Names of the test functions of a file, as pytest collects them; none of a file that is not there."""
    if not file.is_file():
        return frozenset()
    return frozenset(
        node.name
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def test_the_tests_that_the_table_of_oracles_names_exist():
    assert [f"{file}::{name}" for file, name in NAMED if name not in collected(TESTS / file)] == []


def test_the_table_names_each_specification():
    assert len(NAMED) > 100
    text = TABLE.read_text(encoding="utf-8")
    assert all(f"\n## {spec} " in text for spec in ("00", "01", "02", "03", "04", "05", "06", "07", "08"))


LISTS = {
    "01": ("KO", 13),
    "02": ("DO", 19),
    "03": ("H", 11),
    "04": ("S", 15),
    "05": ("T", 28),
    "07": ("T", 36),
    "08": ("O", 40),
}


@pytest.mark.parametrize("spec", LISTS)
def test_every_oracle_of_a_specification_has_a_row(spec):
    """Also those of a row for several, "O1, O2" or "O15 to O17"."""
    letters, last = LISTS[spec]
    found = set()
    for section in TABLE.read_text(encoding="utf-8").split("\n## ")[1:]:
        # the stand and the systems of berthing have tables of their own, oracles of 08 among them
        if section.startswith(spec) or (spec == "08" and section.startswith("Stand")):
            for row in re.findall(r"^\|([^|]*)\|", section, flags=re.MULTILINE):
                found |= {int(number) for number in re.findall(rf"\b{letters}(\d+)", row)}
                for first, end in re.findall(rf"\b{letters}(\d+) to {letters}(\d+)", row):
                    found |= set(range(int(first), int(end) + 1))
    assert found >= set(range(1, last + 1))
