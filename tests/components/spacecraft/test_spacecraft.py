"""The spacecraft: oracles of spacecraft section 10 for the parts built here, and conservation laws."""

import os
import subprocess
import sys
from dataclasses import replace
from math import atan2, cos, exp, log, pi, sin, sqrt
from pathlib import Path

import numpy as np
import pytest

from dockfmu.components import spacecraft
from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.core.ports import AFFINE, LAGGED, SOURCE
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.components.spacecraft import elastic
from dockfmu.components.spacecraft.modes import Modes
from tests.components.spacecraft.crafts import ATV, STATION, craft, random_modes, rotation, turned


def one_mode(hertz, decrement=0.05):
    """A craft whose port 1 moves along x by the mode's coordinate alone."""
    port = np.zeros((2, 6, 1))
    port[0, 0, 0] = 1.0
    return Modes(np.array([2 * pi * hertz]), np.array([decrement]), port, np.zeros((1, 3, 1)))


def test_spec04_oracle_s01_modal_coefficients():
    c1, c2, c3, c5 = elastic.coefficients(2 * pi, 0.05, 5e-4)
    assert elastic.damping(2 * pi, 0.05) == pytest.approx(0.09999683386, rel=1e-10)
    assert c1 == pytest.approx(0.9999950652841010, rel=1e-15)
    assert c2 == pytest.approx(4.999866781580177e-4, rel=1e-15)
    assert c3 == pytest.approx(1.249978139568e-7, rel=1e-9)  # 1 - c1 cancels six digits
    assert -((2 * pi) ** 2) * c2 == pytest.approx(-1.973868287693768e-2, rel=1e-14)
    assert c5 == pytest.approx(0.9999450681993114, rel=1e-15)


@pytest.mark.parametrize("hertz", [0.1, 1.0, 50.0, 3000.0])
def test_spec04_oracle_s02_identities_of_the_coefficients(hertz):
    w, d, h = 2 * pi * hertz, 0.05, 5e-4
    c1, c2, c3, c5 = elastic.coefficients(w, d, h)
    assert c1 + w * w * c3 == pytest.approx(1.0, abs=2e-16 * 4)
    assert c1 * c5 + w * w * c2 * c2 == pytest.approx(exp(-elastic.damping(w, d) * h), rel=1e-14)
    C1, C2, C3, C5 = elastic.coefficients(w, d, 2 * h)
    assert c1 * c1 - w * w * c2 * c2 == pytest.approx(C1, abs=2e-15)
    assert c1 * c2 + c2 * c5 == pytest.approx(C2, abs=2e-15)
    # (1 - c1) / w^2 loses eps / (w h)^2 of itself
    assert c1 * c3 + c2 * c2 + c3 == pytest.approx(C3, rel=1e-13 + 4e-16 / (w * h) ** 2)
    assert c5 * c5 - w * w * c2 * c2 == pytest.approx(C5, abs=2e-15)


@pytest.mark.slow
def test_spec04_oracle_s02_free_decay_and_static_rest():
    """Successive peaks of a free mode fall by the decrement; a constant force settles at f / w^2."""
    modes = one_mode(1.0, 0.3)
    modes.initial_coordinate[0] = 1.0
    body = craft(modes)
    period = 2 * pi / sqrt((2 * pi) ** 2 - (0.5 * elastic.damping(2 * pi, 0.3)) ** 2)
    for k in range(3):
        for i in range(50):
            body.step(k + i * period / 50, period / 50)
        assert log(1.0 / body.m.elastic.coordinate[0]) == pytest.approx(0.3 * (k + 1), abs=1e-12)
    body.m.port[0].force[0] = 2.0
    for k in range(40):
        body.step(k, 10.0)
    assert body.m.elastic.coordinate[0] == pytest.approx(2.0 / (2 * pi) ** 2, rel=1e-12)
    assert body.m.elastic.rate[0] == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize(("hertz", "held", "middle"), [(1, 4.8e-5, 1.3e-8), (10, 3.7e-7, 9.8e-10), (50, 1.5e-8, 2e-10)])
def test_spec04_oracle_s03_accuracy_of_the_analytic_step(hertz, held, middle):
    """f = sin 3t for 10 s at 0.5 ms: largest error with the force of the start and of the middle of each step."""
    w, h, n = 2 * pi * hertz, 5e-4, 20_000
    c1, c2, c3, c5 = elastic.coefficients(w, 0.05, h)
    c = elastic.damping(w, 0.05)
    root = sqrt(w * w - c * c / 4)
    size = 1 / sqrt((w * w - 9) ** 2 + 9 * c * c)
    phase = atan2(3 * c, w * w - 9)
    b = size * sin(phase)
    a = (c / 2 * b - 3 * size * cos(phase)) / root
    t = h * np.arange(1, n + 1)
    exact = size * np.sin(3 * t - phase) + np.exp(-c / 2 * t) * (b * np.cos(root * t) + a * np.sin(root * t))
    for offset, expected in ((0.0, held), (0.5, middle)):
        q = v = 0.0
        worst = 0.0
        for k in range(n):
            f = sin(3 * (k + offset) * h)
            q, v = c1 * q + c2 * v + c3 * f, c2 * (f - w * w * q) + c5 * v
            worst = max(worst, abs(q - exact[k]))
        assert worst == pytest.approx(expected, rel=0.06)


def power_balance(modes, h, steps):
    """(energy change + dissipation - work counted, - integral of wrench . twist) over a run with large motion."""
    body = craft(modes, **{"parameters.initial.angular_velocity": [0.3, -0.2, 0.25]})
    start = body.m.audit.kinetic_energy + body.m.audit.stored_energy
    integral = 0.0
    for k in range(steps):
        wrench = np.array([900 * sin(2 * k * h), 300.0, -200.0, 40.0, -300 * cos(3 * k * h), 150.0])
        body.m.port[0].force[:], body.m.port[0].torque[:] = wrench[:3], wrench[3:]
        before = np.concatenate([body.m.port[0].velocity, body.m.port[0].angular_velocity])
        body.step(k * h, h)
        after = np.concatenate([body.m.port[0].velocity, body.m.port[0].angular_velocity])
        integral += h * wrench @ (before + after) / 2
    a = body.m.audit
    change = a.kinetic_energy + a.stored_energy + a.dissipated_energy - start
    return change - a.work_port[0], change - integral, change


@pytest.mark.slow
def test_spec04_oracle_s04_power_of_an_elastic_craft():
    """Rigid + modal energy changes by wrench . twist at the port: exactly as counted, and to second order by twists."""
    modes = random_modes(size=2e-3, decrement=0.4)
    counted, coarse, change = power_balance(modes, 0.02, 100)
    _, fine, _ = power_balance(modes, 0.01, 200)
    _, finer, _ = power_balance(modes, 0.005, 400)
    # the turn of a step is integrated by the trapezoidal rule
    assert abs(counted) < 1e-5 * abs(change)
    assert abs(coarse) < 1e-2 * abs(change)
    assert abs(finer) < abs(fine) / 3 < abs(coarse) / 9


def test_spec04_oracle_s05_torque_free_body():
    """Angular momentum is kept exactly, energy to fourth order; an axisymmetric body precesses as Euler says."""
    inertia, w0 = np.diag([2.0, 5.0, 5.0]), np.array([1.0, 0.4, 0.0])
    values = {"parameters.inertia": inertia, "parameters.initial.angular_velocity": w0}
    errors = []
    for steps in (100, 200):
        body = craft(**values)
        start, energy = body.m.audit.angular_momentum.copy(), body.m.audit.kinetic_energy
        for k in range(steps):
            body.step(k * 10.0 / steps, 10.0 / steps)
        assert np.array_equal(body.m.audit.angular_momentum, start)
        rate = (2.0 - 5.0) / 5.0 * w0[0]
        exact = [1.0, 0.4 * cos(rate * 10.0), 0.4 * sin(rate * 10.0)]
        errors.append(np.abs(body.m.body.angular_velocity - exact).max())
        assert body.m.audit.kinetic_energy == pytest.approx(energy, rel=1e-4)
    assert errors[1] < errors[0] / 14
    assert errors[1] < 1e-5


def test_one_step_equals_two_halves():
    """Up to the attitude's fifth-order error of a step, and the wrench's mid-step attitude."""
    spin = {"parameters.initial.angular_velocity": [0.01, 0.02, -0.015]}
    modes = random_modes()
    whole, halves = craft(modes, **spin), craft(modes, **spin)
    whole.step(0.0, 0.1)
    halves.step(0.0, 0.05)
    halves.step(0.05, 0.05)
    for name in ("position", "quaternion", "velocity", "angular_velocity"):
        assert getattr(whole.m.port[0], name) == pytest.approx(getattr(halves.m.port[0], name), abs=1e-13)


def test_impulse_of_a_wrench_that_turns_with_its_port():
    """ruling R4: held in port axes, a step's impulse has the right direction and is (omega h)^2 / 24 too large."""
    rate, h = 0.8, 0.5
    body = craft(**{"parameters.inertia": np.eye(3) * 1e12, "parameters.initial.angular_velocity": [0.0, 0.0, rate]})
    body.m.port[0].force[:] = [1.0, 0.0, 0.0]
    body.step(0.0, h)
    exact = np.array([sin(rate * h), 1.0 - cos(rate * h), 0.0]) / rate
    impulse = body.m.audit.momentum
    assert np.cross(impulse, exact) == pytest.approx(np.zeros(3), abs=1e-10)
    # the next term of the series is (omega h)^4 / 1920
    excess = np.linalg.norm(impulse) / np.linalg.norm(exact) - 1.0
    assert excess == pytest.approx((rate * h) ** 2 / 24, rel=2 * (rate * h) ** 2 / 24)


def contact(one, two, h, stiffness, radius):
    """Frictionless sphere (port of `one`) against the plane x = 0 of the port of `two`, at the step's middle.

    Both bodies get the same force at the same point, each in the axes and about the origin of its own port as
    predicted for mid-step with the twists: what a contact FMU does. Returns the compression now.
    """
    frames = []
    for port in (one.m.port[0], two.m.port[0]):
        A = rotation(port.quaternion)
        position = port.position + A.T @ port.velocity * h / 2
        frames.append((position, rotation(turned(port.quaternion, port.angular_velocity * h / 2))))
    (r1, _), (r2, A2) = frames
    center = A2 @ (r1 - r2)
    depth = max(0.0, center[0] + radius)
    point = r2 + A2.T @ np.array([0.0, center[1], center[2]])
    force = A2.T @ np.array([stiffness * depth, 0.0, 0.0])  # on the plane
    for body, f, (r, A) in ((one, -force, frames[0]), (two, force, frames[1])):
        body.m.port[0].force[:] = A @ f
        body.m.port[0].torque[:] = A @ np.cross(point - r, f)
    A2 = rotation(two.m.port[0].quaternion)
    return max(0.0, (A2 @ (one.m.port[0].position - two.m.port[0].position))[0] + radius)


def impact(h):
    """Two elastic free bodies collide off axis and misaligned; (drift of P, of L, of energy), relative."""
    chaser = craft(
        random_modes(seed=1, decrement=0.0),
        **{
            "parameters.initial.position": [-5.31, 0.4, -0.3],
            "parameters.initial.quaternion": [1.0, 0.01, 0.02, -0.03],
            "parameters.initial.velocity": [0.1, 0.01, -0.02],
            "parameters.initial.angular_velocity": [0.004, 0.003, -0.005],
        },
    )
    target = craft(
        random_modes(seed=2, size=1e-3, decrement=0.0), STATION, **{"parameters.initial.position": [20.0, 0, 0]}
    )
    bodies = (chaser, target)

    def total(name):
        return sum(np.array(getattr(body.m.audit, name)) for body in bodies)

    momentum, spin = total("momentum"), total("angular_momentum")
    energy = total("kinetic_energy") + total("stored_energy")
    impulse, worst, strongest = 0.0, [0.0, 0.0, 0.0], 0.0
    steps = round(1.5 / h)
    for k in range(steps):
        depth = contact(chaser, target, h, 1e6, 0.3)
        strongest = max(strongest, depth)
        stored = 0.5 * 1e6 * depth**2
        impulse += h * np.linalg.norm(target.m.port[0].force)
        drift = total("kinetic_energy") + total("stored_energy") + stored - energy
        worst[2] = max(worst[2], abs(drift))
        for body in bodies:
            body.step(k * h, h)
        worst[0] = max(worst[0], np.linalg.norm(total("momentum") - momentum))
        worst[1] = max(worst[1], np.linalg.norm(total("angular_momentum") - spin))
    assert strongest > 5e-3
    return worst[0] / impulse, worst[1] / np.linalg.norm(spin), worst[2] / energy, impulse


@pytest.mark.slow
def test_spec04_oracle_s08_momentum_and_energy_of_an_impact():
    """Exchanged as held wrenches at 1 ms, momentum is conserved to 1e-8 of the exchange, the rest to second order."""
    linear, angular, energy, impulse = impact(1e-3)
    assert impulse > 1e3
    assert linear < 1e-8
    assert angular < 1e-7
    assert energy < 1e-3
    _, finer_angular, finer_energy, _ = impact(5e-4)
    assert finer_angular < angular / 3
    assert finer_energy < energy / 3


def energy_while_pressed(h):
    """Change of energy, relative, over 0.1 s in which the contact stays closed: (of all, drift of P, drift of L)."""
    chaser = craft(
        random_modes(seed=1, decrement=0.0),
        **{
            "parameters.initial.position": [-5.24, 0.4, -0.3],
            "parameters.initial.quaternion": [1.0, 0.01, 0.02, -0.03],
            "parameters.initial.velocity": [0.1, 0.01, -0.02],
            "parameters.initial.angular_velocity": [0.004, 0.003, -0.005],
        },
    )
    target = craft(
        random_modes(seed=2, size=1e-3, decrement=0.0), STATION, **{"parameters.initial.position": [20.0, 0, 0]}
    )
    bodies = (chaser, target)

    def total(name):
        return sum(np.array(getattr(body.m.audit, name)) for body in bodies)

    def energy(depth):
        assert depth > 0.01
        return total("kinetic_energy") + total("stored_energy") + 0.5 * 1e6 * depth**2

    start = energy(contact(chaser, target, h, 1e6, 0.3))
    momentum, spin = total("momentum"), total("angular_momentum")
    for k in range(round(0.1 / h)):
        for body in bodies:
            body.step(k * h, h)
        depth = contact(chaser, target, h, 1e6, 0.3)
    linear = np.linalg.norm(total("momentum") - momentum) / np.linalg.norm(momentum)
    angular = np.linalg.norm(total("angular_momentum") - spin) / np.linalg.norm(spin)
    assert chaser.m.flexible.rotation_max > 1e-3
    return energy(depth) / start - 1.0, linear, angular


def test_spec04_oracle_s08_energy_to_1e_9_in_the_limit_of_the_step():
    """Two elastic bodies, off axis, misaligned, frictionless; the step's error taken off by Richardson's rule.

    The contact is closed throughout, so the error is smooth in h, of second order. With the source's angular velocity
    of the port, theta' in place of J theta', 1e-7 would be left, in proportion to |theta|^2.
    """
    coarse, fine = energy_while_pressed(1e-3), energy_while_pressed(5e-4)
    limits = [(4.0 * b - a) / 3.0 for a, b in zip(coarse, fine, strict=True)]
    assert abs(limits[0]) < 1e-9
    assert abs(coarse[0]) > 1e-7
    # momenta fall with the square of the step to what the third order leaves
    assert limits[1] < 1e-9
    assert limits[2] < 1e-9


def test_spec04_oracle_s10_another_structural_frame_and_inertial_frame():
    """The same craft described in a turned and shifted S, and seen from a turned I, moves the same."""
    turn = rotation(turned([1.0, 0, 0, 0], [0.4, -0.3, 0.7]))  # old S -> new S
    shift = np.array([1.0, -2.0, 0.5])  # old origin in new S
    modes = random_modes()
    angles = [atan2(-turn.T[0, 2], turn.T[0, 0]), np.arcsin(turn.T[0, 1]), atan2(-turn.T[2, 1], turn.T[1, 1])]
    block = np.kron(np.eye(2), turn)
    new_modes = Modes(
        modes.frequency,
        modes.decrement,
        np.einsum("ij,pjn->pin", block, modes.port),
        np.einsum("ij,pjn->pin", turn, modes.thruster),
        control=block @ modes.control,
    )
    spin = {
        "parameters.initial.angular_velocity": [0.02, -0.03, 0.01],
        "parameters.thruster[1].position": [-4.0, 1.0, 0.5],
    }
    inertia = ATV["parameters.inertia"]
    one = craft(modes, **spin)
    two = craft(
        new_modes,
        **{
            **spin,
            "parameters.inertia": turn @ inertia @ turn.T + 2e4 * (shift @ shift * np.eye(3) - np.outer(shift, shift)),
            "parameters.inertia_about_origin": 1,
            "parameters.center_of_mass": shift,
            "parameters.axes": angles,
            "parameters.port[1].position": shift + turn @ [5.0, 0.0, 0.0],
            "parameters.port[1].angles": angles,
            "parameters.port[2].position": shift,
            "parameters.port[2].angles": angles,
            "parameters.thruster[1].position": shift + turn @ [-4.0, 1.0, 0.5],
            "parameters.thruster[1].direction": turn @ [1.0, 0.0, 0.0],
        },
    )
    view = turned([1.0, 0, 0, 0], [-0.5, 0.2, 0.3])  # new I -> old I, which is C at the start
    three = craft(modes, **spin, **{"parameters.initial.quaternion": view})
    for k in range(100):
        for body in (one, two, three):
            body.m.port[0].force[:] = [100.0, -50 * sin(0.1 * k), 30.0]
            body.m.port[1].torque[:] = [10.0, 20.0, -30.0]
            body.m.thruster[0].thrust = 40.0
            body.m.control.force[:] = [5.0, -60.0, 20.0]
            body.m.control.torque[:] = [100.0, 50.0, -80.0]
            body.m.command.push = k % 3 - 1
            body.step(0.01 * k, 0.01)
    for name in ("position", "quaternion", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        assert getattr(two.m.port[0], name) == pytest.approx(getattr(one.m.port[0], name), abs=1e-11)
        if name not in ("position", "quaternion"):
            assert getattr(three.m.port[0], name) == pytest.approx(getattr(one.m.port[0], name), abs=1e-11)
    assert three.m.port[0].position == pytest.approx(rotation(view).T @ one.m.port[0].position, abs=1e-11)


def test_twist_is_the_rate_of_the_pose():
    """Central differences of position and quaternion over small steps, of a craft that spins and vibrates."""
    modes = random_modes()
    modes.initial_rate[:] = 20.0
    modes.initial_coordinate[:] = [2.0, -1.0, 0.5, -2.0, 1.0, 3.0]
    h = 1e-5
    body = craft(
        modes,
        **{"parameters.initial.angular_velocity": [0.1, 0.2, -0.1], "parameters.initial.velocity": [1.0, 2.0, 3.0]},
    )
    poses = []
    for k in range(3):
        port = body.m.port[0]
        poses.append((port.position.copy(), port.quaternion.copy(), port.velocity.copy(), port.angular_velocity.copy()))
        body.step(k * h, h)
    A = rotation(poses[1][1])
    assert A @ (poses[2][0] - poses[0][0]) / (2 * h) == pytest.approx(poses[1][2], abs=1e-5)
    w, v = poses[0][1][0], -poses[0][1][1:]
    change = w * poses[2][1][1:] + poses[2][1][0] * v + np.cross(v, poses[2][1][1:])
    # the rotation vector's rate theta' alone would be off by |theta| |theta'| / 2
    missing = 0.5 * body.m.flexible.rotation_max * np.linalg.norm(body.m.mount[0].rotation_rate)
    assert missing > 1e-4
    # h^2 / 6 of the third derivative, some 400^2 of the elastic rate
    assert 2 * change / (2 * h) == pytest.approx(poses[1][3], abs=1e-5)


def held(port, h):
    """The acceleration that the port gave, as a mechanism holds it in I (conventions 3.3), in axes of mid-step."""
    return turned_axes(port.angular_velocity * h / 2) @ port.acceleration


def turned_axes(phi):
    """Axes before -> axes after a turn by the rotation vector phi."""
    return rotation(turned(np.array([1.0, 0.0, 0.0, 0.0]), phi))


def coupled(mode, h, mass=200.0):
    """Position of the port after 2 s of thrust on a craft with a point mass at its port; the mass is the mechanism.

    The mechanism gives the inertial force for the acceleration that the port told it.
    """
    values = {"parameters.port[1].base_motion": mode, "parameters.initial.angular_velocity": [0.0, 0.02, 0.05]}
    body = craft(**values)
    if mode == AFFINE:
        body.m.port[0].affine_mass[:] = [mass, 0, 0, 0, 0, 0, mass, 0, 0, 0, 0, mass, *[0] * 9]
    for k in range(round(2.0 / h)):
        body.m.control.force[:] = [0.0, 2000.0 * sin(pi * k * h / 2 + pi * h / 4), 500.0]
        body.m.port[0].force[:] = -mass * held(body.m.port[0], h)
        body.step(k * h, h)
    return body.m.port[0].position.copy()


def composite(h, mass=200.0):
    """The same as one rigid body; the thrust acts where the hull's centre of mass was."""
    total = ATV["parameters.mass"] + mass
    center = np.array([5.0 * mass / total, 0.0, 0.0])
    hull, point = -center, np.array([5.0, 0, 0]) - center
    inertia = ATV["parameters.inertia"] + ATV["parameters.mass"] * (hull @ hull * np.eye(3) - np.outer(hull, hull))
    inertia = inertia + mass * (point @ point * np.eye(3) - np.outer(point, point))
    w = np.array([0.0, 0.02, 0.05])
    body = craft(
        **{
            "parameters.mass": total,
            "parameters.inertia": inertia,
            "parameters.center_of_mass": center,
            "parameters.initial.position": center,
            "parameters.initial.velocity": np.cross(w, center),
            "parameters.initial.angular_velocity": w,
        }
    )
    for k in range(round(2.0 / h)):
        force = np.array([0.0, 2000.0 * sin(pi * k * h / 2 + pi * h / 4), 500.0])
        body.m.control.force[:], body.m.control.torque[:] = force, np.cross(hull, force)
        body.step(k * h, h)
    return body.m.port[0].position.copy()


def test_base_motion_modes_against_the_composite_body():
    """dynamics 4.3: AFFINE is of second order in the step, LAGGED of first order and small, without any drift."""
    exact = composite(1e-3)
    travel = np.linalg.norm(exact - [5.0, 0.0, 0.0])
    affine = [np.linalg.norm(coupled(AFFINE, h) - exact) / travel for h in (0.02, 0.01)]
    lagged = [np.linalg.norm(coupled(LAGGED, h) - exact) / travel for h in (0.02, 0.01)]
    assert affine[0] < 1e-5
    assert affine[1] < affine[0] / 3
    assert lagged[1] < 2e-4
    assert lagged[1] == pytest.approx(lagged[0] / 2, rel=0.1)


def momentum_drift(mode, h, modes=None, mass=43.0):
    """Largest (during, after) error of the momentum of craft and mechanism over the impulse of a pulse of 0.2 s.

    The contact force acts on the mechanism, a point mass at the port, which passes it on.
    """
    spin = {"parameters.initial.angular_velocity": [0.01, 0.02, -0.02]}
    body = craft(modes, **spin, **{"parameters.port[1].base_motion": mode})
    port = body.m.port[0]
    if mode == AFFINE:
        port.affine_mass[:] = [mass, 0, 0, 0, 0, 0, mass, 0, 0, 0, 0, mass, *[0] * 9]

    def momentum():
        return body.m.audit.momentum + mass * rotation(port.quaternion).T @ port.velocity

    start, impulse = momentum(), np.zeros(3)
    during = after = 0.0
    for k in range(round(0.4 / h)):
        t = (k + 0.5) * h
        force = np.array([-3000.0, 500.0, 200.0]) * (sin(pi * t / 0.2) if t < 0.2 else 0.0)
        middle = turned(port.quaternion, port.angular_velocity * h / 2)
        port.force[:] = force - mass * held(port, h)
        impulse += h * rotation(middle).T @ force
        body.step(k * h, h)
        error = np.linalg.norm(momentum() - start - impulse)
        during = max(during, error)
        after = error
    return during / np.linalg.norm(impulse), after / np.linalg.norm(impulse)


def test_momentum_of_craft_and_mechanism():
    """LAGGED owes the mechanism's mass times the last change of velocity until that ends; AFFINE pays at once."""
    lagged, rest = momentum_drift(LAGGED, 1e-3)
    halved, _ = momentum_drift(LAGGED, 5e-4)
    assert 1e-6 < lagged < 1e-4
    assert halved == pytest.approx(lagged / 2, rel=0.1)
    assert rest < lagged / 50
    assert momentum_drift(AFFINE, 1e-3)[0] < lagged / 500
    soft = random_modes(size=3e-3)
    lagged, _ = momentum_drift(LAGGED, 1e-3, soft)
    assert lagged < 1e-4
    assert momentum_drift(AFFINE, 1e-3, soft)[0] < lagged / 500


def test_affine_solution_with_modes_equals_iteration():
    """f = W - M_A a with the acceleration that the step then has, elastic port included."""
    modes = random_modes(size=5e-3)
    values = {"parameters.initial.angular_velocity": [0.02, 0.03, -0.01]}
    affine_mass = np.diag([30.0, 40.0, 50.0, 3.0, 4.0, 5.0])
    affine_mass[0, 4] = affine_mass[4, 0] = 6.0
    W = np.array([100.0, -200.0, 50.0, 10.0, 20.0, -30.0])
    direct = craft(modes, **values, **{"parameters.port[1].base_motion": AFFINE})
    direct.m.port[0].affine_mass[:] = affine_mass[np.triu_indices(6)]
    direct.m.port[0].force[:], direct.m.port[0].torque[:] = W[:3], W[3:]
    direct.step(0.0, 1e-3)
    told = craft(modes, **values).m.port[0]
    given = np.concatenate([told.acceleration, told.angular_acceleration])
    wrench = W.copy()
    for _ in range(30):
        trial = craft(modes, **values)
        trial.m.port[0].force[:], trial.m.port[0].torque[:] = wrench[:3], wrench[3:]
        trial.step(0.0, 1e-3)
        a = np.concatenate([trial.m.port[0].acceleration, trial.m.port[0].angular_acceleration])
        wrench = W - affine_mass @ (a - given)
    # the bias knows the velocity terms to the order of the step
    assert direct.m.mount[0].wrench[:] == pytest.approx(wrench, abs=2e-5 * np.abs(W).max())


def test_source_base_motion_has_the_velocity_terms_only():
    w = np.array([0.1, 0.2, -0.3])
    body = craft(**{"parameters.initial.angular_velocity": w, "parameters.port[1].base_motion": SOURCE})
    body.m.port[0].force[:] = [1e4, 0.0, 0.0]
    body.step(0.0, 1e-3)
    w = np.array(body.m.body.angular_velocity)
    assert body.m.port[0].acceleration == pytest.approx(np.cross(w, np.cross(w, [5.0, 0, 0])), abs=1e-15)
    assert body.m.port[0].angular_acceleration == pytest.approx(np.zeros(3), abs=1e-15)


def test_lagged_acceleration_adds_up_to_the_velocity():
    """Integrate the held accelerations as a mechanism does: the port's velocity of one step before."""
    body = craft(random_modes(), **{"parameters.initial.angular_velocity": [0.01, 0.02, 0.03]})
    start = rotation(body.m.port[0].quaternion).T @ body.m.port[0].velocity
    total = np.zeros(3)
    for k in range(300):
        body.m.port[0].force[:] = [500 * sin(0.2 * k), 300.0, -100.0]
        body.step(k * 1e-3, 1e-3)
        total += 1e-3 * rotation(body.m.port[0].quaternion).T @ body.m.port[0].acceleration
    assert total == pytest.approx(rotation(body.m.port[0].quaternion).T @ body.m.port[0].velocity - start, abs=1e-13)


def test_thrusters_push_turn_and_excite():
    modes = random_modes()
    values = {"parameters.thruster[1].position": [0.0, 2.0, 0.0], "parameters.thruster[1].direction": [0.0, 0.0, 1.0]}
    body = craft(modes, **values)
    body.m.thruster[0].thrust = 100.0
    h = 1e-3
    body.step(0.0, h)
    assert body.m.audit.momentum == pytest.approx([0.0, 0.0, 0.1], abs=1e-15)
    assert body.m.audit.angular_momentum == pytest.approx([0.2, 0.0, 0.0], abs=1e-15)
    assert body.m.elastic.rate == pytest.approx(100.0 * h * modes.thruster[0, 2], rel=3e-3)
    a = body.m.audit
    assert a.kinetic_energy + a.stored_energy + a.dissipated_energy == pytest.approx(a.work_control, rel=1e-9)


def test_spec00_ruling_43_control_wrench_excites_the_modes_as_the_nozzle_does():
    """A control wrench equal to the thrust of nozzle 1, and a push along its line: modes and motion are the same."""
    modes = random_modes()
    modes = replace(modes, control=np.concatenate([modes.thruster[0], modes.control[3:]]))
    place = {"parameters.thruster[1].position": [-4.0, 1.5, -0.7], "parameters.center_of_mass": [0.3, -0.2, 0.1]}
    tilted = {**place, "parameters.thruster[1].direction": np.array([2.0, -1.0, 2.0]) / 3.0}
    axial = {"parameters.thruster[1].position": [-4.0, 0.0, 0.0], "parameters.push_thrust": 900.0}
    for values, push in ((tilted, 0), (axial, 1)):
        by_nozzle, by_control = craft(modes, **values), craft(modes, **values)
        by_nozzle.m.thruster[0].thrust = 900.0
        by_control.m.command.push = push
        if not push:
            force = 900.0 * np.array([2.0, -1.0, 2.0]) / 3.0
            by_control.m.control.force[:] = force
            by_control.m.control.torque[:] = np.cross(np.array([-4.3, 1.7, -0.8]), force)
        for k in range(50):
            by_nozzle.step(0.01 * k, 0.01)
            by_control.step(0.01 * k, 0.01)
        one, two = by_nozzle.m, by_control.m
        assert np.abs(one.elastic.coordinate).max() > 1e-3
        size = np.abs(one.elastic.coordinate).max()
        assert two.elastic.coordinate == pytest.approx(one.elastic.coordinate, abs=1e-13 * size)
        assert two.port[0].position == pytest.approx(one.port[0].position, abs=1e-13)
        assert two.audit.work_control == pytest.approx(one.audit.work_control, rel=1e-12)


def test_spec00_ruling_43_torque_excites_by_the_rotation_of_the_nozzle():
    """And the energy that control, push and attitude hold give is counted: the balance of the craft closes."""
    modes = random_modes()
    body = craft(modes)
    body.m.control.torque[:] = [0.0, 300.0, -200.0]
    h = 1e-4
    body.step(0.0, h)
    expected = h * (300.0 * modes.control[4] - 200.0 * modes.control[5])
    # the rate of a mode after h from rest is f sin(w h) / w: less than h f by (w h)^2 / 6 and by damping c h / 2
    assert body.m.elastic.rate == pytest.approx(expected, rel=1e-3)
    body = craft(modes, **{"parameters.initial.angular_velocity": [0.001, 0.002, -0.001]})
    start = body.m.audit.kinetic_energy
    for k in range(200):
        body.m.command.push = 1 if k < 100 else -1
        body.m.command.attitude_hold = k > 20
        body.m.control.force[:] = [3.0, 10.0 * (k % 5), -4.0]
        body.step(0.01 * k, 0.01)
    a = body.m.audit
    assert a.stored_energy > 0.0
    total = a.kinetic_energy + a.stored_energy + a.dissipated_energy
    # the turn of a step is integrated by the trapezoidal rule
    assert total - start == pytest.approx(a.work_control, rel=1e-6)


def test_push_and_retreat_accelerate_along_x():
    body = craft(**{"parameters.push_thrust": 900.0, "parameters.initial.quaternion": [sqrt(0.5), 0, 0, sqrt(0.5)]})
    body.m.command.push = 1
    body.step(0.0, 1.0)
    assert body.m.audit.momentum == pytest.approx([0.0, 900.0, 0.0], abs=1e-9)
    body.m.command.push = -1
    body.step(1.0, 2.0)
    assert body.m.audit.momentum == pytest.approx([0.0, -900.0, 0.0], abs=1e-9)


def test_attitude_hold_returns_to_the_attitude_where_it_was_switched_on():
    """PD of 0.05 rad/s and damping 0.7: after 250 s the rates are gone, and the angle e^-8.75 of its peak."""
    body = craft(**{"parameters.initial.angular_velocity": [0.001, -0.002, 0.003]})
    for k in range(10):
        body.step(k, 1.0)
    before = body.m.body.quaternion.copy()
    body.m.command.attitude_hold = 1
    peak = 0.0
    for k in range(2500):
        body.step(10 + 0.1 * k, 0.1)
        peak = max(peak, np.linalg.norm(body.m.body.quaternion - before))
    assert peak > 5e-3
    assert np.linalg.norm(body.m.body.angular_velocity) < 1e-5
    assert np.linalg.norm(body.m.body.quaternion - before) < 2e-3 * peak


def test_fixed_craft_stands_still_and_keeps_what_it_received():
    body = craft(random_modes(), **{"parameters.fixed": 1, "parameters.initial.angular_velocity": [1.0, 0, 0]})
    body.m.port[0].force[:] = [10.0, 20.0, 0.0]
    for k in range(100):
        body.step(k * 0.01, 0.01)
    assert np.array_equal(body.m.body.position, np.zeros(3))
    assert np.array_equal(body.m.body.angular_velocity, np.zeros(3))
    assert np.linalg.norm(body.m.port[0].velocity) > 0.0  # it is elastic
    # the wrench turns with the elastic port, by some 1e-6 rad
    assert body.m.audit.momentum == pytest.approx([10.0, 20.0, 0.0], abs=20 * 1e-5)
    assert body.m.audit.angular_momentum == pytest.approx([0.0, 0.0, 100.0], abs=100 * 1e-5)


def test_modes_used_zero_is_rigid():
    modes = random_modes()
    rigid, none = craft(), craft(modes, **{"parameters.modes_used": 0})
    for body in (rigid, none):
        body.m.port[0].force[:] = [100.0, 20.0, 30.0]
        for k in range(20):
            body.step(k * 0.01, 0.01)
    assert np.array_equal(rigid.m.port[0].position, none.m.port[0].position)
    assert np.array_equal(rigid.m.port[0].acceleration, none.m.port[0].acceleration)


def test_spec11_oracle_O11_response_to_a_unit_step():
    c1, c2, c3, c5 = elastic.coefficients(31.0, 0.03, 5e-4)
    assert (c1, c2, c5) == pytest.approx((0.9998798833, 4.9994297961e-4, 0.9997318878), rel=1e-10)
    assert c3 == pytest.approx(1.2499133061e-7, rel=1e-9)
    body = craft(one_mode(31.0 / (2 * pi), 0.03))
    body.m.port[0].force[0] = 2.0
    for k in range(20_000):
        body.step(k * 5e-4, 5e-4)
    a = 0.5 * elastic.damping(31.0, 0.03)
    b = sqrt(31.0**2 - a * a)
    exact = 2.0 / 31.0**2 * (1 - exp(-a * 10) * (cos(b * 10) + a / b * sin(b * 10)))
    # 2e4 roundings of relative size 1e-16 on a slowly damped oscillation
    assert body.m.elastic.coordinate[0] == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"parameters.inertia": np.diag([1.0, -1.0, 1.0])}, "not a positive definite"),
        ({"parameters.port[1].base_motion": AFFINE, "parameters.port[2].base_motion": AFFINE}, "only one port"),
    ],
)
def test_bad_parameters_are_named(values, message):
    with pytest.raises(ComponentError, match=message):
        craft(**values)


def tensor_of(moments, angles=(0.4, -0.7, 0.2)):
    """The inertia tensor with these principal moments, in axes turned from the principal ones."""
    A = np.array(from_angles(*angles))
    tensor = A @ np.diag(moments) @ A.T
    return 0.5 * (tensor + tensor.T)


@pytest.mark.parametrize(
    "moments",
    [(1.0, 2.0, 3.0), (1e-9, 5.0, 5.0), (7.0, 7.0, 14.0), (2.0, 2.0, 2.0), (3.0, 1e4, 1e4 + 2.999)],
    ids=["plate", "thin rod", "disc", "sphere", "almost a plate"],
)
@pytest.mark.parametrize("along_axes", [True, False])
def test_inertia_tensors_of_bodies_are_accepted(moments, along_axes):
    """A plane plate is on the limit of the triangle inequality, a thin rod has one moment near zero."""
    body = craft(**{"parameters.inertia": np.diag(moments) if along_axes else tensor_of(moments)})
    assert sorted(body.m.rigid.principal_moments) == pytest.approx(moments, rel=1e-12, abs=1e-15 * max(moments))


@pytest.mark.parametrize("along_axes", [True, False])
def test_inertia_tensor_that_no_body_has_is_refused(along_axes):
    """A positive definite tensor whose largest principal moment is more than the sum of the others."""
    moments = (1.0, 2.0, 3.0001)
    message = r"parameters.inertia is physically impossible: of its .* moments .*3\.0001.* one is 0\.0001 kg.m2 more"
    with pytest.raises(ComponentError, match=message):
        craft(**{"parameters.inertia": np.diag(moments) if along_axes else tensor_of(moments)})


def test_inertia_about_the_origin_must_be_that_of_a_body_about_its_centre_of_mass():
    """Take off first what the mass has by its offset: the rest of this tensor breaks the triangle inequality."""
    values = {
        "parameters.mass": 10.0,
        "parameters.center_of_mass": [0.0, 0.0, 1.0],
        "parameters.inertia_about_origin": 1.0,
    }
    craft(**values, **{"parameters.inertia": np.diag([11.0, 11.0, 2.0])})
    with pytest.raises(ComponentError, match="is physically impossible"):
        craft(**values, **{"parameters.inertia": np.diag([11.0, 11.0, 2.1])})


def test_failures_in_a_step_are_named():
    body = craft(**{"parameters.initial.angular_velocity": [10.0, 0.0, 0.0]})
    with pytest.raises(ComponentError, match=r"rotates 1 rad in one step"):
        body.step(0.0, 0.1)
    body = craft()
    body.m.port[1].torque[2] = float("nan")
    with pytest.raises(ComponentError, match="not finite"):
        body.step(0.0, 1e-3)
    body = craft(random_modes(), **{"parameters.rotation_limit": 1e-9})
    body.m.port[0].force[0] = 1e3
    with pytest.raises(ComponentError, match=r"of port [12] exceeds parameters.rotation_limit = 1e-09 rad"):
        body.step(0.0, 1e-3)


def test_parameter_sets_fit_and_subtract_the_mechanism():
    component = spacecraft.component()
    masses = {}
    for chosen in component.parameter_sets:
        chosen.check(component.record)
        Instance(component, chosen).step(0.0, 1e-3)
        if "parameters.mass" in chosen.values:
            masses[chosen.name] = chosen.values["parameters.mass"]
    assert masses == {
        "ATV-20t": 19957,
        "ATV-20t-V2": 19957,
        "ATV-20t-V3": 19953,
        "Soyuz-7t": 6957,
        "Soyuz-7t-V2": 6957,
        "Soyuz-7t-V3": 6953,
        "Expert-5t": 4906,
        "Impact-25t": 24906,
        "Station-400t": 4e5,
        "Station-frame-400t": 4e5,
        "Station-350t": 3.5e5,
        "Visitor-20t": 19906,
    }


@pytest.mark.parametrize(("mass", "speed", "energy"), [(20e3, 0.15, 214.3), (25e3, 0.1, 117.65)])
def test_spec04_oracle_s14_energy_to_absorb(mass, speed, energy):
    """Energy of the relative motion against 400 t, from the audits of the two crafts; of 25 t at most 125 J."""
    chaser = craft(**{"parameters.mass": mass, "parameters.initial.velocity": [speed, 0.0, 0.0]})
    target = craft(None, STATION)
    momentum = chaser.m.audit.momentum[0] + target.m.audit.momentum[0]
    common = momentum**2 / (2 * (mass + 4e5))
    assert chaser.m.audit.kinetic_energy + target.m.audit.kinetic_energy - common == pytest.approx(energy, abs=0.05)


def test_initialize_resets_everything():
    """A second initialisation after a run leaves the same memory as the first."""
    body = craft(random_modes(), **{"parameters.initial.angular_velocity": [0.1, 0.0, 0.2]})
    fresh = body.block.copy()
    body.m.port[0].force[0] = 100.0
    for k in range(5):
        body.step(k * 0.01, 0.01)
    body.m.port[0].force[0] = 0.0
    body.initialize()
    record = body.component.record
    public = [slot.index for slot in record.variables]
    assert np.array_equal(body.block[public], fresh[public])
    body.step(0.0, 0.01)
    other = craft(random_modes(), **{"parameters.initial.angular_velocity": [0.1, 0.0, 0.2]})
    other.step(0.0, 0.01)
    assert np.array_equal(body.block[public], other.block[public])


@pytest.mark.slow
def test_interpreter_and_compiled_code_agree_bit_by_bit():
    root = Path(__file__).resolve().parents[3]
    digests = {
        subprocess.run(
            [sys.executable, Path(__file__).with_name("crafts.py")],
            env={**os.environ, "NUMBA_DISABLE_JIT": flag, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flag in "01"
    }
    assert len(digests) == 1
