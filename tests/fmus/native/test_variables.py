"""fmi2GetXXX and fmi2SetXXX."""

import ctypes

import pytest

from tests.fmus.library import ERROR, OK

NAN, INF = float("nan"), float("inf")
TYPES = ("Real", "Integer", "Boolean", "String")


def test_all_types_go_in_and_come_out(gadget_library):
    instance = gadget_library.running()
    instance.set(signal=2.5, switch=1, count=3, mode=1, command=-0.5)
    assert [instance.get(n) for n in ("signal", "switch", "count", "mode", "command")] == [2.5, 1, 3, 1, -0.5]
    assert instance.step(0.0, 0.1) == OK
    assert [instance.get(n) for n in ("active", "counted", "mode_now", "total")] == [1, 1, 1, 0.0]


def test_any_nonzero_boolean_is_true(gadget_library):
    instance = gadget_library.running(switch=17)
    assert instance.get("switch") == 1


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("signal", NAN, "signal = nan is not finite"),
        ("signal", -INF, "signal = -inf is not finite"),
        ("parameters.gain", 10.5, "parameters.gain = 10.5 lies outside [0, 10]"),
        ("parameters.gain", -1e-9, "parameters.gain = -1e-09 lies outside [0, 10]"),
        ("parameters.longest_step", 0.0, "parameters.longest_step = 0 lies outside [1e-06, inf]"),
        ("parameters.steps", 0, "parameters.steps = 0 lies outside [1, inf]"),
        ("count", 4, "count = 4 lies outside [1, 3]"),
        ("mode", 0, "mode = 0 lies outside [1, 3]"),
        ("total", 1.0, "total cannot be set from outside"),
        ("angle", 1.0, "angle cannot be set from outside"),
        ("status.code", 1, "status.code cannot be set from outside"),
    ],
)
def test_refused_values_are_named_with_their_bounds(gadget_library, name, value, text):
    instance = gadget_library.instance()
    assert instance.setup() == instance("EnterInitializationMode") == OK
    before = instance.get(name)
    assert instance.try_set(name, value) == ERROR
    assert instance.last.endswith(text)
    assert instance.get(name) == before


def test_a_refused_array_is_not_set_in_part(gadget_library):
    instance = gadget_library.running()
    values = (ctypes.c_double * 2)(1.0, NAN)
    assert instance("SetReal", instance.references("signal", "held"), ctypes.c_size_t(2), values) == ERROR
    assert instance.get("signal") == 0.0


def test_fixed_parameters_after_initialization(gadget_library):
    instance = gadget_library.running()
    assert instance.try_set("parameters.offset", 1.0) == ERROR
    assert instance.last.endswith("parameters.offset cannot be set after initialization")
    assert instance.try_set("parameters.gain", 1.0) == OK  # tunable


@pytest.mark.parametrize(
    ("function", "name", "text"),
    [
        ("GetReal", "count", "count is of type Integer or Enumeration"),
        ("GetInteger", "signal", "signal is of type Real"),
        ("GetInteger", "switch", "switch is of type Boolean"),
        ("GetBoolean", "mode", "mode is of type Integer or Enumeration"),
        ("GetString", "total", "total is of type Real"),
        ("SetReal", "switch", "switch is of type Boolean"),
        ("SetInteger", "signal", "signal is of type Real"),
        ("SetBoolean", "count", "count is of type Integer or Enumeration"),
        ("SetString", "signal", "signal is of type Real"),
    ],
)
def test_wrong_type(gadget_library, function, name, text):
    instance = gadget_library.running()
    room = ctypes.create_string_buffer(16)
    assert instance(function, instance.references(name), ctypes.c_size_t(1), room) == ERROR
    assert instance.last == f"fmi2{function}: {text}"


@pytest.mark.parametrize("function", [f"{way}{kind}" for way in ("Get", "Set") for kind in TYPES])
def test_value_references_that_do_not_exist_and_missing_arrays(gadget_library, function):
    instance = gadget_library.running()
    room = ctypes.create_string_buffer(16)
    hidden = len(gadget_library.variables)  # the first private slot follows the variables of this component
    for reference in (hidden, 10_000, 2**32 - 1):
        assert instance(function, (ctypes.c_uint * 1)(reference), ctypes.c_size_t(1), room) == ERROR
        assert f"no variable has the value reference {reference}" in instance.last
    assert instance(function, None, ctypes.c_size_t(1), room) == ERROR
    assert instance(function, instance.references("signal"), ctypes.c_size_t(1), None) == ERROR
    assert "NULL" in instance.last


def test_outputs_follow_what_is_set_in_initialization_mode(gadget_library):
    """`initialize` runs when an output is asked for, each time from the start values of all that is computed."""
    instance = gadget_library.instance()
    assert instance.setup() == instance("EnterInitializationMode") == OK
    assert (instance.get("total"), instance.get("angle")) == (0.0, 18.0)
    instance.set(parameters__offset=4.0)
    assert (instance.get("total"), instance.get("square")) == (4.0, 16.0)
    instance.set(parameters__offset=5.0)
    assert instance("ExitInitializationMode") == OK
    assert (instance.get("total"), instance.get("square")) == (5.0, 25.0)


def test_refused_initialization_says_why(gadget_library):
    instance = gadget_library.instance(parameters__offset=101.0)
    assert instance.setup(2.0) == instance("EnterInitializationMode") == OK
    assert instance("ExitInitializationMode") == ERROR
    assert instance.log[-1] == (ERROR, "logStatusError", "initialization at t = 2 s: offset 101 N is more than 100 N")
