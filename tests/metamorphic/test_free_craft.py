"""A declared craft that flies freely moves the same however it is described; random starts of `solar_array`.

Its panels unfold, lock by impulses and swing on springs. State tolerances: rounding of the largest coordinate grows in
a second by less than 1e4; a rate differs by some 10 times as much.
"""

from pathlib import Path

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import component
from tests.components.multibody.random_models import interpreted
from tests.metamorphic import rotations
from tests.metamorphic.test_frames import ORBIT

MODEL = Path(__file__).parents[2] / "components" / "multibody" / "models" / "solar_array.toml"
SEEDS = (2, 3, 5)
KEYS = ("position", "quaternion", "velocity", "angular_velocity")
CRAFT = interpreted(component(MODEL))


def drawn(seed):
    """Return a start: hull anywhere and turning, panels part of their way and moving."""
    random = np.random.default_rng(seed)
    (fly,) = (group.name for group in [*free_joints()])
    state = {
        "position": random.uniform(-10.0, 10.0, 3),
        "quaternion": rotations.random_rotation(random),
        "velocity": random.uniform(-0.1, 0.1, 3),
        "angular_velocity": random.uniform(-0.1, 0.1, 3),
    }
    values = {slot: start * random.uniform(0.02, 0.05) for slot, start in folded().items()}
    # they close at 0.2 rad/s: some lock within a second
    rates = {f"{slot}_rate": float(-0.2 * np.sign(angle)) for slot, angle in values.items()}
    return fly, state, values | rates


def free_joints():
    """Yield the groups of the parameters of free joints."""
    (parameters,) = (member for member in CRAFT.record.members if member.name == "parameters")
    joints = [group for member in parameters.members if member.name == "joint" for group in member.members]
    yield from (group for group in joints if any(field.name == "angular_velocity" for field in group.members))


def folded():
    """Return the start values of the hinges by the names of their parameters."""
    return {
        slot.name: slot.start
        for slot in CRAFT.record.slots
        if slot.name.startswith("parameters.joint.") and slot.name.endswith(".angle.start")
    }


def run(fly, state, values, start=0.0):
    """Return the poses and twists of all bodies, and the coordinates, after a second."""
    given = {f"parameters.joint.{fly}.{key}": np.asarray(value) for key, value in state.items()}
    one = Instance(CRAFT, start_time=start, **given, **values)
    for k in range(100):
        one.step(start + 0.01 * k, 0.01)
    bodies = [{key: np.array(getattr(body, key)) for key in KEYS} for body in one.m.body]
    return bodies, np.array([(c.position, c.rate) for c in one.m.coordinate]), one


def compare(found, expected, tolerance):
    """Check bodies and coordinates."""
    for body, other in zip(found[0], expected[0], strict=True):
        turn = rotations.product(rotations.conjugate(body["quaternion"]), other["quaternion"])
        assert 2.0 * np.abs(turn[1:]).max() < tolerance
        np.testing.assert_allclose(body["position"], other["position"], rtol=0, atol=tolerance)
        for key in ("velocity", "angular_velocity"):
            np.testing.assert_allclose(body[key], other[key], rtol=0, atol=10.0 * tolerance)
    np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=10.0 * tolerance)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_free_declared_craft_in_another_inertial_frame(seed):
    fly, state, values = drawn(seed)
    random = np.random.default_rng(seed + 10)
    turn, shift = rotations.random_rotation(random), random.uniform(-30.0, 30.0, 3)
    r = rotations.matrix(turn)
    expected = run(fly, state, values)
    assert expected[2].m.audit.dissipated_locks > 0.0, "a panel must have locked"
    bodies, coordinates, one = run(
        fly,
        state
        | {
            "position": r @ state["position"] + shift,
            "quaternion": rotations.product(turn, state["quaternion"]),
            "velocity": r @ state["velocity"],
        },
        values,
    )
    for body in bodies:
        body["position"] = r.T @ (body["position"] - shift)
        body["quaternion"] = rotations.product(rotations.conjugate(turn), body["quaternion"])
    compare((bodies, coordinates), expected, 1e4 * np.spacing(60.0))
    assert one.m.audit.kinetic_energy == pytest.approx(expected[2].m.audit.kinetic_energy, rel=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_ruling_R48_a_free_declared_craft_with_a_common_velocity(seed):
    fly, state, values = drawn(seed)
    expected = run(fly, state, values)
    bodies, coordinates, one = run(fly, state | {"velocity": state["velocity"] + ORBIT}, values)
    for body in bodies:
        body["position"] = body["position"] - ORBIT
        body["velocity"] = body["velocity"] - rotations.matrix(body["quaternion"]).T @ ORBIT
    compare((bodies, coordinates), expected, 1e4 * np.spacing(7500.0))
    # in its own frame it loses as much in locks
    for name in ("dissipated_locks", "dissipated_dampers", "stored_energy"):
        found, own = (getattr(each.m.audit, name) for each in (one, expected[2]))
        assert found == pytest.approx(own, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_free_declared_craft_at_another_time(seed):
    fly, state, values = drawn(seed)
    compare(run(fly, state, values, start=123.456), run(fly, state, values), 1e4 * np.spacing(60.0))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_free_declared_craft_keeps_its_momenta_and_its_energy_balance(seed):
    fly, state, values = drawn(seed)
    given = {f"parameters.joint.{fly}.{key}": np.asarray(value) for key, value in state.items()}
    one = Instance(CRAFT, **given, **values)
    audit = one.m.audit
    before = np.hstack([audit.momentum, audit.angular_momentum])
    energy = audit.kinetic_energy + audit.stored_energy
    for k in range(300):
        one.step(0.01 * k, 0.01)
    assert one.m.audit.dissipated_locks > 0.0, "a panel must have locked"
    after = np.hstack([audit.momentum, audit.angular_momentum])
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-12 * np.abs(before).max())
    total = audit.kinetic_energy + audit.stored_energy + audit.dissipated_energy
    assert total == pytest.approx(energy, abs=1e-5 * energy)
