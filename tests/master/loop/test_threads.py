"""Instances that step in parallel on threads give results bitwise equal to those of one thread."""

import pytest

from dockfmu.master.algorithms import GaussSeidel, Jacobi, QuasiNewton
from dockfmu.master.errors import StructureError
from dockfmu.master.order import together
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import StepControl, StepDoubling
from dockfmu.master.system import Structure

COUNT = 7


@pytest.fixture
def ring(lag):
    system = Structure("ring")
    for i in range(COUNT):
        system.add(f"lag{i}", lag, {"gain": 1.0 + i})
    for i in range(COUNT):
        system.connect(f"lag{i}", "y[1]", f"lag{(i + 1) % COUNT}", "u[1]", offset=float(i == 0))
    return system


@pytest.fixture
def star(lag):
    """Return a star: one instance that exchanges values with all others, which are not connected to each other."""
    system = Structure("star")
    for i in range(5):
        system.add(f"lag{i}", lag, {"gain": 1.0 + i})
    for i in range(1, 5):
        system.connect("lag0", "y[1]", f"lag{i}", "u[1]", offset=1.0)
    system.connect("lag3", "y[1]", "lag0", "u[1]")
    return system


def ends(system, control=None, **how):
    names = [f"{name}.y[1]" for name in system.elements]
    with CoSimulation(system, Schedule(step=1e-3, control=control), **how).open() as simulation:
        simulation.advance(2.0)
        return simulation.get(names), simulation.result.macro_steps


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize(
    "algorithm", [Jacobi(), Jacobi(linear=True), GaussSeidel(), QuasiNewton()], ids=lambda a: a.name
)
@pytest.mark.parametrize("name", ["ring", "star"])
def test_threads_change_nothing(name, algorithm, threads, request):
    system = request.getfixturevalue(name)
    assert ends(system, algorithm=algorithm, threads=threads) == ends(system, algorithm=algorithm)


def test_nor_with_step_control_and_rates(ring):
    ring.elements["lag2"].every, ring.elements["lag4"].substeps = 3, 2
    assert ends(ring, algorithm=Jacobi(), threads=2) == ends(ring, algorithm=Jacobi())
    ring.elements["lag2"].every = 1
    how = {"algorithm": Jacobi(linear=True), "control": StepControl(1e-5, 0.1, 1e-3, StepDoubling(1e-6, order=3))}
    assert ends(ring, threads=2, **how) == ends(ring, **how)


@pytest.mark.parametrize("threads", [2, 4])
def test_the_first_of_several_failures_is_told(ring, threads):
    for i in (2, 5):
        ring.elements[f"lag{i}"].start |= {"fail.function": 1, "fail.status": 3, "fail.time": 0.5}
    result = CoSimulation(ring, Schedule(step=1e-3, stop=1.0), algorithm=Jacobi(), threads=threads).run()
    assert result.status == "failed"
    assert "lag2" in result.message
    assert result.t_end == pytest.approx(0.5, abs=1.5e-3)


def test_warnings_are_counted_by_whoever_sees_them(ring):
    for i in range(COUNT):
        ring.elements[f"lag{i}"].start |= {"fail.function": 1, "fail.status": 1}
    result = CoSimulation(ring, Schedule(step=1e-2, stop=1.0), algorithm=Jacobi(), threads=3).run()
    assert sum("gave fmi2Warning 100 times" in warning for warning in result.warnings) == COUNT


def test_stages_that_are_not_joined_become_one():
    stages = (("mechanism",), ("chaser",), ("station",), ("sequence",))
    edges = {("mechanism", "chaser"), ("station", "mechanism"), ("sequence", "mechanism"), ("station", "sequence")}
    assert together(stages, edges) == (("mechanism",), ("chaser", "station"), ("sequence",))
    assert together((("a", "b"),), {("a", "b")}) == (("a", "b"),)


def test_no_threads_are_refused(ring):
    with pytest.raises(StructureError, match="threads must be at least 1, not 0"):
        CoSimulation(ring, Schedule(step=1e-3, stop=1.0), threads=0).run()


def test_threads_that_could_never_step_are_not_started(ring):
    """Waiting threads spin: a request for very many threads occupied the whole machine."""
    simulation = CoSimulation(ring, Schedule(step=0.1, stop=1.0), algorithm=Jacobi(), threads=100_000)
    assert simulation.scheme.threads == len(ring.elements)
