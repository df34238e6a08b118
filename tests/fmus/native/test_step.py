"""fmi2DoStep, its messages, and what can be asked about it."""

import ctypes
from threading import Thread

import pytest

from tests.fmus.library import DISCARD, ERROR, OK, Instance


def status_of(instance, kind, function, room):
    return instance(function, kind, ctypes.byref(room)), room.value


@pytest.mark.parametrize("h", [0.0, -1e-3, float("nan"), float("inf")])
def test_step_size_must_be_positive(gadget_library, h):
    instance = gadget_library.running()
    assert instance.step(0.0, h) == ERROR
    assert "is not positive" in instance.last
    assert instance.step(0.0, 0.1) == OK


def test_step_must_begin_where_the_last_one_ended(gadget_library):
    instance = gadget_library.running()
    assert instance.step(0.0, 0.1) == OK
    assert instance.step(0.0, 0.1) == ERROR
    assert instance.last.endswith("the step begins at t = 0 s, but the last one ended at t = 0.1 s")
    assert instance.step(0.1 + 1e-9, 0.1) == OK  # rounding of the importer
    assert instance.step(float("nan"), 0.1) == ERROR


def test_stop_time_is_not_passed(gadget_library):
    instance = gadget_library.instance()
    assert instance.setup(0.0, 0.3) == instance("EnterInitializationMode") == instance("ExitInitializationMode") == OK
    for k in range(3):
        assert instance.step(0.1 * k, 0.1) == OK  # 0.1 + 0.2 > 0.3
    assert instance.step(0.3, 0.1) == ERROR
    assert "beyond the stop time 0.3" in instance.last


def test_discarded_step_can_be_repeated_from_a_saved_state(gadget_library):
    instance = gadget_library.running(signal=1.0)
    assert instance.step(0.0, 0.5) == OK
    state, total = instance.save(), instance.get("total")
    assert instance.step(0.5, 1.5) == DISCARD
    assert instance.log[-1] == (
        DISCARD,
        "logStatusDiscard",
        "step at t = 0.5 s, h = 1.5 s: step of 1.500 s, 100%% too long for 1 s",
    )
    assert status_of(instance, 0, "GetStatus", ctypes.c_int()) == (OK, DISCARD)
    assert status_of(instance, 2, "GetRealStatus", ctypes.c_double()) == (OK, 0.5)
    assert status_of(instance, 3, "GetBooleanStatus", ctypes.c_int()) == (OK, 0)
    assert instance.step(0.5, 0.5) == ERROR
    assert instance("SetFMUstate", state) == OK
    assert instance.get("total") == total
    assert instance.step(0.5, 0.5) == OK
    assert status_of(instance, 0, "GetStatus", ctypes.c_int()) == (OK, OK)


@pytest.mark.parametrize("h", [5e-324, 1e-310])
def test_step_size_that_has_no_inverse_is_refused(gadget_library, h):
    instance = gadget_library.running()
    assert instance.step(0.0, h) == ERROR
    assert "does not change t = 0 s" in instance.last
    assert instance.step(0.0, 0.5) == OK
    assert instance.step(0.5, 1e-17) == ERROR  # the time would not move
    assert "does not change t = 0.5 s" in instance.last
    assert instance.step(0.5, 0.5) == OK


def test_what_is_no_number_is_an_error_and_never_an_output(gadget_library):
    """1e200 squared overflows in the kernel, which does not notice."""
    instance = gadget_library.running(signal=1e200)
    assert instance.step(0.0, 0.5) == ERROR
    assert instance.last == "step at t = 0 s, h = 0.5 s: square = inf is not finite"
    assert instance.step(0.0, 0.5) == ERROR
    assert instance.last.endswith("after an error (square = inf is not finite)")
    assert instance("Reset") == OK
    broken = gadget_library.instance(parameters__offset=-1e200)
    assert broken.setup() == broken("EnterInitializationMode") == OK
    assert broken("ExitInitializationMode") == ERROR
    assert "square = inf is not finite" in broken.last


def test_refusals_after_a_discarded_or_failed_step_repeat_the_reason(gadget_library):
    """An importer that logs the last message alone, or that does not log discards, still says why."""
    instance = gadget_library.running()
    assert instance.step(0.0, 1.5) == DISCARD
    for refused in (lambda: instance.step(0.0, 0.5), lambda: instance.try_set("signal", 1.0)):
        assert refused() == ERROR
        assert instance.last.endswith(
            "must not be called after a discarded step (step of 1.500 s, 100%% too long for 1 s)"
        )
    copy = Instance(gadget_library)
    assert copy("SetFMUstate", instance.save()) == OK
    assert copy.step(0.0, 0.5) == ERROR
    assert "100%% too long for 1 s" in copy.last
    failed = gadget_library.running(mode=3)
    assert failed.step(0.0, 0.1) == ERROR
    assert failed.step(0.0, 0.1) == ERROR
    assert failed.last.endswith("after an error (told to fail in step 1, gain 2)")
    assert failed("Reset") == OK
    assert failed("Terminate") == ERROR
    assert failed.last == "fmi2Terminate: must not be called before initialization mode"


def test_failed_step_says_why_and_the_instance_can_be_reset(gadget_library):
    instance = gadget_library.running(parameters__gain=0.125)
    assert instance.step(0.0, 0.1) == OK
    instance.set(mode=3)
    assert instance.step(0.1, 0.1) == ERROR
    assert instance.log[-1] == (
        ERROR,
        "outcome.limit_exceeded",
        "step at t = 0.1 s, h = 0.1 s: told to fail in step 2, gain 0.125",
    )
    assert instance.get("status.code") == 7
    assert instance.step(0.1, 0.1) == ERROR
    assert instance("Reset") == OK


def test_status_that_does_not_exist(gadget_library):
    instance = gadget_library.running()
    room = ctypes.create_string_buffer(16)
    for function in ("GetStatus", "GetRealStatus", "GetIntegerStatus", "GetBooleanStatus", "GetStringStatus"):
        assert instance(function, 9, room) == DISCARD
        assert instance(function, 0, None) == ERROR


def test_pending_status_and_cancel(gadget_library):
    instance = gadget_library.running()
    text = ctypes.c_char_p()
    assert instance("GetStringStatus", 1, ctypes.byref(text)) == OK
    assert text.value == b"no step is pending"
    assert instance("CancelStep") == ERROR
    assert "no step is pending" in instance.last
    assert instance.step(0.0, 0.1) == OK


def categories(instance):
    return {category for _, category, _ in instance.log}


def test_errors_are_told_without_logging_and_the_rest_by_category(gadget_library):
    silent = Instance(gadget_library, logging=False)
    assert silent.setup() == silent("EnterInitializationMode") == silent("ExitInitializationMode") == OK
    assert silent.log == []
    assert silent.step(0.0, 2.0) == DISCARD
    assert silent.log == []
    assert silent.step(0.0, 2.0) == ERROR
    assert categories(silent) == {"logStatusError"}

    def choose(instance, on, *names):
        block = (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
        return instance("SetDebugLogging", on, ctypes.c_size_t(len(names)), block)

    chosen = Instance(gadget_library, logging=False)
    assert choose(chosen, 1, "logStatusDiscard") == OK
    assert chosen.setup() == chosen("EnterInitializationMode") == chosen("ExitInitializationMode") == OK
    assert chosen.step(0.0, 2.0) == DISCARD
    assert categories(chosen) == {"logStatusDiscard"}
    assert choose(chosen, 1, "logNonsense") == ERROR
    assert "no category is called logNonsense" in chosen.last

    everything = Instance(gadget_library, logging=True)
    assert "instantiated" in everything.messages


def test_instances_may_run_in_parallel_threads(gadget_library):
    """ctypes releases the interpreter's lock during each call."""

    def run(instance, steps):
        instance.set(signal=1.0, switch=1)
        for k in range(steps):
            assert instance.step(k / 64, 1 / 64) == OK

    instances = [gadget_library.running() for _ in range(4)]
    threads = [Thread(target=run, args=(instance, 2000)) for instance in instances]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # gain 2 and 10 from the table; steps of a power of two add up exactly
    assert [instance.get("total") for instance in instances] == [12.0 * 2000 / 64] * 4
    assert [instance.get("counted") for instance in instances] == [2000] * 4
