"""Surfaces on bodies, contacts between them, and sensors: plain data in SI units.

A surface has a frame on its body. A ball or a capsule (a segment with a radius) is the moving part of a pair; a profile
or a section is a surface of revolution about x of its frame. A profile is an open chain of vertices (x, r) from the
mouth to the bottom, with the material at larger x and r (contact-geometry A5); a section is a closed convex polygon,
revolved about x, with the material inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dockfmu.components.multibody.model.vectors import IDENTITY, ZERO, Matrix, Vector

TARGET = "target"
"""Name of the body that moves with the input port `target`: the unit that a mechanism meets."""

Form = Literal["ball", "segment", "profile", "section"]
Vertex = tuple[float, float]


@dataclass(frozen=True)
class DeclaredSurface:
    """A surface on a body, on the base, or on the target.

    Attributes
    ----------
    kind : key of the declaration that gave the form, such as "cone"
    point : origin of its frame: the centre of a ball, the start of a segment; m, body frame
    rotation : body -> surface components
    radius : of a ball, or around a segment; m
    along : from the start of a segment to its end, m, body frame
    vertices : of a profile, or of a section in the sense from x to r; (x, r), m
    """

    name: str
    body: str
    form: Form
    kind: str = ""
    point: Vector = ZERO
    rotation: Matrix = IDENTITY
    radius: float = 0.0
    along: Vector = ZERO
    vertices: tuple[Vertex, ...] = ()

    def chains(self) -> list[tuple[int, int]]:
        """Return (first vertex, number of vertices) of the convex chains of a profile, or of the whole section."""
        if self.form == "section":
            return [(0, len(self.vertices))]
        found, first = [], 0
        for k in range(1, len(self.vertices) - 1):
            (x0, r0), (x1, r1), (x2, r2) = self.vertices[k - 1 : k + 2]
            if (x1 - x0) * (r2 - r1) - (r1 - r0) * (x2 - x1) < 0.0:
                found.append((first, k - first + 1))
                first = k
        return [*found, (first, len(self.vertices) - first)]


@dataclass(frozen=True)
class DeclaredContact:
    """A list of pairs of surfaces with one law of force: spring, damper, friction (contact-geometry A0).

    The units are N/m, N s/m, 1, m/s, m.
    """

    name: str
    pairs: tuple[tuple[str, str], ...]
    stiffness: float
    damping: float = 0.0
    friction: float = 0.0
    slip_velocity: float = 1e-3
    depth_limit: float = 1e-2


@dataclass(frozen=True)
class DeclaredSensor:
    """A switch on a contact, a coordinate of a joint, or the distance of a surface from the plane of another.

    It is closed while its value is above `level`, or below it without `above`. The value of a contact is the number of
    its pairs that touch. The gap is the distance of the first surface's origin before the plane through the second's
    origin, across its x.
    """

    name: str
    kind: Literal["contact", "joint", "gap"]
    part: str
    coordinate: int = 0
    other: str = ""
    level: float = 0.0
    above: bool = True
