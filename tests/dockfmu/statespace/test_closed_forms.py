"""Models of single FMUs against closed forms."""

import numpy as np
import pytest
import scipy.linalg

import dockfmu
from dockfmu.components.spacecraft.modes.declared import declared_modes

VALUES = {"parameters.mass": 2.0, "parameters.stiffness": 40.0, "parameters.damping": 0.8}


def test_oscillator_has_the_matrices_of_its_equation(oscillator):
    """x'' = (f - c x' - k x) / m. The step is exact, so that only rounding remains: 2e-16 / (1e-3 h) = 2e-11 1/s."""
    model = dockfmu.linearise(oscillator, 0.5, settings=VALUES | {"parameters.initial_position": 0.1}, step=0.01)
    assert model.states == ("Oscillator.position", "Oscillator.velocity")
    assert model.inputs == ("Oscillator.force",)
    np.testing.assert_allclose(model.A, [[0.0, 1.0], [-20.0, -0.4]], rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.B, [[0.0], [0.5]], rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.C, np.eye(2), rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.D, np.zeros((2, 1)), rtol=0, atol=1e-12)
    for mode in model.modes:
        assert abs(mode.eigenvalue - complex(-0.2, np.sign(mode.eigenvalue.imag) * np.sqrt(19.96))) < 1e-9
        assert mode.damping == pytest.approx(0.2 / np.sqrt(20.0), abs=1e-10)
        assert mode.frequency == pytest.approx(np.sqrt(20.0) / (2.0 * np.pi), abs=1e-10)
        assert mode.kind == "decays"


def test_the_drift_is_the_rate_at_the_operating_point(oscillator):
    """Not an equilibrium: the mean rate over a step h is that of the equation within h / 2 times its own rate."""
    model = dockfmu.linearise(oscillator, 0.0, settings=VALUES | {"parameters.initial_position": 0.1}, step=1e-3)
    np.testing.assert_allclose(model.drift, [0.0, -2.0], atol=1.1e-3)


@pytest.mark.parametrize(("damping", "kinds"), [(0.0, {"undamped"}), (40.0, {"decays"})])
def test_undamped_and_overdamped(oscillator, damping, kinds):
    model = dockfmu.linearise(oscillator, settings=VALUES | {"parameters.damping": damping}, step=0.01)
    assert {mode.kind for mode in model.modes} == kinds
    exact = np.sort_complex(np.roots([2.0, damping, 40.0]))
    np.testing.assert_allclose(np.sort_complex([mode.eigenvalue for mode in model.modes]), exact, atol=1e-8)


@pytest.mark.slow
def test_a_free_craft_is_twelve_integrators(craft):
    """Force on a port moves the centre by 1 / m, torque turns by the inverse inertia."""
    model = dockfmu.linearise(craft, 0.01, settings={"parameters.mass": 500.0}, inputs=["port[1]"], outputs=["body"])
    assert len(model.states) == 12
    assert {mode.kind for mode in model.modes} == {"integrates"}
    row = [name.endswith("rigid.velocity[1]") for name in model.states].index(True)
    column = model.inputs.index("Spacecraft.port[1].force[1]")
    assert model.B[row, column] == pytest.approx(1.0 / 500.0, rel=1e-9)
    assert not any(name.startswith("Spacecraft.audit") for name in model.outputs)


@pytest.mark.slow
def test_elastic_modes_have_their_frequencies_and_dampings(tmp_path):
    """q'' + 2 n q' + w^2 q = ..., n = w d / sqrt(4 pi^2 + d^2), d the logarithmic decrement: 30 modes of the beam.

    The step of the modes is exact; the differences round to 1e-13 of the multipliers, so eigenvalues to 1e-11 1/s.
    """
    modes = declared_modes("station_beam")
    file = dockfmu.build("Spacecraft", tmp_path, options={"modes": "station_beam"})
    model = dockfmu.linearise(file, 0.01, step=0.005, inputs=["port[1]"], outputs=["port[1]"])
    found = np.array([m.eigenvalue for m in model.modes if m.eigenvalue.imag > 0.1])
    decay = modes.frequency * modes.decrement / np.hypot(2.0 * np.pi, modes.decrement)
    exact = -decay + 1j * np.sqrt(modes.frequency**2 - decay**2)
    assert len(found) == len(exact) == 30
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(exact), rtol=1e-9)


@pytest.mark.slow
def test_probe_mechanism_at_rest_predicts_the_answer_to_a_push(tmp_path):
    """The linear model gives the loads of the FMU after 0.01 m/s2 of the base for 20 ms.

    It has the micro-steps of the mechanism at rest, 1 ms; the FMU takes shorter ones when the base jerks, and the
    difference of both is that of the micro-step: (w h)^2 = 1 % for pitch and yaw at 91 rad/s, here 1.5 % of the peak.
    """
    file = dockfmu.build("ProbeMechanism", tmp_path)
    names = ["ProbeMechanism.base.force_now[2]", "ProbeMechanism.base.torque_now[3]"]
    drive = "ProbeMechanism.base.acceleration[2]"
    model = dockfmu.linearise(file, 0.01, inputs=["base"], outputs=["base"])
    assert all(mode.kind == "decays" for mode in model.modes)
    pairs = [m for m in model.modes if abs(m.frequency - 14.57) < 0.5]
    assert len(pairs) == 4, "pitch and yaw of the probe are alike"
    column = model.inputs.index(drive)
    a, b, c, d = model.discrete
    x = np.zeros(len(a))
    system = dockfmu.System("probe")
    system.add("ProbeMechanism", file)
    with system.simulate(step=model.step, start=0.0) as simulation:
        simulation.advance(0.01)
        rest = np.array([simulation[name] for name in names])
        found, expected = [], []
        for k in range(60):
            push = 0.01 if k < 20 else 0.0
            simulation.set({drive: push})
            simulation.step()
            y = c @ x + d[:, column] * push
            x = a @ x + b[:, column] * push
            found.append(np.array([simulation[name] for name in names]) - rest)
            expected.append([y[model.outputs.index(name)] for name in names])
    peak = np.abs(expected).max(axis=0)
    assert (peak > 0.01).all()
    np.testing.assert_array_less(np.abs(np.array(found) - expected).max(axis=0), 0.02 * peak)


def test_continuous_model_gives_the_discrete_one(oscillator):
    model = dockfmu.linearise(oscillator, settings=VALUES, step=0.05)
    block = np.zeros((3, 3))
    block[:2, :2], block[:2, 2:] = model.A, model.B
    over = scipy.linalg.expm(block * model.step)
    np.testing.assert_allclose(over[:2, :2], model.discrete[0], atol=1e-12)
    np.testing.assert_allclose(over[:2, 2:], model.discrete[1], atol=1e-12)
