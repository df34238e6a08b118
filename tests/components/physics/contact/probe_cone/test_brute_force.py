"""All pairs of the probe-cone unit against brute force: dense samples of the parts, and a geometry of its own.

The passive unit is the set of points outside its polyline of revolution: half-planes in the meridian, whose depth is
the distance that a point must travel to leave them all. Nothing of `profile`, `segments` or `touch` is used to find
what they should say; poses are random within the legal limits, with edges, centred and tangential ones put in by hand.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import atan2, cos, pi, sin, tan

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from dockfmu.components.physics.contact import probe_cone
from dockfmu.components.physics.contact.probe_cone.latches import latch_front, sensor_front
from dockfmu.components.physics.contact.probe_cone.pairs import (
    HEAD_BOTTOM,
    HEAD_CONE,
    LATCH_STOP,
    LATCH_WALL,
    LATCH_WIDE,
    PAD_CONE,
    ROLLER_CONE,
)
from dockfmu.components.physics.contact.profile import segment_profile
from dockfmu.components.physics.mechanics.rotation import from_angles
from tests.components.physics.contact.probe_cone.contact_unit import Unit

SETS = {entry.name: entry.values for entry in probe_cone.PARAMETER_SETS}
NAMES = ("RefCone", "RefCone25", "ShortCone25")
NO_LIMIT = {f"law_{name}.penetration_limit": 1.0 for name in ("head", "bottom", "latch", "limiter")}
QUIET = {f"law_{n}.{q}": 0.0 for n in ("head", "bottom", "latch", "limiter") for q in ("damping", "friction")}


def unit_of(name: str) -> Unit:
    """A unit with a set's geometry, without losses and without limits of penetration."""
    values = {key.removeprefix("probe_cone.parameters."): value for key, value in SETS[name].items()}
    unit = Unit(**{**values, **QUIET, **NO_LIMIT, "sensor.friction": 0.0})
    unit.link(1, (-3.0, 0.0, 0.0))
    for roller in unit.u.input.roller:
        roller.position[:] = (-3.0, 0.0, 0.0)
    return unit


UNITS = {name: unit_of(name) for name in NAMES}


def polyline(name: str) -> np.ndarray:
    """Vertices (x, r) of the set's profile, mouth to bottom."""
    values = SETS[name]
    count = int(values["probe_cone.parameters.cone.vertices"])
    return np.column_stack([values[f"probe_cone.parameters.cone.{c}"][:count] for c in "xr"])


def depth_of_points(name: str, points: np.ndarray) -> np.ndarray:
    """Depth of points in the material but for the bottom, negative outside: minus the distance to the polyline.

    Inside it is the distance to the nearest face; vertices are those of the convex part.
    """
    vertices = polyline(name)[:-1]
    x, r = points[..., 0], np.hypot(points[..., 1], points[..., 2])
    below, distance = np.full(x.shape, np.inf), np.full(x.shape, np.inf)
    for a, b in pairwise(vertices):
        t = (b - a) / np.linalg.norm(b - a)
        below = np.minimum(below, (x - a[0]) * -t[1] + (r - a[1]) * t[0])
        along = np.clip((x - a[0]) * t[0] + (r - a[1]) * t[1], 0.0, np.linalg.norm(b - a))
        distance = np.minimum(distance, np.hypot(x - a[0] - along * t[0], r - a[1] - along * t[1]))
    return np.where(below > 0.0, below, -distance)


def share(low: float, high: float):
    return st.floats(low, high, allow_subnormal=False)


def point_near(name: str, where: float, distance: float, azimuth: float) -> np.ndarray:
    """A point near the polyline: `where` counts faces from the mouth, `distance` along their normal into free space."""
    vertices = polyline(name)[:-1]
    k = min(int(where), len(vertices) - 2)
    a, b = vertices[k], vertices[k + 1]
    t = (b - a) / np.linalg.norm(b - a)
    x, r = a + (where - k) * (b - a) - distance * np.array([-t[1], t[0]])
    return np.array([x, r * cos(azimuth), r * sin(azimuth)])


def listed(unit: Unit, pair: float):
    return [item for item in unit.contacts() if item.pair == pair]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=300, deadline=None)
@given(share(0.0, 3.0), share(-0.004, 0.01), share(-pi, pi))
@example(1.0, 0.0449, 0.0)  # over the edge of the mouth
@example(2.0, 0.0449, pi / 2)  # over the next edge
@example(1.5, 0.045, 0.3)  # tangential: touches with depth 0
@example(2.5, 0.047, 0.0)  # centred in the socket
def test_head_against_samples_of_the_sphere(name, where, excess, azimuth):
    """C1: the deepest of 40 000 points of the sphere in the material; a sphere's deepest point lies in its meridian.

    A sample misses the deepest point by at most half a spacing of 1.1e-3 rad: R (1 - cos) = 7e-9 m.
    """
    unit = UNITS[name]
    faces = len(polyline(name)) - 2
    where = min(where, faces - 1e-9)
    centre = point_near(name, where, min(0.045 - excess, 0.0469 if where > faces - 1 else 1.0), azimuth)
    assume(centre[0] < polyline(name)[-1, 0] - 0.045 and np.hypot(*centre[1:]) < 0.49)
    angle = np.linspace(0.0, 2.0 * pi, 5657)
    radial = np.array([0.0, cos(azimuth), sin(azimuth)])
    circle = centre + 0.045 * (np.cos(angle)[:, None] * radial + np.sin(angle)[:, None] * np.array([1.0, 0.0, 0.0]))
    # of a sphere in a convex corner depth is not that of its deepest point but of the wedge: R - distance of its centre
    expected = 0.045 + float(depth_of_points(name, centre[None])[0])
    deepest = float(depth_of_points(name, circle).max())
    unit.head(centre)
    found = listed(unit, HEAD_CONE)
    if expected > 1e-9:
        assert len(found) == 1
        assert found[0].penetration == pytest.approx(expected, abs=1e-12)
        point = np.array(found[0].position)
        assert np.linalg.norm(point - centre) == pytest.approx(0.045, abs=1e-12)
    if expected < -1e-9:
        assert not found
    # the sphere is in the material exactly if one of its points is
    if expected > 1e-7:
        assert deepest > 0.0
    elif expected < -1e-9:
        assert deepest <= 1e-9


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=200, deadline=None)
@given(share(-0.004, 0.004), share(0.0, 0.0019), share(-pi, pi))
@example(0.001, 0.0, 0.0)  # centred
@example(0.0, 0.001, 0.0)  # tangential
def test_head_against_the_bottom(name, excess, aside, azimuth):
    """C2: the farthest point of the sphere along x past the plane of the bottom."""
    unit = UNITS[name]
    bottom = polyline(name)[-1, 0]
    centre = np.array([bottom - 0.045 + excess, aside * cos(azimuth), aside * sin(azimuth)])
    unit.head(centre)
    found = listed(unit, HEAD_BOTTOM)
    assert bool(found) == (centre[0] + 0.045 - bottom > 0.0)
    if found:
        assert found[0].penetration == pytest.approx(excess, abs=1e-15)
        assert tuple(found[0].normal) == (1.0, 0.0, 0.0)


SAMPLES = np.linspace(0.0, 1.0, 4001)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=400, deadline=None)
@given(share(0.0, 3.0), share(-0.005, 0.01), share(-pi, pi), share(-pi, pi), share(-pi / 2, pi / 2), share(1e-3, 0.06))
@example(1.0, 0.0, 0.0, 0.0, 0.3, 0.02)  # its middle on an edge
@example(1.5, -0.002, 0.0, 0.0, 0.0, 0.02)  # along x
@example(1.5, -0.002, 0.0, pi / 2, 0.0, 0.02)  # across the meridian
def test_segments_against_samples(name, where, distance, azimuth, heading, slope, length):
    """C3, C4, C6: any segment. The deepest of 4001 of its points; between them depth changes by half a spacing at most.

    The gradient of the depth is checked by moving the segment: forces take and give back the same energy.
    """
    unit = UNITS[name]
    faces = len(polyline(name)) - 2
    where = min(where, faces - 1e-9)
    middle = point_near(name, where, distance, azimuth)
    direction = np.array([sin(slope), cos(slope) * cos(heading), cos(slope) * sin(heading)])
    start, along = middle - 0.5 * length * direction, length * direction
    vertices = polyline(name)[:-1]
    points = start + SAMPLES[:, None] * along
    assume((points[:, 0] < vertices[-1, 0]).all() and (np.hypot(points[:, 1], points[:, 2]) < vertices[0, 1]).all())
    sampled = depth_of_points(name, points).max()
    d, n, gain, point = segment_profile(unit.u.geometry.face, faces, tuple(start), tuple(along))
    if sampled > 0.0:
        assert sampled - 1e-12 <= d <= sampled + 0.5 * length / 4000
    else:
        assert d <= 0.5 * length / 4000
    if d < 1e-6:
        return
    assert depth_of_points(name, np.array(point)[None])[0] == pytest.approx(d, abs=1e-9)
    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
    rng = np.random.default_rng(1)
    for shift in rng.normal(size=(3, 3)):
        shift *= 1e-7 / np.linalg.norm(shift)
        depths = [
            segment_profile(unit.u.geometry.face, faces, tuple(start + s * shift), tuple(along))[0] for s in (1.0, -1.0)
        ]
        slopes = (depths[0] - d) / 1e-7, (d - depths[1]) / 1e-7
        expected = gain * np.dot(n, shift) / 1e-7
        # where two candidates are equally deep the gradient jumps: it is that of one of them
        assert min(slopes[0], slopes[1]) - 1e-4 <= expected <= max(slopes[0], slopes[1]) + 1e-4


def pose(angles, position):
    return np.array(from_angles(*map(float, angles))), np.array(position)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=150, deadline=None)
@given(share(-0.02, 0.02), share(-0.03, 0.03), share(-0.03, 0.03), share(-0.2, 0.2), share(-0.2, 0.2))
@example(0.004, 0.0, 0.0, 0.0, 0.0)  # centred: all pads alike
@example(0.0, 0.0, 0.0, 0.0, 0.0)
def test_pads_against_samples(name, forward, y, z, yaw, pitch):
    """C3, C4: each of the twelve pads of a limiter in any attitude, the deepest of 4001 points of each."""
    unit = UNITS[name]
    p = unit.u.parameters.limiter
    vertices = polyline(name)
    # where a centred limiter touches the frustum behind the mouth with its front or rear end
    touch = min(np.interp(-r, -vertices[1:-1, 1], vertices[1:-1, 0]) - x for x, r in zip(p.x, p.r, strict=True))
    position = np.array([touch + forward, y, z])
    A = np.array(from_angles(yaw, pitch, 0.0))
    unit.link(1, position, (yaw, pitch, 0.0))
    unit.head((-3.0, 0.0, 0.0))
    found = {int(item.index): item for item in listed(unit, PAD_CONE)}
    for k in range(12):
        azimuth = p.azimuth + 2.0 * pi * k / 12
        ends = np.array([[x, r * cos(azimuth), r * sin(azimuth)] for x, r in zip(p.x, p.r, strict=True)])
        points = position + (ends[0] + SAMPLES[:, None] * (ends[1] - ends[0])) @ A
        sampled = depth_of_points(name, points).max()
        if sampled > 1e-6:
            assert found[k + 1].penetration == pytest.approx(sampled, abs=3e-6)
        elif sampled < -1e-5:
            assert k + 1 not in found
    assert unit.output.limiter_contact == (len(found) > 0)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=150, deadline=None)
@given(share(1.0, 3.0), share(-0.004, 0.01), share(-pi, pi), share(-0.2, 0.2), share(-0.2, 0.2))
@example(2.0, 0.0149, 0.0, 0.0, 0.0)  # over an edge
@example(1.5, 0.0, 0.0, 0.0, 0.0)  # tangential
def test_rollers_against_samples_of_the_sphere(name, where, excess, azimuth, yaw, pitch):
    """C5: a roller anywhere on a tilted limiter; depth is its radius less the distance of its centre."""
    unit = UNITS[name]
    where = min(where, len(polyline(name)) - 2 - 1e-9)
    centre = point_near(name, where, 0.015 - excess, azimuth)
    A = np.array(from_angles(yaw, pitch, 0.0))
    position = np.array([-0.4, 0.01, -0.02])
    unit.link(1, position, (yaw, pitch, 0.0))
    unit.u.input.roller[1].position[:] = A @ (centre - position)
    unit.head((-3.0, 0.0, 0.0))
    unit.u.input.roller[1].position[:] = (-3.0, 0.0, 0.0)
    expected = 0.015 + float(depth_of_points(name, centre[None])[0])
    found = listed(unit, ROLLER_CONE)
    if expected > 1e-9:
        assert [int(item.index) for item in found] == [2]
        assert found[0].penetration == pytest.approx(expected, abs=1e-12)
    elif expected < -1e-9:
        assert not found


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100, deadline=None)
@given(share(-0.03, 0.04), share(0.0, 0.0018), share(-pi, pi), share(-0.05, 0.05), share(-0.05, 0.05), share(0.0, 0.6))
@example(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # centred, extended
def test_levers_against_samples(name, forward, aside, azimuth, yaw, pitch, angle):
    """C6, C7: front edges of latches and rollers of capture sensors at any angle, placed by a chain of rotations."""
    unit = UNITS[name]
    entry = polyline(name)[-3, 0]
    position = np.array([entry + forward, aside * cos(azimuth), aside * sin(azimuth)])
    A = np.array(from_angles(yaw, pitch, 0.0))
    unit.head(position, (yaw, pitch, 0.0))
    p, faces = unit.u.parameters, len(polyline(name)) - 2
    turn = np.array([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]])
    # the unit places its levers only where they can touch
    if np.linalg.norm(unit.u.work.latch[0].xi) == 0.0 or unit.u.status.code == probe_cone.OUT_OF_RANGE:
        return
    if not np.allclose(unit.u.work.latch[0].xi, A[0], atol=1e-12):
        return
    for k in range(4):
        radial = np.array([0.0, *np.round([cos(k * pi / 2), sin(k * pi / 2)], 12)])
        ends = []
        for q in (p.latch.root, p.latch.tip):
            local = np.array(p.latch.pivot) + turn @ np.array(q)
            ends.append(position + A.T @ (local[0] * np.array([1.0, 0.0, 0.0]) + local[1] * radial))
        points = ends[0] + SAMPLES[:, None] * (ends[1] - ends[0])
        if (points[:, 0] >= polyline(name)[-1, 0]).any():
            continue
        sampled = depth_of_points(name, points).max()
        d, _, _, _ = latch_front(unit.u.work.latch[k], p.latch, unit.u.geometry, cos(angle), sin(angle))
        if sampled > 1e-5:
            assert d == pytest.approx(sampled, abs=1e-5)
        elif sampled < -1e-5:
            assert d <= 0.0
    for k in range(2):
        a = p.sensor.azimuth[k]
        local = np.array(p.sensor.pivot) + turn @ np.array(p.sensor.centre)
        centre = position + A.T @ np.array([local[0], local[1] * cos(a), local[1] * sin(a)])
        if centre[0] >= polyline(name)[-1, 0]:
            continue
        expected = p.sensor.radius + float(depth_of_points(name, centre[None])[0])
        d, _, _ = sensor_front(unit.u.work.sensor[k], p.sensor, unit.u.geometry, cos(angle), sin(angle))
        assert max(d, 0.0) == pytest.approx(max(expected, 0.0), abs=1e-12)
    assert faces == int(unit.u.geometry.faces)


def captured(name: str) -> Unit:
    unit = unit_of(name)
    stop = SETS[name]["probe_cone.parameters.slot.x"]
    for x in np.linspace(stop - 0.03, stop + 0.0365, 400):
        assert unit.head((x, 0.0, 0.0)) == 0
        unit.accept()
    assert unit.output.capture == 1.0
    return unit


kept_captured = cache(captured)
"""For tests that leave the state of the unit as it is."""


def outline_depths(slot, d1: float, d2: float) -> dict[float, float]:
    """Depth of the point (d1, d2) of a slot's plane in its stop, side walls and wide part, from their corner points."""
    wide = slot.half_width + (slot.wide_depth - slot.narrow_depth) * tan(slot.wall_angle)
    found = {}
    if d1 < 0.0:
        found[LATCH_STOP] = -d1
    # the wall is convex material: the corner (narrow_depth, half_width) between the side and the inclined line
    corner = np.array([slot.narrow_depth, slot.half_width])
    end = np.array([slot.wide_depth, wide])
    t = (end - corner) / np.linalg.norm(end - corner)
    aside = np.array([d1, abs(d2)]) - corner
    below_inclined = t[0] * aside[1] - t[1] * aside[0]
    wall = min(abs(d2) - slot.half_width, below_inclined)
    if wall > 0.0:
        found[LATCH_WALL] = wall
    if abs(d2) > wide:
        found[LATCH_WIDE] = abs(d2) - wide
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=300, deadline=None)
@given(share(-0.002, 0.03), share(-0.0019, 0.0019), share(-0.0019, 0.0019), share(-0.05, 0.05), share(-0.05, 0.05),
       share(-0.3, 0.3))  # fmt: skip
@example(-0.0004, 0.0, 0.0, 0.0, 0.0, 0.0)  # centred on the stops
@example(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # tangential to the stops
@example(0.003, 0.0, 0.0, 0.0, 0.0, 0.0192)  # upright in the narrow part, at its wall
@example(0.006, 0.0, 0.0, 0.0, 0.0, 0.02)  # at the corner of narrow part and inclined wall
def test_latches_in_their_slots_against_the_outline(name, d1, y, z, yaw, pitch, roll):
    """C8: where 20 001 points of each rear edge come nearest to the plane of its slot, and how deep they are there.

    A latch that hooks less than it is deep counts by how far its tip or root stands over the plane.
    """
    unit = kept_captured(name)
    p = unit.u.parameters
    slot, latch = p.slot, p.latch
    position = np.array([slot.x + d1 - latch.rear_tip[0], y, z])
    A = np.array(from_angles(yaw, pitch, roll))
    unit.head(position, (yaw, pitch, roll))
    found = {(item.pair, int(item.index)): item for item in unit.contacts() if item.pair >= LATCH_STOP}
    shares = np.linspace(0.0, 1.0, 20001)[:, None]
    for k in range(4):
        radial = np.array([0.0, *np.round([cos(k * pi / 2), sin(k * pi / 2)], 12)])
        tangential = np.cross([1.0, 0.0, 0.0], radial)
        ends = [
            position + A.T @ (q[0] * np.array([1.0, 0.0, 0.0]) + q[1] * radial)
            for q in (latch.rear_root, latch.rear_tip)
        ]
        points = ends[0] + shares * (ends[1] - ends[0])
        height = points @ radial - slot.distance
        if height[0] * height[-1] > 0.0:
            assert not any(key[1] == k + 1 for key in found)
            continue
        place = points[np.argmin(np.abs(height))]
        hook = min(abs(height[0]), abs(height[-1]))
        depths = outline_depths(slot, place[0] - slot.x, float(place @ tangential))
        for pair in (LATCH_STOP, LATCH_WALL, LATCH_WIDE):
            expected = min(depths.get(pair, 0.0), hook)
            # half a spacing of the samples, 4e-7 m, on a tilted edge
            if expected > 1e-6:
                assert found[pair, k + 1].penetration == pytest.approx(expected, abs=1e-6)
            elif (pair, k + 1) in found:
                assert found[pair, k + 1].penetration < 2e-6


def test_tilt_of_the_frustum_of_the_sets():
    """The polylines used here are those of contact-geometry 11.4 and rulings 9.3."""
    for name, angles in (
        ("RefCone", (90.0, 60.0, 40.0, 0.0)),
        ("RefCone25", (90.0, 25.0, 0.0)),
        ("ShortCone25", (90.0, 25.0, 0.0)),
    ):
        steps = np.diff(polyline(name)[:-1], axis=0)
        assert [np.degrees(atan2(-r, x)) for x, r in steps] == pytest.approx(angles, abs=1e-3)
