"""Messages between processes: every value survives a round trip, and malformed bytes are refused by name."""

import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dockfmu.master.errors import MasterError
from dockfmu.master.fmi.remote.messages import DEEPEST, MessageError, decode, encode

pytestmark = pytest.mark.quick

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.binary() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
@example({"\ud800": [float("nan"), -0.0]})
def test_what_is_encoded_comes_back(value):
    # repr tells -0.0 from 0.0 and takes nan for nan
    assert repr(decode(encode(value))) == repr(value)


@pytest.mark.parametrize("value", [object(), 2**63, {1, 2}, [np.zeros(3)]])
def test_other_values_are_refused(value):
    with pytest.raises(MasterError, match="cannot be passed to another process"):
        encode(value)


def test_numbers_of_numpy_become_plain():
    assert decode(encode([np.float64(0.5), np.int32(3), np.True_])) == [0.5, 3, True]


@given(st.binary())
@example(b"l\xff\xff\xff\xff")
@example(b"l\x01\x00\x00\x00" * 10_000)
@example(b"m\x01\x00\x00\x00NN")
@example(b"s\x01\x00\x00\x00\xff")
@example(b"i\x00")
@example(pickle.dumps(print))
def test_other_bytes_give_a_value_or_are_refused(data):
    try:
        decode(data)
    except MessageError:
        return


@given(VALUES, st.data())
def test_a_message_that_is_cut_off_is_refused(value, data):
    whole = encode(value)
    with pytest.raises(MessageError):
        decode(whole[: data.draw(st.integers(0, len(whole) - 1))])


def test_deep_lists_are_refused():
    deep = None
    for _ in range(DEEPEST + 1):
        deep = [deep]
    with pytest.raises(MessageError, match="levels"):
        decode(encode(deep))
