"""Signals at every stage of a run: files are complete, and no signal is lost."""

import os
import signal
from contextlib import suppress

import h5py
import pytest

from dockfmu.base.errors import DockfmuError
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.run.interruption import Terminated, orderly, uninterrupted
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation


class Kills(Observer):
    """Sends a signal to this process in one of its calls, and remembers which calls have ended."""

    def __init__(self, call, number, *, swallow=False):
        self.call, self.number, self.swallow, self.done = call, number, swallow, []

    def _do(self, call):
        try:
            if call == self.call:
                os.kill(os.getpid(), self.number)
        except KeyboardInterrupt:
            if not self.swallow:
                raise
        self.done.append(call)

    def open(self):
        self._do("open")

    def begin(self, run):
        self._do("begin")

    def end(self, result):
        self._do("end")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_the_start_of_a_recording_leaves_a_complete_file(swing, tmp_path, number):
    kills = Kills("begin", number)
    run = CoSimulation(swing, Schedule(step=0.01, stop=1.0), observers=[kills, Recorder(tmp_path / "r.h5")]).open()
    with orderly(), pytest.raises(Terminated) as raised:
        run.run()
    assert raised.value.number == number
    assert kills.done == ["open", "begin", "end"]
    assert (run.result.status, run.result.signal) == ("stopped", number)
    with h5py.File(tmp_path / "r.h5") as file:
        assert file.attrs["status"] == "stopped"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_the_end_is_raised_when_all_files_are_closed(swing, tmp_path, number):
    run = CoSimulation(
        swing, Schedule(step=0.01, stop=1.0), observers=[Kills("end", number), Recorder(tmp_path / "r.h5")]
    ).open()
    with orderly(), pytest.raises(Terminated):
        run.run()
    with h5py.File(tmp_path / "r.h5") as file:
        assert (file.attrs["status"], file.attrs["t_end"]) == ("completed", 1.0)


def test_a_signal_whose_exception_was_swallowed_ends_the_run(swing):
    kills = Kills("open", signal.SIGINT, swallow=True)
    with orderly():
        result = CoSimulation(swing, Schedule(step=0.01, stop=1000.0), observers=[kills]).run()
        assert (result.status, result.signal) == ("stopped", signal.SIGINT)
        assert result.t_end < 1000.0
    with orderly():
        assert CoSimulation(swing, Schedule(step=0.01, stop=1.0)).run().status == "completed"


def test_an_error_counts_more_than_a_signal():
    def fail():
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGTERM)
            raise ValueError("first")

    with orderly(), pytest.raises(ValueError, match="first"):
        fail()


def test_handlers_are_restored():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with orderly():
        assert signal.getsignal(signal.SIGTERM) is not before[signal.SIGTERM]
        with uninterrupted():
            pass
    assert {number: signal.getsignal(number) for number in before} == before


def test_an_error_that_an_interruption_has_become_is_an_interruption():
    """Python 3.11 makes a RuntimeError of what is raised in `__set_name__`, as while a module is imported."""

    class Named:
        def __set_name__(self, owner, name):
            os.kill(os.getpid(), signal.SIGINT)

    with orderly(), pytest.raises(KeyboardInterrupt), orderly():
        type("Class", (), {"field": Named()})
    with pytest.raises(ValueError, match="own"), orderly():
        raise ValueError("an error of its own")


def test_a_library_that_swallows_an_interruption_and_then_fails_is_interrupted():
    """Dask did: an assertion on the loop that it had not started. An error of dockfmu still counts more."""

    def fail(error):
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        raise error

    with pytest.raises(Terminated) as raised, orderly():
        fail(AssertionError())
    assert raised.value.number == signal.SIGTERM
    with pytest.raises(DockfmuError, match="own"), orderly():
        fail(DockfmuError("an error of its own"))
