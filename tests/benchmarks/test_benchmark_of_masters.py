"""The comparison of masters: its exact solution, its jobs, and the requirements of its runners."""

import numpy as np
import pytest

from benchmarks.cosimulation import masters
from benchmarks.cosimulation.inside import cycles, share_of_fmus
from benchmarks.page import replace_table
from dockfmu.master.algorithms import by_name
from tests.master.fmus import third_party


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    return masters.ring(third_party.build(tmp_path_factory.mktemp("ring"), "Ring", channels=masters.CHANNELS))


def test_the_ring_converges_to_its_exact_solution(ring, tmp_path):
    """Explicit Euler in the FMUs and Jacobi between them: first order in the macro step."""
    names = [f"lag{i}.y[{k}]" for i in range(masters.COUNT) for k in range(1, masters.CHANNELS + 1)]
    exact = masters.exact_ring(1.0)
    errors = []
    for steps in (250, 1000):
        job = masters.job_of(ring, names, 1.0 / steps, steps, tmp_path)
        errors.append(masters.distance(masters.ours(ring, job, "jacobi")[1], exact))
    assert np.log(errors[0] / errors[1]) / np.log(4.0) == pytest.approx(1.0, abs=0.05)


def test_a_job_is_the_whole_system(ring, tmp_path):
    job = masters.job_of(ring, ["lag0.y[1]"], 1e-3, 10, tmp_path)
    assert len(job.connections) == 60
    assert job.start["lag0"]["u[12]"] == 1.0  # what comes to a connected input at initialisation
    assert job.observed == (("lag0", "y[1]"),)
    assert job.stop == pytest.approx(0.01)


@pytest.mark.parametrize("name", ["jacobi", "gauss_seidel"])
def test_the_time_inside_the_fmus_is_that_of_all_steps_of_all(ring, name):
    """The share depends on machine and load, but each step of each FMU takes ten cycles at least, and all are counted.

    To read the clock alone takes twenty.
    """
    inside, whole = cycles(ring.structure, 1e-3, 1.0, by_name(name))
    assert len(inside) == masters.COUNT
    assert inside.min() > 10 * 1000
    assert inside.sum() < whole
    assert 0.0 < share_of_fmus(ring.structure, 1e-3, 0.01, by_name(name)) < 1.0


@pytest.mark.parametrize("master", masters.MASTERS, ids=lambda master: master.runner)
def test_a_runner_says_what_it_needs(master):
    needs = masters.requirements(master.runner)
    assert any("==" in requirement for requirement in needs)


def test_every_runner_has_a_row():
    runners = {file.stem for file in masters.RUNNERS.glob("*.py")} - {"__init__", "job", "slave"}
    assert runners == {master.runner for master in masters.MASTERS}


def test_the_table_goes_between_the_marks(tmp_path):
    file = tmp_path / "page.md"
    file.write_text("before\n<!-- masters: begin -->\nold\n<!-- masters: end -->\nafter\n")
    replace_table(file, "masters", "new")
    assert file.read_text() == "before\n<!-- masters: begin -->\nnew\n<!-- masters: end -->\nafter\n"


def test_a_page_without_the_marks_is_left_as_it_is(tmp_path):
    file = tmp_path / "page.md"
    file.write_text("<!-- masters: begin -->\n")
    with pytest.raises(ValueError, match="no place for the table masters"):
        replace_table(file, "masters", "new")
    assert file.read_text() == "<!-- masters: begin -->\n"


def test_the_fastest_row_has_the_ratio_one():
    rows = [
        masters.Row("slow", {"ring": [4.0, 5.0]}, {"ring": 0.1}),
        masters.Row("fast", {"ring": [3.0, 2.0]}, {"ring": 0.2}),
    ]
    for row in rows:
        row.costs["contact"], row.errors["contact"] = [1.0], 0.0
    lines = masters.table(rows, fmus=0.75).splitlines()
    assert lines[2] == "| fast | 2 | 1 | 0.2 | 1 | 1 | 0.25 | 0 |"
    assert lines[3].startswith("| slow | 4 | 2 | 0.1 |")


def test_where_cofmpy_differs_in_the_ring(ring, tmp_path):
    """Its error is that of a ring whose u[1] and u[2] are held at the values of a Boolean and a String input."""
    names = [f"lag{i}.y[{k}]" for i in range(masters.COUNT) for k in range(1, masters.CHANNELS + 1)]
    connections = ring.structure.connections
    kept = [c for c in connections if c.input not in ("u[1]", "u[2]")]
    assert len(connections) - len(kept) == 2 * masters.COUNT
    held = masters.ring(ring.structure.elements["lag0"].file)
    held.structure.connections[:] = kept
    held.set({f"lag{i}.u[1]": 1.0 for i in range(masters.COUNT)})
    values = masters.ours(held, masters.job_of(held, names, 1e-3, 1000, tmp_path), "jacobi")[1]
    found_by_cofmpy = 1.5714502835693736
    assert masters.distance(values, masters.exact_ring(1.0)) == pytest.approx(found_by_cofmpy, rel=1e-15)
