"""What all tests share: how hypothesis searches, and FMUs that many of them need."""

import signal
import threading

import pytest
from hypothesis import settings

import fmus
from components.oscillator import component as oscillator_component
from tests.master.fmus import third_party as third_party_fmus

# the first call of a kernel compiles it: a deadline per example would fail by chance
settings.register_profile("dockfmu", deadline=None, derandomize=True)
settings.load_profile("dockfmu")


# a shell that starts the tests in the background has them ignore Ctrl-C, and all programs that they start
if threading.current_thread() is threading.main_thread():
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(scope="session")
def oscillator(tmp_path_factory):
    """Oscillator.fmu"""
    return fmus.build(oscillator_component(), tmp_path_factory.mktemp("oscillator"))


@pytest.fixture(scope="session")
def third_party():
    """The module that builds variants of `lag.c`."""
    return third_party_fmus


@pytest.fixture(scope="session")
def lag(tmp_path_factory, third_party):
    """A first-order lag y' = gain (u - y), explicit Euler, with Integer, Boolean and String variables."""
    return third_party.build(tmp_path_factory.mktemp("lag"))


@pytest.fixture(scope="session")
def lag12(tmp_path_factory, third_party):
    """The same with twelve inputs and outputs."""
    return third_party.build(tmp_path_factory.mktemp("lag12"), "Lag12", channels=12)
