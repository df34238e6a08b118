"""The energy accumulator: scripts T11 to T18 of peripheral-docking, its ratchet and its energies."""

import numpy as np
import pytest

from dockfmu.components.peripheral_mechanism import accumulator
from tests.components.peripheral_mechanism.accumulator_paths import DIRECT, RETURN, STIFFNESS, Spring, branch, wander

MM = 1e-3


def test_spec07_oracle_T11_locked_from_the_initial_position():
    s = Spring(100.0)
    assert (s.force, s.state) == (pytest.approx(0.0, abs=1e-9), 4)
    assert s.e.held_top == pytest.approx(101.025 * MM, abs=5e-7)
    assert branch(DIRECT, s.e.held_top) == pytest.approx(512.56, abs=5e-3)
    assert s.move(120.0) == pytest.approx(560.0)
    assert s.states == [4, 1]
    assert s.move(119.5) == pytest.approx(310.0)
    assert s.state == 4
    assert s.move(130.0) == pytest.approx(586.67, abs=5e-3)
    assert s.e.held_top == pytest.approx(120.0 * MM), "back to branch 1 where it was left"
    assert s.move(128.5) == 0.0
    assert s.states == [4, 1, 4, 1, 4, 0]
    assert s.e.zero == pytest.approx(128.827 * MM, abs=5e-7)
    s.move(128.3)
    assert s.state == 11
    assert s.e.zero - s.p.backlash == pytest.approx(128.327 * MM, abs=5e-7)
    assert s.move(126.7) == -800.0
    assert s.states[-3:] == [0, 11, 12]
    assert s.e.shift == pytest.approx((126.7 - 126.7267) * MM, abs=1e-6), "slip from 126.727 mm on"


def test_spec07_oracle_T12_unlocked_at_the_initial_position():
    s = Spring(100.0)
    assert s.move(100.1) == pytest.approx(50.0)
    s.lock = 0.0
    s.sample(100.1 * MM, 0.0)
    assert (s.state, s.force) == (2, pytest.approx(306.15))
    assert s.move(50.0) == pytest.approx(232.0)
    assert s.state == 2


def test_spec07_oracle_T13_locked_on_the_return_branch():
    s = Spring(100.0)
    s.lock = 0.0
    s.move(50.0)
    s.lock = 1.0
    s.sample(50.0 * MM, 0.0)
    assert (s.state, s.force) == (4, pytest.approx(232.0)), "no jump"
    assert s.move(49.9) == pytest.approx(182.0)
    assert s.e.held_top == pytest.approx(50.311 * MM, abs=5e-7)
    assert branch(DIRECT, s.e.held_top) == pytest.approx(387.4, abs=0.05)
    assert s.move(60.0) == pytest.approx(410.0)
    assert s.states == [4, 2, 4, 1], "locked on the branch, not between the branches"


def test_spec07_oracle_T14_locked_to_the_stop():
    s = Spring(100.0)
    assert s.move(240.0) == pytest.approx(900.0)
    assert s.move(240.3) == pytest.approx(1050.0)
    assert s.states == [4, 1, 5]
    assert s.move(239.0) == pytest.approx(400.0)
    assert s.states == [4, 1, 5, 4]
    assert s.move(240.2) == pytest.approx(1000.0)
    assert s.state == 5


def test_spec07_oracle_T15_unlocked_cycle():
    """Corners of the loop, and its area: work, and the accumulator's own account."""
    s = Spring(100.0, locked=False)
    s.move(50.0, 4e-6)
    s.move(50.2, 1e-6)
    assert [1e3 * x for x in s.e.between] == pytest.approx([50.0, 50.311], abs=5e-4)
    s.move(120.0, 4e-6)
    s.move(119.8, 1e-6)
    assert [1e3 * x for x in s.e.between] == pytest.approx([119.55, 120.0], abs=1e-2)
    assert branch(RETURN, s.e.between[0]) == pytest.approx(335.3, abs=0.05)
    s.move(50.0, 4e-6)
    before, lost = s.work, s.dissipated
    s.move(120.0, 4e-6)
    s.move(50.0, 4e-6)
    assert s.work - before == pytest.approx(13.16, abs=5e-3)
    assert s.dissipated - lost == pytest.approx(s.work - before, rel=1e-6)


def test_spec07_oracle_T16_slip_of_the_clutch():
    """A pull by delta beyond the limit shifts all lines by delta for good, and costs the limit times delta."""
    s = Spring(100.0)
    s.move(103.0)
    s.move(102.9)
    slip = 1e3 * (s.e.zero - s.p.backlash) - 1e3 * 800.0 / STIFFNESS
    delta = 5.0
    s.move(slip)
    s.move(slip - delta)
    assert (s.state, s.force) == (12, -800.0)
    assert s.e.shift == pytest.approx(-delta * MM, abs=2e-5)
    assert s.e.slipped == pytest.approx(800.0 * delta * MM, rel=5e-3)
    s.move(110.0)
    assert s.force == pytest.approx(branch(DIRECT, 110.0 * MM - s.e.shift))


def test_slip_is_exact_for_any_samples():
    s = Spring(100.0)
    start = s.e.zero
    s.move(80.0, step=7e-3)
    s.move(79.0)
    assert s.e.slipped == pytest.approx(-800.0 * s.e.shift)
    assert s.e.shift == pytest.approx(79.0 * MM - (start - 5e-4 - 800.0 / STIFFNESS))


@pytest.mark.parametrize(("slip", "visited"), [(800.0, {0, 1, 2, 3, 4, 5, 11, 12}), (1e6, {0, 1, 2, 3, 4, 5, 11})])
def test_spec07_oracle_T17_random_strokes_and_locks(slip, visited):
    """A million samples: known states, forces on their lines, locked forces under branch 1, dissipation never falls."""
    rng = np.random.default_rng(7)
    count = 1_000_000
    d = np.abs(np.mod(0.1 + np.cumsum(rng.normal(scale=5e-4, size=count)), 0.492) - 0.246) - 0.004
    locks = (np.cumsum(rng.random(count) < 1e-3) % 2).astype(float)
    s = Spring(1e3 * d[0], slip_force=slip)
    out = np.zeros((count, 5))
    wander(s.p, s.e, d, locks, out)
    state, force, lost, shift, top = out.T
    assert set(np.unique(state)) == visited
    x = d - shift
    on = {
        1: branch(DIRECT, x),
        2: branch(RETURN, x),
        0: np.zeros(count),
        5: branch(DIRECT, 0.24 - shift) + STIFFNESS * (d - 0.24),
        12: np.full(count, -slip),
    }
    for line, law in on.items():
        np.testing.assert_allclose(force[state == line], law[state == line], atol=1e-6)
    free = d < 0.24
    assert np.all(force[free] <= branch(DIRECT, x[free]) + 1e-6), "rule i"
    between = (state == 3) | (state == 4)
    assert np.all(force[between & free] >= -1e-6)
    assert not np.any((locks == 1.0) & ((state == 2.0) | (state == 3.0))), "rule iv"
    steps = np.abs(np.diff(force)) <= 1.001 * STIFFNESS * np.abs(np.diff(d)) + 1e-6
    unlocks = np.diff(locks) == -1.0
    assert np.all(steps | unlocks), "continuous but where it is unlocked"
    kink = STIFFNESS * np.diff(d) ** 2
    assert np.all(np.diff(lost) > -kink - 1e-9), "a kink inside a sample counts as a straight line"
    assert lost[-1] > 20.0
    held = (state[:-1] == 4.0) & (state[1:] == 4.0) & (locks[:-1] == 1.0) & (np.diff(shift) == 0.0)
    assert np.all(np.diff(top)[held] >= 0.0), "rule i: the ratchet only goes on"


@pytest.mark.parametrize("step", [3e-6, 1e-4, 1e-3])
def test_spec07_oracle_T18_samples_of_any_distance_give_the_same_state(step):
    """Through all lines, also where a sample skips some: same states, force and shift at the end of each leg."""
    path = [(104.0, 1.0), (102.0, 1.0), (108.0, 1.0), (94.0, 1.0), (99.0, 0.0), (60.0, 0.0), (70.0, 0.0), (65.0, 1.0),
            (241.0, 1.0), (239.5, 1.0), (239.0, 0.0), (235.0, 0.0)]  # fmt: skip
    fine, coarse = Spring(100.0), Spring(100.0)
    for to, lock in path:
        for s, size in ((fine, 1e-5), (coarse, step)):
            s.lock = lock
            s.move(to, size)
        assert (coarse.state, to) == (fine.state, to)
        assert coarse.force == pytest.approx(fine.force, abs=1e-6)
        assert coarse.e.shift == pytest.approx(fine.e.shift, abs=1e-12)
        assert coarse.energy == pytest.approx(fine.energy, abs=1e-9)


def test_a_locked_accumulator_gives_back_only_what_its_train_holds():
    """Rule ii of peripheral-docking 6.3: compressed and let go, it returns f^2 / 2 k of its 45 J."""
    s = Spring(100.0)
    s.move(180.0, 1e-5)
    taken, force = s.work, s.force
    s.move(150.0, 1e-5)
    s.move(178.0, 1e-5)
    assert taken > 40.0
    s = Spring(100.0)
    s.move(180.0, 1e-5)
    s.move(1e3 * s.e.zero if s.state == 4 else 178.55, 1e-6)
    assert taken - s.work == pytest.approx(force**2 / (2.0 * STIFFNESS), rel=2e-3)


def test_released_after_any_history_it_returns_its_stored_energy():
    """`stored_energy` is what a slow release to the forward position gives, but for what unlocking costs."""
    for history in ([], [110.0], [180.0, 179.0], [239.9], [150.0, 149.5]):
        s = Spring(100.0)
        for to in history:
            s.move(to, 1e-5)
        s.lock = 0.0
        s.sample(s.e.deformation, 0.0)
        stored, before, lost = s.energy, s.work, s.dissipated
        s.move(0.0, 1e-5)
        assert before - s.work == pytest.approx(stored - s.energy, rel=1e-5)
        assert s.dissipated == pytest.approx(lost, abs=1e-4)
        assert s.energy == pytest.approx(162.0**2 / (2.0 * STIFFNESS), abs=1e-6), "what the train still holds"


def test_unlocking_never_gives_energy():
    for d in (100.02, 100.05, 100.5, 99.8, 99.0, 98.2):
        s = Spring(100.0)
        s.move(d)
        before = s.dissipated
        s.lock = 0.0
        s.sample(s.e.deformation, 0.0)
        assert s.dissipated >= before - 1e-12


def test_a_leg_whose_clutch_has_slipped_still_reaches_its_stop():
    """The stop is that of the rod: slip winds the spring further, and leaves the retracted position where it is."""
    s = Spring(100.0)
    s.move(80.0)
    shift = s.e.shift
    assert shift < -0.015
    assert s.move(240.0) == pytest.approx(branch(DIRECT, 0.24 - shift))
    assert s.state == 1
    assert s.move(240.2) == pytest.approx(branch(DIRECT, 0.24 - shift) + 100.0)
    assert s.state == 5


def test_the_clutch_acts_after_its_delay():
    s = Spring(100.0, clutch_delay=0.0025)
    states = []
    for _ in range(5):
        accumulator.advance(s.p, s.e, 0.0, 0.1, 0.0, 1e-3)
        states.append(s.state)
    assert states == [4, 4, 2, 2, 2]
