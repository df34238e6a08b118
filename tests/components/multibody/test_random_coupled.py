"""Random mechanisms between two craft: their motion has the symmetries of mechanics, with both modes of the base."""

import numpy as np
import pytest

from tests.components.multibody import coupled

pytestmark = pytest.mark.slow

TRANSFORMATIONS = (coupled.turned, coupled.moved, coupled.later, coupled.in_a_mirror, coupled.faster)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("base_motion", ["LAGGED", "AFFINE"])
def test_a_mechanism_between_two_craft_has_the_symmetries_of_mechanics(seed: int, base_motion: str) -> None:
    """Another frame, a common velocity, another start time, a mirror, four times as fast: the same motion.

    With springs, stops, friction, hysteresis, prescribed coordinates, latches, tethers, and contacts of both craft.
    """
    pair = coupled.random_pair(seed)
    states, coordinates = pair.run(base_motion)
    assert np.abs(states[0][2]).max() < 10.0
    for change in TRANSFORMATIONS:
        other, back = change(pair, np.random.default_rng(seed))
        found, reached = other.run(base_motion)
        for one, state in zip(states, found, strict=True):
            for expected, value in zip(one, back(*state), strict=True):
                np.testing.assert_allclose(value, expected, rtol=0.0, atol=1e-11, err_msg=change.__name__)
        # displacements along axes of rotation change their sign in a mirror
        np.testing.assert_allclose(np.abs(reached), np.abs(coordinates), rtol=0.0, atol=1e-10, err_msg=change.__name__)
