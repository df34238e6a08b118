"""The page of the borders cites tests that are there."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
CITED = re.compile(r"`([^`\s]*)::(\w+)`")


def test_every_test_that_the_page_cites_is_there():
    lost, count, file = [], 0, ""
    for place, name in CITED.findall((ROOT / "docs" / "validation" / "borders.md").read_text(encoding="utf-8")):
        # an ellipsis stands for the file before
        file, count = (file if place == "…" else place), count + 1
        path = ROOT / "tests" / file
        if not path.is_file() or f"def test_{name}(" not in path.read_text(encoding="utf-8"):
            lost.append(f"{file}::{name}")
    assert not lost
    assert count > 60
