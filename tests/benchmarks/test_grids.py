"""The two grids of the benchmark of flexible O9 are one mechanism: other joints are cut, the motion is the same."""

import numpy as np
import pytest

from benchmarks.kernels.elastic_bodies import grid, spine
from benchmarks.kernels.multibody import _instance


def fallen(model):
    """Return the places of all bodies after 10 ms of fall from rest, and before."""
    one = _instance(model)
    before = np.array([body.position for body in one.m.body])
    for k in range(5):
        one.step(2e-3 * k, 2e-3)
    return np.array([body.position for body in one.m.body]), before


def test_spec11_oracle_O9_both_grids_move_alike():
    found, start = fallen(spine(8))
    expected, before = fallen(grid(8))
    assert start == pytest.approx(before, abs=1e-12)
    assert np.abs(expected - before).max() > 1e-4
    assert found == pytest.approx(expected, abs=1e-9)
