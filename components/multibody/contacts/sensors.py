"""Sensors on contacts, joints and gaps, and the conditions on them that close and open locks."""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.vector import load, subtract

ON_CONTACT = 0.0
ON_JOINT = 1.0
ON_GAP = 2.0
"""Kinds of sensors."""


@kernel
def _closed_pairs(tally, contact):
    count = 0.0
    for k in range(int(tally.count)):
        if tally.contact[k].pair == contact + 1.0:
            count += 1.0
    return count


@kernel
def _gap(surface, first, second):
    """Return how far the origin of the first surface is before the plane of the second, m."""
    offset = subtract(load(surface[int(first)].position), load(surface[int(second)].position))
    A = surface[int(second)].rotation
    return -(A[0, 0] * offset[0] + A[0, 1] * offset[1] + A[0, 2] * offset[2])


@kernel
def read(link, coordinate, surface, tally, sensor, levels, run):
    """Set the values of all sensors, from coordinates and from the surfaces and the list as placed last."""
    for k in range(int(run.sensors)):
        s = sensor[k]
        if s.kind == ON_CONTACT:
            s.value = _closed_pairs(tally, s.part)
        elif s.kind == ON_JOINT:
            s.value = link[int(coordinate[int(s.part)].link)].q
        else:
            s.value = _gap(surface, s.part, s.other)
        level = levels[k].level
        s.closed = 1.0 if (s.value > level if s.above != 0.0 else s.value < level) else 0.0


@kernel
def command(sensor, condition, lock, run):
    """Set the commands of all locks: an edge of the conjunction of their sensors closes or opens them."""
    for k in range(int(run.locks)):
        o = lock[k]
        o.to_close = 0.0
        o.to_open = 0.0
        for opens in range(2):
            asked = False
            met = True
            for j in range(int(run.conditions)):
                c = condition[j]
                if c.lock == k and c.opens == opens:
                    asked = True
                    met = met and sensor[int(c.sensor)].closed != 0.0
            ready = 1.0 if asked and met else 0.0
            if opens == 0:
                o.to_close = 1.0 if ready > o.close_ready else 0.0
                o.close_ready = ready
            else:
                o.to_open = 1.0 if ready > o.open_ready else 0.0
                o.open_ready = ready
