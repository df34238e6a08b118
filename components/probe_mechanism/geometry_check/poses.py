"""Poses of the swinging housing on a passive unit, and where its pads and rollers are in them.

The probe is straight: the head lies on the axis of the housing. A pose is the place of the head, the distance from the
hinge to the head, and a tilt about the head towards an azimuth. Angles are swept up to the tilt at which the latches
leave the domain of their formulas (ruling R40).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dockfmu.components.core.record import Memory
from dockfmu.components.probe_mechanism.geometry_check.section import Section, section

LARGEST_TILT = np.radians(15.0)
"""Tilt up to which poses are swept, rad: beyond it latches are outside of the domain of their formulas."""
TILTS = np.linspace(0.0, LARGEST_TILT, 31)
AZIMUTHS = np.radians(np.arange(0.0, 360.0, 15.0))
"""Directions of the tilt, rad: 12 pads and 3 rollers repeat after 30 and 120 degrees."""
ALONG = np.linspace(0.0, 1.0, 3)
"""Points of a pad that are looked at, as shares of its length."""
MARGIN = 0.010
"""Travel beyond the stroke of spring or FrB1 that counts as energy absorption, m (ruling R46)."""


@dataclass(frozen=True)
class Shape:
    """Hold the dimensions of a mechanism and of its passive unit that the check needs.

    Attributes
    ----------
    section : Section
        Of the receiving cone.
    latched, bottomed : float
        Abscissa of the head's centre with the latches on their stops, and on the bottom of the socket, m.
    bearing : float
        Distance from the hinge to the exit bearing of the probe, m.
    longest, shortest : float
        Free length of the probe, extended and retracted, m.
    plane : float
        Abscissa of the active docking plane from the hinge, m.
    absorption : float
        Longest travel of the probe in which spring or FrB1 absorb energy, m: play, their stroke, and a margin.
    """

    section: Section
    latched: float
    bottomed: float
    bearing: float
    longest: float
    shortest: float
    plane: float
    absorption: float

    @property
    def stroke(self) -> float:
        """Return the travel of the probe from extended to retracted, m."""
        return self.longest - self.shortest

    def reach(self, travel: float | np.ndarray) -> float | np.ndarray:
        """Return the distance from the hinge to the centre of the head at a travel of the probe, m."""
        return self.bearing + self.longest - travel


def shape(m: Memory) -> Shape:
    """Return the shape of a mechanism with internal contact."""
    p, unit = m.parameters, m.probe_cone.parameters
    surface = section(m)
    latched = float(unit.slot.x - unit.latch.rear_root[0])
    bottomed = surface.bottom - float(unit.head.radius)
    axial = p.axial
    yielding = axial.first_brake_stroke if "first_brake_stroke" in axial.dtype.fields else axial.spring_stroke
    return Shape(
        surface,
        latched,
        bottomed,
        float(p.probe.bearing_distance),
        float(p.probe.free_length),
        float(p.probe.shortest_length),
        float(p.docking_plane_x),
        bottomed - latched + float(yielding) + MARGIN,
    )


def ring(x: np.ndarray, r: np.ndarray, azimuths: np.ndarray) -> np.ndarray:
    """Return the points (x, r) of a meridian at all azimuths, m, shape (azimuths, points, 3)."""
    turned = np.stack([np.cos(azimuths), np.sin(azimuths)], axis=-1)[:, None, :] * r[None, :, None]
    return np.concatenate([np.broadcast_to(x, turned.shape[:-1])[..., None], turned], axis=-1)


def pads(m: Memory, points: np.ndarray = ALONG) -> np.ndarray:
    """Return points on the limiter's pads in axes of the link that carries it, m, shape (pads, points, 3)."""
    limiter = m.probe_cone.parameters.limiter
    count = int(limiter.pads)
    x, r = (ends[0] + (ends[1] - ends[0]) * points for ends in (limiter.x, limiter.r))
    return ring(x, r, float(limiter.azimuth) + 2.0 * np.pi * np.arange(count) / max(count, 1))


def rollers(m: Memory, travel: float) -> np.ndarray:
    """Return the centres of the rollers in axes of the housing at a travel of the probe, m, shape (rollers, 1, 3)."""
    levers = m.parameters.levers
    count = int(m.probe_cone.parameters.roller.count)
    x, r = (np.array([np.interp(travel, levers.travel, path)]) for path in (levers.axial, levers.radial))
    return ring(x, r, float(levers.azimuth) + 2.0 * np.pi * np.arange(count) / max(count, 1))


def placed(
    points: np.ndarray, reach: float, head: tuple[float, float], tilts: np.ndarray, azimuths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (x, r) of points of the housing in the axes of the passive unit, m, in every pose.

    Parameters
    ----------
    points : ndarray, shape (..., 3)
        In axes of the housing, from the hinge, m.
    reach : float
        From the hinge to the centre of the head, m.
    head : (x, y) of the centre of the head, m
    tilts, azimuths : ndarray
        Tilts about the head, rad, and directions towards which the rear of the housing moves.

    Returns
    -------
    x, r : ndarray, shape (tilts, azimuths, ...)
    """
    c, s = (f(tilts).reshape(-1, 1, *[1] * (points.ndim - 1)) for f in (np.cos, np.sin))
    e_y, e_z = (f(azimuths).reshape(1, -1, *[1] * (points.ndim - 1)) for f in (np.cos, np.sin))
    x, y, z = points[..., 0] - reach, points[..., 1], points[..., 2]
    towards = e_y * y + e_z * z
    # what lies in the direction of the tilt turns with x, the rest stays
    moved = -s * x + c * towards - towards
    return head[0] + c * x + s * towards, np.hypot(head[1] + y + e_y * moved, z + e_z * moved)


def clearances(
    m: Memory, parts: np.ndarray, radius: float, reach: float, head: tuple[float, float], tilts: np.ndarray = TILTS
) -> np.ndarray:
    """Return the smallest clearance of pads (radius 0) or rollers from the cone, m, shape (tilts, azimuths)."""
    surface = section(m)
    x, r = placed(parts, reach, head, tilts, AZIMUTHS)
    room = surface.clearance(x, r) if radius == 0.0 else surface.distance(x, r) - radius
    return np.asarray(room.min(axis=(-1, -2)))
