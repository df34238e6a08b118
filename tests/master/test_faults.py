"""Every status at every call of an FMU: how the run ends, and what is kept."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from master.errors import FmuError
from master.fmu import Fmu
from master.observers.recorder import Recorder
from master.observers.results import read_results
from master.run import run
from master.system import System

ROOT = Path(__file__).parents[2]

# numbers of the functions in lag.c
INITIALISATION = {6: "fmi2SetupExperiment", 7: "fmi2EnterInitializationMode", 4: "fmi2ExitInitializationMode"}
STEPPING = {
    1: "fmi2DoStep", 2: "fmi2GetReal", 3: "fmi2SetReal", 8: "fmi2GetInteger", 9: "fmi2SetInteger",
    5: "fmi2GetBoolean", 10: "fmi2SetBoolean", 11: "fmi2GetString", 12: "fmi2SetString",
}  # fmt: skip
STATES = {14: "fmi2GetFMUstate", 15: "fmi2SetFMUstate", 16: "fmi2SerializeFMUstate", 17: "fmi2DeSerializeFMUstate"}
WORDS = {2: "fmi2Discard", 3: "fmi2Error", 4: "fmi2Fatal"}
TERMINATE, WARNING, FLOOD = 13, 1, 14


def ring(lag, function, status, time):
    """Two lags that exchange values of every type; the second, "craft", fails from `time` on."""
    system = System("ring")
    system.add("base", lag, {"u[1]": 1.0, "label": "base"})
    system.add("craft", lag, {"fail.function": function, "fail.status": status, "fail.time": time})
    for one, other in (("base", "craft"), ("craft", "base")):
        for output, target in (("y[1]", "u[1]"), ("count", "count_in"), ("high", "enable"), ("text", "text_in")):
            system.connect(one, output, other, target)
    return system


@pytest.mark.parametrize("status", WORDS)
@pytest.mark.parametrize("function", STEPPING)
def test_a_failure_in_a_step_keeps_all_rows_before_it(lag, tmp_path, function, status):
    recorder = Recorder(tmp_path / "r.h5", ["base.y[1]", "base.count"])
    result = run(ring(lag, function, status, 0.25), step=0.01, stop=1.0, observers=[recorder])
    assert result.status == "failed"
    assert isinstance(result.error, FmuError)
    name = STEPPING[function]
    assert (result.error.instance, result.error.function, result.error.status) == ("craft", name, WORDS[status])
    assert f'the FMU says: "{name} fails on purpose at 0.25' in result.message
    with read_results(tmp_path / "r.h5") as results:
        assert results.attributes["message"] == result.message
        assert results.time[-1] == pytest.approx(result.t_end)
        assert result.t_end == pytest.approx(0.25, abs=0.0101)
        assert np.isfinite(results["base.y[1]"]).all()


@pytest.mark.parametrize("status", WORDS)
@pytest.mark.parametrize("function", INITIALISATION)
def test_a_failure_at_the_start_is_told(lag, function, status):
    result = run(ring(lag, function, status, 0.0), step=0.01, stop=1.0)
    assert result.status == "failed"
    assert f"craft: {INITIALISATION[function]} gave {WORDS[status]}" in result.message
    assert (result.t_end, result.macro_steps) == (0.0, 0)


@pytest.mark.parametrize("function", [*INITIALISATION, *STEPPING])
def test_warnings_end_nothing(lag, function):
    result = run(ring(lag, function, WARNING, 0.0), step=0.01, stop=0.1)
    assert result.status == "completed", result.message
    if function in STEPPING and "Set" not in STEPPING[function]:
        assert "craft gave fmi2Warning" in " ".join(result.warnings)


@pytest.mark.parametrize("status", WORDS)
def test_a_failure_at_the_end_is_a_warning(lag, status):
    result = run(ring(lag, TERMINATE, status, 0.05), step=0.01, stop=0.1)
    assert result.status == "completed"
    assert f"craft: fmi2Terminate gave {WORDS[status]}" in " ".join(result.warnings)


@pytest.mark.parametrize("status", WORDS)
@pytest.mark.parametrize("function", STATES)
def test_a_failure_of_states_is_told(lag, function, status):
    with Fmu(lag) as fmu:
        instance = fmu.instantiate("craft")
        instance.initialize()
        state = instance.get_state()
        data = instance.serialize(state)
        instance.set({"fail.function": function, "fail.status": status})
        act = {
            14: instance.get_state, 15: lambda: instance.set_state(state),
            16: lambda: instance.serialize(state), 17: lambda: instance.deserialize(data),
        }[function]  # fmt: skip
        with pytest.raises(FmuError, match=f"craft: {STATES[function]} gave {WORDS[status]}"):
            act()


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
from master.observers.observer import Observer
from master.observers.recorder import Recorder
from master.run import run
from master.system import System

class Signal(Observer):
    def progress(self, time, wall):
        if time > 5.0 and wall < 1e9:
            os.kill(os.getpid(), int(sys.argv[3]))

system = System("signalled")
system.add("lag", Path(sys.argv[1]), {"u[1]": 1.0})
result = run(system, step=1e-3, stop=1e6, observers=[Recorder(Path(sys.argv[2]), ["lag.y[1]"]), Signal()])
print(result.status, result.message)
"""


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
def test_signals_end_a_run_in_order(lag, tmp_path, number, word):
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED, str(lag), str(tmp_path / "r.h5"), str(int(number))],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.startswith(f"stopped {word} at t = "), done.stderr
    with read_results(tmp_path / "r.h5") as results:
        assert results.attributes["status"] == "stopped"
        assert results.time[-1] > 5.0


SPEAKING = """
import sys
from pathlib import Path
from master.run import run
from master.system import System

system = System("s")
system.add("craft", Path(sys.argv[1]), {"fail.function": 1, "fail.status": 15})
print(run(system, step=0.01, stop=0.1).warnings)
"""


def test_an_fmu_that_speaks_from_a_thread_for_which_its_step_waits(lag):
    """The loop must not hold what the message needs to be heard: else both wait for ever, and the process is ended."""
    done = subprocess.run(
        [sys.executable, "-c", SPEAKING, str(lag)], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert "craft gave fmi2Warning 10 times; last: 'by a thread'" in done.stdout
