"""FMUs of somebody else: declared states, answers to impulses, and what cannot be done."""

import numpy as np
import pytest

import dockfmu

A = np.array([[0.0, 1.0, 0.0], [-4.0, -0.4, 1.0], [0.0, 0.0, -0.5]])
B, OUT = np.array([0.0, 1.0, 0.5]), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
VALUES = {
    **{f"a[{i + 1},{j + 1}]": A[i, j] for i in range(3) for j in range(3)},
    **{f"b[{i + 1}]": B[i] for i in range(3)},
    **{f"o[{i + 1},{j + 1}]": OUT[i, j] for i in range(2) for j in range(3)},
}


def test_declared_states_give_the_matrices_of_the_equation(foreign):
    """The FMU computes its directional derivatives exactly."""
    model = dockfmu.linearise(foreign(states=True), 0.1, settings=VALUES, by="directional", step=0.01)
    assert model.states == ("Linear.x[1]", "Linear.x[2]", "Linear.x[3]")
    for found, exact in zip((model.A, model.B, model.C, model.D), (A, B[:, None], OUT, np.zeros((2, 1))), strict=True):
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-15)
    assert model.method == "directional derivatives of the states that the FMU declares"


def test_impulses_find_the_modes_and_the_answer_of_any_fmu(foreign):
    """Three states, all of them moved by u and shown by y.

    Its Runge-Kutta steps of 1 ms err by 1e-15 a step; the Hankel matrix is as small as 1e-3 where it decides on the
    third state, so eigenvalues to 1e-7 1/s.
    """
    model = dockfmu.linearise(foreign(), 0.1, settings=VALUES, by="impulses", step=0.05, samples=80)
    assert len(model.states) == 3
    found = np.sort_complex([mode.eigenvalue for mode in model.modes])
    np.testing.assert_allclose(found, np.sort_complex(np.linalg.eigvals(A)), atol=1e-6)
    # the transfer function at 1 rad/s does not depend on the choice of states
    ours = model.C @ np.linalg.solve(1j * np.eye(3) - model.A, model.B) + model.D
    exact = OUT @ np.linalg.solve(1j * np.eye(3) - A, B[:, None])
    np.testing.assert_allclose(ours, exact, atol=1e-6)


def test_impulses_and_differences_agree(oscillator):
    values = {"parameters.stiffness": 40.0, "parameters.damping": 0.8}
    ways = [dockfmu.linearise(oscillator, settings=values, step=0.05, by=by) for by in ("differences", "impulses")]
    eigenvalues = [np.sort_complex([mode.eigenvalue for mode in model.modes]) for model in ways]
    np.testing.assert_allclose(*eigenvalues, atol=1e-7)


def test_an_fmu_without_access_to_its_state_is_refused_by_name(foreign):
    with pytest.raises(dockfmu.LinearisationError) as error:
        dockfmu.linearise(foreign(), settings=VALUES, step=0.01)
    assert "Linear: LinearFalse.fmu cannot save and restore its state" in str(error.value)
    assert "by='impulses'" in str(error.value)


def test_the_python_fmu_does_not_say_what_its_state_holds(tmp_path):
    file = dockfmu.build("Oscillator", tmp_path, kind="python")
    with pytest.raises(dockfmu.LinearisationError, match="does not say what its saved state holds"):
        dockfmu.linearise(file)
