"""Small linear algebra against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dockfmu.components.core.table import interpolate, segment, slope
from dockfmu.components.physics.mechanics import matrix

pytestmark = pytest.mark.quick

seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 6))
def test_lu_solves_general_systems(seed, n):
    random = np.random.default_rng(seed)
    A, b = random.normal(size=(n, n)), random.normal(size=n)
    factors, x, pivot = A.copy(), b.copy(), np.zeros(n)
    assert matrix.factor_lu(factors, pivot, n)
    matrix.solve_lu(factors, pivot, x, n)
    scale = np.abs(A).max() * np.abs(x).max() + np.abs(b).max()
    assert np.abs(A @ x - b).max() <= 1000 * n * 2.3e-16 * scale


def test_lu_refuses_a_singular_matrix():
    assert not matrix.factor_lu(np.zeros((3, 3)), np.zeros(3), 3)


@given(seeds)
def test_products_agree_with_numpy(seed):
    random = np.random.default_rng(seed)
    A, B, C = random.normal(size=(3, 6)), random.normal(size=(6, 4)), np.zeros((3, 4))
    matrix.multiply(A, B, C)
    assert np.allclose(C, A @ B, atol=1e-13)


@given(st.floats(-2.0, 5.0))
def test_interpolation_agrees_with_numpy(x):
    knots, values = np.array([0.0, 1.0, 1.5, 4.0]), np.array([1.0, -1.0, 2.0, 2.5])
    assert interpolate(x, knots, values) == pytest.approx(np.interp(x, knots, values), abs=1e-15)
    i = segment(x, knots)
    assert 0 <= i <= 2
    assert knots[i] <= x or i == 0
    assert x < knots[i + 1] or i == 2
    inside = knots[0] <= x < knots[-1]
    assert slope(x, knots, values) == (pytest.approx(np.diff(values)[i] / np.diff(knots)[i]) if inside else 0.0)
