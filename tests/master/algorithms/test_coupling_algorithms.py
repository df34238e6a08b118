"""Every coupling algorithm against its amplification matrix, its order and stability limit, and in an impact."""

import numpy as np
import pytest
from scipy.linalg import expm

from benchmarks.coupling import impact, two_masses
from benchmarks.coupling.two_masses import Masses, amplification, begin, spectral_radius
from dockfmu.components.oscillator import component as oscillator_component
from dockfmu.fmus import build
from dockfmu.master.algorithms import FixedPoint, GaussSeidel, Jacobi, Midpoint, QuasiNewton, by_name
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

EXPLICIT = ("jacobi", "gauss_seidel", "jacobi_linear", "gauss_seidel_linear")
ALL = (*EXPLICIT, "fixed_point", "quasi_newton")
STATES = ("first.position", "first.velocity", "second.position", "second.velocity")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    return build(oscillator_component(), folder), build(two_masses.component(), folder)


@pytest.fixture(scope="module")
def collision(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collision")
    return build(oscillator_component(), folder), build(impact.component(), folder)


def trajectory(pair, masses, algorithm, h, steps, folder):
    file = folder / "r.h5"
    result = CoSimulation(
        masses.system(*pair), Schedule(step=h, stop=steps * h), algorithm=algorithm, observers=[Recorder(file, STATES)]
    ).run()
    assert result.status == "completed", result.message
    with read_results(file) as results:
        return np.column_stack([results[name] for name in STATES]), result


def powers(masses, name, h, steps):
    """Return the trajectory computed with the matrix of the algorithm."""
    matrix, z = amplification(masses, name, h), begin(masses, h)
    rows = [z]
    for _ in range(steps):
        rows.append(matrix @ rows[-1])
    return np.array(rows)[:, :4]


@pytest.mark.parametrize("name", ALL)
def test_an_algorithm_does_what_its_matrix_does(pair, tmp_path, name):
    masses = Masses(m1=1.0, m2=0.5, k1=1.0, k2=3.0, c1=0.1, c2=0.2, coupling=2.0)
    got, _ = trajectory(pair, masses, by_name(name), 0.05, 60, tmp_path)
    # implicit coupling stops at a relative change of 1e-8 a step, which a convergent iteration beats by far; the first
    # slope of a line is a difference over 1 ms, with 1000 times the rounding of its ends
    tolerance = {"jacobi": 1e-14, "gauss_seidel": 1e-14, "jacobi_linear": 1e-13, "gauss_seidel_linear": 1e-13}.get(
        name, 1e-8
    )
    assert np.abs(got - powers(masses, name, 0.05, 60)).max() < tolerance


@pytest.mark.parametrize("name", ALL)
def test_order_of_convergence(pair, tmp_path, name):
    masses = Masses(c1=0.1, c2=0.1, coupling=2.0)
    steps = np.array([40, 80, 160, 320])
    exact = expm(4.0 * masses.matrix()) @ masses.start
    errors = [np.abs(trajectory(pair, masses, by_name(name), 4.0 / n, n, tmp_path)[0][-1] - exact).max() for n in steps]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    expected = 1.0 if name in ("jacobi", "gauss_seidel") else 2.0
    # the next term of the error is a step smaller
    assert orders[-1] == pytest.approx(expected, abs=0.12), orders


@pytest.mark.parametrize("ratio", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("name", EXPLICIT)
def test_the_limit_of_stability_is_that_of_the_eigenvalues(pair, tmp_path, name, ratio):
    masses = Masses(c1=0.2, c2=0.2, coupling=ratio)
    low, high = 1e-7, 2.0
    while high / low > 1.001:
        middle = np.sqrt(low * high)
        low, high = (middle, high) if spectral_radius(masses, name, middle) < 1.0 else (low, middle)
    # with held inputs growth begins gently: the first multiple of the limit is taken that shows it in reasonable time
    unstable = next(h for h in low * 1.25 ** np.arange(1, 60) if spectral_radius(masses, name, h) > 1.0 + 2e-4)
    for h, stable in ((0.8 * low, True), (unstable, False)):
        steps = min(int(20.0 / abs(np.log(spectral_radius(masses, name, h)))) + 10, 100_000)
        got, _ = trajectory(pair, masses, by_name(name), h, steps, tmp_path)
        growth = np.abs(got[steps // 2 :]).max() / np.abs(got[: steps // 2]).max()
        assert growth < 1.0 if stable else growth > 10.0, (h, growth)


@pytest.mark.parametrize("algorithm", [FixedPoint(), QuasiNewton(), QuasiNewton(derivatives=False)])
def test_implicit_coupling_is_stable_where_explicit_coupling_is_not(pair, tmp_path, algorithm):
    masses = Masses(coupling=1e4)
    h = 0.05
    # held or extrapolated force: k H^2 / m = 25 is far beyond the limit of any explicit algorithm
    assert min(spectral_radius(masses, name, h) for name in EXPLICIT) > 1.5
    assert spectral_radius(masses, algorithm.name, h) < 1.0 + 1e-9
    got, result = trajectory(pair, masses, algorithm, h, 200, tmp_path)
    assert np.abs(got[:, ::2]).max() < 0.2
    assert result.warnings == []
    # two sweeps settle one unknown of a linear loop, once the secant is known
    assert result.sweeps <= 3 * result.macro_steps + 10


def test_what_broyden_learns_in_one_step_serves_in_the_next(pair, tmp_path):
    masses = Masses(coupling=1e4)
    sweeps = {a.name: trajectory(pair, masses, a, 0.05, 200, tmp_path)[1].sweeps for a in (FixedPoint(), QuasiNewton())}
    assert sweeps["quasi_newton"] < 0.8 * sweeps["fixed_point"]


def test_a_step_that_does_not_settle_is_told(pair, tmp_path):
    _, result = trajectory(pair, Masses(), FixedPoint(sweeps=1), 0.05, 20, tmp_path)
    (note,) = result.warnings
    assert "20 macro steps did not converge in 1 sweeps" in note


def test_implicit_coupling_refuses_what_cannot_go_back(lag, third_party, tmp_path):
    xml = (
        third_party.description().replace('canGetAndSetFMUstate="true"', "").replace('canSerializeFMUstate="true"', "")
    )
    stuck = third_party.build(tmp_path, "Stuck", xml=xml)
    system = Structure("loop")
    system.add("a", stuck)
    system.add("b", lag)
    system.connect("a", "y[1]", "b", "u[1]")
    system.connect("b", "y[1]", "a", "u[1]")
    with pytest.raises(StructureError, match="implicit coupling needs rollback, which a cannot do"):
        CoSimulation(system, Schedule(step=0.1), algorithm=FixedPoint()).open()


# architecture section 4: 20 kg on 7 t, 1e7 N/m, bodies exact, worst phase of the impact in the step
@pytest.mark.parametrize(("h", "held", "midpoint"), [(5e-4, 0.73, 0.018), (1e-4, 0.12, 0.0012), (1e-5, 0.011, 0.00001)])
def test_energy_of_an_impact(collision, h, held, midpoint):
    error = {
        "held": impact.energy_error(*collision, GaussSeidel(), h),
        "extrapolated": impact.energy_error(*collision, Midpoint(), h),
        "midpoint": impact.energy_error(*collision, Midpoint(derivatives=impact.RATES), h),
        "implicit": impact.energy_error(*collision, QuasiNewton(), h),
    }
    # the figures of the table have two digits, the last one one
    assert error["held"] == pytest.approx(held, rel=0.05)
    assert error["midpoint"] == pytest.approx(midpoint, rel=0.15)
    assert abs(error["implicit"]) < 1.5 * midpoint
    assert abs(error["extrapolated"]) < 4.0 * midpoint


def test_jacobi_makes_more_energy_in_an_impact_than_gauss_seidel(collision):
    h = 1e-4
    assert impact.energy_error(*collision, Jacobi(), h, 2) > 2.0 * impact.energy_error(*collision, GaussSeidel(), h, 2)


def test_midpoint_names_forces_that_are_not_there(collision):
    system = impact.system(*collision, 1e-4)
    with pytest.raises(StructureError, match="there is no element 'spring'"):
        CoSimulation(system, Schedule(step=1e-3), algorithm=Midpoint(forces=("spring",))).open()


@pytest.mark.parametrize(
    ("algorithm", "words"),
    [
        (lambda: FixedPoint(sweeps=0), "algorithm fixed_point: sweeps must be an integer from 1"),
        (lambda: FixedPoint(sweeps=-1), "not -1"),
        (lambda: FixedPoint(sweeps=2.5), "not 2.5"),
        (lambda: QuasiNewton(sweeps=0), "algorithm quasi_newton: sweeps must be an integer from 1"),
        (lambda: FixedPoint(tolerance=-1), "the tolerance must be positive and finite, not -1"),
        (lambda: QuasiNewton(tolerance=float("nan")), "the tolerance must be positive and finite, not nan"),
        (lambda: FixedPoint(relaxation=0), "the relaxation factor must be positive and finite, not 0"),
        (lambda: FixedPoint(relaxation=-3), "not -3"),
    ],
)
def test_iterations_that_cannot_be(algorithm, words):
    with pytest.raises(StructureError, match=words):
        algorithm()
