"""Locks: plastic impulses in closed form, momentum, balance, commands."""

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import EXAMPLE, component, component_of
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.physics.mechanics.rotation import from_quaternion
from tests.components.multibody.random_models import flex_of, interpreted
from tests.components.multibody.test_motion import balance, run

MODELS = EXAMPLE.parent
DISCS = """
name = "discs"
[bodies.first]
mass = 4.0
inertia = [1, 1, 2]
[bodies.second]
mass = 2.0
inertia = [0.5, 0.5, 1]
[joints.flight]
kind = "free"
bodies = ["base", "first"]
start = { angular_velocity = [0, 0, 0.3] }
[joints.axle]
kind = "revolute"
bodies = ["first", "second"]
angle = { rate = 1.5 }
[locks.latch]
joint = "axle"
"""


def instance(text: str) -> Instance:
    return Instance(interpreted(component_of(read_text(text))))


def test_a_plastic_impact_of_two_discs_follows_its_closed_form() -> None:
    one = instance(DISCS + 'at = 0.75\ndirection = "up"')
    m, audit = one.m, one.m.audit
    run(one, 0.49)
    assert m.lock[0].closed == 0.0
    run(one, 0.02)
    latch, axle = m.lock[0], m.coordinate[0]
    assert latch.closed == latch.closings == 1.0
    # the reduced inertia 2/3 kg.m2 stops from 1.5 rad/s
    assert latch.impulse == pytest.approx(-2.0 / 3.0 * 1.5, rel=1e-9)
    assert latch.loss == pytest.approx(0.5 * 2.0 / 3.0 * 1.5**2, rel=1e-9)
    # caught within the shortest micro-step
    assert 0.75 <= axle.position < 0.75 + 1.5 * 1.1e-4
    assert axle.rate == 0.0
    np.testing.assert_allclose(m.rotation[0].angular_velocity, [0.0, 0.0, (2 * 0.3 + 1.8) / 3.0], rtol=1e-9)
    np.testing.assert_allclose(audit.angular_momentum, [0.0, 0.0, 2.4], rtol=1e-12, atol=1e-15)
    assert balance(one) == pytest.approx(0.5 * 2 * 0.3**2 + 0.5 * 1.8**2, rel=1e-9)


def test_a_lock_holds_and_is_opened_and_closed_by_command() -> None:
    one = instance(DISCS + "closed = true")
    m = one.m
    m.coordinate[0].drive = 2.0
    run(one, 0.2)
    assert m.coordinate[0].position == 0.0
    # the lock carries the drive, less nothing: both discs turn as one
    assert m.coordinate[0].holding == pytest.approx(-2.0, rel=1e-9)
    m.lock[0].open = 1.0
    run(one, 0.5)
    assert m.lock[0].closed == 0.0
    assert m.coordinate[0].rate == pytest.approx(2.0 / (2.0 / 3.0) * 0.5, rel=1e-6)
    m.lock[0].open, m.lock[0].close = 0.0, 1.0
    run(one, 0.1)
    assert m.lock[0].closed == 1.0
    assert m.lock[0].closings == 1.0
    assert m.coordinate[0].rate == 0.0
    assert m.audit.dissipated_locks == pytest.approx(0.5 * 2.0 / 3.0 * 1.5**2, rel=1e-6)


WING = """
name = "array"
[bodies.hull]
mass = 200.0
solid = {{ box = [1, 1, 1] }}
[bodies.one]
mass = 8.0
solid = {{ plate = [1.2, 0.8] }}
[bodies.two]
mass = 8.0
solid = {{ plate = [1.2, 0.8] }}
[joints.flight]
kind = "free"
bodies = ["base", "hull"]
start = {{ velocity = [0.1, 0.2, 0], angular_velocity = [0.01, 0, 0.02] }}
[joints.root]
kind = "revolute"
bodies = ["hull", "one"]
points = [[0.5, 0, 0], [-0.6, 0, 0]]
axis = [0, 1, 0]
angle = {{ start = "90 deg", stiffness = 6.0, damping = 0.3 }}
[joints.hinge]
kind = "{kind}"
bodies = ["one", "two"]
points = [[0.6, 0, 0], [-0.6, 0, 0]]
axis = [0, 1, 0]
angle = {{ start = "-180 deg", stiffness = 4.0, damping = 0.3 }}
[locks.root]
joint = "root"
at = 0.0
[locks.hinge]
joint = "hinge"
at = "0 deg"
direction = "up"
"""


@pytest.mark.parametrize("kind", ["revolute", "cylindrical"])
def test_spec10_oracle_3_deployment_of_a_free_array_keeps_momentum_and_closes_its_balance(kind: str) -> None:
    one = instance(WING.format(kind=kind))
    audit = one.m.audit
    momentum = np.hstack([audit.momentum, audit.angular_momentum])
    energy = balance(one)
    run(one, 12.0)
    assert [lock.closed for lock in one.m.lock] == [1.0, 1.0]
    assert all(lock.loss > 0.0 for lock in one.m.lock)
    after = np.hstack([audit.momentum, audit.angular_momentum])
    np.testing.assert_allclose(after, momentum, rtol=0.0, atol=1e-12 * np.abs(momentum).max())
    # the error of the method over some seconds of fast motion
    assert balance(one) == pytest.approx(energy, rel=1e-4)


def test_impulse_of_a_lock_agrees_with_the_equations_of_impact() -> None:
    # multibody-formulations 4.1 with H = the row of the locked rate: M dv = H^T L, H dv = -rate
    one = instance(WING.format(kind="revolute").replace('direction = "up"', 'direction = "up"\nclosed = false'))
    run(one, 1.0)
    m = one.m
    before = _rates(m)
    mass = _mass_matrix(m)
    m.lock[1].close = 1.0
    one.step(1.0, 1e-12)
    change = _rates(m) - before
    inverse = np.linalg.inv(mass)
    impulse = -before[7] / inverse[7, 7]
    np.testing.assert_allclose(change, inverse[:, 7] * impulse, atol=1e-9)
    assert m.lock[1].impulse == pytest.approx(impulse, rel=1e-9)
    assert m.lock[1].loss == pytest.approx(0.5 * before[7] ** 2 / inverse[7, 7], rel=1e-9)


def _rates(m) -> np.ndarray:
    return np.hstack([m.link[1].speed, m.link[1].spin, m.link[2].rate, m.link[3].rate])


def _mass_matrix(m) -> np.ndarray:
    """The mass matrix by kinetic energies of unit rates, with kernels that do not take part in the impulse."""
    from dockfmu.components.physics.tree import links, momentum

    saved = m.link.copy()

    def energy(v: np.ndarray) -> float:
        m.link[1].speed[:], m.link[1].spin[:], m.link[2].rate, m.link[3].rate = v[:3], v[3:6], v[6], v[7]
        links.place(m.link, flex_of(m))
        links.move(m.link)
        return 2.0 * momentum.momenta(m.link, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))[0]

    unit = np.eye(8)
    diagonal = [energy(row) for row in unit]
    M = np.array([[energy(a + b) for b in unit] for a in unit])
    m.link[:] = saved
    return 0.5 * (M - np.add.outer(diagonal, diagonal))


def test_the_solar_array_of_dockfmu_deploys_and_locks() -> None:
    one = Instance(interpreted(component(MODELS / "solar_array.toml")))
    audit = one.m.audit
    momentum, energy = np.hstack([audit.momentum, audit.angular_momentum]), balance(one)
    run(one, 25.0)
    assert [lock.closed for lock in one.m.lock] == [1.0] * 4
    np.testing.assert_allclose([c.position for c in one.m.coordinate], 0.0, atol=1e-4)
    after = np.hstack([audit.momentum, audit.angular_momentum])
    np.testing.assert_allclose(after, momentum, rtol=0.0, atol=1e-12 * np.abs(momentum).max())
    assert balance(one) == pytest.approx(energy, rel=1e-6)


def test_a_coordinate_stays_held_until_its_last_lock_opens() -> None:
    one = instance(DISCS + "closed = true\n[locks.second]\njoint = 'axle'\nclosed = true\n")
    m = one.m
    m.coordinate[0].drive = 2.0
    m.lock[0].open = 1.0
    run(one, 0.1)
    assert (m.lock[0].closed, m.lock[1].closed, m.coordinate[0].position) == (0.0, 1.0, 0.0)
    m.lock[1].open = 1.0
    run(one, 0.1)
    assert m.coordinate[0].rate == pytest.approx(2.0 / (2.0 / 3.0) * 0.1, rel=1e-6)


STAGES = """
name = "stages"
[bodies.lower]
mass = 30.0
center = [0.1, 0, 0.02]
inertia = [3, 4, 5]
[bodies.upper]
mass = 10.0
center = [-0.05, 0.03, 0]
inertia = [1, 1.5, 2]
[joints.flight]
kind = "free"
bodies = ["base", "lower"]
start = { velocity = [0.5, 0.1, 0], angular_velocity = [0.1, -0.2, 0.3] }
[joints.link]
kind = "free"
bodies = ["lower", "upper"]
start = { position = [0.8, 0, 0.1], velocity = [0.2, 0.1, -0.1], angular_velocity = [0.2, 0.1, -0.3] }
[springs.push]
bodies = ["lower", "upper"]
points = [[0.6, 0.1, 0], [-0.1, 0.1, -0.1]]
stiffness = 4000
length = 0.15
pusher = true
[locks.link]
joint = "link"
"""


def upper(m) -> np.ndarray:
    """The momentum of the upper body, axes I."""
    body = m.body[1]
    v = np.array(body.velocity) + np.cross(body.angular_velocity, (-0.05, 0.03, 0.0))
    return 10.0 * np.array(from_quaternion(tuple(body.quaternion))).T @ v


def conserved(one: Instance) -> np.ndarray:
    return np.hstack([one.m.audit.momentum, one.m.audit.angular_momentum])


def test_locked_stages_move_as_one_body_and_separate_with_the_energy_of_their_spring() -> None:
    one = instance(STAGES + "closed = true")
    m = one.m
    before, energy = conserved(one), balance(one)
    place = m.rotation[1].position.copy()
    run(one, 0.3)
    np.testing.assert_array_equal(m.rotation[1].position, place)
    np.testing.assert_array_equal(m.rotation[1].angular_velocity, 0.0)
    m.lock[0].open = 1.0
    run(one, 0.5)
    assert m.lock[0].closed == 0.0
    assert np.linalg.norm(m.rotation[1].velocity) > 0.3
    # the pusher is free
    assert m.spring[0].tension == 0.0
    assert m.spring[0].length > 0.15
    np.testing.assert_allclose(conserved(one), before, rtol=0.0, atol=1e-12 * np.abs(before).max())
    assert balance(one) == pytest.approx(energy, rel=1e-5)


@pytest.mark.parametrize("kind", ["free", "spherical"])
def test_a_joint_that_is_locked_as_a_whole_stops_by_a_plastic_impulse(kind: str) -> None:
    text = STAGES.replace("stiffness = 4000", "stiffness = 0")
    if kind == "spherical":
        text = text.replace(
            '[joints.link]\nkind = "free"', '[joints.link]\nkind = "spherical"\npoints = [[0.8, 0, 0], [0, 0, 0]]'
        )
        text = text.replace("position = [0.8, 0, 0.1], velocity = [0.2, 0.1, -0.1], ", "")
    one = instance(text)
    m = one.m
    run(one, 0.05)
    before, energy, kinetic = conserved(one), balance(one), float(m.audit.kinetic_energy)
    gained = upper(m)
    m.lock[0].close = 1.0
    one.step(0.05, 1e-12)
    assert m.lock[0].closed == 1.0
    np.testing.assert_allclose(conserved(one), before, rtol=0.0, atol=1e-12 * np.abs(before).max())
    # one rigid body with the momentum of both: spin by its own inertia
    np.testing.assert_allclose(m.rotation[1].angular_velocity, 0.0, atol=1e-14)
    spins = [np.array(m.link[k].angular_velocity) for k in (1, 2)]
    np.testing.assert_allclose(spins[0], spins[1], atol=1e-14)
    assert m.lock[0].loss > 0.0
    assert m.audit.kinetic_energy == pytest.approx(kinetic - m.lock[0].loss, rel=1e-12)
    assert balance(one) == pytest.approx(energy, rel=1e-12)
    assert m.lock[0].impulse > 0.0
    if kind == "free":
        # what the upper body gains
        assert m.lock[0].impulse == pytest.approx(np.linalg.norm(upper(m) - gained), rel=1e-9)
    run(one, 0.2)
    np.testing.assert_allclose(m.rotation[1].angular_velocity, 0.0, atol=1e-14)
    np.testing.assert_allclose(conserved(one), before, rtol=0.0, atol=1e-12 * np.abs(before).max())


def test_a_craft_that_is_locked_to_the_base_loses_what_its_impulse_takes() -> None:
    """Regression: the loss left out the work of the impulse on the base in the craft's frame, and could be negative."""
    text = STAGES.replace("stiffness = 4000", "stiffness = 0").replace('joint = "link"', 'joint = "flight"')
    one = instance(text)
    m = one.m
    run(one, 0.05)
    energy, kinetic = balance(one), float(m.audit.kinetic_energy)
    m.lock[0].close = 1.0
    one.step(0.05, 1e-12)
    np.testing.assert_allclose(m.body[0].velocity, 0.0, atol=1e-14)
    assert m.lock[0].loss == pytest.approx(kinetic - float(m.audit.kinetic_energy), rel=1e-12)
    assert m.lock[0].loss > 0.0
    run(one, 0.05)
    assert balance(one) == pytest.approx(energy, rel=1e-9)


TIED = """
name = "tied"
gravity = [0, 0, 0]
[bodies.hull]
mass = 4.0
inertia = [1, 1, 1]
[bodies.arm]
mass = 2.0
inertia = [0.5, 0.5, 0.5]
center = [0.5, 0, 0]
[joints.flight]
kind = "free"
bodies = ["base", "hull"]
start = { angular_velocity = [0.2, 0.1, 0.3] }
[joints.hinge]
kind = "revolute"
bodies = ["hull", "arm"]
points = [[-0.4, 0.1, 0.2], [0, 0, 0]]
axis = [0, 1, 0]
angle = { rate = 1.5 }
[joints.tie]
kind = "spherical"
bodies = ["base", "hull"]
points = [[0.3, 0.2, 0], [0.3, 0.2, 0]]
cut = true
[locks.latch]
joint = "hinge"
at = "0.1 rad"
"""


def test_a_lock_in_a_body_that_the_base_holds_in_a_loop_keeps_the_balance() -> None:
    """The base takes a part of the impulse; regression: the next micro-step gave it back, where the step went on."""
    one = Instance(interpreted(component_of(read_text(TIED))))
    before = balance(one)
    for k in range(20):
        one.step(0.01 * k, 0.01)
    assert one.m.lock[0].closed == 1.0
    assert one.m.cut[0].error < 1e-8
    assert balance(one) == pytest.approx(before, abs=2e-7)
