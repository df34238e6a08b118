"""Loads at sections of elastic bodies in `Multibody`, against whole finite-element models (flexible 3.2)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dockfmu
from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.model import Model, Mounting, MultibodyJoint, Port, PrescribedMotion, RigidBody
from dockfmu.components.multibody.model.elastic import elastic_rigid_body
from dockfmu.elastic.frame import read_frame
from tests.components.multibody.random_models import made
from tests.components.multibody.test_elastic_finite_elements import BEAM
from tests.dockfmu.elastic import models
from tests.dockfmu.elastic.whole_rod import SECTION, section_loads

STEP = 5e-4


def pulses(k):
    """Return the forces on the first and the last node in step k: smooth, of 0.12 s and 0.2 s."""
    first = np.array([-0.1, 0.6, 0.4]) * np.sin(np.pi * (k + 0.5) / 400.0) ** 2 if k < 400 else np.zeros(3)
    last = np.array([0.15, 1.0, -0.5]) * np.sin(np.pi * (k + 0.5) / 240.0) ** 2 if k < 240 else np.zeros(3)
    return first, last


@pytest.mark.parametrize("frame", ["mean", 1], ids=["mean axes", "frame at the driven node"])
def test_section_loads_of_a_free_body_are_those_of_the_whole_model(tmp_path, frame):
    """Shear and moment by 16 modes under forces at both ends, root mean square; they cross the section.

    The free joint carries node 1: its own load comes from the balance of the body, that of node 21 from the recursion.
    The rod turns by less than 1e-3 rad, which the whole model leaves out; with twenty times the forces that is 1 %.
    """
    body = dockfmu.reduce(
        models.beam(tmp_path), interface=[1, 21], modes=16, frame=frame, mass="matrix", damping=1e-9,
        sections={"cut": SECTION},
    )  # fmt: skip
    ends = [tuple(map(float, place)) for place in body.place]
    model = Model(
        "Free",
        (elastic_rigid_body("rod", body),),
        (MultibodyJoint("flight", "free", "base", "rod"),),
        ports=(Port("first", "rod", ends[0]), Port("last", "rod", ends[1])),
    )
    instance = Instance(made(model))
    m = instance.m
    found, first, last = [], *pulses(0)
    for k in range(800):
        # what acts at a communication point is what the next step begins with
        m.port[0].force[:], m.port[1].force[:] = first, last
        instance.step(k * STEP, STEP)
        found.append([*m.section[0].force, *m.section[0].torque])
        first, last = pulses(k + 1)
    exact = section_loads(*zip(*map(pulses, range(800)), strict=True), STEP)
    size = np.abs(exact).max(axis=0)
    acting = [1, 2, 4, 5]
    errors = (np.sqrt(np.mean((np.array(found) - exact) ** 2, axis=0)) / size)[acting]
    assert np.all(size[acting] > 0.1)
    assert np.all(errors < [8e-3, 2e-3, 2e-3, 1e-3])


def cut_beam(folder: Path, damping: float):
    """Return the beam of 2 kg and 2 m with sections at its root and its middle, and the whole model."""
    file = folder / "beam.toml"
    file.write_text(BEAM, encoding="utf-8")
    body = dockfmu.reduce(
        file, interface=[1, 9], modes=18, frame=1, damping=damping, sections={"root": [(1, 9)], "middle": [(11, 9)]}
    )
    return body, read_frame(file)[0]


def loads(instance):
    """Return (sections, 6): the present loads at all sections."""
    m = instance.m
    return np.array([[*m.section[k].force, *m.section[k].torque] for k in range(int(m.run.sections))])


def test_the_load_at_the_root_is_what_the_base_holds(tmp_path):
    """A beam swings on a driven hinge under gravity and forces at its tip: the wrench on the base says the same.

    Between base and section lies what node 1 carries, a lump of 0.25 kg a quarter of an element away, in the frame that
    turns. Levers of the undeformed beam: errors of the deflection times the force.
    """
    body, _ = cut_beam(tmp_path, damping=1e-9)
    motion = PrescribedMotion(amplitude=0.02, frequency=2.0, phase=-0.5 * np.pi)
    model = Model(
        "Swing",
        (elastic_rigid_body("beam", body),),
        (MultibodyJoint("hinge", "revolute", "base", "beam", motions={0: motion}),),
        ports=(Port("tip", "beam", (2.0, 0.0, 0.0)),),
        gravity=(0.03, -0.05, 0.02),
    )
    instance = Instance(made(model))
    m, h, worst, largest = instance.m, 1e-3, np.zeros(6), np.zeros(6)
    for k in range(600):
        m.port[0].force[:] = (0.02 * np.sin(9.0 * h * k), 0.01, 0.005 * np.cos(7.0 * h * k))
        m.port[0].torque[:] = (0.002, 0.0, 0.003 * np.sin(5.0 * h * k))
        instance.step(k * h, h)
        t = (k + 1) * h
        angle, rate, change = -0.02 * np.cos(2.0 * t), 0.04 * np.sin(2.0 * t), 0.08 * np.cos(2.0 * t)
        c, s = np.cos(angle), np.sin(angle)
        to_inertial = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        arm = np.array([0.125, 0.0, 0.0])
        moved = np.array([-(rate**2) * 0.125, change * 0.125, 0.0]) - to_inertial.T @ model.gravity
        load = loads(instance)[0]
        force = load[:3] - 0.25 * moved
        # the torque about z is taken by the drive: all of it is on the base
        torque = load[3:] - 0.25 * np.cross(arm, moved)
        base = np.concatenate([to_inertial.T @ m.run.force, to_inertial.T @ m.run.torque])
        if k >= 20:
            worst = np.maximum(worst, np.abs(np.concatenate([force, torque]) - base))
            largest = np.maximum(largest, np.abs(base))
    assert np.all(largest[[0, 1, 2, 4, 5]] > 1e-3)
    assert np.all(worst < 5e-3 * np.array([largest[:3].max()] * 3 + [largest[3:].max()] * 3))


def held_at_both_ends(tmp_path, settled):
    """Return a beam under gravity, held at both ends, and its loads at the sections by its whole model."""
    body, full = cut_beam(tmp_path, damping=0.3)
    end = Mounting((2.0, 0.0, 0.0))
    model = Model(
        "Held",
        (elastic_rigid_body("beam", body, settled=settled),),
        (
            MultibodyJoint("near", "fixed", "base", "beam"),
            MultibodyJoint("far", "fixed", "base", "beam", end, end, cut=True),
        ),
        gravity=(0.01, 0.03, -0.02),
    )  # fmt: skip
    count = len(full.nodes)
    weight = np.zeros((count, 6))
    weight[:, :3] = full.bodies.mass[:, None] * np.array(model.gravity)
    weight[:, 3:] = np.cross(full.bodies.offset, weight[:, :3])
    index = {int(node): k for k, node in enumerate(full.nodes)}
    kept = [6 * k + i for node, k in index.items() if node not in (1, 9) for i in range(6)]
    u = np.zeros(6 * count)
    u[kept] = np.linalg.solve(full.stiffness[np.ix_(kept, kept)], weight.ravel()[kept])
    inner = (full.stiffness @ u - weight.ravel()).reshape(count, 6)  # what the holds exert
    root = -inner[index[1]] - weight[index[1]]
    at = full.position[:, 0]
    beyond = [k for node, k in index.items() if at[k] > 1.0]
    acting = weight[beyond] + np.array([inner[k] if k == index[9] else np.zeros(6) for k in beyond])
    middle = acting.sum(axis=0)
    middle[3:] += np.cross(full.position[beyond] - [1.0, 0.0, 0.0], acting[:, :3]).sum(axis=0)
    return model, np.array([root, middle])


def test_sections_of_a_body_in_a_closed_loop(tmp_path):
    """Both ends are held: the loads of a statically indeterminate beam under gravity, from the whole model.

    The cut joint at node 9 acts by its multipliers alone; without them the middle would carry half of the weight.
    """
    model, expected = held_at_both_ends(tmp_path, settled=False)
    instance = Instance(made(model))
    for k in range(30):
        instance.step(0.1 * k, 0.1)
    assert loads(instance) == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())
    assert np.abs(expected[1, 4:]).max() > 1e-3


def test_a_body_that_is_held_at_both_ends_starts_in_equilibrium(tmp_path):
    """Its reactions are those of an elastic body, not of the masses of its modes; the analysis starts alike."""
    model, expected = held_at_both_ends(tmp_path, settled=True)
    instance = Instance(made(model))
    assert loads(instance) == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())
    start = np.array([one.coordinate for one in instance.m.modal])
    assert Multibody(model).start.q == pytest.approx(start, abs=1e-9 * np.abs(start).max())
    for k in range(10):
        instance.step(0.1 * k, 0.1)
    assert [one.coordinate for one in instance.m.modal] == pytest.approx(start, abs=1e-9 * np.abs(start).max())
    assert loads(instance) == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def test_a_body_held_at_both_ends_by_a_frame_that_turns_starts_in_equilibrium(tmp_path):
    """A rigid frame that turns at 1 rad/s holds both ends: the centrifugal load is carried from the start."""
    body, _ = cut_beam(tmp_path, damping=0.3)
    end = Mounting((2.0, 0.0, 0.0))
    frame = RigidBody("frame", 50.0, (1.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 20.0, 0.0), (0.0, 0.0, 20.0)))
    model = Model(
        "Turning",
        (frame, elastic_rigid_body("beam", body, settled=True)),
        (
            MultibodyJoint("pivot", "revolute", "base", "frame", on_predecessor=Mounting((0.0, -1.0, 0.0)),
                           on_successor=Mounting((0.0, -1.0, 0.0)), rates=(1.0,)),
            MultibodyJoint("near", "fixed", "frame", "beam"),
            MultibodyJoint("far", "fixed", "frame", "beam", end, end, cut=True),
        ),
    )  # fmt: skip
    instance = Instance(made(model))
    start = np.array([one.coordinate for one in instance.m.modal])
    assert np.abs(start).max() > 1e-6
    for k in range(10):
        instance.step(0.01 * k, 0.01)
    after = np.array([one.coordinate for one in instance.m.modal])
    assert after == pytest.approx(start, abs=1e-6 * np.abs(start).max())
    assert Multibody(model).start.q[1:] == pytest.approx(start, abs=1e-9 * np.abs(start).max())
