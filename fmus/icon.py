"""The icon of an FMU, `model.png`: a drawing of a few shapes, rendered without an image library."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from dockfmu.components.core.component import Component

SIZE, SAMPLES = 128, 4
"""Pixels along an edge, and samples along the edge of a pixel."""

Point = tuple[float, float]
BACKGROUND, EDGE, STEEL, DARK, BLUE, ORANGE = "#f4f6f9", "#9aa7b8", "#8896a8", "#2f3e50", "#2b6cb0", "#dd7a24"


@dataclass(frozen=True)
class Polygon:
    """A filled polygon; coordinates from 0 to 100, x to the right and y up."""

    colour: str
    points: Sequence[Point]

    def bounds(self) -> tuple[Point, Point]:
        """Return the lower left and the upper right corner of what it covers."""
        return _corners(self.points)

    def covers(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return which of the points (x, y) lie inside: those with an odd number of edges to their right."""
        inside = np.zeros(x.shape, bool)
        for (x1, y1), (x2, y2) in zip(self.points, [*self.points[1:], self.points[0]], strict=True):
            if y1 != y2:
                inside ^= ((y1 > y) != (y2 > y)) & (x < x1 + (y - y1) * (x2 - x1) / (y2 - y1))
        return inside


@dataclass(frozen=True)
class Disc:
    """A filled circle."""

    colour: str
    centre: Point
    radius: float

    def bounds(self) -> tuple[Point, Point]:
        """Return the lower left and the upper right corner of what it covers."""
        return _corners([self.centre], self.radius)

    def covers(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return which of the points (x, y) lie inside."""
        return np.hypot(x - self.centre[0], y - self.centre[1]) <= self.radius


@dataclass(frozen=True)
class Stroke:
    """A line through points with round ends and corners."""

    colour: str
    points: Sequence[Point]
    width: float = 3.0

    def bounds(self) -> tuple[Point, Point]:
        """Return the lower left and the upper right corner of what it covers."""
        return _corners(self.points, 0.5 * self.width)

    def covers(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return which of the points (x, y) lie within half the width of the line."""
        near = np.zeros(x.shape, bool)
        for (x1, y1), (x2, y2) in zip(self.points, self.points[1:], strict=False):
            dx, dy = x2 - x1, y2 - y1
            along = np.clip(((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy), 0.0, 1.0)
            near |= np.hypot(x - x1 - along * dx, y - y1 - along * dy) <= 0.5 * self.width
        return near


Shape = Polygon | Disc | Stroke


def _corners(points: Sequence[Point], around: float = 0.0) -> tuple[Point, Point]:
    x, y = zip(*points, strict=True)
    return (min(x) - around, min(y) - around), (max(x) + around, max(y) + around)


def _box(colour: str, left: float, bottom: float, right: float, top: float) -> Polygon:
    return Polygon(colour, ((left, bottom), (right, bottom), (right, top), (left, top)))


_CONE = (
    Polygon(STEEL, ((58, 80), (84, 56), (84, 44), (58, 20), (66, 14), (94, 38), (94, 62), (66, 86))),
    _box(DARK, 92, 12, 97, 88),
)

DRAWINGS: dict[str, tuple[Shape, ...]] = {
    "multibody": (
        _box(DARK, 4, 40, 14, 60), Stroke(STEEL, ((14, 50), (40, 70), (62, 44), (90, 60)), 6.0),
        Stroke(BLUE, ((62, 44), (76, 16)), 6.0), Disc(ORANGE, (14, 50), 5.0), Disc(ORANGE, (40, 70), 5.0),
        Disc(ORANGE, (62, 44), 5.0),
    ),
    "oscillator": (
        _box(DARK, 8, 20, 13, 80),
        Stroke(STEEL, ((13, 50), (20, 50), (24, 62), (32, 38), (40, 62), (48, 38), (52, 50), (60, 50))),
        _box(BLUE, 60, 34, 90, 66),
    ),
    "spacecraft": (
        _box(BLUE, 44, 4, 62, 34), _box(BLUE, 44, 66, 62, 96),
        Stroke(BACKGROUND, ((53, 4), (53, 34)), 1.5), Stroke(BACKGROUND, ((53, 66), (53, 96)), 1.5),
        Stroke(BACKGROUND, ((44, 19), (62, 19)), 1.5), Stroke(BACKGROUND, ((44, 81), (62, 81)), 1.5),
        Stroke(DARK, ((53, 34), (53, 66)), 4.0),
        Polygon(STEEL, ((24, 36), (72, 36), (82, 43), (82, 57), (72, 64), (24, 64))),
        Polygon(DARK, ((24, 44), (24, 56), (14, 60), (14, 40))),
        _box(DARK, 82, 41, 88, 59),
    ),
    "probe_mechanism": (
        *_CONE,
        _box(DARK, 4, 16, 10, 84), _box(BLUE, 10, 36, 34, 64),
        Stroke(ORANGE, ((10, 80), (22, 64)), 2.5), Stroke(ORANGE, ((10, 20), (22, 36)), 2.5),
        Stroke(DARK, ((34, 50), (68, 50)), 5.0), Disc(ORANGE, (70, 50), 9.0),
    ),
    "contact_probe_cone": (
        *_CONE,
        Stroke(STEEL, ((8, 54), (56, 54)), 5.0), Disc(BLUE, (60, 54), 12.0),
        Stroke(ORANGE, ((68, 63), (46, 86)), 3.0), Polygon(ORANGE, ((40, 92), (44, 80), (52, 88))),
    ),
    "peripheral_mechanism": (
        _box(DARK, 4, 10, 12, 90), _box(BLUE, 56, 16, 64, 84),
        *(Stroke(ORANGE, ((12, a), (56, b)), 3.0) for a, b in ((20, 40), (50, 24), (50, 76), (80, 60))),
        Polygon(BLUE, ((64, 84), (88, 70), (88, 64), (64, 62))),
        Polygon(BLUE, ((64, 38), (88, 36), (88, 30), (64, 16))),
    ),
    "ring_mechanism": (
        _box(DARK, 4, 10, 12, 90), _box(BLUE, 66, 16, 74, 84),
        *(Stroke(STEEL, ((12, y), (40, y)), 9.0) for y in (28, 50, 72)),
        *(Stroke(ORANGE, ((40, y), (66, y)), 3.5) for y in (28, 50, 72)),
        *(Polygon(BLUE, ((74, y + 8), (92, y + 3), (92, y - 3), (74, y - 8))) for y in (28, 72)),
    ),
    "peripheral_cyclogram": (
        Stroke(EDGE, ((10, 12), (10, 90)), 1.5), Stroke(EDGE, ((10, 12), (92, 12)), 1.5),
        *(
            Stroke(ORANGE, ((12, y), (30 + 8 * k, y), (30 + 8 * k, y + 12), (90, y + 12)))
            for k, y in enumerate((66, 44))
        ),
        Stroke(DARK, ((12, 20), (60, 20), (60, 34), (90, 34))),
    ),
    "contact_ring": (
        _box(STEEL, 20, 10, 32, 90), _box(DARK, 68, 10, 80, 90),
        Polygon(BLUE, ((32, 62), (60, 54), (60, 46), (32, 38))),
        *(Polygon(ORANGE, ((68, y + 12), (40, y + 4), (40, y - 4), (68, y - 12))) for y in (78, 22)),
    ),
    "berthing_sequence": (
        _box(DARK, 10, 10, 90, 34), Stroke(STEEL, ((32, 34), (26, 70)), 6.0), Disc(ORANGE, (26, 74), 9.0),
        Stroke(STEEL, ((68, 34), (76, 70)), 6.0), Disc(BLUE, (76, 74), 9.0),
    ),
    "contact_airlock": (
        Polygon(STEEL, ((92, 10), (92, 90), (80, 90), (58, 62), (70, 56), (70, 44), (58, 38), (80, 10))),
        Stroke(BLUE, ((8, 50), (40, 50)), 6.0), Disc(DARK, (10, 50), 6.0), Disc(BLUE, (46, 50), 9.0),
        Polygon(ORANGE, ((30, 56), (38, 66), (38, 56))), Polygon(ORANGE, ((30, 44), (38, 34), (38, 44))),
    ),
    "contact_radiator": (
        _box(STEEL, 72, 6, 92, 94), _box(DARK, 8, 6, 20, 94),
        _box(BLUE, 20, 44, 56, 56), Disc(BLUE, (58, 50), 8.0),
        *(_box(ORANGE, 20, y - 3, 56, y + 3) for y in (18, 82)), *(Disc(ORANGE, (58, y), 5.0) for y in (18, 82)),
    ),
    "attitude_control": (
        Polygon(STEEL, ((34, 36), (66, 36), (66, 64), (34, 64))),
        Polygon(DARK, ((36, 64), (46, 64), (41, 72))), Polygon(DARK, ((54, 36), (64, 36), (59, 28))),
        Polygon(ORANGE, ((41, 72), (35, 94), (47, 94))), Polygon(ORANGE, ((59, 28), (53, 6), (65, 6))),
        Stroke(BLUE, ((78, 28), (88, 42), (88, 58), (78, 72)), 3.0), Polygon(BLUE, ((72, 70), (84, 64), (80, 78))),
        Stroke(BLUE, ((22, 72), (12, 58), (12, 42), (22, 28)), 3.0), Polygon(BLUE, ((28, 30), (16, 36), (20, 22))),
    ),
    "manipulator": (
        _box(DARK, 4, 8, 30, 16), Stroke(STEEL, ((17, 16), (22, 62)), 8.0), Stroke(STEEL, ((22, 62), (64, 80)), 7.0),
        Stroke(STEEL, ((64, 80), (70, 58)), 6.0), Disc(ORANGE, (17, 18), 7.0), Disc(ORANGE, (22, 62), 7.0),
        Disc(ORANGE, (64, 80), 6.0), _box(BLUE, 54, 20, 90, 54), _box(DARK, 66, 54, 74, 60),
    ),
    "stand_emulator": (
        _box(DARK, 6, 8, 94, 14), _box(DARK, 6, 88, 94, 94),
        Stroke(STEEL, ((16, 14), (30, 44)), 4.0), Stroke(STEEL, ((44, 14), (30, 44)), 4.0),
        Stroke(STEEL, ((56, 14), (70, 44)), 4.0), Stroke(STEEL, ((84, 14), (70, 44)), 4.0),
        _box(BLUE, 22, 44, 78, 52), Stroke(DARK, ((50, 52), (50, 64)), 5.0), Disc(ORANGE, (50, 66), 6.0),
        Polygon(STEEL, ((28, 82), (72, 82), (56, 70), (44, 70))),
        *(Stroke(ORANGE, ((x, 82), (x, 88)), 3.0) for x in (32, 50, 68)),
    ),
    "probe_cyclogram": (
        Stroke(EDGE, ((10, 12), (10, 90)), 1.5), Stroke(EDGE, ((10, 12), (92, 12)), 1.5),
        Stroke(BLUE, ((12, 66), (30, 66), (30, 84), (62, 84), (62, 66), (90, 66))),
        Stroke(ORANGE, ((12, 42), (46, 42), (46, 58), (90, 58))),
        Stroke(DARK, ((12, 18), (66, 18), (66, 34), (80, 34), (80, 18), (90, 18))),
    ),
}  # fmt: skip
"""Folder of a component -> what its icon shows, the first shape at the bottom."""

OTHER: tuple[Shape, ...] = (
    _box(BLUE, 28, 24, 72, 76),
    *(Polygon(DARK, ((10, y - 6), (26, y), (10, y + 6))) for y in (38, 62)),
    *(Polygon(ORANGE, ((76, y - 6), (92, y), (76, y + 6))) for y in (38, 62)),
)
"""A block with inputs and outputs, for every other component."""


def _rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)], float)


def render(shapes: Sequence[Shape]) -> np.ndarray:
    """Return the picture, uint8 of shape (SIZE, SIZE, 3), its edges smoothed by averaging samples."""
    count = SIZE * SAMPLES
    place = 100.0 * (np.arange(count) + 0.5) / count
    picture = np.broadcast_to(_rgb(EDGE), (count, count, 3)).copy()
    upward = picture[::-1]
    for shape in (_box(BACKGROUND, 1.0, 1.0, 99.0, 99.0), *shapes):
        # most shapes are small: only samples within their bounds, and one more, are looked at
        (left, bottom), (right, top) = shape.bounds()
        columns, rows = (
            slice(max(np.searchsorted(place, low) - 1, 0), np.searchsorted(place, high) + 1)
            for low, high in ((left, right), (bottom, top))
        )
        inside = shape.covers(*np.meshgrid(place[columns], place[rows]))
        upward[rows, columns][inside] = _rgb(shape.colour)
    averaged = picture.reshape(SIZE, SAMPLES, SIZE, SAMPLES, 3).mean(axis=(1, 3))
    rounded: np.ndarray = np.rint(averaged).astype(np.uint8)
    return rounded


def png(picture: np.ndarray) -> bytes:
    """Return the PNG file of a picture, uint8 of shape (height, width, 3)."""
    height, width, _ = picture.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def icon(component: Component) -> bytes:
    """Return the content of `model.png` of the FMU of `component`."""
    return _drawn(component.module.parent.name)


@cache
def _drawn(name: str) -> bytes:
    return png(render(DRAWINGS.get(name, OTHER)))
