"""Whatever is called in whatever order with whatever arguments: no crash, a message for each error, and afterwards a
reset instance runs as a new one."""

import ctypes
from math import inf, nan

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fmus.library import DISCARD, ERROR, OK, Instance

REALS = st.sampled_from([0.0, 0.1, -0.1, 0.2, 1.0, 2.0, 1e300, nan, inf, -inf])
INTEGERS = st.sampled_from([-(2**31), -1, 0, 1, 2, 3, 2**31 - 1])
REFERENCES = st.one_of(st.integers(0, 60), st.sampled_from([10_000, 2**31, 2**32 - 1]))
COUNTS = st.integers(0, 3)
ARRAYS = st.tuples(COUNTS, st.lists(REFERENCES, min_size=3, max_size=3), st.booleans(), st.booleans())

CALLS = st.one_of(
    st.tuples(st.sampled_from(["EnterInitializationMode", "ExitInitializationMode"])),
    st.tuples(st.sampled_from(["Terminate", "Reset", "CancelStep"])),
    st.tuples(st.just("SetupExperiment"), REALS, st.booleans(), REALS),
    st.tuples(st.just("DoStep"), REALS, REALS),
    st.tuples(st.sampled_from(["GetReal", "SetReal"]), ARRAYS, st.lists(REALS, min_size=3, max_size=3)),
    st.tuples(
        st.sampled_from(["GetInteger", "SetInteger", "GetBoolean", "SetBoolean", "GetString", "SetString"]),
        ARRAYS,
        st.lists(INTEGERS, min_size=3, max_size=3),
    ),
    st.tuples(
        st.sampled_from(["SetRealInputDerivatives", "GetRealOutputDerivatives"]),
        ARRAYS,
        st.lists(REALS, min_size=3, max_size=3),
        st.lists(st.integers(0, 2), min_size=3, max_size=3),
    ),
    st.tuples(st.just("GetDirectionalDerivative"), ARRAYS, ARRAYS, st.lists(REALS, min_size=3, max_size=3)),
    st.tuples(st.sampled_from(["save", "restore", "round trip"])),
    st.tuples(
        st.sampled_from(["GetStatus", "GetRealStatus", "GetIntegerStatus", "GetBooleanStatus", "GetStringStatus"]),
        st.integers(-1, 5),
    ),
)


def doubles(values):
    return (ctypes.c_double * 3)(*values)


def unpack(array):
    """(count, references or NULL, whether the values are NULL) of an array argument."""
    count, references, has_references, has_values = array
    return ctypes.c_size_t(count), (ctypes.c_uint * 3)(*references) if has_references else None, has_values


class Caller:
    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.state = ctypes.c_void_p()

    def call(self, function: str, *arguments) -> int:
        instance = self.instance
        if function == "SetupExperiment":
            start, stops, stop = arguments
            return instance(function, 0, 0.0, start, int(stops), stop)
        if function == "DoStep":
            return instance(function, *arguments, 1)
        if function == "save":
            return instance("GetFMUstate", ctypes.byref(self.state))
        if function == "restore":
            return instance("SetFMUstate", self.state)
        if function == "round trip":
            if not self.state:
                return OK
            data, copy = instance.serialize(self.state), ctypes.c_void_p()
            status = instance("DeSerializeFMUstate", data, ctypes.c_size_t(len(data)), ctypes.byref(copy))
            return max(status, instance("SetFMUstate", copy), instance("FreeFMUstate", ctypes.byref(copy)))
        if function == "GetDirectionalDerivative":
            unknowns, knowns, direction = arguments
            n, u, room = unpack(unknowns)
            m, k, given_direction = unpack(knowns)
            return instance(
                function,
                u,
                n,
                k,
                m,
                doubles(direction) if given_direction else None,
                doubles([0.0] * 3) if room else None,
            )
        if function.endswith("Derivatives"):
            n, u, room = unpack(arguments[0])
            return instance(function, u, n, (ctypes.c_int * 3)(*arguments[2]), doubles(arguments[1]) if room else None)
        if function.endswith("Status"):
            return instance(function, arguments[0], ctypes.create_string_buffer(16))
        if function.endswith("String"):
            n, u, room = unpack(arguments[0])
            return instance(function, u, n, (ctypes.c_char_p * 3)(b"a", b"", None) if room else None)
        if arguments:
            n, u, room = unpack(arguments[0])
            kind = ctypes.c_double if function.endswith("Real") else ctypes.c_int
            return instance(function, u, n, (kind * 3)(*arguments[1]) if room else None)
        return instance(function)


def short_run(instance):
    assert instance.setup() == instance("EnterInitializationMode") == instance("ExitInitializationMode") == OK
    instance.set(signal=1.25, switch=1)
    assert instance.step(0.0, 0.5) == OK
    return [instance.get(name) for name in instance.library.variables]


@settings(max_examples=300)
@given(initialized=st.booleans(), calls=st.lists(CALLS, max_size=40))
def test_any_sequence_of_calls(gadget_library, initialized, calls):
    instance = gadget_library.running() if initialized else Instance(gadget_library)
    caller = Caller(instance)
    for call in calls:
        said = len(instance.log)
        status = caller.call(*call)
        assert status in (OK, DISCARD, ERROR), call
        if status == ERROR:
            assert any(level == ERROR and text for level, _, text in instance.log[said:]), call
    assert instance("Reset") == OK
    assert short_run(instance) == short_run(Instance(gadget_library))
    assert instance("FreeFMUstate", ctypes.byref(caller.state)) == OK
    instance.free()
