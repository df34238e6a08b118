"""Failed runs report where, when and why they failed, and keep what was recorded."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

ROOT = Path(__file__).parents[3]
DO_STEP = 1


def pair(lag, **faults):
    """Return two lags; the second, "craft", gets the start values `faults`, with dots for underscores."""
    system = Structure("pair")
    system.add("base", lag, {"u[1]": 1.0})
    system.add("craft", lag, {name.replace("_", ".", 1): value for name, value in faults.items()})
    system.connect("base", "y[1]", "craft", "u[1]")
    system.connect("craft", "y[1]", "base", "u[1]")
    system.connect("craft", "high", "base", "enable")
    return system


def test_discard_tells_how_far_the_fmu_came(lag):
    result = CoSimulation(
        pair(lag, fail_function=DO_STEP, fail_status=2, fail_time=0.25), Schedule(step=0.01, stop=1.0)
    ).run()
    assert "for a step of 0.01 s; it reached t = 0.25 s; a smaller macro step may help" in result.message
    assert "at t = 0.25 s (Lag.fmu); the FMU says" in result.message


def test_warnings_are_counted_and_do_not_end_the_run(lag):
    result = CoSimulation(
        pair(lag, fail_function=DO_STEP, fail_status=1, fail_time=0.5), Schedule(step=0.01, stop=1.0)
    ).run()
    assert result.status == "completed"
    (note,) = result.warnings
    assert "craft gave fmi2Warning 50 times" in note


def test_nan_in_an_output_is_found_in_its_step_and_named(lag, tmp_path):
    system = pair(lag, nan_time=0.5)
    system.elements["craft"].start = {"nan_time": 0.5}
    result = CoSimulation(system, Schedule(step=0.01, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    assert result.status == "failed"
    assert "craft: output y[1] became nan" in result.message
    assert "at t = 0.5 s" in result.message
    with read_results(tmp_path / "r.h5") as results:
        assert results.time[-1] == pytest.approx(0.49, rel=1e-12)
        assert np.isfinite(results["craft.y[1]"]).all()


def test_nan_in_an_output_that_nobody_gets_is_recorded_and_noted(lag, tmp_path):
    system = Structure("alone")
    system.add("craft", lag, {"nan_time": 0.5})
    result = CoSimulation(system, Schedule(step=0.01, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    assert result.status == "completed"
    (note,) = result.warnings
    assert note.startswith("craft.y[1] is not finite from t = 0.5 s on")
    with read_results(tmp_path / "r.h5") as results:
        assert np.isnan(results["craft.y[1]"]).sum() == 51


def test_an_fmu_that_cannot_be_loaded_leaves_a_result(lag, third_party, tmp_path):
    system = pair(lag)
    system.elements["craft"].file = third_party.build(tmp_path, platform="win32")
    result = CoSimulation(system, Schedule(step=0.01, stop=1.0)).run()
    assert result.status == "failed"
    assert "has no binaries/" in result.message


class Interrupt(Observer):
    """Observer that sends Ctrl-C when the run has reached `at`."""

    def __init__(self, at):
        self.at, self.pressed = at, False

    def progress(self, time, wall):
        if time >= self.at and not self.pressed:
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_stops_the_run_and_keeps_what_it_has(lag, tmp_path):
    before = signal.getsignal(signal.SIGINT)
    result = CoSimulation(
        pair(lag),
        Schedule(step=1e-3, stop=1e6),
        observers=[Interrupt(0.5), Recorder(tmp_path / "r.h5", ["craft.y[1]"])],
    ).run()
    assert result.status == "stopped"
    assert "interrupted at t = " in result.message
    assert signal.getsignal(signal.SIGINT) is before
    with read_results(tmp_path / "r.h5") as results:
        assert results.attributes["status"] == "stopped"
        assert results.time[-1] == pytest.approx(result.t_end, rel=1e-12)


def test_ctrl_c_is_heard_within_a_fifth_of_a_second(lag):
    heard = []

    class Clock(Observer):
        def progress(self, time, wall):
            heard.append(wall)

    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    result = CoSimulation(pair(lag), Schedule(step=1e-3, stop=1e9), observers=[Clock()]).run()
    timer.join()
    assert result.status == "stopped"
    # what Ctrl-C waits for is the longest time between two returns to Python; the machine may be busy
    assert np.median(np.diff(heard)) < 0.2


class Faulty(Observer):
    def progress(self, time, wall):
        raise RuntimeError("a fault of an observer")


def test_the_fault_of_an_observer_does_not_cost_the_others_their_data(lag, tmp_path):
    with pytest.raises(RuntimeError, match="a fault of an observer"):
        CoSimulation(pair(lag), Schedule(step=0.01, stop=1.0), observers=[Recorder(tmp_path / "r.h5"), Faulty()]).run()
    with read_results(tmp_path / "r.h5") as results:
        assert results.attributes["status"] == "failed"
        assert len(results.time) > 1


def test_a_full_disk_fails_the_run_with_the_reason(lag, tmp_path, monkeypatch):
    recorder = Recorder(tmp_path / "r.h5")

    def full(self, *arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dockfmu.master.observers.recording.datasets.GrowingTable.append", full)
    result = CoSimulation(pair(lag), Schedule(step=0.01, stop=1.0), observers=[recorder]).run()
    assert result.status == "failed"
    assert "r.h5: cannot be written" in result.message
    assert "No space left on device" in result.message


KILLED = """
import os, sys
from pathlib import Path
from dockfmu.master.observers.recording import recorder, row_writer
from dockfmu.master.observers.observer import Observer
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

row_writer.FLUSH_S = 0.0

class Kill(Observer):
    def progress(self, time, wall):
        if time > 5.0:
            os.kill(os.getpid(), 9)

system = Structure("killed")
system.add("lag", Path(sys.argv[1]), {"u[1]": 1.0})
observers = [recorder.Recorder(Path(sys.argv[2]), ["lag.y[1]"]), Kill()]
CoSimulation(system, Schedule(step=1e-3, stop=1e6), observers=observers).run()
"""


def test_a_killed_process_leaves_a_readable_recording(lag, tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(lag), str(tmp_path / "r.h5")], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    with read_results(tmp_path / "r.h5") as results:
        assert results.attributes["status"] == "running"
        assert results.time[-1] > 0.01
        y = results["lag.y[1]"]
        assert np.allclose(y, 1.0 - (1.0 - 1e-3) ** np.arange(len(y)), rtol=1e-9, atol=1e-12)
