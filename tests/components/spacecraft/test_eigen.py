"""Eigenvectors whose bits depend on nothing but the matrices."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh

from dockfmu.components.spacecraft.modes.eigen import symmetric_modes

EPS = np.finfo(float).eps


def pair(size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A symmetric matrix and a positive definite one, of condition 100 at the most."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, size, size))
    turned, _ = np.linalg.qr(b)
    return a + a.T, (turned * random.uniform(0.1, 10.0, size)) @ turned.T


@given(size=st.integers(1, 12), seed=st.integers(0, 2**32 - 1))
def test_against_lapack(size, seed):
    """Backward stable both: eigenvalues agree to n eps |K| |M^-1|; vectors satisfy their equations to the same."""
    K, M = pair(size, seed)
    values, vectors = symmetric_modes(K, M)
    scale = 10.0 * np.linalg.norm(K)
    assert values == pytest.approx(eigh(K, M, eigvals_only=True), abs=50 * size * EPS * scale)
    assert vectors.T @ M @ vectors == pytest.approx(np.eye(size), abs=100 * size * EPS * 100)
    assert K @ vectors == pytest.approx(M @ vectors * values, abs=100 * size * EPS * 10 * scale)
    assert np.all(np.diff(values) >= 0.0)


def test_signs_do_not_depend_on_the_method():
    K, M = pair(6, 1)
    _, vectors = symmetric_modes(K, M)
    for column in vectors.T:
        assert column[np.argmax(np.abs(column) > 0.5 * np.abs(column).max())] > 0.0


def test_equal_eigenvalues_and_diagonal_matrices():
    values, vectors = symmetric_modes(np.diag([3.0, 1.0, 1.0]), np.eye(3))
    assert list(values) == [1.0, 1.0, 3.0]
    assert np.array_equal(vectors, np.eye(3)[[1, 2, 0]].T)
    values, _ = symmetric_modes(np.zeros((4, 4)), np.eye(4))
    assert not values.any()


def test_a_mass_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(ValueError, match="not positive definite"):
        symmetric_modes(np.eye(2), np.diag([1.0, -1.0]))


@pytest.mark.slow
def test_modes_have_the_same_bits_with_any_number_of_threads_and_in_the_interpreter():
    """LAPACK's `eigh` of this beam differs in its last bits between one thread and two."""
    code = (
        "import hashlib; from dockfmu.fmus.catalogue import component; "
        "modes = component('Spacecraft', modes='station_beam').resources['modes.f64']; "
        "print(hashlib.sha256(modes.tobytes()).hexdigest())"
    )
    settings = ({"OPENBLAS_NUM_THREADS": "1"}, {"OPENBLAS_NUM_THREADS": "2"}, {"NUMBA_DISABLE_JIT": "1"})
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | each, capture_output=True, text=True, check=True
        ).stdout
        for each in settings
    }
    assert len(found) == 1
