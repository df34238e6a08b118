"""Loops whose coordinates are held, whose bodies have no mass, and loops of grams beside loops of tons."""

from math import pi

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.analysis.inertia import SingularPoseError
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.multibody.reference.impulse import ClosureError
from tests.components.multibody.random_models import interpreted


def parallelogram(name: str, length: float, mass: float, first: str = "", second: str = "") -> str:
    """Return three equal links at 60 degrees that hang on the base, with rates that keep the loop closed.

    `first` and `second` take the place of the start values of the first two hinges.
    """
    half = 0.5 * length
    first = first or 'start = "60 deg", rate = 0.1'
    second = second or 'start = "-60 deg", rate = -0.1'
    return (
        "".join(
            f"[bodies.{name}{k}]\nmass = {mass}\nsolid = {{ cylinder = [{0.02 * length}, {length}] }}\n"
            for k in (1, 2, 3)
        )
        + f"""
[joints.{name}a]
kind = "revolute"
bodies = ["base", "{name}1"]
points = [[0, 0, 0], [{-half}, 0, 0]]
angle = {{ {first} }}
[joints.{name}b]
kind = "revolute"
bodies = ["{name}1", "{name}2"]
points = [[{half}, 0, 0], [{-half}, 0, 0]]
angle = {{ {second} }}
[joints.{name}c]
kind = "revolute"
bodies = ["{name}2", "{name}3"]
points = [[{half}, 0, 0], [{half}, 0, 0]]
angle = {{ start = "60 deg", rate = 0.1 }}
[joints.{name}d]
kind = "revolute"
bodies = ["{name}3", "base"]
points = [[{-half}, 0, 0], [{length}, 0, 0]]
attitude = [0, {-pi / 3!r}, 0]
cut = true
"""
    )


def started(text: str) -> Instance:
    return Instance(interpreted(component_of(read_text('name = "held"\ngravity = [0, -1, 0]\n' + text))))


def analysed(text: str) -> Multibody:
    return Multibody(read_text('name = "held"\ngravity = [0, -1, 0]\n' + text).model)


def test_a_loop_of_tons_keeps_its_constraints_beside_one_of_milligrams() -> None:
    """Rows respond with 1e13 /kg m2 and 1e-6 /kg: each is judged by its own response; accelerations are g/L x const."""
    text = parallelogram("s", 0.003, 1e-5) + parallelogram("b", 20.0, 4e5)
    one = started(text)
    assert [cut.redundant for cut in one.m.cut] == [3, 3]
    assert (one.m.closure.rank, one.m.closure.freedoms) == (4, 2)
    small, *_ = (joint.acceleration for joint in one.m.coordinate)
    large = one.m.coordinate[3].acceleration
    assert large == pytest.approx(small * 0.003 / 20.0, rel=1e-9)
    for k in range(50):
        one.step(0.01 * k, 0.01)
    assert max(cut.error for cut in one.m.cut) < 1e-9
    # from a start that does not close: both are closed by the analysis too
    open_loops = text.replace('"60 deg", rate = 0.1', '"58 deg"')
    system = analysed(open_loops)
    start = dict(zip(system.coordinates, system.start.q, strict=True))
    assert start["sa.angle"] == pytest.approx(-start["sb.angle"], abs=1e-10)
    assert start["ba.angle"] == pytest.approx(-start["bb.angle"], abs=1e-10)


MOVED = 'motion = { position = "60 deg", rate = 0.1 }'


@pytest.mark.parametrize(
    "text",
    [
        parallelogram("s", 1.0, 1.0, MOVED, 'motion = { position = "-60 deg", rate = 0.1 }'),
        parallelogram("s", 1.0, 1.0, MOVED) + '[locks.pin]\njoint = "sb"\nclosed = true\n',
    ],
    ids=["two motions", "a motion and a lock"],
)
def test_held_coordinates_that_contradict_a_loop_are_told_at_the_start(text: str) -> None:
    with pytest.raises(
        ComponentError, match=r"joint sd opens at 0\.\d+ m/s .* prescribed and locked coordinates contradict"
    ):
        started(text)
    with pytest.raises(ClosureError, match="the fixed rates contradict the loops: joint sd opens at"):
        _ = analysed(text).start


def test_motions_that_agree_with_a_loop_run() -> None:
    text = parallelogram("s", 1.0, 1.0, MOVED, 'motion = { position = "-60 deg", rate = -0.1 }')
    one = started(text)
    for k in range(50):
        one.step(0.01 * k, 0.01)
    assert one.m.cut[0].error < 1e-9
    assert one.m.coordinate[2].position == pytest.approx(pi / 3 + 0.05, abs=1e-9)


def test_motions_that_contradict_a_loop_later_are_named_with_time() -> None:
    text = parallelogram("s", 1.0, 1.0, MOVED, 'motion = { position = "-60 deg", rate = -0.1, acceleration = 0.1 }')
    one = started(text)
    wanted = r"joint sd at t = 0\.1\d* s: .* prescribed and locked coordinates contradict"
    with pytest.raises(ComponentError, match=wanted):
        one.step(0.0, 0.5)


def test_a_locked_coordinate_has_no_rate_in_the_analysis_as_in_the_fmu() -> None:
    text = parallelogram("s", 1.0, 1.0) + '[locks.pin]\njoint = "sb"\nclosed = true\n'
    one, system = started(text), analysed(text)
    shown = [joint.rate for joint in one.m.coordinate]
    assert shown[1] == 0.0
    np.testing.assert_allclose(system.start.u, shown, atol=1e-12)


LOOP_ACROSS_A_MOTION = """
[bodies.one]
mass = 1
solid = { sphere = 0.1 }
[bodies.two]
mass = 1
solid = { sphere = 0.1 }
[joints.flight]
kind = "free"
bodies = ["base", "one"]
[joints.slide]
kind = "prismatic"
bodies = ["one", "two"]
axis = [1, 0, 0]
displacement = { motion = { position = 1.0, rate = RATE } }
[joints.edge]
kind = "knife_edge"
bodies = ["one", "two"]
points = [[1, 0, 0], [0, 0, 0]]
axis = [AXIS]
cut = true
"""


def test_a_constraint_between_bodies_that_a_motion_holds_together_moves_nothing_else() -> None:
    """The free rates cannot change it: it either agrees with the motion, or is told; rates do not grow to rounding."""
    free = analysed(LOOP_ACROSS_A_MOTION.replace("RATE", "0.3").replace("AXIS", "0, 1, 0"))
    np.testing.assert_allclose(free.start.u, [0, 0, 0, 0, 0, 0, 0.3], atol=1e-12)
    with pytest.raises(ClosureError, match=r"joint edge opens at 0\.3"):
        _ = analysed(LOOP_ACROSS_A_MOTION.replace("RATE", "0.3").replace("AXIS", "1, 0, 0")).start


MASSLESS = """
[bodies.arm]
mass = 1
solid = { sphere = 0.1 }
[bodies.knuckle]
mass = 0
[bodies.tip]
mass = 1
solid = { sphere = 0.1 }
[joints.flight]
kind = "free"
bodies = ["base", "arm"]
[joints.ball]
kind = "spherical"
bodies = ["arm", "knuckle"]
points = [[0.5, 0, 0], [0, 0, 0]]
[joints.tube]
kind = "KIND"
bodies = ["knuckle", "tip"]
points = [[0, 0, 0], [-0.5, 0, 0]]
axis = [1, 0, 0]
"""


def test_a_massless_body_that_may_spin_by_itself_is_told_by_name() -> None:
    """A ball joint and a tube: the piece between them turns about the tube's axis without inertia."""
    text = MASSLESS.replace("KIND", "cylindrical")
    with pytest.raises(ComponentError, match=r"joint (ball turns|tube\.angle feels)"):
        started(text)
    system = analysed(text)
    for call in (system.forward_dynamics, system.reactions, system.vibrations):
        with pytest.raises(SingularPoseError, match="ball, tube: these joints move something without inertia"):
            call()
    # a prismatic joint holds it
    sound = MASSLESS.replace("KIND", "prismatic")
    assert np.isfinite(analysed(sound).forward_dynamics()).all()
    started(sound).step(0.0, 0.01)


def test_a_massless_body_in_a_loop_may_be_held_by_a_lock() -> None:
    """Its freedom has no inertia and needs none: accelerations, reactions and frequencies are those of the rest."""
    text = (
        (
            MASSLESS.replace('kind = "KIND"', 'kind = "revolute"').replace('kind = "spherical"', 'kind = "revolute"')
            + '[locks.pin]\njoint = "ball"\nclosed = true\n'
            + '[joints.loop]\nkind = "fixed"\nbodies = ["arm", "tip"]\npoints = [[1, 0, 0], [0, 0, 0]]\ncut = true\n'
        )
        .replace("axis = [1, 0, 0]\n", "", 1)
        .replace("[0.5, 0, 0], [0, 0, 0]]", "[0.5, 0, 0], [0, 0, 0]]\naxis = [1, 0, 0]")
    )
    system, one = analysed(text), started(text)
    assert system.freedoms().number == 6
    assert one.m.closure.freedoms == 6
    np.testing.assert_allclose(system.forward_dynamics(), [0, -1, 0, 0, 0, 0, 0, 0], atol=1e-12)
    assert len(system.vibrations().frequencies) == 6
