"""Constraint forces of closed chains in space against MuJoCo's, whose constraints are soft, in their limit."""

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.model import BASE, Model, Mounting, MultibodyJoint, RigidBody
from dockfmu.components.physics.mechanics.rotation import from_quaternion
from tests.components.multibody.random_models import attitude, made, matrix, vector

GRAVITY = (0.4, -9.81, 2.0)
IMPEDANCES = (0.9996, 0.9997, 0.9998, 0.9999)


def text(values):
    return " ".join(f"{value:.17g}" for value in values)


def chain(seed, count=4):
    """Return a chain of hinges from the base with a ball joint back to it, and its MJCF for an impedance d."""
    random = np.random.default_rng(seed)
    bodies, joints, hinges = [], [], []
    before, place = BASE, np.zeros(3)
    for k in range(count):
        points = 0.3 * random.normal(size=(4, 3))
        J = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
        bodies.append(RigidBody(f"b{k}", float(random.uniform(0.5, 2.0)), vector(random, 0.2), matrix(J)))
        point, frame = vector(random, 0.4), matrix(from_quaternion(tuple(attitude(random))))
        joints.append(
            MultibodyJoint(f"j{k}", "revolute", before, f"b{k}", Mounting(point, frame), Mounting(rotation=frame))
        )
        hinges.append((point, frame[2]))
        before, place = f"b{k}", place + point
    # at zero angles all axes are those of the base
    end = vector(random, 0.4)
    there = Mounting(tuple(map(float, place + end)))
    joints.append(MultibodyJoint("cut", "spherical", before, BASE, Mounting(end), there, cut=True))
    inner = ""
    for body, (point, axis) in reversed(list(zip(bodies, hinges, strict=True))):
        J = body.inertia
        six = (J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2])
        inner = (
            f'<body name="{body.name}" pos="{text(point)}">'
            f'<inertial pos="{text(body.center)}" mass="{body.mass!r}" fullinertia="{text(six)}"/>'
            f'<joint type="hinge" axis="{text(axis)}"/>{inner}</body>'
        )
    model = Model("loop", tuple(bodies), tuple(joints), gravity=GRAVITY)

    def mjcf(impedance):
        connect = f'<connect body1="{before}" anchor="{text(end)}" solimp="{impedance} {impedance} 0.001 0.5 2"/>'
        return (
            f'<mujoco><option gravity="{text(GRAVITY)}"/><worldbody>{inner}</worldbody>'
            f"<equality>{connect}</equality></mujoco>"
        )

    return model, mjcf


@pytest.mark.parametrize("seed", range(4))
def test_constraint_forces_of_a_closed_chain_are_those_of_mujoco_in_their_limit(seed):
    """At rest under gravity: force of the cut joint and accelerations, of the analysis and of the kernels, to 1e-8.

    MuJoCo adds (1 - d) / d of its diagonal to the matrix of the constraints, d at most 0.9999: its force is taken at
    four impedances d and continued to d = 1 by a cubic. There it holds 1e-4 of the force off, which is seen too.
    """
    mujoco = pytest.importorskip("mujoco")
    model, mjcf = chain(seed)
    soft, forces, accelerations = [], [], []
    for impedance in IMPEDANCES:
        engine = mujoco.MjModel.from_xml_string(mjcf(impedance))
        engine.opt.tolerance, engine.opt.iterations = 0.0, 200
        data = mujoco.MjData(engine)
        mujoco.mj_forward(engine, data)
        soft.append((1.0 - impedance) / impedance)
        # on the last body; a joint shows what its first body exerts on its second, the base
        forces.append(-np.array(data.efc_force))
        accelerations.append(np.array(data.qacc))
    scaled = np.array(soft) / soft[0]
    force, acceleration = (np.polyfit(scaled, np.array(values), 3)[-1] for values in (forces, accelerations))
    system = Multibody(model)
    found, size = system.reactions()["cut"].force, np.linalg.norm(force)
    np.testing.assert_allclose(found, force, rtol=0, atol=1e-8 * size)
    np.testing.assert_allclose(system.forward_dynamics(), acceleration, rtol=0, atol=1e-8 * np.abs(acceleration).max())
    assert 1e-6 < np.linalg.norm(forces[-1] - force) / size < 1e-2

    instance = Instance(made(model))
    np.testing.assert_allclose(instance.m.cut[0].force, force, rtol=0, atol=1e-8 * size)
    shown = [coordinate.acceleration for coordinate in instance.m.coordinate]
    np.testing.assert_allclose(shown, acceleration, rtol=0, atol=1e-8 * np.abs(acceleration).max())
