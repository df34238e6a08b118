"""Names that a pattern selects, and those that a wrong one suggests."""

import pytest

from dockfmu.base.names import did_you_mean, matching

pytestmark = pytest.mark.quick

NAMES = ["a.body.position[1]", "a.body.position[2]", "a.bodywork", "b.body", "b.x.y"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*", NAMES),
        ("a.body.position[1]", ["a.body.position[1]"]),
        ("a.body.position", ["a.body.position[1]", "a.body.position[2]"]),
        ("a.body", ["a.body.position[1]", "a.body.position[2]"]),
        ("a", NAMES[:3]),
        ("*.body", ["a.body.position[1]", "a.body.position[2]", "b.body"]),
        ("*[2]", ["a.body.position[2]"]),
        ("*y", ["a.body.position[1]", "a.body.position[2]", "b.body", "b.x.y"]),
        ("a.body.positio", []),
        ("a.body.position[?]", []),
        ("", []),
    ],
)
def test_a_pattern_selects(pattern, found):
    assert matching(pattern, NAMES) == found


def test_the_end_of_a_name_suggests_it():
    assert did_you_mean("mass", ["parameters.mass", "parameters.inertia"]) == "; did you mean parameters.mass?"
    assert did_you_mean("parameters.mas", ["parameters.mass"]) == "; did you mean parameters.mass?"
    assert did_you_mean("xyz", ["parameters.mass"]) == ""
    assert did_you_mean("", ["parameters.mass"]) == ""
