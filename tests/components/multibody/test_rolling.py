"""Non-holonomic constraints in cut joints: CART at random states; Chaplygin's sleigh, disc and ball in closed form."""

from dataclasses import replace
from math import cos, cosh, pi, sin, sqrt, tanh

import numpy as np
import pytest

from dockfmu.components.core.component import Component, Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.declaration import ModelError, read_text
from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.cartesian_solution import cartesian
from dockfmu.components.multibody.reference.graph_method import loads
from tests.components.multibody.declared_models import motion_of
from tests.components.multibody.random_models import body_accelerations, interpreted, made

TABLE = """
name = "rolling"
gravity = [0.5, -0.3, -9.81]
[bodies.table]
mass = 5.0
inertia = [1.0, 2.0, 2.5]
[joints.table]
kind = "universal"
bodies = ["base", "table"]
points = [[0.1, 0.2, 0], [0.2, 0, -0.1]]
axes = [[1, 0, 0], [0, 0, 1]]
angle_x = {{ start = 0.3, rate = 0.4 }}
angle_y = {{ start = -0.5, rate = 0.7 }}
[bodies.wheel]
mass = 2.0
center = [0.02, -0.01, 0.03]
inertia = [0.03, 0.035, 0.04]
[joints.fly]
kind = "free"
bodies = ["table", "wheel"]
start = {{ position = {position}, angles = {angles}, velocity = {velocity}, angular_velocity = {spin} }}
[joints.track]
kind = "{kind}"
bodies = ["table", "wheel"]
points = [[0.1, 0, 0.05], [0, 0.02, 0]]
{more}
cut = true
"""
MORE = {
    "rolling_disc": "normal = [0, 0.6, 0.8]\naxis = [0.8, 0, 0.6]\nradius = 0.25",
    "rolling_ball": "normal = [0, 0.6, 0.8]\nradius = 0.25",
    "knife_edge": "axis = [0, 1, 0]",
}


@pytest.mark.parametrize("kind", sorted(MORE))
@pytest.mark.parametrize("seed", range(3))
def test_spec10_oracle_2_non_holonomic_constraints_of_the_kernels_equal_the_cartesian_formulation(kind, seed):
    rng = np.random.default_rng(seed)
    draws = {"position": rng.normal(size=3), "angles": rng.uniform(-1, 1, 3), "velocity": rng.normal(size=3)}
    text = TABLE.format(
        kind=kind,
        more=MORE[kind],
        spin=(2.0 * rng.normal(size=3)).tolist(),
        **{key: value.tolist() for key, value in draws.items()},
    )
    model = read_text(text).model
    # the start that satisfies the constraints, by the reference
    system = Multibody(model)
    state = system.start
    joints = [
        replace(
            joint,
            coordinates=tuple(map(float, state.q[at])),
            rates=tuple(map(float, state.u[rate])),
        )
        for joint, at, rate in zip(model.tree, system.system.position_slices, system.system.rate_slices, strict=True)
    ]
    model = replace(model, joints=(*joints, *model.cuts))
    motion = motion_of(Multibody(model))
    expected = cartesian(motion, loads(system.system, model.gravity), dense=True)
    one = Instance(made(model))
    found = body_accelerations(one, model)
    size = 1.0 + max(np.abs(expected.a).max(), np.abs(expected.e).max())
    for k, body in enumerate(model.bodies):
        arm, w = -motion.A[k + 1] @ np.array(body.center), motion.w[k + 1]
        origin = expected.a[k] + cross(expected.e[k], arm) + cross(w, cross(w, arm))
        np.testing.assert_allclose(found[body.name][:3], origin, rtol=0, atol=1e-8 * size)
        np.testing.assert_allclose(found[body.name][3:], expected.e[k], rtol=0, atol=1e-8 * size)


SLEIGH = """
name = "sleigh"
[bodies.sleigh]
mass = 3.0
center = [0.2, 0, 0]
inertia = [0.1, 0.2, 0.25]
[joints.plane]
kind = "planar"
bodies = ["base", "sleigh"]
axis = [0, 0, 1]
angle = { rate = 2.0 }
[joints.blade]
kind = "knife_edge"
bodies = ["base", "sleigh"]
axis = [0, 1, 0]
cut = true
"""
STEPS = {"parameters.stepping.micro_tolerance": 0.0}


def component(text: str) -> Component:
    return interpreted(component_of(read_text(text)))


def run(one: Instance, stop: float, step: float = 0.02) -> None:
    for k in range(round(stop / step)):
        one.step(k * step, step)


def balance(one: Instance) -> float:
    audit = one.m.audit
    return float(audit.kinetic_energy + audit.stored_energy + audit.dissipated_energy)


def test_spec10_non_holonomic_constraint_chaplygin_sleigh():
    """v = V tanh(k t), w = W / cosh(k t), k = m a V / J, J about the blade, from v' = a w^2, J w' = -m a v w."""
    m, a, W = 3.0, 0.2, 2.0
    J = 0.25 + m * a * a
    V = W * sqrt(J / m)
    k = m * a * V / J
    errors = []
    for micro_step in (2e-3, 1e-3):
        one = Instance(component(SLEIGH), **STEPS, **{"parameters.stepping.micro_step": micro_step})
        energy = balance(one)
        run(one, 1.0)
        x, y, angle = one.m.coordinate
        v = x.rate * cos(angle.position) + y.rate * sin(angle.position)
        across = y.rate * cos(angle.position) - x.rate * sin(angle.position)
        # the blade slips by what the method errs in a micro-step, not more and more
        assert abs(across) < 50.0 * micro_step**2
        assert balance(one) == pytest.approx(energy, abs=3.0 * micro_step**2)
        errors.append(max(abs(v - V * tanh(k)), abs(angle.rate - W / cosh(k))))
    assert errors[1] < 3e-6
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


DISC = """
name = "disc"
gravity = [0, 0, -9.81]
[bodies.disc]
mass = 1.5
inertia = [{A}, {A}, {C}]
[joints.fly]
kind = "free"
bodies = ["base", "disc"]
[joints.fly.start]
position = [0, 0, {height}]
quaternion = [{q0}, {q1}, 0, 0]
velocity = [{speed}, 0, 0]
angular_velocity = [0, {w2}, {w3}]
[joints.track]
kind = "rolling_disc"
bodies = ["base", "disc"]
axis = [0, 0, 1]
radius = {r}
cut = true
"""


def test_spec10_non_holonomic_constraint_rolling_disc_in_steady_motion():
    """(C + m r^2) n W sin a - A W^2 sin a cos a + m g r cos a = 0: tilt a, total spin n, precession W (Routh)."""
    m, r, g, tilt, precession = 1.5, 0.3, 9.81, 1.1, 3.0
    A, C = 0.25 * m * r * r, 0.5 * m * r * r
    n = (A * precession**2 * sin(tilt) * cos(tilt) - m * g * r * cos(tilt)) / ((C + m * r * r) * precession * sin(tilt))
    # x of the disc is horizontal, y ascends: v = -r n along x
    text = DISC.format(
        A=A, C=C, r=r, height=r * sin(tilt), q0=cos(tilt / 2), q1=sin(tilt / 2), speed=-r * n,
        w2=precession * sin(tilt), w3=n,
    )  # fmt: skip
    one = Instance(component(text), **STEPS, **{"parameters.stepping.micro_step": 5e-4})
    energy = balance(one)
    time = 1.0
    run(one, time)
    body = one.m.body[0]
    q = np.array(body.quaternion)
    axis = np.array([2 * (q[1] * q[3] + q[0] * q[2]), 2 * (q[2] * q[3] - q[0] * q[1]), 1 - 2 * (q[1] ** 2 + q[2] ** 2)])
    assert axis[2] == pytest.approx(cos(tilt), abs=2e-6)
    assert body.position[2] == pytest.approx(r * sin(tilt), abs=1e-6)
    # the axis starts at azimuth -90 degrees and turns by W t; the centre runs round a circle
    assert np.arctan2(axis[1], axis[0]) == pytest.approx((precession * time - pi / 2 + pi) % (2 * pi) - pi, abs=2e-5)
    circle = -r * n / precession
    np.testing.assert_allclose(body.position[:2], circle * np.array([sin(precession), 1 - cos(precession)]), atol=2e-5)
    assert balance(one) == pytest.approx(energy, abs=1e-6)
    # what the plane carries: weight and no more, and the centripetal force
    assert one.m.cut[0].force[2] == pytest.approx(m * g, rel=1e-4)
    assert np.hypot(*one.m.cut[0].force[:2]) == pytest.approx(m * abs(r * n * precession), rel=1e-4)


def test_spec10_non_holonomic_constraint_ball_on_a_turntable():
    """The centre of a uniform ball on a table that turns at W moves round a circle at 2 W / 7, wherever it starts."""
    text = """
name = "turntable"
gravity = [0, 0, -9.81]
[bodies.table]
mass = 1.0
inertia = [1, 1, 1]
[joints.table]
kind = "revolute"
bodies = ["base", "table"]
angle = { motion = { rate = 3.5 } }
[bodies.ball]
mass = 0.5
solid = { sphere = 0.1 }
[joints.fly]
kind = "free"
bodies = ["base", "ball"]
start = { position = [0.4, 0, 0.1], velocity = [0, 0.2, 0], angular_velocity = [12, 0, 1] }
[joints.track]
kind = "rolling_ball"
bodies = ["table", "ball"]
radius = 0.1
cut = true
"""
    # no slip at the start: v_y + r w_x = W x
    one = Instance(component(text), **STEPS, **{"parameters.stepping.micro_step": 5e-4})
    turning = 2.0 * 3.5 / 7.0
    start = np.array(one.m.body[1].position[:2])
    v = np.array(one.m.rotation[0].velocity)
    np.testing.assert_allclose(v, [0.0, 0.2, 0.0], atol=1e-12)
    centre = start + np.array([-v[1], v[0]]) / turning
    run(one, 1.0)
    c, s = cos(turning), sin(turning)
    expected = centre + np.array([[c, -s], [s, c]]) @ (start - centre)
    np.testing.assert_allclose(one.m.body[1].position[:2], expected, atol=1e-6)
    assert one.m.body[1].position[2] == pytest.approx(0.1, abs=1e-9)


def test_what_is_wrong_with_a_constraint_is_said_all_at_once():
    wrong = SLEIGH.replace("cut = true", 'radius = "3 kg"\nnormal = [0, 0, 1]').replace(
        "axis = [0, 1, 0]", "axis = [0, 2, 0]"
    )
    with pytest.raises(ModelError) as error:
        read_text(wrong)
    text = "\n".join(error.value.problems)
    assert "joints.blade.cut: a knife_edge constrains velocities and is no joint of a tree: add cut = true" in text
    assert "joints.blade.axis = [0, 2, 0]: must be a unit vector; its length is 2" in text
    assert "joints.blade.radius = '3 kg': a knife_edge has no radius; leave this out" in text
    assert "joints.blade.normal = [0, 0, 1]: a knife_edge has no plane" in text
