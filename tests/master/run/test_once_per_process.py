"""FMUs that keep data in their process: no run sees what an earlier one has left."""

import pytest

from dockfmu.master.errors import FmuError
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from tests.master.fmus.habits import ONCE


def counting(file):
    system = Structure("counting")
    system.add("a", file)
    return system


def counts(system, runs):
    with CoSimulation(system, Schedule(step=0.1, stop=1.0)).open() as simulation:
        found = []
        for k in range(runs):
            if k:
                simulation.reset()
            simulation.advance(1.0)
            found.append(simulation.get(["a.count"])[0])
        return found


def test_reset_begins_a_new_process_for_what_can_be_instantiated_once(habits):
    system = counting(habits(ONCE))
    assert counts(system, 3) == [10, 10, 10]
    assert counts(system, 2) == [10, 10]


def test_an_fmu_that_refuses_a_second_instance_is_run_again(habits, monkeypatch):
    monkeypatch.setenv("HABITS", "o")
    assert counts(counting(habits(ONCE)), 3) == [10, 10, 10]


def test_static_data_survive_a_reset_unless_each_run_has_a_fresh_process(habits):
    """See here what the library keeps, so that the tests above show that nothing is kept."""
    system = counting(habits())
    assert counts(system, 3) == [10, 20, 30]
    system.elements["a"].process = True
    assert counts(system, 3) == [10, 20, 30]
    system.elements["a"].fresh = True
    assert counts(system, 3) == [10, 10, 10]


def test_a_fresh_process_leaves_nothing_behind(habits):
    """One process and one folder at a time."""
    system = counting(habits(ONCE))
    system.elements["a"].process = True
    with CoSimulation(system, Schedule(step=0.1, stop=1.0)).open() as simulation:
        instance, seen = simulation.instances["a"], []
        for _ in range(3):
            seen.append((instance.process, instance._folder.path))
            simulation.reset()
        assert len({process.pid for process, _ in seen}) == 3
        assert all(process.poll() is not None for process, _ in seen)
        assert not any(folder.exists() for _, folder in seen)


def test_a_fresh_process_after_one_that_failed(habits):
    system = counting(habits())
    system.elements["a"].fresh = True
    system.elements["a"].start["habit"] = 2  # needs a stop time, which this simulation has not
    with pytest.raises(FmuError, match="the stop time is needed"):
        CoSimulation(system, Schedule(step=0.1)).open().__enter__()
    system.elements["a"].start["habit"] = 0
    assert CoSimulation(system, Schedule(step=0.1, stop=1.0)).run().status == "completed"
