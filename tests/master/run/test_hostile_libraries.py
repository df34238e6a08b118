"""Libraries of FMUs that end or copy their process, or leave code running: no run is lost or doubled without a word."""

import subprocess
import sys

import pytest

from dockfmu.master.observers.recording.results import read_results
from dockfmu.report.comparison import open_run
from tests.master.fmus.habits import EXITS, FORKS, QUITS, READS, THREAD, TIMER

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="habits of POSIX")

PROGRAM = """
import sys, time
from pathlib import Path
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

file, habit, process, results = sys.argv[1:]
system = Structure("hostile")
system.add("a", Path(file), {"habit": int(habit)}, process=process == "apart")
result = CoSimulation(system, Schedule(step=0.1, stop=1.0), observers=[Recorder(Path(results))]).run()
time.sleep(0.2)
print(result.status)
"""


@pytest.fixture
def run(habits, tmp_path):
    """Return a function that runs the FMU with a habit in a process of its own."""

    def run(habit, where="here"):
        words = [sys.executable, "-c", PROGRAM, habits(), habit, where, tmp_path / "r.h5"]
        # a process that holds its standard output open is waited for
        return subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, timeout=100.0)

    return run


def rows(folder):
    with read_results(folder / "r.h5") as results:
        return len(results.time)


def test_an_exit_is_told_and_is_no_success(run):
    done = run(EXITS)
    assert done.returncode == 1
    assert "has ended this process by exit(): its results are incomplete" in done.stderr
    assert done.stdout == ""


def test_an_exit_of_a_separate_process_is_a_failure_of_its_run(run, tmp_path):
    done = run(EXITS, "apart")
    assert (done.returncode, done.stdout) == (0, "failed\n")
    assert rows(tmp_path) == 3


QUITTING = """
import sys, time
from pathlib import Path
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

system = Structure("hostile")
system.add("a", Path(sys.argv[1]), {"habit": int(sys.argv[2])})
with CoSimulation(system, Schedule(step=0.05, stop=1.0), observers=[Recorder(Path(sys.argv[3]))]).open() as run:
    for k in range(1, 21):
        run.advance(0.05 * k)
        time.sleep(0.2)
print("never")
"""


def test_what_was_on_disk_before_a_wordless_exit_is_read(habits, tmp_path):
    """Nothing of this process can tell of `_exit(0)`, whose status is that of a success: the recording does."""
    file = tmp_path / "results.h5"
    words = [sys.executable, "-c", QUITTING, habits(), QUITS, file]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, timeout=100.0)
    assert (done.returncode, done.stdout) == (0, "")
    run = open_run(file)
    assert run.summary["status"] == "killed"
    # rows wait for half a second at most
    assert 0.05 <= run.summary["t_end"] <= 0.25 + 1e-9


def test_a_wordless_exit_of_a_separate_process_is_a_failure_of_its_run(run, tmp_path):
    done = run(QUITS, "apart")
    assert (done.returncode, done.stdout) == (0, "failed\n")
    assert rows(tmp_path) == 3


@pytest.mark.parametrize("where", ["here", "apart"])
def test_a_copy_of_the_process_does_not_go_on(run, tmp_path, where):
    done = run(FORKS, where)
    assert (done.returncode, done.stdout) == (0, "completed\n"), done.stderr
    assert rows(tmp_path) == 11


@pytest.mark.parametrize("where", ["here", "apart"])
@pytest.mark.parametrize("habit", [THREAD, TIMER], ids=["thread", "timer"])
def test_code_that_is_left_running_stays_loaded(run, tmp_path, habit, where):
    done = run(habit, where)
    assert (done.returncode, done.stdout) == (0, "completed\n"), done.stderr
    assert rows(tmp_path) == 11


def test_one_that_reads_standard_input_finds_its_end(run):
    done = run(READS, "apart")
    assert (done.returncode, done.stdout) == (0, "completed\n"), done.stderr
