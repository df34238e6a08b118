"""Linear models of elastic bodies in declared mechanisms against their vibrations as `Multibody` computes them."""

import numpy as np
import pytest

import dockfmu
from tests.dockfmu.elastic import models

CRAFT = """
name = "craft"
[bodies.hub]
mass = 1000
center = [-1, 0, 0]
inertia = [800, 600, 600]
[bodies.beam]
elastic = "beam.npz"
[joints.flight]
kind = "free"
bodies = ["base", "hub"]
[joints.root]
kind = "revolute"
bodies = ["hub", "beam"]
axis = [0, 1, 0]
angle = { stiffness = 200, damping = 3 }
[ports.tip]
body = "beam"
point = [10, 0, 0]
"""
STEADY = {"parameters.stepping.micro_tolerance": 0.0}
MICRO_STEP = 1e-4


@pytest.fixture(scope="module")
def craft(tmp_path_factory):
    """Return the FMU of a free craft with a beam on a spring at its root, and its exact eigenvalues of vibration."""
    folder = tmp_path_factory.mktemp("craft")
    body = dockfmu.reduce(models.beam(folder), interface=[1, 21], modes=5, frame=1, mass="matrix", damping=0.01)
    body.write(folder / "beam.npz")
    (folder / "craft.toml").write_text(CRAFT, encoding="utf-8")
    exact = np.asarray(dockfmu.Multibody.load(folder / "craft.toml").vibrations().eigenvalues)
    return dockfmu.build(folder / "craft.toml", folder), _pairs(exact)


def _pairs(values):
    """Return one eigenvalue of each pair that vibrates, the slowest first."""
    found = values[values.imag > 1e-3]
    return found[np.argsort(np.abs(found))]


def test_rigid_coupled_and_elastic_modes_are_those_of_the_model(craft):
    """Twelve integrators, and all pairs with the error of micro-steps h: modes are implicit, (w h)^2 / 12 too slow."""
    fmu, exact = craft
    model = dockfmu.linearise(fmu, settings=STEADY, inputs=())
    values = np.array([mode.eigenvalue for mode in model.modes])
    found = _pairs(values)
    assert not any("half a turn" in note for note in model.notes)
    assert len(found) == len(exact) == 12
    assert len(model.states) == 12 + 2 * len(exact)
    assert np.sum(np.abs(values) < 1e-3) == 12
    error = np.abs(found / exact - 1.0)
    assert np.all(error < 0.1 * (np.abs(exact) * MICRO_STEP) ** 2 + 1e-7)


def test_a_mode_that_is_faster_than_the_step_shows_is_told_with_its_frequency(craft):
    """Regression: all pairs but one were right, and nothing said which."""
    fmu, exact = craft
    model = dockfmu.linearise(fmu, settings=STEADY, inputs=(), count=4)
    limit = np.pi / model.step
    fast = exact[exact.imag > limit]
    assert len(fast) == 1
    found = _pairs(np.array([mode.eigenvalue for mode in model.modes]))
    for value in exact[exact.imag < limit]:
        assert np.abs(found / value - 1.0).min() < 1e-3
    assert np.abs(found / fast - 1.0).min() > 0.1
    (note,) = (note for note in model.notes if "half a turn" in note)
    shown, true = (float(part.split(" Hz")[0].split(" ")[-1]) for part in note.split(" is "))
    assert true == pytest.approx(np.abs(fast[0]) / (2.0 * np.pi), rel=5e-3)
    assert np.abs(np.abs(found) / (2.0 * np.pi) - shown).min() < 0.01
    assert note.endswith("take --count 2")


def test_a_model_that_shows_no_motion_says_so(craft):
    """The energy of a beam at rest has no derivative."""
    model = dockfmu.linearise(craft[0], settings=STEADY, inputs=(), outputs=("elastic.beam.strain_energy",))
    assert not model.states
    assert any("the model is empty" in note for note in model.notes)
