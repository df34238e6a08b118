"""Creation of instances and the state machine of the standard (FMI 2.0, section 4.2.4)."""

import ctypes

import pytest

from tests.fmus.library import DISCARD, ERROR, OK, Instance

# calls that need no other arguments, or harmless ones, and the phases in which the standard allows them
PHASES = ("instantiated", "initialization", "between steps", "discarded", "terminated", "failed")
ALLOWED = {
    "SetupExperiment": {"instantiated"},
    "EnterInitializationMode": {"instantiated"},
    "ExitInitializationMode": {"initialization"},
    "DoStep": {"between steps"},
    "Terminate": {"between steps", "discarded"},
    "Reset": set(PHASES),
    "SetDebugLogging": set(PHASES),
    "GetReal": set(PHASES) - {"instantiated"},
    "GetInteger": set(PHASES) - {"instantiated"},
    "GetBoolean": set(PHASES) - {"instantiated"},
    "GetString": set(PHASES) - {"instantiated"},
    "SetReal": {"instantiated", "initialization", "between steps"},
    "SetInteger": {"instantiated", "initialization", "between steps"},
    "SetBoolean": {"instantiated", "initialization", "between steps"},
    "SetString": {"instantiated", "initialization", "between steps"},
    "SetRealInputDerivatives": {"instantiated", "initialization", "between steps"},
    "GetRealOutputDerivatives": {"between steps", "discarded", "terminated", "failed"},
    "GetDirectionalDerivative": set(PHASES) - {"instantiated"},
    "GetFMUstate": set(PHASES),
    "CancelStep": set(),
    "GetStatus": {"between steps", "discarded", "terminated", "failed"},
    "GetRealStatus": {"between steps", "discarded", "terminated", "failed"},
    "GetBooleanStatus": {"between steps", "discarded", "terminated", "failed"},
    "GetStringStatus": {"between steps", "discarded", "terminated", "failed"},
}


def arguments(function: str):
    none, zero = None, ctypes.c_size_t(0)
    room = ctypes.create_string_buffer(16)
    if function == "SetupExperiment":
        return 0, 0.0, 0.0, 0, 0.0
    if function == "DoStep":
        return 0.0, 1e-3, 1
    if function == "SetDebugLogging":
        return 0, zero, none
    if function == "GetDirectionalDerivative":
        return none, zero, none, zero, none, none
    if function in ("SetRealInputDerivatives", "GetRealOutputDerivatives"):
        return none, zero, none, none
    if function == "GetFMUstate":
        return (ctypes.byref(ctypes.c_void_p()),)
    if function.endswith("Status"):
        return {"GetStatus": 0, "GetStringStatus": 1, "GetRealStatus": 2, "GetBooleanStatus": 3}[function], room
    if function[:3] in ("Get", "Set"):
        return none, zero, none
    return ()


def bring(library, phase: str) -> Instance:
    if phase == "instantiated":
        made = library.instance()
        assert made.setup() == OK
        return made
    if phase == "initialization":
        made = library.instance()
        assert made.setup() == made("EnterInitializationMode") == OK
        return made
    made = library.running()
    if phase == "discarded":
        assert made.step(0.0, 2.0) == DISCARD
    elif phase == "failed":
        made.set(mode=3)
        assert made.step(0.0, 0.1) == ERROR
    elif phase == "terminated":
        assert made("Terminate") == OK
    return made


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("function", ALLOWED)
def test_each_function_is_allowed_where_the_standard_says(gadget_library, function, phase):
    instance = bring(gadget_library, phase)
    instance.log.clear()
    status = instance(function, *arguments(function))
    if phase in ALLOWED[function]:
        assert status == OK, instance.messages
    else:
        assert status == ERROR
        assert f"fmi2{function}" in instance.last
    instance.free()


def test_a_refused_call_leaves_the_instance_as_it_was(gadget_library):
    instance = gadget_library.running()
    assert instance.setup() == ERROR
    assert instance("ExitInitializationMode") == ERROR
    assert instance.step(0.0, 0.1) == OK


def test_initialization_needs_an_experiment(gadget_library):
    instance = gadget_library.instance()
    assert instance("EnterInitializationMode") == ERROR
    assert "fmi2SetupExperiment has not been called" in instance.last


@pytest.mark.parametrize(
    ("start", "stop", "text"),
    [
        (float("nan"), None, "cannot start at t = nan s"),
        (float("inf"), None, "cannot start at t = inf s"),
        (1.0, 0.0, "cannot run from t = 1 s to t = 0 s"),
        (0.0, float("nan"), "cannot run from t = 0 s to t = nan s"),
    ],
)
def test_impossible_experiments(gadget_library, start, stop, text):
    instance = gadget_library.instance()
    assert instance.setup(start, stop) == ERROR
    assert instance.last == f"fmi2SetupExperiment: an experiment {text}"


def test_message_ignores_a_stop_time_that_is_not_defined(gadget_library):
    instance = gadget_library.instance()
    assert instance("SetupExperiment", 0, 0.0, float("nan"), 0, 123.0) == ERROR
    assert "123" not in instance.last


def test_null_instance_is_an_error_and_no_crash(gadget_library):
    for function in ALLOWED:
        call = getattr(gadget_library.dll, f"fmi2{function}")
        converted = [ctypes.c_double(a) if isinstance(a, float) else a for a in arguments(function)]
        assert call(None, *converted) == ERROR
    gadget_library.dll.fmi2FreeInstance(None)


def test_version_and_types(gadget_library):
    assert gadget_library.dll.fmi2GetVersion() == b"2.0"
    assert gadget_library.dll.fmi2GetTypesPlatform() == b"default"


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"guid": b"{other}"}, "{other}"),
        ({"kind": 0}, "co-simulation only"),
        ({"name": b""}, "no name"),
        ({"name": None}, "no name"),
    ],
)
def test_refused_instantiation_says_why(gadget_library, wrong, text):
    instance = Instance(gadget_library, **wrong)
    assert instance.component is None
    status, category, message = instance.log[-1]
    assert (status, category) == (ERROR, "logStatusError")
    assert text in message


def test_missing_callbacks_are_no_crash(gadget_library):
    assert gadget_library.raw_instance(None) is None
    from tests.fmus.library import Callbacks

    nothing = gadget_library.raw_instance(ctypes.byref(Callbacks()))
    assert nothing is not None
    assert gadget_library.dll.fmi2DoStep(ctypes.c_void_p(nothing), ctypes.c_double(0), ctypes.c_double(1), 1) == ERROR
    gadget_library.dll.fmi2FreeInstance(ctypes.c_void_p(nothing))


def test_reset_gives_the_same_run_again(gadget_library):
    instance = gadget_library.running(parameters__gain=3.0)
    fresh = gadget_library.running()

    def run(which):
        which.set(signal=1.5)
        assert which.step(0.0, 0.1) == OK
        return which.get("total")

    run(instance)
    assert instance("Reset") == OK
    assert instance.setup() == instance("EnterInitializationMode") == OK
    assert instance.get("parameters.gain") == 2.0
    assert instance("ExitInitializationMode") == OK
    assert run(instance) == run(fresh)


def test_instances_do_not_share_anything(gadget_library):
    one, two = gadget_library.running(), gadget_library.running(parameters__gain=0.0)
    one.set(signal=1.0)
    two.set(signal=1.0)
    for k in range(3):
        assert one.step(0.1 * k, 0.1) == two.step(0.1 * k, 0.1) == OK
    assert one.get("total") == pytest.approx(0.3 * 12.0, abs=1e-15)
    assert two.get("total") == pytest.approx(0.3 * 10.0, abs=1e-15)
