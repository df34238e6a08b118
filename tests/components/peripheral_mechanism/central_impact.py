"""A central impact in one dimension, as peripheral-docking section 12 describes the prototype behind T24 and T25.

Written again from the numbers of PM-1, without anything of the package: Lagrange's equations of the craft and of the
ring's travel along the axis, six equal legs, a locked spring in closed form, semi-implicit Euler steps of 10 us.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from math import cos, hypot, pi, radians, sin

DEFORMATION = (0.0, 0.06, 0.12, 0.18, 0.24)
FORCE = (270.0, 410.0, 560.0, 720.0, 900.0)
TRAIN, BACKLASH, SLIP, DAMPING = 5e5, 5e-4, 800.0, 250.0
RING, HOUSING, SCREW = 40.0, 6.0, 3.0
HOUSING_CENTRE, SCREW_CENTRE, HOUSING_INERTIA, SCREW_INERTIA = 0.15, -0.2, 0.08, 0.06
NUT = 1e-4 * (2.0 * pi / 0.02) ** 2
ACROSS = 0.6 * hypot(cos(radians(45)) - cos(radians(14)), sin(radians(45)) - sin(radians(14)))
RETRACTED, STROKE, START = 0.4, 0.24, 0.14
MASS_OF_MECHANISM = RING + 6.0 * (HOUSING + SCREW)
H = 1e-5


def direct(x):
    """Branch 1 of the springs, N."""
    i = min(max(bisect_right(DEFORMATION, x) - 1, 0), 3)
    slope = (FORCE[i + 1] - FORCE[i]) / (DEFORMATION[i + 1] - DEFORMATION[i])
    return FORCE[i] + slope * (x - DEFORMATION[i])


def inertia(x):
    """Inertia that the travel x of the ring has for the craft and for itself, kg, and the cosine of the legs."""
    length = hypot(x, ACROSS)
    s, c = ACROSS / length, x / length
    swing = s * s / length
    coupled = RING + 6.0 * (HOUSING * HOUSING_CENTRE * swing + SCREW * (1.0 + SCREW_CENTRE * swing))
    housing = (HOUSING * HOUSING_CENTRE**2 + HOUSING_INERTIA) * (s / length) ** 2
    screw = SCREW * ((1.0 + SCREW_CENTRE * swing) ** 2 + (SCREW_CENTRE * c * s / length) ** 2)
    screw += SCREW_INERTIA * (s / length) ** 2
    return coupled, RING + 6.0 * (housing + screw + NUT * c * c), c, length


@dataclass
class Contact:
    """Rings on each other: a plane, latches before they fire, and the play behind them. Lengths in m, of the gap."""

    stiffness: float = 1e7
    damping: float = 2e3
    rear_stiffness: float = 1e7
    rear_damping: float = 2e3
    latch_force: float = 300.0
    latch_stiffness: float = 0.0  # of the gap
    latch_from: float = 0.010
    fires: float = 0.001
    sensor_stiffness: float = 0.0
    sensor_from: float = 0.002

    def force(self, gap, rate, fired):
        """The force that pushes the rings apart, N."""
        total = max(0.0, -self.stiffness * gap - self.damping * rate) if gap < 0.0 else 0.0
        total += self.sensor_stiffness * max(0.0, self.sensor_from - gap)
        if not fired and gap < self.latch_from:
            total += self.latch_force + self.latch_stiffness * (self.latch_from - gap)
        if fired and gap > self.fires:
            total -= max(0.0, self.rear_stiffness * (gap - self.fires) + self.rear_damping * rate)
        return total


@dataclass
class Impact:
    """Result of an impact; histories have a row each 0.1 ms."""

    capture: float = 0.0
    travel: float = 0.0
    time: list[float] = field(default_factory=list)
    stroke: list[float] = field(default_factory=list)
    force: list[float] = field(default_factory=list)
    base_force: list[float] = field(default_factory=list)
    closing: list[float] = field(default_factory=list)


def impact(mass, speed, gap, contact, duration, passive=400e3):
    """Let a craft of `mass` (with its mechanism, kg) meet a free passive one."""
    body = mass - MASS_OF_MECHANISM
    total = mass
    height = (RETRACTED + START) ** 2 - ACROSS**2
    x = height**0.5
    position, velocity, rate, other, other_velocity = 0.0, speed, 0.0, gap + x, 0.0
    zero = STROKE - START  # deformation at which the locked train has no force
    fired = False
    found = Impact()
    for k in range(round(duration / H)):
        gap = other - position - x
        opening = other_velocity - velocity - rate
        if gap < contact.fires:
            fired = True
        if gap < 1e-3 and not found.capture:
            found.capture = k * H
        push = contact.force(gap, opening, fired)
        coupled, own, c, length = inertia(x)
        beside = inertia(x + 1e-6)
        coupled_slope, own_slope = (beside[0] - coupled) * 1e6, (beside[1] - own) * 1e6
        d = STROKE - (length - RETRACTED)
        zero = max(zero, d - direct(d) / TRAIN)
        zero = min(zero, d + BACKLASH + SLIP / TRAIN)
        leg = min(direct(d), TRAIN * (d - zero)) if d > zero else min(0.0, TRAIN * (d - zero + BACKLASH))
        on_ring = -push + 6.0 * (leg - DAMPING * rate * c) * c - 0.5 * own_slope * rate * rate
        on_all = -push - coupled_slope * rate * rate
        determinant = total * own - coupled * coupled
        acceleration = (on_all * own - on_ring * coupled) / determinant
        ring_acceleration = (total * on_ring - coupled * on_all) / determinant
        if k % 10 == 0:
            found.time.append(k * H)
            found.stroke.append(length - RETRACTED)
            found.force.append(push)
            found.base_force.append(body * acceleration)
            found.closing.append(velocity - other_velocity)
        found.travel = max(found.travel, START - (length - RETRACTED))
        velocity += H * acceleration
        rate += H * ring_acceleration
        other_velocity += H * push / passive
        position += H * velocity
        x += H * rate
        other += H * other_velocity
    return found
