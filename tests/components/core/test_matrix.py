"""Small linear algebra against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core import matrix
from components.core.table import interpolate, segment, slope

seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 6))
def test_ldl_solves_symmetric_systems(seed, n):
    """The backward error of LDL^T is a few n epsilon; the residual is compared, not the solution."""
    random = np.random.default_rng(seed)
    root = random.normal(size=(n, n)) + 2 * np.eye(n)
    A, b = root @ root.T, random.normal(size=n)
    factors, x = np.zeros((6, 6)), np.zeros(6)
    factors[:n, :n], x[:n] = np.tril(A), b
    assert matrix.factor_ldl(factors, n)
    matrix.solve_ldl(factors, x, n)
    scale = np.abs(A).max() * np.abs(x).max() + np.abs(b).max()
    assert np.abs(A @ x[:n] - b).max() <= 100 * n * 2.3e-16 * scale


def test_ldl_refuses_an_indefinite_matrix():
    assert not matrix.factor_ldl(np.array([[1.0, 0.0], [2.0, 1.0]]), 2)


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


@pytest.mark.parametrize("n", [3, 4])
@given(seed=seeds)
def test_inverse_by_cofactors(n, seed):
    """Determinant to rounding of its terms; residual of cofactors: rounding times the square of the condition."""
    A = np.random.default_rng(seed).normal(size=(n, n))
    B = np.zeros((n, n))
    determinant = (matrix.invert_3 if n == 3 else matrix.invert_4)(A, B)
    assert abs(determinant - np.linalg.det(A)) <= 1e-14 * np.abs(A).max() ** n * n**n
    assert np.abs(A @ B - np.eye(n)).max() <= 1e-14 * np.linalg.cond(A) ** 2
    assert (matrix.invert_3 if n == 3 else matrix.invert_4)(np.zeros((n, n)), B) == 0.0


@given(seeds)
def test_products_agree_with_numpy(seed):
    random = np.random.default_rng(seed)
    A, B, v = random.normal(size=(3, 6)), random.normal(size=(6, 4)), random.normal(size=6)
    C, D, w = np.zeros((3, 4)), np.zeros((6, 6)), np.zeros(3)
    matrix.multiply(A, B, C)
    matrix.multiply_transposed(A, A, D)
    matrix.multiply_vector(A, v, w)
    assert np.allclose(C, A @ B, atol=1e-13)
    assert np.allclose(D, A.T @ A, atol=1e-13)
    assert np.allclose(w, A @ v, atol=1e-13)


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
