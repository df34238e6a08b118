"""What the page of a live run may say: whatever arrives, it is a message or refused."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dockfmu.view.commands import LONGEST, Control, PageMessageError, read_message

pytestmark = pytest.mark.quick

CONTROLS = [
    Control("craft.control.force[1]", "stick", 900.0),
    Control("cyclogram.operator.abort", "button"),
    Control("cyclogram.operator.push", "choice", values=(-1.0, 0.0, 1.0)),
]


def read(content):
    found = read_message(json.dumps(content), CONTROLS)
    return found.word, found.value


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ({"drawn": 3}, ("drawn", 3)),
        ({"names": ["a", "b", "a"]}, ("names", ["a", "b"])),
        ({"take": True}, ("take", True)),
        ({"hold": False}, ("hold", False)),
        ({"speed": 20}, ("speed", 20.0)),
        ({"end": True}, ("end", True)),
        ({"set": []}, ("set", {})),
        ({"set": [[0, -0.5], [2, -1]]}, ("set", {"craft.control.force[1]": -450.0, "cyclogram.operator.push": -1.0})),
        ({"set": [[1, 1]]}, ("set", {"cyclogram.operator.abort": 1.0})),
    ],
)
def test_messages_mean_what_they_say(content, found):
    assert read(content) == found


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"set": [[0, 1.01]]}, "not between -1 and 1"), ({"set": [[1, 0.5]]}, "not one of 0, 1"),
        ({"set": [[2, 2]]}, "not one of -1, 0, 1"), ({"set": [[3, 0]]}, "there is no control 3"),
        ({"set": [[-1, 0]]}, "not a non-negative integer"), ({"set": [[0, True]]}, "not a number"),
        ({"set": [[0, 10**400]]}, "not a finite number"), ({"set": {"a": 1}}, "not a list"),
        ({"set": [[0, 0]] * 4}, "not a list of controls"),
        ({"speed": 0}, "between 0.01 and 100"), ({"speed": 1e9}, "between"), ({"speed": "1"}, "not a number"),
        ({"drawn": -1}, "not a non-negative integer"), ({"names": "x"}, "list of names"), ({"names": [1]}, "of names"),
        ({"hold": 1}, "neither true nor false"), ({"end": False}, "not true"), ({"run": 1}, "no message 'run'"),
        ({}, "one word"), ({"hold": True, "end": True}, "one word"), ([], "not an object"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused(content, says):
    with pytest.raises(PageMessageError, match=says):
        read(content)


@given(st.text() | st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["set", "speed", "names", "drawn"]), inner),
).map(json.dumps))  # fmt: skip
@example("[" * 10_000)
@example('{"set":' + "[" * 5_000)
@example('{"speed":NaN}')
@example('{"set":[[0,NaN]]}')
@example('{"set":[[0,Infinity]]}')
@example(" " * (LONGEST + 1))
@example("\ud800")
def test_nothing_else_happens_whatever_arrives(text):
    try:
        found = read_message(text, CONTROLS)
    except PageMessageError:
        return
    if found.word == "set":
        assert set(found.value) <= {control.variable for control in CONTROLS}
        assert all(abs(value) <= 900.0 for value in found.value.values())
    if found.word == "speed":
        assert 0.01 <= found.value <= 100.0
