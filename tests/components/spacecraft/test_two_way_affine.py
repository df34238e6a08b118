"""Base motion AFFINE of the craft whose modes act back (dynamics 11, flexible 3.4): a mechanism at the end of a beam.

The mechanism is a point mass at port 2, the tip of the beam of flexible O6.
"""

from dataclasses import replace
from math import sin

import numpy as np
import pytest

from benchmarks.coupling.hub_and_beam import HUB, Reference, hub_and_beam
from dockfmu.components.core.component import ComponentError
from dockfmu.components.core.ports import AFFINE, LAGGED
from tests.components.spacecraft.crafts import rotation, turned
from tests.components.spacecraft.test_spacecraft import held

BODIES = hub_and_beam()
SPIN = np.array([0.01, 0.02, -0.03])


def point(mass):
    """Return the upper triangle of M_A of a point mass at the port."""
    return [mass, 0, 0, 0, 0, 0, mass, 0, 0, 0, 0, mass, *[0] * 9]


def force(t):
    """Return the force on the hub's centre, axes of the hub."""
    return np.array([100.0 * sin(3.0 * t), 60.0, 40.0 * sin(2.0 * t + 1.0)])


def coupled(mode, h, mass, seconds=1.0):
    """Return the craft after a run, and the largest error of the momentum of both over the impulse."""
    one = BODIES.craft(
        **{
            "parameters.port[2].base_motion": mode,
            "parameters.initial.position": BODIES.center,
            "parameters.initial.velocity": np.cross(SPIN, BODIES.center),
            "parameters.initial.angular_velocity": SPIN,
        }
    )
    hub, tip = one.m.port
    if mode == AFFINE:
        tip.affine_mass[:] = point(mass)

    def momentum():
        return one.m.audit.momentum + mass * rotation(tip.quaternion).T @ tip.velocity

    start, impulse, worst = momentum(), np.zeros(3), 0.0
    for k in range(round(seconds / h)):
        hub.force[:] = force((k + 0.5) * h)
        tip.force[:] = -mass * held(tip, h)
        middle = turned(hub.quaternion, 0.5 * h * hub.angular_velocity)
        impulse += h * rotation(middle).T @ hub.force
        one.step(k * h, h)
        worst = max(worst, np.linalg.norm(momentum() - start - impulse))
    return one, worst / np.linalg.norm(impulse)


def one_system(mass, seconds=1.0):
    """Return place of the tip and angular velocity of the hub of craft and mass as bodies in absolute coordinates."""
    bodies = replace(
        BODIES,
        mass=np.append(BODIES.mass, mass),
        place=np.vstack([BODIES.place, (10.0, 0.0, 0.0)]),
        inertia=np.concatenate([BODIES.inertia, np.zeros((1, 3, 3))]),
        shape=np.concatenate([BODIES.shape, BODIES.tip[None]]),
    )
    system = Reference(bodies)
    start = system.start((0.0, 0.0, 0.0), SPIN)
    end = system.run(start, seconds, lambda t, y: (force(t), np.cross(HUB[2], force(t)), np.zeros(4)))
    return system.tip(end), system.velocities(end)[3:6]


@pytest.mark.parametrize("mass", [2.0, 50.0])
def test_spec02_section_11_mechanism_on_a_two_way_craft_converges_to_one_system(mass):
    """Converge at second order, momenta too, also with a mechanism heavier than the beam that carries it."""
    place, rate = one_system(mass)
    runs = [coupled(AFFINE, h, mass) for h in (8e-3, 4e-3)]
    apart = [np.abs(one.m.port[1].position - place).max() for one, _ in runs]
    turning = [np.abs(one.m.body.angular_velocity - rate).max() for one, _ in runs]
    for coarse, fine in (apart, turning, [drift for _, drift in runs]):
        assert coarse < 1e-5
        assert fine == pytest.approx(coarse / 4.0, rel=0.3)


def test_spec02_section_4_3_lagged_is_for_light_mechanisms():
    """With 2 kg LAGGED owes a thousand times the momentum; with 50 kg on a beam of 20 kg it diverges."""
    _, affine = coupled(AFFINE, 4e-3, 2.0)
    _, lagged = coupled(LAGGED, 4e-3, 2.0)
    assert affine < lagged / 500.0
    with pytest.raises(ComponentError, match="elastic rotation"):
        coupled(LAGGED, 4e-3, 50.0)


def after(mode, h, wrench, affine_mass=None, **values):
    """Return the craft after ten steps with a force on the hub, and one with the wrench on the tip."""
    one = BODIES.craft(decrement=0.05, **{"parameters.port[2].base_motion": mode, **values})
    one.m.port[0].force[:] = (30.0, 500.0, -200.0)
    for k in range(10):
        one.step(k * 1e-2, 1e-2)
    tip = one.m.port[1]
    given = np.concatenate([tip.acceleration, tip.angular_acceleration])
    if mode == AFFINE:
        tip.affine_mass[:] = affine_mass[np.triu_indices(6)]
    tip.force[:], tip.torque[:] = wrench[:3], wrench[3:]
    one.step(0.1, h)
    return one, given


@pytest.mark.parametrize("fixed", [0, 1])
def test_spec02_section_11_wrench_is_that_of_the_acceleration_that_the_step_gives(fixed):
    """f = f' - M_A (a - a') by iteration with whole steps of another craft; their axes differ by the order of h."""
    values = {"parameters.fixed": fixed}
    mass = np.diag([3.0, 4.0, 5.0, 3.0, 4.0, 5.0])
    mass[0, 4] = mass[4, 0] = mass[1, 5] = mass[5, 1] = 1.5
    received = np.array([20.0, -30.0, 10.0, 10.0, 20.0, -30.0])
    apart = []
    for h in (2e-3, 1e-3):
        direct, given = after(AFFINE, h, received, mass, **values)
        wrench = received.copy()
        for _ in range(200):
            trial, _ = after(LAGGED, h, wrench, **values)
            tip = trial.m.port[1]
            wrench += 0.3 * (received - mass @ (np.append(tip.acceleration, tip.angular_acceleration) - given) - wrench)
        assert np.abs(wrench - received).max() > 1.0
        apart.append(np.abs(direct.m.mount[1].wrench - wrench).max() / np.abs(wrench).max())
    assert apart[0] < 1e-4
    assert apart[1] < 0.6 * apart[0]


def test_the_work_of_the_wrench_found_is_what_the_craft_gains():
    """Balance of energy of the craft alone, which shows that modes and carrying motion get the same wrench."""
    residual = []
    for h in (4e-3, 2e-3):
        one, _ = coupled(AFFINE, h, 50.0)
        a = one.m.audit
        start = (
            0.5 * np.sum(BODIES.mass * np.linalg.norm(np.cross(SPIN, BODIES.place), axis=1) ** 2)
            + 0.5 * SPIN @ BODIES.inertia.sum(axis=0) @ SPIN
        )
        work = sum(a.work_port) + a.work_control
        residual.append(abs(a.kinetic_energy + a.stored_energy + a.dissipated_energy - start - work))
        assert abs(work) > 1.0
    assert residual[1] < residual[0] / 3.0 < 1e-3
