"""fmi2XxxFMUstate: a restored instance goes on bit by bit as it went on before."""

import ctypes
import random

from tests.fmus.library import ERROR, OK

SIGNALS = [random.Random(7).uniform(-3.0, 3.0) for _ in range(1000)]


def run(instance, first, last):
    trace = []
    for k in range(first, last):
        instance.set(signal=SIGNALS[k], held=SIGNALS[-k], switch=k % 2)
        assert instance.step(k / 128, 1 / 128) == OK
        trace.append((instance.get("total"), instance.get("held_total"), instance.get("counted")))
    return trace


def test_restored_state_reproduces_the_run(gadget_library):
    instance = gadget_library.running()
    run(instance, 0, 100)
    state = instance.save()
    data = instance.serialize(state)
    expected = run(instance, 100, 1000)
    assert instance("SetFMUstate", state) == OK
    assert run(instance, 100, 1000) == expected

    other = gadget_library.running(parameters__gain=1.0)
    copy = ctypes.c_void_p()
    assert other("DeSerializeFMUstate", data, ctypes.c_size_t(len(data)), ctypes.byref(copy)) == OK
    assert other("SetFMUstate", copy) == OK
    assert run(other, 100, 1000) == expected
    for each in (state, copy):
        assert instance("FreeFMUstate", ctypes.byref(each)) == OK
        assert each.value is None
    assert instance("FreeFMUstate", ctypes.byref(state)) == OK  # of nothing
    assert instance("FreeFMUstate", None) == OK


def test_a_state_is_used_again(gadget_library):
    instance = gadget_library.running()
    state = instance.save()
    place = state.value
    run(instance, 0, 3)
    later = instance.get("total")
    assert instance("GetFMUstate", ctypes.byref(state)) == OK
    assert state.value == place
    run(instance, 3, 5)
    assert instance("SetFMUstate", state) == OK
    assert instance.get("total") == later


def test_state_holds_phase_time_and_derivatives(gadget_library):
    """The rates of outputs and the derivatives of inputs that were set are part of what an importer sees."""
    instance = gadget_library.running()
    run(instance, 0, 2)
    one = ctypes.c_size_t(1)
    order, slope, rate = (ctypes.c_int * 1)(1), (ctypes.c_double * 1)(2.0), (ctypes.c_double * 1)()
    assert instance("SetRealInputDerivatives", instance.references("signal"), one, order, slope) == OK
    assert instance("GetRealOutputDerivatives", instance.references("total"), one, order, rate) == OK
    before = rate[0]
    state = instance.save()
    assert instance.step(2 / 128, 0.5) == OK
    total = instance.get("total")
    assert instance("Terminate") == OK
    assert instance("SetFMUstate", state) == OK
    assert instance("GetRealOutputDerivatives", instance.references("total"), one, order, rate) == OK
    assert rate[0] == before
    assert instance.step(2 / 128, 0.5) == OK
    assert instance.get("total") == total


def test_foreign_and_damaged_bytes_are_refused(gadget_library, oscillator_fmu, tmp_path):
    from tests.fmus.library import Library

    other = Library(oscillator_fmu, tmp_path).running()
    instance = gadget_library.running()
    data = instance.serialize(instance.save())
    room = ctypes.c_void_p()

    def load(content: bytes) -> int:
        return instance("DeSerializeFMUstate", content, ctypes.c_size_t(len(content)), ctypes.byref(room))

    assert load(other.serialize(other.save())) == ERROR
    assert load(data[:-8]) == ERROR
    assert load(b"") == ERROR
    assert load(bytes(len(data))) == ERROR
    assert "not a state of Gadget" in instance.last
    for place in (70, len(data) - 1):
        damaged = bytearray(data)
        damaged[place] ^= 1
        assert load(bytes(damaged)) == ERROR
        assert "damaged" in instance.last
    assert room.value is None
    assert load(data) == OK


def test_null_states(gadget_library):
    instance = gadget_library.running()
    size = ctypes.c_size_t()
    state = instance.save()
    assert instance("SetFMUstate", None) == ERROR
    assert instance("GetFMUstate", None) == ERROR
    assert instance("SerializedFMUstateSize", None, ctypes.byref(size)) == ERROR
    assert instance("SerializedFMUstateSize", state, None) == ERROR
    assert instance("SerializeFMUstate", state, None, ctypes.c_size_t(10)) == ERROR
    assert instance("SerializeFMUstate", state, ctypes.create_string_buffer(10), ctypes.c_size_t(10)) == ERROR
    assert "10 bytes are given" in instance.last
    assert instance("DeSerializeFMUstate", None, ctypes.c_size_t(1), ctypes.byref(ctypes.c_void_p())) == ERROR
