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
[joints.flight]
kind = "free"
bodies = ["base", "hub"]
"""
BEAM = """
[bodies.beam]
elastic = "beam.npz"
[joints.root]
kind = "revolute"
bodies = ["{carrier}", "beam"]
axis = [0, 1, 0]
angle = {{ stiffness = 200, damping = 3 }}
[ports.tip]
body = "beam"
point = [10, 0, 0]
"""
COUPLED = """
name = "coupled"
[elements.hull]
component = "spacecraft"
[elements.beam]
component = "multibody"
model = "carried.toml"
[[connections]]
ports = ["hull.port[1]", "beam.base"]
[run]
stop = 1.0
step = 0.001
order = ["beam", "hull"]
"""
STEADY = {"parameters.stepping.micro_tolerance": 0.0}
MICRO_STEP = 1e-4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the declarations of a beam on a spring at its root, on a craft of its own and carried."""
    folder = tmp_path_factory.mktemp("craft")
    body = dockfmu.reduce(models.beam(folder), interface=[1, 21], modes=5, frame=1, mass="matrix", damping=0.01)
    body.write(folder / "beam.npz")
    (folder / "craft.toml").write_text(CRAFT + BEAM.format(carrier="hub"), encoding="utf-8")
    carried = 'name = "carried"\nbase = "carried"\n' + BEAM.format(carrier="base")
    (folder / "carried.toml").write_text(carried, encoding="utf-8")
    (folder / "coupled.toml").write_text(COUPLED, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def exact(folder):
    """Return the eigenvalues of vibration of the free craft."""
    return _pairs(np.asarray(dockfmu.Multibody.load(folder / "craft.toml").vibrations().eigenvalues))


@pytest.fixture(scope="module")
def craft(folder):
    """Return the FMU of the free craft."""
    return dockfmu.build(folder / "craft.toml", folder)


def _pairs(values):
    """Return one eigenvalue of each pair that vibrates, the slowest first."""
    found = values[values.imag > 1e-3]
    return found[np.argsort(np.abs(found))]


def test_rigid_coupled_and_elastic_modes_are_those_of_the_model(craft, exact):
    """Twelve integrators, and all pairs with the error of micro-steps h: modes are implicit, (w h)^2 / 12 too slow."""
    model = dockfmu.linearise(craft, settings=STEADY, inputs=())
    values = np.array([mode.eigenvalue for mode in model.modes])
    found = _pairs(values)
    assert not any("half a turn" in note for note in model.notes)
    assert len(found) == len(exact) == 12
    assert len(model.states) == 12 + 2 * len(exact)
    assert np.sum(np.abs(values) < 1e-3) == 12
    error = np.abs(found / exact - 1.0)
    assert np.all(error < 0.1 * (np.abs(exact) * MICRO_STEP) ** 2 + 1e-7)


def test_a_mode_that_is_faster_than_the_step_shows_is_told_with_its_frequency(craft, exact):
    """Regression: all pairs but one were right, and nothing said which."""
    model = dockfmu.linearise(craft, settings=STEADY, inputs=(), count=4)
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
    model = dockfmu.linearise(craft, settings=STEADY, inputs=(), outputs=("elastic.beam.strain_energy",))
    assert not model.states
    assert any("the model is empty" in note for note in model.notes)


def test_a_beam_that_a_spacecraft_carries_has_the_modes_of_both_together(folder, exact):
    """AFFINE, steps of 1 ms: of second order in the frequency times the step; the fastest has a third less damping."""
    values = {f"hull.parameters.inertia[{k},{k}]": J for k, J in zip((1, 2, 3), (800.0, 600.0, 600.0), strict=True)}
    values |= {"hull.parameters.mass": 1000.0, "hull.parameters.port[1].position[1]": 1.0}
    values |= {"hull.parameters.port[1].base_motion": "AFFINE", "beam.parameters.base_motion": "AFFINE"}
    values |= {f"beam.{name}": value for name, value in STEADY.items()}
    outputs = ("beam.joint.root.angle.position", "beam.tip.position*", "hull.body.position*")
    model = dockfmu.linearise(folder / "coupled.toml", settings=values, inputs=(), outputs=outputs)
    found = _pairs(np.array([mode.eigenvalue for mode in model.modes]))
    assert len(found) == len(exact)
    # whether a coordinate is held is no state
    assert not any(".held" in note for note in model.notes)
    error = np.abs(found / exact - 1.0)
    assert np.all(error[:-1] < 5e-4)
    assert error[-1] < 5e-3
