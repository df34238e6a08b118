"""Mass data that some body has, against eigenvalues and particles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockfmu.components.physics.mechanics.inertia import invert, possible

pytestmark = pytest.mark.quick


def inertia(mass: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.einsum(
        "n,nij->ij", mass, (places**2).sum(axis=1)[:, None, None] * np.eye(3) - places[:, :, None] * places[:, None]
    )


def answer(mass: float, centre: np.ndarray, J: np.ndarray) -> bool:
    return possible(mass, tuple(centre), tuple(map(tuple, J)))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 20], ids="{} particles".format)
def test_what_is_made_of_particles_is_possible(count):
    """One particle has no inertia about its centre, two are a rod, three a plate, in any attitude and place."""
    rng = np.random.default_rng(count)
    for scale in (1e-3, 1.0, 1e3):
        for _ in range(50):
            mass, places = rng.uniform(0.1, 2.0, count), scale * rng.normal(size=(count, 3))
            assert answer(mass.sum(), mass @ places / mass.sum(), inertia(mass, places))


def test_it_is_the_inequality_of_the_principal_moments():
    """About the centre, no moment is above the sum of the others: also where the offset alone spoils it."""
    rng = np.random.default_rng(5)
    found = set()
    for _ in range(400):
        moments = rng.uniform(0.1, 1.0, 3)
        turn = Rotation.random(random_state=rng).as_matrix()
        centre, mass = rng.normal(size=3), rng.uniform(0.1, 10.0)
        J = turn @ np.diag(moments) @ turn.T + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        margin = (moments.sum() - 2.0 * moments.max()) / np.trace(J)
        if abs(margin) > 1e-6:
            found.add(margin > 0.0)
            assert answer(mass, centre, J) == (margin > 0.0)
    assert found == {True, False}


def test_a_negative_moment_is_impossible():
    assert not answer(1.0, np.zeros(3), np.diag([1.0, 1.0, -0.1]))
    assert not answer(1.0, np.array([1.0, 0.0, 0.0]), np.diag([1.0, 0.9, 0.9]))


def test_the_inverse_of_any_definite_matrix():
    """Conditions up to 100: cofactors lose as many digits, of the sixteen that there are."""
    rng = np.random.default_rng(6)
    for scale in (1e-3, 1.0, 1e5):
        for _ in range(50):
            turn = Rotation.random(random_state=rng).as_matrix()
            A = turn @ np.diag(scale * 10.0 ** rng.uniform(-1.0, 1.0, 3)) @ turn.T
            inverse, good = invert(tuple(map(tuple, A)))
            assert good
            assert np.allclose(A @ np.array(inverse), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("moments", [(1.0, 1.0, -1.0), (-1.0, -1.0, 1.0), (-1.0, -1.0, -1.0), (0.0, 1.0, 1.0)])
def test_a_matrix_that_is_not_definite_comes_back(moments):
    """Two negative eigenvalues leave the determinant positive."""
    turn = Rotation.from_rotvec([0.3, -0.2, 0.9]).as_matrix() if min(moments) < 0.0 else np.eye(3)
    A = tuple(map(tuple, turn @ np.diag(moments) @ turn.T))
    assert invert(A) == (A, False)
