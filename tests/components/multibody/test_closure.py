"""Closed chains in the kernels: worked examples of the source, redundant constraints, assembly, balance."""

from dataclasses import replace
from math import atan2, cos, pi, sin
from pathlib import Path

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.analysis.results import MultibodyState
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.multibody.model import BASE, Model, Mounting, MultibodyJoint
from dockfmu.components.physics.mechanics.rotation import from_quaternion
from tests.components.multibody.random_models import interpreted, made, matrix, mounting, random_model
from tests.components.multibody.test_motion import FIXED_STEPS, balance, run


def instance(text: str, **values: object) -> Instance:
    return Instance(interpreted(component_of(read_text(text))), **values)


SLIDER_CRANK = """
name = "slider_crank"
gravity = [0, -9.81, 0]
[bodies.crank]
mass = 1
solid = {{ rod = 0.1 }}
[bodies.rod]
mass = 2
solid = {{ rod = 0.3 }}
[bodies.block]
mass = 3
solid = {{ sphere = 0.02 }}
[joints.shaft]
kind = "revolute"
bodies = ["base", "crank"]
points = [[0, 0, 0], [-0.05, 0, 0]]
angle = {{ start = {phi}, rate = {rate} }}
[joints.pin]
kind = "revolute"
bodies = ["crank", "rod"]
points = [[0.05, 0, 0], [-0.15, 0, 0]]
angle = {{ start = {pin}, rate = {pin_rate} }}
[joints.guide]
kind = "prismatic"
bodies = ["base", "block"]
axis = [1, 0, 0]
displacement = {{ start = {x}, rate = {x_rate} }}
[joints.wrist]
kind = "{cut}"
bodies = ["rod", "block"]
points = [[0.15, 0, 0], [0, 0, 0]]
cut = true
"""


def slider_crank(phi: float, rate: float, cut: str = "revolute", **values: object) -> Instance:
    second = -atan2(0.1 * sin(phi), (0.09 - 0.01 * sin(phi) ** 2) ** 0.5)
    second_rate = -0.1 * cos(phi) * rate / (0.3 * cos(second))
    text = SLIDER_CRANK.format(
        phi=phi,
        rate=rate,
        pin=second - phi,
        pin_rate=second_rate - rate,
        x=0.1 * cos(phi) + 0.3 * cos(second),
        x_rate=-0.1 * sin(phi) * rate - 0.3 * sin(second) * second_rate,
        cut=cut,
    )
    return instance(text, **values)


def test_spec10_example_E8_slider_crank_as_a_closed_chain_in_space() -> None:
    one = slider_crank(pi / 3, 10.0)
    shaft, _, guide = one.m.coordinate
    assert guide.position == pytest.approx(0.33722813, abs=1e-8)
    assert guide.rate == pytest.approx(-1.01678108, abs=1e-8)
    assert shaft.acceleration == pytest.approx(-41.76775407, abs=1e-7)
    assert guide.acceleration == pytest.approx(0.90851655, abs=1e-7)
    # the two rotations and the displacement out of the plane are constrained twice
    assert one.m.cut[0].redundant == 3.0
    other = slider_crank(2.0, -5.0)
    assert other.m.coordinate[0].acceleration == pytest.approx(31.01117726, abs=1e-7)
    assert other.m.coordinate[2].acceleration == pytest.approx(-0.81273581, abs=1e-7)


def test_spec10_example_E8_force_of_the_cut_joint() -> None:
    one = slider_crank(pi / 3, 10.0)
    second = -0.29284277
    c, s = cos(second), sin(second)
    x, y, z = one.m.cut[0].force
    # on the block, in axes of the rod: 3 kg at 0.90851655 m/s2 along x; the guide carries it and the weight along y
    assert c * x - s * y == pytest.approx(3.0 * 0.90851655, abs=1e-6)
    assert s * x + c * y == pytest.approx(3.0 * 9.81 - 36.522545, abs=1e-5)
    assert z == pytest.approx(0.0, abs=1e-12)


def test_spec10_example_E4_a_spherical_joint_leaves_the_slider_crank_as_it_is() -> None:
    one = slider_crank(pi / 3, 10.0, "spherical")
    assert one.m.cut[0].redundant == 1.0
    assert one.m.coordinate[0].acceleration == pytest.approx(-41.76775407, abs=1e-7)


def test_a_closed_chain_keeps_its_closure_and_its_energy() -> None:
    errors = []
    for micro_step in (2e-4, 1e-4):
        one = slider_crank(pi / 3, 10.0, **FIXED_STEPS, **{"parameters.stepping.micro_step": micro_step})
        before = balance(one)
        run(one, 1.0)
        errors.append(abs(balance(one) - before))
        assert one.m.cut[0].error < 5e-6
        phi, x = one.m.coordinate[0].position, one.m.coordinate[2].position
        assert x == pytest.approx(0.1 * cos(phi) + (0.09 - 0.01 * sin(phi) ** 2) ** 0.5, abs=1e-5)
    assert errors[0] < 2e-3
    assert errors[1] < 0.35 * errors[0]


ARRAY = """
name = "array"
[bodies.panel1]
mass = 12
solid = { rod = 1.0 }
[bodies.panel2]
mass = 10
solid = { rod = 1.0 }
[bodies.link3]
mass = 2
solid = { rod = 0.8 }
[bodies.link4]
mass = 2
solid = { rod = 0.9 }
[joints.a]
kind = "revolute"
bodies = ["base", "panel1"]
points = [[0, 0, 0], [-0.5, 0, 0]]
angle = { start = "80 deg", rate = 0.2, stiffness = 20 }
[joints.b]
kind = "revolute"
bodies = ["panel1", "panel2"]
points = [[0.5, 0, 0], [-0.5, 0, 0]]
angle = { start = "-140 deg", rate = -0.5, stiffness = 12 }
[joints.d]
kind = "revolute"
bodies = ["base", "link3"]
points = [[0.3, -0.1, 0], [-0.4, 0, 0]]
angle = { start = 2.7158115802, rate = 0.4475907976 }
[joints.e]
kind = "revolute"
bodies = ["link3", "link4"]
points = [[0.4, 0, 0], [-0.45, 0, 0]]
angle = { start = -2.2453452561, rate = -0.0725917039 }
[joints.f]
kind = "revolute"
bodies = ["link4", "panel2"]
points = [[0.45, 0, 0], [-0.1, 0, 0]]
cut = true
"""


def test_spec10_example_E6_four_body_array_with_a_loop() -> None:
    one = instance(ARRAY)
    a, b, d, e = (c.acceleration for c in one.m.coordinate)
    found = [a, a + b, d, d + e]
    # start values of ten digits
    np.testing.assert_allclose(found, [-2.0386001745, 4.9971859082, -5.8029095816, -4.3218173457], atol=1e-7)
    c, s = cos(0.4704663241), sin(0.4704663241)
    x, y, _ = one.m.cut[0].force
    np.testing.assert_allclose([-(c * x - s * y), -(s * x + c * y)], [11.0324739758, 5.8137491275], atol=1e-7)
    assert one.m.cut[0].redundant == 3.0


def test_start_values_are_closed_by_newton_or_refused_with_what_is_left() -> None:
    near = instance(ARRAY.replace("start = 2.7158115802", "start = 2.9").replace("-2.2453452561", "-2.0"))
    assert near.m.cut[0].error < 1e-10
    with pytest.raises(ComponentError, match=r"joint f cannot be closed from the start values: .* m or rad are left"):
        instance(ARRAY.replace("[[0.3, -0.1, 0], [-0.4, 0, 0]]", "[[30, -0.1, 0], [-0.4, 0, 0]]"))


RING = Path(__file__).with_name("ring.toml").read_text(encoding="utf-8")


def test_a_free_closed_chain_with_a_lock_keeps_momentum_and_balance() -> None:
    one = instance(RING)
    audit = one.m.audit
    momentum = np.hstack([audit.momentum, audit.angular_momentum])
    energy = balance(one)
    run(one, 1.0)
    assert one.m.lock[0].closed == 1.0
    assert one.m.cut[0].redundant == 0.0
    after = np.hstack([audit.momentum, audit.angular_momentum])
    np.testing.assert_allclose(after, momentum, rtol=0.0, atol=1e-12 * np.abs(momentum).max())
    assert balance(one) == pytest.approx(energy, rel=1e-4)
    assert one.m.cut[0].error < 1e-5
    # the rates after the impact satisfy the closure
    assert max(abs(row.rate) for row in one.m.closure.row) < 1e-4


def closed_model(seed: int, kind: str) -> Model:
    """Return a random chain with a cut joint of a kind from its end to the base, closed at its start values."""
    model = random_model(seed, 5, ("cylindrical", "universal", "planar", "revolute"))
    joints = [replace(joint, predecessor=BASE if k == 0 else f"b{k}") for k, joint in enumerate(model.joints)]
    model = replace(model, joints=tuple(joints))
    body = Instance(made(model)).m.body[4]
    A = np.array(from_quaternion(tuple(body.quaternion)))
    outer = mounting(np.random.default_rng(seed + 100))
    inner = Mounting(tuple(body.position + A.T @ outer.point), matrix(np.array(outer.rotation) @ A))
    cut = MultibodyJoint("cut", kind, BASE, "b5", inner, outer, cut=True)
    return replace(model, joints=(*joints, cut))


@pytest.mark.parametrize("kind", ["spherical", "revolute", "universal", "cylindrical", "planar", "prismatic", "fixed"])
@pytest.mark.parametrize("turned", [False, True])
def test_spec10_oracle_2_kernels_equal_the_loop_formulation(kind: str, turned: bool) -> None:
    model = closed_model(len(kind), kind)
    if turned:
        cut = model.joints[-1]
        cut = replace(
            cut,
            predecessor=cut.successor,
            successor=cut.predecessor,
            on_predecessor=cut.on_successor,
            on_successor=cut.on_predecessor,
        )
        model = replace(model, joints=(*model.joints[:-1], cut))
    m = Instance(made(model)).m
    state = MultibodyState(np.array([c.position for c in m.coordinate]), np.array([c.rate for c in m.coordinate]), 0.0)
    expected = Multibody(model).forward_dynamics(state)
    found = np.array([c.acceleration for c in m.coordinate])
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * (1.0 + np.abs(expected).max()))
    assert m.cut[0].redundant == 0.0
