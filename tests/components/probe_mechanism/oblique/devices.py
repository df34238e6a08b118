"""Devices that remember, each with modes and with the guards that end them: written for the oblique impacts alone.

In a mode a device is a smooth function of its coordinate and rate. `guards` are numbers that stay above -1 while the
mode holds; when one has fallen to -1, `switch` chooses the next mode from the state at that instant. Nothing of the
product is used, and there is no return mapping: the memory changes at events only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit

RATE = 1e-10  # m/s or rad/s
FORCE = 1e-7  # N or N.m
"""Units of the guards: how far a rate or a reaction may pass its bound before the mode ends."""
UPPER, LOWER, BETWEEN = 0.0, 1.0, 2.0


@njit(cache=True)
def on_branch(table, x):
    """Return the upper branch at x: rows (x, y) of `table`, whose ends continue with the slopes of their segments."""
    n = table.shape[0]
    k = 0
    while k < n - 2 and x > table[k + 1, 0]:
        k += 1
    slope = (table[k + 1, 1] - table[k, 1]) / (table[k + 1, 0] - table[k, 0])
    return table[k, 1] + slope * (x - table[k, 0])


@njit(cache=True)
def reaction(table, now, q):
    """Return the reaction of a loop; `now` is (mode, q, Q, k3): where the line of slope k3 begins, if it is on one."""
    if now[0] == UPPER:
        return on_branch(table, q)
    if now[0] == LOWER:
        return -on_branch(table, -q)
    return now[2] + now[3] * (q - now[1])


@njit(cache=True)
def recoverable(table, now, q):
    """Return the energy given back when the deformation returns to zero: along the line, then along the branch."""
    x, y = abs(q), abs(reaction(table, now, q))
    energy = 0.0
    line = y + on_branch(table, -x) > 0.0
    # the lower branch at x > 0 is the upper one at -x < 0, turned
    for k in range(table.shape[0]):
        corner = -table[k, 0]
        if corner < 0.0:
            break
        if corner >= x:
            continue
        low = -table[k, 1]
        if line:
            here, there = y + on_branch(table, -x), y - now[3] * (x - corner) - low
            end = corner if there > 0.0 else x - (x - corner) * here / (here - there)
            energy += 0.5 * (2.0 * y - now[3] * (x - end)) * (x - end)
            y -= now[3] * (x - end)
            x = end
            line = there > 0.0
        if not line:
            energy += 0.5 * (low - on_branch(table, -x)) * (x - corner)
            x = corner
    return energy


class Loop:
    """Hysteresis of hysteresis section 4 between two branches, as a play with elastic walls.

    While the deformation grows, the reaction is on the upper branch or on a line of slope k3 below it; while it falls,
    on the lower branch, which is the upper one turned by 180 degrees about the origin, or on such a line above it.
    The branches are points (x, y) with x > 0; the last one ends the working range.
    """

    def __init__(self, forward: list[tuple[float, float]], backward: list[tuple[float, float]], k3: float) -> None:
        beyond = (forward[-1][0] * 2.0, forward[-1][1] + k3 * forward[-1][0])
        turned = [(-x, -y) for x, y in reversed([*backward, beyond])]
        self.table = np.array([*turned, (0.0, 0.0), *forward, beyond])
        self.now = np.array([UPPER, 0.0, 0.0, k3])
        self.seen: set[float] = set()

    def _gaps(self, q: float) -> tuple[float, float]:
        """Return the distances of the reaction from the upper and from the lower branch."""
        here = reaction(self.table, self.now, q)
        return on_branch(self.table, q) - here, here + on_branch(self.table, -q)

    def guards(self, q: float, rate: float) -> list[float]:
        if self.now[0] == BETWEEN:
            return [gap / FORCE for gap in self._gaps(q)]
        return [rate / RATE if self.now[0] == UPPER else -rate / RATE]

    def switch(self, which: int, q: float, rate: float) -> None:
        if self.now[0] == BETWEEN:
            self.now[0] = (UPPER, LOWER)[which]
        elif sum(self._gaps(q)) <= FORCE:
            self.now[0] = UPPER if rate > 0.0 else LOWER
        else:
            self.now[1:3] = q, reaction(self.table, self.now, q)
            self.now[0] = BETWEEN
        self.seen.add(self.now[0])


def probe_joint(stiffness: float, limit: float, common: float, loss: float, ratio: float) -> Loop:
    """Return the loop of a joint of the flexible probe (central-docking 5.6).

    It is a triangle between the end of a common first segment and the limit. Its area is `loss` times the work of
    loading; a line of slope k3 from the limit ends in its third corner.
    """
    k3 = ratio * stiffness
    first = common * limit
    width = loss * stiffness * limit**2 / ((limit - first) * (k3 - stiffness))
    forward = [(first, stiffness * first), (limit, stiffness * limit)]
    corner = (limit - width, stiffness * limit - k3 * width)
    return Loop(forward, [forward[0], corner, forward[1]], k3)


@dataclass
class TwoStageSpring:
    """Numbers of a lateral spring mechanism (central-docking 5.7)."""

    first_preload: float
    first_stiffness: float
    first_travel: float
    second_preload: float
    second_stiffness: float
    second_travel: float
    stop_stiffness: float
    ramp: float
    unloading: float

    def loop(self) -> Loop:
        """Return its loop: two preloaded stages, a fraction of the force of loading while it is unloaded."""
        p1, p2 = self.first_travel, self.first_travel + self.second_travel
        end = self.first_preload + self.first_stiffness * p1
        second = max(self.second_preload, end)
        last = second + self.second_stiffness * (p2 - p1)
        ramp = (self.ramp, self.first_preload + self.first_stiffness * self.ramp)
        step = (p1 + self.ramp, second + self.second_stiffness * self.ramp)
        share = self.unloading
        width = (1.0 - share) * last / (self.stop_stiffness - share * self.second_stiffness)
        corner = (p2 - width, last - self.stop_stiffness * width)
        backward = [ramp, (p1, share * end), (step[0], share * step[1]), corner, (p2, last)]
        return Loop([ramp, (p1, end), step, (p2, last)], backward, self.stop_stiffness)


@dataclass
class Train:
    """Elastic gears in series with a device of limited stroke s and a friction brake that slips by z, at the probe.

    The twist u is the travel of the probe; forces resist u > 0. A mode is "hold", "slip in", "slip out", or one of the
    two in which the first device moves.
    """

    stiffness: float
    stroke: float
    compression: float
    extension: float
    s: float = 0.0
    z: float = 0.0
    mode: str = "hold"
    seen: set[str] = field(default_factory=set)

    def line(self) -> tuple[float, float, float, float]:
        """Return the present mode as (force at u = 0, slope by u, share of the power lost in the first device, in the
        brake)."""
        force, slope = self._force()
        first = self._first_share()
        return force, slope, first, float(self.mode.startswith("slip"))

    def force(self, u: float) -> float:
        """Return the force of the train at the twist u."""
        force, slope = self._force()
        return force + slope * u

    def slip(self, u: float) -> float:
        """Return the slip of the brake at the twist u."""
        return u - self.s - self.force(u) / self.stiffness if self.mode.startswith("slip") else self.z

    def deflection(self, u: float) -> float:
        """Return the stroke of the first device at the twist u."""
        moves = self.mode != "hold" and not self.mode.startswith("slip")
        return u - self.z - self.force(u) / self.stiffness if moves else self.s

    def guards(self, u: float, rate: float) -> list[float]:
        return [value for value, _ in self._exits(u, rate)]

    def switch(self, which: int, u: float, rate: float) -> None:
        to = self._exits(u, rate)[which][1]
        self.s, self.z = self.deflection(u), self.slip(u)
        if to in ("full", "empty"):
            self.s = self.stroke if to == "full" else 0.0
            to = "hold"
        self.mode = to
        self.seen.add(to)

    def _exits(self, u: float, rate: float) -> list[tuple[float, str]]:
        """Return pairs of a guard and the mode that follows when it falls."""
        if self.mode == "hold":
            return [(margin / FORCE, to) for margin, to in self._holds(self.force(u))]
        inward = self.mode in ("wind", "first in", "slip in")
        exits = [(rate / RATE if inward else -rate / RATE, "hold")]
        if not self.mode.startswith("slip"):
            s = self.deflection(u)
            room, end = (self.stroke - s, "full") if inward else (s, "empty")
            exits.append((room * self.stiffness / FORCE, end))
        return exits

    def _force(self) -> tuple[float, float]:
        """Return force at u = 0 and slope of the present mode."""
        raise NotImplementedError

    def _first_share(self) -> float:
        raise NotImplementedError

    def _holds(self, force: float) -> list[tuple[float, str]]:
        """Return pairs of a force that is left in the mode "hold" and the mode that follows."""
        raise NotImplementedError


@dataclass
class SpringAndBrake(Train):
    """Train of V1: a spring that gives back a part of its force, and a friction brake (central-docking 5.2)."""

    preload: float = 0.0
    end: float = 0.0
    unloading: float = 1.0

    @property
    def rate(self) -> float:
        return (self.end - self.preload) / self.stroke

    def _force(self) -> tuple[float, float]:
        if self.mode.startswith("slip"):
            return (self.compression if self.mode == "slip in" else -self.extension), 0.0
        if self.mode == "hold":
            return -self.stiffness * (self.s + self.z), self.stiffness
        share = 1.0 if self.mode == "wind" else self.unloading
        slope = self.stiffness * share * self.rate / (self.stiffness + share * self.rate)
        return share * self.preload * self.stiffness / (self.stiffness + share * self.rate) - slope * self.z, slope

    def _first_share(self) -> float:
        """All that its friction takes is lost while it is wound."""
        return (1.0 - self.unloading) * self.stiffness / (self.stiffness + self.rate) if self.mode == "wind" else 0.0

    def stored(self, u: float) -> float:
        """Return the energy of the gears, and of the spring what its friction leaves."""
        s = self.deflection(u)
        return 0.5 * self.force(u) ** 2 / self.stiffness + self.unloading * (self.preload + 0.5 * self.rate * s) * s

    def _holds(self, force: float) -> list[tuple[float, str]]:
        spring = self.preload + self.rate * self.s
        found = [(self.compression - force, "slip in"), (force + self.extension, "slip out")]
        if self.s < self.stroke:
            found.append((spring - force, "wind"))
        if self.s > 0.0:
            found.append((force - self.unloading * spring, "unwind"))
        return found


@dataclass
class TwoBrakes(Train):
    """Train of V2: two friction brakes, the first with a limited stroke (central-docking 5.2)."""

    first_compression: float = 0.0
    first_extension: float = 0.0

    def _force(self) -> tuple[float, float]:
        levels = {
            "first in": self.first_compression,
            "first out": -self.first_extension,
            "slip in": self.compression,
            "slip out": -self.extension,
        }
        if self.mode in levels:
            return levels[self.mode], 0.0
        return -self.stiffness * (self.s + self.z), self.stiffness

    def _first_share(self) -> float:
        return float(self.mode.startswith("first"))

    def stored(self, u: float) -> float:
        """Return the energy of the gears."""
        return 0.5 * self.force(u) ** 2 / self.stiffness

    def _holds(self, force: float) -> list[tuple[float, str]]:
        inward = ("first in", self.first_compression) if self.s < self.stroke else ("slip in", self.compression)
        outward = ("first out", self.first_extension) if self.s > 0.0 else ("slip out", self.extension)
        return [(inward[1] - force, inward[0]), (force + outward[1], outward[0])]
