"""Equations of elastic bodies in the Cartesian reference: oracles O5, O7 and O10 of flexible 6, in numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dockfmu.components.multibody.reference.algebra import skew
from dockfmu.components.multibody.reference.elastic import (
    ElasticMarker,
    ElasticState,
    ElasticSystem,
    inertial_load,
    marker_terms,
    rigid_invariants,
    rotation_series,
)
from tests.components.multibody.elastic_models import random_elastic

pytestmark = pytest.mark.quick

STEP = 1e-4


def derivative(function):
    """Return the derivative at 0 by central differences of fourth order: error 1e-16 / STEP and STEP^4."""
    return (8.0 * (function(STEP) - function(-STEP)) - (function(2 * STEP) - function(-2 * STEP))) / (12.0 * STEP)


def turned(omega, epsilon, t):
    """Rotation E -> I at t of a frame with angular velocity omega + epsilon t in its axes, to third order in t."""
    return rotation_series(t * omega + 0.5 * t**2 * epsilon + t**3 / 12.0 * np.cross(omega, epsilon))[0]


@pytest.mark.parametrize("seed", range(3))
def test_spec11_oracle_O5_equations_are_those_of_boltzmann_and_hamel(seed):
    """Momenta are derivatives of the kinetic energy, which the mass matrix alone gives; all else by differences."""
    own, random = random_elastic(seed).invariants, np.random.default_rng(seed)
    w, xi, zeta = random.normal(size=(3, own.count))
    v, omega, v_rate, epsilon = random.normal(size=(4, 3))

    def momenta(t):
        u = np.concatenate((v + t * v_rate, omega + t * epsilon, xi + t * zeta))
        return own.mass_matrix(w + t * xi + 0.5 * t**2 * zeta) @ u

    def lagrangian(w):
        u = np.concatenate((v, omega, xi))
        return 0.5 * u @ own.mass_matrix(w) @ u

    p = momenta(0.0)
    left = derivative(momenta)
    left[:3] += np.cross(omega, p[:3])
    left[3:6] += np.cross(omega, p[3:6]) + np.cross(v, p[:3])
    left[6:] -= [derivative(lambda t, j=j: lagrangian(w + t * np.eye(own.count)[j])) for j in range(own.count)]
    a = v_rate + np.cross(omega, v)
    right = own.mass_matrix(w) @ np.concatenate((a, epsilon, zeta)) - inertial_load(own, omega, w, xi)
    assert right == pytest.approx(left, abs=1e-8 * np.abs(left).max())


def motion_of_free_body(body, speed):
    """Return the times and states (position, quaternion-free rotation, v, omega, w, xi) of a body without loads."""
    own, random = body.invariants, np.random.default_rng(1)
    n = own.count
    start = np.concatenate((
        np.zeros(3), np.eye(3).ravel(), speed, random.normal(size=3), 0.02 * random.normal(size=n),
        0.5 * random.normal(size=n),
    ))  # fmt: skip

    def rate(_, y):
        A, v, omega, w, xi = y[3:12].reshape(3, 3), y[12:15], y[15:18], y[18 : 18 + n], y[18 + n :]
        load = inertial_load(own, omega, w, xi)
        load[6:] -= body.stiffness @ w
        found = np.linalg.solve(own.mass_matrix(w), load)
        return np.concatenate((v, (A @ skew(omega)).ravel(), A @ found[:3], found[3:6], xi, found[6:]))

    found = solve_ivp(rate, (0.0, 2.0), start, method="DOP853", rtol=1e-10, atol=1e-12, t_eval=[0.0, 1.0, 2.0])
    return found.y.T, n


def conserved(body, y, n):
    own = body.invariants
    A, v, omega, w, xi = y[3:12].reshape(3, 3), y[12:15], y[15:18], y[18 : 18 + n], y[18 + n :]
    u = np.concatenate((A.T @ v, omega, xi))
    p = own.mass_matrix(w) @ u
    energy = 0.5 * u @ p + 0.5 * w @ body.stiffness @ w
    return energy, A @ p[:3], A @ p[3:6] + np.cross(y[:3], A @ p[:3])


def test_spec11_oracle_O5_free_body_keeps_energy_and_momenta():
    """The integrator's tolerance is 1e-10, its error in 2 s some of it: momenta as good as the solver, not 1e-13."""
    body = random_elastic(5)
    states, n = motion_of_free_body(body, np.array([0.3, -0.2, 0.1]))
    first, last = conserved(body, states[0], n), conserved(body, states[-1], n)
    assert last[0] == pytest.approx(first[0], rel=1e-9)
    assert last[1] == pytest.approx(first[1], abs=1e-9)
    assert last[2] == pytest.approx(first[2], abs=1e-9)
    assert np.abs(states[-1, 18:]).max() > 0.01


@pytest.mark.parametrize("speed", [10.0, 1000.0])
def test_spec11_oracle_O5_deformation_does_not_depend_on_a_common_velocity(speed):
    body = random_elastic(5)
    still, n = motion_of_free_body(body, np.zeros(3))
    moving, _ = motion_of_free_body(body, speed * np.array([0.6, 0.0, 0.8]))
    # what the integrator chooses as steps differs a little: its tolerance
    assert moving[-1, 18 : 18 + n] == pytest.approx(still[-1, 18 : 18 + n], abs=1e-9)


def constant_motion(random, n):
    omega, epsilon, v, a, offset, place = random.normal(size=(6, 3))
    w, xi, zeta = 0.3 * random.normal(size=(3, n))
    return omega, epsilon, v, a, offset, place, w, xi, zeta


@pytest.mark.parametrize("seed", range(3))
def test_spec11_oracle_O7_coefficients_of_a_marker_on_an_elastic_body(seed):
    """Acceleration of a marker whose node turns relative to E with the angular velocity H' xi, by differences."""
    random = np.random.default_rng(seed)
    omega, epsilon, v, a, offset, place, w, xi, zeta = constant_motion(random, 4)
    shape = random.normal(size=(6, 4))
    H, turn = shape[:3], shape[3:]

    def twist(t):
        """Velocity and angular velocity of the marker in I; v, a are in I, E and I coincide at t = 0."""
        A, rate = turned(omega, epsilon, t), xi + t * zeta
        now = omega + t * epsilon
        spin = turn @ rate
        own = rotation_series(t * turn @ xi + 0.5 * t**2 * turn @ zeta + t**3 / 12 * np.cross(turn @ xi, turn @ zeta))[
            0
        ]
        moved = own @ offset
        arm = place + H @ (w + t * xi + 0.5 * t**2 * zeta) + moved
        velocity = v + t * a + A @ (np.cross(now, arm) + H @ rate + np.cross(spin, moved))
        return np.concatenate((velocity, A @ (now + spin)))

    J, h = marker_terms(place, shape, offset, omega, w, xi)
    expected = J @ np.concatenate((a, epsilon, zeta)) + h
    found = derivative(twist)
    assert found == pytest.approx(expected, abs=1e-9)
    # as printed: a minus before the bracket, and no omega x H' xi
    assert np.abs(found - (J @ np.concatenate((a, epsilon, zeta)) - h)).max() > 0.1
    printed = h.copy()
    printed[3:] = 0.0
    assert np.abs(found - (J @ np.concatenate((a, epsilon, zeta)) + printed)).max() > 0.05


@pytest.mark.parametrize("seed", range(3))
def test_marker_moves_as_its_velocity_says_and_accelerates_as_its_coefficients_say(seed):
    """With rotations that are exponentials, pose, twist and acceleration of a node follow from each other."""
    random = np.random.default_rng(seed)
    omega, epsilon, v, a, offset, place, w, xi, zeta = constant_motion(random, 4)
    marker = ElasticMarker(1, place, random.normal(size=(6, 4)), offset, rotation_series(random.normal(size=3))[0])

    def at(t):
        A = turned(omega, epsilon, t)
        position = t * v + 0.5 * t**2 * a
        return marker.motion(
            ElasticState(A, position, v + t * a, omega + t * epsilon, w + t * xi + 0.5 * t**2 * zeta, xi + t * zeta)
        )

    now = at(0.0)
    assert derivative(lambda t: at(t).r) == pytest.approx(now.v, abs=1e-9)
    spin = derivative(lambda t: at(t).A) @ now.A.T
    assert spin == pytest.approx(skew(now.w), abs=1e-9)
    found = derivative(lambda t: np.concatenate((at(t).v, at(t).w)))
    assert found == pytest.approx(now.J @ np.concatenate((a, epsilon, zeta)) + now.h, abs=1e-8)


def test_spec11_oracle_O10_without_shapes_the_body_is_rigid():
    random = np.random.default_rng(3)
    center, omega = random.normal(size=(2, 3))
    root = random.normal(size=(3, 3))
    J, m = root @ root.T, 2.5
    own = rigid_invariants(m, center, J)
    about = J + m * (center @ center * np.eye(3) - np.outer(center, center))
    M = np.block([[m * np.eye(3), -m * skew(center)], [m * skew(center), about]])
    k = -np.concatenate((m * skew(omega) @ skew(omega) @ center, skew(omega) @ about @ omega))
    none = np.zeros(0)
    assert own.mass_matrix(none) == pytest.approx(M, rel=1e-12, abs=1e-12)
    assert inertial_load(own, omega, none, none) == pytest.approx(k, rel=1e-12, abs=1e-12)


def test_spec11_oracle_O10_stiff_modes_approach_the_rigid_body():
    """A force that stays: the mean deflection is as 1 / omega^2, and so is what it changes in the accelerations."""
    body, random = random_elastic(7), np.random.default_rng(7)
    omega, force = random.normal(size=3), random.normal(size=6)
    own = body.invariants
    rigid = np.linalg.solve(
        own.mass_matrix(np.zeros(own.count))[:6, :6],
        force + inertial_load(own, omega, np.zeros(own.count), np.zeros(own.count))[:6],
    )
    errors = []
    for factor in (1e2, 1e3, 1e4):
        w = np.zeros(own.count)
        for _ in range(60):
            # the static equilibrium: modes at rest in a body that accelerates
            M = own.mass_matrix(w)
            load = inertial_load(own, omega, w, np.zeros(own.count))
            load[:6] += force
            found = np.linalg.solve(M[:6, :6], load[:6])
            w = (load[6:] - M[6:, :6] @ found) / (factor * body.frequency) ** 2
        errors.append(np.abs(found - rigid).max())
    assert errors[0] / errors[1] == pytest.approx(100.0, rel=0.01)
    assert errors[1] / errors[2] == pytest.approx(100.0, rel=0.01)


@pytest.mark.parametrize(
    ("sign", "factor", "tolerance"), [(1.0, (1 + 4 * np.pi) * np.exp(-4 * np.pi), 0.02), (-1.0, 2e12, 0.5)]
)
def test_spec11_oracle_O8_stabilisation_brings_a_constraint_back(sign, factor, tolerance):
    """T_s = 0.1, xi_s = 1, a violation of 1e-3 at rest, 0.2 s; the other sign lets it grow by about 1e12."""
    body, n = random_elastic(4), 5
    marker = ElasticMarker(1, body.place[0], body.shape[0])
    base = ElasticMarker(0, body.place[0] + np.array([0.0, 0.0, 1e-3 if sign > 0 else 1e-14]), np.zeros((6, 0)))
    system = ElasticSystem(
        (body.invariants,), (1e-6 * body.stiffness,), (np.zeros((n, n)),), (("spherical", base, marker),)
    )
    none = np.zeros(0)
    ground = ElasticState(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), none, none)
    speed = 2.0 * np.pi / 0.1

    def state(y):
        return ElasticState(rotation_series(y[:3])[0], y[3:6], y[6:9], y[9:12], y[12 : 12 + n], y[12 + n :])

    def rate(_, y):
        now = state(y)
        found = system.accelerations([ground, now], (), (sign * speed**2, sign * 2.0 * speed))[0][0]
        # the rotation vector stays small
        return np.concatenate((now.w, now.v, now.A @ found[:3], found[3:6], now.rates, found[6:]))

    found = solve_ivp(rate, (0.0, 0.2), np.zeros(12 + 2 * n), method="DOP853", rtol=1e-9, atol=1e-16).y[:, -1]
    end = state(found)
    gap = np.linalg.norm(marker.motion(end).r - base.motion(ground).r)
    first = 1e-3 if sign > 0 else 1e-14
    assert gap / first == pytest.approx(factor, rel=tolerance)


def test_modal_mass_that_is_no_unit_matrix_is_normalised():
    """The same body by other shapes: mass matrix, stiffness and nodes agree with the combined shapes."""
    from dockfmu.components.multibody.model.elastic import normalized

    body, random = random_elastic(11), np.random.default_rng(11)
    own, n = body.invariants, body.invariants.count
    Z = np.diag(random.uniform(0.5, 2.0, n))
    other = replace(
        body,
        shape=body.shape @ Z,
        invariants=replace(
            own,
            translation=own.translation @ Z,
            inertia_slope=np.einsum("aij,ab->bij", own.inertia_slope, Z),
            inertia_curvature=np.einsum("abij,ac,bd->cdij", own.inertia_curvature, Z, Z),
            rotation=own.rotation @ Z,
            gyration=np.einsum("aib,ac,bd->cid", own.gyration, Z, Z),
            modal_mass=Z.T @ Z,
        ),
        frequency=body.frequency * np.diag(Z),
        damping=body.damping * np.diag(Z) ** 2,
    )
    found = normalized(other)
    assert found.invariants.modal_mass == pytest.approx(np.eye(n), abs=1e-12)
    assert found.frequency == pytest.approx(body.frequency, rel=1e-12)
    assert found.damping == pytest.approx(body.damping, rel=1e-10)
    compliance = body.shape[0] @ np.diag(1 / body.frequency**2) @ body.shape[1].T
    assert found.shape[0] @ np.diag(1 / found.frequency**2) @ found.shape[1].T == pytest.approx(compliance, abs=1e-12)
    assert np.abs(found.invariants.translation) == pytest.approx(np.abs(own.translation), abs=1e-10)
