"""WITT: examples E10 to E15 of multibody-formulations, their closed forms, and the errata of section 3.3."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dockfmu.components.multibody.reference import joints
from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.articulated import articulated
from dockfmu.components.multibody.reference.graph import incidence, paths
from dockfmu.components.multibody.reference.graph_method import about_center, equations, loads, solve
from dockfmu.components.multibody.reference.kinematics import follow
from dockfmu.components.multibody.reference.planar import planar_equations, polar
from dockfmu.components.multibody.reference.spherical import (
    angular_accelerations,
    b_by_matrices,
    b_vectors,
    barycentres,
    floating,
    path_vectors,
    precedes,
    suspended,
)
from dockfmu.components.multibody.reference.system import BaseMotion, JointArc, JointSide, ReferenceBody, RigidSystem
from tests.components.multibody import random_systems
from tests.components.multibody.examples import Z, at

pytestmark = pytest.mark.quick

GRAVITY = np.array([0.0, 0.0, -9.81])


class Wing:
    """E10: two panels on a fixed spacecraft, arcs towards it."""

    m = np.array([12.0, 10.0])
    J = np.array([12.0 * 1.6**2, 10.0 * 1.5**2]) / 12.0
    s10 = s12 = 0.8
    s21 = 0.75
    h10 = h12 = h21 = 0.02

    def __init__(self):
        self.S, self.T = incidence([1, 2], [0, 1], 2), paths([1, 2], [0, 1], 2)
        c = np.zeros((2, 2, 3))
        c[0, 0], c[0, 1], c[1, 1] = (-self.s10, self.h10, 0), (self.s12, -self.h12, 0), (-self.s21, -self.h21, 0)
        S = self.S[1:]
        self.d = path_vectors(S, self.T, c)
        self.b = b_vectors(S, self.T, barycentres(S, self.T, c, self.m), c)
        # b_i0 leads to the joint towards the base
        self.b0 = np.array([self.b[i, i] + c[i, i] for i in range(2)])

    def equations(self, phi):
        moment = np.array([-20.0 * phi[0] + 12.0 * (phi[1] - phi[0]), -12.0 * (phi[1] - phi[0])])
        none = np.zeros((2, 2))
        return planar_equations(
            self.d, self.b0, precedes(self.T, self.S[1:]), self.m, self.J, phi, moment, none[0], none
        )

    def accelerations(self, phi, rate):
        found = self.equations(phi)
        return np.linalg.solve(found.A, found.R - found.B @ rate**2)


def test_spec10_E10_table_3_1():
    wing, total = Wing(), 22.0
    m1, m2 = wing.m
    size, angle = polar(wing.d)
    arm, _ = polar(wing.b0)
    d = np.array([[np.hypot(0.8, 0.02), np.hypot(1.6, 0.04)], [0.0, np.hypot(0.75, 0.02)]])
    np.testing.assert_allclose(size, d, atol=1e-15)
    a = [[np.pi - np.arctan(0.02 / 0.8), np.pi - np.arctan(0.04 / 1.6)], [0.0, np.pi + np.arctan(0.02 / 0.75)]]
    np.testing.assert_allclose(angle, a, atol=1e-15)
    b = np.linalg.norm(wing.b, axis=2)
    np.testing.assert_allclose(b[0], np.array([m2, m1]) / total * np.hypot(0.8, 0.02), atol=1e-15)
    np.testing.assert_allclose(b[1], np.array([m2, m1]) / total * np.hypot(0.75, 0.02), atol=1e-15)
    assert arm[0] == pytest.approx(np.hypot(m2 * 0.8 / total + 0.8, m2 * 0.02 / total + 0.02), abs=1e-15)
    np.testing.assert_allclose(arm, (1.1639999432, 0.3410302815), rtol=0, atol=6e-11)


def test_spec10_erratum_angles_of_table_3_1():
    """Beta is not 0, as printed; with 0 the accelerations are wrong."""
    wing = Wing()
    _, beta = polar(wing.b0)
    np.testing.assert_allclose(np.degrees(beta), (178.56790, 181.52753), rtol=0, atol=6e-6)
    phi = np.array([np.pi / 2, -np.pi / 2])
    right = wing.accelerations(phi, np.zeros(2))
    wing.b0 = np.array([[np.linalg.norm(b), 0.0, 0.0] for b in wing.b0])
    assert np.abs(wing.accelerations(phi, np.zeros(2)) - right).max() > 0.1


def test_spec10_E10_two_panel_array():
    wing = Wing()
    phi = np.array([np.pi / 2, -np.pi / 2])
    found = wing.equations(phi)
    np.testing.assert_allclose(found.A, [[35.8608, -11.992], [-11.992, 7.504]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(wing.accelerations(phi, np.zeros(2)), (-0.53117381, 4.17501007), rtol=0, atol=6e-9)


def test_spec10_E10_deployment():
    """Tolerances: the digits given; the solver's error is 1e-11 of the state a step."""
    wing = Wing()
    start = np.array([np.pi / 2, -np.pi / 2, 0.0, 0.0])

    def rates(t, y):
        return np.concatenate((y[2:], wing.accelerations(y[:2], y[2:])))

    def aligned(t, y):
        return y[1] - y[0]

    def straight(t, y):
        return y[0]

    run = solve_ivp(
        rates, (0.0, 1.5), start, "DOP853", rtol=1e-11, atol=1e-12, events=(aligned, straight), dense_output=True
    )
    assert run.t_events[0][0] == pytest.approx(1.10181591, abs=1e-8)
    assert run.t_events[1][0] == pytest.approx(1.46186173, abs=1e-8)
    expected = (0.94773259, 0.14934640, -2.17907031, 4.23344969)
    np.testing.assert_allclose(run.sol(1.0), expected, rtol=0, atol=1e-8)

    def energy(y):
        springs = 10.0 * y[0] ** 2 + 6.0 * (y[1] - y[0]) ** 2
        return springs + 0.5 * y[2:] @ wing.equations(y[:2]).A @ y[2:]

    energies = [energy(y) for y in run.y.T]
    assert energies[0] == pytest.approx(83.8916374, abs=1e-7)
    assert np.ptp(energies) < 2e-8


def chain(rng, n):
    """Return (S, T, c, m) of a regularly numbered tree with joint points in every body."""
    leaves, enters = [], []
    for k in range(1, n + 1):
        ends = [int(rng.integers(0 if k == 1 else 1, k)), k]
        if rng.random() < 0.5:
            ends.reverse()
        leaves.append(ends[0])
        enters.append(ends[1])
    S, T = incidence(leaves, enters, n), paths(leaves, enters, n)
    c = rng.normal(size=(n, n, 3)) * (S[1:] != 0)[:, :, None]
    return S, T, c, rng.uniform(0.5, 3.0, size=n)


@pytest.mark.parametrize("seed", range(10))
def test_spec10_oracle_1_augmented_bodies(seed):
    """Sum of m_j b_ij = 0 (3.19), d_ij = b_i0 - b_ij (3.20), and the two ways to b agree."""
    S, T, c, m = chain(np.random.default_rng(seed), 6)
    d, b = path_vectors(S[1:], T, c), b_vectors(S[1:], T, barycentres(S[1:], T, c, m), c)
    np.testing.assert_allclose(np.einsum("j,ijx->ix", m, b), 0.0, atol=1e-14)
    b0 = np.array([b[i, i] + c[i, i] for i in range(6)])
    np.testing.assert_allclose(d, b0[:, None] - b, atol=1e-14)
    np.testing.assert_allclose(b_by_matrices(S[1:], T, c, m), b, atol=1e-14)


def spherical_system(S, c, J, m):
    """Return the tree of ball joints with all bodies in inertial axes."""
    arcs = []
    for a, column in enumerate(S.T):
        i, j = int(np.flatnonzero(column == 1)[0]), int(np.flatnonzero(column == -1)[0])
        sides = [JointSide(c[body - 1, a] if body else np.zeros(3)) for body in (i, j)]
        arcs.append(JointArc(f"{a}", i, j, joints.spherical(), *sides))
    return RigidSystem(tuple(ReferenceBody("", mass, inertia) for mass, inertia in zip(m, J, strict=True)), tuple(arcs))


@pytest.mark.parametrize("seed", range(6))
def test_suspended_chain_equals_the_general_form(seed):
    """Compare (3.31) to (3.34), spherical joints with a moving base, with 3.4 and ABA; K is symmetric."""
    rng = np.random.default_rng(seed)
    S, T, c, m = chain(rng, 5)
    J = np.array([random_systems.body("", rng).inertia for _ in m])
    w, F, L, a0 = *rng.normal(size=(3, 5, 3)), rng.normal(size=3)
    before = precedes(T, S[1:])
    d, b = path_vectors(S[1:], T, c), b_vectors(S[1:], T, barycentres(S[1:], T, c, m), c)
    b0 = np.array([b[i, i] + c[i, i] for i in range(5)])
    K, moment = suspended(d, b0, before, m, J, w, a0, F)
    np.testing.assert_allclose(K, K.transpose(1, 0, 3, 2), atol=1e-13)
    found = angular_accelerations(K, moment + L)

    system = spherical_system(S, c, J, m)
    q = np.tile([1.0, 0.0, 0.0, 0.0], 5)
    absolute = np.vstack((np.zeros(3), w))
    u = np.concatenate([absolute[joint.enters] - absolute[joint.leaves] for joint in system.joints])
    motion = follow(system, q, u, base=BaseMotion(a=a0))
    np.testing.assert_allclose(motion.w[1:], w, atol=1e-13)
    _, _, e = articulated(motion, loads(system, F=F, L=L))
    np.testing.assert_allclose(found, e, rtol=0, atol=1e-12 * np.abs(e).max())


def two_bodies():
    """The bodies of E12 to E14."""
    m = np.array([2.0, 1.0])
    J = np.array([np.diag([0.1, 0.5, 0.5]), np.diag([0.05, 0.3, 0.2])])
    return m, J, np.array([1.0, 0.0, 0.0]), np.array([-0.5, 0.2, 0.0])


def test_spec10_E12_free_system():
    m, J, c12, c22 = two_bodies()
    S, T = incidence([0, 1], [1, 2], 2), paths([0, 1], [1, 2], 2)
    c = np.zeros((2, 2, 3))
    c[0, 1], c[1, 1] = c12, c22
    b = b_by_matrices(S[1:], T, c, m)
    np.testing.assert_allclose(b, b_vectors(S[1:], T, barycentres(S[1:], T, c, m), c), atol=1e-15)
    w = np.array([[0.3, -0.2, 0.5], [-0.1, 0.4, 0.2]])
    K, moment = floating(b, m, J, w, np.zeros((2, 3)))
    torque = np.array([0.1, 0.2, -0.3])
    found = angular_accelerations(K, moment + np.array([-torque, torque]))
    expected = [[-1.0, -0.4188311688, 0.6259936102], [1.8823376623, 0.5409740260, -1.0789776358]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-11)


def test_spec10_E12_equals_the_general_form():
    """Also with external forces, and the centre of mass moves with their sum (3.168) to (3.170)."""
    m, J, c12, c22 = two_bodies()
    rng = np.random.default_rng(4)
    F, w = rng.normal(size=(2, 2, 3))
    system = RigidSystem(
        tuple(ReferenceBody("", mass, inertia) for mass, inertia in zip(m, J, strict=True)),
        (
            JointArc("free", 0, 1, joints.free()),
            JointArc("ball", 1, 2, joints.spherical(), JointSide(c12), JointSide(c22)),
        ),
    )
    q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    motion = follow(system, q, [0.0, 0.0, 0.0, *w[0], *(w[1] - w[0])])
    given = loads(system, F=F)
    found = equations(motion, given)
    a, e = found.accelerations(solve(found.A, found.B)[0])
    S, T = incidence([0, 1], [1, 2], 2), paths([0, 1], [1, 2], 2)
    c = np.zeros((2, 2, 3))
    c[0, 1], c[1, 1] = c12, c22
    K, moment = floating(b_by_matrices(S[1:], T, c, m), m, J, w, F)
    np.testing.assert_allclose(angular_accelerations(K, moment), e, atol=1e-13)
    np.testing.assert_allclose(m @ a, F.sum(axis=0), atol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_spec10_3_4_free_system_about_its_center_of_mass(seed):
    """(3.168) to (3.170): the free joint's displacements drop out, all other accelerations are the same."""
    rng = np.random.default_rng(seed)
    made = random_systems.tree(rng, 5)
    free = JointArc("free", 0, 1, joints.free(), JointSide(rng.normal(size=3)), random_systems.side(rng))
    arcs = (free, *(replace(joint, leaves=joint.leaves or 1, enters=joint.enters or 1) for joint in made.joints[1:]))
    system = RigidSystem(made.bodies, arcs)
    motion = follow(system, *random_systems.state(system, rng))
    given = loads(system, F=rng.normal(size=(5, 3)), L=rng.normal(size=(5, 3)))
    found = equations(motion, given)
    udot, _ = solve(found.A, found.B)
    centred = about_center(motion, found)
    np.testing.assert_allclose(centred.A[:3], 0.0, atol=1e-12)
    np.testing.assert_allclose(centred.B[:3], 0.0, atol=1e-12)
    rest, _ = solve(centred.A[3:, 3:], centred.B[3:])
    np.testing.assert_allclose(rest, udot[3:], rtol=0, atol=1e-10 * max(1.0, np.abs(udot).max()))
    a, _ = centred.accelerations(np.concatenate((np.zeros(3), rest)))
    a = a + given.F.sum(axis=0) / system.masses.sum()
    expected, _ = found.accelerations(udot)
    np.testing.assert_allclose(a, expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))


def test_spec10_E13_spherical_chain():
    m, J, c12, c22 = two_bodies()
    S, T = incidence([0, 1], [1, 2], 2), paths([0, 1], [1, 2], 2)
    c = np.zeros((2, 2, 3))
    c[0, 0], c[0, 1], c[1, 1] = (-1.0, 0.0, 0.0), c12, c22
    d, b = path_vectors(S[1:], T, c), b_vectors(S[1:], T, barycentres(S[1:], T, c, m), c)
    b0 = np.array([b[i, i] + c[i, i] for i in range(2)])
    w = np.array([[0.3, -0.2, 0.5], [-0.1, 0.4, 0.2]])
    K, moment = suspended(d, b0, precedes(T, S[1:]), m, J, w, np.zeros(3), m[:, None] * GRAVITY)
    np.testing.assert_allclose(K[0, 1], [[0, 0, 0], [0.4, 1, 0], [0, 0, 1]], atol=1e-15)
    expected = [[0.0, 6.8719370079, -0.0052356979], [-5.4403149606, -2.3434645669, 0.4380320366]]
    np.testing.assert_allclose(angular_accelerations(K, moment), expected, rtol=0, atol=6e-11)


def revolute_and_universal():
    m, J, c12, c22 = two_bodies()
    bodies = tuple(ReferenceBody("", mass, inertia) for mass, inertia in zip(m, J, strict=True))
    arcs = (
        JointArc("z", 0, 1, joints.revolute(Z), at(), at(-1.0)),
        JointArc("yx", 1, 2, joints.universal((0, 1, 0), (1, 0, 0)), JointSide(c12), JointSide(c22)),
    )
    return RigidSystem(bodies, arcs)


def test_spec10_E14_revolute_and_universal():
    system = revolute_and_universal()
    motion = follow(system, np.zeros(3), [0.5, 0.3, -0.4])
    np.testing.assert_allclose(motion.w[2], (-0.4, 0.3, 0.5), atol=1e-15)
    found = equations(motion, loads(system, GRAVITY))
    np.testing.assert_allclose(found.A, [[8.99, 0, 0], [0, 0.55, 0.1], [0, 0.1, 0.09]], atol=1e-15)
    np.testing.assert_allclose(found.B, (-0.0746, 4.935, 1.9845), atol=1e-14)
    expected = (-0.0082981090, 6.2202531646, 15.1386075950)
    np.testing.assert_allclose(solve(found.A, found.B)[0], expected, rtol=0, atol=1e-10)


def test_spec10_E14_by_projection_of_the_spherical_form():
    """A = (pT) K (pT)^T and B = -(pT) [K T^T f + M' + M] (3.89) to (3.91)."""
    system = revolute_and_universal()
    rng = np.random.default_rng(1)
    q, u = rng.normal(size=(2, 3))
    motion = follow(system, q, u)
    found = equations(motion, loads(system, GRAVITY))
    S, T = incidence([0, 1], [1, 2], 2), system.path_matrix
    c = np.zeros((2, 2, 3))
    c[0, 0], c[0, 1], c[1, 1] = motion.arcs[0].c_minus, motion.arcs[1].c_plus, motion.arcs[1].c_minus
    m, J, w = system.masses, motion.inertia(), motion.w[1:]
    d, b = path_vectors(S[1:], T, c), b_vectors(S[1:], T, barycentres(S[1:], T, c, m), c)
    b0 = np.array([b[i, i] + c[i, i] for i in range(2)])
    K, moment = suspended(d, b0, precedes(T, S[1:]), m, J, w, np.zeros(3), m[:, None] * GRAVITY)
    p = np.concatenate([arc.p for arc in motion.arcs])
    pT = p[:, None] * T[system.arc_of_rate][:, :, None]
    f = np.array([arc.sigma + cross(w[a], arc.Omega) for a, arc in enumerate(motion.arcs)])
    np.testing.assert_allclose(np.einsum("nia,ijab,mjb->nm", pT, K, pT), found.A, atol=1e-13)
    right = np.einsum("ijab,jb->ia", K, T.T @ f) + moment
    np.testing.assert_allclose(-np.einsum("nia,ia->n", pT, right), found.B, atol=1e-13)


def triple_pendulum():
    """The pendulum of E16 in relative angles, hinges about z."""
    bodies = tuple(ReferenceBody(f"{k}", 1.0, np.diag([1e-3, 1.0, 1.0])) for k in range(3))
    points = (at(), at(1.0), at(1.0))
    return RigidSystem(
        bodies, tuple(JointArc(f"{k}", k, k + 1, joints.revolute(Z), points[k], at(-1.0)) for k in range(3))
    )


def test_spec10_E15_prescribed_variable():
    system = triple_pendulum()
    found = equations(follow(system, np.zeros(3), np.zeros(3)), loads(system, (0.0, -1.0, 0.0)))
    np.testing.assert_allclose(found.A, [[38, 20, 6], [20, 12, 4], [6, 4, 2]], atol=1e-13)
    np.testing.assert_allclose(found.B, (-9, -4, -1), atol=1e-14)
    np.testing.assert_allclose(solve(found.A, found.B)[0], (-0.5, 0.5, 0.0), atol=1e-14)
    udot, drives = solve(found.A, found.B, {1: 0.0})
    np.testing.assert_allclose(udot, (-0.3, 0.0, 0.4), atol=1e-14)
    assert drives == {1: pytest.approx(0.4, abs=1e-13)}


@pytest.mark.parametrize("seed", range(5))
def test_spec10_oracle_7_the_free_motion_needs_no_drive(seed):
    rng = np.random.default_rng(seed)
    system = random_systems.tree(rng, 5)
    motion = follow(system, *random_systems.state(system, rng))
    found = equations(motion, loads(system, GRAVITY, tau=rng.normal(size=system.rates)))
    free, _ = solve(found.A, found.B)
    udot, drives = solve(found.A, found.B, {0: free[0], system.rates - 1: free[-1]})
    np.testing.assert_allclose(udot, free, rtol=0, atol=1e-11 * max(1.0, np.abs(free).max()))
    assert max(map(abs, drives.values())) < 1e-10 * max(1.0, np.abs(found.B).max())


@pytest.mark.parametrize("seed", range(5))
def test_spec10_oracle_4_matrices(seed):
    """A symmetric positive definite; B of the planar form skew: erratum (3.41) to (3.43), a sine and not symmetric."""
    rng = np.random.default_rng(seed)
    system = random_systems.tree(rng, 6)
    A = equations(follow(system, *random_systems.state(system, rng)), loads(system)).A
    np.testing.assert_allclose(A, A.T, rtol=0, atol=1e-13 * np.abs(A).max())
    assert np.linalg.eigvalsh(A)[0] > 0.0

    S, T, c, m = chain(rng, 5)
    c[..., 2] = 0.0
    d, b = path_vectors(S[1:], T, c), b_vectors(S[1:], T, barycentres(S[1:], T, c, m), c)
    b0 = np.array([b[i, i] + c[i, i] for i in range(5)])
    J, phi, rate, M = rng.uniform(0.1, 1.0, 5), *rng.normal(size=(3, 5))
    F, a0 = rng.normal(size=(5, 2)), rng.normal(size=2)
    found = planar_equations(d, b0, precedes(T, S[1:]), m, J, phi, M, a0, F)
    np.testing.assert_allclose(found.A, found.A.T, atol=1e-13)
    np.testing.assert_allclose(found.B, -found.B.T, atol=1e-13)
    planar = np.linalg.solve(found.A, found.R - found.B @ rate**2)

    # the same tree in space: hinges along z, whose angles are the relative ones
    arcs = []
    for a, column in enumerate(S.T):
        i, j = int(np.flatnonzero(column == 1)[0]), int(np.flatnonzero(column == -1)[0])
        sides = [JointSide(c[body - 1, a] if body else np.zeros(3)) for body in (i, j)]
        arcs.append(JointArc(f"{a}", i, j, joints.revolute(Z), *sides))
    space = RigidSystem(
        tuple(ReferenceBody("", mass, np.diag([1.0, 1.0, inertia])) for mass, inertia in zip(m, J, strict=True)),
        tuple(arcs),
    )
    angle, speed = np.concatenate(([0.0], phi)), np.concatenate(([0.0], rate))
    q, u = (np.array([values[arc.enters] - values[arc.leaves] for arc in arcs]) for values in (angle, speed))
    motion = follow(space, q, u, base=BaseMotion(a=np.array([*a0, 0.0])))
    given = loads(space, F=np.column_stack((F, np.zeros(5))), L=np.outer(M, Z))
    _, _, e = articulated(motion, given)
    np.testing.assert_allclose(planar, e[:, 2], rtol=0, atol=1e-11 * np.abs(e).max())


def test_spec10_E11_spacecraft_with_given_motion_carries_the_array():
    """The panels of E10 on a base with r_0(t): the form with a_0 equals the general one with a moving base."""
    wing, phi, rate, a0 = Wing(), np.array([0.7, -0.4]), np.array([0.3, -0.8]), np.array([0.5, -1.2])
    none = np.zeros((2, 2))
    found = planar_equations(wing.d, wing.b0, precedes(wing.T, wing.S[1:]), wing.m, wing.J, phi, none[0], a0, none)
    planar = np.linalg.solve(found.A, found.R - found.B @ rate**2)
    bodies = tuple(ReferenceBody("", mass, np.diag([J, J, J])) for mass, J in zip(wing.m, wing.J, strict=True))
    arcs = (
        JointArc("root", 1, 0, joints.revolute(Z), at(-0.8, 0.02), at()),
        JointArc("hinge", 2, 1, joints.revolute(Z), at(-0.75, -0.02), at(0.8, -0.02)),
    )
    system = RigidSystem(bodies, arcs)
    motion = follow(
        system, [-phi[0], phi[0] - phi[1]], [-rate[0], rate[0] - rate[1]], base=BaseMotion(a=np.array([*a0, 0.0]))
    )
    tree = equations(motion, loads(system))
    _, e = tree.accelerations(solve(tree.A, tree.B)[0])
    np.testing.assert_allclose(planar, e[:, 2], atol=1e-13)
