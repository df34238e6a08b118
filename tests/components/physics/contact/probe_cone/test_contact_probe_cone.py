"""The assembled probe-cone unit: balance, energy, capture, limits, determinism."""

from __future__ import annotations

import os
import subprocess
import sys
from math import cos, pi, radians, sin

import numpy as np
import pytest

from dockfmu.components.core import ports
from dockfmu.components.core.component import Component
from dockfmu.components.core.field import Group
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import probe_cone
from dockfmu.components.physics.contact.pairs import PENETRATION
from dockfmu.components.physics.contact.probe_cone.pairs import (
    HEAD_BOTTOM,
    HEAD_CONE,
    LATCH_CONE,
    LATCH_STOP,
    LATCH_WALL,
    MESSAGES,
    PAD_CONE,
    ROLLER_CONE,
)
from dockfmu.components.physics.contact.probe_cone.surface_contacts import pads_are_clear, slot_wall, wide_wall
from dockfmu.components.physics.contact.profile import segment_profile
from dockfmu.components.physics.mechanics.rotation import about_x, from_angles, store_matrix
from tests.components.physics.contact.probe_cone.contact_unit import bit

BOTTOM = 0.3770023 - 0.045


def pairs(unit):
    return [int(item.pair) for item in unit.contacts()]


def captured(make_unit, roll=0.0, **parameters):
    unit = make_unit(**parameters)
    for x in np.linspace(0.25, BOTTOM - 1e-5, 400):
        assert unit.head((x, 0.0, 0.0), (0.0, 0.0, roll)) == 0
        unit.accept()
    assert unit.output.capture == 1.0
    return unit


def test_sets_fit_the_record():
    record = Record(probe_cone.unit())
    for entry in probe_cone.PARAMETER_SETS:
        entry.check(record)


def balance(unit):
    """Sum of all forces in PU, and of their torques about the origin of PU."""
    out = unit.output
    total, torque = np.array(out.target.force), np.array(out.target.torque)
    for k in range(2):
        link = unit.u.input.link[k]
        A = link.rotation
        f = A.T @ out.link[k].force
        total = total + f
        torque = torque + A.T @ out.link[k].torque + np.cross(link.position, f)
    return total, torque


def near_last_frustum(distance, rng):
    """A point at `distance` from the frustum of 40 deg, on its free side."""
    x, a = rng.uniform(0.10, 0.25), rng.uniform(0.0, 2.0 * pi)
    r = 0.047 + (0.2870023 - x) * (0.220 - 0.047) / (0.2870023 - 0.0808290) - distance * cos(radians(40.0))
    return np.array([x - distance * sin(radians(40.0)), r * cos(a), r * sin(a)])


def random_poses(unit, count=400, seed=17):
    """Poses in which something touches: yields after evaluate and accept."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        where = rng.integers(4)
        tilt = rng.uniform(-radians(3.0), radians(3.0), 3)
        x = (rng.uniform(-0.02, 0.26), rng.uniform(0.28, 0.30), rng.uniform(0.30, BOTTOM), rng.uniform(0.300, 0.308))[
            where
        ]
        if where == 0:
            r, a = rng.uniform(0.0, 0.36), rng.uniform(0.0, 2.0 * pi)
            position = x, r * cos(a), r * sin(a)
        else:
            position = x, *rng.uniform(-0.003, 0.003, 2)
        limiter = np.array([rng.uniform(-0.25, 0.02), *rng.uniform(-0.05, 0.05, 2)])
        unit.link(1, limiter, tilt, *rng.uniform(-0.1, 0.1, (2, 3)))
        for roller in unit.u.input.roller:
            centre = near_last_frustum(0.015 - rng.uniform(-0.02, 0.004), rng)
            roller.position[:] = unit.u.input.link[1].rotation @ (centre - limiter)
            roller.velocity[:] = rng.uniform(-0.01, 0.01, 3)
        if unit.head(position, tilt, *rng.uniform(-0.1, 0.1, (2, 3))) == 0:
            unit.accept()
            yield unit


def test_spec05_oracle_17_forces_and_torques_balance(make_unit):
    unit = make_unit()
    touching = 0
    seen = set()
    for _ in random_poses(unit, 1500):
        total, torque = balance(unit)
        largest = np.abs(unit.output.target.force).max()
        touching += largest > 0.0
        seen |= set(pairs(unit))
        assert np.abs(total).max() <= 1e-10 * largest
        assert np.abs(torque).max() <= 1e-10 * largest
        parts = np.array(unit.output.limiter.force) + sum(np.array(r.force) for r in unit.output.roller)
        assert parts == pytest.approx(unit.output.link[1].force, abs=1e-9)
    assert touching > 100
    assert {HEAD_CONE, PAD_CONE, ROLLER_CONE, LATCH_CONE} <= seen


def test_evaluate_is_repeatable_and_leaves_the_state_alone(make_unit):
    unit = make_unit()
    before_state = None
    for _ in random_poses(unit, 60):
        state = unit.u.state.tobytes()
        assert probe_cone.evaluate(unit.u) == 0
        first = unit.u.output.tobytes()
        assert unit.u.state.tobytes() == state
        # a trial elsewhere in between does not matter
        position = unit.u.input.link[0].position.copy()
        unit.u.input.link[0].position[:] = position + np.array([0.001, 0.0005, 0.0])
        probe_cone.evaluate(unit.u)
        unit.u.input.link[0].position[:] = position
        assert probe_cone.evaluate(unit.u) == 0
        assert unit.u.output.tobytes() == first
        assert unit.u.state.tobytes() == state
        before_state = state
    assert before_state is not None


def test_spec05_oracle_23_save_and_restore_repeat_the_step(make_unit):
    unit = make_unit()
    steps = np.linspace(0.27, BOTTOM - 1e-5, 200)

    def run(part):
        for x in part:
            assert unit.head((x, 0.0005, -0.0003), (0.01, 0.0, 0.02), (0.1, 0.0, 0.0)) == 0
            unit.accept()
        return unit.block.tobytes()

    run(steps[:60])
    saved = unit.block.copy()
    first = run(steps[60:])
    unit.block[:] = saved
    assert run(steps[60:]) == first


def test_spec05_oracle_24_penetration_names_the_pair(make_unit):
    unit = make_unit()
    assert unit.head((BOTTOM + 0.006, 0.0, 0.0)) == PENETRATION + HEAD_BOTTOM
    assert unit.u.status.value == pytest.approx(0.006)
    record = Record(ports.status(), probe_cone.unit())
    component = Component("Test", "", record, probe_cone.initialize, probe_cone.initialize, MESSAGES, None)  # type: ignore[arg-type]
    memory = record.memory()
    memory.status.value = unit.u.status.value
    memory.status.index = 2
    memory.probe_cone.input.base.position[:] = 0.1, 0.2, 0.3
    said = component.explain(PENETRATION + HEAD_BOTTOM, memory)
    assert "penetration 0.006 m of head on socket bottom exceeds its limit of 0.005 m" in said
    assert "frame 0 of the mechanism was at (0.1, 0.2, 0.3) m in PU" in said
    assert "roller 2" in component.explain(PENETRATION + ROLLER_CONE, memory)
    assert all(component.explain(code, memory) for code in MESSAGES)


def test_limits_of_validity(make_unit):
    unit = make_unit()
    assert unit.head((0.01, 0.51, 0.0)) == probe_cone.OUT_OF_RANGE
    assert unit.u.status.value == pytest.approx(0.51)
    assert unit.head((np.nan, 0.0, 0.0)) == probe_cone.NOT_FINITE
    assert unit.head((0.0, 0.0, 0.0), velocity=(0.0, np.inf, 0.0)) == probe_cone.NOT_FINITE
    assert unit.head((0.0, 0.0, 0.0)) == 0
    unit.u.input.roller[1].position[2] = np.nan
    assert probe_cone.evaluate(unit.u) == probe_cone.NOT_FINITE
    unit.u.parameters.cone.r[1] = 0.6
    assert probe_cone.initialize(unit.u) == probe_cone.GEOMETRY
    unit.u.parameters.cone.vertices = 2
    assert probe_cone.initialize(unit.u) == probe_cone.GEOMETRY


TANGENTIAL = (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("d1", "d2", "depth", "normal"),
    [(0.003, 0.0013, 0.0003, (0.0, 0.0, 1.0)), (0.012, -0.0075, 0.000353553, (-0.70710678, 0.0, -0.70710678)),
     (-0.0004, 0.0013, 0.0003, (0.0, 0.0, 1.0))],
)  # fmt: skip
def test_spec05_oracle_T06_slot_walls(make_unit, d1, d2, depth, normal):
    u = make_unit().u
    found = slot_wall(u.parameters.slot, u.geometry.wall, d1, d2, TANGENTIAL)
    assert found[0] == pytest.approx(depth, abs=5e-9)
    assert found[1] == pytest.approx(normal, abs=5e-9)


@pytest.mark.parametrize("d2", [0.0018, 0.0155])
def test_slot_wall_is_continuous_over_its_corners(make_unit, d2):
    """Steps of 1 um along the slot change the depth by no more than that."""
    u = make_unit().u
    slot, wall = u.parameters.slot, u.geometry.wall
    depths = [slot_wall(slot, wall, d1, d2, TANGENTIAL)[0] for d1 in np.linspace(0.0, 0.03, 30001)]
    assert np.abs(np.diff(depths)).max() <= 1.0e-6 * 1.01


def test_the_wide_part_of_a_slot_holds_a_latch(make_unit):
    """Its wall stands where the inclined wall ends: no gap through which a latch could leave its slot."""
    u = make_unit().u
    slot, wall = u.parameters.slot, u.geometry.wall
    assert wide_wall(wall, 0.0155, TANGENTIAL)[0] == pytest.approx(0.0005)
    depth, normal = wide_wall(wall, -0.0145, TANGENTIAL)
    assert depth == pytest.approx(-0.0005)
    assert normal == pytest.approx((0.0, 0.0, -1.0))
    end = 0.0155
    assert slot_wall(slot, wall, slot.wide_depth, end, TANGENTIAL)[0] == pytest.approx(
        wide_wall(wall, end, TANGENTIAL)[0] * np.cos(slot.wall_angle)
    )


def test_a_latch_slips_off_the_edge_of_its_slot_without_a_jump(make_unit):
    """Latches that reach 0.5 mm past the slot plane, pulled 0.3 mm into the stops: moved aside, one lets go."""
    unit = captured(make_unit, **{"slot.distance": 0.0565, "sensor.friction": 0.0})
    energies, hooked = [], []
    for y in np.linspace(0.0, -0.0009, 901):
        assert unit.head((0.307 - 0.0003, y, 0.0)) == 0
        energies.append(unit.output.stored_energy)
        hooked.append(sum(pair == LATCH_STOP for pair in pairs(unit)))
    assert hooked[0] == 4
    assert hooked[-1] == 3
    # depth changes by no more than the step of 1e-6 m
    assert np.abs(np.diff(energies)).max() <= 1e7 * 0.0003 * 1.1e-6
    assert energies[0] - energies[-1] == pytest.approx(0.5e7 * 0.0003**2, rel=1e-6)


def test_spec05_oracle_26_insert_then_pull_back(make_unit):
    """Four triggers 15 mm before the bottom; 25 mm of play; pulled, only stops act, along -x."""
    unit = make_unit()
    fired_at = None
    for x in np.arange(0.25, BOTTOM, 1e-4):
        assert unit.head((x, 0.0, 0.0)) == 0
        unit.accept()
        if fired_at is None and unit.output.capture:
            fired_at = x
            assert all(unit.output.latch_fired)
    assert BOTTOM - fired_at == pytest.approx(0.015, abs=3e-4)
    play = None
    for x in np.arange(BOTTOM - 1e-6, 0.3, -1e-4):
        assert unit.head((x, 0.0, 0.0)) in (0, PENETRATION + LATCH_STOP)
        if unit.u.status.code:
            break
        unit.accept()
        if pairs(unit):
            play = play or BOTTOM - x
            assert set(pairs(unit)) == {LATCH_STOP}
            assert all(tuple(item.normal) == (-1.0, 0.0, 0.0) for item in unit.contacts())
            assert unit.output.target.force[0] < 0.0
            assert unit.output.link[0].force[0] > 0.0
            assert np.abs(unit.output.target.torque).max() < 1e-6
    assert play == pytest.approx(0.025, abs=2e-4)


@kernel
def pull_and_roll(unit, start, rolled, h, steps, rolls):
    """A head of 20 kg and 0.05 kg m2, free along x and in roll, damped, pulled back with 100 N, semi-implicit Euler.

    Returns 0 or the code of a failure, and how often the contact turned the head further away from zero roll.
    """
    x, roll, speed, rate = start, rolled, 0.0, 0.0
    link = unit.input.link[0]
    wrong = 0
    for i in range(steps):
        link.position[0] = x
        store_matrix(about_x(roll), link.rotation)
        link.velocity[0] = speed
        link.angular_velocity[0] = rate
        code = probe_cone.evaluate(unit)
        if code:
            return code, wrong
        probe_cone.accept(unit)
        torque = unit.output.link[0].torque[0]
        if torque * roll > 0.0 and abs(roll) > 0.021:
            wrong += 1
        rate += h * (torque - rate) / 0.05
        speed += h * (unit.output.link[0].force[0] - 100.0 - 400.0 * speed) / 20.0
        roll += h * rate
        x += h * speed
        rolls[i] = roll
    return 0, wrong


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_spec05_oracle_26_roll_is_driven_out(make_unit, sign):
    """Rolled by 10 deg and pulled, the latches slide along the inclined walls: the torque restores, roll decays."""
    unit = captured(make_unit, sign * radians(10.0), **{"sensor.friction": 0.0})
    rolls = np.zeros(40_000)
    code, wrong = pull_and_roll(unit.u, BOTTOM - 1e-5, sign * radians(10.0), 5e-5, len(rolls), rolls)
    assert (code, wrong) == (0, 0)
    # +-1 mm of play in the narrow part at 52 mm
    assert abs(rolls[-1]) <= 1.02e-3 / 0.052
    assert LATCH_STOP in pairs(unit)
    falling = np.abs(rolls[: np.argmax(np.abs(rolls) < 0.021)])
    assert len(falling) > 1000
    assert np.diff(falling).max() <= 1e-9


def test_withdrawn_latches_let_go(make_unit):
    unit = captured(make_unit)
    unit.u.input.latches_armed = 0.0
    unit.head((0.300, 0.0, 0.0))
    unit.accept()
    assert unit.output.capture == 0.0
    assert not any(unit.output.latch_fired)
    assert unit.head((0.300, 0.0, 0.0)) == 0
    assert all(pair not in (LATCH_STOP, LATCH_WALL, LATCH_CONE) for pair in pairs(unit))


def test_a_missing_latch_neither_touches_nor_holds_and_nothing_is_captured(make_unit):
    """Three latches fire and hold on their stops; the fourth makes no contact, and the sensor waits for it."""
    unit = make_unit(**{"sensor.count": 0, "latch.missing": (0.0, 0.0, 1.0, 0.0)})
    touched = set()
    for x in [*np.linspace(0.25, BOTTOM - 1e-5, 400), *np.linspace(BOTTOM - 1e-5, 0.3066, 100)]:
        assert unit.head((x, 0.0, 0.0)) == 0
        unit.accept()
        touched |= {
            (int(item.pair), int(item.index)) for item in unit.contacts() if item.pair in (LATCH_CONE, LATCH_STOP)
        }
    assert list(unit.output.latch_fired) == [1.0, 1.0, 0.0, 1.0]
    assert unit.output.capture == 0.0
    assert touched == {(pair, k) for pair in (LATCH_CONE, LATCH_STOP) for k in (1, 2, 4)}
    assert balance(unit)[0] == pytest.approx(np.zeros(3), abs=1e-9)


def test_spec04_oracle_S13_latch_life_cycle(make_unit):
    """Extended, pushed, tripped without resistance, then a pull on the stop; balanced throughout."""
    unit = make_unit(**{"sensor.count": 0})
    phases = []
    path = [*np.arange(0.24, BOTTOM, 2e-4), *np.arange(BOTTOM - 1e-4, 0.3066, -2e-4)]
    for x in path:
        assert unit.head((x, 0.0, 0.0)) == 0
        unit.accept()
        kind = (unit.u.state.latch[0].fired, bool(unit.u.state.latch[0].mode), LATCH_STOP in pairs(unit))
        if not phases or phases[-1] != kind:
            phases.append(kind)
        total, torque = balance(unit)
        assert np.abs(total).max() < 1e-9
        assert np.abs(torque).max() < 1e-9
    assert phases == [(0.0, False, False), (0.0, True, False), (1.0, False, False), (1.0, False, True)]


def test_sensors_of_the_head(make_unit):
    """DK1 on the cone and its edges, not on the socket wall; DK2 on the bottom."""
    unit = make_unit()
    x = 0.2870023 + 0.02
    assert unit.head((x, 0.0025, 0.0)) == 0
    assert (unit.output.first_contact, unit.output.socket_bottom) == (0.0, 0.0)
    assert pairs(unit) == [HEAD_CONE]
    assert unit.head((BOTTOM + 1e-4, 0.0, 0.0)) == 0
    assert (unit.output.first_contact, unit.output.socket_bottom) == (0.0, 1.0)
    s, c = sin(radians(40.0)), cos(radians(40.0))
    on_cone = 0.2 - (0.0449) * s, 0.047 + (0.2870023 - 0.2) * s / c - 0.0449 * c, 0.0
    assert unit.head(on_cone) == 0
    assert (unit.output.first_contact, unit.output.socket_bottom) == (1.0, 0.0)


def test_friction_of_captured_sensors(make_unit):
    unit = captured(make_unit)
    for v in (0.1, -0.1, 1e-4):
        unit.head((0.32, 0.0, 0.0), velocity=(v, 0.0, 0.0))
        expected = 40.0 * np.tanh(v / 1e-3)
        assert unit.output.target.force[0] == pytest.approx(expected)
        assert unit.output.link[0].force[0] == pytest.approx(-expected)
        assert unit.u.tally.sensor_friction == pytest.approx(expected)
    loose = make_unit()
    loose.head((0.32, 0.0, 0.0), velocity=(0.1, 0.0, 0.0))
    assert loose.u.tally.sensor_friction == 0.0


def test_tip_slope_turns_latches_but_not_the_head(make_unit):
    unit = make_unit()
    unit.head((0.29, 0.0, 0.0))
    straight = [np.array(f.pivot) for f in unit.u.work.latch]
    unit.u.input.tip_slope[:] = (0.0, 0.01)
    probe_cone.evaluate(unit.u)
    bent = [np.array(f.pivot) for f in unit.u.work.latch]
    # pitch up by 0.01: the latch at +y tips back
    assert bent[0] - straight[0] == pytest.approx((-0.025 * sin(0.01), 0.010 * sin(0.01), 0.0), abs=1e-5)
    A = np.array(from_angles(0.0, 0.01, 0.0))
    for k in range(4):
        assert bent[k] - (0.29, 0, 0) == pytest.approx(A.T @ (straight[k] - (0.29, 0, 0)), abs=1e-15)


@kernel
def fly(unit, x, v, mass, h, steps):
    """A free head, semi-implicit Euler; returns (code, number of steps in contact)."""
    link = unit.input.link[0]
    hits = 0
    for _ in range(steps):
        for i in range(3):
            link.position[i] = x[i]
            link.velocity[i] = v[i]
        code = probe_cone.evaluate(unit)
        if code:
            return code, hits
        probe_cone.accept(unit)
        if unit.tally.count > 0.0:
            hits += 1
        for i in range(3):
            v[i] += h / mass * unit.output.link[0].force[i]
            x[i] += h * v[i]
    return 0, hits


def impact(make_unit, h, damping, friction):
    """A 4 kg head flies into the cone off-axis for 1 s: (energy before, energy after)."""
    laws = {f"law_{name}.damping": damping for name in ("head", "bottom", "latch", "limiter")}
    laws |= {f"law_{name}.friction": friction for name in ("head", "bottom", "latch", "limiter")}
    unit = make_unit(**laws, **{"sensor.count": 0, "latch.preload": 0.0, "latch.stiffness": 0.0})
    x, v = np.array([0.02, 0.20, 0.05]), np.array([0.10, 0.02, -0.03])
    start = 0.5 * 4.0 * v @ v
    code, hits = fly(unit.u, x, v, 4.0, h, int(1.0 / h))
    assert code == 0
    assert hits * h > 1e-3
    out = unit.output
    return start, 0.5 * 4.0 * v @ v + out.stored_energy


def test_spec05_oracle_21_energy_is_conserved_without_losses(make_unit):
    errors = []
    for h in (2e-5, 1e-5):
        start, end = impact(make_unit, h, 0.0, 0.0)
        errors.append(abs(end - start) / start)
    assert max(errors) < 2e-3


def test_damping_and_friction_take_energy(make_unit):
    """They lose the same, to the order of the step."""
    ends = []
    for h in (4e-5, 1e-5):
        start, end = impact(make_unit, h, 570.0, 0.1)
        ends.append(end)
        assert end < 0.95 * start
    assert ends[0] == pytest.approx(ends[1], rel=5e-3)


def test_no_more_contacts_than_listed_and_copied(make_unit):
    record = Record(Group("picture", ports.contacts(16)), probe_cone.unit())
    memory = record.memory()
    unit = captured(make_unit)
    assert unit.head((0.3065, 0.0, 0.0)) == 0
    memory.probe_cone.tally = unit.u.tally
    probe_cone.copy_contacts(memory.probe_cone.tally, memory.picture.contact)
    listed = memory.picture.contact
    assert [c.active for c in listed] == [1.0] * 4 + [0.0] * 12
    assert [int(c.pair) for c in listed[:4]] == [LATCH_STOP] * 4
    assert listed[0].penetration == pytest.approx(0.0005)
    assert listed[0].normal_force == pytest.approx(1e7 * 0.0005)


def test_contacts_that_close_ahead_are_found(make_unit):
    """Find ahead what touches after 5 ms at up to 0.2 m/s and did not before: head, bottom, pads, rollers, latches."""
    unit = make_unit()
    rng = np.random.default_rng(8)
    ahead, told = 5e-3, 0
    kinds = {HEAD_CONE: 1, HEAD_BOTTOM: 1, PAD_CONE: 12, ROLLER_CONE: 3, LATCH_STOP: 4, LATCH_WALL: 4}
    seen = set()
    for _ in random_poses(unit, 6000):
        inputs, tally = unit.u.input, unit.u.tally
        for link in inputs.link:
            link.velocity[:] = rng.uniform(-0.12, 0.12, 3)
            link.angular_velocity[:] = 0.0
        inputs.ahead = ahead
        if probe_cone.attempt(unit.u) != 0:
            continue
        closed, closing = int(tally.closed), int(tally.closing)
        assert closed & closing == 0
        for link in inputs.link:
            link.position += ahead * link.velocity
        for roller in inputs.roller:
            roller.position += ahead * roller.velocity
        inputs.ahead = 0.0
        if probe_cone.attempt(unit.u) != 0:
            continue
        assert int(tally.closing) == 0
        new = int(tally.closed) & ~closed
        assert new & ~closing == 0
        told += new != 0
        seen |= {pair for pair, count in kinds.items() for k in range(count) if new >> (bit(pair, 1) + k) & 1}
    assert told > 100
    assert seen == {*kinds}


def test_pads_out_of_reach_agree_with_the_full_test(make_unit):
    """The early exit of the pads never hides a contact."""
    unit = make_unit()
    rng = np.random.default_rng(4)
    touching = 0
    for _ in range(3000):
        position = np.array([rng.uniform(-0.25, 0.0), *rng.uniform(-0.08, 0.08, 2)])
        unit.link(1, position, rng.uniform(-0.3, 0.3, 3))
        if unit.head((-1.0, 0.0, 0.0)) not in (0, PENETRATION + PAD_CONE):
            continue
        motion, geometry = unit.u.work.link[1], unit.u.geometry
        deepest = -1.0
        for pad in geometry.pad[:12]:
            start = motion.position + motion.rotation.T @ pad.start
            along = motion.rotation.T @ pad.along
            deepest = max(deepest, segment_profile(geometry.face, 4, tuple(start), tuple(along))[0])
        touching += deepest > 0.0
        for margin in (0.0, 0.01):
            if pads_are_clear(unit.u.parameters.limiter, geometry, motion, margin):
                assert deepest <= -margin
    assert touching > 100


def test_pads_out_of_reach_on_the_axis_are_found_exactly(make_unit):
    """Not tilted, on the axis: all pads stand alike, and reach as far as the circles that the early exit looks at."""
    unit = make_unit()
    geometry = unit.u.geometry
    found = []
    for x in np.linspace(-0.3, 0.1, 41):
        unit.link(1, (x, 0.0, 0.0))
        unit.head((-1.0, 0.0, 0.0))
        pad = geometry.pad[0]
        start = np.array([x, 0.0, 0.0]) + pad.start
        deepest = segment_profile(geometry.face, 4, tuple(start), tuple(pad.along))[0]
        assert abs(deepest) > 1e-9
        assert pads_are_clear(unit.u.parameters.limiter, geometry, unit.u.work.link[1], 0.0) == (deepest < 0.0)
        found.append(deepest < 0.0)
    assert 5 < sum(found) < 36


def test_pads_clear_the_cone_when_fully_retracted(make_unit):
    """ruling R19: V1 pads clear the cone by 6 to 10 mm when the latches sit on their stops at full retraction."""
    unit = make_unit()
    head = 0.2950 + 0.012
    hinge = head - (0.35 + 0.09)
    unit.link(1, (hinge, 0.0, 0.0))
    unit.head((head, 0.0, 0.0))
    assert unit.output.limiter_contact == 0.0
    for gap, touches in ((0.0055, False), (0.0105, True)):
        found = []
        for azimuth in np.linspace(0.0, 2.0 * pi, 25):
            unit.link(1, (hinge, gap * cos(azimuth), gap * sin(azimuth)))
            unit.head((head, 0.0, 0.0))
            found.append(unit.output.limiter_contact)
        assert bool(max(found)) == touches


SCRIPT = """
import sys, numpy as np
from tests.components.physics.contact.probe_cone.contact_unit import bit
from tests.components.physics.contact.probe_cone.contact_unit import Unit
from dockfmu.components.physics.contact import probe_cone
unit = Unit()
rng = np.random.default_rng(1)
for x in np.linspace(-0.03, 0.33, 120):
    unit.link(1, (x - 0.45, 0.01, -0.02), (0.02, 0.01, 0.0), (0.1, 0.0, 0.01), (0.01, 0.02, 0.0))
    r = min(0.002, max(0.0, 0.30 - x))
    unit.head((x, r, -0.5 * r), (0.01, -0.02, 0.03), (0.1, 0.01, 0.0), (0.0, 0.02, 0.1))
    unit.accept()
sys.stdout.buffer.write(unit.block.tobytes())
"""


@pytest.mark.slow
def test_interpreter_and_compiled_kernels_agree(pytestconfig):
    """The same 120 poses from the mouth to capture, in both; equal but for rounding of libm and contraction."""
    results = []
    for disable in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            check=True,
            cwd=pytestconfig.rootpath,
            env=os.environ | {"NUMBA_DISABLE_JIT": disable},
        )
        results.append(np.frombuffer(done.stdout))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-9, atol=1e-9)
    assert np.isfinite(results[0]).all()
