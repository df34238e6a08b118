"""Cycles and damage against textbook cases, closed forms and another count of cycles."""

import math
from itertools import pairwise

import numpy as np
import pytest

from dockfmu.life.fatigue import CYCLE, FatigueCurve, count_cycles, damage_of, equivalent_ranges

pytestmark = pytest.mark.quick

CURVE = FatigueCurve(np.array([200e6, 100e6, 50e6]), np.array([1e4, 1e5, 1e7]), endurance=20e6)


def counted(history):
    """Return the counts of cycles by their range."""
    found: dict[float, float] = {}
    for span, _, count in count_cycles(np.array(history, float)):
        found[span] = found.get(span, 0.0) + count
    return found


def test_the_example_of_the_standard_is_counted_as_there():
    """ASTM E1049-85, figure 6: 3, 4, 6, 8, 9 units with 0.5, 1.5, 0.5, 1.0, 0.5 cycles."""
    assert counted([-2, 1, -3, 5, -1, 3, -4, 4, -2]) == {3: 0.5, 4: 1.5, 6: 0.5, 8: 1.0, 9: 0.5}


def four_points(history):
    """Count cycles by the four-point rule, which is another algorithm: closed cycles, and the residue as half ones."""
    turns = [history[0]]
    for value in history[1:]:
        if len(turns) > 1 and (value - turns[-1]) * (turns[-1] - turns[-2]) > 0:
            turns[-1] = value
        elif value != turns[-1]:
            turns.append(value)
    stack, found = [], []
    for value in turns:
        stack.append(value)
        while len(stack) >= 4:
            a, b, c, d = stack[-4:]
            if not min(a, d) <= min(b, c) <= max(b, c) <= max(a, d):
                break
            found.append((abs(c - b), 1.0))
            del stack[-3:-1]
    found += [(abs(b - a), 0.5) for a, b in pairwise(stack)]
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_damage_is_that_of_another_count_of_cycles(seed):
    """The two rules close the same cycles except in the residue, whose half cycles they take in another order."""
    history = np.random.default_rng(seed).normal(0.0, 60e6, 400)
    # one large cycle around all others: no residue is left but its two halves
    history = np.concatenate([[0.0, 400e6, -400e6], history, [-400e6, 400e6, 0.0]])
    own = damage_of(count_cycles(history), CURVE)
    other = np.array([(span, 0.0, count) for span, count in four_points(history.tolist())], CYCLE)
    assert own == pytest.approx(damage_of(other, CURVE), rel=1e-12)


@pytest.mark.parametrize(
    ("range_", "slope"), [(400e6, math.log(10) / math.log(2)), (30e6, math.log(100) / math.log(2))]
)
def test_the_damage_of_a_sine_is_its_cycles_over_its_life(range_, slope):
    """Beyond the points the curve goes on: N = N1 (S1 / S)^m."""
    at, life = (200e6, 1e4) if range_ > 200e6 else (50e6, 1e7)
    history = 0.5 * range_ * np.cos(np.pi * np.arange(2001))
    assert damage_of(count_cycles(history), CURVE) == pytest.approx(1000 / (life * (at / range_) ** slope), rel=1e-9)


def test_life_between_points_and_at_the_endurance():
    assert CURVE.cycles_at(np.array([200e6, 100e6, 50e6])) == pytest.approx([1e4, 1e5, 1e7], rel=1e-12)
    assert CURVE.cycles_at(np.array([math.sqrt(200e6 * 100e6)])) == pytest.approx(math.sqrt(1e4 * 1e5), rel=1e-12)
    assert CURVE.cycles_at(np.array([0.0, 20e6])).tolist() == [math.inf, math.inf]
    assert np.isfinite(CURVE.cycles_at(np.array([20.001e6])))
    assert CURVE.cycles_at(np.array([math.inf])) == 0.0


def test_tension_costs_life_and_compression_is_not_rewarded():
    cycles = np.array([(100e6, mean, 1.0) for mean in (-200e6, 0.0, 200e6, 400e6)], CYCLE)
    assert equivalent_ranges(cycles, 400e6).tolist() == [100e6, 100e6, 200e6, math.inf]
    assert equivalent_ranges(cycles, math.inf).tolist() == [100e6] * 4
    assert damage_of(cycles[2:3], CURVE, 400e6) == pytest.approx(1e-4, rel=1e-12)
    assert damage_of(cycles[3:], CURVE, 400e6) == math.inf
    # a range that no number can hold, with next to no room below the strength
    large = np.array([(1e308, 1.0, 1.0)], CYCLE)
    assert equivalent_ranges(large, np.nextafter(1.0, 2.0)).tolist() == [math.inf]


def test_damage_adds_up_and_does_not_depend_on_the_unit_of_time():
    history = np.random.default_rng(1).normal(0.0, 60e6, 500)
    twice = np.repeat(history, 2)
    assert damage_of(count_cycles(twice), CURVE) == damage_of(count_cycles(history), CURVE)
    both = np.concatenate([count_cycles(history)] * 2)
    assert damage_of(both, CURVE) == pytest.approx(2.0 * damage_of(count_cycles(history), CURVE), rel=1e-12)


def test_a_constant_stress_has_no_cycles():
    assert damage_of(count_cycles(np.full(10, 1e9)), CURVE) == 0.0
    assert damage_of(count_cycles(np.array([1e9])), CURVE) == 0.0
