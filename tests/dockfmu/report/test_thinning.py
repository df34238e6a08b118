"""Thinned curves: no sample is off the polyline by more than the tolerance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dockfmu.report.thinning import beyond, thin

pytestmark = pytest.mark.quick


@given(st.integers(0, 10**6), st.sampled_from([1e-3, 1e-2, 0.1]))
def test_every_sample_lies_within_the_tolerance_of_the_thinned_polyline(seed, tolerance):
    random = np.random.default_rng(seed)
    t = np.cumsum(random.uniform(0.01, 1.0, 300))
    y = np.cumsum(random.normal(size=300)) * random.choice([0.0, 1.0, 1.0], 300)
    kept_t, kept_y = thin(t, y, tolerance)
    error = np.abs(np.interp(t, kept_t, kept_y) - y).max()
    assert error <= 1.0001 * tolerance * np.ptp(y) + 1e-12
    assert (kept_t[0], kept_t[-1]) == (t[0], t[-1])
    assert (kept_y.min(), kept_y.max()) == (y.min(), y.max())


def test_a_quiet_stretch_shrinks_to_its_ends_and_an_impact_stays():
    t = np.arange(10000) * 1e-3
    y = np.where(np.abs(t - 5.0) < 0.0205, np.sin((t - 5.0) * np.pi / 0.0205), 0.0)
    kept_t, kept_y = thin(t, y)
    assert len(kept_t) < 60
    assert kept_y.max() > 0.999 * y.max()


def test_samples_that_are_not_finite_are_left_out():
    t, y = thin(np.arange(5.0), np.array([0.0, 1.0, np.nan, np.inf, 1.0]))
    assert np.isfinite(y).all()
    assert t[-1] == 4.0


def test_the_largest_numbers_there_are():
    """The range of these exceeds them; pytest makes an error of a warning."""
    t, y = np.arange(4.0), np.array([0.0, 1.7e308, -1.7e308, 0.0])
    assert thin(t, y)[1].tolist() == y.tolist()
    assert len(beyond(t, y, y, y)) == 0
    assert len(beyond(t, np.full(4, np.inf), np.full(4, np.inf), np.full(4, np.inf))) == 0


def test_constant_signals_keep_both_ends():
    t, y = thin(np.arange(100.0), np.full(100, 3.0))
    assert (list(t), list(y)) == ([0.0, 99.0], [3.0, 3.0])


def test_only_intervals_beyond_their_samples_are_boxes():
    """The largest value, however small its excess, and a pulse get boxes; other intervals do not."""
    t, y = np.arange(100.0), np.zeros(100)
    low, high = y.copy(), y.copy()
    high[40], low[60], high[80] = 6322.0, -0.5, 1.0
    assert beyond(t, y, low, high).tolist() == [[39.0, 40.0, 0.0, 6322.0], [59.0, 60.0, -0.5, 0.0]]
    assert len(beyond(t, y, y, y)) == 0


def test_boxes_are_joined_where_there_are_many_and_keep_the_extremes():
    random = np.random.default_rng(1)
    t, y, high = np.arange(10000.0), np.zeros(10000), random.uniform(0.5, 1.0, 10000)
    boxes = beyond(t, y, -high, high, most=300)
    assert len(boxes) <= 300
    assert (boxes[0, 0], boxes[-1, 1]) == (0.0, 9999.0)
    assert (boxes[:, 2].min(), boxes[:, 3].max()) == (-high[1:].max(), high[1:].max())
