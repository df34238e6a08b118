"""ContactRing against a ring that moves by hand: order in the step, energy, the place of the evaluation, bad input."""

from __future__ import annotations

from math import hypot, sqrt

import numpy as np
import pytest

from dockfmu.base.compiler import jit
from dockfmu.components.contact_ring import component as contact_component
from dockfmu.components.contact_ring.kernel import step as step_contact
from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.physics.contact.evaluation import EVALUATION
from dockfmu.components.physics.mechanics.rotation import advance, from_quaternion, load_attitude, store_quaternion
from dockfmu.components.physics.mechanics.vector import axpy, load, scale, store

MASS, INERTIA = 40.0, 10.0
LAWS = ("petal", "side", "plane", "front", "rear", "sensor")
QUIET = {f"ring_pair.parameters.law_{law}.{name}": 0.0 for law in LAWS for name in ("damping", "friction")}
# no latches: their implicit steps lose energy
NO_LATCH = {"ring_pair.parameters.law_front.stiffness": 0.0}
STEPS = (4e-4, 2e-4, 1e-4, 5e-5)
# 0.2 mm in a petal beside its middle and in the opposite one, moving on along both
CLOSED = {"base.position": (-0.005, 0.0005, 0.0053), "base.velocity": (0.003, 0.002, 0.0)}


def ring(**values) -> Instance:
    """A contact whose passive unit stands in the origin, and whose frame 0 is the ring's."""
    return Instance(contact_component(), **{"target.position": 0.0, **values})


@jit
def run(c, h, steps):
    """Let a ball of MASS and INERTIA move under the wrench that is held over each step: drift - kick - drift."""
    for k in range(steps):
        code = step_contact(c, k * h, h)
        if code:
            return code
        base = c.base
        link = c.link[0]
        q = load_attitude(base.quaternion)
        A = from_quaternion(q)
        force = load(link.force)
        v = load(base.velocity)
        # velocity in I; axes turn under it
        w = load(base.angular_velocity)
        before = (
            A[0][0] * v[0] + A[1][0] * v[1] + A[2][0] * v[2],
            A[0][1] * v[0] + A[1][1] * v[1] + A[2][1] * v[2],
            A[0][2] * v[0] + A[1][2] * v[1] + A[2][2] * v[2],
        )
        half = advance(q, scale(0.5 * h, w))
        M = from_quaternion(half)
        kick = (
            M[0][0] * force[0] + M[1][0] * force[1] + M[2][0] * force[2],
            M[0][1] * force[0] + M[1][1] * force[1] + M[2][1] * force[2],
            M[0][2] * force[0] + M[1][2] * force[1] + M[2][2] * force[2],
        )
        after = axpy(h / MASS, kick, before)
        w_after = axpy(h / INERTIA, load(link.torque), w)
        store(axpy(0.5 * h, before, axpy(0.5 * h, after, load(base.position))), base.position)
        q = advance(half, scale(0.5 * h, w_after))
        store_quaternion(q, base.quaternion)
        A = from_quaternion(q)
        for i in range(3):
            base.velocity[i] = A[i][0] * after[0] + A[i][1] * after[1] + A[i][2] * after[2]
        store(w_after, base.angular_velocity)
    return 0


def state(c) -> np.ndarray:
    m = c.m
    return np.concatenate([m.base.position, m.base.quaternion, m.base.velocity, m.base.angular_velocity])


def energy(c) -> float:
    m = c.m
    kinetic = 0.5 * MASS * float(m.base.velocity @ m.base.velocity)
    kinetic += 0.5 * INERTIA * float(m.base.angular_velocity @ m.base.angular_velocity)
    return kinetic + float(m.audit.stored_energy + m.audit.dissipated_energy)


def order(errors) -> float:
    return float(np.polyfit(np.log(STEPS), np.log(errors), 1)[0])


def test_midpoint_is_of_second_order():
    """Closed all the while, without damping and friction."""
    exact = ring(**QUIET, **NO_LATCH, **CLOSED)
    assert run(exact.m, 3.125e-6, 384) == 0
    found = []
    for h in STEPS:
        c = ring(**QUIET, **NO_LATCH, **CLOSED)
        assert run(c.m, h, round(1.2e-3 / h)) == 0
        assert c.m.contact[0].active
        found.append(np.abs(state(c) - state(exact)).max())
    assert order(found) == pytest.approx(2.0, abs=0.15)


def test_damping_and_friction_are_of_first_order():
    exact = ring(**CLOSED, **NO_LATCH)
    assert run(exact.m, 3.125e-6, 384) == 0
    found = []
    for h in STEPS:
        c = ring(**CLOSED, **NO_LATCH)
        assert run(c.m, h, round(1.2e-3 / h)) == 0
        found.append(np.abs(state(c) - state(exact)).max())
    assert order(found) == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize("lossy", [False, True])
def test_energy_closes(lossy):
    """An impact of 26 mJ on a petal and off again."""
    laws = NO_LATCH if lossy else {**NO_LATCH, **QUIET}
    start = {"base.position": (-0.00505, 0.0005, 0.005), "base.velocity": (0.03, 0.0, 0.02)}
    found = []
    for h in STEPS:
        c = ring(**laws, **start)
        before = energy(c)
        assert run(c.m, h, round(2e-2 / h)) == 0
        found.append(abs(energy(c) - before))
    # contact ends within a step, whose phase varies
    assert max(found) < 2e-2 * before
    assert found[3] < found[0] / 5.0
    assert (c.m.audit.dissipated_contact > 1e-3 * before) == lossy


def test_capture_and_pull_with_latches_closes_its_energy():
    """A ring that is pushed in seats, is captured, comes back and is held in 3 mm of play: energy at H = 50 us."""
    c = ring(**{"base.position": (-0.02, 0.0, 0.0), "base.velocity": (0.5, 0.0, 0.0)})
    before = energy(c)
    captured = False
    for _ in range(120):
        assert run(c.m, 5e-5, 50) == 0
        captured = captured or bool(c.m.flag.capture_mechanical)
    assert captured
    assert list(c.m.sensor.latched) == [1.0] * 6
    assert -0.006 < c.m.base.position[0] < 0.002
    assert energy(c) == pytest.approx(before, rel=5e-4)
    assert c.m.audit.dissipated_latches > 6 * 0.4


@pytest.mark.parametrize(("evaluation", "ahead"), [("start", 0.0), ("midpoint", 0.5), ("delayed_midpoint", 1.5)])
def test_where_in_the_step_contact_is_evaluated(evaluation, ahead):
    """A ring pressed toward the middle of a petal: both contacts get deeper by v / sqrt(2) times the time ahead.

    Each bears at one point: 5 mm aside the rings still conform within some 30 um.
    """
    h, v = 1e-3, 0.02
    pressed = {"base.position": (-0.005, 0.0, 0.0052), "base.velocity": (0.0, 0.0, v)}
    point = {"ring_pair.parameters.ring.conformity": 0.0, "parameters.evaluation": EVALUATION.codes[evaluation]}
    c = ring(**QUIET, **NO_LATCH, **pressed, **point)
    c.step(0.0, h)
    for force, time in ((c.m.target.force, ahead * h), (c.m.target.force_now, h)):
        assert hypot(force[0], force[2]) == pytest.approx(2e7 * (2e-4 + v * time) / sqrt(2.0), rel=1e-6)


@pytest.mark.parametrize("h", [1e-5, 1e-4, 1e-3])
def test_friction_held_over_a_step_is_that_of_its_end(h):
    """Friction brakes the ring's 40 kg from 10 mm/s to s; it is that of s, so that it never turns the sliding round."""
    c = ring(**{"base.position": (0.00005, 0.0, 0.0), "base.velocity": (0.0, 0.01, 0.0)}, **NO_LATCH)
    c.step(0.0, h)
    planes = [item for item in c.m.contact if item.active and item.pair == 4]
    assert len(planes) == 6
    for item in planes:
        after = 0.01 - 6 * h * item.friction_force / MASS
        # each contact answers for all six
        assert item.friction_force <= 0.1 * item.normal_force
        assert after > -1e-3


def test_seated_and_free_are_told():
    c = ring(**{"base.position": (-1.0, 0.0, 0.0)})
    assert c.m.flag.contact == 0.0
    assert np.all(c.m.target.force == 0.0)
    c = ring(**{"base.position": (-0.0005, 0.0, 0.0)})
    assert list(c.m.sensor.mated) == [1.0] * 3
    assert c.m.sensor.capture == c.m.flag.capture_mechanical == 1.0


def test_what_comes_in_is_checked():
    c = ring()
    c.m.link[0].velocity[2] = np.nan
    with pytest.raises(ComponentError, match=r"port 3 .* is not finite"):
        c.step(0.0, 1e-4)
    with pytest.raises(ComponentError, match=r"quaternion of port 1 .* has norm 0"):
        ring(**{"base.quaternion": (0.0, 0.0, 0.0, 0.0)})
    with pytest.raises(ComponentError, match=r"penetration .* of passive rim on active petal 1 exceeds its limit"):
        ring(**{"base.position": (-0.02, 0.0, 0.03)})
    with pytest.raises(ComponentError, match=r"more than 30 deg"):
        ring(**{"base.position": (-0.1, 0.0, 0.0), "base.quaternion": (0.9, 0.43589, 0.0, 0.0)})
    with pytest.raises(
        ComponentError, match=r"radii must rise .* ring_pair.parameters.ring .radius 0.5, outer_radius 0.4"
    ):
        ring(**{"ring_pair.parameters.ring.outer_radius": 0.4})


def test_state_is_saved_whole():
    """contact-geometry T23: a copy of the record in the middle of a capture goes on alike, bit by bit."""
    c = ring(**{"base.position": (-0.012, 0.001, 0.0005), "base.velocity": (0.3, 0.0, 0.0)})
    assert run(c.m, 1e-4, 40) == 0
    assert c.m.ring_pair.state.latch[0].travel > 0.0
    kept = c.block.copy()
    assert run(c.m, 1e-4, 200) == 0
    first = c.block.copy()
    c.block[:] = kept
    assert run(c.m, 1e-4, 200) == 0
    assert np.array_equal(first, c.block)
