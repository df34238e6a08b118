"""All pairs of the rings against brute force: dense samples, exhaustive generatrices, triangles that cross.

The geometry to compare with is that of `ring_geometry`, written by hand from corner points. Poses are random within the
domain of docking (misses to 0.1 m, tilts to 6 deg, gaps from seated to 0.15 m); centred, symmetric and tangential ones,
tips and borders are put in by hand. Poses in which something is deeper than 20 mm are left out: beyond its limit a
contact is an error.

Samples find the deepest point, so that the contact is the single point here (`ring.conformity` 0). How contacts of
conforming surfaces are spread (ruling R54) is compared with the samples in a test of its own.
"""

from __future__ import annotations

from math import radians, sqrt

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockfmu.components.physics.contact.ring_pair.pairs import (
    EDGE_ON_EDGE,
    LATCH_FRONT,
    LATCH_REAR,
    PLANE_ON_PLANE,
    RIM_ON_ACTIVE_PETAL,
    RIM_ON_PASSIVE_PETAL,
    SENSOR_ON_PLANE,
)
from dockfmu.components.physics.mechanics.rotation import from_angles
from tests.components.physics.contact.ring_pair import ring_geometry as by_hand
from tests.components.physics.contact.ring_pair.ring_unit import ELASTIC, Rings

SINGLE = ELASTIC | {"ring.conformity": 0.0}
RINGS = Rings(**SINGLE)
# position and yaw, pitch, roll in degrees
SPECIAL = [
    ((-0.05, 0.0, 0.0), (0, 0, 0)),  # centred, clear
    ((0.0, 0.0, 0.0), (0, 0, 0)),  # seated exactly: tangential all around
    ((1e-4, 0.0, 0.0), (0, 0, 0)),  # all petals alike
    ((-0.025, 0.0, 0.03), (0, 0, 0)),  # toward the middle of a petal
    ((-0.025, 0.03, 0.0), (0, 0, 0)),  # toward the edge of one
    ((-0.025, 0.0, 0.025), (0, 0, 0)),  # tangential
    ((-0.05, 0.0, 0.0), (0, 0, 3.6)),  # parallel side faces
    ((-0.15, 0.0, 0.0), (0, 0, 9.6)),
    ((-0.17, 0.0, 0.175), (0, 0, 0)),  # a tip over the rim
    ((-0.1785, 0.0, 0.2), (0, 0, 0)),  # a tip on the ring plane
    ((-0.36, 0.0, 0.0), (0, 0, 28.3)),  # tips meet
]


def placed(count: int, seed: int, gap: tuple[float, float], sizes=(1.0, 0.4, 0.1), special=True):
    """(position, A) of poses in which no petal is deeper than 20 mm; the pair is placed there."""
    rng = np.random.default_rng(seed)
    todo = [(np.array(p), np.radians(a)) for p, a in SPECIAL] if special else []
    while count > 0 or todo:
        if todo:
            position, angles = todo.pop()
        else:
            size = rng.choice(sizes)
            position = np.array([-rng.uniform(*gap), *rng.uniform(-0.1, 0.1, 2) * size])
            angles = np.radians(rng.uniform(-6.0, 6.0, 3)) * size
        A = np.array(from_angles(*map(float, angles)))
        # the same attitude from another library
        yaw, pitch, roll = angles
        same = Rotation.from_euler("YZX", [yaw, pitch, roll]).as_matrix().T
        assert np.allclose(A, same, atol=1e-15)
        assert RINGS.place(position, rotation=A) == 0
        petals = RINGS.contacts(RIM_ON_ACTIVE_PETAL, RIM_ON_PASSIVE_PETAL, EDGE_ON_EDGE)
        if max((item.penetration for item in petals), default=0.0) < 0.02:
            count -= 1
            yield position, A


def found(*pairs: float) -> dict:
    return {(item.pair, int(item.index)): item for item in RINGS.contacts(*pairs)}


def rims(position, A):
    """(pair, petal, axes and centre of the rim in the frame of the petal) of the six."""
    for petal in range(3):
        yield RIM_ON_ACTIVE_PETAL, petal, np.array([A[:, 0], A[:, 1], A[:, 2]]), -A @ position
        yield RIM_ON_PASSIVE_PETAL, petal, A @ by_hand.FLIP, by_hand.FLIP @ position


@pytest.mark.slow
def test_rims_against_samples():
    """P2, P3: the deepest of thousands of points of each rim in each petal; a sample is half a spacing off at most."""
    touched, creases = 0, 0
    for position, A in placed(150, 7, (-0.001, 0.15)):
        contacts = found(RIM_ON_ACTIVE_PETAL, RIM_ON_PASSIVE_PETAL)
        for pair, petal, axes, centre in rims(position, A):
            sampled = by_hand.deepest_of_rim(petal, axes, centre)
            item = contacts.get((pair, petal + 1))
            if item is None:
                assert sampled < 1e-9
                continue
            assert sampled - 1e-12 <= item.penetration < sampled + 5e-7
            q = np.array(item.position)
            own = A @ (q - position) if pair == RIM_ON_ACTIVE_PETAL else by_hand.FLIP @ q
            assert by_hand.depth_in_petal(petal, own) == pytest.approx(item.penetration, abs=1e-12)
            assert np.linalg.norm(item.normal) == pytest.approx(1.0, abs=1e-12)
            touched += 1
            creases += item.gain < 1.0
    assert touched > 40
    assert creases > 10


@pytest.mark.slow
def test_ruling_R54_depths_of_spread_rims_against_samples():
    """With d the deepest sample and V = d - m, m the mean of three points of the rim: d - V exp(-V / conformity).

    The points are the middle of the petal and those of the Gauss-Legendre rule over its tip's width to either side,
    with weights 4/9 and 5/18. Poses are those of almost parallel rings, where the spread shows, and the conformity is
    ten times that of RefRing, 0.1 mm: V exp(-V / conformity) is up to 37 um. d is sampled to 5e-7 m, and the depth
    changes by less than 1.2 per change of d: 1e-6 m.
    """
    conformity = 1e-4
    spread = Rings(**ELASTIC | {"ring.conformity": conformity})
    aside = np.sqrt(0.6) * by_hand.TIP
    compared = 0
    for position, A in placed(60, 7, (-0.001, 0.0), sizes=(0.02, 0.002, 0.0002)):
        assert spread.place(position, rotation=A) == 0
        items = spread.contacts(RIM_ON_ACTIVE_PETAL, RIM_ON_PASSIVE_PETAL)
        contacts = {(item.pair, int(item.index)): item for item in items}
        for pair, petal, axes, centre in rims(position, A):
            sampled = by_hand.deepest_of_rim(petal, axes, centre)
            item = contacts.get((pair, petal + 1))
            if item is None:
                assert sampled < 1e-9
                continue
            # the axes of the passive ring, as its own frame has them, are half a turn about y from those of its rim
            hand = 1.0 if pair == RIM_ON_ACTIVE_PETAL else -1.0
            angles = hand * (by_hand.ACTIVE[petal] + aside * np.array([0.0, 1.0, -1.0]))
            depths = by_hand.depth_in_petal(petal, by_hand.rim(axes, centre, angles))
            excess = max(0.0, sampled - float(depths @ [4 / 9, 5 / 18, 5 / 18]))
            lost = excess * np.exp(-excess / conformity)
            assert item.penetration == pytest.approx(sampled - lost, abs=1e-6)
            compared += lost > 5e-6
    assert compared > 40


@pytest.mark.slow
def test_spec05_oracle_T12_rims_against_all_generatrices():
    """A10: the farthest of the 257 generatrices of each petal by its distance from the rim, within its length.

    Where one generatrix bears, depth is its distance, to 5 um, most of them by the spacing of generatrices. Over an
    edge it is `gain` times the distance of the edge, and the last generatrix in the petal is up to a spacing off it.
    """
    start, along = by_hand.generatrices()
    compared = 0
    for position, A in placed(150, 8, (-0.001, 0.15)):
        contacts = found(RIM_ON_ACTIVE_PETAL, RIM_ON_PASSIVE_PETAL)
        for pair, petal, axes, centre in rims(position, A):
            turn = np.eye(3)
            c, s = np.cos(by_hand.ACTIVE[petal] - by_hand.ACTIVE[0]), np.sin(by_hand.ACTIVE[petal] - by_hand.ACTIVE[0])
            turn[1:, 1:] = [[c, -s], [s, c]]
            distance, t = by_hand.distance_to_rim(start @ turn.T, along @ turn.T, axes, centre)
            inside = (t >= 0.0) & (t <= 1.0)
            farthest = distance[inside].max() if inside.any() else -1.0
            item = contacts.get((pair, petal + 1))
            if item is None:
                assert farthest < 5e-6
            elif item.gain == 1.0:
                assert farthest == pytest.approx(item.penetration, abs=5e-6)
                compared += 1
            else:
                assert item.penetration <= item.gain * (farthest + 5e-4)
    assert compared > 15


def sides(position, A):
    """(active petal, side, both triangles C, A, E in PU) of the six pairs of faces that face each other."""
    middles = np.degrees(by_hand.ACTIVE)
    for petal in range(3):
        for side in range(2):
            azimuth = middles[petal] + 60.0 * (2 * side - 1)
            # passive petals stand at minus the azimuths of the active ones
            (other,) = [k for k in range(3) if abs((azimuth + middles[k] + 180.0) % 360.0 - 180.0) < 1e-6]
            yield (
                petal,
                side,
                by_hand.side_triangle(petal, side, False, position, A),
                by_hand.side_triangle(other, side, True, position, A),
            )


def line_distance(active, passive):
    """Closest points of two lines (start, end) by least squares: (vector from passive to active, both parameters)."""
    a, p = active[1] - active[0], passive[1] - passive[0]
    t, *_ = np.linalg.lstsq(np.array([a, -p]).T, passive[0] - active[0], rcond=None)
    return active[0] + t[0] * a - passive[0] - t[1] * p, t


@pytest.mark.slow
def test_side_edges_against_lines_and_triangles():
    """P1: distance of the lines, on the side where the active one is farther along x, and what the ends leave of it.

    No contact is lost: where one side face goes through another, as triangles, one of their four pairs of edges
    touches; and where a pair touches by less than 1 mm, away from the ends, the triangles cross.
    """
    touched, crossed = 0, 0
    for position, A in placed(400, 9, (-0.001, 0.2)):
        contacts = found(EDGE_ON_EDGE)
        for petal, side, first, second in sides(position, A):
            deepest = 0.0
            cross = by_hand.triangles_cross(first, second)
            for a in range(2):
                for b in range(2):
                    item = contacts.get((EDGE_ON_EDGE, 1 + 8 * petal + 4 * side + 2 * a + b))
                    ends = first[[0 if a == 0 else 2, 1]], second[[0 if b == 0 else 2, 1]]
                    apart, t = line_distance(*ends)
                    limits = [
                        np.linalg.norm(apart) * np.sign(apart[0]),
                        by_hand.depth_below_face(b, by_hand.FLIP @ ends[0][1]),
                        by_hand.depth_below_face(a, A @ (ends[1][1] - position)),
                    ]
                    if a == 1:
                        limits.append(-by_hand.depth_below_face(b, by_hand.FLIP @ ends[0][0]))
                    if b == 1:
                        limits.append(-by_hand.depth_below_face(a, A @ (ends[1][0] - position)))
                    expected = min(limits)
                    if item is None:
                        assert expected < 1e-12
                        continue
                    assert item.penetration == pytest.approx(expected, abs=1e-12)
                    if expected == limits[0]:
                        assert np.allclose(item.normal, apart / np.linalg.norm(apart), atol=1e-6)
                    touched += 1
                    deepest = max(deepest, expected)
                    if expected < 1e-3 and ((t > 0.02) & (t < 0.98)).all() and a == b == 0:
                        assert cross
            if cross:
                crossed += 1
                assert deepest > 0.0
    assert touched > 100
    assert crossed > 40


def test_parallel_edges_do_not_touch():
    """Lines without a common normal have no direction to push in: petals of RefRing never come near that."""
    smallest = min(
        np.linalg.norm(np.cross(first[1] - first[0], second[1] - second[0]))
        for position, A in placed(100, 10, (0.0, 0.2))
        for _, _, first, second in sides(position, A)
    )
    assert smallest > 0.03


def test_points_of_the_ring_plane_and_sensors():
    """P4, P6: points carried along by hand; depth is the least distance from the plane x = 0 and the band's borders."""
    seen = 0
    for position, A in placed(300, 11, (-0.004, 0.004), sizes=(0.15, 0.05)):
        contacts = found(PLANE_ON_PLANE, SENSOR_ON_PLANE)
        points = {
            (PLANE_ON_PLANE, 1 + 2 * k + s): by_hand.point(0.0, 0.51, by_hand.ACTIVE[k] + (2 * s - 1) * by_hand.ROOT)
            for k in range(3)
            for s in range(2)
        }
        points |= {(SENSOR_ON_PLANE, 1 + k): by_hand.point(2e-3, 0.51, by_hand.ACTIVE[k]) for k in range(3)}
        for key, own in points.items():
            p = position + A.T @ own
            r = np.hypot(p[1], p[2])
            expected = min(p[0], r - 0.5, 0.52 - r)
            if expected > 1e-12:
                assert contacts[key].penetration == pytest.approx(expected, abs=1e-12)
                seen += 1
            elif expected < -1e-12:
                assert key not in contacts
        for k in range(3):
            item = contacts.get((SENSOR_ON_PLANE, k + 1))
            assert RINGS.output.mated[k] == float(item is not None and item.penetration >= 1e-3)
    assert seen > 300


@pytest.mark.slow
@pytest.mark.parametrize("fired", [False, True])
def test_latches_against_samples_of_the_stops(fired):
    """P5: rods and rollers against the section of the stops, faces r = 0.515 - x and r = 0.435 + x from x = 0 on."""
    rings = Rings(**SINGLE)
    rng = np.random.default_rng(12)
    seen = 0
    for _ in range(300):
        position = np.array([-rng.uniform(0.0, 0.012), *rng.uniform(-0.01, 0.01, 2)])
        A = np.array(from_angles(*map(float, rng.uniform(-0.01, 0.01, 3))))
        travel = rng.uniform(0.0, 0.008)
        for latch in rings.u.state.latch:
            latch.fired, latch.travel = float(fired), 0.0 if fired else travel
        assert rings.place(position, rotation=A) == 0
        contacts = {int(item.index): item for item in rings.contacts(LATCH_FRONT, LATCH_REAR)}
        for k in range(6):
            azimuth = by_hand.ACTIVE[k // 2] + radians(5.0) * (2 * (k % 2) - 1)
            along = by_hand.point(1.0, 1.0, azimuth) / sqrt(2.0)
            root = by_hand.point(0.034, 0.466, azimuth)
            shares = np.linspace(0.0, 1.0, 20001) if fired else np.array([1.0])
            points = position + (root + shares[:, None] * (0.02 - (0.0 if fired else travel)) * along) @ A
            x, r = points[:, 0], np.hypot(points[:, 1], points[:, 2])
            front = (x + r - 0.515) / sqrt(2.0)
            depth = np.minimum(front, (r - x - 0.435) / sqrt(2.0) if fired else x).max()
            item = contacts.get(k + 1)
            if depth > 1e-6:
                assert item is not None
                assert item.penetration == pytest.approx(depth, abs=1e-6)
                seen += 1
            elif depth < -1e-6:
                assert item is None
    assert seen > 200
