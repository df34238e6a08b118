"""Rotations against the listing of conventions section 2, scipy, and their own inverses."""

from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from dockfmu.components.physics.mechanics import rotation, vector

pytestmark = pytest.mark.quick

ROUNDING = 1e-14  # some tens of operations on numbers of order one

angle = st.floats(-3.0, 3.0)
component = st.floats(-1.0, 1.0)
unit_quaternions = (
    st.tuples(component, component, component, component)
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: tuple(float(x) for x in np.array(q) / np.linalg.norm(q)))
)
vectors = st.tuples(component, component, component)


def scipy_matrix(q):
    """Components of the parent to components of the child: the inverse of scipy's active rotation."""
    return Rotation.from_quat([q[1], q[2], q[3], q[0]]).as_matrix().T


@given(unit_quaternions)
def test_matrix_of_a_quaternion_agrees_with_scipy(q):
    assert np.allclose(rotation.from_quaternion(q), scipy_matrix(q), atol=ROUNDING)


@given(unit_quaternions, unit_quaternions, vectors)
def test_product_of_quaternions_is_product_of_matrices_in_reverse(p, q, v):
    both = rotation.from_quaternion(rotation.product(p, q))
    composed = rotation.compose(rotation.from_quaternion(q), rotation.from_quaternion(p))
    assert np.allclose(both, composed, atol=ROUNDING)
    assert np.allclose(rotation.apply_transposed(both, rotation.apply(both, v)), v, atol=ROUNDING)


@given(unit_quaternions)
def test_quaternion_inverts_any_attitude(q):
    back = rotation.quaternion(rotation.from_quaternion(q))
    assert back[0] >= 0.0
    assert np.allclose(rotation.from_quaternion(back), rotation.from_quaternion(q), atol=ROUNDING)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.8, 0.0), (0.6, 0.0, -0.8), (0, 0.6, 0.8)])
def test_quaternion_of_a_half_turn(axis):
    q = (0.0, *map(float, axis))
    back = rotation.quaternion(rotation.from_quaternion(q))
    assert abs(abs(np.dot(back, q)) - 1.0) < ROUNDING


@given(angle, st.floats(-1.5, 1.5), angle)
def test_angles_invert_from_angles(yaw, pitch, roll):
    """asin loses half the digits near 90 degrees: at 1.5 rad the condition number is 1/cos(1.5) = 14."""
    assert np.allclose(rotation.angles(rotation.from_angles(yaw, pitch, roll)), (yaw, pitch, roll), atol=1e-12)


def test_yaw_turns_about_y_pitch_about_z_roll_about_x():
    small = 1e-9
    A = rotation.from_angles(2 * small, 3 * small, 1 * small)
    assert np.allclose(rotation.rotation_vector(rotation.quaternion(A)), (small, 2 * small, 3 * small), atol=1e-16)


@given(vectors.map(lambda v: tuple(3.1 / 1.7320508 * x for x in v)))
def test_rotation_vector_inverts_its_quaternion(phi):
    assert np.allclose(rotation.rotation_vector(rotation.from_rotation_vector(phi)), phi, atol=1e-13)


def test_series_of_small_turns_joins_the_closed_form():
    """Either side of the switch at |phi| = 1e-4 the halves agree with the exact value to rounding."""
    for size in (0.99e-4, 1.01e-4):
        q = rotation.from_rotation_vector((size, 0.0, 0.0))
        assert q[0] == pytest.approx(np.cos(size / 2), abs=1e-16)
        assert q[1] == pytest.approx(np.sin(size / 2), rel=1e-15)


def test_advance_integrates_a_constant_rate_exactly():
    q, turn = (1.0, 0.0, 0.0, 0.0), (0.3 * pi / 1000, -0.2 * pi / 1000, 0.7 * pi / 1000)
    for _ in range(1000):
        q = rotation.advance(q, turn)
    assert np.allclose(q, rotation.from_rotation_vector(tuple(1000 * x for x in turn)), atol=1000 * 2.3e-16)


def test_continued_picks_the_nearer_sign():
    assert rotation.continued((-1.0, 0.0, 0.0, 0.0), (0.9, 0.1, 0.0, 0.0)) == (1.0, 0.0, 0.0, 0.0)


@given(vectors, vectors)
def test_vector_operations_agree_with_numpy(a, b):
    assert np.allclose(vector.cross(a, b), np.cross(a, b), atol=1e-15)
    assert vector.dot(a, b) == pytest.approx(np.dot(a, b), abs=1e-15)
    assert np.allclose(vector.axpy(2.5, a, b), 2.5 * np.array(a) + b, atol=1e-15)


@given(st.tuples(*[st.floats(-0.3, 0.3)] * 3), vectors)
def test_rate_matrix_gives_the_angular_velocity_of_a_rotation_vector(phi, rate):
    """Compare it, of the child in parent axes, with central differences; the series neglects |phi|^4 / 720 < 1e-4."""
    h = 1e-5
    before, after = (
        rotation.from_rotation_vector(tuple(p + s * h * r for p, r in zip(phi, rate, strict=True))) for s in (-1, 1)
    )
    turn = rotation.rotation_vector(rotation.product(after, rotation.conjugate(before)))
    found = rotation.apply(rotation.rate_matrix(phi), rate)
    bound = np.linalg.norm(phi) ** 4 / 720.0 * np.linalg.norm(rate)
    assert found == pytest.approx(np.array(turn) / (2.0 * h), abs=bound + 1e-9)


@given(unit_quaternions, st.floats(1e-5, 1e5))
def test_a_quaternion_of_any_norm_is_an_attitude(q, scale):
    """And normalising twice changes no bit."""
    unit = rotation.load_attitude(np.array(q) * scale)
    assert unit == pytest.approx(q, abs=1e-14)
    assert rotation.load_attitude(np.array(unit)) == unit


@given(angle, st.floats(-1.2, 1.2), angle, vectors)
def test_spec01_oracle_KO1_attitude_and_rates_of_its_angles(yaw, pitch, roll, w):
    """alpha_N is a rotation; the matrix of Euler rates times omega are the rates of the angles, to 1e-9.

    Eighth-order differences over 0.02 s along a turn at the constant rate w: the error is h^8 / 630 of the ninth
    derivative, with |w| < 1.8 rad/s and 1 / cos(pitch) < 2.8 below 1e-10 of the largest rate, and rounding 1e-14.
    """
    A = np.array(rotation.from_angles(yaw, pitch, roll))
    assert np.allclose(A @ A.T, np.eye(3), atol=ROUNDING)
    assert np.linalg.det(A) == pytest.approx(1.0, abs=ROUNDING)
    start = rotation.quaternion(tuple(map(tuple, A)))
    h, weights = 0.01, (4 / 5, -1 / 5, 4 / 105, -1 / 280)

    def angles_at(t):
        return np.array(rotation.angles(rotation.from_quaternion(rotation.advance(start, vector.scale(t, w)))))

    turned = [(angles_at(k * h) - angles_at(-k * h) + pi) % (2 * pi) - pi for k in (1, 2, 3, 4)]
    rates = sum(weight * change for weight, change in zip(weights, turned, strict=True)) / h
    c, s, cos_pitch, tan_pitch = np.cos(roll), np.sin(roll), np.cos(pitch), np.tan(pitch)
    euler = np.array([[0, c / cos_pitch, -s / cos_pitch], [0, s, c], [1, -c * tan_pitch, s * tan_pitch]])
    assert rates == pytest.approx(euler @ np.array(w), abs=1e-9)
