"""An arm on a craft that floats freely: momenta of both, in both modes of base motion, on craft of any mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.core.ports import BASE_MOTION
from dockfmu.components.manipulator.arm_data import VARIANT
from dockfmu.components.physics.mechanics import rotation
from dockfmu.fmus import catalogue
from tests.components.manipulator.arms import COMPONENT, REF, SETS, energy, instance

LAGGED, AFFINE = BASE_MOTION.codes["LAGGED"], BASE_MOTION.codes["AFFINE"]
POSE, TWIST = ("position", "quaternion"), ("velocity", "angular_velocity")
ACCELERATION = ("acceleration", "angular_acceleration")


def copy(source, target, names):
    for name in names:
        getattr(target, name)[:] = getattr(source, name)


@dataclass
class Run:
    """Largest change of the momenta of craft and arm together over the largest of the arm, the craft's last velocity,
    the energy that the arm's balance misses, and what its devices have lost, J."""

    linear: float
    angular: float
    velocity: np.ndarray
    missing: float
    lost: float


def floating(mode, h, mass, payload, seconds=1.0, spin=(0.0, 0.0, 0.0), every=1, component=COMPONENT, **values):
    """Step SSRMS with a payload, kg, on a free craft, kg, at 1.9 cm/s; nothing acts from outside.

    Momenta are looked at after each step number `every`.
    """
    inertia = mass / 6000.0 * np.diag([2e4, 6e4, 6e4])
    craft = Instance(
        catalogue.component("Spacecraft"),
        **{
            "parameters.mass": mass,
            "parameters.inertia": inertia,
            "parameters.port[1].base_motion": mode,
            "parameters.port[1].position": (2.0, 0.0, 0.3),
            "parameters.port[1].angles": (0.2, 0.1, -0.1),
            "parameters.initial.velocity": (0.1, 0.2, -0.05),
            "parameters.initial.angular_velocity": spin,
        },
    )
    port = craft.m.port[0]
    arm = Instance(
        component,
        SETS["SSRMS"],
        **{
            "command.mode": 2,
            "command.velocity": (0.019, 0.0, 0.0),
            "parameters.base_fixed": 0,
            "parameters.base_motion": mode,
            "parameters.initial.angle": REF,
            "parameters.payload.mass": payload,
            "parameters.payload.inertia": payload / 8015.0 * np.diag([6e3, 2.8e4, 2.8e4]),
            "parameters.grapple.position": (-0.8, 1.25, 0.0),
            **{f"base.{name}": np.array(getattr(port, name)) for name in (*POSE, *TWIST)},
            **values,
        },
    )
    m, kinetic = arm.m, arm.m.audit.kinetic_energy

    def momenta():
        body = craft.m.body
        turn = np.array(rotation.from_quaternion(tuple(body.quaternion)))
        linear = mass * turn.T @ np.array(body.velocity)
        angular = turn.T @ inertia @ np.array(body.angular_velocity) + np.cross(body.position, linear)
        return linear + m.audit.momentum, angular + m.audit.angular_momentum

    start, rows = momenta(), []
    for k in range(round(seconds / h)):
        arm.step(k * h, h)
        copy(m.base, port, ("force", "torque", "affine_mass"))
        craft.step(k * h, h)
        copy(port, m.base, (*POSE, *TWIST, *ACCELERATION))
        if (k + 1) % every:
            continue
        now = momenta()
        rows.append(
            [
                np.abs(now[0] - start[0]).max(),
                np.abs(now[1] - start[1]).max(),
                np.linalg.norm(m.audit.momentum),
                np.linalg.norm(m.audit.angular_momentum),
            ]
        )
    worst = np.max(rows, axis=0)
    turn = np.array(rotation.from_quaternion(tuple(craft.m.body.quaternion)))
    velocity = turn.T @ np.array(craft.m.body.velocity)
    return Run(worst[0] / worst[2], worst[1] / worst[3], velocity, energy(m) - kinetic, m.audit.dissipated_energy)


@pytest.mark.parametrize("spin", [(0.0, 0.0, 0.0), (0.01, 0.02, -0.03)])
def test_lagged_keeps_the_momenta_on_a_heavy_station_to_rounding(spin):
    """The wrench on the station is what arm and payload have lost; both turn it by the same prediction."""
    run = floating(LAGGED, 1e-3, 6e4, 8015.0, spin=spin)
    assert run.linear < 1e-12
    assert run.angular < 1e-12


@pytest.mark.parametrize(("mass", "payload"), [(6e4, 8015.0), (6e3, 6e4), (5e2, 5e3)])
def test_affine_keeps_the_momenta_with_any_craft(mass, payload):
    """A craft of 60 t, and one of 6 t and one of a third of the arm's mass with payloads ten times their mass.

    The outputs of a step lack the answer of the next one to the craft's true motion: of second order.
    """
    coarse, fine = (floating(AFFINE, h, mass, payload) for h in (2e-3, 1e-3))
    assert fine.linear < 3e-7
    assert fine.angular < 3e-7
    for name in ("linear", "angular"):
        assert getattr(coarse, name) / getattr(fine, name) == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize(("mass", "payload"), [(6e4, 8015.0), (6e3, 6e4), (5e2, 5e3)])
def test_affine_keeps_the_momenta_when_joints_turn_as_commanded(mass, payload):
    """KINEMATIC: the links answer to the station as one body.

    Looked at before each tick of the controller: the rates jump there, and the outputs lack the answer to that jump.
    """
    kinematic = {"parameters.variant": VARIANT.codes["KINEMATIC"]}
    coarse, fine = (floating(AFFINE, h, mass, payload, every=round(8e-3 / h), **kinematic) for h in (2e-3, 1e-3))
    assert fine.linear < 5e-7
    assert fine.angular < 5e-7
    for name in ("linear", "angular"):
        assert getattr(coarse, name) / getattr(fine, name) == pytest.approx(4.0, rel=0.1)


def test_affine_keeps_the_momenta_of_a_craft_that_spins():
    """Axes turn within a step between the arm's mass and the craft's motion: of first order, 1e-7 at 1 ms."""
    coarse, fine = (floating(AFFINE, h, 6e3, 6e4, spin=(0.01, 0.02, -0.03)) for h in (2e-3, 1e-3))
    assert fine.linear < 3e-7
    assert coarse.linear / fine.linear == pytest.approx(2.0, rel=0.1)


def test_both_modes_give_one_motion_where_both_are_stable():
    """LAGGED errs by the first order of the step, AFFINE by less than a tenth of that."""
    steps = (1e-3, 5e-4)
    lagged = [floating(LAGGED, h, 6e4, 8015.0).velocity for h in steps]
    limit = 2.0 * lagged[1] - lagged[0]
    affine = floating(AFFINE, 1e-3, 6e4, 8015.0).velocity
    assert np.abs(affine - limit).max() < 0.1 * np.abs(lagged[0] - limit).max()


def test_energy_of_an_arm_on_a_light_craft_closes():
    """The works of motors and station, and the losses: of first order in the micro-step, within 1 % of what is lost."""
    run = floating(AFFINE, 1e-3, 6e3, 6e4, seconds=3.0)
    assert abs(run.missing) < 0.01 * run.lost
    assert run.lost > 0.5


def test_lagged_on_a_light_craft_breaks_and_says_what_to_do():
    with pytest.raises(ComponentError, match=r"parameters.base_motion = LAGGED, the station is too light: use AFFINE"):
        floating(LAGGED, 1e-3, 6e3, 6e4)


def test_links_without_mass_need_no_response():
    """Then nothing of the arm answers to the station at once, and both modes are one."""
    for mode in (LAGGED, AFFINE):
        run = floating(mode, 1e-3, 6e3, 6e4, **{"parameters.variant": 2})
        assert run.linear < 1e-12
        assert run.angular < 1e-12


def test_source_is_refused():
    with pytest.raises(ComponentError, match=r"parameters.base_motion must be LAGGED or AFFINE, not SOURCE"):
        instance(**{"parameters.base_motion": 1})
