"""Models of coupled systems: the coupling is part of them, and two ways to them agree."""

from dataclasses import replace

import numpy as np
import pytest

import dockfmu

STEP = 0.01
EXACT = np.array([[0.0, 1.0, 0.0, 0.0], [-3.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 1.0], [5.0, 0.0, -1.0, -0.3]])


def pair(oscillator, algorithm: str) -> dockfmu.System:
    """Two oscillators that push each other: left'' = -3 left + 2 right, right'' = -right - 0.3 right' + 5 left."""
    system = dockfmu.System("pair")
    system.add("left", oscillator, {"parameters.initial_position": 0.1, "parameters.stiffness": 3.0})
    system.add("right", oscillator, {"parameters.damping": 0.3})
    system.connect("left.position", "right.force", factor=5.0, convert_units=False)
    system.connect("right.position", "left.force", factor=2.0, convert_units=False)
    system.plan = replace(system.plan, algorithm=algorithm)
    return system


def eigenvalues(model: dockfmu.StateSpace) -> np.ndarray:
    return np.sort_complex([mode.eigenvalue for mode in model.modes])


@pytest.mark.parametrize(
    ("algorithm", "order"),
    [("jacobi", 1), ("gauss_seidel", 2), ("gauss_seidel_linear", 2), ("jacobi_linear", 2), ("fixed_point", 2)],
)
def test_eigenvalues_converge_to_those_of_the_coupled_equation(oscillator, algorithm, order):
    """The error of the coupling falls with its order: by 2^order when the step is halved, here within a fifth of it.

    Gauss-Seidel is of first order, but the eigenvalues of two masses that see each other's positions, one of them the
    newest, are those of a symmetric scheme: its error in them is of second order.
    """
    exact = np.sort_complex(np.linalg.eigvals(EXACT))
    errors = []
    for step in (STEP, STEP / 2):
        found = eigenvalues(dockfmu.linearise(pair(oscillator, algorithm), 0.5, step=step))
        assert len(found) == 4, "what the coupling remembers is forgotten within a step"
        errors.append(abs(found - exact).max())
    assert errors[0] < 0.02
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.2)


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_two_ways_agree(oscillator, algorithm):
    """Differences of the whole step; directional derivatives of the elements, put together.

    Those of the FMU move an input by 1.5e-8: they round to 2.2e-16 |x| / 1.5e-8 = 1.5e-9 for |x| = 0.1, which the
    factor 5 of a connection enlarges; in A divided by the step.
    """
    by_differences, by_derivatives = (
        dockfmu.linearise(pair(oscillator, algorithm), 0.5, step=STEP, by=by) for by in ("differences", "directional")
    )
    assert by_derivatives.memory == by_differences.memory
    assert "directional" in by_derivatives.method
    for ours, theirs in zip(by_differences.discrete, by_derivatives.discrete, strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-8)
    np.testing.assert_allclose(by_derivatives.A, by_differences.A, rtol=0, atol=1e-8 / STEP)


def test_an_element_alone_is_that_element_at_its_operating_point(oscillator):
    model = dockfmu.linearise(pair(oscillator, "gauss_seidel"), 0.5, element="right", step=STEP)
    np.testing.assert_allclose(model.A, [[0.0, 1.0], [-1.0, -0.3]], atol=1e-8)
    assert model.inputs == ("right.force",)
    assert model.time == pytest.approx(0.5)


def test_states_can_be_held(oscillator):
    system = pair(oscillator, "gauss_seidel")
    model = dockfmu.linearise(system, 0.5, step=STEP, hold=["left.position", "left.velocity", "coupling"])
    assert not any(name.startswith("left") for name in model.states)
    assert model.held["left.velocity"] == "held as asked"


def test_directional_derivatives_know_explicit_algorithms_alone(oscillator):
    with pytest.raises(dockfmu.LinearisationError, match="fixed_point: take by='differences'"):
        dockfmu.linearise(pair(oscillator, "fixed_point"), 0.1, step=STEP, by="directional")
    with pytest.raises(dockfmu.LinearisationError, match="one macro step"):
        dockfmu.linearise(pair(oscillator, "jacobi"), 0.1, step=STEP, by="directional", count=2)


@pytest.mark.slow
def test_ruling_R56_the_linear_model_shows_the_pumped_swing():
    """The pose loop on the output shafts with 0.05 1/s, as it was shipped, pumps the swing of the airlock on ERA.

    The loop has the period of its outer servo, 8 macro steps. The simplest model of the growth, an integral K of the
    pose in phase with the velocity of the swing, gives K / 2: 0.025 1/s for 0.05.
    """

    def swings(gain: float) -> list[dockfmu.Mode]:
        control = "manipulator.parameters.control"
        model = dockfmu.linearise(
            "airlock_era",
            20.0,
            settings={f"{control}.pose_gain": gain, f"{control}.pose_feedback": "OUTPUTS"},
            count=8,
            inputs=["contact.base.position"],
            outputs=["manipulator.relative.position"],
        )
        assert "jumps" in model.held["manipulator.clock.until_inner"], "a tick comes a step earlier or later"
        return [m for m in model.modes if 0.02 < m.frequency < 0.3 and m.eigenvalue.imag > 0.0]

    high = swings(0.05)
    assert max(mode.eigenvalue.real for mode in high) == pytest.approx(0.025, rel=0.3)
    assert any(mode.kind == "grows" for mode in high)
    low = swings(0.002)
    assert low
    assert all(mode.kind == "decays" for mode in low), low
