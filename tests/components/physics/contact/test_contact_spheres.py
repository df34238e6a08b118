"""Spheres and points against cone, edge, cylinder, plane, and the whole profile of revolution."""

from __future__ import annotations

from math import atan2, cos, hypot, pi, radians, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import profile
from tests.components.physics.contact.source_pairs import sphere_cone, sphere_cylinder, sphere_edge, sphere_plane

# RefCone of contact-geometry 11.4, without the bottom
X = np.array([0.0, 0.0, 0.0808290, 0.2870023, 0.3770023])
R = np.array([0.50, 0.360, 0.220, 0.047, 0.047])
RADIUS = 0.045
ANGLES = [atan2(R[v] - R[v + 1], X[v + 1] - X[v]) for v in range(4)]


@pytest.fixture(scope="module")
def face():
    m = Record(Group("test", profile.faces(6))).memory().test
    assert profile.build(X, R, 5, m.face)
    return m.face


def deepest(centre, radius, *entry):
    """The contact that A1 to A4 report among all features of the profile."""
    best = (-1.0, (0.0, 0.0, 0.0))
    candidates = [sphere_plane(centre, radius, X[0], R[1], R[0])]
    candidates += [sphere_cone(centre, radius, X[v], R[v], R[v + 1], ANGLES[v]) for v in (1, 2)]
    candidates += [sphere_edge(centre, radius, X[v], R[v], ANGLES[v - 1], ANGLES[v]) for v in (1, 2, 3)]
    if centre[0] <= X[4]:
        candidates.append(sphere_cylinder(centre, radius, X[3], R[3]))
    for candidate in candidates:
        if candidate[0] > best[0]:
            best = candidate
    return best


def distance_to_profile(x, r):
    """Exact distance of a point of the meridian half-plane to the polyline."""
    best = np.inf
    for v in range(4):
        a, b = np.array([X[v], R[v]]), np.array([X[v + 1], R[v + 1]])
        t = np.clip(np.dot(np.array([x, r]) - a, b - a) / np.dot(b - a, b - a), 0.0, 1.0)
        best = min(best, float(np.linalg.norm(np.array([x, r]) - a - t * (b - a))))
    return best


def test_spec05_oracle_T01_sphere_cone():
    cone = (0.0, 0.30, 0.10, radians(45.0))
    depth, n = sphere_cone((0.10, 0.09, 0.12), 0.05, *cone)
    assert depth == pytest.approx(0.0146446609, abs=5e-11)
    assert n == pytest.approx((0.70710678, 0.42426407, 0.56568543), abs=6e-9)
    assert sphere_cone((0.05, 0.15, 0.0), 0.05, *cone)[0] < 0.0
    assert sphere_cone((0.22, 0.04, 0.0), 0.05, *cone)[0] < 0.0


def test_spec05_oracle_T02_sphere_edge():
    depth, n = sphere_edge((-0.027, 0.064, 0.0), 0.05, 0.0, 0.1, pi / 2, 0.0)
    assert depth == pytest.approx(0.005, abs=1e-12)
    assert n == pytest.approx((0.6, 0.8, 0.0), abs=1e-12)
    assert np.array((-0.027, 0.064, 0.0)) + 0.05 * np.array(n) == pytest.approx((0.003, 0.104, 0.0), abs=1e-12)
    # the source's box loses this one (erratum E8)
    phi = radians(59.9)
    depth, _ = sphere_edge((-0.045 * sin(phi), 0.1 - 0.045 * cos(phi), 0.0), 0.05, 0.0, 0.1, pi / 3, pi / 6)
    assert depth == pytest.approx(0.005, abs=1e-12)


def test_spec05_oracle_T03_sphere_cylinder():
    depth, n = sphere_cylinder((0.02, 0.012, 0.016), 0.045, 0.0, 0.06)
    assert depth == pytest.approx(0.005, abs=1e-12)
    assert n == pytest.approx((0.0, 0.6, 0.8), abs=1e-12)


def test_spec05_oracle_T04_sphere_plane():
    depth, n = sphere_plane((0.06, 0.01, 0.0), 0.045, 0.1, 0.0, 0.06)
    assert depth == pytest.approx(0.005, abs=1e-12)
    assert n == (1.0, 0.0, 0.0)
    assert sphere_plane((0.06, 0.07, 0.0), 0.045, 0.1, 0.0, 0.06)[0] < 0.0


@pytest.mark.slow
def test_spec05_oracle_T07_profile_against_polyline_and_single_pairs(face):
    """Random centres in free space: depth is radius minus distance; the pairs A1 to A4 agree, normals and all."""
    rng = np.random.default_rng(5)
    checked = 0
    n = [(face[i].n_x, face[i].n_r) for i in range(4)]
    for _ in range(20_000):
        v = rng.integers(4)
        s = rng.uniform()
        gap = rng.uniform(-0.02, RADIUS + 0.01)
        along = np.array([X[v], R[v]]) * (1 - s) + np.array([X[v + 1], R[v + 1]]) * s
        tilt = rng.uniform(-0.5, 0.5) + ANGLES[v]
        x, r = along - gap * np.array([sin(tilt), cos(tilt)])
        if r < 1e-3 or x > X[4]:
            continue
        outside = min((x - X[i]) * n[i][0] + (r - R[i]) * n[i][1] for i in range(4)) < 0.0
        if not outside or r > R[0]:
            continue
        azimuth = rng.uniform(0.0, 2.0 * pi)
        centre = (float(x), float(r * cos(azimuth)), float(r * sin(azimuth)))
        depth, normal, _ = profile.sphere_profile(face, 4, centre, RADIUS)
        exact = RADIUS - distance_to_profile(x, hypot(centre[1], centre[2]))
        if exact <= 0.0 or r > R[0] - 1e-6:
            assert depth <= 1e-12
            continue
        checked += 1
        assert depth == pytest.approx(exact, abs=1e-12)
        other, other_normal = deepest(centre, RADIUS)
        assert other == pytest.approx(depth, abs=1e-12)
        assert other_normal == pytest.approx(normal, abs=1e-9)
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
        assert normal[0] >= 0.0
    assert checked > 5_000


meridian = st.tuples(st.floats(-0.05, 0.37), st.floats(0.01, 0.49))


@given(point=meridian, azimuth=st.floats(0.0, 6.28), turn=st.floats(0.0, 6.28))
def test_spec05_oracle_T21_symmetry_and_gradient(face, point, azimuth, turn):
    """Rotation about x and mirroring rotate and mirror; the gradient of the depth is the normal."""
    x, r = point
    centre = (x, r * cos(azimuth), r * sin(azimuth))
    depth, n, feature = profile.sphere_profile(face, 4, centre, RADIUS)
    turned = (x, r * cos(azimuth + turn), r * sin(azimuth + turn))
    depth_turned, n_turned, _ = profile.sphere_profile(face, 4, turned, RADIUS)
    assert depth_turned == pytest.approx(depth, abs=1e-12)
    if depth <= 1e-6:
        return
    A = np.array([[1, 0, 0], [0, cos(turn), -sin(turn)], [0, sin(turn), cos(turn)]])
    # near an edge the normal turns fast with the rounding of the radius
    assert n_turned == pytest.approx(A @ n, abs=1e-6)
    mirrored = profile.sphere_profile(face, 4, (centre[0], centre[1], -centre[2]), RADIUS)
    assert mirrored[0] == depth
    assert mirrored[1] == pytest.approx((n[0], n[1], -n[2]), abs=1e-15)
    h = 1e-7
    values, features = [], {feature}
    for i in range(3):
        for sign in (1, -1):
            moved = list(centre)
            moved[i] += sign * h
            d, _, f = profile.sphere_profile(face, 4, tuple(moved), RADIUS)
            values.append(sign * d / (2 * h))
            features.add(f)
    if len(features) == 1 and depth > 1e-5 and RADIUS - depth > 1e-3:
        gradient = np.array(values).reshape(3, 2).sum(axis=1)
        # central difference: h^2 / (6 distance^2) and rounding 1e-17 / h
        assert gradient == pytest.approx(n, abs=2e-6)


def test_point_below_a_convex_corner_takes_the_nearer_face(face):
    depth, n_x, n_r, feature = profile.depth(face, 4, X[2] + 0.01, R[2] + 0.001, 0.0)
    assert feature == 2
    assert (n_x, n_r) == (face[2].n_x, face[2].n_r)
    assert depth == pytest.approx(0.01 * sin(ANGLES[2]) + 0.001 * cos(ANGLES[2]), abs=1e-15)


def test_sphere_on_the_axis_bears_all_around(face):
    """A sphere larger than the socket, coaxial, on its entry edge: no preferred side."""
    depth, n, _ = profile.sphere_profile(face, 4, (X[3] - 0.01, 0.0, 0.0), 0.05)
    assert depth > 0.0
    assert n == (1.0, 0.0, 0.0)
    assert profile.sphere_profile(face, 4, (X[3] - 0.01, 0.0, 0.0), 0.045)[0] < 0.0


def test_a_profile_that_is_not_convex_is_refused():
    m = Record(Group("test", profile.faces(6))).memory().test
    assert not profile.build(X[::-1].copy(), R[::-1].copy(), 5, m.face)
    assert not profile.build(np.array([0.0, 0.1, 0.15]), np.array([0.3, 0.25, 0.1]), 3, m.face)
    assert not profile.build(np.array([0.0]), np.array([0.3]), 1, m.face)
