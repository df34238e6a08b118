"""ContactAirlock: hinge, frames, exchange over a step, energy, capture, bad input (berthing 4.3)."""

from __future__ import annotations

from math import cos, pi, radians, sin

import numpy as np
import pytest

from dockfmu.components.contact_airlock import component as contact_component
from dockfmu.components.contact_airlock.kernel import step as step_contact
from dockfmu.components.contact_airlock.swing import place_head, step_axis
from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import from_quaternion
from tests.components.ball import carry, kinetic_energy

MASS, INERTIA = 1050.0, 400.0
# distance of the planes at which the latches are free of the strike
CAPTURE = 0.228 - (0.045 + 0.007 / np.tan(radians(75.0)) - 0.059)
LAWS = ("law_head", "law_latch")
QUIET = {f"airlock_pair.parameters.{law}.{name}": 0.0 for law in LAWS for name in ("damping", "friction")}
QUIET["parameters.hinge.damping"] = 0.0


def airlock(**values) -> Instance:
    """A contact whose active unit stands in the origin; the passive one is carried by the airlock."""
    return Instance(contact_component(), **{"base.position": 0.0, **values})


def test_spec08_oracle_O21_hinge_step():
    c = airlock(**{"parameters.hinge.gap": radians(0.5)})
    angle, rate = step_axis(c.m.parameters.hinge, radians(0.6), 0.1, 5.0, 1e-4)
    assert rate == pytest.approx(0.03602247, abs=1e-7)
    assert angle == pytest.approx(0.010475578, abs=1e-7)


def test_hinge_is_free_within_its_gap():
    c = airlock()
    angle, rate = step_axis(c.m.parameters.hinge, 0.004, 0.1, 0.0, 1e-3)
    assert (angle, rate) == (0.004 + 1e-4, 0.1)


def test_spec08_oracle_O22_frames():
    """Aligned units: the head points into the cone, hinge at 0.228 m - d; with the swing as printed, to first order."""
    s, k = sin(radians(22.5)), cos(radians(22.5))
    for d in (0.0, 0.1, 0.31):
        # the passive unit d before the active one: r_PA = (d, 0, 0)
        c = airlock(**{"target.position": (-d - 0.5, 0.0, 0.0)})
        assert c.m.motion.hinge.position == pytest.approx([0.228 - d - 0.5, 0.0, 0.0], abs=1e-12)
        assert c.m.airlock_pair.work.link[0].rotation[0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
        A = np.array(c.m.airlock_pair.work.link[0].rotation)
        assert np.allclose(A @ A.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(A) == pytest.approx(1.0, abs=1e-12)
    psi, theta = 1e-5, -2e-5
    c.m.swing.angle[:] = psi, theta
    place_head(c.m)
    # P -> H from the printed H -> AU, PMU -> P and aligned units
    to_AU = np.array([[-1, -theta * s + psi * k, -theta * k - psi * s], [-theta, s, k], [psi, k, -s]])
    to_P = np.array([[-1, 0, 0], [0, 0, 1], [0, 1, 0]])
    assert np.array(c.m.airlock_pair.work.link[0].rotation) == pytest.approx((to_P @ to_AU).T, abs=1e-9)
    assert np.linalg.det(to_P) == pytest.approx(1.0)


@kernel
def run(c, h, steps):
    """Let a ball of MASS and INERTIA carry the passive unit."""
    for k in range(steps):
        code = step_contact(c, k * h, h)
        if code:
            return code
        carry(c.target, MASS, INERTIA, 0.0, h)
    return 0


def energy(c) -> float:
    audit = c.m.audit
    return kinetic_energy(c.m.target, MASS, INERTIA) + float(
        audit.kinetic_energy + audit.stored_energy + audit.dissipated_energy
    )


# 6 mm and 4 mm aside, the nose 3 mm before the cone, tilted by a degree
APPROACH = {
    "target.position": (-0.275, 0.006, -0.004),
    "target.velocity": (0.05, 0.0, 0.0),
    "target.quaternion": (1.0, 0.002, 0.005, -0.004),
}


def test_a_swinging_head_is_captured():
    """At 50 mm/s a free airlock centres, pushes its latches and is held; then it does not come back."""
    c = airlock(**APPROACH)
    captured = []
    for k in range(60):
        assert run(c.m, 1e-3, 100) == 0
        if c.m.sensor.capture:
            captured.append(k)
    assert captured
    assert captured == list(range(captured[0], 60))
    assert [latch.fired for latch in c.m.latch] == [1.0] * 4
    assert -CAPTURE - 0.003 < c.m.target.position[0] < -CAPTURE + 0.006


STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)


@pytest.mark.parametrize("lossy", [False, True])
def test_energy_closes(lossy):
    """Approach, sliding on the cone and capture: what does not close falls with the step, in first order.

    Without friction and damping the head bounces, and each step gives it another path: there, no order shows.
    """
    found = []
    for h in STEPS:
        c = airlock(**APPROACH, **({} if lossy else QUIET), **{"parameters.micro_step": h / 10})
        before = energy(c)
        assert run(c.m, h, round(3.0 / h)) == 0
        found.append(abs(energy(c) - before) / before)
        assert c.m.sensor.capture == 1.0
        # the work of the latches and of losses is a third of what the approach has, and more
        assert c.m.audit.dissipated_energy > 0.3 * before
    assert max(found) < (0.01 if lossy else 2e-3), found
    assert not lossy or np.polyfit(np.log(STEPS), np.log(found), 1)[0] > 0.8, found


def test_momentum_of_base_and_target_is_that_of_the_head():
    """Forces are opposite at every step; torques about one point differ by what turns the head."""
    c = airlock(**APPROACH)
    H = 0.02
    turned = 0.0
    largest = 0.0
    for _ in range(4000):
        before = np.array(c.m.swing.rate)
        assert run(c.m, 1e-3, 1) == 0
        m = c.m
        on_target, on_base = np.array(m.target.force), np.array(m.base.force)
        A = np.array(from_quaternion(tuple(m.target.quaternion)))
        largest = max(largest, np.linalg.norm(on_base))
        # axes of PMU turn by less than this in a step
        assert np.allclose(A.T @ on_target, -on_base, atol=1e-4 * largest + 1e-9)
        moment = np.array(m.base.torque) + A.T @ np.array(m.target.torque)
        moment += np.cross(np.array(m.target.position), A.T @ on_target)
        change = H * (np.array(m.swing.rate) - before) / 1e-3
        # the hinge's axes stand in y, z of AU, turned by the swing
        assert np.allclose(moment[1:], -change, atol=0.02 * np.abs(change).max() + 2e-3 * largest + 1e-9)
        turned = max(turned, float(np.abs(change).max()))
    assert largest > 20.0
    assert turned > 0.1


def test_wrench_of_the_middle_of_the_step():
    """Four latches pressed at 45 deg and moving: the mean wrench is that of the middle, `now` that of the end."""
    h, v = 1e-2, 0.02
    d = 0.25
    c = airlock(**QUIET, **{"target.position": (-d, 0.0, 0.0), "target.velocity": (v, 0.0, 0.0)})
    force = [float(c.m.target.force_now[0])]
    c.step(0.0, h)
    force += [float(c.m.target.force[0]), float(c.m.target.force_now[0])]
    assert force[1] - force[0] == pytest.approx(-4 * 400.0 * v * h / 2, rel=1e-6)
    assert force[2] - force[0] == pytest.approx(-4 * 400.0 * v * h, rel=1e-6)


def test_friction_on_the_head_stays_below_its_limit():
    """A head pressed on the cone and dragged along it, however long the micro-step (ruling R39)."""
    for micro in (1e-5, 1e-4, 1e-3):
        c = airlock(
            **{
                "parameters.micro_step": micro,
                "target.position": (-0.2688, 0.006, 0.0),
                "target.velocity": (0.0, 0.01, 0.02),
            }
        )
        touched = False
        for k in range(20):
            c.step(k * 1e-3, 1e-3)
            c.m.target.position += 1e-3 * c.m.target.velocity * np.array([0.0, 0.1, 1.0])
            for item in c.m.contact:
                if item.active:
                    touched = True
                    assert item.friction_force <= 0.1 * item.normal_force + 1e-12
        assert touched


def test_head_falls_back_between_its_stops():
    """A head thrown against its stops loses its motion there, and stays within its largest angle."""
    c = airlock()
    c.m.swing.rate[0] = 1.0
    before = 0.5 * 0.02
    for k in range(2000):
        c.step(k * 1e-3, 1e-3)
    assert abs(c.m.head.angle[0]) < radians(1.0)
    audit = c.m.audit
    assert audit.kinetic_energy < 0.2 * before
    assert audit.kinetic_energy + audit.stored_energy + audit.dissipated_stops == pytest.approx(before, rel=1e-9)


def test_what_comes_in_is_checked():
    c = airlock()
    c.m.base.velocity[1] = np.inf
    with pytest.raises(ComponentError, match=r"port 1 .* is not finite"):
        c.step(0.0, 1e-3)
    with pytest.raises(ComponentError, match=r"quaternion of port 2 .* has norm 0"):
        airlock(**{"target.quaternion": (0.0, 0.0, 0.0, 0.0)})
    with pytest.raises(ComponentError, match=r"penetration .* of sphere 1 of the head on the receiving cone exceeds"):
        airlock(**{"target.position": (-0.30, 0.05, 0.0)})
    with pytest.raises(ComponentError, match=r"rad off that of the cone"):
        airlock(**{"target.position": (-0.3, 0.0, 0.0), "target.quaternion": (cos(pi / 8), 0.0, sin(pi / 8), 0.0)})
    with pytest.raises(ComponentError, match=r"check 1 of the head and its cone .* mouth_radius"):
        airlock(**{"airlock_pair.parameters.cone.mouth_radius": 0.01})


def test_state_is_saved_whole():
    """A copy of the record in the middle of a capture goes on alike, bit by bit."""
    c = airlock(**APPROACH)
    assert run(c.m, 1e-3, 1200) == 0
    kept = c.block.copy()
    assert run(c.m, 1e-3, 300) == 0
    first = c.block.copy()
    c.block[:] = kept
    assert run(c.m, 1e-3, 300) == 0
    assert np.array_equal(first, c.block)
