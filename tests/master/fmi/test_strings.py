"""Strings are set, read, connected, watched and recorded; and asynchronous steps of an FMU."""

import numpy as np
import pytest

from dockfmu.master.fmi import strings
from dockfmu.master.fmi.instance import Fmu
from dockfmu.master.observers.events import Event, Events
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

PENDING = 5


def chain(lag, process=False):
    system = Structure("chain")
    system.add("a", lag, {"label": "Größe", "text_in": "start"})
    system.add("b", lag, {"label": "b"}, process=process)
    system.connect("a", "text", "b", "text_in")
    return system


def test_texts_have_numbers():
    assert strings.number("") == 0
    one, other = strings.number("one"), strings.number("other")
    assert one != other
    assert (strings.number("one"), strings.string(one), strings.string(other)) == (one, "one", "other")


@pytest.mark.parametrize("process", [False, True])
def test_strings_pass_from_step_to_step(lag, tmp_path, process):
    recorder = Recorder(tmp_path / "r.h5", ["a.text", "b.text"])
    result = CoSimulation(chain(lag, process), Schedule(step=0.1, stop=0.3), observers=[recorder]).run()
    assert result.status == "completed", result.message
    with read_results(tmp_path / "r.h5") as results:
        assert results.attribute("a.text")["type"] == "String"
        assert results["a.text"].tolist() == [f"Größe {k} start" for k in range(4)]
        # b is set before it steps, with what a gives after its step
        assert results["b.text"].tolist() == ["b 0 Größe 0 start", *(f"b {k} Größe {k} start" for k in (1, 2, 3))]


def test_changes_of_strings_are_events(lag):
    system = Structure("one")
    system.add("a", lag, {"label": "a"})
    result = CoSimulation(
        system, Schedule(step=0.1, stop=0.2), observers=[Events({"said": Event("a.text", "change", once=False)})]
    ).run()
    told = [(round(e["t"], 9), e["old"], e["new"]) for e in result.events]
    assert told == [(0.1, "a 0 ", "a 1 "), (0.2, "a 1 ", "a 2 ")]


def test_strings_in_a_loop_settle_at_the_start(lag):
    """Each FMU repeats the text of the other until the length limit of the FMUs."""
    system = chain(lag)
    system.connect("b", "text", "a", "text_in")
    result = CoSimulation(system, Schedule(step=0.1, stop=0.3)).run()
    assert result.status == "completed", result.message


@pytest.fixture(scope="session")
def patient(third_party, tmp_path_factory):
    """Return the lag with the capability of asynchronous steps."""
    xml = third_party.description().replace(
        'modelIdentifier="Lag"', 'modelIdentifier="Lag" canRunAsynchronuously="true"'
    )
    return third_party.build(tmp_path_factory.mktemp("patient"), xml=xml)


@pytest.mark.parametrize("process", [False, True])
def test_steps_in_the_background_are_waited_for(patient, lag, tmp_path, process):
    found = []
    for file, status in ((lag, 0), (patient, PENDING)):
        system = Structure("background")
        system.add("a", file, {"u[1]": 1.0, "fail.function": 1, "fail.status": status}, process=process)
        recorder = Recorder(tmp_path / f"{status}.h5", ["a.y[1]", "a.count"])
        result = CoSimulation(system, Schedule(step=0.01, stop=0.2), observers=[recorder]).run()
        assert result.status == "completed", result.message
        with read_results(recorder.file) as results:
            found.append(np.column_stack([results["a.y[1]"], results["a.count"]]))
    assert np.array_equal(found[0], found[1])


def test_a_step_by_hand_is_waited_for(patient):
    with Fmu(patient) as fmu:
        instance = fmu.instantiate("a")
        instance.set({"u[1]": 1.0, "fail.function": 1, "fail.status": PENDING})
        instance.initialize()
        instance.step(0.0, 0.5)
        assert instance.get(["y[1]"]) == [0.5]


def test_pending_of_an_fmu_that_did_not_announce_it_is_refused(lag):
    system = Structure("background")
    system.add("a", lag, {"fail.function": 1, "fail.status": PENDING})
    result = CoSimulation(system, Schedule(step=0.01, stop=0.2)).run()
    assert "a: fmi2DoStep gave fmi2Pending" in result.message
