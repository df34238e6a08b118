"""Inverses of the loops against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.components.physics.linkage import loop_matrix


@pytest.mark.parametrize("n", [3, 4])
@given(seed=st.integers(0, 10**6))
def test_inverse_by_cofactors(n, seed):
    """Determinant to rounding of its terms; residual of cofactors: rounding times the square of the condition."""
    A = np.random.default_rng(seed).normal(size=(n, n))
    B = np.zeros((n, n))
    determinant = (loop_matrix.invert_3 if n == 3 else loop_matrix.invert_4)(A, B)
    assert abs(determinant - np.linalg.det(A)) <= 1e-14 * np.abs(A).max() ** n * n**n
    assert np.abs(A @ B - np.eye(n)).max() <= 1e-14 * np.linalg.cond(A) ** 2
    assert (loop_matrix.invert_3 if n == 3 else loop_matrix.invert_4)(np.zeros((n, n)), B) == 0.0
