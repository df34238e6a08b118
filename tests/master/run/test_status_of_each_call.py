"""Every status at every call of an FMU: how the run ends, what is kept, and what is called afterwards.

`lag.c` fails as requested and records each call.
"""

import socket
from dataclasses import dataclass

import numpy as np
import pytest

from dockfmu.master.algorithms import FixedPoint, GaussSeidel, Jacobi, QuasiNewton
from dockfmu.master.checkpoint import restore_states
from dockfmu.master.drivers.datagrams import Datagrams
from dockfmu.master.errors import FmuError
from dockfmu.master.fmi.instance import Fmu, FmuInstance
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import Retry, StepControl, StepDoubling
from dockfmu.master.system import Structure

pytestmark = pytest.mark.slow

WORDS = {2: "fmi2Discard", 3: "fmi2Error", 4: "fmi2Fatal", 5: "fmi2Pending", 9: "the unknown status 9"}
WARNING, DISCARD, ERROR, FATAL = 1, 2, 3, 4
FREEING = {"fmi2FreeFMUstate", "fmi2FreeInstance"}

# numbers of the functions in lag.c
NUMBERS = {
    "fmi2DoStep": 1, "fmi2GetReal": 2, "fmi2SetReal": 3, "fmi2ExitInitializationMode": 4, "fmi2GetBoolean": 5,
    "fmi2SetupExperiment": 6, "fmi2EnterInitializationMode": 7, "fmi2GetInteger": 8, "fmi2SetInteger": 9,
    "fmi2SetBoolean": 10, "fmi2GetString": 11, "fmi2SetString": 12, "fmi2Terminate": 13, "fmi2GetFMUstate": 14,
    "fmi2SetFMUstate": 15, "fmi2SerializeFMUstate": 16, "fmi2DeSerializeFMUstate": 17, "fmi2FreeFMUstate": 18,
    "fmi2SerializedFMUstateSize": 19, "fmi2Reset": 20, "fmi2GetStatus": 21,
}  # fmt: skip
START = ("fmi2SetupExperiment", "fmi2EnterInitializationMode", "fmi2ExitInitializationMode")
GETTING = ("fmi2GetReal", "fmi2GetInteger", "fmi2GetBoolean", "fmi2GetString")
STEPPING = (*GETTING, "fmi2SetReal", "fmi2SetInteger", "fmi2SetBoolean", "fmi2SetString", "fmi2DoStep")
GOING_BACK = {
    "fixed point": (FixedPoint(), None),
    "quasi-Newton": (QuasiNewton(), None),
    "doubling": (GaussSeidel(), StepControl(1e-4, 0.01, 0.01, StepDoubling(1e-3), locate=())),
    "retry": (Jacobi(), Retry(1e-4)),
}


@dataclass
class Trace:
    """Calls of all instances in order: (instance, function)."""

    file: object

    @property
    def calls(self):
        return [tuple(line.split()) for line in self.file.read_text().splitlines()]

    def after(self, function, instance="craft"):
        """Return the calls of `instance` after the last `function` of "craft"."""
        calls = self.calls
        last = max(k for k, call in enumerate(calls) if call == ("craft", function))
        return [name for who, name in calls[last + 1 :] if who == instance]


@pytest.fixture
def trace(tmp_path, monkeypatch):
    monkeypatch.setenv("LAG_TRACE", str(tmp_path / "trace"))
    return Trace(tmp_path / "trace")


@pytest.fixture(scope="module")
def other(tmp_path_factory, third_party):
    """Return a copy of the FMU in another file, which has its own library."""
    return third_party.build(tmp_path_factory.mktemp("other"), "Other")


def ring(lag, other, function, status, time, **craft):
    """Return two FMUs that exchange values of every type; the second, "craft", fails from `time` on."""
    system = Structure("ring")
    system.add("base", other, {"u[1]": 1.0, "label": "base"})
    faulty = {"fail.function": NUMBERS[function], "fail.status": status, "fail.time": time}
    system.add("craft", lag, faulty, **craft)
    for one, two, offset in (("base", "craft", 0.0), ("craft", "base", 1.0)):
        system.connect(one, "y[1]", two, "u[1]", offset=offset)
        system.connect(one, "count", two, "count_in")
        system.connect(one, "text", two, "text_in")
        system.connect(one, "high", two, "enable", table=((0, 1),))
    return system


def check_named(error, function, status):
    assert isinstance(error, FmuError)
    assert (error.instance, error.function, error.status) == ("craft", function, WORDS[status])
    assert error.file == "Lag.fmu"
    assert f"craft: {function} gave {WORDS[status]}" in str(error)
    assert "(Lag.fmu)" in str(error)
    assert f'the FMU says: "{function} fails on purpose at' in str(error)


def check_calls(trace, function, status, *, running=True):
    """Check the calls against the standard: none after fmi2Fatal, only those that end the instance after an error."""
    allowed = set() if status == FATAL else set(FREEING)
    if status == DISCARD and running:
        allowed |= {"fmi2Terminate"}
        if function == "fmi2DoStep":
            allowed |= {"fmi2GetRealStatus", "fmi2GetBooleanStatus"}
    after = trace.after(function)
    assert set(after) <= allowed
    # a library that is not broken gets back what it has given
    assert status == FATAL or after[-1] == "fmi2FreeInstance"
    assert trace.after(function, "base")[-1] == "fmi2FreeInstance"
    assert set(trace.after(function, "base")) <= {"fmi2Terminate", *FREEING}


def check_kept(file, result):
    with read_results(file) as results:
        assert (results.attributes["status"], results.attributes["message"]) == ("failed", result.message)
        assert len(results.time) == result.macro_steps + 1
        assert results.time[-1] == pytest.approx(result.t_end)
        assert np.isfinite(results["base.y[1]"]).all()


@pytest.mark.parametrize("status", WORDS)
@pytest.mark.parametrize("function", [*START, *GETTING])
def test_at_the_start(lag, other, trace, tmp_path, function, status):
    recorder = Recorder(tmp_path / "r.h5", ["base.y[1]"])
    result = CoSimulation(
        ring(lag, other, function, status, 0.0), Schedule(step=0.01, stop=1.0), observers=[recorder]
    ).run()
    assert (result.status, result.t_end, result.macro_steps) == ("failed", 0.0, 0)
    check_named(result.error, function, status)
    check_calls(trace, function, status, running=False)


@pytest.mark.parametrize("status", WORDS)
@pytest.mark.parametrize("function", STEPPING)
def test_in_a_step(lag, other, trace, tmp_path, function, status):
    recorder = Recorder(tmp_path / "r.h5", ["base.y[1]", "base.count"])
    result = CoSimulation(
        ring(lag, other, function, status, 0.25), Schedule(step=0.01, stop=1.0), observers=[recorder]
    ).run()
    assert result.status == "failed"
    check_named(result.error, function, status)
    assert result.error.time == result.t_end == pytest.approx(0.25, abs=0.0101)
    check_calls(trace, function, status)
    check_kept(tmp_path / "r.h5", result)


@pytest.mark.parametrize("status", WORDS)
@pytest.mark.parametrize("function", ["fmi2GetFMUstate", "fmi2SetFMUstate", "fmi2DoStep", "fmi2GetReal"])
@pytest.mark.parametrize("way", GOING_BACK)
def test_in_a_step_that_is_repeated(lag, other, trace, tmp_path, way, function, status):
    algorithm, control = GOING_BACK[way]
    recorder = Recorder(tmp_path / "r.h5", ["base.y[1]"])
    system = ring(lag, other, function, status, 0.25)
    if way == "retry" and function == "fmi2SetFMUstate":
        # somebody must discard a step, so that the other one is to go back
        system.elements["base"].start |= {"fail.function": NUMBERS["fmi2DoStep"], "fail.status": 2, "fail.time": 0.25}
    result = CoSimulation(
        system, Schedule(step=0.01, stop=1.0, control=control), algorithm=algorithm, observers=[recorder]
    ).run()
    assert result.status == "failed"
    check_named(result.error, function, status)
    assert result.error.time == result.t_end == pytest.approx(0.25, abs=0.0101)
    if function in ("fmi2DoStep", "fmi2GetReal") and status == DISCARD and control is not None:
        # from 0.25 s on no step is short enough
        assert result.rejected_steps >= 6
    check_calls(trace, function, status)
    check_kept(tmp_path / "r.h5", result)


@pytest.mark.parametrize("status", WORDS)
@pytest.mark.parametrize("function", ["fmi2GetStatus", "fmi2DoStep"])
def test_in_a_step_that_is_waited_for(lag, other, third_party, trace, tmp_path, function, status):
    xml = third_party.description().replace(
        'modelIdentifier="Lag"', 'modelIdentifier="Lag" canRunAsynchronuously="true"'
    )
    patient = third_party.build(tmp_path, "Lag", xml=xml)
    system = ring(patient, other, function, status, 0.25)
    result = CoSimulation(system, Schedule(step=0.01, stop=0.5)).run()
    if function == "fmi2GetStatus":
        # only a step that is pending is asked for
        assert result.status == "completed"
        assert ("craft", "fmi2GetStatus") not in trace.calls
    elif WORDS[status] == "fmi2Pending":
        assert result.status == "completed"
        assert ("craft", "fmi2GetStatus") in trace.calls
    else:
        check_named(result.error, function, status)
        check_calls(trace, function, status)


@pytest.mark.parametrize("function", [*START, *STEPPING])
def test_warnings_end_nothing(lag, other, function):
    result = CoSimulation(ring(lag, other, function, WARNING, 0.0), Schedule(step=0.01, stop=0.1)).run()
    assert result.status == "completed", result.message
    if function in STEPPING and "Set" not in function:
        assert "craft gave fmi2Warning" in " ".join(result.warnings)


@pytest.mark.parametrize("status", WORDS)
@pytest.mark.parametrize("function", ["fmi2Terminate", "fmi2FreeFMUstate"])
def test_at_the_end(lag, other, trace, tmp_path, function, status):
    recorder = Recorder(tmp_path / "r.h5", ["base.y[1]"])
    result = CoSimulation(
        ring(lag, other, function, status, 0.05),
        Schedule(step=0.01, stop=0.1),
        algorithm=FixedPoint(),
        observers=[recorder],
    ).run()
    assert (result.status, result.macro_steps) == ("completed", 10)
    assert f"craft: {function} gave {WORDS[status]} (Lag.fmu)" in " ".join(result.warnings)
    check_calls(trace, function, status)
    with read_results(tmp_path / "r.h5") as results:
        assert results.attributes["status"] == "completed"
        assert len(results.time) == 11


def begin_and_save(simulation):
    with simulation:
        simulation.advance(0.3)
        return simulation.save()


@pytest.mark.parametrize("status", WORDS)
@pytest.mark.parametrize(
    "function",
    ["fmi2GetFMUstate", "fmi2SerializedFMUstateSize", "fmi2SerializeFMUstate", "fmi2FreeFMUstate"],
)
def test_in_a_checkpoint(lag, other, trace, tmp_path, function, status):
    recorder = Recorder(tmp_path / "r.h5", ["base.y[1]"])
    simulation = CoSimulation(
        ring(lag, other, function, status, 0.25), Schedule(step=0.01, stop=1.0), observers=[recorder]
    ).open()
    with pytest.raises(FmuError) as caught:
        begin_and_save(simulation)
    assert simulation.result.status == "failed"
    check_named(caught.value, function, status)
    check_calls(trace, function, status)
    check_kept(tmp_path / "r.h5", simulation.result)


@pytest.mark.parametrize("status", WORDS)
@pytest.mark.parametrize("function", ["fmi2DeSerializeFMUstate", "fmi2SetFMUstate", "fmi2FreeFMUstate"])
def test_in_a_run_that_resumes(lag, other, trace, function, status):
    checkpoint = begin_and_save(
        CoSimulation(ring(lag, other, "fmi2Reset", 0, 0.0), Schedule(step=0.01, stop=1.0)).open()
    )
    # the start values say which call fails: here others than in the prefix
    result = CoSimulation(
        ring(lag, other, function, status, 0.0),
        Schedule(step=0.01, stop=1.0),
        resume=Resumption(checkpoint, force=True),
    ).run()
    if function == "fmi2FreeFMUstate":
        # the state that is set has the parameters of the prefix, in which nothing fails
        assert result.status == "completed"
        return
    assert (result.status, result.t_end) == ("failed", pytest.approx(0.3))
    check_named(result.error, function, status)
    check_calls(trace, function, status)


@pytest.mark.parametrize("status", WORDS)
@pytest.mark.parametrize(
    "function", [name for name in NUMBERS if "State" in name or "state" in name or "Reset" in name]
)
def test_by_hand(lag, trace, function, status):
    with Fmu(lag) as fmu:
        instance = fmu.instantiate("craft")
        instance.initialize()
        state = instance.get_state()
        data = instance.serialize(state)
        instance.set({"fail.function": NUMBERS[function], "fail.status": status})
        act = {
            "fmi2GetFMUstate": instance.get_state,
            "fmi2SetFMUstate": lambda: instance.set_state(state),
            "fmi2FreeFMUstate": lambda: instance.free_state(state),
            "fmi2SerializedFMUstateSize": lambda: instance.serialize(state),
            "fmi2SerializeFMUstate": lambda: instance.serialize(state),
            "fmi2DeSerializeFMUstate": lambda: restore_states({"craft": instance}, {"craft": data}),
            "fmi2Reset": lambda: instance.call("fmi2Reset"),
        }[function]
        with pytest.raises(FmuError) as caught:
            act()
        check_named(caught.value, function, status)
        if status == FATAL:
            with pytest.raises(FmuError, match="craft: fmi2GetReal cannot be called after fmi2Fatal"):
                instance.get(["y[1]"])
    assert set(trace.after(function)) <= (set() if status == FATAL else {"fmi2Terminate", *FREEING})


def test_an_instance_that_is_refused_is_not_called(lag, other, third_party, trace, tmp_path):
    """fmi2Instantiate returns no component."""
    stranger = third_party.build(tmp_path, "Stranger", library_guid="another")
    system = ring(stranger, other, "fmi2DoStep", 0, 0.0)
    result = CoSimulation(
        system, Schedule(step=0.01, stop=1.0), observers=[Recorder(tmp_path / "r.h5", ["base.y[1]"])]
    ).run()
    assert (result.status, result.t_end) == ("failed", 0.0)
    assert (result.error.instance, result.error.function) == ("craft", "fmi2Instantiate")
    assert result.error.file == "Stranger.fmu"
    assert 'the FMU says: "GUID lag is not another"' in result.message
    assert {who for who, _ in trace.calls} == {"base"}
    assert trace.calls[-1] == ("base", "fmi2FreeInstance")


@pytest.mark.parametrize("function", ["fmi2EnterInitializationMode", "fmi2DoStep", "fmi2GetReal", "fmi2Terminate"])
def test_after_a_fatal_status_no_instance_of_the_fmu_is_called(lag, trace, function):
    """The standard: the computations are irreparably corrupted for all instances of the FMU."""
    result = CoSimulation(
        ring(lag, lag, function, FATAL, 0.0 if "Mode" in function else 0.25), Schedule(step=0.01, stop=1.0)
    ).run()
    assert "fmi2Fatal" in result.message + " ".join(result.warnings)
    assert trace.calls[-1] == ("craft", function)


@pytest.mark.parametrize("status", [DISCARD, ERROR, FATAL])
@pytest.mark.parametrize("function", ["fmi2SetupExperiment", "fmi2DoStep", "fmi2GetFMUstate"])
def test_in_a_process_of_its_own(lag, other, trace, tmp_path, function, status):
    recorder = Recorder(tmp_path / "r.h5", ["base.y[1]"])
    at = 0.0 if function in START else 0.05
    system = ring(lag, other, function, status, at, process=True)
    result = CoSimulation(system, Schedule(step=0.01, stop=0.1), algorithm=FixedPoint(), observers=[recorder]).run()
    assert result.status == "failed"
    check_named(result.error, function, status)
    check_calls(trace, function, status, running=at > 0.0)
    if at:
        check_kept(tmp_path / "r.h5", result)


def test_a_value_that_an_fmu_of_fmi_3_discards_is_counted(alone, monkeypatch):
    def discards(instance, values):
        raise FmuError("a", "fmi3SetFloat64", status="fmi3Discard")

    driver = Datagrams(0, ["a.u[1]"])
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
        CoSimulation(alone, Schedule(step=0.1), drivers=[driver]).open() as simulation,
    ):
        simulation.advance(0.1)
        monkeypatch.setattr(FmuInstance, "set", discards)
        sender.sendto(b'{"a.u[1]": 1.0}', ("127.0.0.1", driver.port))
        simulation.advance(0.3)
    assert (driver.refused, simulation.result.status) == (1, "completed")
