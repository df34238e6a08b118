"""Faults other than failing calls: floods of messages, messages from threads, signals."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dockfmu.master.fmi.instance import Fmu
from dockfmu.master.observers.recording.results import read_results

ROOT = Path(__file__).parents[3]

FLOOD = 14


def test_a_flood_of_messages_keeps_the_last_ones(lag):
    with Fmu(lag) as fmu:
        instance = fmu.instantiate("craft")
        instance.initialize()
        instance.set({"fail.function": 1, "fail.status": FLOOD})
        instance.step(0.0, 0.1)
        assert len(instance.log.messages) <= 200
        assert "fmi2DoStep fails on purpose" in instance.log.last


SIGNALLED = """
import os, sys
from pathlib import Path
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

class Signal(Observer):
    def progress(self, time, wall):
        if time > 5.0 and wall < 1e9:
            os.kill(os.getpid(), int(sys.argv[3]))

system = Structure("signalled")
system.add("lag", Path(sys.argv[1]), {"u[1]": 1.0})
observers = [Recorder(Path(sys.argv[2]), ["lag.y[1]"]), Signal()]
result = CoSimulation(system, Schedule(step=1e-3, stop=1e6), observers=observers).run()
print(result.status, result.message)
"""


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
def test_signals_end_a_run_in_order(lag, tmp_path, number, word):
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED, str(lag), str(tmp_path / "r.h5"), str(int(number))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.startswith(f"stopped {word} at t = "), done.stderr
    with read_results(tmp_path / "r.h5") as results:
        assert results.attributes["status"] == "stopped"
        assert results.time[-1] > 5.0


SPEAKING = """
import sys
from pathlib import Path
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

system = Structure("s")
system.add("craft", Path(sys.argv[1]), {"fail.function": 1, "fail.status": 15})
print(CoSimulation(system, Schedule(step=0.01, stop=0.1)).run().warnings)
"""


def test_an_fmu_that_speaks_from_a_thread_for_which_its_step_waits(lag):
    """The loop must release the GIL, which the message needs: otherwise both wait forever and the test times out."""
    done = subprocess.run(
        [sys.executable, "-c", SPEAKING, str(lag)], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert "craft gave fmi2Warning 10 times; last: 'by a thread'" in done.stdout
