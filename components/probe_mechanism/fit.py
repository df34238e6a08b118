"""Do cone, hinge, limiter and levers fit each other? Geometry of the retracted, centred mechanism on its passive unit.

Each of them is a parameter set of its own (spec/06 1.2), and a kernel accepts any numbers. A declared system is checked
before anything is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from components.core.record import Memory

FAR = 0.03
"""Clearance of pads and rollers at full retraction beyond which they could never guide, m."""


def _clearance(cone: Memory, x: float, r: float) -> float:
    """Return how far the point (x, r) stands before the faces of the cone, m; negative in the material."""
    last = int(cone.vertices) - 1
    corners = np.column_stack([cone.x[:last], cone.r[:last]])
    along = np.diff(corners, axis=0)
    normals = np.column_stack([-along[:, 1], along[:, 0]]) / np.hypot(*along.T)[:, None]
    return -float(((np.array([x, r]) - corners[:-1]) * normals).sum(axis=1).min())


def _clearances(m: Memory, hinge: float, stroke: float) -> Iterator[tuple[str, str, float]]:
    """Yield (what, the parameter that places it, clearance in m) with the hinge at this abscissa in PU, m."""
    unit, levers = m.probe_cone.parameters, m.parameters.levers
    if unit.limiter.pads > 0.0:
        ends = zip(unit.limiter.x, unit.limiter.r, strict=True)
        least = min(_clearance(unit.cone, hinge + x, r) for x, r in ends)
        yield "the limiter's pads", "probe_cone.parameters.limiter", least
    if unit.roller.count > 0.0:
        x, r = (float(np.interp(stroke, levers.travel, path)) for path in (levers.axial, levers.radial))
        yield "the levers' rollers", "parameters.levers", _clearance(unit.cone, hinge + x, r) - unit.roller.radius


def misfit(m: Memory) -> str | None:
    """Return why the parameters of a mechanism with its contact inside do not fit each other, or None.

    With the latches on their stops and the probe retracted, the docking planes must be within reach of the pushers,
    and pads and rollers before the cone and not farther from it than `FAR`.
    """
    p, unit = m.parameters, m.probe_cone.parameters
    reach = p.probe.bearing_distance + p.probe.shortest_length
    stroke = p.probe.free_length - p.probe.shortest_length
    hinge = unit.slot.x - unit.latch.rear_root[0] - reach
    gap = -(hinge + p.docking_plane_x)
    data = "parameters.probe (hinge and lengths), parameters.docking_plane_x and probe_cone.parameters (cone, slots)"
    if gap > p.pushers.protrusion:
        return f"{data} do not fit: with the probe retracted the docking planes stay {gap:.3f} m apart"
    if gap + stroke < 0.0:
        return f"{data} do not fit: with the probe extended the docking planes overlap by {-gap - stroke:.3f} m"
    for what, place, clearance in _clearances(m, hinge, stroke):
        if clearance < 0.0:
            return (
                f"{place} and parameters.probe (hinge) do not fit the cone: with the probe retracted {what} stand "
                f"{-clearance:.3f} m deep in it"
            )
        if clearance > FAR:
            return (
                f"{place} and parameters.probe (hinge) do not fit the cone: with the probe retracted {what} stand "
                f"{clearance:.3f} m before it and could not guide; {FAR:g} m is the most"
            )
    return None
