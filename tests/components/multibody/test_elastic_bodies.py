"""Elastic bodies in the recursion of the FMUs: against the Cartesian reference, and what they must conserve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dockfmu
from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.model import Model, MultibodyJoint, Port
from dockfmu.components.multibody.model.elastic import elastic_rigid_body, expanded
from dockfmu.components.multibody.reference.elastic import joint_rows
from tests.components.multibody.elastic_models import (
    KINDS,
    deflect,
    elastic_model,
    kernel_accelerations,
    marker,
    reference_states,
    reference_system,
)
from tests.components.multibody.random_models import made
from tests.dockfmu.elastic import models

# of accelerations, relative to the largest: conditions of mass matrices are up to 1e4
TOLERANCE = 1e-10


def loaded(model, seed):
    """Return an instance with random loads on its ports, random deflections, and the loads in the reference."""
    instance = Instance(made(model))
    random = np.random.default_rng(seed)
    for k in range(len(model.ports)):
        instance.m.port[k].force[:] = 5.0 * random.normal(size=3)
        instance.m.port[k].torque[:] = 5.0 * random.normal(size=3)
    deflect(instance, seed)
    return instance


def wrenches(instance, model, states):
    found = []
    for k, port in enumerate(model.ports):
        from dockfmu.components.multibody.model import Mounting

        at = marker(model, port.body, Mounting(port.point, port.rotation))
        axes = at.motion(states[at.body]).A
        loads = instance.m.port[k]
        found.append((at, np.concatenate((axes @ loads.force, axes @ loads.torque))))
    return found


def compare(instance, model, tolerance=TOLERANCE):
    states = reference_states(instance, model)
    expected, multipliers = reference_system(model).accelerations(states, wrenches(instance, model, states))
    size = max(np.abs(one).max() for one in expected)
    for one, other in zip(kernel_accelerations(instance, model), expected, strict=True):
        assert one == pytest.approx(other, abs=tolerance * size)
    return expected, multipliers


@pytest.mark.parametrize("seed", range(9))
def test_recursion_equals_the_cartesian_reference(seed):
    """Trees of every kind of joint between rigid and elastic bodies, in both directions, deflected by up to 0.3 rad."""
    model = elastic_model(200 + seed, 6, (KINDS[seed],) if seed < len(KINDS) else KINDS)
    instance = loaded(model, seed)
    compare(instance, model)
    states = reference_states(instance, model)
    for kind, one, other in reference_system(model).joints:
        gap = joint_rows(kind, one.motion(states[one.body]), other.motion(states[other.body]))[2]
        assert np.abs(gap).max(initial=0.0) < 1e-12


def test_free_elastic_bodies_equal_the_reference():
    compare(loaded(elastic_model(5, 3, ("free",), every=1), 5), elastic_model(5, 3, ("free",), every=1))


def closed_model(seed):
    """Return a model with a loop through elastic bodies: a chain of ball joints whose end a cut joint holds."""
    model = elastic_model(seed, 4, ("spherical",), every=2)
    first, last = model.joints[0], model.joints[-1]
    side = first.on_predecessor if first.predecessor == "base" else first.on_successor
    cut = MultibodyJoint("loop", "universal", "base", model.bodies[-1].name, side, last.on_successor, cut=True,
                         closure_limit=1e9)  # fmt: skip
    return replace(model, joints=(*model.joints, cut))


def beam(tmp_path, modes=4, interface=(1, 31, 21), frame="mean"):
    return dockfmu.reduce(models.beam(tmp_path), interface=list(interface), modes=modes, frame=frame)


CRANK = """
name = "crank"
gravity = [0, 0, -9.81]
[bodies.crank]
mass = 1
center = [0.5, 0, 0]
inertia = [0.01, 0.09, 0.09]
[bodies.rod]
elastic = "rod.npz"
[bodies.slider]
mass = 3
inertia = [0.1, 0.1, 0.1]
[joints.motor]
kind = "revolute"
bodies = ["base", "crank"]
axis = [0, 1, 0]
angle = {start = "40 deg", rate = 2}
[joints.pin]
kind = "revolute"
bodies = ["crank", "rod"]
points = [[1, 0, 0], [-5, 0, 0]]
axis = [0, 1, 0]
angle = {start = "-50 deg"}
[joints.guide]
kind = "prismatic"
bodies = ["base", "slider"]
axis = [1, 0, 0]
displacement = {start = 10.8}
[joints.wrist]
kind = "spherical"
cut = true
bodies = ["rod", "slider"]
points = [[5, 0, 0], [0, 0, 0]]
"""


def test_closed_loop_through_an_elastic_body_equals_the_reference(tmp_path):
    """Multipliers of the cut joint included; the loop is closed at the start, by the modes too."""
    from dockfmu.components.multibody.declaration import read_model

    beam(tmp_path).write(tmp_path / "rod.npz")
    file = tmp_path / "crank.toml"
    file.write_text(CRANK, encoding="utf-8")
    model = read_model(file).model
    instance = Instance(made(model))
    deflect(instance, 3, 0.01)
    # three coordinates of joints and the modes, less three rows
    assert instance.m.closure.freedoms == len(model.bodies[1].elastic.frequency)
    _, multipliers = compare(instance, model)
    force = instance.m.cut[0].force
    assert np.sort(np.abs(force)) == pytest.approx(np.sort(np.abs(multipliers[-3:])), rel=1e-8)


def totals(instance):
    """Return (kinetic and stored energy and losses, momentum, angular momentum)."""
    audit = instance.m.audit
    total = audit.kinetic_energy + audit.stored_energy + audit.dissipated_energy
    return float(total), np.array(audit.momentum), np.array(audit.angular_momentum)


def free_flyer(seed=3, count=4):
    """Return a free system of rigid and elastic bodies without gravity."""
    model = elastic_model(seed, count, ("spherical", "revolute"))
    first = model.joints[0]
    start, rates = (1.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5), (0.1, 0.2, -0.3, 0.4, 0.5, -0.6)
    sides = (first.on_predecessor, first.on_successor)
    root = MultibodyJoint(first.name, "free", "base", model.bodies[0].name, *sides, coordinates=start, rates=rates)
    joints = [root]
    for joint in model.joints[1:]:
        ends = {"predecessor": joint.predecessor, "successor": joint.successor}
        joints.append(replace(joint, **{side: "b1" if name == "base" else name for side, name in ends.items()}))
    return replace(model, joints=tuple(joints), gravity=(0.0, 0.0, 0.0), ports=())


def run(model, until, h, micro=None, seed=1, **changes):
    instance = Instance(made(model))
    stepping = instance.m.parameters.stepping
    stepping.micro_tolerance = 0.0
    stepping.micro_step = micro or h
    for name, value in changes.items():
        setattr(instance.m.parameters.stepping, name, value)
    deflect(instance, seed, 0.02)
    for k in range(round(until / h)):
        instance.step(k * h, h)
    return instance


@pytest.mark.slow
def test_energy_error_falls_with_the_square_of_the_step_and_momenta_are_exact():
    model, errors = free_flyer(), []
    for h in (4e-3, 2e-3, 1e-3):
        instance = Instance(made(model))
        instance.m.parameters.stepping.micro_tolerance = 0.0
        instance.m.parameters.stepping.micro_step = h
        deflect(instance, 1, 0.02)
        before = totals(instance)
        for k in range(round(0.4 / h)):
            instance.step(k * h, h)
        after = totals(instance)
        errors.append(abs(after[0] - before[0]) / before[0])
        # sums of some hundred steps of the order of 10 N s
        assert after[1] == pytest.approx(before[1], abs=1e-11)
        assert after[2] == pytest.approx(before[2], abs=1e-11)
        assert instance.m.audit.dissipated_energy > 0.0
    assert errors[2] < 1e-5
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.35)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.35)


def hub_and_beam(tmp_path):
    """Return the free body of oracle O6, with a port at the centre of the hub."""
    body = dockfmu.reduce(models.beam(tmp_path, models.BEAM + models.HUB), interface=[1], modes=4, frame=1)
    craft = elastic_rigid_body("craft", body, reach=1.0)
    free = MultibodyJoint("free", "free", "base", "craft")
    return body, Model("Craft", (craft,), (free,), ports=(Port("engine", "craft", (-1.0, 0.0, 0.0)),))


def test_spec11_oracle_O6_accelerations_at_rest(tmp_path):
    body, model = hub_and_beam(tmp_path)
    instance = Instance(made(model))
    instance.m.port[0].force[:] = [0.0, 100.0, 50.0]
    instance.initialize()
    found = kernel_accelerations(instance, model)[0]
    tip = body.point_shape[list(body.points[:, 0]).index(10.0)]
    sign = np.sign([tip[2, 0], tip[1, 1], tip[2, 2], tip[1, 3]])
    assert found[:3] == pytest.approx([0.0, 0.09846392, 0.04923196], abs=1e-8)
    assert found[3:6] == pytest.approx([0.0, 0.00057355, -0.00114709], abs=1e-8)
    assert found[6:] * sign == pytest.approx([-0.15775761, -0.31551523, 0.09311611, 0.18623221], abs=1e-8)


@pytest.mark.slow
def test_spec11_oracle_O6_pulse_and_free_motion(tmp_path):
    """The numbers of the oracle, to the digits that it gives; micro-steps of 0.5 ms: 1e-6 of the modes."""
    body, model = hub_and_beam(tmp_path)
    instance = Instance(made(model))
    stepping = instance.m.parameters.stepping
    stepping.micro_tolerance, stepping.micro_step = 0.0, 5e-4
    tip = body.point_shape[list(body.points[:, 0]).index(10.0)]
    h, times, tips, spins = 5e-3, [], [], []
    for k in range(1000):
        instance.m.port[0].force[:] = [0.0, 1000.0, 500.0] if k < 20 else 0.0
        instance.step(k * h, h)
        w = np.array([instance.m.modal[j].coordinate for j in range(4)])
        times.append((k + 1) * h)
        tips.append(tip @ w)
        spins.append(np.array(instance.m.body[0].angular_velocity))
    assert spins[19] == pytest.approx([0.0, 0.00173231, -0.00424955], abs=5e-7)
    assert spins[-1] == pytest.approx([0.0, 0.00236040, -0.01045431], abs=2e-6)
    assert instance.m.audit.momentum == pytest.approx([0.005, 100.0, 50.0], abs=2e-3)
    for axis, extreme, at in ((1, 0.010558, 0.4953), (2, 0.007876, 0.6812)):
        course = np.abs([one[axis] for one in tips])
        assert course.max() == pytest.approx(extreme, rel=2e-4)
        # within a communication step
        assert times[int(np.argmax(course))] == pytest.approx(at, abs=6e-3)


def test_static_equilibrium_at_the_start(tmp_path):
    """A cantilever under gravity: tip deflection q L^4 / (8 EI), slope q L^3 / (6 EI)."""
    body = beam(tmp_path, interface=(1, 21), frame=1)
    cantilever = elastic_rigid_body("beam", body, settled=True)
    joints = (MultibodyJoint("wall", "fixed", "base", "beam"),)
    model = Model("Cantilever", (cantilever,), joints, ports=(Port("tip", "beam", (10.0, 0.0, 0.0)),),
                  gravity=(0.0, 0.0, -0.01))  # fmt: skip
    instance = Instance(made(model))
    names = [one.name for one in expanded(model).bodies]
    at = next(k for k in range(2) if instance.m.deflection[k].link != instance.m.flex.body[0].frame)
    assert names[-1] == "beam_node21"
    load = 2.0 * 0.01
    assert instance.m.deflection[at].displacement[2] == pytest.approx(-load * 1e4 / (8 * 4e4), rel=2e-3)
    assert instance.m.deflection[at].rotation[1] == pytest.approx(load * 1e3 / (6 * 4e4), rel=2e-3)
    # it stays there
    instance.step(0.0, 0.01)
    assert np.abs([instance.m.modal[k].rate for k in range(int(instance.m.run.modes))]).max() < 1e-9
    assert max(abs(one) for acceleration in kernel_accelerations(instance, model) for one in acceleration) < 1e-6


def test_stiff_modes_limit_no_micro_step(tmp_path):
    """Residual shapes of 4850 rad/s with micro-steps of 5 ms: omega h = 24; the beam moves as with short steps."""
    body = beam(tmp_path)
    model = Model("Swing", (elastic_rigid_body("beam", body),),
                  (MultibodyJoint("hinge", "universal", "base", "beam",
                                  on_successor=_mounting((-5.0, 0.0, 0.0)), rates=(0.0, 0.5)),))  # fmt: skip
    ends = []
    for micro in (5e-3, 1e-3):
        instance = Instance(made(replace(model, gravity=(0.0, 0.0, -1.0))))
        instance.m.parameters.stepping.micro_tolerance = 0.0
        instance.m.parameters.stepping.micro_step = micro
        start = totals(instance)[0]
        for k in range(10):
            instance.step(k * 0.01, 0.01)
        assert totals(instance)[0] == pytest.approx(start, abs=1e-3)
        ends.append(float(instance.m.coordinate[1].position))
    assert body.frequency[-1] > 4000.0
    assert ends[0] == pytest.approx(ends[1], rel=2e-3)


def _mounting(point):
    from dockfmu.components.multibody.model import Mounting

    return Mounting(point)


@pytest.mark.parametrize("speed", [10.0, 7500.0])
def test_spec11_oracle_O5_deformation_in_the_kernels_does_not_depend_on_the_velocity(speed):
    ends = []
    for common in (0.0, speed):
        model = free_flyer(count=2)
        root = model.joints[0]
        rates = (0.1 + common, 0.2, -0.3, 0.4, 0.5, -0.6)
        instance = Instance(made(replace(model, joints=(replace(root, rates=rates), *model.joints[1:]))))
        deflect(instance, 2, 0.05)
        for k in range(5):
            instance.step(k * 0.002, 0.002)
        ends.append([float(instance.m.modal[k].coordinate) for k in range(int(instance.m.run.modes))])
    assert np.abs(ends[0]).max() > 0.01
    # the joint's velocity is added: one rounding of 7.5 km/s in what turns
    assert ends[1] == pytest.approx(ends[0], abs=1e-12)


def test_a_saved_state_goes_on_bitwise():
    model = elastic_model(9, 3)
    one, other = Instance(made(model)), Instance(made(model))
    deflect(one, 1)
    for k in range(2):
        one.step(k * 0.004, 0.004)
    other.block[:] = one.block
    one.step(0.008, 0.004)
    other.step(0.008, 0.004)
    assert max(abs(one.m.modal[k].coordinate) for k in range(int(one.m.run.modes))) > 0.001
    for k in range(int(one.m.run.modes)):
        assert one.m.modal[k].coordinate == other.m.modal[k].coordinate
        assert one.m.modal[k].rate == other.m.modal[k].rate


@pytest.mark.slow
def test_the_elastic_array_of_dockfmu_deploys_locks_and_swings():
    """Momenta to rounding through four locks; the wing bends when a hinge locks, and its modes lose energy."""
    from pathlib import Path

    import dockfmu.components.multibody as multibody
    from tests.components.multibody.random_models import interpreted

    one = Instance(interpreted(multibody.component(Path(multibody.__file__).parent / "models" / "elastic_array.toml")))
    before, bent = totals(one), 0.0
    for k in range(3000):
        one.step(k * 0.01, 0.01)
        bent = max(bent, max(abs(node.displacement[2]) for node in one.m.deflection))
    assert [lock.closed for lock in one.m.lock] == [1.0] * 4
    after = totals(one)
    assert after[0] == pytest.approx(before[0], rel=1e-4)
    assert after[1] == pytest.approx(before[1], abs=1e-10)
    assert after[2] == pytest.approx(before[2], abs=1e-10)
    assert bent > 0.01
