"""Numbers in JSON, and texts that any file can hold."""

import json
import math

import pytest

from dockfmu.base.messages import storable
from dockfmu.base.numbers import as_json

pytestmark = pytest.mark.quick


def refuse(word):
    raise ValueError(f"{word} is not JSON")


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_becomes_null(value):
    content = {"a": value, "b": [1.0, value, {"c": (value, "inf")}]}
    found = json.loads(as_json(content), parse_constant=refuse)
    assert found == {"a": None, "b": [1.0, None, {"c": [None, "inf"]}]}


def test_what_is_finite_stays():
    content = {"a": 1e308, "b": [True, None, -0.1, "x"]}
    assert json.loads(as_json(content), parse_constant=refuse) == content


def test_texts_that_files_cannot_hold_are_escaped():
    assert storable("mode \0 entered") == "mode \\0 entered"
    assert storable("\udcff") == "\\udcff"
    assert storable("Größe\n2") == "Größe\n2"
