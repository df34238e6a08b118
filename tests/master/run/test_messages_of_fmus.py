"""Messages of FMUs with characters that files cannot hold."""

import pytest

from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from tests.master.fmus.habits import FAILS, LATER, NUL


@pytest.mark.parametrize("process", [False, True], ids=["here", "apart"])
def test_a_nul_in_the_message_of_a_failure_is_kept_as_text(habits, tmp_path, process):
    """The recording is complete, and the part after the NUL is not lost."""
    system = Structure("nul")
    system.add("a", habits(), {"habit": NUL | FAILS}, process=process)
    result = CoSimulation(system, Schedule(step=0.1, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    assert result.status == "failed"
    assert 'the FMU says: "mode \\0 entered"' in result.message
    assert not [note for note in result.warnings if "cannot be written" in note]
    assert [path.name for path in tmp_path.iterdir()] == ["r.h5"]
    with read_results(tmp_path / "r.h5") as results:
        assert len(results.time) == 3


@pytest.mark.parametrize("process", [False, True], ids=["here", "apart"])
def test_a_nul_in_a_warning(habits, process):
    system = Structure("nul")
    system.add("a", habits(), {"habit": NUL}, process=process)
    result = CoSimulation(system, Schedule(step=0.1, stop=1.0)).run()
    assert result.status == "completed"
    (note,) = result.warnings
    assert note == "a gave fmi2Warning 1 times; last: 'mode \\0 entered'"


@pytest.mark.parametrize("process", [False, True], ids=["here", "apart"])
def test_a_later_error_is_not_the_text_of_an_earlier_warning(habits, process):
    system = Structure("later")
    system.add("a", habits(), {"habit": NUL | LATER}, process=process)
    result = CoSimulation(system, Schedule(step=0.1, stop=1.0)).run()
    assert result.status == "failed"
    assert 'the FMU says: "the state is lost"' in result.message
    (note,) = result.warnings
    assert note == "a gave fmi2Warning 1 times; last: 'mode \\0 entered'"
