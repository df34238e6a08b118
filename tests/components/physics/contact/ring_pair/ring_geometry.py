"""The rings of RefRing written out by hand in numpy, for comparison: points, planes and cones, and no kernel.

Everything is built from corner points: side faces are the planes through the corners of two neighbouring petals.
"""

from __future__ import annotations

from functools import cache

import numpy as np

RADIUS, HEIGHT, TIP_RADIUS, LOWER_RADIUS, OUTER = 0.5, 0.18, 0.32, 0.47, 0.52
ROOT, TIP, LOWER = np.radians([29.5, 15.88, 27.5])
ACTIVE = np.radians([90.0, 330.0, 210.0])
FLIP = np.diag([-1.0, 1.0, -1.0])
"""Half a turn about y: from the passive ring's own frame to PU."""


def point(x: float, r: float, azimuth: float) -> np.ndarray:
    return np.array([x, r * np.cos(azimuth), r * np.sin(azimuth)])


def corners(petal: int, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """B, A, E of a side (0 at the smaller azimuth) in the frame of the ring: root on the rim, tip, inner root."""
    hand, middle = 2 * side - 1, ACTIVE[petal]
    return (
        point(0.0, RADIUS, middle + hand * ROOT),
        point(HEIGHT, TIP_RADIUS, middle + hand * TIP),
        point(0.0, LOWER_RADIUS, middle + hand * LOWER),
    )


@cache
def side_plane(petal: int, side: int) -> tuple[np.ndarray, float]:
    """Unit normal out of the petal and offset of the plane through the corners of this petal and its neighbour."""
    hand = 2 * side - 1
    b, a, _ = corners(petal, side)
    neighbour = ACTIVE[petal] + hand * np.radians(120.0)
    c = point(0.0, RADIUS, neighbour - hand * ROOT)
    normal = np.cross(a - b, c - b)
    normal /= np.linalg.norm(normal)
    inside = point(0.0, 0.4, ACTIVE[petal])
    if normal @ (inside - b) > 0.0:
        normal = -normal
    return normal, float(normal @ b)


def depths_of_petal(petal: int, q: np.ndarray) -> np.ndarray:
    """Depths (4, ...) of points (..., 3) below cone, tip plane and both side faces of a petal, its own frame."""
    r = np.hypot(q[..., 1], q[..., 2])
    depths = [(RADIUS - q[..., 0] - r) / np.sqrt(2.0), HEIGHT - q[..., 0]]
    for side in (0, 1):
        normal, offset = side_plane(petal, side)
        depths.append(offset - q @ normal)
    return np.array(depths)


def depth_in_petal(petal: int, q: np.ndarray) -> np.ndarray:
    """Depth of points (..., 3) in the solid below cone, side faces and tip plane of a petal, its own frame."""
    return depths_of_petal(petal, q).min(axis=0)


def rim(turned: np.ndarray, centre: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Points of a rim with the axes `turned` (rows) and the centre, both in another frame."""
    return centre + RADIUS * (np.cos(angle)[:, None] * turned[1] + np.sin(angle)[:, None] * turned[2])


def deepest_of_rim(petal: int, turned: np.ndarray, centre: np.ndarray) -> float:
    """Largest depth of a rim in a petal: the best of 6001 points, and of 1001 more between two of different faces.

    The rest of the turn belongs to other petals. Off by 3e-7 m at most: the depth below a face has a second derivative
    of less than 1.8 m/rad2 by the angle (the rim's radius, and that of the cone's distance), so that between two
    points below the same face it rises above both by at most 1.8 (1.05e-3 rad)^2 / 8. Where the face changes, points
    are 1e-6 rad apart; no point there is deeper than its neighbours by more than half a spacing.
    """
    around = np.linspace(0.0, 2.0 * np.pi, 6001)
    points = rim(turned, centre, around)
    off = np.arctan2(points[:, 2], points[:, 1]) - ACTIVE[petal]
    mine = np.abs((off + np.pi) % (2.0 * np.pi) - np.pi) < np.radians(60.0)
    if not mine.any():
        return -np.inf
    of_faces = depths_of_petal(petal, points)
    depths, faces = np.where(mine, of_faces.min(axis=0), -np.inf), of_faces.argmin(axis=0)
    best = float(depths.max())
    near = np.maximum(depths[1:], depths[:-1]) > best - 5.3e-4
    for k in np.flatnonzero(near & (faces[1:] != faces[:-1])):
        fine = np.linspace(around[k], around[k + 1], 1001)
        best = max(best, float(depth_in_petal(petal, rim(turned, centre, fine)).max()))
    return best


def generatrix_length(u: float) -> float:
    """Abscissa at which the cone's generatrix u off the middle of a petal leaves it: bisection on the solid's depth."""
    low, high = -0.02, HEIGHT
    direction = np.array([1.0, -np.cos(ACTIVE[0] + u), -np.sin(ACTIVE[0] + u)])
    start = point(0.0, RADIUS, ACTIVE[0] + u)
    planes = [side_plane(0, side) for side in (0, 1)]

    def inside(x: float) -> bool:
        return all(offset - (start + x * direction) @ normal >= 0.0 for normal, offset in planes)

    if inside(high):
        return high
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if inside(middle) else (low, middle)
    return low


def distance_to_rim(start: np.ndarray, along: np.ndarray, turned: np.ndarray, centre: np.ndarray):
    """Signed distances of lines (n, 3) from a rim, > 0 outside, and where the lines pierce its plane.

    Golden sections over the rim within 0.2 rad of that point, all lines at once.
    """
    t = (centre - start) @ turned[0] / (along @ turned[0])
    points = start + t[:, None] * along - centre
    angle = np.arctan2(points @ turned[2], points @ turned[1])
    direction = along / np.linalg.norm(along, axis=1)[:, None]

    def distance(a: np.ndarray) -> np.ndarray:
        q = rim(turned, centre, a) - start
        return np.linalg.norm(np.cross(q, direction), axis=1)

    low, high = angle - 0.2, angle + 0.2
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    for _ in range(60):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        left = distance(a) < distance(b)
        low, high = np.where(left, low, a), np.where(left, b, high)
    outside = np.linalg.norm(points, axis=1) > RADIUS
    return np.where(outside, 1.0, -1.0) * distance(0.5 * (low + high)), t


@cache
def generatrices() -> tuple[np.ndarray, np.ndarray]:
    """Starts and vectors of the 2^8 + 1 generatrices of petal 0, from the outer radius to their ends.

    Theory: contact-geometry 7.1.
    """
    starts, vectors = [], []
    for u in np.linspace(-ROOT, ROOT, 257):
        end = generatrix_length(u)
        starts.append(point(RADIUS - OUTER, OUTER, ACTIVE[0] + u))
        vectors.append(point(end, RADIUS - end, ACTIVE[0] + u) - starts[-1])
    return np.array(starts), np.array(vectors)


def side_triangle(petal: int, side: int, passive: bool, r: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Corners C, A, E of a side face in PU, rows; of the active ring at r with PU -> ring A, or of the passive one.

    C is the root on the upper edge prolonged to the outer radius.
    """
    b, a, e = corners(petal, side)
    for _ in range(60):
        b = b + (a - b) * (np.hypot(b[1], b[2]) - OUTER) * 2.0
    own = np.array([b, a, e])
    return own @ FLIP if passive else r + own @ A


def depth_below_face(layer: int, q: np.ndarray) -> float:
    """Depth of a point below the outer (0) or inner (1) face of a ring's petals, taken as cones, its own frame."""
    top = RADIUS if layer == 0 else LOWER_RADIUS
    line = np.array([HEIGHT, TIP_RADIUS - top])
    normal = np.array([-line[1], line[0]]) / np.linalg.norm(line)
    return float(-normal @ [q[0], np.hypot(q[1], q[2]) - top])


def pierces(start: np.ndarray, end: np.ndarray, triangle: np.ndarray) -> bool:
    """Whether a segment goes through a triangle (Moeller and Trumbore)."""
    along, e_1, e_2 = end - start, triangle[1] - triangle[0], triangle[2] - triangle[0]
    across = np.cross(along, e_2)
    det = e_1 @ across
    if abs(det) < 1e-15:
        return False
    offset = start - triangle[0]
    u = offset @ across / det
    second = np.cross(offset, e_1)
    v = along @ second / det
    t = e_2 @ second / det
    return bool(u >= 0.0 and v >= 0.0 and u + v <= 1.0 and 0.0 <= t <= 1.0)


def triangles_cross(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether an edge of one triangle goes through the other."""
    return any(pierces(a[k], a[(k + 1) % 3], b) for a, b in ((first, second), (second, first)) for k in range(3))
