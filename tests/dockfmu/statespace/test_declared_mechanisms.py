"""Linear models of declared mechanisms against the vibrations that `Multibody` computes in numpy."""

import zipfile

import numpy as np
import pytest

import dockfmu
from dockfmu.declare import declaration
from dockfmu.declare.packages.unbuilt import on_paper
from dockfmu.fmus.resources import SAVED_STATE
from dockfmu.statespace.closed_loops import loop_notes
from dockfmu.statespace.memory import read_layout

FLYING = """
name = "flying"
[bodies.hub]
mass = 2
inertia = [0.3, 0.4, 0.5]
center = [0.1, 0.2, -0.3]
[bodies.arm]
mass = 1
inertia = [0.03, 0.04, 0.05]
[bodies.hand]
mass = 1
inertia = [0.03, 0.04, 0.05]
center = [0.3, 0, 0.1]
[bodies.lid]
mass = 1
inertia = [0.03, 0.04, 0.05]
[joints.root]
kind = "free"
bodies = ["base", "hub"]
[joints.elbow]
kind = "revolute"
bodies = ["hub", "arm"]
points = [[0.5, 0, 0], [-0.4, 0, 0]]
axis = [0, 1, 0]
angle = { stiffness = 7, damping = 0.1 }
[joints.wrist]
kind = "universal"
bodies = ["arm", "hand"]
points = [[0.5, 0, 0], [-0.4, 0, 0]]
angle_x = { stiffness = 3 }
angle_y = { stiffness = 2, damping = 0.05 }
[joints.hinge]
kind = "revolute"
bodies = ["hub", "lid"]
points = [[0, 0.5, 0], [0, -0.4, 0]]
[locks.hinge]
joint = "hinge"
closed = true
"""
HELD = """
name = "held"
[bodies.ball]
mass = 2
inertia = [0.3, 0.4, 0.5]
center = [0.1, 0.2, -0.3]
[bodies.first]
mass = 1
inertia = [0.001, 0.08, 0.08]
center = [0.5, 0, 0]
[bodies.second]
mass = 1
inertia = [0.001, 0.3, 0.3]
center = [1, 0, 0]
[bodies.third]
mass = 1
inertia = [0.001, 0.08, 0.08]
center = [0.5, 0, 0]
[joints.ball]
kind = "spherical"
bodies = ["base", "ball"]
points = [[0.2, 0, 0], [0.1, 0, 0]]
[joints.a]
kind = "revolute"
bodies = ["base", "first"]
attitude = [0, 1.5707963267948966, 0]
angle = { stiffness = 30, damping = 0.2 }
[joints.b]
kind = "revolute"
bodies = ["first", "second"]
points = [[1, 0, 0], [0, 0, 0]]
attitude = [0, -1.5707963267948966, 0]
angle = { stiffness = 5 }
[joints.c]
kind = "revolute"
bodies = ["second", "third"]
points = [[2, 0, 0], [1, 0, 0]]
attitude = [0, 1.5707963267948966, 0]
angle = { damping = 0.3 }
[joints.d]
kind = "revolute"
cut = true
bodies = ["base", "third"]
points = [[2, 0, 0], [0, 0, 0]]
"""
ENDS = (((1.0, 0.3, 0.2), (0.4, 0.2, 0.1)), ((-0.5, 1.0, 0.1), (0.1, 0.6, 0.0)), ((0.2, -0.3, 1.1), (0.1, 0.1, 0.5)))
"""Ends of three springs that hold the ball, on the base and on it; its frame stands 0.1 m before that of the base."""


def springs() -> str:
    tables = []
    for k, (one, other) in enumerate(ENDS):
        length = float(np.linalg.norm(np.array(other) + np.array((0.1, 0.0, 0.0)) - one))
        tables.append(
            f'[springs.s{k}]\nbodies = ["base", "ball"]\npoints = [{list(one)}, {list(other)}]\n'
            f"stiffness = {50 + 13 * k}\ndamping = 0.7\nlength = {length!r}\n"
        )
    return "".join(tables)


def both(text, folder, **options):
    """Return the linear model of the FMU, and its eigenvalues and those of `Multibody` with a frequency above zero."""
    (folder / "model.toml").write_text(text, encoding="utf-8")
    model = dockfmu.linearise(dockfmu.build(folder / "model.toml", folder), **options)
    exact = dockfmu.Multibody.load(folder / "model.toml").vibrations().eigenvalues
    found = np.array([mode.eigenvalue for mode in model.modes])
    return model, *(np.sort_complex(values[abs(values) > 0.01]) for values in (found, np.asarray(exact)))


@pytest.mark.slow
def test_a_free_craft_with_a_locked_joint_has_its_vibrations_and_twelve_integrators(tmp_path):
    """All six coordinates of the root and their rates are states; those of the locked joint are none.

    The error of the micro-steps is (w h)^2 / 24 of a frequency: 4e-6 at 10 rad/s.
    """
    model, found, exact = both(FLYING, tmp_path, settings={"parameters.stepping.micro_tolerance": 0.0})
    assert len(model.states) == 18
    assert len(model.modes) - len(found) == 12
    np.testing.assert_allclose(found, exact, rtol=1e-5)
    assert model.held["flying.link[6].q"].startswith("constant")


@pytest.mark.slow
def test_a_ball_joint_on_springs_and_a_closed_loop_have_their_vibrations(tmp_path):
    """Take four micro-steps, within which what opens the loop is forgotten."""
    model, found, exact = both(
        HELD + springs(), tmp_path, settings={"parameters.stepping.micro_tolerance": 0.0}, count=4
    )
    assert not any("closed loops" in note for note in model.notes)
    alone = dockfmu.linearise(tmp_path / "held.fmu", inputs=())
    assert any("closed loops" in note for note in alone.notes)
    assert len(found) == len(exact) == 8
    assert len(model.states) == 8
    np.testing.assert_allclose(found, exact, rtol=1e-4)


def test_the_layout_of_a_file_that_is_built_anew_is_read_anew(tmp_path):
    """A model that has changed has the same file."""
    header = "name,unit,type,causality,variability,offset\n"
    for names in (("x",), ("x", "y")):
        with zipfile.ZipFile(tmp_path / "one.fmu", "w") as made:
            rows = "".join(f"{name},m,Real,private,continuous,{8 * k}\n" for k, name in enumerate(names))
            made.writestr(SAVED_STATE, header + rows)
        layout = read_layout(tmp_path / "one.fmu")
        assert layout
        assert tuple(place.name for place in layout.places) == names


@pytest.mark.parametrize(
    ("text", "count", "tolerance", "asked"),
    [
        (HELD, 1, 1e-6, "--count 4 or more and --set swing.parameters.stepping.micro_tolerance=0"),
        (HELD, 4, 1e-6, "take --set swing.parameters.stepping.micro_tolerance=0"),
        (HELD, 1, 0.0, "take --count 4 or more"),
        (HELD, 4, 0.0, None),
        (FLYING, 1, 1e-6, None),
    ],
)
def test_closed_loops_are_told_what_their_model_needs(tmp_path, text, count, tolerance, asked):
    (tmp_path / "model.toml").write_text(text, encoding="utf-8")
    (tmp_path / "system.toml").write_text(
        'name = "alone"\n[elements.swing]\ncomponent = "multibody"\nmodel = "model.toml"\n'
        f'[run]\nstop = 1.0\nstep = 0.01\n[elements.swing.values]\n"parameters.stepping.micro_tolerance" = '
        f'{{ value = {tolerance}, unit = "m/s", source = "test" }}\n',
        encoding="utf-8",
    )
    structure, _ = on_paper(declaration.read(str(tmp_path / "system.toml")), tmp_path)
    notes = list(loop_notes(structure, count))
    assert len(notes) == (asked is not None)
    assert all(asked in note for note in notes)
