"""The source's velocity terms of the base motion against derivatives of the port's pose."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockfmu.components.spacecraft.mounts import _source_acceleration


def test_spec04_section_3_4_velocity_terms_of_an_elastic_port():
    """A body that turns at a constant rate, its port moving and turning on it at constant rates: second differences.

    Acceleration of the port = w x (w x r) + 2 w x v_elastic, angular acceleration = w x w_elastic, axes C.
    """
    rng = np.random.default_rng(4)
    w, arm, v, turn = rng.normal(size=(4, 3)) * [[0.3], [5.0], [0.2], [0.1]]

    def position(t):
        return Rotation.from_rotvec(w * t).apply(arm + v * t)

    def spin(t):
        return Rotation.from_rotvec(w * t).apply(w + turn)

    acceleration, angular = _source_acceleration(tuple(w), tuple(arm), tuple(v), tuple(turn))
    h = 1e-3
    second = (position(h) - 2.0 * position(0.0) + position(-h)) / h**2
    assert acceleration == pytest.approx(second, abs=1e-6), "h^2 / 12 of the fourth derivative, and 1e-15 / h^2"
    assert angular == pytest.approx((spin(h) - spin(-h)) / (2.0 * h), abs=1e-7)
