"""Log messages of FMUs are formatted as C's printf would format them, without calling it."""

import ctypes
import math

import pytest

from dockfmu.master.fmi import log

pytestmark = pytest.mark.quick


@pytest.fixture
def say():
    """Call the logger as a C function would; return the message that arrives."""
    kept = log.Log()
    key = log.register(kept)
    # a call of the variadic function with arguments of known types, on which the platform's convention agrees
    function = ctypes.CDLL(None).printf.__class__(log.logger())
    function.restype = None

    def call(form, *arguments):
        function(
            ctypes.c_void_p(key),
            ctypes.c_char_p(b"name"),
            ctypes.c_int(1),
            ctypes.c_char_p(b"category"),
            ctypes.c_char_p(form),
            *arguments,
        )
        return kept.messages[-1].text

    yield call
    log.forget(key)


@pytest.mark.parametrize(
    ("form", "arguments", "text"),
    [
        (b"plain", (), "plain"),
        (b"100 %% done", (), "100 % done"),
        (b"%s and %s", (ctypes.c_char_p(b"one"), ctypes.c_char_p("zwölf".encode())), "one and zwölf"),
        (b"%d %i %u", (ctypes.c_int(-3), ctypes.c_int(7), ctypes.c_uint(4294967295)), "-3 7 4294967295"),
        (b"%lld %zu", (ctypes.c_int64(-(2**40)), ctypes.c_size_t(2**50)), f"{-(2**40)} {2**50}"),
        (b"%hhd %hu", (ctypes.c_int(255), ctypes.c_int(65537)), "-1 1"),
        (b"%x %#X %o", (ctypes.c_int(255), ctypes.c_int(255), ctypes.c_int(8)), "ff 0XFF 10"),
        (b"%c%c", (ctypes.c_int(65), ctypes.c_int(66)), "AB"),
        (b"%g %.3f", (ctypes.c_double(0.5), ctypes.c_double(math.pi)), "0.5 3.142"),
        (b"%10.2e|%-8g|", (ctypes.c_double(12345.0), ctypes.c_double(2.0)), "  1.23e+04|2       |"),
        (b"%*d %.*f", (ctypes.c_int(5), ctypes.c_int(42), ctypes.c_int(1), ctypes.c_double(0.25)), "   42 0.2"),
        (b"%.2s", (ctypes.c_char_p(b"abc"),), "ab"),
        (b"%d %g %d %g %d %g %d %g %d %g", tuple(f(k) for k in range(5) for f in (ctypes.c_int, ctypes.c_double)),
         "0 0 1 1 2 2 3 3 4 4"),
    ],
)  # fmt: skip
def test_formats(say, form, arguments, text):
    assert say(form, *arguments) == text


def test_a_string_that_is_none_stays_as_it_stands(say):
    assert say(b"at %s", ctypes.c_void_p(0)) == "at %s"
    assert say(b"at %s", ctypes.c_void_p(0xDEADBEEF000)) == "at %s"


def test_nothing_is_written_to_memory(say):
    target = ctypes.c_int(5)
    assert say(b"abc%n", ctypes.byref(target)) == "abc%n"
    assert target.value == 5


def test_the_last_complaint_is_kept_before_chatter():
    kept = log.Log()
    for status, text in (("fmi2Error", "too deep"), ("fmi2OK", "freeing")):
        kept.messages.append(log.LogMessage(status, "", text))
    assert kept.last == "too deep"
    assert log.Log().last == ""
