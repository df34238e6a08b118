"""The stop time that an FMU is told is where its last step ends: neither passed by a last bit, nor withheld."""

import numpy as np
import pytest

from dockfmu.master.checkpoint import read_checkpoint
from dockfmu.master.errors import FmuError
from dockfmu.master.fmi.description import read_description
from dockfmu.master.observers.checkpoints import Checkpoints
from dockfmu.master.observers.series import Series
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule, end_of_steps
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import Retry, StepControl, StepDoubling
from dockfmu.master.system import Element, Structure
from tests.master.fmus.habits import NEEDS_STOP, STATES, STRICT

AWKWARD = [(0.1, 0.3), (0.04, 256.2), (0.1, 0.7), (1 / 60, 1.0), (0.001, 0.123), (0.3, 1.0), (0.07, 4.9)]
"""Steps and stop times; in the first two and others the last t + h is the last bit beyond the stop time."""


def alone(file, habit):
    system = Structure("alone")
    system.add("a", file, {"habit": habit})
    return system


@pytest.mark.parametrize(("step", "stop"), AWKWARD)
@pytest.mark.parametrize("rate", [{}, {"substeps": 3}, {"every": 2}], ids=["one", "substeps", "every"])
def test_no_step_ends_beyond_the_stop_time_that_was_told(habits, step, stop, rate):
    system = alone(habits(), STRICT)
    for name, value in rate.items():
        setattr(system.elements["a"], name, value)
    series = Series(["a.y"])
    with CoSimulation(system, Schedule(step=step, stop=stop), observers=[series]).open() as simulation:
        simulation.advance(stop)
        told, excess = simulation.get(["a.stop", "a.excess"])
    assert simulation.result.status == "completed", simulation.result.message
    assert excess == 0.0
    assert stop <= told <= stop * (1.0 + 4.5e-16)
    assert simulation.time == series.time[-1] == stop
    assert np.all(np.diff(series.time) > 0.0)


def test_it_is_a_bit_more_where_the_steps_need_it():
    element = Element("a", None)
    assert end_of_steps(0.0, 0.1, 0.3, element) == 0.2 + 0.1 > 0.3
    assert end_of_steps(0.0, 0.25, 1.0, element) == 1.0


@pytest.mark.parametrize(
    "control", [Retry(1e-5), StepControl(1e-5, 0.5, 1e-3, StepDoubling(1e-3, 1))], ids=["retry", "control"]
)
@pytest.mark.parametrize(("step", "stop"), AWKWARD[:4])
def test_with_steps_that_vary(habits, control, step, stop):
    system = alone(habits(STATES), STRICT | NEEDS_STOP)
    result = CoSimulation(system, Schedule(step=step, stop=stop, control=control)).run()
    assert result.status == "completed", result.message


def test_an_fmu_that_needs_the_stop_time_gets_it(habits):
    """An FMU that can serialise its state is not told the stop time, unless it refuses to begin without one."""
    with CoSimulation(alone(habits(STATES), NEEDS_STOP), Schedule(step=0.25, stop=1.0)).open() as simulation:
        simulation.advance(1.0)
        assert simulation.get(["a.stop"]) == [1.0]
        (note,) = simulation.result.warnings
        assert note.startswith("a does not begin without a stop time, and was told 1 s")
        simulation.reset()
        simulation.advance(1.0)
        assert simulation.get(["a.stop"]) == [1.0]
    with CoSimulation(alone(habits(STATES), 0), Schedule(step=0.25, stop=1.0)).open() as simulation:
        assert simulation.get(["a.stop"]) == [-1.0]
        assert simulation.result.warnings == []


def test_the_error_is_the_first_where_the_stop_time_does_not_help(third_party, tmp_path):
    """fmi2SetupExperiment fails in any case: the message is that of the first call."""
    file = third_party.build(tmp_path)
    assert read_description(file).can_serialize_state
    system = Structure("broken")
    system.add("a", file, {"fail.function": 6, "fail.status": 3})
    with pytest.raises(FmuError, match=r"a: fmi2SetupExperiment gave fmi2Error"):
        CoSimulation(system, Schedule(step=0.1, stop=1.0)).open().__enter__()


def test_a_run_that_is_resumed_goes_beyond_the_first_stop_time(habits, tmp_path):
    system = alone(habits(STATES), STRICT)
    assert (
        CoSimulation(system, Schedule(step=0.1, stop=0.3), observers=[Checkpoints(tmp_path / "c")]).run().status
        == "completed"
    )
    result = CoSimulation(
        system, Schedule(step=0.1, stop=0.7), resume=Resumption(read_checkpoint(tmp_path / "c"))
    ).run()
    assert (result.status, result.t_end) == ("completed", 0.7), result.message
