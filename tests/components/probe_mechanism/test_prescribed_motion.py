"""The assembled mechanism between ports whose motion is prescribed: power, convergence, extrapolation, pushers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.physics.contact.probe_cone import latches
from dockfmu.components.physics.mechanics.rotation import (
    advance,
    apply_transposed,
    from_angles,
    from_quaternion,
    quaternion,
)
from dockfmu.components.probe_mechanism import component
from dockfmu.components.probe_mechanism.alignment.ports import SIMPLIFICATIONS
from dockfmu.components.probe_mechanism.axial import axial_train
from tests.components.probe_mechanism.one_dimensional import ACTIVE, LOST, PASSIVE, RECORD, _run
from tests.components.probe_mechanism.rig import Docking, degrees

STEP = 4e-3
BOTTOM = (0.3770023 - 0.045 - 0.8, 0.0, 0.0)
"""Base when the extended, aligned probe touches the bottom of the socket."""


def pressed(stop=0.8, **parameters):
    """The base moves uniformly, turning, and drives the head into socket, slots and against the bottom.

    Uniform motion is extrapolated exactly, so nothing depends on the length of the steps. Rows: time, travel, mean
    base force (3) and torque (3), balance of energy, work done on the mechanism by both ports.
    """
    velocity, rate = np.array([0.1, 0.004, -0.003]), np.array([0.01, 0.03, -0.02])
    start = np.array(BOTTOM) + np.array([-0.02, 1e-3, -5e-4])
    steps = {f"parameters.{name}": value for name, value in parameters.items()}
    mechanism = Instance(component(), **{"target.position": (0.0, 0.0, 0.0), "base.position": tuple(start)}, **steps)
    base, audit = mechanism.m.base, mechanism.m.audit
    rows = []
    for k in range(round(stop / STEP)):
        t = k * STEP
        q = advance((1.0, 0.0, 0.0, 0.0), tuple(rate * t))
        base.position[:], base.quaternion[:] = start + velocity * t, q
        base.velocity[:], base.angular_velocity[:] = np.array(from_quaternion(q)) @ velocity, rate
        mechanism.step(t, STEP)
        ports = audit.work_base + audit.work_target
        kept = audit.kinetic_energy + audit.stored_energy + audit.dissipated_energy
        given = ports + audit.work_drive + audit.work_stiffness + audit.work_levers + audit.work_tip
        rows.append([t + STEP, mechanism.m.axial.travel, *base.force, *base.torque, kept - given, ports])
    assert mechanism.m.sensor.capture == 1.0
    return np.array(rows)


@pytest.fixture(scope="module")
def presses():
    """With micro-steps of one length."""
    return [pressed(micro_step=h, micro_tolerance=0.0) for h in (2e-4, 1e-4, 5e-5, 1.25e-5)]


@pytest.fixture(scope="module")
def paced():
    """With micro-steps by tolerance, the first as it is by default."""
    return [pressed(), pressed(micro_tolerance=1e-7)]


def test_power_of_the_whole_mechanism_balances(presses):
    """Work of both ports and drive = kinetic + stored + dissipated, at every step.

    First order in the micro-step, as contacts and hysteresis segments switch within it; 6e-6 of the work at 0.1 ms.
    """
    worst = [np.abs(rows[:, 8] - rows[0, 8]).max() for rows in presses]
    work = presses[-1][-1, 9]
    assert work > 250.0
    assert worst[1] < 2e-5 * work
    for coarse, fine in pairwise(worst[:3]):
        assert 1.6 < coarse / fine < 2.6, worst


def test_spec00_ruling_42_balance_with_the_simplifications_of_the_source():
    """Count by its own works what slope of the tip and stiffness put in; it closes the balance as before."""
    rows = pressed(micro_step=1e-4, micro_tolerance=0.0, simplifications=SIMPLIFICATIONS.codes["SOURCE"])
    assert np.abs(rows[:, 8] - rows[0, 8]).max() < 2e-5 * rows[-1, 9]


def impulse_on_base(rows):
    return STEP * rows[:, 2:5].sum(axis=0)


def test_loads_have_converged_at_the_default_micro_step(presses):
    """Impulse on the base to 2e-5, travel after 0.8 s to 1 um."""
    impulses = [impulse_on_base(rows) for rows in presses]
    errors = [np.linalg.norm(impulse - impulses[-1]) for impulse in impulses[:-1]]
    assert np.linalg.norm(impulses[-1]) > 2e3
    assert errors[1] < 2e-5 * np.linalg.norm(impulses[-1]), errors
    assert errors[2] < 0.75 * errors[0], errors
    assert presses[1][-1, 1] == pytest.approx(presses[-1][-1, 1], abs=1e-6)


def test_micro_steps_by_tolerance_are_as_good_as_short_ones(presses, paced):
    """By default up to 2 ms long: balance and travel as with 0.1 ms throughout. The impulse differs by 1.3e-5 where the
    spring meets its stop in a long one, and by as little as with 0.1 ms under a fifth of the tolerance."""
    finest = presses[-1]
    work = finest[-1, 9]
    assert max(np.abs(rows[:, 8] - rows[0, 8]).max() for rows in paced) < 2e-5 * work
    total = impulse_on_base(finest)
    default, strict = (np.linalg.norm(impulse_on_base(rows) - total) / np.linalg.norm(total) for rows in paced)
    assert default < 2e-5
    assert strict < 0.5 * default
    assert paced[0][-1, 1] == pytest.approx(finest[-1, 1], abs=1e-6)


def accelerated(port, h, stop=0.12):
    """The head pressed onto the bottom by a craft that accelerates uniformly: travel and angles at the end.

    `port` is base or target.
    """
    sign = 1.0 if port == "base" else -1.0
    acceleration, speed = sign * np.array([1.5, 0.4, -0.3]), sign * np.array([0.05, 0.0, 0.0])
    steps = {"parameters.micro_tolerance": 0.0}
    mechanism = Instance(component(), **{"target.position": (0.0, 0.0, 0.0), "base.position": BOTTOM}, **steps)
    moving = getattr(mechanism.m, port)
    start = moving.position.copy()
    for k in range(round(stop / h)):
        t = k * h
        moving.position[:] = start + speed * t + 0.5 * acceleration * t * t
        moving.velocity[:] = speed + acceleration * t
        moving.acceleration[:] = acceleration
        mechanism.step(t, h)
    return np.array([mechanism.m.axial.travel, *mechanism.m.joint.angle])


@pytest.mark.parametrize("port", ["base", "target"])
def test_uniform_acceleration_of_a_craft_is_extrapolated_exactly(port):
    """Steps of 1 and 4 ms, same micro-steps: equal to rounding, amplified by contact; linear extrapolation: 1e-5."""
    fine, coarse = accelerated(port, 1e-3), accelerated(port, 4e-3)
    assert fine[0] > 0.01
    np.testing.assert_allclose(coarse, fine, atol=1e-9)


def test_spec06_section_5_11_pushers_act_on_both_units():
    """Probe retracted, head free in the socket, planes tilted and 20 mm apart: only the pushers act.

    Their forces and torques about the origin of I balance, as mean wrenches and as the values of the moment; the gap
    is that of the centre of the active docking plane.
    """
    A = from_angles(0.004, -0.003, 0.02)
    plane = np.array(apply_transposed(A, (0.133, 0.0, 0.0)))
    position = np.array([-0.020, 3e-4, -2e-4]) - plane
    mechanism = Instance(
        component(),
        **{
            "target.position": (0.0, 0.0, 0.0),
            "base.position": tuple(position),
            "base.quaternion": quaternion(A),
            "parameters.initial_travel": 0.36,
            "command.latches_armed": 0.0,
            "probe_cone.parameters.sensor.count": 0,
        },
    )
    m = mechanism.m
    assert m.docking.plane_gap == pytest.approx(0.020, abs=1e-12)
    mechanism.step(0.0, 1e-3)
    assert m.target.force[0] == pytest.approx(4 * (100.0 + 1e4 * 0.005), rel=1e-3)
    for force, torque, on_target, turn_target in (
        (m.base.force, m.base.torque, m.target.force, m.target.torque),
        (m.base.force_now, m.base.torque_now, m.target.force_now, m.target.torque_now),
    ):
        back = np.array(apply_transposed(A, tuple(force)))
        np.testing.assert_allclose(back, -on_target, atol=1e-8)
        twist = np.array(apply_transposed(A, tuple(torque))) + np.cross(position, back)
        np.testing.assert_allclose(twist, -turn_target, atol=1e-8)


def test_spec00_ruling_44_pushers_do_not_load_the_hatch_cover():
    """Probe retracted, head free in the socket, 20 mm between the planes: 600 N of pushers go past the cover."""
    mechanism = Instance(
        component(),
        **{
            "target.position": (0.0, 0.0, 0.0),
            "base.position": (-0.153, 0.0, 0.0),
            "parameters.cover.present": 1.0,
            "parameters.initial_travel": 0.36,
            "command.latches_armed": 0.0,
            "probe_cone.parameters.sensor.count": 0,
        },
    )
    m = mechanism.m
    for k in range(20):
        mechanism.step(k * 1e-3, 1e-3)
    assert m.base.force[0] == pytest.approx(-600.0, rel=1e-3)
    assert m.base.force_now[0] == pytest.approx(-600.0, rel=1e-3)
    assert abs(m.cover.travel) < 1e-9


def test_spec06_erratum_11_slope_of_the_tip_turns_in_the_axes_of_the_head():
    """Latches stand in the frame A_HS A_H (central-docking 5.6), not A_H A_HS: told apart by a head that has turned."""
    mechanism = Instance(component())
    unit = mechanism.m.probe_cone
    head = np.array(from_angles(0.3, -0.2, 0.4))
    unit.work.link[0].rotation[:] = head
    slope = (0.03, -0.02)
    unit.input.tip_slope[:] = slope
    latches.place_levers(unit)
    (cy, cz), (sy, sz) = np.cos(slope), np.sin(slope)
    tip = np.array([[cz, sz, 0], [-sz, cz, 0], [0, 0, 1]]) @ np.array([[cy, 0, -sy], [0, 1, 0], [sy, 0, cy]]) @ head
    for k, radial in enumerate(([0, 1, 0], [0, 0, 1], [0, -1, 0], [0, 0, -1])):
        np.testing.assert_allclose(unit.work.latch[k].xi, tip.T @ [1, 0, 0], atol=1e-15)
        np.testing.assert_allclose(unit.work.latch[k].eta, tip.T @ radial, atol=1e-15)


def test_spec06_erratum_6_screw_takes_35_joule_from_the_central_impact():
    """In the first 2 s of 20 t at 0.15 m/s; with the source's sign it would put in 19 J. Quoted to 1 J."""
    m = RECORD.memory()
    m.parameters.axial.hysteresis_loss = 0.0
    assert axial_train.initialize(m.parameters.axial, m.axial, 0.0) == 0
    _run(
        m.parameters.axial,
        m.axial,
        m.axial_load,
        0.15,
        1e-4,
        ACTIVE,
        PASSIVE,
        0.0,
        LOST.memory(),
        np.zeros((20_000, 12)),
    )
    assert m.axial.dissipated_screw == pytest.approx(35.0, abs=1.0)


def test_spec06_oracle_17_a_mirrored_start_mirrors_the_docking():
    """Mirrored in the plane y = z, which maps head, sensors, latches and both springs onto themselves.

    One of the two brakes has its crank on the other side, and the housing turns first about y, then about z: the
    mirror holds to the square of the housing's angles, 0.02 rad.
    """
    one = {"miss": (0.05, -0.03), "angles": degrees(1.0, -0.5, 1.5), "velocity": (0.07, 0.01, -0.004),
           "rate": degrees(0.05, 0.03, -0.05)}  # fmt: skip
    two = {"miss": (-0.03, 0.05), "angles": degrees(0.5, -1.0, -1.5), "velocity": (0.07, -0.004, 0.01),
           "rate": degrees(-0.05, 0.05, -0.03)}  # fmt: skip
    names = ["base.force[1]", "base.force[2]", "base.force[3]", "axial.travel"]
    first, second = (Docking(gap=0.18, **start).run(2.0, record=names) for start in (one, two))
    for name, mirrored in zip(names, (names[0], names[2], names[1], names[3]), strict=True):
        impulse = 1e-3 * np.cumsum(first[name]), 1e-3 * np.cumsum(second[mirrored])
        assert np.abs(first[name]).max() > 0.0
        assert impulse[1] == pytest.approx(impulse[0], abs=1e-3 * np.abs(impulse[0]).max()), name
