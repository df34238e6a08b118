"""FMUs in separate processes give the same results, and their crashes do not take the run down."""

import ctypes
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from dockfmu.master.errors import FmuError
from dockfmu.master.fmi.description import read_description
from dockfmu.master.fmi.remote.messages import encode
from dockfmu.master.fmi.remote.process import RemoteInstance
from dockfmu.master.fmi.remote.shared_memory import SIZE, create
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes of FMUs are for Linux")

ROOT = Path(__file__).parents[3]
DO_STEP, GET_REAL, SET_REAL = 1, 2, 3
ENTER_INITIALIZATION, TERMINATE = 7, 13
BAD_ADDRESS, ABORT, EXIT, HANG, FLOOD = range(10, 15)


def pair(lag, process, timeout=60.0, **start):
    """Return two lags; the second, "craft", runs in a separate process if `process`."""
    system = Structure("pair")
    system.add("base", lag, {"u[1]": 1.0})
    start = {name.replace("_", ".", 1) if name.startswith("fail") else name: v for name, v in start.items()}
    system.add("craft", lag, start, process=process, timeout=timeout)
    system.connect("base", "y[1]", "craft", "u[1]")
    system.connect("craft", "y[1]", "base", "u[1]", factor=0.5)
    system.connect("craft", "high", "base", "enable")
    system.connect("base", "count", "craft", "count_in")
    return system


@pytest.fixture
def remote(lag):
    """Return an instance of the lag in another process."""
    instance = RemoteInstance(lag, read_description(lag), "craft", timeout=60.0)
    yield instance
    instance.free()


def test_the_results_are_those_of_one_process(lag, tmp_path):
    found = []
    for process in (False, True):
        file = tmp_path / f"{process}.h5"
        result = CoSimulation(
            pair(lag, process, gain=3.0), Schedule(step=0.01, stop=1.0), observers=[Recorder(file)]
        ).run()
        assert result.status == "completed", result.message
        with read_results(file) as results:
            names = [n for n in results.variables if results.attribute(n)["type"] != "String"]
            found.append(np.column_stack([results[name] for name in names]))
    assert np.array_equal(found[0], found[1])


def test_an_fmu_of_fmi3_in_a_process(arrays, tmp_path):
    found = []
    for process in (False, True):
        system = Structure("arrays")
        system.add("a", arrays, {"n": 4, "u[4]": 1.0, "names[2]": "z"}, process=process)
        system.connect("a", "y[4]", "a", "u[2]")
        file = tmp_path / f"{process}.h5"
        result = CoSimulation(
            system, Schedule(step=0.01, stop=0.5), observers=[Recorder(file, ["a.y[2]", "a.through[4]"])]
        ).run()
        assert result.status == "completed", result.message
        with read_results(file) as results:
            found.append(np.column_stack([results["a.y[2]"], results["a.through[4]"]]))
    assert np.array_equal(found[0], found[1])
    assert found[0][-1, 0] > 0.01


def test_values_states_and_refusals_pass(remote):
    remote.set({"u[1]": 1.0, "label": "Größe", "enable": True})
    assert remote.get(["u[1]", "label", "enable", "count"]) == [1.0, "Größe", True, 0]
    remote.initialize()
    state = remote.get_state()
    remote.step(0.0, 0.5)
    assert remote.get(["y[1]"]) == [0.5]
    remote.set_state(remote.deserialize(remote.serialize(state)))
    assert remote.get(["y[1]"]) == [0.0]
    remote.free_state(state)
    with pytest.raises(FmuError, match="craft: has no variable 'gian'"):
        remote.set({"gian": 1.0})
    remote.set({"fail.function": DO_STEP, "fail.status": 3})
    with pytest.raises(FmuError, match=r'craft: fmi2DoStep gave fmi2Error.*"fmi2DoStep fails on purpose') as caught:
        remote.step(0.5, 0.1)
    assert (caught.value.function, caught.value.status, caught.value.time) == ("fmi2DoStep", "fmi2Error", 0.5)


def test_a_refused_step_tells_how_far_it_came(lag):
    faulty = {"fail_function": DO_STEP, "fail_status": 2, "fail_time": 0.25}
    result = CoSimulation(pair(lag, True, **faulty), Schedule(step=0.01, stop=1.0)).run()
    assert "craft: fmi2DoStep gave fmi2Discard for a step of 0.01 s; it reached t = 0.25 s" in result.message


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (BAD_ADDRESS, "fmi2DoStep did not return: its process was ended by SIGSEGV"),
        (ABORT, "fmi2DoStep did not return: its process was ended by SIGABRT"),
        (EXIT, "fmi2DoStep did not return: its process ended with exit status 3"),
        (HANG, "fmi2DoStep has not returned after 3 s; its process was ended"),
    ],
)
def test_the_end_of_its_process_fails_the_run_and_keeps_the_results(lag, tmp_path, kind, words):
    faulty = {"fail_function": DO_STEP, "fail_status": kind, "fail_time": 0.5}
    recorder = Recorder(tmp_path / "r.h5", ["base.y[1]", "craft.y[1]"])
    result = CoSimulation(
        pair(lag, True, timeout=3.0 if kind == HANG else 60.0, **faulty),
        Schedule(step=0.01, stop=1.0),
        observers=[recorder],
    ).run()
    assert result.status == "failed"
    assert f"craft: {words} at t = 0.5 s" in result.message
    # the last words were spoken before the end
    assert 'the FMU says: "fmi2DoStep fails on purpose at 0.500 s' in result.message
    assert isinstance(result.error, FmuError)
    assert result.error.status == ("timeout" if kind == HANG else "crash")
    with read_results(tmp_path / "r.h5") as results:
        assert results.attributes["status"] == "failed"
        assert results.time[-1] == pytest.approx(0.5)


@pytest.mark.parametrize("function", [ENTER_INITIALIZATION, SET_REAL, GET_REAL, TERMINATE])
def test_a_crash_anywhere_is_told(lag, function):
    at = 0.1 if function in (SET_REAL, GET_REAL) else 0.0
    result = CoSimulation(
        pair(lag, True, fail_function=function, fail_status=ABORT, fail_time=at), Schedule(step=0.05, stop=0.2)
    ).run()
    told = result.message if function != TERMINATE else " ".join(result.warnings)
    assert "did not return: its process was ended by SIGABRT" in told
    assert result.status == ("completed" if function == TERMINATE else "failed")


def test_a_flood_of_messages_ends_nothing(lag):
    faulty = {"fail_function": DO_STEP, "fail_status": FLOOD, "fail_time": 0.08}
    result = CoSimulation(pair(lag, True, **faulty), Schedule(step=0.05, stop=0.1)).run()
    assert result.status == "completed", result.message


def test_a_process_that_is_killed_from_outside(lag):
    instance = RemoteInstance(lag, read_description(lag), "craft", timeout=60.0)
    instance.initialize()
    os.kill(instance.process.pid, signal.SIGKILL)
    with pytest.raises(FmuError, match="step did not return: its process was ended by SIGKILL"):
        instance.step(0.0, 0.1)
    with pytest.raises(FmuError, match="cannot be called: the FMU has ended"):
        instance.get(["y[1]"])
    instance.free()


def test_nothing_stays_behind(lag, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    instance = RemoteInstance(lag, read_description(lag), "craft", timeout=60.0)
    process = instance.process
    assert list(tmp_path.rglob("modelDescription.xml"))
    instance.free()
    assert process.returncode == 0
    assert not list(tmp_path.iterdir())


LEFT_OPEN = """
import sys, tempfile
from pathlib import Path
from dockfmu.master.fmi.description import read_description
from dockfmu.master.fmi.instance import Fmu
from dockfmu.master.fmi.remote.process import RemoteInstance

file = Path(sys.argv[1])
one = Fmu(file)
one.instantiate("a").initialize()
other = RemoteInstance(file, read_description(file), "b")
print(len(list(Path(tempfile.gettempdir()).rglob("modelDescription.xml"))))
"""


def test_what_nobody_closes_goes_with_the_process(lag, tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", LEFT_OPEN, str(lag)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["2"]
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, sys
from pathlib import Path
from dockfmu.master.fmi.description import read_description
from dockfmu.master.fmi.remote.process import RemoteInstance

file = Path(sys.argv[1])
instance = RemoteInstance(file, read_description(file), "a")
print(instance.process.pid, flush=True)
os.kill(os.getpid(), 9)
"""


def test_it_ends_with_a_master_that_is_killed(lag):
    done = subprocess.run([sys.executable, "-c", KILLED, str(lag)], cwd=ROOT, capture_output=True, check=False)
    pid = int(done.stdout)
    limit = time.monotonic() + 60.0
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_what_is_wrong_with_an_fmu_is_told_from_there(third_party, tmp_path):
    file = third_party.build(tmp_path, guid="description", library_guid="library")
    with pytest.raises(FmuError, match="GUID description is not library"):
        RemoteInstance(file, read_description(file), "craft")


def test_an_fmu_that_allows_one_instance_per_process_gets_more_of_them(third_party, tmp_path):
    xml = third_party.description().replace(
        'modelIdentifier="Lag"', 'modelIdentifier="Lag" canBeInstantiatedOnlyOncePerProcess="true"'
    )
    file = third_party.build(tmp_path, xml=xml)
    system = Structure("alone")
    for name in ("a", "b"):
        system.add(name, file, {"u[1]": 1.0})
    system.connect("a", "y[1]", "b", "u[1]")
    for _ in range(2):  # the second run needs a process for each
        result = CoSimulation(system, Schedule(step=0.01, stop=0.1)).run()
        assert result.status == "completed", result.message


def overwritten(instance, data, size=None):
    """Return the instance, all of whose answers are overwritten with `data`."""
    ask = instance._shared.library.remote_ask

    class Lying:
        def __getattr__(self, name):
            return getattr(real, name)

        def remote_ask(self, link):
            status = ask(link)
            ctypes.memmove(instance._shared._body, data, len(data))
            instance._shared._size.value = len(data) if size is None else size
            return status

    real, instance._shared.library = instance._shared.library, Lying()
    return instance


class Bomb:
    def __reduce__(self):
        return os.mkdir, (self.place,)


def test_code_in_the_shared_memory_is_not_executed(lag, tmp_path):
    """Regression: answers were unpickled, so that an FMU could run any code in the master."""
    bomb = Bomb()
    bomb.place = str(tmp_path / "executed")
    instance = RemoteInstance(lag, read_description(lag), "craft", timeout=60.0)
    overwritten(instance, pickle.dumps(("value", bomb)))
    with pytest.raises(FmuError, match="craft: get got an answer that cannot be read"):
        instance.get(["y[1]"])
    assert instance.dead
    instance.free()
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("answer", "size"),
    [
        (b"", None),
        (b"", 1 << 40),
        (b"", 1 << 63),
        ([1, "value", [1.0]], None),  # the answer to another message
        ([2, "value", [1.0]], None),
        ([2, "value", [1.0, 2]], None),
        ([2, "value", None], None),
        ([2, "failure", {"instance": "x"}], None),
        ([2, "error", 5], None),
        ([2, ["value"], 5], None),
        ({}, None),
    ],
)
def test_an_answer_that_the_method_cannot_give_names_the_instance(lag, answer, size):
    data = answer if isinstance(answer, bytes) else encode(answer)
    instance = overwritten(RemoteInstance(lag, read_description(lag), "craft", timeout=60.0), data, size)
    with pytest.raises(FmuError, match=r"craft: get got an answer that cannot be read") as caught:
        instance.get(["y[1]", "u[1]"])
    assert caught.value.status == "crash"
    instance.free()
    assert instance.process.returncode is not None


@pytest.mark.parametrize("seed", range(6))
def test_noise_in_the_shared_memory_fails_calls_and_nothing_else(lag, seed):
    """Another thread writes random bytes into it, as the FMU could at any time."""
    instance = RemoteInstance(lag, read_description(lag), "craft", timeout=0.3)
    memory, noise, over = instance._shared._memory, random.Random(seed), threading.Event()

    def scribble():
        while not over.is_set():
            place = noise.choice([0, 0, 64, 2000, 2112, 2200]) + noise.randrange(200)
            data = noise.randbytes(noise.randrange(1, 64))
            memory[place : place + len(data)] = data
            time.sleep(noise.choice([0.0, 0.002]))

    def use():
        for k in range(100_000):
            instance.set({"u[1]": 1.0})
            instance.get(["y[1]", "label", "enable"])
            instance.log.last.encode()
            instance.step(0.1 * k, 0.1)

    instance.initialize()
    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        with pytest.raises(FmuError, match="craft"):
            use()
    finally:
        over.set()
        thread.join()
        instance.free()
    assert instance.process.returncode is not None


def test_a_status_that_fmi_does_not_have_is_no_success(lag):
    """Regression: in functions that the compiled loop calls, a negative status counted as a warning."""
    instance = RemoteInstance(lag, read_description(lag), "craft", timeout=60.0)
    instance.initialize()
    os.kill(instance.process.pid, signal.SIGSTOP)
    step = instance._shared.library.fmi2DoStep
    step.argtypes = (ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int)
    memory = instance._shared._memory

    def answer():
        time.sleep(0.2)
        # the layout of remote.c: turn, asleep[2], luck[2], function, status
        memory[24:28] = (-7).to_bytes(4, "little", signed=True)
        memory[0:4] = bytes(4)

    thread = threading.Thread(target=answer)
    thread.start()
    status = step(instance.component, 0.0, 0.1, 0)
    thread.join()
    os.kill(instance.process.pid, signal.SIGCONT)
    assert status == 4
    assert "a status that FMI does not have" in str(instance.failure("fmi2DoStep", status, 0.0))
    instance.free()


def test_the_shared_memory_cannot_be_cut_off():
    """Regression: an FMU that truncated it ended the master with SIGBUS."""
    descriptor = create()
    try:
        for size in (0, 2 * SIZE):
            with pytest.raises(PermissionError):
                os.ftruncate(descriptor, size)
    finally:
        os.close(descriptor)
