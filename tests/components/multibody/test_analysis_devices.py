"""dockfmu.Multibody with drives, hysteresis and locks: what the FMU runs, at random states."""

from dataclasses import replace

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.analysis.multibody import UnknownNameError
from dockfmu.components.multibody.model import COORDINATES, JointLock, Model
from dockfmu.components.multibody.model.parts import HystereticSpring, JointDrive
from tests.components.multibody.random_models import body_accelerations, made, random_model
from tests.components.multibody.test_analysis import four_bar, pendulum

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "planar", "screw")
CONTROLS = ("voltage", "rate", "position")


def equipped(seed: int) -> Model:
    """Return a random tree with a drive, a hysteretic spring or a closed lock on most coordinates."""
    random = np.random.default_rng(seed)
    model = random_model(seed, 5, KINDS, reverse=0.5)
    drives, loops, locks = [], [], []
    for joint in model.joints:
        for number in range(len(COORDINATES[joint.kind])):
            chosen = random.integers(5)
            name = f"{joint.name}_{number}"
            if chosen <= 1:
                drives.append(_drive(random, name, joint.name, number))
            elif chosen == 2:
                values = dict(zip(("stiffness", "range", "loss", "ratio", "play"),
                                  (30.0, 2.5, 0.4, 3.0, 0.05), strict=True))  # fmt: skip
                loops.append(HystereticSpring(joint.name, number, **values, rest=float(random.normal())))
            elif chosen == 3:
                locks.append(JointLock(name, joint.name, number, closed=True))
    # a lock that is closed holds its coordinate at rest
    still = {(lock.joint, lock.coordinate) for lock in locks}
    joints = [
        replace(joint, rates=tuple(0.0 if (joint.name, k) in still else v for k, v in enumerate(joint.rates)))
        for joint in model.joints
    ]
    return replace(model, joints=tuple(joints), drives=tuple(drives), loops=tuple(loops), locks=tuple(locks))


def _drive(random: np.random.Generator, name: str, joint: str, number: int) -> JointDrive:
    control = CONTROLS[random.integers(3)]
    return JointDrive(
        name,
        joint,
        number,
        control,
        ratio=float(random.uniform(1.0, 20.0)),
        inertia=0.01,
        damping=0.002,
        torque_constant=0.3,
        voltage_constant=0.25,
        resistance=1.5,
        voltage_limit=float(random.uniform(2.0, 60.0)),
        current_limit=float(random.uniform(1.0, 40.0)),
        gear_stiffness=200.0 * float(random.integers(2)),
        gear_damping=0.5,
        play=0.02,
        rate_gain=0.4,
        position_gain=1.5,
        rate_limit=0.8,
        command=float(random.normal()),
        powered=bool(random.integers(4)),
    )


@pytest.mark.parametrize("seed", range(12))
def test_spec10_oracle_2_accelerations_with_drives_hysteresis_and_locks_are_those_of_the_fmu(seed: int) -> None:
    model = equipped(seed)
    assert model.drives or model.loops or model.locks
    system = Multibody(model)
    instance = Instance(made(model))
    expected = system.forward_dynamics()
    names = dict(zip(system.rates, expected, strict=True))
    found = [coordinate.acceleration for coordinate in instance.m.coordinate]
    size = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(found, [names[name] for name in system.rates], rtol=0.0, atol=1e-10 * size)
    assert len(body_accelerations(instance, model)) == 5
    audit, energy = instance.m.audit, system.energy()
    assert audit.kinetic_energy == pytest.approx(energy.kinetic, rel=1e-12)


def test_rotors_behind_elastic_gears_have_accelerations_and_energy() -> None:
    """A wound-up gearbox with play, at a torque by hand: k (windup - play) + k play / 2."""
    drive = JointDrive("d", "pin", ratio=10.0, inertia=0.02, gear_stiffness=50.0, gear_damping=0.4, play=0.1,
                       torque_constant=0.2, voltage_constant=0.2, resistance=2.0, voltage_limit=24.0,
                       current_limit=5.0, command=6.0)  # fmt: skip
    system = Multibody(pendulum(drives=(drive,)))
    state = system.state({"pin.angle": 0.0}, rotors={"d": (0.5, 0.3)})
    torque = 50.0 * 0.4 + 50.0 * 0.05 + 0.4 * 0.3
    assert system.forward_dynamics(state)[0] == pytest.approx((torque - 2 * 9.81 * 0.6) / (2 * 1.44 / 3), rel=1e-12)
    motor = 10.0 * 0.2 * (6.0 - 0.2 * 10.0 * 0.3) / 2.0
    assert system.rotor_accelerations(state) == pytest.approx({"d": (motor - torque) / 2.0}, rel=1e-12)
    assert system.rotor_accelerations(state, {"d": 0.0})["d"] < 0.0
    energy = system.energy(state)
    assert energy.kinetic == pytest.approx(0.5 * 2.0 * 0.09, rel=1e-12)
    # the work of the torque from no wind-up: of the parabola and of the line
    windups = np.linspace(0.0, 0.5, 200001)
    curve = np.where(windups < 0.1, 250.0 * windups**2, 50.0 * (windups - 0.1) + 2.5)
    assert energy.springs == pytest.approx(np.trapezoid(curve, windups), rel=1e-8)
    with pytest.raises(UnknownNameError, match="no drive e"):
        system.forward_dynamics(state, commands={"e": 0.0})
    with pytest.raises(UnknownNameError, match="no drive with an elastic gearbox e"):
        system.state(rotors={"e": (0.0, 0.0)})


def test_rigid_rotors_add_their_inertia_and_energy() -> None:
    drive = JointDrive("d", "pin", ratio=10.0, inertia=0.02, resistance=2.0)
    system = Multibody(pendulum(drives=(drive,)))
    assert system.mass_matrix()[0, 0] == pytest.approx(2.0 * 1.44 / 3.0 + 2.0, rel=1e-12)
    assert system.energy(system.state(rates={"pin.angle": 3.0})).kinetic == pytest.approx(0.5 * 9.0 * 2.96, rel=1e-12)
    assert system.mass_properties().mass == 2.0
    given = system.forward_dynamics(drives={"pin.angle": 5.0})
    assert system.inverse_dynamics(given)[0] == pytest.approx(5.0, rel=1e-12)


def test_frequencies_of_a_servo_and_of_a_gear_train() -> None:
    """A joint held by a position loop on a rigid gear; a joint and a free rotor on an elastic gear."""
    J, n = 2.0 * 1.44 / 3.0, 10.0
    servo = JointDrive("d", "pin", control="position", ratio=n, inertia=0.02, torque_constant=0.2, voltage_constant=0.2,
                       resistance=2.0, voltage_limit=1e6, current_limit=1e6, rate_gain=0.5, position_gain=4.0,
                       rate_limit=1e6)  # fmt: skip
    level = replace(pendulum(), gravity=(0.0, 0.0, 0.0))
    held = Multibody(replace(level, drives=(servo,))).vibrations()
    stiffness = n**2 * 0.2 / 2.0 * (0.2 + 0.5) * 4.0
    assert held.frequencies == pytest.approx([np.sqrt(stiffness / (J + 2.0))], rel=1e-8)
    elastic = JointDrive("d", "pin", ratio=n, inertia=0.02, gear_stiffness=50.0, resistance=2.0, powered=False)
    system = Multibody(replace(level, drives=(elastic,)))
    found = system.vibrations(system.state())
    # one rigid rotation, and the two inertias against each other
    assert found.frequencies == pytest.approx([0.0, np.sqrt(50.0 * (1 / J + 1 / 2.0))], rel=1e-8, abs=1e-4)
    assert found.shapes.shape == (2, 2)


def test_reactions_of_a_closed_chain_have_the_drive_in_them() -> None:
    """A motor drives the crank of a four-bar: the ground hinge takes its torque but for the rotor's share."""
    drive = JointDrive("d", "A", ratio=5.0, inertia=0.01, torque_constant=0.4, voltage_constant=0.4, resistance=1.0,
                       voltage_limit=50.0, current_limit=100.0, command=3.0)  # fmt: skip
    system = Multibody(replace(four_bar(), drives=(drive,)))
    acceleration = system.forward_dynamics()[0]
    torque = 5.0 * 0.4 * 3.0 - 0.25 * acceleration
    assert system.reactions()["A"].torque[2] == pytest.approx(torque, rel=1e-9)
    plain = Multibody(four_bar()).forward_dynamics(drives={"A.angle": torque})[0]
    assert acceleration == pytest.approx(plain, rel=1e-9)
