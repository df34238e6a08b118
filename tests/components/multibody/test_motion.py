"""Motion over time: worked examples of the source, closed forms, balances."""

from math import cos, pi, sin, sqrt

import numpy as np
import pytest

from dockfmu.components.core.component import Component, ComponentError, Instance
from dockfmu.components.multibody import EXAMPLE, component_of, start
from dockfmu.components.multibody.declaration import read_text
from tests.components.multibody.random_models import free_model, interpreted, made

TEXT = EXAMPLE.read_text(encoding="utf-8")
FIXED_STEPS = {"parameters.stepping.micro_tolerance": 0.0}

# multibody-formulations E16: t, q1, q2, q3 (absolute angles), T
E16 = (
    (0.5, -0.06241905315, -0.0001214239241, -4.7231e-8, 0.312256963),
    (1.0, -0.2451858745, -0.007220887789, -4.244825792e-5, 1.235388146),
    (2.0, -0.824298335, -0.251429647, -0.016777538, 4.433500886),
    (3.0, -1.25509556, -1.1331073, -0.364683027, 7.826749110),
    (4.0, -1.652643246, -1.754562365, -1.904329307, 8.877641111),
    (5.0, -2.206503608, -2.229219186, -3.258878784, 6.279117003),
)


def component(text: str = TEXT) -> Component:
    return interpreted(component_of(read_text(text)))


def run(instance: Instance, stop: float, step: float = 0.01) -> None:
    for k in range(round(stop / step)):
        instance.step(k * step, step)


def angles(instance: Instance) -> np.ndarray:
    return np.cumsum([c.position for c in instance.m.coordinate])


def balance(instance: Instance) -> float:
    audit = instance.m.audit
    works = audit.work_drives + audit.work_motions + audit.work_ports + audit.work_base
    return float(audit.kinetic_energy + audit.stored_energy + audit.dissipated_energy - works)


def pendulum(micro_step: float) -> Instance:
    return Instance(component(), **FIXED_STEPS, **{"parameters.stepping.micro_step": micro_step})


def test_spec10_example_E16_triple_pendulum() -> None:
    instance = pendulum(5e-5)
    np.testing.assert_allclose([c.acceleration for c in instance.m.coordinate], [-0.5, 0.5, 0.0], atol=1e-14)
    now = 0.0
    for t, *expected, kinetic in E16:
        for k in range(round((t - now) / 0.05)):
            instance.step(now + 0.05 * k, 0.05)
        now = t
        # the method is of second order: 2e-9 h^2 / (5e-5 s)^2 at 1 s, and the pendulum is chaotic later
        np.testing.assert_allclose(angles(instance), expected, atol=1e-7)
        assert instance.m.audit.kinetic_energy == pytest.approx(kinetic, abs=3e-7)
        assert balance(instance) == pytest.approx(0.0, abs=1e-7)


def test_the_method_is_of_second_order() -> None:
    errors = []
    for micro_step in (2e-3, 1e-3):
        instance = pendulum(micro_step)
        run(instance, 2.0, 0.05)
        errors.append(np.abs(angles(instance) - E16[2][1:4]).max())
    assert 1.9 < np.log2(errors[0] / errors[1]) < 2.1


WING = """
name = "wing"
[bodies.inner]
mass = 12.0
solid = {{ rod = 1.6 }}
[bodies.outer]
mass = 10.0
solid = {{ rod = 1.5 }}
[joints.root]
kind = "revolute"
bodies = ["base", "inner"]
points = [[0, 0, 0], [-0.8, 0.02, 0]]
angle = {{ start = {root}, stiffness = 20.0 }}
[joints.hinge]
kind = "revolute"
bodies = ["inner", "outer"]
points = [[0.8, -0.02, 0], [-0.75, -0.02, 0]]
angle = {{ start = {hinge}, stiffness = 12.0 }}
"""


def test_spec10_example_E10_deployment_of_two_panels() -> None:
    made_wing = component(WING.format(root=pi / 2, hinge=-pi))
    instance = Instance(made_wing, **FIXED_STEPS, **{"parameters.stepping.micro_step": 1e-4})
    m = instance.m
    np.testing.assert_allclose(np.cumsum([c.acceleration for c in m.coordinate]), [-0.53117381, 4.17501007], atol=1e-8)
    assert m.audit.stored_energy == pytest.approx(83.8916374, abs=1e-7)
    run(instance, 1.0)
    np.testing.assert_allclose(angles(instance), [0.94773259, 0.14934640], atol=1e-6)
    np.testing.assert_allclose(np.cumsum([c.rate for c in m.coordinate]), [-2.17907031, 4.23344969], atol=1e-6)
    assert balance(instance) == pytest.approx(83.8916374, abs=5e-5)


def test_spec10_example_E14_revolute_and_universal_joint() -> None:
    instance = Instance(
        component("""
name = "e14"
gravity = [0, 0, -9.81]
[bodies.one]
mass = 2
inertia = [0.1, 0.5, 0.5]
[bodies.two]
mass = 1
inertia = [0.2, 0.3, 0.2]
[joints.one]
kind = "revolute"
bodies = ["base", "one"]
points = [[0, 0, 0], [-1, 0, 0]]
angle = { rate = 0.5 }
[joints.two]
kind = "universal"
bodies = ["one", "two"]
points = [[1, 0, 0], [-0.5, 0.2, 0]]
axes = [[0, 1, 0], [1, 0, 0]]
angle_x = { rate = 0.3 }
angle_y = { rate = -0.4 }
""")
    )
    # no body has the inertia of the example, which would be refused
    m = instance.m
    m.parameters.body[1].inertia[0, 0] = 0.05
    start.set_masses(m.link, m.body, m.parameters.body)
    instance.step(0.0, 1e-9)
    found = [c.acceleration for c in instance.m.coordinate]
    np.testing.assert_allclose(found, [-0.0082981090, 6.2202531646, 15.1386075950], atol=1e-7)


def test_spec10_example_E15_prescribed_coordinate_and_its_drive() -> None:
    text = TEXT.replace("[joints.hinge3]", "angle.motion = {}\n[joints.hinge3]")
    instance = Instance(component(text))
    found = [c.acceleration for c in instance.m.coordinate]
    np.testing.assert_allclose(found, [-0.3, 0.0, 0.4], atol=1e-14)
    # the holding moment acts on the outboard side
    assert instance.m.coordinate[1].holding == pytest.approx(-0.4, abs=1e-14)


def test_spec10_oracle_7_motion_as_the_free_one_needs_no_drive() -> None:
    text = (
        component()
        .options["model"]
        .replace("[joints.hinge3]", "angle.motion = { acceleration = 0.5 }\n[joints.hinge3]")
    )
    instance = Instance(component(text))
    assert instance.m.coordinate[1].holding == pytest.approx(0.0, abs=1e-14)


def test_work_of_a_prescribed_motion_closes_the_balance() -> None:
    text = (
        component()
        .options["model"]
        .replace("[joints.hinge3]", "angle.motion = { amplitude = 0.5, frequency = 3.0 }\n[joints.hinge3]")
    )
    instance = Instance(component(text), **FIXED_STEPS, **{"parameters.stepping.micro_step": 5e-4})
    before = balance(instance)
    run(instance, 2.0)
    assert abs(instance.m.audit.work_motions) > 0.5
    assert balance(instance) == pytest.approx(before, abs=1e-5)


KINDS = ("revolute", "prismatic", "universal", "spherical", "cylindrical", "planar", "screw")


@pytest.mark.parametrize("seed", range(3))
def test_spec10_oracle_3_free_systems_keep_their_momentum(seed: int) -> None:
    model = free_model(seed, 5, KINDS)
    errors = []
    for micro_step in (1e-3, 5e-4):
        instance = Instance(made(model), **FIXED_STEPS, **{"parameters.stepping.micro_step": micro_step})
        audit = instance.m.audit
        before = np.hstack([audit.momentum, audit.angular_momentum])
        energy = audit.kinetic_energy
        run(instance, 0.2)
        after = np.hstack([audit.momentum, audit.angular_momentum])
        assert np.abs(after - before).max() < 1e-12 * np.abs(before).max()
        errors.append(abs(audit.kinetic_energy - energy) / energy)
    # energy is kept to the order of the method
    assert errors[1] < 0.3 * errors[0] + 1e-13


def test_momentum_does_not_depend_on_orbital_velocity_and_distance() -> None:
    model = free_model(1, 4, ("revolute",))
    far = {
        "parameters.joint.j1.position": [7e6, 1e5, 0.0],
        "parameters.joint.j1.velocity": [0.0, 7.5e3, 0.0],
    }
    rates = []
    for values in ({}, far):
        instance = Instance(made(model), **values)
        run(instance, 0.2)
        rates.append([c.rate for c in instance.m.coordinate])
    # positions of 7e6 m are rounded to 1e-9 m
    np.testing.assert_allclose(rates[0], rates[1], rtol=1e-8)


SLIDER = """
name = "slider"
gravity = [{gravity}, 0, 0]
[bodies.block]
mass = 2.0
[joints.guide]
kind = "prismatic"
bodies = ["base", "block"]
axis = [1, 0, 0]
displacement = {{ {law} }}
"""


def slider(law: str, gravity: float = 0.0, **values: float) -> Instance:
    return Instance(component(SLIDER.format(law=law, gravity=gravity)), **values)


def test_a_stiff_spring_keeps_its_energy_at_any_step() -> None:
    # the period is 6.3 ms: a step of 5 ms is far beyond the limit of an explicit method
    long = {**FIXED_STEPS, "parameters.stepping.micro_step": 5e-3}
    instance = slider("start = 0.01, stiffness = 2e6", **long)
    run(instance, 5.0, 0.05)
    assert balance(instance) == pytest.approx(100.0, rel=1e-9)


def test_damped_spring_follows_its_closed_form() -> None:
    instance = slider("start = 0.1, stiffness = 200, damping = 8, preload = 4", **FIXED_STEPS)
    run(instance, 0.5)
    w, d, rest = sqrt(100.0 - 4.0), 2.0, 0.02
    expected = rest + 0.08 * np.exp(-d * 0.5) * (cos(w * 0.5) + d / w * sin(w * 0.5))
    assert instance.m.coordinate[0].position == pytest.approx(expected, abs=1e-6)
    assert balance(instance) == pytest.approx(1.0 - 0.4, abs=1e-9)


def test_friction_stops_a_block_and_holds_it() -> None:
    instance = slider("rate = 1.0, friction = 4.0, friction_stiffness = 4e4")
    run(instance, 1.0)
    c, audit = instance.m.coordinate[0], instance.m.audit
    # m v^2 / 2 / F, and half the elastic deflection F/k, about which it swings until nothing damps it
    assert c.position == pytest.approx(0.25, abs=2e-4)
    assert abs(c.rate) < 0.02
    assert audit.dissipated_friction == pytest.approx(1.0, abs=1e-3)
    assert balance(instance) == pytest.approx(1.0, abs=1e-3)


def test_friction_below_its_limit_holds_against_gravity() -> None:
    instance = slider("friction = 40.0, friction_stiffness = 1e5, damping = 500", gravity=9.0)
    run(instance, 1.0)
    assert instance.m.coordinate[0].position == pytest.approx(18.0 / 1e5, rel=1e-6)


def test_a_stop_gives_back_the_energy_of_an_impact() -> None:
    instance = slider("rate = 2.0, upper = 0.5, stop_stiffness = 1e6")
    run(instance, 0.5)
    assert instance.m.coordinate[0].rate == pytest.approx(-2.0, rel=1e-3)
    # it turns at 0.25 s after half a period of the contact
    turn = 0.25 + pi * sqrt(2.0 / 1e6)
    assert instance.m.coordinate[0].position == pytest.approx(0.5 - 2.0 * (0.5 - turn), abs=1e-3)


def test_a_damped_stop_never_pulls_and_accounts_for_its_loss() -> None:
    instance = slider("rate = 2.0, upper = 0.5, stop_stiffness = 1e6, stop_damping = 1e3")
    run(instance, 0.5)
    audit = instance.m.audit
    assert -2.0 < instance.m.coordinate[0].rate < -0.5
    assert audit.dissipated_stops > 0.5
    assert balance(instance) == pytest.approx(4.0, rel=2e-3)


TETHER = """
name = "tether"
[bodies.ball]
mass = 2.0
solid = {{ sphere = 0.1 }}
[joints.flight]
kind = "free"
bodies = ["base", "ball"]
start = {{ position = [0.5, 0, 0], velocity = [1, 0, 0] }}
[springs.line]
bodies = ["base", "ball"]
stiffness = 800
length = 1.0
damping = {damping}
tether = true
"""


def test_a_tether_is_slack_until_it_is_taut() -> None:
    instance = Instance(component(TETHER.format(damping=0.0)))
    run(instance, 0.49)
    assert instance.m.spring[0].tension == 0.0
    assert instance.m.rotation[0].velocity[0] == 1.0
    run(instance, 0.3, 0.01)
    # half a swing at 20 rad/s and back
    assert instance.m.rotation[0].velocity[0] == pytest.approx(-1.0, abs=2e-3)
    assert instance.m.spring[0].tension == 0.0


def test_a_damped_tether_never_pushes_and_loses_energy() -> None:
    instance = Instance(component(TETHER.format(damping=20.0)))
    run(instance, 1.0)
    assert -1.0 < instance.m.rotation[0].velocity[0] < -0.3
    assert balance(instance) == pytest.approx(1.0, abs=2e-3)


def test_a_force_on_a_port_moves_the_body_as_a_craft() -> None:
    instance = Instance(
        component("""
name = "craft"
[bodies.hull]
mass = 100.0
inertia = [10, 20, 20]
[joints.flight]
kind = "free"
bodies = ["base", "hull"]
[ports.dock]
body = "hull"
point = [1, 0, 0]
angles = ["90 deg", 0, 0]
""")
    )
    m = instance.m
    m.port[0].force[:] = 0.0, 0.0, 50.0
    run(instance, 0.1)
    # z of the port is x of the hull: yaw of 90 degrees
    np.testing.assert_allclose(m.audit.momentum, [5.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(m.port[0].velocity, [0.0, 0.0, 0.05], atol=1e-14)
    np.testing.assert_allclose(m.port[0].acceleration, [0.0, 0.0, 0.5], atol=1e-12)
    m.port[0].force[:] = 50.0, 0.0, 0.0
    run(instance, 0.1)
    # a force along -z of the hull at 1 m: torque 50 N.m about y, 20 kg.m2. It keeps its direction of mid-step, so that
    # the mean of its arm lacks (w H)^2 / 24 of it in a step H: over the growth of the rate w a third of the last one
    turned = 0.25
    assert m.body[0].angular_velocity[1] == pytest.approx(turned * (1.0 - (turned * 0.01) ** 2 / 72.0), rel=1e-9)
    assert m.audit.work_ports == pytest.approx(m.audit.kinetic_energy, rel=1e-6)


def test_singular_poses_and_impossible_data_are_refused() -> None:
    text = SLIDER.format(law="", gravity=0.0).replace('"prismatic"', '"revolute"').replace("displacement", "angle")
    with pytest.raises(ComponentError, match=r"joint guide\.angle feels the inertia 0, not a positive one"):
        Instance(component(text))
    with pytest.raises(ComponentError, match="body block: the inertia is not symmetric or physically impossible"):
        slider("", **{"parameters.body.block.inertia": np.diag([1.0, 1.0, 3.0])})
