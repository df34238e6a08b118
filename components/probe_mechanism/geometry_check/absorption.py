"""Docking planes and brakes: what the mechanism may meet while it absorbs the energy of the approach (R46).

With the head on the bottom of the socket, nothing but spring and brakes may end the travel of the probe: planes stay
apart at every tilt up to the limiter's contact, and the second brake can slip.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dockfmu.components.core.record import Memory
from dockfmu.components.probe_mechanism.geometry_check.poses import TILTS, Shape, clearances, pads, rollers

STEPS = 6
STUCK = 0.05
"""Twist of the gear train, m, beyond which a friction brake counts as stuck: a fault that no geometry cures."""
NO_TILT = np.zeros(1)


def gap(s: Shape, travel: float, head: float, tilts: np.ndarray, rim: float) -> np.ndarray:
    """Return the gap of the docking planes, m, at the edge that comes nearest."""
    reach = s.reach(travel)
    return np.asarray((reach - s.plane) * np.cos(tilts) - head - rim * np.sin(tilts))


def limiting_tilt(m: Memory, reach: float, head: float) -> float:
    """Return the tilt at which the limiter ends the rotation, rad; the largest that is swept, if it does not.

    A movable limiter gives way up to its rear stop.
    """
    p = m.parameters
    parts = pads(m)
    if "limiter" in p.dtype.fields:
        parts = parts + np.array([p.limiter.forward - p.limiter.stroke, 0.0, 0.0])
    if not parts.size:
        return float(TILTS[-1])
    room = clearances(m, parts, 0.0, reach, (head, 0.0)).max(axis=1)
    i = int(np.argmax(room < 0.0))
    if i == 0:
        return 0.0 if room[0] < 0.0 else float(TILTS[-1])
    return float(TILTS[i - 1] + (TILTS[i] - TILTS[i - 1]) * room[i - 1] / (room[i - 1] - room[i]))


def reach_misfits(m: Memory, s: Shape) -> Iterator[str]:
    """Yield why the docking planes do not meet where the probe is retracted, or overlap where it is extended."""
    data = "parameters.probe (hinge and lengths), parameters.docking_plane_x and probe_cone.parameters (cone, slots)"
    retracted, extended = (float(gap(s, x, s.latched, NO_TILT, 0.0)[0]) for x in (s.stroke, 0.0))
    if retracted > m.parameters.pushers.protrusion:
        yield f"{data} do not fit: with the probe retracted the docking planes stay {retracted:.3f} m apart"
    if extended < 0.0:
        yield f"{data} do not fit: with the probe extended the docking planes overlap by {-extended:.3f} m"


def plane_misfits(m: Memory, s: Shape) -> Iterator[str]:
    """Yield where the docking planes meet while spring or first brake absorb energy."""
    for travel in np.linspace(0.0, min(s.absorption, s.stroke), STEPS):
        tilts = np.linspace(0.0, limiting_tilt(m, float(s.reach(travel)), s.bottomed), 5)
        gaps = gap(s, float(travel), s.bottomed, tilts, float(m.parameters.planes.outer_radius))
        if gaps.min() < 0.0:
            yield (
                "parameters.probe (free_length, shortest_length) and parameters.docking_plane_x: the docking planes "
                f"meet during energy absorption, with the head on the bottom, the probe in by {travel:.3f} m of "
                f"{s.absorption:.3f} m and a tilt of {np.degrees(tilts[gaps.argmin()]):.1f} "
                f"deg, by {-gaps.min():.3f} m: lengthen the stroke of the probe"
            )
            return


def slip_travel(m: Memory) -> float:
    """Return the travel of the probe at which the second brake begins to slip, m, with the drive locked."""
    axial = m.parameters.axial
    yielding = axial.first_brake_stroke if "first_brake_stroke" in axial.dtype.fields else axial.spring_stroke
    return float(yielding + axial.brake_compression / axial.train_stiffness)


def brake_misfits(m: Memory, s: Shape, movable: bool) -> Iterator[str]:
    """Yield what is hit before the (second) friction brake can slip, without a tilt."""
    axial = m.parameters.axial
    if axial.brake_compression > STUCK * axial.train_stiffness:
        return
    start = slip_travel(m)
    name = "FrB2" if "first_brake_stroke" in m.parameters.axial.dtype.fields else "the friction brake"
    told = f"{name} could never slip, which begins at {start:.3f} m of travel with the head on the bottom: "
    if start > s.stroke:
        yield f"parameters.probe and axial: {told}the probe has a stroke of {s.stroke:.3f} m"
    for travel in np.linspace(0.0, start, STEPS):
        reach = float(s.reach(travel))
        apart = float(gap(s, float(travel), s.bottomed, NO_TILT, 0.0)[0])
        if apart < 0.0:
            yield f"parameters.probe and axial: {told}the docking planes meet at {travel + apart:.3f} m"
            return
        if movable:
            continue
        parts = [("parameters.levers", "rollers", rollers(m, float(travel)), m.probe_cone.parameters.roller.radius),
                 ("probe_cone.parameters.limiter", "pads", pads(m), 0.0)]  # fmt: skip
        for group, word, points, radius in parts:
            if points.size and clearances(m, points, float(radius), reach, (s.bottomed, 0.0), NO_TILT).min() < 0.0:
                yield f"{group} and axial: {told}the {word} are in the cone at {travel:.3f} m"
                return
