"""Steps chosen by the residual energy of a power bond (ECCO), on the standard oscillator of two masses.

    ground --k,c-- m --kc-- m --k,c-- ground

Coupled by force and velocity: the first mass gets the force of the coupling spring; the second, which owns it, gets the
velocity of its other end.
"""

import numpy as np
import pytest

from dockfmu.master.algorithms import GaussSeidel, Jacobi
from dockfmu.master.bond import Bond
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import PowerBonds, StepControl
from dockfmu.master.system import Structure

K, KC, START = 10.0, 30.0, (0.1, 0.0, 0.0, 0.0, 0.1)
BOND = Bond("spring", ("second.y[1]",), ("first.y[1]",))
NAMES = ["first.y[1]", "second.y[1]", "first.x[1]", "second.x[1]", "second.x[2]"]
STOP = 10.0


def whole(c):
    """Return the matrix of the coupled system: positions and velocities of the masses, length of the spring."""
    return np.array(
        [
            [0.0, 1.0, 0.0, 0.0, 0.0],
            [-K, -c, 0.0, 0.0, -KC],
            [0.0, 0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, -K, -c, KC],
            [0.0, 1.0, 0.0, -1.0, 0.0],
        ]
    )


@pytest.fixture(scope="module")
def make(tmp_path_factory, linear, linear_library):
    folder = tmp_path_factory.mktemp("bonds")

    def system(*, c=0.0, goes_back=True):
        file = linear.build(folder, linear_library, f"Linear{goes_back}", goes_back=goes_back)
        mass = {"a[1,2]": 1.0, "a[2,1]": -K, "a[2,2]": -c}
        system = Structure("two masses")
        system.add("first", file, mass | {"b[2]": 1.0, "o[1,2]": 1.0, "x[1]": START[0]})
        system.add(
            "second",
            file,
            mass | {"a[2,3]": KC, "a[3,2]": -1.0, "b[3]": 1.0, "o[1,3]": -KC, "x[3]": START[4]},
        )
        system.connect("first", "y[1]", "second", "u")
        system.connect("second", "y[1]", "first", "u")
        system.order = ("first", "second")
        return system

    return system


def rows(system, folder, *, control=None, algorithm=None, step=0.01, stop=STOP):
    """Return (result, times, velocity of mass 1, force on it, its position, position and velocity of mass 2)."""
    recorder = Recorder(folder / "r.h5", NAMES)
    result = CoSimulation(
        system, Schedule(step=step, stop=stop, control=control), algorithm=algorithm or Jacobi(), observers=[recorder]
    ).run()
    assert result.status == "completed", result.message
    with read_results(folder / "r.h5") as results:
        return result, results.time, *(results[name] for name in NAMES)


def residual(time, v, force, newest_velocity=False):
    """Return the residual energy of the bond in each step, J, from the values received and given by its sides."""
    got = v[1:] if newest_velocity else v[:-1]
    return np.diff(time) * (force[:-1] * v[1:] - force[1:] * got)


def controlled(tolerance, shortest=1e-5, longest=0.2):
    return StepControl(shortest, longest, longest, PowerBonds((BOND,), tolerance))


def exact(c, time):
    values, vectors = np.linalg.eig(whole(c))
    weights = np.linalg.solve(vectors, np.array(START, complex))
    return np.real(np.exp(np.outer(time, values)) * weights @ vectors.T)


@pytest.mark.parametrize("algorithm", [Jacobi(), GaussSeidel()])
def test_steps_are_those_of_the_controller_for_the_residual_energy(make, tmp_path, algorithm):
    """Compare with the residual in closed form, from the exchanged values, and a second form of the controller."""
    tolerance, shortest, longest = 1e-4, 1e-5, 0.2
    system = make(c=1.0, goes_back=False)
    control = controlled(tolerance, shortest, longest)
    result, time, v, force, *_ = rows(system, tmp_path, control=control, algorithm=algorithm)
    error = np.maximum(np.abs(residual(time, v, force, algorithm.name == "gauss_seidel")) / tolerance, 1e-8)
    last = np.concatenate([[1.0], error[:-1]])
    h = np.diff(time)
    following = np.clip(h * np.clip(0.9 * error**-0.35 * last**0.2, 0.2, 2.0), shortest, longest)
    # the last two share what is left to the end
    assert len(h) > 50
    assert np.allclose(h[1:-2], following[:-3], rtol=1e-6)
    assert result.rejected_steps == 0


def test_the_residual_is_that_of_the_theory_and_twice_the_energy_that_arises(make, tmp_path):
    h = 1e-3
    _, time, v, force, x, x2, v2 = rows(make(), tmp_path, step=h, stop=0.5)
    found = residual(time, v, force)
    z = exact(0.0, time[:-1])
    rates = z @ whole(0.0).T
    # up to the next order: H^2 (F v' - F' v)
    theory = h**2 * (-KC * z[:, 4] * rates[:, 1] + KC * rates[:, 4] * z[:, 1])
    assert np.abs(found - theory).max() < 0.02 * np.abs(theory).max()
    # inputs that are held from the start err by half of what they change in a step
    length = -force / KC
    energy = 0.5 * (v**2 + v2**2 + K * (x**2 + x2**2) + KC * length**2)
    assert np.abs(energy - energy[0] - 0.5 * np.concatenate([[0.0], np.cumsum(found)])).max() < 0.02 * np.ptp(energy)


def test_the_residual_stays_below_the_tolerance_where_fmus_can_go_back(make, tmp_path):
    tolerance = 1e-4
    result, time, v, force, *_ = rows(make(c=1.0), tmp_path, control=controlled(tolerance), step=0.2)
    assert np.abs(residual(time, v, force)).max() <= tolerance * (1.0 + 1e-9)
    assert result.rejected_steps >= 1


def test_the_residual_stays_near_the_tolerance_where_they_cannot(make, tmp_path):
    tolerance = 1e-4
    system = make(c=1.0, goes_back=False)
    result, time, v, force, *_ = rows(system, tmp_path, control=controlled(tolerance), step=1e-3)
    # nothing is repeated: a step that was too long only makes the next one shorter
    assert result.rejected_steps == 0
    assert np.abs(residual(time, v, force)).max() < 4.0 * tolerance


@pytest.mark.parametrize("goes_back", [True, False])
def test_steps_grow_when_the_motion_dies(make, tmp_path, goes_back):
    # longer ones would be unstable in held coupling, which the residual shows
    longest = 0.05
    control = controlled(1e-5, longest=longest)
    result, time, *_ = rows(make(c=2.0, goes_back=goes_back), tmp_path, control=control, step=1e-3, stop=20.0)
    lengths = np.diff(time)
    assert lengths[time[1:] < 1.0].mean() < 0.02
    assert np.allclose(lengths[time[:-1] > 15.0][:-2], longest)
    assert result.longest_step == pytest.approx(longest)


@pytest.mark.parametrize("goes_back", [True, False])
def test_the_error_of_the_run_falls_with_the_tolerance(make, tmp_path, goes_back):
    errors, counts = [], []
    tolerances = (1e-5, 1e-6, 1e-7)
    for tolerance in tolerances:
        system = make(c=1.0, goes_back=goes_back)
        result, time, v, _, x, *_ = rows(system, tmp_path, control=controlled(tolerance, 1e-7), step=1e-4, stop=3.0)
        z = exact(1.0, time)
        errors.append(max(np.abs(x - z[:, 0]).max(), np.abs(v - z[:, 1]).max()))
        counts.append(result.macro_steps)
    # the residual goes with H^2 and the error of held inputs with H
    assert np.log10(errors[0] / errors[2]) / 2.0 == pytest.approx(0.5, abs=0.1), errors
    assert np.log10(counts[2] / counts[0]) / 2.0 == pytest.approx(0.5, abs=0.1), counts
