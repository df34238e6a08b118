"""Bisection in ordered sets: path, count, and exhaustive search."""

from __future__ import annotations

from math import atan, cos, pi, radians, sin, sqrt

import numpy as np
import pytest

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import search
from dockfmu.components.physics.mechanics.rotation import apply_transposed, from_angles
from dockfmu.components.physics.mechanics.vector import add, load

visited: list[int] = []


@kernel
def sphere_cone_depth(item, r, A, cone):
    """Return the depth of a sphere centre (3 numbers in its frame) in a cone about x, up to a constant.

    `cone` is (sin, cos) of the half-angle: (0, 1) measures the distance to the axis, for a cylinder or an edge. For a
    cone the distance alone would pick a neighbour and underestimate the depth (contact-geometry A11).
    """
    s, c = cone
    p = add(r, apply_transposed(A, load(item)))
    return s * p[0] + c * sqrt(p[1] * p[1] + p[2] * p[2])


search_generatrices = search.farthest(search.line_circle_distance)
search_torus = search.farthest_around(sphere_cone_depth)


def counted(distance):
    """`distance` in the interpreter, remembering which items were asked for."""

    def wrapped(item, r, A, partner):
        visited.append(int(item[-1]))
        return distance(item, r, A, partner)

    return wrapped


def interpreted(distance):
    """The search as plain Python over a plain distance function."""
    return search.farthest(counted(distance)).py_func


def numbered(items):
    return np.column_stack([items, np.arange(len(items))])


def test_spec05_oracle_T10_bisection_path():
    """N = 3, d(i) = cos(0.1 (i - 6.6)), i = 1..9: triples (1, 5, 9), (5, 7, 9), (5, 6, 7), result 7."""
    visited.clear()
    items = numbered(np.arange(1.0, 10.0)[:, None])
    index, _ = interpreted(lambda item, *_: cos(0.1 * (item[0] - 6.6)))(items, None, None, None, 0, 8)
    assert index + 1 == 7
    assert [i + 1 for i in visited] == [1, 9, 5, 7, 6]


def test_spec05_erratum_21_interval_shrinks_when_the_middle_is_nearest():
    items = numbered(np.arange(9.0)[:, None])
    index, d = interpreted(lambda item, *_: abs(item[0] - 4.3))(items, None, None, None, 0, 8)
    assert (index, d) == (0, 4.3)


def generatrices(n=8, radius=0.52, half_width=0.515, height=0.2):
    """A petal: 2^n + 1 generatrices of a 45 deg cone about x around the azimuth 0 (from +y)."""
    azimuth = np.linspace(-half_width, half_width, 2**n + 1)
    c, s = np.cos(azimuth), np.sin(azimuth)
    start = np.column_stack([np.full_like(c, -0.02), radius * c, radius * s])
    return np.column_stack([start, np.column_stack([np.full_like(c, height), -height * c, -height * s])])


def test_spec05_oracle_T11_bisection_against_exhaustive():
    """Tilts up to 7 deg and offsets up to 0.1 m: loss at most 1 micrometre, 10 evaluations of 257."""
    items = generatrices()
    rng = np.random.default_rng(11)
    circle = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    for k in range(400):
        offset, toward, tilt, about = rng.uniform((0.0, 0.0, 0.0, 0.0), (0.1, 2.0 * pi, radians(7.0), 2.0 * pi))
        r = (-0.05, float(offset * cos(toward)), float(offset * sin(toward)))
        A = from_angles(float(tilt * cos(about)), float(tilt * sin(about)), float(rng.uniform(-0.1, 0.1)))
        index, d = search_generatrices(items, r, A, circle, 0, 256)
        exhaustive = max(search.line_circle_distance(item, r, A, circle) for item in items)
        assert exhaustive - d <= 1e-6
        assert d == search.line_circle_distance(items[index], r, A, circle)
        if k == 0:
            visited.clear()
            plain = search.line_circle_distance.py_func
            same, _ = interpreted(plain)(numbered(items), r, A, circle, 0, 256)
            assert same == index
            assert len(visited) == 10


@pytest.mark.parametrize("offset_azimuth", [0.0, 0.4, 1.7, 3.1, 4.0, 6.1])
def test_spec05_torus_in_a_cone_coaxial_with_offset(offset_azimuth):
    """contact-geometry 8.2: depth = R_S - sin(a) (x_T - x) + cos(a) (e + R_t), the index toward the offset."""
    n, tube_centre, sphere, offset = 8, 5e-3, 0.010, 2e-3
    angle, apex, x = radians(45.0), 0.030, 0.012
    centres = np.zeros((2**n + 1, 3))
    search.torus_centres(tube_centre, centres)
    assert centres[0] == pytest.approx(centres[-1], abs=1e-17)
    r = (x, offset * cos(offset_azimuth), offset * sin(offset_azimuth))
    A = from_angles(0.0, 0.0, 0.0)
    index, g = search_torus(centres, r, A, (sin(angle), cos(angle)))
    depth = sphere - apex * sin(angle) + g
    expected = sphere - sin(angle) * (apex - x) + cos(angle) * (offset + tube_centre)
    # quantised azimuth: e R_t / (e + R_t) (pi / 256)^2 / 2
    assert depth == pytest.approx(expected, abs=2e-7)
    assert abs((2.0 * pi * index / 256 - offset_azimuth + pi) % (2.0 * pi) - pi) <= pi / 256 + 1e-12


def test_torus_search_by_depth_beats_search_by_distance():
    """contact-geometry A11: the distance to the axis alone under-reports the depth by about 0.05 mm at 1 deg."""
    centres = np.zeros((257, 3))
    search.torus_centres(5e-3, centres)
    rng = np.random.default_rng(3)
    worst = 0.0
    for _ in range(300):
        azimuth, about = rng.uniform(0.0, 2.0 * pi, 2)
        tilt = radians(1.0)
        r = (0.0, 0.005 * cos(azimuth), 0.005 * sin(azimuth))
        A = from_angles(tilt * cos(about), tilt * sin(about), 0.0)
        cone = sin(pi / 4), cos(pi / 4)
        exact = max(sphere_cone_depth(c, r, A, cone) for c in centres)
        _, found = search_torus(centres, r, A, cone)
        assert exact - found <= 1e-7
        index, _ = search_torus(centres, r, A, (0.0, 1.0))
        worst = max(worst, exact - sphere_cone_depth(centres[index], r, A, cone))
    assert 1e-6 < worst < 1e-4


def test_parallel_generatrix_never_wins_by_a_finite_distance():
    item = np.array([0.0, 0.5, 0.0, 0.0, 1.0, 0.0])
    d = search.line_circle_distance(item, (0.0, 0.0, 0.0), from_angles(0.0, 0.0, 0.0), ((0.1, 0, 0), (1.0, 0.0, 0.0)))
    assert d == np.inf
    assert atan(d) == pytest.approx(pi / 2)
