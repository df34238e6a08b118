"""A system that a craft carries, coupled step by step, against the same bodies in one model."""

from collections.abc import Callable

import numpy as np
import pytest

from dockfmu.components import spacecraft
from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.core.ports import BASE_MOTION
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.physics.mechanics.rotation import from_quaternion
from tests.components.multibody.random_models import interpreted

# eighty times the arm: with LAGGED the exchange is stable up to a third of the craft's mass at the port
HULL = """
[bodies.hull]
mass = 800.0
center = [0.1, 0, 0.05]
inertia = [300, 400, 500]
[joints.flight]
kind = "free"
bodies = ["base", "hull"]
start = { velocity = [0.2, 0.1, 0], angular_velocity = [0.02, 0.05, -0.03] }
"""
ARM = """
[bodies.upper]
mass = 6.0
solid = {{ cylinder = [0.1, 1.0] }}
[bodies.lower]
mass = 4.0
solid = {{ cylinder = [0.1, 1.0] }}
[joints.shoulder]
kind = "universal"
bodies = ["{base}", "upper"]
points = [{at}, [-0.5, 0, 0]]
axes = [[0, 1, 0], [0, 0, 1]]
angle_x = {{ start = 0.4, rate = 0.3 }}
angle_y = {{ start = -0.2, rate = 0.8, stiffness = 8.0 }}
[joints.elbow]
kind = "revolute"
bodies = ["upper", "lower"]
points = [[0.5, 0, 0], [-0.5, 0, 0]]
angle = {{ start = 0.7, stiffness = 15.0, damping = 0.5 }}
"""
DOCK = '[ports.dock]\nbody = "hull"\npoint = [0.8, 0.2, 0]\n'
STEPS = {"parameters.stepping.micro_tolerance": 0.0, "parameters.stepping.micro_step": 5e-4}
STOP = 0.5


def instance(text: str, **inputs: object) -> Instance:
    return Instance(interpreted(component_of(read_text(text))), **STEPS, **inputs)


def whole() -> Instance:
    one = instance('name = "whole"\n' + HULL + ARM.format(base="hull", at="[0.8, 0.2, 0]"))
    for k in range(round(STOP / 0.01)):
        one.step(0.01 * k, 0.01)
    return one


def test_a_free_craft_that_is_pushed_at_a_port_gains_the_impulse() -> None:
    """In 1 ms, in which it turns by 6e-5; the angular impulse about the origin of I is that of the force."""
    one = instance('name = "craft"\n' + HULL + DOCK)
    port, before = one.m.port[0], momentum(one)
    port.force[:] = 300.0, -200.0, 100.0
    force = np.array(from_quaternion(tuple(port.quaternion))).T @ port.force
    arm = np.array(port.position)
    one.step(0.0, 1e-3)
    impulse = 1e-3 * np.hstack([force, np.cross(arm, force)])
    np.testing.assert_allclose(momentum(one) - before, impulse, rtol=0, atol=1e-4)


def coupled(step: float) -> tuple[Instance, Instance, np.ndarray]:
    """Return craft and arm after a run in steps, the arm first in each, and the drift of their momentum."""
    craft = instance('name = "craft"\n' + HULL + DOCK)
    port = craft.m.port[0]
    names = ("position", "quaternion", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    start = {f"base.{name}": np.array(getattr(port, name)) for name in names}
    arm = instance('name = "arm"\nbase = "carried"\n' + ARM.format(base="base", at="[0, 0, 0]"), **start)
    before = momentum(craft) + momentum(arm)
    for k in range(round(STOP / step)):
        for name in names:
            getattr(arm.m.base, name)[:] = getattr(port, name)
        arm.step(step * k, step)
        port.force[:], port.torque[:] = arm.m.base.force, arm.m.base.torque
        craft.step(step * k, step)
    return craft, arm, momentum(craft) + momentum(arm) - before


def momentum(one: Instance) -> np.ndarray:
    return np.hstack([one.m.audit.momentum, one.m.audit.angular_momentum])


def test_a_carried_system_converges_to_the_same_bodies_in_one_model() -> None:
    reference = whole()
    expected = np.hstack([reference.m.body[0].position, [c.position for c in reference.m.coordinate]])
    errors = []
    for step in (1e-2, 5e-3, 2.5e-3):
        craft, arm, drift = coupled(step)
        found = np.hstack([craft.m.body[0].position, [c.position for c in arm.m.coordinate]])
        errors.append(np.abs(found - expected).max())
        # what the craft receives, in the middle of its step (ruling R4), is what the arm has lost
        assert np.abs(drift).max() < 1e-11
    assert errors[0] < 1e-3
    assert errors[2] < 0.35 * errors[0]


def test_what_is_between_a_tool_and_a_craft_passes_all_momentum_on() -> None:
    """Three declared systems: the tool is carried by the arm, at a port that moves and turns."""
    craft = instance('name = "craft"\n' + HULL + DOCK)
    tip = '[ports.tip]\nbody = "lower"\npoint = [0.5, 0.1, 0]\nangles = [0.3, 0.2, 0]\n'
    parts = {"tool": "mass = 0.2\ncenter = [0.1, 0.05, 0]\ninertia = [2e-3, 2e-3, 3e-3]"}
    tool = f'[bodies.tool]\n{parts["tool"]}\n[joints.wrist]\nkind = "revolute"\nbodies = ["base", "tool"]\n'
    tool += "angle = { stiffness = 0.4, rate = 3 }\n"
    on_base = 'base = "carried"\n'
    pose = {f"base.{name}": np.array(getattr(craft.m.port[0], name)) for name in TWIST}
    arm = instance('name = "arm"\n' + on_base + ARM.format(base="base", at="[0, 0, 0]") + tip, **pose)
    pose = {f"base.{name}": np.array(getattr(arm.m.port[0], name)) for name in TWIST}
    hand = instance('name = "tool"\n' + on_base + tool, **pose)
    chain = ((hand, arm), (arm, craft))
    before = momentum(craft) + momentum(arm) + momentum(hand)
    for k in range(50):
        for one, carrier in chain:
            for name in TWIST:
                getattr(one.m.base, name)[:] = getattr(carrier.m.port[0], name)
            one.step(0.01 * k, 0.01)
            carrier.m.port[0].force[:], carrier.m.port[0].torque[:] = one.m.base.force, one.m.base.torque
        craft.step(0.01 * k, 0.01)
    after = momentum(craft) + momentum(arm) + momentum(hand)
    np.testing.assert_allclose(after, before, atol=1e-11)
    assert np.abs(momentum(hand)).max() > 0.1


LIGHT = """
[bodies.hull]
mass = 12.0
inertia = [3, 4, 5]
[joints.flight]
kind = "free"
bodies = ["base", "hull"]
start = { velocity = [0.2, 0.1, 0], angular_velocity = [0.02, 0.05, -0.03] }
"""
STRUT = """
[joints.strut]
kind = "spherical"
bodies = ["base", "lower"]
points = [[0.3, 0.3, 0.2], [0.4, 0.1, 0.2]]
cut = true
"""
SKATE = """
[joints.skate]
kind = "knife_edge"
bodies = ["{base}", "lower"]
points = [[0, 0, 0], [0.5, 0, 0]]
axis = [0, 0.8, 0.6]
cut = true
"""
TWIST = ("position", "quaternion", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def at_rest(text: str) -> str:
    """Return an arm whose joints start at rest, so that a skate on it does not slip."""
    return text.replace(", rate = 0.3", "").replace(", rate = 0.8", "")


def carried_by_a_spacecraft(
    step: float,
    text: str,
    common: tuple[float, float, float],
    watch: Callable[[Instance, Instance], None] = lambda craft, arm: None,
) -> tuple[Instance, Instance]:
    """Return a spacecraft of the mass of the arm and the arm, coupled AFFINE, after a run in steps, the arm first.

    `watch` sees both after each step.
    """
    mode = float(BASE_MOTION.codes["AFFINE"])
    craft = Instance(
        interpreted(spacecraft.component()),
        **{
            "parameters.mass": 12.0,
            "parameters.inertia": np.diag([3.0, 4.0, 5.0]),
            "parameters.port[1].position": [0.8, 0.2, 0.0],
            "parameters.port[1].base_motion": mode,
            "parameters.push_thrust": 0.0,
            "parameters.initial.velocity": np.array([0.2, 0.1, 0.0]) + common,
            "parameters.initial.angular_velocity": [0.02, 0.05, -0.03],
        },
    )
    port = craft.m.port[0]
    start = {f"base.{name}": np.array(getattr(port, name)) for name in TWIST}
    arm = instance('name = "arm"\nbase = "carried"\n' + text, **{"parameters.base_motion": mode}, **start)
    for k in range(round(STOP / step)):
        for name in TWIST:
            getattr(arm.m.base, name)[:] = getattr(port, name)
        arm.step(step * k, step)
        for name in ("force", "torque", "affine_mass"):
            getattr(port, name)[:] = getattr(arm.m.base, name)
        craft.step(step * k, step)
        watch(craft, arm)
    return craft, arm


def affine_chain(step: float, parts: list[tuple[str, str]]) -> tuple[list[Instance], float]:
    """Return declared systems, each (text, its port of the next), coupled AFFINE, after a run: the last steps first.

    And the drift of their momenta, less what is under way.
    """
    mode = float(BASE_MOTION.codes["AFFINE"])
    ones: list[Instance] = []
    for number, (text, port) in enumerate(parts):
        settings: dict[str, object] = {f"parameters.port.{port}.base_motion": mode} if port else {}
        if number:
            settings |= {"parameters.base_motion": mode}
            settings |= {f"base.{name}": np.array(getattr(ones[-1].m.port[0], name)) for name in TWIST}
        ones.append(instance(f'name = "part_{number}"\n' + text, **settings))

    def total() -> np.ndarray:
        owed = [np.hstack([one.m.audit.impulse_response, one.m.audit.angular_impulse_response]) for one in ones[:-1]]
        return sum(map(momentum, ones)) - sum(owed)

    first, drift = total(), 0.0
    for k in range(round(STOP / step)):
        for one, carrier in reversed(list(zip(ones[1:], ones, strict=False))):
            for name in TWIST:
                getattr(one.m.base, name)[:] = getattr(carrier.m.port[0], name)
            one.step(step * k, step)
            for name in ("force", "torque", "affine_mass"):
                getattr(carrier.m.port[0], name)[:] = getattr(one.m.base, name)
        ones[0].step(step * k, step)
        drift = max(drift, np.abs(total() - first).max())
    return ones, drift


def test_ruling_R48_affine_a_declared_craft_as_light_as_its_system_converges_to_one_model() -> None:
    """LAGGED is unstable for this craft and this arm, 12 kg and 10 kg."""
    reference = instance('name = "whole"\n' + LIGHT + ARM.format(base="hull", at="[0.8, 0.2, 0]"))
    for k in range(round(STOP / 0.01)):
        reference.step(0.01 * k, 0.01)
    expected = np.hstack([reference.m.body[0].position, [c.position for c in reference.m.coordinate]])
    errors = []
    arm = 'base = "carried"\n' + ARM.format(base="base", at="[0, 0, 0]")
    for step in (1e-2, 5e-3, 2.5e-3):
        (craft, one), drift = affine_chain(step, [(LIGHT + DOCK, "dock"), (arm, "")])
        found = np.hstack([craft.m.body[0].position, [c.position for c in one.m.coordinate]])
        errors.append(np.abs(found - expected).max())
        # what the mechanism loses later than the craft receives is known to rounding
        assert drift < 1e-11
    assert errors[0] < 5e-4
    assert errors[2] < 0.35 * errors[0]


HEAVY = """
[bodies.tool]
mass = 9.0
center = [0.2, 0.1, 0]
inertia = [0.4, 0.5, 0.6]
[joints.wrist]
kind = "revolute"
bodies = ["{base}", "tool"]
points = [{at}, [0, 0, 0]]
angle = {{ stiffness = 4, rate = 1 }}
"""
LOCK = '[locks.elbow]\njoint = "elbow"\nat = 0.69\n'


@pytest.mark.parametrize("lock", ["", LOCK], ids=["free", "locked"])
def test_ruling_R48_affine_passes_through_what_is_between_a_heavy_tool_and_a_light_craft(lock: str) -> None:
    """Regression: a wing on a declared arm on a Soyuz diverged: declared ports had LAGGED alone.

    Tool, arm and craft weigh 9, 10 and 12 kg. A lock that closes in the arm lets both others respond to its impulse.
    Regression: it lost 0.22 instead of 0.14 J.
    """
    whole_text = LIGHT + ARM.format(base="hull", at="[0.8, 0.2, 0]") + HEAVY.format(base="lower", at="[0.5, 0.1, 0]")
    reference = instance('name = "whole"\n' + whole_text + lock)
    for k in range(round(STOP / 0.01)):
        reference.step(0.01 * k, 0.01)
    expected = np.hstack([reference.m.body[0].position, [c.position for c in reference.m.coordinate]])
    tip = '[ports.tip]\nbody = "lower"\npoint = [0.5, 0.1, 0]\n'
    arm = 'base = "carried"\n' + ARM.format(base="base", at="[0, 0, 0]") + tip + lock
    tool = 'base = "carried"\n' + HEAVY.format(base="base", at="[0, 0, 0]")
    errors = []
    for step in (1e-2, 5e-3):
        (craft, one, other), drift = affine_chain(step, [(LIGHT + DOCK, "dock"), (arm, "tip"), (tool, "")])
        found = [craft.m.body[0].position, *([c.position for c in part.m.coordinate] for part in (one, other))]
        errors.append(np.abs(np.hstack(found) - expected).max())
        assert drift < (2e-4 if lock else 1e-6)
    assert errors[0] < 3e-3
    assert errors[1] < 0.35 * errors[0]
    if lock:
        assert one.m.lock[0].loss == pytest.approx(reference.m.lock[0].loss, rel=5e-3)
        assert one.m.lock[0].impulse == pytest.approx(reference.m.lock[0].impulse, rel=5e-3)


@pytest.mark.parametrize("closed", [False, True])
def test_ruling_R48_affine_a_craft_as_light_as_the_system_converges_to_one_model(closed: bool) -> None:
    """With a constraint on velocities too. LAGGED is unstable for this craft and this arm, 12 kg and 10 kg."""
    on_hull, on_base = (ARM.format(base=base, at=at) for base, at in (("hull", "[0.8, 0.2, 0]"), ("base", "[0, 0, 0]")))
    if closed:
        on_hull = at_rest(on_hull) + SKATE.format(base="hull")
        on_base = at_rest(on_base) + SKATE.format(base="base")
    reference = instance('name = "whole"\n' + LIGHT + on_hull)
    for k in range(round(STOP / 0.01)):
        reference.step(0.01 * k, 0.01)
    expected = np.hstack([reference.m.body[0].position, [c.position for c in reference.m.coordinate]])
    errors = []
    for step in (1e-2, 5e-3, 2.5e-3):
        craft, arm = carried_by_a_spacecraft(step, on_base, (0.0, 0.0, 0.0))
        found = np.hstack([craft.m.body.position, [c.position for c in arm.m.coordinate]])
        errors.append(np.abs(found - expected).max())
    assert errors[0] < 2e-3
    assert errors[2] < 0.35 * errors[0]


def test_a_port_of_a_declared_system_refuses_source() -> None:
    """SOURCE counts the masses of a mechanism in those of the craft, which a declaration does not."""
    source = float(BASE_MOTION.codes["SOURCE"])
    with pytest.raises(ComponentError, match=r"parameters\.port\.dock\.base_motion must be LAGGED or AFFINE"):
        instance('name = "craft"\n' + HULL + DOCK, **{"parameters.port.dock.base_motion": source})


def test_what_affine_has_added_and_the_system_has_yet_to_lose_is_an_output_of_the_craft() -> None:
    """Regression: a wing at its stop failed its audit for 1e-3 of its momentum that was under way for one step."""
    text = ARM.format(base="base", at="[0, 0, 0]").replace("damping = 0.5", "upper = 0.7, stop_stiffness = 4e3")
    text = text.replace("stiffness = 15.0", "rate = 1, stiffness = 15.0")
    owing: list[np.ndarray] = []
    total: list[np.ndarray] = []

    def watch(craft: Instance, arm: Instance) -> None:
        owing.append(np.hstack([craft.m.audit.impulse_response, craft.m.audit.angular_impulse_response]))
        total.append(momentum(craft) + momentum(arm))

    carried_by_a_spacecraft(1e-2, text, (0.0, 0.0, 0.0), watch)
    sums, owed = np.array(total), np.array(owing)
    assert np.abs(sums - sums[0]).max() > 0.05
    # what is left is of second order: 1e-2 with 12 kg at a stop, 3e-3 with a Soyuz
    assert np.abs(sums - owed - (sums - owed)[0]).max() < 0.02 * np.abs(sums - sums[0]).max()


def test_ruling_R48_affine_does_not_depend_on_a_common_velocity() -> None:
    """Positions reach 3.8 km, rounded to 5e-13 m: the extrapolated motion of the base to as much over a step."""
    text = ARM.format(base="base", at="[0, 0, 0]")
    still = carried_by_a_spacecraft(1e-2, text, (0.0, 0.0, 0.0))
    moving = carried_by_a_spacecraft(1e-2, text, (7.5e3, -100.0, 3.0))
    for one, other in zip(still[1].m.coordinate, moving[1].m.coordinate, strict=True):
        np.testing.assert_allclose(other.position, one.position, atol=1e-8)
    np.testing.assert_allclose(moving[1].m.base.force, still[1].m.base.force, atol=1e-6)


# a body that flies freely in the tree, and hangs on the base by its cut joints alone
HELD_FREE = """
[bodies.tool]
mass = 2.0
inertia = [0.3, 0.4, 0.5]
[joints.flight]
kind = "free"
bodies = ["base", "tool"]
[joints.hold]
kind = "spherical"
bodies = ["base", "tool"]
points = [[0.1, 0.2, 0], [0.1, 0.2, 0]]
cut = true
"""


def test_affine_mass_is_what_the_wrench_loses_by_an_acceleration_of_the_base() -> None:
    """In closed loops too: the wrench of two bases that differ in one acceleration, at the same state.

    Regression: the response of a free body to one jump stayed in the next ones; a craft of its mass was thrown about.
    """
    mode = float(BASE_MOTION.codes["AFFINE"])
    for strut in ("", STRUT, HELD_FREE):
        text = 'name = "arm"\nbase = "carried"\n' + ARM.format(base="base", at="[0, 0, 0]") + strut
        pose = {"parameters.base_motion": mode, "base.quaternion": [0.5, 0.5, -0.5, 0.5]}
        rest = instance(text, **pose).m.base
        M = np.zeros((6, 6))
        M[np.triu_indices(6)] = rest.affine_mass
        M += np.triu(M, 1).T
        # a universal joint passes no torque about its two axes
        assert np.linalg.eigvalsh(M).min() > -1e-12
        for k in range(6):
            name = "acceleration" if k < 3 else "angular_acceleration"
            moved = instance(text, **pose, **{f"base.{name}": np.eye(3)[k % 3]}).m.base
            change = np.hstack([moved.force_now - rest.force_now, moved.torque_now - rest.torque_now])
            np.testing.assert_allclose(change, -M[k], atol=1e-11)


def test_a_uniform_motion_of_the_carrier_changes_nothing() -> None:
    text = 'name = "arm"\nbase = "carried"\n' + ARM.format(base="base", at="[0, 0, 0]")
    still, moving = instance(text), instance(text, **{"base.velocity": [7.5e3, 0.0, 10.0]})
    for k in range(20):
        for one in (still, moving):
            one.step(0.01 * k, 0.01)
            one.m.base.position[:] += 0.01 * one.m.base.velocity
    for name in ("force", "torque", "force_now", "torque_now"):
        np.testing.assert_allclose(getattr(moving.m.base, name), getattr(still.m.base, name), atol=1e-9)


def test_the_wrench_on_a_fixed_base_is_the_change_of_momentum() -> None:
    one = instance(
        'name = "arm"\nbase = "carried"\ngravity = [0, 0, -9.81]\n' + ARM.format(base="base", at="[0, 0, 0]")
    )
    for k in range(10):
        before = momentum(one)[:3]
        one.step(0.01 * k, 0.01)
        weight = np.array([0.0, 0.0, -9.81 * 10.0])
        change = momentum(one)[:3] - before
        np.testing.assert_allclose(weight * 0.01 - one.m.base.force * 0.01, change, atol=1e-12)
