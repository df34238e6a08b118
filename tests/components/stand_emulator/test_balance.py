"""The balance of the stand: what six gauges read, noise, lag, limits, and the wrenches that the craft get."""

from math import exp, pi

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.core.noise import normal_pair, threefry
from dockfmu.fmus import catalogue
from tests.components.stand_emulator.test_platform import exponential, matrix

WRENCH = np.array([800.0, -300.0, 200.0, 40.0, -90.0, 60.0])
QUIET = {"parameters.noise": 0.0}


def balance(**values):
    return Instance(catalogue.component("StandBalance"), **values)


def load(m, wrench):
    m.target.force[:], m.target.torque[:] = wrench[:3], wrench[3:]


def given(m, port="passive"):
    return np.append(getattr(m, port).force, getattr(m, port).torque)


def readings(count, **values):
    """Measured wrenches, shape (count, 6), of an unloaded balance."""
    stand = balance(**values)
    found = np.empty((count, 6))
    for n in range(count):
        stand.step(n * 2e-3, 2e-3)
        found[n] = np.append(stand.m.measured.force, stand.m.measured.torque)
    return found


def test_generator_gives_the_published_words():
    """Test vectors of Random123 for Threefry-2x32-20."""
    assert threefry(0, 0, 0, 0) == (0x6B200159, 0x99BA4EFE)
    assert threefry(*[0xFFFFFFFF] * 4) == (0x1CB996FC, 0xBB002BE7)
    assert threefry(0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3) == (0xC4923A9C, 0x483DF7A0)


def test_deviates_are_normal_and_independent():
    from scipy import stats

    pairs = np.array([normal_pair(1, n, 0) for n in range(20000)])
    for column in pairs.T:
        assert stats.kstest(column, "norm").pvalue > 0.01
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.02
    assert abs(np.corrcoef(pairs[:-1, 0], pairs[1:, 0])[0, 1]) < 0.02
    other = np.array([normal_pair(2, n, 0)[0] for n in range(20000)])
    assert abs(np.corrcoef(pairs[:, 0], other)[0, 1]) < 0.02


def test_spec08_section_5_5_noise_of_1_N_and_half_a_newton_metre():
    """Set SB-1: forces alike and independent, the torques 0.5 N.m in the mean square; covariance as S S^T."""
    found = readings(20000)
    S = balance().m.work.matrix
    expected = 0.70710678**2 * S @ S.T
    spread = found.std(axis=0)
    np.testing.assert_allclose(spread[:3], 1.0, rtol=0.02)
    assert np.sqrt((spread[3:] ** 2).mean()) == pytest.approx(0.5, rel=0.02)
    np.testing.assert_allclose(np.cov(found.T), expected, atol=0.025)
    assert np.abs(found.mean(axis=0)).max() < 4.0 / np.sqrt(len(found))


def test_the_same_seed_gives_the_same_bits_and_another_one_does_not():
    first, again = readings(50), readings(50)
    assert first.tobytes() == again.tobytes()
    assert np.abs(readings(50, **{"parameters.seed": 2}) - first).min() > 0.0


def test_a_restored_balance_reads_the_same_noise():
    stand = balance()
    for n in range(7):
        stand.step(n * 1e-3, 1e-3)
    state = stand.block.copy()
    values = []
    for _ in range(2):
        stand.block[:] = state
        for n in range(7, 20):
            stand.step(n * 1e-3, 1e-3)
        values.append(given(stand.m))
    assert values[0].tobytes() == values[1].tobytes()


def test_gauges_tell_a_wrench_whole():
    """S u = w whatever the arrangement, and each gauge feels what statics says."""
    rng = np.random.default_rng(5)
    place = rng.normal(size=(6, 3))
    direction = rng.normal(size=(6, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    for values in ({}, {"parameters.gauge.position": place, "parameters.gauge.direction": direction}):
        stand = balance(**QUIET, **values, **{"target.force": WRENCH[:3], "target.torque": WRENCH[3:]})
        np.testing.assert_allclose(given(stand.m), WRENCH, rtol=1e-11)
        e, p = stand.m.parameters.gauge.direction, stand.m.parameters.gauge.position
        u = np.array([gauge.reading for gauge in stand.m.gauge])
        np.testing.assert_allclose(u @ e, WRENCH[:3], rtol=1e-11)
        np.testing.assert_allclose(u @ np.cross(p, e), WRENCH[3:], rtol=1e-11)


def test_an_arrangement_that_tells_no_wrench_is_refused():
    with pytest.raises(ComponentError, match="do not determine all six components"):
        balance(**{"parameters.gauge.position": np.zeros((6, 3))})
    with pytest.raises(ComponentError, match="direction: row 1 has length 2"):
        balance(**{"parameters.gauge.direction": np.full((6, 3), 2.0 / np.sqrt(3.0))})


def test_lag_of_the_gauges_and_the_frame_of_the_computer():
    """A step of load: readings at 0, 2, 4 ms ... of 1 - exp(-t / tau), each held until the next; mean over the step."""
    tau = 1.0 / (2.0 * pi * 100.0)
    for h in (1e-3, 2e-3, 5e-4):
        stand = balance(**QUIET)
        load(stand.m, WRENCH)
        for n in range(round(0.02 / h)):
            stand.step(n * h, h)
            read = 2e-3 * np.floor(n * h / 2e-3 + 1e-9)
            np.testing.assert_allclose(given(stand.m), WRENCH * (1.0 - exp(-read / tau)), rtol=1e-11, atol=1e-10)
    stand = balance(**QUIET)
    load(stand.m, WRENCH)
    stand.step(0.0, 5e-3)
    share = np.array([0.0, 1.0 - exp(-2e-3 / tau), 1.0 - exp(-4e-3 / tau)])
    np.testing.assert_allclose(given(stand.m), WRENCH * (share @ [0.4, 0.4, 0.2]), rtol=1e-11)


def test_bias_and_full_scale():
    bias = np.array([5.0, -4.0, 3.0, -2.0, 1.0, 0.5])
    stand = balance(**QUIET, **{"parameters.gauge.bias": bias})
    np.testing.assert_allclose(given(stand.m), stand.m.work.matrix @ bias, atol=1e-12)
    stand = balance(**QUIET, **{"target.force": (1e6, 0.0, 0.0)})
    assert stand.m.measured.saturated == 1.0
    # six gauges at full scale, tilted by cos = 1/sqrt(3)
    np.testing.assert_allclose(given(stand.m), [6e4 / np.sqrt(3.0), 0, 0, 0, 0, 0], atol=1e-9)


@pytest.mark.parametrize(("wrench", "limit"), [
    ((6000.0, 0.0, 0.0, 0.0, 0.0, 0.0), 5000.0 / 6000.0), ((0.0, 0.0, 0.0, 0.0, -3500.0, 0.0), 3000.0 / 3500.0),
])  # fmt: skip
def test_spec08_section_5_5_emergency_stop_at_the_limits(wrench, limit):
    """Stop when the lagged signal passes 5 kN or 3 kN.m, and for good; a reading's noise does not matter."""
    tau = 1.0 / (2.0 * pi * 100.0)
    expected = -tau * np.log(1.0 - limit)
    stand = balance(**{"parameters.noise": 500.0})
    load(stand.m, np.array(wrench))
    h, time = 1e-5, None
    for n in range(1000):
        stand.step(n * h, h)
        if stand.m.emergency_stop and time is None:
            time = (n + 1) * h
            load(stand.m, np.zeros(6))
    assert time == pytest.approx(expected, abs=1.1 * h)
    assert stand.m.emergency_stop == 1.0
    below = balance(**QUIET)
    load(below.m, np.array(wrench) * limit * 0.999)
    for n in range(100):
        below.step(n * 1e-3, 1e-3)
    assert below.m.emergency_stop == 0.0


def test_the_craft_get_action_and_reaction():
    """Forces and moments about one point cancel, in the pose that the craft have in mid-step."""
    q1, q2 = exponential((0.2, -0.1, 0.3)), exponential((-0.3, 0.5, 0.1))
    x1, x2 = np.array([1.0, 2.0, 3.0]), np.array([1.9, 2.1, 2.8])
    stand = balance(
        **QUIET,
        **{
            "active.position": x1,
            "active.quaternion": q1,
            "passive.position": x2,
            "passive.quaternion": q2,
            "target.force": WRENCH[:3],
            "target.torque": WRENCH[3:],
        },
    )
    A1, A2 = matrix(q1), matrix(q2)
    m = stand.m
    np.testing.assert_allclose(A1.T @ m.active.force + A2.T @ m.passive.force, 0.0, atol=1e-10)
    moment = A1.T @ m.active.torque + A2.T @ m.passive.torque
    moment += np.cross(x1, A1.T @ m.active.force) + np.cross(x2, A2.T @ m.passive.force)
    np.testing.assert_allclose(moment, 0.0, atol=1e-9)


def test_bypass_passes_every_bit():
    rng = np.random.default_rng(9)
    stand = balance(**{"parameters.bypass": 1.0})
    for n in range(5):
        for port in (stand.m.base, stand.m.target):
            port.force[:], port.torque[:] = rng.normal(size=3), rng.normal(size=3)
        stand.step(n * 1e-3, 1e-3)
        assert given(stand.m, "active").tobytes() == given(stand.m, "base").tobytes()
        assert given(stand.m, "passive").tobytes() == given(stand.m, "target").tobytes()
    assert stand.m.emergency_stop == 0.0
