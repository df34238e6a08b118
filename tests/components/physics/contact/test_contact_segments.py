"""Segments against edge circles, segments and trapezoids."""

from __future__ import annotations

from math import cos, pi, radians, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from dockfmu.components.physics.contact.ring_pair.edges import closest_parameters
from dockfmu.components.physics.mechanics.rotation import from_angles
from tests.components.physics.contact import source_pairs as segments

pytestmark = pytest.mark.quick

ORIGIN = (0.0, 0.0, 0.0)
AXIS = (1.0, 0.0, 0.0)


def test_spec05_oracle_T05_segment_circle():
    for pair in (
        segments.segment_edge((-0.1, 0.605, 0.0), (0.3, -0.3, 0.0), 0.0, 0.5),
        segments.segment_circle((-0.1, 0.605, 0.0), (0.3, -0.3, 0.0), ORIGIN, AXIS, 0.5, 1.0),
    ):
        depth, n, point, t = pair
        assert t == pytest.approx(1 / 3, abs=1e-12)
        assert point == pytest.approx((0.0, 0.505, 0.0), abs=1e-12)
        assert n == pytest.approx((0.70710678, 0.70710678, 0.0), abs=5e-9)
        assert depth == pytest.approx(0.0035355339, abs=5e-11)
    for pair in (
        segments.segment_edge((-0.12, 0.1, 0.62), (0.29, -0.05, -0.27), 0.0, 0.5),
        segments.segment_circle((-0.12, 0.1, 0.62), (0.29, -0.05, -0.27), ORIGIN, AXIS, 0.5, 1.0),
    ):
        depth, n, point, t = pair
        assert t == pytest.approx(0.4137931, abs=5e-8)
        assert point == pytest.approx((0.0, 0.0793103, 0.5082759), abs=5e-8)
        assert n == pytest.approx((0.68740623, 0.11197127, 0.71758979), abs=6e-9)
        assert depth == pytest.approx(0.01047748, abs=5e-9)


def oblique(azimuth, excess, tilt, slope, radius):
    """A segment through the plane x = 0 at `radius + excess`, out of the meridian plane by `tilt`."""
    along = np.array([cos(slope), -sin(slope) * cos(tilt), sin(slope) * sin(tilt)]) * 0.2
    start = np.array([0.0, radius + excess, 0.0]) - 0.4 * along
    A = np.array([[1, 0, 0], [0, cos(azimuth), -sin(azimuth)], [0, sin(azimuth), cos(azimuth)]])
    return tuple(map(float, A @ start)), tuple(map(float, A @ along))


def line_circle_distance(start, along, radius):
    """Least distance of a line to the circle of `radius` about x at x = 0, by search."""

    def to_circle(azimuth):
        point = radius * np.array([0.0, cos(azimuth), sin(azimuth)])
        d = point - start
        u = np.array(along) / np.linalg.norm(along)
        return np.linalg.norm(d - np.dot(d, u) * u)

    coarse = np.linspace(0.0, 2.0 * pi, 721)
    nearest = coarse[np.argmin([to_circle(a) for a in coarse])]
    found = minimize_scalar(
        to_circle, bounds=(nearest - 0.02, nearest + 0.02), method="bounded", options={"xatol": 1e-12}
    )
    return found.fun


@given(
    azimuth=st.floats(0.0, 6.28),
    excess=st.floats(1e-4, 5e-3),
    tilt=st.floats(-radians(10.0), radians(10.0)),
    slope=st.floats(radians(20.0), radians(70.0)),
)
def test_spec05_oracle_T08_depth_is_the_line_circle_distance(azimuth, excess, tilt, slope):
    start, along = oblique(azimuth, excess, tilt, slope, 0.5)
    depth, n, _, _ = segments.segment_edge(start, along, 0.0, 0.5)
    assert depth == pytest.approx(line_circle_distance(start, along, 0.5), rel=1.5e-4, abs=1e-9)
    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
    assert np.dot(n, along) == pytest.approx(0.0, abs=1e-12)
    assert n[0] > 0.0
    general = segments.segment_circle(start, along, ORIGIN, AXIS, 0.5, 1.0)
    assert general[0] == pytest.approx(depth, abs=1e-14)
    assert general[1] == pytest.approx(n, abs=1e-11)


@given(azimuth=st.floats(0.0, 6.28), excess=st.floats(1e-3, 5e-3), tilt=st.floats(-0.1, 0.1))
def test_spec05_oracle_T21_segment_circle_gradient(azimuth, excess, tilt):
    """The gradient of the depth is the normal up to O(depth / radius)."""
    start, along = oblique(azimuth, excess, tilt, 0.8, 0.5)
    _, n, _, _ = segments.segment_edge(start, along, 0.0, 0.5)
    h = 1e-7
    for i in range(3):
        ahead, behind = list(start), list(start)
        ahead[i] += h
        behind[i] -= h
        slope = (
            segments.segment_edge(tuple(ahead), along, 0.0, 0.5)[0]
            - segments.segment_edge(tuple(behind), along, 0.0, 0.5)[0]
        ) / (2 * h)
        assert slope == pytest.approx(n[i], abs=2.0 * excess / 0.5 * 0.1 + 1e-6)


def test_active_circle_and_passive_segment_push_apart():
    """Erratum E10: for an active circle the normal still pushes the passive body away, and the depth is positive."""
    depth, n, point, _ = segments.segment_circle(
        (0.1, 0.605, 0.0), (-0.3, -0.3, 0.0), ORIGIN, (-1.0, 0.0, 0.0), 0.5, -1.0
    )
    assert depth == pytest.approx(0.0035355339, abs=5e-11)
    # the passive point outside the active circle is pushed inward, toward the axis
    assert n[1] < 0.0
    assert n[0] > 0.0
    assert point == pytest.approx((0.0, 0.505, 0.0), abs=1e-12)


def test_segments_that_miss_the_plane_or_lie_in_it():
    assert segments.segment_edge((0.1, 0.6, 0.0), (0.1, 0.0, 0.0), 0.0, 0.5)[0] < 0.0
    assert segments.segment_edge((0.0, 0.6, 0.0), (0.0, 0.1, 0.0), 0.0, 0.5)[0] < 0.0
    assert segments.segment_circle((0.0, 0.6, 0.0), (0.0, 0.1, 0.0), ORIGIN, AXIS, 0.5, 1.0)[0] < 0.0
    assert segments.segment_circle((0.1, 0.6, 0.0), (0.1, 0.0, 0.0), ORIGIN, AXIS, 0.5, 1.0)[0] < 0.0


def test_spec05_oracle_T06_segment_segment():
    depth, n, point, t_a, t_p = segments.segment_segment(
        (-0.05, -0.1, 0.003), (0.0, 0.2, 0.0), (-0.053, 0.0, -0.1), (0.0, 0.0, 0.2)
    )
    assert (t_a, t_p) == pytest.approx((0.5, 0.515), abs=1e-12)
    assert depth == pytest.approx(0.003, abs=1e-14)
    assert n == pytest.approx((1.0, 0.0, 0.0), abs=1e-12)
    assert point == pytest.approx((-0.053, 0.0, 0.003), abs=1e-14)
    parallel = segments.segment_segment((0.0, 0.0, 0.0), (0.0, 0.2, 0.0), (-0.01, 0.0, 0.0), (0.0, 0.4, 0.0))
    assert parallel[0] < 0.0


def three_planes(start_a, along_a, start_p, along_p):
    """The source's construction of A7: parameters from planes through each line perpendicular to the common plane."""
    common = np.cross(along_a, along_p)
    across_a, across_p = np.cross(along_a, common), np.cross(along_p, common)
    t_a = np.dot(across_p, np.subtract(start_p, start_a)) / np.dot(across_p, along_a)
    t_p = np.dot(across_a, np.subtract(start_a, start_p)) / np.dot(across_a, along_p)
    return t_a, t_p


coordinates = st.floats(-1.0, 1.0)
points = st.tuples(coordinates, coordinates, coordinates)


@given(points, points, points, points)
def test_spec05_oracle_T09_closest_points(start_a, along_a, start_p, along_p):
    cross = np.linalg.norm(np.cross(along_a, along_p))
    if cross < 0.05:
        return
    t_a, t_p, crossing = closest_parameters(start_a, along_a, start_p, along_p)
    assert crossing
    # conditioned by the square of the sine of the angle between the lines
    assert (t_a, t_p) == pytest.approx(three_planes(start_a, along_a, start_p, along_p), abs=1e-14 / cross**4 + 1e-12)
    gap = np.array(start_a) + t_a * np.array(along_a) - np.array(start_p) - t_p * np.array(along_p)
    assert np.dot(gap, along_a) == pytest.approx(0.0, abs=1e-10)
    assert np.dot(gap, along_p) == pytest.approx(0.0, abs=1e-10)


# a petal as a trapezoid: roots on the ring plane, tip toward -x; sides converge
ROOT_1, ROOT_2 = np.array([0.0, 0.25, 0.43]), np.array([0.0, -0.25, 0.43])
TOP_1, TOP_2 = np.array([-0.18, 0.09, 0.31]), np.array([-0.18, -0.09, 0.31])
SIDES = (TOP_1 - ROOT_1, TOP_2 - ROOT_2)
BASE = TOP_2 - TOP_1
PLANE = segments.trapezoid_plane(tuple(ROOT_1), tuple(ROOT_2), tuple(TOP_1))


def inside_quadrilateral(point):
    """By the signs of the cross products along the boundary."""
    corners = [ROOT_1, TOP_1, TOP_2, ROOT_2]
    signs = [np.dot(np.cross(corners[(i + 1) % 4] - corners[i], point - corners[i]), PLANE) for i in range(4)]
    return all(s > 0.0 for s in signs) or all(s < 0.0 for s in signs)


@pytest.mark.parametrize("side", [0, 1])
def test_spec05_oracle_T09_trapezoid_gate(side):
    """Near its side, the gate agrees with point in polygon."""
    rng = np.random.default_rng(8)
    root = (ROOT_1, ROOT_2)[side]
    inside = 0
    for _ in range(2000):
        on_side = root + rng.uniform(0.05, 0.95) * SIDES[side]
        pierced = on_side + rng.uniform(-0.05, 0.05) * BASE
        along = rng.normal(size=3)
        if abs(np.dot(along, PLANE)) < 0.1 * np.linalg.norm(along) * np.linalg.norm(PLANE):
            continue
        start = pierced - rng.uniform(0.1, 0.9) * along
        t_q, t_c = segments.trapezoid_crossing(
            tuple(start), tuple(along), PLANE, tuple(ROOT_1), tuple(SIDES[side]), tuple(TOP_1), tuple(BASE)
        )
        assert 0.0 < t_q < 1.0
        expected = inside_quadrilateral(pierced)
        inside += expected
        assert (0.0 < t_c < 1.0) == expected
    assert inside > 500


def test_segment_trapezoid_gates_the_pair_of_edges():
    """An edge through the trapezoid near side 1 has the values of A7; one past the side has none."""
    middle = 0.5 * (ROOT_1 + TOP_1)
    along = np.array([0.04, 0.10, -0.05])
    for shift, touches in ((0.004, True), (-0.004, False)):
        start = middle + shift * BASE / np.linalg.norm(BASE) - 0.5 * along
        args = tuple(start), tuple(along)
        result = segments.segment_trapezoid(
            *args, PLANE, tuple(ROOT_1), tuple(ROOT_1), tuple(SIDES[0]), tuple(TOP_1), tuple(BASE)
        )
        plain = segments.segment_segment(*args, tuple(ROOT_1), tuple(SIDES[0]))
        if touches:
            assert result[0] == plain[0]
            assert abs(plain[0]) > 0.0
        else:
            assert result[0] < 0.0


RING, HEIGHT, HALF_ROOT, HALF_TIP = 0.5, 0.18, radians(29.5), radians(15.88)


def on_ring(azimuth, r, x):
    """A point of RefRing: azimuth from +z toward +y (contact-geometry 7.1)."""
    return np.array([x, r * sin(azimuth), r * cos(azimuth)])


@pytest.mark.parametrize(
    ("gap", "touching_roll", "share", "before", "after", "n_x", "gate_before", "gate_after"),
    [
        (0.05, 3.5310846, 0.1388889, 3.789e-3, 3.776290e-3, 0.407521, -0.02687, 0.02674),
        (0.10, 6.3560776, 0.2777778, 3.548e-3, 3.535783e-3, 0.426637, -0.02507, 0.02496),
        (0.15, 9.5252123, 0.4166667, 3.309e-3, 3.297187e-3, 0.447175, -0.02332, 0.02322),
    ],
)
def test_spec05_oracle_T14_petal_edges_of_two_rings(
    gap, touching_roll, share, before, after, n_x, gate_before, gate_after
):
    """contact-geometry 7.3, closed form 2: coaxial rings at a plane gap, rolled 0.5 deg short of and past touching."""
    base, top = on_ring(HALF_ROOT, RING, 0.0), on_ring(HALF_TIP, RING - HEIGHT, HEIGHT)
    roots = [on_ring(radians(60.0) + s * HALF_ROOT, RING, 0.0) for s in (-1, 1)]
    tops = [on_ring(radians(60.0) + s * HALF_TIP, RING - HEIGHT, -HEIGHT) for s in (-1, 1)]
    side, across = tops[0] - roots[0], tops[1] - tops[0]
    plane = segments.trapezoid_plane(tuple(roots[0]), tuple(roots[1]), tuple(tops[0]))
    for offset, depth_expected, gate in ((-0.5, before, gate_before), (0.0, 0.0, 0.0), (0.5, after, gate_after)):
        roll = radians(touching_roll + offset)
        A = np.array([[1, 0, 0], [0, cos(roll), sin(roll)], [0, -sin(roll), cos(roll)]])
        start, along = tuple(A @ base - (gap, 0.0, 0.0)), tuple(A @ (top - base))
        depth, n, _, t_a, t_p = segments.segment_segment(start, along, tuple(roots[0]), tuple(side))
        assert t_a == pytest.approx(t_p, abs=1e-9)
        _, t_c = segments.trapezoid_crossing(
            start, along, plane, tuple(roots[0]), tuple(side), tuple(tops[0]), tuple(across)
        )
        assert t_c == pytest.approx(gate, abs=6e-6)
        if offset == 0.0:
            assert t_a == pytest.approx(share, abs=1e-7)
            # the touching roll is given to 1e-6 deg (contact-geometry T14), 8 mm per degree
            assert depth == pytest.approx(0.0, abs=8e-9)
            continue
        if offset > 0.0:
            assert depth == pytest.approx(depth_expected, abs=2e-9)
            assert n[0] == pytest.approx(n_x, abs=2e-6)
        else:
            assert -depth == pytest.approx(depth_expected, abs=6e-7)


def test_rotated_scene_rotates_the_results():
    A = np.array(from_angles(0.3, -0.2, 1.1))
    start, along = (-0.12, 0.1, 0.62), (0.29, -0.05, -0.27)
    depth, n, point, _ = segments.segment_circle(start, along, ORIGIN, AXIS, 0.5, 1.0)
    turned = segments.segment_circle(tuple(A @ start), tuple(A @ along), ORIGIN, tuple(A @ AXIS), 0.5, 1.0)
    assert turned[0] == pytest.approx(depth, abs=1e-14)
    assert turned[1] == pytest.approx(A @ n, abs=1e-12)
    assert turned[2] == pytest.approx(A @ point, abs=1e-12)
