"""Alignment levers: stowed while energy is absorbed, never first on the cone, never three on it at once (R46)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dockfmu.components.core.record import Memory
from dockfmu.components.probe_mechanism.geometry_check.poses import TILTS, Shape, clearances, pads, rollers

STOWED = 1e-4
"""Rise of a roller up to which it counts as stowed, m."""
FIRST = 8e-3
"""Clearance below which a part counts as about to touch, m: as far as pads and rollers move between two poses."""
PLACES, TRAVELS = 16, 6
"""Number of places of the head on each frustum, and of travels of the probe."""
NO_TILT = np.zeros(1)
HELD = 1.0
"""Energy of approach, J, that pushers take without the head leaving its stops for good: 20 t at 10 mm/s, ten times the
speed of retraction."""


def risen(m: Memory) -> float:
    """Return the travel of the probe beyond which the levers rise, m."""
    levers = m.parameters.levers
    travel = np.linspace(float(levers.travel[0]), float(levers.travel[-1]), 2001)
    moved = np.abs(np.interp(travel, levers.travel, levers.radial) - levers.radial[0])
    moved += np.abs(np.interp(travel, levers.travel, levers.axial) - levers.axial[0])
    up = np.flatnonzero(moved > STOWED)
    return float(travel[max(up[0] - 1, 0)]) if len(up) else np.inf


def _entries(m: Memory, s: Shape) -> Iterator[tuple[str, float, float, tuple[float, float]]]:
    """Yield (name, travel, reach, head) of the poses before the levers rise: extended, on the bottom, on the stops."""
    radius = float(m.probe_cone.parameters.head.radius)
    surface = s.section
    for v in range(1, len(surface.normals) - 1):
        normal, ends = surface.normals[v], surface.corners[v : v + 2]
        for share in np.linspace(0.0, 1.0, PLACES):
            x, r = ends[0] + share * (ends[1] - ends[0]) - radius * normal
            if r > 0.0:
                yield "extended, the head on the cone", 0.0, float(s.reach(0.0)), (float(x), float(r))
    for travel in np.linspace(0.0, min(risen(m), s.stroke), TRAVELS):
        for name, x in (("on the bottom", s.bottomed), ("latched", s.latched)):
            if x - s.reach(travel) + s.plane < 0.0:
                yield f"the head {name}, the probe in", float(travel), float(s.reach(travel)), (x, 0.0)


def _first(m: Memory, s: Shape) -> str | None:
    """Return the pose in which a stowed roller touches the cone before the limiter does, or None."""
    stowed, radius = rollers(m, 0.0), float(m.probe_cone.parameters.roller.radius)
    parts = pads(m)
    for name, travel, reach, head in _entries(m, s):
        near = clearances(m, stowed, radius, reach, head)
        if near.min() > FIRST:
            continue
        rows = np.flatnonzero(near.min(axis=1) < FIRST)
        near, tilts = near[rows], TILTS[rows]
        room = clearances(m, parts, 0.0, reach, head, tilts) if parts.size else np.full(near.shape, np.inf)
        worse = (near < FIRST) & (room > -FIRST) & (near <= room)
        if worse.any():
            tilt, azimuth = np.unravel_index(np.where(worse, near, np.inf).argmin(), near.shape)
            return (
                f"{name}{f' by {travel:.3f} m' if travel else ''}, at a tilt of {np.degrees(tilts[tilt]):.1f} deg a "
                f"stowed roller is {near[tilt, azimuth]:.3f} m from the cone and the limiter "
                f"{room[tilt, azimuth]:.3f} m"
            )
    return None


def _forward(m: Memory, s: Shape, travel: float) -> float:
    """Return the abscissa of the head that has moved in its play as far as bottom, planes or pushers let it, m."""
    gap = float(s.reach(travel)) - s.plane - s.latched
    pushers = m.parameters.pushers
    moved = np.linspace(0.0, max(min(s.bottomed - s.latched, gap), 0.0), 200)
    pressed = np.maximum(pushers.protrusion - gap + moved, 0.0)
    energy = pushers.relative_force.sum() * (pushers.preload * pressed + 0.5 * pushers.stiffness * pressed**2)
    return s.latched + float(moved[energy - energy[0] <= HELD][-1])


def _jams(m: Memory, s: Shape) -> tuple[float, float, float] | None:
    """Return (travel, head, depth) of the pose in which three rollers bear at once and deepest, m, or None.

    The craft is not tilted, the levers have risen, and the head is anywhere in its play: from the stops of the latches
    to the bottom of the socket, or to where pushers and docking planes stop it. A tilt takes the third roller off the
    cone.
    """
    radius, travels = float(m.probe_cone.parameters.roller.radius), np.asarray(m.parameters.levers.travel)
    worst = None
    for travel in np.unique(np.append(travels, np.linspace(risen(m), s.stroke, 2 * TRAVELS))):
        reach = float(s.reach(travel))
        if not 0.0 < travel <= s.stroke:
            continue
        head = _forward(m, s, float(travel))
        depth = -float(clearances(m, rollers(m, float(travel)), radius, reach, (head, 0.0), NO_TILT).max())
        if depth > 0.0 and (worst is None or depth > worst[2]):
            worst = (float(travel), head, depth)
    return worst


def misfits(m: Memory, s: Shape) -> Iterator[str]:
    """Yield what is wrong with the levers while energy is absorbed."""
    if m.probe_cone.parameters.roller.count == 0.0:
        return
    up = risen(m)
    if up < s.absorption:
        yield (
            f"parameters.levers (travel) rise at {up:.4f} m of travel, but energy is absorbed up to {s.absorption:.4f} "
            "m (play, stroke of spring or first brake, 10 mm): let them rise later, or lengthen the stroke of the probe"
        )
    if (found := _first(m, s)) is not None:
        yield (
            "parameters.levers (axial, radial) and probe_cone.parameters.limiter: rollers must not touch before the "
            f"limiter does. {found}: stow them nearer to the axis"
        )
    if (jam := _jams(m, s)) is not None:
        yield (
            "parameters.levers (axial, radial): no more than two rollers may touch the cone at once. With the probe in "
            f"by {jam[0]:.3f} m and the head {jam[1] - s.latched:.3f} m forward of its stops, in its play, three are "
            f"{jam[2]:.4f} m deep in it: deploy them less far"
        )
