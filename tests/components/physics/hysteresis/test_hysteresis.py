"""The oracles of hysteresis section 8 and the invariants of the law."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dockfmu.components.physics import hysteresis
from dockfmu.components.physics.hysteresis import validity
from tests.components.physics.hysteresis import series_brakes
from tests.components.physics.hysteresis.hysteresis_paths import (
    CONSTANT,
    H7,
    ONE_BRAKE,
    T1,
    TWO_BRAKES,
    element,
    follow,
    legs,
    swing,
    update,
    wandering,
    work,
)

qF, QF, qB, QB, K3 = T1


def forward(x):
    x = np.abs(x)
    return np.interp(x, qF, QF) + K3 * np.maximum(0.0, x - qF[-1])


def backward(x):
    x = np.abs(x)
    return np.interp(x, qB, QB) + K3 * np.maximum(0.0, x - qB[-1])


def test_spec03_oracle_h01_reversal_on_the_forward_branch():
    m = element()
    follow(m, legs(0.0, 0.030, 0.0299))
    assert m.memory.state == 3
    assert m.memory.transition[:] == pytest.approx([0.0242528736, 34.0229885, 0.030, 80.0], rel=3e-9)


def test_spec03_oracle_h02_reversals_on_both_branches():
    m = element()
    follow(m, legs(0.0, 0.030, 0.010, 0.0101))
    assert m.memory.transition[:] == pytest.approx([0.010, 11.3333333, 0.0128380952, 34.0380952], rel=1e-8)
    follow(m, legs(0.0101, 0.035, 0.0349))
    assert m.memory.transition[:] == pytest.approx([0.0290804598, 42.6436782, 0.035, 90.0], rel=1e-8)


@pytest.mark.parametrize(
    ("corners", "loss"),
    [
        ((0.0, 0.030, 0.0), 0.5082299),
        ((0.0, 0.070, 0.0), 1.668),
        ((0.0, 0.07, -0.07, 0.0), 3.336),
        ((0.0, 0.03, 0.01, 0.035, 0.0), 1.1365899),
    ],
)
def test_spec03_oracle_h03_work_of_closed_paths(corners, loss):
    """The work converges with the square of the step to the area; the element's own account agrees to that order."""
    errors, accounts = [], []
    for samples in (200, 3200):
        m = element()
        path = legs(*corners, samples=samples)
        errors.append(abs(work(path, follow(m, path)) - loss))
        accounts.append(abs(m.memory.dissipated_energy - loss))
        assert m.memory.stored_energy == 0.0
    assert errors[0] < 5e-5 * loss
    assert accounts[0] < 2e-4 * loss
    assert errors[1] < errors[0] / 50 + 5e-8  # the printed areas have seven digits
    assert accounts[1] < accounts[0] / 50 + 5e-8


def test_spec03_oracle_h03_first_path_with_200_samples():
    path = legs(0.0, 0.030, 0.0)
    assert work(path, follow(element(), path)) == pytest.approx(0.5082154, abs=1e-7)


# another law than T1, for the other side: more free play, other branches, another slope between them
T2 = (
    (0.005, 0.008, 0.030, 0.050),
    (0.0, 1.0, 40.0, 90.0),
    (0.005, 0.008, 0.040, 0.050),
    (0.0, 1.0, 30.0, 90.0),
    6000.0,
)


@pytest.mark.parametrize(("side", "tables"), [(1.0, T1), (-1.0, T2)])
def test_each_side_follows_its_own_tables(side, tables):
    """Loaded beyond the last point and back, the reactions are those of the tables, and the loss is their area."""
    load_q, load_Q, back_q, back_Q, stiffness = map(np.array, tables)
    m = element(T1, T2)
    path = np.linspace(0.0, side * 0.07, 1401)[1:]
    beyond = stiffness * np.maximum(0.0, np.abs(path) - load_q[-1])
    assert side * follow(m, path) == pytest.approx(np.interp(np.abs(path), load_q, load_Q) + beyond, abs=1e-9)
    path = np.linspace(side * 0.07, 0.0, 1401)[1:]
    beyond = stiffness * np.maximum(0.0, np.abs(path) - back_q[-1])
    assert side * follow(m, path) == pytest.approx(np.interp(np.abs(path), back_q, back_Q) + beyond, abs=1e-9)
    loss = np.trapezoid(load_Q, load_q) - np.trapezoid(back_Q, back_q)
    assert m.memory.dissipated_energy == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize(
    "corners",
    [
        (0.0, 0.03),  # loading
        (0.0, 0.07),
        (0.0, 0.03, 0.028),  # between the branches
        (0.0, 0.05, 0.02),  # unloading
        (0.0, 0.05, 0.02, 0.021),
        (0.0, -0.03),
        (0.0, -0.04, -0.038),
        (0.0, -0.045, -0.02),
    ],
)
def test_what_is_stored_is_the_work_that_comes_back(corners):
    """Follow the element to zero and integrate: 20,000 steps, an error of 1e-6 where a segment ends within one."""
    m = element(T1, T2)
    follow(m, legs(*corners, samples=1000))
    stored, start = m.memory.stored_energy, m.memory.reaction
    path = np.linspace(corners[-1], 0.0, 20_001)
    reactions = np.concatenate([[start], follow(m, path[1:])])
    assert stored == pytest.approx(-np.trapezoid(reactions, path), rel=1e-5)
    assert m.memory.stored_energy == 0.0


def test_spec03_oracle_h04_reversal_inside_a_transition_costs_nothing():
    plain, detour = element(), element()
    follow(plain, legs(0.0, 0.030, 0.0, samples=2000))
    down = follow(detour, legs(0.0, 0.030, 0.026, samples=2000))[2000:]
    up = follow(detour, legs(0.026, 0.030, samples=2000))
    # the first sample after the reversal at the top belongs to the line already, hence equal at every point
    assert up[:-1] == pytest.approx(down[::-1][1:], abs=1e-9)
    follow(detour, legs(0.030, 0.0, samples=2000))
    assert detour.memory.dissipated_energy == pytest.approx(plain.memory.dissipated_energy, rel=1e-5)


@given(seed=st.integers(0, 10_000), amplitude=st.floats(0.005, 0.09))
def test_spec03_oracle_h05_any_path(seed, amplitude):
    path = wandering(seed, amplitude, samples=400)
    m = element()
    Q = follow(m, path)
    s = np.sign(path)
    assert np.all(s * Q <= forward(path) + 1e-9)
    assert np.all(s * Q >= backward(path) - 1e-9)
    assert np.all(np.abs(np.diff(Q, prepend=0.0)) <= K3 * np.abs(np.diff(path, prepend=0.0)) + 1e-9)
    mirrored = element()
    assert np.array_equal(follow(mirrored, -path), -Q)
    assert mirrored.memory.dissipated_energy == m.memory.dissipated_energy
    assert np.array_equal(follow(element(), path, rate_scale=17.0), Q)
    follow(m, legs(path[-1], 0.0, samples=400))
    assert m.memory.stored_energy == 0.0
    assert m.memory.dissipated_energy > -1e-3 * amplitude * forward(amplitude)


@given(seed=st.integers(0, 10_000), gain=st.floats(0.3, 3.0))
def test_energy_account_closes_for_a_changing_gain(seed, gain):
    """Work of the frozen segments + work of the gain = stored + dissipated, to rounding."""
    m = element()
    path = wandering(seed, 0.07, samples=300)
    done, last = 0.0, 0.0
    for i, q in enumerate(path):
        before = m.memory.reaction
        done += 0.5 * (before + hysteresis.reaction(m.memory, q)) * (q - last)
        assert hysteresis.update(m.law, m.memory, q, q - last, 1.0 + (gain - 1.0) * i / len(path)) == 0
        last = q
    memory = m.memory
    assert memory.stored_energy + memory.dissipated_energy == pytest.approx(done + memory.gain_work, abs=1e-12)


def shifted_at_reversal(m, path):
    """The source's way with a slipping brake: the branches move only when the input reverses (section 3.3)."""
    shift, slipping, out, last = 0.0, 0, [], 0.0
    high, low = m.law.forward_deformation[0, 4], -m.law.forward_deformation[1, 4]
    limits = m.law.forward_reaction[0, 4], -m.law.forward_reaction[1, 4]
    for q in path:
        rate = q - last
        if slipping > 0 and rate < 0:
            shift, slipping = last - high, 0
        if slipping < 0 and rate > 0:
            shift, slipping = last - low, 0
        x = q - shift
        slipping = 1 if x > high else -1 if x < low else slipping
        if slipping:
            # at the plateau; the law waits at the end of its range
            update(m, CONSTANT, high if slipping > 0 else low, rate)
            out.append(limits[0] if slipping > 0 else limits[1])
        else:
            update(m, CONSTANT, x, rate)
            out.append(m.memory.reaction)
        last = q
    if slipping:
        shift = last - (high if slipping > 0 else low)
    return np.array(out), shift


@given(seed=st.integers(0, 10_000))
def test_spec03_oracle_h06_continuous_shift_equals_shift_at_reversal(seed):
    path = wandering(seed, 12.0, samples=500)
    continuous, reference = element(H7), element(H7)
    Q = follow(continuous, path, ONE_BRAKE)
    expected, shift = shifted_at_reversal(reference, path)
    assert continuous.memory.slip == pytest.approx(shift, abs=1e-12)
    step = np.abs(np.diff(path, prepend=0.0))
    assert np.all(np.abs(Q - expected) <= H7[4] * step + 1e-9)


def test_spec03_oracle_h07_slip_and_full_unloading():
    m = element(H7)
    path = legs(0.0, 8.0, 1.91, samples=40_000)
    Q = follow(m, path, ONE_BRAKE)
    assert m.memory.slip == pytest.approx(1.91, abs=1e-12)
    assert m.memory.reaction == pytest.approx(0.0, abs=1e-9)
    # 8 / 40000 per sample; second order at the kinks: 100 * (2e-4)^2 per kink
    assert work(path, Q) == pytest.approx(32.493, abs=2e-5)
    assert m.memory.dissipated_energy == pytest.approx(32.493, abs=2e-5)


def gear_train(stiffness, level):
    points = (0.0, 0.5 * level / stiffness, level / stiffness)
    reactions = (0.0, 0.5 * level, level)
    return points, reactions, points, reactions, stiffness


def test_spec03_oracle_h08_two_brakes_in_series():
    """Plateau at M1P of length S1, then at M2P; pull: S1 back at -M1N, then -M2N. Elastic train of 100 N.m/rad."""
    m = element(gear_train(100.0, 8.5), gear_train(100.0, 18.0))
    m.brakes.first_positive, m.brakes.first_negative, m.brakes.first_stroke = 2.2, 0.7, 1.0
    m.brakes.second_positive, m.brakes.second_negative = 8.5, 18.0
    push = legs(0.0, 2.0, samples=20_000)
    Q = follow(m, push, TWO_BRAKES)
    first = push[np.abs(Q - 2.2) < 1e-9]
    assert first[-1] - first[0] == pytest.approx(1.0, abs=2e-4)
    assert first[0] == pytest.approx(0.022, abs=2e-4)
    assert push[np.argmax(Q >= 8.5 - 1e-9)] == pytest.approx(1.0 + 0.085, abs=2e-4)
    assert m.memory.stroke == 1.0
    assert m.memory.slip == pytest.approx(2.0 - 1.085, abs=1e-12)
    pull = legs(2.0, -0.5, samples=25_000)
    Q = follow(m, pull, TWO_BRAKES)
    back = pull[np.abs(Q + 0.7) < 1e-9]
    assert back[0] - back[-1] == pytest.approx(1.0, abs=2e-4)
    assert m.memory.stroke == 0.0
    assert Q[-1] == pytest.approx(-18.0, abs=1e-9)


def test_spec03_oracle_h09_free_decay_stops_in_the_common_segment():
    """The amplitude falls while the motion leaves segment 1; inside it nothing damps, to the integrator's 1e-3."""
    peaks = np.empty(40)
    swing(element(), 1.0, 2e-5, 0.03, peaks)
    assert np.all(np.diff(peaks) < 0.0)
    assert peaks[-1] < 0.3 * peaks[0]
    swing(element(), 1.0, 2e-5, 0.0039, peaks)
    assert peaks == pytest.approx(np.full(40, 0.0039), rel=2e-3)


def test_spec03_oracle_h10_coincident_branches_are_elastic():
    """A spring with backlash, exactly; no dissipation beyond the account's second order at the kink."""
    backlash = ((0.01, 0.05), (0.0, 40.0), (0.01, 0.05), (0.0, 40.0), 1000.0)
    m = element(backlash)
    path = wandering(3, 0.08)
    Q = follow(m, path)
    expected = 1000.0 * np.sign(path) * np.maximum(0.0, np.abs(path) - 0.01)
    assert pytest.approx(expected, abs=1e-11) == Q
    follow(m, legs(path[-1], 0.0))
    assert abs(m.memory.dissipated_energy) < 1e-2 * 0.5 * 1000.0 * 0.07**2


def test_spec03_oracle_h11_strict_law_stops_and_a_smaller_step_helps():
    m = element()
    m.law.strict = 1.0
    assert update(m, CONSTANT, 0.001, 1.0) == 0
    assert update(m, CONSTANT, 0.07, -1.0) == hysteresis.IRREGULAR
    assert m.memory.irregular == 1
    m = element()
    m.law.strict = 1.0
    for q, rate in ((0.001, 1.0), (0.03, 1.0), (0.0701, 1.0), (0.07, -1.0)):
        assert update(m, CONSTANT, q, rate) == 0


def test_not_finite_is_reported():
    m = element()
    assert update(m, CONSTANT, float("nan"), 1.0) == hysteresis.NOT_FINITE


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda p: p.points.__setitem__(0, 7), validity.POINTS),
        (lambda p: p.forward_deformation.__setitem__((0, 2), 0.003), validity.NOT_INCREASING),
        (lambda p: p.forward_reaction.__setitem__((1, 0), 1.0), validity.NOT_THROUGH_ZERO),
        (lambda p: p.backward_reaction.__setitem__((0, 1), 1.9), validity.COMMON_POINTS),
        (lambda p: p.backward_deformation.__setitem__((0, 3), 0.0499), validity.TRANSITION_SLOPE),
        (lambda p: p.forward_deformation.__setitem__((0, 2), 0.0045), validity.TOO_STEEP),
        (lambda p: p.forward_reaction.__setitem__((0, 2), 20.0), validity.CROSSED),
        (lambda p: p.forward_reaction.__setitem__((0, 2), float("nan")), validity.NOT_INCREASING),
    ],
)
def test_ill_posed_tables_are_named(change, code):
    m = element()
    change(m.law)
    assert hysteresis.validate(m.law) == code
    assert 300 + code in hysteresis.messages("parameters.bending", 300)


@given(
    share=st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1.0])),
    ratio=st.one_of(st.floats(1.01, 4.0), st.just(100.0)),
    common=st.one_of(st.floats(0.01, 0.05), st.sampled_from([1e-4, 0.5])),
    free_play=st.floats(0.0, 1e-3),
)
def test_elastic_loop_has_the_loss_asked_for(share, ratio, common, free_play):
    """At any legal loss, none and the largest included.

    A kink crossed within a sample costs the account at most the jump of slope times half the sample squared: with four
    kinks and slopes up to k3, 4 ratio / 4000^2 of the work of loading.
    """
    m = element()
    loss = share * hysteresis.largest_loss(common, ratio)
    hysteresis.elastic_loop(m.law, 8e3, 0.05, free_play, common, loss, ratio)
    assert hysteresis.validate(m.law) == 0
    path = legs(0.0, 0.05, 0.0, samples=4000)
    Q = follow(m, path)
    loading = 0.5 * 8e3 * (0.05 - free_play) ** 2
    assert m.memory.dissipated_energy == pytest.approx(loss * loading, abs=4.0 * ratio / 4000**2 * loading)
    assert np.isfinite(Q).all()
    assert m.memory.irregular == 0


@pytest.mark.slow
@given(seed=st.integers(0, 10_000))
def test_a_loop_without_loss_is_elastic_on_any_path(seed):
    """Reversals anywhere inside the range: the reaction is that of the straight line, to rounding."""
    m = element()
    hysteresis.elastic_loop(m.law, 8e3, 0.05, 0.0, 0.03, 0.0, 2.0)
    path = wandering(seed, 0.05)
    assert follow(m, path) == pytest.approx(8e3 * path, abs=1e-12 * 8e3 * 0.05)


def return_mapping(path, preload, end, stroke, unloading, train, positive, negative):
    """The axial damper of V1 by the return mapping of central-docking section 5.2, an independent algorithm."""
    rate = (end - preload) / stroke
    z = s = 0.0
    out = []
    for u in path:
        e = u - z
        M = train * (e - s)
        if preload + rate * s < M and s < stroke:
            s = min(max((train * e - preload) / (train + rate), 0.0), stroke)
        elif unloading * (preload + rate * s) > M and s > 0:
            s = min(max((train * e - unloading * preload) / (train + unloading * rate), 0.0), stroke)
        M = train * (e - s)
        if positive < M:
            z, M = u - s - positive / train, positive
        elif -negative > M:
            z, M = u - s + negative / train, -negative
        out.append(M)
    return np.array(out), z


@given(
    seed=st.integers(0, 10_000),
    amplitude=st.floats(0.005, 0.15),
    unloading=st.sampled_from([0.7, 0.1, 0.999, 1.0 - 1e-9, 1.0 - 1e-12, 1.0]),
)
def test_spring_and_brake_equals_return_mapping(seed, amplitude, unloading):
    """00 R27: the tables of AX-1 and the return mapping agree, up to the sample after a reversal of the input.

    There the mapping unloads from the last sample, and so does the law from its recorded extreme.
    """
    axial = (1.5e3, 2.5e3, 0.040, unloading, 1e6, 8.5e3, 18e3)
    m = element()
    series_brakes.spring_and_brake(m.law, *axial)
    assert hysteresis.validate(m.law) == 0
    path = wandering(seed, amplitude, samples=600)
    Q = follow(m, path, ONE_BRAKE)
    expected, slip = return_mapping(path, *axial)
    assert np.max(np.abs(Q - expected)) < 1e-9 * 18e3
    assert m.memory.slip == pytest.approx(slip, abs=1e-13)


@pytest.mark.slow
def test_interpreter_and_compiled_code_agree_bit_by_bit():
    program = Path(__file__).with_name("hysteresis_paths.py")
    root = Path(__file__).resolve().parents[4]
    digests = {
        subprocess.run(
            [sys.executable, program],
            env={**os.environ, "NUMBA_DISABLE_JIT": flag, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flag in "01"
    }
    assert len(digests) == 1
