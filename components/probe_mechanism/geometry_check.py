"""Fit of cone, hinge, limiter and levers: geometry of the retracted, centred mechanism on its passive unit.

Each of them has its own parameter set (spec/06 1.2), and kernels accept any numbers. A declared system is therefore
checked before anything is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from components.core.record import Memory

FAR = 0.03
"""Clearance of pads and rollers at full retraction beyond which they could never guide, m."""


def _clearance(cone: Memory, x: float, r: float) -> float:
    """Return the clearance of the point (x, r) from the faces of the cone, m; negative in the material."""
    last = int(cone.vertices) - 1
    corners = np.column_stack([cone.x[:last], cone.r[:last]])
    along = np.diff(corners, axis=0)
    normals = np.column_stack([-along[:, 1], along[:, 0]]) / np.hypot(*along.T)[:, None]
    return -float(((np.array([x, r]) - corners[:-1]) * normals).sum(axis=1).min())


def _pads(m: Memory) -> list[tuple[float, float]]:
    """Return the two ends (x, r) of a pad, in the frame of the link that carries it."""
    limiter = m.probe_cone.parameters.limiter
    return [(float(x), float(r)) for x, r in zip(limiter.x, limiter.r, strict=True)]


def _pad_clearance(m: Memory, origin: float) -> float:
    """Return the clearance of the pads, m, on a centred link at this abscissa in PU, m."""
    return min(_clearance(m.probe_cone.parameters.cone, origin + x, r) for x, r in _pads(m))


def _roller_clearance(m: Memory, hinge: float, stroke: float) -> float:
    """Return the clearance of the rollers, m, with the hinge at this abscissa in PU and the probe in by `stroke`."""
    unit, levers = m.probe_cone.parameters, m.parameters.levers
    x, r = (float(np.interp(stroke, levers.travel, path)) for path in (levers.axial, levers.radial))
    return _clearance(unit.cone, hinge + x, r) - unit.roller.radius


def _housing_misfits(m: Memory, hinge: float, stroke: float) -> Iterator[str]:
    """Yield the misfits of pads and rollers on the housing, with the probe retracted."""
    unit = m.probe_cone.parameters
    parts = []
    if unit.limiter.pads > 0.0:
        parts.append(("the limiter's pads", "probe_cone.parameters.limiter", _pad_clearance(m, hinge)))
    if unit.roller.count > 0.0:
        parts.append(("the levers' rollers", "parameters.levers", _roller_clearance(m, hinge, stroke)))
    for part, group, clearance in parts:
        start = f"{group} and parameters.probe (hinge) do not fit the cone: with the probe retracted {part} stand "
        if clearance < 0.0:
            yield f"{start}{-clearance:.3f} m deep in it"
        if clearance > FAR:
            yield f"{start}{clearance:.3f} m before it and could not guide: at most {FAR:g} m is allowed"
    mouth = float(unit.cone.x[0])
    outside = mouth - min(hinge + x for x, _ in _pads(m))
    if unit.limiter.pads > 0.0 and outside > 0.0:
        yield (
            "probe_cone.parameters.limiter and cone do not fit: with the probe retracted the limiter's pads still "
            f"stand {outside:.3f} m before the mouth of the cone, which it passes without guiding: a shortened cone "
            "needs a movable limiter"
        )


def _full_contact(m: Memory) -> float:
    """Return the abscissa in PU, m, of the front edge of a centred limiter that lies on the cone."""
    cone = m.probe_cone.parameters.cone
    before, behind = float(cone.x[0]) - 1.0, float(cone.x[int(cone.vertices) - 1])
    for _ in range(60):
        middle = 0.5 * (before + behind)
        before, behind = (middle, behind) if _pad_clearance(m, middle) > 0.0 else (before, middle)
    return before


def _limiter_misfits(m: Memory, latched: float) -> Iterator[str]:
    """Yield the misfits of a movable limiter, with the head's centre at `latched` (m, PU) on the latches' stops.

    The constraints of spec/06 5.10: contact at the largest distance of the units, stroke, force of the springs.
    """
    p, unit = m.parameters, m.probe_cone.parameters
    limiter, probe, pushers = p.limiter, p.probe, p.pushers
    start = "parameters.limiter and probe_cone.parameters do not fit: "
    if unit.roller.count > 0.0:
        yield start + "a mechanism with a movable limiter has no levers, roller.count must be 0"
    full = _full_contact(m)
    outside = float(unit.cone.x[0]) - min(full + x for x, _ in _pads(m))
    if outside > 0.0:
        yield f"{start}on the cone the limiter's pads stand {outside:.3f} m outside its mouth"
    (x_1, r_1), (x_2, r_2) = _pads(m)
    slope = abs(r_2 - r_1) / float(np.hypot(x_2 - x_1, r_2 - r_1))
    clearance = full - (latched - probe.bearing_distance - probe.free_length + limiter.forward)
    if clearance < 0.0:
        yield f"{start}in its forward position, the probe extended, it stands {-clearance:.3f} m deep in the cone"
    elif clearance * slope > FAR:
        yield (
            f"{start}in its forward position it stands {clearance * slope:.3f} m before the cone while the probe is "
            f"extended and could not guide: at most {FAR:g} m is allowed"
        )
    gap = limiter.forward - full - p.docking_plane_x
    if gap > limiter.stroke:
        yield f"{start}its stroke of {limiter.stroke:.3f} m ends {gap - limiter.stroke:.3f} m before the planes meet"
    if limiter.head_distance > latched - full:
        yield f"{start}the head bears on it {limiter.head_distance - latched + full:.3f} m before it lies on the cone"
    if "first_brake_extension" in p.axial.dtype.fields:
        fraction = (gap - pushers.protrusion) / limiter.stroke
        spring = limiter.spring_forward + (limiter.spring_rear - limiter.spring_forward) * fraction
        push = 4.0 * (pushers.preload + pushers.stiffness * pushers.protrusion)
        if spring > p.axial.first_brake_extension:
            yield (
                f"parameters.limiter and axial do not fit: where the pushers touch, the springs' {spring:.0f} N alone "
                f"pull the first brake back, which holds {p.axial.first_brake_extension:.0f} N"
            )
        if (spring + push) * (1.0 - p.axial.screw_friction) < p.axial.first_brake_extension:
            yield "parameters.limiter, pushers and axial do not fit: nothing re-cocks the first brake"


def misfit(m: Memory) -> str | None:
    """Return why the parameters of a mechanism with internal contact do not fit each other, or None.

    With the latches on their stops and the probe retracted, the docking planes must be within reach of the pushers, and
    pads and rollers in front of the cone, no farther from it than `FAR`. A movable limiter must meet the cone and leave
    it room, see `_limiter_misfits`.
    """
    p, unit = m.parameters, m.probe_cone.parameters
    reach = p.probe.bearing_distance + p.probe.shortest_length
    stroke = p.probe.free_length - p.probe.shortest_length
    latched = unit.slot.x - unit.latch.rear_root[0]
    hinge = latched - reach
    gap = -(hinge + p.docking_plane_x)
    data = "parameters.probe (hinge and lengths), parameters.docking_plane_x and probe_cone.parameters (cone, slots)"
    if gap > p.pushers.protrusion:
        return f"{data} do not fit: with the probe retracted the docking planes stay {gap:.3f} m apart"
    if gap + stroke < 0.0:
        return f"{data} do not fit: with the probe extended the docking planes overlap by {-gap - stroke:.3f} m"
    movable = "limiter" in p.dtype.fields
    return next(_limiter_misfits(m, latched) if movable else _housing_misfits(m, hinge, stroke), None)
