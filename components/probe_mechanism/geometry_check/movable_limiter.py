"""Movable limiter (V3) and its shortened cone: the constraints of central-docking 5.10 and ruling R46.

It meets the entry edge of the cone (not the flange around it) before the retraction, lies inside the mouth at full
contact, has stroke for every pose until the planes meet, and its springs leave the first brake to the pushers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dockfmu.components.core.record import Memory
from dockfmu.components.probe_mechanism.geometry_check.absorption import slip_travel
from dockfmu.components.probe_mechanism.geometry_check.poses import AZIMUTHS, TILTS, Shape, clearances, pads, placed
from dockfmu.components.probe_mechanism.geometry_check.section import FLANGE

START = "parameters.limiter and probe_cone.parameters do not fit: "
COARSE, FINE = np.linspace(0.0, 1.0, 9), np.linspace(0.0, 1.0, 65)


def _forward(m: Memory, points: np.ndarray) -> np.ndarray:
    """Return points of the pads in axes of the housing, m, with the limiter in its forward position."""
    return pads(m, points) + np.array([float(m.parameters.limiter.forward), 0.0, 0.0])


def full_contact(m: Memory, s: Shape) -> float:
    """Return the abscissa in the passive unit, m, of the front edge of a centred limiter that lies on the cone."""
    surface = s.section
    x, r = (np.asarray(ends, float) for ends in (m.probe_cone.parameters.limiter.x, m.probe_cone.parameters.limiter.r))
    before, behind = surface.mouth[0] - 1.0, surface.bottom
    for _ in range(60):
        middle = 0.5 * (before + behind)
        clear = float(surface.clearance(middle + x, r).min()) > 0.0
        before, behind = (middle, behind) if clear else (before, middle)
    return before


def _place_misfits(m: Memory, s: Shape, full: float) -> Iterator[str]:
    """Yield misfits of mouth, forward position, stroke and head."""
    limiter, unit = m.parameters.limiter, m.probe_cone.parameters
    if unit.roller.count > 0.0:
        yield START + "a mechanism with a movable limiter has no levers, roller.count must be 0"
    outside = s.section.mouth[0] - min(full + float(x) for x in unit.limiter.x)
    if outside > 0.0:
        yield f"{START}on the cone the limiter's pads stand {outside:.3f} m outside its mouth"
    clearance = full - (s.latched - float(s.reach(0.0)) + float(limiter.forward))
    if clearance < 0.0:
        yield f"{START}in its forward position, the probe extended, it stands {-clearance:.3f} m deep in the cone"
    gap = float(limiter.forward) - full - s.plane
    if gap > limiter.stroke:
        yield f"{START}its stroke of {limiter.stroke:.3f} m ends {gap - limiter.stroke:.3f} m before the planes meet"
    pushed = full - (s.bottomed - float(s.reach(slip_travel(m)))) - float(limiter.forward) + limiter.stroke
    if pushed < 0.0:
        yield (
            f"{START}its stroke of {limiter.stroke:.3f} m ends {-pushed:.3f} m before FrB2 begins to slip, with the "
            "head on the bottom"
        )
    if limiter.head_distance > s.latched - full:
        yield f"{START}the head bears on it {limiter.head_distance - s.latched + full:.3f} m before it lies on the cone"


def _edge_misfits(m: Memory, s: Shape) -> Iterator[str]:
    """Yield where a tilt brings the limiter, in its forward position, to the flange instead of the entry edge."""
    coarse, fine = _forward(m, COARSE), _forward(m, FINE)
    for name, head in (("with the latches on their stops", s.latched), ("with the head on the bottom", s.bottomed)):
        reach = float(s.reach(0.0))
        room = clearances(m, coarse, 0.0, reach, (head, 0.0)).min(axis=1)
        if room[0] < 0.0:
            continue
        if not (room < 0.0).any():
            yield (
                f"{START}in its forward position, the probe extended, {name}, it does not touch the cone up to a tilt "
                f"of {np.degrees(TILTS[-1]):.0f} deg and could not guide: move it forward"
            )
            continue
        tilt = TILTS[np.argmax(room < 0.0)]
        x, r = placed(fine, reach, (head, 0.0), np.array([tilt]), AZIMUTHS)
        heights = s.section.heights(x, r)
        deepest = np.unravel_index(heights.max(axis=-1).argmin(), heights.shape[:-1])
        if deepest[-1] == 0 and heights[deepest].argmax() == FLANGE:
            yield (
                f"{START}at a tilt of {np.degrees(tilt):.1f} deg, the probe extended, {name}, the front ends of its "
                f"pads meet the flat flange at r = {r[deepest]:.3f} m instead of the entry edge of the cone at "
                f"{s.section.mouth[1]:.3f} m: lengthen the pads towards the axis, or move the limiter forward"
            )
            return


def _spring_misfits(m: Memory, s: Shape, full: float) -> Iterator[str]:
    """Yield why springs and pushers do not leave and do the work on the first brake.

    Theory: central-docking 5.10, constraint 3.
    """
    p = m.parameters
    if "first_brake_extension" not in p.axial.dtype.fields:
        return
    limiter, pushers = p.limiter, p.pushers
    fraction = (float(limiter.forward) - full - s.plane - pushers.protrusion) / limiter.stroke
    spring = limiter.spring_forward + (limiter.spring_rear - limiter.spring_forward) * fraction
    push = 4.0 * (pushers.preload + pushers.stiffness * pushers.protrusion)
    if spring > p.axial.first_brake_extension:
        yield (
            f"parameters.limiter and axial do not fit: where the pushers touch, the springs' {spring:.0f} N alone "
            f"pull the first brake back, which holds {p.axial.first_brake_extension:.0f} N"
        )
    if (spring + push) * (1.0 - p.axial.screw_friction) < p.axial.first_brake_extension:
        yield "parameters.limiter, pushers and axial do not fit: nothing re-cocks the first brake"


def misfits(m: Memory, s: Shape) -> Iterator[str]:
    """Yield the misfits of a movable limiter."""
    full = full_contact(m, s)
    yield from _place_misfits(m, s, full)
    yield from _edge_misfits(m, s)
    yield from _spring_misfits(m, s, full)
