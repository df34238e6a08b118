"""CART: bodies with constraint equations.

Theory: multibody-formulations 3.2. Planar examples, ranks, elementary constraints.
"""

import numpy as np
import pytest

from dockfmu.components.multibody.reference import joints
from dockfmu.components.multibody.reference.algebra import rotation
from dockfmu.components.multibody.reference.cartesian import (
    BodyStates,
    assembled,
    body_states,
    constraint_groups,
    no_relative_rotation,
    point_plane,
)
from dockfmu.components.multibody.reference.cartesian_solution import cartesian
from dockfmu.components.multibody.reference.graph_method import loads
from dockfmu.components.multibody.reference.kinematics import follow
from dockfmu.components.multibody.reference.loops import closed
from dockfmu.components.multibody.reference.planar import planar_cartesian, turn
from dockfmu.components.multibody.reference.rank import null_rows, scaled
from dockfmu.components.multibody.reference.system import JointArc, JointSide, RigidSystem
from tests.components.multibody import random_systems
from tests.components.multibody.examples import (
    E6_POSE,
    E6_RATES,
    double_pendulum,
    slider_crank,
    solar_array,
    spatial_slider_crank,
)

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(("J", "expected"), [(1.0, (-1 / 2, 0.0)), (1.0 / 3.0, (-9 / 14, 3 / 14))])
def test_spec10_E05_double_pendulum(J, expected):
    M, F, rows = double_pendulum(J, np.zeros(2), np.zeros(2))
    solution = planar_cartesian(M, F, rows)
    np.testing.assert_allclose(solution.X[:, 2], expected, rtol=0, atol=1e-14)
    assert solution.Q.shape == (4, 6)
    assert np.linalg.matrix_rank(solution.Q) == 4


def test_spec10_E05_equations_of_the_source_hold_with_their_errata():
    """The corrected equations (2.1) to (2.4) at a state with rates, l = m = 1, J = 0.4, weight along -y."""
    alpha, rate, J = np.array([0.3, -0.8]), np.array([1.1, -0.7]), 0.4
    M, F, rows = double_pendulum(J, alpha, rate)
    solution = planar_cartesian(M, F, rows)
    (x1, y1, a1), (x2, y2, a2) = solution.X
    # rows of the hinge at the origin, on body 1; of that between the bodies, on body 2 in axes of body 1
    R10 = solution.multipliers[:2]
    R12 = -turn(alpha[0]) @ solution.multipliers[2:]
    s, c = np.sin(alpha), np.cos(alpha)
    f1, f2 = F[0, :2], F[1, :2]
    # the source has -R10 as the force on body 1
    R10 = -R10
    np.testing.assert_allclose([x1, y1], f1 - R10 + R12, atol=1e-13)
    np.testing.assert_allclose([x2, y2], f2 - R12, atol=1e-13)
    sums = R10 + R12
    assert J * a1 == pytest.approx(sums[1] * c[0] - sums[0] * s[0], abs=1e-13)
    assert J * a2 == pytest.approx(R12[1] * c[1] - R12[0] * s[1], abs=1e-13)
    assert x1 + a1 * s[0] + rate[0] ** 2 * c[0] == pytest.approx(0.0, abs=1e-13)
    assert y1 - a1 * c[0] + rate[0] ** 2 * s[0] == pytest.approx(0.0, abs=1e-13)
    left = x1 - (a1 * s[0] + rate[0] ** 2 * c[0])
    assert left == pytest.approx(x2 + a2 * s[1] + rate[1] ** 2 * c[1], abs=1e-13)
    left = y1 + a1 * c[0] - rate[0] ** 2 * s[0]
    assert left == pytest.approx(y2 - (a2 * c[1] - rate[1] ** 2 * s[1]), abs=1e-13)


def test_spec10_E06_solar_array():
    M, F, rows, _, _ = solar_array(E6_POSE, E6_RATES)
    solution = planar_cartesian(M, F, rows)
    expected = (-2.0386001745, 4.9971859082, -5.8029095816, -4.3218173457)
    np.testing.assert_allclose(solution.X[:, 2], expected, rtol=0, atol=2e-9)
    assert solution.Q.shape == (10, 12)
    assert np.linalg.matrix_rank(solution.Q) == 10
    # the last hinge, of link 4 to panel 2: its rows are in axes of link 4, and act on panel 2
    force = -turn(E6_POSE[3]) @ solution.multipliers[8:]
    np.testing.assert_allclose(force, (11.0324739758, 5.8137491275), rtol=0, atol=2e-9)


@pytest.mark.parametrize(
    ("phi", "rate", "expected", "slider"),
    [
        (np.pi / 3, 10.0, -41.76775407, 0.90851655),
        (2.0, -5.0, 31.01117726, -0.81273581),
    ],
)
def test_spec10_E08_slider_crank(phi, rate, expected, slider):
    """9 dynamic and 8 constraint equations; one-DOF Lagrange gives the same (second test)."""
    M, F, rows, _, _ = slider_crank(phi, rate)
    solution = planar_cartesian(M, F, rows)
    assert solution.Q.shape == (8, 9)
    assert solution.X[0, 2] == pytest.approx(expected, abs=1e-8)
    assert solution.X[2, 0] == pytest.approx(slider, abs=1e-8)
    assert solution.X[2, 1:] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_spec10_E08_positions_and_reactions():
    M, F, rows, x, xd = slider_crank(np.pi / 3, 10.0)
    assert x[3, 0] == pytest.approx(0.33722813, abs=1e-8)
    assert xd[3, 0] == pytest.approx(-1.01678108, abs=1e-8)
    assert x[2, 2] == pytest.approx(-0.29284277, abs=1e-8)
    solution = planar_cartesian(M, F, rows)
    assert solution.multipliers[6] == pytest.approx(36.522545, abs=1e-6)
    np.testing.assert_allclose(solution.multipliers[:2], (1.5598566, 6.2144924), rtol=0, atol=1e-7)


@pytest.mark.parametrize(("phi", "rate"), [(0.2, 3.0), (2.0, -5.0), (-2.5, 1.0)])
def test_spec10_E08_closed_form_of_one_degree_of_freedom(phi, rate):
    """Lagrange: m(phi) phi'' + m' phi'^2 / 2 + V' = 0, with the derivatives in closed form."""
    M, F, rows, _, _ = slider_crank(phi, rate)
    r, rod, m1, m2, m3, g = 0.1, 0.3, 1.0, 2.0, 3.0, 9.81
    s, c = np.sin(phi), np.cos(phi)
    beta = np.arcsin(-r * s / rod)
    db = -r * c / (rod * np.cos(beta))
    ddb = (r * s + rod * np.sin(beta) * db**2) / (rod * np.cos(beta))
    # velocities of the centres per unit phi', and their derivatives by phi
    v2 = np.array([-r * s - 0.5 * rod * np.sin(beta) * db, r * c + 0.5 * rod * np.cos(beta) * db])
    sb, cb = np.sin(beta), np.cos(beta)
    dv2 = np.array([-r * c - 0.5 * rod * (cb * db**2 + sb * ddb), -r * s + 0.5 * rod * (-sb * db**2 + cb * ddb)])
    v3 = -r * s - rod * sb * db
    dv3 = -r * c - rod * (cb * db**2 + sb * ddb)
    mass = m1 * r**2 / 3 + m2 * (v2 @ v2) + m2 * rod**2 / 12 * db**2 + m3 * v3**2
    slope = m2 * (v2 @ dv2) + m2 * rod**2 / 12 * db * ddb + m3 * v3 * dv3
    force = -g * (m1 * 0.5 * r * c + m2 * v2[1])
    expected = (force - slope * rate**2) / mass
    assert planar_cartesian(M, F, rows).X[0, 2] == pytest.approx(expected, abs=1e-8)


def test_spec10_erratum_signs_of_the_guide():
    """(2.47): the guide pushes the slider with +R_37, and the rod turns it with +R_38: the slider's own equations."""
    M, F, rows, _, _ = slider_crank(np.pi / 3, 10.0)
    solution = planar_cartesian(M, F, rows)
    slider = rows[6].Qj * solution.multipliers[6] + rows[7].Qj * solution.multipliers[7]
    pin = sum(row.Qj * value for row, value in zip(rows[4:6], solution.multipliers[4:6], strict=True))
    np.testing.assert_allclose(M[2] * solution.X[2], F[2] + slider + pin, atol=1e-12)


def two_bodies(motion):
    rng = np.random.default_rng(3)
    bodies = tuple(random_systems.body(f"body{k}", rng) for k in (1, 2))
    side = JointSide(rng.normal(size=3), random_systems.attitude(rng))
    return RigidSystem(bodies, (JointArc("free", 0, 1, joints.free()), JointArc("joint", 1, 2, motion, side, side)))


@pytest.mark.parametrize(
    ("motion", "rows", "freedoms"),
    [
        (joints.spherical(), 3, 9),
        (joints.revolute((0, 0, 1)), 5, 7),
        (joints.prismatic((0, 1, 0)), 5, 7),
        (joints.cylindrical((1, 2, 0)), 4, 8),
        (joints.screw((1, 2, 0), 0.1), 5, 7),
        (joints.universal((1, 0, 0), (0, 1, 0)), 4, 8),
        (joints.planar((1, 1, 1)), 3, 9),
        (joints.fixed(), 6, 6),
        (joints.free(), 0, 12),
    ],
    ids=["spherical", "revolute", "prismatic", "cylindrical", "screw", "universal", "planar", "fixed", "free"],
)
def test_spec10_E07_ranks_of_joints(motion, rows, freedoms):
    system = two_bodies(motion)
    q, u = random_systems.state(system, np.random.default_rng(5))
    Q, _ = assembled(system, constraint_groups(system, body_states(follow(system, q, u))))
    rank, _ = null_rows(scaled(Q)) if len(Q) else (0, None)
    assert (len(Q), rank, 12 - rank) == (rows, rows, freedoms)


@pytest.mark.parametrize(
    ("rod", "tilt", "freedoms", "redundant"),
    [("revolute", 0.0, 1, 3), ("spherical", 0.0, 1, 1), ("revolute", 0.3, 0, 2)],
)
def test_spec10_E04_degrees_of_freedom_of_the_slider_crank(rod, tilt, freedoms, redundant):
    """A spherical joint in place of a revolute one changes nothing; axes that are not parallel lock the crank."""
    system, q, u = spatial_slider_crank(np.pi / 3, 0.0, rod, tilt)
    motion = follow(system, q, u)
    report = cartesian(motion, loads(system)).rank
    assert (18 - report.rank, report.redundant) == (freedoms, redundant)
    assert closed(motion, loads(system)).rank.freedoms == freedoms


def test_spec10_equations_2_22_and_2_27_are_derivatives_of_positions():
    """Second differences of n . (p - rho_0) and of the angle's rate along a motion with given accelerations."""
    rng = np.random.default_rng(8)
    A0, r0, v0, a0, w0, e0 = (
        np.array([random_systems.attitude(rng) for _ in range(2)]), *rng.normal(size=(5, 2, 3))
    )  # fmt: skip
    n, point = random_systems.direction(rng), rng.normal(size=3)

    def states(h):
        """Turn by a rotation vector whose derivatives at 0 are w and w': exact to the third order in h."""
        angle = w0 * h + 0.5 * e0 * h**2
        A = np.array(
            [
                A @ rotation(x / max(np.linalg.norm(x), 1e-300), np.linalg.norm(x))
                for A, x in zip(A0, angle, strict=True)
            ]
        )
        return BodyStates(A, r0 + v0 * h + 0.5 * a0 * h**2, v0 + a0 * h, w0 + e0 * h)

    def distance(h):
        s = states(h)
        return n @ s.A[0].T @ (s.r[1] + s.A[1] @ point - s.r[0])

    def turning(h):
        s = states(h)
        return n @ (s.A[0].T @ s.A[1] @ s.w[1] - s.w[0])

    X = np.concatenate((a0, e0), axis=1)
    h = 1e-3
    now = states(0.0)
    Qi, Qj, b = point_plane(n, 0, 1, point, now)
    second = (
        (-distance(2 * h) + 16 * distance(h) - 30 * distance(0.0) + 16 * distance(-h) - distance(-2 * h)) / 12 / h**2
    )
    assert Qi @ X[0] + Qj @ X[1] - b == pytest.approx(second, abs=1e-7)
    Qi, Qj, b = no_relative_rotation(n, 0, 1, now)
    first = (-turning(2 * h) + 8 * turning(h) - 8 * turning(-h) + turning(-2 * h)) / 12 / h
    assert Qi @ X[0] + Qj @ X[1] - b == pytest.approx(first, abs=1e-7)
