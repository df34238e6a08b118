"""Inputs extrapolated with output derivatives that an FMU provides."""

import numpy as np
import pytest

from dockfmu.master.algorithms import GaussSeidel, Jacobi
from dockfmu.master.errors import FmuError
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

FREQUENCY, STOP = 2.0, 1.0
OUTPUT_DERIVATIVES, INPUT_DERIVATIVES = 1, 2


@pytest.fixture(scope="module")
def make(tmp_path_factory, linear, linear_library):
    """Return a sine and its integral, which steps first: `tells` of the source, `takes` of the target."""
    folder = tmp_path_factory.mktemp("derivatives")

    def system(tells=True, takes=True, factor=1.0, every=1, source=(), target=()):
        files = [
            linear.build(folder, linear_library, f"{takes}{order}", interpolates=takes, output_derivatives=order)
            for order in (int(tells), 0)
        ]
        system = Structure("sine")
        system.add("sum", files[1], linear.integral() | dict(target))
        system.add("sine", files[0], linear.sine(FREQUENCY) | dict(source), every=every)
        system.connect("sine", "y[1]", "sum", "u", factor=factor)
        system.order = ("sum", "sine")
        return system

    return system


def rows(system, folder, algorithm, h):
    names = ["sum.y[1]", "sum.slope", "sine.y[1]"]
    result = CoSimulation(
        system, Schedule(step=h, stop=STOP), algorithm=algorithm, observers=[Recorder(folder / "r.h5", names)]
    ).run()
    assert result.status == "completed", result.message
    with read_results(folder / "r.h5") as results:
        return results.time, *(results[name] for name in names)


@pytest.mark.parametrize("algorithm", [Jacobi(linear=True), GaussSeidel(linear=True)])
@pytest.mark.parametrize("takes", [True, False])
def test_the_target_gets_the_derivative_of_the_source(make, tmp_path, algorithm, takes):
    h, factor = 0.1, 3.0
    time, total, slope, sine = rows(make(takes=takes, factor=factor), tmp_path, algorithm, h)
    rate = factor * FREQUENCY * np.cos(FREQUENCY * time)
    # Runge and Kutta in steps of 1 ms make the sine; a target that takes no slopes gets the value in the middle
    assert np.abs(slope[1:] - (rate[:-1] if takes else 0.0)).max() < 1e-11
    increments = h * (factor * sine[:-1] + 0.5 * h * rate[:-1])
    assert np.abs(np.diff(total) - increments).max() < 1e-11


@pytest.mark.parametrize("algorithm", [Jacobi(linear=True), GaussSeidel(linear=True)])
def test_the_first_step_needs_no_history(make, tmp_path, algorithm):
    h = 0.01
    exact = (1.0 - np.cos(FREQUENCY * h)) / FREQUENCY
    first = {tells: rows(make(tells), tmp_path, algorithm, h)[1][1] for tells in (True, False)}
    # without: the value at the start, which is 0; with: up to the term of third order, which is 0 for a sine
    assert first[False] == 0.0
    assert first[True] == pytest.approx(exact, rel=(FREQUENCY * h) ** 2 / 10.0)


@pytest.mark.parametrize("takes", [True, False])
def test_the_order_is_two_and_the_error_is_less_than_half_of_that_of_quotients(make, tmp_path, takes):
    steps, errors = (0.02, 0.01, 0.005), {}
    for tells in (True, False):
        errors[tells] = []
        for h in steps:
            time, total, _, _ = rows(make(tells, takes), tmp_path, Jacobi(linear=True), h)
            errors[tells].append(np.abs(total - (1.0 - np.cos(FREQUENCY * time)) / FREQUENCY).max())
        assert np.log2(errors[tells][1] / errors[tells][2]) == pytest.approx(2.0, abs=0.1)
    # extrapolation by h from t and t - h errs by 5/12 h^3 u'' in a step, a tangent by 1/6
    assert errors[True][-1] < 0.5 * errors[False][-1]


def test_a_source_that_steps_now_and_then_is_not_asked(make, tmp_path):
    """It would fail if it were asked; its outputs are extrapolated as those of one that knows no derivatives."""
    systems = make(every=2, source={"fails": OUTPUT_DERIVATIVES, "status": 3}), make(tells=False, every=2)
    found, plain = (rows(system, tmp_path, Jacobi(linear=True), 0.1) for system in systems)
    assert np.array_equal(found, plain)
    assert np.abs(found[1]).max() > 0.1


def test_a_derivative_that_is_not_known_now_is_the_way_of_the_last_step(make, tmp_path):
    unknown = make(source={"fails": OUTPUT_DERIVATIVES, "status": 2})
    found = [rows(system, tmp_path, Jacobi(linear=True), 0.1) for system in (unknown, make(tells=False))]
    assert np.array_equal(found[0], found[1])


@pytest.mark.parametrize(("status", "word"), [(3, "fmi2Error"), (4, "fmi2Fatal")])
@pytest.mark.parametrize(
    ("where", "function", "name", "instance"),
    [
        ("source", OUTPUT_DERIVATIVES, "fmi2GetRealOutputDerivatives", "sine"),
        ("target", INPUT_DERIVATIVES, "fmi2SetRealInputDerivatives", "sum"),
    ],
)
def test_a_failure_is_told(make, where, function, name, instance, status, word):
    system = make(**{where: {"fails": function, "status": status}})
    result = CoSimulation(system, Schedule(step=0.1, stop=STOP), algorithm=Jacobi(linear=True)).run()
    assert isinstance(result.error, FmuError)
    assert (result.error.instance, result.error.function, result.error.status) == (instance, name, word)
    assert (result.error.time, result.macro_steps) == (0.0, 0)
    assert f'"{name} fails on purpose"' in result.message
