"""Contact of the airlock's head with its cone against brute force, energies and closed forms.

Theory: berthing 8.1, contact-geometry 5.14.
"""

from __future__ import annotations

from itertools import pairwise
from math import cos, hypot, radians, sin, sqrt, tan

import numpy as np
import pytest

from dockfmu.base.compiler import jit
from dockfmu.components.physics.contact import airlock_pair
from dockfmu.components.physics.contact.airlock_pair.latches import travel_on_circle
from dockfmu.components.physics.contact.airlock_pair.pairs import (
    CONE_ON_MOUTH,
    CONE_ON_STRIKE,
    LATCH_BOTTOMED,
    LATCH_HOLDS,
    LATCH_PUSHED,
    SPHERE_ON_BOTTOM,
    SPHERE_ON_CONE,
    SPHERE_ON_WALL,
)
from dockfmu.components.physics.mechanics.rotation import from_angles
from tests.components.physics.contact.airlock_pair.airlock_unit import ELASTIC, Head
from tests.components.physics.contact.closed_path import Y, place

# RefB1, written again
MOUTH, PLANE, STRIKE, DEPTH, WALL, BOTTOM = 0.075, 0.20, 0.030, 0.045, 0.045, 0.120
STEEP = radians(75.0)
NOSE, REAR = (0.110, 0.018), (0.085, 0.024)
LATCH = np.array([[0.078, 0.022], [0.063, 0.037], [0.059, 0.037], [0.0574, 0.031]])
# the chord of 65 generatrices lies inside the cone by at most this
CHORD = REAR[1] * (1.0 - cos(np.pi / 64)) + 1e-6


@pytest.fixture(scope="module")
def head() -> Head:
    return Head(**ELASTIC)


def poses(count: int, seed: int, x: tuple[float, float], aside: float, tilt: float):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        position = np.array([rng.uniform(*x), *rng.uniform(-aside, aside, 2)])
        angles = np.radians(np.array([*rng.uniform(-tilt, tilt, 2), rng.uniform(-180, 180)]))
        yield position, np.array(from_angles(*map(float, angles)))


def meridian() -> np.ndarray:
    """Points (x, r) of the passive faces that a sphere can meet, 20 um apart."""
    end = DEPTH + (WALL - STRIKE) / tan(STEEP)
    corners = [(0.0, PLANE), (0.0, MOUTH), (DEPTH, STRIKE), (end, WALL)]
    rows = []
    for (x0, r0), (x1, r1) in pairwise(corners):
        s = np.linspace(0.0, 1.0, int(hypot(x1 - x0, r1 - r0) / 2e-5) + 2)
        rows.append(np.stack([x0 + s * (x1 - x0), r0 + s * (r1 - r0)], axis=1))
    return np.concatenate(rows)


def inside_head(p: np.ndarray) -> np.ndarray:
    """Depth of points of frame H in the head, negative outside: two spheres, their common tangent, a shank of 6 deg."""
    x, r = p[..., 0], np.hypot(p[..., 1], p[..., 2])
    (x1, r1), (x2, r2) = NOSE, REAR
    s = (r2 - r1) / (x1 - x2)
    c = sqrt(1.0 - s * s)
    # a cone of half-angle asin(s) about -x: distance of its surface from the axis' point at which the normal starts
    start = x - r * s / c
    joined = r1 + (x1 - np.clip(start, x2, x1)) * s
    at = np.clip(start, x2, x1)
    depth = joined - np.hypot(x - at, r)
    shank = radians(6.0)
    back = x + r * tan(shank)
    behind = r2 * cos(shank) - (x2 - r2 * sin(shank) - x) * tan(shank) - r
    return np.where(back < x2, behind * cos(shank), depth)


def test_spheres_are_as_deep_as_brute_force(head):
    """Free centres against 20 um of the meridian: depth R - distance, on cone, edges, plane and rear face."""
    line = meridian()
    seen = set()
    rng = np.random.default_rng(3)
    for _ in range(1500):
        position = np.array([rng.uniform(-0.13, -0.02), *rng.uniform(-0.03, 0.03, 2)])
        A = np.array(from_angles(*map(float, rng.uniform(-0.1, 0.1, 3))))
        assert head.place(position, rotation=A) == 0
        found = {item.index: item for item in head.contacts(SPHERE_ON_CONE)}
        for k, (x, radius) in enumerate((NOSE, REAR), start=1):
            c = position + A.T @ [x, 0.0, 0.0]
            r = hypot(c[1], c[2])
            if c[0] > 0.0 and (c[0] - DEPTH) * sin(STEEP) < (r - STRIKE) * cos(STEEP) and c[0] + r > MOUTH:
                continue  # the centre is in the material
            depth = radius - np.hypot(line[:, 0] - c[0], line[:, 1] - r).min()
            if depth > 3e-3:
                continue
            if depth > 2e-6 and k in found:
                seen.add(round(float(found[k].normal[0]), 1))
                assert found[k].penetration == pytest.approx(depth, abs=2e-6)
            # over an edge a cone may be deeper and stands for the sphere
            elif depth > 2e-6:
                assert any(item.penetration > depth - 2e-6 for item in head.contacts(CONE_ON_MOUTH, CONE_ON_STRIKE))
            elif k in found:
                assert found[k].penetration < 4e-6
    assert {0.7, 0.2} <= seen


# a cone so slender that the head's cones meet its mouth before its faces
SLENDER = {"cone.mouth_radius": 0.04, "cone.strike_radius": 0.035, "cone.depth": 0.30, "cone.bottom": 0.4}


@pytest.mark.parametrize(("pair", "x", "aside"), [(CONE_ON_STRIKE, (-0.07, 0.0), 0.011),
                                                  (CONE_ON_MOUTH, (-0.115, -0.03), 0.018)])  # fmt: skip
def test_cones_on_edges_are_as_deep_as_brute_force(pair, x, aside):
    """The deepest of 2000 points of an edge circle in the head: to the chord, and to 2 % of the depth by the tilt."""
    head = Head(**ELASTIC, **(SLENDER if pair == CONE_ON_MOUTH else {}))
    edge, radius = (DEPTH, STRIKE) if pair == CONE_ON_STRIKE else (0.0, SLENDER["cone.mouth_radius"])
    a = np.linspace(0.0, 2.0 * np.pi, 2000, endpoint=False)
    circle = np.stack([np.full_like(a, edge), radius * np.cos(a), radius * np.sin(a)], axis=1)
    checked = 0
    for position, A in poses(2500, 4, x, aside, 2.0):
        assert head.place(position, rotation=A) == 0
        deepest = float(inside_head((circle - position) @ A.T).max())
        if deepest > 3e-3:
            continue
        cones = [item.penetration for item in head.contacts(pair)]
        if cones:
            checked += 1
            assert cones[0] == pytest.approx(deepest, abs=CHORD + 0.02 * deepest)
        elif deepest > CHORD + 1e-4:
            # a sphere is deeper over the edge, or stands past it on a face
            spheres = [item.penetration for item in head.contacts(SPHERE_ON_CONE)]
            assert max(spheres, default=0.0) > 0.98 * deepest - CHORD
    assert checked > 100


def pushed(position: np.ndarray, A: np.ndarray, azimuth: float) -> float:
    """Travel at which a latch just clears the strike, by bisection over polygons moved inward."""
    u = np.array([0.0, cos(azimuth), sin(azimuth)])
    points = np.array([[x, 0.0, 0.0] for x, _ in LATCH]) + LATCH[:, 1:] * u
    points = np.vstack([points[:2], points[1] - [0.05, 0.0, 0.0]])

    def over(p: float) -> bool:
        placed = position + (points - p * u) @ A
        for a, b in pairwise(placed):
            t = (DEPTH - a[0]) / (b[0] - a[0])
            if 0.0 <= t <= 1.0 and hypot(*(a + t * (b - a))[1:]) > STRIKE:
                return True
        return False

    if not over(0.0):
        return 0.0
    low, high = 0.0, 0.014
    if over(high):
        return high
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if over(middle) else (low, middle)
    return low


def test_spec05_A12_latches_stand_where_bisection_has_them(head):
    found = 0
    for position, A in poses(400, 5, (-0.035, -0.015), 0.004, 1.5):
        assert head.place(position, rotation=A) == 0
        for k in range(4):
            travel = pushed(position, A, k * np.pi / 2)
            assert head.u.work.latch[k].travel == pytest.approx(travel, abs=1e-9)
            found += 0.0 < travel < 0.014
    assert found > 400


def test_coaxial_latch_closed_form():
    """berthing 8.1: travel = height of the undeflected segment over the edge, less R_STOP."""
    for x in np.linspace(0.060, 0.077, 9):
        start, along = (0.0, LATCH[0, 1], 0.0), (LATCH[1, 0] - LATCH[0, 0], 0.015, 0.0)
        at = x - LATCH[0, 0]
        travel, t, _ = travel_on_circle(start, along, (0.0, 1.0, 0.0), float(at), STRIKE)
        height = LATCH[0, 1] + t * 0.015
        assert travel == pytest.approx(height - STRIKE, abs=1e-12)


def test_coaxial_latches_sum_to_four_times_one(head):
    """contact-geometry T15c: no lateral force, no torque; axial the spring over the slope of 45 deg."""
    assert head.place((-0.023, 0.0, 0.0)) == 0
    item = head.contacts(LATCH_PUSHED)
    assert len(item) == 4
    travel = LATCH[0, 1] + (LATCH[0, 0] - 0.068) - STRIKE
    axial = 4 * (4.0 + 400.0 * travel)
    assert head.wrench == pytest.approx([-axial, 0, 0, 0, 0, 0], abs=1e-9)
    assert head.energy == pytest.approx(4 * (4.0 + 200.0 * travel) * travel, rel=1e-12)


def turn(phi: np.ndarray) -> np.ndarray:
    """Rotation by the vector phi, active, from Rodrigues' formula."""
    angle = float(np.linalg.norm(phi))
    if angle == 0.0:
        return np.eye(3)
    k = phi / angle
    skew = np.array([[0.0, -k[2], k[1]], [k[2], 0.0, -k[0]], [-k[1], k[0], 0.0]])
    return np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * skew @ skew


def energy(head: Head, position: np.ndarray, A: np.ndarray) -> float:
    assert head.place(position, rotation=A) == 0
    return head.energy


@pytest.mark.parametrize("fired", [False, True])
def test_spec05_oracle_T21_wrench_is_the_gradient_of_the_energy(fired):
    """Central differences of 1e-8 m and rad; action and reaction agree in force and torque (T17)."""
    head = Head(**ELASTIC, **{"latch.travel": 0.009})
    for latch in head.u.state.latch:
        latch.fired = float(fired)
    seen = set()
    checked = 0
    step = 1e-8
    where = [*poses(250, 6, (-0.13, -0.06), 0.05, 4.0), *poses(250, 7, (-0.06, 0.01), 0.008, 2.0)]
    where += [*poses(100, 8, (-0.01, 0.0), 0.006, 0.5), *poses(60, 9, (-0.03, 0.03), 0.03, 12.0)]
    for position, A in where:
        stored = energy(head, position, A)
        if stored <= 0.0:
            continue
        on_head, on_passive = head.wrench, head.on_passive
        size = np.abs(on_head).max()
        assert np.allclose(on_passive[:3], -on_head[:3], atol=1e-12 * size)
        moment = on_passive[3:] + on_head[3:] + np.cross(position, on_head[:3])
        assert np.allclose(moment, 0.0, atol=1e-12 * size)
        found = {item.pair for item in head.contacts()}
        slopes = []
        for sign in (1.0, -1.0):
            moved = [energy(head, position + sign * step * e, A) for e in np.eye(3)]
            moved += [energy(head, position, A @ turn(-sign * step * e)) for e in np.eye(3)]
            slopes.append(sign * (np.array(moved) - stored) / step)
        mean = 0.5 * (slopes[0] + slopes[1])
        if np.allclose(*slopes, atol=1e-2 * size):
            assert np.allclose(mean, -on_head, atol=2e-5 * size)
            checked += 1
            seen |= found
    assert checked > 250
    assert seen >= {SPHERE_ON_CONE, CONE_ON_STRIKE, SPHERE_ON_BOTTOM}
    assert seen >= ({LATCH_HOLDS} if fired else {LATCH_PUSHED, LATCH_BOTTOMED})


@jit
def loop(unit, middle, size, phase, steps, seen):
    """Move the head once around its loop: (work of the forces on it, largest energy stored, energy left, code)."""
    head = unit.work.link[0]
    head.velocity[:] = 0.0
    head.angular_velocity[:] = 0.0
    before = 0.0
    work = 0.0
    first = 0.0
    most = 0.0
    for i in range(steps + 1):
        rate, w, _ = place(head, middle, size, phase, Y, 2.0 * np.pi * i / steps)
        code = airlock_pair.evaluate(unit)
        if code:
            return work, most, 0.0, code
        airlock_pair.sum_forces(unit)
        for j in range(int(unit.tally.count)):
            seen[int(unit.tally.contact[j].pair)] = 1.0
        power = 0.0
        for j in range(3):
            power += unit.work.sums.part[0].force[j] * rate[j] + unit.work.sums.part[0].torque[j] * w[j]
        if i == 0:
            first = unit.work.sums.stored_energy
        else:
            work += 0.5 * (before + power) * 2.0 * np.pi / steps
        before = power
        most = max(most, unit.work.sums.stored_energy)
    return work, most, unit.work.sums.stored_energy - first, 0


PHASE = np.array([0.0, 1.1, 2.3, 0.7, 1.9, 3.0])
# (middle, size, latches fired, pairs that must touch) of each loop
LOOPS = {
    "spheres on cone and strike": (
        [-0.0725, 0.012, 0.0, 0, 0, 0], [0.002, 0.002, 0.008, 0.01, 0.01, 0.3], False, {SPHERE_ON_CONE}),
    "nose on cone and strike": (
        [-0.066, 0.0105, 0.0, 0, 0, 0], [0.006, 0.002, 0.002, 0.01, 0.01, 0.3], False, {CONE_ON_STRIKE}),
    "cones on the strike": (
        [-0.055, 0.0085, 0.0, 0, 0, 0], [0.012, 0.001, 0.001, 0.01, 0.01, 0.3], False,
        {CONE_ON_STRIKE}),
    "shank and latches on the strike": (
        [-0.025, 0.0075, 0.0, 0, 0, 0], [0.008, 0.001, 0.001, 0.005, 0.005, 0.1], False,
        {CONE_ON_STRIKE, LATCH_PUSHED}),
    "latches pushed in": (
        [-0.022, 0.0, 0.0, 0, 0, 0], [0.010, 0.003, 0.003, 0.01, 0.01, 0.1], False, {LATCH_PUSHED}),
    "latches behind the strike": (
        [-0.0125, 0.0, 0.0, 0, 0, 0], [0.001, 0.001, 0.001, 0.004, 0.004, 0.05], True, {LATCH_HOLDS}),
    "nose on the bottom": (
        [-0.008, 0.0, 0.0, 0, 0, 0], [0.002, 0.003, 0.003, 0.01, 0.01, 0.1], True, {SPHERE_ON_BOTTOM}),
}  # fmt: skip
STEPS = (4000, 16000, 64000)


@pytest.mark.parametrize("kind", LOOPS)
def test_spec05_oracle_T21_closed_paths_give_back_their_energy(kind):
    """Compare what is left of the largest energy stored on the way, with 4000, 16 000 and 64 000 points.

    Forces with kinks leave a share that falls with the square of the spacing, forces that jump (from one generatrix to
    the next, from sphere to cone, latches leaving the edge) one that falls with the first power. A depth that jumps
    leaves the same share however many points there are: with tilt that of a cone and of the sphere beside it differ by
    the tilt times the tangent of the cone's angle.
    """
    middle, size, fired, pairs = LOOPS[kind]
    head = Head(**ELASTIC)
    for latch in head.u.state.latch:
        latch.fired = float(fired)
    errors = []
    for steps in STEPS:
        seen = np.zeros(9)
        work, most, left, code = loop(head.u, np.array(middle, float), np.array(size, float), PHASE, steps, seen)
        assert code == 0
        assert pairs <= {float(i) for i in np.nonzero(seen)[0]}
        assert most > 1e-3
        assert left == pytest.approx(0.0, abs=1e-9 * most)
        errors.append(abs(work) / most)
    jump = 3e-4 if CONE_ON_STRIKE in pairs else 0.0
    assert all(error < 12.0 / steps + jump for error, steps in zip(errors, STEPS, strict=True)), errors


def test_wall_of_the_socket():
    head = Head(**ELASTIC)
    assert head.place((-0.02, 0.0285, 0.0)) == 0
    nose = next(item for item in head.contacts(SPHERE_ON_WALL) if item.index == 1)
    assert nose.penetration == pytest.approx(0.0285 + 0.018 - WALL)
    assert nose.normal == pytest.approx([0.0, 1.0, 0.0])


def test_a_latch_fires_when_its_barb_is_free_of_the_strike():
    """Its tip is 7 mm over the strike, so it must be 7 mm / tan 75 deg behind it; the energy of its spring is lost."""
    head = Head(**ELASTIC)
    free = DEPTH + 0.007 / tan(STEEP) - LATCH[2, 0]
    for x, fired in ((free - 1e-6, 0.0), (free + 1e-6, 1.0)):
        assert head.place((x, 0.0, 0.0)) == 0
        airlock_pair.accept(head.u)
        assert [latch.fired for latch in head.u.state.latch] == [fired] * 4
    assert head.u.state.dissipated_latches == pytest.approx(4 * (4.0 + 200.0 * 0.007) * 0.007, rel=1e-9)
    assert head.place((free - 1e-4, 0.0, 0.0)) == 0
    held = head.contacts(LATCH_HOLDS)
    assert len(held) >= 4
    assert all(item.normal[0] == pytest.approx(-sin(STEEP)) for item in held)
