"""Mass data that some body has, against eigenvalues and particles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockfmu.components.mechanics.inertia import possible

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
