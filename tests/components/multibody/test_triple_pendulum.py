"""E16 of multibody-formulations: the triple pendulum of the book's program, by separate bodies (3.174) to (3.179)."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar

from dockfmu.components.multibody.reference import joints
from dockfmu.components.multibody.reference.articulated import articulated
from dockfmu.components.multibody.reference.graph_method import equations, loads, solve
from dockfmu.components.multibody.reference.kinematics import follow
from dockfmu.components.multibody.reference.system import JointArc, ReferenceBody, RigidSystem
from tests.components.multibody.examples import Z, at

pytestmark = pytest.mark.quick

INNER, OUTER = np.array([-1.0, 0.0]), np.array([1.0, 0.0])
M = np.eye(3)
Q = np.array([0.0, -1.0, 0.0])
TABLE = """
0.5 -0.06241905315  -0.0001214239241 -4.7231e-8      0.312256963
1   -0.2451858745   -0.007220887789  -4.244825792e-5 1.235388146
2   -0.824298335    -0.251429647     -0.016777538    4.433500886
3   -1.25509556     -1.1331073       -0.364683027    7.826749110
4   -1.652643246    -1.754562365     -1.904329307    8.877641111
5   -2.206503608    -2.229219186     -3.258878784    6.279117003
6   -2.554235945    -3.024568962     -3.479168723    2.789882704
8   -2.770571177    -3.696759688     -3.080845359    0.292292142
10  -1.888975405    -2.812204075     -2.965351117    5.894757413
"""


def program(q, qd, tau=(0.0, 0.0, 0.0), transmit=True, sign=-1.0):
    """Return q'' by the book's program, absolute angles, with joint moments tau.

    The third row of C is zero, so that C^T does not transmit the moment of a joint: -tau acts on the body before it.
    `sign` is that of the correction in (3.179), printed plus.
    """
    s, c = np.sin(q), np.cos(q)
    C, S, bias = [], [], []
    for k in range(3):
        S.append(np.array([c[k] * INNER[1] + s[k] * INNER[0], s[k] * INNER[1] - c[k] * INNER[0], 1.0]))
        own = qd[k] ** 2 * np.array([c[k] * INNER[0] - s[k] * INNER[1], s[k] * INNER[0] + c[k] * INNER[1], 0.0])
        transfer = np.zeros((3, 3))
        if k:
            x = np.array([-s[k - 1] * OUTER[0] - c[k - 1] * OUTER[1], c[k - 1] * OUTER[0] - s[k - 1] * OUTER[1]])
            transfer[:2, :2], transfer[:2, 2] = np.eye(2), x
            own[:2] += qd[k - 1] ** 2 * np.array([-x[1], x[0]])
        C.append(transfer)
        bias.append(own)
    masses, forces, U = [M.copy() for _ in range(3)], [Q.copy() for _ in range(3)], [0.0] * 3
    if transmit:
        for k in (1, 2):
            forces[k - 1][2] -= tau[k]
    for k in (2, 1, 0):
        MS = masses[k] @ S[k]
        U[k] = S[k] @ MS
        if k:
            masses[k - 1] += C[k].T @ (masses[k] - np.outer(MS, MS) / U[k]) @ C[k]
            pushed = tau[k] + S[k] @ (forces[k] - masses[k] @ bias[k])
            forces[k - 1] += sign * C[k].T @ (MS / U[k] * pushed + masses[k] @ bias[k] - forces[k])
    w, udot = np.zeros(3), np.zeros(3)
    for k in range(3):
        w = C[k] @ w + bias[k]
        udot[k] = (tau[k] + S[k] @ (forces[k] - masses[k] @ w)) / U[k]
        w = w + S[k] * udot[k]
    return udot


def mass_matrix(q):
    """Return that of the absolute angles: [[10, 6, 2], [6, 6, 2], [2, 2, 2]] with cosines of the differences."""
    return np.array([[10.0, 6.0, 2.0], [6.0, 6.0, 2.0], [2.0, 2.0, 2.0]]) * np.where(
        np.eye(3, dtype=bool), 1.0, np.cos(q[:, None] - q[None])
    )


def kinetic_energy(q, qd):
    return 0.5 * qd @ mass_matrix(q) @ qd


@cache
def run():
    return solve_ivp(
        lambda t, y: np.concatenate((y[3:], program(y[:3], y[3:]))),
        (0.0, 10.0),
        np.zeros(6),
        "DOP853",
        rtol=1e-12,
        atol=1e-13,
        dense_output=True,
    )


def in_space():
    """Return the pendulum with hinges about z, whose angles are relative ones."""
    bodies = tuple(ReferenceBody(f"{k}", 1.0, np.diag([1e-3, 1.0, 1.0])) for k in range(3))
    points = (at(), at(1.0), at(1.0))
    return RigidSystem(
        bodies, tuple(JointArc(f"{k}", k, k + 1, joints.revolute(Z), points[k], at(-1.0)) for k in range(3))
    )


def relative(values):
    return np.diff(values, prepend=0.0)


def test_spec10_E16_start():
    np.testing.assert_allclose(program(np.zeros(3), np.zeros(3)), (-0.5, 0.0, 0.0), atol=1e-15)
    assert np.linalg.det(mass_matrix(np.zeros(3))) == pytest.approx(32.0)


@pytest.mark.parametrize("row", TABLE.strip().splitlines())
def test_spec10_E16_table(row):
    """Tolerances of the source: 1e-7 up to 5 s, 1e-6 at 10 s."""
    t, *expected = map(float, row.split())
    y = run().sol(t)
    tolerance = 1e-7 if t <= 5.0 else 1e-6
    np.testing.assert_allclose([*y[:3], kinetic_energy(y[:3], y[3:])], expected, rtol=0, atol=tolerance)


def test_spec10_E16_energy():
    """T + 5 sin q1 + 3 sin q2 + sin q3 = 0; the integrator's tolerance is 1e-12 of the state a step."""
    for y in run().y.T:
        potential = np.sin(y[:3]) @ [5.0, 3.0, 1.0]
        assert kinetic_energy(y[:3], y[3:]) + potential == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("t", "sign", "expected", "digits"), [(3.816, 1, 8.9632060, 1e-7), (7.566, -1, 0.0726, 5e-5)])
def test_spec10_E16_extremes_of_the_energy(t, sign, expected, digits):
    def energy(time):
        y = run().sol(time)
        return -sign * kinetic_energy(y[:3], y[3:])

    found = minimize_scalar(energy, bounds=(t - 0.3, t + 0.3), method="bounded", options={"xatol": 1e-8})
    assert found.x == pytest.approx(t, abs=1e-3)
    assert -sign * found.fun == pytest.approx(expected, abs=digits)


def test_spec10_E16_small_oscillations():
    """32 w^6 - 112 w^4 + 90 w^2 - 15 = 0 about hanging, from differences of the accelerations, error h^2 = 1e-8."""
    hanging, h = np.full(3, -np.pi / 2), 1e-4
    columns = [(program(hanging + d, 0 * d) - program(hanging - d, 0 * d)) / (2 * h) for d in h * np.eye(3)]
    squares = np.sort(-np.linalg.eigvals(np.array(columns).T).real)
    np.testing.assert_allclose(np.sqrt(squares), (0.47565901, 0.92597015, 1.55445418), rtol=0, atol=1e-7)
    np.testing.assert_allclose(np.polyval([32.0, -112.0, 90.0, -15.0], squares), 0.0, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_spec10_E16_program_equals_the_formulations_in_space(seed):
    """Also with joint moments, which C^T with its zero row does not transmit."""
    rng = np.random.default_rng(seed)
    q, qd, tau = rng.normal(size=(3, 3))
    system = in_space()
    motion, given = follow(system, relative(q), relative(qd)), loads(system, (0.0, -1.0, 0.0), tau=tau)
    found = equations(motion, given)
    for udot in (solve(found.A, found.B)[0], articulated(motion, given)[0]):
        np.testing.assert_allclose(np.cumsum(udot), program(q, qd, tau), atol=1e-13)
    assert np.abs(program(q, qd, tau, transmit=False) - program(q, qd, tau)).max() > 1e-2


def test_spec10_erratum_sign_of_3_179():
    """With the printed plus the accelerations are wrong, and energy is not conserved."""
    q, qd = np.array([0.3, -0.2, 0.5]), np.array([1.0, -0.5, 0.7])
    assert np.abs(program(q, qd, sign=1.0) - program(q, qd)).max() > 0.1
