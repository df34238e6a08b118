"""Limiter and levers on the housing (V1, V2): where they stand when the probe is retracted and the craft is centred."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dockfmu.components.core.record import Memory
from dockfmu.components.probe_mechanism.geometry_check.poses import Shape, clearances, pads, rollers

FAR = 0.03
"""Clearance of pads and rollers at full retraction beyond which they could never guide, m."""
NO_TILT = np.zeros(1)


def misfits(m: Memory, s: Shape) -> Iterator[str]:
    """Yield why pads or rollers do not fit the cone with the probe retracted."""
    unit, reach = m.probe_cone.parameters, float(s.reach(s.stroke))
    parts = [
        ("the limiter's pads", "probe_cone.parameters.limiter", pads(m), 0.0),
        ("the levers' rollers", "parameters.levers", rollers(m, s.stroke), float(unit.roller.radius)),
    ]
    for part, group, points, radius in parts:
        if not points.size:
            continue
        start = f"{group} and parameters.probe (hinge) do not fit the cone: with the probe retracted {part} stand "
        clearance = float(clearances(m, points, radius, reach, (s.latched, 0.0), NO_TILT).min())
        if clearance < 0.0:
            yield f"{start}{-clearance:.3f} m deep in it"
        if clearance > FAR:
            yield f"{start}{clearance:.3f} m before it and could not guide: at most {FAR:g} m is allowed"
    outside = s.section.mouth[0] - (s.latched - reach + float(min(unit.limiter.x)))
    if unit.limiter.pads > 0.0 and outside > 0.0:
        yield (
            "probe_cone.parameters.limiter and cone do not fit: with the probe retracted the limiter's pads still "
            f"stand {outside:.3f} m before the mouth of the cone, which it passes without guiding: a shortened cone "
            "needs a movable limiter"
        )
